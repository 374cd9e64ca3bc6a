"""Metrics of a comparison: their names, units, which way is better, how they are computed, and how their noise is.

Every metric's noise within one run is that of a ratio of two sums over the run: `noise_of / noise_per`, columns of
the run's window sums, or of what was counted between its perf dumps. A total is taken per record flushed: client work
decides how many records there are, so that is the part of a total that a run decides by chance.
"""

from dataclasses import dataclass
from enum import StrEnum


class Better(StrEnum):
    """Which way a metric should go."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


class Group(StrEnum):
    """The section a metric belongs to, in their order."""

    STATISTICS = "compaction statistics"
    AMPLIFICATION = "write amplification"
    WORK = "per unit of work"
    FAMILIES = "column families"
    STALLS = "stalls"
    COUNTERS = "counters"
    CLIENTS = "clients"


class Unit(StrEnum):
    """What a metric's numbers count."""

    SECONDS = "seconds"
    BYTES = "bytes"
    MIB = "MiB"
    COUNT = "count"
    RECORDS = "records"
    RATIO = "ratio"
    SHARE = "share"
    MIB_PER_SECOND = "MiB/s"
    BYTES_PER_SECOND = "bytes/s"
    RECORDS_PER_SECOND = "records/s"
    IOPS = "IOPS"
    BYTES_PER_RECORD = "bytes/record"
    BYTES_PER_OPERATION = "bytes/operation"
    SECONDS_PER_GIB = "seconds/GiB"
    SECONDS_PER_MILLION_RECORDS = "seconds/million records"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `name` is unique and what gates say; `part` is the column family or client job it is of.

    `is_total` grows with the work done: it is not comparable between arms that did unequal work. `noise_of` and
    `noise_per` are columns; without them one run alone does not tell the metric's noise.
    """

    name: str
    label: str
    unit: Unit
    better: Better
    group: Group
    how: str
    is_total: bool = False
    part: str | None = None
    aliases: tuple[str, ...] = ()
    noise_of: tuple[str, ...] = ()
    noise_per: str = ""


# Columns of window sums: the records that flushes took in, and the bytes written to tables.
WORK = "flush_input_records"
TABLE_BYTES = ("flush_bytes", "compaction_output_bytes")


# The columns, and the one they are divided by.
Noise = tuple[str | tuple[str, ...], str]


def declared(
    group: Group,
    name: str,
    label: str,
    unit: Unit,
    better: Better,
    how: str,
    noise: Noise = ((), ""),
    is_total: bool = False,
    aliases: tuple[str, ...] = (),
) -> Metric:
    """A metric of the whole database; `noise` names the columns whose ratio tells its noise."""
    columns, per = noise
    of = (columns,) if isinstance(columns, str) else columns
    return Metric(name, label, unit, better, group, how, is_total, aliases=aliases, noise_of=of, noise_per=per)


def of_family(kind: str, name: str) -> Metric | None:
    """One metric of a column family, such as `flush_bytes`; None for a kind that is not known."""
    if kind not in _OF_A_FAMILY:
        return None
    label, unit, is_total, columns, per = _OF_A_FAMILY[kind]
    return Metric(
        f"{kind}.{name}",
        label,
        unit,
        Better.LOWER,
        Group.FAMILIES,
        "as for the whole database, of one column family",
        is_total,
        name,
        noise_of=tuple(f"{column}/{name}" for column in columns),
        noise_per=f"{per}/{name}",
    )


_OF_A_FAMILY: dict[str, tuple[str, Unit, bool, tuple[str, ...], str]] = {
    "flush_bytes": ("flush bytes", Unit.BYTES, True, ("flush_bytes",), WORK),
    "compaction_output_bytes": ("compaction bytes", Unit.BYTES, True, ("compaction_output_bytes",), WORK),
    "write_amplification_lsm": ("write amplification", Unit.RATIO, False, TABLE_BYTES, "flush_bytes"),
}


def of_part(name: str) -> Metric | None:
    """The metric that a name `KIND.PART` says: of a column family or of a client's job; None where it says none."""
    kind, point, part = name.partition(".")
    return (of_family(kind, part) or of_client(kind, part)) if point else None


def of_client(kind: str, job: str) -> Metric | None:
    """One metric of a client's job, such as `client_iops` or `client_latency_p99`; None for an unknown kind."""
    if kind in _OF_A_CLIENT:
        label, unit, better, how = _OF_A_CLIENT[kind]
    elif kind.startswith(PERCENTILE) and kind.removeprefix(PERCENTILE).replace("_", "").isdigit():
        label, unit, better = f"p{kind.removeprefix(PERCENTILE).replace('_', '.')} latency", Unit.SECONDS, Better.LOWER
        how = "as the load program printed it; of parts that ran at once, their largest"
    else:
        return None
    return Metric(f"{kind}.{job}", label, unit, better, Group.CLIENTS, how, part=job)


_OF_A_CLIENT = {
    "client_iops": ("IOPS", Unit.IOPS, Better.HIGHER, "operations per second as the load program printed them"),
    "client_bandwidth": ("bandwidth", Unit.BYTES_PER_SECOND, Better.HIGHER, "bytes per second, likewise"),
    "client_latency_mean": (
        "mean latency",
        Unit.SECONDS,
        Better.LOWER,
        "over all operations of parts that ran at once",
    ),
}
PERCENTILE = "client_latency_p"


def order_of_part(metric: Metric) -> tuple[object, ...]:
    """The place of a part's metric among its kind: families kind by kind, clients job by job."""
    kind = metric.name.partition(".")[0]
    if metric.group is Group.FAMILIES:
        return 0, list(_OF_A_FAMILY).index(kind), metric.part
    if kind in _OF_A_CLIENT:
        return 1, metric.part, list(_OF_A_CLIENT).index(kind), 0.0
    return 1, metric.part, len(_OF_A_CLIENT), float(kind.removeprefix(PERCENTILE).replace("_", "."))


def percentile_name(percent: float) -> str:
    """`client_latency_p99` for 99, `client_latency_p99_9` for 99.9."""
    return f"{PERCENTILE}{percent:g}".replace(".", "_")
