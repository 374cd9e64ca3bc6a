"""Scaling: amounts in arms' names, the yield of each step, and where returns diminish."""

from collections.abc import Sequence
from math import log

import pytest
from lsmlens.analyzer.comparison.arms import Arm
from lsmlens.analyzer.comparison.comparison import compare
from lsmlens.analyzer.comparison.observations import Kind, Observation
from lsmlens.analyzer.comparison.work import Scaling, amounts_of

METRIC = "client_iops.randwrite.4k"


def scaling(values: dict[str, Sequence[float]]) -> list[Scaling]:
    arms = [
        Arm(
            name,
            tuple(Observation(f"{name}.{place}", Kind.TABLE, {METRIC: value}) for place, value in enumerate(of_arm)),
        )
        for name, of_arm in values.items()
    ]
    return list(compare(arms).scalings)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["2", "4", "8"], ("", [2, 4, 8])),
        (["8cores", "2cores", "4cores"], ("cores", [8, 2, 4])),
        (["cores=0.5", "cores=1", "cores=2"], ("cores", [0.5, 1, 2])),
        (["cpu-2-x", "cpu-4-x", "cpu-6-x"], ("cpu--x", [2, 4, 6])),
        (["2", "4"], None),
        (["2cores", "4cores", "8threads"], None),
        (["stock", "reef", "new"], None),
        (["2", "2.0", "4"], None),
        (["0", "1", "2"], None),
        (["run1a2", "run2a2", "run3a2"], None),
    ],
)
def test_amounts_in_names(names: list[str], found: tuple[str, list[float]] | None) -> None:
    assert amounts_of(names) == found


def test_where_returns_diminish() -> None:
    around = {2: 1000.0, 4: 1900.0, 8: 3300.0, 12: 3700.0, 16: 3740.0}
    (found,) = scaling({f"{cores}cores": [0.99 * iops, iops, 1.01 * iops] for cores, iops in around.items()})
    assert found.resource == "cores"
    assert found.is_noise_known
    assert found.knee == "8cores"
    assert found.sentence == "returns diminish after 8cores: 12cores gains 12 % for 50 % more"
    first, second, *_ = found.points
    assert (first.gain, first.step_yield) == (None, None)
    assert second.gain == pytest.approx(1.9)
    assert second.step_yield == pytest.approx(log(1.9) / log(2))
    assert found.points[-1].step_yield == 0.0  # 1.1 % may be chance


def test_arms_may_come_in_any_order() -> None:
    (found,) = scaling({"8": [3300.0], "2": [1000.0], "4": [1900.0]})
    assert [point.arm for point in found.points] == ["2", "4", "8"]
    assert found.knee is None
    assert not found.is_noise_known
    assert found.sentence == "still grows at 8 (one run of an arm: noise unknown)"


def test_a_step_between_good_ones_is_no_knee() -> None:
    (found,) = scaling({"2": [1000.0], "4": [1050.0], "8": [2100.0]})
    assert found.knee is None


def test_an_arm_without_the_job_makes_no_series() -> None:
    arms = [Arm(name, (Observation(name, Kind.TABLE, values),)) for name, values in
            {"2": {METRIC: 1.0}, "4": {METRIC: 2.0}, "8": {"stall_seconds": 0.0}}.items()]  # fmt: skip
    assert compare(arms).scalings == ()
