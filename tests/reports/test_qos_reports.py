"""The report on scheduling in all its forms, of a real OSD under mClock, of one under WPQ, and of a recovery."""

import json
import re
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest
import xmlschema
from jsonschema import Draft202012Validator
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.printable import GROUP_SPACE
from lsmlens.analyzer.qos.reading import read_material
from lsmlens.analyzer.qos.view import view_of
from lsmlens.reports.github import of_assessment as annotations
from lsmlens.reports.json_form import json_schema
from lsmlens.reports.junit import of_assessment as to_junit
from lsmlens.reports.outputs import QOS, Output
from lsmlens.reports.qos import QosReport
from lsmlens.reports.qos_json import SCHEMA, to_json
from lsmlens.reports.redaction import redacted
from lsmlens.tuners.qos.assessment import QosAssessment, assess

Golden = Callable[[str, str], None]


def document(assessment: QosAssessment) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(to_json(assessment))
    return said


class Here(Executor):
    """Does what it is asked for at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def assessed(folder: Path, executor: Executor | None = None) -> QosAssessment:
    return assess(view_of(read_material([str(folder)])), executor, depth=8)


def dump() -> dict[str, Any]:
    sums = {"num_objects": 30, "num_bytes": 30 << 22, "num_objects_degraded": 30}
    row = {"state": "active+undersized+degraded+remapped+backfilling", "stat_sum": sums}
    return {
        "pg_stats": [
            row | {"pgid": f"2.{seed}", "up": [seed % 3, 3], "acting": [seed % 3], "acting_primary": seed % 3}
            for seed in range(6)
        ]
    }


@pytest.fixture(scope="module")
def mclock(fixtures: Path) -> QosAssessment:
    return assessed(fixtures / "osd-mclock")


@pytest.fixture(scope="module")
def simulated(fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> QosAssessment:
    """The real OSD's settings, on an HDD of 270 IOPS, while six groups recover; played for a moment."""
    folder = tmp_path_factory.mktemp("bundle")
    shown = json.loads((fixtures / "osd-mclock" / "config_show.json").read_text())
    shown["osd_mclock_max_capacity_iops_hdd"] = "270"
    metadata = {"id": 0, "osd_data": "/x", "ceph_version": "18.2.7", "rotational": "1"}
    for name, content in (("config_show", shown), ("osd_metadata", metadata), ("pg_dump", dump())):
        (folder / f"{name}.json").write_text(json.dumps(content))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsmlens.tuners.qos.cluster_model.SIMULATED_SECONDS", {"hdd": 5.0, "nvme": 0.2})
        patch.setattr("lsmlens.tuners.qos.cluster_model.START_SECONDS", {"hdd": 0.3, "nvme": 0.02})
        return assessed(folder, Here())


@pytest.fixture(scope="module")
def wpq(fixtures: Path) -> QosAssessment:
    return assessed(fixtures / "osd-stock")


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json_schema("lsmlens.qos/1")
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def errors(validator: Draft202012Validator, said: Any) -> list[str]:
    return [f"{error.json_path}: {error.message:.200}" for error in validator.iter_errors(said)]


# ---- JSON


@pytest.mark.parametrize("name", ["mclock", "simulated", "wpq"])
def test_a_document_is_as_its_schema_says(
    name: str, request: pytest.FixtureRequest, validator: Draft202012Validator
) -> None:
    said = json.loads(to_json(request.getfixturevalue(name)))
    assert said["schema"] == SCHEMA
    assert errors(validator, said) == []


def test_the_schema_refuses_other_documents(mclock: QosAssessment, validator: Draft202012Validator) -> None:
    spoils: tuple[dict[str, object], ...] = (
        {"schema": "lsmlens.qos/2"},
        {"more": 1},
        {"osds": {}},
        {"subject": None},
    )
    for spoil in spoils:
        assert errors(validator, json.loads(to_json(mclock)) | spoil)


def test_what_the_document_says_of_a_real_osd(mclock: QosAssessment) -> None:
    said = document(mclock)
    (osd,) = said["osds"]
    assert (osd["scheduler"]["value"], osd["profile"]["value"]) == ("mclock_scheduler", "balanced")
    assert (osd["capacity_iops"]["number"], osd["capacity_iops"]["set_by"]) == (315.0, "default")
    assert osd["cost_model"]["cost_4kib"] == 499_321
    assert said["mended"]["capacity_iops"] == pytest.approx(43_510.96, abs=0.01)
    client = said["mended"]["allocation"][0]
    assert client["reservation"]["iops"] == pytest.approx(78_643_200 / 4096)
    assert [finding["code"] for finding in said["findings"]] == ["Q02", "Q07"]
    assert said["recommendation"] is None


