"""Rows as typed columns: in order, however many, in memory or in temporary files."""

from pathlib import Path
from typing import Annotated

import polars as pl
import pytest
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.runs import columns
from lsmlens.analyzer.runs.columns import I64, I64_LIST, PACKED_ROWS, TEXT, TIME, Column, Rows
from msgspec import Struct


class Job(Struct):
    number: Annotated[int, Column(I64, "", "The job's number.")]
    family: Annotated[str | None, Column(TEXT, "", "Its column family.")] = None
    inputs: Annotated[list[int] | None, Column(I64_LIST, "", "Files it read.")] = None
    ended: Annotated[int | None, Column(TIME, "", "When it ended.")] = None


def jobs(count: int) -> list[Job]:
    return [Job(number, f"p-{number % 3}" if number % 5 else None, [number] * (number % 3)) for number in range(count)]


@pytest.mark.parametrize("bytes_in_memory", [0, 50_000, columns.BYTES_IN_MEMORY])
@pytest.mark.parametrize("count", [0, 1, PACKED_ROWS - 1, PACKED_ROWS, 3 * PACKED_ROWS + 7])
def test_rows_come_back_in_order(count: int, bytes_in_memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "BYTES_IN_MEMORY", bytes_in_memory)
    rows = Rows(Job, late="ended")
    places = [rows.append(job) for job in jobs(count)]
    for place in places[::7]:
        rows.tell(place, 1 + place)
    assert len(rows) == count
    said = rows.frame()
    assert said.schema == {
        "number": pl.Int64(),
        "family": pl.String(),
        "inputs": pl.List(pl.Int64),
        "ended": pl.Datetime("us", "UTC"),
    }
    assert [tuple(row) for row in said.select("number", "family", "inputs").iter_rows()] == [
        (job.number, job.family, job.inputs) for job in jobs(count)
    ]
    ended = said["ended"].to_physical().to_list()
    assert ended == [1 + place if place % 7 == 0 else None for place in places]
    assert rows.lazy().select("number").collect()["number"].to_list() == list(range(count))


def test_rows_may_be_added_after_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "BYTES_IN_MEMORY", 0)
    rows = Rows(Job)
    for number in range(9):
        rows.append(Job(number))
        assert rows.frame()["number"].to_list() == list(range(number + 1))


def test_a_full_disk_is_told_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "BYTES_IN_MEMORY", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Path("/dev/full").open("w+b"))  # noqa: SIM115
    rows = Rows(Job)
    for job in jobs(PACKED_ROWS - 1):
        rows.append(job)
    with pytest.raises(LsmlensError, match=f"temporary file in {tmp_path}: No space left on device") as raised:
        rows.append(Job(PACKED_ROWS))
    assert "TMPDIR" in raised.value.hint
