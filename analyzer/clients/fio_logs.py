"""fio's own logs: what each process measured over the time of its run.

Options `write_lat_log`, `write_bw_log` and `write_iops_log` ask for them.

    randw_lat.1.log: prefix, what was measured, the process's number (none with per_job_logs=0)

    3, 14972, 1, 16384                    time ms, value, direction, block size               fio 2, and 3 to 3.16
    3, 14972, 1, 16384, 0                 and priority (fio 2 with log_offset: and offset)
    3, 14972, 1, 16384, 1490944, 0x0000   and offset, and priority
    1000, 201835, 0, 0, 0                 averaged over log_avg_msec: a block size of 0, the time is the window's end

Latencies are nanoseconds, in fio 2 microseconds; bandwidth is KiB/s; directions are 0 read, 1 write, 2 trim. Not
averaged, each I/O has a line, its own rate as bandwidth and 1 as IOPS: then block sizes and lines are counted instead.
Times are since the process's start, or since 1970 with log_unix_epoch. Histograms (`_clat_hist`) are not read.
Format: HOWTO, "Log File Formats", and fio's iolog.c.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from lsmlens.analyzer.bundles.roles import FIO_LOG_NAME
from lsmlens.analyzer.clients.client_results import DIRECTIONS
from lsmlens.analyzer.units import MICROS

# A time in milliseconds above this is since 1970, and not since the start: it is 31 years.
_LEAST_EPOCH_MILLIS = 10**12
_NANOSECONDS, _MICROSECONDS = 1e9, 1e6
_KIB = 1024
STEP_MICROS = MICROS


class Measure(StrEnum):
    """What a load program's series is of: seconds, bytes per second, or operations per second."""

    LATENCY = "latency"
    COMPLETION_LATENCY = "completion latency"
    SUBMISSION_LATENCY = "submission latency"
    BANDWIDTH = "bandwidth"
    IOPS = "iops"

    @property
    def is_latency(self) -> bool:
        """Whether its values are seconds."""
        return self not in (Measure.BANDWIDTH, Measure.IOPS)


_MEASURES = {
    "lat": Measure.LATENCY,
    "clat": Measure.COMPLETION_LATENCY,
    "slat": Measure.SUBMISSION_LATENCY,
    "bw": Measure.BANDWIDTH,
    "iops": Measure.IOPS,
}


class Steps(NamedTuple):
    """One direction of a log by equal steps of time: the end of each that had anything, its sum and its weight.

    Ends are microseconds on the log's own clock. A mean is sum / weight; a rate is sum.
    """

    direction: str
    step_micros: int
    ends: tuple[int, ...]
    sums: tuple[float, ...]
    weights: tuple[int, ...]


class FioLog(NamedTuple):
    """What one log says. Values of a latency are in the log's unit: see `latency_unit`.

    `is_absolute` says that its clock is the time since 1970. `left_out` counts lines that are none of a log's.
    """

    prefix: str
    measure: Measure
    part: int | None
    columns: int
    is_absolute: bool
    directions: tuple[Steps, ...]
    left_out: int = 0

    def latency_unit(self, fio_version: str | None) -> float | None:
        """How many of a latency's units are a second; None where neither the version nor the columns tell."""
        if fio_version is not None:
            return _MICROSECONDS if re.match(r"fio-[012]\.", fio_version) else _NANOSECONDS
        return _NANOSECONDS if self.columns > _COLUMNS_OF_FIO_2 else None


_COLUMNS_OF_FIO_2 = 4


def read_fio_log(chunks: Iterable[bytes], name: str) -> FioLog:
    """A log by its text, as it comes; `name` is its path. Raises ValueError for a name that is not a log's."""
    match = FIO_LOG_NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"no fio log by its name: {name}")
    measure = _MEASURES[match["kind"]]
    rows = _Rows(measure)
    for line in _lines(chunks):
        rows.take(line)
    return FioLog(
        match["prefix"],
        measure,
        None if match["part"] is None else int(match["part"]),
        rows.columns,
        rows.is_absolute,
        tuple(rows.directions()),
        rows.left_out,
    )


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines; a last one without its end was cut and may lack digits."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole


class _Rows:
    """The lines of one log, each I/O added to its second, windows kept until their length is known."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._windows: dict[int, list[tuple[int, int]]] = {}
        self._singles: dict[int, dict[int, list[int]]] = {}
        self.columns = 0
        self.is_absolute = False
        self.left_out = 0

    def take(self, line: bytes) -> None:
        fields = line.split(b",")
        try:
            time, value, direction, block = int(fields[0]), int(fields[1]), int(fields[2]), int(fields[3])
        except (ValueError, IndexError):
            self.left_out += 1
            return
        if not (0 <= direction < len(DIRECTIONS) and 0 <= time < 1 << 53 and 0 <= value < 1 << 63 > block >= 0):
            self.left_out += 1
            return
        self.columns = self.columns or len(fields)
        self.is_absolute |= time >= _LEAST_EPOCH_MILLIS
        if not block:
            self._windows.setdefault(direction, []).append((time, value))
            return
        amount = block if self._measure is Measure.BANDWIDTH else 1 if self._measure is Measure.IOPS else value
        seconds = self._singles.setdefault(direction, {})
        end = -(-max(time, 1) // 1000)
        if end in seconds:
            seconds[end][0] += amount
            seconds[end][1] += 1
        else:
            seconds[end] = [amount, 1]

    def directions(self) -> Iterator[Steps]:
        for number, name in enumerate(DIRECTIONS):
            if number in self._windows:
                yield _of_windows(name, sorted(self._windows[number]), self._measure)
            elif number in self._singles:
                seconds = sorted(self._singles[number].items())
                yield Steps(
                    name,
                    STEP_MICROS,
                    tuple(end * MICROS for end, _ in seconds),
                    tuple(float(amount) for _, (amount, _) in seconds),
                    tuple(count for _, (_, count) in seconds),
                )


def _of_windows(direction: str, windows: list[tuple[int, int]], measure: Measure) -> Steps:
    """Windows by the step in which their middle lies; the step is a second, or as long as a window that is longer."""
    lengths = sorted(later - earlier for (earlier, _), (later, _) in pairwise(windows) if later > earlier)
    length = lengths[len(lengths) // 2] if lengths else 1000
    step = max(1000, round(length, -2))
    sums: dict[int, list[float]] = {}
    for time, value in windows:
        place = sums.setdefault(max(0, time - length // 2) // step, [0.0, 0.0])
        place[0] += value
        place[1] += 1
    ends = sorted(sums)
    rate = _KIB if measure is Measure.BANDWIDTH else 1
    return Steps(
        direction,
        step * 1000,
        tuple((end + 1) * step * 1000 for end in ends),
        tuple(sums[end][0] if measure.is_latency else rate * sums[end][0] / sums[end][1] for end in ends),
        tuple(round(sums[end][1]) for end in ends),
    )
