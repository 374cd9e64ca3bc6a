"""The simulation of one cluster: clients that write, placement groups that recover, compactions beside them.

A write goes to its placement group's primary, from there to the replicas, and is done when all have committed it.
Recovery goes object by object in each group: its turn in the primary's queue, the reading, the push, its turn in the
target's queue and the commit there, and the reply's turn in the primary's queue.
"""

from array import array
from collections import Counter, deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from random import Random

from lsmlens.analyzer.qos.service_classes import ServiceClass
from lsmlens.tuners.qos.devices import Processors, after
from lsmlens.tuners.qos.hardware import OBJECT_BYTES
from lsmlens.tuners.qos.operations import QueuedOperation, Release
from lsmlens.tuners.qos.osd import SimulatedOsd
from lsmlens.tuners.qos.scenario import Background, ClientLoad, RecoveringGroup, Scenario
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
RECOVERY_OWNER = 3
START_PRIORITY = 5  # osd_recovery_priority
REPLY_BYTES = (8 << 20) + 1000


@dataclass(frozen=True, slots=True)
class ClientFigures:
    """What clients got in a stretch of time; latencies in seconds."""

    iops: float
    mean_seconds: float
    p95_seconds: float


@dataclass(slots=True)
class SimulatedOutcome:
    """Writes that were done and objects that were recovered, each with its moment in seconds.

    `contended_share` is the part of the queues' turns in which the scheduler had something to order.
    """

    seconds: float
    contended_share: float = 0.0
    write_moments: "array[float]" = field(default_factory=lambda: array("d"))
    write_seconds: "array[float]" = field(default_factory=lambda: array("d"))
    object_moments: "array[float]" = field(default_factory=lambda: array("d"))

    def add_write(self, moment: float, seconds: float) -> None:
        """Note a client's write."""
        self.write_moments.append(moment)
        self.write_seconds.append(seconds)

    def add_object(self, moment: float) -> None:
        """Note a recovered object."""
        self.object_moments.append(moment)

    def client(self, begin: float = 0.0, end: float | None = None) -> ClientFigures | None:
        """What clients got from `begin` to `end`, the end of the run by default; None if nothing was done."""
        end = self.seconds if end is None else end
        latencies = sorted(
            seconds
            for moment, seconds in zip(self.write_moments, self.write_seconds, strict=True)
            if begin <= moment < end
        )
        if not latencies:
            return None
        p95 = latencies[min(len(latencies) - 1, int(0.95 * len(latencies)))]
        return ClientFigures(len(latencies) / (end - begin), sum(latencies) / len(latencies), p95)

    def objects_per_second(self, begin: float = 0.0, end: float | None = None) -> float:
        """The rate of recovery from `begin` to `end`, the end of the run by default."""
        end = self.seconds if end is None else end
        return sum(begin <= moment < end for moment in self.object_moments) / (end - begin)


