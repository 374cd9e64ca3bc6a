"""A fitted workload in words: what was learned of each family, from what, and how sure it is."""

from collections.abc import Iterator
from textwrap import wrap

from lsmlens.analyzer.counters.request_sizes import RequestSizes
from lsmlens.analyzer.counters.size_histograms import SizeHistogram
from lsmlens.reports.numbers import plain, share
from lsmlens.reports.sections import WIDTH, lay_out
from lsmlens.reports.tables import table
from lsmlens.tuners.estimation.client_operations import ClientOperations, client_operations
from lsmlens.tuners.estimation.family_fit import FamilyFit
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.estimation.windows import WindowKind
from lsmlens.tuners.estimation.write_batches import WriteBatches
from lsmlens.tuners.workloads.components import Clustered, Component, Growth, Overwrite, Queue
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.sizes import mean_bytes

KINDS = {WindowKind.FLUSH: "flushes", WindowKind.MERGE: "merges of level 0", WindowKind.BOTTOM: "live bottoms"}

# Sizes of a smaller share of the requests are not shown.
LEAST_SHOWN = 0.001


def render(fitted: FittedWorkload, colour: bool = False) -> str:
    """The summary, ending in a newline; with terminal emphasis where `colour` is set."""
    return lay_out(_parts(fitted), colour)


def _parts(fitted: FittedWorkload) -> Iterator[tuple[str, list[str]]]:
    puts = sum(one.puts for family in fitted.families for one in family.evidence.intervals)
    operations = sum(family.evidence.operations for family in fitted.families)
    seconds = fitted.evidence.seconds
    beside = fitted.evidence.run.beside
    yield (
        f"Workload learned from {fitted.name}",
        [
            f"  {plain(puts)} puts and {plain(operations - puts)} deletes in {plain(round(seconds))} s, into flushes",
            *_batches(fitted.evidence.batches),
            *_clients(client_operations(beside.operations)),
            *_requests(beside.request_sizes),
            *_spread(fitted.workload, beside.size_histogram),
        ],
    )
    header = ("column family", "puts", "deletes", "key", "value", "kept by flushes", "tombstones kept", "learned from")
    rows = [_row(family) for family in fitted.families]
    yield "what flushes show", ["  " + line for line in table(header, rows, left=(0, 7))]
    body: list[str] = []
    for family in fitted.families:
        body += _family(family)
    yield "what explains it", body
    defaults = [f"{name}: {taken}" for name, taken in fitted.workload.origin.defaults.items()]
    yield "what no log tells, and what was taken for it", list(_wrapped(defaults))
    if fitted.notes:
        yield "quality", list(_wrapped([f"! {note}" for note in fitted.notes]))


def _batches(batches: WriteBatches | None) -> Iterator[str]:
    if batches is None:
        return
    yield f"  {batches.operations:.1f} of them in each write batch ({batches.source})"
    if batches.by_client_write:
        each = ", ".join(f"{name} {count:.2g}" for name, count in batches.by_client_write.items())
        yield from _wrapped([f"for each write of a client: {each}"])


def _clients(operations: ClientOperations | None) -> Iterator[str]:
    if operations is None:
        return
    each = ", ".join(
        f"{count} {name}" + (f" of {operations.mean_bytes[name]:.0f} B" if name in operations.mean_bytes else "")
        for name, count in operations.counts.most_common()
    )
    yield from _wrapped([f"{operations.messages} writes of clients are remembered: {each}"])


def _requests(sizes: RequestSizes | None) -> Iterator[str]:
    for kind, classes in (sizes.classes if sizes is not None else {}).items():
        total = sum(one.number for one in classes)
        shown = [one for one in classes if one.number >= LEAST_SHOWN * total]
        each = ", ".join(f"{share(one.number / total)} of {one.low} to {one.high} B" for one in shown)
        yield from _wrapped([f"{plain(total)} {kind} requests of clients, by the OSD's histogram: {each}"])


def _spread(workload: Workload, histogram: SizeHistogram | None) -> Iterator[str]:
    names = [one.name for one in workload.column_families if not isinstance(one.values, int | float)]
    if histogram is not None and names:
        source = histogram.source.rsplit("/", 1)[-1]
        yield from _wrapped([f"values of {', '.join(names)} spread as {source} counts them"])


def _row(family: FamilyFit) -> tuple[str, ...]:
    intervals = family.evidence.intervals
    puts = sum(one.puts for one in intervals)
    deletes = sum(one.deletes for one in intervals)
    kept = sum(one.kept_puts for one in intervals)
    kept_deletes = sum(one.kept_deletes for one in intervals)
    counts = {kind: sum(one.kind == kind for one in family.evidence.windows) for kind in KINDS}
    seen = ", ".join(f"{count} {KINDS[kind]}" for kind, count in counts.items() if count)
    return (
        family.column_family.name,
        plain(puts),
        plain(deletes),
        f"{family.sizes.key:.0f} B",
        f"{family.sizes.value:.0f} B",
        share(kept / puts if puts else None),
        share(kept_deletes / deletes if deletes else None),
        seen or "restarts",
    )


def _family(family: FamilyFit) -> Iterator[str]:
    name = family.column_family.name
    said = "; ".join(family.seen)
    yield f"  {name}: {said}" if said else f"  {name}"
    parts = family.parts if family.calibration is None else ()
    if family.calibration is not None:
        yield from (f"    {_words(one)}" for one in family.column_family.components)
    for component, part in zip(family.column_family.components, parts, strict=False):
        value = component.values if component.values is not None else family.column_family.values
        words = _words(component)
        amount = f"{plain(int(part.puts.sum()))} puts, {plain(int(part.deletes.sum()))} deletes"
        yield f"    {words}: {amount}, values of {mean_bytes(value):.0f} B"
    if family.misfit:
        yield f"    survivors come out to {100 * family.misfit:.1f} % (root mean square over the windows)"


def _words(component: Component) -> str:
    if isinstance(component, Queue):
        return "queue, single deletes" if component.single_delete else "queue"
    if isinstance(component, Growth):
        again = component.repeated_deletes
        repeats = f", {share(again)} of the deletes of what is gone" if again else ""
        age = f" after {plain(component.delete_age)} puts or more" if component.delete_age else ""
        return f"fresh keys, {component.delete_order} deleted{age}{repeats}"
    if isinstance(component, Clustered):
        return f"{plain(component.objects)} objects of {plain(component.keys_per_object)} keys, cleared whole"
    if isinstance(component, Overwrite):
        return f"{plain(component.working_sets[0].keys)} keys, overwritten"
    return str(component.__struct_config__.tag or "")


def _wrapped(texts: list[str]) -> Iterator[str]:
    for text in texts:
        yield from wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
