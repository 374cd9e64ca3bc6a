"""R29: compactions for the age of tables."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import counted, duration, percent, size
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.runs.jobs import COMPACTION

TTL, PERIODIC = "Ttl", "PeriodicCompaction"
# Ours: above this share of what compactions write, age decides more than growth.
MOST_AGE_SHARE = 0.2
LEAST_COMPACTIONS = 10
PERIOD = "periodic_compaction_seconds"
# Ours: a log that lasts for so many periods without one such compaction.
PERIODS = 2


class AgeCompactions:
    """Compactions run for the age of tables: much of what is written, or never though they are asked for.

    Evidence: compaction_reason "Ttl" and "PeriodicCompaction", by bytes written. Tables that were written together
    come of age together, so such compactions come in bursts. Or periodic_compaction_seconds in force, tables that
    live for longer, and no such compaction.

    Threshold: more than 20 % of the bytes that 10 or more compactions wrote (ours); or a log that lasts for two
    periods, and a live table older than that, without any (ours).

    Advice: where ages are no need of the data (deletion by law, a compaction filter), turn ttl and
    periodic_compaction_seconds off (0), or lengthen them. Where they are and do not run, look for disabled automatic
    compactions: RocksDB picks old tables only when it picks a compaction at all, and each into its own level, so that
    tombstones above the last level stay.

    Risk: deleted data and data that a filter would drop stay longer.

    Check: the share falls; or the reason appears.
    """

    code: ClassVar[str] = "R29"
    title: ClassVar[str] = "Compactions for age"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding of each kind."""
        import polars as pl

        told = run.scan_jobs().filter(pl.col("kind") == COMPACTION, pl.col("reason").is_not_null())
        compactions = told.select("reason", "output_bytes").collect()
        total = int(compactions["output_bytes"].fill_null(0).sum())
        of_age = compactions.filter(pl.col("reason").is_in([TTL, PERIODIC]))
        aged = int(of_age["output_bytes"].fill_null(0).sum())
        if compactions.height >= LEAST_COMPACTIONS and total and aged > MOST_AGE_SHARE * total:
            counts = ", ".join(
                f"{count} for {reason}" for reason, count in sorted(of_age["reason"].value_counts().rows())
            )
            yield self._finding(
                Severity.WARNING,
                f"{percent(aged / total)} of what compactions write is for the age of tables; those written together"
                " come of age together, so it comes in bursts",
                f"{percent(aged / total)} of {size(total)}",
                f"{percent(MOST_AGE_SHARE)} of the bytes compactions write",
                Evidence(run.name, f"compactions: {counts} of {compactions.height}"),
                "lengthen ttl and periodic_compaction_seconds, or turn them off (0), unless data must go by age",
            )
        yield from self._never(run, of_age.height)

    def _never(self, run: RunAnalysis, of_age: int) -> Iterator[Finding]:
        import polars as pl

        lasted = run.statistics.log_duration_seconds or 0.0
        periods = {
            family: parse_size(value_of(run.options, family, PERIOD) or "") or 0
            for family in {one.family for one in run.options if one.name == PERIOD}
        }
        waited = {family: period for family, period in periods.items() if 0 < period * PERIODS <= lasted}
        if of_age or not waited:
            return
        tables = run.scan_tables().select("column_family", "created_at", "deleted_at")
        created = tables.drop_nulls("created_at").collect()
        live, last = created.filter(pl.col("deleted_at").is_null()), created["created_at"].max()
        for family, period in sorted(waited.items(), key=str):
            old = live.filter(
                pl.col("column_family") == family,
                (pl.lit(last) - pl.col("created_at")).dt.total_seconds() > PERIODS * period,
            )
            if old.height:
                yield self._finding(
                    Severity.INFO,
                    f"{family}: tables are older than {PERIOD} ({period} s), and no compaction was for that",
                    f"{counted(old.height, 'live table')} older than {PERIODS} periods",
                    f"{PERIODS} periods",
                    Evidence(run.name, f"{PERIOD}={period}; no {PERIODIC} in {duration(lasted)}"),
                    "look for disable_auto_compactions, and for a database that nothing else lets pick a compaction",
                )

    def _finding(
        self, severity: Severity, meaning: str, value: str, threshold: str, evidence: Evidence, advice: str
    ) -> Finding:
        return Finding(
            code=self.code,
            title=self.title,
            severity=severity,
            confidence=Confidence.MEDIUM,
            meaning=meaning,
            value=value,
            threshold=threshold,
            threshold_source="ours; the reasons are RocksDB's",
            evidence=(evidence,),
            advice=advice,
            risk="deleted data, and data that a filter would drop, stay longer",
            check="the share of compactions for Ttl and PeriodicCompaction",
        )
