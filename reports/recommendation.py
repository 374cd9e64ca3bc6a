"""The report of `lsmlens tune`: what to change and why, what it brings and costs, how to do it, what it rests on."""

from collections.abc import Iterator, Mapping

from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.numbers import percent, ratio, size
from lsmlens.reports import stalls
from lsmlens.reports.document import (
    Block,
    ChartBlock,
    CommandBlock,
    Deferred,
    Detail,
    Details,
    Document,
    KeyFigure,
    KeyFigures,
    Notices,
    Paragraphs,
    Section,
    Statement,
    TableBlock,
    Terms,
    Tone,
    VerdictBlock,
)
from lsmlens.reports.recommendation_tables import (
    RecommendationReport,
    cases_table,
    changed,
    changes_table,
    differences_table,
    families_table,
    front_table,
    logs_table,
    percent_changed,
    takes_table,
    tried_table,
)
from lsmlens.tuners.options.ceph_configuration import to_ceph
from lsmlens.tuners.options.option_set import Difference
from lsmlens.tuners.predictions.self_consistency import warnings
from lsmlens.tuners.search.doubts import doubts
from lsmlens.tuners.search.recommendation import Finalist, Recommendation, changes
from lsmlens.tuners.search.scores import worsened_reads

MOST_TRIED = 10
# So many of the doubts stand in the answer.
FIRST_DOUBTS = 2
# Compactions so many times as large are worth a word.
LARGER = 2.0
TERMS = (
    ("cost", "What these settings cost by the objective; the current ones cost 1, so 0.8 is 20 % less."),
    ("worst", "The highest cost in any case: other loads, seeds, or draws (workloads that fit the log as well)."),
    ("front", "Settings that no others beat in every respect at once."),
    (
        "predicted",
        "What the log shows, times the ratio of the replays under these settings and under the current ones.",
    ),
    ("90 % interval", "Where the truth should lie nine times in ten, by the replays' scatter and the model's error."),
    (
        "memtables at most",
        "All column families' write buffers, full; less where the WAL's limit flushes them before.",
    ),
)


def to_options_file(recommendation: Recommendation) -> str:
    """The recommended options as an OPTIONS file, or the current ones where nothing is advised."""
    options = recommendation.present if recommendation.picked is None else recommendation.picked.options
    return options.to_options_file(recommendation.fitted.stream.families, recommendation.anchor.engine.version)


def to_ceph_conf(recommendation: Recommendation) -> str:
    """The same as a part of ceph.conf, for an OSD that is made with them. Raises LsmlensError for a log of no Ceph."""
    if recommendation.fitted.evidence.run.ceph_version is None:
        raise LsmlensError("the log is of no Ceph daemon, so there is no ceph.conf", "use -o FILE.ini")
    options = recommendation.present if recommendation.picked is None else recommendation.picked.options
    given = to_ceph(options)
    lines = ["[osd]", f"bluestore_rocksdb_options = {given.options}"]
    lines += [f"bluestore_rocksdb_options_annex = {given.annex}"] if given.annex else []
    lines += [f"bluestore_rocksdb_cfs = {given.cfs}"] if given.cfs else []
    return "\n".join(lines) + "\n"


def compose(report: RecommendationReport) -> Document:
    """The report of a recommendation."""
    one = report.recommendation
    run = one.fitted.evidence.run.run
    sections = [
        Section("verdict", "In short", tuple(_verdict(report))),
        Section("wrong", "It is wrong if", (Paragraphs(tuple(each.text for each in doubts(one))),)),
        Section("apply", "How to apply it", tuple(_steps(report))),
        Section("finalists", "Finalists", tuple(_finalists(one))),
        Section("charts", "The search", (Deferred(lambda: _charts(report)),)),
    ]
    for number, finalist in enumerate(one.finalists, 1):
        title = f"{finalist.name} against the current settings"
        sections.append(Section(f"finalist-{number}", title, tuple(_against(one, finalist, number))))
    said = tuple(notes(report))
    sections += [
        Section("tried", "Tried and lost", tuple(_tried(one))),
        Section("basis", "What this rests on", (Paragraphs(tuple(basis(report))), *([Notices(said)] if said else []))),
        Section("computed", "How each number is computed", (Terms(TERMS, detail=Detail.PAGE),)),
    ]
    facts = [("Log", report.source)]
    facts += [("Ceph", run.ceph_version)] if run.ceph_version else []
    facts += [("RocksDB", run.rocksdb_version)] if run.rocksdb_version else []
    facts.append(("Objective", str(one.objective)))
    what = "the steps to apply it, " if report.application is not None else ""
    more = f"More: --full ({what}by column family, what was tried) · -o report.html (charts)"
    return Document("Recommendation", one.fitted.name, tuple(facts), tuple(sections), more)


