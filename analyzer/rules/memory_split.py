"""R34: the memory of an OSD does not go round."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.numbers import counted, percent, size
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.runs.osds import is_osd, osd_number

# Ceph's defaults (src/common/options/osd.yaml.in and global.yaml.in), the same in all releases that tune caches.
DEFAULTS = {
    "osd_memory_base": 768 << 20,
    "osd_memory_cache_min": 128 << 20,
    "osd_memory_expected_fragmentation": 0.15,
}
TARGET, AUTOTUNE = "osd_memory_target", "bluestore_cache_autotune"
# Ours: of what is left for caches, memtables, which no cache's budget counts, may take so much.
MOST_MEMTABLE_SHARE = 0.5


class MemorySplit(NamedTuple):
    """How an OSD's memory is meant to be divided; sizes in bytes.

    `cache_bytes` are left for the caches, target * (1 - expected fragmentation) - base, and shared by the ratios.
    `memtable_bytes` is what all families' write buffers may take: their sum, or less where the WAL's limit makes
    RocksDB flush before. Source: BlueStore's MempoolThread, and src/common/PriorityCache.
    """

    target_bytes: int
    cache_bytes: int
    least_cache_bytes: int
    ratios: dict[str, float]
    families: int
    buffer_bytes: int
    memtable_bytes: int
    is_tuned: bool


class MemoryDoesNotGoRound:
    """The write buffers may take what the caches were meant to have, or there is hardly anything left for caches.

    Evidence: osd_memory_target, osd_memory_base and osd_memory_expected_fragmentation, the ratios of the caches
    (bluestore_cache_kv_ratio, …_meta_ratio, …_kv_onode_ratio), and write_buffer_size, max_write_buffer_number and
    max_total_wal_size of the column families, all as in force: config show alone is enough.

    Threshold: caches left with osd_memory_cache_min or less (Ceph); write buffers of more than half of what is left
    for caches (ours). Ratios of caches that add up to more than 1 (BlueStore refuses to start with them).

    Advice: a higher osd_memory_target, or a lower max_total_wal_size; where caches are not tuned, turn
    bluestore_cache_autotune on.

    Risk: all OSDs of a host together must leave it memory. A lower limit of the WAL flushes sooner and smaller.

    Check: dump_mempools, and the OSD's resident memory, against osd_memory_target.
    """

    code: ClassVar[str] = "R34"
    title: ClassVar[str] = "Not enough memory to go round"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        if not is_osd(run.run):
            return
        split = memory_split(run)
        if split is None:
            yield NotAssessed(self.code, self.title, "config show, or a log with Ceph's version and options")
            return
        ratios = sum(split.ratios.values())
        if split.is_tuned and split.cache_bytes <= split.least_cache_bytes:
            meaning = "next to nothing is left for caches, so onodes and RocksDB's blocks are read again and again"
            yield self._finding(run, split, meaning, f"{size(max(0, split.cache_bytes))} for caches", 2)
        elif ratios > 1:
            meaning = "the caches are given more than there is, and BlueStore does not start with such ratios"
            yield self._finding(run, split, meaning, f"ratios of {ratios:.2f} together", None)
        elif split.is_tuned and split.memtable_bytes > MOST_MEMTABLE_SHARE * split.cache_bytes:
            meaning = (
                "write buffers are none of the caches that are tuned, so the OSD grows over its target by as much, or"
                " its caches shrink to nothing"
            )
            value = f"write buffers of up to {size(split.memtable_bytes)}, {size(split.cache_bytes)} for caches"
            yield self._finding(run, split, meaning, value, 2)

    def _finding(
        self, run: RunAnalysis, split: MemorySplit, meaning: str, value: str, times_target: int | None
    ) -> Finding:
        changes = (
            ()
            if times_target is None
            else (OptionChange(TARGET, str(times_target * split.target_bytes), is_ceph=True),)
        )
        return Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            meaning=meaning,
            value=value,
            threshold=f"osd_memory_cache_min ({size(split.least_cache_bytes)}); write buffers"
            f" {percent(MOST_MEMTABLE_SHARE)} of the caches",
            threshold_source="Ceph, BlueStore's cache tuning; the share is ours",
            evidence=tuple(Evidence("options in force", text) for text in memory_lines(split)),
            advice="raise osd_memory_target, or lower max_total_wal_size"
            if times_target is not None
            else "lower the ratios to 1 together",
            changes=changes,
            commands=(f"ceph tell osd.{osd_number(run.run)} dump_mempools",),
            risk="the host needs the memory for all its OSDs",
            check="the OSD's resident memory stays at osd_memory_target",
        )


def memory_split(run: RunAnalysis) -> MemorySplit | None:
    """The split by the options in force; None where they do not tell."""
    target = parse_size(_of_ceph(run, TARGET) or "")
    families = sorted({one.family for one in run.options if one.family is not None})
    buffers = [_buffers(run, family) for family in families]
    known = [one for one in buffers if one is not None]
    if not target or not known or len(known) < len(buffers):
        return None
    base, least = (_number(run, name) for name in ("osd_memory_base", "osd_memory_cache_min"))
    fragmentation = _number(run, "osd_memory_expected_fragmentation")
    names = ("bluestore_cache_kv_ratio", "bluestore_cache_meta_ratio", "bluestore_cache_kv_onode_ratio")
    limit = parse_size(value_of(run.options, None, "max_total_wal_size") or "") or 0
    total = sum(known)
    return MemorySplit(
        target,
        int(target * (1 - fragmentation) - base),
        int(least),
        {name: float(said) for name in names if _is_real(said := _of_ceph(run, name) or "")},
        len(families),
        total,
        min(total, limit) if limit else total,
        is_tuned=(_of_ceph(run, AUTOTUNE) or "true") == "true",
    )


def memory_lines(split: MemorySplit) -> Iterator[str]:
    """The split in sentences."""
    ratios = ", ".join(
        f"{name.removeprefix('bluestore_cache_').removesuffix('_ratio')} {percent(part)}"
        for name, part in split.ratios.items()
    )
    tuned = "" if split.is_tuned else "; caches are not tuned, so their own sizes count"
    yield (
        f"caches have {size(max(0, split.cache_bytes))} of osd_memory_target, {size(split.target_bytes)}"
        f"{f': {ratios}, data the rest' if ratios else ''}{tuned}"
    )
    yield (
        f"write buffers of {counted(split.families, 'column family', 'column families')}:"
        f" {size(split.buffer_bytes)} if all were full, {size(split.memtable_bytes)} by max_total_wal_size"
    )


def _buffers(run: RunAnalysis, family: str) -> int | None:
    each, many = (parse_size(value_of(run.options, family, name) or "") for name in _BUFFERS)
    return None if each is None or many is None else each * many


_BUFFERS = ("write_buffer_size", "max_write_buffer_number")


def _of_ceph(run: RunAnalysis, name: str) -> str | None:
    shown = run.beside.config_show.get(name)
    return shown if isinstance(shown, str) else value_of(run.ceph_options, None, name)


def _number(run: RunAnalysis, name: str) -> float:
    said = _of_ceph(run, name) or ""
    bytes_said = parse_size(said)
    if bytes_said is not None:
        return float(bytes_said)
    return float(said) if _is_real(said) else float(DEFAULTS[name])


def _is_real(text: str) -> bool:
    try:
        return 0 <= float(text) < float("inf")
    except ValueError:
        return False
