"""What people type: durations."""

import pytest
from lsmlens.cli.values import seconds


@pytest.mark.parametrize(
    ("typed", "length"),
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
def test_a_duration(typed: str, length: float) -> None:
    assert seconds(typed) == pytest.approx(length)


@pytest.mark.parametrize("typed", ["", "m", "ten", "10x", "10 m 5", "1h30m", "5ss", "0x10"])
def test_no_duration(typed: str) -> None:
    with pytest.raises(ValueError, match="is not a time such as 90s, 10m or 2h"):
        seconds(typed)


@pytest.mark.parametrize("typed", ["0", "0.0h", "-5m", "inf", "nan", "1e400", "1e308d"])
def test_a_duration_is_above_0_and_finite(typed: str) -> None:
    with pytest.raises(ValueError, match="is not above 0"):
        seconds(typed)