def test_the_same_bytes_twice(fixtures: Path, mclock: QosAssessment) -> None:
    assert to_json(assessed(fixtures / "osd-mclock")) == to_json(mclock)


# ---- text


@pytest.mark.parametrize("width", [80, 120])
def test_the_first_screen_of_a_real_osd(width: int, mclock: QosAssessment) -> None:
    said = QOS.screen(QosReport(mclock), width=width)
    lines = said.splitlines()
    flat = " ".join(said.split())
    assert lines[0] == "Ceph scheduling report: osd.0"
    assert (
        "osd.0 mclock_scheduler in force, profile balanced, capacity 315 IOPS (default) · ▲ 2 findings to act on"
        in flat
    )
    assert "▲ Q02 osd.0: Capacity is the default: 315 IOPS, measured" in flat
    assert "--full" in flat
    assert "allocation" not in flat.split("More:")[0]
    assert len(lines) <= 40
    assert all(len(line) <= width for line in lines)


@pytest.mark.parametrize("width", [80, 120])
def test_first_screens(width: int, mclock: QosAssessment, simulated: QosAssessment, golden: Golden) -> None:
    golden(f"qos-osd-mclock-{width}.txt", QOS.screen(QosReport(mclock), width=width))
    golden(f"qos-simulated-{width}.txt", QOS.screen(QosReport(simulated), width=width))


def test_the_text_of_a_real_osd(mclock: QosAssessment) -> None:
    said = QOS.printed(QosReport(mclock), "text")
    for words in (
        "a device that did 43\u202f511 writes a second is scheduled as one of 315",
        "ceph config set osd.0 osd_mclock_max_capacity_iops_hdd 43511",
        f"With the 43{GROUP_SPACE}511 IOPS that its benchmark gave",
        "recovery: only misplaced                background best effort",
        "fio_B.json",
    ):
        assert words in said
    assert max(map(len, QOS.screen(QosReport(mclock), full=True, width=100).splitlines())) <= 100


def test_the_text_under_wpq(wpq: QosAssessment) -> None:
    said = QOS.printed(QosReport(wpq), "text")
    assert "  osd.0  wpq in force (default) · nothing to act on" in said
    assert "there is no allocation" in said
    assert "to act on:" not in said
    assert max(map(len, QOS.screen(QosReport(wpq), full=True, width=100).splitlines())) <= 100


def test_the_text_of_a_simulation(simulated: QosAssessment) -> None:
    said = QOS.printed(QosReport(simulated), "text")
    table = said[said.index("What other settings would do") :]
    assert re.search(r"^=\S* +balanced, 1 backfill +", table, re.MULTILINE)
    assert re.search(r">  +\S", table)
    assert "Its error: clients' mean within 35\u202f%; no percentiles on HDDs; no p99." in said
    assert "queues of the pg dump: 3 have something to recover" in said
    assert max(map(len, QOS.screen(QosReport(simulated), full=True, width=100).splitlines())) <= 100
    first = QOS.screen(QosReport(simulated), width=100)
    assert "Why: " in first
    assert len(first.splitlines()) <= 40


def test_emphasis_only_where_asked_for(mclock: QosAssessment) -> None:
    assert "\x1b" not in QOS.printed(QosReport(mclock), "text")
    assert QOS.screen(QosReport(mclock), colour=True).startswith("\x1b[1mCeph scheduling report: osd.0\x1b[0m\n")


# ---- Markdown, HTML, pictures


@pytest.mark.parametrize("name", ["mclock", "simulated", "wpq"])
def test_markdown(name: str, request: pytest.FixtureRequest) -> None:
    said = QOS.printed(QosReport(request.getfixturevalue(name)), "markdown")
    assert said.startswith("## Ceph scheduling report: ")
    assert said.endswith("\n")


