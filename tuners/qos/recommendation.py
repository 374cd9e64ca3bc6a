"""The recommendation: candidates played, those that nothing beats, and the pick among them.

What each figure is worth was measured on the published study (docs/qos.md): a recovery that a limit bounds comes out
within 5 % where queues are known, clients' mean within 10 % on HDDs with a database elsewhere, on NVMe within 35 %,
15 % once calibrated. Smaller differences decide nothing here.

The simulation is held against what was observed while something recovered, by two factors, each of one kind of
figure: the clients' rate, and the rate of a recovery that no limit bounds. They hold for candidates under the scheduler
that was observed: another orders what meets at a device otherwise.

A recovery, played in shorter time than it would take: fewer objects in each group, everything else as it is.

With all objects a recovery may take hours. With so many times fewer it goes through the same stages so many times
sooner: what is measured of clients over it is the same, and its time is that of the simulation times the number.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, inf

from lsmlens.analyzer.numbers import plain
from lsmlens.analyzer.qos.in_force import MCLOCK, WPQ
from lsmlens.analyzer.qos.observed_recovery import ObservedRecovery
from lsmlens.analyzer.qos.view import OsdView, QosView
from lsmlens.tuners.qos.candidates import Candidate, Candidates
from lsmlens.tuners.qos.cluster_model import ClusterModel, cluster_model
from lsmlens.tuners.qos.scenario import Recovery, Scenario
from lsmlens.tuners.qos.simulation import ClientFigures, SimulatedOutcome, simulate

# Outside of these a rate is not that of clients that press on: then the simulation's closed loop is not what was there.
LEAST_FACTOR, MOST_FACTOR = 0.25, 4.0
# Errors as shares, measured on the published study's rows; see docs/qos.md.
MEAN_ERROR = {("hdd", MCLOCK): 0.10, ("hdd", WPQ): 0.25, ("nvme", MCLOCK): 0.35, ("nvme", WPQ): 0.35}
CALIBRATED_ERROR = MEAN_ERROR | {("nvme", MCLOCK): 0.15}
PLAIN_DISK_ERROR = 0.35  # database on the disk itself: what each kv batch seeks is not in the model
P95_ERROR = 0.25
LIMIT_ERROR, LIMIT_ERROR_BY_CHANCE = 0.10, 0.25
CONCURRENCY_ERROR = 1.0  # by a factor of two, either way
# Errors are much the same for all candidates, so between two of them less is enough to tell.
CLIENT_TIE, RECOVERY_TIE = 0.10, 0.10
# Below this part of turns with something to order another profile would order the same.
UNCONTENDED_SHARE = 0.005
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

    `client` is over the time of the recovery, or over all where there is none. `is_over` where it finished.
    `contended_share` is the part of the queues' turns in which the scheduler had something to order.
    """

    client: ClientFigures | None
    recovery_seconds: float | None
    objects_per_second: float
    object_scale: float
    is_over: bool
    contended_share: float
    course: tuple[RecoveryPoint, ...]


@dataclass(frozen=True, slots=True)
class QosCalibration:
    """Factors on simulated rates; 1 where nothing was observed, or what was cannot be compared."""

    client: float = 1.0
    recovery: float = 1.0
    source: str = ""
    note: str = ""

    @property
    def is_of_clients(self) -> bool:
        """Whether clients' figures are calibrated."""
        return bool(self.source) and self.client != 1.0


def calibrate(observed: ObservedRecovery | None, play: Play, played_share: float) -> QosCalibration:
    """Factors that make the play of the settings in force what was observed.

    `played_share` is the part of the cluster's OSDs that were played.
    """
    if observed is None or play.client is None:
        return QosCalibration()
    recovery = _factor(observed.objects_per_second * played_share, play.objects_per_second)
    client, note = 1.0, "clients' rate was not observed"
    if observed.client_iops:
        factor = _factor(observed.client_iops * played_share, play.client.iops)
        note = ""
        if factor is None:
            note = f"clients' {plain(round(observed.client_iops))} operations/s are not of a closed loop: not used"
        client = factor or 1.0
    return QosCalibration(client, recovery or 1.0, observed.source, note)


