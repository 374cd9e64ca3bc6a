"""Every bundle of the fixtures, against what was published or counted about it without this program."""

import gzip
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.metrics import LABELS
from lsmlens.analyzer.runs.run import Run

from tests.run_tables import events_of

BUNDLES = (
    "osd-container", "osd-crash", "osd-fragmented", "osd-noisy", "osd-reef", "osd-rotated", "osd-slow", "osd-small-db",
    "osd-spillover", "osd-stock", "osd-tuned", "osd-unsharded", "rocksdb-7.8", "rocksdb-current", "rocksdb-backlog",
    "rocksdb-filter", "rocksdb-no-filter", "rocksdb-weak-filter",
)  # fmt: skip
# Fixtures of other parts, read by their tests: tables, traces, batches, documents, logs of predictions.
OF_OTHERS = {
    "osd-mclock",
    "osd-reading",
    "osd-two-options",
    "osd-write-batches",
    "published",
    "query-traces",
    "saved-analyses",
}
PUBLISHED = ("osd-reef", "osd-spillover", "osd-stock")
SESSIONS = {
    "osd-container": 7,
    "osd-crash": 9,
    "osd-fragmented": 7,
    "osd-noisy": 1,
    "osd-reef": 7,
    "osd-rotated": 7,
    "osd-slow": 7,
    "osd-small-db": 7,
    "osd-spillover": 7,
    "osd-stock": 7,
    "osd-tuned": 7,
    "osd-unsharded": 9,
    "rocksdb-7.8": 2,
    "rocksdb-current": 2,
    "rocksdb-backlog": 1,
    "rocksdb-filter": 1,
    "rocksdb-no-filter": 1,
    "rocksdb-weak-filter": 1,
}
FEW = {"osd-noisy": 6, "osd-unsharded": 3, "rocksdb-backlog": 6, "rocksdb-no-filter": 10}
MONITORS = {"osd-container", "osd-stock"}
ANCHOR = re.compile(rb"EVENT_LOG_v1 (\{[^\n]*)")
EXPECTED_EVENTS = re.compile(r'^ +(\d+) (?:"event": ")?(\w+)"?$', re.MULTILINE)
ONE_FOR_ALL = ("trivial_move", "flush_finished", "compaction_finished")


@pytest.fixture(scope="session")
def analysis_of(fixtures: Path) -> Callable[[str], Analysis]:
    known: dict[str, Analysis] = {}

    def read(bundle: str) -> Analysis:
        if bundle not in known:
            known[bundle] = analyze([str(fixtures / bundle)])
        return known[bundle]

    return read


@pytest.fixture
def osd_of(analysis_of: Callable[[str], Analysis]) -> Callable[[str], RunAnalysis]:
    """The one run of a bundle that is not a monitor's."""

    def read(bundle: str) -> RunAnalysis:
        (one,) = (one for one in analysis_of(bundle).runs if not one.run.is_monitor)
        return one

    return read


def text_of(run: Run) -> bytes:
    """What the run was read from, its pieces in their order."""
    parts = [Path(member).read_bytes() for member in run.members]
    return b"".join(gzip.decompress(part) if part.startswith(b"\x1f\x8b") else part for part in parts)


def key_of(payload: bytes) -> tuple[bytes | None, ...]:
    patterns = (rb'"time_micros": (\d+)', rb'"job": (\d+)', rb'"event": "(\w+)"', rb'"file_number": (\d+)')
    return tuple(match[1] if (match := re.search(pattern, payload)) else None for pattern in patterns)


def test_no_fixture_is_left_out(fixtures: Path) -> None:
    assert (
        {folder.name for folder in fixtures.iterdir() if folder.is_dir()} - OF_OTHERS == set(BUNDLES) == set(SESSIONS)
    )
    assert {file.parent.name for file in fixtures.glob("*/ref_parser.txt")} == set(PUBLISHED)


