"""Whether arms did the same work, and how metrics grow where the arms are amounts of a resource.

Of unequal work totals are not comparable, and what is per unit of work is.

Arms named by amounts, such as cores per OSD in `2=PATH 4=PATH 8=PATH`, make a scaling. The yield of a step is its
relative gain per relative addition: log(gain) / log(addition), 1 where twice the cores give twice the operations, 0.5
where they give 1.41 times as many. Returns diminish from the arm on after which every step's yield is below
`DIMINISHING`; a step whose gain may be by chance yields nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

from lsmlens.analyzer.comparison.arms import Arm
from lsmlens.analyzer.metrics import Metric, Unit

# More than this apart, two amounts of work are not the same.
TOLERANCE = 0.05

# What stands for the work, best first: the first that both arms tell of is asked. Counters count only where they are of
# the log's time.
MEASURES = {
    "client_write_bytes": "client bytes written",
    "flushed_records": "records into flushes",
    "user_bytes": "bytes users wrote",
    "log_duration_seconds": "the logs' duration",
}


@dataclass(frozen=True, slots=True)
class Work:
    """One arm's work against the baseline's. `measure` is a metric's name; None where nothing tells of the work."""

    arm: str
    measure: str | None
    ratio: float | None
    daemons: tuple[int, int]
    """How many of them are added up, in the baseline and here."""

    @property
    def is_by_time(self) -> bool:
        """Whether nothing but the logs' durations tells of the work."""
        return self.measure == "log_duration_seconds"

    @property
    def is_equal(self) -> bool:
        """Whether totals may be compared: same number of daemons, and the same work as far as anything tells."""
        if self.daemons[0] != self.daemons[1]:
            return False
        return self.ratio is None or abs(self.ratio - 1) <= TOLERANCE

    @property
    def reason(self) -> str:
        """Why totals may not be compared, in words."""
        if self.daemons[0] != self.daemons[1]:
            return f"{self.daemons[1]} daemons against {self.daemons[0]}"
        assert self.measure is not None
        assert self.ratio is not None
        what = "unequal time" if self.is_by_time else "unequal work"
        return f"{what}: {MEASURES[self.measure]} {change(self.ratio)}"


def work_of(baseline: Arm, arm: Arm) -> Work:
    """How an arm's work compares, by the best measure that both tell of."""
    daemons = (_daemons(baseline), _daemons(arm))
    for measure in MEASURES:
        if measure.startswith("client") and not (_counters_fit(baseline) and _counters_fit(arm)):
            continue
        amounts = [_mean(one, measure) for one in (baseline, arm)]
        if amounts[0] and amounts[1]:
            return Work(arm.name, measure, amounts[1] / amounts[0], daemons)
    return Work(arm.name, None, None, daemons)


def work_notices(baseline: Arm, arm: Arm, work: Work) -> list[str]:
    """What to say of an arm's work and duration before any verdict."""
    said = []
    if not work.is_equal:
        said.append(
            f"{work.reason} to {baseline.name}'s: totals are not compared; what is per unit of work or of time is"
        )
    elif work.is_by_time:
        said.append("nothing but the logs' durations tells of the work done: totals are compared as of the same work")
    elif work.measure == "client_write_bytes":
        records = [_mean(one, "flushed_records") for one in (baseline, arm)]
        if records[0] and records[1] and abs(records[1] / records[0] - 1) > TOLERANCE:
            said.append(
                f"records into flushes {change(records[1] / records[0])} for the same client bytes:"
                " the daemon itself wrote more or less"
            )
    if work.is_by_time:
        return said
    seconds = [_mean(one, "log_duration_seconds") for one in (baseline, arm)]
    if seconds[0] and seconds[1] and abs(seconds[1] / seconds[0] - 1) > TOLERANCE:
        took = "its log covers" if not work.is_equal else "the same work took"
        said.append(
            f"{took} {seconds[1]:.4g} s, {change(seconds[1] / seconds[0])} to {baseline.name}'s {seconds[0]:.4g} s"
        )
    return said


def change(ratio: float) -> str:
    """A ratio as a change in per cent: `+5.8 %`; as a factor from three times on: `x4.2`."""
    if ratio >= 3:
        return f"x{ratio:.3g}" if ratio < 1000 else ">x1000"
    percent = 100 * (ratio - 1)
    if percent < -99.95:
        return "-100 %"
    return f"{percent:+.1f} %" if abs(percent) >= 0.05 else "±0.0 %"


