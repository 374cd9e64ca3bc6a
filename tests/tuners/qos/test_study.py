"""The simulation against the published study. The quick ones play little of it; the slow ones print the whole table.

Bounds are those of docs/qos.md: clients' means on NVMe within 35 % as they come, within 15 % once calibrated on one
row, their 95th percentile under mClock within 25 %; means on HDDs within 10 %, of WPQ(BST) within 25 %.
"""

from collections.abc import Callable
from dataclasses import replace
from statistics import fmean

import pytest
from lsmlens.tuners.qos.scenario import Scenario
from lsmlens.tuners.qos.simulation import simulate

Study = Callable[..., Scenario]
Published = Callable[[str], dict[str, dict[str, float]]]
PROFILES = ("high_client_ops", "balanced", "high_recovery_ops")


def played(scenario: Scenario) -> tuple[float, float, float]:
    """Clients' IOPS and 95th percentile in ms, recovered objects/s, all without the first moments."""
    outcome = simulate(scenario)
    begin = scenario.recovery.start_seconds
    client = outcome.client(begin)
    assert client is not None
    return client.iops, client.p95_seconds * 1e3, outcome.objects_per_second(begin)


def mean_of(study: Study, device: str, configuration: str, shorter: float, placements: int) -> tuple[float, ...]:
    plays = [played(study(device, configuration, shorter, seed)) for seed in range(1, placements + 1)]
    return tuple(fmean(figures) for figures in zip(*plays, strict=True))


def test_nvme_in_short(study: Study, published: Published) -> None:
    rows = published("nvme")
    without, balanced = (played(study("nvme", name, 500)) for name in ("baseline", "balanced"))
    assert without[0] == pytest.approx(rows["baseline"]["client_iops"], rel=0.08)
    assert balanced[0] == pytest.approx(rows["balanced"]["client_iops"], rel=0.35)
    assert balanced[0] < without[0]


def test_hdd_in_short(study: Study, published: Published) -> None:
    rows = published("hdd-waldb")
    for name in ("baseline", "high_recovery_ops"):
        iops, _, _ = played(study("hdd", name, 12))
        assert iops == pytest.approx(rows[name]["client_iops"], rel=0.15), name


def test_recoveries_run_at_their_limits(study: Study) -> None:
    """The first stretch, with all queues at work: objects a second are queues * limit / charge."""
    for name, share in zip(PROFILES, (1.0, 1.5, 2.0), strict=True):
        scenario = replace(study("hdd", name), client=None, seconds=100.0)
        rate = simulate(scenario).objects_per_second(20.0)
        assert rate == pytest.approx(15 * round(share * 340 / 5) / 153, rel=0.06), name


@pytest.mark.slow
def test_the_whole_study_on_nvme(study: Study, published: Published) -> None:
    rows = published("nvme")
    ours = {name: mean_of(study, "nvme", name, 64, 1) for name in ("baseline", "WPQ(def)")}
    ours |= {name: mean_of(study, "nvme", name, 64, 3) for name in PROFILES}
    # What a few pushes more or less in one queue do to WPQ(BST) is large, and cheap to play: more placements of it.
    ours["WPQ(BST)"] = mean_of(study, "nvme", "WPQ(BST)", 16, 6)
    factor = rows["balanced"]["client_iops"] / ours["balanced"][0]
    print("\nNVMe               IOPS ours/published        calibrated        p95 ms ours/published  objects/s")
    for name, (iops, p95, rate) in ours.items():
        theirs = rows[name]["client_iops"]
        calibrated = iops * factor
        print(
            f"{name:18} {iops:7.0f} {theirs:7.0f} {iops / theirs - 1:+6.1%} {calibrated:9.0f}"
            f" {calibrated / theirs - 1:+6.1%} {p95:10.2f} {rows[name].get('client_p95_ms', 0):7.2f} {rate:10.1f}"
        )
    for name, (iops, p95, _) in ours.items():
        assert iops == pytest.approx(rows[name]["client_iops"], rel=0.35), name
        assert iops * factor == pytest.approx(rows[name]["client_iops"], rel=0.15), name
        if name in PROFILES:
            assert p95 == pytest.approx(rows[name]["client_p95_ms"], rel=0.25), name
    assert [ours[name][2] for name in PROFILES] == sorted(ours[name][2] for name in PROFILES)
    assert [ours[name][1] for name in PROFILES] == sorted(ours[name][1] for name in PROFILES)
    # The published means of the three are within 2 % of each other: which is first is not to be told, that is.
    means = [ours[name][0] for name in PROFILES]
    assert max(means) < 1.05 * min(means)
    order = ("baseline", "WPQ(def)", "balanced", "WPQ(BST)")
    assert sorted(order, key=lambda name: -ours[name][0]) == sorted(order, key=lambda name: -rows[name]["client_iops"])


@pytest.mark.slow
def test_any_mclock_row_will_do_to_calibrate_on(study: Study, published: Published) -> None:
    rows = published("nvme")
    ratios = [rows[name]["client_iops"] / played(study("nvme", name, 128))[0] for name in PROFILES]
    assert max(ratios) < 1.15 * min(ratios)


@pytest.mark.slow
def test_the_whole_study_on_hdds(study: Study, published: Published) -> None:
    rows = published("hdd-waldb")
    ours = {name: played(study("hdd", name)) for name in ("baseline", "WPQ(def)", "WPQ(BST)", *PROFILES)}
    print("\nHDD, WAL on NVMe   IOPS ours/published        objects/s")
    for name, (iops, _, rate) in ours.items():
        theirs = rows[name]["client_iops"]
        print(f"{name:18} {iops:7.0f} {theirs:7.0f} {iops / theirs - 1:+6.1%} {rate:10.2f}")
    for name, (iops, _, _) in ours.items():
        # How pushes and small writes share the disk under WPQ(BST) is not all there; the budget is fitted on it.
        assert iops == pytest.approx(rows[name]["client_iops"], rel=0.25 if name == "WPQ(BST)" else 0.10), name
    assert sorted(ours, key=lambda name: ours[name][0]) == sorted(ours, key=lambda name: rows[name]["client_iops"])
