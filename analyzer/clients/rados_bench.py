"""What `rados bench` prints, as text or with `--format json`; several runs may follow each other in one text.

Its MB are MiB. A run without a summary was cut, by a signal or a full disk: then the last line of progress says
how far it came.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from lsmlens.analyzer.clients.client_results import ClientResult, ClientResults, ResultKind
from lsmlens.analyzer.counters.json_numbers import as_count, as_printed_amount
from lsmlens.analyzer.dumps.printed_numbers import parse_real
from lsmlens.analyzer.logs.stamps import parse_time
from lsmlens.analyzer.units import MIB, MICROS

# Maintaining 16 concurrent writes of 4096 bytes to objects of size 4096 for up to 600 seconds or 60000 objects
# Maintaining 16 concurrent writes of 4194304 bytes for up to 10 seconds or 0 objects              before 11
_BEGIN = re.compile(
    r"Maintaining (\d{1,12}) concurrent writes of (\d{1,15}) bytes(?: to objects of size (\d{1,15}))?", re.ASCII
)
# hints = 1
_HINTS = re.compile(r"hints = \d+\s*$", re.ASCII)
#   sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
#    19      16     54271     54255   11.1526   12.5547  0.00313448  0.00560219
_ROW = re.compile(
    r"(?:^|\s)(\d{1,9})\s+(\d{1,9})\s+(\d{1,15})\s+(\d{1,15})\s+(\S+)\s+(\S+)\s+(\S+)\s+([\d.e+-]+)\s*$", re.ASCII
)
# 2026-11-20T22:56:56.809190+0000 min lat: 0.00104472 max lat: 0.180205 avg lat: 0.00560962
_SO_FAR = re.compile(r"min lat: (\S+) max lat: (\S+) avg lat: (\S+)\s*$")
# Its stamp is that of the row of figures after it; a stamp without a zone (before 15) is of no known time.
_STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d{4}) min lat: ", re.ASCII)
# Total writes made:      60000
# Average Latency(s):     0.00571014
_SUMMARY = re.compile(r"(?:^|\s)((?:Total|Write|Read|Object|Bandwidth|Average|Stddev|Max|Min) ?[\w ()/]*):\s+(\S+)\s*$")
# The least latency it starts from, printed as long as nothing has finished.
_NO_MINIMUM = 9999.0
_LONGEST_LINE = 400


@dataclass(slots=True)
class _Bench:
    """One run as read so far; figures are by their names in the JSON form."""

    depth: int | None = None
    is_write: bool = False
    figures: dict[str, float] = field(default_factory=dict)
    last_row: tuple[float, ...] = ()
    rows: list[tuple[float, ...]] = field(default_factory=list)
    stamp_micros: int | None = None
    began_micros: int | None = None

    def take_row(self, row: tuple[float, ...]) -> None:
        """Take in a second of progress: seconds, operations finished, MB/s and latency on average so far."""
        self.last_row = row
        self.rows.append(row)
        if self.stamp_micros is not None and self.began_micros is None:
            self.began_micros = self.stamp_micros - round(row[0] * MICROS)

    def latency_by_second(self) -> Iterator[tuple[int, float]]:
        """Each second's end and mean latency, taken out of the averages so far; nothing where no stamp tells a time."""
        if self.began_micros is None:
            return
        for (_, before, _, mean_before), (second, finished, _, mean) in pairwise(self.rows):
            if finished > before:
                took = max(0.0, (mean * finished - mean_before * before) / (finished - before))
                yield self.began_micros + round(second * MICROS), took

    @property
    def has_summary(self) -> bool:
        """Whether the summary was begun; it is whole with the latencies, which come last."""
        return "total_time_run" in self.figures

    def result(self, source: str) -> ClientResult:
        """The result: of the summary, or else of the progress."""
        is_read = "total_reads_made" in self.figures
        operation = "write" if self.is_write or "total_writes_made" in self.figures else "read" if is_read else None
        figure = self.figures.get
        block = figure("write_size", figure("read_size", figure("op_size")))
        made = figure("total_writes_made", figure("total_reads_made"))
        seconds, rate, mean = figure("total_time_run"), figure("bandwidth"), figure("average_latency")
        iops = figure("average_iops")
        is_complete = self.has_summary and mean is not None
        if not is_complete and self.last_row:
            seconds, made, rate, mean = self.last_row
            iops = made / seconds if seconds else None
        least = figure("min_latency")
        return ClientResult(
            kind=ResultKind.RADOS_BENCH,
            source=source,
            operation=operation,
            is_complete=is_complete,
            operations=as_count(made),
            total_bytes=None if made is None or block is None else as_count(made * block),
            runtime_seconds=seconds,
            iops=iops,
            iops_stddev=figure("stddev_iops"),
            iops_min=figure("min_iops"),
            iops_max=figure("max_iops"),
            bytes_per_second=None if rate is None else rate * MIB,
            block_bytes=as_count(block),
            object_bytes=as_count(figure("object_size")),
            depth=self.depth,
            latency_mean_seconds=mean,
            latency_stddev_seconds=figure("stddev_latency"),
            latency_min_seconds=None if least == _NO_MINIMUM else least,
            latency_max_seconds=figure("max_latency"),
            ended_micros=None
            if self.began_micros is None or seconds is None
            else self.began_micros + round(seconds * MICROS),
            latency_by_second=tuple(self.latency_by_second()),
        )


