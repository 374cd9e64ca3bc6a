"""JUnit XML: cases and suites in the form that Ant, Jenkins, GitLab and GitHub's actions all read.

The form is the strictest of theirs: every suite has properties, output and a time stamp, every case a class, a name
and a time, and at most one result. Times of tests mean nothing here and are 0; the stamp is the log's last, not the
clock's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

NO_STAMP = "1970-01-01T00:00:00"
# What XML 1.0 cannot hold.
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Case:
    """One case: passed unless it has `failure`, a sentence and its kind, or `skipped`, the reason."""

    classname: str
    name: str
    failure: tuple[str, str] | None = None
    text: str = ""
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases of one subject; `output` is what there is to say beside them, `stamp` local ISO 8601 to the second."""

    name: str
    cases: tuple[Case, ...]
    properties: tuple[tuple[str, str], ...] = ()
    output: str = ""
    stamp: str = NO_STAMP


def render(suites: Sequence[Suite]) -> str:
    """The document, ending in a newline; the same bytes for the same suites."""
    document: Any = JUnitXml()
    for number, suite in enumerate(suites):
        document.append(_suite(number, suite))
    text: str = document.tostring().decode()
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text.strip()}\n'


def _suite(number: int, suite: Suite) -> Any:
    made: Any = TestSuite(_token(suite.name))
    made.add_property("program", "lsmlens")
    for name, value in suite.properties:
        made.add_property(_token(name), _xml(value))
    for case in suite.cases:
        made.add_testcase(_case(case))
    made.timestamp, made.hostname, made.time = suite.stamp, "localhost", 0.0
    element = made._elem
    element.set("id", str(number))
    element.set("package", "lsmlens")
    for tag, text in (("system-out", suite.output), ("system-err", "")):
        child = element.makeelement(tag, {})
        child.text = _xml(text)
        element.append(child)
    made.update_statistics()
    return made


def _case(case: Case) -> TestCase:
    made = TestCase(_token(case.name), _token(case.classname), 0.0)
    if case.failure is not None:
        message, kind = case.failure
        failure = Failure(_xml(message), _xml(kind))
        failure.text = _xml(case.text)
        made.result = [failure]
    elif case.skipped is not None:
        made.result = [Skipped(_xml(case.skipped))]
    return made


def _xml(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _token(text: str) -> str:
    return " ".join(_xml(text).split()) or "-"
