"""The tests of engines once more, with each version that matters: Ceph's Pacific, Quincy, Reef to Tentacle, today's.

A process takes one library, so each has its own.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.tuners.engines.library import Library

VERSIONS = ("5.18.4", "6.8.1", "6.15.5", "7.9.2", "8.11.4", "10.10.1", "11.8.1")


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_engines_of_this_version(version: str, official_build: Callable[[str], Library]) -> None:
    installed = official_build(version)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(Path(__file__).with_name("test_engines.py"))],
        env={**os.environ, "LSMLENS_ROCKSDB": str(installed.path)},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
