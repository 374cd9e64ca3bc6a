"""The tables of a run: what they add up to, and that each column is what it is declared to be."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.measures.amplification import UNATTRIBUTED
from lsmlens.analyzer.runs.columns import columns_of
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH, MOVE, BlobFile, Job, Open, Stall, Table

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
NOT_LOGS = {"osd-write-batches"}
BUNDLES = sorted(
    path.name
    for path in FIXTURES.iterdir()
    if path.name not in NOT_LOGS and (list(path.glob("*.log*")) or (path / "LOG").exists())
)


@pytest.fixture(scope="module")
def analysis_of() -> Callable[[str], Analysis]:
    known: dict[str, Analysis] = {}

    def read(bundle: str) -> Analysis:
        if bundle not in known:
            known[bundle] = analyze([str(FIXTURES / bundle)])
        return known[bundle]

    return read


def of(kind: str, column: str) -> pl.Expr:
    return pl.col(column).filter(pl.col("kind") == kind).sum()


SUMS = {
    "flushes": (pl.col("kind") == FLUSH).sum(),
    "flush_bytes": of(FLUSH, "output_bytes"),
    "compactions": (pl.col("kind") == COMPACTION).sum(),
    "compaction_input_bytes": of(COMPACTION, "input_bytes"),
    "compaction_output_bytes": of(COMPACTION, "output_bytes"),
    "input_records": of(COMPACTION, "input_records"),
    "output_records": of(COMPACTION, "output_records"),
    "trivial_moves": (pl.col("kind") == MOVE).sum(),
    "trivial_move_bytes": of(MOVE, "moved_bytes"),
}


@pytest.mark.parametrize("bundle", BUNDLES)
def test_jobs_add_up_to_the_figures_of_families_and_levels(bundle: str, analysis_of: Callable[[str], Analysis]) -> None:
    for one in analysis_of(bundle).runs:
        jobs = one.run.jobs
        names = jobs.with_columns(pl.col("column_family").fill_null(UNATTRIBUTED))
        families = {row.pop("column_family"): row for row in names.group_by("column_family").agg(**SUMS).to_dicts()}
        levels = {row.pop("output_level"): row for row in jobs.group_by("output_level").agg(**SUMS).to_dicts()}
        assert families == {family.name: {name: getattr(family, name) for name in SUMS} for family in one.families}
        assert levels == {level.level: {name: getattr(level, name) for name in SUMS} for level in one.levels}


@pytest.mark.parametrize("bundle", BUNDLES)
def test_tables_are_those_of_the_creation_events(bundle: str, analysis_of: Callable[[str], Analysis]) -> None:
    for one in analysis_of(bundle).runs:
        tables = one.run.tables
        assert tables.height == one.run.event_counts["table_file_creation"]
        assert tables["deleted_at"].count() <= one.run.event_counts["table_file_deletion"]
        assert (tables["deleted_at"] >= tables["created_at"]).all()
        written = tables.filter(pl.col("created_by") == FLUSH)["bytes"].sum()
        unfinished = one.run.unfinished.filter(pl.col("kind") == FLUSH)
        flushed = one.run.jobs.filter(pl.col("kind") == FLUSH)["table_bytes"].sum()
        assert written == flushed or unfinished.height


@pytest.mark.parametrize("bundle", BUNDLES)
def test_every_start_is_told_of_once(bundle: str, analysis_of: Callable[[str], Analysis]) -> None:
    for one in analysis_of(bundle).runs:
        started = pl.concat([one.run.jobs, one.run.unfinished]).filter(
            (pl.col("kind") != MOVE) & pl.col("started_at").is_not_null()
        )
        for kind, event in ((FLUSH, "flush_started"), (COMPACTION, "compaction_started")):
            assert (started["kind"] == kind).sum() == one.run.event_counts[event]


@pytest.mark.parametrize("bundle", BUNDLES)
def test_frames_have_the_columns_that_are_declared(bundle: str, analysis_of: Callable[[str], Analysis]) -> None:
    for one in analysis_of(bundle).runs:
        run = one.run
        for found, row in (
            (run.jobs, Job), (run.unfinished, Job), (run.tables, Table),
            (run.blob_files, BlobFile), (run.opens, Open), (run.stalls, Stall),
        ):  # fmt: skip
            assert dict(found.schema) == {name: column.dtype for name, column in columns_of(row).items()}
        assert run.opens.height == len(run.sessions)
        assert run.stalls.height == len(run.stall_moments)


def test_every_column_says_what_it_means() -> None:
    for row in (Job, Table, BlobFile, Open, Stall):
        columns = columns_of(row)
        assert list(columns) == list(row.__struct_fields__)
        assert all(column.meaning.endswith(".") for column in columns.values())
