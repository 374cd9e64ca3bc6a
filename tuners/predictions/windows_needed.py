"""Windows a set of options makes, and windows the log shows: beyond those the fit is a guess."""

from collections.abc import Sequence
from dataclasses import dataclass

from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.estimation.windows import WindowKind
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.replays import Replayed

TRIGGER = "level0_file_num_compaction_trigger"
DEFAULT_TRIGGER = 4


@dataclass(frozen=True, slots=True)
class WindowNeed:
    """Puts that one compaction of level 0 merges under the options, and those of the longest window the log shows.

    `share` is the family's share of the bytes that the log shows written.
    """

    family: str
    needed_puts: float
    shown_puts: float
    share: float

    @property
    def beyond(self) -> float:
        """How many times longer the needed window is; 1 if it is not longer."""
        return max(1.0, self.needed_puts / self.shown_puts) if self.shown_puts else 1.0


def windows_needed(fitted: FittedWorkload, options: OptionSet, found: Sequence[Replayed]) -> tuple[WindowNeed, ...]:
    """The longest windows that matter, by family: those in which flushes gather in level 0."""
    writes = {one.name: one.flush_bytes + one.compaction_output_bytes for one in fitted.evidence.run.families}
    whole = sum(writes.values())
    needs = []
    for family in fitted.families:
        name = family.column_family.name
        puts = [one.puts_per_flush[name] for one in found if name in one.puts_per_flush]
        if not puts:
            continue
        trigger = level0_trigger(options, name)
        evidence = family.evidence
        every = sum(one.puts for one in evidence.intervals)
        shown = float(evidence.longest_window(*WindowKind))
        needed = min(sum(puts) / len(puts) * trigger, float(every))
        needs.append(WindowNeed(name, needed, shown, writes.get(name, 0) / whole if whole else 0.0))
    return tuple(needs)


def level0_trigger(options: OptionSet, family: str) -> int:
    """How many files of level 0 start a compaction."""
    said = options.value_of(TRIGGER, family)
    return int(said) if said is not None and said.isdecimal() and int(said) else DEFAULT_TRIGGER
