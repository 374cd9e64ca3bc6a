"""Whose fault slow operations are: several OSDs' dumps, a late peer's log, a cluster's log."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.reports.analysis import compose
from lsmlens.reports.analysis_json import document
from lsmlens.reports.terminal import render

BEGIN = 1_795_215_600  # 2026-11-20 23:00:00 UTC
TREE = """\
ID  CLASS  WEIGHT   TYPE NAME      STATUS  REWEIGHT  PRI-AFF
-1         8.00000  root default
-3         4.00000      host a
 3    ssd  1.00000          osd.3      up   1.00000  1.00000
 4    ssd  1.00000          osd.4      up   1.00000  1.00000
-5         4.00000      host c
 6    ssd  1.00000          osd.6      up   1.00000  1.00000
11    ssd  1.00000          osd.11     up   1.00000  1.00000
"""


def stamp(second: float) -> str:
    minute, rest = divmod(second, 60)
    return f"2026-11-20T23:{int(minute):02d}:{rest:09.6f}+0000"


def operation(second: float, seconds: float, late: Sequence[int], asked: Sequence[int] = (6, 11)) -> dict[str, object]:
    """A write that waits for its replicas, of which some answer at the end and others at once."""
    events = [("initiated", 0.0), (f"waiting for subops from {','.join(map(str, asked))}", 0.001)]
    answers = sorted((seconds - 0.001 if osd in late else 0.002, osd) for osd in asked)
    events += [(f"sub_op_commit_rec from {osd}", at) for at, osd in answers]
    events.append(("done", seconds))
    if not late:
        events = [("initiated", 0.0), ("started", 0.001), ("op_commit", seconds - 0.001), ("done", seconds)]
    return {
        "description": f"osd_op(client.1.0:{second} 2.1 2:1:::x:head [write 0~1] snapc 0=[] ondisk+write e1)",
        "initiated_at": stamp(second),
        "age": 3600 - second,
        "duration": seconds,
        "type_data": {
            "flag_point": "x",
            "events": [{"event": name, "time": stamp(second + at)} for name, at in events],
        },
    }


def dump(folder: Path, osd: int, operations: Iterable[dict[str, object]]) -> None:
    home = folder / f"osd.{osd}"
    home.mkdir(parents=True, exist_ok=True)
    (home / "dump_historic_ops.json").write_text(json.dumps({"size": 20, "ops": list(operations)}))


def log(folder: Path, osd: int, compactions: Iterable[tuple[float, float, str]]) -> None:
    """An OSD's log of half an hour with these compactions: begin, length in seconds, column family."""
    home = folder / f"osd.{osd}"
    home.mkdir(parents=True, exist_ok=True)
    lines = [f"{stamp(0)} 7f9fa51141c0  0 ceph version 16.2.15 (abc), process ceph-osd"]

    def event(at: float, **fields: object) -> None:
        said = json.dumps({"time_micros": round((BEGIN + at) * 1_000_000), **fields})
        lines.append(f"{stamp(at)} 7f9fa51141c0  4 rocksdb: EVENT_LOG_v1 {said}")

    started = {"event": "flush_started", "num_memtables": 1, "num_entries": 1, "num_deletes": 0}
    event(0, job=900, **started)
    for job, (at, length, family) in enumerate(compactions):
        lines.append(f"{stamp(at)} 7f9fa51141c0  4 rocksdb: [x.cc:1] [{family}] [JOB {job}] Compacting 1@0 files to L1")
        started = {"event": "compaction_started", "files_L0": [1], "score": 1, "input_data_size": 9}
        event(at, job=job, compaction_reason="LevelL0FilesNum", **started)
        event(
            at + length, job=job, event="compaction_finished", compaction_time_micros=round(length * 1e6),
            output_level=1, num_output_files=1, total_output_size=9, num_input_records=9, num_output_records=9,
            lsm_state=[0, 1],
        )  # fmt: skip
    event(1800, job=901, **{**started, "event": "flush_started", "num_memtables": 1, "num_entries": 1})
    (home / f"ceph-osd.{osd}.log").write_text("\n".join(lines) + "\n")


