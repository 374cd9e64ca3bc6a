"""The tables of what clients felt, and the same in the document, of a real OSD with fio's logs beside it."""

import shutil
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.reports import markdown, run_tables
from lsmlens.reports.analysis import compose
from lsmlens.reports.analysis_json import run_json
from lsmlens.reports.terminal import whole


@pytest.fixture(scope="module")
def osd(fixtures: Path) -> RunAnalysis:
    (run,) = analyze([str(fixtures / "osd-small-db")]).runs
    return run


def test_over_time(osd: RunAnalysis) -> None:
    table = run_tables.client_series(osd)
    assert table is not None
    assert [(row[0], row[2]) for row in table.rows] == [
        ("averaged_bw.1.log and 1 more", "bandwidth"),
        ("averaged_iops.1.log and 1 more", "iops"),
        ("averaged_lat.1.log and 1 more", "latency"),
        ("epoch_lat.log", "latency"),
        ("single_lat.1.log", "latency"),
    ]
    latency = osd.beside.client_series[3]
    assert latency.measure == "latency"
    assert table.rows[2][3:] == (
        "2026-11-21T13:40:41.124Z",
        "75",
        f"{1000 * min(latency.values):.3g} ms",
        f"{1000 * sorted(latency.values)[37]:.3g} ms",
        f"{1000 * max(latency.values):.3g} ms",
    )


def test_not_placed_in_time_is_said(fixtures: Path, tmp_path: Path) -> None:
    for name in ("ceph-osd.0.log.gz", "averaged_clat.1.log"):
        shutil.copy(fixtures / "osd-small-db" / name, tmp_path)
    analysis = analyze([str(tmp_path)])
    table = run_tables.client_series(analysis.runs[0])
    assert table is not None
    assert table.rows[0][:4] == (
        "averaged_clat.1.log",
        "write",
        "completion latency",
        "not placed: no fio JSON stands beside it",
    )
    assert "not placed: no fio JSON stands beside it" in whole(compose(analysis))
    assert "not placed: no fio JSON stands beside it" in markdown.render(compose(analysis))
    (said,) = run_json(analysis.runs[0]).client_series
    assert (said.began_at, said.placed_by) == (None, None)
    assert said.not_placed_because == "no fio JSON stands beside it"


def test_lines_left_out_are_counted(fixtures: Path, tmp_path: Path) -> None:
    shutil.copy(fixtures / "osd-small-db" / "ceph-osd.0.log.gz", tmp_path)
    lines = (fixtures / "osd-small-db" / "averaged_lat.1.log").read_text()
    (tmp_path / "averaged_lat.1.log").write_text(f"{lines}garbage\n4000, x, 1, 0, 0\n")
    (run,) = analyze([str(tmp_path)]).runs
    table = run_tables.client_series(run)
    assert table is not None
    assert table.rows[0][0] == "averaged_lat.1.log (2 lines left out)"
    assert run_json(run).client_series[0].lines_left_out == 2


def test_document_has_every_step(osd: RunAnalysis) -> None:
    said = run_json(osd).client_series
    assert len(said) == len(osd.beside.client_series) == 7
    for one, series in zip(said, osd.beside.client_series, strict=True):
        assert one.ends_seconds == [end / 1e6 for end in series.ends]
        assert one.values == list(series.values)
        assert one.not_placed_because is None


def test_none_without_any(fixtures: Path) -> None:
    (reef,) = analyze([str(fixtures / "osd-reef")]).runs
    assert run_tables.client_series(reef) is None
