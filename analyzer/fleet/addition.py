"""Adding logs to a data set: one task a daemon, on any executor; what was added already is known and not read again."""

import gc
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
from lsmlens.analyzer.diagnosis import analyze_runs
from lsmlens.analyzer.errors import InputError, LsmlensError
from lsmlens.analyzer.fleet.carry import carry_of
from lsmlens.analyzer.fleet.catalogue import Entry, Task, entries_of, files_under, tasks_of, unknown_of
from lsmlens.analyzer.fleet.dataset import Addition, Content, DataSet, Session
from lsmlens.analyzer.fleet.rows import rows_of
from lsmlens.analyzer.fleet.tables import TABLES, Kept
from lsmlens.analyzer.logs.events import EventKind
from lsmlens.analyzer.logs.pieces import grouped
from lsmlens.analyzer.numbers import counted
from lsmlens.analyzer.runs.reading import MemberSummary, read_pieces, runs_of
from lsmlens.analyzer.runs.run import Run


@dataclass(frozen=True, slots=True)
class Added:
    """What one task gave: how many new jobs, of how many logs; `failure` says what stopped it, if anything."""

    daemon: str
    logs: int = 0
    jobs: int = 0
    failure: str = ""


def add(
    dataset: DataSet,
    paths: Sequence[str],
    executor: Executor,
    cluster: str,
    host: str | None = None,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> list[Added]:
    """Add everything under `paths` to a data set: what each daemon's logs gave, those that were known left out.

    `host` is that of daemons whose metadata do not tell. `on_progress` is told what was done last, and how many of
    how many steps. Each daemon's rows are published when they are complete. Raises InputError for a path that does
    not exist, LsmlensError where there is no log, or while another program adds to the data set.
    """
    files = files_under(paths)

    def gathered(futures: dict[Any, str], what: str) -> list[Any]:
        results = []
        for done, future in enumerate(as_completed(futures), 1):
            results.append(future.result())
            if on_progress is not None:
                on_progress(f"{what} {futures[future]}", done, len(futures))
        return results

    found: list[list[Entry]] = gathered({executor.submit(entries_of, file): file for file in files}, "listing")
    tasks = tasks_of(sorted((entry for some in found for entry in some), key=lambda entry: entry.path))
    if not tasks:
        raise LsmlensError(
            f"{paths[0]}: no log among {counted(len(files), 'file')}", "give logs, or folders that hold them"
        )
    with dataset.alone():
        new = [task for task in tasks if unknown_of(task, dataset.state_of(cluster, task.daemon).contents)]
        futures = {executor.submit(add_daemon, str(dataset.root), task, cluster, host): task.daemon for task in new}
        return sorted(gathered(futures, "reading"), key=lambda one: one.daemon)


def add_daemon(root: str, task: Task, cluster: str, host: str | None) -> Added:
    """Read one daemon's new logs and publish what they gave. A log that cannot be read does not stop the others'."""
    gc.disable()
    try:
        with DataSet.at(Path(root)).addition(cluster, task.daemon) as addition:
            return _added(addition, task, host)
    except (LsmlensError, OSError, pl.exceptions.PolarsError) as error:
        return Added(task.daemon, failure=str(error))
    finally:
        gc.enable()
        gc.collect()


def _added(addition: Addition, task: Task, host: str | None) -> Added:
    state = addition.state
    told = task.metadata
    if not state.files:
        state.host = (told.host if told else None) or host or state.host
    state.device_class = (told.device_class if told else None) or state.device_class
    new = [one for one in task.entries if not one.is_log or one.fingerprint not in state.contents]
    members, pieces, companions = read_pieces(task.files, wanted={entry.path for entry in new})
    named = sorted({piece.daemon for piece in pieces if piece.daemon is not None})
    if len(named) > 1:
        raise InputError(pieces[0].scan.member, f"lines of several daemons: {', '.join(named)}", "add them apart")
    groups = sorted(grouped(pieces), key=lambda group: min(one.first_millis or 0 for one in group))
    jobs, days = 0, set[str]()
    for group in groups:
        carry = state.carry
        ends = [piece.stamps.last for piece in group if piece.stamps.last is not None]
        is_next = carry is None or not ends or max(ends) > carry.until_millis
        whole = [carry.before(group), *group] if carry is not None and is_next else group
        for run in runs_of([whole], companions):
            run.members = list(dict.fromkeys(run.members))
            gave = _put(addition, run, members)
            jobs, days = jobs + gave[0], days | gave[1]
            if is_next:
                state.carry = carry_of(run, whole) or carry
    logs = [entry for entry in new if entry.is_log]
    state.contents |= {entry.fingerprint: Content(entry.path, sorted(days)) for entry in logs}
    return Added(task.daemon, len(logs), jobs)


def _put(addition: Addition, run: Run, members: Sequence[MemberSummary]) -> tuple[int, set[str]]:
    """Put what one run tells into the tables: how many jobs were new, and of which days there are rows."""
    analysis = analyze_runs(members, [run]).runs[0]
    numbers = _numbered(addition, run)
    new_jobs, days = 0, set[str]()
    for name, rows in rows_of(analysis, members, addition.state.device_class).items():
        kept = TABLES[name]
        if "session" in rows.columns:
            rows = rows.with_columns(pl.col("session").replace_strict(numbers, default=None, return_dtype=pl.Int32))
        for (day,), some in rows.group_by("day", maintain_order=True):
            assert isinstance(day, date)
            path = addition.path_of(name, day)
            old = addition.rows_of(path)
            merged = _merged(old, some.select(*kept.schema), kept)
            addition.write(path, merged)
            days.add(day.isoformat())
            if name == "jobs":
                new_jobs += merged.height - (0 if old is None else old.height)
    _mark_deleted(addition, run)
    return new_jobs, days


def _merged(old: pl.DataFrame | None, new: pl.DataFrame, kept: Kept) -> pl.DataFrame:
    """Rows that stand already and new ones, each thing once: with what either tells of it, the fuller row first."""
    rows = new if kept.is_state or old is None else pl.concat([old, new])
    repeated = pl.struct(kept.key).is_duplicated()
    twice = rows.filter(repeated)
    if not twice.height:
        return rows
    if "started_at" in twice.columns:  # of a job whose start one reading lacks, the other's row stands
        twice = twice.sort("started_at", nulls_last=False, maintain_order=True)
    known = twice.group_by(kept.key, maintain_order=True).agg(pl.exclude(kept.key).drop_nulls().last())
    merged = pl.concat([rows.filter(~repeated), known.select(rows.columns)])
    return merged.sort(kept.moments[0], maintain_order=True) if kept.moments else merged


def _mark_deleted(addition: Addition, run: Run) -> None:
    """Tables of earlier hours that were deleted in this one."""
    deletions = run.other_events.filter(kind=EventKind.TABLE_FILE_DELETION.value)
    numbers = deletions["fields"].str.json_path_match("$.file_number").cast(pl.Int64)
    deleted = dict(zip(numbers, deletions["at"].dt.epoch("us"), strict=True))
    earlier = deleted.keys() - set(run.tables["number"])
    for path, file in list(addition.state.files.items()):
        if file.numbers is None or not path.startswith("tables/"):
            continue
        inside = {one: deleted[one] for one in earlier if file.numbers[0] <= one <= file.numbers[1]}
        rows = addition.rows_of(path) if inside else None
        if rows is None:
            continue
        told = pl.col("number").replace_strict(inside, default=None, return_dtype=pl.Int64)
        marked = rows.with_columns(pl.coalesce("deleted_at", told.cast(pl.Datetime("us", "UTC"))))
        if not marked.equals(rows):
            addition.write(path, marked)


def _numbered(addition: Addition, run: Run) -> dict[int, int]:
    """The number in the data set of each session of a run: its own if it is known, else the next."""
    known = addition.state.sessions
    numbers = {}
    for number, opened_at, first_at, last_at in run.opens.select(
        "session", pl.col("opened_at", "first_event_at", "last_event_at").dt.epoch("us")
    ).iter_rows():
        same = _same(known, opened_at, first_at)
        if same is None:
            same = Session(len(known), opened_at, first_at, last_at)
            known.append(same)
        same.opened_at = opened_at if same.opened_at is None else same.opened_at
        same.first_at = min((one for one in (same.first_at, first_at) if one is not None), default=None)
        same.last_at = max((one for one in (same.last_at, last_at) if one is not None), default=None)
        numbers[number] = same.number
    return numbers


def _same(known: Sequence[Session], opened_at: int | None, first_at: int | None) -> Session | None:
    """The session that this is: of the same open, or, where a log begins later, the latest that began before it."""
    if opened_at is not None:
        return next((one for one in known if one.opened_at == opened_at), None)
    before = [one for one in known if one.first_at is not None and first_at is not None and one.first_at <= first_at]
    return max(before, key=lambda one: one.first_at or 0, default=None)
