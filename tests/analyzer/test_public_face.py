"""What `lsmlens.analyzer` offers to programs: loaded when used, documented, and the same as the commands see."""

import subprocess
import sys
from pathlib import Path

import lsmlens.analyzer
import polars as pl
import pytest
from lsmlens.analyzer import InputError, Selection, load


def test_a_bundle_s_jobs_are_a_frame(fixtures: Path) -> None:
    analysis = load(fixtures / "osd-reef")
    run = analysis.run("osd.0")
    assert isinstance(run.jobs, pl.DataFrame)
    assert {
        "kind", "column_family", "started_at", "finished_at", "output_level", "input_bytes", "output_bytes",
        "input_records", "output_records",
    } <= set(run.jobs.columns)  # fmt: skip
    written = run.jobs.filter(kind="compaction")["output_bytes"].sum()
    assert written == run.total.compaction_output_bytes
    assert run.findings == analysis.runs[0].findings


def test_a_selection_narrows_what_is_measured(fixtures: Path) -> None:
    run = load(fixtures / "osd-reef", selection=Selection(level=0), window_seconds=10.0).run("osd.0")
    assert run.total.compactions == 0
    assert run.total.flushes == run.jobs.filter(kind="flush").height
    assert run.windows


def test_a_run_that_is_not_there_is_named(fixtures: Path) -> None:
    with pytest.raises(InputError, match=r"osd\.7: no such run"):
        load(fixtures / "osd-reef").run("osd.7")


def test_every_name_it_promises_is_there_and_documented() -> None:
    for name in lsmlens.analyzer.__all__:
        assert getattr(lsmlens.analyzer, name)
        assert name.startswith("__") or getattr(lsmlens.analyzer, name).__doc__
    with pytest.raises(AttributeError, match="nothing"):
        _ = lsmlens.analyzer.nothing


def test_importing_it_loads_nothing_heavy() -> None:
    program = "import lsmlens.analyzer, sys; print({'polars', 'numpy', 'pyarrow', 'msgspec'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout == "set()\n"
