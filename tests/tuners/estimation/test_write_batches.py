"""How many operations write batches hold, by counters and by dumps."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.measures.life import CrossCheck
from lsmlens.analyzer.measures.statistics_series import read_series
from lsmlens.tuners.estimation.evidence import gather_all
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.estimation.history import read_history
from lsmlens.tuners.estimation.write_batches import write_batches

Analysed = Callable[[str], RunAnalysis]
DUMP = """\
** DB Stats **
Uptime(secs): {uptime} total, 600.0 interval
Cumulative writes: {writes} writes, {keys} keys, {writes} batches, 1.0 writes per batch, ingest: 0.25 GB, 0.43 MB/s
Interval stall: 00:00:0.000 H:M:S, 0.0 percent
"""


def test_counters_of_a_whole_life_stand_against_the_log(analysed: Analysed) -> None:
    run = analysed("osd-stock")
    found = write_batches(run, read_history(run.run))
    assert found is not None
    # perf_dump.end.json: submit_latency 862967 times, submit_sync_latency 50039, op_w 859708
    assert found.source == "perf_dump.end.json, 913006 batches"
    assert found.operations == pytest.approx(25_585_289 / 913_006)
    assert sum(found.by_client_write.values()) == pytest.approx(25_585_289 / 859_708)


def test_a_log_that_is_not_whole_tells_nothing(analysed: Analysed) -> None:
    run = analysed("osd-stock")
    assert run.cross_check is not None
    half = CrossCheck(run.cross_check.log_bytes // 2, run.cross_check.counter_bytes)
    assert write_batches(replace(run, cross_check=half), read_history(run.run)) is None
    assert write_batches(replace(run, cross_check=None), read_history(run.run)) is None


def test_dumps_count_over_all_opens(analysed: Analysed) -> None:
    run = analysed("osd-reef")
    texts = [
        DUMP.format(uptime=600.0, writes="2K", keys="10K"),
        DUMP.format(uptime=1200.0, writes="5K", keys="25K"),
        DUMP.format(uptime=600.0, writes="1000", keys="11K"),
    ]
    series = read_series((None, text) for text in texts)
    found = write_batches(replace(run, series=series), read_history(run.run))
    assert found is not None
    assert found.operations == pytest.approx(36_000 / 6_000)
    assert found.by_client_write == {}
    few = read_series([(None, DUMP.format(uptime=1.0, writes="999", keys="2K"))])
    assert write_batches(replace(run, series=few), read_history(run.run)) is None


def test_the_document_has_what_was_counted(analysed: Analysed) -> None:
    counted, assumed = (
        FittedWorkload(gather_all(analysed(name)), (), ()).workload for name in ("osd-stock", "osd-reef")
    )
    assert counted.transactions.operations == 28
    assert assumed.transactions.operations == 100
    assert assumed.origin.defaults["transactions"] == "100 operations of all families in each write batch"
