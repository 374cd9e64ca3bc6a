"""Families of a workload written to a database with another sharding."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.generator import DeclaredStream

QUEUE = (
    "name: {}\nkeys: {{length: 20, order: {}}}\nvalues: 10\ncomponents:\n- {{kind: queue, rate: 20, lifetime_puts: 9}}"
)
THREE = [QUEUE.format(f"O-{number}", "scattered") for number in range(3)]


@pytest.fixture(scope="module")
def logical(workload: Callable[..., Workload]) -> Workload:
    return workload(QUEUE.format("O", "scattered") + "\nshards: 3", QUEUE.format("P", "sequential"))


@pytest.fixture(scope="module")
def fitted(workload: Callable[..., Workload]) -> Workload:
    return workload(*THREE, QUEUE.format("P", "sequential"))


def counts(decoded: Callable[..., Any], stream: DeclaredStream) -> Counter[str]:
    return Counter(stream.families[one.family] for _, batch in decoded(stream) for one in batch)


def test_a_family_is_divided_evenly_among_its_shards(logical: Workload, decoded: Callable[..., Any]) -> None:
    stream = DeclaredStream(logical)
    assert stream.families == ("default", "O-0", "O-1", "O-2", "P")
    found = counts(decoded, stream)
    assert sum(found[f"O-{number}"] for number in range(3)) == found["P"]
    assert min(found.values()) == pytest.approx(found["P"] / 3, rel=0.1)


def test_all_operations_on_a_key_go_to_the_same_shard(logical: Workload, decoded: Callable[..., Any]) -> None:
    live: dict[bytes, int] = {}
    for _, batch in decoded(DeclaredStream(logical)):
        for one in batch:
            if one.kind == "P":
                live[one.key] = one.family
            else:
                assert live.pop(one.key) == one.family


@pytest.mark.parametrize("which", ["logical", "fitted"])
def test_the_same_shards_stay_as_they_are(which: str, request: pytest.FixtureRequest, decoded: Any) -> None:
    document = request.getfixturevalue(which)
    plain, routed = DeclaredStream(document), DeclaredStream(document, {"O": 3, "P": 1})
    assert routed.families == plain.families
    assert decoded(routed) == decoded(plain)


@pytest.mark.parametrize("which", ["logical", "fitted"])
@pytest.mark.parametrize("shards", [1, 2, 5])
def test_other_shards(which: str, shards: int, request: pytest.FixtureRequest, decoded: Any) -> None:
    document = request.getfixturevalue(which)
    stream = DeclaredStream(document, {"O": shards, "P": 1})
    names = ["O"] if shards == 1 else [f"O-{number}" for number in range(shards)]
    assert stream.families == ("default", *names, "P")
    plain, found = counts(decoded, DeclaredStream(document)), counts(decoded, stream)
    total = sum(plain[f"O-{number}"] for number in range(3))
    assert sum(found[name] for name in names) == total
    assert min(found[name] for name in names) == pytest.approx(total / shards, rel=0.15)
    puts = [one.key for _, batch in decoded(stream) for one in batch if one.kind == "P" and one.family]
    assert len(set(puts)) == len(puts)  # keys of what were shards stay apart


def test_without_a_family_of_its_own_it_goes_to_the_default(fitted: Workload, decoded: Any) -> None:
    stream = DeclaredStream(fitted, {})
    assert stream.families == ("default",)
    records = [one for _, batch in decoded(stream) for one in batch]
    assert {one.key[:2] for one in records} == {b"O\0", b"P\0"}
    assert {len(one.key) for one in records} == {22}
    puts = [one.key for one in records if one.kind == "P"]
    assert len(set(puts)) == len(puts) == 8000


def test_families_that_nothing_is_written_to_are_there_too(fitted: Workload) -> None:
    assert DeclaredStream(fitted, {"m": 2, "O": 3, "L": 1}).families == (
        "default", "m-0", "m-1", "O-0", "O-1", "O-2", "L"
    )  # fmt: skip
