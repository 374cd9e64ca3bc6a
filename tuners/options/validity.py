"""Validity: combinations of options that RocksDB refuses, or changes without a word, and why.

Each rule was tried by opening databases of versions from 4.9 to 11.8 (SanitizeOptions and ValidateOptions in
db/column_family.cc and db/db_impl/db_impl_open.cc say the same): what came back was an error, or another value.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.resolved_options import Effective

LEAST_OPEN_FILES = 20
LEAST_WRITE_BUFFER, MOST_WRITE_BUFFER = 64 << 10, 64 << 30
NAMED = 3
PROTECTION_BYTES = (0, 1, 2, 4, 8)


class InvalidOptions(NamedTuple):
    """Options that cannot stand: whose (None: the database's), which and why; `hint` says a way out."""

    family: str | None
    reason: str
    hint: str = ""

    def __str__(self) -> str:
        return self.reason if self.family is None else f"family {self.family}: {self.reason}"


Options = Mapping[str, str]
Rule = Callable[[Options], Iterator[tuple[str, str]]]


def problems(found: Effective) -> tuple[InvalidOptions, ...]:
    """All that is wrong with these options, the database's first."""
    every = [InvalidOptions(None, *said) for rule in DATABASE_RULES for said in rule(found.database)]
    for family, values in found.families.items():
        options = {**found.database, **values, **found.tables[family]}
        every += [InvalidOptions(family, *said) for rule in FAMILY_RULES for said in rule(options)]
    return tuple(every)


def refusal(name: str, every: tuple[InvalidOptions, ...]) -> InputError:
    """The error for options that cannot stand: the first problem, the families that share it, and how many more."""
    first = every[0]
    alike = [one.family for one in every if one.reason == first.reason and one.family is not None]
    others = len({one.reason for one in every}) - 1
    named = ", ".join(alike[:NAMED]) + (f" and {len(alike) - NAMED} more" if len(alike) > NAMED else "")
    whose = f"{'family' if len(alike) == 1 else 'families'} {named}: " if alike else ""
    return InputError(name, f"{whose}{first.reason}{f'; and {others} more' if others else ''}", first.hint)


def _number(options: Options, name: str) -> float | None:
    """An option as a number; None where this version has none of that name."""
    value = options.get(name)
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def _is_on(options: Options, name: str) -> bool:
    return options.get(name) == "true"


def _merge_within_buffers(options: Options) -> Iterator[tuple[str, str]]:
    merge, buffers = _number(options, "min_write_buffer_number_to_merge"), _number(options, "max_write_buffer_number")
    if merge is not None and buffers is not None and buffers >= 2 and merge >= buffers:
        yield (
            f"min_write_buffer_number_to_merge={merge:.0f} waits for {merge:.0f} full buffers, and"
            f" max_write_buffer_number={buffers:.0f} lets no more than {buffers - 1:.0f} be full:"
            f" RocksDB would run with {max(1, buffers - 1):.0f}",
            f"set max_write_buffer_number to at least {merge + 1:.0f}",
        )


def _level0_in_order(options: Options) -> Iterator[tuple[str, str]]:
    names = ("level0_file_num_compaction_trigger", "level0_slowdown_writes_trigger", "level0_stop_writes_trigger")
    if options.get("compaction_style") != "kCompactionStyleLevel":
        return
    values = [_number(options, name) for name in names]
    for (first, low), (second, high) in zip(
        zip(names, values, strict=True), list(zip(names, values, strict=True))[1:], strict=False
    ):
        if low is not None and high is not None and 0 <= high < low:
            yield (
                f"{second}={high:.0f} is below {first}={low:.0f}: writes would be held up before the files that hold"
                f" them up are compacted, and RocksDB would raise it",
                f"set {second} to at least {low:.0f}",
            )


def _pending_in_order(options: Options) -> Iterator[tuple[str, str]]:
    soft = _number(options, "soft_pending_compaction_bytes_limit")
    hard = _number(options, "hard_pending_compaction_bytes_limit")
    if soft is not None and hard is not None and 0 < hard < soft:
        yield (
            f"soft_pending_compaction_bytes_limit={soft:.0f} is over hard_pending_compaction_bytes_limit={hard:.0f}:"
            " writes would stop before they slow down",
            f"set soft_pending_compaction_bytes_limit to at most {hard:.0f}",
        )


def _least(name: str, least: float, unless: float | None = None) -> Rule:
    """A number's least value; `unless` may stand below it."""

    def check(options: Options) -> Iterator[tuple[str, str]]:
        value = _number(options, name)
        if value is not None and value < least and value != unless:
            also = "" if unless is None else f", or {unless:g}"
            yield f"{name}={value:g} is less than RocksDB takes", f"set {name} to at least {least:g}{also}"

    return check


def _most_write_buffer(options: Options) -> Iterator[tuple[str, str]]:
    value = _number(options, "write_buffer_size")
    if value is not None and value > MOST_WRITE_BUFFER:
        yield f"write_buffer_size={value:.0f} is more than the 64 GiB RocksDB takes", "set write_buffer_size to less"


def _least_levels(options: Options) -> Iterator[tuple[str, str]]:
    if options.get("compaction_style") == "kCompactionStyleLevel":
        yield from _least("num_levels", 2)(options)


def _dynamic_levels(options: Options) -> Iterator[tuple[str, str]]:
    if options.get("compaction_style") != "kCompactionStyleLevel" and _is_on(
        options, "level_compaction_dynamic_level_bytes"
    ):
        yield (
            "level_compaction_dynamic_level_bytes=true goes with kCompactionStyleLevel only, not with"
            f" {options['compaction_style']}",
            "set level_compaction_dynamic_level_bytes to false",
        )


def _conflict(first: str, second: str, why: str, wanted: str = "true") -> Rule:
    """Two switches that RocksDB refuses together; `wanted` is the second's value that conflicts."""

    def check(options: Options) -> Iterator[tuple[str, str]]:
        if _is_on(options, first) and options.get(second) == wanted:
            yield f"{first}=true and {second}={wanted} cannot stand together: {why}", f"set {first} to false"

    return check


def _memtable_takes_concurrent_writes(options: Options) -> Iterator[tuple[str, str]]:
    kind = options.get("memtable_factory", "SkipListFactory")
    if _is_on(options, "allow_concurrent_memtable_write") and "skiplist" not in kind.lower().replace("_", ""):
        yield (
            f"memtable_factory={kind} takes no concurrent writes, and allow_concurrent_memtable_write=true",
            "set allow_concurrent_memtable_write to false",
        )


def _cache_for_cached_blocks(options: Options) -> Iterator[tuple[str, str]]:
    for name in ("cache_index_and_filter_blocks", "pin_l0_filter_and_index_blocks_in_cache"):
        if _is_on(options, "no_block_cache") and _is_on(options, name):
            yield f"{name}=true needs the block cache that no_block_cache=true takes away", f"set {name} to false"


def _aligned_blocks(options: Options) -> Iterator[tuple[str, str]]:
    if _is_on(options, "block_align") and options.get("compression") != "kNoCompression":
        yield (
            f"block_align=true goes without compression only, and compression={options.get('compression')}",
            "set block_align to false, or compression to kNoCompression",
        )


def _partitioned_filters(options: Options) -> Iterator[tuple[str, str]]:
    if _is_on(options, "partition_filters") and options.get("index_type") != "kTwoLevelIndexSearch":
        yield (
            f"partition_filters=true needs index_type=kTwoLevelIndexSearch, and it is {options.get('index_type')}",
            "set index_type to kTwoLevelIndexSearch",
        )


def _bloom_ratio(options: Options) -> Iterator[tuple[str, str]]:
    ratio = _number(options, "memtable_prefix_bloom_size_ratio")
    if ratio is not None and not 0 <= ratio <= 0.25:
        yield (
            f"memtable_prefix_bloom_size_ratio={ratio:g} is outside 0 to 0.25",
            "set it to at most 0.25",
        )


def _protection_bytes(options: Options) -> Iterator[tuple[str, str]]:
    for name in ("memtable_protection_bytes_per_key", "block_protection_bytes_per_key"):
        value = _number(options, name)
        if value is not None and value not in PROTECTION_BYTES:
            yield f"{name}={value:g} is none of 0, 1, 2, 4, 8", f"set {name} to one of these"


def _positive(options: Options) -> Iterator[tuple[str, str]]:
    """Sizes and counts that would be taken for huge numbers if they were negative, or mean nothing at 0."""
    for name in POSITIVE:
        value = _number(options, name)
        if value is not None and value <= 0:
            yield f"{name}={value:g} is not positive", f"set {name} to more than 0"
    for name in NOT_NEGATIVE:
        value = _number(options, name)
        if value is not None and value < 0:
            yield f"{name}={value:g} is negative", f"set {name} to 0 or more"


POSITIVE = (
    *("target_file_size_base", "target_file_size_multiplier", "max_bytes_for_level_base", "block_size"),
    *("max_bytes_for_level_multiplier", "level0_file_num_compaction_trigger", "block_restart_interval"),
)
NOT_NEGATIVE = ("max_compaction_bytes", "ttl", "periodic_compaction_seconds", "arena_block_size")

DATABASE_RULES: tuple[Rule, ...] = (
    _least("max_open_files", LEAST_OPEN_FILES, unless=-1),
    _least("max_total_wal_size", 0),
    _least("db_write_buffer_size", 0),
    _least("max_background_jobs", 1),
    _least("max_subcompactions", 1),
    _least("keep_log_file_num", 1),
    _conflict("atomic_flush", "enable_pipelined_write", "RocksDB flushes families together in one order only"),
    _conflict("unordered_write", "enable_pipelined_write", "both change the order of writes"),
    _conflict("unordered_write", "allow_concurrent_memtable_write", "unordered writes are concurrent", wanted="false"),
    _conflict("use_direct_reads", "allow_mmap_reads", "a file is read one way"),
    _conflict("use_direct_io_for_flush_and_compaction", "allow_mmap_writes", "a file is written one way"),
)
FAMILY_RULES: tuple[Rule, ...] = (
    _least("write_buffer_size", LEAST_WRITE_BUFFER),
    _most_write_buffer,
    _least("max_write_buffer_number", 2),
    _least("min_write_buffer_number_to_merge", 1),
    _merge_within_buffers,
    _level0_in_order,
    _pending_in_order,
    _positive,
    _least_levels,
    _dynamic_levels,
    _conflict(
        "inplace_update_support", "allow_concurrent_memtable_write", "updates in place are made by one writer only"
    ),
    _memtable_takes_concurrent_writes,
    _cache_for_cached_blocks,
    _aligned_blocks,
    _partitioned_filters,
    _bloom_ratio,
    _protection_bytes,
)
