"""Batches out of an OSD's log at debug_rocksdb 30."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.workloads.batch_lines import logged_batches, open_batch_lines
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.moments import moments

HEAD = "2026-11-21T11:07:21.{:03}+0000 7fb1737fe6c0 30 submit_common Rocksdb transaction: \n"


@pytest.fixture
def log(fixtures: Path) -> Path:
    return fixtures / "osd-write-batches" / "ceph-osd.0.log.gz"


def printed(key: bytes) -> str:
    """A key as Ceph prints it: three or more printable bytes in a row in quotes, doubled within, others in hex."""

    def is_text(place: int) -> bool:
        return place < len(key) and 32 <= key[place] <= 126

    text, mode = "", ""
    for place, byte in enumerate(key):
        wanted = "'" if is_text(place) and (mode == "'" or (is_text(place + 1) and is_text(place + 2))) else "0x"
        if place == 0 and is_text(0):
            wanted = "'"
        if wanted != mode:
            text += ("'" if mode == "'" else "") + wanted
            mode = wanted
        text += f"{byte:02X}" if mode == "0x" else chr(byte).replace("'", "''")
    return text + ("'" if mode == "'" else "")


def test_the_whole_log(log: Path, decoded: Callable[..., Any]) -> None:
    text = gzip.decompress(log.read_bytes()).decode()
    stream = open_batch_lines(log)
    assert stream.families == ("default", "m-0", "m-1", "m-2", "p-0", "p-1", "p-2", "O-0", "O-1", "O-2", "L", "P")
    assert stream.seconds == pytest.approx(4.276)
    batches = decoded(stream)
    assert len(batches) == len(re.findall(r"transaction: \n[A-Z]", text)) == 616
    kinds = Counter(one.kind for _, batch in batches for one in batch)
    assert kinds == {"P": 3151, "D": 489, "S": 67, "M": 918}
    assert sum(len(one.value or b"") for _, batch in batches for one in batch) == sum(
        map(int, re.findall(r"value size = (\d+)", text))
    )
    assert "3 of 616 batches have 50 lines" in " ".join(stream.notes)
    assert max(len(batch) for _, batch in batches) == 50


def test_keys_are_read_as_they_were(log: Path) -> None:
    text = gzip.decompress(log.read_bytes()).decode()
    lines = re.findall(r"^\w+CF\( prefix = \S+ key = (.*?)(?: value size = \d+)?\)$", text, re.MULTILINE)
    keys = [key for batch in logged_batches(log) for _, _, key, _ in batch.records]
    assert len(keys) == len(lines) == 4625
    assert [printed(key) for key in keys] == lines
    fast_info = {key for key in keys if key.endswith(b"._fastinfo")}
    assert {len(key) for key in fast_info} == {18}
    assert any(b"'" in key for key in keys)


@given(
    st.lists(st.tuples(st.sampled_from(["Put", "Merge", "Delete", "SingleDelete"]), st.binary(min_size=1)), max_size=9)
)
def test_any_key_comes_back(tmp_path_factory: pytest.TempPathFactory, records: list[tuple[str, bytes]]) -> None:
    path = tmp_path_factory.mktemp("log") / "osd.log"
    lines = [
        f"{kind}CF( prefix = O key = {printed(key)}{' value size = 7' if kind in ('Put', 'Merge') else ''})\n"
        for kind, key in records
    ]
    path.write_text(HEAD.format(1) + "".join(lines), encoding="latin-1")
    (batch,) = logged_batches(path)
    assert [key for _, _, key, _ in batch.records] == [key for _, key in records]
    assert [tag.name.replace("_", "").lower() for tag, *_ in batch.records] == [kind.lower() for kind, _ in records]


def test_prefixes_and_sharding(log: Path, decoded: Callable[..., Any]) -> None:
    stream = open_batch_lines(log, {"O": 1, "P": 2})
    assert stream.families == ("default", "O", "P-0", "P-1")
    found = Counter((stream.families[one.family], one.key[:2]) for _, batch in decoded(stream) for one in batch)
    assert found["default", b"p\0"] == 1684
    assert found["default", b"b\0"] == 614
    assert sum(count for (family, _), count in found.items() if family == "O") == 611
    assert min(sum(count for (family, _), count in found.items() if family == name) for name in ("P-0", "P-1")) > 300


def test_a_key_stays_in_its_shard(log: Path, decoded: Callable[..., Any]) -> None:
    stream = open_batch_lines(log)
    homes: dict[tuple[str, bytes], set[int]] = {}
    for _, batch in decoded(stream):
        for one in batch:
            name = stream.families[one.family]
            homes.setdefault((name[0], one.key[:12] if name[0] == "p" else one.key), set()).add(one.family)
    assert all(len(families) == 1 for families in homes.values())


def test_transports_and_compression(log: Path, tmp_path: Path, decoded: Callable[..., Any]) -> None:
    text = gzip.decompress(log.read_bytes()).decode()
    expected = decoded(open_batch_lines(log))
    forms = {
        "plain.log": text,
        "debug.log": re.sub(r"^(?=2026)", "debug ", text, flags=re.MULTILINE),
        "docker.log": "".join(
            json.dumps({"log": line, "stream": "stderr", "time": "2026-11-21T11:07:21.8Z"}, separators=(",", ":"))
            + "\n"
            for line in text.splitlines(keepends=True)
        ),
        "cri.log": "".join(f"2026-11-21T11:07:21.802Z stderr F {line}\n" for line in text.splitlines()),
    }
    for name, form in forms.items():
        (tmp_path / name).write_text(form, encoding="utf-8")
        assert decoded(open_batch_lines(tmp_path / name)) == expected, name


def test_the_same_bytes_for_the_same_seed(log: Path) -> None:
    stream = open_batch_lines(log)
    first, again, other = (b"".join(one.buffer.tobytes() for one in stream.batches(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len(first) == len(other)


def test_moments_are_exact(log: Path) -> None:
    found = {family.name: family for family in moments(open_batch_lines(log))}
    assert (found["L"].puts, found["L"].single_deletes, found["L"].value_bytes) == (70, 67, 8248)
    assert found["default"].merges == 918
    assert (found["P"].puts, found["P"].deletes) == (1225, 50)
    assert sum(found[f"p-{number}"].deletes for number in range(3)) == 387


def test_a_log_without_batches(tmp_path: Path, fixtures: Path) -> None:
    with pytest.raises(InputError, match="no write batches"):
        open_batch_lines(fixtures / "osd-noisy" / "ceph-osd.0.log.gz")
    with pytest.raises(InputError, match="No such file"):
        open_batch_lines(tmp_path / "none.log")
    (tmp_path / "cut.log").write_text("PutCF( prefix = O key = 0x01 value size = 3)\n" + HEAD.format(5))
    with pytest.raises(InputError, match="no write batches"):
        open_batch_lines(tmp_path / "cut.log")
    torn = HEAD.format(5) + "PutCF( prefix = O key = 0x01 value size = 3)\nPutCF( prefix = O key = 0x"
    (tmp_path / "torn.log").write_text(torn)
    (batch,) = logged_batches(tmp_path / "torn.log")
    assert batch.records == [(Tag.PUT, "O", b"\x01", 3)]
