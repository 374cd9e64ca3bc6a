"""WPQ: the lottery by a chi-square test, the coin against cost, strict queues, turns of owners."""

from collections import Counter
from random import Random

import pytest
from lsmlens.analyzer.qos.service_classes import HIGH_PRIORITY, ServiceClass
from lsmlens.tuners.qos.operations import QueuedOperation, Release
from lsmlens.tuners.qos.wpq import WeightedPriorityQueue
from scipy.stats import chisquare

DRAWS = 20_000


def nothing(release: Release) -> None:
    release()


def operation(priority: int, cost: int = 0, owner: int = 1) -> QueuedOperation:
    return QueuedOperation(ServiceClass.CLIENT, priority, cost, 1, owner, 0.0, nothing)


def drawn(costs: dict[int, int], seed: int) -> Counter[int]:
    """How often each priority was drawn of a queue in which each always has operations of its cost."""
    queue = WeightedPriorityQueue(Random(seed))
    for priority, cost in costs.items():
        for _ in range(2):
            queue.enqueue(operation(priority, cost), 0.0)
    counts: Counter[int] = Counter()
    for _ in range(DRAWS):
        served = queue.dequeue(0.0)
        assert served is not None
        counts[served.priority] += 1
        queue.enqueue(operation(served.priority, served.cost), 0.0)
    return counts


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_lottery_is_by_priority(seed: int) -> None:
    costs = dict.fromkeys((3, 5, 63, 127), 0)
    counts = drawn(costs, seed)
    expected = [DRAWS * priority / sum(costs) for priority in costs]
    assert chisquare([counts[priority] for priority in costs], expected).pvalue > 0.01


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_coin_is_against_cost(seed: int) -> None:
    largest = 20 << 20
    costs = {5: largest, 63: 4096, 64: largest // 2}
    counts = drawn(costs, seed)
    # Accepted with (largest - 0.9 cost + 1) / largest, else all is drawn anew.
    chances = {priority: priority * (largest - cost * 9 // 10 + 1) / largest for priority, cost in costs.items()}
    expected = [DRAWS * chance / sum(chances.values()) for chance in chances.values()]
    assert chisquare([counts[priority] for priority in costs], expected).pvalue > 0.01


def test_a_wrong_expectation_would_be_seen() -> None:
    counts = drawn(dict.fromkeys((3, 5, 63), 0), 1)
    assert chisquare([counts[priority] for priority in (3, 5, 63)], [DRAWS / 3] * 3).pvalue < 1e-9


def test_strict_priorities_come_first() -> None:
    queue = WeightedPriorityQueue(Random(1))
    for priority in (63, HIGH_PRIORITY, 255, HIGH_PRIORITY):
        queue.enqueue(operation(priority), 0.0)
    assert [one.priority for _ in range(4) if (one := queue.dequeue(0.0))] == [255, HIGH_PRIORITY, HIGH_PRIORITY, 63]
    assert queue.dequeue(0.0) is None


def test_owners_take_turns_and_each_is_served_in_order() -> None:
    queue = WeightedPriorityQueue(Random(1))
    sent = [operation(63, owner=owner) for owner in (7, 7, 7, 2, 2, 9)]
    for one in sent:
        queue.enqueue(one, 0.0)
    served = [queue.dequeue(0.0) for _ in range(6)]
    # 7 was there first, so it is its turn; 9 comes next, then round to 2.
    assert [one.owner for one in served if one] == [7, 9, 2, 7, 2, 7]
    assert [one for one in served if one and one.owner == 7] == sent[:3]


def test_nothing_is_lost() -> None:
    random, queue = Random(5), WeightedPriorityQueue(Random(6))
    sent, got = [], []
    for _ in range(3000):
        if random.random() < 0.55:
            one = operation(random.choice([1, 3, 63, 196]), random.randrange(1 << 20), random.randrange(5))
            sent.append(id(one))
            queue.enqueue(one, 0.0)
            got.append(one)
        elif len(queue):
            assert queue.dequeue(0.0) is not None
    left = len(queue)
    while len(queue):
        assert queue.dequeue(0.0) is not None
    assert left >= 0
    assert queue.dequeue(0.0) is None
    assert queue.turns <= len(sent)
