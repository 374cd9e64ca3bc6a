"""Applying a recommendation: commands to paste, in the order in which they are run, and the way back.

Ceph reads options of RocksDB only when an OSD starts, and never changes them while it runs. What concerns all column
families goes into `bluestore_rocksdb_options_annex` (from Octopus on), which is read behind
`bluestore_rocksdb_options`, the later of two counting. Options of single columns are part of the sharding text that is
stored in the database: `ceph-bluestore-tool reshard` rewrites it while the OSD is stopped. Any other program takes the
text of an OPTIONS file.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.options.option_changes import ANNEX, change_all, is_ceph
from lsmlens.analyzer.osds import ceph_release, osd_number, store_path, while_stopped
from lsmlens.tuners.options.ceph_configuration import to_ceph
from lsmlens.tuners.options.option_set import Difference, OptionSet

BASE = "bluestore_rocksdb_options"
# The first release that knows the annex, and the first that shards its database.
ANNEX_SINCE, SHARDING_SINCE = (15, 0, 0), (16, 0, 0)
MOST_CHECKED = 4


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do: what, the commands for it, and what to know before."""

    title: str
    commands: tuple[str, ...]
    notes: tuple[str, ...] = ()


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
    if run.run.is_monitor:
        return Application(tuple(_monitor(run, differences)))
    return Application(tuple(_osd(run, present, wanted, differences, name)))


def _osd(
    run: RunAnalysis, present: OptionSet, wanted: OptionSet, differences: Sequence[Difference], name: str
) -> Iterator[Step]:
    number = osd_number(run.run)
    shared = {one.option: _plain(one.value) for one in differences if one.family is None and one.value is not None}
    has_columns = any(one.family is not None for one in differences)
    shown = run.beside.config_show.get(ANNEX)
    before = shown if isinstance(shown, str) else None
    release = ceph_release(run.run)
    if shared:
        option, text = _text(wanted, before, shared, release)
        look = () if before is not None or option != ANNEX else (f"ceph config get osd.{number} {ANNEX}",)
        asks = () if not look else ("What the first command prints is set already: put it first into the second.",)
        yield Step(
            f"give one OSD the options: osd.{number}",
            (*look, f'ceph config set osd.{number} {option} "{text}"'),
            (*asks, "Nothing changes before the OSD is started again."),
        )
    if has_columns:
        yield _reshard(run, wanted, release)
    if shared and not has_columns:
        yield Step(f"start osd.{number} again, and no other yet", _restart(number))
    yield Step("check that it took", tuple(_checks(number, differences)))
    yield Step(
        "after as much work as the first log holds, compare",
        (f"lsmlens compare before={name} after=/var/log/ceph/ceph-osd.{number}.log",),
        ("Go on only if write amplification fell as predicted, and latency did not rise.",),
    )
    yield from _rest(wanted, before, shared, release, has_columns, number)
    yield _way_back(run, present, before, shared, release, has_columns)


def _rest(
    wanted: OptionSet,
    before: str | None,
    shared: dict[str, str],
    release: tuple[int, int, int] | None,
    has_columns: bool,
    number: str,
) -> Iterator[Step]:
    note = "One failure domain at a time, and on to the next when all placement groups are active+clean."
    if shared:
        option, text = _text(wanted, before, shared, release)
        yield Step(
            "then the others of its device class, which the first command tells",
            (
                f"CLASS=$(ceph osd crush get-device-class osd.{number})",
                f'ceph config set osd/class:$CLASS {option} "{text}"',
                f"ceph config rm osd.{number} {option}",
                "ceph osd ok-to-stop osd.ID && systemctl restart ceph-osd@ID"
                "    # each; cephadm: ceph orch daemon restart osd.ID",
            ),
            (note,),
        )
    if has_columns:
        yield Step(
            "reshard each of the others as the first one",
            ("ceph osd ok-to-stop osd.ID",),
            (note, "New OSDs get the columns' options from bluestore_rocksdb_cfs when they are made."),
        )


