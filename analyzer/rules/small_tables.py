"""R32: many small tables."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import counted, percent, plain, size
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of

# Ours: a table that is a tenth of what it may be is small; some always are, and few do no harm.
SMALL_SHARE = 0.1
LEAST_TABLES = 200
TARGET = "target_file_size_base"


class SmallTables:
    """Hundreds of live tables are far smaller than they may be.

    Evidence: tables the log says were created below level 0 and not deleted, against target_file_size_base.

    Threshold: 200 live tables of a family whose median is below a tenth of target_file_size_base (ours).

    Advice: find out what makes them: a ttl or compaction filter that leaves little, trivial moves of small flushes
    down the levels, ingested files, or subcompactions of little work. A manual compaction of the range merges them.

    Risk: a manual compaction rewrites the range once.

    Check: the number of live tables falls, and with it the memory of indexes and filters and the time of an open.
    """

    code: ClassVar[str] = "R32"
    title: ClassVar[str] = "Many small tables"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for each column family."""
        import polars as pl

        live = run.scan_tables().filter(
            pl.col("deleted_at").is_null(), pl.col("level") > 0, pl.col("bytes").is_not_null()
        )
        families = live.group_by("column_family").agg(tables=pl.len(), median=pl.col("bytes").median()).drop_nulls()
        for family, tables, median in families.sort("column_family").collect().rows():
            target = parse_size(value_of(run.options, family, TARGET) or "")
            if tables < LEAST_TABLES or not target or median >= SMALL_SHARE * target:
                continue
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.INFO,
                confidence=Confidence.MEDIUM,
                meaning=f"{family}: indexes, filters and opens cost by the table, and these hold little each",
                value=f"{counted(tables, 'live table')}, half of them below {size(round(median))}",
                threshold=f"{plain(LEAST_TABLES)} tables, median below {percent(SMALL_SHARE)} of {size(target)}",
                threshold_source="ours",
                evidence=(
                    Evidence(
                        run.name,
                        f"{family}: {counted(tables, 'live table')}, median {size(round(median))}; {TARGET}={target}",
                    ),
                ),
                column_family=family,
                advice="find out what makes them (ttl, filter, moves, ingestion); a manual compaction merges them",
                risk="a manual compaction rewrites the range once",
                check="the number of live tables falls",
            )
