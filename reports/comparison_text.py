"""A comparison as a terminal report, as wide as a terminal of 100 columns where names allow it."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from textwrap import wrap

from lsmlens.analyzer.comparison.comparison import Comparison, Notice
from lsmlens.analyzer.comparison.gates import GateResult
from lsmlens.analyzer.metrics import Group
from lsmlens.analyzer.printable import GROUP_SPACE
from lsmlens.reports import comparison_tables as tables
from lsmlens.reports.sections import lay_out
from lsmlens.reports.tables import Table

WIDTH = 100
SIDE_BY_SIDE = 3


def render(
    comparison: Comparison, gates: Sequence[GateResult] = (), everything: bool = False, colour: bool = False
) -> str:
    """The whole report, ending in a newline; with terminal emphasis where `colour` is set.

    `everything` shows also what is not significant.
    """
    return lay_out(_sections(comparison, gates, everything), colour)


def _sections(comparison: Comparison, gates: Sequence[GateResult], everything: bool) -> Iterator[tuple[str, list[str]]]:
    """Titles and bodies; gates and data quality come before any verdict."""
    if gates:
        yield "Gates", _hanging(*map(_gate, gates))
    yield "Arms", _hanging(*_arms(comparison))
    if comparison.notices:
        yield "What to know first", _hanging(*map(_notice, comparison.notices))
    yield "In short", _hanging(*comparison.sentences)
    if comparison.of(Group.STATISTICS):
        yield "Compaction Statistics", _of_all(comparison, tables.statistics)
    has_whole = any(row.metric.part is None for row in comparison.rows)
    for place, name in enumerate(comparison.names):
        if place and (has_whole or everything):
            yield f"{name} against {comparison.names[0]}", _verdicts(comparison, place, everything)
    for title, groups in _FIGURES:
        if any(comparison.of(group) for group in groups):
            yield title, _figures(comparison, groups)
    for title, group, body in (
        ("By column family", Group.FAMILIES, _families),
        ("What clients measured", Group.CLIENTS, _clients),
    ):
        if comparison.of(group):
            yield title, body(comparison) + _hanging(*filter(None, [tables.unjudged(comparison, group)]))
    for found in comparison.scalings:
        title = f"{found.metric.part}: {found.metric.label} by {found.resource or 'amount'}"
        yield title, [*tables.scaling(found).lines(), *_hanging(found.sentence)]
    if comparison.options:
        sources = _hanging(*tables.option_sources(comparison))
        yield "Options that differ", [*_of_all(comparison, tables.options), *sources]
    if comparison.findings:
        yield "Findings that differ", _of_all(comparison, tables.findings)


_FIGURES = (
    (
        "Write amplification, work, stalls and latencies",
        (Group.AMPLIFICATION, Group.WORK, Group.STALLS, Group.COUNTERS),
    ),
)


def _notice(notice: Notice) -> str:
    return f"! {', '.join(notice.arms)}{': ' if notice.arms else ''}{notice.text}"


def _arms(comparison: Comparison) -> Iterator[str]:
    for place, arm in enumerate(comparison.arms):
        paths = list(dict.fromkeys(one.path for one in arm.observations))
        runs = list(dict.fromkeys(run for one in arm.observations for run in one.runs))
        said = [
            "the baseline" if not place else "",
            arm.versions,
            f"{len(arm.observations)} runs" if len(arm.observations) > 1 else "",
            ", ".join(runs) if len(runs) <= 4 else f"{len(runs)} daemons",
            "published figures" if not runs and arm.observations[0].printed else "",
            "from " + ", ".join(paths),
        ]
        yield f"{arm.name}: {'; '.join(filter(None, said))}"


def _gate(result: GateResult) -> str:
    return f"{'FAILED' if result.is_failed else 'passed'}: {result.reason}"


def _verdicts(comparison: Comparison, place: int, everything: bool) -> list[str]:
    found = tables.verdicts(comparison, place, everything)
    lines = found.lines() if found.rows else ["  no metric is judged"]
    if everything:
        return lines + _hanging(*tables.reasons(comparison, place))
    return lines + _hanging(*filter(None, [tables.hidden(comparison, place)]))


def _figures(comparison: Comparison, groups: Sequence[Group]) -> list[str]:
    others = range(1, len(comparison.arms))
    return _fitting(others, lambda places: tables.figures(comparison, groups, [0, *places]))


def _families(comparison: Comparison) -> list[str]:
    return _figures(comparison, (Group.FAMILIES,))


def _clients(comparison: Comparison) -> list[str]:
    """Of few arms each metric with its change; of many, or amounts of a resource, a matrix for each kind."""
    if len(comparison.arms) <= SIDE_BY_SIDE and not comparison.scalings:
        return _figures(comparison, (Group.CLIENTS,))
    lines: list[str] = []
    for kind in tables.client_kinds(comparison):
        lines += [""] * bool(lines) + _of_all(comparison, partial(tables.client_matrix, kind=kind))
    return lines


def _of_all(comparison: Comparison, make: Callable[[Comparison, Sequence[int]], Table]) -> list[str]:
    return _fitting(range(len(comparison.arms)), lambda places: make(comparison, places))


def _fitting(places: Sequence[int], make: Callable[[Sequence[int]], Table]) -> list[str]:
    """A table of these arms, or where that is too wide several of fewer arms each."""
    lines = make(places).lines()
    if len(places) == 1 or max(map(len, lines)) <= WIDTH:
        return lines
    half = (len(places) + 1) // 2
    return [*_fitting(places[:half], make), "", *_fitting(places[half:], make)]


def _hanging(*texts: str) -> list[str]:
    """Each text wrapped, its later lines set in; per cent stay with their numbers."""
    return [
        line
        for text in texts
        for line in wrap(
            text.replace(" %", f"{GROUP_SPACE}%"),
            WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]
