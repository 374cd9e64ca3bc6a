"""Bundles: which members there are, by which names, and what is wrong with them."""

import gzip
import io
import lzma
import os
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.bundles import compression
from lsmlens.analyzer.bundles.members import DEPTH_LIMIT, HEAD_BYTES, Member, open_bundle
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.runs.reading import read_runs
from lsmlens.analyzer.runs.run import Run

from tests.archives import tarred, zipped

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = b"2026-11-20T22:56:20.761+0000 7f9fa51141c0  4 rocksdb: a line of a log\n" * 50


def content(member: Member) -> bytes:
    head = member.head()
    if member.stream is None:
        return member.file.read_bytes() if member.file is not None else b""
    assert member.stream.peek(HEAD_BYTES) == head
    parts: list[bytes] = []
    while data := member.stream.take(1 << 16):
        parts.append(data)
    return b"".join(parts)


def contents(*paths: Path | str, on_bytes: Callable[[int], None] | None = None) -> dict[str, bytes]:
    """Name to content of all members, which must have different names and be readable."""
    found: dict[str, bytes] = {}
    for member in open_bundle(map(str, paths), on_bytes):
        assert member.path not in found
        found[member.path] = content(member)
        assert member.damage is None, member
    return found


def members(*paths: Path | str) -> dict[str, Member]:
    found: dict[str, Member] = {}
    for member in open_bundle(map(str, paths)):
        content(member)
        found[member.path] = member
    return found


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str, bytes], Path]:
    def write(name: str, data: bytes) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    return write


Put = Callable[[str, bytes], Path]


def test_a_plain_file_is_left_where_it_is(put: Put) -> None:
    file = put("LOG", TEXT)
    (member,) = open_bundle([str(file)])
    assert (member.path, member.directory, member.size) == (str(file), str(file.parent), len(TEXT))
    assert member.file == file
    assert member.stream is None
    assert member.head() == TEXT[:HEAD_BYTES]
    assert member.read(10) == TEXT[:10]


def test_a_folder_is_read_in_the_order_of_names(put: Put, tmp_path: Path) -> None:
    for name in ("b/2", "b/10", "a", "c", "b/1/x"):
        put(name, name.encode())
    found = contents(tmp_path)
    assert list(found) == [str(tmp_path / name) for name in ("a", "c", "b/10", "b/2", "b/1/x")]
    assert list(found.values()) == [b"a", b"c", b"b/10", b"b/2", b"b/1/x"]


def test_an_empty_folder_has_no_members(tmp_path: Path) -> None:
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("suffix", ["", ".gz", ".log"])
def test_a_compressed_file_is_told_by_its_content(put: Put, suffix: str) -> None:
    data = gzip.compress(TEXT)
    file = put(f"ceph-osd.0.log{suffix}", data)
    (member,) = open_bundle([str(file)])
    assert (member.path, member.directory, member.size) == (str(file), str(file.parent), len(data))
    assert member.stream is not None
    assert content(member) == TEXT


def test_a_suffix_alone_makes_no_archive(put: Put) -> None:
    file = put("notes.tar.gz", TEXT)
    assert contents(file) == {str(file): TEXT}


@pytest.mark.parametrize("pack", [tarred, zipped, lambda named: zipped(named, zipfile.ZIP_STORED)])
@pytest.mark.parametrize("wrap", [lambda data: data, gzip.compress, lzma.compress])
def test_members_of_an_archive(
    put: Put, pack: Callable[[dict[str, bytes]], bytes], wrap: Callable[[bytes], bytes]
) -> None:
    archive = put("bundle", wrap(pack({"var/log/a": b"A" * 70_000, "b": b"", "var/log/c": gzip.compress(b"C")})))
    found = members(archive)
    assert list(found) == [f"{archive}!var/log/a", f"{archive}!b", f"{archive}!var/log/c"]
    inside = f"{archive}!var/log"
    assert [member.directory for member in found.values()] == [inside, str(archive), inside]
    assert [member.size for member in found.values()][:2] == [70_000, 0]
    assert contents(archive) == {
        f"{archive}!var/log/a": b"A" * 70_000,
        f"{archive}!b": b"",
        f"{archive}!var/log/c": b"C",
    }


