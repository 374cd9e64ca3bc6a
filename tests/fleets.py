"""Fleets for tests: bundles of many OSDs made of the logs of a few real ones, and data sets made without logs."""

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from types import MappingProxyType

from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.fleet.dataset import DataSet
from lsmlens.analyzer.fleet.tables import TABLES, FindingSeen, Option, Reading
from lsmlens.analyzer.runs.columns import frame
from lsmlens.analyzer.runs.jobs import Job

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
# Three logs, which stand for three releases.
RELEASES = (("osd-stock", b"16.2.15"), ("osd-reef", b"18.2.7"), ("osd-spillover", b"17.2.7"))
HOSTS_OF = 20  # OSDs a host


@dataclass(frozen=True)
class Planted:
    """What makes an OSD unlike its peers: compactions write so many times as much, and an option is another."""

    factor: int = 4
    option: tuple[bytes, bytes] = (b"level0_file_num_compaction_trigger: 4", b"level0_file_num_compaction_trigger: 9")


@cache
def lines_of(fixture: str, keeps_all: bool = False) -> bytes:
    """The lines of a real OSD's log that RocksDB wrote, and those that say who it is."""
    log = gzip.decompress((FIXTURES / fixture / "ceph-osd.0.log.gz").read_bytes())
    if keeps_all:
        return log
    kept = re.compile(rb"rocksdb: |ceph version|starting osd|^(?!\d{4}-)", re.MULTILINE)
    return b"".join(line for line in log.splitlines(keepends=True) if kept.search(line))


def log_of(number: int, planted: Planted | None = None, days: int = 0) -> bytes:
    """The log of one OSD: its release by its number, each number's bytes a little other, `days` later."""
    fixture, version = RELEASES[number % len(RELEASES)]
    log = re.sub(rb"ceph version \d+\.\d+\.\d+", b"ceph version " + version, lines_of(fixture))
    log = re.sub(rb"osd\.0\b", b"osd.%d" % number, log).replace(b"/ceph-0", b"/ceph-%d" % number)
    log = re.sub(rb"^(\S+ )7f", rb"\g<1>%xf" % (number + 16), log, flags=re.M)  # threads of its own, or it is a copy
    percent = 97 + number * 7919 % 7
    times = planted.factor if planted is not None else 1
    log = re.sub(
        rb'("total_output_size": )(\d+)',
        lambda match: b"%s%d" % (match[1], int(match[2]) * percent * times // 100),
        log,
    )
    if planted is not None:
        log = re.sub(rb"level0_file_num_compaction_trigger: \d+", planted.option[1], log)
    if days:
        log = re.sub(rb"^2026-11-(\d\d)T", lambda match: b"2026-11-%02dT" % (int(match[1]) + days), log, flags=re.M)
        log = re.sub(
            rb'"time_micros": (\d+)',
            lambda match: b'"time_micros": %d' % (int(match[1]) + days * 86_400_000_000),
            log,
        )
    return log


def write_bundle(folder: Path, number: int, planted: Planted | None = None, days: int = 0) -> Path:
    """The folder of one OSD: its log and its metadata."""
    place = folder / f"host{number // HOSTS_OF:03}" / f"osd.{number}"
    place.mkdir(parents=True)
    (place / f"ceph-osd.{number}.log.gz").write_bytes(gzip.compress(log_of(number, planted, days), 1))
    metadata = {
        "id": number,
        "osd_objectstore": "bluestore",
        "hostname": f"host{number // HOSTS_OF:03}",
        "default_device_class": "ssd" if number // HOSTS_OF % 2 else "hdd",
    }
    (place / "osd_metadata.json").write_text(json.dumps(metadata))
    return place


def put(
    fleet: DataSet,
    daemon: str,
    jobs: Sequence[Job],
    *,
    host: str = "h0",
    device_class: str = "hdd",
    version: str = "18.2.7",
    day: date = date(2026, 11, 20),
    options: Mapping[str, str] = MappingProxyType({}),
    findings: Sequence[tuple[str, Severity, str]] = (),
    cluster: str = "ceph",
    client_bytes: float | None = None,
) -> None:
    """What a daemon's hour of one day gave, put into a data set without a log."""
    began = int(datetime(day.year, day.month, day.day, 1, tzinfo=UTC).timestamp() * 1e6)
    reading = Reading(
        began_at=began, ended_at=began + 3_600_000_000, ceph_version=version, device_class=device_class, lines=10,
        covered_client_write_bytes=client_bytes,
    )  # fmt: skip
    rows = {
        "jobs": frame(Job, jobs),
        "readings": frame(Reading, [reading]),
        "options": frame(Option, [Option("rocksdb", "default", *one, None, "log") for one in options.items()]),
        "findings": frame(
            FindingSeen,
            [
                FindingSeen(code, None, f"title of {code}", str(how), "high", said, "", "", "")
                for code, how, said in findings
            ],
        ),
    }
    with fleet.addition(cluster, daemon) as addition:
        addition.state.host = host
        for name, some in rows.items():
            addition.write(addition.path_of(name, day), some.cast(TABLES[name].schema))  # type: ignore[arg-type]
