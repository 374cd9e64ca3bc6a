"""Predictions beside what other OSDs with the same work really did: one table of all ordered pairs, and baselines.

`LSMLENS_PAIRS` names bundles: groups of the same work under several options, divided by semicolons, bundles by commas;
by default two logs in fixtures/. `LSMLENS_PAIRS_SYNTHETIC` names workload documents, presets or workloads of KNOWN, by
commas: each is run under SETS, and learned from its first log. LSMLENS_PAIRS_SEEDS and _SCALE change the replays. The
table goes to standard output (`pytest -m slow -s tests/benchmarks/test_predicted_pairs.py`), errors in per cent of the
real figure: anchored, and of the replays alone (raw); the largest error of compaction output among families with 5 % of
the bytes or more; which of flushed bytes, output, and compactions lie inside their interval, and half its width. The
baselines are of flushed bytes and output: that nothing changes; the formula of levelled compaction, anchored (it says
nothing of flushed bytes); with LSMLENS_PAIRS_FRESH set, a replay of fresh keys, anchored; and for workloads of KNOWN
the model of Lim, Kaminsky and Andersen, which is given the true popularity of keys, anchored.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.tuners.engines.choice import choose_engine
from lsmlens.tuners.estimation.fit import fit
from lsmlens.tuners.options.reading import read_options
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.predictions.anchor import anchor_on
from lsmlens.tuners.predictions.figures import Figures, by_family, total
from lsmlens.tuners.predictions.prediction import OptionsPrediction, predict
from lsmlens.tuners.replays.outcome import ReplayPlan, replay
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.workloads.components import (
    Component,
    Growth,
    GrowthRow,
    Keys,
    Overwrite,
    OverwriteRow,
    WorkingSet,
)
from lsmlens.tuners.workloads.document import ColumnFamily, Workload
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.sources import open_workload

from .baselines import levelled, predicted_by_fresh_keys, unique_aware

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
DEFAULT = ",".join(str(FIXTURES / "osd-two-options" / name) for name in ("stock", "reef-new"))
SEEDS = int(os.environ.get("LSMLENS_PAIRS_SEEDS", "2"))
SCALE = float(os.environ.get("LSMLENS_PAIRS_SCALE", "0")) or None
SYNTHETIC = [name for name in os.environ.get("LSMLENS_PAIRS_SYNTHETIC", "").split(",") if name]
FRESH = bool(os.environ.get("LSMLENS_PAIRS_FRESH"))
# Under which synthetic workloads are run, the first to be learned from; buffers of 1 to 8 MiB, divided by nothing.
SETS = {
    "first": "write_buffer_size=4M;max_bytes_for_level_base=16M;target_file_size_base=4M",
    "small buffers": "write_buffer_size=1M;max_bytes_for_level_base=16M;target_file_size_base=4M",
    "large buffers": "write_buffer_size=8M;max_bytes_for_level_base=16M;target_file_size_base=4M",
    "merged": "write_buffer_size=1M;min_write_buffer_number_to_merge=6;max_write_buffer_number=16;"
    "level0_file_num_compaction_trigger=8;max_bytes_for_level_base=64M;target_file_size_base=4M",
}
THIRD, PUTS = 200.0, 300_000
SECONDS = 3 * THIRD


def known(*components: Component) -> Workload:
    """A workload of one family whose keys lie anywhere."""
    keys = Keys(length=20.0, order="scattered")
    family = ColumnFamily(name="default", keys=keys, values=200.0, components=components)
    return Workload(name="known", seconds=SECONDS, column_families=(family,))


def overwrites(keys: int, zipf: float = 0.0, thirds: tuple[int, ...] = (0, 1, 2)) -> Overwrite:
    rows = tuple(OverwriteRow(one * THIRD, (one + 1) * THIRD, PUTS) for one in thirds)
    return Overwrite(working_sets=(WorkingSet(keys, zipf=zipf),), schedule=rows)


def fresh_puts(*thirds: int) -> Growth:
    return Growth(schedule=tuple(GrowthRow(one * THIRD, (one + 1) * THIRD, PUTS) for one in thirds))


# Workloads whose popularity of keys is known: the same at all times, but in the last.
KNOWN = {
    "uniform": known(overwrites(200_000)),
    "zipf": known(overwrites(500_000, zipf=0.99)),
    "fresh": known(fresh_puts(0, 1, 2)),
    "phases": known(overwrites(20_000, thirds=(0, 2)), fresh_puts(1)),
}
LARGE = 0.05
BOUNDED = ("flush_bytes", "output_bytes", "compactions")
HEADINGS = (
    *("learned from", "predicted", "flushed", "raw", "output", "raw", "WA", "compactions", "families", "inside"),
    *("half widths", "no change: flushed", "output", "levelled: output", "fresh keys: flushed", "output"),
    *("unique-aware: flushed", "output"),
)


@dataclass(frozen=True)
class Pair:
    """Relative errors of one prediction, and of the baseline; `inside` by figure of BOUNDED."""

    source: str
    target: str
    flushed: float
    flushed_raw: float
    output: float
    output_raw: float
    amplification: float
    compactions: float
    families: float
    inside: tuple[bool, ...]
    half_widths: tuple[float, float]
    unchanged: tuple[float, float]
    levelled: float
    fresh: tuple[float, float] | None
    unique_aware: tuple[float, float] | None

    def row(self) -> str:
        bytes_off = (self.flushed, self.flushed_raw, self.output, self.output_raw)
        errors = (*bytes_off, self.amplification, self.compactions, self.families)
        inside = f"{sum(self.inside)} of {len(self.inside)}"
        widths = ", ".join(f"{100 * one:.0f}" for one in self.half_widths)
        baselines = list(map(signed, (*self.unchanged, self.levelled)))
        for errors_of in (self.fresh, self.unique_aware):
            baselines += map(signed, errors_of) if errors_of else ("", "")
        cells = (self.source, self.target, *map(signed, errors), inside, widths, *baselines)
        return f"| {' | '.join(cells)} |"


def signed(error: float) -> str:
    return f"{100 * error:+.1f}"


def run_of(path: str) -> RunAnalysis:
    return next(one for one in analyze([path]).runs if not one.run.is_monitor)


def synthetic(folder: Path, name: str) -> dict[str, RunAnalysis]:
    """The logs of a synthetic workload under all SETS."""
    engine = choose_engine(None, None, None, True, lambda _: None)
    options = tuple(read_options(f"{one}={said};compression=kNoCompression") for one, said in SETS.items())
    stream = DeclaredStream(KNOWN[name]) if name in KNOWN else open_workload(name)
    plan = ReplayPlan(stream, options, scale=SCALE or 1.0, keep_log=folder / Path(name).stem)
    runs = {}
    for outcome in replay(plan, Replayer(engine, jobs=1)):
        assert not outcome.failures, outcome.failures
        place = 1 + list(SETS).index(outcome.options.name)
        (log,) = (folder / Path(name).stem / f"{place}-1").rglob("LOG")
        runs[outcome.options.name] = run_of(str(log))
    return runs


def pairs_of(runs: dict[str, RunAnalysis], sources: list[str], truth: Workload | None = None) -> Iterator[Pair]:
    """All ordered pairs of runs of the same work, `truth` if it is known, that are learned from one of `sources`."""
    for source in sources:
        run = runs[source]
        engine = choose_engine(None, run.run.rocksdb_version, None, True, lambda _: None)
        replayer = Replayer(engine, jobs=1)
        own = options_of_run(run)
        sets = [options_of_run(one).named(target) for target, one in runs.items() if target != source]
        fitted = fit(run)
        anchor = anchor_on(fitted, own, replayer, candidates=sets, seeds=SEEDS, scale=SCALE)
        coarsest = max(one.scale for one in anchor.variants)
        fresh = predicted_by_fresh_keys(fitted, own, sets, replayer, coarsest) if FRESH else {}
        for prediction in predict(anchor, sets, replayer).predictions:
            before = total(by_family(run.families)).output_bytes
            by_formula = levelled(fitted, own, prediction.options, before)
            aware = None if truth is None else unique_aware(truth, fitted, own, prediction.options)
            yield pair(source, run, prediction, runs[prediction.name], by_formula, fresh.get(prediction.name), aware)


def pair(
    source: str,
    run: RunAnalysis,
    found: OptionsPrediction,
    truth: RunAnalysis,
    by_formula: float,
    fresh: Figures | None,
    aware: tuple[float, float] | None,
) -> Pair:
    assert found.predicted is not None, found.quality
    real = by_family(truth.families)
    whole, before = total(real), total(by_family(run.families))
    value, low, high = found.predicted.value, found.predicted.low, found.predicted.high
    raw = total({one.name: one.raw for one in found.families})
    large = [
        one.predicted.value.output_bytes / real[one.name].output_bytes - 1
        for one in found.families
        if real[one.name].written_bytes >= LARGE * whole.written_bytes and real[one.name].output_bytes
    ]

    def half_width(metric: str) -> float:
        return float((getattr(high, metric) - getattr(low, metric)) / 2 / getattr(value, metric))

    return Pair(
        source,
        found.name,
        value.flush_bytes / whole.flush_bytes - 1,
        raw.flush_bytes / whole.flush_bytes - 1,
        value.output_bytes / whole.output_bytes - 1,
        raw.output_bytes / whole.output_bytes - 1,
        amplification(value) / amplification(whole) - 1,
        value.compactions / whole.compactions - 1,
        max(large, key=abs, default=0.0),
        tuple(getattr(low, one) <= getattr(whole, one) <= getattr(high, one) for one in BOUNDED),
        (half_width("flush_bytes"), half_width("output_bytes")),
        _errors(before, whole),
        by_formula / whole.output_bytes - 1,
        None if fresh is None else _errors(fresh, whole),
        None if aware is None else (aware[0] / whole.flush_bytes - 1, aware[1] / whole.output_bytes - 1),
    )


def _errors(found: Figures, real: Figures) -> tuple[float, float]:
    """Relative errors of flushed bytes and of output."""
    return found.flush_bytes / real.flush_bytes - 1, found.output_bytes / real.output_bytes - 1


def amplification(figures: Figures) -> float:
    return figures.written_bytes / figures.flush_bytes


def every_pair(folder: Path) -> Iterator[Pair]:
    for group in os.environ.get("LSMLENS_PAIRS", DEFAULT).split(";"):
        runs = {Path(path).name: run_of(path) for path in group.split(",") if path}
        yield from pairs_of(runs, list(runs))
    for name in SYNTHETIC:
        runs = synthetic(folder, name)
        yield from pairs_of({f"{name}, {one}": run for one, run in runs.items()}, [f"{name}, first"], KNOWN.get(name))


def test_all_ordered_pairs(tmp_path: Path) -> None:
    print(f"\n| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")
    found = []
    for one in every_pair(tmp_path):
        print(one.row(), flush=True)
        found.append(one)
    said = {"flushed": [one.flushed for one in found], "output": [one.output for one in found]}
    said |= {"flushed, raw": [one.flushed_raw for one in found], "output, raw": [one.output_raw for one in found]}
    said |= {"output, no change": [one.unchanged[1] for one in found], "levelled": [one.levelled for one in found]}
    if aware := [one.unique_aware[1] for one in found if one.unique_aware]:
        said |= {"output, unique-aware": aware, "ours there": [one.output for one in found if one.unique_aware]}
    for name, errors in said.items():
        print(f"{name}: median {100 * median(map(abs, errors)):.1f}, worst {signed(max(errors, key=abs))}")
    for place, metric in enumerate(BOUNDED):
        print(f"{metric}: {sum(one.inside[place] for one in found)} of {len(found)} inside their interval")
    widths = (median(one.half_widths[place] for one in found) for place in (0, 1))
    print("half widths, median: " + ", ".join(f"{100 * one:.0f}" for one in widths))
    # a baseline that knows nothing of the load must be beaten by far
    assert median(map(abs, said["flushed"])) < 0.05
    assert median(map(abs, said["output"])) < median(map(abs, said["output, no change"])) / 2
