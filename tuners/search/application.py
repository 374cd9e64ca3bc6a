"""Applying a recommendation: how a database gets the options that were found, and the way back.

What concerns all column families of an OSD goes into Ceph's configuration, options of single columns into the sharding
text (see `rollout`). Any other program takes the text of an OPTIONS file.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.options.option_changes import is_ceph
from lsmlens.analyzer.rollout import NewOptions, Step, rollout
from lsmlens.tuners.options.ceph_configuration import is_set_by_code, needs_reshard, own_options, to_ceph
from lsmlens.tuners.options.option_set import Difference, OptionSet


@dataclass(frozen=True, slots=True)
class Application:
    """How to give a database other options. `options_text` is an OPTIONS file for programs that read one."""

    steps: tuple[Step, ...]
    options_text: str | None = None


def application_of(run: RunAnalysis, present: OptionSet, wanted: OptionSet, name: str) -> Application:
    """How to go from the present options of a run to the wanted ones; `name` is what the log was given as."""
    differences = wanted.differences(present)
    if not is_ceph(run):
        text = wanted.to_options_file(wanted.families, wanted.rocksdb_version)
        return Application(tuple(_options_file(differences)), text)
    columns = [one for one in differences if needs_reshard(one) and not run.is_monitor]
    alike = [one for one in differences if one not in columns and one.value is not None]
    by_code = [own_options(one.option, one.value or "") for one in alike if is_set_by_code(one.option)]
    options = NewOptions(
        shared={one.option: _plain(one.value) for one in alike if not is_set_by_code(one.option)},
        own={name: value for own in by_code for name, value in own.items()},
        columns=tuple(dict.fromkeys(one.option for one in columns)),
        sharding=to_ceph(wanted).cfs if columns and wanted.sharding.columns else None,
        sharding_before=to_ceph(present).cfs if present.sharding.columns else None,
    )
    return Application(tuple(rollout(run, options, name)))


def _options_file(differences: Sequence[Difference]) -> Iterator[Step]:
    lines = [f"{one.family + ': ' if one.family else ''}{one.option}={one.value}" for one in differences]
    yield Step(
        "set these options where the program opens its database, or give it the OPTIONS file",
        tuple(lines),
        ("-o recommended.ini writes the whole OPTIONS file. The LOG prints at the next open what is in force.",),
    )


def _plain(value: str | None) -> str:
    return "" if value is None else value.removesuffix(".000000")
