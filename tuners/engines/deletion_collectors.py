"""The collector that marks a file for compaction where deletes crowd; Ceph sets one on every family.

RocksDB has no name for it in an OPTIONS file: here it is the family option `compact_on_deletion`, spelled
`{sliding_window=32768;trigger=16384}`, after Ceph's `rocksdb_cf_compact_on_deletion_…`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lsmlens.analyzer.options.option_strings import parse_rocksdb_string

OPTION = "compact_on_deletion"
NONE = ("", "nullptr", "{}")


@dataclass(frozen=True, slots=True)
class DeletionCollector:
    """Marks a file that has `trigger` deletes among any `sliding_window` records; zeros stand for none at all."""

    sliding_window: int
    trigger: int

    @property
    def marks(self) -> bool:
        """Whether it can mark a file."""
        return self.sliding_window > 0 and self.trigger > 0


def deletion_collector(text: str) -> DeletionCollector | None:
    """The collector that an option's value names; None for a text that names none."""
    fields = parse_rocksdb_string(text).options
    window, trigger = fields.get("sliding_window", ""), fields.get("trigger", "")
    if not (window.isdecimal() and trigger.isdecimal()):
        return None
    return DeletionCollector(int(window), int(trigger))


def collector_warnings(families: Mapping[str, Mapping[str, str]], is_supported: bool) -> Iterator[str]:
    """What of the families' collectors a replay goes without."""
    for text in dict.fromkeys(values.get(OPTION, "") for values in families.values()):
        if text in NONE:
            continue
        collector = deletion_collector(text)
        if collector is None:
            yield f"{OPTION}={text}: no sliding_window and trigger, left out"
        elif collector.marks and not is_supported:
            yield f"{OPTION}={text}: this RocksDB has no way to set it; files crowded with deletes are not marked"
