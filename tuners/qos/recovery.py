"""Recovery in the simulation: which groups may begin, and the way of each object."""

from collections import Counter, deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from lsmlens.tuners.qos.hardware import OBJECT_BYTES
from lsmlens.tuners.qos.operations import Operation, Release
from lsmlens.tuners.qos.osd import Osd
from lsmlens.tuners.qos.scenario import RecoveringGroup

if TYPE_CHECKING:
    from lsmlens.tuners.qos.simulation import Simulation

RECOVERY_OWNER = 3
START_PRIORITY = 5  # osd_recovery_priority
REPLY_BYTES = (8 << 20) + 1000


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
        self._primary: Osd = simulation.osds[group.primary]
        self._target: Osd = simulation.osds[group.target]

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
        self, osd: Osd, cost: int, charge: int, work: Callable[[Release], None], priority: int | None = None
    ) -> None:
        scenario = self._simulation.scenario
        osd.shard_of(self.group.seed).add(
            Operation(
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
