"""Comparisons as text, JSON and CSV: goldens, the schema, the published form, and the same bytes each time."""

import csv
import json
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from lsmlens.analyzer.comparison.arms import parse_arm, read_arms
from lsmlens.analyzer.comparison.comparison import Comparison, compare
from lsmlens.analyzer.comparison.gates import judge_gates, parse_gate
from lsmlens.analyzer.metrics import LABELS
from lsmlens.reports.comparison import ComparisonReport, compose
from lsmlens.reports.comparison_csv import to_csv
from lsmlens.reports.comparison_json import SCHEMA, to_json
from lsmlens.reports.json_form import json_schema
from lsmlens.reports.terminal import COMMAND_INDENT, render, whole

Golden = Callable[[str, str], None]
SAVED = "fixtures/saved-analyses"
ARMS: dict[str, tuple[str, ...]] = {
    "scaled": tuple(f"{name}={SAVED}/{name}-scaled.json.gz" for name in ("stock", "reef-original", "reef-new")),
    "published": ("fixtures/published/pr51821-rgw-4k.csv",),
    "rate-limited": ("fixtures/published/pr51821-rate-limited.csv",),
    "bundles": ("fixtures/osd-stock", "fixtures/osd-reef"),
    "repeated": (
        f"stock={SAVED}/stock-scaled.json.gz",
        f"reef={SAVED}/reef-original-scaled.json.gz,{SAVED}/reef-new-scaled.json.gz",
    ),
    "clients": (
        "2=fixtures/osd-stock/fio_B.json",
        "4=fixtures/osd-stock/fio_E.json",
        "8=fixtures/osd-stock/fio_B.json",
    ),
}


def document(comparison: Comparison) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(to_json(comparison))
    return said


@pytest.fixture(autouse=True)
def _in_the_root(fixtures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fixtures.parent)


def of(name: str) -> Comparison:
    return compare(read_arms([parse_arm(arm) for arm in ARMS[name]]))


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json_schema("lsmlens.comparison/1")
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def errors(validator: Draft202012Validator, said: Any) -> list[str]:
    return [f"{error.json_path}: {error.message:.200}" for error in validator.iter_errors(said)]


def screen(comparison: Comparison, width: int | None = None, full: bool = False) -> str:
    return render(compose(ComparisonReport(comparison)), full, width)


@pytest.mark.parametrize("name", ["scaled", "published", "clients"])
def test_the_first_screen_of_a_comparison(name: str, golden: Golden) -> None:
    golden(f"compare-{name}.txt", screen(of(name)))


@pytest.mark.parametrize("width", [80, 120])
def test_first_screens(width: int, golden: Golden) -> None:
    text = screen(of("scaled"), width)
    assert all(len(line) <= width for line in text.splitlines())
    golden(f"compare-scaled-{width}.txt", text)


def test_all_of_it_shows_what_is_not_significant_and_why(golden: Golden) -> None:
    golden("compare-repeated-all.txt", screen(of("repeated"), full=True))


@pytest.mark.parametrize("name", ARMS)
def test_text_is_as_wide_as_the_terminal(name: str) -> None:
    comparison = of(name)
    for full in (False, True):
        text = screen(comparison, 100, full)
        for line in text.splitlines():
            is_whole = line.startswith(" " * COMMAND_INDENT) or " " not in line.strip()
            assert len(line) <= 100 or is_whole, line
            assert line == line.rstrip()
        assert text.endswith("\n")
        assert not text.endswith("\n\n")


def test_colour_changes_the_looks_alone() -> None:
    document = compose(ComparisonReport(of("scaled")))
    plain, colour = (render(document, colour=is_on) for is_on in (False, True))
    assert colour.count("\x1b[32mbetter\x1b[0m") > 3
    assert re.sub(r"\x1b\[[\d;]*m", "", colour) == plain


def test_what_is_hidden_is_counted() -> None:
    comparison = of("scaled")
    text, everything = screen(comparison), screen(comparison, full=True)
    (first, second) = re.findall(
        r"hidden: (\d+) not significant \((?:(\d+) perhaps by chance, )?(\d+) of unknown noise\)", text
    )
    for hidden, chance, unknown in (first, second):
        assert int(hidden) == int(chance or 0) + int(unknown)
    titled = everything.split("  reef-original: all ")[1].split("\n\n")[0]
    whole_database = {row.metric.label for row in comparison.rows if row.metric.part is None}
    shown = [line for line in titled.splitlines() if re.split(r"  +", line)[0] in whole_database]
    assert sum(line.endswith(("not significant", "noise unknown")) for line in shown) == int(first[0])


