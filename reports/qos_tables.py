"""The tables of a report on scheduling: what is in force, allocation, classes, closed forms, candidates."""

from collections.abc import Iterator, Sequence

from lsmlens.analyzer.numbers import counted, file_name, percent, plain, size, time_of
from lsmlens.analyzer.qos.allocation import ClassAllocation, Rate
from lsmlens.analyzer.qos.cost_model import CostUnit
from lsmlens.analyzer.qos.in_force import SchedulerInForce
from lsmlens.analyzer.qos.service_classes import message_classes
from lsmlens.analyzer.qos.settings import QosSetting
from lsmlens.analyzer.qos.view import OsdView, QosView
from lsmlens.analyzer.units import MIB
from lsmlens.reports.tables import Table
from lsmlens.tuners.qos.assessment import QosAssessment
from lsmlens.tuners.qos.recommendation import QosPrediction, QosRecommendation

NOT_KNOWN = "not known"
_KINDS = {"hdd": "HDD (rotational)", "ssd": "SSD (not rotational)"}


def in_force(osd: OsdView) -> Table:
    """What schedules one OSD: each setting, its value, who set it and where it was read."""
    one = osd.in_force
    release = ".".join(map(str, one.release)) if one.release is not None else NOT_KNOWN
    rows = [
        _setting("scheduler", one.scheduler),
        ("release", release, "", ""),
        ("device", _KINDS.get(one.kind or "", NOT_KNOWN), "", _place(one.kind_source)),
        ("queues", _queues(one), _origin(one.shards), _place(one.shards.source if one.shards else "")),
    ]
    if one.is_mclock:
        rows[1:1] = [_setting("profile", one.profile)]
        rows += [
            _setting("capacity", one.capacity, " IOPS of 4 KiB"),
            *([_bandwidth(one.bandwidth)] if one.bandwidth is not None else []),
        ]
    rows += [
        _setting("backfills at once", one.max_backfills),
        _setting("recoveries at once", one.max_active),
    ]
    return Table(("setting", "value", "set by", "read in"), tuple(rows), left=(0, 1, 2, 3))


def in_force_by_osd(view: QosView) -> Table:
    """What schedules each OSD, one a row."""
    rows = []
    for osd in view.osds:
        one = osd.in_force
        rows.append(
            (
                osd.name,
                one.scheduler.value if one.scheduler is not None else NOT_KNOWN,
                one.profile.value if one.profile is not None else "-",
                one.kind or NOT_KNOWN,
                plain(one.capacity.real) if one.capacity is not None else "-",
                _queues(one),
                one.max_backfills.value if one.max_backfills is not None else "-",
            )
        )
    header = ("OSD", "scheduler", "profile", "device", "capacity IOPS", "queues", "backfills")
    return Table(header, tuple(rows), left=(0, 1, 2, 3, 5))


def _setting(name: str, setting: QosSetting | None, unit: str = "") -> tuple[str, str, str, str]:
    if setting is None:
        return name, NOT_KNOWN, "", ""
    value = plain(setting.real) + unit if unit and setting.real is not None else setting.value
    return name, value, _origin(setting), _place(setting.source)


def _bandwidth(setting: QosSetting) -> tuple[str, str, str, str]:
    value = f"{size(setting.real or 0)}/s in sequence"
    return "bandwidth", value, _origin(setting), _place(setting.source)


def _origin(setting: QosSetting | None) -> str:
    return "" if setting is None else setting.origin


def _place(source: str) -> str:
    return file_name(source) if source else ""


def _queues(one: SchedulerInForce) -> str:
    if one.shard_count is None:
        return NOT_KNOWN
    threads = f" x {one.thread_count} thread{'s' * (one.thread_count > 1)}" if one.thread_count else ""
    return f"{one.shard_count} shard{'s' * (one.shard_count > 1)}{threads}"


