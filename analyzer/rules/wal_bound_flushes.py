"""R06: flushes come for the WAL's limit, before write buffers are full."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.numbers import percent
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.runs.jobs import FLUSH

# Above this share of flushes the WAL's limit rules rather than the write buffers (ours, after the sums of Ceph's
# defaults: in Reef all families fill 1.94 GiB before they flush by themselves, and the WAL may hold 1 GiB).
MOST_WAL_SHARE = 0.3
# Fewer flushes of a family say nothing of it (ours).
LEAST_FLUSHES = 4

MERGE = "min_write_buffer_number_to_merge"
WAL_FULL = "WAL Full"
NOT_LOGGED = "not logged"


class WalBoundFlushes:
    """The WAL's limit flushes column families before they have gathered what their options let them gather.

    Evidence: the true reasons of flushes (up to RocksDB 6.x the event says "Write Buffer Manager" for this one; a
    line before it tells), and num_memtables: a flush for "WAL Full" of no more memtables than
    min_write_buffer_number_to_merge came before the last of them was full.

    Threshold: more than 30 % of a family's flushes (ours), 4 flushes at least; a warning if that holds for all
    families' flushes together, a note if for some families only.

    Advice: raise max_total_wal_size, if the memory is there. While it binds, write_buffer_size and
    min_write_buffer_number_to_merge of the families named do nothing.

    Risk: memtables take up to about max_total_wal_size of memory beside the caches; the WAL takes that much of its
    device, and a recovery after a crash longer.

    Check: "Write Buffer Full" is the reason of most flushes under the same load.
    """

    code: ClassVar[str] = "R06"
    title: ClassVar[str] = "The WAL's limit decides when to flush"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for the database, naming the column families."""
        reasons = sum((view.reasons for view in run.flushes), Counter[str]())
        if not set(reasons) - {NOT_LOGGED}:
            yield NotAssessed(self.code, self.title, "flushes with a reason (RocksDB 5.10 or later)")
            return
        merges = {view.name: parse_size(value_of(run.options, view.name, MERGE) or "") for view in run.flushes}
        if not any(merges.values()):
            yield NotAssessed(self.code, self.title, "options in the log or config show")
            return
        early = _early_flushes(run, merges)
        shares = {view.name: early[view.name] / view.flushes for view in run.flushes if view.flushes >= LEAST_FLUSHES}
        bound = [family for family, share in shares.items() if share > MOST_WAL_SHARE]
        if not bound:
            return
        total = sum(early.values()) / sum(view.flushes for view in run.flushes)
        limit = value_of(run.options, None, "max_total_wal_size") or "not known"
        bytes_limit = parse_size(limit)
        worst = max(bound, key=lambda family: shares[family])
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING if total > MOST_WAL_SHARE else Severity.INFO,
            confidence=Confidence.HIGH,
            meaning=f"max_total_wal_size binds for {', '.join(bound)}: their write_buffer_size and {MERGE} do nothing",
            value=f'{percent(total)} of all flushes for "{WAL_FULL}" before enough write buffers were full,'
            f" up to {percent(shares[worst])} ({worst})",
            threshold=f"{percent(MOST_WAL_SHARE)} of a family's flushes; a warning if of all flushes",
            threshold_source="ours, from the memory sums of Ceph's defaults",
            evidence=(
                *(_evidence(run, family, early[family]) for family in bound),
                Evidence(run.name, f"max_total_wal_size={limit}"),
            ),
            column_family=bound[0] if len(bound) == 1 else None,
            advice="raise max_total_wal_size if the memory is there; else leave the memtable options of these families",
            changes=(OptionChange("max_total_wal_size", str(2 * bytes_limit)),) if bytes_limit else (),
            risk="memtables take up to about max_total_wal_size of memory; recovery after a crash takes longer",
            check='"Write Buffer Full" is the reason of most flushes under the same load',
        )


def _early_flushes(run: RunAnalysis, merges: dict[str, int | None]) -> Counter[str]:
    """By family, the flushes for the WAL's limit that came before as many memtables were full as are merged."""
    early: Counter[str] = Counter()
    flushes = run.scan_jobs().filter(kind=FLUSH, reason=WAL_FULL).drop_nulls("column_family")
    for family, memtables, count in flushes.group_by("column_family", "memtables").len().collect().iter_rows():
        early[family] += count * ((memtables or 0) <= (merges.get(family) or 0))
    return +early


def _evidence(run: RunAnalysis, family: str, early: int) -> Evidence:
    view = next(view for view in run.flushes if view.name == family)
    told = ", ".join(f'{count} for "{reason}"' for reason, count in view.reasons.most_common())
    return Evidence(
        run.name, f"{family}: {view.flushes} flushes, {told}; {early} before enough write buffers were full"
    )
