"""What else could be said of other options from a log: predictions to be beaten, anchored on the log as ours are."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.estimation.history import Compaction, FamilyHistory, Flush
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.anchor import anchor_from
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.predictions.prediction import predict
from lsmlens.tuners.predictions.refinement import variant_of
from lsmlens.tuners.predictions.replays import replay_all, replayed
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.workloads.components import Component, Growth, GrowthRow, Overwrite
from lsmlens.tuners.workloads.document import Workload

# RocksDB's own defaults, where a log says nothing.
DEFAULTS = {
    "write_buffer_size": 64 << 20,
    "min_write_buffer_number_to_merge": 1,
    "level0_file_num_compaction_trigger": 4,
    "max_bytes_for_level_base": 256 << 20,
    "max_bytes_for_level_multiplier": 10,
}


@dataclass(frozen=True)
class Levelling:
    """A family as the textbook's formula of levelled compaction sees it: bytes."""

    name: str
    flushed: float
    flush: float
    live: float

    @classmethod
    def of(cls, name: str, history: FamilyHistory) -> "Levelling":
        """The family of a log: bytes flushed, of the mean flush, and live at the end."""
        sizes: dict[int, int] = {}
        flushed: list[int] = []
        for job in history.jobs:
            if isinstance(job, Flush) and job.table is not None:
                flushed.append(job.table.file_bytes)
                sizes[job.table.number] = job.table.file_bytes
            elif isinstance(job, Compaction):
                for numbers in job.inputs.values():
                    for number in numbers:
                        sizes.pop(number, None)
                sizes |= {table.number: table.file_bytes for table in job.outputs}
        return cls(name, float(sum(flushed)), sum(flushed) / max(1, len(flushed)), float(sum(sizes.values())))

    def output(self, own: OptionSet, options: OptionSet) -> float:
        """Compaction output in bytes, with flushes as much larger as memtables that are flushed together.

        Every byte is merged once into each level, with as many bytes of it as that level holds for each that comes.
        """
        flush = self.flush * memory(options, self.name) / memory(own, self.name)
        above = flush * number(options, "level0_file_num_compaction_trigger", self.name)
        base = number(options, "max_bytes_for_level_base", self.name)
        times, level = 0.0, base
        while True:
            times += 1 + min(self.live, level) / above
            if self.live <= level:
                return self.flushed * times
            above, level = level, level * max(2.0, number(options, "max_bytes_for_level_multiplier", self.name))


def number(options: OptionSet, option: str, family: str) -> float:
    """An option's value for a family."""
    said = options.value_of(option, family)
    return float(said) if said is not None else float(DEFAULTS[option])


def levelled(fitted: FittedWorkload, own: OptionSet, options: OptionSet, observed: float) -> float:
    """Compaction output by the formula, in the log's own units."""
    families = fitted.evidence.history.families.items()
    every = [found for name, one in families if (found := Levelling.of(name, one)).flushed]
    return observed * sum(one.output(own, options) for one in every) / sum(one.output(own, own) for one in every)


def fresh_keys(fitted: FittedWorkload) -> Workload:
    """As many puts of fresh keys as the log's, of the same sizes at the same times, and no deletes."""
    families = []
    for one in fitted.families:
        since = fitted.evidence.since
        rows = tuple(
            GrowthRow(max(0.0, round(part.start - since, 3)), max(0.0, round(part.end - since, 3)), part.puts)
            for part in one.evidence.intervals
            if part.puts
        )
        keys = msgspec.structs.replace(one.column_family.keys, order="scattered", groups=1, first_group=0)
        components = (Growth(schedule=rows),) if rows else ()
        families.append(msgspec.structs.replace(one.column_family, keys=keys, components=components))
    kept = tuple(one for one in families if one.components)
    return msgspec.structs.replace(fitted.workload, column_families=kept)


def predicted_by_fresh_keys(
    fitted: FittedWorkload, own: OptionSet, options: Sequence[OptionSet], replayer: Replayer, scale: float
) -> dict[str, Figures]:
    """What a replay of fresh keys says of each set of options, by its name."""
    variants = [variant_of(fitted, scale, fresh_keys(fitted))]
    (results,) = replay_all(variants, [own], fitted.evidence.run, replayer)
    anchor = anchor_from(fitted, own, replayer.engine, variants, replayed(results, variants))
    every = predict(anchor, options, replayer).predictions
    return {one.name: one.predicted.value for one in every if one.predicted is not None}


