"""The tables of a recommendation: finalists, what changes, in which cases, and what was tried."""

from dataclasses import dataclass

from lsmlens.analyzer.numbers import bytes_of, plain, ratio, setting, size
from lsmlens.analyzer.options.option_changes import is_mutable
from lsmlens.reports.tables import Importance, Table
from lsmlens.tuners.options.tunables import tunables_of
from lsmlens.tuners.search.application import Application
from lsmlens.tuners.search.finals import CURRENT
from lsmlens.tuners.search.recommendation import Change, Finalist, Recommendation, changes
from lsmlens.tuners.search.scores import Scores
from lsmlens.tuners.search.screening import SIMPLER

METRICS = {
    "written_bytes": "flushed and compacted",
    "flush_bytes": "of it flushed",
    "compactions": "compactions",
    "processed_records": "records into compactions",
    "cpu_seconds": "CPU of the replay",
    "memory_bytes": "memtables at most",
    "space_bytes": "files at most",
    "stall_seconds": "stalls, s",
    "p50_micros": "write latency, median",
    "p99_micros": "write latency, p99",
    "sorted_runs": "sorted runs a read looks into",
    "blocks_per_get": "blocks looked into for a Get",
}
# Families with less of all bytes are left out of the text, and counted.
LEAST_SHARE = 0.01
LONGEST_REASON = 100
FRONT_KEYS = ("settings", "", "written", "WA", "cost", "worst")


@dataclass(frozen=True, slots=True)
class RecommendationReport:
    """What there is to report. `application` is None where nothing is advised."""

    source: str
    recommendation: Recommendation
    application: Application | None


def front_table(recommendation: Recommendation) -> Table:
    """The finalists beside the current settings; a mark for what is on the Pareto front, and for the pick."""
    front = {one.name for one in recommendation.front}
    rows = [_row("current settings", "", recommendation.present_scores, "1.000", "1.000")]
    for one in recommendation.finalists:
        marks = "pick" if one is recommendation.picked else "front" if one.name in front else "beaten"
        rows.append(_row(one.name, marks, one.scores, ratio(one.cost), ratio(one.worst.cost)))
    header = ("settings", "", "written", "WA", "records in", "memtables", "space", "stalls", "p99", "cost", "worst")
    importance = tuple(Importance.KEY if name in FRONT_KEYS else Importance.MINOR for name in header)
    return Table(header, tuple(rows), left=(0, 1), importance=importance)


def changes_table(recommendation: Recommendation, finalist: Finalist) -> Table:
    """Each metric now and predicted, with its interval and its change."""
    rows = []
    for one in changes(finalist, recommendation.present_scores):
        interval = "-"
        if one.low is not None and one.high is not None:
            interval = f"{_value(one.metric, one.low)} to {_value(one.metric, one.high)}"
        rows.append(
            (
                METRICS[one.metric],
                _value(one.metric, one.present),
                _value(one.metric, one.value),
                interval,
                percent_changed(one),
            )
        )
    return Table(("metric", "current", "predicted", "90 % interval", "change"), tuple(rows))


def differences_table(finalist: Finalist, value: str) -> Table:
    """The options that change; `value` is the heading of their new values."""
    rows = tuple(
        (one.option, one.family or "all", plain_value(one.option, one.other), plain_value(one.option, one.value))
        for one in finalist.differences
    )
    return Table(("option", "column family", "current", value), rows, left=(0, 1))


def logs_table(finalist: Finalist) -> Table:
    """What a finalist costs on each log, and what flushes and compactions write there."""
    rows = []
    for one in finalist.logs:
        known = one.written_bytes is not None and one.present_bytes is not None
        change = changed(one.present_bytes or 0.0, one.written_bytes or 0.0) if known else one.problem or "-"
        bytes_now, bytes_then = (
            None if each is None else round(each) for each in (one.present_bytes, one.written_bytes)
        )
        role = "held out" if one.is_held_out else f"counts {one.weight:g}"
        rows.append((one.log, role, bytes_of(bytes_now), bytes_of(bytes_then), change, ratio(one.cost)))
    return Table(("log", "", "current", "predicted", "change", "cost"), tuple(rows), left=(0, 1))


def takes_table(finalist: Finalist, rocksdb_version: str | None) -> Table:
    """What each changed option takes, and when RocksDB takes it."""
    rows = []
    for option in dict.fromkeys(one.option for one in finalist.differences):
        prices = [one.price for one in tunables_of(option) if one.price]
        when = "at run time" if is_mutable(option, rocksdb_version) else "at the next open"
        rows.append((option, "; ".join(prices) or "nothing", when))
    return Table(("option", "takes", "takes effect"), tuple(rows), left=(0, 1, 2))


