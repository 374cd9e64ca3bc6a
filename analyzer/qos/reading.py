"""From paths to what they hold on scheduling, and of which OSD each of it is.

The bundle is read once: what RocksDB wrote is the analyzer's, and in the same pass a listener takes the documents and
the few lines that OSDs, monitors and the manager write on scheduling. A bundle without any log will do if it has one of
these documents. Which OSD a document or a line is of is told by what it says, by its file's name, by the logs it stands
beside.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsmlens.analyzer.bundles.companions import Companion, client_results_of
from lsmlens.analyzer.bundles.members import Member
from lsmlens.analyzer.bundles.roles import Role, daemon_of_name
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.logs.blocks import Block
from lsmlens.analyzer.qos.documents import (
    OsdMetadata,
    QosDocument,
    read_cluster,
    read_config_dump,
    read_osd_metadata,
    read_queue_states,
    recognise,
    recognise_text,
)
from lsmlens.analyzer.qos.log_lines import (
    KEPT,
    KEPT_OTHERWISE,
    LINE_BYTES,
    OF_CLUSTER,
    Finder,
    QosLine,
    finder,
    parse_line,
)
from lsmlens.analyzer.qos.material import ClusterDocument, OsdMaterial, QosMaterial
from lsmlens.analyzer.qos.placement_groups import PlacementGroup, read_pg_dump
from lsmlens.analyzer.runs.osds import is_osd
from lsmlens.analyzer.runs.reading import read_bundle
from stringzilla import count, find, rfind

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis
    from lsmlens.analyzer.counters.perf_dumps import PerfDump

UNNAMED = "osd.N"
# A pg dump of a large cluster has some kilobytes for each placement group.
DOCUMENT_BYTES = 512 << 20


def read_material(paths: Sequence[str], on_progress: Callable[[str, int], None] | None = None) -> QosMaterial:
    """What everything under `paths` holds on scheduling.

    Raises InputError for a path that does not exist, and where nothing says anything about an OSD.
    """
    from lsmlens.analyzer.diagnosis import analyze_runs

    collection = Collection()
    members, runs, companions = read_bundle(paths, on_progress, collection)
    collection.add(companions)
    analysed = analyze_runs(members, runs).runs if runs else ()
    osds = osds_of(collection, [one for one in analysed if is_osd(one.run)])
    if not osds:
        shown = paths[0] if len(paths) == 1 else f"{len(paths)} paths"
        hint = "give an OSD's log, its config show, perf dump or dump_op_pq_state, or a bundle that holds them"
        raise InputError(shown, "nothing in it is of an OSD", hint)
    source, groups = _placement(collection.of(QosDocument.PG_DUMP))
    dump = next(iter(collection.of(QosDocument.CONFIG_DUMP)), None)
    conf = next((one for one in companions if one.role is Role.CEPH_CONF), None)
    return QosMaterial(
        osds=osds,
        cluster=read_cluster((one.kind, one.path, one.content) for one in collection.documents),
        stored=None if dump is None else read_config_dump(dump.content),
        stored_source="" if dump is None else dump.path,
        ceph_conf=None if conf is None else str(conf.content),
        ceph_conf_source="" if conf is None else conf.path,
        placement_groups=groups,
        placement_source=source,
        statuses=tuple((one.path, one.content) for one in collection.of(QosDocument.STATUS)),
        cluster_lines=tuple(
            line for _, lines in sorted(collection.lines.items()) for line in lines if line.kind in OF_CLUSTER
        ),
        client_results=tuple(result for one in companions for result in client_results_of([one])),
    )


@dataclass(slots=True)
class Collection:
    """What was read of the members, as a listener to their reading: documents, and lines by member.

    `dumps` are perf dumps, `directories` those of the members.
    """

    document_bytes: int = DOCUMENT_BYTES
    documents: list[ClusterDocument] = field(default_factory=list)
    dumps: list[Companion] = field(default_factory=list)
    lines: dict[str, list[QosLine]] = field(default_factory=dict)
    directories: dict[str, str] = field(default_factory=dict)
    finder: Finder | None = None

    def take_document(self, member: Member, _: Role, document: object) -> None:
        """Keep a JSON document that says something on scheduling."""
        self.directories[member.path] = member.directory
        kind = recognise(document)
        if kind is not None:
            daemon = _daemon_of(kind, document, member.path)
            self.documents.append(ClusterDocument(member.path, member.directory, kind, document, daemon))

    def take_text(self, member: Member, role: Role, head: bytes) -> bool:
        """Keep a text that says something on scheduling; whether it is a log instead."""
        self.directories[member.path] = member.directory
        kind = recognise_text(head.decode("utf-8", "replace"))
        if kind is None:
            return role.is_log or role is Role.CLUSTER_LOG
        text = member.read(self.document_bytes).decode("utf-8", "replace")
        self.documents.append(ClusterDocument(member.path, member.directory, kind, text))
        return False

    def lines_of(self, member: Member) -> Callable[[Block], None]:
        """Keep a log's lines on scheduling; of a kind that is said again and again the first so many."""
        self.directories[member.path] = member.directory
        self.finder = anchors = self.finder or finder()
        found = self.lines.setdefault(member.path, [])
        kept: Counter[str] = Counter()
        lines_before = 0

        def look(block: Block) -> None:
            nonlocal lines_before
            counted = block.begin
            for shape, begin in anchors(block.view[block.begin : block.end]):
                if kept[shape.kind] >= KEPT.get(shape.kind, KEPT_OTHERWISE):
                    continue
                start, end = _line_around(block, block.begin + begin)
                if start > counted:
                    lines_before += count(block.view[counted:start], b"\n")
                    counted = start
                line = parse_line(shape, bytes(block.view[start:end]), member.path, lines_before + 1)
                if line is not None:
                    kept[shape.kind] += 1
                    found.append(line)
            lines_before += count(block.view[counted : block.end], b"\n")

        return look

    def add(self, companions: Iterable[Companion]) -> None:
        """Keep what the analyzer itself reads as documents, as far as it is of an OSD."""
        self.dumps += [one for one in companions if one.role is Role.PERF_DUMP]

    def of(self, kind: QosDocument) -> list[ClusterDocument]:
        """The documents of one kind."""
        return [one for one in self.documents if one.kind is kind]


