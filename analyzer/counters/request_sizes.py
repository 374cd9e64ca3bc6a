"""How large the requests of clients were, as an OSD counts them.

`ceph daemon osd.N perf histogram dump` prints, for reads, writes and both in one, a grid of latency by size:

    "osd": {"op_w_latency_in_bytes_histogram": {"axes": [{"name": "Latency (usec)", …},
        {"name": "Request size (bytes)", …, "ranges": [{"max": -1}, {"min": 0, "max": 511}, …, {"min": 274877906944}]}],
        "values": [[0, 0, …], …]}}

Source: PerfHistogram::dump_formatted of Ceph; rows of `values` are the first axis. Latencies there begin with a class
of up to 0.1 s, which most requests are in, so they are not read.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lsmlens.analyzer.counters.size_histograms import SizeClass

# op_w_latency_in_bytes_histogram: what came in with writes
NAMES = {
    "write": "op_w_latency_in_bytes_histogram",
    "read-write": "op_rw_latency_in_bytes_histogram",
}


class RequestSizes(NamedTuple):
    """Bytes that came in with requests, by their kind: `write`, or `read-write`, which read an object first."""

    classes: Mapping[str, tuple[SizeClass, ...]]
    source: str = ""


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
        kind: tuple(_classes(section[name]))
        for kind, name in NAMES.items()
        if isinstance(section, dict) and isinstance(section.get(name), dict)
    }
    return RequestSizes({kind: classes for kind, classes in found.items() if classes}, source)


def _classes(grid: Mapping[str, Any]) -> Iterator[SizeClass]:
    try:
        ranges = grid["axes"][1]["ranges"]
        counts = [sum(column) for column in zip(*grid["values"], strict=True)]
        bounds = [(one.get("min", 0), one.get("max", one.get("min", 0))) for one in ranges]
        for (low, high), count in zip(bounds, counts, strict=True):
            if count > 0 and high >= 0:
                yield SizeClass(int(low), int(high), int(count))
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        return
