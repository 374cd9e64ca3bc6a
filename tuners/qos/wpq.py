"""The weighted priority queue (WPQ), Ceph's default up to 16, as its OSDs run it.

Operations of the cut-off's priority and above are served strictly by priority. Below, a lottery: a priority is drawn
with the chance priority / sum of the priorities that wait, then a coin is tossed against its next operation's cost,
(largest cost seen - 0.9 * cost) / largest cost seen, and everything is drawn anew if it falls against. Within a
priority owners take turns. Source: `WeightedPriorityQueue.h`.
"""

from bisect import bisect
from collections import deque
from random import Random

from lsmlens.analyzer.qos.service_classes import HIGH_PRIORITY
from lsmlens.tuners.qos.operations import QueuedOperation


class _Owners:
    """The operations of one priority: owners in the order of their numbers, one operation a turn."""

    def __init__(self) -> None:
        self._queues: dict[int, deque[QueuedOperation]] = {}
        self._order: list[int] = []
        self._next = 0

    def __bool__(self) -> bool:
        return bool(self._order)

    def append(self, operation: QueuedOperation) -> None:
        """Take an operation in; a new owner takes its place among the others without a change of whose turn it is."""
        queue = self._queues.get(operation.owner)
        if queue is None:
            queue = self._queues[operation.owner] = deque()
            place = bisect(self._order, operation.owner)
            if self._order and place <= self._next:
                self._next += 1
            self._order.insert(place, operation.owner)
        queue.append(operation)

    @property
    def first(self) -> QueuedOperation:
        """The operation whose turn it is."""
        return self._queues[self._order[self._next]][0]

    def popleft(self) -> QueuedOperation:
        """Take it."""
        owner = self._order[self._next]
        operation = self._queues[owner].popleft()
        if self._queues[owner]:
            self._next += 1
        else:
            del self._queues[owner]
            del self._order[self._next]
        if self._next >= len(self._order):
            self._next = 0
        return operation


class WeightedPriorityQueue:
    """Strict queues above the cut-off, a lottery below."""

    def __init__(self, random: Random, cutoff: int = HIGH_PRIORITY) -> None:
        self._random = random
        self._cutoff = cutoff
        self._strict: dict[int, _Owners] = {}
        self._normal: dict[int, _Owners] = {}
        self._total_priority = 0
        self._largest_cost = 0
        self._length = 0
        self.turns = self.contended = 0

    def __len__(self) -> int:
        return self._length

    def enqueue(self, operation: QueuedOperation, now: float) -> None:  # noqa: ARG002
        """Take an operation in."""
        self._length += 1
        if operation.priority >= self._cutoff:
            self._strict.setdefault(operation.priority, _Owners()).append(operation)
            return
        owners = self._normal.get(operation.priority)
        if owners is None:
            owners = self._normal[operation.priority] = _Owners()
            self._total_priority += operation.priority
        owners.append(operation)
        self._largest_cost = max(self._largest_cost, operation.cost)

    def dequeue(self, now: float) -> QueuedOperation | None:  # noqa: ARG002
        """The next operation; None for an empty queue. It never waits."""
        if not self._length:
            return None
        self._length -= 1
        if self._strict:
            return self._take(self._strict, max(self._strict))
        self.turns += 1
        self.contended += len(self._normal) > 1
        priority = self._draw() if len(self._normal) > 1 else next(iter(self._normal))
        operation = self._take(self._normal, priority)
        if priority not in self._normal:
            self._total_priority -= priority
        return operation

    def _draw(self) -> int:
        while True:
            ticket = self._random.randrange(self._total_priority) + 1
            priority = 0
            for priority in sorted(self._normal):
                if ticket <= priority:
                    break
                ticket -= priority
            limit = self._largest_cost - self._normal[priority].first.cost * 9 // 10
            if not self._largest_cost or self._random.randrange(self._largest_cost) <= limit:
                return priority

    @staticmethod
    def _take(queues: dict[int, _Owners], priority: int) -> QueuedOperation:
        owners = queues[priority]
        operation = owners.popleft()
        if not owners:
            del queues[priority]
        return operation
