"""R26: options that cannot go well whatever the load."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.numbers import counted, size
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.units import GIB, MIB

# PrepareForBulkLoad sets the triggers to 2^30, which no level 0 reaches; what a level 0 may reach is ours.
REACHED_FILES = 10_000
# The least that RocksDB takes, to which it raises smaller ones (SanitizeOptions in db/column_family.cc).
LEAST_BUFFER_BYTES = 64 << 10
# Ours: what all memtables may take before the WAL's limit or another bound flushes them.
MOST_MEMTABLE_BYTES = 16 * GIB
# Ours: fewer gets say nothing of reads.
LEAST_GETS = 1000
LEAST_FILE_READS = 1_000_000

AUTOMATIC, SLOWDOWN, STOP = "disable_auto_compactions", "level0_slowdown_writes_trigger", "level0_stop_writes_trigger"
# With these, writes are slowed down by the number of files in level 0, or of sorted runs.
STYLE, COUNTING_STYLES = "compaction_style", ("kCompactionStyleLevel", "kCompactionStyleUniversal")
BUFFER, BUFFERS = "write_buffer_size", "max_write_buffer_number"
NO_CACHE, FILTER = "table_factory.no_block_cache", "table_factory.filter_policy"
# What costs reads by key: title, option, its values, what it means, what to do.
_READING = (
    (
        "No block cache",
        NO_CACHE,
        ("1", "true"),
        "every get reads its blocks from files; the page cache, if it holds them, holds them compressed",
        "give families that are read by key a block cache",
    ),
    (
        "No filter",
        FILTER,
        ("nullptr", "(nil)", "None", "none"),
        "a get asks a table on each level, those too that do not hold the key",
        "give families that are read by key a Bloom or ribbon filter, some 10 bits a key",
    ),
)
_GUIDE = "RocksDB's options; the bound is ours"


class PlainOptions:
    """Options are set that cannot go well, whatever the load.

    Evidence: options in force, as the log prints them. Nothing is said of options that are only inferred.

    Threshold: automatic compactions off while level-0 files slow writes down at 10 000 or fewer (a bulk load sets
    those triggers to 2^30, RocksDB's PrepareForBulkLoad); write buffers of 64 KiB, RocksDB's least; memtables that
    may take over 16 GiB together, by write_buffer_size * max_write_buffer_number of all families, unless
    db_write_buffer_size or max_total_wal_size bounds them below that; no block cache at all, or no filter, where the
    statistics count 1000 gets, or, far less sure, where a million reads of files below level 0 are counted. Where no
    source is named the numbers are ours.

    Advice: what each finding says; after a bulk load, give the triggers and the compactions their usual values.

    Risk: compactions that were off for long have much to do at first; larger buffers take memory.

    Check: the LOG of the next open prints the new values.
    """

    code: ClassVar[str] = "R26"
    title: ClassVar[str] = "Options that cannot work well"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for each kind of option."""
        if not run.options:
            yield NotAssessed(self.code, self.title, "options in the log or config show")
            return
        yield from self._compactions_off(run)
        yield from self._small_buffers(run)
        yield from self._large_memtables(run)
        yield from self._reads(run)

    def _compactions_off(self, run: RunAnalysis) -> Iterator[Finding]:
        families = [
            family
            for family in _families(run)
            if value_of(run.options, family, STYLE) in COUNTING_STYLES
            and value_of(run.options, family, AUTOMATIC) in ("1", "true")
            and 0 < (_size(run, family, SLOWDOWN) or 0) <= REACHED_FILES
        ]
        if families:
            first = families[0]
            yield self._finding(
                "Automatic compactions off beside level-0 triggers",
                Severity.CRITICAL,
                Confidence.HIGH,
                "nothing compacts level 0, and writes are slowed down and stopped at its triggers until somebody does",
                families,
                f"{AUTOMATIC}=1, {SLOWDOWN}={_size(run, first, SLOWDOWN)}",
                f"{SLOWDOWN} at most {REACHED_FILES}",
                _evidence(run, first, AUTOMATIC, SLOWDOWN, STOP),
                "turn automatic compactions on; for a bulk load raise the triggers with them, and compact at its end",
                (OptionChange(AUTOMATIC, "false", tuple(families)),),
                "compactions that were off for long have much to do at first",
            )

    def _small_buffers(self, run: RunAnalysis) -> Iterator[Finding]:
        families = [family for family in _families(run) if 0 < (_size(run, family, BUFFER) or 0) <= LEAST_BUFFER_BYTES]
        if families:
            least = min(_size(run, family, BUFFER) or 0 for family in families)
            yield self._finding(
                "Write buffers too small",
                Severity.WARNING,
                Confidence.HIGH,
                "each flush makes a tiny table, so flushes and compactions are mostly overhead",
                families,
                f"{BUFFER} {least / 1024:g} KiB",
                f"more than {LEAST_BUFFER_BYTES >> 10} KiB",
                _evidence(run, families[0], BUFFER),
                "give them some MiB; RocksDB's default is 64 MiB",
                (OptionChange(BUFFER, str(64 * MIB), tuple(families)),),
                "memory: the size times the number of buffers",
            )

    def _large_memtables(self, run: RunAnalysis) -> Iterator[Finding]:
        sizes = [(_size(run, family, BUFFER) or 0) * (_size(run, family, BUFFERS) or 0) for family in _families(run)]
        bounds = [_size(run, None, name) for name in ("db_write_buffer_size", "max_total_wal_size")]
        total = min([sum(sizes), *(bound for bound in bounds if bound)])
        if total > MOST_MEMTABLE_BYTES:
            largest = max(_families(run), key=lambda family: _size(run, family, BUFFER) or 0)
            yield self._finding(
                "Memtables may take all memory",
                Severity.WARNING,
                Confidence.MEDIUM,
                "memtables of all column families together may take so much before any but full ones are flushed",
                [],
                f"{size(total)} of {counted(len(sizes), 'column family', 'column families')}",
                f"{size(MOST_MEMTABLE_BYTES)}",
                (*_evidence(run, largest, BUFFER, BUFFERS), *_evidence(run, None, "db_write_buffer_size")),
                "bound them by db_write_buffer_size or max_total_wal_size, to what the host can spare",
                (),
                "a bound that is too tight makes small tables",
            )

    def _reads(self, run: RunAnalysis) -> Iterator[Finding]:
        gets = run.series.tickers.get("rocksdb.number.keys.read", 0) if run.series is not None else 0
        file_reads = _file_reads(run)
        for title, option, values, meaning, advice in _READING:
            families = [
                family
                for family in _families(run)
                if value_of(run.options, family, option) in values
                and (gets >= LEAST_GETS or file_reads.get(family, 0) >= LEAST_FILE_READS)
            ]
            # R24 says of a database whose statistics count gets whether they missed a filter.
            if not families or (option == FILTER and gets):
                continue
            is_counted = gets >= LEAST_GETS
            reads = sum(file_reads.get(family, 0) for family in families)
            yield self._finding(
                title,
                Severity.WARNING if is_counted else Severity.INFO,
                Confidence.MEDIUM if is_counted else Confidence.LOW,
                meaning if is_counted else f"{meaning}; whether reads are by key, the log does not tell",
                families,
                f"{gets} gets" if is_counted else f"{reads} reads of files",
                f"{LEAST_GETS} gets, or {LEAST_FILE_READS} reads of files below level 0",
                _evidence(run, families[0], option),
                advice,
                (),
                "filters and caches take memory",
            )

    def _finding(
        self,
        title: str,
        severity: Severity,
        confidence: Confidence,
        meaning: str,
        families: Sequence[str],
        value: str,
        threshold: str,
        evidence: tuple[Evidence, ...],
        advice: str,
        changes: tuple[OptionChange, ...],
        risk: str,
    ) -> Finding:
        of = f"{', '.join(families)}: " if families else ""
        return Finding(
            code=self.code,
            title=title,
            severity=severity,
            confidence=confidence,
            meaning=of + meaning,
            value=value,
            threshold=threshold,
            threshold_source=_GUIDE,
            evidence=evidence,
            column_family=families[0] if len(families) == 1 else None,
            advice=advice,
            changes=changes,
            risk=risk,
            check="the LOG of the next open prints the new values",
        )


def _families(run: RunAnalysis) -> list[str]:
    return sorted({one.family for one in run.options if one.family is not None})


def _size(run: RunAnalysis, family: str | None, name: str) -> int | None:
    return parse_size(value_of(run.options, family, name) or "")


def _evidence(run: RunAnalysis, family: str | None, *names: str) -> tuple[Evidence, ...]:
    found = [one for one in run.options if one.family == family and one.name in names]
    return tuple(Evidence(str(one.source), f"{f'{family}: ' if family else ''}{one.name}={one.value}") for one in found)


def _file_reads(run: RunAnalysis) -> dict[str, int]:
    """By family, the reads of files below level 0 that the last dump's histograms count."""
    tables = list(run.series.tables)[-1] if run.series is not None and len(run.series.tables) else {}
    return {
        name: sum(
            one.get("count") or 0 for level, one in said.get("read_latency", {}).items() if level not in ("0", "L0")
        )
        for name, said in tables.get("column_families", {}).items()
    }
