"""Which OSD a document or a line is of: by what it says, by its file's name, by the logs it stands beside."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsmlens.analyzer.bundles.companions import Companion
from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.qos.documents import OsdMetadata, QosDocument, read_osd_metadata
from lsmlens.analyzer.qos.log_lines import OF_CLUSTER, QosLine
from lsmlens.analyzer.qos.material import Document, OsdMaterial
from lsmlens.analyzer.qos.queue_states import read_queue_states

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis
    from lsmlens.analyzer.counters.perf_dumps import PerfDump

UNNAMED = "osd.N"


@dataclass(slots=True)
class Collection:
    """What was read of the members: documents, counters and loads, and lines by member; `directories` by member."""

    documents: list[Document] = field(default_factory=list)
    companions: list[Companion] = field(default_factory=list)
    lines: dict[str, list[QosLine]] = field(default_factory=dict)
    directories: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def of(self, kind: QosDocument) -> list[Document]:
        """The documents of one kind."""
        return [one for one in self.documents if one.kind is kind]


@dataclass(slots=True)
class _Subject:
    """An OSD while its material is gathered."""

    name: str
    run: "RunAnalysis | None" = None
    directories: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    documents: list[Document] = field(default_factory=list)
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
    for companion in sorted(collection.companions, key=lambda one: one.daemon is None):
        daemon = companion.daemon
        if companion.role is Role.PERF_DUMP and (daemon is None or daemon.startswith("osd.")):
            _assign(subjects, daemon, companion.directory).dumps.append(companion)
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


def _last(documents: Sequence[Document], kind: QosDocument) -> Document | None:
    found = [one for one in documents if one.kind is kind]
    return found[-1] if found else None


def _perf_dumps(companions: Sequence[Companion]) -> "tuple[PerfDump, ...]":
    if not companions:
        return ()
    from lsmlens.analyzer.counters.perf_dumps import read_perf_dump

    return tuple(read_perf_dump(one.content, one.path) for one in companions)
