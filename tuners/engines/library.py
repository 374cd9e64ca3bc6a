"""Shared libraries of RocksDB: those installed for lsmlens, and the system's."""

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
import platformdirs
from lsmlens.tuners.engines.errors import EngineError
from lsmlens.tuners.engines.probing import probed_version
from lsmlens.tuners.engines.versions import version_numbers

RECORD = "engine.json"
# /usr/lib/x86_64-linux-gnu/librocksdb.so.7.8.3, /opt/homebrew/lib/librocksdb.9.10.0.dylib
NAMED_VERSION = re.compile(r"librocksdb\.(?:so\.(\d+\.\d+\.\d+)|(\d+\.\d+\.\d+)\.dylib)")
# 	librocksdb.so.7.8 (libc6,x86-64) => /lib/x86_64-linux-gnu/librocksdb.so.7.8
LINKED = re.compile(r"^\s*librocksdb\.so\S* \(.*\) => (\S+)$", re.MULTILINE)
FOLDERS = (
    *("/usr/lib", "/usr/lib64", "/usr/lib/*-linux-gnu*", "/usr/local/lib", "/usr/local/lib64"),
    *("/opt/homebrew/lib", "/opt/local/lib"),
)


@dataclass(frozen=True, slots=True)
class Library:
    """A shared library with RocksDB's C API; `source` says where it came from, for people."""

    version: str
    path: Path
    source: str


def cache_folder() -> Path:
    """Where installed engines are, one folder a version."""
    return platformdirs.user_cache_path("lsmlens") / "engines"


def installed_libraries() -> list[Library]:
    """The libraries installed for lsmlens, oldest version first; what others could write to is passed over."""
    if not is_safe(cache_folder()):
        return []
    found = [library for record in cache_folder().glob(f"*/{RECORD}") if (library := _recorded(record)) is not None]
    return sorted(found, key=lambda one: version_numbers(one.version))


def system_libraries() -> list[Library]:
    """The system's libraries; one that cannot be used is passed over."""
    found: dict[Path, Library] = {}
    for path in _system_paths():
        real = path.resolve()
        if real not in found and real.is_file():
            try:
                found[real] = Library(_named_version(real) or probed_version(real), real, "the system's")
            except EngineError:
                continue
    return sorted(found.values(), key=lambda one: version_numbers(one.version))


def given_library(path: Path) -> Library:
    """A library by its path. Raises EngineError if it is none that can be used here."""
    real = path.expanduser().resolve()
    if not real.is_file():
        raise EngineError(f"{path}: no such file", "give the path of a librocksdb, or of a rocksdbjni jar")
    if not is_safe(real):
        raise EngineError(f"{path}: others can write to it, and it would be run", f"chmod go-w {real}, or copy it")
    return Library(probed_version(real), real, "given")


def is_safe(path: Path) -> bool:
    """Whether nobody but this user, and root, can write to a file, or put others into a folder."""
    try:
        found = path.stat()
    except OSError:
        return False
    return found.st_uid in (0, os.getuid()) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def write_record(library: Library) -> None:
    """Note beside an installed library what it is."""
    record = {"version": library.version, "file": library.path.name, "source": library.source}
    temporary = library.path.with_name(f".{RECORD}.tmp")
    temporary.write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2))
    temporary.replace(library.path.with_name(RECORD))


def _recorded(record: Path) -> Library | None:
    """What a record says; None for one that is torn, or whose library is gone."""
    try:
        said = orjson.loads(record.read_bytes())
        library = Library(str(said["version"]), record.with_name(str(said["file"])), str(said["source"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    is_here = library.path.is_file() and not library.path.is_symlink()
    return library if is_here and is_safe(library.path.parent) and is_safe(library.path) else None


def _system_paths() -> Iterator[Path]:
    suffix = "dylib" if sys.platform == "darwin" else "so"
    for folder in FOLDERS:
        for parent in sorted(Path("/").glob(folder.removeprefix("/"))):
            yield from sorted(parent.glob(f"librocksdb*.{suffix}*"))
    try:
        listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return
    yield from map(Path, LINKED.findall(listed.stdout))


def _named_version(path: Path) -> str | None:
    match = NAMED_VERSION.fullmatch(path.name)
    return None if match is None else match[1] or match[2]
