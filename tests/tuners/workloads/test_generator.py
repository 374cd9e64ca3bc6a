"""Declared workloads as streams: repeatable, independent by component, in order of time, of bounded memory."""

import pickle
import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.generator import DeclaredStream

Decoded = Callable[..., Any]
KINDS = {Tag.PUT: "P", Tag.DELETE: "D", Tag.MERGE: "M", Tag.SINGLE_DELETE: "S", Tag.RANGE_DELETE: "R"}
FAMILIES = {
    "O": """
name: O
shards: 2
keys: {length: 70, front: 12, order: scattered}
values: {kind: uniform, low: 0, high: 300}
compression_ratio: 0.5
components:
- {kind: overwrite, rate: 100, working_sets: [{keys: 300, zipf: 0.9}], deletes_per_put: 0.2, preload: 40}
- {kind: growth, rate: 4, deletes_per_put: 0.5, delete_order: random, preload: 30, values: 20000}
""",
    "P": """
name: P
keys: {length: 41, order: grouped, groups: 4}
values: 150.5
components:
- {kind: queue, rate: 100, lifetime_puts: 300, trim: 10, preload: 100}
- {kind: queue, rate: 10, lifetime_puts: 30, single_delete: true, spread: random}
- {kind: merges, rate: [[0, 10], [50, 40]], working_sets: [{keys: 4}], values: 8}
""",
    "m": """
name: m
keys: {length: {kind: uniform, low: 4, high: 150}, front: 3}
values: {kind: mixture, classes: [{share: 9, size: 20}, {share: 1, size: {kind: lognormal, median: 200, sigma: 1}}]}
components:
- {kind: clustered, rate: 100, objects: 5, keys_per_object: 60, batch: 7, removals_per_put: 0.2, clears_per_put: 0.003,
   preload: 50}
""",
    "default": """
name: default
keys: {length: 9}
values: 0
components:
- {kind: growth, rate: 20, deletes_per_put: 0.1, range_deletes_per_put: 0.05, range_width: 8}
- {kind: overwrite, working_sets: [{keys: 5}, {keys: 500}], schedule: [[0, 10, 100, 5, 1], [10, 10, 300, 0, 0]]}
""",
}


@pytest.fixture(scope="module")
def everything(workload: Callable[..., Workload]) -> Workload:
    return workload(*FAMILIES.values())


def one_family(decoded: Decoded, stream: DeclaredStream, *names: str) -> list[tuple[Any, ...]]:
    return [
        (second, one.kind, one.key, len(one.value or b""))
        for second, batch in decoded(stream)
        for one in batch
        if stream.families[one.family] in names
    ]


def test_a_stream_is_one(everything: Workload) -> None:
    stream = DeclaredStream(everything)
    assert stream.families == ("default", "O-0", "O-1", "P", "m")
    assert stream.seconds == 100
    assert pickle.loads(pickle.dumps(stream)).families == stream.families


