"""Watching a log that grows, is rotated, cut short and left alone for a while: each event is counted once."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.errors import InputError, LsmlensError
from lsmlens.analyzer.metrics import sums_of
from lsmlens.analyzer.watching.watch import OF_JOBS, Happened, Watch

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
HOUR = 3600.0


@pytest.fixture(scope="module")
def log() -> bytes:
    """A real OSD's log, with its open."""
    whole = gzip.decompress((FIXTURES / "osd-stock/ceph-osd.0.log.gz").read_bytes())
    return whole[: whole.rindex(b"\n") + 1]


@pytest.fixture(scope="module")
def expected(log: bytes, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """What the whole of it holds, read at once."""
    path = tmp_path_factory.mktemp("whole") / "ceph-osd.0.log"
    path.write_bytes(log)
    (one,) = analyze([str(path)]).runs
    sums = sums_of(one.run.jobs, names=OF_JOBS).row(0, named=True)
    assert sums["flushes"] > 10
    return {**sums, "events": one.run.event_counts.total(), "lines": log.count(b"\n"), "bytes": len(log)}


class Scene:
    """A log and the watches of it, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "ceph-osd.0.log"
        self.state = folder / "state"
        self.happened: list[Happened] = []
        self.watch = Watch([self.path], self.state, HOUR)

    def write(self, text: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(text)

    def look(self, judge: bool = False) -> None:
        self.happened += self.watch.look(judge)

    def restart(self) -> None:
        self.watch.close()
        self.watch = Watch([self.path], self.state, HOUR)

    def rotate(self, compress: bool = False) -> None:
        for number in range(8, 0, -1):
            for suffix in ("", ".gz"):
                piece = self.path.with_name(f"{self.path.name}.{number}{suffix}")
                if piece.exists():
                    piece.rename(self.path.with_name(f"{self.path.name}.{number + 1}{suffix}"))
        rotated = self.path.rename(f"{self.path}.1")
        if compress:
            Path(f"{rotated}.gz").write_bytes(gzip.compress(rotated.read_bytes()))
            rotated.unlink()

    @property
    def sums(self) -> dict[str, float]:
        (one,) = self.watch.logs
        return one.state.sums


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    one = Scene(tmp_path)
    yield one
    one.watch.close()


def pieces(log: bytes, number: int, at_lines: bool = False) -> list[bytes]:
    starts = [match.end() if at_lines else match.start() + 40 for match in re.finditer(rb"\n", log)]
    cuts = [starts[place * len(starts) // number] for place in range(1, number)]
    return [log[start:end] for start, end in pairwise([0, *cuts, len(log)])]


def same(found: dict[str, float], expected: dict[str, float]) -> None:
    assert {name: found[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("restarts", [False, True])
def test_a_log_that_grows(scene: Scene, log: bytes, expected: dict[str, float], restarts: bool) -> None:
    for text in pieces(log, 9):
        scene.write(text)
        scene.look()
        scene.look()
        if restarts:
            scene.restart()
    same(scene.sums, expected)
    assert scene.watch.logs[0].name == "osd.0"


def docker(line: str) -> Iterator[str]:
    """As json-file of Docker and Podman: lines longer than 16 KiB in parts, which do not end in a newline."""
    for start in range(0, len(line), 200):
        yield json.dumps({"log": line[start : start + 200], "stream": "stderr", "time": "2026-11-20T22:56:20.1Z"})


def cri(line: str) -> Iterator[str]:
    """As CRI-O, containerd and Podman's k8s-file: a P for a part, an F for the end of a line."""
    text = line.removesuffix("\n")
    for start in range(0, max(1, len(text)), 200):
        mark = "P" if start + 200 < len(text) else "F"
        yield f"2026-11-20T22:56:20.123456789Z stderr {mark} {text[start : start + 200]}"


@pytest.mark.parametrize("wrap", [docker, cri])
def test_a_container_log_in_looks_that_cut_lines_in_parts(
    scene: Scene, log: bytes, expected: dict[str, float], wrap: Callable[[str], Iterator[str]]
) -> None:
    lines = log.decode().splitlines(keepends=True)
    wrapped = "".join(f"{part}\n" for line in lines for part in wrap(line)).encode()
    for text in pieces(wrapped, 7):
        scene.write(text)
        scene.look()
        scene.restart()
    same(scene.sums, expected)
    assert scene.watch.logs[0].name == "osd.0"


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("is_there", [True, False])
def test_rotation(scene: Scene, log: bytes, expected: dict[str, float], compress: bool, is_there: bool) -> None:
    """Rotated twice between two looks, the watch running or not; the file goes on for a while after its renaming."""
    first, second, third, fourth, fifth = pieces(log, 5, at_lines=True)
    scene.write(first)
    scene.look()
    if not is_there:
        scene.watch.close()
    scene.write(second)
    scene.rotate(compress)
    scene.write(third)
    if is_there:
        scene.look()
    scene.rotate(compress)
    scene.write(fourth)
    if not is_there:
        scene.restart()
    scene.look()
    scene.write(fifth)
    scene.look()
    same(scene.sums, expected)
    assert scene.sums["truncations"] == 0
    assert scene.happened == []


def test_a_log_that_is_not_there_yet_is_awaited(scene: Scene, log: bytes, expected: dict[str, float]) -> None:
    scene.look(judge=True)
    assert scene.watch.analysis is None
    scene.write(log)
    scene.look()
    same(scene.sums, expected)


def test_copytruncate_loses_only_what_was_not_read(scene: Scene, log: bytes, expected: dict[str, float]) -> None:
    first, second = pieces(log, 2, at_lines=True)
    scene.write(first)
    scene.look()
    scene.path.write_bytes(b"")
    scene.write(second)
    scene.look()
    same(scene.sums, expected)
    assert scene.sums["truncations"] == 1
    assert [one.text for one in scene.happened] == ["the log was cut short: what was not read yet is lost"]


def test_what_is_gone_before_it_was_read_is_said(scene: Scene, log: bytes) -> None:
    scene.write(pieces(log, 2, at_lines=True)[0])
    scene.look()
    scene.watch.close()
    scene.path.unlink()
    scene.write(pieces(log, 2, at_lines=True)[1])
    scene.restart()
    scene.look()
    assert scene.sums["truncations"] == 1


def test_a_crash_dump_tells_nothing_new(scene: Scene, log: bytes, expected: dict[str, float]) -> None:
    lines = log.splitlines(keepends=True)
    for text in pieces(log, 3, at_lines=True):
        scene.write(text)
        scene.look()
    scene.write(b"".join(b"  -%d> " % number + line for number, line in enumerate(lines[-800:], 1)))
    scene.restart()
    scene.look()
    same({name: scene.sums[name] for name in OF_JOBS}, {name: expected[name] for name in OF_JOBS})


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_between_two_looks(scene: Scene, log: bytes, expected: dict[str, float], seed: int) -> None:
    chance = Random(seed)
    actions: dict[str, Callable[[], None]] = {
        "look": scene.look,
        "judge": lambda: scene.look(judge=True),
        "restart": scene.restart,
        "rotate": scene.rotate,
        "compress": lambda: scene.rotate(compress=True),
    }
    for number, text in enumerate(pieces(log, 6, at_lines=True)):
        scene.write(text)
        if number == 0:
            scene.look()  # a watch begins with the file that is there
        for name in chance.choices(list(actions), k=chance.randrange(4)):
            if scene.path.exists() or name not in ("rotate", "compress"):
                actions[name]()
        if chance.random() < 0.5:
            scene.look()
    scene.write(b"")  # the daemon opens its log anew
    scene.look()
    same(scene.sums, expected)
    assert scene.sums["truncations"] == 0


# ---- findings and the window


def test_findings_are_said_as_they_arise_and_once(scene: Scene) -> None:
    log = gzip.decompress((FIXTURES / "osd-stock/ceph-osd.0.log.gz").read_bytes())
    scene.write(log)
    scene.look(judge=True)
    (alone,) = analyze([str(scene.path)]).runs
    arisen = [one for one in scene.happened if one.kind in ("info", "warning", "critical")]
    assert len(arisen) == len({(one.code, one.column_family) for one in alone.findings}) > 0
    assert scene.watch.analysis is not None
    assert [one.code for one in scene.watch.analysis.runs[0].findings] == [one.code for one in alone.findings]
    scene.happened.clear()
    scene.look(judge=True)
    assert scene.happened == []


def test_the_window_rolls(tmp_path: Path, log: bytes) -> None:
    scene = Scene(tmp_path)
    scene.watch.window_seconds = 10.0
    for text in pieces(log, 12):
        scene.write(text)
        scene.look()
    scene.look(judge=True)
    assert scene.watch.analysis is not None
    (one,) = scene.watch.analysis.runs
    assert 0 < one.run.jobs.height < scene.sums["flushes"] + scene.sums["compactions"] + scene.sums["trivial_moves"]
    assert one.run.quality.without_start == {}
    assert one.options  # of the open, which is long out of the window
    scene.watch.close()


# ---- what cannot be watched


def test_a_log_is_watched_once(scene: Scene) -> None:
    with pytest.raises(LsmlensError, match="is watched already"):
        Watch([scene.path], scene.state, HOUR)


def test_a_state_that_is_none(scene: Scene, log: bytes) -> None:
    scene.write(log)
    scene.look()
    scene.watch.close()
    (kept,) = scene.state.glob("*.log")
    kept.write_bytes(b"{")
    with pytest.raises(LsmlensError, match="no state of a watch"):
        Watch([scene.path], scene.state, HOUR)


def test_folders_and_shared_logs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder"):
        Watch([tmp_path], tmp_path / "state", HOUR)
    path = tmp_path / "messages"
    path.write_text("May 30 01:21:33 host ceph-osd[123]: 2023-05-30T01:21:33.122+0000 7f 1 osd.0 1 x\n" * 9)
    watch = Watch([path], tmp_path / "state", HOUR)
    with pytest.raises(InputError, match="daemons share"):
        watch.look()
    watch.close()
