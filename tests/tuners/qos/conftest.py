"""The published study as scenarios, and its figures; see tests/published/mclock-study/SOURCE.md."""

from collections.abc import Callable
from math import floor
from random import Random

import pytest
from lsmlens.analyzer.qos.cost_model import recovery_charges, unit_costs
from lsmlens.analyzer.qos.profiles import profile_tables
from lsmlens.tuners.qos.dmclock import Share
from lsmlens.tuners.qos.hardware import HDD, NVME
from lsmlens.tuners.qos.scenario import ClientLoad, RecoveringGroup, Recovery, Scenario, Scheduler

PROFILES = ("high_client_ops", "balanced", "high_recovery_ops")
# Groups in each queue of the three primaries, objects in a group, capacity, shards, threads, BlueStore's throttle.
OCCUPANCY = {
    "nvme": (5, 5, 4, 4, 3, 3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1),
    "hdd": (8, 6, 5, 5, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1),
}
SET_UP = {"nvme": (1614, 21_500, 8, 2, 256 << 10), "hdd": (81, 340, 5, 1, 40 << 20)}
WINDOW = {"nvme": (420.0, 180.0), "hdd": (420.0, 300.0)}  # of fio: of all rows, of WPQ(BST)
UNLIMITED = 999_999.0


def rounded(value: float) -> float:
    return float(floor(value + 0.5))


@pytest.fixture(scope="session")
def study() -> Callable[..., Scenario]:
    """One row of the study: device, configuration, and by how much shorter it is played (objects and window alike).

    The placement of groups on queues follows the seed; how many meet in each is the study's.
    """

    def scenario(device: str, configuration: str, shorter: float = 1.0, seed: int = 1) -> Scenario:
        objects, capacity, shards, threads, throttle = SET_UP[device]
        costs = unit_costs("ssd" if device == "nvme" else "hdd")
        units = capacity / shards
        shares = {}
        if configuration in PROFILES:
            shares = {
                one: Share(
                    max(1.0, rounded(allotted.reservation * units)),
                    allotted.weight,
                    rounded(allotted.limit * units) or UNLIMITED,
                )
                for one, allotted in profile_tables()[0].profiles[configuration].items()
            }
        queues = [(osd, shard) for shard in range(shards) for osd in range(3)]
        Random(seed).shuffle(queues)
        groups = tuple(
            RecoveringGroup(osd, 3, shard, max(1, round(objects / shorter)))
            for (osd, shard), count in zip(queues, OCCUPANCY[device], strict=False)
            for _ in range(count)
        )
        at_once = 1 if configuration == "WPQ(def)" else 1000
        window = WINDOW[device][configuration == "WPQ(BST)"] / shorter
        return Scenario(
            osds=4,
            hardware=NVME if device == "nvme" else HDD,
            scheduler=Scheduler(
                shares, costs, recovery_charges(costs, 4 << 20), shards, threads, spins=configuration in PROFILES
            ),
            throttle_bytes=throttle,
            client=ClientLoad(depth=64, block_bytes=4096, replicas=3, placement_groups=64),
            recovery=Recovery(
                () if configuration == "baseline" else groups, at_once, at_once, 0.3 if device == "nvme" else 2.0
            ),
            seconds=window,
            seed=seed,
        )

    return scenario
