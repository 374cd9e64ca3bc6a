"""From paths to runs: opens a bundle, scans its logs, and stitches the pieces of each daemon's together."""

import errno
import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from lsmlens.analyzer.bundles.companions import GAUGES, READ_AS_DOCUMENT, READ_AS_TEXT, Companion, belonging_to
from lsmlens.analyzer.bundles.compression import DamagedStream
from lsmlens.analyzer.bundles.embedders import Unwrap
from lsmlens.analyzer.bundles.members import HEAD_BYTES, Member, open_bundle
from lsmlens.analyzer.bundles.roles import Role, daemon_in, recognise_json, recognise_text
from lsmlens.analyzer.bundles.transports import LAYERS, UnwrappedStream, transport_of, unwrapping
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.logs.blocks import Block, MappedBlocks, StreamedBlocks
from lsmlens.analyzer.logs.pieces import Piece, grouped, pieces_of
from lsmlens.analyzer.logs.records import SlowRequestLine
from lsmlens.analyzer.logs.scan import Scan
from lsmlens.analyzer.logs.scanner import Scanner
from lsmlens.analyzer.logs.text_lines import BANNER, CEPH_VERSION
from lsmlens.analyzer.manifest import manifest_of
from lsmlens.analyzer.numbers import counted
from lsmlens.analyzer.runs.osds import UNNAMED
from lsmlens.analyzer.runs.run import Run, SlowRequest
from lsmlens.analyzer.runs.stitching import stitched

DOCUMENT_BYTES = 16 << 20
# What the cluster says is of all OSDs whose logs stand below it.
OF_ALL = (Role.HEALTH, Role.OSD_DF, Role.OSD_TREE, Role.OSD_METADATA, Role.CLUSTER_LOG)
# What says something of a database by itself, and what a run is called that is of no daemon.
TELLING = (
    *(Role.PERF_DUMP, Role.CONFIG_SHOW, Role.CONFIG_DIFF, Role.HISTORIC_OPS, *GAUGES),
    *(Role.HEALTH, Role.OSD_DF, Role.OSD_TREE, Role.CLUSTER_LOG),
)
OF_CLUSTER = "cluster"
DAEMON_NAME = re.compile(r"(?:osd|mon)\.[\w-]+")
CHUNK_BYTES = 1 << 20


class MemberSummary(NamedTuple):
    """One member as it is listed: its role, its size where known, and what went wrong with it, if anything."""

    path: str
    role: Role
    size: int | None
    problem: str | None


class Reading(NamedTuple):
    """All there is under some paths: the members, the runs put together from logs, and what stands beside logs."""

    members: list[MemberSummary]
    runs: list[Run]
    companions: list[Companion]


class Listener(Protocol):
    """Who takes more from a bundle than its runs, in the same pass over its bytes. `document_bytes`: its largest."""

    document_bytes: int

    def take_document(self, member: Member, role: Role, document: object) -> None:
        """Take a JSON document of a known role."""

    def take_text(self, member: Member, role: Role, head: bytes) -> bool:
        """Take a member that is no JSON, if it is a document; whether its lines are wanted."""

    def lines_of(self, member: Member) -> Callable[[Block], None]:
        """What is to be shown a log's blocks, in their order."""


def read_runs(
    paths: Sequence[str], on_progress: Callable[[str, int], None] | None = None
) -> tuple[list[MemberSummary], list[Run]]:
    """The members and runs of everything under `paths`.

    Of daemons without a log, those that counters, configuration or operations are of; and the cluster, if it is alone.
    Raises InputError for a path that does not exist, and where nothing could be read.
    """
    members, runs, companions = read_bundle(paths, on_progress)
    runs += _runs_without_logs(companions, runs)
    if not runs:
        raise nothing_read(paths, members)
    runs.sort(key=_reading_order)
    return members, runs


def read_bundle(
    paths: Sequence[str],
    on_progress: Callable[[str, int], None] | None = None,
    listener: Listener | None = None,
) -> Reading:
    """Everything under `paths`, be there logs or not. Raises InputError for a path that does not exist."""
    members, pieces, companions = read_pieces(paths, on_progress, listener=listener)
    runs = runs_of(grouped(pieces), companions)
    if runs:
        _name_apart(runs)
        runs.sort(key=_reading_order)
    return Reading(members, runs, companions)