def families_table(recommendation: Recommendation, finalist: Finalist) -> tuple[Table, int]:
    """Flushed and compacted bytes by family, now and predicted; and how many of little weight are left out."""
    before = recommendation.anchor.observed
    whole = sum(one.written_bytes for one in before.values())
    rows, hidden = [], 0
    for family in finalist.evaluated.prediction.families:
        seen, value = before[family.name], family.predicted.value
        if max(seen.written_bytes, value.written_bytes) < LEAST_SHARE * whole:
            hidden += 1
            continue
        low, high = family.predicted.low.written_bytes, family.predicted.high.written_bytes
        rows.append(
            (
                family.name,
                size(round(seen.written_bytes)),
                size(round(value.written_bytes)),
                f"{size(round(low))} to {size(round(high))}",
                changed(seen.written_bytes, value.written_bytes),
                ratio(seen.write_amplification),
                ratio(value.write_amplification),
            )
        )
    header = ("column family", "written", "predicted", "90 % interval", "change", "WA", "predicted")
    return Table(header, tuple(rows)), hidden


def cases_table(recommendation: Recommendation) -> Table:
    """The cost of each finalist in every case it was tried on."""
    names = list(dict.fromkeys(case.name for one in recommendation.finalists for case in one.cases))
    rows = []
    for name in names:
        costs = [{case.name: case.cost for case in one.cases}.get(name) for one in recommendation.finalists]
        rows.append((name, *(ratio(one) for one in costs)))
    return Table(("tried on", *(one.name for one in recommendation.finalists)), tuple(rows))


def tried_table(recommendation: Recommendation, most: int | None = None) -> Table:
    """What was tried and lost, the cheapest first, those refused last; `most` rows at the most."""
    finalists = {one.name for one in recommendation.finalists}
    found = [
        (
            one.cost if one.cost is not None else float("inf"),
            one.name,
            one.origin,
            "the budget was spent" if one.is_waiting else one.problem,
        )
        for one in recommendation.tried
        if one.name not in (*finalists, CURRENT)
        and not (one.is_out and one.batch is not None)
        # a draw that was pruned says nothing; what was advised or promised, does
        and not (one.is_pruned and one.name.startswith("candidate"))
        and not (one.cost is None and one.origin == SIMPLER)
    ]
    found += [
        (cost if cost is not None else float("inf"), name, "as it is", problem)
        for name, cost, problem in recommendation.fixed
        if name not in finalists
    ]
    rows = [
        (name, origin, "-" if cost == float("inf") else ratio(cost), _short(problem or "costs more", name))
        for cost, name, origin, problem in sorted(found, key=lambda one: one[0])
    ]
    return Table(("settings", "from", "cost", "why not"), tuple(rows[:most]), left=(0, 1, 3))


def _short(problem: str, name: str) -> str:
    """A reason without the name it begins with, in a length that a table stands; JSON has it whole."""
    words = problem.removeprefix(f"{name}: ")
    return words if len(words) <= LONGEST_REASON else f"{words[: LONGEST_REASON - 1].rstrip()}…"


def plain_value(option: str, value: str | None) -> str:
    """An option's value as people write it."""
    return "-" if value is None else setting(option, value.removesuffix(".000000"))


def _row(name: str, mark: str, scores: Scores, cost: str, worst: str) -> tuple[str, ...]:
    return (
        name,
        mark,
        size(round(scores.written_bytes)),
        ratio(scores.write_amplification),
        plain(round(scores.processed_records)),
        size(round(scores.memory_bytes)),
        size(round(scores.space_bytes)),
        "-" if scores.stall_seconds is None else f"{scores.stall_seconds:.1f} s",
        "-" if scores.p99_micros is None else f"{scores.p99_micros / 1000:.2f} ms",
        cost,
        worst,
    )


def _value(metric: str, value: float) -> str:
    if metric.endswith("_bytes"):
        return size(round(value))
    if metric.endswith("_micros"):
        return f"{value / 1000:.2f} ms"
    if metric.endswith("_seconds"):
        return f"{value:.1f} s"
    if metric in ("sorted_runs", "blocks_per_get"):
        return f"{value:.1f}"
    return plain(round(value))


def percent_changed(change: Change) -> str:
    """A change as people say it."""
    return changed(change.present, change.value)


def changed(before: float, after: float) -> str:
    """From one number to another, in per cent."""
    return f"{100 * (after / before - 1):+.0f} %" if before else "-"
