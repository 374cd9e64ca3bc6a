"""The collection: a plan of what is asked, and the archive that the answers are written to.

Answers come from many commands at once; each goes to a nameless file beside the archive, loses its secrets, and then
into the archive. What failed is listed in `collection.json`, the archive's last member.
"""

import io
import json
import os
import tarfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final, cast

import orjson
from lsmlens.analyzer.bundles.compression import Allowance, DamagedStream, Metered, decompressed
from lsmlens.analyzer.collection.access import Access, Command, Osd
from lsmlens.analyzer.collection.commands import Answer, Runner
from lsmlens.analyzer.collection.debug_levels import commands_of, guarded, levels_before
from lsmlens.analyzer.collection.requests import CLUSTER, DAEMON, DEBUG_LEVELS, METADATA, PERF_DUMP
from lsmlens.analyzer.collection.secrets import settings_withheld, shapes_withheld, without_secrets
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.numbers import counted

SCHEMA: Final = "lsmlens.collection/1"
SUFFIXES: Final = (".tar.zst", ".tar.gz")
DOCUMENT_BYTES: Final = 512 << 20
CHUNK_BYTES: Final = 4 << 20
SLICE_SECONDS: Final = 0.2

Redact = Callable[[str], str]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is asked at once, how long an answer may take, and how much of one OSD's log is taken."""

    at_once: int = 8
    timeout_seconds: float = 60.0
    log_bytes: int = 1 << 30
    since_seconds: float = 86_400.0
    interval_seconds: float = 300.0
    debug_seconds: float | None = None

    @property
    def since_minutes(self) -> int:
        """How old the end of a log's piece may be."""
        return max(1, round(self.since_seconds / 60))


@dataclass(frozen=True, slots=True)
class Step:
    """One file of the archive, and the commands that may give it: the first that works."""

    file: str
    commands: tuple[Command, ...]
    is_log: bool = False


Answered = tuple[Step, Answer, Command]


