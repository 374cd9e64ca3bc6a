"""Pieces: which files are one daemon's log, in what order, and the lines that rotation cut in two."""

import gzip
import io
import random
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.logs.pieces import Piece, grouped, in_order, overlap
from lsmlens.analyzer.logs.records import JobLine
from lsmlens.analyzer.logs.scan import Scan
from lsmlens.analyzer.logs.spool import Spool
from lsmlens.analyzer.runs.reading import read_runs
from lsmlens.analyzer.runs.run import Run

from tests.run_tables import events_of

LogText = Callable[[str], bytes]


def piece(
    name: str,
    first: int | None = None,
    last: int | None = None,
    daemon: str | None = None,
    source: str = "",
    opens: tuple[str, ...] = (),
) -> Piece:
    scan = Scan(name, opens=set(opens))
    scan.by_source[source] = Spool(JobLine)
    made = Piece(scan, Role.OSD_LOG, name.rpartition("/")[0], source, daemon)
    made.stamps.first, made.stamps.last = first, last if last is not None else first
    return made


def names(pieces: list[Piece]) -> list[str]:
    return [piece.scan.member.rpartition("/")[2] for piece in pieces]


@pytest.mark.parametrize(
    ("member", "name", "stem", "rotation"),
    [
        ("a/ceph-osd.0.log", "ceph-osd.0.log", "ceph-osd.0.log", None),
        ("a/ceph-osd.0.log.1.gz", "ceph-osd.0.log.1", "ceph-osd.0.log", 1),
        ("a/ceph-osd.0.log.12", "ceph-osd.0.log.12", "ceph-osd.0.log", 12),
        ("x.tar!var/ceph-osd.0.log.3.xz", "ceph-osd.0.log.3", "ceph-osd.0.log", 3),
        ("x.tar!LOG", "LOG", "LOG", None),
        ("LOG.old.1795246382011859.zst", "LOG.old.1795246382011859", "LOG", 1795246382011859),
        ("messages-20231126", "messages-20231126", "messages", 20231126),
        ("0.log.20230530-012133.bz2", "0.log.20230530-012133", "0.log", 20230530012133),
        ("ceph-osd.0.log-20231126.gz", "ceph-osd.0.log-20231126", "ceph-osd.0.log", 20231126),
    ],
)
def test_names_and_their_rotation(member: str, name: str, stem: str, rotation: int | None) -> None:
    one = piece(member)
    assert (one.name, one.stem, one.rotation) == (name, stem, rotation)


LOGROTATE = ["osd.log.10.gz", "osd.log.9.gz", "osd.log.2", "osd.log.1", "osd.log"]
DATED = ["osd.log-20231125", "osd.log-20231126.gz", "osd.log-20231201.gz", "osd.log"]
ROLLED = ["LOG.old.1795246382011859", "LOG.old.1795246417137627.gz", "LOG"]


@pytest.mark.parametrize("expected", [LOGROTATE, DATED, ROLLED])
@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_rotated_pieces(expected: list[str], seed: int) -> None:
    pieces = [piece(f"d/{name}", 1000 * at, 1000 * at + 900) for at, name in enumerate(expected)]
    random.Random(seed).shuffle(pieces)
    assert names(in_order(pieces)) == expected


def test_a_piece_without_a_stamp_goes_by_its_number() -> None:
    pieces = [piece("osd.log", 5000), piece("osd.log.2", 1000), piece("osd.log.1"), piece("osd.log.3", 500)]
    assert names(in_order(pieces)) == ["osd.log.3", "osd.log.2", "osd.log.1", "osd.log"]


def test_pieces_of_one_second_go_by_their_number() -> None:
    pieces = [piece("osd.log", 7), piece("osd.log.1", 7), piece("osd.log.2", 7)]
    assert names(in_order(pieces)) == ["osd.log.2", "osd.log.1", "osd.log"]


def test_stamps_go_before_numbers_they_do_not_bear_out() -> None:
    pieces = [piece("osd.log.1", 3000), piece("osd.log.2", 9000), piece("osd.log.3", 1000)]
    assert names(in_order(pieces)) == ["osd.log.3", "osd.log.1", "osd.log.2"]


def test_pieces_of_different_names_go_by_their_stamps() -> None:
    pieces = [piece("osd.0.stderr.log", 3000), piece("ceph-osd.0.log", 1000), piece("other")]
    assert names(in_order(pieces)) == ["ceph-osd.0.log", "osd.0.stderr.log", "other"]


