"""Keys as bytes: all different, of their length, and sorted as their order says."""

import numpy as np
import pytest
from lsmlens.tuners.workloads.chunk import WORKING_SET_BITS
from lsmlens.tuners.workloads.components import Keys, Order
from lsmlens.tuners.workloads.key_forms import KeyForm, number, scattered, unique
from lsmlens.tuners.workloads.sizes import LogNormal, Uniform

NUMBERS = np.concatenate((np.arange(-5000, 20_000), np.array([(1 << 42) - 1, -(1 << 42)])))


def identities(keys: Keys, chunk_keys: np.ndarray, component: int = 0) -> np.ndarray:
    return KeyForm(keys).identity(unique(chunk_keys, component))


def test_scattering_is_a_permutation() -> None:
    low = np.arange(1 << 16)
    mixed = scattered(low)
    assert len(np.unique(mixed)) == 1 << 16
    assert mixed.min() >= 0
    assert mixed.max() < 1 << WORKING_SET_BITS
    # near numbers land evenly over the whole space
    assert np.bincount(mixed >> (WORKING_SET_BITS - 4), minlength=16) == pytest.approx(4096, rel=0.1)


def test_numbers_come_back() -> None:
    assert (number(unique(NUMBERS, 17)) == NUMBERS).all()
    assert (number(unique(NUMBERS + (3 << WORKING_SET_BITS), 254)) == NUMBERS).all()


@pytest.mark.parametrize("order", ["sequential", "scattered", "grouped"])
def test_all_keys_differ(order: Order) -> None:
    keys = Keys(20, order=order, groups=7 if order == "grouped" else 1)
    numbers = NUMBERS[:-2]
    found = [
        identities(keys, numbers + (working_set << WORKING_SET_BITS), component)
        for component in (0, 1, 254)
        for working_set in (0, 1, 4095)
    ]
    assert len(np.unique(np.concatenate(found))) == 9 * len(numbers)


def test_sequential_keys_sort_as_they_come() -> None:
    assert (np.diff(identities(Keys(20), np.sort(NUMBERS))) > 0).all()


def test_scattered_keys_do_not() -> None:
    steps = np.diff(identities(Keys(20, order="scattered"), np.arange(10_000)).astype(np.int64))
    assert (steps > 0).mean() == pytest.approx(0.5, abs=0.02)


def test_grouped_keys_are_sequential_in_their_group() -> None:
    found = identities(Keys(20, order="grouped", groups=96), np.arange(-960, 9600))
    by_turns = found.reshape(-1, 96)
    assert (np.diff(by_turns, axis=0) == 1).all()
    assert (by_turns[-1][:-1] < by_turns[0][1:]).all()


def of_sets(keys: Keys) -> list[np.ndarray]:
    """Keys of two working sets of one component, and of another component."""
    numbers = np.arange(-100, 1000)
    places = ((0, 0), (0, 1), (1, 0))
    return [identities(keys, numbers + (place << WORKING_SET_BITS), component) for component, place in places]


def test_components_and_working_sets_lie_apart() -> None:
    first, second, third = of_sets(Keys(20))
    assert first.max() < second.min()
    assert second.max() < third.min()


def test_scattered_components_and_working_sets_lie_among_each_other() -> None:
    sets = of_sets(Keys(20, order="scattered"))
    order = np.argsort(np.concatenate(sets))
    of_which = np.repeat(np.arange(3), 1100)[order]
    for stretch in np.array_split(of_which, 11):
        assert np.bincount(stretch, minlength=3) == pytest.approx(100, abs=40)
    assert len(np.unique(np.concatenate(sets))) == 3300


@pytest.mark.parametrize("length", [1, 7, 8, 9, 300, 20.5, Uniform(5, 200), LogNormal(60, 0.5, 20, 400)])
def test_a_key_always_has_the_same_length(length: float | Uniform | LogNormal) -> None:
    form = KeyForm(Keys(length, order="scattered"), b"P\0")
    key = unique(np.arange(5000), 0)
    lengths = form.lengths(key)
    assert (form.lengths(key[::-1])[::-1] == lengths).all()
    if isinstance(length, Uniform):
        assert (lengths.min(), lengths.max()) == (7, 202)
        assert lengths.mean() == pytest.approx(104.5, rel=0.02)
    elif length == 20.5:
        assert lengths.mean() == pytest.approx(22.5, abs=0.03)
    elif isinstance(length, int):
        assert form.length == length + 2
    else:
        assert np.median(lengths) == pytest.approx(62, abs=3)


def test_where_the_identity_stands() -> None:
    row, place, width = KeyForm(Keys(40, front=12), b"O\0").template(42)
    assert (bytes(row[:2]), place, width, len(row)) == (b"O\0", 14, 8, 42)
    # a key too short for its front gives up some of it, never the identity
    assert KeyForm(Keys(10, front=12)).template(10)[1:] == (2, 8)
    assert KeyForm(Keys(3, front=12)).template(3)[1:] == (0, 3)