def _reshard(run: RunAnalysis, wanted: OptionSet, release: tuple[int, int, int] | None) -> Step:
    tool = f"ceph-bluestore-tool --path {store_path(run.run)}"
    warning = (
        "Resharding needs the OSD stopped, may take long, and must not be interrupted: an OSD whose resharding was cut"
        " short does not start until the same command is given again. Do it to one OSD at a time, with all placement"
        " groups active+clean."
    )
    if not wanted.sharding.columns or (release is not None and release < SHARDING_SINCE):
        return Step(
            "the columns' options: the database's sharding is not known from the log",
            while_stopped(run.run, f"{tool} show-sharding"),
            (warning, "Add the bundle's show-sharding output to the log, and run this again."),
        )
    return Step(
        "give single columns their options, by a new sharding text",
        while_stopped(run.run, f"{tool} show-sharding", f'{tool} --sharding="{to_ceph(wanted).cfs}" reshard'),
        (warning, "What show-sharding prints is the way back: keep it."),
    )


def _way_back(
    run: RunAnalysis,
    present: OptionSet,
    before: str | None,
    shared: dict[str, str],
    release: tuple[int, int, int] | None,
    has_columns: bool,
) -> Step:
    number = osd_number(run.run)
    commands: list[str] = []
    if shared:
        option = _option(release)
        commands += [f"ceph config rm osd.{number} {option}", f"ceph config rm osd/class:$CLASS {option}"]
        if before:
            commands.append(f'ceph config set osd {option} "{before}"')
    if has_columns and present.sharding.columns:
        tool = f"ceph-bluestore-tool --path {store_path(run.run)}"
        commands += while_stopped(run.run, f'{tool} --sharding="{to_ceph(present).cfs}" reshard')
    else:
        commands += _restart(number)
    return Step(
        "the way back",
        tuple(commands),
        ("What is in the database stays readable under either options; levels take their shape over the next hours.",),
    )


def _checks(number: str, differences: Sequence[Difference]) -> Iterator[str]:
    options = list(dict.fromkeys(one.option for one in differences))[:MOST_CHECKED]
    pattern = "|".join(rf"Options\.{one}:" for one in options)
    yield f"grep -aE 'rocksdb: *({pattern})' /var/log/ceph/ceph-osd.{number}.log | tail -n {12 * max(1, len(options))}"
    yield f"grep -a 'set rocksdb option' /var/log/ceph/ceph-osd.{number}.log | tail"


def _text(
    wanted: OptionSet, before: str | None, shared: dict[str, str], release: tuple[int, int, int] | None
) -> tuple[str, str]:
    """The option of Ceph's, and its whole text; the annex keeps what is in it, but for what is given anew."""
    option = _option(release)
    if option == BASE:
        given = to_ceph(wanted)
        return BASE, ",".join(one for one in (given.options, given.annex) if one)
    kept = [one for one in (before or "").split(",") if one and one.partition("=")[0].strip() not in shared]
    return ANNEX, ",".join([*kept, *(f"{name}={value}" for name, value in shared.items())])


def _option(release: tuple[int, int, int] | None) -> str:
    return BASE if release is not None and release < ANNEX_SINCE else ANNEX


def _restart(number: str) -> tuple[str, ...]:
    return (
        "ceph osd set noout",
        f"systemctl restart ceph-osd@{number}    # cephadm: ceph orch daemon restart osd.{number}",
        "ceph osd unset noout",
    )


def _monitor(run: RunAnalysis, differences: Sequence[Difference]) -> Iterator[Step]:
    changes = {one.option: _plain(one.value) for one in differences if one.value is not None}
    yield Step(
        "give the monitors the options", change_all(run, changes), ("They take effect when a monitor starts again.",)
    )


def _options_file(differences: Sequence[Difference]) -> Iterator[Step]:
    lines = [f"{one.family + ': ' if one.family else ''}{one.option}={one.value}" for one in differences]
    yield Step(
        "set these options where the program opens its database, or give it the OPTIONS file",
        tuple(lines),
        ("-o recommended.ini writes the whole OPTIONS file. The LOG prints at the next open what is in force.",),
    )


def _plain(value: str | None) -> str:
    return "" if value is None else value.removesuffix(".000000")
