"""What a command is told to work on: the run of a bundle, and sets of options."""

from pathlib import Path

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.cli.chosen_options import read_candidates, read_option_sets
from lsmlens.cli.chosen_run import read_heaviest_run, read_run
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.presets import preset


@pytest.fixture
def two(fixtures: Path) -> list[str]:
    return [str(fixtures / "rocksdb-weak-filter"), str(fixtures / "rocksdb-filter")]


@pytest.fixture
def own() -> OptionSet:
    return preset("ceph:reef")


def test_the_only_database(fixtures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = read_run([str(fixtures / "osd-stock")], None, quiet=False)
    assert chosen.run.name == "osd.0"
    assert capsys.readouterr().err == "note: of 2 runs this is about osd.0\n"


def test_one_of_several_has_to_be_named(two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="2 runs") as raised:
        read_run(two, None, quiet=True)
    assert raised.value.hint == "say which with --run: rocksdb-filter/LOG, rocksdb-weak-filter/LOG"
    with pytest.raises(InputError, match="2 runs called LOG"):
        read_run(two, "LOG", quiet=True)
    assert read_run(two, "rocksdb-filter/LOG", quiet=True).run.name == "rocksdb-filter/LOG"
    assert capsys.readouterr().err == ""


def test_the_heaviest_of_several(two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    heaviest = read_heaviest_run(two, None, quiet=True)
    written = {
        name: read_run(two, name, quiet=True).total for name in ("rocksdb-weak-filter/LOG", "rocksdb-filter/LOG")
    }
    weights = {name: total.flush_bytes + total.compaction_output_bytes for name, total in written.items()}
    assert heaviest.run.name == max(weights, key=lambda name: weights[name])
    note = f"note: of 2 runs this is about {heaviest.run.name}, which writes most; --run chooses another\n"
    assert capsys.readouterr().err == note
    assert read_heaviest_run(two, "rocksdb-weak-filter/LOG", quiet=True).run.name == "rocksdb-weak-filter/LOG"
    with pytest.raises(InputError, match="no run called x"):
        read_heaviest_run(two, "x", quiet=True)


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