def read_rados_bench(text: str, source: str = "") -> ClientResults:
    """The runs in a text, none for a text without any."""
    return ClientResults(tuple(bench.result(source) for bench in _benches(text) if bench.figures or bench.last_row))


def read_rados_bench_json(document: object, source: str = "") -> ClientResults:
    """The run of a parsed `rados bench … --format json`, whose numbers stand in quotes, or of CBT's json_output.

    CBT makes that of the text's summary: `{"Total time run": "300.1", "Bandwidth (MB/sec)": "1119.68", …}`.
    """
    if not isinstance(document, dict):
        return ClientResults(left_out=1)
    if "Total time run" in document:
        return read_rados_bench("".join(f"{name}: {value}\n" for name, value in document.items()), source)
    bench = _Bench(is_write="concurrent_ios" in document or "total_writes_made" in document)
    bench.figures = _numbers(document)
    bench.depth = as_count(bench.figures.get("concurrent_ios"))
    rows = document.get("datas")
    for row in rows if isinstance(rows, list) else ():
        numbers = _numbers(row) if isinstance(row, dict) else {}
        if {"sec", "finished", "avg_bw", "avg_lat"} <= numbers.keys():
            bench.last_row = tuple(numbers[name] for name in ("sec", "finished", "avg_bw", "avg_lat"))
    if not bench.has_summary and not bench.last_row:
        return ClientResults(left_out=1)
    return ClientResults((bench.result(source),))


def _benches(text: str) -> Iterator[_Bench]:
    bench = _Bench()
    for line in text.splitlines(keepends=True):
        if len(line) > _LONGEST_LINE:
            continue
        row = _ROW.search(line) if line.endswith("\n") else None  # the last line of a cut text may be torn
        begins = _BEGIN.search(line) or _HINTS.match(line)
        if (begins and (bench.figures or bench.last_row)) or (row and bench.has_summary):
            yield bench
            bench = _Bench()
        if match := _BEGIN.search(line):
            bench.depth, bench.is_write = int(match[1]), True
            bench.figures["op_size"] = int(match[2])
            if match[3]:
                bench.figures["object_size"] = int(match[3])
        elif row:
            numbers = [parse_real(row[column]) for column in (1, 4, 5, 8)]
            known = tuple(number for number in numbers if number is not None and number >= 0)
            if len(known) == len(numbers):
                bench.take_row(known)
        elif match := _SO_FAR.search(line):
            stamp = _STAMP.search(line)
            bench.stamp_micros = _micros(stamp[1]) if stamp else None
            for name, word in zip(("min_latency", "max_latency"), match.groups(), strict=False):
                if (number := parse_real(word)) is not None:
                    bench.figures[name] = number
        elif match := _SUMMARY.search(line):
            name = match[1].lower().replace("(s)", "").replace("(mb/sec)", "").strip().replace(" ", "_")
            if (number := parse_real(match[2])) is not None:
                bench.figures[name] = number
    yield bench


def _micros(stamp: str) -> int | None:
    try:
        return parse_time(stamp)
    except ValueError:  # such as a month 13
        return None


def _numbers(document: Mapping[str, object]) -> dict[str, float]:
    read = ((name, as_printed_amount(value)) for name, value in document.items())
    return {name: value for name, value in read if value is not None}
