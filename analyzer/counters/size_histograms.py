"""How long keys and values of a whole database are, by key prefix, as Ceph counts them.

`ceph daemon osd.N calc_objectstore_db_histogram` prints three JSON objects after each other, and in the last one names
repeat: after each prefix come classes of key sizes, and within each the classes of value sizes.

    {"num_onodes": 2877, …} {"[0,64)": 40783, …}
    {"prefix": "B", "key_hist": {"[0,32)": 373, "max_len": 17, "value_hist": {"[0,64)": 373, "max_len": 16}}, …}

Source: KeyValueHistogram::dump of Ceph; `ceph-kvstore-tool bluestore-kv … histogram` prints the same.

How large the requests of clients were, as an OSD counts them.

`ceph daemon osd.N perf histogram dump` prints, for reads, writes and both in one, a grid of latency by size:

    "osd": {"op_w_latency_in_bytes_histogram": {"axes": [{"name": "Latency (usec)", …},
        {"name": "Request size (bytes)", …, "ranges": [{"max": -1}, {"min": 0, "max": 511}, …, {"min": 274877906944}]}],
        "values": [[0, 0, …], …]}}

Source: PerfHistogram::dump_formatted of Ceph; rows of `values` are the first axis. Latencies there begin with a class
of up to 0.1 s, which most requests are in, so they are not read.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

# "key_hist": {        also without the space
SIGN = re.compile(rb'"prefix": ?"[^"\n]{1,16}",\s*"key_hist": ?\{')
_RANGE = re.compile(r"\[(\d{1,18}),(\d{1,18})\)", re.ASCII)
_Pairs = list[tuple[str, Any]]
# op_w_latency_in_bytes_histogram: what came in with writes
NAMES = {
    "write": "op_w_latency_in_bytes_histogram",
    "read-write": "op_rw_latency_in_bytes_histogram",
}


class SizeClass(NamedTuple):
    """`number` values of `low` bytes up to `high`, both included."""

    low: int
    high: int
    number: int


class RequestSizes(NamedTuple):
    """Bytes that came in with requests, by their kind: `write`, or `read-write`, which read an object first."""

    classes: Mapping[str, tuple[SizeClass, ...]]
    source: str = ""


class SizeHistogram(NamedTuple):
    """The classes of values by the prefix of their keys, and where that stands."""

    values: Mapping[str, tuple[SizeClass, ...]]
    source: str = ""


def read_size_histogram(text: str, source: str = "") -> SizeHistogram:
    """The histogram in a command's output; what is not understood of it is left out."""
    found: dict[str, list[SizeClass]] = {}
    for document in _documents(text):
        nested = next((value for name, value in document if name == "rocksdb_key_value_histogram"), document)
        prefix = ""
        for name, value in nested if isinstance(nested, list) else []:
            if name == "prefix" and isinstance(value, str):
                prefix = value
            elif name == "key_hist" and isinstance(value, list) and prefix:
                found.setdefault(prefix, []).extend(_values(value))
    return SizeHistogram({prefix: tuple(classes) for prefix, classes in found.items() if classes}, source)


def _documents(text: str) -> Iterator[_Pairs]:
    """The objects that stand after each other, as pairs, for names repeat."""
    decoder = json.JSONDecoder(object_pairs_hook=list)
    place = text.find("{")
    while place >= 0:
        try:
            document, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        if isinstance(document, list):
            yield document
        place = text.find("{", end)


def _values(key_hist: _Pairs) -> Iterator[SizeClass]:
    for name, value in key_hist:
        if name == "value_hist" and isinstance(value, list):
            yield from _classes(value)


def _classes(value_hist: _Pairs) -> Iterator[SizeClass]:
    """Classes, each cut at the longest value in it."""
    for (name, count), (after, longest) in zip(value_hist, [*value_hist[1:], ("", 0)], strict=True):
        bounds = _RANGE.fullmatch(name)
        if bounds is None or type(count) is not int or count <= 0:
            continue
        low, high = int(bounds[1]), int(bounds[2]) - 1
        if after == "max_len" and type(longest) is int and low <= longest < high:
            high = longest
        if high >= low:
            yield SizeClass(low, high, count)


def of_prefixes(histogram: SizeHistogram, prefixes: Sequence[str]) -> tuple[SizeClass, ...]:
    """The classes of several prefixes together."""
    return tuple(one for prefix in prefixes for one in histogram.values.get(prefix, ()))


def has_request_sizes(document: Mapping[str, Any]) -> bool:
    """Whether a document is what `perf histogram dump` prints."""
    section = document.get("osd")
    return isinstance(section, dict) and any(
        isinstance(section.get(name), dict) and "axes" in section[name] for name in NAMES.values()
    )


def read_request_sizes(document: Mapping[str, Any], source: str = "") -> RequestSizes:
    """The sizes in such a document; kinds without requests, and what is not understood, are left out."""
    section = document.get("osd")
    found = {
        kind: tuple(_size_classes(section[name]))
        for kind, name in NAMES.items()
        if isinstance(section, dict) and isinstance(section.get(name), dict)
    }
    return RequestSizes({kind: classes for kind, classes in found.items() if classes}, source)


def _size_classes(grid: Mapping[str, Any]) -> Iterator[SizeClass]:
    try:
        ranges = grid["axes"][1]["ranges"]
        counts = [sum(column) for column in zip(*grid["values"], strict=True)]
        bounds = [(one.get("min", 0), one.get("max", one.get("min", 0))) for one in ranges]
        for (low, high), count in zip(bounds, counts, strict=True):
            if count > 0 and high >= 0:
                yield SizeClass(int(low), int(high), int(count))
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        return
