"""How predicted stalls are said: in a verdict, and as a table."""

from collections.abc import Iterator

from lsmlens.analyzer.numbers import counted, duration
from lsmlens.reports.document import Statement, Tone
from lsmlens.reports.tables import Table
from lsmlens.tuners.predictions.prediction import Prediction
from lsmlens.tuners.predictions.stalls import MOST_LOAD, StallForecast, StallsAtLoad

UNKNOWN = (
    "Stalls are not predicted: the log shows too few compactions to say how long they take, or the engine cannot hold"
    " them for that long."
)
TERMS = (
    (
        "stalled",
        "For how long RocksDB would make writers wait, slowed down or stopped, in a replay whose jobs last as long as"
        " the log's. The 90 % interval is that of a device up to 1.25 times as fast or as slow.",
    ),
    (
        "stalls from",
        "How many times the log's load it takes until writers are slowed down or stopped for 0.1 % of the time. Beside"
        " it the closed form: the busiest stretch of compaction takes all its threads, or level-0 files reach the"
        " slowdown while the longest compaction runs. Where that leaves far more load than is asked about, nothing is"
        " replayed, and it stands alone.",
    ),
)


def statements(now: StallForecast | None, own: StallForecast | None) -> Iterator[Statement]:
    """What a set of options does to stalls, and how much load is left."""
    if now is None or own is None:
        return
    then, before = now.now, own.now
    if then.high or before.high:
        tone = Tone.WORSE if then.low > before.high else Tone.BETTER if then.high < before.low else Tone.NEUTRAL
        if before.seconds == 0 < then.seconds:
            tone = Tone.WARNING
        was = f"{stalled(before)} under the log's own options"
        yield Statement(f"writers stalled for {stalled(then)}, {was}", tone)
    yield Statement(f"stalls from {headroom(now)} times the load")


def worse(now: StallForecast | None, own: StallForecast | None) -> str:
    """One sentence where writers would stall who do not stall now, or for clearly longer; else empty."""
    if now is None or own is None:
        return ""
    then, before = now.now, own.now
    if then.seconds and (not before.seconds or then.low > before.high):
        return f"writers would stall for {stalled(then)}; under the present options for {stalled(before)}"
    return ""


def stalled(one: StallsAtLoad) -> str:
    """Seconds with their interval."""
    if not one.high:
        return "0 s"
    return f"{duration(one.seconds)} (90 % interval {duration(one.low)} to {duration(one.high)})"


def headroom(forecast: StallForecast) -> str:
    """The load it takes until writers stall, with its interval; where it was not replayed, by the closed form."""
    one = forecast.headroom
    if one is None:
        return f"about {forecast.closed_form.headroom:.1f}"
    if one.load is None:
        return f"more than {one.low:.1f}"
    most = f"over {MOST_LOAD:g}" if one.high is None else f"{one.high:.1f}"
    return f"{one.load:.1f} ({one.low:.1f} to {most})"


def stalls_table(prediction: Prediction) -> Table | None:
    """Stalls of the log's own options and of all others, load by load; None where they are not known."""
    every = [("the log's own", prediction.own_stalls), *((one.name, one.stalls) for one in prediction.predictions)]
    rows: list[tuple[str, ...]] = []
    for name, forecast in every:
        for one in forecast.at_loads if forecast is not None else ():
            assert forecast is not None
            is_first = one is forecast.at_loads[0]
            rows.append(
                (
                    name,
                    f"{one.load:g}",
                    duration(one.seconds) if one.seconds else "0 s",
                    f"{duration(one.low) if one.low else '0 s'} to {duration(one.high) if one.high else '0 s'}",
                    counted(one.slowdowns, "slowdown") + (f", {counted(one.stops, 'stop')}" if one.stops else ""),
                    headroom(forecast) if is_first else "",
                    f"{forecast.closed_form.headroom:.1f}" if is_first else "",
                    f"{100 * forecast.closed_form.busiest:.0f} %" if is_first else "",
                )
            )
    header = ("options", "load", "stalled", "90 % interval", "spells", "stalls from", "closed form", "busiest")
    return Table(header, tuple(rows)) if rows else None
