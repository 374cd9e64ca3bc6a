"""Artefacts fetched over HTTP: from a repository of the test's own, and once from the real one."""

import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsmlens.tuners.engines.artefacts import download, published_versions
from lsmlens.tuners.engines.errors import EngineError, NotPublished
from lsmlens.tuners.engines.installing import install_version
from lsmlens.tuners.engines.library import installed_libraries

VERSIONS = ("6.8.1", "7.9.2", "7.10.2", "10.2.1")


class Repository:
    """A Maven repository of one project on this machine."""

    def __init__(self, root: Path) -> None:
        self.project = root / "org" / "rocksdb" / "rocksdbjni"
        self.project.mkdir(parents=True)
        listed = "".join(f"<version>{version}</version>" for version in VERSIONS)
        (self.project / "maven-metadata.xml").write_text(
            "<metadata><groupId>org.rocksdb</groupId><artifactId>rocksdbjni</artifactId>"
            f"<versioning><versions>{listed}</versions></versioning></metadata>"
        )

    def publish(self, version: str, jar: bytes, classifier: str = "-linux64", checksum: str | None = None) -> None:
        folder = self.project / version
        folder.mkdir(exist_ok=True)
        name = f"rocksdbjni-{version}{classifier}.jar"
        (folder / name).write_bytes(jar)
        if checksum != "":
            (folder / f"{name}.sha1").write_text(checksum or hashlib.sha1(jar).hexdigest())


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    root = tmp_path / "repository"
    made = Repository(root)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object, **named: object) -> None:
            super().__init__(*arguments, directory=str(root))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    serving.start()
    monkeypatch.setattr(
        "jgo.maven._core.DEFAULT_REMOTE_REPOS", {"test": f"http://127.0.0.1:{server.server_address[1]}"}
    )
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield made
    server.shutdown()
    server.server_close()
    serving.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "here"
    path.mkdir()
    return path


def test_fetched_and_compared(repository: Repository, folder: Path) -> None:
    content = b"jar" * 100_000
    repository.publish("7.9.2", content)
    seen: list[tuple[int, int]] = []
    assert download("7.9.2", folder, lambda here, total: seen.append((here, total))).read_bytes() == content
    assert (len(content), len(content)) in seen
    assert all(here <= total for here, total in seen)


def test_the_jar_of_all_platforms_where_there_is_no_other(repository: Repository, folder: Path) -> None:
    repository.publish("6.8.1", b"all platforms", classifier="")
    assert download("6.8.1", folder).read_bytes() == b"all platforms"


@pytest.mark.parametrize("checksum", ["0" * 40, "<html>"])
def test_another_checksum(repository: Repository, folder: Path, checksum: str) -> None:
    repository.publish("7.9.2", b"jar", checksum=checksum)
    with pytest.raises(EngineError, match="its checksum is not the published one"):
        download("7.9.2", folder)


def test_no_checksum(repository: Repository, folder: Path) -> None:
    repository.publish("7.9.2", b"jar", checksum="")
    with pytest.raises(EngineError, match="no checksum is published"):
        download("7.9.2", folder)


def test_no_such_version(repository: Repository, folder: Path) -> None:
    with pytest.raises(NotPublished, match=r"RocksDB 7\.9\.9 is not published") as caught:
        download("7.9.9", folder)
    assert caught.value.nearest == "7.9.2"
    assert "7.9.2" in caught.value.hint


def test_versions_in_their_order(repository: Repository) -> None:
    assert published_versions() == ["6.8.1", "7.9.2", "7.10.2", "10.2.1"]


def test_no_network(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jgo.maven._core.DEFAULT_REMOTE_REPOS", {"test": "http://127.0.0.1:9"})
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(EngineError, match=r"RocksDB 7\.9\.2 cannot be fetched: no network") as caught:
        download("7.9.2", folder)
    assert "jar" in caught.value.hint


def test_a_full_disk(repository: Repository, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.publish("7.9.2", b"jar")
    (folder / "org").touch()
    with pytest.raises(EngineError, match=r"RocksDB 7\.9\.2 cannot be fetched: Not a directory"):
        download("7.9.2", folder)


def test_installed(repository: Repository, cache: Path, jar: Path) -> None:
    repository.publish("7.9.2", jar.read_bytes())
    installed = install_version("7.9.2")
    assert installed_libraries() == [installed]
    assert installed.source == "rocksdbjni 7.9.2"


def test_what_fails_leaves_nothing(repository: Repository, cache: Path, jar: Path) -> None:
    repository.publish("7.9.2", jar.read_bytes(), checksum="0" * 40)
    with pytest.raises(EngineError):
        install_version("7.9.2")
    assert not list(cache.iterdir())


@pytest.mark.slow
def test_the_real_thing(cache: Path) -> None:
    """The version of Ceph Reef to Tentacle, as RocksDB published it."""
    try:
        installed = install_version("7.9.2")
    except EngineError as error:
        if "cannot be fetched" in str(error):
            pytest.skip(f"needs network: {error}")
        raise
    assert installed.version == "7.9.2"
    assert installed_libraries() == [installed]