def allocation(classes: Sequence[ClassAllocation], per_shard: bool = False) -> Table:
    """What each class is given, on the OSD or in each of its queues: at least, and at most."""
    rows = []
    for one in classes:
        reservation = one.reservation_per_shard if per_shard else one.reservation
        limit = one.limit_per_shard if per_shard else one.limit
        weight = plain(float(one.weight))
        rows.append((one.service_class.value, weight, "at least", *_rates(one.reservation_share, reservation, "none")))
        rows.append(("", "", "at most", *_rates(one.limit_share, limit, "no limit")))
    header = ("class", "weight", "", "share", "4 KiB IOPS", "MiB/s", "objects/s", "recovered/s")
    return Table(header, tuple(rows), left=(0, 2))


def _rates(share_of_capacity: float, rate: Rate | None, none: str) -> tuple[str, str, str, str, str]:
    if rate is None:
        return none, "-", "-", "-", "-"
    return (
        percent(share_of_capacity, 0),
        plain(round(rate.iops, 1), 5),
        plain(round(rate.bytes_per_second / MIB, 1), 5),
        f"{rate.objects_per_second:.3g}",
        f"{rate.recovered_per_second:.3g}",
    )


ALLOCATION_NOTE = "objects/s: of 4 MiB, by size alone; recovered/s: with all that a recovered object is charged"


def charges(osd: OsdView) -> tuple[str, ...]:
    """How operations are charged, as sentences; empty for WPQ."""
    costs, said = osd.in_force.costs, osd.charges
    if costs is None or said is None:
        return ()
    if costs.unit is CostUnit.BYTES:
        return (
            f"charges are bytes: an operation costs its size, at least {size(costs.per_io)} (bandwidth / capacity)",
            f"a recovered object of 4 MiB costs its primary {size(said.start)}, and {size(said.reply)} for the reply",
        )
    return (
        f"charges are small operations: 4 KiB costs {costs.cost(4096)}, 4 MiB {costs.cost(4 << 20)}",
        f"a recovered object costs its primary {said.start} when its turn comes and {said.reply} for the reply,"
        f" whatever its size, and the target {said.push}",
    )


def classes(osd: OsdView) -> Table:
    """Which class each kind of message falls in."""
    rows = tuple((one.message, one.service_class.value, one.note) for one in message_classes(osd.in_force.release))
    return Table(("message", "class", ""), rows, left=(0, 1, 2))


def forms(assessment: QosAssessment) -> Table:
    """Recovery's time by charges and queues alone, by profile."""
    has_budget = any(form.client_iops is not None for form in assessment.forms)
    header = ["profile", "class", "recovery takes", "interval", "objects/s", "bound by"]
    rows = []
    for form in assessment.forms:
        time = form.recovery
        row = [
            form.profile + ("  *" if form.is_current else ""),
            form.service_class.value.removeprefix("background "),
            duration(time.seconds),
            "exact" if time.is_exact else f"{duration(time.low)} to {duration(time.high)}",
            f"{time.objects_per_second:.3g}",
            time.bound.value,
        ]
        if has_budget:
            row.append("-" if form.client_iops is None else f"{form.client_iops:.0f}")
        rows.append(tuple(row))
    if has_budget:
        header.append("clients' IOPS")
    return Table(tuple(header), tuple(rows), left=(0, 1, 5))


def littles_law(view: QosView) -> Table:
    """Results of load programs against Little's law."""
    rows = tuple(
        (
            file_name(check.source),
            check.operation or "-",
            plain(check.depth),
            f"{check.in_flight:.1f}",
            "holds" if check.holds else f"off by {100 * check.deviation:+.0f} %",
        )
        for check in view.littles_law
    )
    return Table(("client result", "op", "depth", "IOPS x latency", "Little's law"), rows, left=(0, 1, 4))


