"""Clustered keys: batches within one object, removals, and clears of exactly what lives there."""

import numpy as np
import pytest
from lsmlens.tuners.workloads.chunk import Chunk, Tag
from lsmlens.tuners.workloads.clusters import Shape, preloaded_keys
from lsmlens.tuners.workloads.component_streams import chunks
from lsmlens.tuners.workloads.components import Clustered, Keys, Row


def run(clustered: Clustered, seconds: float = 100, scale: float = 1, seed: int = 1) -> Chunk:
    parts = list(chunks(clustered, Keys(40.0), seconds, scale, np.random.default_rng(seed)))
    whole = Chunk(*(np.concatenate([getattr(part, name) for part in parts]) for name in Chunk.__slots__))
    assert (np.diff(whole.seconds) >= 0).all()
    return whole


def batches_of(found: Chunk, width: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Tags and keys of each batch or clear: of one moment, tag and object."""
    cuts = (
        np.flatnonzero((np.diff(found.seconds) > 0) | (np.diff(found.tag) != 0) | (np.diff(found.key // width) != 0))
        + 1
    )
    return list(zip(np.split(found.tag, cuts), np.split(found.key, cuts), strict=True))


def clears(found: Chunk, shape: Shape, preload: np.ndarray | None = None) -> list[int]:
    """Sizes of the clears: deletes of one object at one moment that are exactly its live keys."""
    live = np.zeros((shape.objects, shape.keys_per_object), np.bool_)
    if preload is not None:
        live.reshape(-1)[preload] = True
    sizes = []
    for tags, keys in batches_of(found, shape.keys_per_object):
        one, places = keys[0] // shape.keys_per_object, keys % shape.keys_per_object
        if tags[0] == Tag.PUT:
            live[one, places] = True
        elif (np.sort(places) == places).all() and len(places) == live[one].sum() and live[one, places].all():
            sizes.append(len(places))
            live[one] = False
        else:
            assert len(places) <= shape.batch + 1
            live[one, places] = False
    return sizes


def test_batches_put_in_one_object() -> None:
    found = run(Clustered(objects=30, keys_per_object=1000, batch=50, rate=1000.0))
    batches = batches_of(found, 1000)
    assert len(batches) == 2000
    assert all(len(keys) == 50 for _, keys in batches)
    assert len(set((found.key // 1000).tolist())) == 30
    assert found.key.max() < 30_000


def test_no_key_is_twice_in_a_batch() -> None:
    found = run(Clustered(objects=3, keys_per_object=60, batch=50, rate=1000.0))
    for _, keys in batches_of(found, 60):
        assert all(len(set(keys[first : first + 50].tolist())) == 50 for first in range(0, len(keys), 50))
    # and all keys of an object are as likely
    assert np.bincount(found.key % 60, minlength=60) == pytest.approx(len(found.key) / 60, rel=0.05)


def test_removals_and_clears_at_a_rate() -> None:
    clustered = Clustered(
        objects=30, keys_per_object=1000, batch=50, rate=1000.0, removals_per_put=0.2, clears_per_put=0.001
    )
    found = run(clustered, seconds=1200)
    sizes = clears(found, Shape.of(clustered, 1))
    deletes = (found.tag == Tag.DELETE).sum()
    assert (found.tag == Tag.PUT).sum() == 1_200_000
    assert deletes == 240_000 + sum(sizes)
    # Of about 1200 clears, those of an object into which none of 20 batches was put since leave nothing to be seen.
    assert len(sizes) == pytest.approx(1200 * 20 / 21, abs=3 * 1200**0.5)
    assert np.mean(sizes) > 300


@pytest.mark.parametrize("scale", [1, 4, 32])
def test_a_schedule_s_puts_alone_bring_removals_and_clears(scale: float) -> None:
    rows = tuple(Row(float(i), i + 1.0, 20_000) for i in range(60))
    clustered = Clustered(
        objects=30, keys_per_object=64_000, batch=64, schedule=rows, removals_per_put=0.2, clears_per_put=1 / 4000
    )
    found = run(clustered, scale=scale)
    sizes = clears(found, Shape.of(clustered, scale))
    puts, deletes = ((found.tag == tag).sum() for tag in (Tag.PUT, Tag.DELETE))
    assert puts == pytest.approx(1_200_000 / scale, abs=60)
    # at any scale as many clears, of an object's share of 4000 puts each
    assert len(sizes) == pytest.approx(300, abs=75)
    assert deletes / puts == pytest.approx(0.2 + 1 / (1 + 1.2 * 120_000 / (30 * 64_000)), rel=0.12)


@pytest.mark.parametrize("scale", [1, 8])
def test_a_schedule_s_deletes_spread_its_clears_over_time(scale: float) -> None:
    rows = tuple(Row(float(i), i + 1.0, 20_000, 500 if i % 3 == 0 else 0) for i in range(60))
    clustered = Clustered(objects=30, keys_per_object=8000, batch=64, schedule=rows, clears_per_put=1 / 4000)
    found = run(clustered, scale=scale)
    when = found.seconds[found.tag == Tag.DELETE]
    assert set(when.astype(int) % 3) == {0}
    # as many clears as at that rate: an object has 4000 puts of its own between two
    assert len(clears(found, Shape.of(clustered, scale))) == pytest.approx(300, abs=20)


@pytest.mark.parametrize("zipf", [0, 0.8])
def test_a_schedule_s_deletes_are_used_up_by_clears(zipf: float) -> None:
    rng = np.random.default_rng(3)
    rows = tuple(
        Row(float(i), i + 1.0, int(rng.integers(4000, 6000)), int(rng.integers(1000, 8000)) if i > 5 else 0)
        for i in range(60)
    )
    clustered = Clustered(
        objects=50, keys_per_object=4000, batch=40, removals_per_put=0.25, schedule=rows, zipf=zipf, preload=20_000
    )
    found = run(clustered)
    shape = Shape.of(clustered, 1)
    sizes = clears(found, shape, preloaded_keys(clustered, 1))
    largest = max(sizes)
    assert len(sizes) > 50
    wanted = done = 0
    for row in rows:
        within = (found.seconds >= row.start) & (found.seconds < row.end)
        assert (found.tag[within] == Tag.PUT).sum() == row.puts
        wanted += row.deletes
        done += int((found.tag[within] == Tag.DELETE).sum())
        assert abs(wanted - done) <= largest + 100


@pytest.mark.parametrize("scale", [1, 4, 16])
def test_clears_keep_up_where_rows_are_many_lifetimes_long(scale: float) -> None:
    rows = tuple(Row(float(i), i + 1.0, 50_000, 51_000 if i else 46_000) for i in range(12))
    clustered = Clustered(objects=36, keys_per_object=5000, batch=32, removals_per_put=0.13, schedule=rows)
    found = run(clustered, scale=scale)
    assert (found.tag == Tag.PUT).sum() == pytest.approx(600_000 / scale, abs=12)
    assert (found.tag == Tag.DELETE).sum() == pytest.approx(607_000 / scale, rel=0.01)


def test_deletes_that_find_nothing_to_clear_are_left_out() -> None:
    clustered = Clustered(objects=3, keys_per_object=10, schedule=(Row(0, 1, 2, 0), Row(1, 2, 0, 500)))
    found = run(clustered)
    assert len(found) <= 4
    assert (found.tag == Tag.PUT).sum() == 2


def test_scale_divides_keys_of_objects_and_batches_and_then_objects() -> None:
    clustered = Clustered(objects=100, keys_per_object=800, batch=64, rate=1.0, preload=8000)
    assert Shape.of(clustered, 16) == Shape(100, 50, 4)
    assert Shape.of(clustered, 1600) == Shape(50, 1, 1)
    keys = preloaded_keys(clustered, 16)
    assert len(keys) == len(np.unique(keys)) == 500
    assert np.bincount(keys // 50, minlength=100).tolist() == [5] * 100
