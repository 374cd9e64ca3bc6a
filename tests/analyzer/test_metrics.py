"""Metrics: declared once, and the same by polars, by hand, and over a data set that is read lazily."""

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.metrics import (
    LOG_SECONDS,
    METRICS,
    OUTPUT_INPUT_RATIO,
    SUMS,
    WRITE_AMPLIFICATION,
    Better,
    Metric,
    meaning_of,
    metric_named,
    of_part,
    sums_of,
    values_of,
)
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH

from tests.jobs import compaction, flush, jobs, move

OF_JOBS = [metric for metric in METRICS if metric.of and {*metric.of, metric.per} - {""} <= {*SUMS, LOG_SECONDS}]


def test_every_name_and_alias_means_one_metric() -> None:
    said = Counter(name for metric in METRICS for name in (metric.name, *metric.aliases))
    assert max(said.values()) == 1
    for metric in METRICS:
        assert metric_named(metric.name) is metric
        assert all(metric_named(alias) is metric for alias in metric.aliases)


def test_a_part_of_a_metric_is_found_by_its_alias_too() -> None:
    found = metric_named("write_amp.p-0")
    assert found is not None
    assert (found.name, found.part) == ("write_amplification_lsm.p-0", "p-0")
    assert found == of_part("write_amplification_lsm.p-0")
    assert metric_named("nonsense") is metric_named("nonsense.p-0") is None


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_says_what_it_is(metric: Metric) -> None:
    said = metric.explanation
    assert said.startswith((metric.how, metric.how[0].upper() + metric.how[1:]))
    assert said.startswith(metric.meaning)
    assert meaning_of(metric.name) == metric.meaning
    assert metric.leaves_out in metric.meaning
    assert said.endswith(".")
    assert f"Told by {metric.source}." in said
    assert ".." not in said


def test_a_sum_says_what_it_adds_up() -> None:
    assert meaning_of("trivial_moves") == "trivial_move events; they move no bytes."
    assert meaning_of("flush_blob_bytes").startswith("The blob files' part")
    assert all(one.meaning for one in SUMS.values())
    with pytest.raises(KeyError):
        meaning_of("nonsense")


def test_jobs_tell_most_metrics() -> None:
    assert len(OF_JOBS) > 25
    assert {metric.name for metric in OF_JOBS} >= {"write_amplification_lsm", "total_output_size_mib", "table_bytes"}


@pytest.mark.parametrize("name", ["osd-stock", "osd-reef", "rocksdb-7.8", "rocksdb-current"])
def test_a_formula_is_the_same_by_polars_and_by_hand(name: str, fixtures: Path) -> None:
    for one in analyze([str(fixtures / name)]).runs:
        families = sums_of(one.run.jobs, ["column_family"]).with_columns(pl.lit(60.0).alias(LOG_SECONDS))
        by_polars = families.select("column_family", *(metric.formula for metric in OF_JOBS))
        for sums, row in zip(families.to_dicts(), by_polars.to_dicts(), strict=True):
            for metric in OF_JOBS:
                expected = metric.value(sums)
                found = row[metric.name]
                assert found == (None if expected is None else pytest.approx(expected, rel=1e-12)), metric.name


def test_a_data_set_that_is_read_lazily_tells_the_same(fixtures: Path, tmp_path: Path) -> None:
    (one,) = analyze([str(fixtures / "osd-reef")]).counted
    one.run.jobs.write_parquet(tmp_path / "0.parquet")
    one.run.jobs.write_parquet(tmp_path / "1.parquet")
    lazy = sums_of(pl.scan_parquet(tmp_path / "*.parquet"), ["column_family"]).collect()
    once = sums_of(one.run.jobs, ["column_family"])
    assert lazy["flush_bytes"].to_list() == (2 * once["flush_bytes"]).to_list()
    assert lazy.select(WRITE_AMPLIFICATION.formula).equals(once.select(WRITE_AMPLIFICATION.formula))


def test_sums_of_groups_add_up_to_the_whole() -> None:
    rows = jobs(flush(3), flush(5, 2), compaction(7, column_family="b", micros=0), compaction(9), move(11))
    (whole,) = sums_of(rows).to_dicts()
    for by in ("column_family", "kind", "output_level"):
        added = sums_of(rows, [by]).select(list(SUMS)).sum().to_dicts()[0]
        assert added == pytest.approx(whole), by
    assert (whole["flush_bytes"], whole["compaction_output_bytes"], whole["trivial_move_bytes"]) == (10, 16, 11)
    assert (whole["compactions"], whole["timed_compactions"]) == (2, 1)


def test_nothing_is_divided_by_nothing() -> None:
    (empty,) = sums_of(jobs()).to_dicts()
    assert WRITE_AMPLIFICATION.value(empty) is OUTPUT_INPUT_RATIO.value(empty) is None
    assert sums_of(jobs()).select(WRITE_AMPLIFICATION.formula).item() is None
    assert values_of(empty)["table_bytes"] == 0


def test_by_kind_only_its_own_sums_count() -> None:
    by_kind = {row["kind"]: row for row in sums_of(jobs(flush(1), compaction(2)), ["kind"]).to_dicts()}
    assert (by_kind[FLUSH]["compaction_output_bytes"], by_kind[COMPACTION]["flush_bytes"]) == (0, 0)


def test_which_way_is_better_is_declared_for_what_costs() -> None:
    assert {metric.better for metric in METRICS if metric.name.startswith("write_amplification")} == {Better.LOWER}
