"""A small log of a real embedded RocksDB, learned once for all tests."""

from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.tuners.engines.choice import EngineChoice, choose_engine
from lsmlens.tuners.estimation.fit import FittedWorkload, fit
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.reading import read_options
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.replays.outcome import ReplayPlan, replay
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.yaml_form import parse_workload

WORKLOAD = """
schema: lsmlens.workload/1
name: small
seconds: 20
column_families:
- name: default
  keys: {length: 24}
  values: 100
  components:
  - kind: overwrite
    rate: 1500
    working_sets: [{keys: 9000, zipf: 0.4}]
"""
OPTIONS = (
    "small=write_buffer_size=524288;max_bytes_for_level_base=524288;target_file_size_base=262144;"
    "max_write_buffer_number=4;compression=kNoCompression"
)


@pytest.fixture(scope="session")
def engine() -> EngineChoice:
    return choose_engine("rocksdict", None, None, False, lambda _: None)


@pytest.fixture(scope="session")
def small_log(engine: EngineChoice, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    plan = ReplayPlan(
        DeclaredStream(parse_workload(WORKLOAD, "small")),
        (read_options(OPTIONS),),
        keep_log=folder / "logs",
    )
    (outcome,) = replay(plan, Replayer(engine, jobs=1, work_dir=folder))
    assert not outcome.failures
    return next((folder / "logs").rglob("LOG"))


@pytest.fixture(scope="session")
def small_run(small_log: Path) -> RunAnalysis:
    (run,) = analyze([str(small_log)]).runs
    return run


@pytest.fixture(scope="session")
def fitted(small_run: RunAnalysis) -> FittedWorkload:
    return fit(small_run)


@pytest.fixture(scope="session")
def present(small_run: RunAnalysis) -> OptionSet:
    return options_of_run(small_run)
