"""What tests share: fixtures' folder, goldens refreshed by one flag, published figures, one way to run the command."""

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.measures.sorted_runs import SortedRuns
from lsmlens.analyzer.runs.reading import read_runs
from lsmlens.analyzer.runs.run import Run
from lsmlens.reports.analysis_json import to_json
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.engines.errors import EngineError
from lsmlens.tuners.engines.installing import install_version
from lsmlens.tuners.engines.library import Library, installed_libraries
from lsmlens.tuners.engines.read_counts import ReadCounts
from lsmlens.tuners.estimation.fit import FittedWorkload, fit
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.predictions.anchor import anchor_from, usual_variants
from lsmlens.tuners.predictions.figures import by_family
from lsmlens.tuners.predictions.prediction import Prediction, prediction_of
from lsmlens.tuners.predictions.replays import Replayed
from lsmlens.tuners.replays.manifest import FlushEdits
from lsmlens.tuners.replays.measurement import (
    PERCENTILES,
    FailureKind,
    Latencies,
    Measurement,
    Mode,
    Stalls,
    TrialFailure,
)

from tests.commands import CommandServer

# Engines that the user has fetched may be looked at, by tests that ask for a version; the tests' own cache is empty.
USERS_CACHE = platformdirs.user_cache_path("lsmlens")
FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
PUBLISHED = Path(__file__).resolve().parent / "published" / "mclock-study"
COMMAND = (sys.executable, "-c", "import sys; from lsmlens.cli import main; sys.exit(main())")


def pytest_configure(config: pytest.Config) -> None:
    """A cache of the tests' own, for their processes too: what a user has fetched must not change what is tested.

    Python keeps its bytecode, as in any installation: hundreds of processes would else compile all modules again.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    cache = tempfile.TemporaryDirectory(prefix="lsmlens-tests-")
    os.environ["XDG_CACHE_HOME"] = cache.name
    config.add_cleanup(cache.cleanup)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden outputs anew, to be reviewed as a diff")


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """A shell that starts the tests in the background has them ignore SIGINT, which some of them send."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def official_build() -> Callable[[str], Library]:
    """The official build of a version: the user's own, only read, else fetched once a session."""

    def find(version: str) -> Library:
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("XDG_CACHE_HOME", str(USERS_CACHE.parent))
            here = installed_libraries()
        found = next((one for one in (*here, *installed_libraries()) if one.version == version), None)
        if found is None:
            try:
                found = install_version(version)
            except EngineError as error:
                if "cannot be fetched" in str(error):
                    pytest.skip(f"needs network: {error}")
                raise
        return found

    return find


