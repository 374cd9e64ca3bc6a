"""Replays in processes of their own: repeatable, reconciled, and costing nothing but themselves when they fail."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from lsmlens.analyzer.runs.reading import read_runs
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.replays.measurement import FailureKind, Measurement, Mode, TrialFailure
from lsmlens.tuners.replays.replayer import Replayer, ReplayProgress
from lsmlens.tuners.replays.replaying import COMPACTION_TICKER, FLUSH_TICKER
from lsmlens.tuners.replays.trial import Trial, run_trial
from lsmlens.tuners.replays.workspace import PREFIX, Limits
from lsmlens.tuners.workloads.components import Keys, Overwrite, Queue, WorkingSet
from lsmlens.tuners.workloads.document import ColumnFamily, Workload
from lsmlens.tuners.workloads.generator import DeclaredStream


def stream(seconds: float = 20.0, preload: int = 0) -> DeclaredStream:
    """A queue and overwritten keys: 1.5 MB of the one and 11 MB of the other."""
    short = Queue(rate=10.0, lifetime_puts=5)
    log = Queue(rate=300.0, lifetime_puts=2000, trim=100)
    objects = Overwrite(rate=1200.0, working_sets=(WorkingSet(keys=10_000),), preload=preload)
    return DeclaredStream(
        Workload(
            name="small",
            seconds=seconds,
            column_families=(
                ColumnFamily(name="default", keys=Keys(length=24), values=40, components=(short,)),
                ColumnFamily(name="O", keys=Keys(length=50, order="scattered"), values=400, components=(objects,)),
                ColumnFamily(name="P", keys=Keys(length=40), values=200, components=(log,)),
            ),
        )
    )


def options(version: str, **changes: str) -> ResolvedOptions:
    family = {
        **{"write_buffer_size": "524288", "max_write_buffer_number": "4", "target_file_size_base": "524288"},
        **{"max_bytes_for_level_base": "2097152", "compression": "kNoCompression", "arena_block_size": "0"},
        "level_compaction_dynamic_level_bytes": "false",
        **changes,
    }
    families = ("default", "O", "P")
    database = {"max_background_jobs": "2", "stats_dump_period_sec": "600"}
    return ResolvedOptions("stock", version, database, dict.fromkeys(families, family), {})


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    engine = EngineChoice("rocksdict", "9.8.4")
    return Trial(stream(), options(engine.version), engine, limits=Limits(0, 0), work_dir=tmp_path / "work")


@pytest.fixture
def close_engine() -> EngineChoice:
    """Debian's RocksDB 7.8."""
    library = next(Path("/usr/lib").glob("*/librocksdb.so.7.8"), None)
    if library is None:
        pytest.skip("no RocksDB 7.8 is installed on this system (Debian's package librocksdb7.8)")
    return EngineChoice("capi", "7.8.3", library)


@pytest.fixture
def long_trial(trial: Trial) -> Trial:
    """One that takes a minute, to be ended before."""
    return replace(trial, mode=Mode.PACED, stream=stream(60.0))


def measured(trial: Trial) -> Measurement:
    result = run_trial(trial)
    assert isinstance(result, Measurement), result
    return result


def failed(trial: Trial, **arguments: object) -> TrialFailure:
    result = run_trial(trial, **arguments)  # type: ignore[arg-type]
    assert isinstance(result, TrialFailure), result
    return result


def databases(trial: Trial) -> list[Path]:
    assert trial.work_dir is not None
    return sorted(trial.work_dir.glob(f"{PREFIX}*"))


def process_of(parent: int) -> psutil.Process:
    (child,) = [one for one in psutil.Process(parent).children() if "trial_process" in " ".join(one.cmdline())]
    return child


# ---- what a run comes to


def test_a_settled_run_is_repeatable_and_reconciles(trial: Trial) -> None:
    first, second = measured(trial), measured(trial)
    assert first.statistics.compaction_events == second.statistics.compaction_events > 5
    assert second.total.compaction_output_bytes == pytest.approx(first.total.compaction_output_bytes, rel=0.01)
    for one in (first, second):
        left = sum(one.memtable_entries.values())
        assert one.total.flush_input_records + left == one.records > 30_000
        assert left > 0
        assert one.tickers[COMPACTION_TICKER] == one.total.compaction_output_bytes
        edits = one.flush_edits
        assert edits.moved(one.tickers[FLUSH_TICKER] - one.total.flush_bytes - edits.bytes) is not None
        assert not [note for note in one.notes if "reconcile" in note]
    assert databases(trial) == []


