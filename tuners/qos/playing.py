"""A recovery, played in shorter time than it would take: fewer objects in each group, everything else as it is.

With all objects a recovery may take hours. With so many times fewer it goes through the same stages so many times
sooner: what is measured of clients over it is the same, and its time is that of the simulation times the number.
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from math import ceil, inf

from lsmlens.tuners.qos.scenario import Scenario
from lsmlens.tuners.qos.simulation import ClientFigures, SimulatedOutcome, simulate

# How long the trial is that tells how fast a recovery goes, as a part of a simulation.
TRIAL_PART = 0.2
# A recovery is to end within the simulation, so that its tail is seen.
FILLED_PART = 0.8
# Many groups cannot have less than one object each; then a simulation may be so many times longer.
MOST_TIMES = 3.0
POINTS = 24


@dataclass(frozen=True, slots=True)
class RecoveryPoint:
    """The mean of a stretch of the recovery, from `seconds` on in true time."""

    seconds: float
    client_iops: float
    client_mean_seconds: float | None
    objects_per_second: float


@dataclass(frozen=True, slots=True)
class Play:
    """What a played scenario came to; times are those that the recovery would take with all objects.

    `client` is over the time of the recovery, or over all where there is none. `is_over` where it came to its end.
    `contended_share` is the part of the queues' turns in which the scheduler had something to order.
    """

    client: ClientFigures | None
    recovery_seconds: float | None
    objects_per_second: float
    object_scale: float
    is_over: bool
    contended_share: float
    course: tuple[RecoveryPoint, ...]


def queue_seconds(scenario: Scenario) -> float | None:
    """The recovery's time by charges alone: that of the fullest queue at its limit.

    None where a class that recovers has no limit, and under WPQ.
    """
    scheduler = scenario.scheduler
    if not scheduler.is_mclock or not scenario.recovery.groups:
        return None
    seconds: defaultdict[tuple[int, int, str], float] = defaultdict(float)
    for group in scenario.recovery.groups:
        limit = scheduler.shares[group.service_class].limit
        if limit == inf:
            return None
        queue = group.primary, group.seed % scheduler.shards, group.service_class
        seconds[queue] += group.objects * scheduler.charges.at_primary / limit
    return max(seconds.values())


def play(scenario: Scenario) -> Play:
    """Play a recovery to its end, or clients alone where nothing recovers."""
    objects = sum(group.objects for group in scenario.recovery.groups)
    if not objects:
        outcome = simulate(scenario)
        client = outcome.client(scenario.recovery.start_seconds)
        return Play(client, None, 0.0, 1.0, True, outcome.contended_share, ())
    expected = queue_seconds(scenario) or 0.0
    trial = simulate(replace(scenario, seconds=scenario.seconds * TRIAL_PART))
    rate = trial.objects_per_second(scenario.recovery.start_seconds)
    expected = max(expected, objects / rate if rate else 0.0)
    scale = max(1.0, expected / (FILLED_PART * scenario.seconds))
    groups = tuple(replace(group, objects=max(1, ceil(group.objects / scale))) for group in scenario.recovery.groups)
    played = sum(group.objects for group in groups)
    scale = objects / played
    needed = expected / scale / FILLED_PART
    seconds = min(max(scenario.seconds, needed), MOST_TIMES * scenario.seconds)
    outcome = simulate(replace(scenario, recovery=replace(scenario.recovery, groups=groups), seconds=seconds))
    return _summary(outcome, scenario, played, scale)


def _summary(outcome: SimulatedOutcome, scenario: Scenario, played: int, scale: float) -> Play:
    done = len(outcome.object_moments)
    is_over = done >= played
    start = min(scenario.recovery.start_seconds, outcome.seconds / 4)
    end = max(outcome.object_moments) if is_over else outcome.seconds
    seconds = (end if is_over or not done else end * played / done) * scale
    end = max(end, 2 * start)
    return Play(
        client=outcome.client(start, end),
        recovery_seconds=seconds if done else None,
        objects_per_second=played * scale / seconds if done else 0.0,
        object_scale=scale,
        is_over=is_over,
        contended_share=outcome.contended_share,
        course=tuple(_course(outcome, scale)),
    )


def _course(outcome: SimulatedOutcome, scale: float) -> list[RecoveryPoint]:
    width = outcome.seconds / POINTS
    points = []
    for place in range(POINTS):
        begin, end = place * width, (place + 1) * width
        client = outcome.client(begin, end)
        points.append(
            RecoveryPoint(
                begin * scale,
                client.iops if client is not None else 0.0,
                client.mean_seconds if client is not None else None,
                outcome.objects_per_second(begin, end),
            )
        )
    return points
