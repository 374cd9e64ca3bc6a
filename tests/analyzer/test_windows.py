"""Time windows, and the durations that people type."""

import pytest
from lsmlens.analyzer.windows import parse_duration, windows_of

from tests import run_tables


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("10m", 600),
        ("10min", 600),
        ("1.5h", 5400),
        ("2d", 172_800),
        ("250ms", 0.25),
        (" 10 m ", 600),
        ("2H", 7200),
        ("3Min", 180),
        ("1e3", 1000),
        (".5m", 30),
        ("+2s", 2),
    ],
)
def test_a_duration(typed: str, seconds: float) -> None:
    assert parse_duration(typed) == pytest.approx(seconds)


@pytest.mark.parametrize("typed", ["", "m", "ten", "10x", "10 m 5", "1h30m", "5ss", "0x10"])
def test_no_duration(typed: str) -> None:
    with pytest.raises(ValueError, match="is no time such as 90s, 10m or 2h"):
        parse_duration(typed)


@pytest.mark.parametrize("typed", ["0", "0.0h", "-5m", "inf", "nan", "1e400", "1e308d"])
def test_a_duration_is_above_0_and_finite(typed: str) -> None:
    with pytest.raises(ValueError, match="is not above 0"):
        parse_duration(typed)


def test_windows_are_aligned_and_hold_what_finished_in_them() -> None:
    moves = [run_tables.move(second * 1_000_000, second) for second in (599, 600, 1199, 3600)]
    windows = windows_of(run_tables.jobs_of(*moves), parse_duration("10m"))
    found = [(start // 1_000_000, sums.trivial_moves, sums.trivial_move_bytes) for start, sums in windows]
    assert found == [(0, 1, 599), (600, 2, 1799), (3600, 1, 3600)]
