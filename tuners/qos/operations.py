"""Operations as a queue sees them, and what a queue is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from lsmlens.analyzer.qos.service_classes import ServiceClass

# Frees the worker thread that serves an operation.
Release = Callable[[], None]


@dataclass(slots=True)
class QueuedOperation:
    """One item of an OSD's operation queue.

    `priority` and `cost` (bytes) are what WPQ goes by, `service_class` and `charge` (units of the release's cost
    model) what mClock does. A worker is busy with it for `cpu_seconds`, then calls `work`, which frees the worker when
    it has no more need of it.
    """

    service_class: ServiceClass
    priority: int
    cost: int
    charge: int
    owner: int
    cpu_seconds: float
    work: Callable[[Release], None]


class OperationQueue(Protocol):
    """The queue of one shard.

    `turns` counts dequeues below the strict queue, `contended` those of them for which there was something to order:
    more than one class or priority waited, or all were at their limits.
    """

    turns: int
    contended: int

    def enqueue(self, operation: QueuedOperation, now: float) -> None:
        """Take an operation in."""

    def dequeue(self, now: float) -> "QueuedOperation | float | None":
        """The next operation, the time in seconds at which there will be one, or None for an empty queue."""

    def __len__(self) -> int:
        """How many operations wait."""
