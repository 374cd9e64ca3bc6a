"""The public interface of the tuners: what the commands do, without printing."""

import subprocess
import sys
from pathlib import Path

import pytest
from lsmlens import tuners
from lsmlens.analyzer import load
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.api import read_run
from lsmlens.tuners.options.presets import preset
from lsmlens.tuners.workloads.yaml_form import parse_workload

WORKLOAD = """\
schema: lsmlens.workload/1
name: small
seconds: 15
column_families:
- name: default
  keys: {length: 24}
  values: 100
  components:
  - {kind: overwrite, rate: 1500, working_sets: [{keys: 3000}]}
"""
SMALL = "small=write_buffer_size=262144,max_bytes_for_level_base=1048576,target_file_size_base=524288"
LARGE = "+write_buffer_size=524288"


@pytest.fixture
def two(fixtures: Path) -> list[Path]:
    return [fixtures / "rocksdb-weak-filter", fixtures / "rocksdb-filter"]


@pytest.fixture
def machine(tmp_path: Path) -> tuners.Machine:
    return tuners.Machine("rocksdict", work_dir=tmp_path / "work")


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    program = (
        "import sys\nfrom lsmlens import reports, tuners\nprint(tuners.__version__, reports.__version__)\n"
        "print([name for name in ('polars', 'numpy', 'scipy', 'optuna', 'rocksdict') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=60)
    versions, heavy = done.stdout.decode().splitlines()
    assert len(set(versions.split())) == 1
    assert heavy == "[]"


def test_what_is_public_is_there_and_documented() -> None:
    assert all(getattr(tuners, name).__doc__ for name in tuners.__all__)
    with pytest.raises(AttributeError, match="no attribute fit"):
        _ = tuners.fit


def test_a_workload_is_replayed_learned_and_predicted(machine: tuners.Machine, tmp_path: Path) -> None:
    workload = parse_workload(WORKLOAD, "small")
    (outcome,) = tuners.replay(workload, [SMALL], keep_logs=tmp_path / "logs", machine=machine)
    assert outcome.figures is not None
    learned = tuners.learn(tmp_path / "logs")
    assert learned.evidence.run.total.flush_bytes == outcome.figures.total.flush_bytes
    (one,) = tuners.predict(learned, [LARGE], seeds=1, machine=machine).predictions
    assert one.predicted is not None
    less, before = one.predicted.value.write_amplification, outcome.figures.total.write_amplification
    assert less is not None
    assert before is not None
    assert less < before
    duel = tuners.duel(learned, SMALL, LARGE, machine=machine)
    assert (duel.a.name, duel.b.name) == ("small", one.name)
    assert not list((tmp_path / "work").iterdir())


@pytest.mark.slow
def test_a_study_is_kept_and_gone_on_with(machine: tuners.Machine, tmp_path: Path) -> None:
    phases: list[str] = []
    told = tuners.Machine("rocksdict", jobs=2, work_dir=machine.work_dir, on_phase=phases.append)
    tuners.replay(parse_workload(WORKLOAD, "small"), [SMALL], keep_logs=tmp_path / "logs", machine=machine)
    first = tuners.tune(tmp_path / "logs", tmp_path / "study.db", trials=2, objective="wear", machine=told)
    assert phases
    assert phases[0] == "replaying the current settings"
    again = tuners.tune(tmp_path / "logs", tmp_path / "study.db", trials=2, objective="wear", machine=told)
    assert again.present == first.present


def test_bad_input_is_an_error_with_a_hint(fixtures: Path, machine: tuners.Machine) -> None:
    with pytest.raises(InputError) as raised:
        tuners.predict(fixtures / "rocksdb-7.8", ["+write_bufer_size=1"], machine=machine)
    assert "write_bufer_size" in str(raised.value)
    with pytest.raises(InputError, match="no such file"):
        tuners.learn("nowhere")


def test_sets_of_options_may_be_given_as_they_are(machine: tuners.Machine) -> None:
    (outcome,) = tuners.replay(parse_workload(WORKLOAD, "small"), [preset("rocksdb:default")], machine=machine)
    assert outcome.name == "rocksdb:default"


# ---- the one run of several


def test_the_only_database(fixtures: Path) -> None:
    notes: list[str] = []
    assert read_run([fixtures / "osd-stock"], on_notice=notes.append).run.name == "osd.0"
    assert notes == ["of 2 runs this is about osd.0"]


def test_one_of_several_has_to_be_named(two: list[Path]) -> None:
    with pytest.raises(InputError, match="2 runs") as raised:
        read_run(two)
    assert raised.value.hint == "choose one with --run: rocksdb-filter/LOG, rocksdb-weak-filter/LOG"
    with pytest.raises(InputError, match="2 runs called LOG"):
        read_run(two, "LOG")
    assert read_run(two, "rocksdb-filter/LOG").run.name == "rocksdb-filter/LOG"


def test_the_heaviest_of_several(two: list[Path]) -> None:
    notes: list[str] = []
    heaviest = read_run(two, heaviest=True, on_notice=notes.append)
    runs = load(*two).runs
    weights = {one.run.name: one.total.flush_bytes + one.total.compaction_output_bytes for one in runs}
    assert heaviest.run.name == max(weights, key=lambda name: weights[name])
    assert notes == [f"of 2 runs this is about {heaviest.run.name}, which writes most; --run chooses another"]
    assert read_run(two, "rocksdb-weak-filter/LOG", heaviest=True).run.name == "rocksdb-weak-filter/LOG"
    with pytest.raises(InputError, match="no run called x"):
        read_run(two, "x", heaviest=True)
