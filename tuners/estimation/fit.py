"""A workload learned from a log alone: each family's flushes and compactions, taken apart and made a document."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property

import msgspec
import numpy as np
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.tuners.estimation.client_reads import ClientReads
from lsmlens.tuners.estimation.compaction_times import compaction_seconds
from lsmlens.tuners.estimation.defaults import declared, family_notes, log_notes
from lsmlens.tuners.estimation.evidence import Evidence, gather_all
from lsmlens.tuners.estimation.family_fit import FamilyFit, fit_family
from lsmlens.tuners.estimation.family_parts import BEST, Variation
from lsmlens.tuners.estimation.model_choice import best_explained
from lsmlens.tuners.estimation.value_shapes import with_shapes
from lsmlens.tuners.replays.timed_compactions import SecondsPerByte
from lsmlens.tuners.workloads.document import MOST_IN_BATCH, ColumnFamily, Origin, Transactions, Workload
from lsmlens.tuners.workloads.generator import DeclaredStream

# How far draws go from the best fit: what a log leaves open.
DRAWN_NOISE = 0.02
DRAWN_CLEAR = 0.5
DRAWN_BEFORE = 0.15
DRAWN_SMOOTHING = (0.0, 0.001)


@dataclass(frozen=True)
class FittedWorkload:
    """A workload document and what it was learned from. `notes` say what a reader should know before trusting it.

    Replays are to have compactions that last as `compaction_seconds` say, by family; without, they end at once.
    """

    evidence: Evidence
    families: tuple[FamilyFit, ...]
    notes: tuple[str, ...] = field(default=())
    compaction_seconds: Mapping[str, SecondsPerByte] = field(default_factory=dict)

    @cached_property
    def workload(self) -> Workload:
        """The document."""
        return _document(self.evidence, self.families, self.notes)

    @property
    def stream(self) -> DeclaredStream:
        """The document's stream of write batches."""
        return DeclaredStream(self.workload)

    @property
    def name(self) -> str:
        """The run's name."""
        return self.evidence.run.name

    def varied(self, variations: Mapping[str, Variation]) -> "FittedWorkload":
        """The same evidence, with the families named fitted otherwise."""
        families = tuple(
            fit_family(one.evidence, self.evidence.since, variations[one.column_family.name])
            if one.column_family.name in variations
            else one
            for one in self.families
        )
        return replace(self, families=families)

    def timed(self) -> "FittedWorkload":
        """The same, with compactions that last as long as the log's did, if the log tells."""
        run = self.evidence.run.run
        return replace(self, compaction_seconds=compaction_seconds(run, list(self.evidence.history.families)))

    def draws(self, count: int, seed: int = 1) -> list[Workload]:
        """Other workloads that explain the log about as well: the ridge."""
        found = []
        for number in range(count):
            fits = tuple(self._drawn(family, seed + number) for family in self.families)
            found.append(_document(self.evidence, fits, self.notes))
        return found

    def _drawn(self, family: FamilyFit, seed: int) -> FamilyFit:
        rng = np.random.default_rng([seed, *family.column_family.name.encode()])
        if family.is_settled:
            return family
        if family.calibration is not None:
            return replace(family, column_family=family.calibration.drawn(rng))
        variation = replace(
            family.variation,
            clear_factor=family.variation.clear_factor * float(np.exp(rng.normal(0.0, DRAWN_CLEAR))),
            place=float(rng.random()),
            offset=float(rng.random()),
            noise=DRAWN_NOISE,
            smoothing=DRAWN_SMOOTHING[int(rng.integers(len(DRAWN_SMOOTHING)))],
            before=float(np.exp(rng.normal(0.0, DRAWN_BEFORE))),
            seed=seed,
        )
        return fit_family(family.evidence, self.evidence.since, variation)


def fit(run: RunAnalysis, variation: Variation = BEST) -> FittedWorkload:
    """The workload of one run, learned from its log.

    Raises InputError for a log without flushes, which says nothing of a workload.
    """
    evidence = gather_all(run)
    since, every = evidence.since, evidence.families
    families = tuple(best_explained(fit_family(one, since, variation), every, since) for one in every.values())
    return FittedWorkload(evidence, families, (*log_notes(evidence.history, run), *family_notes(families)))


def _document(evidence: Evidence, families: tuple[FamilyFit, ...], notes: tuple[str, ...]) -> Workload:
    run = evidence.run.run
    origin = Origin(
        kind="fitted",
        source=run.name,
        started_at=datetime.fromtimestamp(evidence.since, UTC).isoformat(timespec="milliseconds"),
        ceph_version=run.ceph_version or "",
        rocksdb_version=run.rocksdb_version or "",
        defaults=declared(families, evidence.batches is not None, evidence.reads.default),
        notes=notes,
    )
    return Workload(
        name=run.name,
        origin=origin,
        seconds=round(evidence.seconds + 0.001, 3),
        transactions=Transactions(round(min(max(evidence.batches.operations, 1.0), MOST_IN_BATCH)))
        if evidence.batches is not None
        else Transactions(),
        column_families=with_shapes(
            (_with_reads(one.column_family, evidence.reads) for one in families), evidence.run.beside.size_histogram
        ),
    )


def _with_reads(family: ColumnFamily, reads: ClientReads) -> ColumnFamily:
    return msgspec.structs.replace(family, reads=reads.families.get(family.name))
