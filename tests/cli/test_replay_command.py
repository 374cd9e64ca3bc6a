"""`lsmlens replay` as a user runs it, with the engine that is always there."""

import csv
import json
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.cli import main
from lsmlens.reports.json_form import json_schema
from lsmlens.tuners.replays.workspace import PREFIX

Run = Callable[..., subprocess.CompletedProcess[bytes]]
WORKLOAD = """\
schema: lsmlens.workload/1
name: small
seconds: {seconds}
column_families:
- name: O
  shards: 3
  keys: {{length: 50, order: scattered}}
  values: 400
  components:
  - {{kind: overwrite, rate: 1200, working_sets: [{{keys: 10000}}]}}
- name: P
  keys: {{length: 40}}
  values: 200
  components:
  - {{kind: queue, rate: 300, lifetime_puts: 2000, trim: 100}}
"""
SMALL = "small=write_buffer_size=524288,max_bytes_for_level_base=2097152,target_file_size_base=524288"
LARGE = "large=write_buffer_size=2097152,max_bytes_for_level_base=8388608,target_file_size_base=2097152"


def test_the_version_that_wrote_the_log_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str | None] = []

    def choose(_: object, version: str | None, *__: object, **___: object) -> None:
        asked.append(version)
        raise LsmlensError("as far as this test goes")

    monkeypatch.setattr("lsmlens.tuners.api.choose_engine", choose)
    plain = WORKLOAD.format(seconds=15)
    learned = plain.replace("seconds: 15", "seconds: 15\norigin: {kind: fitted, source: osd.0, rocksdb_version: 6.8.1}")
    for name, text in (("plain.yaml", plain), ("learned.yaml", learned)):
        (tmp_path / name).write_text(text)
        for options in (["ceph:reef"], ["ceph:reef", "ceph:pacific"]):
            given = [argument for one in options for argument in ("--options", one)]
            assert main(["replay", str(tmp_path / name), *given]) == 2
    assert asked == ["7.9.2", None, "6.8.1", "6.8.1"]


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(WORKLOAD.format(seconds=15))
    return path


@pytest.fixture
def replay(lsmlens: Run, tmp_path: Path) -> Run:
    def run(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
        return lsmlens("replay", *arguments, "--engine", "rocksdict", "--work-dir", tmp_path / "work")

    return run


def assert_refused(done: subprocess.CompletedProcess[bytes], *said: str) -> None:
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 2
    assert done.stdout == b""
    assert [line.split(" ")[0] for line in lines] == ["error:", "hint:"], lines
    for text in said:
        assert text in lines[0]


def test_two_sets_side_by_side_and_into_files(replay: Run, workload: Path, tmp_path: Path) -> None:
    outputs = [tmp_path / f"out.{suffix}" for suffix in ("json", "csv", "txt")]
    named = [text for path in outputs for text in ("-o", str(path))]
    done = replay(workload, "--options", SMALL, "--options", LARGE, "--seeds", "2", "--full", *named)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    text = done.stdout.decode()
    assert text == outputs[2].read_text()
    assert re.search(r"^ +small +large$", text, re.MULTILINE)
    assert re.search(r"^Number of Compaction Events +\d+ +\d+$", text, re.MULTILINE)
    assert re.search(r"^O-2 +[\d.]+ / [\d.]+ / [\d.]+ +[\d.]+ / [\d.]+ / [\d.]+$", text, re.MULTILINE)
    assert re.search(r"^write_buffer_size .*512 KiB +2 MiB$", text, re.MULTILINE)
    said = json.loads(outputs[0].read_text())
    schema = json_schema("lsmlens.replay/1")
    Draft202012Validator(schema).validate(said)
    small, large = said["outcomes"]
    assert (small["options"], large["options"]) == ("small", "large")
    assert small["seeds"] == large["seeds"] == [1, 2]
    assert small["write_amplification"]["lsm"] > large["write_amplification"]["lsm"] >= 1
    assert not [note for one in said["outcomes"] for note in one["quality"] if "reconcile" in note]
    with outputs[1].open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["options"], row["seed"]) for row in rows] == [
        *(("small", "1"), ("small", "2"), ("large", "1"), ("large", "2")),
    ]
    assert not list((tmp_path / "work").iterdir())


def test_a_scaled_paced_replay_as_json(replay: Run, workload: Path, tmp_path: Path) -> None:
    done = replay(
        *(workload, "--options", "ceph:reef", "--mode", "paced", "--pace", "20", "--scale", "4", "--format", "json"),
        *("--keep-logs", tmp_path / "logs"),
    )
    assert done.returncode == 0, done.stderr
    (outcome,) = json.loads(done.stdout)["outcomes"]
    assert (outcome["options"], outcome["mode"], outcome["scale"]) == ("ceph:reef", "paced", 4.0)
    assert outcome["records"] == 4 * outcome["as_replayed"]["records"]
    assert outcome["latencies"]["response_micros"]["99"] > 0
    assert outcome["effective_options"]["column_families"]["P"]["min_write_buffer_number_to_merge"] == "32"
    assert {"O-0", "O-1", "O-2", "L", "P", "m-0"} < set(outcome["effective_options"]["column_families"])
    (log,) = (tmp_path / "logs").glob("*/LOG")
    assert b"EVENT_LOG" in log.read_bytes() or b"RocksDB version" in log.read_bytes()