def read_pieces(
    paths: Sequence[str],
    on_progress: Callable[[str, int], None] | None = None,
    wanted: Container[str] | None = None,
    listener: Listener | None = None,
) -> tuple[list[MemberSummary], list[Piece], list[Companion]]:
    """The members under `paths`, or those of them whose paths are wanted; logs are scanned, and not yet put together.

    Raises InputError for a path that does not exist.
    """
    current = ""

    def on_bytes(count: int) -> None:
        if on_progress is not None:
            on_progress(current, count)

    summaries: list[MemberSummary] = []
    pieces: list[Piece] = []
    companions: list[Companion] = []
    for member in open_bundle(paths, on_bytes):
        if wanted is not None and member.path not in wanted:
            continue
        current = member.path
        role, found = _read_member(member, on_bytes, companions, listener)
        for piece in found:
            piece.scan.damage = member.damage
        pieces += found
        summaries.append(MemberSummary(member.path, role, member.size, member.damage))
    return summaries, pieces, companions


def runs_of(groups: Iterable[list[Piece]], companions: list[Companion]) -> list[Run]:
    """The run of each group of pieces, with what stands in its folders beside its logs."""
    kept = [group for group in groups if _is_worth_a_run(group)]
    runs = [stitched(group) for group in kept]
    _accompany(runs, kept, companions)
    return runs


def _accompany(runs: list[Run], groups: list[list[Piece]], companions: list[Companion]) -> None:
    """Give each run what stands in its folders beside its logs."""
    folders = [{piece.directory for piece in group} for group in groups]
    for run, group, mine in zip(runs, groups, folders, strict=True):
        others = [other for other, theirs in zip(runs, folders, strict=True) if theirs & mine and not other.is_monitor]
        daemon = next((piece.daemon for piece in group if piece.daemon), None)
        above = [
            one for one in companions if one.role in OF_ALL and any(_is_above(one.directory, folder) for folder in mine)
        ]
        nearby = [*(one for one in companions if one.directory in mine), *above]
        run.companions = belonging_to(daemon, others == [run], nearby)
        kept = (manifest_of(one.content) for one in run.companions if one.role is Role.MANIFEST)
        run.manifest = next((one for one in kept if one is not None), None)


def _is_above(directory: str, folder: str) -> bool:
    return folder != directory and folder.startswith((directory.rstrip("/") + "/", directory + "!"))


def _runs_without_logs(companions: list[Companion], logged: Sequence[Run]) -> list[Run]:
    """What OSDs' counters, configurations and operations say, or the cluster, without a log.

    One run for each daemon that files or their folders name, and that has no log; where there is no log at all, also
    for all of a folder's files that name none. What the cluster says is of all daemons beside it and below; where
    there is none, it is a run by itself.
    """
    of_all = [one for one in companions if one.role in OF_ALL]
    given = {one.path for run in logged for one in run.companions}
    names = {run.name.rsplit("/", 1)[-1] for run in logged}
    shown = _daemons_by_configuration(companions)
    groups: dict[tuple[str, str], list[Companion]] = {}
    for one in companions:
        daemon = one.daemon or _daemon_of_folder(one.directory) or shown.get(one.directory, "")
        is_new = daemon not in names and bool(daemon) if logged else True
        if one.role not in OF_ALL and one.path not in given and is_new and _tells(one):
            groups.setdefault((one.directory, daemon), []).append(one)
    found = []
    for (directory, daemon), group in groups.items():
        run = Run(name=daemon or UNNAMED, is_monitor=daemon.startswith("mon."), members=[])
        shared = [one for one in of_all if one.directory == directory or _is_above(one.directory, directory)]
        run.companions = [*group, *shared]
        run.ceph_version = _version_by_metadata(run)
        given |= {one.path for one in run.companions}
        found.append(run)
    alone = () if logged else dict.fromkeys(one.directory for one in of_all if _tells(one) and one.path not in given)
    for directory in alone:
        run = Run(name=OF_CLUSTER, is_monitor=False, members=[])
        run.companions = [one for one in of_all if one.directory == directory]
        found.append(run)
    if found:
        _name_apart(found)
    return found


def _daemons_by_configuration(companions: Iterable[Companion]) -> dict[str, str]:
    """The daemon that a folder's one `config show` names: whatever else stands there is of it."""
    names: dict[str, set[str]] = {}
    for one in companions:
        if one.role is Role.CONFIG_SHOW:
            names.setdefault(one.directory, set()).add(one.daemon or str(one.content.get("name", "")))
    return {
        directory: name for directory, (name, *others) in names.items() if not others and DAEMON_NAME.fullmatch(name)
    }


