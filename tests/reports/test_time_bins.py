"""Bins of time: of usual lengths, few enough, and nothing lost when an interval is parted among them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.numbers import duration
from lsmlens.analyzer.units import MICROS
from lsmlens.reports.time_bins import LENGTHS_SECONDS, TimeBins

MOMENT = st.integers(0, 4_000_000_000 * MICROS)
SPAN = st.integers(0, 500 * 86400 * MICROS)


@given(MOMENT, SPAN, st.integers(2, 300))
def test_bins_hold_what_they_are_over(first: int, span: int, most: int) -> None:
    bins = TimeBins.over(first, first + span, most)
    assert 1 <= bins.count <= most
    assert bins.start_micros <= first
    assert first + span < bins.end_micros or (bins.count == most and first + span <= bins.end_micros)
    assert bins.seconds in LENGTHS_SECONDS
    assert bins.start_micros % bins.width_micros == 0


def test_bins_are_the_shortest_that_are_few_enough() -> None:
    start = 1_795_216_216 * MICROS
    assert TimeBins.over(start, start + 313 * MICROS, 60).seconds == 10
    assert TimeBins.over(start, start + 59 * MICROS, 60).seconds == 1
    assert TimeBins.over(start, start + 3 * 86400 * MICROS, 60).seconds == 7200


def test_a_span_beyond_all_lengths_still_has_bins() -> None:
    bins = TimeBins.over(0, 10**18, 5)
    assert bins.count == 5
    assert bins.end_micros >= 10**18


@given(st.integers(0, 10**9), st.integers(0, 10**8), st.integers(0, 10**8))
def test_an_interval_is_parted_without_loss(first: int, begin: int, length: int) -> None:
    bins = TimeBins.over(first, first + 2 * 10**8, 60)
    since = first + begin
    parts = list(bins.shares(since, since + length))
    assert sum(micros for _, micros in parts) == length
    assert [index for index, _ in parts] == sorted({index for index, _ in parts})
    assert parts


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.25, "0.25 s"), (2, "2 s"), (60, "1 min"), (313.05, "5 min 13 s"), (3600, "1 h"), (5400, "1 h 30 min"),
     (90061, "1 d 1 h")],
)  # fmt: skip
def test_durations_in_words(seconds: float, said: str) -> None:
    assert duration(seconds) == said