@pytest.mark.parametrize(
    ("path", "records", "note"),
    [
        ("query-traces/randomwithverify.trace", 90, "810 gets and seeks were left out"),
        ("osd-write-batches/ceph-osd.0.log.gz", 4625, "range deletes are not logged"),
    ],
)
def test_what_was_recorded(path: str, records: int, note: str, replay: Run, fixtures: Path) -> None:
    done = replay(fixtures / path, "--options", "ceph:reef", "--format", "json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    (outcome,) = said["outcomes"]
    assert note in said["workload"]["notes"]
    assert outcome["records"] == outcome["memtable_entries"] == records
    assert [text for text in outcome["quality"] if "no memtable was filled" in text]
    assert not [text for text in outcome["quality"] if "debug_rocksdb" in text]


@pytest.mark.slow
def test_a_preset(replay: Run) -> None:
    done = replay("fillrandom", "--options", "rocksdb:default", "--scale", "64", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["workload"]["name"] == "fillrandom"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("absent.yaml", "--options", SMALL), "absent.yaml"),
        (("fillrandom", "--options", "ceph:nonsense"), "ceph:nonsense"),
        (("fillrandom", "--options", "x=write_bufer_size=1,ttl=0"), "write_bufer_size"),
        (("fillrandom", "--options", SMALL, "-o", "out.xyz"), "out.xyz"),
        (("fillrandom",), "--options"),
        (("fillrandom", "--options", SMALL, "--scale", "0"), "--scale"),
        (("fillrandom", "--options", SMALL, "--seeds", "0"), "--seeds"),
        (("fillrandom", "--options", SMALL, "--jobs", "many"), "--jobs"),
        (("fillrandom", "--options", "level0_file_num_compaction_trigger=30"), "level0"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], said: str, replay: Run) -> None:
    assert_refused(replay(*arguments), said)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ("15\nsecond: 15", "unknown field `second`"),
        ("15m", "$.seconds: Expected `float`, got `str`"),
        ("[15]", "$.seconds: Expected `float`, got `array`"),
        ("[15", "no YAML: line 4, column 16"),
    ],
)
def test_a_document_that_is_wrong(seconds: str, said: str, replay: Run, workload: Path) -> None:
    workload.write_text(WORKLOAD.format(seconds=seconds))
    assert_refused(replay(workload, "--options", SMALL), "small.yaml", said)


def test_a_folder_that_is_none(lsmlens: Run, workload: Path) -> None:
    done = lsmlens("replay", workload, "--options", SMALL, "--engine", "rocksdict", "--work-dir", workload)
    assert_refused(done, "no folder for the replay")


def test_without_room_it_says_so(replay: Run, workload: Path) -> None:
    done = replay(workload, "--options", SMALL, "--least-free-disk", str(1 << 30), "--seeds", "2")
    assert done.returncode == 2
    lines = done.stderr.decode().splitlines()
    assert [line.split(":")[0] for line in lines] == ["warning", "warning", "error", "hint"]
    assert "must stay free" in lines[0]
    assert "small no figures" in done.stdout.decode()
    assert "no run finished" in done.stdout.decode()


def test_equal_names_are_told_apart(replay: Run, workload: Path) -> None:
    done = replay(workload, "--options", "a=ttl=0", "--options", "a=ttl=100", "--format", "json", "--scale", "8")
    assert [one["options"] for one in json.loads(done.stdout)["outcomes"]] == ["a", "a#2"]


def paced(workload: Path, tmp_path: Path) -> list[str]:
    workload.write_text(WORKLOAD.format(seconds=60))
    how = ["--options", SMALL, "--mode", "paced", "--engine", "rocksdict", "--work-dir", str(tmp_path / "work")]
    return ["replay", str(workload), *how]


def wait_for_database(work: Path) -> None:
    end = time.monotonic() + 20
    while not list(work.glob(f"{PREFIX}*/db/LOG")):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_an_interrupt_stops_it_cleanly(command: list[str], workload: Path, tmp_path: Path) -> None:
    process = subprocess.Popen([*command, *paced(workload, tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_database(tmp_path / "work")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert (out, err) == (b"", b"error: interrupted\n")
    assert not list((tmp_path / "work").iterdir())


@pytest.mark.slow
def test_what_a_killed_command_left_is_removed_by_the_next(
    command: list[str], workload: Path, tmp_path: Path, replay: Run
) -> None:
    process = subprocess.Popen([*command, *paced(workload, tmp_path)], stdout=subprocess.DEVNULL)
    wait_for_database(tmp_path / "work")
    process.kill()
    process.wait()
    workload.write_text(WORKLOAD.format(seconds=1))
    done = replay(workload, "--options", SMALL)
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "work").iterdir())


def test_progress_on_a_terminal(command: list[str], workload: Path, tmp_path: Path) -> None:
    """Only where a person looks; and how long it still takes."""
    master, slave = pty.openpty()
    arguments = [*paced(workload, tmp_path), "--pace", "25"]
    with subprocess.Popen([*command, *arguments], stdout=subprocess.DEVNULL, stderr=slave) as process:
        os.close(slave)
        shown = b""
        with suppress(OSError):
            while piece := os.read(master, 4096):
                shown += piece
        os.close(master)
    assert process.returncode == 0
    line = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown)
    assert re.search(rb"replaying [^\r]*\d+% 0 of 1 runs  \d+ s left", line)
    assert shown.endswith(b"\x1b[1A\x1b[2K")


def test_the_help_names_every_option(lsmlens: Run) -> None:
    said: Any = lsmlens("replay", "--help").stdout.decode()
    for option in ("--options", "--engine-lib", "--rocksdb-version", "--mode", "--scale", "--seeds", "--jobs", "-o"):
        assert option in said
