"""One log, one result: however it was compressed, packed, named, cut, copied or carried."""

import bz2
import gzip
import io
import json
import lzma
import random
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LOGS = ("osd-spillover/ceph-osd.0.log.gz", "osd-reef/ceph-osd.0.log.gz")
ENTRY = re.compile(rb"^(?=\d{4}-\d\d-\d\dT)", re.MULTILINE)
FINISHED = re.compile(rb'EVENT_LOG_v1 \{[^\n]*"event": "compaction_finished"[^\n]*\n')

Runs = Callable[..., list[dict[str, Any]]]
Figures = Callable[[dict[str, Any]], dict[str, Any]]
Same = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session", params=LOGS, ids=lambda name: name.split("/")[0])
def log(request: pytest.FixtureRequest, log_text: Callable[[str], bytes]) -> bytes:
    return log_text(request.param)


@pytest.fixture(scope="session")
def spillover(log_text: Callable[[str], bytes]) -> bytes:
    return log_text(LOGS[0])


@pytest.fixture(scope="session")
def expected(runs_of: Runs, figures: Figures, tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], Any]:
    """What a log comes to as a plain file."""
    known: dict[bytes, dict[str, Any]] = {}

    def read(text: bytes) -> dict[str, Any]:
        if text not in known:
            file = tmp_path_factory.mktemp("plain") / "ceph-osd.0.log"
            file.write_bytes(text)
            (run,) = runs_of(file)
            assert run["events"]["compaction_finished"] >= 14
            known[text] = figures(run)
        return known[text]

    return read


@pytest.fixture
def same(runs_of: Runs, figures: Figures, expected: Callable[[bytes], Any]) -> Same:
    """Check that paths hold one run, which is that of `text` read as a plain file; gives it back."""

    def check(text: bytes, *paths: Path, damaged: int = 0) -> dict[str, Any]:
        (run,) = runs_of(*paths)
        assert figures(run) == expected(text)
        assert run["data_quality"]["events_rejected"] + run["data_quality"]["events_cut"] <= damaged
        return run

    return check


# -- compressed, packed ------------------------------------------------------------------------------------------------


def gz(data: bytes) -> bytes:
    return gzip.compress(data, 1)


def xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=0)


def zst(data: bytes) -> bytes:
    return zstd.compress(data)


def several_gzip_members(data: bytes) -> bytes:
    third = len(data) // 3 + 7
    return b"".join(gz(data[begin : begin + third]) for begin in range(0, len(data), third))


def several_zstd_frames(data: bytes) -> bytes:
    half = len(data) // 2 + 7
    return zst(data[:half]) + zst(data[half:])