@pytest.mark.parametrize("bundle", BUNDLES)
def test_nothing_is_lost_or_noted_as_odd(bundle: str, analysis_of: Callable[[str], Analysis]) -> None:
    analysis = analysis_of(bundle)
    assert [member for member in analysis.members if member.problem] == []
    for one in analysis.runs:
        quality = one.run.quality
        assert quality.events_rejected == quality.events_cut == quality.cut_lines == 0
        assert quality.not_understood == []
        assert not quality.unknown_events
        assert not quality.unknown_fields
    assert sum(one.run.is_monitor for one in analysis.runs) == (bundle in MONITORS)
    assert len(analysis.runs) == 1 + (bundle in MONITORS)


@pytest.mark.parametrize("bundle", PUBLISHED)
def test_the_published_table(bundle: str, fixtures: Path, osd_of: Callable[[str], RunAnalysis]) -> None:
    """Every row of it to nine digits, and every compaction of it where it lists them."""
    text = (fixtures / bundle / "ref_parser.txt").read_text()
    published = dict(line.split("\t") for line in text.splitlines()[: len(LABELS)] if line.count("\t") == 1)
    one = osd_of(bundle)
    del published["Compaction Statistics"]
    assert len(published) == 12
    for name, label in LABELS.items():
        if label in published:
            value = float(published.pop(label))
            assert getattr(one.statistics, name) == pytest.approx(value, rel=1e-9), label
    assert published == {}

    finished = [event for event in events_of(one.run) if event["event"] == "compaction_finished"]
    rows = [line.split("\t") for line in text.splitlines() if line.count("\t") > 5][1:]
    assert bool(rows) == (bundle != "osd-reef")
    if rows:
        names = ("output_level", "num_output_files", "total_output_size", "num_input_records", "num_output_records")
        listed = [(round(float(row[1]) * 1e6), *map(int, row[2:7])) for row in rows]
        assert Counter(listed) == Counter(
            (event["compaction_time_micros"], *(event[name] for name in names)) for event in finished
        )


@pytest.mark.parametrize("bundle", BUNDLES)
def test_every_event_is_counted_once(bundle: str, analysis_of: Callable[[str], Analysis]) -> None:
    for one in analysis_of(bundle).runs:
        payloads = [match[1] for match in ANCHOR.finditer(text_of(one.run))]
        distinct = {key_of(payload) for payload in payloads}
        assert all(key[2] for key in distinct)
        assert one.run.quality.duplicates_removed == len(payloads) - len(distinct)
        assert one.run.event_counts == Counter(key[2].decode() for key in distinct if key[2])
        assert len(events_of(one.run)) == len(distinct)


@pytest.mark.parametrize(
    ("bundle", "duplicates"), [("osd-crash", 581), ("osd-noisy", 0), ("osd-stock", 0), ("osd-rotated", 0)]
)  # fmt: skip
def test_what_the_fixture_says_of_itself(
    bundle: str, duplicates: int, fixtures: Path, osd_of: Callable[[str], RunAnalysis]
) -> None:
    told = re.split(
        r"^## Expected events|^Events \(", (fixtures / bundle / "SOURCE.md").read_text(), flags=re.MULTILINE
    )[-1]
    tables = [block for block in told.split("```") if EXPECTED_EVENTS.search(block)]
    table = tables[1] if bundle == "osd-crash" else tables[0]  # the distinct ones
    expected = {kind: int(count) for count, kind in EXPECTED_EVENTS.findall(table)}
    run = osd_of(bundle).run
    assert run.event_counts == expected
    assert run.quality.duplicates_removed == duplicates


@pytest.mark.parametrize("bundle", BUNDLES)
def test_every_job_is_told_to_a_column_family(bundle: str, analysis_of: Callable[[str], Analysis]) -> None:
    for one in analysis_of(bundle).runs:
        assert +one.run.quality.without_column_family == Counter()
        for event in events_of(one.run):
            if event["event"] in ONE_FOR_ALL:
                assert isinstance(event["column_family"], str)
                assert event["attributed_by"]