def simulate(scenario: Scenario) -> SimulatedOutcome:
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
            SimulatedOsd(number, self.environment, scenario, self.random, self.processors)
            for number in range(scenario.osds)
        ]
        self.outcome = SimulatedOutcome(scenario.seconds)
        self._groups: list[list[int]] = []

    def run(self) -> SimulatedOutcome:
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

    def reply(self, osd: SimulatedOsd, seed: int, then: Callable[[], None]) -> None:
        """Let a worker of the placement group's shard take up a reply or a commit."""

        def work(release: Release) -> None:
            release()
            then()

        seconds = self.scenario.hardware.reply_cpu_seconds
        osd.shard_of(seed).add(
            QueuedOperation(ServiceClass.IMMEDIATE, REPLY_PRIORITY, 0, 1, REPLICA_OWNER, seconds, work)
        )

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

        def store(osd: SimulatedOsd, release: Release, on_commit: Callable[[], None]) -> None:
            osd.store.write(load.block_bytes, release, on_commit)

        def at_primary() -> None:
            def work(release: Release) -> None:
                for number in acting[1:]:
                    self.send(primary.number, number, load.block_bytes, partial(at_replica, number))
                store(primary, release, lambda: self.reply(primary, seed, committed))

            charge = scheduler.costs.cost(load.block_bytes)
            primary.shard_of(seed).add(
                QueuedOperation(
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
                QueuedOperation(
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

    def _compactions(self, osd: SimulatedOsd, load: Background) -> Generator[Event, None, None]:
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

    def _background_write(self, osd: SimulatedOsd, seconds: float) -> Event:
        """Keep an OSD's device for so long; the event comes when that is done."""
        written = self.environment.event()

        def succeed() -> None:
            written.succeed()

        osd.store.device.serve(seconds, succeed)
        return written


class RecoveryDriver:
    """Lets groups recover side by side as far as `max_backfills` and `max_active` allow."""

    def __init__(self, simulation: "Simulation") -> None:
        self._simulation = simulation
        self._recovery = simulation.scenario.recovery
        self._waiting: deque[RecoveringGroup] = deque()
        self._as_primary: Counter[int] = Counter()
        self._as_target: Counter[int] = Counter()
        self._active: Counter[int] = Counter()
        self._turns: dict[int, deque[_Group]] = {}

    def start(self) -> None:
        """Begin, in random order."""
        groups = list(self._recovery.groups)
        self._simulation.random.shuffle(groups)
        self._waiting.extend(groups)
        self._reserve()

    def _reserve(self) -> None:
        limit = self._recovery.max_backfills
        for _ in range(len(self._waiting)):
            group = self._waiting.popleft()
            if self._as_primary[group.primary] < limit and self._as_target[group.target] < limit:
                self._as_primary[group.primary] += 1
                self._as_target[group.target] += 1
                first = _Group(self, self._simulation, group).next
                if self._simulation.environment.now > 0:
                    first()
                else:
                    self._simulation.after(self._simulation.random.random() * self._recovery.start_seconds, first)
            else:
                self._waiting.append(group)

    def take_turn(self, group: "_Group") -> bool:
        """Whether a group's next object may be on its way now; else it is told when it may."""
        primary = group.group.primary
        if self._active[primary] >= self._recovery.max_active:
            self._turns.setdefault(primary, deque()).append(group)
            return False
        self._active[primary] += 1
        return True

    def end_turn(self, group: "_Group") -> None:
        """An object has arrived: whoever waits longest goes on."""
        primary = group.group.primary
        self._active[primary] -= 1
        turns = self._turns.get(primary)
        if turns:
            turns.popleft().next()

    def finish(self, group: RecoveringGroup) -> None:
        """A group is whole again: another may begin."""
        self._as_primary[group.primary] -= 1
        self._as_target[group.target] -= 1
        self._reserve()


class _Group:
    """One group's recovery: one object on its way at a time."""

    def __init__(self, driver: RecoveryDriver, simulation: "Simulation", group: RecoveringGroup) -> None:
        self.group = group
        self._driver = driver
        self._simulation = simulation
        self._left = group.objects
        self._primary: SimulatedOsd = simulation.osds[group.primary]
        self._target: SimulatedOsd = simulation.osds[group.target]

    def next(self) -> None:
        """Queue the next object."""
        if self._driver.take_turn(self):
            scheduler = self._simulation.scenario.scheduler
            self._queue(
                self._primary,
                scheduler.recovery_cost_bytes,
                scheduler.charges.start,
                self._read,
                START_PRIORITY,
            )

    def _queue(
        self, osd: SimulatedOsd, cost: int, charge: int, work: Callable[[Release], None], priority: int | None = None
    ) -> None:
        scenario = self._simulation.scenario
        osd.shard_of(self.group.seed).add(
            QueuedOperation(
                self.group.service_class,
                scenario.scheduler.recovery_priority if priority is None else priority,
                cost,
                charge,
                RECOVERY_OWNER,
                scenario.hardware.cpu_seconds,
                work,
            )
        )

    def _read(self, release: Release) -> None:
        """The worker reads the object, and waits for the device meanwhile."""
        hardware = self._simulation.scenario.hardware
        share = self.group.object_bytes / OBJECT_BYTES
        device_seconds = share * hardware.read_device_seconds

        def push() -> None:
            release()
            self._simulation.send(self.group.primary, self.group.target, self.group.object_bytes, self._arrived)

        def copy() -> None:
            self._simulation.after(share * hardware.read_seconds - device_seconds, push)

        self._primary.store.device.serve(device_seconds, copy)

    def _arrived(self) -> None:
        size = self.group.object_bytes

        def work(release: Release) -> None:
            self._target.store.write(size, release, self._stored)

        self._queue(self._target, size, self._simulation.scenario.scheduler.charges.push, work)

    def _stored(self) -> None:
        simulation, group = self._simulation, self.group

        def answer() -> None:
            simulation.send(group.target, group.primary, 0, self._replied)

        simulation.reply(self._target, group.seed, answer)

    def _replied(self) -> None:
        def work(release: Release) -> None:
            release()
            self._simulation.outcome.add_object(self._simulation.environment.now)
            self._left -= 1
            self._driver.end_turn(self)
            if self._left:
                self.next()
            else:
                self._driver.finish(self.group)

        self._queue(self._primary, REPLY_BYTES, self._simulation.scenario.scheduler.charges.reply, work)
