"""Option changes: which options take effect where, and the texts by which a database is given others.

Ceph takes options of the whole database, and of all families alike, in `bluestore_rocksdb_options_annex` (from Octopus
on) at the OSD's next start; an option set there already is kept, and of one given twice the later counts. Options of
one family are part of the sharding text in the database, which `ceph-bluestore-tool reshard` rewrites while the OSD
is stopped. A monitor has one option string, and no annex. RocksDB itself takes some options while it runs
(`SetOptions`, `SetDBOptions`); the others at the next open.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lsmlens.analyzer.options.option_defaults import ceph_defaults
from lsmlens.analyzer.options.option_strings import parse_option_string
from lsmlens.analyzer.options.sharding import Sharding, parse_sharding, parse_show_sharding
from lsmlens.analyzer.runs.osds import ceph_release, is_osd

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import Analysis, RunAnalysis

ANNEX, BASE = "bluestore_rocksdb_options_annex", "bluestore_rocksdb_options"
SHARDING = "bluestore_rocksdb_cfs"
MONITOR_OPTIONS = "mon_rocksdb_options"
# The first release that knows the annex, and the first that shards its database.
ANNEX_SINCE, SHARDING_SINCE = (15, 0, 0), (16, 0, 0)
# Ceph's own options that a running OSD takes (runtime flag in src/common/options); the others wait for its start.
RUNTIME = frozenset({"osd_memory_target", "debug_rocksdb", "debug_bluestore", "bluefs_buffered_io"})
# What RocksDB takes while it runs: options/cf_options.cc and db_options.cc, the flag kMutable, from some version on.
MUTABLE = {
    "blob_garbage_collection_age_cutoff": (6, 18),
    "compaction_options_fifo": (6, 0),
    "compaction_options_universal": (6, 0),
    "compression": (6, 0),
    "disable_auto_compactions": (5, 0),
    "enable_blob_files": (6, 18),
    "enable_blob_garbage_collection": (6, 18),
    "hard_pending_compaction_bytes_limit": (5, 0),
    "level0_file_num_compaction_trigger": (5, 0),
    "level0_slowdown_writes_trigger": (5, 0),
    "level0_stop_writes_trigger": (5, 0),
    "max_background_compactions": (5, 0),
    "max_background_jobs": (5, 5),
    "max_bytes_for_level_base": (5, 0),
    "max_bytes_for_level_multiplier": (5, 0),
    "max_subcompactions": (6, 15),
    "max_total_wal_size": (5, 0),
    "max_write_buffer_number": (5, 0),
    "min_blob_size": (6, 18),
    "periodic_compaction_seconds": (6, 2),
    "soft_pending_compaction_bytes_limit": (5, 0),
    "target_file_size_base": (5, 0),
    "ttl": (6, 0),
    "write_buffer_size": (5, 0),
}
_VERSION = re.compile(r"(\d+)\.(\d+)")


def is_ceph(run: "RunAnalysis") -> bool:
    """Whether a Ceph daemon holds the database."""
    return run.is_monitor or is_osd(run.run)


def has_ceph(analysis: "Analysis") -> bool:
    """Whether any of the runs is of a Ceph daemon."""
    return any(map(is_ceph, analysis.runs))


def is_mutable(name: str, rocksdb_version: str | None) -> bool:
    """Whether a RocksDB of that version takes the option while it runs; not so where the version is not known."""
    match = _VERSION.match(rocksdb_version or "")
    since = MUTABLE.get(name)
    return match is not None and since is not None and (int(match[1]), int(match[2])) >= since


def option_of_ceph(run: "RunAnalysis") -> str:
    """The option of Ceph's that holds options of RocksDB: the annex, where the release has one."""
    if run.is_monitor:
        return MONITOR_OPTIONS
    release = ceph_release(run.run)
    return BASE if release is not None and release < ANNEX_SINCE else ANNEX


def text_in_force(run: "RunAnalysis", option: str) -> str | None:
    """What that option says now: by config show; else, for a whole option string, the release's default."""
    shown = run.beside.config_show.get(option)
    if isinstance(shown, str):
        return shown
    release = ceph_defaults(run.ceph_version) if option != ANNEX else None
    return None if release is None else release.options.get(option)


def merged_text(before: str | None, changes: Mapping[str, str]) -> str:
    """The option string that was there, with these options in it: each at its end, instead of where it stood."""
    kept = parse_option_string(before or "")
    options = {name: value for name, value in {**kept.options, **kept.ceph_options}.items() if name not in changes}
    return ",".join(f"{name}={value}" for name, value in {**options, **changes}.items())


def sharding_in_force(run: "RunAnalysis") -> Sharding:
    """The stored sharding text; else that of the configuration if the log names just its families; else no columns."""
    stored = parse_show_sharding(run.beside.sharding_output or "")
    if stored is not None:
        return stored
    configured = run.beside.config_show.get(SHARDING)
    named = {one.family for one in run.options if one.family is not None}
    sharding = parse_sharding(configured) if isinstance(configured, str) else Sharding()
    return Sharding() if sharding.rejected or set(sharding.families) != named else sharding


def with_family_options(sharding: Sharding, families: Iterable[str], changes: Mapping[str, str]) -> Sharding:
    """The sharding with these options for the columns that the families are shards of."""
    wanted = set(families)
    return Sharding(
        tuple(
            column if wanted.isdisjoint(column.families) else replace(column, options={**column.options, **changes})
            for column in sharding.columns
        )
    )
