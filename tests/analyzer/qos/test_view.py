"""Little's law on the published study's rows, on real results, and on one that claims too much."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.clients.client_results import ClientResult, ResultKind
from lsmlens.analyzer.qos.view import QosView, check_littles_law

RESULT = ClientResult(ResultKind.FIO, "fio.json", "write", depth=64, iops=11_017, latency_mean_seconds=5.789e-3)


@pytest.mark.parametrize("name", ["nvme", "hdd-waldb", "hdd"])
def test_every_row_of_the_study(published: Callable[[str], dict[str, dict[str, float]]], name: str) -> None:
    for configuration, row in published(name).items():
        result = replace(RESULT, iops=row["client_iops"], latency_mean_seconds=row["client_mean_ms"] / 1e3)
        check = check_littles_law(result)
        assert check is not None
        assert abs(check.deviation) < 0.03, configuration


def test_real_results(fixtures: Path, view_at: Callable[[Path], QosView]) -> None:
    checks = view_at(fixtures / "osd-stock").littles_law
    assert len(checks) == 3
    assert all(check.holds for check in checks)


def test_a_result_of_another_length_than_it_claims() -> None:
    check = check_littles_law(replace(RESULT, iops=20_000))
    assert check is not None
    assert not check.holds
    assert check.deviation == pytest.approx(0.81, abs=0.01)


def test_processes_have_their_depth_each() -> None:
    check = check_littles_law(replace(RESULT, processes=4, iops=44_000))
    assert check is not None
    assert (check.depth, check.holds) == (256, True)


def test_results_that_lack_a_figure() -> None:
    for lacking in ({"depth": None}, {"iops": None}, {"latency_mean_seconds": None}, {"is_complete": False}):
        assert check_littles_law(replace(RESULT, **lacking)) is None