@pytest.mark.parametrize("bundle", BUNDLES)
def test_jobs_are_of_the_family_their_tables_are_of(bundle: str, osd_of: Callable[[str], RunAnalysis]) -> None:
    """Told apart by session, job and time; a table's own event names its family in every version."""
    run = osd_of(bundle).run
    tables = [event for event in events_of(run) if event["event"] == "table_file_creation"]
    checked = 0
    for event in events_of(run):
        if event["event"] != "compaction_finished" or "started_micros" not in event:
            continue
        families = {
            table["cf_name"]
            for table in tables
            if (table["session"], table["job"]) == (event["session"], event["job"])
            and event["started_micros"] <= table["time_micros"] <= event["time_micros"]
        }
        checked += bool(families)
        assert families <= {event["column_family"]}
    assert checked >= FEW.get(bundle, 10)


@pytest.mark.parametrize("bundle", BUNDLES)
def test_families_levels_and_events_sum_up_alike(bundle: str, analysis_of: Callable[[str], Analysis]) -> None:
    for one in analysis_of(bundle).runs:
        counts = one.run.event_counts
        for parts in (one.families, one.levels):
            assert sum(part.compactions for part in parts) == counts["compaction_finished"]
            assert sum(part.flushes for part in parts) == counts["flush_finished"]
            assert sum(part.trivial_moves for part in parts) == counts["trivial_move"]
            assert sum(part.flush_bytes for part in parts) == one.total.flush_bytes
            assert sum(part.compaction_output_bytes for part in parts) == one.total.compaction_output_bytes
        assert one.statistics.compaction_events == counts["compaction_finished"]


@pytest.mark.parametrize("bundle", BUNDLES)
def test_the_tables_of_a_compaction_are_its_output(bundle: str, osd_of: Callable[[str], RunAnalysis]) -> None:
    finished = [event for event in events_of(osd_of(bundle).run) if event["event"] == "compaction_finished"]
    # What a compaction wrote before the log begins is not in it.
    finished = [event for event in finished if "started_micros" in event or bundle != "osd-noisy"]
    # A compaction that a close broke off counts a table that it never finished.
    aborted = [event for event in finished if event["created_files"] < event["num_output_files"]]
    assert [event["job"] for event in aborted] == {"rocksdb-7.8": [32], "rocksdb-backlog": [67]}.get(bundle, [])
    assert len(finished) >= FEW.get(bundle, 14)
    for event in finished:
        if event not in aborted:
            assert event["created_bytes"] == event["total_output_size"], event["job"]
            assert event["created_files"] == event["num_output_files"], event["job"]
            assert event["created_records"] == event["num_output_records"], event["job"]


@pytest.mark.parametrize("bundle", BUNDLES)
def test_the_tables_of_flushes_are_all_told_to_one(bundle: str, osd_of: Callable[[str], RunAnalysis]) -> None:
    """No table is counted twice or left out: created by flush, compaction or recovery, each once."""
    run = osd_of(bundle).run
    created = sum(event["file_size"] for event in events_of(run) if event["event"] == "table_file_creation")
    by_jobs = sum(event["created_bytes"] for event in events_of(run) if event["event"] in ONE_FOR_ALL[1:])
    recovering = recovered_bytes(run)
    unfinished = unfinished_bytes(run)
    assert created == by_jobs + recovering + unfinished


def recovered_bytes(run: Run) -> int:
    """The tables that recovering a WAL wrote: of the job that a recovery started and finished."""
    recoveries = {
        (event["session"], event["job"], event["event"]): event["time_micros"]
        for event in events_of(run)
        if event["event"] in ("recovery_started", "recovery_finished")
    }
    return sum(
        event["file_size"]
        for event in events_of(run)
        if event["event"] == "table_file_creation"
        and recoveries.get((event["session"], event["job"], "recovery_started"), 1 << 62) <= event["time_micros"]
        and event["time_micros"] <= recoveries.get((event["session"], event["job"], "recovery_finished"), 0)
    )


def unfinished_bytes(run: Run) -> int:
    """The tables of compactions and flushes that have a start and no finish."""
    ended = {(event["session"], event["job"]) for event in events_of(run) if event["event"] in ONE_FOR_ALL[1:]}
    started = {
        (event["session"], event["job"])
        for event in events_of(run)
        if event["event"] in ("compaction_started", "flush_started")
    }
    return sum(
        event["file_size"]
        for event in events_of(run)
        if event["event"] == "table_file_creation" and (event["session"], event["job"]) in started - ended
    )


