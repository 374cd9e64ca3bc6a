"""dmClock's promises: at least the reservation, at most the limit, the rest by weight; and its finer points."""

from collections import Counter
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsmlens.analyzer.qos.service_classes import HIGH_PRIORITY, ServiceClass
from lsmlens.tuners.qos.dmclock import IDLE_SECONDS, DmClockQueue, Share
from lsmlens.tuners.qos.operations import QueuedOperation, Release

# Deep enough that no request arrives after it was due.
BACKLOG = 200
CLIENT, RECOVERY, BEST_EFFORT = ServiceClass.CLIENT, ServiceClass.RECOVERY, ServiceClass.BEST_EFFORT


def nothing(release: Release) -> None:
    release()


def operation(service_class: ServiceClass, charge: int = 1, priority: int = 63) -> QueuedOperation:
    return QueuedOperation(service_class, priority, 0, charge, 0, 0.0, nothing)


def serve(
    shares: dict[ServiceClass, Share], rate: float, seconds: float, charges: dict[ServiceClass, int] | None = None
) -> Counter[ServiceClass]:
    """What each class gets, in units of cost, of a server of so many units a second whose classes never run empty."""
    queue = DmClockQueue(shares)
    charges = charges or dict.fromkeys(shares, 1)
    for service_class in shares:
        for _ in range(BACKLOG):
            queue.enqueue(operation(service_class, charges[service_class]), 0.0)
    now, got = 0.0, Counter[ServiceClass]()
    while now < seconds:
        served = queue.dequeue(now)
        assert served is not None
        if isinstance(served, float):
            assert served > now - 1e-9
            now = max(served, now + 1e-9)
            continue
        got[served.service_class] += served.charge
        queue.enqueue(operation(served.service_class, served.charge), now)
        now += served.charge / rate
    return got


def test_by_weight_alone() -> None:
    got = serve({CLIENT: Share(0, 3), RECOVERY: Share(0, 1)}, rate=1000, seconds=10)
    assert got[CLIENT] / got[RECOVERY] == pytest.approx(3, rel=0.01)
    assert sum(got.values()) == pytest.approx(10_000, rel=0.01)


def test_by_weight_counts_cost_not_operations() -> None:
    shares = {CLIENT: Share(0, 1), RECOVERY: Share(0, 1)}
    got = serve(shares, rate=1000, seconds=20, charges={CLIENT: 1, RECOVERY: 50})
    assert got[CLIENT] == pytest.approx(got[RECOVERY], rel=0.02)


def test_a_reservation_comes_before_weights() -> None:
    got = serve({CLIENT: Share(0, 100), RECOVERY: Share(400, 1)}, rate=1000, seconds=10)
    assert got[RECOVERY] == pytest.approx(4000, rel=0.02)
    assert got[CLIENT] == pytest.approx(6000, rel=0.02)


def test_a_limit_leaves_the_server_idle() -> None:
    got = serve({RECOVERY: Share(100, 1, 250)}, rate=1000, seconds=10)
    assert got[RECOVERY] == pytest.approx(2500, rel=0.01)


def test_a_reservation_beats_a_lower_limit() -> None:
    # As the algorithm has it: the limit is asked for in the weights' phase alone.
    got = serve({RECOVERY: Share(400, 1, 100)}, rate=1000, seconds=10)
    assert got[RECOVERY] == pytest.approx(4000, rel=0.02)


def test_what_weights_gave_does_not_count_against_a_reservation() -> None:
    # For 10 s recovery has the server alone, and 1000 a second of it. Without the reduction of its reservation tag
    # after each dispatch by weight it would now have to wait 40 s for its reservation.
    queue = DmClockQueue({CLIENT: Share(0, 1000), RECOVERY: Share(200, 1)})
    now, got = 0.0, Counter[ServiceClass]()
    for _ in range(2):
        queue.enqueue(operation(RECOVERY), now)
    while now < 20.0:
        if now >= 10.0 and not got[CLIENT]:
            got.clear()
            for _ in range(2):
                queue.enqueue(operation(CLIENT), now)
        served = queue.dequeue(now)
        assert isinstance(served, QueuedOperation)
        got[served.service_class] += 1
        queue.enqueue(operation(served.service_class), now)
        now += 0.001
    assert got[RECOVERY] == pytest.approx(2000, rel=0.05)


