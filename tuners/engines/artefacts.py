"""RocksDB's official release builds: the artefacts `org.rocksdb:rocksdbjni`, by version and platform.

A jar holds a shared library for each processor, such as `librocksdbjni-linux-aarch64.so`; it exports RocksDB's whole C
API beside the Java one. A classifier's jar is for one system; the one without classifier is for all.
"""

import hashlib
import platform
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lsmlens.tuners.engines.errors import EngineError, NotPublished
from lsmlens.tuners.engines.versions import nearest, version_numbers

if TYPE_CHECKING:
    from jgo.maven import Project

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
Progress = Callable[[int, int], None]


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


def published_versions() -> list[str]:
    """The versions there are, oldest first. Raises EngineError if they cannot be asked for."""
    with tempfile.TemporaryDirectory(prefix="lsmlens-") as folder:
        project = _project(Path(folder))
        with _in_plain_words("the list of versions"):
            project.update()
            found = [component.version for component in project.versions()]
    return sorted(found, key=version_numbers)


def download(version: str, folder: Path, on_progress: Progress | None = None) -> Path:
    """Bring the jar of a version into `folder` and compare its checksum.

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


def _project(folder: Path, on_progress: Progress | None = None) -> "Project":
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
