"""What a prediction comes to, as text, JSON, Markdown, HTML and pictures."""

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.printable import GROUP_SPACE
from lsmlens.reports.html.prediction_charts import families_chart, figures_chart
from lsmlens.reports.json_form import json_schema
from lsmlens.reports.outputs import PREDICTION
from lsmlens.reports.prediction import compose, notes, outside
from lsmlens.reports.prediction_json import to_json
from lsmlens.reports.prediction_tables import Observed, PredictionReport, log_total, unjudged
from lsmlens.reports.stalls import UNKNOWN
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.predictions.figures import Figures, by_family, total
from lsmlens.tuners.predictions.prediction import Predicted, Prediction
from lsmlens.tuners.predictions.stalls import ClosedForm, Headroom, StallForecast, StallsAtLoad

Golden = Callable[[str, str], None]
Predicting = Callable[..., Prediction]
NAMES = ("half", "twice", "lost")
KEYS = {
    "compactions",
    "flush_mib",
    "total_output_size_mib",
    "total_input_records",
    "total_output_records",
    "output_input_ratio_of_sums",
    "write_amplification",
    "sorted_runs",
    "blocks_per_get",
    "stall_seconds",
}


def document(report: PredictionReport) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(to_json(report))
    return said


def observed(learned: FittedWorkload, factor: float) -> Observed:
    families = {name: one.times(factor) for name, one in by_family(learned.evidence.run.families).items()}
    return Observed("really", total(families), families)


@pytest.fixture
def report(predicting: Predicting, learned: FittedWorkload) -> PredictionReport:
    """Half as much predicted and observed, twice as much predicted and four times observed, and nothing predicted."""
    prediction = predicting(bias=1.3, half=0.5, twice=2.0, lost=None)
    return PredictionReport("a/b", prediction, (observed(learned, 0.5), observed(learned, 4.0), None))


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json_schema("lsmlens.prediction/1")
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_a_document_is_as_its_schema_says(report: PredictionReport, validator: Draft202012Validator) -> None:
    said = json.loads(to_json(report))
    assert [f"{error.json_path}: {error.message:.200}" for error in validator.iter_errors(said)] == []


def test_the_schema_refuses_other_documents(report: PredictionReport, validator: Draft202012Validator) -> None:
    spoilers: list[Callable[[dict[str, Any]], object]] = [
        lambda said: said.update(schema="lsmlens.prediction/2"),
        lambda said: said["predictions"][0]["low"].pop("compactions"),
        lambda said: said["predictions"][0]["predicted"].update(flush_mib="1"),
        lambda said: said["predictions"][0].update(more=1),
        lambda said: said["self_consistency"][0].pop("share_of_bytes"),
        lambda said: said.pop("fitted_on"),
    ]
    for spoil in spoilers:
        said = json.loads(to_json(report))
        spoil(said)
        assert not validator.is_valid(said)


def test_what_a_document_says(report: PredictionReport) -> None:
    said = document(report)
    half, twice, lost = said["predictions"]
    assert [one["options"] for one in said["predictions"]] == ["half", "twice", "lost"]
    log = said["fitted_on"]["observed"]
    for one in (half, twice):
        assert set(one["predicted"]) == set(one["low"]) == set(one["high"]) == KEYS
        for unknown in ("stall_seconds", "blocks_per_get"):  # nothing was replayed or read
            assert {one[end][unknown] for end in ("predicted", "low", "high")} == {None}
        for key in KEYS - {"stall_seconds", "blocks_per_get"}:
            assert one["low"][key] <= one["predicted"][key] <= one["high"][key]
        assert sum(family["predicted"]["flush_mib"] for family in one["column_families"]) == pytest.approx(
            one["predicted"]["flush_mib"]
        )
    # of the tenth by which replays are too large, a part is taken to be of the log's own options
    assert 0.5 * log["flush_mib"] < half["predicted"]["flush_mib"] < 1.05 * 0.5 * log["flush_mib"]
    assert half["observed"]["errors"]["flush_mib"] == pytest.approx(0, abs=0.05)
    assert half["observed"]["outside"] == []
    assert {"flush_mib", "compactions"} <= set(twice["observed"]["outside"])
    assert twice["observed"]["errors"]["flush_mib"] == pytest.approx(-0.5, abs=0.03)
    assert (lost["predicted"], lost["low"], lost["high"], lost["observed"]) == (None, None, None, None)
    assert lost["column_families"] == []
    assert "no replay finished" in lost["quality"][0]
    assert [one["is_consistent"] for one in said["self_consistency"]] == [False] * 3
    assert all("is off" in " ".join(one["quality"]) for one in (half, twice))