def _mean(arm: Arm, measure: str) -> float | None:
    values = [one.values.get(measure) for one in arm.observations]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _daemons(arm: Arm) -> int:
    return max((len(one.daemons) for one in arm.observations), default=0) or 1


def _counters_fit(arm: Arm) -> bool:
    return all(one.daemons and all(daemon.covers_counters for daemon in one.daemons) for one in arm.observations)


DIMINISHING = 0.5
LEAST_ARMS = 3
# 4, 4c, 4-cores, cores4, cores-per-osd=0.5
_AMOUNT = re.compile(r"(?P<before>\D*?)(?P<amount>\d+(?:\.\d+)?)(?P<after>\D*)")


@dataclass(frozen=True, slots=True)
class ScalingPoint:
    """One arm: its amount of the resource and the metric's value; the factor gained over the arm before, its yield."""

    arm: str
    amount: float
    value: float
    gain: float | None
    step_yield: float | None


@dataclass(frozen=True, slots=True)
class Scaling:
    """One metric over the arms, by their amounts. `knee` is the arm after which returns diminish, if they do."""

    metric: Metric
    resource: str
    points: tuple[ScalingPoint, ...]
    knee: str | None
    is_noise_known: bool

    @property
    def sentence(self) -> str:
        """What it comes to, in words."""
        unsure = "" if self.is_noise_known else " (one run of an arm: noise unknown)"
        if self.knee is None:
            return f"still grows at {self.points[-1].arm}{unsure}"
        before, after = next((one, other) for one, other in pairwise(self.points) if one.arm == self.knee)
        added, gained = 100 * (after.amount / before.amount - 1), 100 * ((after.gain or 1.0) - 1)
        gains = (
            f"{'gains' if gained > 0 else 'loses'} {abs(gained):.0f} %" if after.step_yield else "gains nothing sure"
        )
        return f"returns diminish after {self.knee}: {after.arm} {gains} for {added:.0f} % more{unsure}"


def amounts_of(names: Sequence[str]) -> tuple[str, list[float]] | None:
    """The resource and its amounts that arms' names say: numbers with the same text around them; None otherwise."""
    found = [_AMOUNT.fullmatch(name) for name in names]
    matches = [match for match in found if match is not None]
    around = {(match["before"], match["after"]) for match in matches}
    amounts = [float(match["amount"]) for match in matches]
    if len(matches) < max(len(names), LEAST_ARMS) or len(around) > 1 or len(set(amounts)) < len(names):
        return None
    if min(amounts) <= 0:
        return None
    before, after = around.pop()
    return f"{before}{after}".strip(" -_=."), amounts


def scaling_of(
    metric: Metric, names: Sequence[str], values: Sequence[float | None], is_sure: Sequence[Sequence[bool | None]]
) -> Scaling | None:
    """How a client job's IOPS go over the arms; None for another metric, or where names or values make no series.

    `is_sure[a][b]` is whether arms a and b differ beyond chance, None where that is not known.
    """
    found = amounts_of(names)
    known = [value for value in values if value is not None and value > 0]
    if found is None or metric.unit is not Unit.IOPS or len(known) < len(values):
        return None
    resource, amounts = found
    order = sorted(range(len(names)), key=lambda place: amounts[place])
    points = [ScalingPoint(names[order[0]], amounts[order[0]], known[order[0]], None, None)]
    for before, place in pairwise(order):
        gain = known[place] / known[before]
        step = log(gain) / log(amounts[place] / amounts[before])
        by_chance = is_sure[before][place] is False
        points.append(ScalingPoint(names[place], amounts[place], known[place], gain, 0.0 if by_chance else step))
    is_known = all(is_sure[before][place] is not None for before, place in pairwise(order))
    return Scaling(metric, resource, tuple(points), _knee(points), is_known)


def _knee(points: Sequence[ScalingPoint]) -> str | None:
    """The last arm that was worth its addition, if those after it are not."""
    place = len(points) - 1
    while place > 0 and (points[place].step_yield or 0.0) < DIMINISHING:
        place -= 1
    return points[place].arm if place < len(points) - 1 else None
