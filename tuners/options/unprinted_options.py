"""The options of a run whose log holds no open: what its configuration says, and what its flushes give away.

For an OSD whose log was rotated since it started. Config show stands over ceph.conf, and that over the release.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from lsmlens.analyzer.options.ceph_conf import parse_ceph_conf
from lsmlens.analyzer.options.option_defaults import ceph_defaults
from lsmlens.analyzer.options.option_evidence import Source
from lsmlens.analyzer.options.sharding import parse_show_sharding
from lsmlens.tuners.options.assignments import read_assignments
from lsmlens.tuners.options.ceph_configuration import USUAL_CACHE, ceph_options, with_sharding
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.presets import bundled_version

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis


def unprinted_options(run: "RunAnalysis") -> OptionSet | None:
    """The option set of a Ceph daemon by its configuration; None where no configuration is known.

    Raises InputError for a configuration that Ceph would refuse.
    """
    name, beside = run.run.name, run.beside
    release = ceph_defaults(run.run.ceph_version)
    shown = {option: value for option, value in beside.config_show.items() if isinstance(value, str)}
    filed = parse_ceph_conf(beside.ceph_conf or "").options_of(name.rsplit("/", 1)[-1])
    if not (shown or filed) and release is None:
        return None
    configuration = {**(release.options if release is not None else {}), **filed, **shown}
    options = ceph_options(name, configuration, name, run.run.is_monitor)
    stored = parse_show_sharding(beside.sharding_output or "")
    if stored is not None:
        options = with_sharding(options, stored, int(USUAL_CACHE), name, Source.SHARDING.value)
    sources = [Source.CONFIG_SHOW.value] if shown else [Source.CEPH_CONF.value] if filed else []
    sources += [f"default of {release.name}"] if release is not None and not shown else []
    sources += [Source.SHARDING.value] if stored is not None else []
    for one in run.options:
        if one.source is Source.FLUSHES and one.family is not None:
            seen = read_assignments({one.name: one.value}, f"{one.source.value}, {one.detail}", name)
            own = {**options.overrides.get(one.family, {}), **seen}
            options = replace(options, overrides={**options.overrides, one.family: own})
    return replace(
        options,
        rocksdb_version=run.run.rocksdb_version or bundled_version(run.run.ceph_version),
        ceph_version=run.run.ceph_version,
        notes=(f"the log prints no options; taken: {', '.join(sources)}", *options.notes),
    )
