r"""The options dump: what RocksDB prints of its options at an open, and of those changed while it runs.

    … rocksdb: RocksDB version: 6.8.1
    … rocksdb:                         Options.error_if_exists: 0                               of the whole database
    … rocksdb: [column_family.cc:550] --------------- Options for column family [m-0]:          then of one family
    … rocksdb:            table_factory options:   flush_block_policy_factory: FlushBlock…      in several lines
      cache_index_and_filter_blocks: 1
      block_cache_options:
        capacity : 1449551462
    … rocksdb:        Options.write_buffer_size: 268435456
    … rocksdb: [column_family.cc:555] \t(skipping printing options)                 from the eleventh family on
    … rocksdb: [version_set.cc:4574] Column family [L] (ID 10), log number is 4     the only place that names it
    … [db/db_impl/db_impl.cc:1308] SetOptions() on column family [users], inputs:
    … [db/db_impl/db_impl.cc:1311] level0_file_num_compaction_trigger: 4
    … [db/db_impl/db_impl.cc:1315] [users] SetOptions() succeeded
    … [options/cf_options.cc:1094]                         write_buffer_size: 131072
    …  1  set rocksdb option compression = kNoCompression                           Ceph, before the banner
    …  1 bluestore(…) _open_db opened rocksdb path db options compression=…         Ceph, after the open

What stands before these words, the host's stamp and thread, is never looked at.
"""

import re
from dataclasses import dataclass, field

from lsmlens.analyzer.logs.text_lines import BANNER

OPTION = re.compile(r"\bOptions\.([A-Za-z_][\w.\[\]]*) ?: ?(.*)$")
FAMILY = re.compile(r"-- Options for column family \[(.*)\]:\s*$")
SKIPPED = "(skipping printing options)"
NAMED_FAMILY = re.compile(r"\b(?:Column|Created column) family \[(.*)\] \(ID \d+\)")
BLOCK = re.compile(r"\b(table_factory|blob_cache) options: *(?:([a-z]\w*) ?: ?(.*))?$")
BLOCK_LINE = re.compile(r"( {2,})([a-z]\w*) ?: ?(.*)$")
SET_OPTIONS = re.compile(r"\bSetOptions\(\) on column family \[(.*)\], inputs:\s*$")
SET_DB_OPTIONS = "SetDBOptions(), inputs:"
VERDICT = re.compile(r"\bSet(?:DB)?Options\(\) (succeeded|failed)")
# Behind a source line, Ceph's subsystem, or the thread.
INPUT = re.compile(r"(?:\.(?:cc|h):\d+\] |rocksdb: |^\S+ \w+ )([a-z]\w*): (.*)$")
REPRINTED = re.compile(r"\bcf_options\.cc:\d+\]\s+([a-z][\w.]*) *: *(.*)$")
CEPH_SET = re.compile(r" set rocksdb option (\S+) = (.*)$")
OPENED = re.compile(r" opened rocksdb path .*? options (.*)$")
VERSION = re.compile(BANNER.shape.pattern.decode())

# After SetOptions a compression is printed as its number, and one option under another name.
COMPRESSION_NUMBERS = dict(enumerate(("NoCompression", "Snappy", "Zlib", "BZip2", "LZ4", "LZ4HC", "Xpress", "ZSTD")))
# Releases around 4.9 print the style's number, and some sizes with a letter too many:
#   Options.db_write_buffer_size: 0d
STYLE_NUMBERS = dict(enumerate(f"kCompactionStyle{style}" for style in ("Level", "Universal", "FIFO", "None")))
LETTER_TOO_MANY = re.compile(r"(?<=\d)d$")
REPRINTED_NAMES = {"memtable_prefix_bloom_ratio": "memtable_prefix_bloom_size_ratio"}


@dataclass(frozen=True, slots=True)
class OptionsDump:
    """The options of one open, as the log tells them.

    Values are as printed. `db` are the whole database's, `families` each printed family's, table and blob cache
    options as `table_factory.block_size`. Both hold what SetOptions made of them; `changed` (None: the database)
    holds just that. `skipped` are the families whose options were not printed; one of these is in `families` as
    well if SetOptions made RocksDB print what can be changed. `ceph_set` are Ceph's `set rocksdb option` lines,
    `opened_with` is the option string Ceph opened the database with.
    """

    rocksdb_version: str | None = None
    db: dict[str, str] = field(default_factory=dict)
    families: dict[str, dict[str, str]] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    changed: dict[str | None, dict[str, str]] = field(default_factory=dict)
    ceph_set: dict[str, str] = field(default_factory=dict)
    opened_with: str | None = None


