"""Observations: what one path of an arm tells, in the same form whether it is a bundle, a saved analysis or a table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import zip_longest
from typing import TYPE_CHECKING

from lsmlens.analyzer.amplification import FamilyWrites
from lsmlens.analyzer.comparison.window_sums import WindowSums

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import Analysis
    from lsmlens.analyzer.clients.client_results import ClientResult
    from lsmlens.analyzer.compaction_statistics import CompactionStatistics

GIB = 1 << 30
# Log and counters tell of the same time if their bytes written to tables differ by no more than this.
SAME_TIME = 0.05
# Statistics dumps that reach over less of the log's time than this say little of its stalls.
DUMPS_REACH = 0.5


class Kind(StrEnum):
    """What a path was."""

    BUNDLE = "bundle"
    ANALYSIS = "saved analysis"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class OptionValue:
    """One option of one column family (None: of the whole database, or of Ceph), and where it was read."""

    family: str | None
    name: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class FindingSeen:
    """One finding, as far as a comparison goes."""

    code: str
    title: str
    severity: str
    family: str | None


@dataclass(frozen=True, slots=True)
class Daemon:
    """One daemon's figures, from a bundle or a saved analysis.

    `counters` are by the names of CounterSummary and its ratios; `covers_counters` is whether the log covers the time
    that the counters cover.
    """

    name: str
    families: tuple[FamilyWrites, ...] = ()
    stall_seconds: float | None = None
    stall_lines: int = 0
    user_bytes: float | None = None
    total_amplification: tuple[float, float] | None = None
    """Bytes written (WAL and tables), and the user bytes they were written for."""
    counters: Mapping[str, float] = field(default_factory=dict)
    covers_counters: bool = False
    versions: tuple[str | None, str | None] = (None, None)
    """Of Ceph and RocksDB."""
    options: tuple[OptionValue, ...] = ()
    findings: tuple[FindingSeen, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Intervals:
    """What was counted between one perf dump and the next: columns by name, an interval's name from its dump's."""

    names: tuple[str, ...]
    columns: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Observation:
    """One path of an arm. `values` are by the metrics' names; what is not known is not in it.

    `printed` holds the digits of a published table. `analysis` is there for a bundle that has logs.
    """

    path: str
    kind: Kind
    values: Mapping[str, float]
    daemons: tuple[Daemon, ...] = ()
    windows: WindowSums | None = None
    intervals: Intervals | None = None
    client_results: "tuple[ClientResult, ...]" = ()
    client_parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Of CBT's tests, by the folder they stand in."""
    problems: tuple[str, ...] = ()
    printed: Mapping[str, str] = field(default_factory=dict)
    analysis: "Analysis | None" = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about its data before believing its figures."""
        several = len(self.daemons) > 1
        said = [f"{one.name}: {note}" if several else note for one in self.daemons for note in one.notes]
        return (*said, *self.problems)

    @property
    def runs(self) -> tuple[str, ...]:
        """The daemons that were added up."""
        return tuple(one.name for one in self.daemons)

    @property
    def versions(self) -> str:
        """Of Ceph and RocksDB, in words; empty where nothing tells."""
        said = []
        for place, name in enumerate(("Ceph", "RocksDB")):
            found = sorted({version for one in self.daemons if (version := one.versions[place]) is not None})
            if found:
                said.append(f"{name} {' and '.join(found)}")
        return ", ".join(said)


def figures_of(statistics: "CompactionStatistics", daemons: Sequence[Daemon]) -> dict[str, float]:
    """The metrics' values for all daemons together."""
    found: dict[str, float | None] = {name: getattr(statistics, name) for name in statistics.__slots__}
    families = added_families(daemons)
    total = FamilyWrites("total")
    for family in families:
        total.merge(family)
        for name in ("flush_bytes", "compaction_output_bytes"):
            found[f"{name}.{family.name}"] = getattr(family, name)
        found[f"write_amplification_lsm.{family.name}"] = family.write_amplification
    found |= _amplification(total, daemons) | _work(total, statistics) | _stalls(daemons) | _counters(total, daemons)
    return {name: value for name, value in found.items() if value is not None}


def note_of_reach(uptimes: Sequence[float | None], log_seconds: float | None) -> tuple[str, ...]:
    """That stalls are known of little of the log, if so: dumps tell of the time from an open to its last dump.

    `uptimes` are those of the statistics dumps, in their order.
    """
    known = [uptime for uptime in uptimes if uptime is not None]
    last = [one for one, following in zip_longest(known, known[1:]) if following is None or following < one]
    if not uptimes or not log_seconds or sum(last) >= DUMPS_REACH * log_seconds:
        return ()
    return (
        "statistics dumps reach over less than half of the log, and stall seconds are of that time"
        " (stats_dump_period_sec sets how often they come)",
    )


