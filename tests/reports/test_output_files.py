"""Output files: whole or not at all, by their suffix."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.reports.output_files import Output, parse_outputs, whole_file, write

Fail = Callable[[str, Output], None]


def writes_all(text: str, output: Output) -> None:
    output.path.write_text(text)


def fails_at_once(text: str, output: Output) -> None:
    raise OSError(28, "No space left on device")


def fails_half_way(text: str, output: Output) -> None:
    output.path.write_text("half")
    raise OSError(28, "No space left on device")


def fails_oddly(text: str, output: Output) -> None:
    output.path.write_text("half")
    raise KeyError("a bug")


WRITERS = {".json": writes_all, ".txt": writes_all, ".x.json": writes_all, ".svg": writes_all}
CHARTS = ("timeline", "levels")


def put(name: str | Path, text: str = "all of it") -> None:
    (output,) = parse_outputs([str(name)], WRITERS, CHARTS)
    write(output, text, WRITERS)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("out.json", ".json"),
        ("OUT.JSON", ".json"),
        ("out.x.json", ".x.json"),
        ("./a.b.Txt", ".txt"),
    ],
)
def test_the_suffix_says_the_format(name: str, suffix: str) -> None:
    assert parse_outputs([name], WRITERS) == [Output(Path(name), suffix)]


@pytest.mark.parametrize(
    ("name", "path", "chart"),
    [
        ("timeline.svg", "timeline.svg", "timeline"),
        ("./levels.SVG", "./levels.SVG", "levels"),
        ("levels=./osd-0.svg", "./osd-0.svg", "levels"),
    ],
)
def test_a_picture_names_its_chart(name: str, path: str, chart: str) -> None:
    assert parse_outputs([name], WRITERS, CHARTS) == [Output(Path(path), ".svg", chart)]


@pytest.mark.parametrize("name", ["osd-0.svg", "level.svg", "other=timelines.svg", ".svg"])
def test_a_picture_of_no_chart_is_refused(name: str) -> None:
    with pytest.raises(LsmlensError) as caught:
        parse_outputs([name], WRITERS, CHARTS)
    assert "timeline" in caught.value.hint or "no format" in str(caught.value)


def test_a_name_may_hold_an_equals_sign() -> None:
    assert parse_outputs(["a=b.json"], WRITERS, CHARTS) == [Output(Path("a=b.json"), ".json")]


def test_a_file_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    file.write_text("old")
    put(file)
    assert file.read_text() == "all of it"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("existing", [None, "old"])
@pytest.mark.parametrize("fail", [fails_at_once, fails_half_way, fails_oddly])
def test_a_writer_that_fails_changes_nothing(fail: Fail, existing: str | None, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    if existing is not None:
        file.write_text(existing)
    with pytest.raises((LsmlensError, KeyError)):
        write(Output(file, ".json"), "all of it", {".json": fail})
    assert [path.read_text() for path in tmp_path.iterdir()] == ([] if existing is None else [existing])


def test_a_full_disk_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(LsmlensError, match=r"out\.json: No space left on device") as caught:
        write(Output(tmp_path / "out.json", ".json"), "all of it", {".json": fails_half_way})
    assert caught.value.hint


def test_a_folder_of_that_name_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "out.json").mkdir()
    with pytest.raises(LsmlensError, match=r"out\.json: "):
        put(tmp_path / "out.json")
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
        parse_outputs([str(tmp_path / "fine.txt"), name], WRITERS)
    assert ".x.json" in caught.value.hint


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LsmlensError, match="nowhere: no such folder"):
        parse_outputs([str(tmp_path / "nowhere" / "out.json")], WRITERS)


def test_no_names_are_fine() -> None:
    assert parse_outputs([], WRITERS) == []