def stalling(report: PredictionReport) -> PredictionReport:
    """The same, with writers that do not stall now, would with half, and of which nothing is known with twice."""
    closed = ClosedForm(0.3, 0.5, {"default": 6.0}, 2.0)
    own = StallForecast(closed, (StallsAtLoad(1.0, 0.0, 0.0, 0.0, 0, 0),))
    loads = (StallsAtLoad(1.0, 12.0, 5.0, 20.0, 3, 0), StallsAtLoad(2.0, 90.0, 60.0, 120.0, 9, 1))
    half = StallForecast(closed, loads, Headroom(0.9, 0.7, 1.1), {"default": 21})
    first, *rest = report.prediction.predictions
    predictions = (replace(first, stalls=half), *rest)
    return replace(report, prediction=replace(report.prediction, predictions=predictions, own_stalls=own))


def test_stalls_stand_in_the_verdict_the_table_and_the_document(
    report: PredictionReport, validator: Draft202012Validator
) -> None:
    there = stalling(report)
    first = " ".join(PREDICTION.screen(there, width=120).split())
    assert "writers stalled for 12 s (90 % interval 5 s to 20 s), 0 s under the log's own options" in first
    assert "stalls from 0.9 (0.7 to 1.1) times the load" in first
    text = " ".join(PREDICTION.screen(there, full=True, width=160).split())
    assert "the log's own 1 0 s 0 s to 0 s 0 slowdowns about 2.0 2.0 50 %" in text
    assert "half 2 1 min 30 s 1 min to 2 min 9 slowdowns, 1 stop" in text
    said = document(there)
    assert not list(validator.iter_errors(said))
    half, twice, _ = said["predictions"]
    assert [half[end]["stall_seconds"] for end in ("low", "predicted", "high")] == [5, 12, 20]
    assert [one["load"] for one in half["stalls"]["loads"]] == [1, 2]
    assert half["stalls"]["headroom"] == {"load": 0.9, "low": 0.7, "high": 1.1}
    assert half["stalls"]["level0_files"] == {"default": 21}
    assert (twice["stalls"], said["fitted_on"]["stalls"]["headroom"]) == (None, None)
    assert UNKNOWN in " ".join(PREDICTION.screen(report, full=True, width=160).split())


def test_the_first_screen_is_the_answer(report: PredictionReport) -> None:
    for width in (80, 120):
        text = PREDICTION.screen(report, width=width).replace(GROUP_SPACE, " ")
        lines = text.splitlines()
        assert lines[0] == "Prediction: LOG"
        half, twice, lost = (next(line for line in lines if line.startswith(f"  {name} ")) for name in NAMES)
        assert re.match(r"  half +-\d+\.\d % compaction output \(90 % interval", half)
        assert re.match(r"  twice +\+\d+\.\d % compaction output", twice)
        assert lost.endswith("▲ no prediction: no replay finished")
        assert any(line.startswith("  half: ") and "flushes of" in line for line in lines)
        assert "twice: really lies outside the interval in flushed, compaction output" in " ".join(text.split())
        assert len(lines) <= 40
        assert all(len(line) <= width for line in lines)
        assert lines[-1].startswith(("More: --full", "(charts)")) or "--full" in lines[-2]


@pytest.mark.parametrize("width", [80, 120])
def test_first_screens(width: int, report: PredictionReport, golden: Golden) -> None:
    golden(f"prediction-{width}.txt", PREDICTION.screen(report, width=width))


def test_the_text_says_all_of_it(report: PredictionReport) -> None:
    text = PREDICTION.printed(report, "text")
    lines = text.splitlines()
    assert "observed: really" in text
    assert "Self-consistency" in lines
    flushed = next(line for line in lines[lines.index("Under twice") :] if "flushed, MiB" in line)
    assert flushed.endswith("!")
    assert "lost: no replay finished" in text
    # a note of all options stands once
    assert text.count("default, 3") == 1


def test_a_log_too_short_to_say_is_said(report: PredictionReport) -> None:
    """Of families whose flushes do not fill one compaction, nothing is said of compactions."""
    half = report.prediction.predictions[0]
    short = Figures(flushes=0.4, flush_bytes=4e6)
    families = tuple(replace(one, predicted=Predicted(short, short, short)) for one in half.families)
    whole = replace(half, families=families, predicted=Predicted(short, short, short))
    prediction = replace(report.prediction, predictions=(whole,))
    one = PredictionReport("a", prediction, (None,))
    assert not unjudged(report, half)
    reason = unjudged(one, whole)
    assert "makes 0.4 flushes of default under these options, 8 start a compaction; about 40 times more" in reason
    text = " ".join(PREDICTION.screen(one).split())
    assert f"cannot be judged: {reason}" in text
    assert "-100" not in text
    assert "0.000" not in text
    rows = {row["figure"] for row in figures_chart(one).datasets["figures"].records()}
    assert rows == {"flushed"}
    assert reason in json.loads(to_json(one))["predictions"][0]["quality"][0]


