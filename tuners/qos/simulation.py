"""The simulation of one cluster: clients that write, placement groups that recover, compactions beside them.

A write goes to its placement group's primary, from there to the replicas, and is done when all have committed it.
Recovery goes object by object in each group: its turn in the primary's queue, the reading, the push, its turn in the
target's queue and the commit there, and the reply's turn in the primary's queue.
"""

from collections.abc import Callable, Generator
from functools import partial
from itertools import permutations
from random import Random

from lsmlens.analyzer.qos.service_classes import ServiceClass
from lsmlens.tuners.qos.operations import Operation, Release
from lsmlens.tuners.qos.osd import Osd
from lsmlens.tuners.qos.outcome import Outcome
from lsmlens.tuners.qos.processors import Processors
from lsmlens.tuners.qos.recovery import RecoveryDriver
from lsmlens.tuners.qos.scenario import Background, ClientLoad, Scenario
from lsmlens.tuners.qos.timing import after
from simpy import Environment
from simpy.events import Event

CLIENT_PRIORITY = 63  # osd_client_op_priority
REPLICA_PRIORITY = 127  # the messenger's default
REPLY_PRIORITY = 196
CLIENT_OWNER, REPLICA_OWNER = 1, 2
# Up to so many OSDs every order of them is dealt out before one comes a second time.
SMALL_CLUSTER = 5
# Clients do not begin in step.
FIRST_WRITES_SECONDS = 1e-3


def simulate(scenario: Scenario) -> Outcome:
    """Play a scenario."""
    return Simulation(scenario).run()


