"""Engines installed for lsmlens: RocksDB's official release builds, or taken from a file.

The artefacts are `org.rocksdb:rocksdbjni`, by version and platform. A jar holds a shared library for each processor,
such as `librocksdbjni-linux-aarch64.so`; it exports RocksDB's whole C API beside the Java one. A classifier's jar is
for one system; the one without classifier is for all. `rocksdbjni.json` holds the SHA-256 of the jars of the versions
that Ceph's releases run with and of one of each later series; of other versions the published checksum is compared.
"""

import hashlib
import platform
import re
import shutil
import sys
import sysconfig
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from lsmlens.tuners.engines.errors import EngineError, NotPublished
from lsmlens.tuners.engines.library import Library, cache_folder, write_record
from lsmlens.tuners.engines.probing import probed_version
from lsmlens.tuners.engines.versions import nearest, version_numbers

if TYPE_CHECKING:
    from jgo.maven import Project

MOST_LIBRARY_BYTES, PIECE_BYTES = 512 << 20, 1 << 20
VERSION = re.compile(r"\d{1,4}(?:\.\d{1,6}){1,3}")
GROUP, ARTEFACT = "org.rocksdb", "rocksdbjni"
NO_NETWORK = "without network: bring a rocksdbjni jar or a librocksdb here, and install that file"
# platform.machine() -> how a Linux library's name ends, and a macOS one's.
PROCESSORS = {
    "x86_64": ("64", "-x86_64"),
    "amd64": ("64", "-x86_64"),
    "aarch64": ("-aarch64", "-arm64"),
    "arm64": ("-aarch64", "-arm64"),
    "ppc64le": ("-ppc64le", ""),
    "s390x": ("-s390x", ""),
    "riscv64": ("-riscv64", ""),
}
Advance = Callable[[int, int], None]


def install_version(version: str, on_progress: Advance | None = None) -> Library:
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
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".installing-", dir=root) as folder:
            yield Path(folder)
    except OSError as error:
        raise EngineError(f"{root}: {error.strerror or error}", "free some room, or set XDG_CACHE_HOME") from error


def _extracted(jar: Path, folder: Path) -> Path:
    """The library for this machine, out of a jar; of what the jar says only its bytes are taken."""
    names = member_names()
    try:
        with zipfile.ZipFile(jar) as archive:
            held = archive.namelist()
            name = next((name for name in names if name in held), None)
            if name is None:
                raise EngineError(f"{jar.name}: it holds no {names[0]}", "take the jar for this system")
            library = folder / name
            with archive.open(name) as packed, library.open("xb") as file:
                while (piece := packed.read(PIECE_BYTES)) and file.tell() <= MOST_LIBRARY_BYTES:
                    file.write(piece)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise EngineError(f"{jar.name}: no whole jar: {error}", "fetch it again") from error
    if library.stat().st_size > MOST_LIBRARY_BYTES:
        raise EngineError(f"{jar.name}: its {name} is larger than any RocksDB", "fetch it again")
    return library


def _kept(library: Path, source: str) -> Library:
    """Move a library that works to its place, at once and whole."""
    version = probed_version(library)
    if not VERSION.fullmatch(version):  # it is the library's own word, and names a folder
        raise EngineError(f"{library}: no RocksDB that can be used: it says that its version is {version!r}")
    folder = cache_folder() / version
    folder.mkdir(mode=0o700, exist_ok=True)
    kept = Library(version, folder / library.name, source)
    library.chmod(0o600)
    library.replace(kept.path)
    write_record(kept)
    return kept


def member_names() -> tuple[str, ...]:
    """What the library for this machine may be called in a jar, the best first. Raises EngineError if there is none."""
    suffixes = PROCESSORS.get(platform.machine().lower())
    if suffixes is None or sys.platform not in ("linux", "darwin"):
        raise EngineError(
            f"there is no RocksDB artefact for {sys.platform} on {platform.machine()}", "give a librocksdb by its path"
        )
    if sys.platform == "darwin":
        return (f"librocksdbjni-osx{suffixes[1]}.jnilib", "librocksdbjni-osx.jnilib")
    return (f"librocksdbjni-linux{suffixes[0]}{'-musl' if _is_musl() else ''}.so",)


