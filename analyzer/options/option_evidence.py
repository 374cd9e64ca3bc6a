"""What a bundle holds about a database's options: each source by itself, as a layer of options.

A layer nearer to the running database stands before one further away; see `options_in_force`.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from lsmlens.analyzer.options.ceph_conf import parse_ceph_conf
from lsmlens.analyzer.options.option_defaults import CephRelease, ceph_defaults, rocksdb_defaults
from lsmlens.analyzer.options.option_strings import parse_option_string
from lsmlens.analyzer.options.options_dump import OptionsDump
from lsmlens.analyzer.options.sharding import Sharding, parse_sharding, parse_show_sharding

FULL = "Write Buffer Full"


class Source(StrEnum):
    """Where a value was read."""

    SET_OPTIONS = "SetOptions in the log"
    LOG = "printed in the log"
    SHARDING = "show-sharding"
    FLUSHES = "inferred from flushes"
    TABLES = "inferred from tables"
    LOG_OF_DEFAULT = "printed in the log for the default family"
    CEPH_SET = "set rocksdb option lines in the log"
    OPENED = "option string in the log"
    CONFIG_SHOW = "config show"
    CEPH_CONF = "ceph.conf"
    CEPH_DEFAULT = "default of the Ceph release"
    ROCKSDB_DEFAULT = "default of RocksDB"


class Flushed(NamedTuple):
    """What a flush tells of its family's options: memtables it took in, why it came, and the memory they took."""

    memtables: int
    reason: str | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class OptionEvidence:
    """What a bundle holds about one database's options; each part may be missing.

    `flushes` are, by family that was ever flushed, `num_memtables`, `flush_reason` and `memory_usage` of its flushes
    that started for a full write buffer, `tables` the compressions of the tables that the last open created.
    `sharding_output` is what show-sharding printed, `config_show` the document of that command, `daemon` its name
    (`osd.3`, `mon.a`).
    """

    dump: OptionsDump = field(default_factory=OptionsDump)
    flushes: Mapping[str, Sequence[Flushed]] = field(default_factory=dict)
    tables: Mapping[str, Set[str]] = field(default_factory=dict)
    sharding_output: str | None = None
    config_show: Mapping[str, object] = field(default_factory=dict)
    ceph_conf: str | None = None
    ceph_version: str | None = None
    rocksdb_version: str | None = None
    daemon: str = "osd"

    @property
    def is_monitor(self) -> bool:
        """Whether the database is a monitor's: it has one family, and options of its own."""
        return self.daemon.startswith("mon")

    @property
    def is_ceph(self) -> bool:
        """Whether Ceph opened the database, and gave all families the same options."""
        return self.ceph_version is not None or bool(self.dump.ceph_set or self.dump.opened_with or self.config_show)

    @property
    def version(self) -> str | None:
        """RocksDB's version; where nothing tells it, that of the Ceph release, or of most of them."""
        known = self.rocksdb_version or self.dump.rocksdb_version
        if known is not None or not self.is_ceph:
            return known
        major = re.match(r"\d+", self.ceph_version or "")
        return ROCKSDB_OF_CEPH.get(int(major[0]) if major else 0, NEWEST_OF_CEPH)

    @property
    def release(self) -> CephRelease | None:
        """The Ceph release whose defaults are to be compared with."""
        return ceph_defaults(self.ceph_version)

    def configurations(self) -> Iterator[tuple[Source, Mapping[str, str]]]:
        """Ceph's options by where they were read."""
        yield Source.CONFIG_SHOW, {name: value for name, value in self.config_show.items() if isinstance(value, str)}
        yield Source.CEPH_CONF, parse_ceph_conf(self.ceph_conf or "").options_of(self.daemon)


# The RocksDB in each Ceph release (src/rocksdb of its last point release), and that of all since Reef.
NEWEST_OF_CEPH = "7.9.2"
ROCKSDB_OF_CEPH = {12: "5.4.0", 14: "6.1.2", 15: "6.1.2", 16: "6.8.1", 17: "6.15.5"}


class OptionLayer(NamedTuple):
    """Options from one source; `detail` says what of it."""

    source: Source
    options: Mapping[str, str]
    detail: str = ""


def merged(layers: Iterable[OptionLayer]) -> dict[str, str]:
    """All options of these layers, each from the first that has it."""
    options: dict[str, str] = {}
    for layer in layers:
        options = {**layer.options, **options}
    return options