def test_archives_inside_archives(put: Put) -> None:
    inner = zipped({"x/LOG": TEXT, "deep.tar.xz": lzma.compress(tarred({"LOG": b"deep\n"}))})
    outer = put("sos.tar.gz", gzip.compress(tarred({"one/inner.zip": inner, "two": b"2"})))
    assert contents(outer) == {
        f"{outer}!one/inner.zip!x/LOG": TEXT,
        f"{outer}!one/inner.zip!deep.tar.xz!LOG": b"deep\n",
        f"{outer}!two": b"2",
    }


def test_compressed_twice_is_decompressed_twice(put: Put) -> None:
    file = put("LOG.gz.xz", lzma.compress(gzip.compress(TEXT)))
    assert contents(file) == {str(file): TEXT}


def nested(depth: int) -> bytes:
    data = TEXT
    for _ in range(depth):
        data = gzip.compress(data)
    return data


def test_nesting_ends_at_the_limit(put: Put) -> None:
    file, deeper = put("within", nested(DEPTH_LIMIT - 1)), put("beyond", nested(DEPTH_LIMIT))
    assert contents(file) == {str(file): TEXT}
    (member,) = members(deeper).values()
    assert member.unreadable == f"nested deeper than {DEPTH_LIMIT} archives"
    assert member.damage == member.unreadable


def test_an_archive_that_holds_itself_ends_too(put: Put) -> None:
    data = TEXT
    for _ in range(40):
        data = tarred({"again.tar": data, "LOG": TEXT})
    archive = put("again.tar", data)
    found = members(archive)
    assert 5 <= len(found) <= DEPTH_LIMIT + 1
    assert [member.path for member in found.values() if member.unreadable] != []


def zst(data: bytes) -> bytes:
    made: bytes = zstd.compress(data)
    return made


BOMBS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zst,
    "xz": lzma.compress,
    "gzip in gzip": lambda data: gzip.compress(gzip.compress(data) * 20),
    "zstd in zstd": lambda data: zst(zst(data) * 20),
    "zip": lambda data: zipped({"LOG": data}),
    "zips in a zip": lambda data: zipped({f"{n}.zip": zipped({"LOG": data}) for n in range(9)}, zipfile.ZIP_DEFLATED),
    "gzips in a tar": lambda data: gzip.compress(tarred({f"{n}.gz": gzip.compress(data) for n in range(9)})),
}


@pytest.mark.parametrize("how", BOMBS)
def test_a_bomb_is_left_where_it_grows_beyond_all_measure(how: str, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "FREE_BYTES", 1 << 20)
    data = BOMBS[how](bytes(40 << 20))
    read = 0
    problems = set()
    for member in open_bundle([str(put("bomb", data))]):
        while member.stream is not None and (piece := member.stream.take(1 << 20)):
            read += len(piece)
        problems.add(member.damage)
    assert 0 < read <= (1 << 20) + compression.MOST_FOLD * len(data) + (9 << 16)
    said = "it unpacks to more than 200 times its size; LSMLENS_TRUST_ARCHIVES=1 reads it all the same"
    assert {one.removeprefix("the archive is damaged: ") for one in problems if one} == {said}
    monkeypatch.setenv(compression.TRUSTED, "1")
    assert not any(member.damage for member in open_bundle([str(put("bomb", data))]))


