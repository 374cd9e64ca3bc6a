"""The plan: all findings' changes of one run merged into one change set, and the steps that make it.

Findings by themselves ask for changes of the same option, of options that do not go together, and for what is set
already. The plan takes each option once, leaves out what would do nothing, refuses what contradicts, and says why.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Finding, OptionChange, Severity
from lsmlens.analyzer.options.option_changes import (
    RUNTIME,
    SHARDING,
    is_ceph,
    is_mutable,
    sharding_in_force,
    with_family_options,
)
from lsmlens.analyzer.options.option_defaults import scope_of
from lsmlens.analyzer.options.option_strings import parse_size, same_value
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.options.sharding import DEFAULT_FAMILY, Sharding, parse_sharding
from lsmlens.analyzer.rollout import NewOptions, Step, options_fragment, rollout, set_calls
from lsmlens.analyzer.runs.osds import is_osd, store_path

MERGE, BUFFERS = "min_write_buffer_number_to_merge", "max_write_buffer_number"
# Learning a workload takes flushes (see `lsmlens workload`); a replay of fewer says nothing (ours).
LEAST_FLUSHES_TO_LEARN = 10


class TakesEffect(StrEnum):
    """When a change takes effect."""

    AT_ONCE = "while it runs"
    REOPEN = "at the next open"
    RESTART = "at the OSD's next start"
    RESHARD = "by resharding, the OSD being stopped"


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """An option's new value; `before` is None where the present one is not known.

    `families` is empty for the database and for all families alike; `codes` are those of the findings that ask for it.
    """

    name: str
    before: str | None
    after: str
    families: tuple[str, ...]
    codes: tuple[str, ...]
    takes_effect: TakesEffect


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A change that findings ask for and the plan does not make, and why not."""

    name: str
    after: str
    families: tuple[str, ...]
    codes: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What to change and how. `options_fragment` is for an OPTIONS file, of databases that are not Ceph's."""

    changes: tuple[PlannedChange, ...]
    left_out: tuple[LeftOut, ...]
    steps: tuple[Step, ...]
    options_fragment: str | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """One change and the findings that ask for it; `is_sure` unless they are no more than notes of low confidence."""

    change: OptionChange
    codes: tuple[str, ...]
    is_sure: bool = True


def plan_of(run: RunAnalysis, findings: Sequence[Finding]) -> Plan | None:
    """The plan for a run's findings; None where none of them would change an option."""
    asked = _gathered(findings)
    if not asked:
        return None
    left_out: list[LeftOut] = []
    kept = _without_idle(run, asked, left_out)
    kept = _without_contradictions(run, kept, left_out)
    kept = _within_reach(run, kept, left_out)
    kept = _within_limits(run, kept, left_out)
    changes = tuple(_planned(run, kept))
    if not changes:
        return Plan((), tuple(left_out), ())
    log_name = run.members[0] if run.members else run.name
    if is_ceph(run):
        return Plan(changes, tuple(left_out), (*_measuring(run, log_name), *_ceph_steps(run, kept, log_name)))
    steps, fragment = _native_steps(run, changes, log_name)
    return Plan(changes, tuple(left_out), (*_measuring(run, log_name), *steps), fragment)


def _gathered(findings: Sequence[Finding]) -> list[_Asked]:
    """Each change once, in the order of the findings, with the families and the codes of all that ask for it."""
    asking: dict[OptionChange, list[tuple[OptionChange, Finding]]] = {}
    for finding in findings:
        for change in finding.changes:
            of_all = replace(change, families=("",) if change.families else ())
            asking.setdefault(of_all, []).append((change, finding))
    return [
        _Asked(
            replace(change, families=tuple(sorted({family for one, _ in some for family in one.families}))),
            tuple(dict.fromkeys(finding.code for _, finding in some)),
            not all(_is_note(finding) for _, finding in some),
        )
        for change, some in asking.items()
    ]


