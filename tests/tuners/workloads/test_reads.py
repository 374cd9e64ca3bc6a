"""The reads of a workload: in documents, and which keys they ask for."""

from collections import defaultdict

import msgspec
import numpy as np
import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.decoding import decode
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.reads import GET, Gets, ReadStep
from lsmlens.tuners.workloads.stream import Batches
from lsmlens.tuners.workloads.yaml_form import parse_workload, to_yaml

TEXT = """\
schema: lsmlens.workload/1
name: reading
seconds: 100
column_families:
- name: default
  keys: {length: 20}
  values: 50
  components:
  - {kind: growth, rate: 10}
- name: O
  shards: 2
  keys: {length: 30, order: scattered}
  values: 100
  components:
  - {kind: overwrite, rate: 400, working_sets: [{keys: 2000}], deletes_per_put: 0.3, preload: 1000}
  - {kind: queue, rate: 100, lifetime_puts: 500}
  reads:
    gets: {rate: 300, absent: 0.25}
    iterators: {per_put: 0.02, nexts: 7}
"""


def workload(text: str = TEXT) -> Workload:
    return parse_workload(text, "reading.yaml")


def made(text: str = TEXT, seed: int = 1, scale: float = 1.0) -> list[Batches]:
    return list(DeclaredStream(workload(text)).batches(seed, scale))


def test_a_document_says_what_is_read() -> None:
    reads = workload().column_families[1].reads
    assert reads is not None
    assert reads.gets == Gets(rate=300.0, absent=0.25)
    assert reads.iterators is not None
    assert reads.iterators.nexts == 7
    assert workload().column_families[0].reads is None
    assert parse_workload(to_yaml(workload()), "again") == workload()
    stepped = msgspec.convert({"rate": [[0, 10], [50, 30]]}, Gets)
    assert stepped.rate == (ReadStep(0, 10), ReadStep(50, 30))


@pytest.mark.parametrize(
    ("right", "wrong", "what", "hint"),
    [
        ("absent: 0.25", "absnt: 0.25", "unknown field `absnt`", "did you mean `absent`?"),
        ("absent: 0.25", "absent: 1.25", "<= 1", ""),
        ("rate: 300, ", "", "needs either `rate` or `per_put`", ""),
        ("rate: 300", "rate: 300, per_put: 2", "not both", ""),
        ("rate: 300", "rate: [[5, 3], [2, 4]]", "the starts of `rate` do not rise", ""),
        ("nexts", "next", "unknown field `next`", "did you mean `nexts`?"),
        ("    gets: {rate: 300, absent: 0.25}\n    iterators: {per_put: 0.02, nexts: 7}\n", "    {}\n", "`gets`", ""),
    ],
)
def test_what_is_wrong_in_reads_is_said(right: str, wrong: str, what: str, hint: str) -> None:
    with pytest.raises(InputError) as raised:
        workload(TEXT.replace(right, wrong))
    assert what in str(raised.value)
    assert hint in raised.value.hint


def test_gets_and_iterators_are_as_many_as_declared() -> None:
    reads = [one.reads for one in made() if one.reads is not None]
    nexts = np.concatenate([one.nexts for one in reads])
    assert (nexts == GET).sum() == pytest.approx(300 * 100, rel=0.01)
    assert (nexts == 7).sum() == pytest.approx(0.02 * 500 * 100, rel=0.01)
    seconds = np.concatenate([one.seconds for one in reads])
    assert (np.diff(seconds) >= 0).all()
    assert np.histogram(seconds, 4, (0, 100))[0] == pytest.approx(np.full(4, len(seconds) / 4), rel=0.05)
    assert np.concatenate([one.nexts for one in [each.reads for each in made(scale=4.0)] if one is not None]).size < (
        0.27 * len(nexts)
    )


def test_rates_change_over_time() -> None:
    reads = [one.reads for one in made(TEXT.replace("rate: 300", "rate: [[0, 100], [50, 500]]")) if one.reads]
    gets = np.concatenate([one.seconds[one.nexts == GET] for one in reads])
    assert np.histogram(gets, 2, (0, 100))[0].tolist() == pytest.approx([5000, 25000], rel=0.02)


def live_after(every: list[Batches]) -> "tuple[list[tuple[set[bytes], Batches]], set[bytes]]":
    """The keys of each family that were live after each lot, and all that were ever put."""
    live: dict[int, set[bytes]] = defaultdict(set)
    states, ever = [], set()
    for one in every:
        records, data = decode(one).records, one.buffer.tobytes()
        for tag, family, start, size in zip(
            *(each.tolist() for each in (records.tag, records.family, records.key_start, records.key_bytes)),
            strict=True,
        ):
            key = bytes([family]) + data[start : start + size]
            if tag == Tag.PUT:
                live[family].add(key)
                ever.add(key)
            else:
                live[family].discard(key)
        states.append((set().union(*live.values()), one))
    return states, ever


def test_reads_ask_for_live_keys_and_for_some_that_never_were() -> None:
    states, ever = live_after(made())
    present = absent = unexpected = gone = 0
    for live, one in states:
        for number in range(len(one.reads or ())):
            assert one.reads is not None
            key = one.reads.buffer[one.reads.offsets[number] : one.reads.offsets[number + 1]].tobytes()
            family = bytes([int(one.reads.family[number])])
            if one.reads.nexts[number] == GET and family + key not in ever:
                absent += 1
                unexpected += family + key[:-1] not in ever
            else:
                present += 1
                gone += family + key not in live
    assert absent == pytest.approx(0.25 * 30000, rel=0.05)
    assert not unexpected
    # a lot holds much of this workload: what is deleted at its end may have been read before
    assert gone < 0.9 * present


def test_recent_keys_are_read_where_recency_says_so() -> None:
    text = TEXT.split("- name: O")[0] + "  reads:\n    gets: {rate: 50, recency: RECENCY}\n"
    ages = {}
    for recency in ("0", "1"):
        one = max(
            made(text.replace("RECENCY", recency).replace("rate: 10}", "rate: 500}")), key=lambda each: each.records
        )
        reads = one.reads
        assert reads is not None
        keys = {key: place for place, key in enumerate(_keys(one))}
        asked = [reads.buffer[a:b].tobytes() for a, b in zip(reads.offsets[:-1], reads.offsets[1:], strict=True)]
        put = np.array([keys[key] for key in asked])
        ages[recency] = np.median(500 * reads.seconds - put)
    assert ages["1"] < 0.2 * ages["0"]


def _keys(batches: Batches) -> list[bytes]:
    records, data = decode(batches).records, batches.buffer.tobytes()
    return [data[a : a + n] for a, n in zip(records.key_start.tolist(), records.key_bytes.tolist(), strict=True)]


def test_the_same_seed_reads_the_same_and_writes_do_not_change() -> None:
    one, again, other = made(), made(), made(seed=2)
    for left, right in zip(one, again, strict=True):
        assert left.buffer.tobytes() == right.buffer.tobytes()
        if left.reads is not None and right.reads is not None:
            assert left.reads.buffer.tobytes() == right.reads.buffer.tobytes()
    assert any(
        a.reads is not None and b.reads is not None and a.reads.buffer.tobytes() != b.reads.buffer.tobytes()
        for a, b in zip(one, other, strict=False)
    )
    silent = made(TEXT.split("  reads:")[0])
    assert b"".join(each.buffer.tobytes() for each in silent) == b"".join(each.buffer.tobytes() for each in one)
    assert all(each.reads is None for each in silent)
