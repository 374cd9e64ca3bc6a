"""R04: levels 0 and 1 that differ in size."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.numbers import size
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.rules.level0_backlog import levelled_families
from lsmlens.analyzer.runs.osds import is_osd

# RocksDB's tuning guide: level 1 of about the size of level 0. Its advisor fires at less than level 0, and at more
# than ten times level 0; half and twice are ours, where the guide's "about" ends.
LEAST_BASE_PER_LEVEL0 = 0.5
MOST_BASE_PER_LEVEL0 = 2.0
# Below this share of flushes for a full write buffer the nominal size of level 0 is seldom reached (ours).
LEAST_FULL_SHARE = 0.5

FACTORS = ("write_buffer_size", "min_write_buffer_number_to_merge", "level0_file_num_compaction_trigger")
BASE = "max_bytes_for_level_base"
FULL = "Write Buffer Full"


class Level0Size:
    """Level 1 is much smaller or much larger than what level 0 holds when it is compacted.

    Evidence: options in force: write_buffer_size * min_write_buffer_number_to_merge *
    level0_file_num_compaction_trigger is level 0's size, against max_bytes_for_level_base. That size is nominal: a
    flush for the WAL's limit is smaller, and entries that die in memory, or compress, make smaller files.

    Threshold: max_bytes_for_level_base below 0.5 or above 2 times level 0 (RocksDB's tuning guide wants about the
    same; its advisor fires below 1 and above 10). Less sure, and no more than a note, where fewer than half of the
    family's flushes were for a full write buffer.

    Advice: set max_bytes_for_level_base to the nominal size of level 0, for all families alike if they share it.
    Where flushes come earlier, leave it: level 0 is smaller than its nominal size.

    Risk: in BlueStore it moves the sizes of all levels, and with them which of them fit on the DB device; compute
    that before. The next compactions rewrite much once.

    Check: bytes written to level 1 per byte flushed fall under the same load.
    """

    code: ClassVar[str] = "R04"
    title: ClassVar[str] = "Levels 0 and 1 differ in size"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for all column families with the same two sizes, of those in which something was flushed."""
        sizes = _sizes(run)
        if not sizes:
            yield NotAssessed(self.code, self.title, "options in the log or config show")
            return
        flushed = {view.name for view in run.flushes}
        for level0, base in sorted(set(sizes.values())):
            families = [family for family, both in sizes.items() if both == (level0, base) and family in flushed]
            ratio = base / level0
            if not families or LEAST_BASE_PER_LEVEL0 <= ratio <= MOST_BASE_PER_LEVEL0:
                continue
            is_nominal_only = _full_share(run, families) < LEAST_FULL_SHARE
            is_shared = len(set(sizes.values())) == 1
            change = OptionChange(BASE, str(level0), () if is_shared else tuple(families))
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.INFO if is_nominal_only else Severity.WARNING,
                confidence=Confidence.LOW if is_nominal_only else Confidence.MEDIUM,
                meaning=f"{', '.join(families)}: level 1 {'smaller' if ratio < 1 else 'larger'} than level 0 (nominal"
                " size), so more is rewritten from level 0 to level 1 and below than needed"
                + ("; most flushes here come before the write buffers are full" if is_nominal_only else ""),
                value=f"level 1 is {ratio:.2f} of level 0: {size(round(base))} to {size(round(level0))} nominal",
                threshold=f"{LEAST_BASE_PER_LEVEL0:g} to {MOST_BASE_PER_LEVEL0:g} of level 0",
                threshold_source="RocksDB's tuning guide and advisor; the range is ours",
                evidence=(_evidence(run, families[0]),),
                column_family=families[0] if len(families) == 1 else None,
                advice="leave it while flushes come before the write buffers are full"
                if is_nominal_only
                else f"set {BASE} to about the size of level 0",
                changes=() if is_nominal_only else (change,),
                risk="changes the sizes of all levels"
                + (", and with them which of these fit on the DB device" if is_osd(run.run) else ""),
                check="bytes written to level 1 per byte flushed fall under the same load",
            )


def _sizes(run: RunAnalysis) -> dict[str, tuple[int, int]]:
    """(level 0's nominal bytes, max_bytes_for_level_base) of the families with level style compaction."""
    sizes = {}
    for family in levelled_families(run):
        values = [parse_size(value_of(run.options, family, name) or "") for name in (*FACTORS, BASE)]
        buffer, merge, trigger, base = (value or 0 for value in values)
        if buffer > 0 and merge > 0 and trigger > 0 and base > 0:
            sizes[family] = (buffer * merge * trigger, base)
    return sizes


def _full_share(run: RunAnalysis, families: Sequence[str]) -> float:
    views = [view for view in run.flushes if view.name in families]
    return sum(view.reasons[FULL] for view in views) / max(1, sum(view.flushes for view in views))


def _evidence(run: RunAnalysis, family: str) -> Evidence:
    found = [one for one in run.options if one.family == family and one.name in (*FACTORS, BASE)]
    told = ", ".join(f"{one.name}={one.value}" for one in found)
    sources = "; ".join(dict.fromkeys(str(one.source) for one in found))
    return Evidence(run.name, f"{family}: {told} ({sources})")
