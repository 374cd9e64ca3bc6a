"""A run's plan as blocks of a document: what changes, what is left out and why, and the steps."""

from collections.abc import Iterator, Sequence

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.numbers import setting
from lsmlens.analyzer.plan import LeftOut, Plan, PlannedChange
from lsmlens.reports.document import Block, Commands, Detail, Details, Paragraphs, TableBlock
from lsmlens.reports.tables import Column, tabulate

LONGEST_VALUE = 24  # on a first screen


def plan_lines(runs: Sequence[RunAnalysis]) -> Iterator[Block]:
    """What the plans of the runs change, in a line each."""
    for one, plan in _planned(runs):
        name = f"{one.run.name}: " if len(runs) > 1 else ""
        yield Paragraphs((f"{name}Plan: {_in_short(plan)}.",), detail=Detail.BRIEF)


def plan_blocks(runs: Sequence[RunAnalysis]) -> Iterator[Block]:
    """The plans of the runs that have one: what changes, then how."""
    for one, plan in _planned(runs):
        name = f"{one.run.name}: " if len(runs) > 1 else ""
        if plan.changes:
            yield TableBlock(f"{name}what changes", tabulate(_CHANGES, plan.changes))
        if plan.left_out:
            yield Paragraphs(tuple(map(_left_out, plan.left_out)))
        steps = tuple(_steps(plan))
        if steps:
            yield Details(f"{name}how to do it, and the way back", steps)


def _in_short(plan: Plan) -> str:
    """The changes by when they take effect; values that are long are left to the table."""
    by_effect: dict[str, list[str]] = {}
    for one in plan.changes:
        values = [setting(one.name, value) for value in (one.before or "?", one.after)]
        change = f" {' → '.join(values)}" if max(map(len, values)) <= LONGEST_VALUE else ""
        by_effect.setdefault(str(one.takes_effect), []).append(f"{one.name}{change} ({', '.join(one.codes)})")
    return "; ".join(f"{effect} {', '.join(changes)}" for effect, changes in by_effect.items()) or "nothing to change"


_CHANGES: tuple[Column[PlannedChange], ...] = (
    Column("option", lambda one: one.name),
    Column("from", lambda one: "not known" if one.before is None else setting(one.name, one.before), left=True),
    Column("to", lambda one: setting(one.name, one.after), left=True),
    Column("of", lambda one: _of(one), left=True),
    Column("asked for by", lambda one: ", ".join(one.codes), left=True),
    Column("takes effect", lambda one: str(one.takes_effect), left=True),
)


def _left_out(one: LeftOut) -> str:
    return f"Left out: {one.name} {setting(one.name, one.after)} ({_of(one)}; {', '.join(one.codes)}): {one.why}."


def _steps(plan: Plan) -> Iterator[Block]:
    for number, step in enumerate(plan.steps, 1):
        pasted = step.commands
        if not pasted and plan.options_fragment is not None:
            pasted = tuple(plan.options_fragment.splitlines())
        yield Commands(f"{number}. {step.title}", pasted)
        if step.notes:
            yield Paragraphs(step.notes)


def _planned(runs: Sequence[RunAnalysis]) -> Iterator[tuple[RunAnalysis, Plan]]:
    return ((one, one.plan) for one in runs if one.plan is not None)


def _of(one: PlannedChange | LeftOut) -> str:
    return ", ".join(one.families) or "all"
