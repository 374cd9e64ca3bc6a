"""What the campaign reads: small files of every kind, and all that is done with them.

A reading may refuse what it is given, by an error that says what and the way out; it may raise nothing else.
"""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from lsmlens.analyzer.comparison.arms import parse_arm, read_arms
from lsmlens.analyzer.comparison.comparison import compare
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.qos.reading import read_material
from lsmlens.analyzer.qos.view import view_of
from lsmlens.reports.analysis import AnalysisReport
from lsmlens.reports.comparison import ComparisonReport
from lsmlens.reports.outputs import ANALYSIS, COMPARISON, QOS, WORKLOAD, Subject
from lsmlens.reports.qos import QosReport
from lsmlens.reports.redaction import redacted
from lsmlens.tuners.api import learn, read_run
from lsmlens.tuners.options.reading import read_option_sets
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.qos.assessment import assess
from lsmlens.tuners.workloads.decoding import decode
from lsmlens.tuners.workloads.sources import open_workload

FIXTURES = Path(__file__).parents[2] / "fixtures"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
HALTS = re.compile(r"\b(?:NaN|-?Infinity)\b")


class Reading(NamedTuple):
    """Files by name, of which the one called `damaged` is changed, and what is done with their folder."""

    files: dict[str, bytes]
    damaged: str
    read: Callable[[Path], None]


