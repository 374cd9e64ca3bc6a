"""What the commands write: every subject with its forms, and the files of a form, written whole or not at all.

The tables at the end say which forms a subject has. `-o FILE` chooses one by the file's suffix, `--format` prints one
by its name; what renders a form is imported when it is asked for. A picture (`.svg`, `.png`) holds one chart: the one
that its name says (`timeline.svg`), or that is said before it (`timeline=out/osd-0.svg`).
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from lsmlens.analyzer.errors import LsmlensError

if TYPE_CHECKING:
    from lsmlens.reports.analysis import AnalysisReport
    from lsmlens.reports.comparison import ComparisonReport
    from lsmlens.reports.fleet_report import FleetReport
    from lsmlens.reports.html.charts import Chart
    from lsmlens.reports.prediction_tables import PredictionReport
    from lsmlens.reports.qos import QosReport
    from lsmlens.reports.recommendation_tables import RecommendationReport
    from lsmlens.reports.replay import ReplayReport
    from lsmlens.tuners.estimation.fit import FittedWorkload
    from lsmlens.tuners.search.duel import Duel

ReportT = TypeVar("ReportT")

PICTURES = (".svg", ".png")
# The suffix of what `--format` prints; annotations of a workflow are printed, and never a file.
FORMATS = {
    "text": ".txt",
    "json": ".json",
    "markdown": ".md",
    "html": ".html",
    "csv": ".csv",
    "yaml": ".yaml",
    "junit": ".junit.xml",
    "sarif": ".sarif",
    "benchmark": ".benchmark.json",
    "openmetrics": ".prom",
    "github": "",
}


@dataclass(frozen=True, slots=True)
class Lazy:
    """A function by its name, `module:function`, imported when it is called with a report or `parts` of it."""

    function: str
    parts: tuple[str, ...] = ()

    def __call__(self, report: object, *more: object) -> Any:
        """What the function gives; `more` are its further arguments."""
        taken = [attrgetter(part)(report) for part in self.parts] or [report]
        return resolve_name(self.function)(*taken, *more)


@dataclass(frozen=True, slots=True)
class Text(Lazy):
    """A form that is text."""

    def of(self, report: object, *more: object) -> str:
        """The text, ending in a newline."""
        text: str = self(report, *more)
        return text


@dataclass(frozen=True, slots=True)
class Rendered(Text):
    """A form of a document, which the function composes; `renderer` takes it, and what a limit there is."""

    renderer: str = ""

    def of(self, report: object, *more: object) -> str:
        """The document in this form."""
        text: str = resolve_name(self.renderer)(self(report), *more)
        return text


def document(function: str, parts: tuple[str, ...] = ()) -> "dict[str, Text | TableFile]":
    """The forms of the document that a function composes: a page, Markdown, and all of it as text."""
    return {
        ".html": Rendered(function, parts, "lsmlens.reports.html.page:render"),
        ".md": Rendered(function, parts, "lsmlens.reports.markdown:render"),
        ".txt": Rendered(function, parts, "lsmlens.reports.terminal:whole"),
    }


@dataclass(frozen=True, slots=True)
class TableFile(Lazy):
    """A form that is no text; the function takes the path as well, and writes the file."""


@dataclass(frozen=True, slots=True)
class Charts:
    """The charts that a subject may have, by name; `draw` takes the report and a name."""

    names: tuple[str, ...]
    draw: Lazy
    lacking: str

    def of(self, report: object, name: str) -> "Sequence[tuple[str, Chart]]":
        """The charts of a name, each with its subject; where there are none, LsmlensError says what is lacking."""
        found: Sequence[tuple[str, Chart]] = self.draw(report, name)
        if not found:
            raise LsmlensError(f"nothing to draw in the chart {name}", self.lacking)
        return found


@dataclass(frozen=True, slots=True)
class Output:
    """One file that was asked for: where, the suffix that says its format, and of a picture which chart."""

    path: Path
    suffix: str
    chart: str = ""


@dataclass(frozen=True, slots=True)
class Subject(Generic[ReportT]):
    """A kind of result that a command writes: its forms by suffix, in the order that hints name them."""

    forms: Mapping[str, Text | TableFile]
    charts: Charts | None = None
    annotations: Lazy | None = None

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes that `-o` takes."""
        return (*self.forms, *(PICTURES if self.charts is not None else ()))

    @property
    def formats(self) -> tuple[str, ...]:
        """The names that `--format` takes: of all forms that are text."""
        named = {name for name, suffix in FORMATS.items() if isinstance(self.forms.get(suffix), Text)}
        return tuple(name for name in FORMATS if name in named or (name == "github" and self.annotations is not None))

    def outputs(self, names: Sequence[str]) -> list[Output]:
        """What `-o` names, in their order.

        Raises LsmlensError for a name whose suffix says no format, whose folder is not there, or, of a picture, that
        is not of one of the charts.
        """
        return [self._output(name) for name in names]

    def _output(self, name: str) -> Output:
        charts = self.charts.names if self.charts is not None else ()
        chosen, _, rest = name.partition("=")
        is_chosen = bool(rest) and chosen in charts
        path = Path(rest if is_chosen else name)
        suffix = next((one for one in sorted(self.suffixes, key=len, reverse=True) if _has_suffix(path, one)), None)
        if suffix is None:
            raise LsmlensError(f"{name}: no format for this suffix", f"use one of {' '.join(self.suffixes)}")
        if not path.parent.is_dir():
            raise LsmlensError(f"{path.parent}: no such folder", "make it first")
        if suffix not in PICTURES:
            return Output(path, suffix)
        chart = chosen if is_chosen else path.name[: -len(suffix)]
        if chart not in charts:
            hint = f"name the file after one, or say CHART=FILE: {', '.join(charts)}"
            raise LsmlensError(f"{name}: no chart called {chart}", hint)
        return Output(path, suffix, chart)

    def write(self, output: Output, report: ReportT) -> None:
        """Write a report in the form that the output's suffix says. Raises LsmlensError where it cannot."""
        try:
            with whole_file(output.path) as temporary:
                self._write(output, report, temporary)
        except OSError as error:
            raise LsmlensError(f"{output.path}: {error.strerror or error}", "choose another place") from error

    def _write(self, output: Output, report: ReportT, path: Path) -> None:
        form = self.forms.get(output.suffix)
        if isinstance(form, Text):
            path.write_text(form.of(report), encoding="utf-8")
        elif form is not None:
            form(report, path)
        elif self.charts is not None:
            from lsmlens.reports.html.pictures import to_png, to_svg

            drawn = self.charts.of(report, output.chart)
            path.write_bytes(to_png(drawn) if output.suffix == ".png" else to_svg(drawn).encode())

    def screen(self, report: ReportT, full: bool = False, width: int | None = None, colour: bool = False) -> str:
        """The document on a terminal, see `terminal.render`."""
        from lsmlens.reports.terminal import render

        return render(self.forms[".txt"](report), full, width, colour)

    def printed(self, report: ReportT, name: str) -> str:
        """What `--format` prints; for a workflow the step's summary is written as well."""
        form = self.forms[".md" if name == "github" else FORMATS[name]]
        if not isinstance(form, Text):
            raise TypeError(f"{name} is no text")
        if name != "github" or self.annotations is None:
            return form.of(report)
        from lsmlens.reports import github

        github.append_summary(form.of(report, github.summary_room()))
        return github.commands(self.annotations(report))