@cache
def known_checksums() -> dict[str, dict[str, str]]:
    """The SHA-256 of jars, by version and by name of the jar."""
    content = (Path(__file__).parent / "rocksdbjni.json").read_bytes()
    return msgspec.json.decode(content, type=dict[str, dict[str, str]])


def published_versions() -> list[str]:
    """The versions there are, oldest first. Raises EngineError if they cannot be asked for."""
    with tempfile.TemporaryDirectory(prefix="lsmlens-") as folder:
        project = _project(Path(folder))
        with _in_plain_words("the list of versions"):
            project.update()
            found = [component.version for component in project.versions()]
    return sorted(found, key=version_numbers)


def download(version: str, folder: Path, on_progress: Advance | None = None) -> Path:
    """Bring the jar of a version into `folder` and compare its checksum.

    That is the one lsmlens knows of the version's jar, or for versions it knows none of, the one published beside it.
    `on_progress` is told the bytes that are here and those there are. Raises EngineError where it cannot be had (no
    network, another checksum), NotPublished where there is no such version.
    """
    project = _project(folder, on_progress)
    classifiers = ("osx", "") if sys.platform == "darwin" else ("linux64-musl" if _is_musl() else "linux64", "")
    for classifier in classifiers:
        component = project.at_version(version)
        try:
            with _in_plain_words(f"RocksDB {version}"):
                jar = component.artifact(classifier).resolve()
        except LookupError:
            continue
        if version in (known := known_checksums()):
            if hashlib.sha256(jar.read_bytes()).hexdigest() != known[version].get(jar.name):
                raise EngineError(f"{jar.name}: its SHA-256 is not the one lsmlens knows", "try again")
            return jar
        try:
            with _in_plain_words(f"the checksum of RocksDB {version}"):
                checksum = component.artifact(classifier, "jar.sha1").resolve()
        except LookupError:
            raise EngineError(f"RocksDB {version}: no checksum is published for it", NO_NETWORK) from None
        published = (checksum.read_text(encoding="ascii", errors="replace").split() or [""])[0].lower()
        if hashlib.sha1(jar.read_bytes(), usedforsecurity=False).hexdigest() != published:
            raise EngineError(f"{jar.name}: its checksum is not the published one", "try again")
        return jar
    raise NotPublished(version, nearest(version, published_versions()))


def _is_musl() -> bool:
    return "musl" in str(sysconfig.get_config_var("SOABI"))


def _project(folder: Path, on_progress: Advance | None = None) -> "Project":
    from jgo.maven import MavenContext, PythonResolver

    @contextmanager
    def progress(_name: str, total: int) -> Iterator[Callable[[int], None]]:
        here = 0

        def advance(count: int) -> None:
            nonlocal here
            here += count
            if on_progress is not None:
                on_progress(here, total)

        yield advance

    context: MavenContext = MavenContext(resolver=PythonResolver(progress_callback=progress), repo_cache=folder)
    return context.project(GROUP, ARTEFACT)


@contextmanager
def _in_plain_words(what: str) -> Iterator[None]:
    """Say what can go wrong on the way in one line; LookupError stands for what is not there."""
    import requests

    try:
        yield
    except RuntimeError as error:  # what jgo raises where no repository has it
        raise LookupError(what) from error
    except requests.RequestException as error:
        raise EngineError(f"{what} cannot be fetched: {_reason(error)}", NO_NETWORK) from error
    except OSError as error:
        raise EngineError(f"{what} cannot be fetched: {error.strerror or error}", "make room, or try again") from error


def _reason(error: Exception) -> str:
    import requests

    if isinstance(error, requests.Timeout):
        return "no answer in time"
    return "no network" if isinstance(error, requests.ConnectionError) else type(error).__name__
