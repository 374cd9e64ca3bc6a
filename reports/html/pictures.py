"""Charts as pictures, SVG or PNG: light, with titles, made without a browser and without a network."""

import json
from collections.abc import Sequence
from typing import Any

from lsmlens.reports.html.charts import CONFIG, Chart
from lsmlens.reports.html.palette import in_light

PLOT_WIDTH = 900
PNG_SCALE = 2.0
# What the bundle in pages is as well.
VEGA_LITE = "6.4"


def to_svg(charts: Sequence[tuple[str, Chart]]) -> str:
    """The charts below each other, each with its subject's name where there are several."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(_specification(charts), vl_version=VEGA_LITE, allowed_base_urls=[])
    return svg if svg.endswith("\n") else svg + "\n"


def to_png(charts: Sequence[tuple[str, Chart]]) -> bytes:
    """The same as PNG, at twice the size in pixels."""
    import vl_convert

    return vl_convert.vegalite_to_png(
        _specification(charts), vl_version=VEGA_LITE, scale=PNG_SCALE, allowed_base_urls=[]
    )


def _specification(charts: Sequence[tuple[str, Chart]]) -> dict[str, Any]:
    parts = []
    for subject, chart in charts:
        title = f"{subject}: {chart.title}" if len(charts) > 1 and subject else chart.title
        spec = {name: value for name, value in chart.spec.items() if name not in ("autosize", "usermeta")}
        parts.append({**spec, "width": PLOT_WIDTH, "title": title})
    whole = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "vconcat": parts,
        "resolve": {"scale": {"color": "independent", "x": "independent", "y": "independent"}},
        "datasets": {name: one.records() for _, chart in charts for name, one in chart.datasets.items()},
        "padding": 12,
        "config": {
            **CONFIG,
            "background": "var(--paper)",
            "title": {"anchor": "start", "color": "var(--ink)", "fontSize": 14, "offset": 8},
        },
    }
    specification: dict[str, Any] = json.loads(in_light(json.dumps(whole)))
    return specification
