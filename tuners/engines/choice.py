"""Which engine to take: the very version a log was written by, if it can be had; else the nearest, and why."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from mmap import ACCESS_READ, mmap
from pathlib import Path

from lsmlens.tuners.engines.engine import Engine
from lsmlens.tuners.engines.errors import EngineError, NotPublished
from lsmlens.tuners.engines.imposed_options import ADD_COLLECTOR
from lsmlens.tuners.engines.installing import install_file, install_version
from lsmlens.tuners.engines.library import Library, given_library, installed_libraries, system_libraries
from lsmlens.tuners.engines.versions import distance, version_numbers

VARIABLE = "LSMLENS_ROCKSDB"
# Set to anything, RocksDB's own code stays as it is: see docs/engines.md.
OWN_CLOCK_VARIABLE = "LSMLENS_OWN_CLOCK"
OWN_CLOCK_NOTE = f"RocksDB keeps its own clock ({OWN_CLOCK_VARIABLE}): ages in the options are shortened instead"
NAMES = ("capi", "rocksdict")
Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine by name and version; `library` is the shared library where one is needed.

    `notes` say why it was taken, where it is not the one that was asked for. With `sets_clock` the wall clock that its
    databases see can be set (`clock`). Calling it makes the engine; do that in the process that replays: RocksDB's
    thread pools are the process's, and a library once loaded stays.
    """

    name: str
    version: str
    library: Path | None = None
    notes: tuple[str, ...] = ()
    sets_clock: bool = True

    @property
    def has_collectors(self) -> bool:
        """Whether it can set collectors of deletions: a library has a function of that name, the wheel has one."""
        if self.library is None:
            return True
        with self.library.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            return content.find(b"\0" + ADD_COLLECTOR.encode() + b"\0") >= 0

    def __call__(self) -> Engine:
        """The engine. Raises EngineError if its library cannot be loaded."""
        if self.library is None:
            from lsmlens.tuners.engines.rocksdict import RocksdictEngine

            return RocksdictEngine(self.notes, self.sets_clock)
        from lsmlens.tuners.engines.capi import CapiEngine

        return CapiEngine(self.library, self.version, self.notes, self.sets_clock)


def choose_engine(
    name: str | None,
    wanted_version: str | None,
    library: Path | None,
    allow_download: bool,
    on_notice: Notice,
) -> EngineChoice:
    """The engine for a version of RocksDB.

    `name` is `capi`, `rocksdict`, or None for the best there is; `library` is a shared library, or a jar that holds
    one, and goes before all (so does the variable LSMLENS_ROCKSDB). Else it is the wanted version, installed, of the
    system, or fetched, which `on_notice` is told in one line; else the nearest that is here. The choice's notes say
    what was taken in place of what. With the variable LSMLENS_OWN_CLOCK RocksDB keeps its own clock. Raises EngineError
    where nothing can be had.
    """
    chosen = _chosen(name, wanted_version, library, allow_download, on_notice)
    if not os.environ.get(OWN_CLOCK_VARIABLE):
        return chosen
    return replace(chosen, notes=(*chosen.notes, OWN_CLOCK_NOTE), sets_clock=False)


def _chosen(
    name: str | None, wanted_version: str | None, library: Path | None, allow_download: bool, on_notice: Notice
) -> EngineChoice:
    if name not in (None, *NAMES):
        raise EngineError(f"{name}: no such engine", f"there are {' and '.join(NAMES)}")
    if wanted_version is not None and not version_numbers(wanted_version):
        raise EngineError(f"{wanted_version}: no version of RocksDB", "versions are 7.9.2 and the like")
    if name == "rocksdict":
        return _wheel(wanted_version)
    given = library or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    if given is not None:
        return _of_library(_opened(given), wanted_version)
    here = [*system_libraries(), *installed_libraries()]  # of equal versions, the official build
    if wanted_version is None:
        best = max(here, key=lambda one: version_numbers(one.version), default=None)
        return _of_library(best, None) if best is not None else _without_library(name, None, "")
    exact = next((one for one in reversed(here) if distance(one.version, wanted_version) == 0), None)
    if exact is not None:
        return _of_library(exact, None)
    why = "it is not here"
    if allow_download:
        try:
            return _of_library(_fetched(wanted_version, on_notice), wanted_version)
        except EngineError as error:
            why = str(error)
            on_notice(why)
    return _nearest(name, wanted_version, here, why)


def _opened(path: Path) -> Library:
    return install_file(path) if path.suffix == ".jar" else given_library(path)


def _fetched(wanted: str, on_notice: Notice) -> Library:
    """The wanted version, or where that was never published the nearest of the same minor number."""
    on_notice(f"fetching RocksDB {wanted}: its official build, once, kept for next time")
    try:
        return install_version(wanted)
    except NotPublished as error:
        other = error.nearest
        if other is None or version_numbers(other)[:2] != version_numbers(wanted)[:2]:
            raise
    installed = next((one for one in installed_libraries() if one.version == other), None)
    return installed or install_version(other)


def _nearest(name: str | None, wanted: str, here: list[Library], why: str) -> EngineChoice:
    closest = min(reversed(here), key=lambda one: distance(one.version, wanted), default=None)
    if closest is None:
        return _without_library(name, wanted, why)
    if name is None:
        wheel = _wheel(wanted, why)
        if _majors_apart(wheel.version, wanted) < _majors_apart(closest.version, wanted):
            return wheel
    return _of_library(closest, wanted, why)


def _majors_apart(one: str, other: str) -> int:
    left, right = (version_numbers(version)[:1] or (0,) for version in (one, other))
    return abs(left[0] - right[0])


def _without_library(name: str | None, wanted: str | None, why: str) -> EngineChoice:
    if name == "capi":
        raise EngineError(
            f"no library of RocksDB{'' if wanted is None else f' {wanted}'}" + (f": {why}" if why else ""),
            "lsmlens engine install VERSION brings one; --engine rocksdict needs none",
        )
    return _wheel(wanted, why)


def _of_library(library: Library, wanted: str | None, why: str = "") -> EngineChoice:
    return EngineChoice("capi", library.version, library.path, _notes(library.version, library.source, wanted, why))


def _wheel(wanted: str | None, why: str = "") -> EngineChoice:
    from lsmlens.tuners.engines.rocksdict import RocksdictEngine

    version = RocksdictEngine().version
    return EngineChoice("rocksdict", version, None, _notes(version, "rocksdict's", wanted, why))


def _notes(version: str, source: str, wanted: str | None, why: str) -> tuple[str, ...]:
    if wanted is None or distance(version, wanted) == 0:
        return ()
    return (f"RocksDB {version} ({source}) in place of {wanted}" + (f": {why}" if why else ""),)