class Uniques:
    """How many keys so many puts touch, in expectation, where the popularity of keys is known: that of a workload.

    All puts are taken to be drawn from one distribution, as the model of Lim, Kaminsky and Andersen has it; fresh keys
    are new with every put.
    """

    def __init__(self, components: Sequence[Component]) -> None:
        puts = [puts_of(one) for one in components]
        self.puts = float(sum(sum(each) for each in puts))
        fresh, chances = 0.0, []
        for component, each in zip(components, puts, strict=True):
            if not isinstance(component, Overwrite):
                fresh += sum(each) / self.puts
                continue
            for working_set, count in zip(component.working_sets, each, strict=True):
                popularity = np.arange(1, working_set.keys + 1, dtype=np.float64) ** -working_set.zipf
                chances.append(count / self.puts * popularity / popularity.sum())
        self.counts = np.concatenate(([0.0], np.geomspace(1.0, 10 * self.puts, 400)))
        found = [fresh * n + sum(float(-np.expm1(-n * one).sum()) for one in chances) for n in self.counts]
        self.uniques = np.maximum.accumulate(np.array(found))

    def of(self, puts: float) -> float:
        """Keys that so many puts touch."""
        return float(np.interp(puts, self.counts, self.uniques))

    def puts_for(self, keys: float) -> float:
        """Puts that touch so many keys."""
        return float(np.interp(keys, self.uniques, self.counts))

    def cycle(self, keys: float) -> float:
        """Puts in which a level of so many keys is emptied once, range by range, so that its ranges are of all ages."""
        steps = np.diff(self.counts)
        means = np.cumsum((self.uniques[1:] + self.uniques[:-1]) / 2 * steps) / self.counts[1:]
        return float(np.interp(keys, means, self.counts[1:]))


def puts_of(component: Component) -> list[float]:
    """The puts of a component with a schedule, by working set."""
    sets = component.working_sets if isinstance(component, Overwrite) else (None,)
    found = [0.0] * len(sets)
    for row in component.schedule or ():
        found[getattr(row, "working_set", 0)] += row.puts
    return found


@dataclass(frozen=True)
class UniqueAware:
    """What the model of Lim, Kaminsky and Andersen (FAST 2016, section 4) says of levelled compaction, in records.

    It is given the true popularity of keys, and how many puts a flush of the log takes; it knows no deletes. Levels
    are as large as the options say, and the last one holds what the run has come to: a mean of STEPS moments.
    """

    STEPS = 8
    uniques: Uniques
    flush_puts: float
    record_bytes: float

    def flushed(self) -> float:
        """Records that flushes write."""
        return self.uniques.puts / self.flush_puts * self.uniques.of(self.flush_puts)

    def output(self, options: OptionSet, family: str = "default") -> float:
        """Records that compactions write."""
        moments = (np.arange(self.STEPS) + 0.5) / self.STEPS * self.uniques.puts
        return self.uniques.puts * float(np.mean([self._per_put(options, family, one) for one in moments]))

    def _per_put(self, options: OptionSet, family: str, puts: float) -> float:
        """Records that compactions write for a put, once there have been so many."""
        left = self.uniques.of(puts)
        size = number(options, "max_bytes_for_level_base", family) / self.record_bytes
        cycle = self.flush_puts * number(options, "level0_file_num_compaction_trigger", family)
        written = 0.0
        while True:
            held = self.uniques.puts_for(min(size, left))
            written += min(self.uniques.of(held + cycle), self.uniques.of(puts)) / cycle
            if left <= size:
                return written
            cycle, left = self.uniques.cycle(size), left - size
            size *= number(options, "max_bytes_for_level_multiplier", family)


def unique_aware(workload: Workload, fitted: FittedWorkload, own: OptionSet, options: OptionSet) -> tuple[float, float]:
    """Flushed bytes and compaction output of a workload of one family whose truth is known, anchored on its log."""
    (truth,), (family,) = workload.column_families, fitted.families
    flushes = [one.puts for one in family.evidence.intervals if one.flush is not None]
    log, record = fitted.evidence.run.total, family.sizes.key + family.sizes.value
    uniques = Uniques(truth.components)

    def model(of: OptionSet) -> UniqueAware:
        larger = memory(of, truth.name) / memory(own, truth.name)
        return UniqueAware(uniques, larger * sum(flushes) / len(flushes), record)

    before, after = model(own), model(options)
    return (
        log.flush_bytes * after.flushed() / before.flushed(),
        log.compaction_output_bytes * after.output(options) / before.output(own),
    )


def memory(options: OptionSet, family: str) -> float:
    """Bytes of memtables that are flushed together."""
    return number(options, "write_buffer_size", family) * number(options, "min_write_buffer_number_to_merge", family)