def tar(files: Iterable[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        folder = tarfile.TarInfo("bundle")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, data in files:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.mkdir("bundle")
        for name, data in files:
            archive.writestr(name, data)
    return out.getvalue()


def bundle(data: bytes, name: str = "ceph-osd.0.log") -> list[tuple[str, bytes]]:
    return [
        ("bundle/README", b"collected by hand\n"),
        ("bundle/conf/ceph.conf", b"[global]\nfsid = 1\n"),
        (f"bundle/var/log/ceph/{name}", data),
        ("bundle/perf_dump.json", b'{"bluefs": {"db_used_bytes": 1}}\n'),
    ]


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "ceph-osd.0.log": lambda data: data,
    "ceph-osd.0.log.gz": gz,
    "ceph-osd.0.log.zst": zst,
    "ceph-osd.0.log.xz": xz,
    "ceph-osd.0.log.bz2": bz2.compress,
    "several-members.log.gz": several_gzip_members,
    "several-frames.log.zst": several_zstd_frames,
    "twice.log.xz.gz": lambda data: gz(xz(data)),
    "bundle.tar": lambda data: tar(bundle(data)),
    "bundle.tar.gz": lambda data: gz(tar(bundle(data))),
    "bundle.tar.xz": lambda data: xz(tar(bundle(data))),
    "bundle.tar.zst": lambda data: zst(tar(bundle(data))),
    "bundle.tar.bz2": lambda data: bz2.compress(tar(bundle(data))),
    "bundle.zip": lambda data: zipped(bundle(data)),
    "tar-in.tar.gz": lambda data: gz(tar([("inner.tar", tar(bundle(data)))])),
    "zip-in.tar": lambda data: tar([("inner.zip", zipped(bundle(data)))]),
    "gz-in-zip-in.tar.gz": lambda data: gz(
        tar([("deep/inner.zip", zipped(bundle(gz(data), "ceph-osd.0.log.gz")))]),
    ),
    "tar.gz-in.zip": lambda data: zipped([("inner.tar.gz", gz(tar(bundle(data))))]),
    "plain-log-named.json": lambda data: data,
    "gzip-named.log": gz,
    "xz-named.gz": xz,
    "zip-named.tar.gz": lambda data: zipped(bundle(data)),
    "tar-named.log": lambda data: tar(bundle(data)),
    "no suffix but a space and \N{SNOWMAN}": gz,
}


@pytest.mark.parametrize("name", PACKED)
def test_compressed_and_packed(name: str, log: bytes, same: Same, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(PACKED[name](log))
    run = same(log, file)
    assert len(run["members"]) == 1
    assert run["members"][0].startswith(str(file))
    assert run["data_quality"]["bytes"] == len(log)
    assert run["data_quality"]["lines"] == log.count(b"\n")


def test_a_folder(log: bytes, same: Same, tmp_path: Path) -> None:
    for name, data in bundle(log):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    run = same(log, tmp_path)
    assert run["members"] == [str(tmp_path / "bundle/var/log/ceph/ceph-osd.0.log")]
    same(log, tmp_path, tmp_path / "bundle", tmp_path / "bundle/var/log/ceph/ceph-osd.0.log")  # counted once


def test_symbolic_links_to_a_log_count_once(spillover: bytes, same: Same, tmp_path: Path) -> None:
    (tmp_path / "ceph-osd.0.log").write_bytes(spillover)
    (tmp_path / "another-name.log").symlink_to("ceph-osd.0.log")
    same(spillover, tmp_path)


@pytest.mark.parametrize(
    "pack", [bytes, gz, lambda data: gz(tar(bundle(data))), lambda data: zipped(bundle(data))],
    ids=["plain", "gzip", "tar.gz", "zip"],
)  # fmt: skip
def test_standard_input(
    pack: Callable[[bytes], bytes],
    log: bytes,
    expected: Callable[[bytes], Any],
    figures: Figures,
    lsmlens: Callable[..., Any],
) -> None:
    done = lsmlens("analyze", "-", "--format", "json", stdin=pack(log))
    assert (done.returncode, done.stderr) == (0, b"")
    (run,) = json.loads(done.stdout)["runs"]
    assert figures(run) == expected(log)


# -- in pieces ---------------------------------------------------------------------------------------------------------


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted(places), len(data)]
    return [data[begin:end] for begin, end in pairwise(edges)]


def rotated(pieces: list[bytes]) -> list[tuple[str, bytes]]:
    """Names and contents as logrotate leaves them: the oldest has the highest number, the newest none."""
    suffixes: list[tuple[str, Callable[[bytes], bytes]]] = [("", bytes), (".gz", gz), (".xz", xz), (".zst", zst)]
    named = []
    for number, piece in enumerate(reversed(pieces)):
        suffix, compress = suffixes[number % len(suffixes)]
        named.append((f"ceph-osd.0.log.{number}{suffix}" if number else "ceph-osd.0.log", compress(piece)))
    return named


def write_all(folder: Path, files: Iterable[tuple[str, bytes]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files:
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize("seed", range(6))
def test_cut_by_rotation_at_any_byte(seed: int, log: bytes, same: Same, tmp_path: Path) -> None:
    chance = random.Random(seed)
    pieces = cut(log, chance.sample(range(1, len(log)), chance.randint(1, 14)))
    run = same(log, write_all(tmp_path, rotated(pieces)))
    assert len(run["members"]) == len(pieces)
    assert run["data_quality"]["bytes"] == len(log)
    assert run["data_quality"]["duplicates_removed"] == 0


@pytest.mark.parametrize("seed", range(3))
def test_pieces_in_a_tar_in_any_order(seed: int, log: bytes, same: Same, tmp_path: Path) -> None:
    chance = random.Random(seed)
    files = rotated(cut(log, chance.sample(range(1, len(log)), 9)))
    chance.shuffle(files)
    (tmp_path / "logs.tar.gz").write_bytes(gz(tar((f"var/log/ceph/{name}", data) for name, data in files)))
    same(log, tmp_path / "logs.tar.gz")


@pytest.mark.parametrize("distance", [-2, -1, 0, 1, 2, 10, 23, 29, 60])
def test_cut_near_a_line_end(distance: int, log: bytes, same: Same, tmp_path: Path) -> None:
    """`distance` 0 is right after a newline; 10 to 29 are inside of the next line's stamp, 60 before its event."""
    ends = [match.start() for match in re.finditer(rb"(?<=\n)\d{4}-[^\n]{0,80}EVENT_LOG_v1", log)]
    places = [ends[len(ends) * part // 5] + distance for part in range(1, 5)]
    same(log, write_all(tmp_path, rotated(cut(log, places))))


def test_cut_inside_every_part_of_an_event(spillover: bytes, same: Same, tmp_path: Path) -> None:
    events = list(FINISHED.finditer(spillover))
    places = [event.start() + (event.end() - event.start()) * part // 14 for part, event in enumerate(events)]
    same(spillover, write_all(tmp_path, rotated(cut(spillover, places))))


def test_a_piece_that_is_part_of_one_line(spillover: bytes, same: Same, tmp_path: Path) -> None:
    event = list(FINISHED.finditer(spillover))[5]
    places = [event.start() + step for step in (-30, 5, 20, 60, 61, 150)]
    same(spillover, write_all(tmp_path, rotated(cut(spillover, places))))


def test_a_piece_that_is_an_event_and_nothing_else(spillover: bytes, same: Same, tmp_path: Path) -> None:
    event = list(FINISHED.finditer(spillover))[5]
    start = event.start() + len(b"EVENT_LOG_v1 ")
    assert json.loads(spillover[start : event.end()])
    same(spillover, write_all(tmp_path, rotated(cut(spillover, [start, event.end()]))))


def test_pieces_of_some_bytes_and_of_none(spillover: bytes, same: Same, tmp_path: Path) -> None:
    places = [0, 0, 1, 3, 700_000, 700_000, 700_001, 700_002, len(spillover) - 1, len(spillover)]
    same(spillover, write_all(tmp_path, rotated(cut(spillover, places))))


def test_rotated_by_date(spillover: bytes, same: Same, tmp_path: Path) -> None:
    pieces = cut(spillover, [300_000, 800_001, 1_100_003])
    names = ["ceph-osd.0.log-20261118.gz", "ceph-osd.0.log-20261119.gz", "ceph-osd.0.log-20261120", "ceph-osd.0.log"]
    data = [gz(pieces[0]), gz(pieces[1]), *pieces[2:]]
    same(spillover, write_all(tmp_path, zip(names, data, strict=True)))


def test_pieces_given_one_by_one(spillover: bytes, same: Same, tmp_path: Path) -> None:
    files = [tmp_path / name for name, _ in rotated(cut(spillover, [200_000, 500_000, 900_000]))]
    write_all(tmp_path, rotated(cut(spillover, [200_000, 500_000, 900_000])))
    same(spillover, *files)
    same(spillover, *reversed(files))


# -- told more than once -----------------------------------------------------------------------------------------------


def test_pieces_that_overlap_by_lines(log: bytes, same: Same, tmp_path: Path) -> None:
    lines = log.splitlines(keepends=True)
    third = len(lines) // 3
    pieces = [b"".join(lines[: third + 900]), b"".join(lines[third : 2 * third + 900]), b"".join(lines[2 * third :])]
    run = same(log, write_all(tmp_path, rotated(pieces)))
    assert run["data_quality"]["duplicates_removed"] > 0


@pytest.mark.parametrize("seed", range(8))
def test_pieces_that_overlap_by_bytes(seed: int, log: bytes, same: Same, tmp_path: Path) -> None:
    """`tail -c` of a live log beside a copy made a little later: the halves of two different lines meet."""
    chance = random.Random(seed)
    events = [match.start() for match in re.finditer(rb'"event": "(?:compaction|flush)_finished', log)]
    late = events[chance.randrange(len(events) // 2, len(events) - 1)] + chance.randrange(-60, 100)
    early = events[chance.randrange(len(events) // 2)] + chance.randrange(-60, 100)
    files = write_all(tmp_path, [("ceph-osd.0.log.1", log[:late]), ("ceph-osd.0.log", log[early:])])
    run = same(log, files, damaged=2)
    assert run["data_quality"]["duplicates_removed"] > 0


@pytest.mark.parametrize("name", ["ceph-osd.0.log", "copy of the log.txt"])
@pytest.mark.parametrize("pack", [bytes, gz], ids=["plain", "gzip"])
def test_a_copy_in_another_folder(
    name: str, pack: Callable[[bytes], bytes], log: bytes, same: Same, tmp_path: Path
) -> None:
    write_all(tmp_path / "var/log/ceph", [("ceph-osd.0.log", log)])
    write_all(tmp_path / "sos_commands/ceph", [(name, pack(log))])
    run = same(log, tmp_path)
    assert run["data_quality"]["duplicates_removed"] == sum(run["events"].values())
    assert len(run["members"]) == 2


def test_a_copy_of_the_pieces_in_another_folder(log: bytes, same: Same, tmp_path: Path) -> None:
    pieces = rotated(cut(log, [len(log) // 3 + 11, len(log) // 2 + 5]))
    write_all(tmp_path / "a", pieces)
    write_all(tmp_path / "b", pieces)
    run = same(log, tmp_path)
    assert run["data_quality"]["duplicates_removed"] == sum(run["events"].values())


def test_a_copy_of_the_last_lines_in_another_folder(spillover: bytes, same: Same, tmp_path: Path) -> None:
    lines = spillover.splitlines(keepends=True)
    write_all(tmp_path / "a", [("ceph-osd.0.log", spillover)])
    write_all(tmp_path / "b", [("ceph-osd.0.log", b"".join(lines[-600:]))])
    run = same(spillover, tmp_path)
    assert run["data_quality"]["duplicates_removed"] > 0


def test_stalls_of_a_copy_count_once(
    log_text: Callable[[str], bytes], runs_of: Runs, figures: Figures, tmp_path: Path
) -> None:
    text = log_text("rocksdb-7.8/LOG")
    write_all(tmp_path / "a", [("LOG", text)])
    (alone,) = runs_of(tmp_path)
    assert alone["stalls"]["lines"]
    write_all(tmp_path / "b", [("LOG", text)])
    (run,) = runs_of(tmp_path)
    assert figures(run) == figures(alone)


# -- carried -----------------------------------------------------------------------------------------------------------


def entries(text: bytes) -> list[bytes]:
    """What a daemon wrote at once: a stamped line and the lines without a stamp after it, without its last newline."""
    return [entry.removesuffix(b"\n") for entry in ENTRY.split(text) if entry]


def parts_of(line: bytes, limit: int) -> list[bytes]:
    return [line[begin : begin + limit] for begin in range(0, len(line), limit)] or [b""]


def cri(text: bytes, limit: int = 16384) -> bytes:
    said = []
    for number, line in enumerate(text.splitlines()):
        *first, last = parts_of(line, limit)
        stamp = b"2026-11-21T00:%02d:%02d.%09dZ stderr" % (number // 60 % 60, number % 60, number)
        said += [b"%b P %b\n" % (stamp, part) for part in first] + [b"%b F %b\n" % (stamp, last)]
    return b"".join(said)


def docker(text: bytes, limit: int = 16384) -> bytes:
    said = []
    for number, line in enumerate(text.splitlines(keepends=True)):
        for part in parts_of(line, limit):
            entry = {"log": part.decode(), "stream": "stderr", "time": f"2026-11-21T00:00:00.{number:09}Z"}
            said.append(json.dumps(entry, separators=(",", ":"), ensure_ascii=False))
    text = "\n".join(said).encode() + b"\n"
    return text.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")  # as Go's encoder does


SYSLOG_TAG = b"Nov 20 23:42:41 host ceph-osd[%d]: "


def syslog(text: bytes, pid: int = 2845, tag: bytes = SYSLOG_TAG) -> bytes:
    return b"".join(syslog_lines(text, pid, tag))


def syslog_lines(text: bytes, pid: int, tag: bytes = SYSLOG_TAG) -> Iterator[bytes]:
    for entry in entries(text):
        yield tag % pid + entry.replace(b"\n", b"#012").replace(b"\t", b"#011") + b"\n"


def syslog_line_by_line(text: bytes) -> bytes:
    return b"".join(SYSLOG_TAG % 2845 + line + b"\n" for line in text.splitlines())


def syslog_with_full_stamps(text: bytes) -> bytes:
    said: list[bytes] = []
    for number, entry in enumerate(entries(text)):
        moment = datetime.fromisoformat(entry[:28].decode()).astimezone(timezone(timedelta(hours=5, minutes=30)))
        stamp = moment.replace(microsecond=moment.microsecond + number % 1000).isoformat(timespec="microseconds")
        said += syslog_lines(entry + b"\n", 2845, stamp.encode() + b" host ceph-osd[%d]: ")
    return b"".join(said)


def syslog_with_priority(text: bytes) -> bytes:
    return syslog(text, tag=b"<14>Nov 20 23:42:41 host ceph-osd[%d]: ")


def journal_export(text: bytes, pid: int = 2845) -> bytes:
    return b"".join(journal_export_entries(text, pid))


def journal_export_entries(text: bytes, pid: int) -> Iterator[bytes]:
    for number, entry in enumerate(entries(text)):
        if b"\n" in entry:
            message = b"MESSAGE\n" + len(entry).to_bytes(8, "little") + entry + b"\n"
        else:
            message = b"MESSAGE=" + entry + b"\n"
        yield (
            b"__CURSOR=s=1;i=%d;b=2;x=EVENT\n__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=1\n"
            b"PRIORITY=6\n%b_PID=%d\n_COMM=ceph-osd\nSYSLOG_IDENTIFIER=ceph-osd\n_HOSTNAME=host\n\n"
        ) % (number, 1_795_246_382_000_000 + number, message, pid)


def journal_json(text: bytes, pid: int = 2845) -> bytes:
    return b"".join(journal_json_entries(text, pid))


def journal_json_entries(text: bytes, pid: int) -> Iterator[bytes]:
    for number, entry in enumerate(entries(text)):
        # journalctl writes a message that holds control characters or is not UTF-8 as a list of its bytes
        message = list(entry) if number % 7 == 0 else entry.decode()
        fields = {"_PID": str(pid), "MESSAGE": message, "SYSLOG_IDENTIFIER": "ceph-osd", "__CURSOR": f"s={number}"}
        yield json.dumps(fields).encode() + b"\n"


def journal_short(text: bytes) -> bytes:
    tag = SYSLOG_TAG % 2845
    return b"".join(tag + entry.replace(b"\n", b"\n" + b" " * len(tag)) + b"\n" for entry in entries(text))


def container_prefix(text: bytes) -> bytes:
    return b"".join(b"debug " + entry + b"\n\n" for entry in entries(text))


def container_prefix_without_space(text: bytes) -> bytes:
    return b"".join(b"debug" + entry + b"\n" for entry in entries(text))


def carriage_returns(text: bytes) -> bytes:
    return text.replace(b"\n", b"\r\n")


def xml_trace(text: bytes) -> bytes:
    """As FoundationDB logs what RocksDB says."""
    quoted = text.replace(b"&", b"&amp;").replace(b'"', b"&quot;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
    return b"".join(b'%b <Event Type="RocksDB" Message="%b" />\n' % (line[:28], line) for line in quoted.splitlines())


CARRIED: dict[str, Callable[[bytes], bytes]] = {
    "CRI": cri,
    "CRI in parts of 100 bytes": lambda text: cri(text, 100),
    "docker json-file": docker,
    "docker json-file in parts of 100 bytes": lambda text: docker(text, 100),
    "CRI of a container's debug lines": lambda text: cri(container_prefix(text)),
    "docker json-file of a container's debug lines": lambda text: docker(container_prefix(text)),
    "syslog": syslog,
    "syslog line by line": syslog_line_by_line,
    "syslog with stamps of RFC 5424": syslog_with_full_stamps,
    "syslog with priority": syslog_with_priority,
    "journald export": journal_export,
    "journald json": journal_json,
    "journalctl short": journal_short,
    "container prefix": container_prefix,
    "container prefix without a space": container_prefix_without_space,
    "carriage returns": carriage_returns,
}


@pytest.mark.parametrize("carrier", CARRIED)
def test_carried(carrier: str, log: bytes, same: Same, tmp_path: Path) -> None:
    file = tmp_path / "0.log"
    file.write_bytes(CARRIED[carrier](log))
    same(log, file)


@pytest.mark.parametrize("carrier", CARRIED)
def test_carried_and_compressed(carrier: str, spillover: bytes, same: Same, tmp_path: Path) -> None:
    file = tmp_path / "0.log.gz"
    file.write_bytes(gz(CARRIED[carrier](spillover)))
    same(spillover, file)


@pytest.mark.parametrize("carrier", ["CRI", "docker json-file", "container prefix", "carriage returns"])
@pytest.mark.parametrize("seed", range(2))
def test_carried_and_rotated_at_lines(carrier: str, seed: int, spillover: bytes, same: Same, tmp_path: Path) -> None:
    lines = CARRIED[carrier](spillover).splitlines(keepends=True)
    pieces = [b"".join(lines[begin : begin + 2500 + seed]) for begin in range(0, len(lines), 2500 + seed)]
    same(spillover, write_all(tmp_path, rotated(pieces)))


@pytest.mark.parametrize("carrier", ["syslog", "journald json", "journalctl short"])
@pytest.mark.parametrize("end", [b"\n", b""], ids=["whole last line", "last line without an end"])
def test_shared_logs_rotated_at_lines(
    carrier: str, end: bytes, spillover: bytes, runs_of: Runs, figures: Figures, tmp_path: Path
) -> None:
    """Each piece begins and ends with an event."""
    lines = CARRIED[carrier](spillover).splitlines(keepends=True)
    events = [number for number, line in enumerate(lines) if b"compaction_finished" in line]
    first, last = events[4], events[-1]
    pieces = [b"".join(lines[: first + 1]), b"".join(lines[first + 1 : last]), b"".join(lines[last : last + 1])]
    pieces[2] = pieces[2].removesuffix(b"\n") + end
    write_all(tmp_path / "whole", [("messages", b"".join(pieces))])
    write_all(tmp_path / "pieces", rotated(pieces))
    (whole,) = runs_of(tmp_path / "whole")
    (run,) = runs_of(tmp_path / "pieces")
    assert figures(run) == figures(whole)
    assert whole["events"]["compaction_finished"] == 14


def with_long_lines(text: bytes) -> bytes:
    """The log, its compactions reading so many files that their events need several entries of 16 KiB."""
    numbers = b", ".join(b"%d" % number for number in range(10**9, 10**9 + 4000))
    longer = re.sub(rb'("event": "compaction_started"[^\n]*?"files_L0": \[)', rb"\g<1>" + numbers + b", ", text)
    assert max(map(len, longer.splitlines())) > 40_000
    return longer


@pytest.mark.parametrize("carrier", CARRIED)
def test_lines_longer_than_one_entry(carrier: str, spillover: bytes, same: Same, tmp_path: Path) -> None:
    text = with_long_lines(spillover)
    file = tmp_path / "0.log"
    file.write_bytes(CARRIED[carrier](text))
    same(text, file)


def test_parts_of_one_stream_with_lines_of_the_other_between(spillover: bytes, same: Same, tmp_path: Path) -> None:
    lines = cri(spillover, 700).splitlines(keepends=True)
    other = b"2026-11-21T00:00:00.123456789Z stdout F a line of the other stream\n"
    mixed = b"".join(line + other if b" stderr P " in line else line for line in lines)
    assert mixed.count(other) > 14
    (tmp_path / "0.log").write_bytes(mixed)
    same(spillover, tmp_path / "0.log")


def test_xml_traces_hold_the_same_events(spillover: bytes, runs_of: Runs, tmp_path: Path) -> None:
    (tmp_path / "ceph-osd.0.log").write_bytes(spillover)
    (tmp_path / "trace.0.xml").write_bytes(xml_trace(spillover))
    (plain,), (run,) = runs_of(tmp_path / "ceph-osd.0.log"), runs_of(tmp_path / "trace.0.xml")
    for name in ("events", "column_families", "levels"):
        assert run[name] == plain[name]


# -- of several daemons ------------------------------------------------------------------------------------------------


def renamed(text: bytes) -> bytes:
    """The log as OSD 7 would have written it."""
    return re.sub(rb"\bosd\.0\b", b"osd.7", text)


def interleaved(seed: int, *streams: Iterable[bytes]) -> bytes:
    """The streams' lines, each stream's in their order, in the order of chance."""
    chance = random.Random(seed)
    waiting = [iter(stream) for stream in streams]
    said: list[bytes] = []
    while waiting:
        stream = chance.choice(waiting)
        line = next(stream, None)
        if line is None:
            waiting.remove(stream)
        else:
            said.append(line)
    return b"".join(said)


NOISE = [b"Nov 20 23:42:41 host kernel: eth0: link up\n", b"Nov 20 23:42:41 host sshd[77]: Accepted publickey\n"] * 50
SHARED: dict[str, tuple[Callable[[bytes, int], Iterator[bytes]], list[bytes]]] = {
    "syslog": (syslog_lines, NOISE),
    "journald export": (journal_export_entries, []),
    "journald json": (journal_json_entries, [b'{"_PID":"1","SYSLOG_IDENTIFIER":"systemd","MESSAGE":"Started"}\n'] * 9),
}


@pytest.mark.parametrize("carrier", SHARED)
@pytest.mark.parametrize("seed", range(2))
def test_two_osds_in_one_stream(
    carrier: str,
    seed: int,
    log_text: Callable[[str], bytes],
    expected: Callable[[bytes], Any],
    runs_of: Runs,
    figures: Figures,
    tmp_path: Path,
) -> None:
    first, second = log_text(LOGS[0]), renamed(log_text("osd-stock/ceph-osd.0.log.gz"))
    write, noise = SHARED[carrier]
    (tmp_path / "messages").write_bytes(interleaved(seed, write(first, 2845), write(second, 901), noise))
    runs = {run["name"]: run for run in runs_of(tmp_path / "messages")}
    assert set(runs) == {"osd.0", "osd.7"}
    assert figures(runs["osd.0"]) == expected(first)
    assert figures(runs["osd.7"]) == expected(second)


@pytest.mark.parametrize("carrier", SHARED)
def test_a_restarted_osd_is_one_run_under_its_new_process_id(
    carrier: str, spillover: bytes, expected: Callable[[bytes], Any], runs_of: Runs, figures: Figures, tmp_path: Path
) -> None:
    write, _ = SHARED[carrier]
    restart = spillover.rindex(b"\n", 0, spillover.index(b"process ceph-osd, pid 3637")) + 1
    before, after = spillover[:restart], spillover[restart:]
    (tmp_path / "messages").write_bytes(b"".join([*write(before, 2845), *write(after, 3637)]))
    (run,) = runs_of(tmp_path / "messages")
    assert run["name"] == "osd.0"
    assert figures(run) == expected(spillover)


def test_a_folder_of_two_osds_and_a_monitor(
    log_text: Callable[[str], bytes],
    expected: Callable[[bytes], Any],
    runs_of: Runs,
    figures: Figures,
    tmp_path: Path,
) -> None:
    first, second = log_text(LOGS[0]), renamed(log_text("osd-stock/ceph-osd.0.log.gz"))
    write_all(tmp_path, rotated(cut(first, [600_000])))
    write_all(tmp_path, [("ceph-osd.7.log", second)])
    write_all(tmp_path, [("ceph-mon.a.log.gz", gz(log_text("osd-stock/ceph-mon.a.log.gz")))])
    runs = runs_of(tmp_path)
    assert [(run["name"], run["monitor"]) for run in runs] == [("osd.0", False), ("osd.7", False), ("mon.a", True)]
    assert figures(runs[0]) == expected(first)
    assert figures(runs[1]) == expected(second)
    assert runs[2]["compaction_statistics"]["compaction_events"] == 0


def test_the_same_osd_number_of_two_hosts_is_two_runs(
    log_text: Callable[[str], bytes],
    expected: Callable[[bytes], Any],
    runs_of: Runs,
    figures: Figures,
    tmp_path: Path,
) -> None:
    first, second = log_text(LOGS[0]), log_text("osd-stock/ceph-osd.0.log.gz")
    write_all(tmp_path / "host-a", [("ceph-osd.0.log", first)])
    write_all(tmp_path / "host-b", [("ceph-osd.0.log", second)])
    runs = {run["name"]: figures(run) for run in runs_of(tmp_path)}
    assert runs == {"host-a/osd.0": expected(first), "host-b/osd.0": expected(second)}
