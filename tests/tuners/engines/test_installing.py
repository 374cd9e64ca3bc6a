"""Engines installed from files: no network is needed for any of these."""

import platform
import sys
import zipfile
from pathlib import Path

import orjson
import pytest
from lsmlens.tuners.engines import artefacts
from lsmlens.tuners.engines import library as libraries
from lsmlens.tuners.engines.artefacts import member_names
from lsmlens.tuners.engines.errors import EngineError
from lsmlens.tuners.engines.installing import install_file, install_version
from lsmlens.tuners.engines.library import Library, given_library, installed_libraries, system_libraries
from lsmlens.tuners.engines.probing import probed_version


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
    monkeypatch.setattr(artefacts, "_is_musl", lambda: is_musl)
    assert member_names() == names


def test_a_machine_without_artefacts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "mips")
    with pytest.raises(EngineError, match=r"no RocksDB artefact for .* on mips"):
        member_names()
