"""How long the keys and values of each part are, from what flushes took in, what they kept, and the bottom.

Puts that live long are often smaller or larger than hot ones: the mean of what flushes kept, of all they took in, and
of the bottom differ. Each part has one mean key and one mean value, found together by least squares on those sums, and
drawn a little towards the family's mean where the sums do not tell them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.estimation.history import FamilyHistory
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import Floats
from lsmlens.tuners.estimation.parts import Part
from scipy.optimize import nnls

# A memtable's entry is its key with 8 bytes of sequence number and type, its value, and both lengths as varints.
FOOTER_BYTES = 8
LENGTH_BYTES = 1
# How strongly parts are drawn to the mean: as this many flushes' sums.
PULL = 0.3
# The bottom counts as this share of all that flushes kept: it tells parts apart, but is of their oldest records only.
BOTTOM_COUNTS = 0.1
# Parts with fewer operations have the family's means.
LEAST_SHARE = 0.001


@dataclass(frozen=True, slots=True)
class RecordSizes:
    """Mean bytes of keys and values, of the family and of each of its parts (shape: parts)."""

    key: float
    value: float
    keys: Floats
    values: Floats


def record_sizes(family: FamilyHistory, intervals: Sequence[Interval], parts: Sequence[Part]) -> RecordSizes:
    """The sizes of a family's parts; bytes."""
    flushed = [place for place, one in enumerate(intervals) if one.table is not None and one.table.entries]
    tables = [one for one in (intervals[place].table for place in flushed) if one is not None]
    entries = sum(int(table.entries) for table in tables)
    if not entries:
        return _unflushed(intervals, len(parts))
    key = sum(table.key_bytes for table in tables) / entries
    value = sum(table.value_bytes for table in tables) / max(1, sum(table.puts for table in tables))
    kept = np.array([[part.kept_puts[place] + part.kept_deletes[place] for part in parts] for place in flushed])
    keys = _solve(_matched(kept, [table.entries for table in tables]), [table.key_bytes for table in tables], key)
    rows = [_matched(_of(parts, flushed, "kept_puts"), [table.puts for table in tables])]
    sums = [float(table.value_bytes) for table in tables]
    for place, one in enumerate(intervals):
        flush = one.flush
        if flush is None or flush.user_bytes is None or not one.puts:
            continue
        puts = np.array([part.puts[place] for part in parts], np.float64)
        operations = puts + np.array([part.deletes[place] for part in parts], np.float64)
        left = flush.user_bytes - float(operations @ (keys + FOOTER_BYTES + 2 * LENGTH_BYTES))
        rows.append(puts[None, :])
        sums.append(max(0.0, left - one.puts * (_varint_bytes(left / one.puts) - LENGTH_BYTES)))
    bottom = _bottom(family)
    live = np.array([part.live for part in parts])
    if bottom is not None and live.sum():
        counted = BOTTOM_COUNTS * float(rows[0].sum())
        rows.append(live[None, :] / live.sum() * counted)
        sums.append(bottom * counted)
    values = _solve(np.vstack(rows), sums, value)
    few = np.array([part.operations for part in parts]) < LEAST_SHARE * sum(part.operations for part in parts)
    return RecordSizes(key, value, np.where(few, key, keys), np.where(few, value, values))


def _unflushed(intervals: Sequence[Interval], parts: int) -> RecordSizes:
    """The sizes where no record reached a table: keys of 8 bytes, and values of what else memtables took in."""
    key = float(FOOTER_BYTES)
    known = [one for one in intervals if one.flush is not None and one.flush.user_bytes is not None]
    puts = sum(one.puts for one in known)
    taken = sum(one.flush.user_bytes or 0 for one in known if one.flush is not None)
    operations = sum(one.operations for one in known)
    value = max(0.0, taken - operations * (key + FOOTER_BYTES + 2 * LENGTH_BYTES)) / puts if puts else 0.0
    return RecordSizes(key, value, np.full(parts, key), np.full(parts, value))


def _of(parts: Sequence[Part], places: Sequence[int], name: str) -> Floats:
    return np.array([[getattr(part, name)[place] for part in parts] for place in places], np.float64)


def _matched(kept: Floats, sums: Sequence[int]) -> Floats:
    """Expected records of each part (shape: flushes, parts), scaled to what the flushes really kept."""
    expected = kept.sum(axis=1)
    scale = np.where(expected > 0, np.array(sums, np.float64) / np.maximum(expected, 1e-9), 0.0)
    return kept * scale[:, None]


def _solve(counts: Floats, sums: Sequence[float], mean: float) -> Floats:
    """Mean sizes of the parts so that `counts` (shape: rows, parts) of them add up to `sums`."""
    if mean <= 0:
        return np.zeros(counts.shape[1])
    target = np.array(sums, np.float64)
    used = (counts.sum(axis=1) > 0) & (target > 0)
    if not used.any():
        return np.full(counts.shape[1], mean)
    weights = np.sqrt(counts[used].sum(axis=1))
    rows = counts[used] / counts[used].sum(axis=1, keepdims=True) * weights[:, None]
    wanted = target[used] / counts[used].sum(axis=1) / mean * weights
    pull = np.eye(counts.shape[1]) * PULL * float(np.sqrt((weights**2).mean()))
    system = np.vstack([rows, pull])
    solution, _ = nnls(system, np.concatenate([wanted, pull.sum(axis=1)]))
    return solution * mean


def _bottom(family: FamilyHistory) -> float | None:
    """Mean value bytes in tables without tombstones of the deepest level, of the log's later half."""
    jobs = [job for job in family.compactions if job.outputs and not any(table.tombstones for table in job.outputs)]
    deepest = max((job.output_level for job in jobs), default=0)
    tables = [table for job in jobs if job.output_level == deepest for table in job.outputs]
    tables = tables[len(tables) // 2 :]
    entries = sum(table.entries for table in tables)
    return sum(table.value_bytes for table in tables) / entries if entries else None


def _varint_bytes(size: float) -> int:
    return 1 if size < 1 << 7 else 2 if size < 1 << 14 else 3