def test_the_verdict_comes_first_and_what_to_know_of_it_before_tables() -> None:
    lines = screen(of("scaled")).splitlines()
    assert lines[0] == "RocksDB comparison: reef-original, reef-new against stock"
    assert re.match(r"  reef-original  worse in \d metrics · better in \d+ metrics · \d+ not judged", lines[3])
    text = "\n".join(lines)
    said = ["write amplification (LSM) 4.95 to 3.01, better", "  ▲ ", "What changed", "Compaction statistics"]
    places = [text.index(one) for one in said]
    assert places == sorted(places)


def test_failed_gates_come_before_all_else() -> None:
    comparison = of("scaled")
    gates = judge_gates([parse_gate("write_amp:-10%"), parse_gate("stall_seconds:>0")], comparison)
    text = render(compose(ComparisonReport(comparison, gates)))
    said = ["  ✕ Gate failed: write_amplification_lsm of reef-original is 3.01295", "  reef-original  worse in"]
    assert [text.index(one) for one in said] == sorted(text.index(one) for one in said)
    assert "  Gate passed: stall_seconds of reef-original is 0; the limit is >0" in text


@pytest.mark.parametrize("name", ARMS)
def test_a_document_is_as_its_schema_says(name: str, validator: Draft202012Validator) -> None:
    comparison = of(name)
    said = json.loads(to_json(comparison))
    assert said["schema"] == SCHEMA
    assert errors(validator, said) == []
    count = len(comparison.arms)
    for metric in said["metrics"]:
        for lists in ("values", "samples", "spreads", "printed", "ratios", "verdicts"):
            assert len(metric[lists]) == count
        assert metric["verdicts"][0] is None


def test_gates_are_in_the_document(validator: Draft202012Validator) -> None:
    comparison = of("scaled")
    said = json.loads(to_json(comparison, judge_gates([parse_gate("write_amp:-10%")], comparison)))
    assert errors(validator, said) == []
    assert [(gate["run"], gate["failed"]) for gate in said["gates"]] == [("reef-original", True), ("reef-new", True)]


def test_the_schema_refuses_other_documents(validator: Draft202012Validator) -> None:
    said = document(of("published"))
    spoilers: list[Callable[[dict[str, Any]], object]] = [
        lambda said: said.update(schema="lsmlens.comparison/2"),
        lambda said: said["metrics"][0].update(verdict="splendid"),
        lambda said: said["metrics"][0].pop("values"),
        lambda said: said.update(runs=said["runs"][:1]),
        lambda said: said.update(news=1),
    ]
    for spoil in spoilers:
        spoilt = json.loads(json.dumps(said))
        spoil(spoilt)
        assert errors(validator, spoilt)


def test_the_document_of_three_scaled_bundles() -> None:
    said = document(of("scaled"))
    assert [run["name"] for run in said["runs"]] == ["stock", "reef-original", "reef-new"]
    (amplification,) = [one for one in said["metrics"] if one["name"] == "write_amplification_lsm"]
    assert amplification["values"] == pytest.approx([4.948376, 3.012949, 3.241190], rel=1e-6)
    assert amplification["ratios"] == pytest.approx([1, 3.012949 / 4.948376, 3.241190 / 4.948376], rel=1e-6)
    assert amplification["verdict"] == "better"
    assert [verdict and verdict["verdict"] for verdict in amplification["verdicts"]] == [None, "better", "better"]


@pytest.mark.parametrize("name", ["full-speed", "rate-limited", "rgw-4k"])
def test_a_published_table_comes_out_as_it_went_in(name: str) -> None:
    file = Path(f"fixtures/published/pr51821-{name}.csv")
    comparison = compare(read_arms([parse_arm(str(file))]))
    assert to_csv(comparison) == file.read_text()
    text = whole(compose(ComparisonReport(comparison)))
    for label, *cells in list(csv.reader(file.read_text().splitlines()))[1:]:
        for cell in cells:
            assert re.search(rf"^{re.escape(label)} .*(?<![\d.]){re.escape(cell)}(?![\d.])", text, re.MULTILINE), (
                label,
                cell,
            )


def test_csv_of_bundles_can_be_compared_again(tmp_path: Path) -> None:
    first = of("bundles")
    text = to_csv(first)
    header, *rows = list(csv.reader(StringIO(text)))
    assert header == ["metric", "osd-stock", "osd-reef"]
    assert [row[0] for row in rows[:13]] == list(LABELS.values())
    (tmp_path / "figures.csv").write_text(text)
    again = compare(read_arms([parse_arm(str(tmp_path / "figures.csv"))]))
    assert to_csv(again) == text
    for row in again.rows:
        known = first.row(row.metric.name)
        assert known is not None
        assert row.values == known.values


def test_outputs_are_the_same_bytes_each_time(
    command: list[str], fixtures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import subprocess

    said = set()
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        run = [*command, "compare", *ARMS["scaled"][:2], "--format", "json", "--all"]
        said.add(subprocess.run(run, cwd=fixtures.parent, capture_output=True, check=True, timeout=60).stdout)
    assert len(said) == 1