def added_families(daemons: Iterable[Daemon]) -> list[FamilyWrites]:
    """The column families, each added up over daemons, by name."""
    families: dict[str, FamilyWrites] = {}
    for one in daemons:
        for family in one.families:
            families.setdefault(family.name, FamilyWrites(family.name)).merge(family)
    return [families[name] for name in sorted(families)]


def _amplification(total: FamilyWrites, daemons: Sequence[Daemon]) -> dict[str, float | None]:
    known = [one.total_amplification for one in daemons]
    written = [pair for pair in known if pair is not None]
    return {
        "write_amplification_lsm": total.write_amplification,
        "write_amplification_total": _ratio(sum(pair[0] for pair in written), sum(pair[1] for pair in written))
        if len(written) == len(daemons)
        else None,
        "flush_bytes": total.flush_bytes,
        "compaction_input_bytes": total.compaction_input_bytes,
        "compaction_output_bytes": total.compaction_output_bytes,
        "table_bytes": total.flush_bytes + total.compaction_output_bytes,
    }


def _work(total: FamilyWrites, statistics: "CompactionStatistics") -> dict[str, float | None]:
    records, seconds = total.flush_input_records, statistics.total_compaction_seconds
    return {
        "flushed_records": records or None,
        "flush_bytes_per_record": _ratio(total.flush_bytes, records),
        "compaction_bytes_per_record": _ratio(total.compaction_output_bytes, records),
        "table_bytes_per_record": _ratio(total.flush_bytes + total.compaction_output_bytes, records),
        "flush_survival_share": _ratio(total.flush_output_records, records),
        "compaction_seconds_per_flushed_gib": _ratio(seconds, total.flush_bytes / GIB),
        "compaction_seconds_per_million_records": _ratio(seconds, records / 1e6),
    } | per_second(seconds, statistics.total_output_size_mib, statistics.log_duration_seconds or 0)


def per_second(
    compaction_seconds: float | None, output_mib: float | None, log_seconds: float | None
) -> dict[str, float | None]:
    """What compactions did per second of the log."""
    return {
        "compaction_busy_share": _ratio(compaction_seconds or 0, log_seconds or 0),
        "output_mib_per_second": _ratio(output_mib or 0, log_seconds or 0),
    }


def _stalls(daemons: Sequence[Daemon]) -> dict[str, float | None]:
    return {
        "stall_seconds": _sum([one.stall_seconds for one in daemons]),
        "stall_lines": sum(one.stall_lines for one in daemons) if daemons else None,
        "user_bytes": _sum([one.user_bytes for one in daemons]),
    }


_ADDED = (
    "client_writes",
    "client_write_bytes",
    "bluefs_wal_bytes_written",
    "bluefs_sst_bytes_written",
    "db_used_bytes",
)
_AVERAGED = (
    "kv_sync_seconds",
    "kv_flush_seconds",
    "kv_commit_seconds",
    "transaction_submit_seconds",
    "transaction_commit_seconds",
    "kv_queued_seconds",
    "rocksdb_get_seconds",
    "rocksdb_submit_seconds",
    "rocksdb_submit_sync_seconds",
    "client_write_seconds",
    "client_read_seconds",
)


def _counters(total: FamilyWrites, daemons: Sequence[Daemon]) -> dict[str, float | None]:
    by_name = {
        name: [one.counters.get(name) for one in daemons]
        for name in (*_ADDED, *_AVERAGED, "slow_peak_bytes", "onode_hits", "onode_misses")
    }
    found = {name: _sum(by_name[name]) for name in _ADDED}
    for name in _AVERAGED:
        added = _sum(by_name[name])
        found[name] = None if added is None else added / len(daemons)
    found["slow_peak_bytes"] = _sum(by_name["slow_peak_bytes"])
    hits, misses = _sum(by_name["onode_hits"]), _sum(by_name["onode_misses"])
    if hits is not None and misses is not None:
        found["onode_hit_share"] = _ratio(hits, hits + misses)
    wal, tables, client = (
        found[name] for name in ("bluefs_wal_bytes_written", "bluefs_sst_bytes_written", "client_write_bytes")
    )
    if wal is not None and tables is not None and client is not None:
        found["metadata_bytes_per_client_byte"] = _ratio(wal + tables, client)
    if daemons and all(one.covers_counters for one in daemons):
        written = total.flush_bytes + total.compaction_output_bytes
        found["table_bytes_per_client_byte"] = _ratio(written, client or 0)
        found["table_bytes_per_client_write"] = _ratio(written, found["client_writes"] or 0)
    return found


def _sum(values: Sequence[float | None]) -> float | None:
    """Added up over daemons; None unless all of them tell."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _ratio(dividend: float, divisor: float) -> float | None:
    return dividend / divisor if divisor else None
