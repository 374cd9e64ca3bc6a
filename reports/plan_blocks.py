"""A run's plan as it is shown: what changes, what is left out and why, and the steps."""

from collections.abc import Iterator

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.plan import LeftOut, Plan, PlannedChange
from lsmlens.reports.document import Block, Commands, Detail, Details, Paragraphs, TableBlock
from lsmlens.reports.tables import Table


def blocks_of(runs: tuple[RunAnalysis, ...], most: int) -> Iterator[Block]:
    """The plans of the runs that have one, as many as are shown: what changes, then how."""
    for one, plan in planned(runs, most):
        name = f"{one.run.name}: " if len(runs) > 1 else ""
        if plan.changes:
            yield TableBlock(f"{name}what changes", changes_table(plan), detail=Detail.BRIEF)
        if said := tuple(left_out(plan)):
            yield Paragraphs(said)
        blocks: list[Block] = []
        for title, notes, pasted in steps(plan):
            blocks.append(Commands(title, pasted))
            blocks += [Paragraphs(notes)] if notes else []
        if blocks:
            yield Details(f"{name}how to do it, and the way back", tuple(blocks))


def changes_table(plan: Plan) -> Table:
    """One row for each option that changes."""
    rows = [
        (one.name, one.before or "not known", one.after, _of(one), ", ".join(one.codes), str(one.takes_effect))
        for one in plan.changes
    ]
    headers = ("option", "from", "to", "of", "asked for by", "takes effect")
    return Table(headers, tuple(rows), left=(0, 1, 2, 3, 4, 5))


def left_out(plan: Plan) -> Iterator[str]:
    """A sentence for each change that findings ask for and the plan does not make."""
    for one in plan.left_out:
        yield f"left out: {one.name}={one.after} ({_of(one)}; {', '.join(one.codes)}): {one.why}"


def steps(plan: Plan) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Each step: its title with its number, its notes, what to paste."""
    for number, step in enumerate(plan.steps, 1):
        pasted = step.commands
        if not pasted and plan.options_fragment is not None:
            pasted = tuple(plan.options_fragment.splitlines())
        yield f"{number}. {step.title}", step.notes, pasted


def planned(runs: tuple[RunAnalysis, ...], most: int) -> Iterator[tuple[RunAnalysis, Plan]]:
    """The runs that have a plan, as many as are shown."""
    found = [(one, one.plan) for one in runs if one.plan is not None]
    yield from found[:most]


def _of(one: PlannedChange | LeftOut) -> str:
    return ", ".join(one.families) or "all"
