"""What replays came to, as text, JSON and CSV."""

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from lsmlens.reports import markdown
from lsmlens.reports.benchmark import of_replays
from lsmlens.reports.document import Document
from lsmlens.reports.html import page
from lsmlens.reports.json_form import json_schema
from lsmlens.reports.outputs import REPLAY
from lsmlens.reports.replay import ReplayReport, compose
from lsmlens.reports.replay_json import to_json
from lsmlens.reports.terminal import render, whole
from lsmlens.tuners.replays.measurement import FailureKind, Measurement, Mode, TrialFailure
from lsmlens.tuners.replays.outcome import outcome_of

Measured = Callable[..., Measurement]
CRASH = TrialFailure(2, FailureKind.CRASHED, "the process was killed by SIGABRT")


def document(report: ReplayReport) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(to_json(report))
    return said


@pytest.fixture
def report(measured: Measured) -> ReplayReport:
    stock = [measured(), measured(seed=2, cpu_seconds=9.0)]
    family = {"write_buffer_size": "16777216", "compression": "kLZ4Compression"}
    options = replace(stock[0].options, name="reef", families={"default": family})
    paced = measured(options=options, mode=Mode.PACED, scale=16.0, notes=("something to know",))
    lost = replace(options, name="lost")
    return ReplayReport(
        "rbd-4k-randwrite",
        600.0,
        (
            outcome_of(stock[0].options, Mode.SETTLED, 1.0, stock),
            outcome_of(options, Mode.PACED, 16.0, [paced, CRASH]),
            outcome_of(lost, Mode.SETTLED, 1.0, [CRASH]),
        ),
        ("range deletes are not logged",),
    )


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    return {name: json_schema(f"lsmlens.{name}/1") for name in ("replay", "analysis")}


def test_a_document_is_as_its_schema_says(report: ReplayReport, schemas: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schemas["replay"])
    validator = Draft202012Validator(schemas["replay"])
    said = json.loads(to_json(report))
    assert [f"{error.json_path}: {error.message:.200}" for error in validator.iter_errors(said)] == []
    said["outcomes"][0]["mode"] = "hasty"
    assert not validator.is_valid(said)


def test_what_analyses_also_say_is_described_alike(schemas: dict[str, Any]) -> None:
    replay, analysis = schemas["replay"]["$defs"], schemas["analysis"]["$defs"]
    for name in ("CompactionStatisticsJson", "FamilyJson", "LevelJson", "AmplificationJson", "FlushJson"):
        assert replay[name] == analysis[name], name


def test_what_a_document_says(report: ReplayReport, measured: Measured) -> None:
    said = document(report)
    assert said["workload"]["notes"] == ["range deletes are not logged"]
    stock, reef, lost = said["outcomes"]
    run = measured()
    assert (stock["options"], stock["mode"], stock["scale"], stock["seeds"]) == ("stock", "settled", 1.0, [1, 2])
    assert stock["effective_options"]["column_families"]["default"]["write_buffer_size"] == "1048576"
    assert stock["compaction_statistics"]["compaction_events"] == run.statistics.compaction_events
    assert stock["write_amplification"]["lsm"] == run.total.write_amplification
    assert stock["latencies"] is None
    assert [one["seed"] for one in stock["runs"]] == [1, 2]
    assert reef["flush_bytes"] == 16 * reef["as_replayed"]["flush_bytes"] == 16 * run.total.flush_bytes
    assert reef["latencies"]["response_micros"]["99.9"] == 250.0
    assert reef["failures"] == [{"seed": 2, "kind": "crashed", "reason": "the process was killed by SIGABRT"}]
    assert "something to know" in reef["quality"]
    assert lost["compaction_statistics"] is None
    assert lost["column_families"] == []
    assert lost["quality"]


def test_the_text(report: ReplayReport) -> None:
    text = whole(compose(report))
    lines = text.splitlines()
    assert lines[0].startswith("RocksDB replay: rbd-4k-randwrite, ")
    assert "lost no figures" in lines[1] + lines[2]
    assert any(line.startswith("Number of Compaction Events") for line in lines)
    assert any(line.startswith("Write latency p99 (ms)*") and line.endswith("0.25") for line in lines)
    assert any(line.split()[:2] == ["compression", "default"] for line in lines)
    assert "divided by 16" in text
    assert "SIGABRT" in text
    assert "  ▲ workload: range deletes are not logged" in lines
    assert all(len(line) <= 120 for line in lines)


@pytest.mark.parametrize("width", [80, 120])
def test_first_screens(width: int, report: ReplayReport, golden: Callable[[str, str], None]) -> None:
    text = REPLAY.screen(report, width=width)
    assert all(len(line) <= width for line in text.splitlines())
    golden(f"replay-{width}.txt", text)


def test_the_verdict_comes_first_and_compares_with_the_first_options(report: ReplayReport) -> None:
    lines = render(compose(report)).splitlines()
    verdicts = lines[lines.index("") + 1 :][:3]
    assert re.match(r"  stock  \S+ \S+ written to tables · write amplification \d", verdicts[0])
    assert re.match(r"  reef   .* · [+-]\d+\.\d\u202f% · ", verdicts[1])
    assert "  lost   ✕ no run finished" in lines


def test_a_report_of_settled_runs_alone_has_no_latencies(report: ReplayReport) -> None:
    text = whole(compose(replace(report, outcomes=report.outcomes[:1])))
    assert "latency" not in text
    assert "Options that differ" not in text
    assert "lowest to highest" in text


@pytest.mark.parametrize("render_form", [markdown.render, page.render])
def test_every_form_has_the_verdict_and_the_costs(render_form: Callable[[Document], str], report: ReplayReport) -> None:
    text = render_form(compose(report))
    assert "no run finished" in text
    assert "Written by compactions (MiB)" in text
    assert "SIGABRT" in text


def test_one_row_a_run(report: ReplayReport, tmp_path: Path) -> None:
    (output,) = REPLAY.outputs([str(tmp_path / "runs.csv")])
    REPLAY.write(output, report)
    with output.path.open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["options"], row["seed"]) for row in rows] == [
        *(("stock", "1"), ("stock", "2"), ("reef", "1"), ("reef", "2"), ("lost", "2")),
    ]
    assert float(rows[2]["flush_mib"]) == pytest.approx(16 * float(rows[0]["flush_mib"]))
    assert rows[2]["p99.9_response_micros"] == "250.0"
    assert rows[3]["failure"] == "crashed: the process was killed by SIGABRT"


def test_dashboards_follow_every_set_of_options(report: ReplayReport) -> None:
    rows = {row["name"]: row for row in json.loads(of_replays(report))}
    stock = report.outcomes[0].figures
    assert stock is not None
    assert rows["stock/LSM write amplification"]["value"] == stock.total.write_amplification
    assert " to " in rows["stock/Flushed"]["range"]
    assert "range" not in rows["reef/Flushed"]
    assert rows["reef/Flushed"]["extra"] == "paced, at 1/16 of the size"
    assert not any(name.startswith("lost/") for name in rows)


@pytest.mark.parametrize("suffix", [".json", ".txt"])
def test_files(suffix: str, report: ReplayReport, tmp_path: Path) -> None:
    (output,) = REPLAY.outputs([str(tmp_path / f"out{suffix}")])
    REPLAY.write(output, report)
    assert output.path.read_text("utf-8") == (to_json(report) if suffix == ".json" else whole(compose(report)))
