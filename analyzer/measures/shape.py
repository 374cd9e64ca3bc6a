"""The shape of the tree over time: the tables and bytes that each level of each column family holds.

Bytes are those of the tables that the log saw created, and, where a MANIFEST of the log's end is given, of those that
are older. How many files a level holds, each job's event tells by itself (`lsm_state`).
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl
from lsmlens.analyzer.measures.amplification import UNATTRIBUTED
from lsmlens.analyzer.runs.jobs import MOVE
from lsmlens.analyzer.runs.run import Run


class LevelHolds(NamedTuple):
    """What a level holds from a moment on, in microseconds since 1970 UTC."""

    micros: int
    column_family: str
    level: int
    amount: int


def bytes_by_level(run: Run) -> Iterator[LevelHolds]:
    """The bytes of each level, told anew whenever they change, in the order of time."""
    families: dict[int, str] = {}
    sizes: dict[int, int] = {}
    changes: list[tuple[int, int, int | None]] = []  # when, which table, and the level it goes to
    for number, family, level, size, created_at, deleted_at in (
        run.scan_tables()
        .select(
            "number",
            "column_family",
            "level",
            "bytes",
            *(pl.col(name).to_physical() for name in ("created_at", "deleted_at")),
        )
        .collect()
        .iter_rows()
    ):
        families[number], sizes[number] = family or UNATTRIBUTED, size
        if level is not None and created_at is not None:
            changes.append((created_at, number, level))
        if deleted_at is not None:
            changes.append((deleted_at, number, None))
    first = run.first_event_micros or 0
    for one in run.manifest.levels if run.manifest is not None else ():
        for number, size in one.tables.items():
            if number not in sizes:
                families[number], sizes[number] = one.family, size
                changes.append((first, number, one.level))
    moves = (
        run.scan_jobs().filter(kind=MOVE).select(pl.col("finished_at").to_physical(), "input_tables", "output_level")
    )
    changes += [
        (at, number, level)
        for at, numbers, level in moves.collect().iter_rows()
        for number in numbers
        if number in sizes
    ]
    level_of: dict[int, int] = {}
    totals: dict[tuple[str, int], int] = defaultdict(int)
    for micros, number, level in sorted(changes, key=lambda one: one[0]):
        family, size = families[number], sizes[number]
        before = level_of.pop(number, None)
        if before is not None:
            totals[family, before] -= size
            yield LevelHolds(micros, family, before, totals[family, before])
        if level is not None:
            level_of[number] = level
            totals[family, level] += size
            yield LevelHolds(micros, family, level, totals[family, level])


def files_by_level(run: Run) -> Iterator[LevelHolds]:
    """The files of each level after each job that tells them and changed them, in the order of time."""
    known: dict[tuple[str, int], int] = {}
    jobs = run.scan_jobs().select(pl.col("finished_at").to_physical(), "column_family", "level_files")
    for micros, family, files in jobs.drop_nulls("level_files").sort("finished_at").collect().iter_rows():
        for level, count in enumerate(files):
            key = family or UNATTRIBUTED, level
            if known.get(key, 0) != count:
                known[key] = count
                yield LevelHolds(micros, *key, count)
