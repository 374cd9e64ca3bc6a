"""What a person may name as a workload."""

from pathlib import Path

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.workloads.batch_lines import BatchLinesStream
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.presets import load_preset
from lsmlens.tuners.workloads.sources import open_workload
from lsmlens.tuners.workloads.traces import TraceStream
from lsmlens.tuners.workloads.yaml_form import to_yaml


def test_each_kind_is_known_by_its_content(tmp_path: Path, fixtures: Path) -> None:
    assert isinstance(open_workload("mixed"), DeclaredStream)
    (tmp_path / "document").write_text(to_yaml(load_preset("mixed")), encoding="utf-8")
    assert open_workload(str(tmp_path / "document")) == open_workload("mixed")
    assert isinstance(open_workload(str(fixtures / "query-traces" / "mergerandom.trace")), TraceStream)
    assert isinstance(open_workload(str(fixtures / "osd-write-batches" / "ceph-osd.0.log.gz")), BatchLinesStream)


def test_sharding_reaches_documents_and_logs(fixtures: Path) -> None:
    for text in ("mixed", str(fixtures / "osd-write-batches" / "ceph-osd.0.log.gz")):
        assert open_workload(text, {"O": 2}).families == ("default", "O-0", "O-1")


def test_what_is_none(tmp_path: Path, fixtures: Path) -> None:
    for text, what in (
        ("rdb", "no such file, and no preset of this name"),
        (str(tmp_path), "Is a directory"),
        ("", "Is a directory"),
        ("\0", "null byte"),
        (str(fixtures / "osd-stock" / "config_show.json"), "no workload document, no query trace, no log"),
    ):
        with pytest.raises(InputError, match=what) as raised:
            open_workload(text)
        assert raised.value.hint
    (tmp_path / "x.yaml").write_text("name: x")
    with pytest.raises(InputError, match="no workload document: no `schema`"):
        open_workload(str(tmp_path / "x.yaml"))
