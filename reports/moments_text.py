"""What a stream of write batches holds, counted exactly, and beside it what a log alone made of the same work."""

from collections.abc import Iterator, Sequence

from lsmlens.reports.numbers import plain, share
from lsmlens.reports.sections import indented, lay_out, note_lines
from lsmlens.reports.tables import table
from lsmlens.tuners.workloads.moments import FamilyMoments

# Windows shown of each family's curve: the shortest, the longest, and some between.
SHOWN_WINDOWS = 6
HEADER = ("column family", "puts", "merges", "deletes", "single", "ranges", "key", "value", "distinct keys")
CURVE = ("column family", "window", "puts left", "tombstones left")


def render(source: str, exact: Sequence[FamilyMoments], colour: bool = False) -> str:
    """The counts, sizes and survivors of a stream, ending in a newline."""
    return lay_out(_parts(f"Workload of {source}, counted exactly", exact), colour)


def render_check(source: str, exact: Sequence[FamilyMoments], learned: Sequence[FamilyMoments], colour: bool) -> str:
    """The same beside what was learned from a log: how far its estimate is from what was really written."""
    return lay_out(_check(source, exact, {one.name: one for one in learned}), colour)


def _parts(title: str, exact: Sequence[FamilyMoments]) -> Iterator[tuple[str, list[str]]]:
    yield title, indented(table(HEADER, [_row(one) for one in exact], left=(0,)))
    rows = [row for one in exact for row in _curve(one)]
    if rows:
        yield "what windows of so many operations leave, as a share of them", indented(table(CURVE, rows, left=(0,)))


def _row(one: FamilyMoments) -> tuple[str, ...]:
    counts = (one.puts, one.merges, one.deletes, one.single_deletes, one.range_deletes)
    sizes = (_size(one.key_bytes, one.key_bytes_deviation), _size(one.value_bytes, one.value_bytes_deviation))
    return (one.name, *map(plain, counts), *sizes, plain(one.distinct_keys))


def _curve(one: FamilyMoments) -> Iterator[tuple[str, ...]]:
    for place in _shown(len(one.windows)):
        window = int(one.windows[place])
        left = (float(one.surviving_puts[place]), float(one.surviving_tombstones[place]))
        yield (one.name, plain(window), *(share(amount / window) for amount in left))


def _check(
    source: str, exact: Sequence[FamilyMoments], learned: dict[str, FamilyMoments]
) -> Iterator[tuple[str, list[str]]]:
    both = [(one, learned[one.name]) for one in exact if one.name in learned]
    header = ("column family", "puts", "exact", "deletes", "exact", "key", "exact", "value", "exact", "keys", "exact")
    rows = [
        (
            one.name,
            plain(other.puts + other.merges),
            plain(one.puts + one.merges),
            plain(other.deletes + other.single_deletes),
            plain(one.deletes + one.single_deletes),
            _size(other.key_bytes),
            _size(one.key_bytes),
            _size(other.value_bytes),
            _size(one.value_bytes),
            plain(other.distinct_keys),
            plain(one.distinct_keys),
        )
        for one, other in both
    ]
    yield f"the estimate, against {source}", indented(table(header, rows, left=(0,)))
    curves = [row for one, other in both for row in _curves(one, other)]
    if curves:
        names = ("column family", "window", "puts left", "exact", "tombstones left", "exact")
        yield "what windows leave, estimated and exact", indented(table(names, curves, left=(0,)))
    missing = sorted({one.name for one in exact} ^ set(learned))
    if missing:
        said = f"only in one of the two, and not compared: {', '.join(missing)}"
        yield "quality", note_lines(said)


def _curves(exact: FamilyMoments, learned: FamilyMoments) -> Iterator[tuple[str, ...]]:
    common = min(len(exact.windows), len(learned.windows))
    for place in _shown(common):
        window = int(exact.windows[place])
        cells = [exact.name, plain(window)]
        for name in ("surviving_puts", "surviving_tombstones"):
            cells += [share(float(getattr(one, name)[place]) / window) for one in (learned, exact)]
        yield tuple(cells)


def _shown(count: int) -> list[int]:
    if count <= SHOWN_WINDOWS:
        return list(range(count))
    return sorted({round(step * (count - 1) / (SHOWN_WINDOWS - 1)) for step in range(SHOWN_WINDOWS)})


def _size(mean: float, deviation: float | None = None) -> str:
    return f"{mean:.1f} B" if deviation is None or deviation < 0.05 else f"{mean:.1f} ± {deviation:.1f} B"