def content(name: str) -> bytes:
    """A fixture's file, decompressed."""
    data = (FIXTURES / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


def excerpt(log: bytes, lines: int) -> bytes:
    """A log's first lines, its options among them, a statistics dump, and a stretch in which jobs finish."""
    all_lines = log.splitlines(keepends=True)
    kept = [*all_lines[:120], *islice((one for one in all_lines[120:] if b"Options." in one), 150)]
    dump = next((place for place, one in enumerate(all_lines) if b"** DB Stats **" in one), None)
    if dump is not None:
        kept += all_lines[max(0, dump - 2) : dump + 90]
    events = [place for place, one in enumerate(all_lines) if b"EVENT_LOG_v1" in one]
    first = next((place - 20 for place in events if b"flush_finished" in all_lines[place]), events[0])
    return b"".join(kept + all_lines[first : first + lines])


def written(subject: Subject, report: object, folder: Path) -> None:  # type: ignore[type-arg]
    """The screen, the JSON, and one more form of a report by turns; each must be whole and its own kind."""
    screen = subject.screen(report, True, 100)
    assert not CONTROL.search(screen.replace("\n", "")), CONTROL.search(screen)
    others = sorted(subject.forms)
    chosen = {".json", others[zlib.crc32(screen.encode()) % len(others)]} & set(others)
    for output in subject.outputs([str(folder / f"out{suffix}") for suffix in sorted(chosen)]):
        subject.write(output, report)
        if output.path.suffix == ".json":
            json.loads(output.path.read_text(), parse_constant=_no_constant)
        elif output.path.suffix == ".html":
            assert "<script>alert(1)" not in output.path.read_text()
    if "github" in subject.formats:
        subject.printed(report, "github")


def _no_constant(name: str) -> None:
    raise AssertionError(f"no JSON: {name}")


def _analyze(folder: Path) -> None:
    analysis = analyze([str(folder)])
    written(ANALYSIS, AnalysisReport(analysis), _out(folder))
    redacted(analysis)


def _compare(folder: Path) -> None:
    arms = read_arms([parse_arm(f"a={folder}"), parse_arm(f"b={SOUND}")])
    written(COMPARISON, ComparisonReport(compare(arms)), _out(folder))


def _compare_file(folder: Path) -> None:
    (file,) = (one for one in folder.iterdir() if one.is_file())
    arms = read_arms([parse_arm(str(file)), parse_arm(f"b={SOUND}")])
    written(COMPARISON, ComparisonReport(compare(arms)), _out(folder))


def _qos(folder: Path) -> None:
    written(QOS, QosReport(assess(view_of(read_material([str(folder)], None)), None)), _out(folder))


def _learn(folder: Path) -> None:
    run = read_run([folder])
    written(WORKLOAD, learn(run), _out(folder))
    options_of_run(run)


def _stream(folder: Path) -> None:
    (file,) = (one for one in folder.iterdir() if one.is_file())
    for batches in islice(open_workload(str(file)).batches(1, 64.0), 3):
        decode(batches)


def _options(folder: Path) -> None:
    (file,) = (one for one in folder.iterdir() if one.is_file())
    for one in read_option_sets([str(file)]):
        one.resolve((), "7.9.2")


def _out(folder: Path) -> Path:
    out = folder.parent / "out"
    out.mkdir(exist_ok=True)
    return out


SOUND = FIXTURES / "saved-analyses" / "reef-new-scaled.json.gz"


@cache
def readings() -> dict[str, Reading]:
    """All of them, by name."""
    return dict(_readings())


def _readings() -> Iterator[tuple[str, Reading]]:
    osd = excerpt(content("osd-noisy/ceph-osd.0.log.gz"), 150)
    native = excerpt(content("rocksdb-current/LOG"), 250)
    slow = {
        path.name.removesuffix(".gz"): content(f"osd-small-db/{path.name}")
        for path in (FIXTURES / "osd-small-db").iterdir()
        if path.suffix != ".md" and "osd.0.log" not in path.name
    }
    slow["ceph-osd.0.log"] = excerpt(content("osd-small-db/ceph-osd.0.log.gz"), 60)
    mclock = {
        path.name.removesuffix(".gz"): content(f"osd-mclock/{path.name}")
        for path in (FIXTURES / "osd-mclock").iterdir()
        if path.suffix != ".md" and "osd.0.log" not in path.name
    }
    mclock["ceph-osd.0.log"] = excerpt(content("osd-mclock/ceph-osd.0.log.gz"), 40)
    yield "an OSD's log", Reading({"ceph-osd.0.log": osd}, "ceph-osd.0.log", _analyze)
    yield "a database's LOG", Reading({"LOG": native}, "LOG", _analyze)
    yield "a log in a comparison", Reading({"LOG": native}, "LOG", _compare)
    yield "a workload of an OSD", Reading({"ceph-osd.0.log": osd}, "ceph-osd.0.log", _learn)
    yield "a workload of a database", Reading({"LOG": content("rocksdb-current/LOG")}, "LOG", _learn)
    for name in slow:
        if name != "ceph-osd.0.log" and not re.search(r"averaged_(?!clat\.1|iops\.1)", name):
            yield f"{name} beside a log", Reading(slow, name, _analyze)
    for name in mclock:
        yield f"{name} of a scheduler", Reading(mclock, name, _qos)
    for name in ("A_radosbench.out", "show_sharding.txt", "fio_B.json", "config_show.json"):
        beside = {name: content(f"osd-tuned/{name}"), "ceph-osd.0.log": slow["ceph-osd.0.log"]}
        yield f"{name} beside another", Reading(beside, name, _analyze)
    saved = content("saved-analyses/stock-scaled.json.gz")
    yield "a saved analysis", Reading({"a.json": saved}, "a.json", _compare_file)
    table = content("published/pr51821-rate-limited.csv")
    yield "a published table", Reading({"a.csv": table}, "a.csv", _compare_file)
    for name in ("fillrandom", "mergerandom", "randomwithverify"):
        trace = content(f"query-traces/{name}.trace")[:4000]
        yield f"a query trace, {name}", Reading({"a.trace": trace}, "a.trace", _stream)
    batches = b"".join(content("osd-write-batches/ceph-osd.0.log.gz").splitlines(keepends=True)[:150])
    yield "a log with write batches", Reading({"ceph-osd.0.log": batches}, "ceph-osd.0.log", _stream)
    for path in sorted((FIXTURES.parent / "tuners" / "workloads").glob("*.yaml"))[:3]:
        yield f"the workload {path.name}", Reading({"a.yaml": path.read_bytes()}, "a.yaml", _stream)
    yield "a ceph.conf as options", Reading({"ceph.conf": slow["ceph.conf"]}, "ceph.conf", _options)
    shown = content("osd-tuned/config_show.json")
    yield "config show as options", Reading({"c.json": shown}, "c.json", _options)
