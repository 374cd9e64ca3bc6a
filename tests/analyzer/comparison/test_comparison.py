"""Comparisons of arms that are known: what is better and worse, what is not said, and why."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.comparison.arms import Arm, parse_arm, read_arms
from lsmlens.analyzer.comparison.comparison import Comparison, compare, resolve
from lsmlens.analyzer.comparison.observations import Kind, Observation
from lsmlens.analyzer.comparison.verdicts import SAME_WITHIN, Verdict, holm
from lsmlens.analyzer.metrics import Better, Group

Change = Callable[[dict[str, Any]], object]


def of(*texts: str | Path) -> Comparison:
    return compare(read_arms([parse_arm(str(text)) for text in texts]))


def judged(comparison: Comparison, name: str, place: int = 1) -> tuple[Verdict, str]:
    row = comparison.row(name)
    assert row is not None, name
    judgement = row.judgements[place]
    assert judgement is not None, name
    return judgement.verdict, judgement.reason


@pytest.fixture(scope="module")
def scaled(fixtures: Path) -> Comparison:
    folder = fixtures / "saved-analyses"
    return of(*(f"{name}={folder}/{name}-scaled.json.gz" for name in ("stock", "reef-original", "reef-new")))


def test_what_three_sets_of_options_write(scaled: Comparison) -> None:
    row = scaled.row("compaction_output_bytes")
    assert row is not None
    assert list(row.values) == [21207693506, 11435545183, 12723534618]
    assert row.judgements[:1] == (None,)
    for place, ratio in ((1, 0.539217), (2, 0.599949)):
        judgement = row.judgements[place]
        assert judgement is not None
        assert judgement.verdict is Verdict.BETTER
        assert judgement.method == "block bootstrap"
        assert judgement.ratio == pytest.approx(ratio, abs=1e-5)
        assert (judgement.low or 0) < ratio < (judgement.high or 9) < 1
    for place in (1, 2):
        assert judged(scaled, "write_amp", place)[0] is Verdict.BETTER
        assert judged(scaled, "flush_bytes", place)[0] is Verdict.WORSE
        assert judged(scaled, "total_output_size_mib", place)[0] is Verdict.BETTER


def test_it_is_said_in_words(scaled: Comparison) -> None:
    assert scaled.sentences[0] == (
        "reef-original: flush bytes up 5.8 %, compaction output bytes down 46.1 %, bytes written to tables down 35.6 %;"
        " for the same work (client bytes written unchanged)"
    )
    assert scaled.sentences[1] == (
        "reef-original: write amplification (LSM) 4.95 to 3.01, better; flush bytes per record up 5.5 % alone move it"
        " down: see table bytes per record"
    )
    assert (
        "worse in 3 metrics (flush bytes, flush bytes per record, records that outlive memory)" in scaled.sentences[2]
    )


def test_figures_of_one_run_without_windows_are_not_judged(scaled: Comparison) -> None:
    for row in scaled.of(Group.CLIENTS):
        for judgement in row.judgements[1:]:
            assert judgement is not None
            assert judgement.verdict is Verdict.NOT_SIGNIFICANT
            assert judgement.reason.startswith("noise unknown")
            assert (judgement.low, judgement.high, judgement.p_value) == (None, None, None)
    assert (
        judged(scaled, "client_iops.A_radosbench.write", 2)[0] is Verdict.NOT_SIGNIFICANT
    )  # and yet three times as many
    assert judged(scaled, "kv_commit_seconds")[0] is Verdict.NOT_SIGNIFICANT


def test_no_verdict_without_an_interval(scaled: Comparison) -> None:
    for row in scaled.rows:
        for judgement in row.judgements[1:]:
            if judgement is not None and judgement.verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.SAME):
                assert judgement.low is not None
                assert judgement.p_value is not None
                assert row.metric.better is not Better.NEITHER
                is_apart = not 1 / (1 + SAME_WITHIN) <= judgement.low <= (judgement.high or 0) <= 1 + SAME_WITHIN
                assert is_apart == (judgement.verdict is not Verdict.SAME)


def test_an_arm_against_itself_is_the_same(fixtures: Path) -> None:
    saved = fixtures / "saved-analyses/stock-scaled.json.gz"
    found = of(f"a={saved}", f"b={saved}")
    verdicts = {judgement.verdict for row in found.rows if (judgement := row.judgements[1]) is not None}
    assert verdicts == {Verdict.SAME, Verdict.NOT_SIGNIFICANT, Verdict.NOT_COMPARABLE}
    assert judged(found, "write_amp") == (Verdict.SAME, "within 2 % of each other")
    assert (found.options, found.findings) == ((), ())


def test_metrics_without_a_better_direction_are_not_judged(scaled: Comparison) -> None:
    assert judged(scaled, "compaction_events") == (Verdict.NOT_COMPARABLE, "neither direction is better")


def changed(fixtures: Path, tmp_path: Path, change: Change, name: str = "changed.json") -> Path:
    """A saved analysis with something in it changed."""
    document = json.loads(gzip.decompress((fixtures / "saved-analyses/stock-scaled.json.gz").read_bytes()))
    change(document)
    (tmp_path / name).write_text(json.dumps(document))
    return tmp_path / name


def more_work(document: dict[str, Any]) -> None:
    document["runs"][0]["counters"]["client_write_bytes"] *= 1.2
    for family in document["runs"][0]["column_families"]:
        family["flush_bytes"] = round(1.2 * family["flush_bytes"])
        family["flush_input_records"] = round(1.2 * family["flush_input_records"])


def test_unequal_work_is_said_and_totals_are_not_compared(fixtures: Path, tmp_path: Path) -> None:
    stock = fixtures / "saved-analyses/stock-scaled.json.gz"
    found = of(f"stock={stock}", f"more={changed(fixtures, tmp_path, more_work)}")
    assert judged(found, "flush_bytes") == (Verdict.NOT_COMPARABLE, "unequal work: client bytes written +20.0 %")
    assert judged(found, "flush_bytes_per_record")[0] is Verdict.SAME
    assert judged(found, "write_amp")[0] is Verdict.BETTER
    (notice,) = [notice for notice in found.notices if "unequal work" in notice.text]
    assert notice.arms == ("more",)
    assert "per record" in found.sentences[0]


def test_counters_of_another_time_do_not_tell_of_the_work(fixtures: Path, tmp_path: Path) -> None:
    def unlike(document: dict[str, Any]) -> None:
        more_work(document)
        document["runs"][0]["counters"]["table_bytes_difference"] = 0.5

    found = of(fixtures / "saved-analyses/stock-scaled.json.gz", changed(fixtures, tmp_path, unlike))
    assert judged(found, "flush_bytes")[1] == "unequal work: records into flushes +20.0 %"
    assert judged(found, "table_bytes_per_client_byte")[0] is Verdict.NOT_COMPARABLE


def test_more_daemons_are_more_work(fixtures: Path, tmp_path: Path) -> None:
    def twice(document: dict[str, Any]) -> None:
        document["runs"].insert(0, document["runs"][0] | {"name": "osd.1"})

    found = of(fixtures / "saved-analyses/stock-scaled.json.gz", changed(fixtures, tmp_path, twice))
    assert judged(found, "table_bytes") == (Verdict.NOT_COMPARABLE, "2 daemons against 1")


def table(name: str, **values: float) -> Observation:
    return Observation(name, Kind.TABLE, values)


def test_repeated_runs_are_averaged_and_tested() -> None:
    before = Arm("before", tuple(table("b", write_amplification_lsm=value) for value in (4.9, 5.0, 5.1)))
    after = Arm("after", tuple(table("a", write_amplification_lsm=value) for value in (3.0, 3.1, 3.05)))
    found = compare([before, after])
    row = found.row("write_amp")
    assert row is not None
    figures = [figure for figure in row.figures if figure is not None]
    assert [figure.value for figure in figures] == pytest.approx([5.0, 3.05])
    assert [figure.spread for figure in figures] == pytest.approx([0.1, 0.05])
    judgement = row.judgements[1]
    assert judgement is not None
    assert (judgement.verdict, judgement.method) == (Verdict.BETTER, "Welch's t")
    assert judgement.ratio == pytest.approx(3.05 / 5)
    noisy = Arm("noisy", tuple(table("n", write_amplification_lsm=value) for value in (3.0, 9.0, 4.0)))
    assert judged(compare([before, noisy]), "write_amp")[0] is Verdict.NOT_SIGNIFICANT


def test_what_only_one_arm_tells_is_not_comparable() -> None:
    found = compare([Arm("a", (table("a", stall_seconds=1.0),)), Arm("b", (table("b", write_amplification_lsm=2.0),))])
    assert judged(found, "stall_seconds") == (Verdict.NOT_COMPARABLE, "not known of b")
    assert judged(found, "write_amp") == (Verdict.NOT_COMPARABLE, "not known of a")
    assert [row.metric.name for row in found.rows] == ["write_amplification_lsm", "stall_seconds"]


def test_the_most_worrying_verdict_stands_for_all(scaled: Comparison) -> None:
    for row in scaled.rows:
        each = [judgement.verdict for judgement in row.judgements if judgement is not None]
        assert row.verdict is min(each, key=lambda verdict: verdict.rank)


def test_many_metrics_are_judged_together() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("write_amp", "write_amplification_lsm"),
        ("write_amp.p-0", "write_amplification_lsm.p-0"),
        ("stalls", "stall_seconds"),
        ("client_iops.fio.randw", "client_iops.fio.randw"),
    ],
)
def test_aliases(name: str, meant: str) -> None:
    assert resolve(name) == meant


# ---- options and findings


def test_options_that_differ_and_only_those(scaled: Comparison) -> None:
    options = {(one.name, one.families[:1]): one for one in scaled.options}
    trigger = options["level0_file_num_compaction_trigger", ("L",)]
    assert trigger.values == ("4", "8", "8")
    assert len(trigger.families) == 12
    assert set(trigger.sources) == {"printed in the log for the default family; printed in the log"}
    merge = options["min_write_buffer_number_to_merge", ("L",)]
    assert (merge.families, merge.values) == (("L", "P"), ("1", "16", "32"))
    assert merge.sources == ("inferred from flushes", "inferred from flushes", "show-sharding")
    assert options["max_background_jobs", ()].values == ("2", "4", "4")
    names = {name for name, _ in options}
    assert "compression" not in names
    assert "bluestore_rocksdb_options" not in names  # its parts are told one by one
    assert not any("0x" in value for one in scaled.options for value in one.values if value is not None)


def test_findings_that_come_and_go(scaled: Comparison) -> None:
    found = {one.code: one.severities for one in scaled.findings}
    assert found["R04"] == ("info", None, "info")
    assert found["R13"] == ("warning", "info", None)
    assert "R05" not in found  # all have it


def test_notices_come_once_for_all_arms_they_are_of(scaled: Comparison) -> None:
    (reach,) = [notice for notice in scaled.notices if "statistics dumps" in notice.text]
    assert reach.arms == ("stock", "reef-original", "reef-new")
    assert any("one run of each arm" in notice.text and not notice.arms for notice in scaled.notices)
    assert ("reef-new",) in [notice.arms for notice in scaled.notices if "265.8 s" in notice.text]


def test_unlike_versions_are_said(fixtures: Path) -> None:
    found = of(fixtures / "saved-analyses/stock-scaled.json.gz", fixtures / "osd-reef")
    assert any("unlike versions" in notice.text for notice in found.notices)


def test_bundles_of_real_osds_are_compared(fixtures: Path) -> None:
    found = of(fixtures / "osd-stock", fixtures / "osd-reef")
    assert found.names == ("osd-stock", "osd-reef")
    assert judged(found, "flush_bytes")[0] is Verdict.NOT_COMPARABLE
    assert found.row("flush_bytes.p-0") is not None
    assert found.arms[0].observations[0].analysis is not None
