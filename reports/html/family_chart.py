"""Bytes by column family, flushed and compacted, with the write amplification they come to."""

import altair as alt
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.numbers import ratio
from lsmlens.analyzer.units import MIB
from lsmlens.reports.html.charts import Chart, Dataset, data, make_chart
from lsmlens.reports.html.palette import css

LANE_PIXELS = 22
MOST_FAMILIES = 40
FLUSHED, COMPACTED = "flushed", "by compactions"


def family_chart(one: RunAnalysis, prefix: str = "") -> Chart:
    """The families that wrote most, most first."""
    written = {family.name: family.flush_bytes + family.compaction_output_bytes for family in one.families}
    families = sorted(one.families, key=lambda family: -written[family.name])[:MOST_FAMILIES]
    rows = []
    for family in families:
        label = f"WA {ratio(family.write_amplification)}"
        name, total = family.name or '""', round(written[family.name] / MIB, 2)
        rows.append((name, FLUSHED, 0, round(family.flush_bytes / MIB, 2), total, label))
        rows.append((name, COMPACTED, 1, round(family.compaction_output_bytes / MIB, 2), total, label))
    names = [family.name or '""' for family in families]
    dataset = f"{prefix}families"
    y = alt.Y("family:N", sort=names, title=None, scale=alt.Scale(padding=0.2))
    most = max((total for *_, total, _ in rows), default=1.0) or 1.0
    bars = (
        alt.Chart(data(dataset))
        .mark_bar()
        .encode(
            x=alt.X(
                "mib:Q",
                title=None,
                stack="zero",
                axis=alt.Axis(tickCount=6),
                scale=alt.Scale(domain=[0, most * 1.12], nice=False),
            ),
            y=y,
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=[FLUSHED, COMPACTED], range=[css("flush"), css("compaction")]),
            ),
            order=alt.Order("place:Q"),
            tooltip=[
                alt.Tooltip("family:N", title="column family"),
                alt.Tooltip("kind:N", title=" "),
                alt.Tooltip("mib:Q", title="MiB", format=",.1f"),
                alt.Tooltip("amplification:N", title="LSM"),
            ],
        )
    )
    texts = (
        alt.Chart(data(dataset))
        .mark_text(align="left", dx=5, baseline="middle")
        .encode(x=alt.X("total:Q", stack=None), y=y, text="amplification:N")
        .transform_filter(alt.FieldEqualPredicate(field="place", equal=0))
    )
    drawn = alt.layer(bars, texts).properties(
        width="container", height=LANE_PIXELS * max(2, len(names)), autosize=alt.AutoSizeParams(type="fit-x")
    )
    return make_chart(
        "families",
        "Bytes written by column family (MiB)",
        "MiB flushed and written by compactions for each column family, with its LSM write amplification.",
        drawn,
        {dataset: Dataset(("family", "kind", "place", "mib", "total", "amplification"), tuple(rows))},
    )