def test_the_same_seed_gives_the_same_bytes(everything: Workload) -> None:
    stream = DeclaredStream(everything)
    first, again, other = ([piece.buffer.tobytes() for piece in stream.batches(seed)] for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_batches_hold_the_operations(everything: Workload, decoded: Decoded) -> None:
    stream = DeclaredStream(everything)
    found: Counter[tuple[Any, ...]] = Counter()
    for second, batch in decoded(stream):
        assert batch
        assert 0 <= second <= 100
        for one in batch:
            size = 0 if one.kind == "R" else len(one.value or b"")
            found[stream.families[one.family], one.kind, size] += 1
    expected: Counter[tuple[Any, ...]] = Counter()
    for part in stream.operations(1):
        assert (np.diff(part.seconds) >= 0).all()
        for family, tag, size in zip(part.family, part.tag, part.value_bytes.tolist(), strict=True):
            expected[stream.families[family], KINDS[Tag(tag)], size] += 1
    assert found == expected
    assert {kind for _, kind, _ in found} == set(KINDS.values())


@pytest.mark.parametrize("families", ["together", "apart"])
def test_moments_never_fall(families: str, workload: Callable[..., Workload]) -> None:
    document = workload(*FAMILIES.values(), transactions=f"{{operations: 50, families: {families}}}")
    seconds = np.concatenate([piece.seconds for piece in DeclaredStream(document).batches(1)])
    assert (np.diff(seconds) >= 0).all()
    assert seconds[0] == 0
    assert seconds[-1] == pytest.approx(100, abs=1)


@pytest.mark.parametrize("left_out", ["P", "m", "default"])
def test_a_family_does_not_depend_on_the_others(
    left_out: str, everything: Workload, workload: Callable[..., Workload], decoded: Decoded
) -> None:
    fewer = DeclaredStream(workload(*(text for name, text in FAMILIES.items() if name != left_out)))
    whole = DeclaredStream(everything)
    shards = ("O-0", "O-1")
    without_moments = [one[1:] for one in one_family(decoded, fewer, *shards)]
    assert Counter(without_moments) == Counter(one[1:] for one in one_family(decoded, whole, *shards))


def test_a_component_does_not_depend_on_those_after_it(workload: Callable[..., Workload]) -> None:
    text = FAMILIES["P"].splitlines()
    one, two = DeclaredStream(workload("\n".join(text[:6]))), DeclaredStream(workload("\n".join(text)))
    first = np.concatenate([part.key for part in one.operations(5)])
    again = np.concatenate([part.key[part.key >> 55 == 0] for part in two.operations(5)])
    assert (first == again).all()


def test_scale_divides_the_work_and_keeps_the_clock(everything: Workload) -> None:
    stream = DeclaredStream(everything)
    whole, quarter = (sum(len(part) for part in stream.operations(1, scale)) for scale in (1, 4))
    assert quarter == pytest.approx(whole / 4, rel=0.05)
    assert sum(piece.records for piece in stream.batches(1, 4)) == quarter
    last = max(part.seconds[-1] for part in stream.operations(1, 4))
    assert last == pytest.approx(100, abs=1)
    assert stream.preloaded_records(1) == 40 + 30 + 100 + 50
    assert stream.preloaded_records(4) == pytest.approx(220 / 4, abs=4)


def test_what_is_there_before_comes_first(everything: Workload, decoded: Decoded) -> None:
    stream = DeclaredStream(everything)
    records = [(second, one) for second, batch in decoded(stream) for one in batch]
    before = stream.preloaded_records()
    assert all(second == 0 and one.kind == "P" for second, one in records[:before])
    assert len({(one.family, one.key) for _, one in records[:before]}) == before
    assert any(second > 0 for second, _ in records[before : before + 200])


def test_batches_have_about_the_size_asked_for_and_keep_a_moment_together(
    workload: Callable[..., Workload], decoded: Decoded
) -> None:
    text = (
        "name: P\nkeys: {length: 40}\nvalues: 20\ncomponents:\n- {kind: queue, rate: 100, lifetime_puts: 500, trim: 60}"
    )
    batches = decoded(DeclaredStream(workload(text, transactions="{operations: 25}")))
    sizes = [len(batch) for _, batch in batches]
    trims = [sum(one.kind == "D" for one in batch) for _, batch in batches]
    assert set(trims) == {0, 60}
    assert max(sizes) <= 25 + 60
    assert np.median([size for size, trim in zip(sizes, trims, strict=True) if not trim]) == 25


def test_batches_shrink_with_the_scale(workload: Callable[..., Workload], decoded: Decoded) -> None:
    """Memtables are switched between batches: of the size of a whole memtable, they would overfill it."""
    text = "name: P\nkeys: {length: 40}\nvalues: 20\ncomponents:\n- {kind: queue, rate: 100, lifetime_puts: 500}"
    stream = DeclaredStream(workload(text))
    for scale, size in ((1, 100), (4, 25), (1000, 1)):
        sizes = [len(batch) for _, batch in decoded(stream, 1, scale)]
        assert size <= np.median(sizes) <= size + 1


def test_families_apart(workload: Callable[..., Workload], decoded: Decoded) -> None:
    stream = DeclaredStream(workload(*FAMILIES.values(), transactions="{operations: 25, families: apart}"))
    batches = decoded(stream)
    assert all(len({one.family for one in batch}) == 1 for _, batch in batches)
    assert max(len(batch) for _, batch in batches) <= 25
    seconds = [second for second, _ in batches]
    assert seconds == sorted(seconds)
    together = decoded(DeclaredStream(workload(*FAMILIES.values())))
    assert Counter(one for _, batch in batches for one in batch if not one.value) == Counter(
        one for _, batch in together for one in batch if not one.value
    )


def test_lengths_of_every_width(workload: Callable[..., Workload], decoded: Decoded) -> None:
    families = [
        f"name: f{number}\nkeys: {{length: {key}}}\nvalues: {value}\ncomponents:\n"
        f"- {{kind: queue, rate: {0.05 if value > 1e6 else 1}, lifetime_puts: 3}}"
        for number, (key, value) in enumerate(
            [(1, 0), (127, 127), (128, 128), (16_383, 16_383), (16_384, 16_384), (8, 2_097_151), (8, 2_097_152)]
            + [(8, 1)] * 150
        )
    ]
    stream = DeclaredStream(workload(*families, transactions="{operations: 1000}"))
    records = [one for _, batch in decoded(stream) for one in batch]
    lengths = {(len(one.key), len(one.value)) for one in records if one.kind == "P"}
    assert lengths == {
        (1, 0),
        (127, 127),
        (128, 128),
        (16383, 16383),
        (16384, 16384),
        (8, 2097151),
        (8, 2097152),
        (8, 1),
    }
    assert {one.family for one in records} == set(range(1, 158))


def test_random_numbers_of_equal_components_differ(workload: Callable[..., Workload]) -> None:
    text = "name: {}\nkeys: {{length: 16}}\nvalues: 1\ncomponents:\n" + (
        "- {{kind: overwrite, rate: 10, working_sets: [{{keys: 1000}}]}}\n" * 2
    )
    (part,) = DeclaredStream(workload(text.format("a"), text.format("b"))).operations(1)
    drawn = [part.key[part.lane == lane] & ((1 << 55) - 1) for lane in range(4)]
    assert len({one.tobytes() for one in drawn}) == 4


def test_memory_is_bounded(workload: Callable[..., Workload]) -> None:
    text = """
name: default
keys: {length: 20, order: scattered}
values: 100
components:
- {kind: queue, rate: 10000, lifetime_puts: 500}
- {kind: overwrite, rate: 10000, working_sets: [{keys: 1000000, zipf: 0.7}]}
- {kind: overwrite, rate: 10, working_sets: [{keys: 1000}]}
"""
    peaks = []
    for seconds in (20, 80):
        stream = DeclaredStream(workload(text, seconds=seconds))
        tracemalloc.start()
        records = sum(piece.records for piece in stream.batches(1))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert records == pytest.approx(30_000 * seconds, rel=0.01)
    assert peaks[1] < 1.5 * peaks[0]
    assert peaks[1] < 150e6


def test_a_stream_of_nothing(workload: Callable[..., Workload]) -> None:
    text = "name: a\nkeys: {length: 16}\nvalues: 1\ncomponents:\n- {kind: queue, rate: 0, lifetime_puts: 1}"
    assert list(DeclaredStream(workload(text)).batches(1)) == []
