"""Output files: whole or not at all, by their suffix."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import Analysis, analyze
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.reports import output_files
from lsmlens.reports.output_files import WRITERS, check_names, whole_file, write


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    fixtures = Path(__file__).resolve().parents[2] / "fixtures"
    return analyze([str(fixtures / "osd-spillover")])


Fail = Callable[[Analysis, Path], None]


def fails_at_once(analysis: Analysis, path: Path) -> None:
    raise OSError(28, "No space left on device")


def fails_half_way(analysis: Analysis, path: Path) -> None:
    path.write_text("half")
    raise OSError(28, "No space left on device")


def fails_oddly(analysis: Analysis, path: Path) -> None:
    path.write_text("half")
    raise KeyError("a bug")


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_format_is_written(suffix: str, analysis: Analysis, tmp_path: Path) -> None:
    file = tmp_path / f"out{suffix}"
    write(str(file), analysis)
    assert file.stat().st_size > 100
    assert list(tmp_path.iterdir()) == [file]


def test_a_suffix_may_be_in_capitals(analysis: Analysis, tmp_path: Path) -> None:
    check_names([str(tmp_path / "OUT.JSON")])
    write(str(tmp_path / "OUT.JSON"), analysis)
    assert (tmp_path / "OUT.JSON").read_text().startswith("{")


def test_a_file_is_replaced(analysis: Analysis, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    file.write_text("old")
    write(str(file), analysis)
    assert file.read_text().startswith("{")
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("existing", [None, "old"])
@pytest.mark.parametrize("fail", [fails_at_once, fails_half_way, fails_oddly])
def test_a_writer_that_fails_changes_nothing(
    fail: Fail, existing: str | None, analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(output_files.WRITERS, ".json", fail)
    file = tmp_path / "out.json"
    if existing is not None:
        file.write_text(existing)
    with pytest.raises((LsmlensError, KeyError)):
        write(str(file), analysis)
    assert [path.read_text() for path in tmp_path.iterdir()] == ([] if existing is None else [existing])


def test_a_full_disk_is_told_in_words(analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(output_files.WRITERS, ".json", fails_half_way)
    with pytest.raises(LsmlensError, match=r"out\.json: No space left on device") as caught:
        write(str(tmp_path / "out.json"), analysis)
    assert caught.value.hint


def test_a_folder_of_that_name_is_told_in_words(analysis: Analysis, tmp_path: Path) -> None:
    (tmp_path / "out.json").mkdir()
    with pytest.raises(LsmlensError, match=r"out\.json: "):
        write(str(tmp_path / "out.json"), analysis)
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_the_name_appears_when_the_file_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    with whole_file(file) as temporary:
        temporary.write_text("all of it")
        assert not file.exists()
        assert temporary.parent == file.parent
    assert file.read_text() == "all of it"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", ["out.xml", "out", "json", ".json", "out.json.gz", ""])
def test_an_unknown_suffix_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(LsmlensError, match="no format for this suffix") as caught:
        check_names([str(tmp_path / "fine.csv"), name])
    assert ".parquet" in caught.value.hint


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LsmlensError, match="nowhere: no such folder"):
        check_names([str(tmp_path / "nowhere" / "out.json")])


def test_no_names_are_fine() -> None:
    check_names([])
    check_names(["out.json", "./out.TXT"])
