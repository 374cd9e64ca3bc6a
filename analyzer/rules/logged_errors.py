"""R25: the log tells of damage, of failed writes or of a full device."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import ClassVar, NamedTuple

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.logs import text_lines
from lsmlens.analyzer.options.option_changes import is_ceph
from lsmlens.analyzer.runs.osds import is_osd, store_path, while_stopped
from lsmlens.analyzer.runs.run import ErrorLine

# "in db/000141.sst offset 1214210", "/var/lib/x/000012.log"
_FILE = re.compile(r"[\w./-]*\b(?:\d{6,20}\.(?:sst|ldb|log|blob)|MANIFEST-\d{6,20}|CURRENT)\b")
FILES_SHOWN = 8


class _Kind(StrEnum):
    CORRUPTION = "Data that RocksDB wrote reads back wrong"
    FULL = "No space left for the database"
    DEVICE = "The device fails reads or writes"
    OTHER = "The database refused to go on"


class _Words(NamedTuple):
    meaning: str
    advice: str
    risk: str


_WORDS = {
    _Kind.CORRUPTION: _Words(
        "a block, a table or the manifest does not match its checksum, or is gone; from the first failed flush or"
        " compaction on RocksDB takes no more writes",
        "copy what is there before anything else; look for errors of the device and of the memory; then make the"
        " database anew from its replicas or a backup",
        "no compaction, repair or restart in a loop on the only copy: each may write over what can still be read, and"
        " a repair drops what it cannot read",
    ),
    _Kind.FULL: _Words(
        "flushes and compactions find no space, so writes fail until there is some",
        "make space or enlarge the device first; a compaction needs room for its output before it frees any",
        "no compaction on a full device, and no deleting of files in the database's folder",
    ),
    _Kind.DEVICE: _Words(
        "reads or writes of the device fail, so what RocksDB has on it may be lost",
        "look at the device first, and replace it where it fails",
        "retries on a dying device make it worse; no repair before the data is copied",
    ),
    _Kind.OTHER: _Words(
        "a background job, a write or an open failed",
        "read the status on the line; after a failed job RocksDB takes no writes until it is opened again",
        "no repair on the only copy",
    ),
}
_OF_OSDS = "; with whole replicas elsewhere let Ceph move the placement groups away, and recreate the OSD"


class LoggedErrors:
    """The database was damaged, ran out of space, or was failed by its device: the log says so.

    Evidence: lines "Compaction error: Corruption…", "Waiting after background … error", "ErrorHandler: Set regular
    background error", "DB::Open() failed", Ceph's "submit_common error" and "rocksdb: Corruption:", BlueStore's
    "_verify_csum bad", "bluefs enospc" and "(5) Input/output error". What a crash dump repeats counts once. Errors of
    a shutdown, of dropped families and of cancelled jobs are none.

    Threshold: any. RocksDB, db/error_handler.cc; Ceph, BlueFS.cc and BlueStore.cc.

    Advice: keep what there is, find out whether device, memory or space failed, and rebuild the database from its
    replicas or a backup; of an OSD, let Ceph move the data away where its replicas are whole.

    Risk: repairs, compactions and restarts in a loop on the only copy can destroy what could still be read.

    Check: reading all with checksums (a deep scrub; `sst_dump --command=verify`) finds nothing, and the lines do not
    come back.
    """

    code: ClassVar[str] = "R25"
    title: ClassVar[str] = "Errors in the log"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for each kind of damage."""
        by_kind: dict[_Kind, list[ErrorLine]] = {}
        for row in run.run.errors:
            one = ErrorLine(*row)
            by_kind.setdefault(_kind(one), []).append(one)
        for kind in sorted(by_kind, key=list(_Kind).index):
            yield self._finding(run, kind, by_kind[kind])

    def _finding(self, run: RunAnalysis, kind: _Kind, lines: Sequence[ErrorLine]) -> Finding:
        counts = Counter(one.what for one in lines)
        files = list(dict.fromkeys(name for one in lines for name in _FILE.findall(one.status)))
        more = " …" if len(files) > FILES_SHOWN else ""
        concerned = f"; files concerned: {', '.join(files[:FILES_SHOWN])}{more}" if files else ""
        words = _WORDS[kind]
        return Finding(
            code=self.code,
            title=kind.value,
            severity=Severity.CRITICAL,
            confidence=Confidence.HIGH,
            meaning=words.meaning + concerned,
            value=", ".join(f"{what} ({count})" for what, count in counts.most_common()),
            threshold="any",
            threshold_source="RocksDB, db/error_handler.cc" + ("; Ceph, BlueFS and BlueStore" if is_ceph(run) else ""),
            evidence=tuple(_evidence(run, counts)),
            advice=words.advice + (_OF_OSDS if is_osd(run.run) else ""),
            commands=_commands(run, kind),
            risk=words.risk,
            check="the lines do not come back, and reading all with checksums finds nothing",
        )


def _kind(one: ErrorLine) -> _Kind:
    if one.what == text_lines.BLUEFS_FULL.name or "No space left" in one.status or "NoSpace" in one.status:
        return _Kind.FULL
    if one.what == text_lines.DEVICE_ERROR.name or "Input/output error" in one.status:
        return _Kind.DEVICE
    checksums = (text_lines.BAD_CHECKSUM.name, text_lines.CEPH_OPEN_ERROR.name)
    return _Kind.CORRUPTION if one.what in checksums or one.status.startswith("Corruption") else _Kind.OTHER


def _evidence(run: RunAnalysis, counts: Counter[str]) -> Iterator[Evidence]:
    for what in counts:
        yield from run.run.error_places.get(what, ())[:1]


def _commands(run: RunAnalysis, kind: _Kind) -> tuple[str, ...]:
    """What only looks, and changes nothing."""
    if not is_osd(run.run):
        return ()
    tool, path = "ceph-bluestore-tool", store_path(run.run)
    if kind is _Kind.FULL:
        return while_stopped(run.run, f"{tool} bluefs-bdev-sizes --path {path}")
    devices = "dmesg -T | grep -iE 'i/o error|medium error|edac' | tail"
    return (devices, *while_stopped(run.run, f"{tool} fsck --path {path}"))
