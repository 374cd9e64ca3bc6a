import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.tuners.search.scores import Objective, Scores, cost, dominates, front, worsened_reads

PRESENT = Scores(100.0, 20.0, 10, 1000, 5, 64, 200)


def test_the_present_options_cost_one() -> None:
    for objective in Objective:
        assert cost(PRESENT, PRESENT, objective) == 1.0


def test_wear_counts_bytes_and_cpu_counts_records() -> None:
    fewer_bytes = PRESENT._replace(written_bytes=50.0)
    fewer_records = PRESENT._replace(processed_records=500)
    assert cost(fewer_bytes, PRESENT, Objective.WEAR) == pytest.approx(0.5)
    assert cost(fewer_bytes, PRESENT, Objective.WEAR) < cost(fewer_records, PRESENT, Objective.WEAR)
    assert cost(fewer_records, PRESENT, Objective.CPU) < cost(fewer_bytes, PRESENT, Objective.CPU)


def test_latency_counts_where_both_were_measured() -> None:
    slow = PRESENT._replace(p99_micros=2000.0, stall_seconds=0.0)
    assert cost(slow, PRESENT, Objective.LATENCY) == 1.0
    assert cost(slow, PRESENT._replace(p99_micros=1000.0, stall_seconds=0.0), Objective.LATENCY) > 1.4


def test_latencies_too_short_to_tell_are_alike() -> None:
    one, other = PRESENT._replace(p99_micros=3.0), PRESENT._replace(p99_micros=90.0)
    assert cost(one, other, Objective.LATENCY) == 1.0


def test_amplification_of_nothing_is_none() -> None:
    assert PRESENT.write_amplification == 5.0
    assert PRESENT._replace(flush_bytes=0.0).write_amplification is None


points = st.builds(
    lambda written, records, memory: PRESENT._replace(
        written_bytes=written, processed_records=records, memory_bytes=memory
    ),
    *[st.integers(1, 4).map(float)] * 3,
)


@given(st.lists(points, min_size=1, max_size=12))
def test_the_front_is_what_nothing_dominates(scores: list[Scores]) -> None:
    places = front(scores)
    assert places
    for place, one in enumerate(scores):
        assert (place in places) == (not any(dominates(other, one) for other in scores))


def test_what_was_not_measured_for_both_decides_nothing() -> None:
    assert dominates(PRESENT._replace(written_bytes=90.0, p99_micros=5e6), PRESENT)


def test_reads_count_sorted_runs_where_these_are_known() -> None:
    few, many = PRESENT._replace(sorted_runs=2.0), PRESENT._replace(sorted_runs=4.0)
    assert cost(many, few, Objective.READS) == pytest.approx(2.0)
    assert 1 < cost(many, few, Objective.BALANCED) < cost(many, few, Objective.READS)
    assert cost(many, few, Objective.WEAR) == 1.0
    assert cost(many, PRESENT, Objective.READS) == 1.0
    assert dominates(few, many)
    assert not dominates(many._replace(written_bytes=50.0), few)


@pytest.mark.parametrize(("runs", "worsens"), [(2.4, False), (2.6, True), (1.0, False), (None, False)])
def test_reads_worsen_beyond_a_quarter(runs: float | None, worsens: bool) -> None:
    told = worsened_reads(PRESENT._replace(sorted_runs=runs), PRESENT._replace(sorted_runs=2.0))
    assert told == ({"sorted_runs": (2.0, runs)} if worsens else {})
    assert not worsened_reads(PRESENT._replace(sorted_runs=runs), PRESENT)
    blocks = worsened_reads(PRESENT._replace(blocks_per_get=runs), PRESENT._replace(blocks_per_get=2.0))
    assert blocks == ({"blocks_per_get": (2.0, runs)} if worsens else {})