def _factor(observed: float, simulated: float) -> float | None:
    """Observed / simulated; None outside of what one could believe."""
    if observed <= 0 or simulated <= 0:
        return None
    factor = observed / simulated
    return factor if LEAST_FACTOR <= factor <= MOST_FACTOR else None


class QosObjective(StrEnum):
    """What a pick is to favour."""

    CLIENT = "client"
    BALANCED = "balanced"
    RECOVERY = "recovery"


@dataclass(frozen=True, slots=True)
class QosPrediction:
    """What a candidate would do: clients during the recovery, and the recovery's time with its bounds.

    `is_limited` where a limit decides that time, else what may be under way at once. `p95_seconds` is None on HDDs
    and under WPQ, whose percentiles the simulation does not reproduce.
    """

    candidate: Candidate
    client_iops: float
    mean_seconds: float
    mean_error: float
    p95_seconds: float | None
    recovery_seconds: float
    recovery_low: float
    recovery_high: float
    is_limited: bool
    objects_per_second: float
    play: Play
    is_on_front: bool = False


@dataclass(frozen=True, slots=True)
class QosRecommendation:
    """The candidates' predictions, the pick, and why; the first prediction is that of the settings in force.

    `base` is what clients get without recovery. `notes` say what binds and what was taken for what.
    """

    model: ClusterModel
    predictions: tuple[QosPrediction, ...]
    base: ClientFigures | None
    base_without_compactions: ClientFigures | None
    pick: QosPrediction
    objective: QosObjective
    calibration: QosCalibration
    reasons: tuple[str, ...]
    commands: tuple[str, ...]
    way_back: tuple[str, ...]
    needs_restart: bool


def recommend(
    view: QosView,
    osd: OsdView,
    objective: QosObjective,
    executor: Executor,
    *,
    depth: int | None = None,
    osds: int | None = None,
    seed: int = 1,
    on_played: Callable[[str, int, int], None] | None = None,
) -> QosRecommendation | None:
    """Play the candidates for an OSD's cluster and choose; None where the scheduler is not known.

    `on_played` is told each candidate that was played, how many were, and how many there are.
    """
    if osd.in_force.scheduler is None or osd.in_force.kind is None:
        return None
    candidates, model = Candidates(osd), cluster_model(view, osd, depth, osds)
    tried = list(candidates.all())
    scenarios = [model.scenario(candidates, candidate, seed) for candidate in tried]
    alone = replace(scenarios[0], recovery=Recovery(start_seconds=scenarios[0].recovery.start_seconds))
    plays = _play_all(tried, scenarios, alone, executor, on_played)
    share = model.osds / view.osd_count if view.osd_count and view.osd_count > model.osds else 1.0
    calibration = calibrate(view.observed, plays[0], share)
    predictions = [
        _prediction(candidate, scenario, played, model, calibration)
        for candidate, scenario, played in zip(tried, scenarios, plays[: len(tried)], strict=True)
        if played.client is not None and played.recovery_seconds is not None
    ]
    if not predictions or not predictions[0].candidate.is_current:
        return None
    predictions = _with_front(predictions)
    pick = _pick(predictions, objective, candidates)
    return QosRecommendation(
        model=model,
        predictions=tuple(predictions),
        base=plays[-2].client,
        base_without_compactions=plays[-1].client if model.background is not None else None,
        pick=pick,
        objective=objective,
        calibration=calibration,
        reasons=tuple(_reasons(predictions, pick, candidates)),
        commands=candidates.commands(pick.candidate),
        way_back=candidates.way_back(pick.candidate),
        needs_restart=candidates.needs_restart(pick.candidate),
    )


