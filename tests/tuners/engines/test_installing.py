"""Engines installed from files: no network is needed for any of these."""

import hashlib
import http.server
import platform
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from lsmlens.tuners.engines import installing
from lsmlens.tuners.engines import library as libraries
from lsmlens.tuners.engines.errors import EngineError, NotPublished
from lsmlens.tuners.engines.installing import download, install_file, install_version, member_names, published_versions
from lsmlens.tuners.engines.library import Library, given_library, installed_libraries, system_libraries
from lsmlens.tuners.engines.probing import probed_version
from lsmlens.tuners.engines.versions import version_numbers

VERSIONS = ("6.8.1", "7.9.2", "7.10.2", "10.2.1")


def left_in(cache: Path) -> list[str]:
    """What is in the cache, by name; nothing half done may be."""
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file()) if cache.exists() else []


def test_from_a_jar(cache: Path, jar: Path, library: Path) -> None:
    installed = install_file(jar)
    assert installed.version == probed_version(library)
    assert installed.source == jar.name
    assert installed.path.read_bytes() == library.read_bytes()
    assert installed.path.is_relative_to(cache / installed.version)
    assert installed_libraries() == [installed]
    assert install_file(jar) == installed
    assert left_in(cache) == [f"{installed.version}/engine.json", f"{installed.version}/{installed.path.name}"]


def test_from_a_shared_library(cache: Path, library: Path) -> None:
    installed = install_file(library)
    assert installed.path.read_bytes() == library.read_bytes()
    assert installed_libraries() == [installed]


