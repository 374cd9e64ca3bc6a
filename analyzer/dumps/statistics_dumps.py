"""A statistics dump: what RocksDB writes into its log every `stats_dump_period_sec`, 600 s unless set otherwise.

Where events are missing it is all there is; where they are not it is a check on them. Late releases (8.1 does) leave
out families in which nothing happened. Some (5.18 and 6.8 do, 6.27 does not) write each family's table twice, the
second one over an interval of no length; the first whole one counts. A dump is one log message of at most 64 KiB: wide
databases lose its end. Source: db/internal_stats.cc and db/db_impl/db_impl.cc of RocksDB v4.13 to v11.8.1.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from lsmlens.analyzer.dumps.database_statistics import DatabaseReading, DatabaseStatistics
from lsmlens.analyzer.dumps.dump_text import CARRIER, ENTRY, MARKER, STATISTICS
from lsmlens.analyzer.dumps.family_statistics import FamilyReading, FamilyStatistics
from lsmlens.analyzer.dumps.latency_histograms import LatencyReading
from lsmlens.analyzer.dumps.level_tables import LevelColumns
from lsmlens.analyzer.dumps.tickers import StatisticHistogram, parse_tickers

_ENTRY = re.compile(ENTRY.pattern.decode("ascii").removeprefix("^"))
_CARRIER = re.compile(CARRIER.decode("ascii"))
_MARKER, _STATISTICS = MARKER.decode("ascii"), STATISTICS.decode("ascii")
_DATABASE_TITLE = "** DB Stats **"
# ** Compaction Stats [default] **
# ** File Read Latency Histogram By Level [column_family_name_000001] **
_FAMILY_TITLE = re.compile(r"\*\* (Compaction Stats|File Read Latency Histogram By Level) \[(.*)\] \*\*\s*$")
_TITLES = re.compile(r"\*\* (?:DB Stats|Compaction Stats|File Read Latency)")

# A message is cut to 64 KiB, in some hosts with its prefix: one of that length lacks its end, if a line's end hides it.
_FULL_MESSAGE = range((1 << 16) - 256, (1 << 16) + 2)
# Another line always follows these: one that is the last was cut, and its last number may be, too.
_NEVER_LAST = re.compile(
    r"\s*(?:(?:L\d+|Sum|Int|Low|High|Bottom|User) |(?:Level|Priority) |Blob file count|Uptime\(|Flush\(|AddFile\("
    r"|Cumulative |Interval (?:compaction|writes|WAL)|Estimated |Block cache |Write Stall \(count\): cf-|Count: |Min: "
    r"|Percentiles:)"
)


@dataclass(frozen=True, slots=True)
class StatisticsDump:
    """One dump. `is_cut` says that lines are missing or torn; what was whole is there all the same."""

    database: DatabaseStatistics | None = None
    families: Mapping[str, FamilyStatistics] = field(default_factory=dict)
    tickers: Mapping[str, int] = field(default_factory=dict)
    histograms: Mapping[str, StatisticHistogram] = field(default_factory=dict)
    is_cut: bool = True


def parse_dump(text: str) -> StatisticsDump:
    """The dump that a log's text holds, from its marker on or from its first table.

    Takes any text. Lines of others that stand in between are passed over; another dump's marker ends it. A line
    without a newline at its end is taken for a torn one, and not read.
    """
    messages = _Messages(text)
    body = _Body()
    for line in messages.whole_lines():
        body.take(line)
    tickers = parse_tickers(messages.statistics)
    return StatisticsDump(
        database=body.database.statistics if body.database else None,
        families=body.families(),
        tickers=tickers.counts,
        histograms=tickers.histograms,
        is_cut=messages.is_cut or not body.is_whole,
    )


class _Messages:
    """A dump's lines by message, without the host's prefixes and the entries of others."""

    def __init__(self, text: str) -> None:
        self.tables: list[str] = []
        self.statistics: list[str] = []
        *lines, remainder = text.split("\n")
        self.is_cut = bool(remainder.strip())
        message = self.tables
        has_begun = False
        for raw in lines:
            line = raw.rstrip("\r")
            entry = _ENTRY.match(line)
            if _MARKER in line:
                if has_begun:
                    break
                has_begun = True
                self.tables.clear()
            elif line.rstrip().endswith(_STATISTICS) and (entry or line.strip() == _STATISTICS):
                message = self.statistics
            elif title := _TITLES.search(line):
                has_begun = True
                message = self.tables
                # 8.1 may leave no line between the database's last line and the first table.
                before = "" if entry else line[: title.start()]
                message += [before, line[title.start() :]]
            elif not entry:
                carrier = _CARRIER.match(line)
                message.append(line[carrier.end() :] if carrier else line)

    def whole_lines(self) -> Iterator[str]:
        """The lines of the message with the tables, up to where it was cut."""
        lines = self.tables
        while lines and not lines[-1].strip():
            lines.pop()
        if lines and _NEVER_LAST.match(lines[-1]):
            lines.pop()
            self.is_cut = True
        self.is_cut |= sum(len(line) + 1 for line in lines) in _FULL_MESSAGE
        yield from lines


class _Body:
    """The tables of a dump, taken line by line; a title says whose lines follow."""

    def __init__(self) -> None:
        self.database: DatabaseReading | None = None
        self._tables: list[FamilyReading] = []
        self._latencies: list[tuple[str, LatencyReading]] = []
        self._family: str | None = None
        self._reading: DatabaseReading | FamilyReading | LatencyReading | None = None

    @property
    def is_whole(self) -> bool:
        if self.database is None or not self.database.is_whole:
            return False
        tables = all(table.statistics.is_whole for table in self._tables)
        return tables and not any(reading.is_incomplete for _, reading in self._latencies)

    def take(self, line: str) -> None:
        if line.startswith(_DATABASE_TITLE):
            self._reading = DatabaseReading()
            self.database = self.database or self._reading
        elif title := _FAMILY_TITLE.match(line):
            self._family = title[2]
            if title[1].startswith("File"):
                self._reading = LatencyReading()
                self._latencies.append((title[2], self._reading))
            elif not isinstance(self._reading, FamilyReading) or self._reading.name != title[2]:
                self._reading = None
        elif self._family is not None and (columns := LevelColumns.in_header(line)):
            self._start_table(self._family, columns)
        elif self._reading is not None:
            self._reading.take(line)

    def _start_table(self, family: str, columns: LevelColumns) -> None:
        reading = self._reading
        if not isinstance(reading, FamilyReading) or not reading.accepts(columns):
            reading = FamilyReading(family)
            self._tables.append(reading)
            self._reading = reading
        reading.start_table(columns)

    def families(self) -> dict[str, FamilyStatistics]:
        """Each family's first whole table, or the first there is, with the first histograms there are."""
        chosen: dict[str, FamilyStatistics] = {}
        for table in self._tables:
            statistics = table.statistics
            if table.name not in chosen or (statistics.is_whole and not chosen[table.name].is_whole):
                chosen[table.name] = statistics
        for name, reading in self._latencies:
            family = chosen.get(name, FamilyStatistics())
            if not family.read_latency and reading.by_level:
                chosen[name] = replace(family, read_latency=reading.by_level)
        return chosen
