"""What one real OSD's log says of another option set, beside what another OSD with the same work really did."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.engines.library import Library
from lsmlens.tuners.estimation.fit import fit
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.predictions.anchor import anchor_on
from lsmlens.tuners.predictions.figures import METRICS, by_family, total
from lsmlens.tuners.predictions.prediction import predict
from lsmlens.tuners.predictions.self_consistency import FLUSHES_WITHIN, OUTPUT_WITHIN, warnings
from lsmlens.tuners.replays.replayer import Replayer

pytestmark = pytest.mark.slow

WITHIN = {"flush_bytes": 0.02, "output_bytes": 0.06, "compactions": 0.08, "input_records": 0.06}
LARGE_SHARE = 0.05


@pytest.fixture(scope="module")
def engine(official_build: Callable[[str], Library]) -> EngineChoice:
    return EngineChoice("capi", "6.8.1", official_build("6.8.1").path)


def run_of(path: Path) -> RunAnalysis:
    return next(one for one in analyze([str(path)]).runs if not one.run.is_monitor)


def test_one_osd_tells_what_the_other_did(engine: EngineChoice, fixtures: Path, tmp_path: Path) -> None:
    stock, truth = (run_of(fixtures / "osd-two-options" / name) for name in ("stock", "reef-new"))
    options = options_of_run(truth).named("reef-new")
    replayer = Replayer(engine, work_dir=tmp_path)
    anchor = anchor_on(fit(stock), options_of_run(stock), replayer, candidates=[options], seeds=2)
    for one in anchor.checks:
        is_within = one.output_bytes is None or abs(one.output_bytes) <= OUTPUT_WITHIN
        is_within &= one.flushes is None or abs(one.flushes) <= FLUSHES_WITHIN
        assert is_within or one.family in " ".join(warnings(anchor.checks))
    (found,) = predict(anchor, [options], replayer).predictions
    assert found.predicted is not None
    real = by_family(truth.families)
    whole = total(real)
    for metric in METRICS:
        observed = getattr(whole, metric)
        assert getattr(found.predicted.low, metric) <= observed <= getattr(found.predicted.high, metric)
        if metric in WITHIN:
            assert getattr(found.predicted.value, metric) == pytest.approx(observed, rel=WITHIN[metric])
    for family in found.families:
        seen = real[family.name]
        if seen.written_bytes >= LARGE_SHARE * whole.written_bytes:
            assert family.predicted.value.output_bytes == pytest.approx(seen.output_bytes, rel=0.15)
            assert family.predicted.low.output_bytes <= seen.output_bytes <= family.predicted.high.output_bytes
