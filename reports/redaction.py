"""Redaction: names of hosts, addresses, paths, clusters, objects, clients and pools become tokens, in every report.

It is done once, to what reports are made of, and not by each of them: so whatever is written says the same, and the
same name is the same token (`host-1`, `address-2`, `path-3/ceph-osd.0.log.gz`) in all outputs of a run. Names are
known in two ways: by what the bundle says they are (configuration, operations, benchmark results, where its files
stand), and by their shape. Lines of a log that were not understood may hold anything, and are withheld.

Column families, daemons by number (`osd.3`), versions, options and figures stay.
"""

import copy
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeVar, cast

from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.bundles.companions import Companion
from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.logs.scan import NotUnderstood
from lsmlens.analyzer.logs.spool import Spool
from lsmlens.analyzer.runs.columns import Rows
from lsmlens.analyzer.runs.jobs import OtherEvent
from lsmlens.analyzer.runs.run import Run

if TYPE_CHECKING:
    from lsmlens.reports.comparison import ComparisonReport
    from lsmlens.tuners.qos.assessment import QosAssessment


T = TypeVar("T")

# Words of file and run names that say what something is, not whose it is.
_PLAIN_WORD = re.compile(
    r"\d+|[a-z]|ceph|osd|mon|mgr|mds|client|logs?|old|gz|zstd?|xz|bz2|tar|tgz|zip|json|txt|out|conf|csv|perf|dump|start"
    r"|end|config|show|diff|historic|slow|ops|fio|rados|bench|radosbench|results?|metadata|sharding|stderr|stdout|debug"
    r"|rocksdb|options|bluefs|bluestore|stats|frag|mempools|omap|cleanup|standard|input|unknown",
    re.IGNORECASE,
)
# Words that are names of something in nearly every report.
_COMMON_WORDS = ("default", "data", "read", "write", "random", "ceph", "osd")
_WORD = re.compile(r"[^\W_]+")
_SHAPES = re.compile(
    r"(?P<fsid>(?<![\w-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\w-]))"
    r"|(?P<address>(?<![\w:.])(?=[0-9a-f:.]*[0-9a-f])(?:[0-9a-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]{1,4})?(?![\w:])"
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\w))"
    r"|(?P<path>(?<![\w.:/<-])(?:~|\.{1,2})?/(?!/|sys/)[\w.+@%~$-]+(?:/[\w.+@%=~:$-]+)*/?)"
    r"|(?P<object>(?<![\w.-])(?:rbd_(?:data|header|id|object_map)\.[\w.-]*\w|benchmark_data_[\w.-]*\w))"
    r"|(?P<client>(?<![\w.-])client\.(?:\d+|[a-z][\w.-]*\w))"
    r"|(?<![\w.-])(?P<daemon>mon|mgr|mds|rgw)\.(?P<host>[a-z][\w.-]*\w)",
    re.IGNORECASE,
)