@settings(max_examples=40, deadline=None)
@given(
    reservations=st.lists(st.integers(0, 300), min_size=3, max_size=3),
    weights=st.lists(st.integers(1, 10), min_size=3, max_size=3),
    limits=st.lists(st.one_of(st.just(inf), st.integers(300, 1500)), min_size=3, max_size=3),
    charges=st.lists(st.integers(1, 40), min_size=3, max_size=3),
)
def test_backlogged_classes(
    reservations: list[int], weights: list[int], limits: list[float], charges: list[int]
) -> None:
    names = (CLIENT, RECOVERY, BEST_EFFORT)
    shares = {
        name: Share(float(reservation), weight, float(limit))
        for name, reservation, weight, limit in zip(names, reservations, weights, limits, strict=True)
    }
    charge = dict(zip(names, charges, strict=True))
    seconds, rate = 10.0, 1000.0
    got = serve(shares, rate, seconds, charge)
    slack = 3 * max(charges)  # an operation cannot be cut in two
    for name, share in shares.items():
        assert got[name] >= share.reservation * seconds - slack - 0.01 * rate
        assert got[name] <= share.limit * seconds + slack
    # Classes below their limits and above their reservations have the rest by weight.
    free = [
        name for name, share in shares.items() if share.reservation == 0 and got[name] < 0.9 * share.limit * seconds
    ]
    for one in free:
        for other in free:
            ours, theirs = got[one] / shares[one].weight, got[other] / shares[other].weight
            assert ours == pytest.approx(theirs, rel=0.1, abs=slack)


def test_all_at_their_limits_wait() -> None:
    queue = DmClockQueue({RECOVERY: Share(1, 1, 2)})
    for _ in range(2):
        queue.enqueue(operation(RECOVERY), 0.0)
    assert isinstance(queue.dequeue(0.0), QueuedOperation)
    assert queue.dequeue(0.0) == pytest.approx(0.5)
    assert isinstance(queue.dequeue(0.5), QueuedOperation)
    assert queue.dequeue(0.5) is None


def test_without_reservation_and_weight_a_class_is_never_served() -> None:
    queue = DmClockQueue({BEST_EFFORT: Share(0, 0)})
    queue.enqueue(operation(BEST_EFFORT), 0.0)
    assert queue.dequeue(1e9) == inf


def test_tags_are_calculated_at_the_head_of_the_queue() -> None:
    # A burst of 10 at once, after which the class is even with its limit only once all 10 have passed.
    queue = DmClockQueue({RECOVERY: Share(0, 1, 10)})
    for _ in range(10):
        queue.enqueue(operation(RECOVERY), 5.0)
    moments, now = [], 5.0
    while len(queue):
        served = queue.dequeue(now)
        if isinstance(served, float):
            now = served
        else:
            moments.append(now)
    assert moments == pytest.approx([5 + 0.1 * place for place in range(10)])


def test_the_strict_queue_by_priority_and_in_order() -> None:
    queue = DmClockQueue({CLIENT: Share(0, 1)})
    first, second = operation(CLIENT, priority=HIGH_PRIORITY), operation(ServiceClass.IMMEDIATE)
    third, urgent = operation(ServiceClass.IMMEDIATE), operation(CLIENT, priority=HIGH_PRIORITY + 1)
    plain = operation(CLIENT)
    for one in (plain, first, second, third, urgent):
        queue.enqueue(one, 0.0)
    assert [queue.dequeue(0.0) for _ in range(5)] == [second, third, urgent, first, plain]
    assert len(queue) == 0


@pytest.mark.parametrize(("silence", "least", "most"), [(1.0, 0, 15), (2 * IDLE_SECONDS, 25, 35)])
def test_a_class_that_was_idle_long_begins_level(silence: float, least: int, most: int) -> None:
    # Clients were served a thousand times. Soon after, recovery catches up by its weight; after a long time it does
    # not.
    queue = DmClockQueue({CLIENT: Share(0, 1), RECOVERY: Share(0, 1)})
    now = 0.0
    queue.enqueue(operation(RECOVERY), now)
    for _ in range(1000):
        queue.enqueue(operation(CLIENT), now)
        queue.dequeue(now)
        now += 0.001
    queue.dequeue(now)
    now += silence
    for _ in range(50):
        for service_class in (CLIENT, RECOVERY):
            queue.enqueue(operation(service_class), now)
    served = [one.service_class for _ in range(60) if isinstance(one := queue.dequeue(now), QueuedOperation)]
    assert least <= Counter(served)[CLIENT] <= most


def test_what_there_was_to_order() -> None:
    queue = DmClockQueue({CLIENT: Share(0, 1), RECOVERY: Share(0, 1)})
    queue.enqueue(operation(CLIENT), 0.0)
    queue.dequeue(0.0)
    assert (queue.turns, queue.contended) == (1, 0)
    for service_class in (CLIENT, RECOVERY):
        queue.enqueue(operation(service_class), 0.0)
    queue.dequeue(0.0)
    assert (queue.turns, queue.contended) == (2, 1)
    assert queue.by_weight == {CLIENT: 1, RECOVERY: 1} or sum(queue.by_weight.values()) == 2