def _is_note(finding: Finding) -> bool:
    return finding.severity is Severity.INFO and finding.confidence is Confidence.LOW


def _before(run: RunAnalysis, change: OptionChange, family: str | None = None) -> str | None:
    """The option's present value: of the family, of the database, or of the default family, which stands for all."""
    if change.is_ceph:
        if change.name == SHARDING:
            return str(sharding_in_force(run)) or None
        shown = run.beside.config_show.get(change.name)
        return shown if isinstance(shown, str) else value_of(run.ceph_options, None, change.name)
    family = family or next(iter(change.families), None)
    where = (family,) if family is not None else (None, DEFAULT_FAMILY)
    return next((value for one in where if (value := value_of(run.options, one, change.name)) is not None), None)


def _without_idle(run: RunAnalysis, asked: Iterable[_Asked], left_out: list[LeftOut]) -> list[_Asked]:
    kept = []
    for one in asked:
        before = _before(run, one.change)
        if not one.is_sure:
            left_out.append(_left_out(one, "no more than a note of low confidence asks for it"))
        elif before is not None and same_value(before, one.change.value):
            left_out.append(_left_out(one, "it is set already"))
        else:
            kept.append(one)
    return kept


def _without_contradictions(run: RunAnalysis, asked: list[_Asked], left_out: list[LeftOut]) -> list[_Asked]:
    """Of several values for one option the one nearest to the present; none where some ask for more, some for less."""
    groups: dict[tuple[str, tuple[str, ...]], list[_Asked]] = {}
    for one in asked:
        groups.setdefault((one.change.name, one.change.families), []).append(one)
    kept = []
    for group in groups.values():
        if len(group) == 1:
            kept += group
            continue
        before = parse_size(_before(run, group[0].change) or "")
        sizes = [parse_size(one.change.value) for one in group]
        if before is None or None in sizes or len({(size or 0) > before for size in sizes}) > 1:
            wanted = ", ".join(f"{'/'.join(one.codes)} {one.change.value}" for one in group)
            left_out += [_left_out(one, f"the findings contradict each other: {wanted}") for one in group]
            continue
        nearest = min(group, key=lambda one: abs((parse_size(one.change.value) or 0) - before))
        kept.append(_Asked(nearest.change, tuple(dict.fromkeys(code for one in group for code in one.codes))))
    return kept


def _within_reach(run: RunAnalysis, asked: list[_Asked], left_out: list[LeftOut]) -> list[_Asked]:
    """Without options of single columns of an OSD whose sharding text, which holds them, is not known."""
    if not is_osd(run.run) or sharding_in_force(run).columns or any(one.change.name == SHARDING for one in asked):
        return asked
    why = (
        "an OSD holds it in its sharding text, which is not known: add what `ceph-bluestore-tool --path"
        f" {store_path(run.run)} show-sharding` prints to the bundle"
    )
    left_out += [_left_out(one, why) for one in asked if one.change.families]
    return [one for one in asked if not one.change.families]


def _within_limits(run: RunAnalysis, asked: list[_Asked], left_out: list[LeftOut]) -> list[_Asked]:
    """Without merges of more buffers than there may be: RocksDB lowers them to one buffer less."""
    buffers = {one.change.families: parse_size(one.change.value) for one in asked if one.change.name == BUFFERS}
    kept = []
    for one in asked:
        if one.change.name == MERGE:
            present = parse_size(_before(run, replace(one.change, name=BUFFERS)) or "")
            most = buffers.get(one.change.families) or buffers.get(()) or present
            wanted = parse_size(one.change.value)
            if most is not None and wanted is not None and wanted >= most:
                why = f"RocksDB lowers it to {max(1, most - 1)}, one less than {BUFFERS} ({most})"
                left_out.append(_left_out(one, why))
                continue
        kept.append(one)
    return kept


