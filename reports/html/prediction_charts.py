"""Charts of a prediction: each figure beside the log's, and bytes by column family, with intervals."""

from collections.abc import Mapping

import altair as alt
from lsmlens.analyzer.units import MIB
from lsmlens.reports.html.charts import Chart, Dataset, Value, data, make_chart
from lsmlens.reports.html.palette import SERIES, css
from lsmlens.reports.prediction_tables import (
    LABELS,
    OF_COMPACTIONS,
    Observed,
    PredictionReport,
    named_bounds,
    named_log,
    named_values,
    unjudged,
)
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.predictions.prediction import OptionsPrediction

LANE_PIXELS, BAR_PIXELS = 17, 11
MOST_FAMILIES = 24
# What stands left of an axis is short: the figures' names in a word or two.
SHORT = {
    "flush_mib": "flushed",
    "total_output_size_mib": "compacted",
    "write_amplification": "LSM WA",
    "compactions": "compactions",
    "total_input_records": "records in",
    "total_output_records": "records out",
    "output_input_ratio_of_sums": "out / in",
    "sorted_runs": "sorted runs",
    "blocks_per_get": "blocks/Get",
}
FIELDS = ("figure", "options", "ratio", "low", "high", "observed")


def charts_called(report: PredictionReport, name: str) -> list[tuple[str, Chart]]:
    """The charts of a name, with the options or the run they are of."""
    found = [number for number, one in enumerate(report.prediction.predictions) if one.predicted is not None]
    if name == "families":
        return [(report.prediction.predictions[number].name, families_chart(report, number)) for number in found]
    return [(report.prediction.anchor.fitted.name, figures_chart(report))] if found else []


def figures_chart(report: PredictionReport) -> Chart:
    """Every figure of every set of options with a prediction as a multiple of the log's."""
    before = named_log(report.prediction)
    rows: list[tuple[Value, ...]] = []
    for one, observed in zip(report.prediction.predictions, report.observed, strict=True):
        if one.predicted is None:
            continue
        values, (low, high) = named_values(one), named_bounds(one)
        real = observed.named() if observed is not None else {}
        left_open = OF_COMPACTIONS if unjudged(report, one) else ()
        rows += [
            (SHORT[name], one.name, *(_over(said.get(name), before[name]) for said in (values, low, high, real)))
            for name in LABELS
            if before[name] and name not in left_open
        ]
    sets = list(dict.fromkeys(str(row[1]) for row in rows))
    figures = [SHORT[name] for name in LABELS if any(row[0] == SHORT[name] for row in rows)]
    x = "times what this log shows"
    base = alt.Chart(data("figures")).encode(
        y=alt.Y("figure:N", sort=figures, title=None), yOffset=alt.YOffset("options:N", sort=sets)
    )
    colour = alt.Color(
        "options:N", scale=alt.Scale(domain=sets, range=[css(SERIES[n % len(SERIES)]) for n in range(len(sets))])
    )
    scale = alt.Scale(zero=False, padding=12)
    bounds = base.mark_rule(strokeWidth=3, opacity=0.55).encode(
        x=alt.X("low:Q", title=x, scale=scale), x2="high:Q", color=colour
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("ratio:Q", title=x, scale=scale),
        color=colour,
        tooltip=[
            alt.Tooltip("options:N"),
            alt.Tooltip("figure:N"),
            *(alt.Tooltip(f"{name}:Q", format=".3f") for name in FIELDS[2:]),
        ],
    )
    layers = [
        alt.Chart(alt.NamedData("as-now"))
        .mark_rule(strokeDash=[3, 3])
        .encode(x=alt.X("ratio:Q", title=x, scale=scale)),
        bounds,
        points,
    ]
    if any(row[-1] is not None for row in rows):
        diamonds = base.transform_filter("isValid(datum.observed)").mark_point(
            shape="diamond", filled=False, size=90, strokeWidth=1.6, color=css("ink"), opacity=1
        )
        layers.append(diamonds.encode(x=alt.X("observed:Q", title=x, scale=scale)))
    drawn = alt.layer(*layers).properties(
        width="container",
        height=max(2, len(sets)) * LANE_PIXELS * len(figures),
        autosize=alt.AutoSizeParams(type="fit-x"),
    )
    datasets = {"figures": Dataset(FIELDS, tuple(rows)), "as-now": Dataset(("ratio",), ((1.0,),))}
    return make_chart(
        "figures",
        "The same work under other options (times what this log shows)",
        "Each figure predicted, as a multiple of what the log shows, with its 90 % interval.",
        drawn,
        datasets,
    )


def families_chart(report: PredictionReport, number: int) -> Chart:
    """Bytes by column family under the set of options of that place: now, predicted and, if known, observed."""
    one, observed = report.prediction.predictions[number], report.observed[number]
    return _families(report.prediction.anchor.observed, one, observed, f"families-{number + 1}")


def _families(before: Mapping[str, Figures], one: OptionsPrediction, observed: Observed | None, dataset: str) -> Chart:
    written = {family.name: before[family.name].written_bytes for family in one.families}
    names = sorted(written, key=lambda name: (-written[name], name))[:MOST_FAMILIES]
    kinds = ["this log", "predicted", *(["observed"] if observed is not None else [])]
    rows: list[tuple[Value, ...]] = []
    for family in one.families:
        if family.name not in names:
            continue
        seen = before[family.name].written_bytes
        rows.append((family.name, kinds[0], *[_mib(seen)] * 3))
        ends = (family.predicted.value, family.predicted.low, family.predicted.high)
        rows.append((family.name, kinds[1], *(_mib(end.written_bytes) for end in ends)))
        if observed is not None:
            real = observed.families.get(family.name, Figures()).written_bytes
            rows.append((family.name, kinds[2], *[_mib(real)] * 3))
    colours = [css(name) for name in ("series-2", "series-1", "series-7")[: len(kinds)]]
    x = "flushed and compacted (MiB)"
    encoded = alt.Chart(data(dataset)).encode(
        y=alt.Y("family:N", sort=names, title=None), yOffset=alt.YOffset("kind:N", sort=kinds)
    )
    bars = encoded.mark_bar(height=BAR_PIXELS).encode(
        x=alt.X("mib:Q", title=x),
        color=alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=colours)),
        tooltip=[
            alt.Tooltip("family:N"),
            alt.Tooltip("kind:N"),
            *(alt.Tooltip(f"{name}:Q", format=",.1f") for name in ("mib", "low", "high")),
        ],
    )
    bounds = encoded.mark_rule(color=css("ink"), strokeWidth=1.4).encode(x=alt.X("low:Q", title=x), x2="high:Q")
    drawn = alt.layer(bars, bounds).properties(
        width="container",
        height=LANE_PIXELS * len(kinds) * max(1, len(names)),
        autosize=alt.AutoSizeParams(type="fit-x"),
    )
    return make_chart(
        "families",
        f"Bytes by column family under {one.name} (MiB)",
        "What each column family wrote in the log and is predicted to write, with the 90 % interval.",
        drawn,
        {dataset: Dataset(("family", "kind", "mib", "low", "high"), tuple(rows))},
    )


def _mib(value: float) -> float:
    return round(value / MIB, 2)


def _over(value: float | None, reference: float | None) -> float | None:
    return None if value is None or not reference else round(value / reference, 4)
