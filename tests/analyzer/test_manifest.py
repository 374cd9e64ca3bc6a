"""The shape of a database by its MANIFEST."""

import shutil
from pathlib import Path

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.manifest import read_manifest
from rocksdict import Options, Rdict


@pytest.fixture
def database(tmp_path: Path) -> Path:
    folder = tmp_path / "db"
    opened = Rdict(str(folder), Options(raw_mode=True))
    family = opened.create_column_family("O-0", Options(raw_mode=True))
    for _ in range(3):
        opened[b"key"] = family[b"key"] = b"value"
        opened.flush()
        family.flush()
    family.compact_range(None, None)
    family.close()
    opened.close()
    return folder


def test_levels_and_their_tables(database: Path, tmp_path: Path) -> None:
    levels = read_manifest(database).levels
    flushed, compacted = levels
    assert (flushed.family, flushed.level, len(flushed.tables)) == ("default", 0, 3)
    assert compacted.family == "O-0"
    assert compacted.level > 0
    files = [database / f"{number:06}.sst" for one in levels for number in one.tables]
    assert sum(one.bytes for one in levels) == sum(file.stat().st_size for file in files)


def test_the_manifest_alone_is_enough(database: Path, tmp_path: Path) -> None:
    (manifest,) = database.glob("MANIFEST-*")
    alone = tmp_path / manifest.name
    shutil.copy(manifest, alone)
    before = sorted(one.name for one in tmp_path.iterdir())
    assert read_manifest(alone).levels == read_manifest(database).levels
    assert sorted(one.name for one in tmp_path.iterdir()) == before


@pytest.mark.parametrize("content", [b"", b"no manifest", b"\x00" * 4096])
def test_what_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "MANIFEST-000005"
    path.write_bytes(content)
    with pytest.raises(InputError, match="MANIFEST-000005: "):
        read_manifest(path)
    with pytest.raises(InputError):
        read_manifest(tmp_path / "nowhere")
