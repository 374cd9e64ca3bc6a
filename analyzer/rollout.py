"""Rollouts: how a database is given other options, as steps with commands to paste, and the way back.

Ceph reads options of RocksDB only when an OSD starts, and never changes them while it runs. So one OSD gets them
first, for itself alone; it is started again, checked and compared; then its device class gets them, and OSD after OSD
is started again. Options of single columns are part of the sharding text in the database: each OSD is resharded, while
it is stopped.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.options.option_changes import (
    MONITOR_OPTIONS,
    RUNTIME,
    SHARDING_SINCE,
    is_mutable,
    merged_text,
    option_of_ceph,
    text_in_force,
)
from lsmlens.analyzer.options.option_defaults import scope_of
from lsmlens.analyzer.runs.osds import ceph_release, osd_number, store_path, while_stopped

MOST_CHECKED = 4
FAILURE_DOMAIN = "One failure domain at a time, and on to the next when all placement groups are active+clean."
RESHARDING = (
    "Resharding needs the OSD stopped, may take long, and must not be interrupted: an OSD whose resharding was cut"
    " short does not start until the same command is given again. Do it to one OSD at a time, with all placement"
    " groups active+clean."
)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do: what, the commands for it, and what to know before."""

    title: str
    commands: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewOptions:
    """What a Ceph daemon is to be given.

    `shared` are RocksDB's options of the database and of all families alike, `columns` those of single columns, only
    to name them; `own` are Ceph's own. `sharding` is the text that holds the columns' options, `sharding_before` the
    one there is; None where it is not known, and so cannot be changed.
    """

    shared: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    sharding: str | None = None
    sharding_before: str | None = None


def rollout(run: RunAnalysis, wanted: NewOptions, log_name: str) -> Iterator[Step]:
    """The steps for a Ceph daemon; `log_name` is what the log it was found in was given as."""
    if run.is_monitor:
        text = merged_text(text_in_force(run, MONITOR_OPTIONS), wanted.shared)
        command = f'ceph config set mon {MONITOR_OPTIONS} "{text}"'
        yield Step("give the monitors the options", (command,), ("They take effect when a monitor starts again.",))
        return
    yield from _OsdRollout(run, wanted, log_name).steps()