def _line_around(block: Block, place: int) -> tuple[int, int]:
    """Where the line that holds a place of a block begins and ends; cut where it is overlong."""
    least = max(block.begin, place - LINE_BYTES)
    most = min(block.end, place + LINE_BYTES)
    before = rfind(block.view, b"\n", least, place)
    behind = find(block.view, b"\n", place, most)
    return (before + 1 if before >= 0 else least), (behind if behind >= 0 else most)


@dataclass(slots=True)
class _Subject:
    """An OSD while its material is gathered."""

    name: str
    run: "RunAnalysis | None" = None
    directories: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    documents: list[ClusterDocument] = field(default_factory=list)
    dumps: list[Companion] = field(default_factory=list)

    @property
    def daemon(self) -> str:
        """Its name without the host's."""
        return self.name.rpartition("/")[2]


def osds_of(collection: Collection, runs: "Sequence[RunAnalysis]") -> tuple[OsdMaterial, ...]:
    """The OSDs of a bundle: those whose logs were analysed, and those that only documents or lines name."""
    subjects = [
        _Subject(
            one.run.name, one, {collection.directories.get(path, "") for path in one.run.members}, set(one.run.members)
        )
        for one in runs
    ]
    # Those that name their OSD come first: what does not stands beside one of them.
    for document in sorted(collection.documents, key=lambda one: one.daemon is None):
        if not document.kind.is_of_cluster and isinstance(document.content, dict):
            _assign(subjects, document.daemon, document.directory).documents.append(document)
    for dump in sorted(collection.dumps, key=lambda one: one.daemon is None):
        daemon = dump.daemon
        if daemon is None or daemon.startswith("osd."):
            _assign(subjects, daemon, dump.directory).dumps.append(dump)
    metadata = _metadata_of_all(collection)
    if not subjects:
        named = {line.osd for lines in collection.lines.values() for line in lines if line.osd}
        subjects += [_Subject(f"osd.{number}") for number in sorted(named | metadata.keys(), key=int)]
    return tuple(_material(subject, collection, metadata, len(subjects) == 1) for subject in subjects)