def candidates(recommendation: QosRecommendation) -> Table:
    """What each candidate would do; `=` marks what is in force, `*` what nothing beats in both, `>` the pick.

    Profiles that one play stands for are one row.
    """
    has_p95 = any(one.p95_seconds is not None for one in recommendation.predictions)
    header = ["", "settings", "IOPS", "mean", *(["p95"] if has_p95 else []), "recovery", "between", "bound by"]
    rows = tuple(tuple(_candidate(alike, recommendation, has_p95)) for alike in alike_predictions(recommendation))
    return Table(tuple(header), rows, left=(0, 1, len(header) - 1))


def alike_predictions(recommendation: QosRecommendation) -> list[list[QosPrediction]]:
    """The predictions, those of one play together; what is in force by itself, first."""
    groups: dict[tuple[bool, int], list[QosPrediction]] = {}
    for one in recommendation.predictions:
        groups.setdefault((one.candidate.is_current, id(one.play)), []).append(one)
    return list(groups.values())


def name_of(alike: list[QosPrediction]) -> str:
    """What predictions of one play are called together."""
    name = alike[0].candidate.name
    return name if len(alike) == 1 else f"any profile, {name.partition(', ')[2]}"


def _candidate(alike: list[QosPrediction], recommendation: QosRecommendation, has_p95: bool) -> Iterator[str]:
    one = alike[0]
    marks = ("=" if one.candidate.is_current else " ", "*" if one.is_on_front else " ")
    yield "".join(marks) + (">" if recommendation.pick in alike else " ")
    yield name_of(alike)
    yield plain(round(one.client_iops))
    yield time_of(one.mean_seconds)
    if has_p95:
        yield time_of(one.p95_seconds)
    yield duration(one.recovery_seconds)
    yield f"{duration(one.recovery_low)} to {duration(one.recovery_high)}"
    yield "limit" if one.is_limited else "backfills"


def candidate_notes(recommendation: QosRecommendation) -> list[str]:
    """What the table's marks mean, and what all candidates change alike."""
    said = [f"= in force, * nothing beats it in both, > the pick by --objective {recommendation.objective}"]
    first, *others = (one.candidate for one in recommendation.predictions)
    changed = []
    if others and others[0].capacity != first.capacity and others[0].capacity is not None:
        changed.append(f"capacity {plain(round(others[0].capacity))}")
    if others and (others[0].shards, others[0].threads) != (first.shards, first.threads):
        changed.append(f"{counted(others[0].shards, 'shard')} x {counted(others[0].threads, 'thread')}")
    return [*said, f"all others with {' and '.join(changed)}"] if changed else said


def settings_of(one: QosPrediction, recommendation: QosRecommendation) -> str:
    """A candidate's settings in a few words: what it is, and what it changes beside profile and backfills."""
    current = recommendation.predictions[0].candidate
    said = [one.candidate.name]
    if one.candidate.capacity != current.capacity and one.candidate.capacity is not None:
        said.append(f"capacity {plain(round(one.candidate.capacity))}")
    if (one.candidate.shards, one.candidate.threads) != (current.shards, current.threads):
        said.append(f"{one.candidate.shards} x {one.candidate.threads}")
    return ", ".join(said) + (" (in force)" if one.candidate.is_current else "")


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 120:
        return f"{seconds:.3g} s"
    if seconds < 7200:
        return f"{seconds / 60:.3g} min"
    return f"{seconds / 3600:.3g} h" if seconds < 172_800 else f"{seconds / 86_400:.3g} days"


def error_of(one: QosPrediction, recommendation: QosRecommendation) -> str:
    """What a prediction's figures are worth."""
    from lsmlens.tuners.qos.recommendation import P95_ERROR

    calibrated = ", calibrated on what was observed" if recommendation.calibration.is_of_clients else ""
    if one.p95_seconds is not None:
        p95 = f", p95 within {percent(P95_ERROR, 0)}"
    else:
        p95 = f"; no percentiles {'on HDDs' if recommendation.model.hardware.has_seeks else 'under WPQ'}"
    return f"clients' mean within {percent(one.mean_error, 0)}{calibrated}{p95}; no p99"
