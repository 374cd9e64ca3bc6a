"""The JSON document: the same bytes for the same log, as its schema says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.analysis_document import SCHEMA
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.reports.analysis_json import to_json
from lsmlens.reports.json_form import json_schema

FIXTURES = [
    "osd-stock",
    "osd-crash",
    "osd-container",
    "osd-reef",
    "osd-rotated",
    "osd-small-db",
    "rocksdb-7.8",
    "rocksdb-current",
]
ODD = b'2026/11/21-07:33:02.040964 10094 EVENT_LOG_v1 {"time_micros": 1795246382040918, "job": 3, '
LOGS = {
    "no events": b"2026/11/21-07:33:02.040964 10094 RocksDB version: 9.8.4\n",
    "an odd event": b"2026/11/21-07:33:02.040964 10094 first\n" + ODD + b'"event": "mutant", "x": 1}\n',
    "a broken event": b"2026/11/21-07:33:02.040964 10094 first\n" + ODD + b'"event": "trivial_move", "files": \n',
    "a stall": b"2026/11/21-07:33:02.040964 10094 first\n2026/11/21-07:33:02.040964 10094 [WARN] [db/c.cc:7]"
    b" [a] Stopping writes because we have 9 level-0 files\n",
    "no stamps": b"first\n" + ODD[ODD.index(b"EVENT") :] + b'"event": "mutant"}\n',
    "times past the calendar": b"first\n"
    + ODD.replace(b"1795246382040918", b"9223372036854775807")
    + b'"event": "m"}\n',
}


def document(analysis: Analysis) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(to_json(analysis))
    return said


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json_schema("lsmlens.analysis/1")
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def errors(validator: Draft202012Validator, said: Any) -> list[str]:
    return [f"{error.json_path}: {error.message:.200}" for error in validator.iter_errors(said)]


@pytest.mark.parametrize("name", FIXTURES)
def test_a_document_is_as_its_schema_says(name: str, fixtures: Path, validator: Draft202012Validator) -> None:
    said = json.loads(to_json(analyze([str(fixtures / name)])))
    assert said["schema"] == SCHEMA
    assert errors(validator, said) == []


@pytest.mark.parametrize("text", LOGS.values(), ids=LOGS)
def test_a_document_of_little_is_as_its_schema_says(
    text: bytes, tmp_path: Path, validator: Draft202012Validator
) -> None:
    (tmp_path / "LOG").write_bytes(text)
    selection = Selection("2026-11-20", "1900000000", frozenset({"a", ""}), 3)
    assert errors(validator, json.loads(to_json(analyze([str(tmp_path)], selection)))) == []
    assert errors(validator, json.loads(to_json(analyze([str(tmp_path)])))) == []


def test_the_schema_refuses_other_documents(fixtures: Path, validator: Draft202012Validator) -> None:
    spoilers: list[Callable[[dict[str, Any]], object]] = [
        lambda said: said.update(schema="lsmlens.analysis/2"),
        lambda said: said.pop("runs"),
        lambda said: said["runs"][0].update(name=3),
        lambda said: said["runs"][0]["compaction_statistics"].update(compaction_events="18"),
        lambda said: said["members"][0].update(role="novel"),
    ]
    for spoil in spoilers:
        said = document(analyze([str(fixtures / "osd-reef")]))
        assert errors(validator, said) == []
        spoil(said)
        assert errors(validator, said)


def test_a_document_says_the_same_bytes_each_time(fixtures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fixtures.parent)
    first, second = (to_json(analyze(["fixtures"])) for _ in range(2))
    assert first == second
    assert first.endswith("}\n")


def test_a_document_does_not_depend_on_hashes(
    fixtures: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import subprocess

    said = set()
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        run = [
            *command,
            "analyze",
            "fixtures/osd-crash",
            "fixtures/osd-stock",
            "--format",
            "json",
            "--cf",
            "P",
            "--cf",
            "L",
        ]
        done = subprocess.run(run, cwd=fixtures.parent, capture_output=True, check=True, timeout=60)
        said.add(done.stdout)
    assert len(said) == 1


def test_the_figures_of_a_real_osd(fixtures: Path) -> None:
    said = document(analyze([str(fixtures / "osd-stock")]))
    osd, monitor = said["runs"]
    assert (osd["name"], osd["monitor"], monitor["name"], monitor["monitor"]) == ("osd.0", False, "mon.a", True)
    assert (osd["ceph_version"], osd["rocksdb_version"], osd["utc_offset_seconds"]) == ("16.2.15", "6.8.1", 0)
    assert osd["compaction_statistics"]["compaction_events"] == 18
    assert osd["events"]["table_file_creation"] == 89
    assert len(osd["sessions"]) == 7
    assert osd["sessions"][-1]["opened_at"] == "2026-11-20T22:56:25.853Z"
    assert said["total"]["runs"] == ["osd.0"]
    assert osd["write_amplification"]["lsm"] == pytest.approx((2464.8 + 1411.5) / 2464.8, rel=1e-4)
    assert [family["name"] for family in osd["column_families"]] == sorted(
        ["L", "O-0", "O-1", "O-2", "P", "default", "m-0", "m-1", "m-2", "p-0", "p-1", "p-2"]
    )
    assert osd["data_quality"]["lines"] == 11369


def test_what_was_not_understood_is_shown(tmp_path: Path) -> None:
    (tmp_path / "LOG").write_bytes(LOGS["a broken event"])
    quality = document(analyze([str(tmp_path)]))["runs"][0]["data_quality"]
    assert quality["events_rejected"] == 1
    (line,) = quality["not_understood"]
    assert (line["member"], line["line"]) == (str(tmp_path / "LOG"), 2)
    assert line["text"].startswith('{"time_micros": 1795246382040918')
    assert "trivial_move" in line["reason"]


def test_names_that_are_no_text_are_shown(tmp_path: Path, log_text: Callable[[str], bytes]) -> None:
    import os

    file = os.fsencode(tmp_path) + b"/\xff\xfe.log"
    with open(file, "wb") as opened:  # noqa: PTH123 -- a name that is no text
        opened.write(log_text("osd-spillover/ceph-osd.0.log.gz"))
    assert json.loads(to_json(analyze([str(tmp_path)])))["runs"][0]["events"]["compaction_finished"] == 14
