"""Redaction: none of a real bundle's names is left in any report, and the same name is the same token in all."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.comparison.arms import parse_arm, read_arms
from lsmlens.analyzer.comparison.comparison import compare
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.reports import comparison, github, markdown
from lsmlens.reports.analysis import AnalysisReport, compose
from lsmlens.reports.analysis_json import to_json
from lsmlens.reports.comparison import ComparisonReport
from lsmlens.reports.outputs import ANALYSIS, COMPARISON
from lsmlens.reports.redaction import Redaction, redacted
from lsmlens.reports.terminal import render, whole

from tests.parquet_text import text_of_parquet

HOST = "ceph-node17"
LogText = Callable[[str], bytes]


def document(analysis: Analysis) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(to_json(analysis))
    return said


@pytest.fixture(scope="module")
def bundle(fixtures: Path, tmp_path_factory: pytest.TempPathFactory, log_text: LogText) -> Path:
    """A real bundle of a host whose name is in paths, in the monitor's, and in a line that cannot be read."""
    folder = tmp_path_factory.mktemp("of") / f"sos-{HOST}"
    shutil.copytree(fixtures / "osd-stock", folder)
    (folder / "SOURCE.md").unlink()
    monitor = log_text("osd-stock/ceph-mon.a.log.gz").replace(b"mon.a", f"mon.{HOST}".encode())
    (folder / "ceph-mon.a.log.gz").unlink()
    (folder / f"ceph-mon.{HOST}.log").write_bytes(monitor)
    log = log_text("osd-stock/ceph-osd.0.log.gz")
    (folder / "ceph-osd.0.log.gz").unlink()
    torn = f'EVENT_LOG_v1 {{"time_micros": 17952, "job": 3, "event": "flush_fini Nov 20 {HOST} kernel: 10.20.30.40\n'
    (folder / "ceph-osd.0.log").write_bytes(log + torn.encode())
    return folder


@pytest.fixture(scope="module")
def names(bundle: Path) -> dict[str, set[str]]:
    """The names in the bundle, found without the code under test: in its documents by field, in its text by form."""
    text = "\n".join(path.read_text(errors="replace") for path in sorted(bundle.iterdir()))
    operations = json.loads((bundle / "dump_historic_ops.json").read_text())["ops"]
    options = json.loads((bundle / "fio_B.json").read_text())["jobs"][0]["job options"]
    config = json.loads((bundle / "config_show.json").read_text())
    found = {
        "host": {HOST},
        "address": {word for word in re.findall(r"\b\d+\.\d+\.\d+\.\d+\b", text) if word.count(".") == 3},
        "path": {value for value in config.values() if re.match(r"/\w", value)} | {str(bundle), str(bundle.parent)},
        "fsid": set(re.findall(r"fsid = (\S+)", text)) | {config["fsid"]},
        "object": {re.split(r":+", one["description"].split()[2])[2] for one in operations},
        "client": {re.split(r"[(.:]", one["description"])[2] for one in operations},
        "pool": {options["pool"], options["rbdname"]},
    }
    found["client"] = {f"client.{number}" for number in found["client"]} | {"client.admin"}
    assert all(found.values()), found
    assert "127.0.0.1" in found["address"]
    return found


@pytest.fixture(scope="module")
def analysis(bundle: Path) -> Analysis:
    return redacted(analyze([str(bundle)]))


def text_of(file: Path) -> str:
    """All text of an output: of Parquet its strings, of HTML what is not the program that draws the charts."""
    if file.suffix == ".parquet":
        return text_of_parquet(file)
    if file.suffix == ".png":
        return ""
    text = file.read_text().replace('role="img"', "")  # a word of the format's own
    return re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL) if file.suffix == ".html" else text


def assert_no_name_is_left(texts: dict[str, str], names: dict[str, set[str]]) -> None:
    every = "|".join(re.escape(name) for found in names.values() for name in sorted(found, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w-])(?:{every})(?![\w-])")
    assert {output: found for output, text in texts.items() if (found := pattern.findall(text))} == {}


def test_no_name_is_left_in_any_report(analysis: Analysis, names: dict[str, set[str]], tmp_path: Path) -> None:
    asked = [str(tmp_path / f"out{suffix}") for suffix in ANALYSIS.suffixes if suffix not in (".svg", ".png")]
    asked += [str(tmp_path / f"{chart}.svg") for chart in ("timeline", "latency")]
    for output in ANALYSIS.outputs(asked):
        ANALYSIS.write(output, AnalysisReport(analysis))
    texts = {file.name: text_of(file) for file in tmp_path.iterdir()}
    texts["stdout"] = render(compose(analysis))
    texts["full"] = whole(compose(analysis))
    texts["github"] = github.commands(github.of_analysis(analysis))
    texts["summary"] = markdown.render(compose(analysis))
    assert len(texts) == len(asked) + 4
    assert_no_name_is_left(texts, names)


