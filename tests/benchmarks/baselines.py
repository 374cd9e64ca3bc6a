"""What else could be said of other options from a log: predictions to be beaten, anchored on the log as ours are."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.estimation.history import Compaction, FamilyHistory, Flush
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.anchor import anchor_from
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.predictions.prediction import predict
from lsmlens.tuners.predictions.refinement import variant_of
from lsmlens.tuners.predictions.replays import replay_all, replayed
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.workloads.components import Growth, GrowthRow
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
        buffers = [number(one, "write_buffer_size", self.name) for one in (own, options)]
        merged = [number(one, "min_write_buffer_number_to_merge", self.name) for one in (own, options)]
        flush = self.flush * buffers[1] * merged[1] / (buffers[0] * merged[0])
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
