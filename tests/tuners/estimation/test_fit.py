"""Whole fits of real logs: the document stands for the log's operations, and says what it does not know."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.runs.run import Run
from lsmlens.tuners.estimation.defaults import family_notes
from lsmlens.tuners.estimation.fit import FittedWorkload, fit
from lsmlens.tuners.estimation.windows import WindowKind
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.yaml_form import parse_workload, to_yaml

Analysed = Callable[[str], RunAnalysis]


@pytest.fixture(scope="module")
def reef(analysed: Analysed) -> FittedWorkload:
    return fit(analysed("osd-reef"))


def test_the_document_writes_what_the_log_took_in(reef: FittedWorkload) -> None:
    deletes = [int(Tag.DELETE), int(Tag.SINGLE_DELETE)]
    written: dict[str, list[int]] = {name: [0, 0] for name in reef.stream.families}
    families = {family.name: family for family in reef.workload.column_families}
    assert set(families) == set(written)
    for part in reef.stream.operations(1):
        for place, name in enumerate(reef.stream.families):
            own = part.tag[part.family == place]
            gone = int(sum((own == tag).sum() for tag in deletes))
            written[name][0] += len(own) - gone
            written[name][1] += gone
    for one in reef.families:
        puts, gone = written[one.column_family.name]
        assert puts == sum(interval.puts for interval in one.evidence.intervals)
        # a clear of an object takes what lives of it, which is not always as much as there were deletes
        # and where clears come by chance, few of them make more or less of it
        within = 0.05 if one.calibration is None else 0.1
        assert gone == pytest.approx(sum(interval.deletes for interval in one.evidence.intervals), rel=within)


def test_sizes_are_those_of_the_tables(reef: FittedWorkload) -> None:
    for one in reef.families:
        tables = one.evidence.tables
        entries = sum(table.entries for table in tables)
        if entries:
            assert one.sizes.key == pytest.approx(sum(table.key_bytes for table in tables) / entries)


def test_the_document_round_trips_and_names_its_origin(reef: FittedWorkload) -> None:
    workload = reef.workload
    assert parse_workload(to_yaml(workload), "again") == workload
    assert workload.origin.kind == "fitted"
    assert workload.origin.rocksdb_version == "7.9.2"
    assert {"reads", "transactions", "moments"} <= set(workload.origin.defaults)
    assert workload.origin.notes == reef.notes


def test_a_fit_is_the_same_every_time_and_draws_are_not(reef: FittedWorkload, analysed: Analysed) -> None:
    assert fit(analysed("osd-reef")).workload == reef.workload
    one, two = reef.draws(2)
    assert one != two
    assert one != reef.workload
    assert reef.draws(2)[1] == two


def test_what_survives_flushes_is_explained(reef: FittedWorkload) -> None:
    for one in reef.families:
        intervals = [interval for interval in one.evidence.intervals if interval.flush is not None]
        kept = sum(interval.kept_puts for interval in intervals)
        expected = sum(float(part.kept_puts.sum()) for part in one.parts)
        if kept > 20_000:
            assert expected == pytest.approx(kept, rel=0.1), one.column_family.name


def test_several_opens_are_declared(analysed: Analysed) -> None:
    found = fit(analysed("osd-crash"))
    assert any("opens of the database in this log" in note for note in found.notes)


def test_every_family_with_flushes_has_windows(reef: FittedWorkload) -> None:
    for one in reef.families:
        assert one.evidence.longest_window(WindowKind.FLUSH) > 0
        assert one.evidence.longest_window(*WindowKind) >= one.evidence.longest_window(WindowKind.FLUSH)


def test_compactions_that_ran_behind_are_named(reef: FittedWorkload) -> None:
    (own,) = [one for one in reef.families if one.column_family.name == "P"]
    assert not any("ran behind" in note for note in family_notes([own]))
    history = own.evidence.history
    behind = [replace(job, level_files=(9, *job.level_files[1:])) for job in history.compactions]
    evidence = replace(own.evidence, history=replace(history, compactions=behind))
    said = [note for note in family_notes([replace(own, evidence=evidence)]) if "ran behind" in note]
    assert len(said) == 1
    assert said[0].startswith("P: compactions ran behind")


def test_a_log_without_flushes_is_refused(analysed: Analysed) -> None:
    empty = replace(analysed("osd-crash"), run=Run("empty", False, []))
    with pytest.raises(InputError, match="the log shows no flush, so nothing of a workload"):
        fit(empty)