def _left_out(one: _Asked, why: str) -> LeftOut:
    return LeftOut(one.change.name, one.change.value, one.change.families, one.codes, why)


def _planned(run: RunAnalysis, asked: Iterable[_Asked]) -> Iterator[PlannedChange]:
    for one in asked:
        change = one.change
        yield PlannedChange(
            change.name, _before(run, change), change.value, change.families, one.codes, _takes_effect(run, change)
        )


def _takes_effect(run: RunAnalysis, change: OptionChange) -> TakesEffect:
    if not is_ceph(run):
        return TakesEffect.AT_ONCE if is_mutable(change.name, run.rocksdb_version) else TakesEffect.REOPEN
    if change.name == SHARDING or (change.families and not run.is_monitor):
        return TakesEffect.RESHARD
    return TakesEffect.AT_ONCE if change.is_ceph and change.name in RUNTIME else TakesEffect.RESTART


def _ceph_steps(run: RunAnalysis, asked: Sequence[_Asked], log_name: str) -> Iterator[Step]:
    changes = [one.change for one in asked]
    own = {one.name: one.value for one in changes if one.is_ceph and one.name != SHARDING}
    of_columns = [one for one in changes if one.families and not one.is_ceph and not run.is_monitor]
    shared = {one.name: one.value for one in changes if not one.is_ceph and one not in of_columns}
    text = next((one.value for one in changes if one.name == SHARDING), None)
    before = sharding_in_force(run)
    sharding = parse_sharding(text) if text is not None else before
    for one in of_columns:
        sharding = with_family_options(sharding, one.families, {one.name: one.value})
    is_other = (of_columns or text is not None) and sharding != Sharding() and str(sharding) != str(before)
    wanted = NewOptions(
        shared,
        own,
        tuple(dict.fromkeys(one.name for one in of_columns)),
        str(sharding) if is_other else None,
        str(before) or None,
    )
    yield from rollout(run, wanted, log_name)


def _native_steps(run: RunAnalysis, changes: Sequence[PlannedChange], log_name: str) -> tuple[list[Step], str]:
    values = {
        (family, one.name): one.after
        for one in changes
        for family in one.families or (None if scope_of(one.name) != "family" else DEFAULT_FAMILY,)
    }
    steps = []
    calls = tuple(set_calls(values, run.rocksdb_version))
    if calls:
        note = "Lost at the next open, unless the program or its OPTIONS file asks for them as well."
        steps.append(Step("what RocksDB takes while it runs", calls, (note,)))
    waits = [one.name for one in changes if one.takes_effect is TakesEffect.REOPEN]
    notes = (f"Only at the next open: {', '.join(waits)}.",) if waits else ()
    fragment = options_fragment(values)
    steps.append(Step("for good: where the program opens its database, or in its OPTIONS file", (), notes))
    back = {key: before for key in values if (before := _value_before(run, *key)) is not None}
    names = "|".join(rf"Options\.{one.name}:" for one in changes)
    steps.append(Step("check that it took", (f"grep -aE '{names}' LOG",), ("The LOG prints options at each open.",)))
    compare = f"lsmlens compare before={log_name} after=LOG"
    steps.append(Step("after as much work as the first log holds, compare", (compare,)))
    if back:
        steps.append(Step("the way back", tuple(options_fragment(back).splitlines())))
    return steps, fragment


def _value_before(run: RunAnalysis, family: str | None, name: str) -> str | None:
    return value_of(run.options, family, name)


def _measuring(run: RunAnalysis, log_name: str) -> Iterator[Step]:
    """Where a workload can be learned from the log: how to measure the change before anything is touched."""
    flushes = sum(view.flushes for view in run.flushes)
    if flushes >= LEAST_FLUSHES_TO_LEARN and not run.is_monitor:
        note = "It learns the workload from this log, replays it under other options, and says what each would cost."
        yield Step("measure it first, without touching the database", (f"lsmlens tune {log_name}",), (note,))
