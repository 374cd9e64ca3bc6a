"""Presets: all there, sound, and of the sizes they say."""

import numpy as np
import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.presets import load_preset, preset_names
from lsmlens.tuners.workloads.reads import GET
from lsmlens.tuners.workloads.sources import open_workload

BLUESTORE = ("rbd-4k-randwrite", "rgw-small-objects", "cephfs-metadata", "mixed")
READING = ("mixgraph", "rgw-listing")


def test_the_names() -> None:
    assert set(preset_names()) == {*BLUESTORE, *READING, "fillrandom", "overwrite"}
    with pytest.raises(InputError, match="no preset") as raised:
        load_preset("rdb")
    assert "rbd-4k-randwrite" in raised.value.hint


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_makes_a_stream(name: str) -> None:
    workload = load_preset(name)
    assert workload.name == name
    assert workload.origin.kind == "preset"
    stream = open_workload(name)
    records = sum(piece.records for piece in stream.batches(1, 200))
    # as many as the rates come to: puts, deletes in proportion, and two for each of a queue in the long run
    assert records > 1000
    for piece in stream.batches(1, 5000):
        assert np.isfinite(piece.seconds).all()


@pytest.mark.parametrize("name", BLUESTORE)
def test_bluestore_presets_write_bluestore_s_families(name: str) -> None:
    families = DeclaredStream(load_preset(name)).families
    assert families[0] == "default"
    assert {"O-0", "O-1", "O-2", "P", "L"} <= set(families)


def test_the_volume_preset_writes_as_a_real_osd_did() -> None:
    """Puts and deletes for each client write: a real OSD wrote 1.92 and 0.06 to O, 2.93 and 1.64 to P."""
    stream = DeclaredStream(load_preset("rbd-4k-randwrite"))
    puts, deletes = np.zeros(len(stream.families)), np.zeros(len(stream.families))
    for part in stream.operations(1, 20):
        is_put = part.tag == Tag.PUT
        puts += np.bincount(part.family[is_put], minlength=len(puts))
        deletes += np.bincount(part.family[~is_put], minlength=len(puts))
    writes = 15_000 * 600 / 20
    sums = {"O": [0.0, 0.0], "P": [0.0, 0.0]}
    for name, put, deleted in zip(stream.families, puts, deletes, strict=True):
        if name[0] in sums:
            sums[name[0]][0] += put / writes
            sums[name[0]][1] += deleted / writes
    assert sums["O"] == pytest.approx([1.92, 0.055], abs=0.01)
    assert sums["P"] == pytest.approx([2.97, 1.87], abs=0.1)


def test_db_bench_presets() -> None:
    assert sum(piece.records for piece in DeclaredStream(load_preset("fillrandom")).batches(1, 10)) == 100_000
    overwrite = DeclaredStream(load_preset("overwrite"))
    assert overwrite.preloaded_records() == 1_000_000
    keys = np.concatenate([part.key for part in DeclaredStream(load_preset("fillrandom")).operations(1)])
    assert len(np.unique(keys)) == pytest.approx(1e6 * (1 - np.exp(-1)), rel=0.01)


@pytest.mark.parametrize(("name", "share"), [("mixgraph", 0.86), ("rgw-listing", 0.5)])
def test_reading_presets_mostly_read(name: str, share: float) -> None:
    gets = seeks = written = 0
    for piece in DeclaredStream(load_preset(name)).batches(1, 500):
        if piece.reads is None:
            continue
        gets += int((piece.reads.nexts == GET).sum())
        seeks += int((piece.reads.nexts != GET).sum())
        written += piece.records
    assert gets > 10 * seeks > 0
    assert (gets + seeks) / (gets + seeks + written) == pytest.approx(share, abs=0.05)