def verdict(folder: Path) -> list[str]:
    blame = analyze([str(folder)]).blame
    return [] if blame is None else list(blame.sentences)


SECONDS = [20.0 + 90 * number for number in range(18)]


def test_always_one_osd_by_files_alone(tmp_path: Path) -> None:
    """Dumps of three OSDs, no log: each operation waited for osd.6, whatever its other replica."""
    dump(tmp_path, 3, [operation(at, 1.5, [6]) for at in SECONDS[:6]])
    dump(tmp_path, 4, [operation(at, 2.5, [6], (6, 3)) for at in SECONDS[6:12]])
    dump(tmp_path, 5, [operation(at, 3.5, [6], (6, 4)) for at in SECONDS[12:]])
    (tmp_path / "osd_tree.txt").write_text(TREE)
    assert verdict(tmp_path) == [
        "18 slow operations of osd.3, osd.4, osd.5: always osd.6 (host c).",
        "osd.6: its log, which would tell, is not here.",
    ]


def test_the_host_and_the_devices_by_osd_metadata(tmp_path: Path) -> None:
    dump(tmp_path, 3, [operation(at, 1.5, [6]) for at in SECONDS[:6]])
    place = {"id": 6, "hostname": "c", "bluestore_bdev_devices": "sdb", "bluefs_db_devices": "nvme0n1"}
    rows = [{**place, "osd_objectstore": "bluestore"}, {"id": 7, "hostname": "d", "osd_objectstore": "bluestore"}]
    (tmp_path / "osd_metadata.json").write_text(json.dumps(rows))
    assert verdict(tmp_path)[0] == "6 slow operations of osd.3: always osd.6 (host c, sdb, nvme0n1)."


def test_all_of_one_host(tmp_path: Path) -> None:
    dump(tmp_path, 3, [operation(at, 1.5, [6 if number % 2 else 11]) for number, at in enumerate(SECONDS)])
    dump(tmp_path, 4, [operation(at, 1.5, [6, 11]) for at in SECONDS])
    (tmp_path / "osd_tree.txt").write_text(TREE)
    assert verdict(tmp_path)[0] == "36 slow operations of osd.3, osd.4: all of host c (osd.6, osd.11)."


def test_no_osd_stands_out(tmp_path: Path) -> None:
    dump(tmp_path, 3, [operation(at, 1.5, [[6], [11], []][number % 3]) for number, at in enumerate(SECONDS)])
    (tmp_path / "osd_tree.txt").write_text(TREE)
    assert verdict(tmp_path)[0] == (
        "18 slow operations of osd.3: no OSD stands out; most often osd.3 (6), osd.6 (6), osd.11 (6)."
    )


def test_during_the_compactions_of_one_family(tmp_path: Path) -> None:
    """While p-1 of osd.6 is compacted, one second in ten, operations wait for it; O-0 is compacted at other times."""
    dump(tmp_path, 3, [operation(at, 1.5, [6]) for at in SECONDS])
    own = [(at - 1, 8.0, "p-1") for at in SECONDS]
    log(tmp_path, 6, sorted([*own, *((at + 45, 8.0, "O-0") for at in SECONDS)]))
    said = verdict(tmp_path)
    assert said[0] == "18 slow operations of osd.3: always osd.6."
    assert said[1].startswith("osd.6: during compaction of p-1, ")
    assert said[1].endswith(" times as often as by chance.")
    # a span of 90 s holds 8 s of it, the operation of 1.5 s, and 1 s before and behind: 11.5 of 90
    assert float(said[1].split()[5]) == pytest.approx(90 / 11.5, rel=0.15)
    (finding,) = [one for run in analyze([str(tmp_path)]).runs for one in run.findings if one.code == "R31"]
    assert "it is osd.6 that is late" in finding.meaning
    assert "during compaction of p-1" in finding.meaning