def test_an_event_will_do_where_there_is_no_stamp() -> None:
    one = piece("LOG")
    one.scan.first_event, one.scan.utc_offset_seconds = (5_000_000, "1", "flush_started"), 3600
    assert one.first_millis == 5000 + 3_600_000


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 100_000), (100_000, 200_000)], False),
        ([(0, 100_000), (50_000, 200_000)], False),  # within a minute
        ([(0, 100_000), (30_000, 200_000)], True),
        ([(0, 100_000)], False),
        ([(0, None), (100_000, 200_000)], False),
    ],
)
def test_overlap(spans: list[tuple[int, int | None]], expected: bool) -> None:
    assert overlap([piece("x", first, last) for first, last in spans]) is expected


def test_pieces_without_a_time_may_overlap() -> None:
    assert overlap([piece("x", 0, 100_000), piece("y")])
    assert overlap([piece("y"), piece("x", 0, 100_000)])


def groups(*pieces: Piece) -> list[list[str]]:
    return [sorted(piece.scan.member for piece in group) for group in grouped(pieces)]


def test_pieces_of_one_name_in_one_folder_are_one_log() -> None:
    assert groups(piece("a/x.log"), piece("a/y.log"), piece("a/x.log.1.gz"), piece("b/x.log")) == [
        ["a/x.log", "a/x.log.1.gz"],
        ["a/y.log"],
        ["b/x.log"],
    ]


def test_pieces_of_one_daemon_in_one_folder_are_one_log() -> None:
    assert groups(
        piece("a/ceph-osd.0.log", daemon="osd.0"),
        piece("a/stderr.log", daemon="osd.0"),
        piece("b/ceph-osd.0.log", daemon="osd.0"),
        piece("a/ceph-osd.1.log", daemon="osd.1"),
    ) == [["a/ceph-osd.0.log", "a/stderr.log"], ["b/ceph-osd.0.log"], ["a/ceph-osd.1.log"]]


def test_copies_are_one_log_wherever_they_are() -> None:
    assert groups(
        piece("a/one", opens=("10:00 t1", "11:00 t1")),
        piece("b/two", opens=("11:00 t1",)),
        piece("c/three", opens=("9",)),
    ) == [["a/one", "b/two"], ["c/three"]]


def test_belonging_is_handed_on() -> None:
    chain = [piece("a/x.log", opens=("1",)), piece("b/y.log", opens=("2",)), piece("a/x.log.1"), piece("b/y.log.1")]
    chain.append(piece("c/z.log", opens=("1", "2")))
    assert groups(*chain) == [["a/x.log", "a/x.log.1", "b/y.log", "b/y.log.1", "c/z.log"]]


def test_sources_of_a_shared_file_are_apart_unless_they_are_one_daemon() -> None:
    assert (
        len(
            groups(
                piece("a/messages", source="ceph-osd[1]"),
                piece("a/messages", source="ceph-osd[2]"),
                piece("a/messages-20231126", source="ceph-osd[1]"),
            )
        )
        == 2
    )
    assert (
        len(
            groups(
                piece("a/messages", source="ceph-osd[1]", daemon="osd.3"),
                piece("a/messages", source="ceph-osd[2]", daemon="osd.3"),
            )
        )
        == 1
    )


# ---- whole logs


def summary(run: Run) -> tuple[object, ...]:
    quality = run.quality
    return (
        run.event_counts,
        Counter((event["event"], event["column_family"]) for event in events_of(run)),
        len(run.sessions),
        quality.without_start,
        quality.without_finish,
        run.stamps.seconds,
        run.stall_lines,
    )


def only_run(*paths: Path) -> Run:
    (run,) = read_runs([str(path) for path in paths])[1]
    return run


def test_a_rotated_log_is_one_run_in_its_order(fixtures: Path) -> None:
    run = only_run(fixtures / "osd-rotated")
    assert [Path(member).name for member in run.members] == [
        "ceph-osd.0.log.3.gz",
        "ceph-osd.0.log.2.gz",
        "ceph-osd.0.log.1.gz",
        "ceph-osd.0.log.gz",
    ]
    assert run.name == "osd.0"
    assert run.event_counts["compaction_finished"] == run.event_counts["compaction_started"] == 228
    assert not run.quality.without_start
    assert not run.quality.without_finish


@pytest.mark.parametrize(
    ("piece_name", "quality"), [("ceph-osd.0.log.3.gz", "without_finish"), ("ceph-osd.0.log.2.gz", "without_start")]
)
def test_a_job_over_a_rotation_lacks_an_end_in_each_piece(fixtures: Path, piece_name: str, quality: str) -> None:
    run = only_run(fixtures / "osd-rotated" / piece_name)
    assert getattr(run.quality, quality) == {"compaction": 1}


