"""The search beside its peers where LLM tuners publish theirs: db_bench, one thread, direct I/O, no compression.

    uv run pytest -m slow -s tests/benchmarks/test_db_bench_peers.py

Set-ups: `fillrandom`; `mixgraph` with get/put/seek .83/.14/.03 at a sine rate, keys of 48 and values of 43 bytes; and
`readrandomwriterandom` 90/10 and 50/50; all but the first after a load. Published ones have 25 and 5 million keys and
60 seconds; here keys, write buffers, levels and memory are SCALE times smaller, and a run lasts LSMLENS_BENCH_SECONDS.

Each tuner runs the benchmark 3 and 8 times: random search and Optuna's TPE draw from the same space with the same limit
of memory and know what earlier runs gave; presets are Ceph's, as much smaller; lsmlens learns from the LOG of the first
run under RocksDB's defaults, searches by replays, and its 8 cheapest candidates are run. In every round each tuner has
its turn, and so have the defaults. At the end the best of each are run again, in turn: what stands in the table is from
these runs alone. LSMLENS_DB_BENCH is another db_bench than the one on the path, LSMLENS_BENCH_SEEDS ("1") how many
seeds random search and TPE have, LSMLENS_BENCH_SETUPS names some of the set-ups.
"""

import dataclasses
import os
import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import optuna
import pytest
from lsmlens.tuners.engines.choice import choose_engine
from lsmlens.tuners.estimation.fit import fit
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.presets import preset
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.replays.ledger import Ledger
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.search.evaluation import Evaluator
from lsmlens.tuners.search.request import TuningRequest
from lsmlens.tuners.search.scores import Objective
from lsmlens.tuners.search.screening import presets
from lsmlens.tuners.search.space import Space
from lsmlens.tuners.search.tuning import Tuning

from .db_bench import Benchmark, BenchRun, run_benchmark

BINARY = os.environ.get("LSMLENS_DB_BENCH", "db_bench")
SECONDS = os.environ.get("LSMLENS_BENCH_SECONDS", "6")
SEEDS = range(1, 1 + int(os.environ.get("LSMLENS_BENCH_SEEDS", "1")))
SCALE = 64
MEMORY = (1 << 30) // SCALE
VERSION = "7.8.3"
BUDGETS, AGAIN = (3, 8), 3
LOADED = f"--num={5_000_000 // SCALE}"
SETUPS = (
    Benchmark("fillrandom", "fillrandom", (f"--num={25_000_000 // SCALE}",)),
    Benchmark(
        "mixgraph",
        "fillrandom,mixgraph",
        (
            *(LOADED, "--key_size=48", "--value_size=43", "--mix_accesses=100000000"),
            *("--mix_get_ratio=0.83", "--mix_put_ratio=0.14", "--mix_seek_ratio=0.03"),
            *("--sine_mix_rate=1", "--sine_mix_rate_interval_milliseconds=500"),
            *("--sine_a=20000", "--sine_b=1.5", "--sine_d=60000"),
        ),
    ),
    Benchmark("90/10", "fillrandom,readrandomwriterandom", (LOADED, "--readwritepercent=90")),
    Benchmark("50/50", "fillrandom,readrandomwriterandom", (LOADED, "--readwritepercent=50")),
)
ASKED = os.environ.get("LSMLENS_BENCH_SETUPS", "").split(",")
Choices = Mapping[str, str]
Tuner = Callable[[Sequence[tuple[OptionSet, float]]], OptionSet | None]


class Best(NamedTuple):
    """What a tuner found best with a budget of so many runs."""

    tuner: str
    budget: int
    options: OptionSet