def _play_all(
    tried: Sequence[Candidate],
    scenarios: Sequence[Scenario],
    alone: Scenario,
    executor: Executor,
    on_played: Callable[[str, int, int], None] | None,
) -> list[Play]:
    """A play for each candidate, then clients alone with compactions and without.

    Of candidates that differ in nothing but their profile one is played first: where its queues had nothing to order,
    the others' would not have either, and its play is theirs.
    """
    firsts: dict[Candidate, int] = {}
    for number, candidate in enumerate(tried):
        firsts.setdefault(replace(candidate, profile="", is_current=False), number)
    leaders = [firsts[replace(candidate, profile="", is_current=False)] for candidate in tried]
    extra = [alone, replace(alone, background=None)]
    submitted = {number: executor.submit(play, scenarios[number]) for number in sorted(set(leaders))}
    of_clients = [executor.submit(play, scenario) for scenario in extra]
    plays: dict[int, Play] = {}
    total = len(tried) + len(extra)

    def tell(name: str, done: int) -> None:
        if on_played is not None:
            on_played(name, done, total)

    for number, future in submitted.items():
        plays[number] = future.result()
        tell(tried[number].name, len(plays))
    contended = {
        number: executor.submit(play, scenarios[number])
        for number, leader in enumerate(leaders)
        if number != leader and plays[leader].contended_share >= UNCONTENDED_SHARE
    }
    for number, leader in enumerate(leaders):
        if number != leader:
            plays[number] = contended[number].result() if number in contended else plays[leader]
            tell(tried[number].name, len(plays))
    last = [future.result() for future in of_clients]
    tell("clients alone", total)
    return [*(plays[number] for number in range(len(tried))), *last]


def _prediction(
    candidate: Candidate, scenario: Scenario, played: Play, model: ClusterModel, calibration: QosCalibration
) -> QosPrediction:
    assert played.client is not None
    assert played.recovery_seconds is not None
    limit_seconds = queue_seconds(scenario)
    # A limit decides if nothing else is slower than it.
    is_limited = limit_seconds is not None and played.recovery_seconds <= limit_seconds * (1 + LIMIT_ERROR_BY_CHANCE)
    if is_limited and limit_seconds is not None:
        seconds, error = limit_seconds, LIMIT_ERROR if model.is_placement_known else LIMIT_ERROR_BY_CHANCE
        low, high = seconds * (1 - error), seconds * (1 + error)
    else:
        seconds = played.recovery_seconds / calibration.recovery
        error = CONCURRENCY_ERROR if calibration.recovery == 1.0 else LIMIT_ERROR_BY_CHANCE
        low, high = seconds / (1 + error), seconds * (1 + error)
    errors = CALIBRATED_ERROR if calibration.is_of_clients else MEAN_ERROR
    mean_error = errors[model.hardware.name, candidate.scheduler]
    if model.hardware.has_seeks and not model.has_own_db:
        mean_error = max(mean_error, PLAIN_DISK_ERROR)
    has_p95 = candidate.scheduler == MCLOCK and not model.hardware.has_seeks
    return QosPrediction(
        candidate,
        client_iops=played.client.iops * calibration.client,
        mean_seconds=played.client.mean_seconds / calibration.client,
        mean_error=mean_error,
        p95_seconds=played.client.p95_seconds / calibration.client if has_p95 else None,
        recovery_seconds=seconds,
        recovery_low=low,
        recovery_high=high,
        is_limited=is_limited,
        objects_per_second=model.objects / seconds,
        play=played,
    )


def _with_front(predictions: Sequence[QosPrediction]) -> list[QosPrediction]:
    """Mark those that no other beats in clients' mean and recovery's time at once."""

    def beats(one: QosPrediction, other: QosPrediction) -> bool:
        better = one.mean_seconds < other.mean_seconds or one.recovery_seconds < other.recovery_seconds
        return better and one.mean_seconds <= other.mean_seconds and one.recovery_seconds <= other.recovery_seconds

    return [replace(one, is_on_front=not any(beats(other, one) for other in predictions)) for one in predictions]


