"""docs/python.md: every piece of code on it runs, one after the other, and comes to what the analysis says."""

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_the_code_on_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    pieces = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "python.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(pieces) > 5
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    names: dict[str, Any] = {}
    for piece in pieces:
        exec(compile(piece, "docs/python.md", "exec"), names)
    said = capsys.readouterr().out
    assert all(finding.code in said for finding in names["run"].findings)
    by_family = {row["column_family"]: row for row in names["by_family"].to_dicts()}
    for family in names["run"].families:
        if family.flush_bytes:
            assert by_family[family.name]["write_amplification"] == pytest.approx(family.write_amplification)
    assert names["seconds"]["output_bytes"].sum() == names["run"].jobs["output_bytes"].sum()
    assert names["chart"].to_dict()["mark"]["type"] == "bar"
