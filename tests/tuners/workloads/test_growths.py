"""Growing keys: fresh puts, deletes of live ones, the oldest, any or aged ones, and range deletes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsmlens.tuners.workloads.chunk import Chunk, Tag
from lsmlens.tuners.workloads.component_streams import chunks
from lsmlens.tuners.workloads.components import Growth, GrowthRow, Keys


def run(growth: Growth, seconds: float = 100, scale: float = 1, seed: int = 1) -> Chunk:
    parts = list(chunks(growth, Keys(40.0), seconds, scale, np.random.default_rng(seed)))
    if not parts:
        return Chunk(np.empty(0), np.empty(0, np.uint8), np.empty(0, np.int64))
    whole = Chunk(*(np.concatenate([getattr(part, name) for part in parts]) for name in Chunk.__slots__))
    assert (np.diff(whole.seconds) >= 0).all()
    return whole


def check(found: Chunk, preload: int = 0, *, oldest: bool = False) -> int:
    """Every put is fresh, every delete of a live key while there is one; how many live at the end."""
    live = dict.fromkeys(range(-preload, 0))
    fresh = 0
    for tag, key in zip(found.tag.tolist(), found.key.tolist(), strict=True):
        if tag == Tag.PUT:
            assert key == fresh
            fresh += 1
            live[key] = None
        elif key >= -preload:
            assert not oldest or key == next(iter(live))
            del live[key]
        else:
            assert not live or not oldest
    return len(live)


ORDERS = {"oldest": 0, "random": 0, "aged": 3000}


@pytest.mark.parametrize("order", ORDERS)
def test_deletes_take_live_keys(order: str) -> None:
    said: dict[str, Any] = {"delete_order": order, "delete_age": ORDERS[order]}
    found = run(Growth(rate=1000.0, deletes_per_put=0.4, preload=500, **said))
    assert ((found.tag == Tag.PUT).sum(), (found.tag == Tag.DELETE).sum()) == (100_000, 40_000)
    assert check(found, 500, oldest=order == "oldest") == 60_500


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_random_deletes_of_nearly_all_find_a_record(share: float) -> None:
    found = run(Growth(rate=1000.0, deletes_per_put=share, delete_order="random"))
    void = (found.key < 0).sum()
    assert void <= 0.002 * len(found.key)
    assert check(found) == round(100_000 * (1 - share)) + void


def test_random_deletes_take_old_and_young_alike() -> None:
    found = run(Growth(rate=1000.0, deletes_per_put=0.5, delete_order="random"), seconds=500)
    assert (found.key[found.tag == Tag.DELETE] >= 0).mean() > 0.999
    late = found.seconds > 499
    put_by_then = (found.tag[found.seconds <= 499] == Tag.PUT).sum()
    ages = 1 - found.key[late & (found.tag == Tag.DELETE)] / put_by_then
    # With half as many deletes as puts, a key put when there were b of now p is live with probability b/p.
    assert ages.mean() == pytest.approx(1 / 3, abs=0.04)
    assert ((ages > 0.5).mean()) == pytest.approx(0.25, abs=0.05)


@pytest.mark.parametrize("scale", [1, 4])
def test_marked_keys_are_deleted_as_they_come_of_age_and_all_others_last(scale: float) -> None:
    growth = Growth(rate=1000.0, deletes_per_put=0.5, delete_order="aged", delete_age=5000, preload=50_000)
    found = run(growth, scale=scale)
    is_delete = found.tag == Tag.DELETE
    ages = scale * (np.cumsum(~is_delete) - found.key)[is_delete]
    assert np.quantile(ages, [0.02, 0.98]) == pytest.approx([5000, 10_000], rel=0.1)
    assert ages.mean() == pytest.approx(7500, rel=0.05)
    # half of the keys, each by the same chance
    early = found.key[is_delete & (found.key >= 0) & (found.key < 40_000 / scale)]
    assert scale * len(early) == pytest.approx(20_000, rel=0.03)


def test_what_is_older_than_the_deletes_of_its_age_lasts() -> None:
    found = run(Growth(rate=1000.0, deletes_per_put=0.5, delete_order="aged", delete_age=5000, preload=50_000))
    oldest = found.key[found.tag == Tag.DELETE].min()
    assert -10_000 <= oldest < -8_000
    assert check(found, 50_000) == 100_000


def test_an_age_is_for_aged_keys() -> None:
    for order, age in (("oldest", 5), ("random", 5), ("aged", 0)):
        with pytest.raises(ValueError, match="`delete_age` and `delete_order: aged` need each other"):
            Growth(rate=1.0, deletes_per_put=0.5, delete_order=order, delete_age=age)  # type: ignore[arg-type]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("scale", [1, 4])
def test_repeated_deletes_take_keys_that_are_gone(order: str, scale: float) -> None:
    said: dict[str, Any] = {"delete_order": order, "delete_age": ORDERS[order]}
    found = run(Growth(rate=1000.0, deletes_per_put=0.4, repeated_deletes=0.25, **said), scale=scale)
    live: set[int] = set()
    gone: set[int] = set()
    repeats = 0
    for tag, key in zip(found.tag.tolist(), found.key.tolist(), strict=True):
        if tag == Tag.PUT:
            live.add(key)
        elif key in live:
            live.remove(key)
            gone.add(key)
        else:
            # one that finds nothing deleted yet takes a key of before the start
            assert key in gone or (key < 0 and not gone)
            repeats += 1
    assert (found.tag == Tag.DELETE).sum() == 40_000 / scale
    assert repeats == pytest.approx(10_000 / scale, abs=5)


def test_range_deletes_stand_alone() -> None:
    with pytest.raises(ValueError, match="no `repeated_deletes` beside range deletes"):
        Growth(rate=1.0, range_deletes_per_put=0.1, range_width=3, repeated_deletes=0.1)


rows = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), min_size=1, max_size=20)


@settings(deadline=None)
@given(rows, st.sampled_from(list(ORDERS)), st.integers(0, 50))
def test_any_schedule_is_kept(counts: list[tuple[int, int]], order: str, preload: int) -> None:
    schedule = tuple(GrowthRow(float(i), i + 1.0, *each) for i, each in enumerate(counts))
    said: dict[str, Any] = {"delete_order": order, "delete_age": min(60, ORDERS[order])}
    found = run(Growth(schedule=schedule, preload=preload, **said))
    assert (found.tag == Tag.PUT).sum() == sum(each[0] for each in counts)
    assert (found.tag == Tag.DELETE).sum() == sum(each[1] for each in counts)
    check(found, preload)


def test_more_deletes_than_keys_delete_ones_of_before() -> None:
    found = run(Growth(schedule=(GrowthRow(0, 1, 10, 0), GrowthRow(1, 2, 0, 30)), delete_order="random"))
    deleted = found.key[found.tag == Tag.DELETE]
    assert sorted(deleted.tolist()) == [*range(-20, 0), *range(10)]


def test_range_deletes_take_the_oldest_by_turns_with_deletes() -> None:
    growth = Growth(rate=1000.0, deletes_per_put=0.1, range_deletes_per_put=0.02, range_width=20)
    found = run(growth)
    oldest = put = 0
    for tag, key in zip(found.tag.tolist(), found.key.tolist(), strict=True):
        if tag == Tag.PUT:
            put += 1
            continue
        width = 20 if tag == Tag.RANGE_DELETE else 1
        assert key == oldest or key + width == put  # else too few were live
        oldest = key + width
        assert oldest <= put
    assert (found.tag == Tag.RANGE_DELETE).sum() == 2000
    assert oldest == pytest.approx(50_000, rel=0.01)


def test_scale_divides_ranges_too() -> None:
    growth = Growth(rate=1000.0, range_deletes_per_put=0.02, range_width=160, preload=1600)
    found = run(growth, scale=16)
    ranges = found.key[found.tag == Tag.RANGE_DELETE]
    assert len(ranges) == 125
    assert ranges[:3].tolist() == [-100, -90, -80]
