r"""The OPTIONS file: how RocksDB writes down the options of an open database, and takes them.

    [Version]
      rocksdb_version=7.9.2
      options_file_version=1.1
    [DBOptions]
      max_background_jobs=2
    [CFOptions "default"]
      write_buffer_size=67108864
    [TableOptions/BlockBasedTable "default"]
      block_size=4096

Source: options/options_parser.cc. `#` starts a comment; `\` escapes `#`, `:`, itself and line ends.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lsmlens.tuners.options.resolved_options import ResolvedOptions

SECTION = re.compile(r"\[(?P<kind>\w+)(?:/(?P<table>\w+))?(?: \"(?P<family>.*)\")?\]")
ESCAPED = re.compile(r"\\(.)")
ESCAPES = {"n": "\n", "r": "\r"}


def read_options_file(path: Path) -> ResolvedOptions:
    """The options in an OPTIONS file, values as text; families in the file's order, which is that of their ids."""
    version = ""
    database: dict[str, str] = {}
    families: dict[str, dict[str, str]] = {}
    tables: dict[str, dict[str, str]] = {}
    section: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if match := SECTION.fullmatch(line):
            kind, family = match["kind"], _unescaped(match["family"] or "")
            if kind == "CFOptions":
                section = families.setdefault(family, {})
            elif kind == "TableOptions":
                section = tables.setdefault(family, {})
            else:
                section = database if kind == "DBOptions" else {}
        elif "=" in line:
            option, _, value = line.partition("=")
            section[option.strip()] = _unescaped(value.strip())
            if option == "rocksdb_version":
                version = value.strip()
    return ResolvedOptions("", version, database, families, tables)


def options_file(options: ResolvedOptions) -> str:
    """The text of an OPTIONS file that says `options`."""
    return "\n".join(_lines(options)) + "\n"


def _lines(options: ResolvedOptions) -> Iterator[str]:
    yield from ("[Version]", f"  rocksdb_version={options.rocksdb_version}", "  options_file_version=1.1")
    yield "[DBOptions]"
    yield from _assignments(options.database)
    for family, values in options.families.items():
        yield f'[CFOptions "{_escaped(family)}"]'
        yield from _assignments(values)
        yield f'[TableOptions/BlockBasedTable "{_escaped(family)}"]'
        yield from _assignments(options.tables.get(family, {}))


def _assignments(values: Mapping[str, str]) -> Iterator[str]:
    return (f"  {name}={_escaped(value)}" for name, value in values.items())


def _unescaped(text: str) -> str:
    return ESCAPED.sub(lambda match: ESCAPES.get(match[1], match[1]), text)


def _escaped(text: str) -> str:
    for letter in ("\\", "#"):
        text = text.replace(letter, f"\\{letter}")
    return text.replace("\n", "\\n").replace("\r", "\\r")