@pytest.mark.parametrize("bundle", BUNDLES)
def test_sessions(bundle: str, osd_of: Callable[[str], RunAnalysis]) -> None:
    run = osd_of(bundle).run
    assert len(run.sessions) == SESSIONS[bundle]
    opened = [session.opened_at_millis for session in run.sessions]
    if bundle == "osd-noisy":  # begins in an open session
        assert opened == [None]
        return
    assert None not in opened
    assert opened == sorted(opened, key=lambda millis: millis or 0)
    assert [session.number for session in run.sessions] == list(range(len(opened)))
    for event in (
        one for one in events_of(run) if "session" in one
    ):  # an event is of the session open at its time; a stamp may trail by some milliseconds
        begun = opened[event["session"]]
        assert begun is not None
        assert event["time_micros"] / 1000 + 1000 * (run.utc_offset_seconds or 0) > begun - 1000


@pytest.mark.parametrize("bundle", BUNDLES)
def test_starts_and_finishes_are_paired(bundle: str, osd_of: Callable[[str], RunAnalysis]) -> None:
    run = osd_of(bundle).run
    without_start = {"osd-noisy": {"compaction": 1}}
    without_finish = {
        "osd-crash": {"compaction": 1, "flush": 1},
        "osd-noisy": {"compaction": 1},
        "osd-reef": {"compaction": 1},
    }
    assert +run.quality.without_start == without_start.get(bundle, {})
    assert +run.quality.without_finish == without_finish.get(bundle, {})
    for event in events_of(run):
        if event["event"] in ONE_FOR_ALL[1:] and ("started_micros" in event or bundle not in without_start):
            assert 0 <= event["time_micros"] - event["started_micros"] < 60_000_000


def test_a_compaction_that_rotation_cut_in_two(fixtures: Path, osd_of: Callable[[str], RunAnalysis]) -> None:
    run = osd_of("osd-rotated").run
    (event,) = (event for event in events_of(run) if event["event"] == "compaction_finished" and event["job"] == 529)
    assert event["column_family"] == "p-2"
    assert event["started_micros"] < event["time_micros"]
    assert event["input_files"] > 0
    assert [Path(member).name for member in run.members] == [
        "ceph-osd.0.log.3.gz",
        "ceph-osd.0.log.2.gz",
        "ceph-osd.0.log.1.gz",
        "ceph-osd.0.log.gz",
    ]
    for name, told in (("ceph-osd.0.log.3.gz", "without_finish"), ("ceph-osd.0.log.2.gz", "without_start")):
        (alone,) = analyze([str(fixtures / "osd-rotated" / name)]).runs
        both: dict[str, Any] = {kind: +getattr(alone.run.quality, kind) for kind in ("without_start", "without_finish")}
        assert both.pop(told) == {"compaction": 1}
        assert list(both.values()) == [Counter()]


def test_versions(osd_of: Callable[[str], RunAnalysis]) -> None:
    told = {bundle: (osd_of(bundle).run.ceph_version, osd_of(bundle).run.rocksdb_version) for bundle in BUNDLES}
    assert told == {
        "osd-container": ("16.2.15", "6.8.1"),
        "osd-crash": ("16.2.15", "6.8.1"),
        "osd-fragmented": ("16.2.15", "6.8.1"),
        "osd-noisy": (None, None),
        "osd-reef": ("18.2.7", "7.9.2"),
        "osd-rotated": ("16.2.15", "6.8.1"),
        "osd-slow": ("16.2.15", "6.8.1"),
        "osd-small-db": ("16.2.15", "6.8.1"),
        "osd-spillover": ("16.2.15", "6.8.1"),
        "osd-stock": ("16.2.15", "6.8.1"),
        "osd-tuned": ("16.2.15", "6.8.1"),
        "osd-unsharded": ("16.2.15", "6.8.1"),
        "rocksdb-7.8": (None, "7.8.3"),
        "rocksdb-current": (None, "9.8.4"),
        "rocksdb-backlog": (None, "7.8.3"),
        "rocksdb-filter": (None, "7.8.3"),
        "rocksdb-no-filter": (None, "7.8.3"),
        "rocksdb-weak-filter": (None, "7.8.3"),
    }
