"""Arms: how they are asked for, what a path may be, and what is refused."""

import gzip
import json
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from lsmlens.analyzer.comparison.arms import ArmRequest, parse_arm, read_arms, with_baseline
from lsmlens.analyzer.comparison.comparison import compare
from lsmlens.analyzer.comparison.estimates import PAIRED
from lsmlens.analyzer.comparison.observations import Kind
from lsmlens.analyzer.errors import InputError, LsmlensError

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
EMPTY = b'{"schema": "lsmlens.analysis/1", "members": [], "selection": {}, "runs": [], "total": null}'


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("run", ArmRequest(None, ("run",))),
        ("stock=run", ArmRequest("stock", ("run",))),
        ("stock=run1,run2", ArmRequest("stock", ("run1", "run2"))),
        ("run1,run2", ArmRequest(None, ("run1", "run2"))),
        ("./a=b/run", ArmRequest(None, ("./a=b/run",))),
        ("with spaces=x/y=z", ArmRequest("with spaces", ("x/y=z",))),
        ("-", ArmRequest(None, ("-",))),
        ("in=-", ArmRequest("in", ("-",))),
    ],
)
def test_arms_are_parsed(text: str, request_: ArmRequest) -> None:
    assert parse_arm(text) == request_


def test_a_path_that_exists_is_taken_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a=b,c", "d,e"):
        Path(name).mkdir()
    assert parse_arm("a=b,c") == ArmRequest(None, ("a=b,c",))
    assert parse_arm("x=d,e") == ArmRequest("x", ("d,e",))


@pytest.mark.parametrize("text", ["=run", "stock=", "stock=a,,b", ",a"])
def test_an_arm_without_name_or_path_is_refused(text: str) -> None:
    with pytest.raises(LsmlensError) as caught:
        parse_arm(text)
    assert text in str(caught.value)
    assert caught.value.hint


def names_of(*texts: str | Path) -> list[str]:
    return [arm.name for arm in read_arms([parse_arm(str(text)) for text in texts])]


def test_names_are_as_much_of_the_path_as_tells_arms_apart(fixtures: Path, tmp_path: Path) -> None:
    source = fixtures / "saved-analyses/stock-scaled.json.gz"
    for folder in ("a/run", "b/run"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "saved.json").write_bytes(gzip.decompress(source.read_bytes()))
    assert names_of(tmp_path / "a/run/saved.json", tmp_path / "b/run/saved.json") == [
        "a/run/saved.json",
        "b/run/saved.json",
    ]
    assert names_of(source, tmp_path / "a/run/saved.json") == ["stock-scaled.json.gz", "saved.json"]


def test_a_table_is_as_many_arms_as_columns(fixtures: Path) -> None:
    table = fixtures / "published/pr51821-full-speed.csv"
    columns = ["Reef - New Tuning", "Reef - Original Tuning", "v17.2.6 - Stock"]
    assert names_of(table) == columns
    assert names_of(f"published={table}", fixtures / "osd-reef") == [
        *(f"published {name}" for name in columns),
        "osd-reef",
    ]
    arms = read_arms([parse_arm(str(table))])
    assert [arm.name for arm in with_baseline(arms, "v17.2.6 - Stock")] == [columns[2], columns[0], columns[1]]
    with pytest.raises(LsmlensError, match="no arm stock"):
        with_baseline(arms, "stock")


