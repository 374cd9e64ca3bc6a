"""The report of `lsmlens workload`: what was learned of each family, from what, and how sure; or what was counted."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from lsmlens.analyzer.counters.size_histograms import RequestSizes, SizeHistogram
from lsmlens.analyzer.numbers import counted, duration, percent, plain
from lsmlens.reports.document import (
    Block,
    Detail,
    Document,
    Lines,
    Notices,
    Paragraphs,
    Section,
    Statement,
    TableBlock,
    Tone,
    VerdictBlock,
)
from lsmlens.reports.tables import Column, Importance, tabulate
from lsmlens.tuners.estimation.client_operations import ClientOperations, client_operations
from lsmlens.tuners.estimation.family_fit import FamilyFit
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.estimation.windows import WindowKind
from lsmlens.tuners.estimation.write_batches import WriteBatches
from lsmlens.tuners.workloads.components import Clustered, Component, Growth, Overwrite, Queue
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.moments import FamilyMoments
from lsmlens.tuners.workloads.sizes import mean_bytes

KINDS = {
    WindowKind.FLUSH: ("flush", "flushes"),
    WindowKind.MERGE: ("merge of level 0", "merges of level 0"),
    WindowKind.BOTTOM: ("view of all that lives", "views of all that lives"),
}

BRIEF = Detail.BRIEF
SHOWN_WINDOWS = 6  # of each family's curve
# Sizes of a smaller share of the requests are not shown.
LEAST_SHOWN = 0.001


def compose(fitted: FittedWorkload) -> Document:
    """What was learned from a log: amounts, what flushes show of each column family, and what explains it."""
    beside = fitted.evidence.run.beside
    seen = (
        *_batches(fitted.evidence.batches),
        *_clients(client_operations(beside.operations)),
        *_requests(beside.request_sizes),
        *_spread(fitted.workload, beside.size_histogram),
    )
    defaults = tuple(f"{name}: {taken}" for name, taken in fitted.workload.origin.defaults.items())
    sections = (
        Section("verdict", "Verdict", (_amounts(fitted), Paragraphs(seen, detail=Detail.BRIEF))),
        Section("flushes", "What flushes show", (TableBlock("", tabulate(_FAMILIES, fitted.families), "", BRIEF),)),
        Section("explained", "What explains it", tuple(block for one in fitted.families for block in _family(one))),
        Section("assumed", "What no log tells, and what was taken for it", (Paragraphs(defaults),) if defaults else ()),
        Section("quality", "Quality", (Notices(fitted.notes, detail=BRIEF),) if fitted.notes else ()),
    )
    more = "More: --full (what explains it, and what was assumed) · -o workload.yaml (lsmlens replay takes it)"
    return Document("Workload learned", fitted.name, (), sections, more)


def compose_counted(source: str, exact: Sequence[FamilyMoments]) -> Document:
    """The counts, sizes and survivors of a stream of write batches."""
    sections = (
        Section("counts", "Counts", (TableBlock("", tabulate(_COUNTED, exact), detail=BRIEF),)),
        Section("windows", "What windows of so many operations leave, as a share of them", tuple(_curves(exact))),
    )
    return Document("Workload counted exactly", source, (), sections)


def compose_check(source: str, exact: Sequence[FamilyMoments], learned: Sequence[FamilyMoments]) -> Document:
    """The same beside what was learned from a log: how far its estimate is from what was really written."""
    named = {one.name: one for one in learned}
    both = [(named[one.name], one) for one in exact if one.name in named]
    missing = sorted({one.name for one in exact} ^ set(named))
    said = f"only in one of the two, and not compared: {', '.join(missing)}"
    sections = (
        Section("check", "Amounts", (TableBlock("", tabulate(_CHECKED, both), detail=BRIEF),)),
        Section("windows", "What windows leave, estimated and exact", tuple(_checked_curves(both))),
        Section("missing", "Quality", (Notices((said,), detail=BRIEF),) if missing else ()),
    )
    return Document("The estimate", f"against {source}", (), sections)


def _amounts(fitted: FittedWorkload) -> VerdictBlock:
    puts = sum(one.puts for family in fitted.families for one in family.evidence.intervals)
    operations = sum(family.evidence.operations for family in fitted.families)
    statements = (
        Statement(f"{plain(puts)} puts and {plain(operations - puts)} deletes"),
        Statement(f"flushed in {duration(fitted.evidence.seconds)}"),
        Statement(f"{len(fitted.families)} column families" if len(fitted.families) > 1 else "one column family"),
        *([Statement(counted(len(fitted.notes), "note"), Tone.WARNING)] if fitted.notes else []),
    )
    return VerdictBlock("", statements)


def _batches(batches: WriteBatches | None) -> Iterator[str]:
    if batches is None:
        return
    yield f"{batches.operations:.1f} operations a write batch on average ({batches.source})"
    if batches.by_client_write:
        each = ", ".join(f"{name} {count:.2g}" for name, count in batches.by_client_write.items())
        yield f"operations for each client write: {each}"


def _clients(operations: ClientOperations | None) -> Iterator[str]:
    if operations is None:
        return
    each = ", ".join(
        f"{count} {name}" + (f" of {operations.mean_bytes[name]:.0f} B" if name in operations.mean_bytes else "")
        for name, count in operations.counts.most_common()
    )
    yield f"{counted(operations.messages, 'client write')} in the OSD's history: {each}"


def _requests(sizes: RequestSizes | None) -> Iterator[str]:
    for kind, classes in (sizes.classes if sizes is not None else {}).items():
        total = sum(one.number for one in classes)
        shown = [one for one in classes if one.number >= LEAST_SHOWN * total]
        each = ", ".join(f"{percent(one.number / total)} of {one.low} to {one.high} B" for one in shown)
        yield f"{plain(total)} client {kind} requests by the OSD's histogram: {each}"


def _spread(workload: Workload, histogram: SizeHistogram | None) -> Iterator[str]:
    names = [one.name for one in workload.column_families if not isinstance(one.values, int | float)]
    if histogram is not None and names:
        source = histogram.source.rsplit("/", 1)[-1]
        yield f"values of {', '.join(names)} spread as {source} counts them"


def _sum(family: FamilyFit, name: str) -> int:
    return sum(getattr(one, name) for one in family.evidence.intervals)


def _kept(kept: int, of: int) -> str:
    return percent(kept / of if of else None)


def _seen(family: FamilyFit) -> str:
    counts = {kind: sum(one.kind == kind for one in family.evidence.windows) for kind in KINDS}
    return ", ".join(counted(count, *KINDS[kind]) for kind, count in counts.items() if count) or "restarts"


_FAMILIES: tuple[Column[FamilyFit], ...] = (
    Column("column family", lambda one: one.column_family.name),
    Column("puts", lambda one: plain(_sum(one, "puts"))),
    Column("deletes", lambda one: plain(_sum(one, "deletes"))),
    Column("key", lambda one: f"{one.sizes.key:.0f} B", importance=Importance.USUAL),
    Column("value", lambda one: f"{one.sizes.value:.0f} B"),
    Column("kept by flushes", lambda one: _kept(_sum(one, "kept_puts"), _sum(one, "puts"))),
    Column("tombstones kept", lambda one: _kept(_sum(one, "kept_deletes"), _sum(one, "deletes"))),
    Column("learned from", _seen, left=True),
)


def _family(family: FamilyFit) -> Iterator[Block]:
    """A family, and below it its components."""
    name = family.column_family.name
    said = "; ".join(family.seen)
    lines = [f"{name}: {said}" if said else name]
    parts = family.parts if family.calibration is None else ()
    if family.calibration is not None:
        lines += [f"  {_words(one)}" for one in family.column_family.components]
    for component, part in zip(family.column_family.components, parts, strict=False):
        value = component.values if component.values is not None else family.column_family.values
        words = _words(component)
        amount = f"{plain(int(part.puts.sum()))} puts, {plain(int(part.deletes.sum()))} deletes"
        lines.append(f"  {words}: {amount}, values of {mean_bytes(value):.0f} B")
    if family.misfit:
        lines.append(f"  survivors come out to {100 * family.misfit:.1f} % (root mean square over the windows)")
    yield Lines(tuple(lines))


def _words(component: Component) -> str:
    if isinstance(component, Queue):
        return "queue, single deletes" if component.single_delete else "queue"
    if isinstance(component, Growth):
        again = component.repeated_deletes
        repeats = f", {percent(again)} of the deletes of what is gone" if again else ""
        age = f" after {plain(component.delete_age)} puts or more" if component.delete_age else ""
        return f"fresh keys, {component.delete_order} deleted{age}{repeats}"
    if isinstance(component, Clustered):
        return f"{plain(component.objects)} objects of {plain(component.keys_per_object)} keys, cleared whole"
    if isinstance(component, Overwrite):
        return f"{plain(component.working_sets[0].keys)} keys, overwritten"
    return str(component.__struct_config__.tag or "")


_COUNTED: tuple[Column[FamilyMoments], ...] = (
    Column("column family", lambda one: one.name),
    Column("puts", lambda one: plain(one.puts)),
    Column("merges", lambda one: plain(one.merges), importance=Importance.USUAL),
    Column("deletes", lambda one: plain(one.deletes)),
    Column("single", lambda one: plain(one.single_deletes), importance=Importance.USUAL),
    Column("ranges", lambda one: plain(one.range_deletes), importance=Importance.MINOR),
    Column("key", lambda one: _size(one.key_bytes, one.key_bytes_deviation)),
    Column("value", lambda one: _size(one.value_bytes, one.value_bytes_deviation)),
    Column("distinct keys", lambda one: plain(one.distinct_keys)),
)


def _curves(exact: Sequence[FamilyMoments]) -> Iterator[Block]:
    points = [(one, place) for one in exact for place in _shown(len(one.windows))]
    columns: tuple[Column[tuple[FamilyMoments, int]], ...] = (
        Column("column family", lambda one: one[0].name),
        Column("window", lambda one: plain(int(one[0].windows[one[1]]))),
        Column("puts left", lambda one: _left(one[0], "surviving_puts", one[1])),
        Column("tombstones left", lambda one: _left(one[0], "surviving_tombstones", one[1])),
    )
    if points:
        yield TableBlock("", tabulate(columns, points), detail=BRIEF)


# What was learned, and what was counted.
Checked: TypeAlias = tuple[FamilyMoments, FamilyMoments]

_CHECKED: tuple[Column[Checked], ...] = (
    Column("column family", lambda one: one[0].name),
    Column("puts", lambda one: plain(one[0].puts + one[0].merges)),
    Column("exact", lambda one: plain(one[1].puts + one[1].merges)),
    Column("deletes", lambda one: plain(one[0].deletes + one[0].single_deletes)),
    Column("exact", lambda one: plain(one[1].deletes + one[1].single_deletes)),
    Column("key", lambda one: _size(one[0].key_bytes)),
    Column("exact", lambda one: _size(one[1].key_bytes)),
    Column("value", lambda one: _size(one[0].value_bytes)),
    Column("exact", lambda one: _size(one[1].value_bytes)),
    Column("keys", lambda one: plain(one[0].distinct_keys)),
    Column("exact", lambda one: plain(one[1].distinct_keys)),
)


def _checked_curves(both: Sequence[Checked]) -> Iterator[Block]:
    points = [
        (learned, exact, place)
        for learned, exact in both
        for place in _shown(min(len(learned.windows), len(exact.windows)))
    ]
    columns: tuple[Column[tuple[FamilyMoments, FamilyMoments, int]], ...] = (
        Column("column family", lambda one: one[0].name),
        Column("window", lambda one: plain(int(one[1].windows[one[2]]))),
        Column("puts left", lambda one: _left(one[0], "surviving_puts", one[2])),
        Column("exact", lambda one: _left(one[1], "surviving_puts", one[2])),
        Column("tombstones left", lambda one: _left(one[0], "surviving_tombstones", one[2])),
        Column("exact", lambda one: _left(one[1], "surviving_tombstones", one[2])),
    )
    if points:
        yield TableBlock("", tabulate(columns, points), detail=BRIEF)


def _left(one: FamilyMoments, survivors: str, place: int) -> str:
    return percent(float(getattr(one, survivors)[place]) / int(one.windows[place]))


def _shown(count: int) -> list[int]:
    """Of so many windows the shortest, the longest, and some between."""
    if count <= SHOWN_WINDOWS:
        return list(range(count))
    return sorted({round(step * (count - 1) / (SHOWN_WINDOWS - 1)) for step in range(SHOWN_WINDOWS)})


def _size(mean: float, deviation: float | None = None) -> str:
    return f"{mean:.1f} B" if deviation is None or deviation < 0.05 else f"{mean:.1f} ± {deviation:.1f} B"
