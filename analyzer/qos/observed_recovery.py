"""Recovery as it was observed: what the manager says of the cluster every two seconds, or `ceph status` did once.

… pgmap v6705: 7168 pgs: …; 12.3KiB/s rd, 505B/s wr, 15op/s; 10.5MiB/s, 2objects/s recovering
client:   2.1 KiB/s rd, 43 MiB/s wr, 2 op/s rd, 11.02k op/s wr
recovery: 480 MiB/s, 120 objects/s
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean

from lsmlens.analyzer.qos.log_lines import LineKind, QosLine

_AMOUNT = r"([\d.]{1,20}) ?([kMGT]?)"
_OPERATIONS = re.compile(rf"{_AMOUNT} ?op/s")
_OBJECTS = re.compile(rf"{_AMOUNT} ?objects/s")
_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
# Below so many points with recovery a mean says little of it.
LEAST_POINTS = 3


@dataclass(frozen=True, slots=True)
class StatePoint:
    """The cluster at one moment; rates a second, None where it does not say any."""

    client_iops: float | None
    objects_per_second: float | None


@dataclass(frozen=True, slots=True)
class ObservedRecovery:
    """Means over the moments with recovery; `base_iops` is the clients' rate over those without."""

    source: str
    points: int
    objects_per_second: float
    client_iops: float | None
    base_iops: float | None = None


def observed_recovery(lines: Iterable[QosLine], statuses: Iterable[tuple[str, object]]) -> ObservedRecovery | None:
    """What was observed: by the cluster's log where it says enough, else by a status; None where nothing recovered."""
    by_source: dict[str, list[StatePoint]] = {}
    for line in lines:
        if line.kind is LineKind.CLUSTER_STATE:
            by_source.setdefault(line.source, []).append(_read(line.values["state"]))
    found = [one for source, points in by_source.items() if (one := _mean(source, points)) is not None]
    if found:
        return max(found, key=lambda one: one.points)
    for source, status in statuses:
        point = _read_status(status)
        if point is not None and point.objects_per_second:
            return ObservedRecovery(source, 1, point.objects_per_second, point.client_iops)
    return None


def _mean(source: str, points: list[StatePoint]) -> ObservedRecovery | None:
    recovering = [one for one in points if one.objects_per_second]
    if len(recovering) < LEAST_POINTS:
        return None
    return ObservedRecovery(
        source,
        len(recovering),
        fmean(one.objects_per_second or 0.0 for one in recovering),
        _mean_of(one.client_iops for one in recovering),
        _mean_of(one.client_iops for one in points if not one.objects_per_second),
    )


def _mean_of(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _read(state: str) -> StatePoint:
    operations = [_amount(match) for match in _OPERATIONS.finditer(state)]
    objects = _OBJECTS.search(state)
    return StatePoint(sum(operations) if operations else None, _amount(objects) if objects else None)


def _amount(match: "re.Match[str]") -> float:
    try:
        return float(match[1]) * _SCALES[match[2]]
    except ValueError:
        return 0.0


def _read_status(status: object) -> StatePoint | None:
    if isinstance(status, str):
        io = "\n".join(_io_lines(status))
        return _read(io) if io else None
    pgmap = status.get("pgmap") if isinstance(status, Mapping) else None
    if not isinstance(pgmap, Mapping):
        return None
    reads, writes = _number(pgmap.get("read_op_per_sec")), _number(pgmap.get("write_op_per_sec"))
    known = [value for value in (reads, writes) if value is not None]
    return StatePoint(sum(known) if known else None, _number(pgmap.get("recovering_objects_per_sec")))


def _io_lines(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.lstrip().startswith(("client:", "recovery:")))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
