"""What levels hold over time, by the log alone and with a MANIFEST."""

import time
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.manifest import read_manifest
from lsmlens.analyzer.measures.shape import bytes_by_level, files_by_level
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.reports.timeline import measure_timeline
from rocksdict import Options, Rdict


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database that was opened twice: the log of the second open does not tell of the first's tables."""
    folder = tmp_path / "db"
    options = Options(raw_mode=True)
    options.set_disable_auto_compactions(True)
    for rounds in (3, 2):
        opened = Rdict(str(folder), options)
        for number in range(rounds):
            opened[b"key %d" % number] = b"value" * 1000
            opened.flush()
            time.sleep(0.01)
        opened.close()
    return folder


def last(holds: object) -> dict[int, int]:
    return {one.level: one.amount for one in holds}  # type: ignore[attr-defined]


def read(database: Path, log: str = "LOG") -> Analysis:
    return analyze([str(database / log)])


def test_a_manifest_tells_of_tables_that_are_older_than_the_log(database: Path) -> None:
    (one,) = read(database).runs
    sizes = {int(path.stem): path.stat().st_size for path in database.glob("*.sst")}
    assert len(sizes) == 5
    seen = set(one.run.tables["number"])
    assert last(bytes_by_level(one.run)) == {0: sum(sizes[number] for number in seen)}
    one.run.manifest = read_manifest(database)
    assert last(bytes_by_level(one.run)) == {0: sum(sizes.values())}
    assert last(files_by_level(one.run)) == {0: 5}  # lsm_state knows of all of them
    amounts = [held.amount for held in bytes_by_level(one.run)]
    assert amounts == sorted(amounts)


def test_bins_hold_what_levels_hold_at_their_ends(database: Path) -> None:
    (one,) = read(database).runs
    timeline = measure_timeline(one, Selection())
    assert timeline is not None
    final = timeline.shape[timeline.bins.count - 1, 0]
    assert (final.bytes, final.files) == (last(bytes_by_level(one.run))[0], 5)
    files = [held.files for (_, level), held in sorted(timeline.shape.items()) if level == 0]
    assert files == sorted(files)