def test_a_log_cut_at_any_byte_is_the_same_log(tmp_path: Path, log_text: LogText) -> None:
    text = log_text("osd-spillover/ceph-osd.0.log.gz")
    whole = tmp_path / "whole" / "ceph-osd.0.log"
    whole.parent.mkdir()
    whole.write_bytes(text)
    expected = summary(only_run(whole))
    inside = [text.index(b"EVENT_LOG_v1", len(text) // 2) + shift for shift in (-30, -1, 0, 5, 30)]
    random_cuts = random.Random(8)
    for number in range(12):
        cuts = [0, *sorted({*random_cuts.sample(range(1, len(text)), 3), inside[number % 5]}), len(text)]
        folder = tmp_path / str(number)
        folder.mkdir()
        for at in range(len(cuts) - 1):
            rotation = len(cuts) - 2 - at
            name = f"ceph-osd.0.log.{rotation}.gz" if rotation else "ceph-osd.0.log"
            part = text[cuts[at] : cuts[at + 1]]
            (folder / name).write_bytes(gzip.compress(part, 1) if rotation else part)
        assert summary(only_run(folder)) == expected, cuts


def test_a_line_over_three_pieces(tmp_path: Path) -> None:
    event = b'EVENT_LOG_v1 {"time_micros": 5000000, "job": 3, "event": "trivial_move", "destination_level": 1,'
    event += b' "files": 1, "total_files_size": 7}\n'
    lines = b"first line\n" + event + event.replace(b": 3,", b": 4,") + b"2026/11/20-22:56:20.761456 8370 last\n"
    cuts = [0, lines.index(b"job"), lines.index(b"job") + 20, lines.index(b"job") + 40, len(lines)]
    for at in range(4):
        (tmp_path / f"x.log.{4 - at}").write_bytes(lines[cuts[at] : cuts[at + 1]])
    assert only_run(tmp_path).event_counts == {"trivial_move": 2}


def test_copies_count_once(tmp_path: Path, log_text: LogText) -> None:
    text = log_text("osd-spillover/ceph-osd.0.log.gz")
    for name, data in (("a/ceph-osd.0.log", text), ("b/copy.log", text), ("c/ceph-osd.0.log.gz", gzip.compress(text))):
        file = tmp_path / name
        file.parent.mkdir()
        file.write_bytes(data)
    once, thrice = only_run(tmp_path / "a"), only_run(tmp_path)
    assert summary(thrice) == summary(once)
    assert thrice.quality.duplicates_removed == 2 * sum(once.event_counts.values())


def test_equal_names_in_different_folders_are_told_apart(tmp_path: Path, log_text: LogText) -> None:
    texts = [log_text("osd-spillover/ceph-osd.0.log.gz"), log_text("osd-stock/ceph-osd.0.log.gz")]
    for host, text in zip(("alpha", "beta"), texts, strict=True):
        (tmp_path / host / "log").mkdir(parents=True)
        (tmp_path / host / "log" / "ceph-osd.0.log").write_bytes(text)
    runs = read_runs([str(tmp_path)])[1]
    assert sorted(run.name for run in runs) == ["alpha/log/osd.0", "beta/log/osd.0"]
    assert sorted(run.event_counts["compaction_finished"] for run in runs) == [14, 18]


def test_equal_names_in_different_archives_are_told_apart(tmp_path: Path, log_text: LogText) -> None:
    texts = [log_text("osd-spillover/ceph-osd.0.log.gz"), log_text("osd-stock/ceph-osd.0.log.gz")]
    for host, text in zip(("alpha", "beta"), texts, strict=True):
        with tarfile.open(tmp_path / f"{host}.tar", "w") as archive:
            entry = tarfile.TarInfo("ceph-osd.0.log")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    runs = read_runs([str(tmp_path)])[1]
    assert sorted(run.event_counts["compaction_finished"] for run in runs) == [14, 18]
    assert len({run.name for run in runs}) == 2


def test_runs_come_in_the_order_of_their_numbers_monitors_last(tmp_path: Path, log_text: LogText) -> None:
    text = log_text("osd-spillover/ceph-osd.0.log.gz")
    for number in (10, 2, 0):
        changed = text.replace(b"osd.0", b"osd.%d" % number)
        changed = changed.replace(b"T23:4", b"T1%d:4" % (number % 7)).replace(
            b'"time_micros": 17', b'"time_micros": %d' % (17 + number)
        )
        (tmp_path / f"ceph-osd.{number}.log").write_bytes(changed)
    (tmp_path / "ceph-mon.a.log").write_bytes(log_text("osd-stock/ceph-mon.a.log.gz"))
    runs = read_runs([str(tmp_path)])[1]
    assert [run.name for run in runs] == ["osd.0", "osd.2", "osd.10", "mon.a"]
    assert [run.is_monitor for run in runs] == [False, False, False, True]
