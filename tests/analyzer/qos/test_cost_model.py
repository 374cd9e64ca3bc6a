"""Charges against the tables of the published study's re-reading and of current releases' arithmetic."""

import pytest
from lsmlens.analyzer.qos.cost_model import (
    CostUnit,
    byte_costs,
    counts_bytes,
    recovery_charges,
    unit_costs,
)

MIB = 1 << 20


@pytest.mark.parametrize(
    ("kind", "charged"),
    [
        ("ssd", {4096: 1, 4 * MIB: 46, 8 * MIB + 1000: 92, 20 * MIB: 231}),
        ("hdd", {4096: 1, 4 * MIB: 22, 20 * MIB: 109}),
    ],
)
def test_units_of_16_and_17_2_0(kind: str, charged: dict[int, int]) -> None:
    model = unit_costs(kind)
    assert model.unit is CostUnit.OPERATIONS
    assert {size: model.cost(size) for size in charged} == charged


@pytest.mark.parametrize(("kind", "start", "reply", "push"), [("ssd", 231, 92, 46), ("hdd", 109, 44, 22)])
def test_a_recovered_object_in_units_costs_the_same_whatever_its_size(
    kind: str, start: int, reply: int, push: int
) -> None:
    charges = recovery_charges(unit_costs(kind), 4 * MIB)
    assert (charges.start, charges.reply, charges.push) == (start, reply, push)
    assert charges.at_primary == start + reply
    small = recovery_charges(unit_costs(kind), 4096)
    assert small.at_primary == charges.at_primary
    assert small.push == 1


@pytest.mark.parametrize(
    ("bandwidth", "iops", "per_io"), [(157_286_400, 315, 499_321), (1_258_291_200, 21_500, 58_525)]
)
def test_bytes_since_17_2_7(bandwidth: float, iops: float, per_io: int) -> None:
    model = byte_costs(bandwidth, iops)
    assert [model.cost(size) for size in (0, 4096, 4 * MIB)] == [per_io, per_io, 4 * MIB]
    charges = recovery_charges(model, 4 * MIB)
    assert (charges.start, charges.reply) == (4 * MIB, per_io)


def test_a_capacity_of_nothing_divides_by_one() -> None:
    assert byte_costs(0, 0).cost(0) == 1


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ((16, 2, 15), False),
        ((17, 2, 6), False),
        ((17, 2, 7), True),
        ((18, 2, 0), True),
        ((20, 2, 4), True),
        (None, True),
    ],
)
def test_which_releases_count_bytes(release: tuple[int, int, int] | None, expected: bool) -> None:
    assert counts_bytes(release) is expected


def test_between_what_sizes_operations_are_charged_alike() -> None:
    assert byte_costs(157_286_400, 315).crossover_bytes == pytest.approx(499_322, abs=1)
    ssd = unit_costs("ssd")
    assert ssd.cost(ssd.crossover_bytes - 1) == 1
    assert ssd.cost(ssd.crossover_bytes + 1) == 2
