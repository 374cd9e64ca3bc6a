"""Predictions beside what other OSDs with the same work really did: one table of all ordered pairs.

`LSMLENS_PAIRS` names bundles: groups of the same work under several options, divided by semicolons, bundles by commas;
by default two logs in fixtures/. LSMLENS_PAIRS_SEEDS and _SCALE change the replays. The table goes to standard output
(`pytest -m slow -s tests/benchmarks/test_predicted_pairs.py`), errors in per cent of the real figure: anchored, and of
the replays alone (raw); the largest error of compaction output among families with 5 % of the bytes or more; which of
flushed bytes, output, and compactions lie inside their interval, and half its width; and, as a baseline, how far off it
is to say that nothing changes.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from statistics import median

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.tuners.engines.choice import choose_engine
from lsmlens.tuners.estimation.fit import fit
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.predictions.anchor import anchor_on
from lsmlens.tuners.predictions.figures import Figures, by_family, total
from lsmlens.tuners.predictions.prediction import OptionsPrediction, predict
from lsmlens.tuners.replays.replayer import Replayer

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
DEFAULT = ",".join(str(FIXTURES / "osd-two-options" / name) for name in ("stock", "reef-new"))
SEEDS = int(os.environ.get("LSMLENS_PAIRS_SEEDS", "2"))
SCALE = float(os.environ.get("LSMLENS_PAIRS_SCALE", "0")) or None
LARGE = 0.05
BOUNDED = ("flush_bytes", "output_bytes", "compactions")
HEADINGS = (
    *("learned from", "predicted", "flushed", "raw", "output", "raw", "WA", "compactions", "families", "inside"),
    *("half widths", "no change: flushed", "output"),
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

    def row(self) -> str:
        bytes_off = (self.flushed, self.flushed_raw, self.output, self.output_raw)
        errors = (*bytes_off, self.amplification, self.compactions, self.families)
        inside = f"{sum(self.inside)} of {len(self.inside)}"
        widths = ", ".join(f"{100 * one:.0f}" for one in self.half_widths)
        cells = (self.source, self.target, *map(signed, errors), inside, widths, *map(signed, self.unchanged))
        return f"| {' | '.join(cells)} |"


def signed(error: float) -> str:
    return f"{100 * error:+.1f}"


def run_of(path: str) -> RunAnalysis:
    return next(one for one in analyze([path]).runs if not one.run.is_monitor)


def pairs_of(paths: list[str]) -> Iterator[Pair]:
    """All ordered pairs of bundles of the same work."""
    runs = {Path(path).name: run_of(path) for path in paths}
    every = list(permutations(runs, 2))
    for source, run in runs.items():
        engine = choose_engine(None, run.run.rocksdb_version, None, True, lambda _: None)
        replayer = Replayer(engine)
        others = [target for one, target in every if one == source]
        sets = [options_of_run(runs[one]).named(one) for one in others]
        anchor = anchor_on(fit(run), options_of_run(run), replayer, candidates=sets, seeds=SEEDS, scale=SCALE)
        for prediction in predict(anchor, sets, replayer).predictions:
            yield pair(source, run, prediction, runs[prediction.name])


def pair(source: str, run: RunAnalysis, found: OptionsPrediction, truth: RunAnalysis) -> Pair:
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
        (before.flush_bytes / whole.flush_bytes - 1, before.output_bytes / whole.output_bytes - 1),
    )


def amplification(figures: Figures) -> float:
    return figures.written_bytes / figures.flush_bytes


def test_all_ordered_pairs() -> None:
    groups = [group.split(",") for group in os.environ.get("LSMLENS_PAIRS", DEFAULT).split(";")]
    print(f"\n| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")
    found = []
    for group in groups:
        for one in pairs_of(group):
            print(one.row(), flush=True)
            found.append(one)
    said = {"flushed": [one.flushed for one in found], "output": [one.output for one in found]}
    for name, errors in said.items():
        print(f"{name}: median {100 * median(map(abs, errors)):.1f}, worst {signed(max(errors, key=abs))}")
    # a baseline that knows nothing of the load must be beaten by far
    assert median(map(abs, said["flushed"])) < 0.05
    assert median(map(abs, said["output"])) < median(abs(one.unchanged[1]) for one in found) / 2