def test_what_a_run_takes(trial: Trial) -> None:
    one = measured(trial)
    assert 0 < one.cpu_seconds < 60
    assert 0 < one.generation_seconds < one.wall_seconds
    assert 0 < one.settle_seconds < one.wall_seconds
    assert one.peak_memory_bytes > one.memory_before_open_bytes > 1 << 20
    assert one.space_bytes > 1 << 20
    assert one.peak_space_bytes >= one.space_bytes
    assert one.user_bytes > 10e6
    assert one.latencies is None
    assert (one.engine, one.rocksdb_version, one.library) == ("rocksdict", "9.8.4", None)
    assert one.options.families["O"]["write_buffer_size"] == "524288"
    assert one.options.database["stats_dump_period_sec"] == "0"


def test_what_was_there_before_is_in_no_figure(trial: Trial) -> None:
    one = measured(replace(trial, stream=stream(preload=10_000)))
    assert one.preloaded_records == 10_000
    assert one.records == measured(trial).records
    assert one.total.flush_input_records + sum(one.memtable_entries.values()) == one.records
    assert not [note for note in one.notes if "reconcile" in note]


def test_memtables_are_flushed_only_if_asked(trial: Trial) -> None:
    one = measured(replace(trial, flush_at_end=True))
    assert sum(one.memtable_entries.values()) == 0
    assert one.total.flush_input_records == one.records


def test_a_paced_run_takes_its_time_and_tells_latencies(trial: Trial) -> None:
    one = measured(replace(trial, mode=Mode.PACED, pace=20.0))
    assert one.wall_seconds >= 20 / 20 * 0.98
    assert one.latencies is not None
    assert one.latencies.writes > 100
    assert 0 < one.latencies.service_micros[50.0] <= one.latencies.response_micros[50.0]
    assert not [note for note in one.notes if "reconcile" in note]


def test_what_latencies_hold_besides_is_a_disturbance(trial: Trial) -> None:
    one = measured(replace(trial, mode=Mode.PACED, pace=20.0, scale=2.0))
    assert any("stalls, latency and CPU do not scale" in note for note in one.disturbances)
    assert set(one.disturbances) <= set(one.notes)


def test_the_log_may_be_kept(trial: Trial, tmp_path: Path) -> None:
    one = measured(replace(trial, keep_log=tmp_path / "logs"))
    (run,) = read_runs([str(tmp_path / "logs")])[1]
    assert run.event_counts["flush_finished"] == one.total.flushes
    assert run.rocksdb_version == "9.8.4"


@pytest.mark.slow
def test_scale_keeps_write_amplification(trial: Trial) -> None:
    """The same workload whole and at 1/16 of its size."""
    sizes = {"write_buffer_size": 1 << 20, "target_file_size_base": 1 << 20, "max_bytes_for_level_base": 4 << 20}
    big, small = (
        measured(
            replace(
                trial,
                stream=stream(600.0),
                scale=scale,
                options=options("9.8.4", **{name: str(round(size / scale)) for name, size in sizes.items()}),
            )
        )
        for scale in (1.0, 16.0)
    )
    assert small.total.write_amplification == pytest.approx(big.total.write_amplification, rel=0.05)
    assert small.multiplied().total.flush_bytes == pytest.approx(big.total.flush_bytes, rel=0.05)
    assert small.records == pytest.approx(big.records / 16, rel=0.01)


def test_engines_of_close_versions_agree(trial: Trial, close_engine: EngineChoice) -> None:
    """On a stream without single deletes and merges."""
    ours = measured(trial)
    theirs = measured(replace(trial, engine=close_engine, options=options(close_engine.version)))
    assert theirs.total.compaction_output_bytes == pytest.approx(ours.total.compaction_output_bytes, rel=0.03)
    assert theirs.total.flush_bytes == pytest.approx(ours.total.flush_bytes, rel=0.03)


# ---- failures


def test_a_crash_of_the_engine_is_told_and_costs_that_run_only(long_trial: Trial, trial: Trial) -> None:
    def crash(share: float) -> None:
        if share > 0.01:
            os.kill(process_of(os.getpid()).pid, signal.SIGABRT)

    failure = failed(long_trial, on_progress=crash)
    assert failure.kind is FailureKind.CRASHED
    assert "SIGABRT" in failure.reason
    assert databases(long_trial) == []
    measured(trial)


def test_options_that_are_refused(trial: Trial) -> None:
    failure = failed(replace(trial, options=options("9.8.4", write_buffer_size="plenty")))
    assert failure.kind is FailureKind.REFUSED
    assert "plenty" in failure.reason or "write_buffer_size" in failure.reason


def test_options_of_other_families(trial: Trial) -> None:
    families = {name: values for name, values in trial.options.families.items() if name != "P"}
    failure = failed(replace(trial, options=replace(trial.options, families=families)))
    assert failure.kind is FailureKind.REFUSED
    assert "default, O, P" in failure.reason


