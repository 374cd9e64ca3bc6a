"""Zip archives without their index: what stands before the cut is read, however the sizes were written."""

import io
import zipfile
from pathlib import Path

import pytest
from lsmlens.analyzer.bundles.damaged_zips import salvaged_members
from lsmlens.analyzer.bundles.members import open_bundle

TEXTS = {"a.log": b"one line\n" * 5000, "folder/b.log": bytes(range(256)) * 300, "c": b"", "d.log": b"last\n" * 9000}


class _NoSeeking(io.BytesIO):
    """Makes zipfile write sizes behind the members, as it does into a pipe."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise io.UnsupportedOperation

    def tell(self) -> int:
        raise io.UnsupportedOperation


def archive(method: int, is_streamed: bool) -> bytes:
    file = _NoSeeking() if is_streamed else io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, text in TEXTS.items():
            archive.writestr(name, text)
    return file.getvalue()


def read(data: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for member in salvaged_members(io.BytesIO(data)):
        found[member.path] = b""
        try:
            while text := member.content.read(1000):
                found[member.path] += text
        except OSError:
            break
    return found


FORMS = [(zipfile.ZIP_DEFLATED, False), (zipfile.ZIP_DEFLATED, True), (zipfile.ZIP_STORED, False)]


@pytest.mark.parametrize(("method", "is_streamed"), FORMS)
def test_all_members_before_the_index(method: int, is_streamed: bool) -> None:
    assert read(archive(method, is_streamed)[:-60]) == TEXTS


@pytest.mark.parametrize(("method", "is_streamed"), FORMS)
def test_a_cut_anywhere_leaves_what_was_before_it(method: int, is_streamed: bool) -> None:
    data = archive(method, is_streamed)
    for cut in range(0, len(data), max(1, len(data) // 97)):
        for name, text in read(data[:cut]).items():
            assert TEXTS[name].startswith(text)


def test_a_cut_zip_is_read_as_a_bundle_and_named(tmp_path: Path) -> None:
    file = tmp_path / "bundle.zip"
    file.write_bytes(archive(zipfile.ZIP_DEFLATED, True)[:-60])
    members = [(member.path, member.head()) for member in open_bundle([str(file)]) if not member.unreadable]
    assert [(path.rpartition("!")[2], head) for path, head in members] == [
        (name, text[: 1 << 16]) for name, text in TEXTS.items()
    ]
    (damaged,) = [member.unreadable for member in open_bundle([str(file)]) if member.unreadable]
    assert damaged.startswith("the zip archive is damaged")
