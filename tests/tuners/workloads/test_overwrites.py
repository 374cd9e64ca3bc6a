"""Overwritten keys: populations, working sets, and deletes that choose as puts do."""

import numpy as np
from lsmlens.tuners.workloads.chunk import WORKING_SET_BITS, Chunk, Tag
from lsmlens.tuners.workloads.component_streams import chunks
from lsmlens.tuners.workloads.components import Keys, Merges, Overwrite, OverwriteRow, WorkingSet
from lsmlens.tuners.workloads.zipf import Zipf
from scipy.stats import chisquare


def run(component: Overwrite | Merges, seconds: float = 100, scale: float = 1) -> Chunk:
    parts = list(chunks(component, Keys(40.0), seconds, scale, np.random.default_rng(1)))
    whole = Chunk(*(np.concatenate([getattr(part, name) for part in parts]) for name in Chunk.__slots__))
    assert (np.diff(whole.seconds) >= 0).all()
    return whole


def test_puts_and_deletes_choose_alike() -> None:
    found = run(Overwrite(working_sets=(WorkingSet(50, 0.9),), rate=3000.0, deletes_per_put=0.25))
    puts = found.tag == Tag.PUT
    assert (puts.sum(), (~puts).sum()) == (300_000, 75_000)
    for which in (puts, ~puts):
        observed = np.bincount(found.key[which], minlength=50)
        assert chisquare(observed, Zipf(50, 0.9).chances() * which.sum()).pvalue > 1e-3
    # evenly among one another
    assert abs(puts[:1000].sum() - 800) <= 1


def test_rows_name_their_working_set() -> None:
    sets = (WorkingSet(100), WorkingSet(3), WorkingSet(1000, 1.0))
    rows = tuple(OverwriteRow(float(i), i + 1.0, 500 * (i + 1), 20, i % 3) for i in range(6))
    found = run(Overwrite(working_sets=sets, schedule=rows))
    for row in rows:
        within = (found.seconds >= row.start) & (found.seconds < row.end)
        assert within.sum() == row.puts + row.deletes
        assert (found.key[within] >> WORKING_SET_BITS == row.working_set).all()
        ranks = found.key[within] & ((1 << WORKING_SET_BITS) - 1)
        assert ranks.max() < sets[row.working_set].keys


def test_merges_differ_by_their_tag_only() -> None:
    sets = (WorkingSet(100, 0.5),)
    put = run(Overwrite(working_sets=sets, rate=100.0, deletes_per_put=0.1))
    merged = run(Merges(working_sets=sets, rate=100.0, deletes_per_put=0.1))
    assert (merged.key == put.key).all()
    assert ((merged.tag == Tag.MERGE) == (put.tag == Tag.PUT)).all()


def test_scale_divides_population_and_puts() -> None:
    found = run(Overwrite(working_sets=(WorkingSet(1600),), rate=1000.0), scale=16)
    assert len(found) == 6250
    assert len(np.unique(found.key)) == 100


def test_operations_may_come_at_random_within_their_share() -> None:
    even = run(Overwrite(working_sets=(WorkingSet(5),), rate=10.0))
    random = run(Overwrite(working_sets=(WorkingSet(5),), rate=10.0, spread="random"))
    assert np.allclose(np.diff(even.seconds), 0.1)
    assert np.diff(random.seconds).std() > 0.02
    assert np.abs(random.seconds - even.seconds).max() <= 0.05


def test_a_working_set_may_be_filled_first() -> None:
    sets = (WorkingSet(300, filled_first=True), WorkingSet(200))
    rows = tuple(OverwriteRow(float(i), i + 1.0, 100, 0, 1 if i == 1 else 0) for i in range(8))
    found = run(Overwrite(working_sets=sets, schedule=rows))
    ranks = found.key & ((1 << WORKING_SET_BITS) - 1)
    first = found.key >> WORKING_SET_BITS == 0
    assert (ranks[first][:300] == np.arange(300)).all()
    later = ranks[first][300:]
    assert len(later) == 400
    assert len(np.unique(later)) < 300  # by chance from then on
    assert len(np.unique(ranks[~first])) < 100


def test_filling_is_scaled_with_the_population() -> None:
    found = run(Overwrite(working_sets=(WorkingSet(800, filled_first=True),), rate=100.0), scale=8)
    assert (found.key[:100] == np.arange(100)).all()
