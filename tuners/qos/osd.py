"""A simulated OSD: its shards, store and messengers."""

from random import Random

from lsmlens.tuners.qos.devices import Line
from lsmlens.tuners.qos.dmclock import DmClockQueue
from lsmlens.tuners.qos.operations import OperationQueue
from lsmlens.tuners.qos.processors import Processors
from lsmlens.tuners.qos.scenario import Scenario
from lsmlens.tuners.qos.shard import Shard
from lsmlens.tuners.qos.store import Store
from lsmlens.tuners.qos.wpq import WeightedPriorityQueue
from simpy import Environment

MESSENGER_WORKERS = 3  # ms_async_op_threads


class Osd:
    """One OSD.

    Its connections are spread over the messenger's workers; each worker copies one message after the other, so a
    pushed object delays whatever else comes and goes through its worker.
    """

    def __init__(
        self, number: int, environment: Environment, scenario: Scenario, random: Random, processors: Processors
    ) -> None:
        self.number = number
        self.queues = [_queue(scenario, random) for _ in range(scenario.scheduler.shards)]
        scheduler = scenario.scheduler
        self.shards = [
            Shard(environment, queue, scheduler.threads_per_shard, processors, scheduler.spins) for queue in self.queues
        ]
        self.store = Store(environment, scenario.hardware, scenario.throttle_bytes, random, processors)
        self._workers = [Line(environment) for _ in range(MESSENGER_WORKERS)]
        order = list(range(scenario.osds + 1))
        random.shuffle(order)
        self._worker_of = {peer: self._workers[place % MESSENGER_WORKERS] for place, peer in enumerate(order)}

    def shard_of(self, seed: int) -> Shard:
        """The shard of a placement group."""
        return self.shards[seed % len(self.shards)]

    def messenger(self, peer: int) -> Line:
        """The worker that has the connection to another OSD; to the clients for a number past the last OSD's."""
        return self._worker_of[peer]


def _queue(scenario: Scenario, random: Random) -> OperationQueue:
    scheduler = scenario.scheduler
    if scheduler.is_mclock:
        return DmClockQueue(scheduler.shares, scheduler.cutoff)
    return WeightedPriorityQueue(random, scheduler.cutoff)
