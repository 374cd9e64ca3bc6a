"""Option strings: RocksDB's options as Ceph's configuration writes them, and as RocksDB itself does.

Ceph (`bluestore_rocksdb_options`, its annex behind it) takes `,` and `;` between options, RocksDB only `;`:

    compression=kNoCompression,write_buffer_size=268435456,compaction_readahead_size=2MB
    write_buffer_size=1MB;block_based_table_factory={block_size=8192;format_version=4}

A value in braces is one value, however nested. Of an option given twice the later value counts (seen with an OSD of
16.2.15 whose annex repeated an option), and so an annex overrides.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

# What Ceph takes out of the string for itself: sizes of its thread pools, and two switches.
CEPH_NAMES = frozenset({"compaction_threads", "flusher_threads", "compact_on_mount", "disableWAL"})

# What RocksDB takes for a whole number: `2MB`, `64K` and `64k` alike; a letter means a power of 1024.
SIZE = re.compile(r"([+-]?[0-9]{1,20})(?:([kmgt])[a-z]*)?", re.IGNORECASE)
DECIMAL = re.compile(r"[+-]?\d{1,20}\.\d{0,20}")
COMPRESSION = re.compile(r"k(\w+)Compression(?:Option)?")
PRINTED_COMPRESSIONS = {"No": "NoCompression", "Disable": "Disabled"}
FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@dataclass(frozen=True, slots=True)
class OptionString:
    """What an option string sets: RocksDB's options, Ceph's own, and the pieces that set nothing."""

    options: Mapping[str, str] = field(default_factory=dict)
    ceph_options: Mapping[str, str] = field(default_factory=dict)
    rejected: tuple[str, ...] = ()


@dataclass(slots=True)
class _Reader:
    """Goes through a string option by option."""

    text: str
    separators: re.Pattern[str]
    position: int = 0
    rejected: list[str] = field(default_factory=list)

    def read(self) -> Iterable[tuple[str, str]]:
        while self.position < len(self.text):
            start, stop = self.position, self._next_separator(self.position)
            equals = self.text.find("=", start, stop)
            if equals < 0:
                self._reject(start, stop)
                continue
            value_start = equals + 1
            while value_start < len(self.text) and self.text[value_start].isspace():
                value_start += 1
            if self.text.startswith("{", value_start):
                closed = self._closing_brace(value_start)
                stop = self._next_separator(closed)
                if closed == value_start or self.text[closed:stop].strip():
                    self._reject(start, len(self.text) if closed == value_start else stop)
                    continue
            name = self.text[start:equals].strip()
            if name:
                self.position = stop + 1
                yield name, self.text[equals + 1 : stop].strip()
            else:
                self._reject(start, stop)

    def _next_separator(self, start: int) -> int:
        match = self.separators.search(self.text, start)
        return match.start() if match else len(self.text)

    def _closing_brace(self, start: int) -> int:
        """The place behind the brace that closes the one at `start`; `start` if none does."""
        depth = 0
        for position in range(start, len(self.text)):
            depth += (self.text[position] == "{") - (self.text[position] == "}")
            if depth == 0:
                return position + 1
        return start

    def _reject(self, start: int, stop: int) -> None:
        piece = self.text[start:stop].strip()
        if piece:
            self.rejected.append(piece)
        self.position = stop + 1


_CEPH_SEPARATORS = re.compile(r"[,;\n]")
_ROCKSDB_SEPARATORS = re.compile(r";")


def parse_option_string(text: str) -> OptionString:
    """The options of a string as Ceph's configuration has them. A piece without a name or `=` is kept aside.

    RocksDB refuses a string with such a piece as a whole, and the daemon does not start.
    """
    return _parse(text, _CEPH_SEPARATORS)


def parse_rocksdb_string(text: str) -> OptionString:
    """The options of a string in RocksDB's own form; one in braces is taken by what is inside."""
    text = text.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1]
    return _parse(text, _ROCKSDB_SEPARATORS)


def _parse(text: str, separators: re.Pattern[str]) -> OptionString:
    reader = _Reader(text, separators)
    options: dict[str, str] = {}
    ceph_options: dict[str, str] = {}
    for name, value in reader.read():
        (ceph_options if name in CEPH_NAMES else options)[name] = value
    return OptionString(options, ceph_options, tuple(reader.rejected))


def rocksdb_string(options: Mapping[str, str]) -> str:
    """These options in the form RocksDB reads: `write_buffer_size=1048576;ttl=100`."""
    return ";".join(f"{name}={value}" for name, value in options.items())


def parse_size(text: str) -> int | None:
    """The number an option's value stands for, suffix applied; None where it stands for none."""
    match = SIZE.fullmatch(text.strip())
    return None if match is None else int(match[1]) * FACTORS[(match[2] or "").lower()]


def canonical(value: str) -> str:
    """One spelling for all spellings of a value: `2MB` and `2097152`, `8` and `8.000000`, `true` and `1`.

    An option string says `kLZ4Compression` where the options dump says `LZ4`; so does `kDisableCompressionOption`,
    printed as `Disabled`.
    """
    value = value.strip()
    size = parse_size(value)
    if size is not None:
        return str(size)
    if DECIMAL.fullmatch(value):
        return value.lstrip("+").rstrip("0").rstrip(".") or "0"
    if value.lower() in ("true", "false"):
        return "1" if value.lower() == "true" else "0"
    compression = COMPRESSION.fullmatch(value)
    return value if compression is None else PRINTED_COMPRESSIONS.get(compression[1], compression[1])


def same_value(one: str, other: str) -> bool:
    """Whether two values of an option mean the same."""
    return canonical(one) == canonical(other)
