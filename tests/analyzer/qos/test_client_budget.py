"""The HDD budget against the published study: within 10 % with one row fitted, the rates by charges alone."""

from collections.abc import Callable

import pytest
from lsmlens.analyzer.qos.allocation import client_iops, seconds_per_object
from lsmlens.analyzer.qos.cost_model import recovery_charges, unit_costs

OCCUPANCY = (8, 6, 5, 5, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1)
LIMITS = {"high_client_ops": 1.0, "balanced": 1.5, "high_recovery_ops": 2.0}
BASE, WINDOW = 340.0, 420.0
Published = Callable[[str], dict[str, dict[str, float]]]


def rate_by_charges(profile: str) -> float:
    """Objects a second while the load ran, from charges, limit and queues."""
    charge = recovery_charges(unit_costs("hdd"), 4 << 20).at_primary
    rate = round(LIMITS[profile] * BASE / 5) / charge
    return sum(min(count * 81.0, WINDOW * rate) for count in OCCUPANCY) / WINDOW


def test_the_rate_is_as_the_studys_curves_bend() -> None:
    """15 queues, then 11, then 8, each group taking 182 s."""
    assert rate_by_charges("high_client_ops") == pytest.approx(5.5, abs=0.1)


def test_an_objects_time_is_the_fitted_rows() -> None:
    assert seconds_per_object(157_286_400, True) == pytest.approx(39.6e-3, abs=0.1e-3)
    assert seconds_per_object(157_286_400, False) == pytest.approx(106e-3, abs=0.1e-3)


@pytest.mark.parametrize("profile", LIMITS)
def test_the_studys_profiles(published: Published, profile: str) -> None:
    iops = client_iops(BASE, rate_by_charges(profile), seconds_per_object(157_286_400, True))
    assert iops == pytest.approx(published("hdd-waldb")[profile]["client_iops"], rel=0.10)


# Objects a second while the load ran, off the curves: WPQ has no limit that would say them.
@pytest.mark.parametrize(("configuration", "rate"), [("WPQ(def)", 3.64), ("WPQ(BST)", 14.4)])
def test_the_studys_wpq_rows_at_the_rate_that_was_seen(published: Published, configuration: str, rate: float) -> None:
    iops = client_iops(BASE, rate, seconds_per_object(157_286_400, True))
    assert iops == pytest.approx(published("hdd-waldb")[configuration]["client_iops"], rel=0.10)


def test_the_order_of_profiles(published: Published) -> None:
    seconds = seconds_per_object(157_286_400, True)
    ours = sorted(LIMITS, key=lambda profile: client_iops(BASE, rate_by_charges(profile), seconds))
    rows = published("hdd-waldb")
    assert ours == sorted(LIMITS, key=lambda profile: rows[profile]["client_iops"])


def test_recovery_cannot_take_more_than_all_the_time() -> None:
    assert client_iops(300, 100, 0.04) == 0
    assert client_iops(300, 25, 0.04) == 0
    assert client_iops(300, 10, 0.04) == pytest.approx(180)