@dataclass(slots=True)
class Told:
    """What became of one step."""

    file: str
    command: str
    seconds: float = 0.0
    bytes: int = 0
    failure: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a collection asks: of the cluster, of each OSD once and twice, and of OSDs that are down."""

    access: Access
    osds: tuple[Osd, ...]
    metadata: dict[int, Any] = field(default_factory=dict)

    @property
    def once(self) -> list[Step]:
        """What is asked at the beginning."""
        steps = [Step(one.file, (self.access.cluster(*one.words),)) for one in CLUSTER]
        for osd in self.osds:
            if osd.is_up:
                steps += [Step(f"{osd.name}/{one.file}", self.access.daemon(osd, *one.words)) for one in DAEMON]
            elif (sharding := self.access.sharding(osd)) is not None:
                steps.append(Step(f"{osd.name}/show_sharding.txt", (sharding,)))
        return steps

    def perf_dumps(self, number: int) -> list[Step]:
        """The first perf dumps, or the second."""
        name = PERF_DUMP.file.replace(".", f".{number}.")
        return [Step(f"{osd.name}/{name}", self.access.daemon(osd, *PERF_DUMP.words)) for osd in self.osds if osd.is_up]

    def lines(self, limits: Limits) -> Iterator[str]:
        """What would be done, a line a command, in its order."""
        minutes = limits.since_minutes
        for step in [*self.once, *self.perf_dumps(1), *self.perf_dumps(2)]:
            yield f"{step.file}: {' || '.join(' '.join(command) for command in step.commands)}"
        for osd in self.osds:
            for command in (
                self.access.log_place(osd),
                self.access.log_files(osd, None, minutes),
                self.access.journal(osd, minutes),
            ):
                if command is not None:
                    yield f"{osd.name}/, its log: {' '.join(command)}"
            if limits.debug_seconds is not None and osd.is_up:
                raised, back = commands_of(self.access.cluster("tell", osd.name), dict.fromkeys(DEBUG_LEVELS))
                for first, then in zip(raised, back, strict=True):
                    yield f"{osd.name}, for {limits.debug_seconds:g} s: {' '.join(first)}; then: {' '.join(then)}"


@dataclass
class Collector:
    """Runs a plan and writes its archive. `redact`, where given, is done to every text before it is kept."""

    plan: Plan
    limits: Limits
    redact: Redact | None = None
    on_progress: Progress | None = None
    on_note: Callable[[str], None] | None = None
    told: list[Told] = field(default_factory=list)
    _runner: Runner = field(init=False)
    _archive: tarfile.TarFile = field(init=False)
    _pool: ThreadPoolExecutor = field(init=False)
    _done: int = field(init=False, default=0)
    _total: int = field(init=False, default=0)

    def write(self, path: Path, suffix: str) -> list[Told]:
        """Collect into the archive at `path`; what became of each step. Raises OSError where it cannot be written."""
        ended = threading.Event()
        self._runner = Runner(path.parent, self.limits.timeout_seconds, ended)
        began = datetime.now(UTC)
        with archive_at(path, suffix) as archive, ThreadPoolExecutor(self.limits.at_once) as pool:
            self._archive, self._pool = archive, pool
            try:
                self._collect(ended)
                add_content(archive, "collection.json", self._summary(began))
            finally:
                ended.set()
                pool.shutdown(cancel_futures=True)
        return self.told

    def _collect(self, ended: threading.Event) -> None:
        plan, limits = self.plan, self.limits
        up = [osd for osd in plan.osds if osd.is_up]
        self._total = len(plan.once) + 2 * len(up) + len(plan.osds)
        for osd in plan.osds:
            if osd.number in plan.metadata:
                self._put_document(f"{osd.name}/{METADATA.file}", plan.metadata[osd.number])
            if not osd.is_up:
                self.told.append(Told(f"{osd.name}/", "", failure="the OSD is down: it answers nothing"))
        self._run(plan.once)
        left = limits.interval_seconds
        if limits.debug_seconds is None:
            self._run(plan.perf_dumps(1))
        else:
            with self._raised(up, limits.debug_seconds):
                self._run(plan.perf_dumps(1))
                self._wait(ended, limits.debug_seconds)
            left = max(0.0, left - limits.debug_seconds)
        self._wait(ended, left if up else 0.0)
        self._run(plan.perf_dumps(2))
        self._gather((partial(self._logs, osd), f"{osd.name}, its log") for osd in plan.osds)

    @contextmanager
    def _raised(self, osds: Sequence[Osd], seconds: float) -> Iterator[None]:
        """Debug levels raised on the OSDs that say what theirs are; see `debug_levels`."""
        access = self.plan.access
        before = {}
        for osd in osds:
            diff = self._answered(Step(f"{osd.name}/config diff", access.daemon(osd, "config", "diff")))[1]
            diff.output.seek(0)
            levels = None if diff.failure else levels_before(_parsed(diff.output.read(DOCUMENT_BYTES)))
            if levels is None:
                why = diff.failure or "config diff is none"
                self.told.append(Told(f"{osd.name}, debug levels", "", failure=f"not raised: {why}"))
            else:
                before[osd] = commands_of(access.cluster("tell", osd.name), levels)
        if not before:
            yield
            return
        with guarded({osd.name: back for osd, (_, back) in before.items()}, seconds) as undo:
            if self.on_note is not None:
                self.on_note(f"debug levels of {counted(len(before), 'OSD')} raised; should this be lost: sh {undo}")
            steps = [Step(f"{osd.name}, debug levels", (one,)) for osd, (some, _) in before.items() for one in some]
            for step, answer in zip(steps, self._pool.map(self._answered, steps), strict=True):
                answer[1].output.close()
                if answer[1].failure:
                    self.told.append(Told(step.file, " ".join(step.commands[0]), failure=answer[1].failure))
            yield
        if undo.exists():
            why = f"not put back everywhere; when the OSDs answer again: sh {undo}"
            self.told.append(Told("debug levels", "", failure=why))

    def _wait(self, ended: threading.Event, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not ended.wait(min(left, SLICE_SECONDS)):
            if self.on_progress is not None:
                self.on_progress(f"waiting {left:.0f} s for the second perf dump", self._done, self._total)

    def _run(self, steps: Sequence[Step]) -> None:
        self._gather((partial(self._one, step), step.file) for step in steps)

    def _gather(self, tasks: Iterable[tuple[Callable[[], list[Answered]], str]]) -> None:
        """Run tasks, and keep their answers as they come: never many more than are asked for at once."""
        waiting: dict[Future[list[Answered]], str] = {}
        coming = iter(tasks)
        while True:
            for task, name in islice(coming, self.limits.at_once + 1 - len(waiting)):
                waiting[self._pool.submit(task)] = name
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                for step, answer, command in future.result():
                    with answer.output:
                        self._keep(step, answer, command)
                self._done += 1
                if self.on_progress is not None:
                    self.on_progress(waiting[future], self._done, self._total)
                del waiting[future]

    def _one(self, step: Step) -> list[Answered]:
        return [self._answered(step)]

    def _answered(self, step: Step) -> Answered:
        """What a step's commands gave: the first answer, or the first failure."""
        first: tuple[Answer, Command] | None = None
        for command in step.commands:
            limit = self.limits.log_bytes if step.is_log else DOCUMENT_BYTES
            answer = self._runner.run(command, limit, 10 * self.limits.timeout_seconds if step.is_log else None)
            if not answer.failure or answer.timed_out:
                return (step, answer, command) if first is None or not answer.failure else (step, *first)
            if first is None:
                first = answer, command
            else:
                answer.output.close()
        assert first is not None
        return step, *first

    def _logs(self, osd: Osd) -> list[Answered]:
        """The pieces of an OSD's log, newest first as long as there is room for them; else what a journal has."""
        access, minutes = self.plan.access, self.limits.since_minutes
        found: list[Answered] = []
        listing = access.log_files(osd, self._log_folder(osd), minutes)
        if listing is not None:
            _, listed, _ = self._answered(Step("", (listing,)))
            names = sorted(set(listed.output.read().decode("utf-8", "surrogateescape").splitlines()), key=_rotation)
            listed.output.close()
            room = self.limits.log_bytes
            for name in names:
                command = access.at_host(osd, "tail", "-c", str(room), name)
                if command is None or room <= 0:
                    break
                found.append(self._answered(Step(f"{osd.name}/{Path(name).name}", (command,), is_log=True)))
                room -= os.fstat(found[-1][1].output.fileno()).st_size
        journal = access.journal(osd, minutes)
        if not found and journal is not None:
            found.append(self._answered(Step(f"{osd.name}/{osd.name}.log", (journal,), is_log=True)))
        if not found:
            where = f"on {osd.host}" if osd.host else "on a host that is not known"
            why = f"its log is {where}: collect there as well, or with --ssh"
            found.append((Step(f"{osd.name}/, its log", ()), Answer(_empty(), 0.0, why), ()))
        return found

    def _log_folder(self, osd: Osd) -> str | None:
        """The folder of an OSD's log, as its host's configuration says."""
        command = self.plan.access.log_place(osd)
        if command is None:
            return None
        _, answer, _ = self._answered(Step("", (command,)))
        with answer.output as output:
            folder = str(Path(output.read(4096).decode("utf-8", "replace").strip()).parent)
        return folder if folder.startswith("/") and not answer.failure else None

    def _keep(self, step: Step, answer: Answer, command: Command) -> None:
        told = Told(step.file, " ".join(command), round(answer.seconds, 3), failure=answer.failure, note=answer.note)
        self.told.append(told)
        if answer.failure:
            return
        if step.is_log:
            name, log = _unpacked(step.file, answer.output)
            with TemporaryFile(dir=self._runner.folder) as kept:
                for lines in blocks_of_lines(log):
                    kept.write(self._redacted(shapes_withheld(lines)))
                told.bytes = kept.tell()
                if not told.bytes:
                    told.failure = "empty"
                    return
                kept.seek(0)
                told.file = name
                add_file(self._archive, name, kept, told.bytes)
            return
        text = answer.output.read(DOCUMENT_BYTES)
        document = _parsed(text)
        if document is None:
            content = self._redacted(settings_withheld(text))
        else:
            content = self._redacted(orjson.dumps(without_secrets(document), option=orjson.OPT_INDENT_2) + b"\n")
        told.bytes = add_content(self._archive, step.file, content)

    def _put_document(self, name: str, document: Any) -> None:
        content = self._redacted(orjson.dumps(without_secrets(document), option=orjson.OPT_INDENT_2) + b"\n")
        self.told.append(Told(name, " ".join(self.plan.access.cluster(*METADATA.words)), bytes=len(content)))
        add_content(self._archive, name, content)

    def _redacted(self, text: bytes) -> bytes:
        if self.redact is None:
            return text
        return self.redact(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def _summary(self, began: datetime) -> bytes:
        failed = [one for one in self.told if one.failure]
        document = {
            "schema": SCHEMA,
            "began_at": began.isoformat(timespec="seconds"),
            "ended_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "through": self.plan.access.way,
            "limits": asdict(self.limits),
            "osds": [osd.name for osd in self.plan.osds],
            "failed": [{"file": one.file, "command": one.command, "why": one.failure} for one in failed],
            "steps": [asdict(one) for one in self.told],
        }
        return self._redacted(json.dumps(document, indent=1).encode() + b"\n")


def add_content(archive: tarfile.TarFile, name: str, content: bytes) -> int:
    """Put a member into an archive; how many bytes it has."""
    add_file(archive, name, io.BytesIO(content), len(content))
    return len(content)


def add_file(
    archive: tarfile.TarFile, name: str, content: IO[bytes], size: int, modified_at: float | None = None
) -> None:
    """Put a file's content into an archive under a name."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = size, int(modified_at or time.time()), 0o644
    archive.addfile(entry, content)


@contextmanager
def archive_at(path: Path, suffix: str) -> Iterator[tarfile.TarFile]:
    """An archive to be written, compressed as its suffix says, one of SUFFIXES."""
    if suffix == ".tar.gz":
        with tarfile.open(path, "w:gz", compresslevel=6) as archive:
            yield archive
        return
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        from backports import zstd
    with zstd.open(path, "wb") as compressed, tarfile.open(fileobj=cast("IO[bytes]", compressed), mode="w|") as archive:
        yield archive


def _empty() -> IO[bytes]:
    return io.BytesIO()


def _parsed(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def _rotation(path: str) -> tuple[int, str]:
    """What orders the pieces of a log, the live one first."""
    name = Path(path).name.partition(".log")[2]
    digits = "".join(one for one in name if one.isdigit())
    return (int(digits) if digits else -1), path


def _unpacked(name: str, file: IO[bytes]) -> tuple[str, DamagedStream]:
    """A log's lines, whatever it is compressed with, and its name without that."""
    allowance = Allowance()
    stream = DamagedStream(Metered(cast("io.RawIOBase", file), allowance))
    inner = decompressed(stream, allowance)
    if inner is None:
        return name, stream
    return name.rpartition(".")[0], inner


def blocks_of_lines(stream: DamagedStream) -> Iterator[bytes]:
    """All of a stream, in blocks that end where lines do."""
    rest = b""
    while block := stream.take(CHUNK_BYTES):
        lines, newline, rest = (rest + block).rpartition(b"\n")
        if newline:
            yield lines + newline
    if rest:
        yield rest


def chosen_osds(access: Access, runner: Runner, which: str, worst: int | None) -> Plan:
    """The OSDs that `which` names: `all`, `osd.3,osd.7`, `host:NAME` or `class:NAME`; of them the `worst`.

    Those are worst whose commits take longest (`ceph osd perf`). Raises LsmlensError where the cluster does not answer,
    and where no OSD is left.
    """
    numbers = _numbers(access, runner, which)
    if worst is not None:
        perf = _asked(access, runner, "osd", "perf", "-f", "json")
        slowest = _slowest_first(perf)
        numbers = [number for number in slowest if number in set(numbers)][:worst]
    if not numbers:
        raise LsmlensError(f"--osds {which}: no such OSD", "ceph osd tree shows which there are")
    rows = _asked(access, runner, *METADATA.words)
    metadata = {row["id"]: row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), int)}
    tree = _asked(access, runner, "osd", "tree", "-f", "json")
    nodes = [*tree.get("nodes", ()), *tree.get("stray", ())]
    up = {node["id"] for node in nodes if node.get("type") == "osd" and node.get("status") == "up"}
    unknown = sorted(set(numbers) - {node["id"] for node in nodes})
    if unknown:
        raise LsmlensError(f"--osds: there is no osd.{unknown[0]}", "ceph osd tree shows which there are")
    osds = tuple(Osd(number, metadata.get(number, {}).get("hostname"), number in up) for number in sorted(set(numbers)))
    return Plan(access, osds, {osd.number: metadata[osd.number] for osd in osds if osd.number in metadata})


