"""Queue keys: put once, deleted first in, first out, after their lifetime or as the schedule says."""

from collections import deque
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsmlens.tuners.workloads.chunk import Chunk, Tag
from lsmlens.tuners.workloads.component_streams import chunks
from lsmlens.tuners.workloads.components import Keys, Queue, Row


def run(queue: Queue, groups: int = 1, seconds: float = 100, scale: float = 1) -> Chunk:
    keys = Keys(40.0, order="grouped", groups=groups) if groups > 1 else Keys(40.0)
    parts = list(chunks(queue, keys, seconds, scale, np.random.default_rng(1)))
    if not parts:
        return Chunk(np.empty(0), np.empty(0, np.uint8), np.empty(0, np.int64))
    whole = Chunk(*(np.concatenate([getattr(part, name) for part in parts]) for name in Chunk.__slots__))
    assert (np.diff(whole.seconds) >= 0).all()
    return whole


def operations(chunk: Chunk) -> Iterable[tuple[int, int]]:
    return zip(chunk.tag.tolist(), chunk.key.tolist(), strict=True)


def test_each_key_is_deleted_after_its_lifetime() -> None:
    found = run(Queue(rate=1000.0, lifetime_puts=700))
    put_at: dict[int, int] = {}
    puts = deletes = 0
    for tag, key in operations(found):
        if tag == Tag.PUT:
            assert key == puts
            put_at[key] = puts
            puts += 1
        else:
            assert key == deletes
            assert puts - 1 - put_at[key] == 700
            deletes += 1
    assert (puts, deletes) == (100_000, 100_000 - 700)


def test_trims_take_a_hundred_at_a_time_and_one_moment() -> None:
    found = run(Queue(rate=1000.0, lifetime_puts=700, trim=100))
    live: deque[int] = deque()
    in_a_row = 0
    for tag, key in operations(found):
        if tag == Tag.PUT:
            assert in_a_row % 100 == 0
            in_a_row = 0
            live.append(key)
            assert len(live) <= 800
        else:
            in_a_row += 1
            assert live.popleft() == key
            assert len(live) >= 700
    deletes = found.tag == Tag.DELETE
    assert deletes.sum() == 99_300
    assert len(np.unique(found.seconds[deletes])) == 993


def test_groups_have_equal_lifetimes_and_trim_out_of_step() -> None:
    found = run(Queue(rate=1000.0, lifetime_puts=8000, trim=100), groups=8)
    live: list[deque[int]] = [deque() for _ in range(8)]
    last: list[int] = []
    for place, (tag, key) in enumerate(operations(found)):
        group = live[key % 8]
        if tag == Tag.PUT:
            group.append(key)
            assert len(group) <= 1100
        else:
            assert group.popleft() == key
            assert len(group) >= 1000
            last.append(place)
    assert (np.diff(last) > 1).sum() > 8 * 100  # trims of single groups, not of all at once


def test_a_lifetime_of_nothing_and_one_of_everything() -> None:
    at_once = run(Queue(rate=10.0, lifetime_puts=0))
    assert at_once.tag.tolist() == [Tag.PUT, Tag.DELETE] * 1000
    assert at_once.key.tolist() == np.repeat(np.arange(1000), 2).tolist()
    assert (run(Queue(rate=10.0, lifetime_puts=5000)).tag == Tag.PUT).all()


def test_single_deletes() -> None:
    found = run(Queue(rate=10.0, lifetime_puts=5, single_delete=True))
    assert set(found.tag.tolist()) == {Tag.PUT, Tag.SINGLE_DELETE}


def test_scale_divides_puts_lifetime_and_trims() -> None:
    found = run(Queue(rate=1600.0, lifetime_puts=3200, trim=160, preload=1600), scale=16)
    puts = found.tag == Tag.PUT
    assert puts.sum() == 10_000
    # 100 were there before: keys -100 to -1 go first
    assert found.key[~puts][:20].tolist() == list(range(-100, -80))
    assert (~puts).sum() == 10_000 + 100 - 200
    assert np.argmax(~puts) == 200 + 10 - 100


def test_more_than_lives_before_the_start_goes_with_the_first_put() -> None:
    found = run(Queue(rate=1.0, lifetime_puts=10, preload=25))
    assert found.key[: 1 + 15 + 1].tolist() == [0, *range(-25, -10 + 1)]


counts = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=1, max_size=40)


@settings(deadline=None)
@given(counts, st.integers(1, 50), st.sampled_from(["even", "random"]), st.integers(0, 100))
def test_a_schedule_is_kept_row_by_row_and_takes_the_oldest(
    counts: list[tuple[int, int]], trim: int, spread: str, preload: int
) -> None:
    rows = tuple(Row(i * 2.0, i * 2 + 1.5, *each) for i, each in enumerate(counts))
    found = run(Queue(schedule=rows, trim=trim, spread=spread, preload=preload))  # type: ignore[arg-type]
    for row, (puts, deletes) in zip(rows, counts, strict=True):
        within = (found.seconds >= row.start) & (found.seconds <= row.end)
        assert (found.tag[within] == Tag.PUT).sum() == puts
        assert (found.tag[within] == Tag.DELETE).sum() == deletes
    live = deque(range(-preload, 0))
    gone: set[int] = set()
    for tag, key in operations(found):
        if tag == Tag.PUT:
            live.append(key)
        elif key >= -preload:
            assert live.popleft() == key
        else:  # none left: one of before the start, another each time
            assert key not in gone
            gone.add(key)
    puts = sum(row[0] for row in counts)
    deletes = sum(row[1] for row in counts)
    assert len(live) == puts + preload - (deletes - len(gone))


def test_a_delete_without_a_live_key_is_not_made_up_for_later() -> None:
    found = run(Queue(schedule=(Row(0, 1, 10, 15), Row(1, 2, 10, 3))))
    deletes = found.key[found.tag == Tag.DELETE]
    assert deletes.tolist() == [*range(10), -1, -2, -3, -4, -5, 10, 11, 12]


@pytest.mark.parametrize("size", [1, 3000])
def test_rows_larger_and_smaller_than_a_chunk(size: int) -> None:
    rows = tuple(Row(i * 300 / size, (i + 1) * 300 / size, 900_000 // size, 600_000 // size) for i in range(size))
    found = run(Queue(schedule=rows, trim=10), seconds=300)
    deletes = found.tag == Tag.DELETE
    assert deletes.sum() == 600_000
    assert (found.key[deletes] == np.arange(600_000)).all()
    assert (found.key[~deletes] == np.arange(900_000)).all()
