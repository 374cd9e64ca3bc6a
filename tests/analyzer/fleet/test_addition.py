"""Adding logs to a data set: once, by the hour, with what was there already, and with what stops it."""

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.fleet import addition, dataset
from lsmlens.analyzer.fleet.addition import add
from lsmlens.analyzer.fleet.dataset import DataSet
from lsmlens.analyzer.fleet.tables import TABLES
from lsmlens.analyzer.metrics import sums_of
from lsmlens.analyzer.runs.reading import read_pieces

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
KEY = ["kind", "job", "finished_at"]


@pytest.fixture
def executor() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


@pytest.fixture
def fleet(tmp_path: Path) -> DataSet:
    return DataSet.made_at(tmp_path / "fleet")


def jobs_of(fleet: DataSet) -> pl.DataFrame:
    return fleet.scan("jobs").drop("cluster", "host", "daemon", "day").collect().sort(KEY)


def hours(folder: Path, log: bytes, pieces: int) -> list[Path]:
    """A log cut as rotation by size cuts it, inside lines and inside jobs; a folder a piece."""
    starts = [match.start() for match in re.finditer(rb'"event": "(?:compaction|flush)_started"', log)]
    cuts = [starts[number * len(starts) // pieces] + 500 * (number % 2) for number in range(1, pieces)]
    paths = []
    for number, (start, end) in enumerate(pairwise([0, *cuts, len(log)])):
        path = folder / f"hour-{number}" / "ceph-osd.0.log"
        path.parent.mkdir(parents=True)
        path.write_bytes(log[start:end])
        paths.append(path)
    return paths


@pytest.fixture(scope="module")
def stock() -> bytes:
    return gzip.decompress((FIXTURES / "osd-stock/ceph-osd.0.log.gz").read_bytes())


def test_the_data_set_holds_what_the_analysis_of_the_log_does(fleet: DataSet, executor: Executor) -> None:
    added = add(fleet, [str(FIXTURES / "osd-stock")], executor, "lab")
    alone = analyze([str(FIXTURES / "osd-stock")])
    run = next(one for one in alone.runs if one.run.name == "osd.0")
    assert {one.daemon: one.jobs for one in added} == {"osd.0": run.run.jobs.height, "mon.a": 0}
    of_osd = fleet.scan("jobs").filter(daemon="osd.0")
    assert sums_of(of_osd).collect().row(0, named=True) == pytest.approx(dict(run.sums))
    found = fleet.scan("findings").filter(daemon="osd.0").collect()
    assert set(zip(found["code"], found["value"], strict=True)) == {(one.code, one.value) for one in run.findings}
    options = fleet.scan("options").filter(daemon="osd.0", scope="rocksdb").collect()
    assert options.height == len(run.options)
    reading = fleet.scan("readings").filter(daemon="osd.0").collect().row(0, named=True)
    assert reading["device_class"] == "hdd"
    assert reading["host"] == "lab"
    assert reading["cluster"] == "lab"
    assert reading["covered_client_writes"] == run.counters.client_writes if run.counters else False
    writes = fleet.scan("counters").filter(name="osd.op_w").collect()["value"]
    assert writes.max() == 859708


@pytest.mark.parametrize("pieces", [2, 7])
def test_hour_by_hour_gives_what_all_at_once_gives(
    tmp_path: Path, fleet: DataSet, executor: Executor, stock: bytes, pieces: int
) -> None:
    whole = DataSet.made_at(tmp_path / "whole")
    (tmp_path / "all").mkdir()
    (tmp_path / "all/ceph-osd.0.log").write_bytes(stock)
    add(whole, [str(tmp_path / "all")], executor, "ceph")
    for path in hours(tmp_path, stock, pieces):
        add(fleet, [str(path)], executor, "ceph")
    assert jobs_of(fleet).equals(jobs_of(whole))
    order = ["number", "created_at"]
    keys = ["number", "created_at", "deleted_at", "column_family", "bytes", "level", "created_by", "job", "session"]
    tables, expected = (one.scan("tables").select(keys).collect().sort(order) for one in (fleet, whole))
    assert tables.equals(expected)
    opens = fleet.scan("opens").select("session", "opened_at", "last_event_at").collect().sort("session")
    assert opens.equals(whole.scan("opens").select(opens.columns).collect().sort("session"))


def test_the_carry_is_what_makes_hours_whole(
    tmp_path: Path, fleet: DataSet, executor: Executor, stock: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addition, "carry_of", lambda *_: None)
    for path in hours(tmp_path, stock, 7):
        add(fleet, [str(path)], executor, "ceph")
    assert jobs_of(fleet)["started_at"].null_count() > 0


def test_what_is_known_is_not_read_again_whatever_it_is_called(
    tmp_path: Path, fleet: DataSet, executor: Executor, stock: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = hours(tmp_path, stock, 2)
    add(fleet, [str(first)], executor, "ceph")
    rotated = first.with_name("ceph-osd.0.log.1.gz")
    rotated.write_bytes(gzip.compress(first.read_bytes()))
    first.unlink()
    shutil.move(second, first)
    read: list[str] = []

    def reading(files: Any, wanted: Any) -> Any:
        read.extend(wanted)
        return read_pieces(files, wanted=wanted)

    monkeypatch.setattr(addition, "read_pieces", reading)
    added = add(fleet, [str(tmp_path / "hour-0")], executor, "ceph")
    assert [one.logs for one in added] == [1]
    assert read == [str(first)]
    assert add(fleet, [str(tmp_path / "hour-0")], executor, "ceph") == []


def test_a_log_that_has_grown_gives_only_what_is_new(
    tmp_path: Path, fleet: DataSet, executor: Executor, stock: bytes
) -> None:
    path = tmp_path / "ceph-osd.0.log"
    for share in (3, 6, 10):
        path.write_bytes(stock[: len(stock) * share // 10])
        add(fleet, [str(path)], executor, "ceph")
    whole = DataSet.made_at(tmp_path / "whole")
    add(whole, [str(path)], executor, "ceph")
    assert jobs_of(fleet).equals(jobs_of(whole))
    readings = fleet.scan("readings").collect()
    assert readings.height == 1
    assert readings["lines"].item() >= stock.count(b"\n")


def test_daemons_of_one_archive_are_tasks_of_their_own(tmp_path: Path, fleet: DataSet, executor: Executor) -> None:
    for number, fixture in enumerate(("osd-stock", "osd-slow")):
        folder = tmp_path / "bundle" / f"osd.{number}"
        folder.mkdir(parents=True)
        shutil.copy(FIXTURES / fixture / "ceph-osd.0.log.gz", folder / f"ceph-osd.{number}.log.gz")
        metadata = {"id": number, "osd_objectstore": "bluestore", "hostname": f"h{number}"}
        (folder / "osd_metadata.json").write_text(json.dumps(metadata))
    archive = shutil.make_archive(str(tmp_path / "bundle"), "gztar", tmp_path / "bundle")
    added = add(fleet, [archive], executor, "ceph")
    assert [(one.daemon, one.logs) for one in added] == [("osd.0", 1), ("osd.1", 1)]
    hosts = fleet.scan("readings").select("daemon", "host").unique().collect().sort("daemon").rows()
    assert hosts == [("osd.0", "h0"), ("osd.1", "h1")]


@pytest.mark.parametrize("bracket", [b"[db_impl", b'{"time_micros"'])
def test_a_piece_that_begins_with_a_bracket_is_a_log(
    tmp_path: Path, fleet: DataSet, executor: Executor, stock: bytes, bracket: bytes
) -> None:
    path = tmp_path / "ceph-osd.0.log.1"
    path.write_bytes(stock[stock.index(bracket, len(stock) // 2) :])
    (added,) = add(fleet, [str(path)], executor, "ceph")
    assert added.jobs > 0


def test_a_log_that_a_container_runtime_wraps(tmp_path: Path, fleet: DataSet, executor: Executor, stock: bytes) -> None:
    lines = stock.decode().splitlines(keepends=True)
    wrapped = tmp_path / "wrapped" / "0123-json.log"
    wrapped.parent.mkdir()
    wrapped.write_text("".join(f"{json.dumps({'log': line, 'stream': 'stderr'})}\n" for line in lines))
    plain = tmp_path / "plain" / "ceph-osd.0.log"
    plain.parent.mkdir()
    plain.write_bytes(stock)
    other = DataSet.made_at(tmp_path / "other")
    added = [add(data, [str(path)], executor, "ceph") for data, path in ((fleet, wrapped), (other, plain))]
    assert added[0] == added[1]
    assert jobs_of(fleet).equals(jobs_of(other))


def test_a_log_that_daemons_share_is_said_to_be_one(
    tmp_path: Path, fleet: DataSet, executor: Executor, stock: bytes
) -> None:
    lines = stock.decode().splitlines()[:2000]
    path = tmp_path / "messages.log"
    for number in range(2):
        own = [line.replace("osd/ceph-0", f"osd/ceph-{number}").replace("osd.0", f"osd.{number}") for line in lines]
        with path.open("a") as file:
            file.writelines(f"Nov 20 23:00:42 host ceph-osd[{number + 7}]: {line}\n" for line in own)
    (added,) = add(fleet, [str(path)], executor, "ceph")
    assert "lines of several daemons: osd.0, osd.1" in added.failure


@pytest.mark.parametrize("table", TABLES)
def test_duckdb_reads_it_as_it_is(fleet: DataSet, executor: Executor, table: str) -> None:
    add(fleet, [str(FIXTURES / "osd-stock")], executor, "ceph")
    query = f"select daemon, count(*) from read_parquet('{fleet.root}/{table}/**/*.parquet', hive_partitioning=true)"
    found = duckdb.execute(f"{query} group by daemon order by daemon").fetchall()
    assert found == fleet.scan(table).group_by("daemon").len().sort("daemon").collect().rows()
    assert found


def test_full_disk_leaves_it_as_it_was(
    tmp_path: Path, fleet: DataSet, executor: Executor, stock: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = hours(tmp_path, stock, 2)
    add(fleet, [str(first)], executor, "ceph")
    before = jobs_of(fleet)
    write = dataset.Addition.write

    def full(self: dataset.Addition, path: str, rows: pl.DataFrame) -> None:
        if path.startswith("readings"):
            raise OSError(28, "No space left on device")
        write(self, path, rows)

    with monkeypatch.context() as patch:
        patch.setattr(dataset.Addition, "write", full)
        (added,) = add(fleet, [str(second)], executor, "ceph")
    assert "No space left" in added.failure
    assert jobs_of(fleet).equals(before)
    assert fleet.check(is_to_repair=False) == []
    add(fleet, [str(second)], executor, "ceph")
    assert jobs_of(fleet).height > before.height


@pytest.mark.parametrize("files_published", [0, 1, 3])
def test_killed_while_publishing_is_finished_by_the_next(
    fleet: DataSet, executor: Executor, monkeypatch: pytest.MonkeyPatch, files_published: int
) -> None:
    replace, done = Path.replace, [0]

    def killed(self: Path, target: Path) -> Path:
        if "_staging" in self.parts and not self.name.startswith("."):
            if done[0] == files_published:
                raise KeyboardInterrupt
            done[0] += 1
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            add(fleet, [str(FIXTURES / "osd-slow")], executor, "ceph")
    assert [one.is_repaired for one in fleet.check(is_to_repair=False)][:1] == [False]
    assert [one.what for one in fleet.settle()] == ["an addition was complete but not published"]
    assert fleet.check(is_to_repair=False) == []
    run = analyze([str(FIXTURES / "osd-slow")]).runs[0].run
    assert jobs_of(fleet).height == run.jobs.height
    assert add(fleet, [str(FIXTURES / "osd-slow")], executor, "ceph") == []


def test_what_was_not_complete_is_taken_back(fleet: DataSet, executor: Executor) -> None:
    left = fleet.root / "_staging/ceph/osd.7/jobs"
    left.mkdir(parents=True)
    (left / "jobs.parquet").write_bytes(b"PAR1")
    assert [one.is_repaired for one in fleet.check(is_to_repair=False)] == [False]
    add(fleet, [str(FIXTURES / "osd-slow")], executor, "ceph")
    assert not (fleet.root / "_staging/ceph/osd.7").exists()


@pytest.mark.parametrize("harm", ["damaged", "missing", "foreign"])
def test_check_finds_and_repairs(fleet: DataSet, executor: Executor, harm: str) -> None:
    add(fleet, [str(FIXTURES / "osd-slow")], executor, "ceph")
    whole = jobs_of(fleet)
    file = next((fleet.root / "jobs").rglob("*.parquet"))
    if harm == "damaged":
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    elif harm == "missing":
        file.unlink()
    else:
        (file.parent / "other.parquet").write_bytes(file.read_bytes())
    (problem,) = fleet.check(is_to_repair=False)
    assert not problem.is_repaired
    (repaired,) = fleet.check(is_to_repair=True)
    assert repaired.is_repaired
    assert fleet.check(is_to_repair=False) == []
    add(fleet, [str(FIXTURES / "osd-slow")], executor, "ceph")
    assert jobs_of(fleet).equals(whole)


def test_old_days_are_dropped_and_stay_away(fleet: DataSet, executor: Executor) -> None:
    add(fleet, [str(FIXTURES / "osd-slow")], executor, "ceph")
    days = fleet.scan("jobs").select("day").unique().collect()["day"].to_list()
    assert fleet.drop_before(min(days)) == 0
    assert fleet.drop_before(date(2100, 1, 1)) == len(days)
    assert fleet.scan("jobs").collect().height == 0
    assert fleet.check(is_to_repair=False) == []
    assert add(fleet, [str(FIXTURES / "osd-slow")], executor, "ceph") == []


def test_two_programs_do_not_add_at_once(fleet: DataSet, executor: Executor) -> None:
    with fleet.alone(), pytest.raises(LsmlensError, match="another program"):
        add(fleet, [str(FIXTURES / "osd-slow")], executor, "ceph")


def test_other_folders_are_left_alone(tmp_path: Path, executor: Executor) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(LsmlensError, match="something else"):
        DataSet.made_at(tmp_path)
    with pytest.raises(LsmlensError, match="no data set"):
        DataSet.at(tmp_path)
    (tmp_path / "later").mkdir()
    (tmp_path / "later/dataset.json").write_text('{"schema": "lsmlens.fleet/9"}')
    with pytest.raises(LsmlensError, match="another version"):
        DataSet.at(tmp_path / "later")


def test_names_do_not_lead_out_of_the_data_set(tmp_path: Path, fleet: DataSet, executor: Executor) -> None:
    add(fleet, [str(FIXTURES / "osd-slow")], executor, "../..", host="../h")
    assert {path.name for path in tmp_path.iterdir()} == {"fleet"}
    assert fleet.scan("jobs").select("cluster", "host").unique().collect().rows() == [("../..", "../h")]


def test_no_log_is_said(tmp_path: Path, fleet: DataSet, executor: Executor) -> None:
    (tmp_path / "x.txt").write_text("nothing")
    with pytest.raises(LsmlensError, match="no log"):
        add(fleet, [str(tmp_path / "x.txt")], executor, "ceph")
