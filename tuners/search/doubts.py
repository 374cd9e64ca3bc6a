"""Doubts: what would have to be true for a recommendation to be wrong.

Each is a statement about the database or its load that the log leaves open: the end of an interval, a workload that
fits the log as well, what is longer than the log shows, what the replays do not measure. All complete the sentence
"It is wrong if …".
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from lsmlens.analyzer.numbers import percent, plain, ratio, size
from lsmlens.tuners.predictions.quality import AGES, BEYOND, COMPRESSION, LEAST_SHARE
from lsmlens.tuners.search.recommendation import Finalist, Recommendation

# Records of before the log matter from this share of the operations that it shows.
BEFORE_SHARE = 0.1
# More sorted runs for a read than now, or more space, by less than this is none.
MORE = 1.05


class DoubtKind(StrEnum):
    """What a doubt is about."""

    INTERVAL = "interval"
    CASES = "cases"
    HELD_OUT = "held out"
    LONGER_WINDOWS = "longer windows"
    MODEL = "model"
    EARLIER_RECORDS = "earlier records"
    COMPRESSION = "compression"
    AGES = "ages"
    READS = "reads"
    STALLS = "stalls"
    MEMORY = "memory"
    SPACE = "space"
    OTHER_TIMES = "other times"
    ENGINE = "engine"
    SEARCH = "search"


class Doubt(NamedTuple):
    """One thing that would make it wrong; `text` follows on "It is wrong if "."""

    kind: DoubtKind
    text: str


def doubts(recommendation: Recommendation) -> tuple[Doubt, ...]:
    """What would have to be true for the recommendation to be wrong, the likeliest to matter first."""
    picked = recommendation.picked
    if picked is None:
        return (*_of_keeping(recommendation), *_of_the_log(recommendation))
    return (*_of_pick(recommendation, picked), *_of_the_log(recommendation))


def _of_keeping(one: Recommendation) -> Iterator[Doubt]:
    scored = sum(tried.cost is not None for tried in one.tried)
    yield Doubt(DoubtKind.SEARCH, f"better settings are none of the {scored} that were replayed")
    if one.left_out:
        yield Doubt(DoubtKind.SEARCH, f"one of the {len(one.left_out)} options matters that were not searched")


def _of_pick(one: Recommendation, picked: Finalist) -> Iterator[Doubt]:
    present, scores, high = one.present_scores, picked.scores, picked.evaluated.high
    if high is not None:
        yield Doubt(
            DoubtKind.INTERVAL,
            f"flushes and compactions write more than {size(round(high.written_bytes))}, where the 90 % interval ends;"
            f" nothing is gained from {size(round(present.written_bytes))} on",
        )
    if picked.worst.cost > picked.cost:
        yield Doubt(
            DoubtKind.CASES,
            f"all is as in {picked.worst.name}: then it costs {ratio(picked.worst.cost)}, not {ratio(picked.cost)}",
        )
    for log in picked.logs:
        if log.is_held_out:
            cost = "has no figures" if log.cost is None else f"costs {ratio(log.cost)}"
            yield Doubt(
                DoubtKind.HELD_OUT, f"other loads are less like these than {log.log}, held out, where it {cost}"
            )
    for need in picked.evaluated.prediction.needs:
        if need.beyond > BEYOND and need.share >= LEAST_SHARE:
            yield Doubt(
                DoubtKind.LONGER_WINDOWS,
                f"fewer of {plain(round(need.needed_puts))} puts in a row on {need.family} overwrite or delete each"
                f" other than its model has it: the log shows {plain(round(need.shown_puts))} at most",
            )
    changed = {each.option for each in picked.differences}
    if changed & {*COMPRESSION}:
        yield Doubt(DoubtKind.COMPRESSION, "values compress otherwise than the log's tables show, or are said to")
    ages = sorted(changed & {*AGES})
    if ages:
        yield Doubt(DoubtKind.AGES, f"the same work comes at another pace, by which {', '.join(ages)} acts")
    yield from _of_what_is_not_measured(one, picked)
    if scores.memory_bytes > present.memory_bytes:
        more = size(round(scores.memory_bytes - present.memory_bytes))
        yield Doubt(DoubtKind.MEMORY, f"{more} more of memory for memtables are needed elsewhere")
    if present.space_bytes and scores.space_bytes > MORE * present.space_bytes:
        yield Doubt(DoubtKind.SPACE, f"there is no room for {size(round(scores.space_bytes))} of files")


def _of_what_is_not_measured(one: Recommendation, picked: Finalist) -> Iterator[Doubt]:
    after = picked.evaluated.prediction.reads.sorted_runs
    before = one.present_evaluated.prediction.reads.sorted_runs
    if after is None or before is None:
        yield Doubt(DoubtKind.READS, "reads become slower by more than writes gain: the log does not tell")
    elif after.value > MORE * before.value:
        yield Doubt(
            DoubtKind.READS,
            f"reads matter more than writes: one looks into {after.value:.1f} sorted runs, now {before.value:.1f}",
        )
    if picked.scores.p99_micros is None:
        if one.picked_stalls is None:
            yield Doubt(DoubtKind.STALLS, "writes stall more or wait longer: neither was measured")
        else:
            yield Doubt(DoubtKind.STALLS, "writes wait longer: latency was not measured")


def _of_the_log(one: Recommendation) -> Iterator[Doubt]:
    for check in one.anchor.checks:
        if not check.is_consistent and check.share >= LEAST_SHARE:
            yield Doubt(
                DoubtKind.MODEL,
                f"{check.family}, {percent(check.share, 0)} of the bytes, is not as learned: its model is off under the"
                " log's own options",
            )
    evidence = one.fitted.evidence
    before = sum(family.preexisting for family in evidence.families.values())
    operations = sum(family.operations for family in evidence.families.values())
    if operations and before > BEFORE_SHARE * operations:
        yield Doubt(
            DoubtKind.EARLIER_RECORDS,
            f"the {plain(round(before))} records of before the log are overwritten otherwise than those of the log",
        )
    logs = sum(not log.is_held_out for log in one.finalists[0].logs) if one.finalists else 0
    shown = f"the {evidence.seconds / 3600:.1f} hours of this log" if logs < 2 else f"these {logs} logs"
    yield Doubt(DoubtKind.OTHER_TIMES, f"the load is another one at other times than in {shown}")
    wrote, engine = evidence.run.run.rocksdb_version, one.anchor.engine.version
    if wrote is not None and wrote != engine:
        yield Doubt(DoubtKind.ENGINE, f"RocksDB {wrote} compacts otherwise than the {engine} of the replays")
