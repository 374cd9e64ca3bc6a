"""What a log cannot tell of a workload, with what was taken for it; and what to know before trusting a fit."""

from collections.abc import Iterator, Sequence

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.tuners.estimation.family_fit import FamilyFit
from lsmlens.tuners.estimation.history import History
from lsmlens.tuners.estimation.key_forms import UNCOMPRESSED, usual_ratio
from lsmlens.tuners.estimation.windows import WindowKind

# Tables left in level 0 while others of it were merged, as a share of these: beyond it compactions ran behind.
LEFT_BEHIND = 0.25
LEAST_JOBS = 8
# Survivors off by more than this say that the family's shape was not understood.
BADLY_EXPLAINED = 0.2


def declared(families: Sequence[FamilyFit], has_batches: bool, reads: str) -> dict[str, str]:
    """What the log does not tell, and the default taken.

    `has_batches`: how large write batches are is counted; `reads` is what was taken for these.
    """
    found = {
        "reads": reads,
        "transactions": "each write batch holds operations of all families"
        if has_batches
        else "100 operations of all families in each write batch",
        "moments": "even within the interval of each flush",
    }
    plain = [one.column_family.name for one in families if _is_plain(one)]
    if plain:
        usual = {name.partition("-")[0]: usual_ratio(name) for name in plain if usual_ratio(name) < 1}
        said = "".join(f", but for those of {name}, to {ratio:g} as on other OSDs" for name, ratio in usual.items())
        found["compressibility"] = f"values do not compress{said}: {_names(plain)} wrote uncompressed tables"
    if len(plain) < len(families):
        found["keys under compression"] = "all but 8 bytes of a key are shared with the key before it"
    scattered = [one.column_family.name for one in families if one.column_family.keys.order == "scattered"]
    if scattered:
        found["key order"] = f"scattered in {_names(scattered)}, as compactions read the whole level below"
    return found


def log_notes(history: History, run: RunAnalysis) -> Iterator[str]:
    """What the log as a whole leaves open."""
    opens = len(history.session_starts)
    if opens > 1:
        yield f"{opens} opens of the database in this log: a replay is one; tables from the WAL count as flushes"
    if history.unread:
        parts = ", ".join(f"{count} {kind}" for kind, count in sorted(history.unread.items()))
        yield f"without a column family, and left out: {parts}"
    if run.run.quality.without_finish["flush"]:
        yield "the log ends within a flush, which is left out"
    flushes = [flush for family in history.families.values() for flush in family.flushes]
    if not flushes:
        yield "no flush in this log: when and how much was written is a guess from tables that restarts wrote"
    elif not any(flush.user_bytes for flush in flushes):
        yield "this version does not log total_data_size: values overwritten in memory are taken as the others"
    if all(table.tombstones is None for table in history.tables.values()):
        yield "this version does not log how many tombstones tables hold: all are taken for puts"


def family_notes(families: Sequence[FamilyFit]) -> Iterator[str]:
    """What is left open of single families."""
    for one in families:
        name = one.column_family.name
        if one.evidence.preexisting:
            yield f"{name}: about {one.evidence.preexisting:.0f} records are older than the log: a guess"
        if one.misfit > BADLY_EXPLAINED:
            yield f"{name}: survivors come out {100 * one.misfit:.0f} % off: its load drifts, or is of no known shape"
        ranges = sum(table.range_tombstones for table in one.evidence.tables)
        if ranges:
            yield f"{name}: {ranges} range deletes reached tables; they are replayed as keys that are overwritten soon"
        if not one.evidence.longest_window(WindowKind.BOTTOM):
            yield f"{name}: no compaction shows how many records live"
        left = _left_behind(one)
        if left > LEFT_BEHIND:
            yield f"{name}: compactions ran behind: for each table merged in level 0, {left:.2f} were left waiting"


def _left_behind(one: FamilyFit) -> float:
    """Tables left in level 0 by the compactions of it, per table they merged."""
    jobs = [job for job in one.evidence.history.compactions if 0 in job.inputs and job.output_level and job.level_files]
    merged = sum(len(job.inputs[0]) for job in jobs)
    return sum(job.level_files[0] for job in jobs) / merged if len(jobs) >= LEAST_JOBS and merged else 0.0


def _is_plain(one: FamilyFit) -> bool:
    return all(table.compression in UNCOMPRESSED for table in one.evidence.tables)


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 12 else f"{', '.join(names[:12])} and {len(names) - 12} more"