def test_a_library_that_is_none(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "librocksdb.so").write_bytes(b"no library")
    failure = failed(replace(trial, engine=EngineChoice("capi", "7.8.3", tmp_path / "librocksdb.so")))
    assert failure.kind is FailureKind.REFUSED
    assert "librocksdb.so" in failure.reason


@pytest.mark.parametrize("limits", [Limits(1 << 60, 0), Limits(0, 1 << 60)], ids=["disk", "memory"])
def test_without_room_nothing_is_begun(trial: Trial, limits: Limits) -> None:
    begun = time.monotonic()
    failure = failed(replace(trial, limits=limits))
    assert failure.kind is FailureKind.NO_ROOM
    assert "must stay free" in failure.reason
    assert time.monotonic() - begun < 5
    assert databases(trial) == []


def test_a_disk_that_fills_up_stops_the_run(long_trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([9 << 30, 9 << 30, 8 << 30, *[1 << 20] * 1000])
    monkeypatch.setattr(psutil, "disk_usage", lambda path: SimpleNamespace(free=next(looks)))
    failure = failed(replace(long_trial, limits=Limits(1 << 30, 0)))
    assert failure.kind is FailureKind.NO_ROOM
    assert failure.reason.startswith("stopped on its way: 1 MiB free on the disk")
    assert databases(long_trial) == []


def test_a_run_can_be_stopped(long_trial: Trial) -> None:
    stop = threading.Event()
    failure = failed(long_trial, on_progress=lambda share: stop.set(), stop=stop)
    assert failure.kind is FailureKind.STOPPED
    assert databases(long_trial) == []


# ---- nothing is left behind

OWNER = """
import pickle, sys
from lsmlens.tuners.replays.trial import run_trial
trial = pickle.load(sys.stdin.buffer)
run_trial(trial, lambda share: print(share, flush=True))
"""


@pytest.fixture
def owner(long_trial: Trial) -> Iterator[subprocess.Popen[bytes]]:
    """A process that replays, on its way."""
    import pickle

    process = subprocess.Popen([sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(pickle.dumps(long_trial))
    process.stdin.close()
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def wait_until(true: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.05)
    return true()


def test_a_killed_parent_takes_the_run_and_its_folder_along(long_trial: Trial, owner: subprocess.Popen[bytes]) -> None:
    child = process_of(owner.pid)
    assert len(databases(long_trial)) == 1
    owner.kill()
    assert wait_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
    assert wait_until(lambda: databases(long_trial) == [])


def test_when_both_are_killed_the_next_start_removes_the_folder(
    long_trial: Trial, trial: Trial, owner: subprocess.Popen[bytes]
) -> None:
    child = process_of(owner.pid)
    owner.send_signal(signal.SIGSTOP)
    child.kill()
    owner.kill()
    owner.wait()
    assert len(databases(long_trial)) == 1
    measured(replace(trial, stream=stream(2.0)))
    assert databases(long_trial) == []


# ---- many runs


def test_many_runs_keep_their_order_and_fail_alone(trial: Trial) -> None:
    short = replace(trial, stream=stream(4.0))
    trials = [short, replace(short, options=options("9.8.4", write_buffer_size="plenty")), replace(short, seed=7)]
    told: list[tuple[int, int, float]] = []

    def note(progress: ReplayProgress) -> None:
        told.append((progress.done, progress.failed, progress.share))

    first, second, third = Replayer(trial.engine, jobs=2, on_progress=note).make(trials)
    assert isinstance(first, Measurement)
    assert isinstance(second, TrialFailure)
    assert isinstance(third, Measurement)
    assert (first.seed, third.seed) == (0, 7)
    assert told[-1] == (3, 1, 1.0)
    assert databases(trial) == []


def test_an_interrupt_ends_all_runs(long_trial: Trial) -> None:
    interrupted = threading.Event()

    def interrupt(progress: ReplayProgress) -> None:
        if progress.share > 0 and not interrupted.is_set():
            interrupted.set()
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Replayer(long_trial.engine, jobs=2, on_progress=interrupt).make([long_trial] * 3)
    assert databases(long_trial) == []
    assert not [one for one in psutil.Process().children() if "trial_process" in " ".join(one.cmdline())]


def test_runs_elsewhere(trial: Trial) -> None:
    from concurrent.futures import ThreadPoolExecutor

    short = replace(trial, stream=stream(2.0))
    with ThreadPoolExecutor(2) as executor:
        results = Replayer(trial.engine, executor=executor).make([short, replace(short, seed=2)])
    assert [one.seed for one in results] == [0, 2]
    assert all(isinstance(one, Measurement) for one in results)
