"""Assignments: options as a string or a file gives them, as settings of an option set.

block_based_table_factory={block_size=8192;…}    options of tables, one by one
table_factory={id=BlockBasedTable;…}              the same
memtable=skip_list:16                             memtable_factory
"""

from collections.abc import Iterator, Mapping

from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.options.option_strings import OptionString, parse_rocksdb_string
from lsmlens.analyzer.options.sharding import Sharding, parse_sharding
from lsmlens.tuners.options.option_catalogue import VALUES_HINT, Scope, find_option, unknown_option
from lsmlens.tuners.options.option_set import Setting
from lsmlens.tuners.options.option_values import canonical_value

TABLE_FACTORIES = frozenset({"block_based_table_factory", "table_factory"})
BLOCK_BASED = frozenset({"", "BlockBasedTable", "rocksdb.BlockBasedTable", "BlockBasedTableFactory"})
OTHER_TABLES = frozenset({"plain_table_factory", "cuckoo_table_factory"})
ALIASES = {"memtable": "memtable_factory"}
TABLES_HINT = "leave it out, or give block_based_table_factory={block_size=4096}"


def read_assignments(
    options: Mapping[str, str], origin: str, place: str, wanted: frozenset[Scope] = frozenset(Scope)
) -> dict[str, Setting]:
    """Settings by option; of one given twice the later counts.

    `place` is what an error names: where the text stands. Raises InputError for an option that no version has or that
    is not of the scopes wanted, and for a value it cannot have.
    """
    settings = {}
    for name, value in _flat(options, place):
        option = find_option(name)
        if option is None:
            raise InputError(place, *unknown_option(name))
        if option.scope not in wanted:
            raise InputError(place, f"{name} is of the whole database, not of one column", "set it without a column")
        try:
            settings[name] = Setting(canonical_value(name, value), origin)
        except ValueError as error:
            raise InputError(place, str(error), VALUES_HINT) from error
    return settings


def refuse_rejected(parsed: OptionString, place: str) -> OptionString:
    """The parsed string, if all of it sets options. Raises InputError for a piece that sets nothing."""
    if parsed.rejected:
        raise InputError(
            place, f"{parsed.rejected[0]}: no option=value", "options are write_buffer_size=64M,max_background_jobs=4"
        )
    return parsed


def read_columns(text: str, place: str) -> Sharding:
    """The columns of a `bluestore_rocksdb_cfs`. Raises InputError for a text that no OSD can be made with."""
    sharding = parse_sharding(text)
    reasons = [f"{one}: no column" for one in sharding.rejected]
    names = [column.prefix for column in sharding.columns]
    for column in sharding.columns:
        if not column.shards:
            reasons.append(f"{column.prefix}: no key finds a place in 0 shards")
        if column.hash_end is not None and column.hash_end <= column.hash_begin:
            reasons.append(f"{column}: no byte of a key is in {column.hash_begin}-{column.hash_end}, the end left out")
        if names.count(column.prefix) > 1:
            reasons.append(f"{column.prefix} is there {names.count(column.prefix)} times")
    if reasons:
        raise InputError(place, reasons[0], "columns are O(3,0-13)=write_buffer_size=8M L P")
    return sharding


def is_option_name(name: str) -> bool:
    """Whether a string may begin with this as an option, in RocksDB's words or Ceph's."""
    return find_option(name) is not None or name in ALIASES or name in TABLE_FACTORIES or name in OTHER_TABLES


def _flat(options: Mapping[str, str], place: str) -> Iterator[tuple[str, str]]:
    for name, value in options.items():
        if name in OTHER_TABLES:
            raise InputError(place, f"{name}: a replay has block-based tables only", TABLES_HINT)
        if name in TABLE_FACTORIES:
            yield from _of_tables(value, place)
        else:
            yield ALIASES.get(name, name), value


def _of_tables(value: str, place: str) -> Iterator[tuple[str, str]]:
    if "=" not in value:
        kind, inside = value.strip("{} "), OptionString()
    else:
        inside = refuse_rejected(parse_rocksdb_string(value), place)
        kind = inside.options.get("id", "")
    if kind not in BLOCK_BASED:
        raise InputError(place, f"table_factory={kind}: a replay has block-based tables only", TABLES_HINT)
    yield from ((name, one) for name, one in inside.options.items() if name != "id")
