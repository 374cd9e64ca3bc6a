"""Survivors of windows: by brute force, and against the closed forms of each primitive."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.tuners.workloads.chunk import Chunk, Tag
from lsmlens.tuners.workloads.component_streams import chunks
from lsmlens.tuners.workloads.components import Component, Growth, Keys, Overwrite, Queue, WorkingSet
from lsmlens.tuners.workloads.survivors import KeyHistory
from lsmlens.tuners.workloads.zipf import Zipf

TAGS = [Tag.PUT, Tag.DELETE, Tag.MERGE]


def merged(operations: list[tuple[Tag, int]]) -> tuple[int, int]:
    """Puts and tombstones left of one window, by merging it."""
    last: dict[int, Tag] = {}
    for tag, key in operations:
        if tag == Tag.SINGLE_DELETE and key in last:
            del last[key]
        else:
            last[key] = tag
    puts = sum(tag in (Tag.PUT, Tag.MERGE) for tag in last.values())
    return puts, len(last) - puts


@given(st.lists(st.tuples(st.sampled_from(TAGS), st.integers(0, 9)), min_size=1, max_size=60), st.data())
def test_survivors_are_those_of_a_merge(operations: list[tuple[Tag, int]], data: st.DataObject) -> None:
    check(operations, data)


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.data())
def test_a_single_delete_and_its_put_both_go(puts: list[bool], data: st.DataObject) -> None:
    operations: list[tuple[Tag, int]] = []
    live: list[int] = []
    for place, is_put in enumerate(puts):
        if is_put or not live:
            live.append(place)
            operations.append((Tag.PUT, place))
        else:
            operations.append((Tag.SINGLE_DELETE, live.pop(place % len(live))))
    check(operations, data)


def check(operations: list[tuple[Tag, int]], data: st.DataObject) -> None:
    history = KeyHistory.of(
        np.array([key for _, key in operations]), np.array([tag for tag, _ in operations], np.uint8)
    )
    cuts = data.draw(st.lists(st.integers(0, len(operations)), min_size=2, max_size=6).map(sorted))
    puts, tombstones = history.survivors(np.array(cuts))
    expected = [merged(operations[low:high]) for low, high in pairwise(cuts)]
    assert list(zip(puts.tolist(), tombstones.tolist(), strict=True)) == expected

    length = data.draw(st.integers(1, len(operations)))
    windows = [merged(operations[low : low + length]) for low in range(len(operations) - length + 1)]
    mean_puts, mean_tombstones = history.curve(np.array([length, len(operations) + 1]))
    assert mean_puts[0] == pytest.approx(np.mean([one[0] for one in windows]))
    assert mean_tombstones[0] == pytest.approx(np.mean([one[1] for one in windows]))
    assert np.isnan(mean_puts[1])


def history_of(component: Component, skip: int = 0) -> KeyHistory:
    parts = list(chunks(component, Keys(40.0), 100.0, 1.0, np.random.default_rng(5)))
    whole = Chunk(*(np.concatenate([getattr(part, name) for part in parts]) for name in Chunk.__slots__))
    return KeyHistory.of(whole.key[skip:], whole.tag[skip:])


LENGTHS = np.array([100, 1000, 3000, 10_000, 40_000])


@pytest.mark.parametrize("trim", [1, 100])
def test_a_queue(trim: int) -> None:
    """S(n) = n - max(0, n/2 - T): every delete, and the puts that are not deleted within the window."""
    history = history_of(Queue(rate=2000.0, lifetime_puts=2000, trim=trim), skip=3000)
    puts, tombstones = history.curve(LENGTHS)
    lifetime = 2000 + trim / 2
    assert tombstones == pytest.approx(LENGTHS / 2, rel=0.01)
    assert puts == pytest.approx(LENGTHS / 2 - np.maximum(0, LENGTHS / 2 - lifetime), rel=0.02)


def test_a_queue_of_single_deletes() -> None:
    history = history_of(Queue(rate=2000.0, lifetime_puts=2000, single_delete=True), skip=3000)
    puts, tombstones = history.curve(LENGTHS)
    assert puts == pytest.approx(np.minimum(LENGTHS / 2, 2000), rel=0.02)
    assert tombstones == pytest.approx(np.minimum(LENGTHS / 2, 2000), rel=0.02)


@pytest.mark.parametrize("skew", [0, 0.8])
@pytest.mark.parametrize("deletes", [0, 0.25])
def test_overwrites(skew: float, deletes: float) -> None:
    """S(n) = sum over keys of 1 - (1 - p)^n, puts and deletes in their proportion."""
    component = Overwrite(working_sets=(WorkingSet(20_000, skew),), rate=2000.0, deletes_per_put=deletes)
    puts, tombstones = history_of(component).curve(LENGTHS)
    chances = Zipf(20_000, skew).chances()
    expected = np.array([-np.expm1(n * np.log1p(-chances)).sum() for n in LENGTHS])
    assert puts + tombstones == pytest.approx(expected, rel=0.01)
    assert tombstones == pytest.approx(expected * deletes / (1 + deletes), rel=0.02, abs=1e-9)


def test_growth() -> None:
    """S(n) = n, as long as deletes take keys of before the window."""
    history = history_of(Growth(rate=1000.0, deletes_per_put=0.1, preload=100_000))
    puts, tombstones = history.curve(LENGTHS)
    assert puts + tombstones == pytest.approx(LENGTHS)
    assert tombstones == pytest.approx(LENGTHS / 11, rel=0.01)