def test_plainly_not_compaction(tmp_path: Path) -> None:
    dump(tmp_path, 3, [operation(at, 1.5, [6]) for at in SECONDS])
    log(tmp_path, 6, [(at + 45, 8.0, "p-1") for at in SECONDS])
    assert verdict(tmp_path)[1] == "osd.6: not compaction: during it 0.0 times as often as by chance."


def test_an_osd_that_did_not_compact(tmp_path: Path) -> None:
    dump(tmp_path, 3, [operation(at, 1.5, [6]) for at in SECONDS])
    log(tmp_path, 6, [])
    assert verdict(tmp_path)[1] == "osd.6: not compaction: there was none then."


def test_too_few_to_tell(tmp_path: Path) -> None:
    dump(tmp_path, 3, [operation(at, 1.5, [6]) for at in SECONDS[:4]])
    log(tmp_path, 6, [(at, 8.0, "p-1") for at in SECONDS])
    assert verdict(tmp_path)[1] == "osd.6: too few to tell of compaction."


OLD = (
    "2018-03-04 21:22:{second:02d}.132098 osd.{osd} osd.{osd} 10.10.10.3:6800/2205 78{second} : cluster [WRN] slow"
    " request {age} seconds old, received at 2018-03-04 21:22:07.258064: osd_op(client.1.0:{osd} 1.6b"
    " 1:d6adde44:::a:head [write 0~1] snapc a=[] ondisk+write e201) currently waiting for subops from {peers}\n"
)


def test_a_clusters_log(tmp_path: Path) -> None:
    """Two OSDs whose requests wait for others, told twice each as they grow older."""
    lines = [
        OLD.format(osd=osd, second=second, age=f"{second}.5", peers=peers)
        for second in (31, 36)
        for osd, peers in ((0, "1,5"), (2, "1,7"))
    ]
    (tmp_path / "ceph.log").write_text("".join(lines))
    blame = analyze([str(tmp_path)]).blame
    assert blame is not None
    assert next(iter(blame.sentences)) == "2 slow operations of osd.0, osd.2: always osd.1."
    assert blame.osds[0].longest_seconds == 36.5


def test_an_osds_own_log_of_slow_requests(run_of: Callable[..., object], tmp_path: Path) -> None:
    """From 15 on the line says when the operation began, and of peers no more than that it waits for them."""
    line = (
        f"{stamp(35)} 7f9fa51141c0  0 log_channel(cluster) log [WRN] : slow request osd_op(client.1.0:2 1.6b 1:d6::a:"
        f"head [write 0~1] snapc 0=[] ondisk+write e1) initiated {stamp(4)} currently waiting for sub ops\n"
    )
    run = run_of(f"{stamp(0)} 7f9fa51141c0  0 osd.3 1 boot\n{line}{line}".encode(), "ceph-osd.3.log")
    (row,) = run.slow_requests  # type: ignore[attr-defined]
    assert row.seconds == 31
    assert row.state == "waiting for sub ops"


def test_one_osds_own_operations_are_no_matter_of_several(fixtures: Path) -> None:
    for bundle in ("osd-stock", "osd-reef", "osd-slow"):
        assert analyze([str(fixtures / bundle)]).blame is None


def test_it_stands_in_the_report_and_in_json(tmp_path: Path) -> None:
    dump(tmp_path, 3, [operation(at, 1.5, [6]) for at in SECONDS])
    log(tmp_path, 6, [(at - 1, 8.0, "p-1") for at in SECONDS])
    analysis = analyze([str(tmp_path)])
    text = render(compose(analysis), width=120)
    assert "18 slow operations of osd.3: always osd.6." in text
    assert "osd.6: during compaction of p-1, " in text
    said = document(analysis).blame
    assert said is not None
    assert (said.operations, said.asked, said.osds[0].osd, said.osds[0].asked) == (18, [3], 6, {"3": 18})
    assert (said.osds[0].is_compaction, said.osds[0].family) == (True, "p-1")
