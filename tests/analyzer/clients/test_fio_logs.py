"""fio's own logs: real ones in each form, older forms by their columns, damaged ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.bundles.roles import Role, recognise_text
from lsmlens.analyzer.clients.fio_logs import FioLog, Measure, read_fio_log


def read(path: Path) -> FioLog:
    return read_fio_log([path.read_bytes()], str(path))


@pytest.fixture(scope="module")
def logs(fixtures: Path) -> Path:
    return fixtures / "osd-small-db"


def test_averaged(logs: Path) -> None:
    """Each window counts in the second in which its middle lies: 1037 and 2015 are the first second and the next."""
    log = read(logs / "averaged_lat.1.log")
    assert (log.prefix, log.measure, log.part, log.columns) == ("averaged", Measure.LATENCY, 1, 5)
    assert not log.is_absolute
    assert log.left_out == 0
    (steps,) = log.directions
    assert (steps.direction, steps.step_micros) == ("write", 1_000_000)
    assert steps.ends == tuple(second * 1_000_000 for second in range(1, 76))
    assert steps.sums[:2] == (37964493.0, 21806726.0)
    assert sum(steps.weights) == 76  # one window ended 0.66 s late, and counts with the next


def test_bandwidth_is_kib(logs: Path) -> None:
    (steps,) = read(logs / "averaged_bw.1.log").directions
    assert steps.sums[:2] == (232 * 1024, 216 * 1024)


def test_each_operation_has_a_line(logs: Path) -> None:
    path = logs / "single_lat.1.log"
    rows = [[int(field, 0) for field in line.split(",")] for line in path.read_text().splitlines()]
    log = read(path)
    assert log.columns == 6
    (steps,) = log.directions
    assert sum(steps.weights) == len(rows)
    assert sum(steps.sums) == sum(row[1] for row in rows)
    in_second = [row[1] for row in rows if 1000 < row[0] <= 2000]
    place = steps.ends.index(2_000_000)
    assert (steps.sums[place], steps.weights[place]) == (sum(in_second), len(in_second))


def test_rates_of_single_operations_are_counted() -> None:
    """Of an own line for each operation, the value is that operation's rate and 1: bytes and lines are added up."""
    text = b"1, 500000, 1, 4096, 0\n400, 700000, 1, 8192, 0\n1001, 90, 1, 4096, 0\n"
    (bandwidth,) = read_fio_log([text], "x_bw.1.log").directions
    assert bandwidth.sums == (12288.0, 4096.0)
    (iops,) = read_fio_log([text.replace(b"500000", b"1")], "x_iops.1.log").directions
    assert iops.sums == (2.0, 1.0)


def test_times_since_1970(logs: Path) -> None:
    log = read(logs / "epoch_lat.log")
    assert log.is_absolute
    assert log.part is None
    (steps,) = log.directions
    assert steps.ends[0] == 1795268442_000_000
    assert set(steps.weights[1:-1]) == {2}  # windows of half a second


def test_windows_longer_than_a_second_are_steps() -> None:
    text = b"".join(b"%d, %d, 0, 0\n" % (1000 * at + 3 * at, at) for at in range(10, 60, 10))
    (steps,) = read_fio_log([text], "x_lat.log").directions
    assert steps.step_micros == 10_000_000
    assert steps.ends == tuple(end * 1_000_000 for end in range(10, 60, 10))


@pytest.mark.parametrize(
    ("line", "version", "unit"),
    [
        (b"3, 14, 1, 4096\n", "fio-2.2.10", 1e6),
        (b"3, 14, 1, 4096, 0\n", "fio-2.2.10", 1e6),
        (b"3, 14, 1, 4096\n", "fio-3.1", 1e9),
        (b"3, 14, 1, 4096\n", None, None),
        (b"3, 14, 1, 4096, 0\n", None, 1e9),
        (b"3, 14, 1, 4096, 512, 0x0000\n", None, 1e9),
    ],
)
def test_unit_of_latencies(line: bytes, version: str | None, unit: float | None) -> None:
    assert read_fio_log([line], "x_lat.1.log").latency_unit(version) == unit


def test_directions_are_apart() -> None:
    log = read_fio_log([b"5, 10, 0, 4096, 0\n6, 20, 1, 4096, 0\n7, 30, 2, 4096, 0\n"], "a/b!c/x_clat.3.log.node1")
    assert (log.prefix, log.part, log.measure) == ("x", 3, Measure.COMPLETION_LATENCY)
    assert [(one.direction, one.sums) for one in log.directions] == [
        ("read", (10.0,)),
        ("write", (20.0,)),
        ("trim", (30.0,)),
    ]


def test_damage_costs_its_line(logs: Path) -> None:
    """A line torn in the middle and one that is cut at the end, which may lack digits."""
    lines = (logs / "averaged_lat.1.log").read_bytes().splitlines(keepends=True)
    log = read_fio_log([b"".join([*lines[:3], b"40\0\0\0garb", lines[3], *lines[4:10], lines[10][:7]])], "a_lat.1.log")
    assert log.left_out == 1
    assert len(log.directions[0].ends) == 9


def test_what_is_a_log(logs: Path) -> None:
    head = (logs / "averaged_lat.1.log").read_bytes()
    for name in ("averaged_lat.1.log", "x/averaged_clat.log", "output.0_iops.12.log.node-1", "a.tar!b_bw.1.log"):
        assert recognise_text(head, name) is Role.FIO_LOG
    assert recognise_text(b"", "x_slat.1.log") is Role.FIO_LOG  # rbd and other engines that submit at once
    for name in ("ceph-osd.0.log", "x_clat_hist.1.log", "x_lat.txt"):
        assert recognise_text(head, name) is not Role.FIO_LOG
    histogram = b"1795267754381, 1, 16384, 0, 0, 0, 0, 0, 0\n"
    assert recognise_text(histogram, "x_lat.1.log") is not Role.FIO_LOG


def test_another_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="no fio log"):
        read_fio_log([], "ceph-osd.0.log")


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


@given(size=st.integers(1, 4000))
def test_however_it_comes(size: int, logs: Path) -> None:
    path = logs / "single_lat.1.log"
    assert read_fio_log(pieces(path.read_bytes(), size), str(path)) == read(path)


@given(st.binary(max_size=200) | st.lists(st.integers(-9, 10**30), max_size=8).map(lambda ns: str(ns)[1:-1].encode()))
def test_any_bytes_are_read(data: bytes) -> None:
    read_fio_log([data, b"\n", data], "x_lat.1.log")
