"""Query traces: real ones of db_bench, older forms of them, and damaged ones."""

import pickle
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.workloads.moments import moments
from lsmlens.tuners.workloads.trace_file import index_trace, is_trace
from lsmlens.tuners.workloads.traces import open_trace

RECORD = struct.Struct("<QBI")
WRITE = 3


@pytest.fixture
def traces(fixtures: Path) -> Path:
    return fixtures / "query-traces"


def records(trace: bytes) -> list[tuple[int, int, bytes]]:
    found, place = [], 0
    while place < len(trace):
        micros, kind, length = RECORD.unpack_from(trace, place)
        place += RECORD.size
        found.append((micros, kind, trace[place : place + length]))
        place += length
    return found


def header(text: bytes) -> bytes:
    return RECORD.pack(0, 1, len(text)) + text


def written(path: Path, *found: tuple[int, int, bytes]) -> Path:
    path.write_bytes(b"".join(RECORD.pack(micros, kind, len(payload)) + payload for micros, kind, payload in found))
    return path


def test_a_fill_of_three_families(traces: Path, decoded: Callable[..., Any]) -> None:
    stream = open_trace(traces / "fillrandom.trace")
    assert stream.families == ("default", "cf-1", "cf-2")
    assert stream.notes == ()
    batches = decoded(stream)
    assert len(batches) == 100
    assert all(len(batch) == 4 for _, batch in batches)
    assert Counter((one.kind, len(one.key), len(one.value)) for _, batch in batches for one in batch) == {
        ("P", 16, 40): 400
    }
    seconds = [second for second, _ in batches]
    assert seconds == sorted(seconds)
    assert 0 < seconds[0] < seconds[-1] <= stream.seconds < 1
    assert open_trace(traces / "fillrandom.trace", ("default", "a", "b", "c")).families == ("default", "a", "b", "c")
    assert decoded(pickle.loads(pickle.dumps(stream))) == batches


def test_puts_and_deletes_among_gets(traces: Path, decoded: Callable[..., Any]) -> None:
    stream = open_trace(traces / "randomwithverify.trace")
    assert Counter("".join(one.kind for one in batch) for _, batch in decoded(stream)) == {"PPP": 24, "DDD": 6}
    assert stream.notes == ("810 gets and seeks were left out",)


def test_merges(traces: Path) -> None:
    (family,) = moments(open_trace(traces / "mergerandom.trace"))
    assert (family.merges, family.operations, family.key_bytes, family.value_bytes) == (100, 100, 16, 8)


def test_a_trace_of_version_1_holds_the_same(traces: Path, tmp_path: Path, decoded: Callable[..., Any]) -> None:
    old = []
    for micros, kind, payload in records((traces / "fillrandom.trace").read_bytes()):
        if kind == 1:
            payload = payload.replace(b"Trace Version: 0.2", b"Trace Version: 0.1")
        elif kind == WRITE:
            assert payload[:8] == b"\x02" + bytes(7)
            payload = payload[10:]  # the map, and a length of two bytes
            assert len(payload) > 127
        old.append((micros, kind, payload))
    path = written(tmp_path / "old.trace", *old)
    assert decoded(open_trace(path)) == decoded(open_trace(traces / "fillrandom.trace"))


def test_a_trace_that_was_cut_off(traces: Path, tmp_path: Path, decoded: Callable[..., Any]) -> None:
    whole = (traces / "fillrandom.trace").read_bytes()
    path = tmp_path / "cut.trace"
    for cut in (len(whole) - 1, len(whole) - 13, len(whole) - 100, 5000):
        path.write_bytes(whole[:cut])
        stream = open_trace(path)
        assert stream.notes == ("the trace has no end: tracing was cut off, or still goes on",)
        batches = decoded(stream)
        assert batches == decoded(open_trace(traces / "fillrandom.trace"))[: len(batches)]
        assert len(batches) >= 99 or cut < len(whole) - 99


def test_a_damaged_batch_is_left_out(traces: Path, tmp_path: Path, decoded: Callable[..., Any]) -> None:
    found = records((traces / "fillrandom.trace").read_bytes())
    micros, kind, payload = found[5]
    found[5] = (micros, kind, payload[:22] + b"\xee" + payload[23:])
    stream = open_trace(written(tmp_path / "damaged.trace", *found))
    assert stream.notes == ("1 of 100 batches are damaged and were left out",)
    assert len(decoded(stream)) == 99


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "no RocksDB query trace"),
        (b"x" * 100, "no RocksDB query trace"),
        (header(b"feedcafedeadbeef"), "says no version"),
        (header(b"feedcafedeadbeef\tTrace Version: new"), "says no version"),
        (header(b"feedcafedeadbeef\tTrace Version: 0.3"), "version 0.3, newer than 0.2"),
        (header(b"feedcafedeadbeef\tTrace Version: 0.2\tRocksDB Version: 7.8"), "holds no writes"),
    ],
)
def test_other_files(content: bytes, what: str, tmp_path: Path) -> None:
    path = tmp_path / "x.trace"
    path.write_bytes(content)
    with pytest.raises(InputError, match=what):
        open_trace(path)


def test_times_that_step_back_stay(traces: Path, tmp_path: Path, decoded: Callable[..., Any]) -> None:
    found = records((traces / "fillrandom.trace").read_bytes())
    found[3] = (found[3][0] - 10_000_000, *found[3][1:])
    seconds = [second for second, _ in decoded(open_trace(written(tmp_path / "back.trace", *found)))]
    assert seconds == sorted(seconds)
    assert seconds[0] >= 0


def test_a_trace_at_a_scale(traces: Path, decoded: Callable[..., Any]) -> None:
    stream = open_trace(traces / "fillrandom.trace")
    whole = {(one.family, one.key) for _, batch in decoded(stream) for one in batch}
    some = {(one.family, one.key) for _, batch in decoded(stream, 1, 4) for one in batch}
    assert some < whole
    assert len(some) == pytest.approx(len(whole) / 4, rel=0.3)


def test_is_trace(traces: Path) -> None:
    assert is_trace((traces / "fillrandom.trace").read_bytes()[:64])
    assert not is_trace(b"feedcafedeadbeef")


def test_a_trace_made_now(tmp_path: Path, decoded: Callable[..., Any]) -> None:
    db_bench = shutil.which("db_bench")
    if db_bench is None:
        pytest.skip("db_bench, which writes traces, is not installed (Debian: rocksdb-tools)")
    trace = tmp_path / "now.trace"
    command = [db_bench, "--benchmarks=updaterandom", "--num=5000", "--value_size=50", f"--trace_file={trace}"]
    subprocess.run([*command, f"--db={tmp_path / 'db'}"], check=True, capture_output=True, timeout=60)
    stream = open_trace(trace)
    (family,) = moments(stream)
    assert (family.puts, family.operations) == (5000, 5000)
    assert (family.key_bytes, family.value_bytes) == (16, 50)
    # uniform draws of 5000 keys
    assert family.distinct_keys == pytest.approx(5000 * (1 - 1 / 2.718), rel=0.03)
    assert index_trace(trace).reads >= 5000
