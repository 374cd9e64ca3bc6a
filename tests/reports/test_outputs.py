"""Outputs: the forms of every subject, and files that are written whole or not at all."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.reports import outputs
from lsmlens.reports.json_form import to_text
from lsmlens.reports.outputs import FORMATS, Charts, Lazy, Output, Subject, TableFile, Text, whole_file
from lsmlens.tuners.workloads.presets import load_preset
from lsmlens.tuners.workloads.sources import open_workload
from lsmlens.tuners.workloads.yaml_form import read_workload

Fail = Callable[[str, Path], None]
SUBJECTS = {name: one for name, one in vars(outputs).items() if isinstance(one, Subject)}


@dataclass(frozen=True, slots=True)
class Whole(Text):
    """A text that is the report itself."""

    def of(self, report: object, *more: object) -> str:
        return str(report)


@dataclass(frozen=True, slots=True)
class Failing(TableFile):
    """A table whose writing fails."""

    fail: Fail = lambda report, path: None

    def __call__(self, report: object, *more: object) -> Any:
        self.fail(str(report), Path(str(more[0])))


def fails_at_once(text: str, path: Path) -> None:
    raise OSError(28, "No space left on device")


def fails_half_way(text: str, path: Path) -> None:
    path.write_text("half")
    raise OSError(28, "No space left on device")


def fails_oddly(text: str, path: Path) -> None:
    path.write_text("half")
    raise KeyError("a bug")


WHOLE = Whole("of no matter")
PLAIN: Subject[str] = Subject({".json": WHOLE, ".txt": WHOLE, ".x.json": WHOLE})
DRAWN: Subject[str] = Subject(PLAIN.forms, Charts(("timeline", "levels"), Lazy("builtins:len"), "it needs data"))


def put(name: str | Path, text: str = "all of it") -> None:
    (output,) = DRAWN.outputs([str(name)])
    DRAWN.write(output, text)


def test_every_subject_has_the_forms_that_make_sense() -> None:
    everywhere = {"text", "markdown", "html", "json"}
    assert all(everywhere <= set(subject.formats) for subject in SUBJECTS.values())
    # a scheduler's assessment and a workload are no tables
    assert [name for name, subject in SUBJECTS.items() if "csv" not in subject.formats] == ["WORKLOAD", "QOS"]


def test_a_workload_is_the_same_as_json(fixtures: Path, tmp_path: Path) -> None:
    file = tmp_path / "workload.json"
    document = load_preset("rbd-4k-randwrite")
    file.write_text(to_text(document))
    assert read_workload(file) == document
    assert open_workload(str(file)).seconds == document.seconds


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_function_is_there(name: str) -> None:
    subject = SUBJECTS[name]
    functions = [*subject.forms.values(), *(one for one in (subject.annotations,) if one is not None)]
    functions += [subject.charts.draw] if subject.charts is not None else []
    for one in functions:
        assert callable(resolve_name(one.function)), one.function


@pytest.mark.parametrize("name", SUBJECTS)
def test_what_is_printed_is_text(name: str) -> None:
    subject = SUBJECTS[name]
    assert subject.formats[0] == "text"
    for form in subject.formats:
        assert isinstance(subject.forms[".md" if form == "github" else FORMATS[form]], Text)


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
    assert PLAIN.outputs([name]) == [Output(Path(name), suffix)]


@pytest.mark.parametrize(
    ("name", "path", "chart"),
    [
        ("timeline.svg", "timeline.svg", "timeline"),
        ("./levels.SVG", "./levels.SVG", "levels"),
        ("levels=./osd-0.svg", "./osd-0.svg", "levels"),
    ],
)
def test_a_picture_names_its_chart(name: str, path: str, chart: str) -> None:
    assert DRAWN.outputs([name]) == [Output(Path(path), ".svg", chart)]


@pytest.mark.parametrize("name", ["osd-0.svg", "level.svg", "other=timelines.svg", ".svg"])
def test_a_picture_of_no_chart_is_refused(name: str) -> None:
    with pytest.raises(LsmlensError) as caught:
        DRAWN.outputs([name])
    assert "timeline" in caught.value.hint or "no format" in str(caught.value)


def test_a_name_may_hold_an_equals_sign() -> None:
    assert DRAWN.outputs(["a=b.json"]) == [Output(Path("a=b.json"), ".json")]


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
    subject: Subject[str] = Subject({".json": Failing("", fail=fail)})
    with pytest.raises((LsmlensError, KeyError)):
        subject.write(Output(file, ".json"), "all of it")
    assert [path.read_text() for path in tmp_path.iterdir()] == ([] if existing is None else [existing])


def test_a_full_disk_is_told_in_words(tmp_path: Path) -> None:
    subject: Subject[str] = Subject({".json": Failing("", fail=fails_half_way)})
    with pytest.raises(LsmlensError, match=r"out\.json: No space left on device") as caught:
        subject.write(Output(tmp_path / "out.json", ".json"), "all of it")
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
        PLAIN.outputs([str(tmp_path / "fine.txt"), name])
    assert ".x.json" in caught.value.hint


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LsmlensError, match="nowhere: no such folder"):
        PLAIN.outputs([str(tmp_path / "nowhere" / "out.json")])


def test_no_names_are_fine() -> None:
    assert PLAIN.outputs([]) == []
