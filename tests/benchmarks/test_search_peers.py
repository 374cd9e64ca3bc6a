"""The search against its peers, on the same workload, with as many trials and as much memory.

Peers: RocksDB's advisor, which changes one option by one rule at a time and keeps what helps; random search; the
presets, which are option sets as they are. Figures go to standard output (`pytest -m slow -s`).
"""

import os
from pathlib import Path

import numpy as np
import pytest
from lsmlens.analyzer.analysis import analyze
from lsmlens.tuners.engines.choosing import choose_engine
from lsmlens.tuners.estimation.fit import fit
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.predictions.replays import Variant
from lsmlens.tuners.search.bounds import bounds_of
from lsmlens.tuners.search.evaluation import Evaluator
from lsmlens.tuners.search.ledger import Ledger
from lsmlens.tuners.search.request import Request
from lsmlens.tuners.search.scores import Objective, cost
from lsmlens.tuners.search.tuning import Tuning

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
TRIALS = int(os.environ.get("LSMLENS_PEER_TRIALS", "10"))
# What the advisor's rules change, and by how much: db_bench's tuning advisor doubles or adds one.
RULES = (
    ("write_buffer_size", 1),
    ("max_write_buffer_number", 1),
    ("level0_file_num_compaction_trigger", 1),
    ("max_bytes_for_level_base", 1),
    ("max_bytes_for_level_multiplier", 1),
    ("target_file_size_base", 1),
    ("max_background_jobs", 1),
)


@pytest.mark.slow
def test_the_search_writes_less_than_its_peers_at_equal_memory(tmp_path: Path) -> None:
    log = os.environ.get("LSMLENS_PEER_LOG", str(FIXTURES / "osd-reef"))
    run = next(one for one in analyze([log]).runs if not one.run.is_monitor)
    fitted = fit(run)
    present = options_of_run(run).named("current")
    engine = choose_engine(None, run.run.rocksdb_version, None, False, lambda _: None)
    evaluator = Evaluator(fitted, present, engine, Ledger(tmp_path / "s.db"))
    memory = bounds_of(run, present, evaluator.families).memory_bytes
    if os.environ.get("LSMLENS_PEER_MEMORY"):
        memory = int(os.environ["LSMLENS_PEER_MEMORY"])
    request = Request(Objective.WEAR, trials=TRIALS, memory_bytes=memory, finalists=1, draws=1)
    tuning = Tuning(evaluator, request, tmp_path / "s.db", lambda _: None)
    ours = tuning.recommend()
    reference = evaluator.reference([Variant(fitted.workload, ours.screen_scale, 1)])
    (own,) = evaluator.evaluate(reference, [evaluator.present])
    assert own.scores is not None

    def written(choices: dict[str, str]) -> float | None:
        options = tuning.space.candidate(choices, "peer")
        if tuning.bounds.problem(options) is not None:
            return None
        (found,) = evaluator.evaluate(reference, [options])
        return None if found.scores is None or own.scores is None else cost(found.scores, own.scores, Objective.WEAR)

    best = min(one.cost for one in ours.tried if one.cost is not None)

    rng = np.random.default_rng(1)
    random_costs: list[float] = []
    for _ in range(2000):
        if len(random_costs) >= TRIALS:
            break
        value = written({one.name: str(rng.choice(one.values)) for one in tuning.space.dimensions})
        random_costs += [] if value is None else [value]

    choices, advised, spent = tuning.space.present, 1.0, 0
    for option, steps in RULES * 3:
        dimension = next((one for one in tuning.space.dimensions if one.name == option), None)
        if dimension is None or spent >= TRIALS:
            continue
        place = min(dimension.values.index(choices[option]) + steps, len(dimension.values) - 1)
        value = written({**choices, option: dimension.values[place]})
        spent += value is not None
        if value is not None and value < advised:
            choices, advised = {**choices, option: dimension.values[place]}, value

    presets = [one for _, one, _ in ours.fixed if one is not None]
    print(
        f"\ncost against the current settings, {TRIALS} trials each, memtables held to {memory >> 20} MiB:"
        f" ours {best:.3f}, one rule at a time {advised:.3f}, random search {min(random_costs, default=1):.3f},"
        f" best preset within the bounds {min(presets, default=float('nan')):.3f}"
    )
    assert best <= min([advised, *random_costs, *presets]) * 1.01