@pytest.fixture(scope="session")
def fixtures() -> Path:
    return FIXTURES


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Any:
    """Compare text with tests/golden/NAME, or write it there under --update-golden."""

    def check(name: str, text: str) -> None:
        path = Path(__file__).parent / "golden" / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"no golden output {name}: run pytest --update-golden and review it"
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(scope="session")
def lsmlens() -> Iterator[Callable[..., subprocess.CompletedProcess[bytes]]]:
    """Run the command as a user does: its own process, its own exit status."""
    server = CommandServer()

    def run(
        *arguments: str | Path, cwd: Path | None = None, stdin: bytes | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        given, environment = list(map(str, arguments)), {**os.environ, "NO_COLOR": "1"}
        if stdin is None:
            return server.run(given, cwd, environment)
        return subprocess.run(
            [*COMMAND, *given],
            cwd=cwd,
            input=stdin,
            capture_output=True,
            env=environment,
            timeout=120,
            check=False,
        )

    yield run
    server.close()


@pytest.fixture(scope="session")
def command() -> list[str]:
    """How the command is started, for tests that need its pipes or a terminal of their own."""
    return list(COMMAND)


@pytest.fixture(scope="session")
def log_text() -> Callable[[str], bytes]:
    """The content of a fixture's log, decompressed."""

    def read(name: str) -> bytes:
        data = (FIXTURES / name).read_bytes()
        return gzip.decompress(data) if name.endswith(".gz") else data

    return read


@pytest.fixture
def run_of(tmp_path: Path) -> Callable[..., Run]:
    """The one run that a log's text comes to, read from a file of that name."""

    def read(text: bytes | Iterable[bytes], name: str = "LOG") -> Run:
        file = tmp_path / name
        file.write_bytes(text if isinstance(text, bytes) else b"".join(line + b"\n" for line in text))
        (run,) = read_runs([str(file)])[1]
        return run

    return read


FIGURES = ("compaction_statistics", "column_families", "levels", "events", "write_amplification", "stalls")


@pytest.fixture(scope="session")
def runs_of() -> Callable[..., list[dict[str, Any]]]:
    """The runs that paths hold, as the JSON document has them."""

    def read(*paths: str | Path) -> list[dict[str, Any]]:
        runs: list[dict[str, Any]] = json.loads(to_json(analyze([str(path) for path in paths])))["runs"]
        return runs

    return read


@pytest.fixture(scope="session")
def figures() -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What a run comes to, without where it was read from: sums of floats to twelve digits, for their order varies."""

    def rounded(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: rounded(item) for name, item in value.items()}
        if isinstance(value, list):
            return [rounded(item) for item in value]
        return float(f"{value:.12g}") if isinstance(value, float) else value

    def chosen(run: dict[str, Any]) -> dict[str, Any]:
        opens = [(session["opened_at"], session["closed_at"]) for session in run["sessions"]]
        # What statistics dumps say is apart: transports that wrap each of their lines do not bring them whole.
        of_events = {"write_amplification": run["write_amplification"]["lsm"], "stalls": run["stalls"]["lines"]}
        said: dict[str, Any] = rounded({name: run[name] for name in FIGURES} | of_events)
        return said | {"sessions": opens}

    return chosen


@pytest.fixture(scope="session")
def measured() -> Callable[..., Measurement]:
    """A replay's measurement with the figures of a real LOG; `fields` take the place of what it says."""
    run = analyze([str(FIXTURES / "rocksdb-7.8")]).runs[0]
    family = {"write_buffer_size": "1048576", "compression": "kNoCompression"}
    options = ResolvedOptions(
        "stock", "7.8.3", {"max_background_jobs": "2"}, {"default": family}, {"default": {"block_size": "4096"}}
    )

    def make(**fields: Any) -> Measurement:
        latencies = Latencies(1000, dict.fromkeys(PERCENTILES, 250.0), dict.fromkeys(PERCENTILES, 50.0), 260.0)
        values: dict[str, Any] = {
            **{"seed": 1, "scale": 1.0, "mode": Mode.SETTLED, "engine": "capi", "rocksdb_version": "7.8.3"},
            **{"library": "/usr/lib/librocksdb.so", "options": options, "statistics": run.statistics},
            **{"families": run.families, "levels": run.levels, "total": run.total, "flushes": run.flushes},
            "stalls": Stalls(0.5, {("default", "slowdown", "level0_files"): 3}),
            "tickers": {"rocksdb.compact.write.bytes": run.total.compaction_output_bytes},
            "latencies": latencies if fields.get("mode") is Mode.PACED else None,
            "preloaded_records": 0,
            "records": sum(family.flush_input_records for family in run.families) + 7,
            **{"user_bytes": run.total.flush_bytes, "wal_bytes": run.total.flush_bytes, "flush_edits": FlushEdits(400)},
            **{"memtable_entries": {"default": 7}, "workload_seconds": 600.0, "wall_seconds": 9.5},
            **{"settle_seconds": 3.0, "generation_seconds": 0.5, "cpu_seconds": 8.25},
            **{"memory_before_open_bytes": 50 << 20, "peak_memory_bytes": 90 << 20},
            **{"space_bytes": 30 << 20, "peak_space_bytes": 64 << 20},
            "sorted_runs": {family.name: SortedRuns(1.5, 2.0, 1.25) for family in run.families},
            "reads": ReadCounts(400, 300, 900, 50, 1000, 150, 945, 600, 450, 200),
        }
        return Measurement(**values | fields)

    return make


@pytest.fixture(scope="session")
def learned() -> FittedWorkload:
    """The workload that a small real log shows."""
    return fit(analyze([str(FIXTURES / "rocksdb-7.8")]).runs[0])


@pytest.fixture(scope="session")
def predicting(learned: FittedWorkload) -> Callable[..., Prediction]:
    """Predictions from a real log and made-up replays.

    Under the log's own options these show what the log does times `bias`, under the options named what they do then
    times a factor, or nothing if it is None; from one to the next of `seeds` replays the factor grows by `spread`.
    """
    own = options_of_run(learned.evidence.run)
    most = usual_variants(learned, [own], 3)

    def make(
        bias: float = 1.1, spread: float = 0.02, seeds: int = 3, puts: float = 1000.0, **factors: float | None
    ) -> Prediction:
        observed = by_family(learned.evidence.run.families)
        variants = most[:seeds]

        def replays(factor: float | None, spread: float = 0.0) -> list[Replayed | TrialFailure]:
            if factor is None:
                return [TrialFailure(one.seed, FailureKind.CRASHED, "it was killed by SIGABRT") for one in variants]
            grown = [bias * factor * (1 + spread * number) for number in range(seeds)]
            return [
                Replayed(
                    {name: one.times(by) for name, one in observed.items()},
                    dict.fromkeys(observed, puts),
                    (),
                    {name: SortedRuns(1.5, 2.0 * by, 1.0) for name in observed},
                )
                for by in grown
            ]

        anchor = anchor_from(learned, own, EngineChoice("capi", "7.8.3"), variants, replays(1.0))
        return Prediction(
            anchor,
            tuple(
                prediction_of(anchor, own.changed("level0_file_num_compaction_trigger", "8").named(name), found)
                for name, found in ((name, replays(factor, spread)) for name, factor in factors.items())
            ),
        )

    return make


@pytest.fixture(scope="session")
def published() -> Callable[[str], dict[str, dict[str, float]]]:
    """A published study's figures for one kind of device, by configuration."""

    def rows(name: str) -> dict[str, dict[str, float]]:
        with (PUBLISHED / f"{name}.csv").open(newline="") as file:
            return {
                row.pop("configuration"): {field: float(value) for field, value in row.items() if value}
                for row in csv.DictReader(file)
            }

    return rows
