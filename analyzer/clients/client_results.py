"""What clients measured: results of load programs, brought to one form. fio is read here, rados bench next door.

fio 3 prints nanoseconds (`clat_ns`) and bytes (`bw_bytes`), fio 2 microseconds (`clat`) and KiB (`bw`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from lsmlens.analyzer.counters.json_numbers import as_amount, as_count, as_printed_amount

_SIZE = re.compile(r"(\d{1,15})([kmgt]?)(?:i?b)?", re.IGNORECASE | re.ASCII)
_SCALES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
DIRECTIONS = ("read", "write", "trim")


class ResultKind(StrEnum):
    """The program a result is of."""

    FIO = "fio"
    RADOS_BENCH = "rados bench"


@dataclass(frozen=True, slots=True)
class ClientResult:
    """One job in one direction (`read`, `write`, `trim`). None is what the result does not say.

    `is_complete` is false for a result cut before its summary: then the figures are those up to the last line
    there was. Latencies are in seconds from submission's end to completion for fio (clat), whole for rados bench.
    `iops` and `bytes_per_second` are as printed; percentiles are by their number, 99.0 for the 99th. `ended_micros` is
    since 1970 UTC; `latency_by_second` has the end of each second of the run, as that, and the mean latency in it.
    """

    kind: ResultKind
    source: str
    operation: str | None
    job: str = ""
    is_complete: bool = True
    errors: int = 0
    operations: int | None = None
    total_bytes: int | None = None
    runtime_seconds: float | None = None
    iops: float | None = None
    iops_stddev: float | None = None
    iops_min: float | None = None
    iops_max: float | None = None
    bytes_per_second: float | None = None
    block_bytes: int | None = None
    object_bytes: int | None = None
    depth: int | None = None
    processes: int | None = None
    latency_mean_seconds: float | None = None
    latency_stddev_seconds: float | None = None
    latency_min_seconds: float | None = None
    latency_max_seconds: float | None = None
    latency_percentiles_seconds: Mapping[float, float] = field(default_factory=dict)
    ended_micros: int | None = None
    latency_by_second: tuple[tuple[int, float], ...] = ()


class ClientResults(NamedTuple):
    """The results one file holds, and how many of its jobs were not understood."""

    results: tuple[ClientResult, ...] = ()
    left_out: int = 0


def read_fio(document: object, source: str = "") -> ClientResults:
    """The jobs of fio's parsed JSON, in each direction in which they did anything.

    Of a client/server run the sum over all clients is left out: it holds everything a second time.
    """
    if not isinstance(document, dict):
        return ClientResults(left_out=1)
    jobs = document.get("jobs", document.get("client_stats"))
    if not isinstance(jobs, list):
        return ClientResults(left_out=1)
    shared = _options(document, "global options")
    ended = as_count(document.get("timestamp_ms")) if ran_at_once(jobs) else None
    results: list[ClientResult] = []
    left_out = 0
    for job in jobs:
        if not isinstance(job, dict) or not any(isinstance(job.get(direction), dict) for direction in DIRECTIONS):
            left_out += 1
        elif job.get("jobname") != "All clients":
            results += _job(job, shared | _options(job, "job options"), source, ended)
    return ClientResults(tuple(results), left_out)


def parse_size(text: object) -> int | None:
    """Bytes of a size as fio options have it: `4k`, `4096`, `1M`, `4KiB`; units are powers of 1024."""
    match = _SIZE.fullmatch(text.strip()) if isinstance(text, str) else None
    return int(match[1]) * _SCALES[match[2].lower()] if match else None


def _options(holder: dict[str, object], name: str) -> dict[str, object]:
    options = holder.get(name)
    return options if isinstance(options, dict) else {}


def jobs_of(document: Mapping[str, object]) -> list[dict[str, object]]:
    """The jobs of fio's parsed JSON, without the sum over all clients."""
    jobs = document.get("jobs", document.get("client_stats"))
    listed = jobs if isinstance(jobs, list) else []
    return [job for job in listed if isinstance(job, dict) and job.get("jobname") != "All clients"]


def ran_at_once(jobs: Sequence[object]) -> bool:
    """Whether all jobs ran at the same time; fio's one stamp is the end of the last."""
    return len({job.get("groupid") for job in jobs if isinstance(job, dict)}) <= 1


def _job(
    job: dict[str, object], options: dict[str, object], source: str, ended_millis: int | None
) -> Iterator[ClientResult]:
    for number, direction in enumerate(DIRECTIONS):
        figures = job.get(direction)
        if not isinstance(figures, dict) or not (as_amount(figures.get("total_ios")) or as_amount(figures.get("iops"))):
            continue
        per_second, latency = (1e9, figures.get("clat_ns")) if "clat_ns" in figures else (1e6, figures.get("clat"))
        latency = latency if isinstance(latency, dict) else {}
        kib = as_amount(figures.get("bw"))
        rate = as_amount(figures.get("bw_bytes")) if "bw_bytes" in figures else kib and kib * 1024
        total = as_count(figures.get("io_bytes")) if "bw_bytes" in figures else _kib(figures.get("io_bytes"))
        yield ClientResult(
            kind=ResultKind.FIO,
            source=source,
            operation=direction,
            job=str(job.get("jobname", "")),
            errors=as_count(job.get("error")) or 0,
            operations=as_count(figures.get("total_ios")),
            total_bytes=total,
            runtime_seconds=_scaled(figures.get("runtime"), 1e3),
            iops=_scaled(figures.get("iops"), 1),
            iops_stddev=_scaled(figures.get("iops_stddev"), 1),
            iops_min=_scaled(figures.get("iops_min"), 1),
            iops_max=_scaled(figures.get("iops_max"), 1),
            bytes_per_second=rate,
            block_bytes=_block_bytes(options.get("bs", options.get("blocksize")), number),
            depth=as_count(as_printed_amount(options.get("iodepth"))),
            processes=as_count(as_printed_amount(options.get("numjobs"))),
            latency_mean_seconds=_scaled(latency.get("mean"), per_second),
            latency_stddev_seconds=_scaled(latency.get("stddev"), per_second),
            latency_min_seconds=_scaled(latency.get("min"), per_second),
            latency_max_seconds=_scaled(latency.get("max"), per_second),
            latency_percentiles_seconds=_percentiles(latency.get("percentile"), per_second),
            ended_micros=None if ended_millis is None else ended_millis * 1000,
        )


def _block_bytes(text: object, direction: int) -> int | None:
    """Of `bs=4k`, or of `bs=4k,64k,`: one for each direction, the last given for those that follow."""
    sizes = [size for size in text.split(",") if size] if isinstance(text, str) else []
    return parse_size(sizes[min(direction, len(sizes) - 1)]) if sizes else None


def _percentiles(printed: object, per_second: float) -> dict[float, float]:
    """Of `{"99.000000": 56885248, …}`; fio fills up unused places with `0.00`."""
    if not isinstance(printed, dict):
        return {}
    read = ((as_printed_amount(name), _scaled(value, per_second)) for name, value in printed.items())
    return {float(name): value for name, value in read if name and value is not None and name <= 100}


def _scaled(value: object, divisor: float) -> float | None:
    amount = as_amount(value)
    return None if amount is None else amount / divisor


def _kib(value: object) -> int | None:
    count = as_count(value)
    return None if count is None else count * 1024
