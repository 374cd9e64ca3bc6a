"""Names that a bundle says are names: of hosts, clients, pools and objects, with their kinds."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lsmlens.analyzer.bundles.companions import Companion
from lsmlens.analyzer.bundles.roles import Role

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
