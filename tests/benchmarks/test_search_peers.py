"""The search against its peers, on the same workload, with as many trials and as much memory.

Peers: RocksDB's advisor, which changes one option by one rule at a time and keeps what helps; random search, with
several seeds; the presets, which are option sets as they are. Figures go to standard output (`pytest -m slow -s`).
LSMLENS_PEER_LOG, _MEMORY (bytes), _TRIALS ("8,10,24"), _SEEDS and _STUDY (a file to keep replays in) change what is
compared.
"""

import os
from math import inf
from pathlib import Path

import numpy as np
import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.tuners.engines.choice import choose_engine
from lsmlens.tuners.estimation.fit import fit
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.replays.ledger import Ledger
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.search.evaluation import Evaluator
from lsmlens.tuners.search.request import TuningRequest
from lsmlens.tuners.search.scores import Objective, cost
from lsmlens.tuners.search.tuning import Tuning
from scipy.stats import kendalltau

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
TRIALS = [int(one) for one in os.environ.get("LSMLENS_PEER_TRIALS", "8,10,24").split(",")]
SEEDS = int(os.environ.get("LSMLENS_PEER_SEEDS", "3"))
AT_ONCE = 2
Choices = dict[str, str]
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


class Field:
    """One log's space, and what it costs to run with choices there."""

    def __init__(self, tuning: Tuning, scale: float) -> None:
        self.tuning = tuning
        self.evaluator = tuning.evaluator
        self.reference = self.evaluator.reference([self.evaluator.variant(scale)])
        (own,) = self.evaluator.evaluate(self.reference, [self.evaluator.present])
        assert own.scores is not None
        self.own = own.scores

    def costs(self, every: list[Choices]) -> list[float]:
        """The cost of each against the present options; infinite where its replay fails."""
        found: list[float] = []
        for first in range(0, len(every), AT_ONCE):
            options = [self.tuning.space.candidate(one, "peer") for one in every[first : first + AT_ONCE]]
            scores = [one.scores for one in self.evaluator.evaluate(self.reference, options)]
            found += [inf if one is None else cost(one, self.own, Objective.WEAR) for one in scores]
        return found

    def is_in(self, choices: Choices) -> bool:
        """Whether the choices are within the bounds."""
        return self.tuning.bounds.problem(self.tuning.space.candidate(choices, "peer")) is None

    def at_random(self, seed: int, count: int) -> list[Choices]:
        """So many candidates within the bounds, each choice as likely."""
        rng = np.random.default_rng(seed)
        found: list[Choices] = []
        while len(found) < count:
            choices = {one.name: str(rng.choice(one.values)) for one in self.tuning.space.dimensions}
            found += [choices] if self.is_in(choices) else []
        return found

    def by_rules(self, count: int) -> list[float]:
        """The cost after each trial of changing one option by one rule, and keeping it where that helps."""
        choices, least = self.tuning.space.present, 1.0
        costs: list[float] = []
        dimensions = {one.name: one for one in self.tuning.space.dimensions}
        for option, steps in RULES * 4:
            if option not in dimensions or len(costs) >= count:
                continue
            values = dimensions[option].values
            place = min(values.index(choices[option]) + steps, len(values) - 1)
            changed = {**choices, option: values[place]}
            if changed == choices or not self.is_in(changed):
                continue
            (found,) = self.costs([changed])
            costs.append(found)
            if found < least:
                choices, least = changed, found
        return costs


@pytest.mark.slow
def test_the_search_writes_less_than_its_peers_at_equal_memory(tmp_path: Path) -> None:
    log = os.environ.get("LSMLENS_PEER_LOG", str(FIXTURES / "osd-reef"))
    path = Path(os.environ.get("LSMLENS_PEER_STUDY", str(tmp_path / "s.db")))
    run = next(one for one in analyze([log]).runs if not one.run.is_monitor)
    engine = choose_engine(None, run.run.rocksdb_version, None, False, lambda _: None)
    evaluator = Evaluator(fit(run), options_of_run(run).named("current"), Replayer(engine, ledger=Ledger(path)))
    memory = os.environ.get("LSMLENS_PEER_MEMORY")
    most = max(TRIALS)
    request = TuningRequest(
        Objective.WEAR, trials=most, memory_bytes=None if memory is None else int(memory), finalists=1, draws=1
    )
    tuning = Tuning(evaluator, request, path, lambda _: None)
    ours = tuning.recommend()
    # a search with fewer trials draws the first of these, and then no more; what is tried to simplify does not count
    mine = [one.cost for one in ours.tried if one.batch is not None and one.cost is not None]
    field = Field(tuning, ours.screen_scale)
    ruled = field.by_rules(most)
    drawn = [field.costs(field.at_random(seed, most)) for seed in range(1, SEEDS + 1)]
    presets = [one for _, one, _ in ours.fixed if one is not None]
    print(f"\n{Path(log).name}, scale {ours.screen_scale:g}, memtables held to {tuning.bounds.memory_bytes >> 20} MiB;")
    guessed = [tuning.promising.cost(one) or 0.0 for seed in range(1, SEEDS + 1) for one in field.at_random(seed, most)]
    agreement = kendalltau(guessed, [one for lot in drawn for one in lot]).statistic
    print(f"{ours.pruned} not replayed; estimates of {len(guessed)} random candidates: Kendall's tau {agreement:.2f}")
    print("least cost against the current settings: ours, one rule at a time, random search by seed, best preset")
    for trials in TRIALS:
        lots = [min(one[:trials]) for one in drawn]
        shown = ", ".join(f"{one:.3f}" for one in lots)
        rule, best = min([1.0, *ruled[:trials]]), min(mine[:trials])
        print(f"{trials} trials: {best:.3f}, {rule:.3f}, {shown}, {min([1.0, *presets]):.3f}")
    for trials in TRIALS:
        peers = [*ruled[:trials], *presets, *(value for one in drawn for value in one[:trials])]
        assert min(mine[:trials]) <= min(peers)