def _version_by_metadata(run: Run) -> str | None:
    """Ceph's version, as `ceph osd metadata` has it of this OSD."""
    for one in run.companions:
        rows = one.content if isinstance(one.content, list) else [one.content]
        for row in rows if one.role is Role.OSD_METADATA else ():
            if f"osd.{row.get('id')}" == run.name and isinstance(row.get("ceph_version_short"), str):
                return str(row["ceph_version_short"])
    return None


def _daemon_of_folder(directory: str) -> str:
    """The daemon that a folder is named after; empty where it is not."""
    name = re.split(r"[/!]", directory)[-1]
    return name if DAEMON_NAME.fullmatch(name) else ""


def _tells(one: Companion) -> bool:
    """Whether a companion says anything of a database by itself; a list of no operations does not."""
    return one.role in TELLING and (one.role is not Role.HISTORIC_OPS or bool(one.content.get("ops")))


def _read_member(
    member: Member, on_bytes: Callable[[int], None], companions: list[Companion], listener: Listener | None
) -> tuple[Role, list[Piece]]:
    head = member.head()
    unwrap = unwrapping(head)
    if unwrap is None and head.lstrip()[:1] in (b"{", b"["):
        document = _document_role(member, companions, listener)
        if document is not None:
            return document, []
    if unwrap is None:
        return _scan(member, member.stream, False, on_bytes, companions, listener)
    if member.stream is not None:
        return _scan_unwrapped(member, member.stream, unwrap, on_bytes, companions, listener)
    assert member.file is not None
    with member.file.open("rb", buffering=0) as file:
        return _scan_unwrapped(member, DamagedStream(file), unwrap, None, companions, listener)


def _scan_unwrapped(
    member: Member,
    stream: DamagedStream,
    unwrap: Unwrap | None,
    on_bytes: Callable[[int], None] | None,
    companions: list[Companion],
    listener: Listener | None,
) -> tuple[Role, list[Piece]]:
    """Scan what is left when everything that carries the lines is off: as many layers as there are, to a limit."""
    head = member.head()
    is_shared = False
    for _ in range(LAYERS):
        if unwrap is None:
            break
        is_shared |= transport_of(head).is_shared
        stream = UnwrappedStream(stream, unwrap)
        member.sources.append(stream)
        head = stream.peek(HEAD_BYTES)
        unwrap = unwrapping(head)
    return _scan(member, stream, is_shared, on_bytes, companions, listener)


def _document_role(member: Member, companions: list[Companion], listener: Listener | None) -> Role | None:
    """The role of a member that is one JSON document; None where it is not."""
    import orjson

    try:
        document = orjson.loads(member.read(DOCUMENT_BYTES if listener is None else listener.document_bytes))
    except ValueError:
        return None
    role = recognise_json(document)
    if role in READ_AS_DOCUMENT:
        companions.append(Companion(member.path, member.directory, role, document))
    if listener is not None and role is not None:
        listener.take_document(member, role, document)
    return role


def _scan(
    member: Member,
    stream: DamagedStream | None,
    shared: bool,
    on_bytes: Callable[[int], None] | None,
    companions: list[Companion],
    listener: Listener | None,
) -> tuple[Role, list[Piece]]:
    head = stream.peek(HEAD_BYTES) if stream is not None else member.head()
    role = recognise_text(head, member.path)
    is_plain = stream is None or stream is member.stream
    on_block = None
    if listener is not None and (not is_plain or listener.take_text(member, role, head)):
        on_block = listener.lines_of(member)
    if role in READ_AS_TEXT:
        text = (stream.peek(DOCUMENT_BYTES) if stream is not None else member.read(DOCUMENT_BYTES)).decode(
            "utf-8", "replace"
        )
        companions.append(Companion(member.path, member.directory, role, text))
    if role is Role.FIO_LOG and not member.unreadable:
        from lsmlens.analyzer.clients.fio_logs import read_fio_log

        log = read_fio_log(_chunks(member, stream), member.path)
        companions.append(Companion(member.path, member.directory, role, log))
    if role in READ_AS_TEXT or role is Role.FIO_LOG or member.unreadable:
        return role, []
    scanner = Scanner(member.path, role, shared)
    if stream is not None:
        scan = scanner.read(StreamedBlocks(stream), on_block=on_block)
    else:
        assert member.file is not None
        try:
            scan = scanner.read(MappedBlocks(member.file), on_bytes, on_block)
        except OSError as error:
            member.unreadable = error.strerror or str(error)
            return role, []
    _take_from_head(scan, head)
    if role is Role.CLUSTER_LOG and (requests := _slow_requests(scan)):
        companions.append(Companion(member.path, member.directory, role, requests))
        return role, []
    if not role.is_log:
        if not scan.has_records:
            return role, []
        role = Role.LOG
    if not scan.bytes:
        return role, []
    return role, pieces_of(scan, role, member.directory, None if shared else daemon_in(head, role))