def test_the_names_were_there(bundle: Path) -> None:
    text = json.dumps(document(analyze([str(bundle)])))
    assert str(bundle) in text
    assert HOST in text


def test_figures_stay(bundle: Path, analysis: Analysis) -> None:
    plain, hidden = document(analyze([str(bundle)])), document(analysis)
    for before, after in zip(plain["runs"], hidden["runs"], strict=True):
        for name in ("compaction_statistics", "column_families", "levels", "events", "flushes", "write_amplification"):
            assert before[name] == after[name]
        assert [one["code"] for one in before["findings"]] == [one["code"] for one in after["findings"]]


def test_daemons_keep_their_numbers(analysis: Analysis) -> None:
    assert [one.run.name for one in analysis.runs][:1] == ["osd.0"]
    assert re.fullmatch(r"mon\.host-\d+", analysis.runs[1].run.name)


def test_the_same_name_is_the_same_token(analysis: Analysis) -> None:
    said = document(analysis)
    members = {member["path"].rsplit("/", 1)[0] for member in said["members"]}
    assert len(members) == 1
    (folder,) = members
    assert re.fullmatch(r"path-\d+", folder)
    assert said["runs"][0]["members"] == [f"{folder}/ceph-osd.0.log"]
    assert folder in whole(compose(analysis))


def test_the_same_input_has_the_same_tokens(bundle: Path, analysis: Analysis) -> None:
    assert document(redacted(analyze([str(bundle)]))) == document(analysis)


def test_a_comparison_is_redacted_as_well(
    bundle: Path, fixtures: Path, names: dict[str, set[str]], tmp_path: Path
) -> None:
    arms = read_arms([parse_arm(str(bundle)), parse_arm(f"reef={fixtures / 'osd-reef'}")])
    report = redacted(ComparisonReport(compare(arms)), ["reef"])
    assert report.comparison.names == ("arm-1", "reef")
    asked = [str(tmp_path / f"out{suffix}") for suffix in COMPARISON.suffixes if suffix not in (".svg", ".png")]
    asked += [str(tmp_path / "timeline.svg"), str(tmp_path / "changes.svg")]
    for output in COMPARISON.outputs(asked):
        COMPARISON.write(output, report)
    texts = {file.name: text_of(file) for file in tmp_path.iterdir()}
    texts["summary"] = markdown.render(comparison.compose(report))
    assert_no_name_is_left(texts, names | {"folder": {str(fixtures)}})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[v2:10.1.2.3:6800/123,v1:10.1.2.3:6801/123]", "[v2:address-1:6800/123,v1:address-1:6801/123]"),
        ("[2001:db8::7]:6789 and ::1", "[address-1]:6789 and address-2"),
        ("at 22:56:20 version 16.2.15 of::string", "at 22:56:20 version 16.2.15 of::string"),
        ("--path /var/lib/ceph/osd/ceph-0 --x", "--path path-1 --x"),
        ("kv sync / flush, 5/5, out/in, db/column_family.cc", "kv sync / flush, 5/5, out/in, db/column_family.cc"),
        ("3382117a-1ed0-49c7-a4d9-17f9ffa0f302", "fsid-1"),
        ("osd_op(client.4126.0:15352 2.1a", "osd_op(client-1.0:15352 2.1a"),
        ("mon.a and mon.node7 and mgr.node7", "mon.a and mon.host-1 and mgr.host-1"),
        ("2:59446de1:::rbd_data.1015fd68dac5.0000000000000813:head", "2:59446de1:::object-1:head"),
        (
            "osd.3: p-0: 94% of 12 GiB, write_buffer_size=16777216",
            "osd.3: p-0: 94% of 12 GiB, write_buffer_size=16777216",
        ),
    ],
)
def test_names_by_their_form(text: str, said: str) -> None:
    assert Redaction().text(text) == said


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/srv/logs/ceph-osd.0.log.2.gz", "path-1/ceph-osd.0.log.2.gz"),
        ("sos.tar.gz!node7/ceph-mon.node7.log", "path-1/file-1.log"),
        ("LOG.old.1795246382011859.gz", "LOG.old.1795246382011859.gz"),
        ("customer.log", "file-1.log"),
    ],
)
def test_files_are_named_by_what_they_are(path: str, said: str) -> None:
    redaction = Redaction()
    redaction.learn_path(path)
    assert redaction.text(path) == said
    assert redaction.text(f"{path}:12: text") == f"{said}:12: text"
