"""BlueStore under an OSD's queues: throttle, device, kv thread, as far as they order what happens.

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
from math import ceil
from random import Random

from lsmlens.tuners.qos.devices import Device, Disk, Line
from lsmlens.tuners.qos.hardware import Hardware
from lsmlens.tuners.qos.processors import Processors
from lsmlens.tuners.qos.timing import after
from simpy import Environment

SMALL_WRITE_BYTES = 1 << 16  # bluestore_prefer_deferred_size_hdd
BLOB_BYTES = 1 << 16  # bluestore_max_blob_size_hdd and _ssd

Callback = Callable[[], None]


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
        self.device: Device = Disk(environment, random) if hardware.has_seeks else Line(environment)

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