def test_a_jar_for_another_machine(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("librocksdbjni-another.so", b"another")
    with pytest.raises(EngineError, match=r"other\.jar: it holds no librocksdbjni-") as caught:
        install_file(path)
    assert "\n" not in str(caught.value)
    assert left_in(cache) == []


def test_a_torn_jar(cache: Path, jar: Path) -> None:
    jar.write_bytes(jar.read_bytes()[:100_000])
    with pytest.raises(EngineError, match=r"rocksdbjni-linux64\.jar: cannot be loaded"):
        install_file(jar)
    assert left_in(cache) == []


def test_a_jar_whose_library_is_torn(cache: Path, jar: Path, library: Path) -> None:
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr(member_names()[0], library.read_bytes()[:50_000])
    with pytest.raises(EngineError, match=r"rocksdbjni-linux64\.jar"):
        install_file(jar)
    assert left_in(cache) == []
    assert installed_libraries() == []


def test_a_file_that_is_no_library(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.so").write_text("no library")
    with pytest.raises(EngineError, match=r"notes\.so: cannot be loaded"):
        install_file(tmp_path / "notes.so")
    with pytest.raises(EngineError, match=r"gone\.so: no such file"):
        install_file(tmp_path / "gone.so")
    assert left_in(cache) == []


def test_no_version(cache: Path) -> None:
    for text in ("newest", "7", "7.9.2;rm", "../7.9.2", ""):
        with pytest.raises(EngineError, match="no version and no file"):
            install_version(text)


def test_a_cache_that_cannot_be_written(jar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(EngineError, match="Not a directory"):
        install_file(jar)


def test_a_library_that_kills_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An assertion build may abort: who asks lives on, and says so."""
    killer = tmp_path / "python"
    killer.write_text("#!/bin/sh\nkill -ABRT $$\n")
    killer.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(killer))
    with pytest.raises(EngineError, match="no RocksDB that can be used: it ends with status -6"):
        probed_version(tmp_path / "librocksdb.so")


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b'{"version": 1}', b'{"version":"1","file":"gone","source":""}'])
def test_a_torn_record_is_passed_over(cache: Path, record: bytes) -> None:
    (cache / "7.9.2").mkdir(parents=True)
    (cache / "7.9.2" / "engine.json").write_bytes(record)
    assert installed_libraries() == []


def test_what_others_could_write_to_is_not_taken(cache: Path, library: Path, tmp_path: Path) -> None:
    installed = install_file(library)
    for path in (installed.path, installed.path.parent, cache):
        mode = path.stat().st_mode
        path.chmod(mode | 0o020)
        assert installed_libraries() == []
        path.chmod(mode)
        assert installed_libraries() == [installed]
    installed.path.unlink()
    installed.path.symlink_to(library)
    assert installed_libraries() == []
    given = tmp_path / "librocksdb.so"
    given.write_bytes(library.read_bytes())
    given.chmod(0o666)
    with pytest.raises(EngineError, match="others can write to it") as caught:
        given_library(given)
    assert "chmod go-w" in caught.value.hint


def test_a_record_cannot_lead_out_of_its_folder(cache: Path, library: Path) -> None:
    folder = cache / "7.9.2"
    folder.mkdir(parents=True)
    for name in (str(library), "../../lib.so", ".."):
        (folder / "engine.json").write_bytes(orjson.dumps({"version": "7.9.2", "file": name, "source": "x"}))
        assert installed_libraries() == []


def test_a_library_larger_than_any(cache: Path, jar: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "MOST_LIBRARY_BYTES", 100_000)
    with pytest.raises(EngineError, match="larger than any RocksDB"):
        install_file(jar)
    assert left_in(cache) == []


@pytest.mark.parametrize("version", ["../../x", "7.9.2\nx", "", "seven"])
def test_a_version_that_a_library_makes_up(
    cache: Path, library: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing, "probed_version", lambda _: version)
    with pytest.raises(EngineError, match="it says that its version is"):
        install_file(library)
    assert left_in(cache) == []


def test_oldest_version_first(cache: Path) -> None:
    for version in ("10.2.1", "6.15.5", "6.8.1"):
        folder = cache / version
        folder.mkdir(parents=True)
        (folder / "lib.so").touch()
        (folder / "engine.json").write_bytes(orjson.dumps({"version": version, "file": "lib.so", "source": "x"}))
    assert [one.version for one in installed_libraries()] == ["6.8.1", "6.15.5", "10.2.1"]


def test_the_systems_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Links to one file count once; what is no library is passed over; the file's name tells the version."""
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "librocksdb.so.7.8.3").touch()
    (folder / "librocksdb.so.7.8").symlink_to("librocksdb.so.7.8.3")
    (folder / "librocksdb.so").symlink_to("librocksdb.so.7.8")
    (folder / "librocksdb_other.so").write_text("no library")
    (folder / "librocksdb.so.9").symlink_to("gone")
    monkeypatch.setattr(libraries, "FOLDERS", (str(folder),))
    monkeypatch.setattr(libraries, "LINKED", libraries.NAMED_VERSION)
    monkeypatch.setattr(sys, "platform", "linux")
    assert system_libraries() == [Library("7.8.3", folder / "librocksdb.so.7.8.3", "the system's")]


def test_a_given_library(library: Path, tmp_path: Path) -> None:
    (tmp_path / "librocksdb.so").symlink_to(library)
    found = given_library(tmp_path / "librocksdb.so")
    assert found == Library(probed_version(library), library.resolve(), "given")
    with pytest.raises(EngineError, match="no such file"):
        given_library(tmp_path / "none.so")
    with pytest.raises(EngineError, match="cannot be loaded"):
        given_library(Path(__file__))


@pytest.mark.parametrize(
    ("system", "machine", "is_musl", "names"),
    [
        ("linux", "x86_64", False, ("librocksdbjni-linux64.so",)),
        ("linux", "x86_64", True, ("librocksdbjni-linux64-musl.so",)),
        ("linux", "aarch64", False, ("librocksdbjni-linux-aarch64.so",)),
        ("linux", "ppc64le", False, ("librocksdbjni-linux-ppc64le.so",)),
        ("darwin", "arm64", False, ("librocksdbjni-osx-arm64.jnilib", "librocksdbjni-osx.jnilib")),
        ("darwin", "x86_64", False, ("librocksdbjni-osx-x86_64.jnilib", "librocksdbjni-osx.jnilib")),
    ],
)
def test_names_in_a_jar(
    system: str, machine: str, is_musl: bool, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(installing, "_is_musl", lambda: is_musl)
    assert member_names() == names


def test_a_machine_without_artefacts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "mips")
    with pytest.raises(EngineError, match=r"no RocksDB artefact for .* on mips"):
        member_names()


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
    repository.publish("7.10.2", content)
    seen: list[tuple[int, int]] = []
    assert download("7.10.2", folder, lambda here, total: seen.append((here, total))).read_bytes() == content
    assert (len(content), len(content)) in seen
    assert all(here <= total for here, total in seen)


def test_the_jar_of_all_platforms_where_there_is_no_other(repository: Repository, folder: Path) -> None:
    repository.publish("10.2.1", b"all platforms", classifier="")
    assert download("10.2.1", folder).read_bytes() == b"all platforms"


@pytest.mark.parametrize("checksum", ["0" * 40, "<html>"])
def test_another_checksum(repository: Repository, folder: Path, checksum: str) -> None:
    repository.publish("7.10.2", b"jar", checksum=checksum)
    with pytest.raises(EngineError, match="its checksum is not the published one"):
        download("7.10.2", folder)


def test_a_known_version_must_be_the_known_jar(
    repository: Repository, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can forge a jar can forge the checksum beside it."""
    repository.publish("7.9.2", b"forged")
    with pytest.raises(EngineError, match=r"rocksdbjni-7\.9\.2-linux64\.jar: its SHA-256 is not the one lsmlens knows"):
        download("7.9.2", folder)
    known = {"7.9.2": {"rocksdbjni-7.9.2-linux64.jar": hashlib.sha256(b"forged").hexdigest()}}
    monkeypatch.setattr(installing, "known_checksums", lambda: known)
    assert download("7.9.2", folder).read_bytes() == b"forged"
    repository.publish("7.9.2", b"of another system", classifier="")
    monkeypatch.setattr(installing, "known_checksums", lambda: {"7.9.2": {}})
    with pytest.raises(EngineError, match="its SHA-256 is not the one"):
        download("7.9.2", folder)


def test_known_are_the_versions_that_ceph_runs_with() -> None:
    known = installing.known_checksums()
    assert {"6.1.2", "6.8.1", "6.15.5", "7.9.2"} <= known.keys()
    assert [*known] == sorted(known, key=version_numbers)
    for version, jars in known.items():
        assert f"rocksdbjni-{version}.jar" in jars
        assert all(name.startswith(f"rocksdbjni-{version}") and len(checksum) == 64 for name, checksum in jars.items())


def test_no_checksum(repository: Repository, folder: Path) -> None:
    repository.publish("7.10.2", b"jar", checksum="")
    with pytest.raises(EngineError, match="no checksum is published"):
        download("7.10.2", folder)


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
    repository.publish("7.10.2", jar.read_bytes())
    installed = install_version("7.10.2")
    assert installed_libraries() == [installed]
    assert installed.source == "rocksdbjni 7.10.2"
    assert (installed.path.stat().st_mode & 0o777, installed.path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_what_fails_leaves_nothing(repository: Repository, cache: Path, jar: Path) -> None:
    repository.publish("7.10.2", jar.read_bytes(), checksum="0" * 40)
    with pytest.raises(EngineError):
        install_version("7.10.2")
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
