"""BlueStore under an OSD's queues: throttle, device, kv thread, as far as they order what happens.

`bluestore_throttle_bytes` lets a transaction in while the sum of those on their way stays below it; one that is larger
by itself goes in once the sum is no more than the limit, and then keeps all others out until it is committed. So with
a limit below 4 MiB each pushed object has the store to itself.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from random import Random

from lsmlens.tuners.qos.hardware import Hardware
from lsmlens.tuners.qos.timing import after
from simpy import Environment

SMALL_WRITE_BYTES = 1 << 16
SMALL_WRITE_IOS = 2
LARGE_WRITE_IOS = 8

Callback = Callable[[], None]


class Device:
    """A device that does one thing after the other."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._free_at = 0.0
        self.busy_seconds = 0.0

    def occupy(self, seconds: float) -> float:
        """Take the device for so long; returns the seconds from now until that is done."""
        now = self._environment.now
        self._free_at = max(now, self._free_at) + seconds
        self.busy_seconds += seconds
        return self._free_at - now


class Store:
    """One OSD's BlueStore."""

    def __init__(self, environment: Environment, hardware: Hardware, throttle_bytes: int, random: Random) -> None:
        self._environment = environment
        self._hardware = hardware
        self._throttle_bytes = throttle_bytes
        self._random = random
        self._admitted_bytes = 0
        self._waiting: deque[tuple[int, int, Callback, Callback]] = deque()
        self._queued: list[tuple[int, Callback]] = []
        self._is_committing = False
        self.device = Device(environment)

    def write(self, byte_count: int, on_admission: Callback, on_commit: Callback) -> None:
        """Write; `on_admission` is called when the throttle lets the transaction in, `on_commit` when it is safe."""
        ios = SMALL_WRITE_IOS if byte_count <= SMALL_WRITE_BYTES else LARGE_WRITE_IOS
        cost = byte_count + ios * self._hardware.throttle_cost_per_io
        self._waiting.append((cost, byte_count, on_admission, on_commit))
        self._admit()

    def _admit(self) -> None:
        limit = self._throttle_bytes
        while self._waiting:
            cost, byte_count, on_admission, on_commit = self._waiting[0]
            if self._admitted_bytes > limit if cost > limit else self._admitted_bytes + cost > limit:
                return
            self._waiting.popleft()
            self._admitted_bytes += cost
            on_admission()
            done = self.device.occupy(self._write_seconds(byte_count)) + self._hardware.device_delay_seconds
            after(self._environment, done, partial(self._written, cost, on_commit))

    def _write_seconds(self, byte_count: int) -> float:
        hardware = self._hardware
        if byte_count > SMALL_WRITE_BYTES:
            return byte_count / hardware.write_bytes_per_second
        seconds = hardware.small_write_seconds
        return self._random.expovariate(1 / seconds) if hardware.has_seeks else seconds

    def _written(self, cost: int, on_commit: Callback) -> None:
        self._queued.append((cost, on_commit))
        if not self._is_committing:
            self._commit()

    def _commit(self) -> None:
        batch, self._queued = self._queued, []
        self._is_committing = True
        seconds = self._hardware.kv_batch_seconds + self._hardware.kv_transaction_seconds * len(batch)
        after(self._environment, seconds, partial(self._committed, batch))

    def _committed(self, batch: list[tuple[int, Callback]]) -> None:
        for cost, on_commit in batch:
            self._admitted_bytes -= cost
            on_commit()
        self._is_committing = False
        self._admit()
        if self._queued:
            self._commit()