class _OsdRollout:
    def __init__(self, run: RunAnalysis, wanted: NewOptions, log_name: str) -> None:
        self._run, self._wanted, self._log_name = run, wanted, log_name
        self._number = osd_number(run.run)
        self._option = option_of_ceph(run)
        self._before = text_in_force(run, self._option)
        self._settings = dict(wanted.own)
        if wanted.shared:
            self._settings[self._option] = merged_text(self._before, wanted.shared)
        self._reshards = bool(wanted.columns) or wanted.sharding is not None
        self._restarts = bool(wanted.shared) or not wanted.own.keys() <= RUNTIME

    def steps(self) -> Iterator[Step]:
        if self._settings:
            yield self._canary()
        if self._reshards:
            yield self._reshard()
        elif self._restarts:
            yield Step(f"start osd.{self._number} again, and no other yet", self._restart())
        yield Step("check that it took", tuple(self._checks()))
        yield Step(
            "after as much work as the first log holds, compare",
            (f"lsmlens compare before={self._log_name} after=/var/log/ceph/ceph-osd.{self._number}.log",),
            ("Go on only if write amplification fell, and latency did not rise.",),
        )
        yield from self._rest()
        yield self._way_back()

    def _canary(self) -> Step:
        asks = bool(self._wanted.shared) and self._before is None
        look = (f"ceph config get osd.{self._number} {self._option}",) if asks else ()
        notes = ("What the first command prints is set already: put it first into the second.",) if asks else ()
        if self._restarts:
            notes = (*notes, "Nothing changes before the OSD is started again.")
        return Step(f"give one OSD the options: osd.{self._number}", (*look, *self._set(f"osd.{self._number}")), notes)

    def _set(self, who: str) -> tuple[str, ...]:
        quoted = {name: f'"{value}"' if name == self._option else value for name, value in self._settings.items()}
        return tuple(f"ceph config set {who} {name} {value}" for name, value in quoted.items())

    def _remove(self, who: str) -> tuple[str, ...]:
        return tuple(f"ceph config rm {who} {name}" for name in self._settings)

    def _reshard(self) -> Step:
        release = ceph_release(self._run.run)
        tool = f"ceph-bluestore-tool --path {store_path(self._run.run)}"
        if self._wanted.sharding is None or (release is not None and release < SHARDING_SINCE):
            return Step(
                "the columns' options: the database's sharding is not known from the log",
                while_stopped(self._run.run, f"{tool} show-sharding"),
                (RESHARDING, "Add the bundle's show-sharding output to the log, and run this again."),
            )
        return Step(
            "give single columns their options, by a new sharding text",
            while_stopped(
                self._run.run, f"{tool} show-sharding", f'{tool} --sharding="{self._wanted.sharding}" reshard'
            ),
            (RESHARDING, "What show-sharding prints is the way back: keep it."),
        )

    def _rest(self) -> Iterator[Step]:
        if self._settings:
            restart = "ceph osd ok-to-stop osd.ID && systemctl restart ceph-osd@ID"
            yield Step(
                "then the others of its device class, which the first command tells",
                (
                    f"CLASS=$(ceph osd crush get-device-class osd.{self._number})",
                    *self._set("osd/class:$CLASS"),
                    *self._remove(f"osd.{self._number}"),
                    *((f"{restart}    # each; cephadm: ceph orch daemon restart osd.ID",) if self._restarts else ()),
                ),
                (FAILURE_DOMAIN,) if self._restarts else (),
            )
        if self._reshards:
            yield Step(
                "reshard each of the others as the first one",
                ("ceph osd ok-to-stop osd.ID",),
                (FAILURE_DOMAIN, "New OSDs get the columns' options from bluestore_rocksdb_cfs when they are made."),
            )

    def _way_back(self) -> Step:
        number, wanted = self._number, self._wanted
        commands = [*self._remove(f"osd.{number}"), *self._remove("osd/class:$CLASS")]
        if wanted.shared and self._run.beside.config_show.get(self._option):
            commands.append(f'ceph config set osd {self._option} "{self._before}"')
        if self._reshards and wanted.sharding_before:
            tool = f"ceph-bluestore-tool --path {store_path(self._run.run)}"
            commands += while_stopped(self._run.run, f'{tool} --sharding="{wanted.sharding_before}" reshard')
        elif self._restarts or self._reshards:
            commands += self._restart()
        return Step(
            "the way back",
            tuple(commands),
            (
                "What is in the database stays readable under either options; levels take their shape over the next"
                " hours.",
            ),
        )

    def _checks(self) -> Iterator[str]:
        number, log = self._number, f"/var/log/ceph/ceph-osd.{self._number}.log"
        options = [*self._wanted.shared, *self._wanted.columns][:MOST_CHECKED]
        if options:
            pattern = "|".join(rf"Options\.{one}:" for one in options)
            yield f"grep -aE 'rocksdb: *({pattern})' {log} | tail -n {12 * len(options)}"
        if self._wanted.shared:
            yield f"grep -a 'set rocksdb option' {log} | tail"
        for name in self._wanted.own:
            yield f"ceph config show osd.{number} {name}"
        if self._reshards and not options:
            yield f"grep -a 'Options for column family' {log} | tail -n 12"

    def _restart(self) -> tuple[str, ...]:
        number = self._number
        return (
            f"ceph osd ok-to-stop osd.{number}",
            "ceph osd set noout",
            f"systemctl restart ceph-osd@{number}    # cephadm: ceph orch daemon restart osd.{number}",
            "ceph osd unset noout",
        )


def options_fragment(changes: Mapping[tuple[str | None, str], str]) -> str:
    """What (family or None, option) -> value stands for in an OPTIONS file of RocksDB."""
    sections: dict[str, list[str]] = {}
    for (family, name), value in changes.items():
        of_database = family is None and scope_of(name) != "family"
        section = "[DBOptions]" if of_database else f'[CFOptions "{family or "default"}"]'
        sections.setdefault(section, []).append(f"  {name}={value}")
    return "\n".join(line for section in sorted(sections) for line in (section, *sections[section])) + "\n"


def set_calls(changes: Mapping[tuple[str | None, str], str], version: str | None) -> Iterator[str]:
    """The calls that give a running RocksDB of that version those of the options that it takes while it runs."""
    by_family: dict[str | None, list[str]] = {}
    for (family, name), value in changes.items():
        if is_mutable(name, version):
            target = None if scope_of(name) != "family" else family or "default"
            by_family.setdefault(target, []).append(f'{{"{name}", "{value}"}}')
    for family, pairs in by_family.items():
        what = "SetDBOptions({" if family is None else f"SetOptions(handle_of_{_identifier(family)}, {{"
        yield f"db->{what}{', '.join(pairs)}}});"


def _identifier(family: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in family)
