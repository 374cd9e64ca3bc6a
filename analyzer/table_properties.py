"""Properties of a table, as `table_file_creation` events nest them: their names, types and one known fault.

Source: logging/event_logger.h and db/event_helpers.cc of RocksDB v4.13 to v11.8.1.
"""

from typing import Final

from lsmlens.analyzer.events import Event

_NUMBERS: Final = (
    "data_size index_size index_partitions top_level_index_size index_key_is_user_key index_value_is_delta_encoded"
    " filter_size raw_key_size raw_average_key_size raw_value_size raw_average_value_size num_data_blocks num_entries"
    " num_filter_entries num_deletions num_merge_operands num_range_deletions format_version fixed_key_len"
    " column_family_id creation_time oldest_key_time newest_key_time file_creation_time orig_file_number"
    " slow_compression_estimated_data_size fast_compression_estimated_data_size user_defined_timestamps_persisted"
    " key_largest_seqno key_smallest_seqno"
)
_TEXTS: Final = (
    "filter_policy column_family_name comparator merge_operator prefix_extractor_name property_collectors compression"
    " compression_options db_id db_session_id seqno_to_time_mapping"
)
TABLE_PROPERTIES: Final[dict[str, type]] = {
    **dict.fromkeys(_NUMBERS.split(), int),
    **dict.fromkeys(_TEXTS.split(), str),
}
# One name for what releases called differently: up to 6.1.
PROPERTY_RENAMED: Final = {"filter_policy_name": "filter_policy"}


# Up to 5.x a collector that comes with RocksDB counts these, as text (db/table_properties_collector.cc of 4.9).
_COLLECTED: Final = {"kDeletedKeys": "num_deletions", "kMergeOperands": "num_merge_operands"}


def put_properties_right(event: Event) -> None:
    """Give a table's properties one name and their own values in all releases.

    From 9.9.3 to at least 11.8.1 RocksDB logs the oldest and the newest key's time under each other's names. Up to
    5.x deletions and merge operands are counted by a collector, whose properties are texts.
    """
    properties = event.get("table_properties", {})
    for collected, name in _COLLECTED.items():
        text = properties.get(collected)
        if name not in properties and isinstance(text, str) and text.isdecimal():
            properties[name] = int(text[:19])
    oldest, newest = properties.get("oldest_key_time"), properties.get("newest_key_time")
    if type(oldest) is int and type(newest) is int and oldest > newest:
        properties["oldest_key_time"], properties["newest_key_time"] = newest, oldest