def defaults() -> OptionSet:
    """RocksDB's defaults, smaller by SCALE, without compression and with direct I/O."""
    options = dataclasses.replace(preset("rocksdb:default"), rocksdb_version=VERSION)
    said = {
        "write_buffer_size": str((64 << 20) // SCALE),
        "max_bytes_for_level_base": str((256 << 20) // SCALE),
        "target_file_size_base": str((64 << 20) // SCALE),
        "compression": "kNoCompression",
        "use_direct_reads": "true",
        "use_direct_io_for_flush_and_compaction": "true",
    }
    for option, value in said.items():
        options = options.changed(option, value)
    return options.named("default")


def of_preset(one: OptionSet, space: Space) -> OptionSet:
    """A preset of Ceph's, smaller by SCALE, as far as the space has its options."""
    smaller = one
    for option in ("write_buffer_size", "max_bytes_for_level_base", "target_file_size_base", "max_total_wal_size"):
        value = one.value_of(option)
        if value is not None and value.isdecimal():
            smaller = smaller.changed(option, str(int(value) // SCALE))
    choices = {**space.choices_of(smaller), "compression": "kNoCompression"}
    return space.candidate({name: value for name, value in choices.items() if name in space.present}, one.name)


def drawn(tuning: Tuning, rng: np.random.Generator) -> Choices:
    """Choices within the bounds, each as likely."""
    while True:
        choices = {one.name: str(rng.choice(one.values)) for one in tuning.space.dimensions}
        if tuning.bounds.problem(tuning.space.candidate(choices, "drawn")) is None:
            return choices


def at_random(tuning: Tuning, seed: int) -> Tuner:
    rng = np.random.default_rng(seed)
    return lambda _: tuning.space.candidate(drawn(tuning, rng), f"random {seed}")


def by_tpe(tuning: Tuning, seed: int) -> Tuner:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=BUDGETS[0])
    )
    asked: list[optuna.Trial] = []

    def propose(known: Sequence[tuple[OptionSet, float]]) -> OptionSet:
        if asked:
            study.tell(asked[-1], known[-1][1])
        while True:
            trial = study.ask()
            choices = {one.name: trial.suggest_categorical(one.name, one.values) for one in tuning.space.dimensions}
            options = tuning.space.candidate(choices, f"TPE {seed}")
            if tuning.bounds.problem(options) is None:
                asked.append(trial)
                return options
            study.tell(trial, state=optuna.trial.TrialState.FAIL)

    return propose


def one_by_one(every: Sequence[OptionSet]) -> Tuner:
    left = iter(every)
    return lambda _: next(left, None)


def tuned(run: BenchRun, path: Path) -> tuple[Tuning, list[OptionSet]]:
    """The search around the defaults' LOG, and its candidates, the cheapest first."""
    analysis = run.analysis()
    engine = choose_engine(None, VERSION, None, False, lambda _: None)
    present = options_of_run(analysis)
    evaluator = Evaluator(fit(analysis), present, Replayer(engine, ledger=Ledger(path)))
    request = TuningRequest(
        Objective.THROUGHPUT, trials=12, frozen=("compression",), memory_bytes=MEMORY, finalists=3, draws=2
    )
    tuning = Tuning(evaluator, request, path, lambda _: None)
    found = tuning.recommend()
    first = [one.options for one in (found.picked, *found.finalists) if one is not None]
    cheapest = sorted((one for one in found.tried if one.cost is not None), key=lambda one: one.cost or 0.0)
    candidates = [*first, *(tuning.space.candidate(one.choices, one.name) for one in cheapest)]
    different: list[OptionSet] = []
    for one in candidates:
        if one.differences(present) and all(one.differences(other) for other in different):
            different.append(one.named("lsmlens"))
    return tuning, different[: BUDGETS[-1]]


def over(space: Space, options: OptionSet) -> OptionSet:
    """What was tuned, over the defaults that db_bench was given: a log prints more than anybody set."""
    found = defaults()
    for one in options.differences(space.base):
        if one.value is not None:
            found = found.changed(one.option, one.value, None)
    return found.named(options.name)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(BINARY) is None, reason="no db_bench (Debian: rocksdb-tools)")
@pytest.mark.parametrize(
    "setup", [one for one in SETUPS if not any(ASKED) or one.name in ASKED], ids=lambda one: str(one.name)
)
def test_what_tuners_find_in_a_few_runs(setup: Benchmark, tmp_path: Path) -> None:
    setup = dataclasses.replace(setup, flags=(*setup.flags, f"--duration={SECONDS}"))
    number = iter(range(10_000))

    def run(options: OptionSet) -> BenchRun:
        return run_benchmark(BINARY, setup, options, VERSION, tmp_path / str(next(number)))

    first = run(defaults())
    tuning, ours = tuned(first, tmp_path / "study.db")
    space = tuning.space
    tuners: dict[str, Tuner] = {"lsmlens": one_by_one(ours)}
    for seed in SEEDS:
        tuners |= {f"random {seed}": at_random(tuning, seed), f"TPE {seed}": by_tpe(tuning, seed)}
    fitting = [of_preset(one, space) for one in presets()]
    tuners["presets"] = one_by_one([one for one in fitting if tuning.bounds.problem(one) is None])
    known: dict[str, list[tuple[OptionSet, float]]] = {name: [] for name in tuners}
    for _ in range(BUDGETS[-1]):
        run(defaults())
        for name, tuner in tuners.items():
            options = tuner(known[name])
            if options is not None:
                known[name].append((options, run(over(space, options)).ops_per_second))
    best = [
        Best(name, budget, over(space, max(found[:budget], key=lambda one: one[1])[0]))
        for name, found in known.items()
        for budget in BUDGETS
        if found
    ]
    again: dict[int, list[BenchRun]] = {place: [] for place in range(-1, len(best))}
    for _ in range(AGAIN):
        for place, runs in again.items():
            runs.append(run(defaults() if place < 0 else best[place].options))
    load = os.getloadavg()[0]
    print(f"\n{setup.name}: 1/{SCALE}, {SECONDS} s, {platform.machine()}, {os.cpu_count()} cores, load {load:.1f}")
    print("| tuner | runs | operations/s | over the defaults | p99, µs | bytes an operation |")
    print("|---|---|---|---|---|---|")
    base = again[-1]
    for place, runs in again.items():
        name, budget = ("defaults", "") if place < 0 else (best[place].tuner, str(best[place].budget))
        gains = [one.ops_per_second / other.ops_per_second for one, other in zip(runs, base, strict=True)]
        ops, p99 = (median(getattr(one, what) for one in runs) for what in ("ops_per_second", "p99_micros"))
        each = median(one.written_bytes / (one.ops_per_second * float(SECONDS)) for one in runs)
        print(f"| {name} | {budget} | {ops:,.0f} | {median(gains):.2f} | {p99:,.0f} | {each:.0f} |")
    mine = [one for one in best if one.tuner == "lsmlens"]
    assert mine, "the search proposed nothing to run"
    assert all(one.ops_per_second > 0 for runs in again.values() for one in runs)