def _verdict(report: RecommendationReport) -> Iterator[Block]:
    one = report.recommendation
    picked = one.picked
    if picked is None:
        yield VerdictBlock("", (Statement(headline(one).rstrip("."), Tone.NEUTRAL),))
        yield Paragraphs((f"Why: {one.reason}.", _wrong_if(one)), detail=Detail.BRIEF)
        return
    worst = picked.worst
    said = [Statement(headline(one).rstrip("."), Tone.BETTER)]
    said += [Statement(warning, Tone.WARNING) for warning in warnings_of(picked, one)]
    yield VerdictBlock("", tuple(said))
    certain = f"At its worst ({worst.name}) it costs {ratio(worst.cost)} of what the current settings cost."
    yield Paragraphs((f"Why: {one.reason}.", certain), detail=Detail.BRIEF)
    yield TableBlock("Settings that change", differences_table(picked, "recommended"), detail=Detail.BRIEF)
    table = changes_table(one, picked)
    yield KeyFigures(tuple(KeyFigure(row[0], row[2], f"now {row[1]}, {row[4]}") for row in table.rows[:4]))
    yield TableBlock("Predicted, for the same work", table, detail=Detail.BRIEF)
    if picked.logs:
        yield TableBlock("On each log, where the settings it ran with cost 1", logs_table(picked), detail=Detail.BRIEF)
    yield Paragraphs((f"It costs: {'; '.join(costs_of(picked, one))}.", *_headroom(one)), detail=Detail.BRIEF)
    yield Paragraphs((_wrong_if(one),), detail=Detail.BRIEF)


def _wrong_if(recommendation: Recommendation) -> str:
    first = "; or if ".join(one.text for one in doubts(recommendation)[:FIRST_DOUBTS])
    return f"It is wrong if {first}. --full says what else."


def _headroom(one: Recommendation) -> Iterator[str]:
    now, before = one.picked_stalls, one.present_stalls
    if now is not None and before is not None:
        yield f"Writers stall from {stalls.headroom(now)} times the load, now from {stalls.headroom(before)}."


def _steps(report: RecommendationReport) -> Iterator[Block]:
    for number, step in enumerate(report.application.steps if report.application is not None else (), 1):
        yield CommandBlock(f"{number}. {step.title}", step.commands)
        if step.notes:
            yield Paragraphs(step.notes)


def _finalists(one: Recommendation) -> Iterator[Block]:
    if not one.finalists:
        return
    brief = Detail.FULL if one.picked is not None else Detail.BRIEF
    yield TableBlock("Beside the current settings, which cost 1", front_table(one), detail=brief)
    yield TableBlock("Cost in every case", cases_table(one))


def _charts(report: RecommendationReport) -> Iterator[ChartBlock]:
    from lsmlens.reports.html.recommendation_charts import recommendation_charts

    return recommendation_charts(report)


def _against(one: Recommendation, finalist: Finalist, number: int) -> Iterator[Block]:
    """A finalist against the current settings; of the pick some stands in the verdict already."""
    beside = Detail.FULL if finalist is not one.picked else Detail.PAGE
    if finalist is one.picked or one.picked is None:
        table, hidden = families_table(one, finalist)
        note = f"{hidden} column families with less than 1 % of the bytes are not shown." if hidden else ""
        families = TableBlock("Bytes written by column family", table, note)
    else:
        families = TableBlock("Bytes written by column family", families_table(one, finalist)[0], detail=Detail.PAGE)
    value = "recommended" if finalist is one.picked else "tried"
    yield TableBlock("Settings that change", differences_table(finalist, value), detail=beside)
    takes = takes_table(finalist, one.present.rocksdb_version)
    if takes.rows:
        yield TableBlock("What each change takes", takes, detail=Detail.FULL if finalist is one.picked else Detail.PAGE)
    if finalist.logs:
        yield TableBlock("On each log, where the settings it ran with cost 1", logs_table(finalist), detail=beside)
    yield TableBlock("Predicted, for the same work", changes_table(one, finalist), detail=beside)
    yield Deferred(lambda: _timeline(one, finalist, number))
    yield families


def _timeline(one: Recommendation, finalist: Finalist, number: int) -> Iterator[Block]:
    from lsmlens.reports.html.recommendation_charts import timeline

    drawn = timeline(one, finalist, number)
    if drawn is not None:
        yield drawn


def _tried(one: Recommendation) -> Iterator[Block]:
    table = tried_table(one)
    if len(table.rows) <= MOST_TRIED:
        yield from [TableBlock("", table)] if table.rows else []
        return
    yield TableBlock(
        "The cheapest", tried_table(one, MOST_TRIED), f"{len(table.rows) - MOST_TRIED} more are in the page."
    )
    yield Details("All of them", (TableBlock("", table, detail=Detail.PAGE),), detail=Detail.PAGE)


