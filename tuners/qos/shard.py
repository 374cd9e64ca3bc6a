"""A shard of an OSD's operation queue, and the workers that serve it."""

from functools import partial
from math import inf

from lsmlens.tuners.qos.operations import Operation, OperationQueue
from lsmlens.tuners.qos.processors import Processors
from lsmlens.tuners.qos.timing import after
from simpy import Environment

# A tag's time in floating point may lie a hair behind the moment it was asked for.
HAIR_SECONDS = 1e-9


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

    def add(self, operation: Operation) -> None:
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
