"""What a log's surroundings tell of reads: tickers of statistics dumps, else counters of an OSD.

Tickers (`rocksdb.number.keys.read`, …, from the last open on) count Gets, how many found a value, seeks, steps, and
blocks. BlueStore's counters have Gets, of which each onode that was not in the cache is one, and iterators over omap.
Where neither is there, nothing is known of reads.
"""

from collections.abc import Mapping
from typing import NamedTuple

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.counters.counter_series import in_series
from lsmlens.tuners.estimation.history import History
from lsmlens.tuners.estimation.write_batches import WHOLE_LIFE
from lsmlens.tuners.workloads.reads import FamilyReads, Gets, Iterators

# Fewer Gets and iterators are those of a start.
LEAST_READS = 1000
FOUND = ("rocksdb.memtable.hit", "rocksdb.l0.hit", "rocksdb.l1.hit", "rocksdb.l2andup.hit")
SEEKS = ("omap_seek_to_first_lat", "omap_upper_bound_lat", "omap_lower_bound_lat", "omap_get_keys_lat")
# BlueStore's columns: onodes, and omap by its three ways of naming keys.
ONODES, OMAP = "O", ("p", "m", "M")
CACHE = "rocksdb.block.cache"


class ReadTotals(NamedTuple):
    """How much was read, from the last open on; `absent` and `blocks_per_get` are None where nothing tells."""

    gets: float
    seeks: float
    nexts: float
    onode_gets: float | None
    absent: float | None
    blocks_per_get: float | None
    source: str


class ClientReads(NamedTuple):
    """What is read of each family, whence that is known, and what had to be taken for granted."""

    families: Mapping[str, FamilyReads]
    blocks_per_get: float | None
    source: str
    default: str


NOTHING = ClientReads({}, None, "", "none: nothing beside the log counts them, and they change no table")


def client_reads(run: RunAnalysis, history: History) -> ClientReads:
    """The reads of a run's families, for each put of them."""
    counted = read_totals(run)
    if counted is None:
        return NOTHING
    last = max(history.session_starts, default=0)
    puts = {
        name: float(sum(flush.entries - flush.deletes for flush in family.flushes if flush.session == last))
        for name, family in history.families.items()
    }
    puts = {name: count for name, count in puts.items() if count > 0}
    onodes = [name for name in puts if name.partition("-")[0] == ONODES]
    omap = _omap(puts)
    of_onodes = min(counted.onode_gets or 0.0, counted.gets) if onodes else 0.0
    gets = _shared(of_onodes, onodes, puts), _shared(counted.gets - of_onodes, omap or list(puts), puts)
    seeks = _shared(counted.seeks, omap or list(puts), puts)
    nexts = round(counted.nexts / counted.seeks) if counted.seeks else 0
    families = {}
    for name in puts:
        per_put, per_seek = sum(each.get(name, 0.0) for each in gets), seeks.get(name, 0.0)
        if per_put or per_seek:
            families[name] = FamilyReads(
                gets=Gets(per_put=per_put, absent=round(counted.absent or 0.0, 3)) if per_put else None,
                iterators=Iterators(per_put=per_seek, nexts=nexts) if per_seek else None,
            )
    return ClientReads(families, counted.blocks_per_get, counted.source, _default(counted))


def read_totals(run: RunAnalysis) -> ReadTotals | None:
    """What was read from the last open on; None where nothing tells, or next to nothing was."""
    found = _by_tickers(run) or _by_counters(run)
    return found if found is not None and found.gets + found.seeks >= LEAST_READS else None


def _by_tickers(run: RunAnalysis) -> ReadTotals | None:
    tickers = run.series.tickers if run.series is not None else {}
    gets = tickers.get("rocksdb.number.keys.read", 0)
    if not gets:
        return None
    found = sum(tickers.get(name, 0) for name in FOUND)
    filters = sum(tickers.get(f"{CACHE}.filter.{kind}", 0) for kind in ("hit", "miss"))
    indexes = sum(tickers.get(f"{CACHE}.index.{kind}", 0) for kind in ("hit", "miss"))
    # of a table that a filter does not rule out, a Get looks into the index, where that is in the cache, and a block
    passed = tickers.get("rocksdb.bloom.filter.full.positive", 0)
    blocks = filters + passed * (2 if indexes else 1)
    onodes = None if run.counters is None else run.counters.onode_misses
    return ReadTotals(
        float(gets),
        float(tickers.get("rocksdb.number.db.seek", 0)),
        float(tickers.get("rocksdb.number.db.next", 0)),
        None if onodes is None else float(onodes),
        max(0.0, 1 - found / gets) if found else None,
        blocks / gets if passed else None,
        "tickers of statistics dumps",
    )


def _by_counters(run: RunAnalysis) -> ReadTotals | None:
    """Over the daemon's last life, where the log holds the whole of it."""
    check = run.cross_check
    if check is None or check.difference is None or abs(check.difference) > WHOLE_LIFE:
        return None
    dump = in_series(run.beside.perf_dumps)[-1][-1]
    averages = {name: dump.average(f"bluestore.{name}") for name in (*SEEKS, "omap_next_lat")}
    counts = {name: float(one.count) for name, one in averages.items() if one is not None}
    gets, onodes = dump.number("rocksdb.get"), dump.number("bluestore.onode_misses")
    if gets is None:
        average = dump.average("rocksdb.get_latency")
        gets = average.count if average is not None else 0
    nexts = counts.pop("omap_next_lat", 0.0)
    onode_gets = None if onodes is None else float(onodes)
    return ReadTotals(float(gets), sum(counts.values()), nexts, onode_gets, None, None, "OSD counters")


def _omap(puts: Mapping[str, float]) -> list[str]:
    """The families that hold omap: those of the first way of naming keys that is written at all."""
    for prefix in OMAP:
        named = [name for name in puts if name.partition("-")[0] == prefix]
        if named:
            return named
    return []


def _shared(count: float, families: list[str], puts: Mapping[str, float]) -> dict[str, float]:
    """So many reads for each put of these families, alike in all of them."""
    whole = sum(puts[name] for name in families)
    return dict.fromkeys(families, count / whole) if whole and count else {}


def _default(counted: ReadTotals) -> str:
    said = ["any live key alike, spread as the puts are"]
    if counted.absent is None:
        said.append("none for a key that is not there")
    if counted.onode_gets is not None:
        said.append("one Get for each onode that was not cached, all others and iterators of omap")
    return f"counted by {counted.source}; " + "; ".join(said)
