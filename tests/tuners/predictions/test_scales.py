"""Scales: as much work as there is time for, as far down as write buffers go."""

from lsmlens.tuners.options.reading import read_options
from lsmlens.tuners.predictions.scales import coarser_scale, largest_scale, usual_scale

OPTIONS = [read_options("a=write_buffer_size=16777216"), read_options("b=write_buffer_size=1048576")]


def test_the_usual_scale_follows_the_work() -> None:
    assert usual_scale(1_000_000, OPTIONS, ("default",)) == 1
    assert usual_scale(20_000_000, OPTIONS, ("default",)) == 6
    # a buffer of 1 MiB goes down to 64 KiB and no further
    assert largest_scale(OPTIONS, ("default",)) == 16
    assert usual_scale(10**10, OPTIONS, ("default",)) == 16


def test_draws_are_replayed_smaller() -> None:
    assert coarser_scale(2.0, OPTIONS, ("default",)) == 8
    assert coarser_scale(6.0, OPTIONS, ("default",)) == 16
    assert coarser_scale(64.0, OPTIONS, ("default",)) == 64
