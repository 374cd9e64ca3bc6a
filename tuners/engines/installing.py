"""Engines installed for lsmlens: brought from their artefacts, or taken from a file."""

import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lsmlens.tuners.engines.artefacts import ARTEFACT, Progress, download, member_names
from lsmlens.tuners.engines.errors import EngineError
from lsmlens.tuners.engines.library import Library, cache_folder, write_record
from lsmlens.tuners.engines.probing import probed_version

VERSION = re.compile(r"\d{1,4}(?:\.\d{1,6}){1,3}")


def install_version(version: str, on_progress: Progress | None = None) -> Library:
    """Install RocksDB of a version from its official artefact. Raises EngineError where that cannot be."""
    if not VERSION.fullmatch(version):
        raise EngineError(f"{version}: no version and no file", "give a version such as 7.9.2, a jar, or a librocksdb")
    with _folder() as folder:
        jar = download(version, folder, on_progress)
        return _kept(_extracted(jar, folder), f"{ARTEFACT} {version}")


def install_file(path: Path) -> Library:
    """Install a library from a jar or a shared library; needs no network. Raises EngineError if it holds none."""
    if not path.is_file():
        raise EngineError(f"{path}: no such file", "give a rocksdbjni jar or a librocksdb")
    with _folder() as folder:
        if zipfile.is_zipfile(path):
            library = _extracted(path, folder)
        else:
            library = folder / "librocksdb.so"
            shutil.copyfile(path, library)
        try:
            return _kept(library, path.name)
        except EngineError as error:
            raise EngineError(str(error).replace(str(library), str(path)), error.hint) from error


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder of its own on the cache's disk, gone in the end."""
    root = cache_folder()
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".installing-", dir=root) as folder:
            yield Path(folder)
    except OSError as error:
        raise EngineError(f"{root}: {error.strerror or error}", "free some room, or set XDG_CACHE_HOME") from error


def _extracted(jar: Path, folder: Path) -> Path:
    """The library for this machine, out of a jar."""
    names = member_names()
    try:
        with zipfile.ZipFile(jar) as archive:
            held = archive.namelist()
            name = next((name for name in names if name in held), None)
            if name is None:
                raise EngineError(f"{jar.name}: it holds no {names[0]}", "take the jar for this system")
            return Path(archive.extract(name, folder))
    except zipfile.BadZipFile as error:
        raise EngineError(f"{jar.name}: no whole jar: {error}", "fetch it again") from error


def _kept(library: Path, source: str) -> Library:
    """Move a library that works to its place, at once and whole."""
    version = probed_version(library)
    folder = cache_folder() / version
    folder.mkdir(exist_ok=True)
    kept = Library(version, folder / library.name, source)
    library.replace(kept.path)
    write_record(kept)
    return kept
