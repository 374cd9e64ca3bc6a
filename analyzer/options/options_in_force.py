"""Options in force: what a database really ran with, where that was read, and what the default is.

Nearer to the running database counts more. For an option of a column family, in this order:

1. SetOptions in the log, then the options the log printed at the open;
2. an override for that family alone: the sharding text stored in the database (show-sharding); what flushes give
   away; or, as far as the OSD was made with it, `bluestore_rocksdb_cfs` of config show, of ceph.conf, of the release;
3. what all families share: the options printed for the default family; of the option strings (`set rocksdb option`
   lines, the string in the log, config show, ceph.conf, the release's default) the nearest; RocksDB's defaults.

RocksDB prints the first ten families only. BlueStore's L and P come eleventh and twelfth, and 2 and 3 are for them.
Any other program may give each family options of its own, so of one that is not printed only those are known that
SetOptions named or that its flushes and tables give away; RocksDB's defaults are none of them.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from lsmlens.analyzer.options.option_defaults import opened_value, options_of_ceph, scope_of
from lsmlens.analyzer.options.option_evidence import (
    OptionEvidence,
    OptionLayer,
    Source,
    default_layers,
    infer_merge,
    infer_write_buffer,
    likeliest_sharding,
    merged,
    shared_layers,
)
from lsmlens.analyzer.options.option_strings import parse_size, same_value
from lsmlens.analyzer.options.sharding import DEFAULT_FAMILY, ShardedColumn

MERGE = "min_write_buffer_number_to_merge"
# Printed for the default family, but each family's own.
NOT_SHARED = ("merge_operator", "comparator")


@dataclass(frozen=True, slots=True)
class OptionInForce:
    """One option of one family (None: of the whole database, or of Ceph) and where its value was read.

    `detail` says what of the source, and what was made of it. `default` is what the same release runs with where
    nothing is configured, None if unknown; `differs` compares meanings, not spellings.
    """

    family: str | None
    name: str
    value: str
    source: Source
    default: str | None = None
    differs: bool = False
    detail: str = ""


def options_in_force(evidence: OptionEvidence) -> tuple[OptionInForce, ...]:
    """Every RocksDB option of the database, then of each column family by name."""
    return tuple(_Merger(evidence).options())


def ceph_options_in_force(evidence: OptionEvidence) -> tuple[OptionInForce, ...]:
    """Ceph's own options that matter to RocksDB, by name: caches, BlueFS, the log of placement groups, the queue.

    Of a Ceph version whose defaults are not known, those that a configuration tells.
    """
    release = evidence.release
    layers = [OptionLayer(source, options) for source, options in evidence.configurations()]
    if release is None:
        told = merged(layers)
        names = sorted(told.keys() & options_of_ceph())
        sources = {name: next(layer.source for layer in layers if name in layer.options) for name in names}
        return tuple(OptionInForce(None, name, told[name], sources[name]) for name in names)
    layers.append(OptionLayer(Source.CEPH_DEFAULT, release.options, release.name))
    found = []
    for name, default in sorted(release.options.items()):
        layer = next(layer for layer in layers if name in layer.options)
        value = layer.options[name]
        found.append(
            OptionInForce(None, name, value, layer.source, default, not same_value(value, default), layer.detail)
        )
    return tuple(found)


def value_of(options: Sequence[OptionInForce], family: str | None, name: str) -> str | None:
    """The value of one option; None where it is not known."""
    return next((one.value for one in options if one.family == family and one.name == name), None)


class _Merger:
    """Lays the sources over each other."""

    def __init__(self, evidence: OptionEvidence) -> None:
        self._evidence = evidence
        self._dump = evidence.dump
        # Where nothing was printed and nobody's configuration is known, a default is no more than a guess.
        is_told = evidence.is_ceph or bool(self._dump.db or self._dump.families)
        self._shared = list(shared_layers(evidence)) if is_told else []
        self._sharding = likeliest_sharding(evidence)
        self._family_options = {name for options in self._dump.families.values() for name in options}

    def options(self) -> Iterator[OptionInForce]:
        """The database's options, then each family's."""
        dump = self._dump
        layers = [
            OptionLayer(Source.SET_OPTIONS, dump.changed.get(None, {})),
            OptionLayer(Source.LOG, dump.db),
            *self._shared,
        ]
        names = {name for name in merged(layers) if not self._is_of_families(name)}
        yield from self._in_force(None, names, layers)
        for family in self._families():
            yield from self._options_of(family)

    def _families(self) -> list[str]:
        families = self._dump.families.keys() | self._dump.skipped
        if not families and self._sharding is not None:
            families = set(self._sharding[1].families)
        return sorted(families | self._evidence.flushes.keys() or {DEFAULT_FAMILY})

    def _options_of(self, family: str) -> Iterator[OptionInForce]:
        dump = self._dump
        column = self._sharding[1].column_of(family) if self._sharding is not None else None
        own = [
            OptionLayer(Source.SET_OPTIONS, dump.changed.get(family, {})),
            OptionLayer(Source.LOG, dump.families.get(family, {})),
        ]
        shared = self._shared
        stated = self._stated(column)
        is_printed = family in dump.families and family not in dump.skipped
        if not is_printed and not self._evidence.is_ceph:
            layers = [*own, *self._given_away(family)]
            yield from self._in_force(family, merged(layers).keys(), layers)
            return
        if not is_printed:
            shared = [*self._printed_for_default(family, column), *shared]
            stated = [*self._merge_seen(family, stated, shared), *stated]
        layers = [*own, *stated, *shared]
        names = merged([*own, *stated]).keys() | {name for name in merged(shared) if self._is_of_families(name)}
        if "compression[0]" in names:  # printed level by level, in place of the one for all
            names -= {"compression"}
        yield from self._in_force(family, names, layers)

    def _stated(self, column: ShardedColumn | None) -> list[OptionLayer]:
        if self._sharding is None or column is None:
            return []
        source = self._sharding[0]
        detail = "" if source is Source.SHARDING else "bluestore_rocksdb_cfs, if the OSD was made with it"
        return [OptionLayer(source, column.options, detail)]

    def _merge_seen(
        self, family: str, stated: Sequence[OptionLayer], shared: Sequence[OptionLayer]
    ) -> Iterator[OptionLayer]:
        """What flushes give away of a family that was not printed.

        A value in the stored sharding text stands, unless fewer memtables were merged than it lets.
        """
        seen = infer_merge(self._evidence.flushes.get(family, ()))
        if seen is None:
            return
        least, flushes = seen
        if any(layer.source is Source.SHARDING and MERGE in layer.options for layer in stated):
            value = opened_value(MERGE, merged([*stated, *shared]), self._evidence.version) or ""
            if (parse_size(value) or 0) <= least:
                return
        detail = f"{flushes} flushes for a full write buffer, the least of {least} memtables"
        yield OptionLayer(Source.FLUSHES, {MERGE: str(least)}, detail)

    def _given_away(self, family: str) -> Iterator[OptionLayer]:
        """What flushes and tables give away of a family that was not printed, and whose options may be any."""
        flushes = self._evidence.flushes.get(family, ())
        if (merge := infer_merge(flushes)) is not None:
            yield OptionLayer(Source.FLUSHES, {MERGE: str(merge[0])}, f"{merge[1]} flushes for a full write buffer")
        if (buffer := infer_write_buffer(flushes)) is not None:
            yield OptionLayer(Source.FLUSHES, {"write_buffer_size": str(buffer[0])}, buffer[1])
        compressions = self._evidence.tables.get(family, ())
        if len(compressions) == 1:
            yield OptionLayer(
                Source.TABLES, {"compression": next(iter(compressions))}, "all tables that the last open made"
            )

    def _printed_for_default(self, family: str, column: ShardedColumn | None) -> Iterator[OptionLayer]:
        """The options Ceph gave the default family, which it gives all of them."""
        printed = self._dump.families.get(DEFAULT_FAMILY)
        if not self._evidence.is_ceph or printed is None or family == DEFAULT_FAMILY:
            return
        own_table = column is not None and column.block_cache is not None
        shared = {
            name: value
            for name, value in printed.items()
            if name not in NOT_SHARED and not (own_table and name.startswith("table_factory."))
        }
        yield OptionLayer(Source.LOG_OF_DEFAULT, shared)

    def _in_force(self, family: str | None, names: Set[str], layers: Sequence[OptionLayer]) -> Iterator[OptionInForce]:
        version = self._evidence.version
        options, defaults = merged(layers), merged(default_layers(self._evidence, family))
        for name in sorted(names):
            layer = next(layer for layer in layers if name in layer.options)
            value, detail = layer.options[name], layer.detail
            if layer.source not in (Source.LOG, Source.SET_OPTIONS, Source.FLUSHES, Source.TABLES):
                opened = opened_value(name, options, version) or value
                if opened != value:
                    value, detail = opened, f"{detail}; {value} asked for".removeprefix("; ")
            default = opened_value(name, defaults, version)
            differs = default is not None and not same_value(value, default)
            yield OptionInForce(family, name, value, layer.source, default, differs, detail)

    def _is_of_families(self, name: str) -> bool:
        return name in self._family_options or (name not in self._dump.db and scope_of(name) == "family")
