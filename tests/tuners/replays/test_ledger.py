import resource
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.replays import Variant, trial_of
from lsmlens.tuners.replays.ledger import Ledger, trial_keys
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.trial import run_trial


def test_a_replay_comes_back_as_it_was(
    fitted: FittedWorkload, present: OptionSet, engine: EngineChoice, tmp_path: Path
) -> None:
    trial = trial_of(Variant(fitted.workload, 4.0, 1), present, engine, tmp_path)
    measured = run_trial(trial)
    assert isinstance(measured, Measurement)
    ledger = Ledger(tmp_path / "s.db")
    assert ledger.replay("k") is None
    ledger.keep_replay("k", measured)
    ledger.close()
    ledger.close()
    assert Ledger(tmp_path / "s.db").replay("k") == measured
    in_memory = Ledger()
    in_memory.keep_replay("k", measured)
    assert in_memory.replay("k") == measured
    assert Ledger().replay("k") is None


def test_keys_tell_what_differs(fitted: FittedWorkload, present: OptionSet, engine: EngineChoice) -> None:
    sets = [present, present.named("another name"), present.changed("max_bytes_for_level_base", "1048576")]
    trials = [
        trial_of(Variant(fitted.workload, scale, seed), one, engine, None)
        for one in sets
        for scale, seed in ((1.0, 1), (2.0, 1), (1.0, 2))
    ]
    keys = trial_keys(trials)
    assert keys[:3] == keys[3:6]
    assert len(set(keys)) == 6
    other = msgspec.structs.replace(fitted.workload, seconds=fitted.workload.seconds + 1)
    warned = replace(trials[0].options, warnings=("write_buffer_size=1: too small",))
    for one in (
        trial_of(Variant(other, 1.0, 1), present, engine, None),
        replace(trials[0], options=warned),
        replace(trials[0], engine=replace(engine, version="1.0.0")),
    ):
        assert trial_keys([one])[0] not in keys


def test_the_first_decision_stands(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "s.db")
    assert ledger.decided("scale", 4.0) == 4.0
    assert ledger.decided("scale", 8.0) == 4.0
    ledger.keep_fact("scale", [1, "x"])
    assert ledger.fact("scale") == [1, "x"]
    assert ledger.fact("nothing") is None


def test_a_replay_of_another_version_is_made_again(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "s.db")
    with sqlite3.connect(tmp_path / "s.db") as connection:
        connection.execute("INSERT INTO lsmlens_replays VALUES ('k', x'80')")
    connection.close()
    assert ledger.replay("k") is None


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("this is no database, and is long enough to be seen as none" * 20)
    with pytest.raises(InputError, match="no study can be kept there"):
        Ledger(tmp_path / "x")


def test_a_study_is_one_search_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    first = Ledger(path)
    with pytest.raises(InputError, match="another search is using this study") as raised:
        Ledger(path)
    assert raised.value.hint == "wait for it, or give another --study FILE"
    first.keep_fact("x", 1)
    first.close()
    second = Ledger(path)
    assert second.fact("x") == 1
    second.close()


@pytest.mark.slow
def test_the_lock_of_a_killed_search_is_gone_with_it(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from lsmlens.tuners.replays.ledger import Ledger\n"
        "ledger = Ledger(Path(sys.argv[1])); ledger.keep_fact('x', 1); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "s.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"\n"
        with pytest.raises(InputError, match="another search"):
            Ledger(tmp_path / "s.db")
        holder.kill()
    ledger = Ledger(tmp_path / "s.db")
    assert ledger.fact("x") == 1
    ledger.close()


def test_a_disk_that_fills_up_is_said_and_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "s.db")
    ledger.keep_fact("x", 1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
        with pytest.raises(InputError, match="the study cannot be kept: ") as raised:
            ledger.keep_fact("y", "y" * (1 << 18))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert raised.value.hint == "make room there; --resume goes on with what was kept"
    assert ledger.fact("y") is None
    ledger.close()
    again = Ledger(tmp_path / "s.db")
    assert again.fact("x") == 1
    again.close()
