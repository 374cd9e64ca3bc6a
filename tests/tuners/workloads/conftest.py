"""What tests of workloads share: small documents, and a decoder of write batches that knows nothing of the builder."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.stream import Batches, Stream
from lsmlens.tuners.workloads.yaml_form import parse_workload


class Record(NamedTuple):
    """A record of a batch: P put, D delete, S single delete, M merge, R range delete (its value is the end key)."""

    kind: str
    family: int
    key: bytes
    value: bytes | None


# db/dbformat.h: kTypeDeletion = 0x0, kTypeValue = 0x1, kTypeMerge = 0x2, …ColumnFamily… = 0x4, 0x5, 0x6, 0x8, 0xE
KINDS = {0: "D", 1: "P", 2: "M", 7: "S", 15: "R", 4: "D", 5: "P", 6: "M", 8: "S", 14: "R"}


def number(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            assert shift == 7 or byte, "padded"
            return value, place


def string(data: bytes, place: int) -> tuple[bytes, int]:
    length, place = number(data, place)
    assert place + length <= len(data)
    return data[place : place + length], place + length


def decode(batch: bytes) -> list[Record]:
    assert batch[:8] == bytes(8)
    records, place = [], 12
    while place < len(batch):
        tag, place = batch[place], place + 1
        family, value = 0, None
        if tag in (4, 5, 6, 8, 14):
            family, place = number(batch, place)
            assert family
        key, place = string(batch, place)
        if KINDS[tag] in "PMR":
            value, place = string(batch, place)
        records.append(Record(KINDS[tag], family, key, value))
    assert len(records) == int.from_bytes(batch[8:12], "little")
    return records


def each(batches: Batches) -> Iterator[list[Record]]:
    data, offsets = batches.buffer.tobytes(), batches.offsets.tolist()
    assert offsets[0] == 0
    assert offsets[-1] == len(data)
    for start, end in pairwise(offsets):
        yield decode(data[start:end])


@pytest.fixture(scope="session")
def decoded() -> Callable[..., list[tuple[float, list[Record]]]]:
    """All batches of a stream, decoded, each with its second."""

    def decode_all(stream: Stream, seed: int = 1, scale: float = 1.0) -> list[tuple[float, list[Record]]]:
        found: list[tuple[float, list[Record]]] = []
        for piece in stream.batches(seed, scale):
            batches = list(each(piece))
            assert sum(map(len, batches)) == piece.records
            assert len(batches) == len(piece.seconds)
            found.extend(zip(piece.seconds.tolist(), batches, strict=True))
        return found

    return decode_all


@pytest.fixture(scope="session")
def workload() -> Callable[..., Workload]:
    """A workload of one or more families, each given as YAML below its name."""

    def make(*families: str, seconds: float = 100, **fields: Any) -> Workload:
        text = f"schema: lsmlens.workload/1\nname: test\nseconds: {seconds}\n"
        for name, value in fields.items():
            text += f"{name}: {value}\n"
        text += "column_families:\n"
        for family in families:
            lines = family.strip("\n").splitlines()
            text += "- " + "\n  ".join(lines) + "\n"
        return parse_workload(text, "test.yaml")

    return make


@pytest.fixture(scope="session")
def family(workload: Callable[..., Workload]) -> Callable[..., Workload]:
    """A workload of one family with one component, given as YAML in flow style."""

    def make(component: str, keys: str = "{length: 16}", values: str = "20", **fields: Any) -> Workload:
        return workload(f"name: default\nkeys: {keys}\nvalues: {values}\ncomponents:\n- {component}", **fields)

    return make
