"""Self-consistency: a family is either as the log shows it, or a warning says how far off, and what it weighs."""

import pytest
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.predictions.self_consistency import check, log_ratio, warnings

LARGE = Figures(100, 4e9, 60, 16e9, 5e7, 3e7)
SMALL = Figures(20, 1e7, 4, 2e7, 5e5, 4e5)


def scaled(one: Figures, flushes: float = 1.0, output: float = 1.0) -> Figures:
    return Figures(
        one.flushes * flushes, one.flush_bytes, one.compactions, one.output_bytes * output, one.input_records, 1
    )


def test_within_the_limits() -> None:
    found = check({"p": scaled(LARGE, 1.049, 0.86), "O": SMALL}, {"p": LARGE, "O": SMALL})
    assert [(one.family, one.is_consistent) for one in found] == [("O", True), ("p", True)]
    assert sum(one.share for one in found) == pytest.approx(1)
    assert warnings(found) == []


@pytest.mark.parametrize(("flushes", "output"), [(1.06, 1.0), (0.94, 1.0), (1.0, 1.16), (1.0, 0.84)])
def test_beyond_them(flushes: float, output: float) -> None:
    (one,) = check({"p": scaled(LARGE, flushes, output)}, {"p": LARGE})
    assert not one.is_consistent
    (said,) = warnings([one])
    assert said.startswith("p, 100.0 % of the bytes: the learned workload is off")
    assert f"flushes {100 * (flushes - 1):+.0f} %" in said
    assert f"compaction bytes {100 * (output - 1):+.0f} %" in said


def test_no_family_is_too_small_for_a_warning() -> None:
    observed = {"p": LARGE, "O": SMALL, "L": Figures(3, 1e5)}
    found = check({"p": LARGE, "O": scaled(SMALL, output=4.6), "L": scaled(Figures(3, 1e5), 1.4)}, observed)
    assert [one.is_consistent for one in found] == [False, False, True]
    (said,) = warnings(found)
    assert "off in 2 small families too, with 0.2 % of the bytes in all" in said
    assert (
        "L, below 0.1 %: flushes +40 %, flush bytes +0 %, compaction bytes not in the log, compactions not in the log"
        in said
    )
    assert "O, 0.1 %: flushes +0 %, flush bytes +0 %, compaction bytes +360 %" in said


def test_what_the_log_has_none_of() -> None:
    (idle,) = check({"L": Figures(3, 1e5, 0.4, 1e4)}, {"L": Figures(3, 1e5)})
    assert idle.output_bytes is None
    assert idle.is_consistent
    (busy,) = check({"L": Figures(3, 1e5, 2, 1e5)}, {"L": Figures(3, 1e5)})
    assert not busy.is_consistent
    (missing,) = check({}, {"p": LARGE})
    assert (missing.flushes, missing.output_bytes, missing.is_consistent) == (-1, -1, False)


def test_small_numbers_say_little() -> None:
    assert abs(log_ratio("compactions", Figures(compactions=2), Figures(compactions=1))) < 0.5
    assert log_ratio("compactions", Figures(compactions=200), Figures(compactions=100)) == pytest.approx(0.69, abs=0.01)