@pytest.mark.parametrize("pack", [tarred, zipped])
def test_of_very_many_members_some_are_read(
    pack: Callable[[dict[str, bytes]], bytes], put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "MOST_MEMBERS", 5)
    archive = put("many", pack({f"folder/{number}": TEXT for number in range(9)}))
    found = list(members(archive).values())
    assert [bool(one.unreadable) for one in found] == [False] * 5 + [True]
    assert found[-1].unreadable == "it holds more than 5 files; LSMLENS_TRUST_ARCHIVES=1 reads them all the same"


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../../outside", "a\nb", "a\x1b[31mb", "c\x00d", "\udcff", "x" * 300], ids=ascii
)
def test_names_in_archives_are_only_shown(put: Put, tmp_path: Path, name: str) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
        entry = tarfile.TarInfo(name)
        entry.size = 3
        archive.addfile(entry, io.BytesIO(b"abc"))
    path = put("bundle/names.tar", file.getvalue())
    before = sorted(tmp_path.rglob("*"))
    (shown,) = contents(path)
    assert shown.startswith(f"{path}!")
    assert shown.isprintable()
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_no_file_in_an_archive_is_left_out(put: Put) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, kind in (("folder", tarfile.DIRTYPE), ("link", tarfile.SYMTYPE), ("pipe", tarfile.FIFOTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "LOG"
            archive.addfile(entry)
        entry = tarfile.TarInfo("LOG")
        entry.size = len(TEXT)
        archive.addfile(entry, io.BytesIO(TEXT))
    path = put("links.tar", file.getvalue())
    assert contents(path) == {f"{path}!LOG": TEXT}


def test_a_missing_path_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such file or folder") as caught:
        list(open_bundle([str(tmp_path / "nowhere")]))
    assert caught.value.path == str(tmp_path / "nowhere")
    assert caught.value.hint


def test_what_is_given_twice_is_read_once(put: Put, tmp_path: Path) -> None:
    file = put("folder/LOG", TEXT)
    put("folder/other", b"other")
    (tmp_path / "link").symlink_to(file)
    os.link(file, tmp_path / "folder" / "hard")
    paths = [
        file,
        file,
        tmp_path / "link",
        tmp_path / "folder" / ".." / "folder" / "LOG",
        tmp_path / "folder",
        tmp_path,
    ]
    found = contents(*paths)
    assert found == {str(file): TEXT, str(tmp_path / "folder" / "other"): b"other"}


def test_a_symlink_is_followed_to_a_file(put: Put, tmp_path: Path) -> None:
    target = put("elsewhere/LOG", TEXT)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(target)
    assert contents(folder) == {str(folder / "link"): TEXT}


def test_a_symlink_that_leads_nowhere_is_an_unreadable_member(put: Put, tmp_path: Path) -> None:
    put("LOG", TEXT)
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    found = members(tmp_path)
    assert found[str(tmp_path / "dangling")].unreadable == "No such file or directory"
    assert found[str(tmp_path / "LOG")].damage is None


def test_folders_that_hold_each_other_end(put: Put, tmp_path: Path) -> None:
    put("folder/LOG", TEXT)
    (tmp_path / "folder" / "up").symlink_to(tmp_path)
    assert contents(tmp_path) == {str(tmp_path / "folder" / "LOG"): TEXT}


def test_pipes_in_a_folder_are_left_alone(put: Put, tmp_path: Path) -> None:
    put("LOG", TEXT)
    os.mkfifo(tmp_path / "pipe")
    assert contents(tmp_path) == {str(tmp_path / "LOG"): TEXT}


@pytest.mark.parametrize("wrap", [lambda data: data, gzip.compress])
def test_a_pipe_given_by_name_is_read(tmp_path: Path, wrap: Callable[[bytes], bytes]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(wrap(TEXT)))
    writer.start()
    assert contents(pipe) == {str(pipe): TEXT}
    writer.join()


@pytest.mark.parametrize("data", [TEXT, gzip.compress(TEXT)])
def test_standard_input(data: bytes) -> None:
    program = (
        "from lsmlens.analyzer.bundles.members import open_bundle\n"
        "for m in open_bundle(['-']): print(m.path, m.directory, len(m.stream.read()), m.damage)"
    )
    said = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True, timeout=60)
    assert said.stdout == b"standard input  %d None\n" % len(TEXT)


def test_an_archive_on_standard_input() -> None:
    program = (
        "from lsmlens.analyzer.bundles.members import open_bundle\n"
        "for m in open_bundle(['-']): print(m.path, m.directory, len(m.stream.read()), m.damage)"
    )
    for data in (tarred({"a/LOG": TEXT}), zipped({"a/LOG": TEXT})):
        said = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True, timeout=60)
        assert said.stdout == b"standard input!a/LOG standard input!a %d None\n" % len(TEXT)


