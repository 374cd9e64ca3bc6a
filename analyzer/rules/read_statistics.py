"""R24: filters, decompression and the tail of gets."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.dumps.tickers import StatisticHistogram
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import percent, plain
from lsmlens.analyzer.runs.osds import is_osd

# RocksDB, tools/advisor/advisor/rules.ini: bloom-filter-percent-useful, tuning-iostat-burst, decompress-time-long.
USEFUL_SHARE = 0.9
TAIL_RATIO = 5.0
DECOMPRESSION_SHARE = 0.3
# Ours: below this, percentiles and shares are of chance.
LEAST_GETS = 1000
SOURCE = "RocksDB, tools/advisor"
GETS = "rocksdb.db.get.micros"
DECOMPRESSION = "rocksdb.decompression.times.nanos"
BLOCK_READS = ("rocksdb.read.block.get.micros", "rocksdb.read.block.compaction.micros")


class ReadStatistics:
    """Reads cost more than they need to: filters that do not filter, blocks long to decompress, a long tail.

    Evidence: counters and histograms of the last STATISTICS dump, since the open before it. Filters:
    (bloom.filter.useful + full.true.positive) / (useful + full.positive), or none of them ever counted. Tail:
    P99 / P50 of db.get.micros. Decompression: its time / the time blocks took to be read, which it is part of; that
    stands in for the advisor's perf context, and is there at stats_level kExceptTimeForMutex and above only.

    Threshold: 0.9, 5 and 0.3, RocksDB's own advisor (tools/advisor). It takes 1000 gets.

    Advice: more bits a key; bytes_per_sync and wal_bytes_per_sync where writes come in bursts; LZ4, smaller blocks
    or a larger cache.

    Risk: filters and caches take memory; a lighter compression takes space.

    Check: the figures after the change, under the same load.
    """

    code: ClassVar[str] = "R24"
    title: ClassVar[str] = "Reads cost more than they need to"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """A finding for each of filters, tail and decompression."""
        if run.is_monitor:
            return
        if run.series is None or not run.series.tickers:
            how = "rocksdb_perf = true, and a restart" if is_osd(run.run) else "Options.statistics"
            yield NotAssessed(self.code, self.title, f"STATISTICS in the dumps ({how})")
            return
        tickers, histograms = run.series.tickers, run.series.histograms
        gets = tickers.get("rocksdb.number.keys.read", 0)
        if gets < LEAST_GETS:
            yield NotAssessed(self.code, self.title, f"{LEAST_GETS} gets in the last STATISTICS dump (here {gets})")
            return
        yield from self._filters(run, tickers, gets)
        yield from self._tail(run, histograms)
        yield from self._decompression(run, histograms)

    def _filters(self, run: RunAnalysis, tickers: Mapping[str, int], gets: int) -> Iterator[Finding]:
        names = ("useful", "full.positive", "full.true.positive")
        useful, positive, true = (tickers.get(f"rocksdb.bloom.filter.{name}", 0) for name in names)
        text = ", ".join(f"bloom.filter.{name} {tickers.get(f'rocksdb.bloom.filter.{name}', 0)}" for name in names)
        prefix = sum(tickers.get(f"rocksdb.bloom.filter.prefix.{name}", 0) for name in ("checked", "useful"))
        threshold = f"< {percent(USEFUL_SHARE)}"
        if not useful + positive:
            if prefix:
                return
            meaning, value, threshold = "no get asked a filter", f"0 checks in {plain(gets)} gets", "no check at all"
        else:
            right = (useful + true) / (useful + positive)
            if right >= USEFUL_SHARE:
                return
            meaning, value = "filters let keys pass that are not there", f"{percent(right)} of checks were right"
        advice = "more bits a key in the filter (10 let 1 % of absent keys pass, 20 a hundredth of that)"
        yield self._finding(run, meaning, value, threshold, text, advice, "filters take memory: bits x keys")

    def _tail(self, run: RunAnalysis, histograms: Mapping[str, StatisticHistogram]) -> Iterator[Finding]:
        found = histograms.get(GETS)
        half, tail = (found.percentiles.get(name) if found else None for name in ("P50", "P99"))
        if not half or tail is None or tail / half <= TAIL_RATIO:
            return
        text = f"{GETS} P50 {half:g} P99 {tail:g}"
        advice = "bytes_per_sync and wal_bytes_per_sync of 1 MiB, if the tail comes with bursts of writes"
        meaning = "one get in a hundred takes many times the usual: bursts of I/O, or a cache that holds the rest"
        risk = "syncing often costs throughput on some devices"
        yield self._finding(run, meaning, f"P99 / P50 = {tail / half:.1f}", f"> {TAIL_RATIO:g}", text, advice, risk)

    def _decompression(self, run: RunAnalysis, histograms: Mapping[str, StatisticHistogram]) -> Iterator[Finding]:
        found = histograms.get(DECOMPRESSION)
        reads_micros = sum(histograms[name].sum or 0 for name in BLOCK_READS if name in histograms)
        if found is None or not found.sum or not reads_micros:
            return
        part = found.sum / 1000 / reads_micros
        if part <= DECOMPRESSION_SHARE:
            return
        text = f"{DECOMPRESSION} SUM {found.sum}, {' + '.join(BLOCK_READS)} SUM {reads_micros}"
        advice = "LZ4 instead of a heavier compression, smaller blocks, or a larger block cache"
        meaning, value = "reading a block is largely decompressing it", f"{percent(part)} of the time blocks take"
        risk = "lighter compression takes space, a cache takes memory"
        yield self._finding(run, meaning, value, f"> {percent(DECOMPRESSION_SHARE)}", text, advice, risk)

    def _finding(
        self, run: RunAnalysis, meaning: str, value: str, threshold: str, text: str, advice: str, risk: str
    ) -> Finding:
        return Finding(
            code=self.code,
            title=self.title,
            severity=Severity.INFO,
            confidence=Confidence.MEDIUM,
            meaning=meaning,
            value=value,
            threshold=threshold,
            threshold_source=SOURCE,
            evidence=(Evidence(run.name, text),),
            advice=advice,
            risk=risk,
            check="the same figure after the change, under the same load",
        )
