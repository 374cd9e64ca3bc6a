"""mClock as Ceph's OSDs run it: dmClock's pull queue below a strict one.

Of the library's choices Ceph takes: tags are calculated when a request reaches the head of its client's queue
(delayed), a client at its limit waits (`AtLimit::Wait`), requests carry a cost and no rho or delta, and the
anticipation timeout is 0. All clients outside are one client, as since 17.2.7. Written after the published
algorithm: Gulati, Merchant and Varman, mClock, OSDI 2010.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from lsmlens.analyzer.qos.service_classes import HIGH_PRIORITY, ServiceClass
from lsmlens.tuners.qos.operations import QueuedOperation

# dmClock's standard idle age: a client that asked for nothing so long has its proportion tag set back.
IDLE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Share:
    """What a class is given in one queue: units of the cost model a second, and a weight.

    A reservation of 0 is none; so is a limit of `inf`.
    """

    reservation: float
    weight: float
    limit: float = inf


@dataclass(slots=True)
class _Tags:
    """A request's tags; those before the first lie so far back that it is due at once."""

    reservation: float = -inf
    proportion: float = -inf
    limit: float = -inf


@dataclass(slots=True)
class _Client:
    """A class's requests; `head` are the tags of the first, `last` those from which the next are calculated."""

    share: Share
    requests: deque[tuple[float, QueuedOperation]] = field(default_factory=deque)
    head: _Tags = field(default_factory=_Tags)
    last: _Tags = field(default_factory=_Tags)
    proportion_delta: float = 0.0
    is_idle: bool = True
    last_request: float = 0.0

    def tag_head(self) -> None:
        """Calculate the tags of the request that has become the first."""
        arrival, operation = self.requests[0]
        share, last, head, charge = self.share, self.last, self.head, operation.charge
        if share.reservation > 0:
            head.reservation = last.reservation = max(arrival, last.reservation + charge / share.reservation)
        else:
            head.reservation = inf
        if share.weight > 0:
            head.proportion = last.proportion = max(arrival, last.proportion + charge / share.weight)
        else:
            head.proportion = inf
        if share.limit < inf:
            head.limit = last.limit = max(arrival, last.limit + charge / share.limit)
        else:
            head.limit = -inf


class DmClockQueue:
    """Strict queues by priority, FIFO each; below them dmClock over the classes.

    Dequeues that were made for a reservation and for weights are counted by class in `by_reservation` and
    `by_weight`.
    """

    def __init__(self, shares: Mapping[ServiceClass, Share], cutoff: int = HIGH_PRIORITY) -> None:
        self._clients = {service_class: _Client(share) for service_class, share in shares.items()}
        self._strict: dict[int, deque[QueuedOperation]] = {}
        self._cutoff = cutoff
        self._length = 0
        self.turns = self.contended = 0
        self.by_reservation = dict.fromkeys(shares, 0)
        self.by_weight = dict.fromkeys(shares, 0)

    def __len__(self) -> int:
        return self._length

    def enqueue(self, operation: QueuedOperation, now: float) -> None:
        """Take an operation in; one of the immediate class, or of the cut-off's priority and above, goes above."""
        self._length += 1
        if operation.service_class is ServiceClass.IMMEDIATE:
            self._strict.setdefault(1 << 32, deque()).append(operation)
            return
        if operation.priority >= self._cutoff:
            self._strict.setdefault(operation.priority, deque()).append(operation)
            return
        client = self._clients[operation.service_class]
        if client.is_idle or (not client.requests and now - client.last_request > IDLE_SECONDS):
            self._wake(client, now)
        client.last_request = now
        client.requests.append((now, operation))
        if len(client.requests) == 1:
            client.tag_head()

    def dequeue(self, now: float) -> QueuedOperation | float | None:
        """The next operation; the time of the next one if all are at their limits; None if there is none.

        The time is `inf` where a class has neither reservation nor weight: such a one is never served.
        """
        if self._strict:
            return self._next_strict()
        waiting = [client for client in self._clients.values() if client.requests]
        if not waiting:
            return None
        self.turns += 1
        self.contended += len(waiting) > 1
        first = min(waiting, key=lambda one: one.head.reservation)
        if first.head.reservation <= now:
            operation = self._pop(first)
            self.by_reservation[operation.service_class] += 1
            return operation
        ready = [one for one in waiting if one.head.limit <= now and one.head.proportion < inf]
        if ready:
            first = min(ready, key=lambda one: one.head.proportion + one.proportion_delta)
            operation = self._pop(first)
            self.by_weight[operation.service_class] += 1
            self._reduce_reservation(first, operation)
            return operation
        self.contended += len(waiting) == 1
        limits = (one.head.limit for one in waiting if one.head.proportion < inf)
        return min([first.head.reservation, *limits])

    def _next_strict(self) -> QueuedOperation:
        priority = max(self._strict)
        queue = self._strict[priority]
        operation = queue.popleft()
        if not queue:
            del self._strict[priority]
        self._length -= 1
        return operation

    def _pop(self, client: _Client) -> QueuedOperation:
        operation = client.requests.popleft()[1]
        self._length -= 1
        if client.requests:
            client.tag_head()
        return operation

    def _reduce_reservation(self, client: _Client, served: QueuedOperation) -> None:
        """What was served by weight does not count against the reservation of what comes next."""
        if client.share.reservation > 0:
            spared = served.charge / client.share.reservation
            client.head.reservation -= spared
            client.last.reservation -= spared

    def _wake(self, woken: _Client, now: float) -> None:
        """A client that was idle begins level with the busy ones' lowest proportion tag."""
        others = [
            (one.head if one.requests else one.last).proportion + one.proportion_delta
            for one in self._clients.values()
            if one is not woken and not one.is_idle and (one.requests or now - one.last_request <= IDLE_SECONDS)
        ]
        known = [one for one in others if -inf < one < inf]
        if known:
            woken.proportion_delta = min(known) - now
        woken.is_idle = False