def test_a_cut_gzip_is_a_damaged_member_with_content(put: Put) -> None:
    file = put("LOG.gz", gzip.compress(TEXT * 100)[:-20])
    (member,) = members(file).values()
    assert member.damage == "the gzip stream ends before its end mark"
    assert member.unreadable is None


def test_a_cut_tar_gives_the_members_before_the_cut(put: Put) -> None:
    data = tarred({"one": b"1" * 5000, "two": b"2" * 5000})
    archive = put("cut.tar", data[: 512 + 5120 + 512 + 1000])
    found = list(open_bundle([str(archive)]))
    assert found[0].path == f"{archive}!one"
    assert any(member.damage for member in found)
    archive = put("cut.tar.gz", gzip.compress(data)[:-12])
    whole = content(next(open_bundle([str(archive)])))
    assert whole == b"1" * 5000


def test_a_cut_compressed_tar_says_so(put: Put) -> None:
    noise = os.urandom(100_000)
    data = gzip.compress(tarred({"one": noise, "two": noise}))
    archive = put("cut.tar.gz", data[: len(data) // 2 - 5000])
    found = members(archive)
    assert next(iter(found)) == f"{archive}!one"
    assert [member.damage for member in found.values() if member.damage]


def test_a_zip_without_its_index_is_damaged_and_gives_what_it_holds(put: Put) -> None:
    archive = put("cut.zip", zipped({"one": TEXT, "two": TEXT})[:-30])
    found = members(archive)
    assert "damaged" in (found[str(archive)].unreadable or "")
    assert {name for name, member in found.items() if not member.unreadable} == {f"{archive}!one", f"{archive}!two"}


def test_an_encrypted_zip_member_is_unreadable_others_are_not(put: Put) -> None:
    data = bytearray(zipped({"secret": TEXT, "open": TEXT}))
    data[data.index(b"PK\x03\x04") + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    archive = put("some.zip", bytes(data))
    found = members(archive)
    assert "encrypted" in (found[f"{archive}!secret"].unreadable or "")
    assert found[f"{archive}!open"].damage is None


def test_a_corrupted_zip_member_is_damaged_others_are_not(put: Put) -> None:
    data = bytearray(zipped({"one": TEXT, "two": TEXT}, zipfile.ZIP_STORED))
    data[100] ^= 1
    archive = put("some.zip", bytes(data))
    found = members(archive)
    assert "CRC" in (found[f"{archive}!one"].damage or "")
    assert found[f"{archive}!two"].damage is None


@pytest.mark.parametrize("head", [b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"])
def test_a_magic_number_and_nothing_more_is_damage(put: Put, head: bytes) -> None:
    found = members(put("odd", head))
    assert all(member.damage for member in found.values())
    assert found


def test_bytes_of_compressed_files_are_told_for_progress(put: Put) -> None:
    data = gzip.compress(os.urandom(500_000))
    told: list[int] = []
    contents(put("a.gz", data), put("plain", b"x" * 1000), on_bytes=told.append)
    assert sum(told) >= len(data)
    assert sum(told) <= len(data) + 2 * 512


def test_one_bad_member_does_not_cost_the_others(put: Put, tmp_path: Path, log_text: Callable[[str], bytes]) -> None:
    put("good/ceph-osd.0.log", log_text("osd-stock/ceph-osd.0.log.gz"))
    put("bad/ceph-osd.1.log.gz", b"\x1f\x8b\x08nonsense")
    put("bad/odd.zip", b"PK\x03\x04nonsense")
    summaries, runs = read_runs([str(tmp_path)])
    assert [run.name for run in runs] == ["osd.0"]
    assert sorted(Path(summary.path).name for summary in summaries if summary.problem) == [
        "ceph-osd.1.log.gz",
        "odd.zip",
    ]


def test_a_log_of_one_line_is_a_log(run_of: Callable[..., Run]) -> None:
    move = b'EVENT_LOG_v1 {"time_micros": 5, "job": 3, "event": "trivial_move", "destination_level": 1, "files": 1,'
    move += b' "total_files_size": 7}'
    assert run_of([move]).event_counts == {"trivial_move": 1}
    assert run_of(move).event_counts == {"trivial_move": 1}
