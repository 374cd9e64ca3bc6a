"""How a metric grows with a resource, where the arms are amounts of it: `2=PATH 4=PATH 8=PATH` for cores per OSD.

The yield of a step is its relative gain per relative addition: log(gain) / log(addition), 1 where twice the cores give
twice the operations, 0.5 where they give 1.41 times as many. Returns diminish from the arm on after which every step's
yield is below `DIMINISHING`; a step whose gain may be by chance yields nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

from lsmlens.analyzer.metrics import Metric, Unit

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
