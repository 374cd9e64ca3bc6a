"""Settings in force on an OSD, and where each was set: from what the bundle holds, the nearest to the OSD first.

1. config show: what the OSD runs with. Where it was set, config diff says, else the configuration store and ceph.conf;
2. the monitors' configuration store (config dump), the narrowest section that holds the OSD;
3. ceph.conf;
4. the release's default.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from lsmlens.analyzer.options.ceph_conf import parse_ceph_conf
from lsmlens.analyzer.options.option_strings import same_value
from lsmlens.analyzer.qos.documents import StoredOption
from lsmlens.analyzer.qos.material import OsdMaterial, QosMaterial
from lsmlens.analyzer.runs.osds import VERSION

Release = tuple[int, int, int]

# The levels of `config diff`, what each means, and their order: the later counts more.
_LEVELS = {
    "default": "default",
    "mon": "configuration store",
    "file": "ceph.conf",
    "env": "environment",
    "cmdline": "command line",
    "override": "set by the OSD itself, or by an administrator on it",
}


@dataclass(frozen=True, slots=True)
class QosSetting:
    """One option: its value as printed, where the value was read (`source`), and who set it (`origin`).

    `default` is the release's, None where it is not known.
    """

    name: str
    value: str
    source: str
    origin: str
    default: str | None = None

    @property
    def real(self) -> float | None:
        """The value as a number; None where it is none."""
        try:
            return float(self.value)
        except ValueError:
            return None

    @property
    def is_true(self) -> bool:
        """Whether a switch is on."""
        return self.value.strip().lower() in ("true", "1", "yes", "on")

    @property
    def is_default(self) -> bool:
        """Whether the value is the release's default, whoever set it."""
        return self.default is not None and same_value(self.value, self.default)


def release_of(text: str | None) -> Release | None:
    """`18.2.7`, or `ceph version 18.2.7 (…) reef (stable)`, as numbers."""
    match = VERSION.search(text or "")
    return None if match is None else (int(match[1]), int(match[2]), int(match[3] or 0))


class Settings:
    """The settings of one OSD."""

    def __init__(self, osd: OsdMaterial, material: QosMaterial) -> None:
        self._osd = osd
        self._shown = {name: value for name, value in osd.config_show.items() if isinstance(value, str)}
        self._show_source = osd.config_show_source
        self.release = release_of(osd.release) or release_of(material.cluster.release)
        self._stored = _stored_for(osd, material.stored or ())
        self._stored_source = material.stored_source
        self._conf = parse_ceph_conf(material.ceph_conf or "").options_of(f"osd.{osd.number}")
        self._conf_source = material.ceph_conf_source

    @property
    def is_shown(self) -> bool:
        """Whether the OSD's own config show is there."""
        return bool(self._shown)

    @property
    def shown_names(self) -> frozenset[str]:
        """The names config show has."""
        return frozenset(self._shown)

    def __getitem__(self, name: str) -> QosSetting | None:
        """A setting; None where neither a document nor a default of the release says it."""
        default = default_of(name, self.release)
        if name in self._shown:
            return QosSetting(name, self._shown[name], self._show_source, self._origin(name, default), default)
        if name in self._stored:
            stored = self._stored[name]
            origin = f"configuration store ({stored.section})"
            return QosSetting(name, stored.value, self._stored_source, origin, default)
        if name in self._conf:
            return QosSetting(name, self._conf[name], self._conf_source, "ceph.conf", default)
        if default is None:
            return None
        return QosSetting(name, default, "", "default of the release", default)

    def stored(self, name: str) -> StoredOption | None:
        """What the configuration store has for this OSD, whether it is in force or not."""
        return self._stored.get(name)

    def _origin(self, name: str, default: str | None) -> str:
        entry = self._osd.config_diff.get(name)
        value = self._shown[name]
        if isinstance(entry, Mapping):
            levels = [level for level in _LEVELS if level in entry]
            if levels:
                return self._named(_LEVELS[levels[-1]], name)
        elif self._osd.config_diff:
            return "default"
        if name in self._stored and same_value(self._stored[name].value, value):
            return self._named("configuration store", name)
        if name in self._conf and same_value(self._conf[name], value):
            return "ceph.conf"
        if default is not None and same_value(value, default):
            return "default"
        return "not known"

    def _named(self, origin: str, name: str) -> str:
        stored = self._stored.get(name)
        return f"{origin} ({stored.section})" if origin == "configuration store" and stored else origin


def default_of(name: str, release: Release | None) -> str | None:
    """The default of an option in a release; None where it has none, and for an unknown release."""
    if release is None:
        return None
    values: Mapping[str, str | None] = _defaults().get(name, {})
    since = [start for start in values if _numbers(start) <= release]
    return values[max(since, key=_numbers)] if since else None


def _stored_for(osd: OsdMaterial, stored: tuple[StoredOption, ...]) -> dict[str, StoredOption]:
    """Of each option the line that counts for an OSD: its own before its class's before all OSDs' before all."""
    found: dict[str, tuple[int, StoredOption]] = {}
    device_class = osd.metadata.device_class if osd.metadata is not None else None
    for option in stored:
        if option.who not in ("global", "osd", f"osd.{osd.number}"):
            continue
        kind, _, value = option.mask.replace(":", "=").partition("=")
        if kind == "class" and value != device_class:
            continue
        if option.mask and kind != "class":  # a host: whether it is this OSD's, the bundle does not say
            continue
        rank = 3 if option.who not in ("global", "osd") else 2 if option.mask else int(option.who == "osd")
        if option.name not in found or rank >= found[option.name][0]:
            found[option.name] = (rank, option)
    return {name: option for name, (_, option) in found.items()}


def _numbers(version: str) -> Release:
    major, minor, point, *_ = (*map(int, version.split(".")), 0, 0)
    return major, minor, point


@cache
def _defaults() -> dict[str, dict[str, str | None]]:
    document: dict[str, Any] = orjson.loads((Path(__file__).parent / "defaults.json").read_bytes())
    options: dict[str, dict[str, str | None]] = document["options"]
    return options
