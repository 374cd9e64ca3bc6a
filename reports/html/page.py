"""A document as an HTML page: one file that needs no network. All text is escaped by the template."""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from enum import Enum
from importlib.metadata import version
from importlib.resources import files
from typing import cast

from jinja2 import DictLoader, Environment, StrictUndefined
from lsmlens.analyzer.printable import printable
from lsmlens.reports.document import Detail, Document, charts
from lsmlens.reports.html.charts import CONFIG, Chart
from lsmlens.reports.html.palette import declarations
from lsmlens.reports.terminal import MARKS
from markupsafe import Markup

# Two levels of the table of contents, as long as it stays a help.
CONTENTS_LIMIT = 40


def render(document: Document) -> str:
    """The document as one HTML file: no network, no clock, the same bytes for the same document."""
    page = document.at(Detail.PAGE)
    drawn = list(charts(page.sections))
    scripts = [_bundle(), _source("page.js")] if drawn else [_source("page.js")]
    environment = Environment(
        loader=DictLoader({name: _source(name) for name in ("page.html", "blocks.html", "notices.html")}),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["kind"] = lambda block: type(block).__name__
    environment.globals["marks"] = MARKS
    environment.globals["next_chart"] = enumerate(drawn).__next__
    return environment.get_template("page.html").render(
        page=page,
        version=version("lsmlens"),
        has_charts=bool(drawn),
        nested_contents=sum(1 + len(section.sections) for section in page.sections) <= CONTENTS_LIMIT,
        style=Markup(_source("page.css")),
        light=Markup(declarations(0)),
        dark=Markup(declarations(1)),
        printed=Markup(declarations(0, important=True)),
        scripts=[Markup(script) for script in scripts],
        script_hashes=" ".join(f"'sha256-{_hash(script)}'" for script in scripts),
        data=_data_block(drawn),
    )


def _printable(value: object) -> object:
    """Text of logs without control characters; what is markup already is ours."""
    if not isinstance(value, str) or isinstance(value, Markup | Enum):
        return value
    return "\n".join(map(printable, value.split("\n")))


def _data_block(charts: Sequence[Chart]) -> Markup:
    """All data of all charts, each dataset once; `<` is escaped so that nothing in it ends the element."""
    datasets = {name: dataset for chart in charts for name, dataset in chart.datasets.items()}
    block = {
        "config": CONFIG,
        "charts": [chart.spec for chart in charts],
        "datasets": {name: {"fields": one.fields, "rows": one.rows} for name, one in datasets.items()},
    }
    text = json.dumps(block, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    import vl_convert

    # its stub asks for a snippet, which has a default that defines vegaEmbed
    script = cast("Callable[[], str]", vl_convert.javascript_bundle)()
    assert "</script" not in script.lower()
    return script


def _source(name: str) -> str:
    return (files("lsmlens.reports.html") / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
