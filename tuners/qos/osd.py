"""A simulated OSD: the shards of its operation queue with their workers, its store, and its messengers.

Of BlueStore under the queues there are throttle, device and kv thread, as far as they order what happens.
`bluestore_throttle_bytes` lets a transaction in while the sum of those on their way stays below it; one that is larger
by itself goes in once the sum is no more than the limit, and then keeps all others out. A transaction is charged its
bytes, and so much for each of its writes to the device (one for each blob) and for the kv commit. The throttle is
released when the kv thread has applied a batch, before that is synced. Small writes on disks are deferred, and have no
write to the device when they are charged; that they are acknowledged before they are on the disk is left out: clients
that press on wait for the disk all the same. Source: `BlueStore.cc` of 16.2 to 19.2 (`_txc_calc_cost`,
`_kv_sync_thread`), `Throttle.cc`.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil, inf
from random import Random

from lsmlens.tuners.qos.devices import Device, Disk, Processors, Server, after
from lsmlens.tuners.qos.dmclock import DmClockQueue
from lsmlens.tuners.qos.hardware import Hardware
from lsmlens.tuners.qos.operations import OperationQueue, QueuedOperation
from lsmlens.tuners.qos.scenario import Scenario
from lsmlens.tuners.qos.wpq import WeightedPriorityQueue
from simpy import Environment

# A tag's time in floating point may lie a hair behind the moment it was asked for.
HAIR_SECONDS = 1e-9
SMALL_WRITE_BYTES = 1 << 16  # bluestore_prefer_deferred_size_hdd
BLOB_BYTES = 1 << 16  # bluestore_max_blob_size_hdd and _ssd

Callback = Callable[[], None]
MESSENGER_WORKERS = 3  # ms_async_op_threads


class Shard:
    """One queue and its worker threads.

    A worker takes an operation, is busy with it, and stays with it until the operation frees it: while the store's
    throttle keeps a write out, its worker waits. With `spins` an idle worker whose queue is at its limits takes one of
    the `processors` until it has something to do.
    """

    def __init__(
        self, environment: Environment, queue: OperationQueue, threads: int, processors: Processors, spins: bool
    ) -> None:
        self._environment = environment
        self._queue = queue
        self._idle = threads
        self._processors = processors
        self._spins = spins
        self._is_spinning = False
        self._alarm = inf

    def add(self, operation: QueuedOperation) -> None:
        """Queue an operation."""
        self._queue.enqueue(operation, self._environment.now)
        self._serve()

    def _serve(self) -> None:
        waits = False
        while self._idle and not waits:
            operation = self._queue.dequeue(self._environment.now)
            if operation is None:
                break
            if isinstance(operation, float):
                waits = True
                self._wake_at(operation)
            else:
                self._idle -= 1
                seconds = self._processors.seconds(operation.cpu_seconds)
                after(self._environment, seconds, partial(operation.work, self._release))
        if self._spins and waits != self._is_spinning:
            self._is_spinning = waits
            self._processors.spin(1 if waits else -1)

    def _release(self) -> None:
        self._idle += 1
        self._serve()

    def _wake_at(self, moment: float) -> None:
        if moment >= self._alarm or moment == inf:
            return
        self._alarm = moment
        after(self._environment, max(0.0, moment - self._environment.now) + HAIR_SECONDS, partial(self._awake, moment))

    def _awake(self, moment: float) -> None:
        if self._alarm == moment:
            self._alarm = inf
        self._serve()


@dataclass(frozen=True, slots=True)
class _Transaction:
    """A write on its way; `cost` is what the throttle charges it."""

    byte_count: int
    cost: int
    on_admission: Callback
    on_commit: Callback


class Store:
    """One OSD's BlueStore."""

    def __init__(
        self,
        environment: Environment,
        hardware: Hardware,
        throttle_bytes: int,
        random: Random,
        processors: Processors,
    ) -> None:
        self._environment = environment
        self._hardware = hardware
        self._throttle_bytes = throttle_bytes
        self._random = random
        self._processors = processors
        self._admitted_bytes = 0
        self._waiting: deque[_Transaction] = deque()
        self._queued: list[_Transaction] = []
        self._is_committing = False
        self.device: Device = Disk(environment, random) if hardware.has_seeks else Server(environment)

    def write(self, byte_count: int, on_admission: Callback, on_commit: Callback) -> None:
        """Write; `on_admission` is called when the throttle lets the transaction in, `on_commit` when it is safe."""
        self._waiting.append(_Transaction(byte_count, self._cost(byte_count), on_admission, on_commit))
        self._admit()

    def _cost(self, byte_count: int) -> int:
        is_deferred = self._hardware.has_seeks and byte_count <= SMALL_WRITE_BYTES
        blobs = 0 if is_deferred else ceil(byte_count / BLOB_BYTES)
        return byte_count + (1 + blobs) * self._hardware.throttle_cost_per_io

    def _admit(self) -> None:
        limit = self._throttle_bytes
        while self._waiting:
            one = self._waiting[0]
            if self._admitted_bytes > limit if one.cost > limit else self._admitted_bytes + one.cost > limit:
                return
            self._waiting.popleft()
            self._admitted_bytes += one.cost
            one.on_admission()
            self.device.serve(self._write_seconds(one), partial(self._delayed, one))

    def _write_seconds(self, one: _Transaction) -> float:
        hardware = self._hardware
        if one.byte_count > SMALL_WRITE_BYTES:
            return one.byte_count / hardware.write_bytes_per_second
        seconds = hardware.small_write_seconds
        return self._random.expovariate(1 / seconds) if hardware.has_seeks else seconds

    def _delayed(self, one: _Transaction) -> None:
        after(self._environment, self._hardware.device_delay_seconds, partial(self._written, one))

    def _written(self, one: _Transaction) -> None:
        self._queued.append(one)
        if not self._is_committing:
            self._commit()

    def _commit(self) -> None:
        batch, self._queued = self._queued, []
        self._is_committing = True
        seconds = self._processors.seconds(self._hardware.kv_transaction_seconds * len(batch))
        after(self._environment, seconds, partial(self._applied, batch))

    def _applied(self, batch: list[_Transaction]) -> None:
        """The throttle lets others in while the batch is being made safe."""
        self._admitted_bytes -= sum(one.cost for one in batch)
        self._admit()
        after(self._environment, self._hardware.kv_batch_seconds, partial(self._committed, batch))

    def _committed(self, batch: list[_Transaction]) -> None:
        for one in batch:
            one.on_commit()
        self._is_committing = False
        if self._queued:
            self._commit()


class SimulatedOsd:
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
        self._workers = [Server(environment) for _ in range(MESSENGER_WORKERS)]
        order = list(range(scenario.osds + 1))
        random.shuffle(order)
        self._worker_of = {peer: self._workers[place % MESSENGER_WORKERS] for place, peer in enumerate(order)}

    def shard_of(self, seed: int) -> Shard:
        """The shard of a placement group."""
        return self.shards[seed % len(self.shards)]

    def messenger(self, peer: int) -> Server:
        """The worker that has the connection to another OSD; to the clients for a number past the last OSD's."""
        return self._worker_of[peer]


def _queue(scenario: Scenario, random: Random) -> OperationQueue:
    scheduler = scenario.scheduler
    if scheduler.is_mclock:
        return DmClockQueue(scheduler.shares, scheduler.cutoff)
    return WeightedPriorityQueue(random, scheduler.cutoff)
