"""`lsmlens workload` and `lsmlens predict` as a user runs them, with the engine that is always there."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.printable import GROUP_SPACE
from lsmlens.reports.json_form import json_schema
from lsmlens.tuners.workloads.components import Overwrite
from lsmlens.tuners.workloads.yaml_form import parse_workload

Run = Callable[..., subprocess.CompletedProcess[bytes]]
WORKLOAD = """\
schema: lsmlens.workload/1
name: small
seconds: 60
column_families:
- name: default
  keys: {length: 24}
  values: 100
  components:
  - {kind: overwrite, rate: 1500, working_sets: [{keys: 6000}]}
"""
SMALL = "small=write_buffer_size=524288,max_bytes_for_level_base=1048576,target_file_size_base=524288"
LARGE = "large=+write_buffer_size=1048576"


@pytest.fixture(scope="module")
def logs(lsmlens: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Logs of real databases with the same work under two sets of options."""
    folder = tmp_path_factory.mktemp("logs")
    (folder / "small.yaml").write_text(WORKLOAD)
    large = SMALL.replace("small=write_buffer_size=524288", "large=write_buffer_size=1048576")
    done = lsmlens(
        *("replay", folder / "small.yaml", "--options", SMALL, "--options", large, "--engine", "rocksdict"),
        *("--work-dir", folder / "work", "--keep-logs", folder / "kept", "-q"),
    )
    assert done.returncode == 0, done.stderr
    found = {name: folder / "kept" / f"{number}-1" for number, name in ((1, "small"), (2, "large"))}
    assert all((path / "LOG").exists() for path in found.values())
    return found


@pytest.fixture
def predict(lsmlens: Run, tmp_path: Path) -> Run:
    def run(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
        return lsmlens(
            *("predict", *arguments, "--engine", "rocksdict", "--seeds", "1", "--work-dir", tmp_path / "work")
        )

    return run


def assert_refused(done: subprocess.CompletedProcess[bytes], *said: str) -> None:
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 2
    assert done.stdout == b""
    assert [line.split(" ")[0] for line in lines] == ["error:", "hint:"], lines
    for text in said:
        assert text in lines[0]


def test_a_prediction_beside_what_really_was(predict: Run, logs: dict[str, Path], tmp_path: Path) -> None:
    outputs = [tmp_path / f"out.{suffix}" for suffix in ("json", "txt", "md", "html")]
    named = [text for path in outputs for text in ("-o", str(path))]
    done = predict(logs["small"], "--options", LARGE, "--observed", logs["large"], *named)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    assert done.stdout.decode().startswith("Prediction: LOG\n")
    assert "% compaction output (" in done.stdout.decode().replace(GROUP_SPACE, " ")
    assert "Self-consistency" not in done.stdout.decode()
    assert "Self-consistency" in outputs[1].read_text()
    said = json.loads(outputs[0].read_text())
    schema = json_schema("lsmlens.prediction/1")
    Draft202012Validator(schema).validate(said)
    (one,) = said["predictions"]
    real = analyze([str(logs["large"])]).runs[0].total
    assert one["observed"]["figures"]["compactions"] == real.compactions
    assert one["predicted"]["flush_mib"] == pytest.approx(real.flush_bytes / 2**20, rel=0.1)
    assert one["predicted"]["write_amplification"] == pytest.approx(real.write_amplification, rel=0.2)
    assert one["predicted"]["write_amplification"] < said["fitted_on"]["observed"]["write_amplification"]
    assert outputs[2].read_text().startswith("## Prediction: ")
    assert outputs[3].read_text().startswith("<!doctype html>")
    assert not list((tmp_path / "work").iterdir())


def test_the_log_s_own_options_change_nothing(predict: Run, logs: dict[str, Path]) -> None:
    done = predict(logs["small"], "--options", f"same={logs['small']}", "--format", "json", "-q")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    (one,) = said["predictions"]
    assert one["observed"] is None
    told = {name: value for name, value in said["fitted_on"]["observed"].items() if value is not None}
    assert {"flush_mib", "total_output_size_mib", "compactions"} <= set(told)
    for name, value in told.items():
        assert one["predicted"][name] == pytest.approx(value, rel=0.02)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("absent", "--options", SMALL), "absent"),
        (("LOG",), "--options"),
        (("LOG", "--options", "+write_bufer_size=1"), "write_bufer_size"),
        (("LOG", "--options", SMALL, "--observed", "LOG", "--observed", "LOG"), "more --observed than --options"),
        (("LOG", "--options", SMALL, "--seeds", "0"), "--seeds"),
        (("LOG", "--options", SMALL, "--scale", "0.5"), "--scale"),
        (("LOG", "--options", SMALL, "-o", "front.svg"), "front.svg"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], said: str, lsmlens: Run, fixtures: Path) -> None:
    log = str(fixtures / "rocksdb-7.8")
    done = lsmlens("predict", *(log if one == "LOG" else one for one in arguments))
    assert_refused(done, said)