def test_a_run_of_other_work_is_named(report: PredictionReport) -> None:
    half, twice, _ = report.observed
    assert half is not None
    unequal = replace(report, observed=(replace(half, work=0.885), twice, None))
    (said,) = [one for one in outside(unequal) if "same work" in one]
    assert said == "half: the flushes of really took in 12 % fewer operations than this log's: it is not the same work"
    assert not any("same work" in one for one in outside(report))


def test_observed_figures_outside_their_interval_are_named(report: PredictionReport) -> None:
    said = list(outside(report))
    assert any(one.startswith("twice: really lies outside the interval in flushed, compaction output") for one in said)
    assert not any(one.startswith("half: ") for one in said)


def test_markdown(report: PredictionReport) -> None:
    text = PREDICTION.printed(report, "markdown")
    assert text.startswith("## Prediction: LOG\n")
    assert "% compaction output" in text
    assert "lies outside the interval in" in text
    assert text.count("| figure |") >= 3
    assert all(note.split(":")[0].replace("_", "") in text.replace("\\", "").replace("_", "") for note in notes(report))


def test_the_page(report: PredictionReport) -> None:
    page = compose(report)
    assert [section.title for section in page.sections] == [
        *("In short", "Under half", "Under twice", "Under lost"),
        *("Stalls", "Before you believe it", "Self-consistency", "How each number is computed"),
    ]
    html = PREDICTION.printed(report, "html")
    assert html == PREDICTION.printed(report, "html")
    assert "http://" not in html.replace("http://www.w3.org", "").split("<script")[0]
    assert "twice: really lies outside the interval in flushed" in html


def test_a_row_for_each_figure(report: PredictionReport) -> None:
    rows = list(csv.DictReader(PREDICTION.printed(report, "csv").splitlines()))
    assert {row["options"] for row in rows} == {"half", "twice"}
    whole = {row["figure"]: row for row in rows if row["options"] == "half" and not row["column_family"]}
    assert whole.keys() == KEYS
    flushed = {name: float(whole["flush_mib"][name]) for name in ("this_log", "predicted", "observed")}
    assert flushed["predicted"] == pytest.approx(0.5 * flushed["this_log"], rel=0.05)
    assert flushed["observed"] == pytest.approx(0.5 * flushed["this_log"])
    families = [
        row for row in rows if (row["options"], row["figure"]) == ("half", "flush_mib") and row["column_family"]
    ]
    assert sum(float(row["predicted"]) for row in families) == pytest.approx(flushed["predicted"])


def test_charts_show_the_figures(report: PredictionReport) -> None:
    rows = figures_chart(report).datasets["figures"].records()
    assert len(rows) == 16
    flushed = next(row for row in rows if row["figure"] == "flushed" and row["options"] == "half")
    assert flushed["ratio"] == pytest.approx(0.5, abs=0.025)
    assert flushed["observed"] == pytest.approx(0.5, abs=1e-3)
    assert isinstance(flushed["low"], float)
    assert isinstance(flushed["high"], float)
    assert flushed["low"] < 0.5 < flushed["high"]
    before = log_total(report.prediction)
    for number in range(2):
        (data,) = families_chart(report, number).datasets.values()
        now = [row["mib"] for row in data.records() if row["kind"] == "this log"]
        assert sum(float(value or 0) for value in now) == pytest.approx(before.written_bytes / 2**20, abs=0.1)


def test_files(report: PredictionReport, tmp_path: Path) -> None:
    names = ["a.html", "a.md", "a.json", "a.txt", "a.csv", "figures.svg", "families.png"]
    for output in PREDICTION.outputs([str(tmp_path / name) for name in names]):
        PREDICTION.write(output, report)
    assert {path.name for path in tmp_path.iterdir()} == set(names)
    assert (tmp_path / "a.txt").read_text() == PREDICTION.printed(report, "text")
    assert "<svg" in (tmp_path / "figures.svg").read_text()
    assert (tmp_path / "families.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_predicted_nothing_drawn(predicting: Predicting, tmp_path: Path) -> None:
    report = PredictionReport("a", predicting(lost=None), (None,))
    assert "no prediction: no replay finished" in PREDICTION.printed(report, "html")
    (output,) = PREDICTION.outputs([str(tmp_path / "figures.svg")])
    with pytest.raises(LsmlensError, match="nothing to draw in the chart figures"):
        PREDICTION.write(output, report)