def test_the_kinds_of_paths(fixtures: Path) -> None:
    arms = read_arms(
        [
            parse_arm(str(fixtures / path))
            for path in ("osd-reef", "saved-analyses/stock-scaled.json.gz", "published/pr51821-rgw-4k.csv")
        ]
    )
    assert [arm.observations[0].kind for arm in arms] == [Kind.BUNDLE, Kind.ANALYSIS, *[Kind.TABLE] * 3]
    assert arms[0].observations[0].analysis is not None
    assert arms[0].versions == "Ceph 18.2.7, RocksDB 7.9.2"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"schema": "lsmlens.replay/1"}', "a document of schema lsmlens.replay/1, not lsmlens.analysis/1"),
        (b'{"schema": "lsmlens.analysis/1"}', "not a saved analysis that can be read: Object missing required field"),
        (EMPTY, "it holds no run"),
        (b'{"schema": "lsmlens.analysis/1", "runs": [{"monitor": 1}]}', "not a saved analysis"),
        (b"metric\nNumber of Compaction Events\n", "no column of figures"),
        (b"metric,a,a\nNumber of Compaction Events,1,2\n", "two columns have one name"),
        (b"", "empty"),
        (b"\x00\x01\x02", "neither a log"),
        (b"{}", "neither a log"),
        (b'{"a": ', "neither a log"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(content: bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / "odd"
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        names_of(file, file)
    assert said in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def test_arms_must_be_two_and_have_names_of_their_own(fixtures: Path) -> None:
    saved = fixtures / "saved-analyses/stock-scaled.json.gz"
    with pytest.raises(LsmlensError, match="one arm only"):
        names_of(saved)
    with pytest.raises(LsmlensError, match="two arms are called x"):
        names_of(f"x={saved}", f"x={saved}")
    with pytest.raises(InputError, match="several columns is several arms"):
        names_of(saved, f"x={saved},{fixtures / 'published/pr51821-rgw-4k.csv'}")


@pytest.mark.parametrize("name", ["flush_bytes", "name", "compactions"])
@pytest.mark.parametrize("value", [None, "text", -1, 1e400, [], {}])
def test_a_saved_analysis_that_was_changed_by_hand_costs_no_traceback(
    name: str, value: object, fixtures: Path, tmp_path: Path
) -> None:
    document = json.loads(gzip.decompress((fixtures / "saved-analyses/stock-scaled.json.gz").read_bytes()))
    document["runs"][0]["column_families"][0][name] = value
    (tmp_path / "changed.json").write_text(json.dumps(document).replace("Infinity", "1e400"))
    with suppress(InputError):
        names_of(tmp_path / "changed.json", fixtures / "saved-analyses/stock-scaled.json.gz")


def test_an_analysis_saved_by_a_newer_version_is_read(fixtures: Path, tmp_path: Path) -> None:
    document = json.loads(gzip.decompress((fixtures / "saved-analyses/stock-scaled.json.gz").read_bytes()))
    document["news"] = 1
    document["runs"][0]["column_families"][0]["news"] = 2
    document["runs"][0]["compaction_statistics"] |= {}
    (tmp_path / "newer.json").write_text(json.dumps(document))
    assert names_of(tmp_path / "newer.json", fixtures / "saved-analyses/stock-scaled.json.gz")[0] == "newer.json"


def osds(folder: Path, fixtures: dict[int, str]) -> str:
    """A bundle of several OSDs, with the logs of these fixtures."""
    for number, name in fixtures.items():
        (folder / f"osd.{number}").mkdir(parents=True)
        shutil.copy(FIXTURES / name / "ceph-osd.0.log.gz", folder / f"osd.{number}/ceph-osd.{number}.log.gz")
    return str(folder)


def renumbered(folder: Path) -> None:
    """The number that a log says itself becomes its name's."""
    for log in folder.glob("osd.*/*.log.gz"):
        number = log.parent.name.removeprefix("osd.").encode()
        log.write_bytes(
            gzip.compress(
                gzip.decompress(log.read_bytes())
                .replace(b"osd.0", b"osd." + number)
                .replace(b"ceph-0", b"ceph-" + number)
            )
        )


def test_sets_of_osds_are_paired_where_they_are_the_same(tmp_path: Path) -> None:
    before = osds(tmp_path / "before", {1: "osd-stock", 2: "osd-slow", 3: "osd-reef"})
    after = osds(tmp_path / "after", {1: "osd-slow", 2: "osd-reef", 3: "osd-stock"})
    rest = osds(tmp_path / "rest", {4: "osd-slow", 5: "osd-reef", 6: "osd-stock"})
    for folder in ("before", "after", "rest"):
        renumbered(tmp_path / folder)
    arms = read_arms([parse_arm(before), parse_arm(after), parse_arm(rest)])
    assert [list(arm.osds) for arm in arms] == [["osd.1", "osd.2", "osd.3"]] * 2 + [["osd.4", "osd.5", "osd.6"]]
    found = compare(arms)
    row = found.row("write_amplification_lsm")
    assert row is not None
    _, paired, apart = row.judgements
    assert paired is not None
    assert apart is not None
    assert paired.method == PAIRED
    assert apart.method in ("Welch's t", "permutation test")
    values = [figure.values for figure in row.figures if figure is not None]
    assert sorted(values[0]) == pytest.approx(sorted(values[1]))
    assert paired.ratio == pytest.approx(1.0)  # each OSD's own ratio: the logs are the same, in another order
    assert len(values[2]) == 3
    texts = {notice.text: notice.arms for notice in found.notices}
    assert texts["intervals are over the same 3 OSDs, each against itself"] == ("after",)
    assert texts["intervals are over OSDs, of which the arms have others"] == ("rest",)


def test_two_osds_are_added_up(tmp_path: Path) -> None:
    one, other = (osds(tmp_path / name, {1: "osd-stock", 2: "osd-slow"}) for name in ("before", "after"))
    for arm in read_arms([parse_arm(one), parse_arm(other)]):
        assert len(arm.observations) == 1
        assert arm.osds == {}