class Redaction:
    """Replaces names by tokens. It learns from all there is before it replaces in any of it."""

    def __init__(self) -> None:
        self._tokens: dict[tuple[str, str], str] = {}
        self._counts: Counter[str] = Counter()
        self._known: dict[str, str] = {}
        self._kept: set[str] = set(_COMMON_WORDS)
        self._literals: re.Pattern[str] | None = None
        self._said: dict[str, str] = {}

    def learn(self, analysis: Analysis) -> None:
        """Take in the names that an analysis's bundle says."""
        runs = analysis.runs
        self._kept.update(family.name for one in runs for family in one.families)
        for path in sorted({member.path for member in analysis.members}):
            self.learn_path(path)
        for one in runs:
            self.learn_run(one.run.name)
            self.learn_companions(one)

    def learn_companions(self, one: RunAnalysis) -> None:
        """Take in the names that stand in the documents beside a run's log, and in its slow operations."""
        for companion in one.run.companions:
            self.learn_names(names_in_companion(companion))
        for operation in one.beside.operations:
            self.learn_names(names_in_operation(operation.description))

    def learn_path(self, path: str) -> None:
        """Take in where something was read: its folder is hidden, its own name too unless that only says what it is."""
        head, slash, name = path.replace("!", "/").rpartition("/")
        token = self._file(name)
        self._know(path, f"{self._token('path', head)}/{token}" if slash else token)
        if "/" in head:
            self._know(head, self._token("path", head))
        if not name.isalpha():  # a word alone may be any word
            self._know(name, token)

    def learn_run(self, name: str) -> None:
        """Take in a run's name. `osd.3` stays, `mon.a` too; folders before it, longer names of monitors do not."""
        *folders, last = name.split("/")
        daemon, point, of = last.partition(".")
        if daemon in ("mon", "mgr", "mds") and point and len(of) > 1:
            self._know(of, self._token("host", of))
            token = f"{daemon}.{self._token('host', of)}"
        else:
            token = last if _is_plain(last) else self._token("run", last)
        self._know(name, f"{self._token('path', '/'.join(folders))}/{token}" if folders else token)

    def learn_arm(self, name: str, path: str) -> None:
        """Take in an arm's name, which is hidden if it was made of its path."""
        if name in path and not _is_plain(name):
            self._know(name, self._token("arm", name))

    def keep(self, names: Iterable[str]) -> None:
        """Take in names that are to stay, such as those a person gave."""
        self._kept.update(names)

    def text(self, text: str) -> str:
        """The text with its names replaced."""
        said = self._said.get(text)
        if said is None:
            said = self._said[text] = self._known.get(text) or self._replaced(text)
        return said

    def whole_text(self, text: str) -> str:
        """A long text with its names replaced, of which nothing is kept to be found again."""
        return self._replaced(text)

    def of(self, value: T) -> T:
        """The value with all its texts redacted, however deep in dataclasses, containers and spools."""
        return cast("T", self._of(value))

    def _of(self, value: Any) -> Any:
        if isinstance(value, str):
            return value if isinstance(value, Enum) else self.text(value)
        if isinstance(value, Run):  # what is not shown need not be looked through
            value = _changed(
                value,
                {"companions": [], "options_text": "", "dumps": Spool(tuple), "other_event_rows": Rows(OtherEvent)},
            )
        elif isinstance(value, NotUnderstood):
            value = _changed(value, {"text": f"({len(value.text)} characters withheld)"})
        if isinstance(value, Mapping):
            made = {self._of(key): self._of(item) for key, item in value.items()}
            return Counter(made) if isinstance(value, Counter) else made
        if isinstance(value, tuple):
            items = [self._of(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, list | set | frozenset):
            return type(value)(self._of(item) for item in value)
        if isinstance(value, Spool):
            spool: Spool[Any] = Spool(value.kind)
            for record in value:
                spool.append(self._of(record))
            return spool
        if is_dataclass(value) and not isinstance(value, type):
            return _changed(value, {field.name: self._of(getattr(value, field.name)) for field in fields(value)})
        return value

    def _replaced(self, text: str) -> str:
        """Known names first; a token that replaced one is not looked at again."""
        if self._literals is None:
            names = sorted(self._known, key=lambda name: (-len(name), name))
            alternatives = "|".join(map(re.escape, names)) or "(?!)"
            self._literals = re.compile(rf"(?<![\w.-])({alternatives})(?![\w-])")
        return "".join(
            self._known[part] if place % 2 else _SHAPES.sub(self._shaped, part)
            for place, part in enumerate(self._literals.split(text))
        )

    def _shaped(self, match: re.Match[str]) -> str:
        kind, found = match.lastgroup or "", match[0]
        if kind == "address" and not _is_address(found):
            return found
        if kind == "path":
            return self._token("path", found.rstrip("/"))
        if kind == "host":
            return f"{match['daemon']}.{self._token('host', match['host'])}"
        return self._token(kind, found)

    def learn_names(self, names: Iterable[tuple[str, str]]) -> None:
        """Take in names with what they are of, such as `pool`."""
        for kind, name in names:
            if len(name) > 1 and not name.isdigit():
                self._know(name, self._token(kind, name))

    def _file(self, name: str) -> str:
        if _is_plain(name):
            return name
        suffixes = re.search(r"(?:\.(?:log|json|txt|out|tar|tgz|zip|gz|zst|xz|bz2|csv|conf|\d{1,2}))+$", name)
        return self._token("file", name) + (suffixes[0] if suffixes else "")

    def _know(self, name: str, token: str) -> None:
        if name and name != token and name not in self._known and name not in self._kept:
            self._known[name] = token
            self._literals = None

    def _token(self, kind: str, name: str) -> str:
        token = self._tokens.get((kind, name))
        if token is None:
            self._counts[kind] += 1
            token = self._tokens[kind, name] = f"{kind}-{self._counts[kind]}"
        return token


def redacted(analysis: Analysis) -> Analysis:
    """The analysis without the names in it."""
    redaction = Redaction()
    redaction.learn(analysis)
    return redaction.of(analysis)


def redacted_comparison(report: "ComparisonReport", given_names: Iterable[str] = ()) -> "ComparisonReport":
    """The report without names of hosts and the like; arms keep `given_names`, and lose names made of their paths."""
    redaction = Redaction()
    redaction.keep(given_names)
    observations = [(arm, one) for arm in report.comparison.arms for one in arm.observations]
    for _, one in observations:
        if one.analysis is not None:
            redaction.learn(one.analysis)
    for arm, one in observations:
        redaction.learn_arm(arm.name, one.path)
        redaction.learn_path(one.path)
        for name in one.runs:
            redaction.learn_run(name)
        for result in one.client_results:
            redaction.learn_path(result.source)
    return redaction.of(report)


def redacted_assessment(assessment: "QosAssessment") -> "QosAssessment":
    """The assessment without names of hosts, pools and the like, and without folders; OSDs stay by number."""
    redaction = Redaction()
    material = assessment.view.material
    paths = [material.stored_source, material.ceph_conf_source, material.placement_source]
    paths += [name for name, _ in material.statuses]
    paths += [line.source for line in material.cluster_lines]
    paths += [result.source for result in material.client_results]
    for osd in material.osds:
        paths += [osd.config_show_source, osd.config_diff_source, osd.metadata_source]
        paths += [name for name, _ in osd.queue_states]
        paths += [dump.source for dump in osd.perf_dumps]
        paths += [line.source for line in osd.lines]
        if osd.run is not None:
            redaction.learn_companions(osd.run)
        redaction.learn_run(osd.name)
    for path in sorted({path for path in paths if path}):
        redaction.learn_path(path)
    return redaction.of(assessment)


def _changed(value: Any, changes: Mapping[str, Any]) -> Any:
    """A copy with other values, also of what cannot be made anew by its constructor."""
    if hasattr(value, "_replace"):
        return value._replace(**changes)
    made = copy.copy(value)
    for name, item in changes.items():
        object.__setattr__(made, name, item)
    return made


def _is_plain(name: str) -> bool:
    """Whether a name is made of words that say what it is, numbers and single letters."""
    if _SHAPES.search(name):
        return False
    return all(_PLAIN_WORD.fullmatch(word) for word in _WORD.findall(name))


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


Name = tuple[str, str]
HOST, CLIENT, POOL, OBJECT = "host", "client", "pool", "object"

_SECTION = re.compile(r"^\s*\[(\w+)\.([^\]]+)\]", re.MULTILINE)
_SETTING = re.compile(r"^\s*([\w ]+?)\s*=\s*(.*?)\s*(?:[;#].*)?$", re.MULTILINE)
# mon_initial_members = a, b; mon_host = [v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0] node1:6789
_HOST_NAME = re.compile(r"(?<![\w.:-])[A-Za-z][\w-]*(?:\.[\w-]+)*(?=$|[\s,;:\]/])")
# root=default host=node1 rack=r2
_CRUSH = re.compile(r"(?:host|rack|row|room|datacenter|chassis)=([\w.-]+)")
# Object prefix: benchmark_data_node1_1056
_PREFIX = re.compile(r"Object prefix: (benchmark_data_(\S+)_\d+)")
# osd_op(client.4126.0:15352 2.1a 2:59446de1:namespace:key:rbd_data.1015…:head [write …
_HOBJECT = re.compile(r"\s-?\d+:[0-9a-f]{8}:([^:\s]*):([^:\s]*):(\S+?):(?:head|snapdir|[0-9a-f]+)[ )]")
# osd_op(client.4508.0:869 2.797e510b 2598/object_0 [] snapc …          before 11
_OLD_OBJECT = re.compile(r"\s\d+\.[0-9a-f]{2,8} (?:\d+/)?([^\s:\[(]+) \[")
# osd_op(client.4508.0:869 object_0 [write 0~4096] 2.797e510b …         before 10
_FIRST_OBJECT = re.compile(r"osd_op\(\S+ ([^\s:\[(]*[A-Za-z_][^\s:\[(]*) \[")


def names_in_companion(companion: Companion) -> Iterator[Name]:
    """What a file beside the logs names."""
    content = companion.content
    if companion.role is Role.CONFIG_SHOW and isinstance(content, Mapping):
        yield from _settings({str(name): str(value) for name, value in content.items()})
    elif companion.role is Role.CEPH_CONF:
        text = str(content)
        for kind, name in _SECTION.findall(text):
            if kind in ("client", "mon", "mgr", "mds"):
                yield CLIENT if kind == "client" else HOST, name
        for name, value in _SETTING.findall(text):
            yield from _settings({name.strip().replace(" ", "_"): value})
    elif companion.role is Role.RADOS_BENCH_RESULT:
        for prefix, host in _PREFIX.findall(str(content)):
            yield OBJECT, prefix
            yield HOST, host
    elif companion.role is Role.FIO_RESULT:
        yield from _in_fio(content)


def names_in_operation(description: str) -> Iterator[Name]:
    """The objects, and their namespaces and keys, that an operation's description names."""
    found = _HOBJECT.search(description)
    if found is not None:
        yield from ((OBJECT, name) for name in found.groups() if name)
        return
    old = _OLD_OBJECT.search(description) or _FIRST_OBJECT.search(description)
    if old is not None:
        yield OBJECT, old[1]


def _settings(settings: Mapping[str, str]) -> Iterator[Name]:
    for name in ("host", "mon_initial_members", "mon_host"):
        for word in _HOST_NAME.findall(settings.get(name, "")):
            if word not in ("v1", "v2", "any"):
                yield HOST, word
    for name in ("crush_location", "osd_crush_location"):
        yield from ((HOST, word) for word in _CRUSH.findall(settings.get(name, "")))


def _in_fio(document: Any) -> Iterator[Name]:
    if not isinstance(document, Mapping):
        return
    jobs = [job for name in ("jobs", "client_stats") for job in _listed(document.get(name))]
    for holder in (document.get("global options"), *(job.get("job options") for job in jobs)):
        if isinstance(holder, Mapping):
            for option, kind in (("pool", POOL), ("rbdname", OBJECT), ("clientname", CLIENT)):
                if isinstance(holder.get(option), str):
                    yield kind, holder[option]
    for job in jobs:
        if isinstance(job.get("hostname"), str):
            yield HOST, job["hostname"]


def _listed(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