def _assign(subjects: list[_Subject], daemon: str | None, directory: str) -> _Subject:
    """The OSD that something is of; a new one where none fits."""
    if daemon is not None:
        named = [one for one in subjects if one.daemon == daemon]
        beside = [one for one in named if directory in one.directories]
        # An OSD's log may not name it: what stands beside it then does.
        unnamed = [one for one in subjects if directory in one.directories and not one.daemon.startswith("osd.")]
        fitting = beside or named or (unnamed if len(unnamed) == 1 else [])
    else:
        fitting = [one for one in subjects if directory in one.directories] or list(subjects)
        fitting = fitting if len(fitting) == 1 else []
    if fitting:
        return fitting[0]
    subject = next((one for one in subjects if one.name == (daemon or UNNAMED)), None)
    if subject is None:
        subject = _Subject(daemon or UNNAMED)
        subject.directories.add(directory)
        subjects.append(subject)
    return subject


def _metadata_of_all(collection: Collection) -> dict[str, tuple[str, OsdMetadata]]:
    """What a list of all OSDs' metadata says, by OSD number."""
    found: dict[str, tuple[str, OsdMetadata]] = {}
    for document in collection.of(QosDocument.OSD_METADATA):
        if isinstance(document.content, list):
            found |= {one.osd: (document.path, one) for one in read_osd_metadata(document.content) if one.osd}
    return found


def _material(
    subject: _Subject, collection: Collection, listed: dict[str, tuple[str, OsdMetadata]], is_alone: bool
) -> OsdMaterial:
    shown = _last(subject.documents, QosDocument.CONFIG_SHOW)
    differing = _last(subject.documents, QosDocument.CONFIG_DIFF)
    own = _last([one for one in subject.documents if isinstance(one.content, dict)], QosDocument.OSD_METADATA)
    source, metadata = listed.get(subject.daemon.rpartition(".")[2], ("", None))
    if own is not None:
        source, metadata = own.path, next(iter(read_osd_metadata(own.content)), None)
    run = subject.run.run if subject.run is not None else None
    number = subject.daemon.rpartition(".")[2]
    return OsdMaterial(
        name=subject.name,
        release=(run.ceph_version if run is not None else None) or (metadata.release if metadata else None),
        config_show=shown.content if shown is not None else {},
        config_show_source=shown.path if shown is not None else "",
        config_diff=differing.content["diff"] if differing is not None else {},
        config_diff_source=differing.path if differing is not None else "",
        metadata=metadata,
        metadata_source=source,
        queue_states=tuple(
            (one.path, states)
            for one in subject.documents
            if one.kind is QosDocument.QUEUE_STATE and (states := read_queue_states(one.content))
        ),
        perf_dumps=_perf_dumps(subject.dumps),
        lines=tuple(_lines(collection, subject.members, number, is_alone)),
        run=subject.run,
    )


def _lines(collection: Collection, members: set[str], number: str, is_alone: bool) -> Iterable[QosLine]:
    for path, lines in sorted(collection.lines.items()):
        for line in lines:
            if line.kind in OF_CLUSTER:
                continue
            if line.osd == number or (line.osd is None and path in members) or (is_alone and not number.isdigit()):
                yield line


def _last(documents: Sequence[ClusterDocument], kind: QosDocument) -> ClusterDocument | None:
    found = [one for one in documents if one.kind is kind]
    return found[-1] if found else None


def _perf_dumps(companions: Sequence[Companion]) -> "tuple[PerfDump, ...]":
    if not companions:
        return ()
    from lsmlens.analyzer.counters.perf_dumps import read_perf_dump

    return tuple(read_perf_dump(one.content, one.path) for one in companions)


def _daemon_of(kind: QosDocument, content: object, path: str) -> str | None:
    """The daemon a document is of: by what it says, else by its file's name."""
    if isinstance(content, Mapping):
        name = content.get("name")
        if kind is QosDocument.CONFIG_SHOW and isinstance(name, str) and name.startswith("osd."):
            return name
        number = content.get("id")
        if kind is QosDocument.OSD_METADATA and isinstance(number, int | str):
            return f"osd.{number}"
    return daemon_of_name(path)


def _placement(dumps: Sequence[ClusterDocument]) -> tuple[str, tuple[PlacementGroup, ...] | None]:
    """The dump with the most groups that recover, and its groups."""
    read = [(dump.path, groups) for dump in dumps if (groups := read_pg_dump(dump.content)) is not None]
    return max(read, key=lambda one: sum(group.recovers for group in one[1]), default=("", None))