@pytest.mark.parametrize("name", ["mclock", "simulated", "wpq"])
def test_html(name: str, request: pytest.FixtureRequest) -> None:
    assessment = request.getfixturevalue(name)
    html = QOS.printed(QosReport(assessment), "html")
    assert "<title>" in html
    assert "http://" not in re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert ("What each class is given" in html) is bool(assessment.subject.allocation)
    assert ("What other settings would do" in html) is (assessment.recommendation is not None)


@pytest.mark.parametrize("chart", QOS.charts.names if QOS.charts else ())
def test_pictures(chart: str, simulated: QosAssessment, tmp_path: Path) -> None:
    for suffix in (".svg", ".png"):
        QOS.write(Output(tmp_path / f"{chart}{suffix}", suffix, chart), QosReport(simulated))
        assert (tmp_path / f"{chart}{suffix}").stat().st_size > 1000


def test_a_picture_of_nothing_is_refused(wpq: QosAssessment, tmp_path: Path) -> None:
    with pytest.raises(LsmlensError, match="nothing to draw in the chart front"):
        QOS.write(Output(tmp_path / "front.svg", ".svg", "front"), QosReport(wpq))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".json", ".txt", ".md", ".html"])
def test_files(suffix: str, mclock: QosAssessment, tmp_path: Path) -> None:
    QOS.write(Output(tmp_path / f"qos{suffix}", suffix), QosReport(mclock))
    assert re.search(r"43\s511|43&#8239;511", (tmp_path / f"qos{suffix}").read_text()) or suffix == ".json"


# ---- for CI


@pytest.mark.parametrize("name", ["mclock", "simulated", "wpq"])
def test_junit_is_as_its_schema_says(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    path = tmp_path / "qos.junit.xml"
    QOS.write(Output(path, ".junit.xml"), QosReport(request.getfixturevalue(name)))
    xmlschema.XMLSchema(Path(__file__).parent / "junit.xsd").validate(path)


def test_junit_has_a_case_for_each_rule_and_the_gate(mclock: QosAssessment) -> None:
    said = to_junit(mclock, Severity.WARNING)
    assert said.count("<testcase ") == 25  # 24 rules, the gate
    assert said.count("<failure ") == 3
    assert '<testcase name="Capacity is the default [osd.0]" classname="lsmlens.Q02"' in said
    assert "2 findings of severity warning or above" in said
    assert to_junit(mclock, Severity.CRITICAL).count("<failure ") == 0


def test_annotations(mclock: QosAssessment) -> None:
    first, second = annotations(mclock)
    assert (first.level, first.title) == ("warning", "Q02 Capacity is the default")
    assert first.line is not None
    assert first.message.startswith("osd.0: 315 IOPS, measured 43\u202f511 (threshold = 315). a device that did")
    assert second.title == "Q07 Device taken for another kind"


# ---- redaction


def test_redacted_reports_name_no_host_folder_or_address(
    fixtures: Path, tmp_path: Path, validator: Draft202012Validator
) -> None:
    folder = tmp_path / "rack-nuremberg-17"
    folder.mkdir()
    shown = json.loads((fixtures / "osd-mclock" / "config_show.json").read_text())
    (folder / "config_show.json").write_text(json.dumps(shown | {"osd_mclock_profile": "custom"}))
    (folder / "ceph-osd.0.log.gz").write_bytes((fixtures / "osd-mclock" / "ceph-osd.0.log.gz").read_bytes())
    (folder / "osd_metadata.json").write_text(
        json.dumps({"id": 0, "osd_data": "/x", "hostname": "nuremberg-17", "rotational": "1"})
    )
    plain = assessed(folder)
    before = to_json(plain) + QOS.printed(QosReport(plain), "text")
    assert "nuremberg" in before
    hidden = redacted(plain)
    said = to_json(hidden)
    assert errors(validator, json.loads(said)) == []
    texts = (
        said,
        QOS.printed(QosReport(hidden), "text"),
        QOS.printed(QosReport(hidden), "markdown"),
        QOS.printed(QosReport(hidden), "html"),
        to_junit(hidden),
    )
    for text in texts:
        assert "nuremberg" not in text
        assert str(tmp_path) not in text
    assert [one["code"] for one in json.loads(said)["findings"]] == [
        one["code"] for one in json.loads(to_json(plain))["findings"]
    ]
    assert json.loads(said)["osds"][0]["capacity_iops"]["number"] == 315
    assert "cat /sys/block/" in QOS.printed(QosReport(hidden), "text")
