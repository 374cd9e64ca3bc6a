"""`lsmlens engine`, as a person uses it."""

import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.tuners.engines.installing import member_names
from lsmlens.tuners.engines.library import system_libraries

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def library() -> Path:
    found = system_libraries()
    if not found:
        pytest.skip("the system has no library of RocksDB; LSMLENS_ROCKSDB=FILE gives one")
    return found[0].path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_list_without_anything_installed(lsmlens: Run) -> None:
    done = lsmlens("engine", "list")
    assert done.returncode == 0
    head, *rows = done.stdout.decode().splitlines()
    assert head.split() == ["ENGINE", "VERSION", "FROM", "PATH"]
    assert rows[-1].startswith("rocksdict")


def test_install_a_jar_then_list_and_path(lsmlens: Run, library: Path, tmp_path: Path, cache: Path) -> None:
    with zipfile.ZipFile(tmp_path / "rocksdbjni.jar", "w") as archive:
        archive.write(library, member_names()[0])
    done = lsmlens("engine", "install", "./rocksdbjni.jar", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    _, version, path = done.stdout.decode().split()
    assert Path(path).is_relative_to(cache)
    assert lsmlens("engine", "path", version).stdout.decode().strip() == path
    (row,) = [row for row in lsmlens("engine", "list").stdout.decode().splitlines() if path in row]
    assert row.split()[:3] == ["capi", version, "rocksdbjni.jar"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("path", "1.2.3"), "error: RocksDB 1.2.3 is not installed"),
        (("install", "newest"), "error: newest: no version and no file"),
        (("install", "./gone.jar"), "error: gone.jar: no such file"),
        (("install", __file__), f"error: {__file__}: cannot be loaded"),
        (("install",), "error: missing argument VERSION|FILE"),
    ],
)
def test_errors_are_one_line_and_a_way_out(lsmlens: Run, arguments: tuple[str, ...], error: str) -> None:
    done = lsmlens("engine", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    first, second = done.stderr.decode().splitlines()
    assert first.startswith(error)
    assert second.startswith("hint: ")


def test_install_without_network(lsmlens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("no_proxy", "")
    done = lsmlens("engine", "install", "7.9.2")
    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[0] == "error: RocksDB 7.9.2 cannot be fetched: no network"
