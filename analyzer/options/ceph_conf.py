r"""ceph.conf: the options of a daemon in Ceph's configuration file, as Ceph reads it.

    [global]
    osd pool default size = 1
    [osd]
    bluestore_rocksdb_options = write_buffer_size=16777216,ttl=100     # a comment
    bluestore_rocksdb_cfs = O(3)=write_buffer_size=1MB\;ttl=7 P
    [osd.3]

A `;` or `#` begins a comment wherever it stands, and so cuts an option string short, unless a backslash is before
it. A backslash at a line's end joins the next line. Spaces in a name stand for underscores. (Tried with the
`ceph-conf` of 16.2.15.)
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

SECTION = re.compile(r"\s*\[\s*([^\]]*?)\s*\]")
# Where a comment begins: an odd number of backslashes shields it.
COMMENT = re.compile(r"(?<!\\)(?:\\\\)*([;#])")
ESCAPED = re.compile(r"\\(.)")
QUOTED = re.compile(r"""(["'])(.*)\1""")
JOINED = re.compile(r"\\[ \t]*\r?\n")
SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class CephConf:
    """The options of each section; what stands before the first section is global."""

    sections: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def options_of(self, daemon: str) -> dict[str, str]:
        """What a daemon (`osd.3`) reads: its own section over its kind's over the global one."""
        merged: dict[str, str] = {}
        for section in ("global", daemon.partition(".")[0], daemon):
            merged.update(self.sections.get(section, {}))
        return merged


def parse_ceph_conf(text: str | bytes) -> CephConf:
    """The options in a ceph.conf; lines that are none are passed over. Of an option given twice the later counts."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    sections: dict[str, dict[str, str]] = {}
    section = sections.setdefault("global", {})
    for line in JOINED.sub("", text).splitlines():
        line = _without_comment(line)
        header = SECTION.match(line)
        if header is not None:
            section = sections.setdefault(header[1], {})
            continue
        name, equals, value = line.partition("=")
        if equals and name.strip():
            section[SPACES.sub("_", name.strip())] = _unquoted(value.strip())
    return CephConf(sections)


def _without_comment(line: str) -> str:
    match = COMMENT.search(line)
    return line if match is None else line[: match.start(1)]


def _unquoted(value: str) -> str:
    match = QUOTED.fullmatch(value)
    return ESCAPED.sub(r"\1", value if match is None else match[2])