def test_a_log_without_a_flush_says_so(lsmlens: Run, fixtures: Path, tmp_path: Path) -> None:
    lines = (fixtures / "rocksdb-7.8" / "LOG").read_bytes().splitlines(keepends=True)[:40]
    (tmp_path / "LOG").write_bytes(b"".join(line for line in lines if b"EVENT" not in line))
    for command in (("workload",), ("predict", "--options", "ceph:reef")):
        assert_refused(lsmlens(command[0], tmp_path / "LOG", *command[1:]), "LOG")


def test_a_workload_s_summary_and_document(lsmlens: Run, logs: dict[str, Path], tmp_path: Path) -> None:
    document = tmp_path / "workload.yaml"
    done = lsmlens("workload", logs["small"], "--full", "-o", document, "-o", tmp_path / "workload.txt")
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert text == (tmp_path / "workload.txt").read_text()
    assert "puts and 0 deletes" in text
    assert "What no log tells, and what was taken for it" in text
    workload = parse_workload(document.read_text(), "small")
    assert workload.origin.kind == "fitted"
    printed = lsmlens("workload", logs["small"], "-o", "-")
    assert printed.stdout.decode() == document.read_text()
    parts = workload.column_families[0].components
    sets = [one.working_sets[0].keys for one in parts if isinstance(one, Overwrite)]
    assert sum(sets) == pytest.approx(6000, rel=0.15)


def test_a_learned_workload_can_be_replayed(lsmlens: Run, logs: dict[str, Path], tmp_path: Path) -> None:
    document = tmp_path / "workload.yaml"
    assert lsmlens("workload", logs["small"], "-o", document).returncode == 0
    done = lsmlens(
        *("replay", document, "--options", str(logs["small"]), "--engine", "rocksdict", "--format", "json", "-q"),
        *("--work-dir", tmp_path / "work"),
    )
    assert done.returncode == 0, done.stderr
    (outcome,) = json.loads(done.stdout)["outcomes"]
    real = analyze([str(logs["small"])]).runs[0].total
    assert outcome["flush_bytes"] == pytest.approx(real.flush_bytes, rel=0.08)
    assert outcome["write_amplification"]["lsm"] == pytest.approx(real.write_amplification, rel=0.15)


def test_an_estimate_is_held_against_what_was_really_written(lsmlens: Run, logs: dict[str, Path]) -> None:
    truth = logs["small"].parents[1] / "small.yaml"
    done = lsmlens("workload", logs["small"], "--exact", truth)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    title = lines.index(f"The estimate: against {truth}")
    assert lines[title + 2].split()[:6] == ["column", "family", "puts", "exact", "deletes", "exact"]
    start = lines.index("What windows leave, estimated and exact")
    curve = [line.split() for line in lines[start + 3 :] if line.strip().startswith("default")]
    assert len(curve) == 6
    for row in curve:
        learned, exact = (float(row[place]) for place in (-8, -6))
        assert learned == pytest.approx(exact, rel=0.1)


def test_a_trace_is_counted(lsmlens: Run, fixtures: Path, tmp_path: Path) -> None:
    # db_bench said: get:270 put:24 del:6, each of them three operations
    done = lsmlens("workload", fixtures / "query-traces" / "randomwithverify.trace")
    assert done.returncode == 0, done.stderr
    (row,) = [line.split() for line in done.stdout.decode().splitlines() if line.startswith("default")][:1]
    assert row[:9] == ["default", "72", "0", "18", "0", "0", "17.0", "B", "20.0"]
    assert_refused(
        lsmlens("workload", fixtures / "query-traces" / "randomwithverify.trace", "-o", tmp_path / "x.yaml"),
        "there is no document",
    )


def test_logged_write_batches_are_counted(lsmlens: Run, fixtures: Path) -> None:
    done = lsmlens("workload", fixtures / "osd-write-batches" / "ceph-osd.0.log.gz")
    assert done.returncode == 0, done.stderr
    head = done.stdout.decode().split("What windows")[0]
    rows = [line.replace("± ", "").split() for line in head.splitlines()[4:] if line]
    # as its source says: 3151 puts, 489 deletes, 67 single deletes, 918 merges
    assert [sum(int(row[place]) for row in rows) for place in (1, 2, 3, 4)] == [3151, 918, 489, 67]


@pytest.mark.parametrize("name", ["osd-mclock", "rocksdb-current"])
def test_workloads_of_real_logs(name: str, lsmlens: Run, fixtures: Path) -> None:
    done = lsmlens("workload", fixtures / name)
    assert done.returncode == 0, done.stderr
    assert b"What flushes show" in done.stdout
    assert b"Warning" not in done.stderr
