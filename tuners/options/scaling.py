"""Scaling: the options of a replay that has the shape of a larger one in 1/k of its size.

Write amplification depends on ratios: of buffers to lifetimes, of level 0 to the next, of the database to its levels.
So sizes are divided by k, and so is the amount of work. The clock keeps its length, and with it all times.
"""

from collections.abc import Iterator, Mapping

from lsmlens.tuners.options.option_values import fields_of, fields_text

# What is divided. Blocks, filters, ratios, counts and times are not; rates are, since the same time holds less work.
SCALED = frozenset(
    {
        "arena_block_size",
        "blob_file_size",
        "block_cache",
        "block_cache_compressed",
        "db_write_buffer_size",
        "delayed_write_rate",
        "hard_pending_compaction_bytes_limit",
        "max_bytes_for_level_base",
        "max_compaction_bytes",
        "max_total_wal_size",
        "max_write_buffer_size_to_maintain",
        "soft_pending_compaction_bytes_limit",
        "target_file_size_base",
        "write_buffer_size",
    }
)
# Inside compaction_options_fifo; and those of compact_on_deletion, which count a table's entries.
SCALED_FIELDS = frozenset({"max_table_files_size", "max_data_files_size", "sliding_window", "trigger"})
UNLIMITED = 1 << 62
# SanitizeOptions in db/column_family.cc: smaller buffers are made this large.
LEAST_WRITE_BUFFER = 64 << 10


def divided(values: Mapping[str, str], scale: float, warnings: list[str]) -> Iterator[tuple[str, str]]:
    """Options with their sizes divided; what cannot be divided as far is said among the warnings."""
    for name, value in values.items():
        if scale == 1:
            yield name, value
        elif name in SCALED:
            yield name, _least(name, _division(value, scale), warnings)
        elif value.startswith("{") and SCALED_FIELDS & (fields := fields_of(value)).keys():
            own = {key: _division(one, scale) if key in SCALED_FIELDS else one for key, one in fields.items()}
            yield name, fields_text(own)
        else:
            yield name, value


def _division(value: str, scale: float) -> str:
    number = _whole(value)
    return str(max(1, round(number / scale))) if 0 < number < UNLIMITED else value


def _least(name: str, value: str, warnings: list[str]) -> str:
    if name == "write_buffer_size" and _whole(value) < LEAST_WRITE_BUFFER:
        warnings.append(
            f"write_buffer_size is divided down to {value} bytes, and RocksDB has none under {LEAST_WRITE_BUFFER}:"
            " the shape is not kept at this scale"
        )
        return str(LEAST_WRITE_BUFFER)
    return value


def _whole(text: str | None) -> int:
    return int(text) if text is not None and text.lstrip("-").isdecimal() else 0
