"""The outcomes of replays as a terminal report."""

from collections.abc import Iterator
from textwrap import wrap

from lsmlens.reports.replay_tables import ReplayReport, sections
from lsmlens.reports.sections import WIDTH, lay_out, note_lines
from lsmlens.tuners.replays.measurement import Mode
from lsmlens.tuners.replays.outcome import Outcome


def render(report: ReplayReport, colour: bool = False) -> str:
    """The whole report, ending in a newline; with terminal emphasis where `colour` is set."""
    return lay_out(_parts(report), colour)


def _parts(report: ReplayReport) -> Iterator[tuple[str, list[str]]]:
    yield f"Replay of {report.workload}", [_headline(one, report.workload_seconds) for one in report.outcomes]
    for title, table in sections(report):
        yield title, table.lines()
    yield "how to read this", list(_legend(report))
    quality = list(_quality(report))
    if quality:
        yield "data quality", quality


def _headline(outcome: Outcome, seconds: float) -> str:
    if outcome.figures is None:
        return f"  {outcome.name}: no figures"
    seeds = f"{len(outcome.seeds)} seed{'s' if len(outcome.seeds) > 1 else ''}"
    lost = f", {len(outcome.failures)} run(s) failed" if outcome.failures else ""
    return (
        f"  {outcome.name}: {outcome.engine}, RocksDB {outcome.rocksdb_version}; {outcome.mode}, scale"
        f" {outcome.scale:g}, {seeds}{lost}; {seconds:g} s of the workload's time"
    )


def _legend(report: ReplayReport) -> Iterator[str]:
    outcomes = [one for one in report.outcomes if one.figures is not None]
    scaled = sorted({one.scale for one in outcomes if one.scale != 1})
    said = []
    if scaled:
        by = ", ".join(f"{scale:g}" for scale in scaled)
        said.append(
            f"Replayed with every size and population divided by {by}; bytes, records and compaction seconds are"
            " multiplied back, counts, ratios and rates are as replayed."
        )
    said.append("* as replayed on this machine.")
    if any(one.mode is Mode.SETTLED for one in outcomes):
        said.append(
            "Settled: the database finished its compactions after each step, so that bytes are repeatable;"
            " stalls and seconds say nothing of a busy one (--mode paced does)."
        )
    if any(one.mode is Mode.PACED for one in outcomes):
        said.append("Latencies count from the moment the workload meant to write.")
    for text in said:
        yield from wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _quality(report: ReplayReport) -> Iterator[str]:
    """The workload's notes, then each of the outcomes' once, with the options it is of unless it is of all."""
    for note in report.workload_notes:
        yield from note_lines(f"workload: {note}")
    notes: dict[str, list[str]] = {}
    for outcome in report.outcomes:
        for note in outcome.quality:
            notes.setdefault(note, []).append(outcome.name)
    for note, names in notes.items():
        whose = "" if len(names) == len(report.outcomes) else f"{', '.join(names)}: "
        yield from note_lines(f"{whose}{note}")