def shared_layers(evidence: OptionEvidence) -> Iterator[OptionLayer]:
    """What was set for the whole database and all its families, and RocksDB's defaults behind it.

    An option string replaces that of a source further away as a whole, so only the nearest counts; the annex
    likewise, by itself. What the log says of the string has the annex in it.
    """
    dump = evidence.dump
    if dump.ceph_set:
        yield OptionLayer(Source.CEPH_SET, dump.ceph_set)
    elif dump.opened_with:
        yield OptionLayer(Source.OPENED, parse_option_string(dump.opened_with).options)
    else:
        yield from _option_strings([*evidence.configurations(), *_release_configuration(evidence)], evidence)
    yield _rocksdb_layer(evidence)


def default_layers(evidence: OptionEvidence, family: str | None = None) -> Iterator[OptionLayer]:
    """What this release runs with where nothing is configured; with what it has for one family alone, if one is named.

    The latter counts for an OSD made by the same release.
    """
    for source, options in _release_configuration(evidence):
        column = None if family is None or evidence.is_monitor else _sharding(options).column_of(family)
        if column is not None:
            yield OptionLayer(source, column.options, "bluestore_rocksdb_cfs")
    yield from _option_strings([*_release_configuration(evidence)], evidence)
    yield _rocksdb_layer(evidence)


def _release_configuration(evidence: OptionEvidence) -> Iterator[tuple[Source, Mapping[str, str]]]:
    release = evidence.release
    if release is not None:
        yield Source.CEPH_DEFAULT, release.options


def _rocksdb_layer(evidence: OptionEvidence) -> OptionLayer:
    return OptionLayer(Source.ROCKSDB_DEFAULT, rocksdb_defaults(evidence.version), evidence.version or "")


def _option_strings(
    configurations: Sequence[tuple[Source, Mapping[str, str]]], evidence: OptionEvidence
) -> Iterator[OptionLayer]:
    name = "mon_rocksdb_options" if evidence.is_monitor else "bluestore_rocksdb_options"
    for wanted in (name,) if evidence.is_monitor else (f"{name}_annex", name):
        for source, options in configurations:
            if wanted in options:
                yield OptionLayer(source, parse_option_string(options[wanted]).options, wanted)
                break


def likeliest_sharding(evidence: OptionEvidence) -> tuple[Source, Sharding] | None:
    """The sharding stored in the database, else the first configured one that fits the families the log names."""
    if evidence.is_monitor:
        return None
    stored = parse_show_sharding(evidence.sharding_output or "")
    if stored is not None:
        return Source.SHARDING, stored
    seen = evidence.dump.families.keys() | evidence.dump.skipped
    for source, options in (*evidence.configurations(), *_release_configuration(evidence)):
        if not seen and options.get("bluestore_rocksdb_cf") == "false":
            return None  # told by the nearest configuration that tells
        sharding = _sharding(options)
        if sharding.columns and (not seen or seen == set(sharding.families)):
            return source, sharding
    return None


def _sharding(options: Mapping[str, str]) -> Sharding:
    if options.get("bluestore_rocksdb_cf") == "false":
        return Sharding()
    sharding = parse_sharding(options.get("bluestore_rocksdb_cfs", ""))
    return Sharding() if sharding.rejected else sharding


def infer_merge(flushes: Sequence[Flushed]) -> tuple[int, int] | None:
    """The least memtables a flush for a full write buffer merged, and how many such flushes there were.

    Such a flush waits for `min_write_buffer_number_to_merge` memtables, so the least is that number; under load
    more may have gathered. Other reasons (WAL full, shutdown) do not wait. None without such a flush, as before
    RocksDB 5.10, which does not tell reasons.
    """
    merged = [one.memtables for one in flushes if one.reason == FULL and one.memtables > 0]
    return (min(merged), len(merged)) if merged else None


def infer_write_buffer(flushes: Sequence[Flushed]) -> tuple[int, str] | None:
    """The write buffer size that flushes of full memtables give away, and what it is inferred from.

    A memtable is full when its arena, which grows by blocks of an eighth of the size, has reached it: the memory of
    one is within an eighth of the size. Sizes are mostly powers of two, and only those are inferred.
    """
    taken = [
        (one.memory_bytes or 0) / one.memtables
        for one in flushes
        if one.reason == FULL and one.memtables > 0 and (one.memory_bytes or 0) > 0
    ]
    if not taken:
        return None
    size = 1 << max(0, round(math.log2(sum(taken) / len(taken))))
    if any(abs(one - size) > size / 8 for one in taken):
        return None
    return size, f"{len(taken)} flushes for a full write buffer, of {min(taken):.0f} to {max(taken):.0f} bytes each"
