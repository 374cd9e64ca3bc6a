"""Annotations and the summary of a step."""

from pathlib import Path

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.reports import github
from lsmlens.reports.github import Annotation
from lsmlens.reports.markdown import SUMMARY_BYTES


def test_text_cannot_end_its_command() -> None:
    annotation = Annotation("error", "a, b: c", "100 %\n::warning::not mine", "x,y:z.log", 7)
    assert annotation.command() == (
        "::error title=a%2C b%3A c,file=x%2Cy%3Az.log,line=7::100 %25%0A::warning::not mine"
    )


def test_findings_are_annotations_at_their_line(fixtures: Path) -> None:
    made = github.of_analysis(analyze([str(fixtures / "rocksdb-backlog")]))
    levels = [one.level for one in made]
    assert levels == sorted(levels, key=["error", "warning", "notice"].index)
    assert levels[0] == "error"
    stopped = [one for one in made if one.title.startswith("R01") or one.title.startswith("R02")]
    assert stopped
    assert all(one.file and one.file.endswith("LOG.gz") for one in stopped)


def test_the_summary_is_appended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "summary"
    file.write_text("before\n")
    monkeypatch.setenv(github.SUMMARY_VARIABLE, str(file))
    assert github.summary_room() < SUMMARY_BYTES
    github.append_summary("## after\n")
    assert file.read_text() == "before\n## after\n"


def test_without_a_step_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(github.SUMMARY_VARIABLE, raising=False)
    github.append_summary("## lost\n")


def test_a_summary_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(github.SUMMARY_VARIABLE, str(tmp_path))
    with pytest.raises(LsmlensError, match="GITHUB_STEP_SUMMARY"):
        github.append_summary("x")