def _has_suffix(path: Path, suffix: str) -> bool:
    """Whether a file's name ends so; `trace.json`, which is nothing but a suffix of two, has it as well."""
    name = path.name.lower()
    return (name.endswith(suffix) and len(name) > len(suffix)) or (suffix.count(".") > 1 and name == suffix[1:])


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its name only once it is complete and on disk."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


ANALYSIS: "Subject[AnalysisReport]" = Subject(
    {
        **document("lsmlens.reports.analysis:compose", ("analysis",)),
        ".json": Text("lsmlens.reports.analysis_json:to_json", ("analysis",)),
        ".junit.xml": Text("lsmlens.reports.junit:of_analysis", ("analysis", "fail_on")),
        ".sarif": Text("lsmlens.reports.sarif:of_analysis", ("analysis",)),
        ".benchmark.json": Text("lsmlens.reports.benchmark:of_analysis", ("analysis",)),
        ".prom": Text("lsmlens.reports.openmetrics:to_openmetrics", ("analysis",)),
        ".openmetrics": Text("lsmlens.reports.openmetrics:to_history", ("analysis",)),
        ".trace.json": Text("lsmlens.reports.trace:to_trace", ("analysis",)),
        ".csv": Text("lsmlens.reports.jobs_csv:to_csv", ("analysis",)),
        ".parquet": TableFile("lsmlens.reports.jobs_parquet:write_jobs", ("analysis",)),
        ".tables.parquet": TableFile("lsmlens.reports.jobs_parquet:write_tables", ("analysis",)),
        ".blobs.parquet": TableFile("lsmlens.reports.jobs_parquet:write_blob_files", ("analysis",)),
        ".events.parquet": TableFile("lsmlens.reports.jobs_parquet:write_other_events", ("analysis",)),
    },
    Charts(
        (
            *("timeline", "levels", "amplification", "latency", "kvthread", "level0", "memtables", "shape", "families"),
            "waterfall",
        ),
        Lazy("lsmlens.reports.analysis:charts_called", ("analysis",)),
        "the HTML report shows which charts there are",
    ),
    Lazy("lsmlens.reports.github:of_analysis", ("analysis",)),
)
COMPARISON: "Subject[ComparisonReport]" = Subject(
    {
        **document("lsmlens.reports.comparison:compose"),
        ".json": Text("lsmlens.reports.comparison_json:to_json", ("comparison", "gates")),
        ".junit.xml": Text("lsmlens.reports.junit:of_comparison"),
        ".benchmark.json": Text("lsmlens.reports.benchmark:of_comparison", ("comparison",)),
        ".csv": Text("lsmlens.reports.comparison_csv:to_csv", ("comparison",)),
        ".parquet": TableFile("lsmlens.reports.comparison_parquet:write_metrics", ("comparison",)),
    },
    Charts(
        (
            *("changes", "amplification", "written", "families", "timeline", "levels", "latency", "kvthread"),
            *("level0", "memtables", "shape"),
        ),
        Lazy("lsmlens.reports.comparison:charts_called", ("comparison",)),
        "the HTML report shows those there are",
    ),
    Lazy("lsmlens.reports.github:of_comparison"),
)
WORKLOAD: "Subject[FittedWorkload]" = Subject(
    {
        ".yaml": Text("lsmlens.tuners.workloads.yaml_form:to_yaml", ("workload",)),
        ".yml": Text("lsmlens.tuners.workloads.yaml_form:to_yaml", ("workload",)),
        ".json": Text("lsmlens.reports.json_form:to_text", ("workload",)),
        **document("lsmlens.reports.workload:compose"),
    }
)
REPLAY: "Subject[ReplayReport]" = Subject(
    {
        **document("lsmlens.reports.replay:compose"),
        ".json": Text("lsmlens.reports.replay_json:to_json"),
        ".benchmark.json": Text("lsmlens.reports.benchmark:of_replays"),
        ".csv": Text("lsmlens.reports.replay_csv:to_csv"),
    }
)
PREDICTION: "Subject[PredictionReport]" = Subject(
    {
        **document("lsmlens.reports.prediction:compose"),
        ".json": Text("lsmlens.reports.prediction_json:to_json"),
        ".csv": Text("lsmlens.reports.prediction_csv:to_csv"),
    },
    Charts(
        ("figures", "families"),
        Lazy("lsmlens.reports.html.prediction_charts:charts_called"),
        "no replay finished",
    ),
)
RECOMMENDATION: "Subject[RecommendationReport]" = Subject(
    {
        **document("lsmlens.reports.recommendation:compose"),
        ".json": Text("lsmlens.reports.recommendation_json:to_json"),
        ".csv": Text("lsmlens.reports.recommendation_csv:to_csv", ("recommendation",)),
        ".ini": Text("lsmlens.reports.recommendation:to_options_file", ("recommendation",)),
        ".conf": Text("lsmlens.reports.recommendation:to_ceph_conf", ("recommendation",)),
    },
    Charts(
        ("front", "course", "families"),
        Lazy("lsmlens.reports.html.recommendation_charts:charts_called"),
        "it needs candidates, or a pick",
    ),
)
DUEL: "Subject[Duel]" = Subject(
    {
        **document("lsmlens.reports.duel:compose"),
        ".json": Text("lsmlens.reports.recommendation_json:duel_to_json"),
        ".csv": Text("lsmlens.reports.recommendation_csv:duel_to_csv"),
    }
)
QOS: "Subject[QosReport]" = Subject(
    {
        **document("lsmlens.reports.qos:compose", ("assessment",)),
        ".json": Text("lsmlens.reports.qos_json:to_json", ("assessment",)),
        ".junit.xml": Text("lsmlens.reports.junit:of_assessment", ("assessment", "fail_on")),
        ".sarif": Text("lsmlens.reports.sarif:of_assessment", ("assessment",)),
    },
    Charts(
        ("allocation", "front", "course", "recovery"),
        Lazy("lsmlens.reports.html.qos_charts:charts_called", ("assessment",)),
        "it needs mClock, or the simulation",
    ),
    Lazy("lsmlens.reports.github:of_assessment", ("assessment",)),
)
FLEET: "Subject[FleetReport]" = Subject(
    {
        **document("lsmlens.reports.fleet_report:compose"),
        ".json": Text("lsmlens.reports.fleet_json:to_json"),
        ".csv": Text("lsmlens.reports.fleet_report:to_csv"),
    }
)
