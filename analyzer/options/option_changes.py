"""Option changes: the commands that give a database other options, for Ceph or as RocksDB's option text.

Ceph takes options of the whole database, and of all families alike, in `bluestore_rocksdb_options_annex` (from Octopus
on) at the OSD's next start; an option set there already is kept, and of one given twice the later counts. Options of
one family are part of the sharding text in the database, which `ceph-bluestore-tool reshard` rewrites while the OSD
is stopped. A monitor has one option string, and no annex.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lsmlens.analyzer.options.option_defaults import ceph_defaults
from lsmlens.analyzer.options.sharding import Sharding, parse_sharding, parse_show_sharding
from lsmlens.analyzer.osds import is_osd, store_path, while_stopped

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis

ANNEX = "bluestore_rocksdb_options_annex"
MONITOR_OPTIONS = "mon_rocksdb_options"


def is_ceph(run: "RunAnalysis") -> bool:
    """Whether a Ceph daemon holds the database."""
    return run.run.is_monitor or is_osd(run.run)


def change_all(run: "RunAnalysis", changes: Mapping[str, str]) -> tuple[str, ...]:
    """How to change options of the database, or of all its families alike.

    Without config show it is not known what is set there already: then the first command asks.
    """
    wanted = [f"{name}={value}" for name, value in changes.items()]
    if not is_ceph(run):
        return tuple(wanted)
    kind, option = ("mon", MONITOR_OPTIONS) if run.run.is_monitor else ("osd", ANNEX)
    shown = run.beside.config_show.get(option)
    if not isinstance(shown, str) and run.run.is_monitor:
        release = ceph_defaults(run.run.ceph_version)
        shown = release.options.get(option) if release is not None else None
        if shown is None:
            return ()
    look = () if isinstance(shown, str) else (f"ceph config get {kind} {option}",)
    before = [shown] if isinstance(shown, str) and shown else []
    return (*look, f'ceph config set {kind} {option} "{",".join([*before, *wanted])}"')


def change_families(run: "RunAnalysis", families: Iterable[str], changes: Mapping[str, str]) -> tuple[str, ...]:
    """How to change options of some families, and of no others.

    In Ceph that is for the columns these families are shards of. Where the sharding is not known, or holds none of
    them, the command is the one that shows it.
    """
    if not is_ceph(run):
        return tuple(f"{name}={value}" for name, value in changes.items())
    if run.run.is_monitor:
        return change_all(run, changes)
    tool = f"ceph-bluestore-tool --path {store_path(run.run)}"
    sharding = _sharding(run)
    wanted = set(families)
    if wanted.isdisjoint(family for column in sharding.columns for family in column.families):
        return while_stopped(run.run, f"{tool} show-sharding")
    columns = [
        column if wanted.isdisjoint(column.families) else replace(column, options={**column.options, **changes})
        for column in sharding.columns
    ]
    return while_stopped(run.run, f'{tool} --sharding="{Sharding(tuple(columns))}" reshard')


def _sharding(run: "RunAnalysis") -> Sharding:
    stored = parse_show_sharding(run.beside.sharding_output or "")
    if stored is not None:
        return stored
    configured = run.beside.config_show.get("bluestore_rocksdb_cfs")
    named = {one.family for one in run.options if one.family is not None}
    sharding = parse_sharding(configured) if isinstance(configured, str) else Sharding()
    return Sharding() if sharding.rejected or set(sharding.families) != named else sharding