def selector(which: str) -> tuple[str, ...] | list[int]:
    """The words of `ceph` that list the OSDs `which` names, or their numbers. Raises LsmlensError for another text."""
    kind, colon, name = which.partition(":")
    if which == "all":
        return "osd", "ls"
    if colon and name and kind == "host":
        return "osd", "ls-tree", name
    if colon and name and kind == "class":
        return "osd", "crush", "class", "ls-osd", name
    numbers = [one.strip().removeprefix("osd.") for one in which.split(",")]
    if not all(one.isascii() and one.isdigit() for one in numbers):
        raise LsmlensError(f"--osds: {which} names no OSDs", "use all, osd.3,osd.7, host:NAME or class:NAME")
    return [int(one) for one in numbers]


def _numbers(access: Access, runner: Runner, which: str) -> list[int]:
    words = selector(which)
    if isinstance(words, list):
        return words
    text = _asked(access, runner, *words, "-f", "json")
    return [one for one in text if isinstance(one, int)] if isinstance(text, list) else []


def _slowest_first(perf: Any) -> list[int]:
    rows = perf.get("osdstats", perf).get("osd_perf_infos", [])
    by_latency = sorted(rows, key=lambda row: -row["perf_stats"]["commit_latency_ms"])
    return [row["id"] for row in by_latency]


def _asked(access: Access, runner: Runner, *words: str) -> Any:
    """What the cluster answers, parsed. Raises LsmlensError where it does not."""
    command = access.cluster(*words)
    answer = runner.run(command, DOCUMENT_BYTES)
    with answer.output as output:
        document = _parsed(output.read(DOCUMENT_BYTES)) if not answer.failure else None
    if document is None:
        why = answer.failure or "no JSON"
        raise LsmlensError(
            f"{' '.join(command)}: {why}",
            "run it on a host with the cluster's admin keyring, as a user who may read it",
        )
    return document
