"""The simulation itself: the same twice, Little's law, what shares, concurrency, throttle and compactions do."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from lsmlens.tuners.qos.hardware import HDD
from lsmlens.tuners.qos.scenario import Background, Scenario
from lsmlens.tuners.qos.simulation import simulate

Study = Callable[..., Scenario]
# HDDs need a hundredth of the events for a second of the cluster's time.
SECONDS = 12.0
BEGIN = 3.0


@pytest.fixture
def hdd(study: Study) -> Scenario:
    return replace(study("hdd", "balanced", 8), seconds=SECONDS)


def test_the_same_seed_gives_the_same_run(hdd: Scenario) -> None:
    first, second = simulate(hdd), simulate(hdd)
    assert first.write_moments == second.write_moments
    assert first.write_seconds == second.write_seconds
    assert first.object_moments == second.object_moments
    assert simulate(replace(hdd, seed=2)).write_moments != first.write_moments


@pytest.mark.parametrize("configuration", ["WPQ(BST)", "high_client_ops"])
def test_littles_law_holds(study: Study, configuration: str) -> None:
    outcome = simulate(replace(study("hdd", configuration, 2), seconds=3 * SECONDS))
    client = outcome.client(2 * BEGIN)
    assert client is not None
    assert client.iops * client.mean_seconds == pytest.approx(64, rel=0.06)


def test_no_object_is_lost(hdd: Scenario) -> None:
    groups = tuple(replace(group, objects=2) for group in hdd.recovery.groups)
    outcome = simulate(replace(hdd, client=None, recovery=replace(hdd.recovery, groups=groups), seconds=60.0))
    assert len(outcome.object_moments) == 96


def test_one_backfill_at_once_is_slower_than_two(hdd: Scenario) -> None:
    plain = replace(hdd, scheduler=replace(hdd.scheduler, shares={}))
    rates = [
        simulate(replace(plain, recovery=replace(plain.recovery, max_backfills=count))).objects_per_second(BEGIN)
        for count in (1, 2)
    ]
    assert rates[1] > 1.3 * rates[0]


def test_active_objects_are_bounded(study: Study) -> None:
    """One primary with one object on its way at a time does a hundred a second; its target could take more."""
    scenario = replace(study("nvme", "WPQ(BST)", 10), client=None, seconds=0.6)
    groups = tuple(group for group in scenario.recovery.groups if group.primary == 0)
    rates = [
        simulate(
            replace(scenario, recovery=replace(scenario.recovery, groups=groups, max_active=count))
        ).objects_per_second(0.3)
        for count in (1, 4)
    ]
    assert rates[1] > 2 * rates[0]


def test_with_one_shard_placement_does_not_matter(hdd: Scenario) -> None:
    """All of a primary's groups meet in one queue then, wherever their numbers would have put them."""
    single = replace(hdd, client=None, scheduler=replace(hdd.scheduler, shards=1, threads_per_shard=5))
    moved = tuple(replace(group, seed=group.seed * 7 + 3) for group in single.recovery.groups)
    rates = [
        simulate(replace(single, recovery=replace(single.recovery, groups=groups))).objects_per_second(BEGIN)
        for groups in (single.recovery.groups, moved)
    ]
    assert rates[0] == pytest.approx(rates[1], rel=0.05)


def test_compactions_cost_clients_not_the_limited_recovery(hdd: Scenario) -> None:
    quiet = simulate(hdd)
    loud = simulate(replace(hdd, background=Background(60e6, 0.8)))
    clients = [outcome.client(BEGIN) for outcome in (quiet, loud)]
    assert clients[0] is not None
    assert clients[1] is not None
    assert clients[1].iops < 0.9 * clients[0].iops
    assert loud.objects_per_second(BEGIN) > 0.85 * quiet.objects_per_second(BEGIN)


def test_a_compaction_no_device_could_write_only_slows_itself(hdd: Scenario) -> None:
    outcome = simulate(replace(hdd, background=Background(10e9, 1.0)))
    client = outcome.client(BEGIN)
    assert client is not None
    assert client.iops > 0


def test_a_throttle_below_the_object_size_makes_pushes_exclusive(hdd: Scenario) -> None:
    wide = replace(hdd, scheduler=replace(hdd.scheduler, shares={}), hardware=replace(HDD, kv_batch_seconds=20e-3))
    means = []
    for throttle in (64 << 20, 2 << 20):
        client = simulate(replace(wide, throttle_bytes=throttle)).client(BEGIN)
        assert client is not None
        means.append(client.mean_seconds)
    assert means[1] > 1.1 * means[0]


def test_clients_alone_and_recovery_alone(hdd: Scenario) -> None:
    alone = simulate(replace(hdd, recovery=replace(hdd.recovery, groups=())))
    assert alone.objects_per_second() == 0
    assert alone.client(BEGIN) is not None
    assert simulate(replace(hdd, client=None)).client() is None


@pytest.mark.parametrize(("osds", "replicas"), [(1, 3), (2, 3), (7, 3), (9, 1)])
def test_clusters_of_any_size(hdd: Scenario, osds: int, replicas: int) -> None:
    assert hdd.client is not None
    load = replace(hdd.client, replicas=replicas, depth=8)
    outcome = simulate(replace(hdd, osds=osds, client=load, recovery=replace(hdd.recovery, groups=()), seconds=5.0))
    client = outcome.client(1.0)
    assert client is not None
    assert client.iops > 0
