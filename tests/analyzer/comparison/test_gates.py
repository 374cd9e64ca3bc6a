"""Gates: what they mean, which fail, and what is refused."""

import pytest
from lsmlens.analyzer.comparison.arms import Arm
from lsmlens.analyzer.comparison.comparison import Comparison, compare
from lsmlens.analyzer.comparison.gates import GateResult, judge_gates, parse_gate
from lsmlens.analyzer.comparison.observations import Kind, Observation
from lsmlens.analyzer.errors import LsmlensError


def arms(before: dict[str, float], **after: dict[str, float]) -> Comparison:
    named = {"before": before, **after}
    return compare([Arm(name, (Observation(name, Kind.TABLE, values),)) for name, values in named.items()])


def result(text: str, before: dict[str, float], after: dict[str, float]) -> GateResult:
    (found,) = judge_gates([parse_gate(text)], arms(before, after=after))
    return found


@pytest.mark.parametrize(
    ("limit", "before", "after", "is_failed"),
    [
        ("+10%", 5.0, 5.4, False),
        ("+10%", 5.0, 5.6, True),
        ("+10%", 5.0, 1.0, False),
        ("+0%", 5.0, 5.0, False),
        ("+0%", 5.0, 5.0001, True),
        ("-5%", 5.0, 4.8, False),
        ("-5%", 5.0, 4.7, True),
        ("-5%", 5.0, 9.0, False),
        ("+ 2.5 %", 5.0, 5.2, True),
        ("+10%", 0.0, 0.0, False),
        ("+10%", 0.0, 0.1, True),
        (">0", 5.0, 0.0, False),
        (">0", 0.0, 0.1, True),
        (">=3", 0.0, 3.0, True),
        ("<3", 0.0, 2.9, True),
        ("<3", 0.0, 3.0, False),
        ("<= 3", 0.0, 3.0, True),
        (">1e-3", 0.0, 0.002, True),
    ],
)
def test_limits(limit: str, before: float, after: float, is_failed: bool) -> None:
    found = result(f"write_amp:{limit}", {"write_amplification_lsm": before}, {"write_amplification_lsm": after})
    assert found.is_failed is is_failed
    assert f"the limit is {limit}" in found.reason


def test_a_reason_tells_figures_and_how_sure_they_are() -> None:
    found = result("write_amp:+10%", {"write_amplification_lsm": 4.0}, {"write_amplification_lsm": 5.0})
    assert found.reason == (
        "write_amplification_lsm of after is 5, +25.0 % to before's 4; the limit is +10% (noise unknown)"
    )


def test_a_reason_tells_of_unequal_work() -> None:
    before, after = (
        {"total_output_size_mib": 9.0, "flushed_records": 9e6},
        {"total_output_size_mib": 8.0, "flushed_records": 2e6},
    )
    found = result("total_output_size_mib:+5%", before, after)
    assert not found.is_failed
    assert found.reason.endswith("+5% (not comparable: unequal work: records into flushes -77.8 %)")


def test_each_arm_is_judged_but_the_baseline() -> None:
    comparison = arms({"stall_seconds": 9.0}, fine={"stall_seconds": 0.0}, bad={"stall_seconds": 1.0})
    found = judge_gates([parse_gate("stall_seconds:>0")], comparison)
    assert [(one.arm, one.is_failed) for one in found] == [("fine", False), ("bad", True)]


def test_a_figure_that_is_not_known_fails() -> None:
    found = result("stall_seconds:>0", {"stall_seconds": 0.0}, {"write_amplification_lsm": 1.0})
    assert found.is_failed
    assert found.reason == "stall_seconds is not known of after: stall_seconds:>0 cannot be judged"
    found = result("write_amp:+1%", {"stall_seconds": 0.0}, {"write_amplification_lsm": 1.0})
    assert found.is_failed
    assert "not known of before" in found.reason


def test_parts_of_metrics_are_gated() -> None:
    before, after = {"flush_bytes.p-0": 100.0}, {"flush_bytes.p-0": 120.0}
    assert result("flush_bytes.p-0:+10%", before, after).is_failed
    assert not result("flush_bytes.p-0:+30%", before, after).is_failed
    clients = {"client_iops.fio_B.randw.write": 100.0}
    assert result("client_iops.fio_B.randw.write:-5%", clients, {"client_iops.fio_B.randw.write": 90.0}).is_failed
    with pytest.raises(LsmlensError) as caught:
        result("flush_bytes.p-9:+10%", before, after)
    assert "no metric flush_bytes.p-9" in str(caught.value)
    assert "flush_bytes.p-0" in caught.value.hint


@pytest.mark.parametrize(
    "text", ["write_amp", "write_amp:", ":+10%", "write_amp:10%", "write_amp:+10", "write_amp:=3", "write_amp:>x", ""]
)
def test_what_is_no_gate_is_refused(text: str) -> None:
    with pytest.raises(LsmlensError) as caught:
        parse_gate(text)
    assert "not a gate" in str(caught.value)
    assert "METRIC:+10%" in caught.value.hint


@pytest.mark.parametrize("name", ["weather", "weather.p-0", "client_latency_pxx.job"])
def test_an_unknown_metric_is_refused_with_the_list(name: str) -> None:
    with pytest.raises(LsmlensError) as caught:
        parse_gate(f"{name}:+1%")
    assert f"no metric {name}" in str(caught.value)
    assert "write_amplification_lsm" in caught.value.hint
    assert "total_output_size_mib" in caught.value.hint