def headline(recommendation: Recommendation) -> str:
    """What to do, in a sentence."""
    picked = recommendation.picked
    if picked is None:
        return "Keep the current settings: nothing beats them beyond noise."
    written = next(one for one in changes(picked, recommendation.present_scores) if one.metric == "written_bytes")
    words = (
        f"Change {_options(picked.differences)}: {percent_changed(written)} bytes written by flushes and compactions"
    )
    if written.low is not None and written.high is not None:
        words += f" (90 % interval {changed(written.present, written.low)} to {changed(written.present, written.high)})"
    return f"{words}."


def warnings_of(finalist: Finalist, recommendation: Recommendation) -> list[str]:
    """What gets worse under a pick, in words: reads beyond the bound, and stalls."""
    stalled = stalls.worse(recommendation.picked_stalls, recommendation.present_stalls)
    return [one for one in (read_warning(finalist, recommendation), stalled) if one]


def read_warning(finalist: Finalist, recommendation: Recommendation) -> str:
    """That reads get slower beyond the bound, in words; empty where they do not."""
    words = {"sorted_runs": "sorted runs", "blocks_per_get": "blocks for a Get"}
    worse = worsened_reads(finalist.scores, recommendation.present_scores)
    said = " and ".join(f"{after:.1f} {words[name]} instead of {before:.1f}" for name, (before, after) in worse.items())
    return f"reads look into {said}: they get slower (--objective reads counts them)" if said else ""


def costs_of(finalist: Finalist, recommendation: Recommendation) -> Iterator[str]:
    """What the pick costs, in words."""
    present, scores = recommendation.present_scores, finalist.scores
    if scores.memory_bytes > present.memory_bytes:
        more = size(round(scores.memory_bytes - present.memory_bytes))
        yield f"{more} more memory for memtables at most, which caches do not give up"
    if scores.space_bytes > 1.05 * present.space_bytes:
        yield f"{changed(present.space_bytes, scores.space_bytes)} space for the database's files at most"
    if scores.processed_records > present.processed_records:
        yield f"{changed(present.processed_records, scores.processed_records)} records through compactions: CPU"
    usual = present.written_bytes / max(present.compactions, 1)
    each = scores.written_bytes / max(scores.compactions, 1)
    if each > LARGER * usual:
        yield f"compactions are fewer, and {each / usual:.0f} times as large: each lasts as much longer"
    if finalist.needs_reshard:
        yield "resharding every OSD's database, with the OSD stopped"
    is_ceph = recommendation.fitted.evidence.run.ceph_version is not None
    yield "a restart of every OSD" if is_ceph else "a restart of the program whose database it is"


def basis(report: RecommendationReport) -> Iterator[str]:
    """What the answer rests on."""
    one = report.recommendation
    engine = one.anchor.engine
    scored = sum(tried.cost is not None for tried in one.tried) + sum(cost is not None for _, cost, _ in one.fixed)
    refused = sum(tried.is_out for tried in one.tried)
    finalists = f"{len(one.finalists)} finalist{'' if len(one.finalists) == 1 else 's'}"
    parts = (
        f"learned from the log alone, replayed in RocksDB {engine.version} ({engine.name}): {scored} candidates"
        f" screened at 1/{one.screen_scale:g} of the size",
        f"{refused} ruled out by the bounds, not replayed",
        *_estimates(one),
        f"{finalists} with {len(one.anchor.variants)} replays each at 1/{one.anchor.scale:g} and smaller",
    )
    yield f"{', '.join(parts)}; {one.seconds:.0f} s"
    if one.left_out:
        yield f"not searched: {'; '.join(_left_out(one.left_out))}"
    yield (
        f"objective: {one.objective}; memtables limited to {size(one.memory_limit_bytes)} ({one.memory_source});"
        " the current settings cost 1"
    )


def notes(report: RecommendationReport) -> Iterator[str]:
    """What to know before believing it, each once."""
    one = report.recommendation
    said = [*one.notes, *warnings(one.anchor.checks)]
    if one.picked is not None:
        said += one.picked.evaluated.prediction.quality
    yield from dict.fromkeys(said)


def _left_out(reasons: Mapping[str, str]) -> Iterator[str]:
    """The options of each reason."""
    for reason in dict.fromkeys(reasons.values()):
        yield f"{', '.join(name for name, why in reasons.items() if why == reason)} ({reason})"


def _estimates(recommendation: Recommendation) -> Iterator[str]:
    """What was spared by estimates, and how far these were off."""
    if recommendation.pruned:
        yield f"{recommendation.pruned} not replayed: the workload's curves put them far behind the best"
    if recommendation.estimate_error is not None:
        yield f"estimates by these curves {percent(recommendation.estimate_error, 0)} off on median"


def _options(differences: tuple[Difference, ...]) -> str:
    names = list(dict.fromkeys(one.option for one in differences))
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