def parse_options(text: str | bytes) -> OptionsDump:
    """The options dump in a stretch of a log, from before the banner to where work begins, or further.

    If there are several opens, the last counts. Text without options gives an empty dump.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    reader = _Reader()
    for line in text.split("\n"):
        line = line.rstrip()
        if " version: " in line and (banner := VERSION.search(line)):
            reader = _Reader(banner[1], reader.next_ceph_set)
        else:
            reader.read(line)
    return reader.dump()


@dataclass(slots=True)
class _Reader:
    """Goes through the lines of one open."""

    version: str | None = None
    ceph_set: dict[str, str] = field(default_factory=dict)
    db: dict[str, str] = field(default_factory=dict)
    families: dict[str, dict[str, str]] = field(default_factory=dict)
    changed: dict[str | None, dict[str, str]] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    printed: set[str] = field(default_factory=set)
    has_skipped: bool = False
    opened_with: str | None = None
    next_ceph_set: dict[str, str] = field(default_factory=dict)
    section: dict[str, str] | None = None
    block: str = ""
    inner_block: str = ""
    pending: dict[str, str] | None = None
    pending_family: str | None = None
    reprinted: dict[str, str] | None = None

    def dump(self) -> OptionsDump:
        """What was read. Set lines behind an open belong to the next one, unless there was none."""
        has_opened = self.version is not None or self.db or self.families
        return OptionsDump(
            self.version,
            self.db,
            self.families,
            self.named - self.printed if self.has_skipped else set(),
            self.changed,
            self.ceph_set if has_opened else self.next_ceph_set,
            self.opened_with,
        )

    def read(self, line: str) -> None:
        """Take in the next line; events, which are long and speak of compression_options, hold none."""
        if "EVENT_LOG_v1 {" in line:
            return
        if "ptions" in line and self._takes_options_line(line):
            return
        if self.block and (match := BLOCK_LINE.match(line)):
            self._take_block_line(match)
        elif " set rocksdb option " in line and (match := CEPH_SET.search(line)):
            self.next_ceph_set[match[1]] = match[2]
        elif "olumn family [" in line and (match := NAMED_FAMILY.search(line)):
            self.named.add(match[1])
            self.section = None
        elif self.pending is not None and (match := INPUT.search(line)):
            self.pending[match[1]] = match[2]

    def _takes_options_line(self, line: str) -> bool:
        if match := OPTION.search(line):
            (self.db if self.section is None else self.section)[match[1]] = _as_later_printed(match[1], match[2])
            self.block = self.inner_block = ""
        elif match := FAMILY.search(line):
            self.printed.add(match[1])
            self.section = self.families[match[1]] = {}
            self.block = ""
        elif match := BLOCK.search(line):
            self.block, self.inner_block = match[1], ""
            if match[2]:
                (self.db if self.section is None else self.section)[f"{match[1]}.{match[2]}"] = match[3]
        elif SKIPPED in line:
            self.has_skipped = True
            self.section = None
        elif match := SET_OPTIONS.search(line):
            self.pending, self.pending_family = {}, match[1]
        elif SET_DB_OPTIONS in line:
            self.pending, self.pending_family = {}, None
        elif match := VERDICT.search(line):
            self._settle(match[1] == "succeeded")
        elif self.reprinted is not None and (match := REPRINTED.search(line)):
            self._take_reprinted(match[1], match[2])
        elif match := OPENED.search(line):
            self.opened_with = match[1]
        else:
            return False
        return True

    def _take_block_line(self, match: re.Match[str]) -> None:
        indent, name, value = match.groups()
        if len(indent) == 2:
            self.inner_block = ""
        path = ".".join(part for part in (self.block, self.inner_block, name) if part)
        if len(indent) == 2 and name.endswith("_options") and not value:
            self.inner_block = name
        else:
            (self.db if self.section is None else self.section)[path] = value

    def _settle(self, succeeded: bool) -> None:
        """Take what SetOptions was given, if it took it; the options that can be changed are printed next."""
        inputs, self.pending = self.pending, None
        self.section = self.reprinted = None
        if inputs is None or not succeeded:
            return
        target = self.db if self.pending_family is None else self.families.setdefault(self.pending_family, {})
        target.update(inputs)
        self.changed.setdefault(self.pending_family, {}).update(inputs)
        if self.pending_family is not None:
            self.reprinted = target

    def _take_reprinted(self, name: str, value: str) -> None:
        assert self.reprinted is not None
        name = REPRINTED_NAMES.get(name, name)
        if name == "compression" and value.isdecimal():
            value = COMPRESSION_NUMBERS.get(int(value[:3]), value)
        self.reprinted[name] = value


def _as_later_printed(name: str, value: str) -> str:
    """The value as releases since 4.13 print it."""
    if name == "compaction_style" and value.isdecimal():
        return STYLE_NUMBERS.get(int(value[:3]), value)
    return LETTER_TOO_MANY.sub("", value)