def _slow_requests(scan: Scan) -> list[SlowRequest]:
    """What a cluster's log says of slow requests, in UTC; nothing if RocksDB wrote in it too: then it is a daemon's."""
    found = [record for records in scan.by_source.values() for record in records]
    if not all(isinstance(one, SlowRequestLine) for one in found):
        return []
    offset = scan.utc_offset_seconds
    return [
        SlowRequest(
            one.osd,
            one.operation,
            one.seconds,
            one.state,
            None if one.millis is None or offset is None else one.millis - 1000 * offset,
        )
        for one in found
        if isinstance(one, SlowRequestLine)
    ]


def _chunks(member: Member, stream: DamagedStream | None) -> Iterator[bytes]:
    """All of a member's bytes."""
    if stream is not None:
        while data := stream.take(CHUNK_BYTES):
            yield data
        return
    assert member.file is not None
    try:
        with member.file.open("rb", buffering=0) as file:
            while data := file.read(CHUNK_BYTES):
                yield data
    except OSError as error:
        member.unreadable = error.strerror or str(error)


def _take_from_head(scan: Scan, head: bytes) -> None:
    """What the beginning of a log says once: versions, zone."""
    if scan.rocksdb_version is None and (banner := BANNER.shape.search(head)):
        scan.rocksdb_version = banner[1].decode()
    if scan.ceph_version is None and (ceph := CEPH_VERSION.shape.search(head)):
        scan.ceph_version = ceph[1].decode(errors="replace")
    zones = [stamps.zone for stamps in scan.stamps.values() if stamps.zone is not None]
    if zones:
        scan.utc_offset_seconds = zones[0]


def _is_worth_a_run(pieces: list[Piece]) -> bool:
    """Not so any log that is not a daemon's of Ceph nor RocksDB's own, unless RocksDB wrote in it."""
    return any(piece.role is not Role.LOG or piece.scan.has_records for piece in pieces) or any(
        piece.scan.events_rejected for piece in pieces
    )


def _reading_order(run: Run) -> tuple[bool, list[tuple[int, str]]]:
    """Monitors last, and osd.10 after osd.9."""
    parts = re.split(r"(\d+)", run.name)
    return run.is_monitor, [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _name_apart(runs: list[Run]) -> None:
    """Put as much of its folder before a run's name as makes it unlike the others'."""
    folders = {
        id(run): [
            part for part in (run.members or [run.companions[0].path])[0].replace("!", "/").split("/")[:-1] if part
        ]
        for run in runs
    }
    for depth in range(1, 2 + max(map(len, folders.values()))):
        names = [run.name for run in runs]
        clashing = [run for run in runs if names.count(run.name) > 1]
        if not clashing:
            return
        for run in clashing:
            parts = folders[id(run)]
            if depth <= len(parts):
                run.name = f"{parts[-depth]}/{run.name}"
    for number, run in enumerate(runs, 1):
        if [other.name for other in runs].count(run.name) > 1:
            run.name = f"{run.name}#{number}"


def nothing_read(paths: Sequence[str], summaries: list[MemberSummary]) -> InputError:
    """Why there is no log among these members, as an error to raise."""
    problems = [summary for summary in summaries if summary.problem]
    shown = paths[0] if len(paths) == 1 else f"{len(paths)} paths"
    hint = (
        "give an OSD's log (in /var/log/ceph, or by `cephadm logs --name osd.N` or `kubectl logs`), a database's LOG,"
        " or a folder or archive that holds one; lsmlens collect gathers them"
    )
    if problems:
        problem = problems[0].problem or ""
        is_forbidden = problem == os.strerror(errno.EACCES)
        return InputError(
            problems[0].path, problem, "run as a user who may read it, or copy it" if is_forbidden else hint
        )
    if not summaries:
        return InputError(shown, "an empty folder", hint)
    if len(summaries) == 1:
        return InputError(summaries[0].path, "empty, or neither a log nor anything with RocksDB events in it", hint)
    return InputError(shown, f"no line of RocksDB in {counted(len(summaries), 'file')}", hint)