class Simulation:
    """One run of a scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.environment = Environment()
        self.random = Random(scenario.seed)
        self.processors = Processors(scenario.osds * scenario.hardware.processors_per_osd)
        self.osds = [
            Osd(number, self.environment, scenario, self.random, self.processors) for number in range(scenario.osds)
        ]
        self.outcome = Outcome(scenario.seconds)
        self._groups: list[list[int]] = []

    def run(self) -> Outcome:
        """Play it from the beginning to the end."""
        scenario = self.scenario
        if scenario.client is not None:
            self._start_clients(scenario.client)
        RecoveryDriver(self).start()
        if scenario.background is not None:
            for osd in self.osds:
                self.environment.process(self._compactions(osd, scenario.background))
        self.environment.run(until=scenario.seconds)
        queues = [queue for osd in self.osds for queue in osd.queues]
        turns = sum(queue.turns for queue in queues)
        self.outcome.contended_share = sum(queue.contended for queue in queues) / turns if turns else 0.0
        return self.outcome

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call something later."""
        after(self.environment, seconds, callback)

    def send(self, source: int, target: int, byte_count: int, on_receipt: Callable[[], None]) -> None:
        """Send a message from one OSD to another; the clients have the number past the last OSD's.

        A small message waits where a large one is being copied, but takes no time to copy itself.
        """
        hardware = self.scenario.hardware
        clients = len(self.osds)
        is_large = byte_count > 1 << 16
        delay = self.processors.seconds(
            hardware.network_seconds if clients not in (source, target) else hardware.client_delay_seconds / 2
        )
        if source != clients:
            seconds = byte_count / hardware.send_bytes_per_second if is_large else 0.0
            delay += self.osds[source].messenger(target).occupy(seconds)
        if target == clients:
            self.after(delay, on_receipt)
            return
        seconds = byte_count / hardware.receive_bytes_per_second if is_large else 0.0
        worker = self.osds[target].messenger(source)
        self.after(delay, lambda: self._receive(worker.occupy(seconds), on_receipt))

    def _receive(self, seconds: float, on_receipt: Callable[[], None]) -> None:
        if seconds > 0:
            self.after(seconds, on_receipt)
        else:
            on_receipt()

    def reply(self, osd: Osd, seed: int, then: Callable[[], None]) -> None:
        """Let a worker of the placement group's shard take up a reply or a commit."""

        def work(release: Release) -> None:
            release()
            then()

        seconds = self.scenario.hardware.reply_cpu_seconds
        osd.shard_of(seed).add(Operation(ServiceClass.IMMEDIATE, REPLY_PRIORITY, 0, 1, REPLICA_OWNER, seconds, work))

    def _start_clients(self, load: ClientLoad) -> None:
        self._groups = self._placed(load)
        for _ in range(load.depth):
            self.after(self.random.random() * FIRST_WRITES_SECONDS, lambda: self._write(load))

    def _placed(self, load: ClientLoad) -> list[list[int]]:
        """The OSDs of each placement group, primary first: every OSD is in as many groups as the others, by chance."""
        count, groups = len(self.osds), load.placement_groups
        replicas = min(load.replicas, count)
        placed: list[list[int]] = []
        while len(placed) < groups:
            sets = list(permutations(range(count), replicas)) if count <= SMALL_CLUSTER else self._rotations(replicas)
            self.random.shuffle(sets)
            placed += map(list, sets)
        return placed[:groups]

    def _rotations(self, replicas: int) -> list[tuple[int, ...]]:
        order = list(range(len(self.osds)))
        self.random.shuffle(order)
        return [tuple(order[(first + step) % len(order)] for step in range(replicas)) for first in order]

    def _write(self, load: ClientLoad) -> None:
        """One write of a client, and the next one once it is done."""
        began = self.environment.now
        seed = self.random.randrange(load.placement_groups)
        acting = self._groups[seed]
        primary = self.osds[acting[0]]
        clients = len(self.osds)
        scheduler, hardware = self.scenario.scheduler, self.scenario.hardware
        missing = len(acting)

        def acknowledged() -> None:
            self.outcome.add_write(self.environment.now, self.environment.now - began)
            self._write(load)

        def committed() -> None:
            nonlocal missing
            missing -= 1
            if not missing:
                self.send(primary.number, clients, 0, acknowledged)

        def store(osd: Osd, release: Release, on_commit: Callable[[], None]) -> None:
            osd.store.write(load.block_bytes, release, on_commit)

        def at_primary() -> None:
            def work(release: Release) -> None:
                for number in acting[1:]:
                    self.send(primary.number, number, load.block_bytes, partial(at_replica, number))
                store(primary, release, lambda: self.reply(primary, seed, committed))

            charge = scheduler.costs.cost(load.block_bytes)
            primary.shard_of(seed).add(
                Operation(
                    ServiceClass.CLIENT,
                    CLIENT_PRIORITY,
                    load.block_bytes,
                    charge,
                    CLIENT_OWNER,
                    hardware.cpu_seconds,
                    work,
                )
            )

        def at_replica(number: int) -> None:
            osd = self.osds[number]

            def answer() -> None:
                self.send(number, primary.number, 0, lambda: self.reply(primary, seed, committed))

            def work(release: Release) -> None:
                store(osd, release, lambda: self.reply(osd, seed, answer))

            osd.shard_of(seed).add(
                Operation(
                    ServiceClass.IMMEDIATE,
                    REPLICA_PRIORITY,
                    load.block_bytes,
                    1,
                    REPLICA_OWNER,
                    hardware.cpu_seconds,
                    work,
                )
            )

        self.send(clients, primary.number, load.block_bytes, at_primary)

    def _compactions(self, osd: Osd, load: Background) -> Generator[Event, None, None]:
        """Bursts of writes to an OSD's device, out of step with the other OSDs'."""
        environment = self.environment
        piece_seconds = load.piece_bytes / self.scenario.hardware.write_bytes_per_second
        interval = load.piece_bytes / load.bytes_per_second
        yield environment.timeout(self.random.random() * load.period_seconds)
        while True:
            ends = environment.now + load.duty * load.period_seconds
            begins_again = environment.now + load.period_seconds
            while environment.now < ends:
                # A compaction goes on when its piece is written: a device that is too slow slows it down.
                yield self._background_write(osd, piece_seconds) & environment.timeout(interval)
            yield environment.timeout(max(0.0, begins_again - environment.now))

    def _background_write(self, osd: Osd, seconds: float) -> Event:
        """Keep an OSD's device for so long; the event comes when that is done."""
        written = self.environment.event()

        def succeed() -> None:
            written.succeed()

        osd.store.device.serve(seconds, succeed)
        return written
