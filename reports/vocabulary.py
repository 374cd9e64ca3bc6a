"""The words that may be shown where names must not be: those that lsmlens says itself.

They are the words of its own sentences, tables and patterns, and of the catalogues it carries: names and values of
options, known issues, defaults. Whatever else stands in a text came with the input.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from inspect import CO_NEWLOCALS
from pkgutil import walk_packages
from types import CodeType

PACKAGES = ("lsmlens.analyzer", "lsmlens.tuners", "lsmlens.reports", "lsmlens.cli")
# What RocksDB says of its own accord, and no other module need spell out: reasons of compactions and flushes, statuses.
ROCKSDB = """
LevelL0FilesNum LevelMaxLevelSize UniversalSizeAmplification UniversalSizeRatio UniversalSortedRunNum FIFOMaxSize
FIFOReduceNumFiles FIFOTtl ManualCompaction FilesMarkedForCompaction BottommostFiles Ttl ExternalSstIngestion
PeriodicCompaction ChangeTemperature ForcedBlobGC RoundRobinTtl RefitLevel
Others Get Live Files Shut Down External File Ingestion Manual Compaction Write Buffer Manager Full Test Delete Auto
Flush Error Recovery WAL Catch Up After ReadOnly
OK NotFound Corruption Not implemented Invalid argument IO error Merge in progress Result incomplete Shutdown Operation
timed out aborted Resource busy expired failed Try again Column family dropped No space left on device Input/output
"""
CATALOGUES = (".json", ".yaml", ".conf")
# A word with what is joined to it: `write-ahead`, `osd.3`, `16.2.15`, `rocksdb.block.cache.hit`.
CHUNK = re.compile(r"\w+(?:[-.@+~]\w+)*")
_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d]")
# 16777216, 16GiB, 1a2b (of hashes and placement groups), L0, v2, p
_FIGURE = re.compile(
    r"\d+[A-Za-z]{0,3}|0x[0-9a-f]+|\d[0-9a-f]{0,7}|\d{4}-\d\dT\d\d|\d+T\d+|\d+Z|L\d{1,2}|v\d{1,2}|[^\W\d_]"
)


def is_said(chunk: str) -> bool:
    """Whether lsmlens says this itself: a figure, one of its words, or words that it joins in the same way.

    Words that it says apart may be a name together (`backup-node`), and are not.
    """
    words, chunks = _own()
    lower = chunk.lower()
    if lower in words or lower in chunks:
        return True
    parts = [part for part in _WORD.findall(lower) if not _FIGURE.fullmatch(part)]
    return not parts or (len(parts) == 1 and parts[0] in words)


@cache
def _own() -> tuple[frozenset[str], frozenset[str]]:
    """Its words, and its words as they are joined."""
    chunks = {chunk.lower() for text in _texts() for chunk in CHUNK.findall(text)}
    return frozenset(word for chunk in chunks for word in _WORD.findall(chunk) if _LETTERS.search(word)), frozenset(
        chunks
    )


def _texts() -> Iterator[str]:
    for root in PACKAGES:
        package = import_module(root)
        for module in walk_packages(package.__path__, f"{root}."):
            spec = find_spec(module.name)
            code = spec.loader.get_code(module.name) if spec is not None and spec.loader is not None else None  # type: ignore[attr-defined]
            if code is not None:
                yield from _constants(code)
            if module.ispkg:
                for file in files(module.name).iterdir():
                    if file.name.endswith(CATALOGUES):
                        yield file.read_text("utf-8")


def _constants(code: CodeType) -> Iterator[str]:
    """The texts in a module's code, without docstrings, which are no part of what it says."""
    skipped = None
    if code.co_flags & CO_NEWLOCALS:
        skipped = 0
    elif "__doc__" in code.co_names:
        skipped = 1 if "__qualname__" in code.co_names else 0
    for place, constant in enumerate(code.co_consts):
        if isinstance(constant, CodeType):
            yield from _constants(constant)
        elif place != skipped:
            for text in constant if isinstance(constant, tuple | frozenset) else (constant,):
                if isinstance(text, str):
                    yield text
                elif isinstance(text, bytes):
                    yield text.decode("latin-1")