def _pick(predictions: Sequence[QosPrediction], objective: QosObjective, candidates: Candidates) -> QosPrediction:
    """The best by the objective; of those that are as good within the errors, the one that changes least."""
    least_mean = min(one.mean_seconds for one in predictions)
    least_time = min(one.recovery_seconds for one in predictions)

    def product(one: QosPrediction) -> float:
        return one.mean_seconds / least_mean * one.recovery_seconds / least_time

    if objective is QosObjective.CLIENT:
        near = [one for one in predictions if one.mean_seconds <= least_mean * (1 + CLIENT_TIE)]
        return _first(near, lambda one: one.recovery_seconds, RECOVERY_TIE, candidates)
    if objective is QosObjective.RECOVERY:
        near = [one for one in predictions if one.recovery_seconds <= least_time * (1 + RECOVERY_TIE)]
        return _first(near, lambda one: one.mean_seconds, CLIENT_TIE, candidates)
    return _first(predictions, product, CLIENT_TIE, candidates)


def _first(
    near: Sequence[QosPrediction], value: Callable[[QosPrediction], float], tie: float, candidates: Candidates
) -> QosPrediction:
    least = min(map(value, near))
    good = [one for one in near if value(one) <= least * (1 + tie)]
    return min(good, key=lambda one: (not one.candidate.is_current, candidates.changes(one.candidate), value(one)))


def _reasons(predictions: Sequence[QosPrediction], pick: QosPrediction, candidates: Candidates) -> list[str]:
    """Why this one, and what binds."""
    current = predictions[0]
    reasons: list[str] = []
    if pick is current:
        reasons.append("nothing tried is better than the settings in force by more than the model's error")
    else:
        reasons.append(
            f"recovery {_times(current.recovery_seconds, pick.recovery_seconds, 'faster', 'slower')}, clients' mean"
            f" {_times(current.mean_seconds, pick.mean_seconds, 'shorter', 'longer')} than with the settings in force"
        )
    bound = [count for count in _counts(predictions) if _is_alike_in_profiles(predictions, count)]
    if bound:
        counts = " or ".join(map(str, bound))
        reasons.append(
            f"with {counts} backfill{'s' * (bound != [1])} at once the profile changes nothing: concurrency binds, not"
            " shares"
        )
    if candidates.current.scheduler != "wpq" and candidates.table is None:
        reasons.append("other profiles are not compared: what they are on this release the bundle does not say")
    return reasons


def _counts(predictions: Sequence[QosPrediction]) -> list[int]:
    return sorted({one.candidate.max_backfills for one in predictions})


def _is_alike_in_profiles(predictions: Sequence[QosPrediction], count: int) -> bool:
    """Whether all profiles come to the same with so many backfills at once."""
    last = predictions[-1].candidate
    same = [
        one
        for one in predictions
        if one.candidate.max_backfills == count
        and replace(last, profile="", max_backfills=count) == replace(one.candidate, profile="", is_current=False)
    ]
    return len({one.candidate.profile for one in same}) > 1 and _are_alike(same)


def _are_alike(predictions: Sequence[QosPrediction]) -> bool:
    times = [one.recovery_seconds for one in predictions]
    means = [one.mean_seconds for one in predictions]
    return max(times) <= min(times) * (1 + RECOVERY_TIE) and max(means) <= min(means) * (1 + CLIENT_TIE)


def _times(before: float, after: float, better: str, worse: str) -> str:
    ratio = before / after
    if 1 / (1 + RECOVERY_TIE) <= ratio <= 1 + RECOVERY_TIE:
        return "as before"
    return f"{ratio:.1f} times {better}" if ratio > 1 else f"{1 / ratio:.1f} times {worse}"


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
