"""Several sets of options, each under a name of its own."""

from pathlib import Path

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.named_sets import read_candidates, read_option_sets
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.presets import preset


@pytest.fixture
def own() -> OptionSet:
    return preset("ceph:reef")


def test_each_set_has_a_name_of_its_own(own: OptionSet) -> None:
    texts = ["a=+write_buffer_size=8M", "b=ceph:reef", "a=+write_buffer_size=16M", "a=+write_buffer_size=32M"]
    assert [one.name for one in read_option_sets(texts, own)] == ["a", "b", "a#2", "a#3"]
    assert [one.name for one in read_option_sets(["ceph:reef", "ceph:reef"])] == ["ceph:reef", "ceph:reef#2"]


def test_candidates(tmp_path: Path, own: OptionSet) -> None:
    file = tmp_path / "candidates"
    file.write_text("# tried by hand\na=+write_buffer_size=8M\n\na=+write_buffer_size=16M\n  current=ceph:reef\n")
    names = [one.name for one in read_candidates(str(file), own)]
    assert names == ["a", "a (line 4)", "current (line 5)"]


@pytest.mark.parametrize(
    ("text", "said"),
    [(b"ceph:reef\n\nnonsense\n", r"candidates:3: "), (b"\xff\xfe", "cannot be read"), (None, "cannot be read")],
)
def test_candidates_that_are_none(text: bytes | None, said: str, tmp_path: Path, own: OptionSet) -> None:
    file = tmp_path / "candidates"
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(InputError, match=said) as raised:
        read_candidates(str(file), own)
    assert raised.value.hint == "one set of options a line, as for predict"
