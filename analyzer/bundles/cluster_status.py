"""The cluster's own words: `ceph health detail`, `ceph osd df` and `ceph osd tree`, as text or as JSON.

HEALTH_WARN 1 OSD(s) experiencing BlueFS spillover; 1 slow ops, oldest one blocked for 31 sec, osd.6 has slow ops
[WRN] BLUEFS_SPILLOVER: 1 OSD(s) experiencing BlueFS spillover                 from Octopus on; before without [WRN]
    osd.0 spilled over 11 GiB metadata from 'db' device (1.9 GiB used of 20 GiB) to slow device
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from lsmlens.analyzer.units import GIB, MIB

if TYPE_CHECKING:
    from lsmlens.analyzer.runs.run import SlowRequest

_CHECK = re.compile(r"(?:\[(\w+)\] )?([A-Z][A-Z0-9_]{3,}):? (.*)$")
_TREE_LINE = re.compile(
    r"\s*(-?\d+)\s+(?:[a-z]\w*\s+)?[\d.]+\s+(\s*)(root|datacenter|row|rack|host|osd\.\d+)\b\s*(\S*)"
)
_SIZE = re.compile(r"(?<![\d.])(\d{1,15}(?:\.\d{0,9})?) ?(B|KiB|MiB|GiB|TiB)", re.ASCII)
_SCALES = {"B": 1, "KiB": 1 << 10, "MiB": MIB, "GiB": GIB, "TiB": 1 << 40}


class HealthCheck(NamedTuple):
    """One check that is not passed: its code, what it says in short, and its lines."""

    code: str
    summary: str
    details: tuple[str, ...] = ()


class OsdUse(NamedTuple):
    """What an OSD's device holds: omap keys and values, and all else of RocksDB and BlueFS (META)."""

    osd: int
    omap_bytes: int
    meta_bytes: int


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """What the cluster says of itself; `hosts` and `devices` are of its OSDs, `sources` the files by what they are.

    `slow_requests` are those of the cluster's log, their times UTC where it tells its zone, else None.
    """

    health: tuple[HealthCheck, ...] = ()
    use: tuple[OsdUse, ...] = ()
    hosts: Mapping[int, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    slow_requests: "tuple[SlowRequest, ...]" = ()

    def check(self, code: str) -> HealthCheck | None:
        """The check of that code; None where it is passed or nothing tells."""
        return next((one for one in self.health if one.code == code), None)

    def host_of_all(self, osds: set[int]) -> str | None:
        """The one host that all these OSDs are of, if it has others than these nowhere else; None for several."""
        hosts = {self.hosts.get(osd) for osd in osds}
        return hosts.pop() if len(hosts) == 1 and osds else None


def read_health(content: object) -> tuple[HealthCheck, ...]:
    """The checks that are not passed."""
    if isinstance(content, dict):
        return tuple(_json_checks(content))
    checks: list[HealthCheck] = []
    for line in str(content or "").splitlines():
        match = _CHECK.match(line.strip()) if not line.startswith((" ", "\t")) else None
        if match is not None and not match[2].startswith("HEALTH_"):
            checks.append(HealthCheck(match[2], match[3]))
        elif checks and line.startswith((" ", "\t")) and line.strip():
            checks[-1] = checks[-1]._replace(details=(*checks[-1].details, line.strip()))
    return tuple(checks)


def _json_checks(document: dict[str, object]) -> Iterator[HealthCheck]:
    listed = document.get("checks")
    for code, check in (listed if isinstance(listed, dict) else {}).items():
        if isinstance(check, dict):
            summary, details = check.get("summary"), check.get("detail")
            yield HealthCheck(
                str(code),
                str(summary.get("message", "")) if isinstance(summary, dict) else "",
                tuple(str(one.get("message", "")) for one in details or () if isinstance(one, dict))
                if isinstance(details, list)
                else (),
            )


def read_osd_df(content: object) -> tuple[OsdUse, ...]:
    """What `ceph osd df` says of OMAP and META, OSD by OSD."""
    if isinstance(content, dict):
        nodes = content.get("nodes")
        found = []
        for node in nodes if isinstance(nodes, list) else ():
            if isinstance(node, dict) and isinstance(node.get("id"), int) and node["id"] >= 0:
                omap, meta = (node.get(name) for name in ("kb_used_omap", "kb_used_meta"))
                if isinstance(omap, int) and isinstance(meta, int):
                    found.append(OsdUse(node["id"], omap << 10, meta << 10))
        return tuple(found)
    return tuple(_text_uses(str(content or "")))


def _text_uses(text: str) -> Iterator[OsdUse]:
    columns: list[str] = []
    for line in text.splitlines():
        if line.lstrip().startswith("ID "):
            columns = line.replace("RAW USE", "RAW_USE").split()
        elif columns and (words := line.split()) and words[0].isdecimal():
            sizes = sizes_in(line)
            names = [name for name in columns if name in ("SIZE", "RAW_USE", "DATA", "OMAP", "META", "AVAIL")]
            if len(sizes) == len(names):
                told = dict(zip(names, sizes, strict=True))
                yield OsdUse(int(words[0]), told.get("OMAP", 0), told.get("META", 0))


def read_osd_tree(content: object) -> dict[int, str]:
    """OSD -> host."""
    if isinstance(content, dict):
        nodes = [one for one in content.get("nodes", ()) if isinstance(one, dict)]
        return {
            child: str(one.get("name"))
            for one in nodes
            if one.get("type") == "host"
            for child in one.get("children", ())
            if isinstance(child, int)
        }
    hosts: dict[int, str] = {}
    host = ""
    for line in str(content or "").splitlines():
        match = _TREE_LINE.match(line)
        if match is None:
            continue
        if match[3] == "host":
            host = match[4]
        elif match[3].startswith("osd."):
            hosts[int(match[1])] = host
    return hosts


class OsdPlace(NamedTuple):
    """Where an OSD is: its host, and the devices it has data, database and WAL on."""

    host: str | None
    devices: tuple[str, ...]


def read_osd_metadata(content: object) -> dict[int, OsdPlace]:
    """Where OSDs are, of `ceph osd metadata` for one or for all."""
    places: dict[int, OsdPlace] = {}
    for row in content if isinstance(content, list) else [content]:
        if isinstance(row, dict) and isinstance(row.get("id"), int):
            named = (str(row.get(name) or "") for name in _DEVICES)
            devices = dict.fromkeys(device for one in named for device in one.split(",") if device)
            places[row["id"]] = OsdPlace(str(row["hostname"]) if row.get("hostname") else None, tuple(devices))
    return places


_DEVICES = ("bluestore_bdev_devices", "bluefs_db_devices", "bluefs_wal_devices", "devices")


def sizes_in(text: str) -> list[int]:
    """The sizes that a line of Ceph's names, in bytes."""
    return [round(float(number) * _SCALES[unit]) for number, unit in _SIZE.findall(text)]


def size_in(text: str) -> int | None:
    """The first of them; None where it names none."""
    return next(iter(sizes_in(text)), None)
