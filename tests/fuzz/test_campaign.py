"""Damaged files of every kind: read or refused by one error with a way out, within bounds, and never a traceback.

Every day has a seed of its own. `LSMLENS_FUZZ_SECONDS` is how long all readings together take: a minute unless it says
otherwise. A failure prints the edits that make it; they go into `test_found.py`.
"""

import contextlib
import os
import shutil
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from lsmlens.analyzer.errors import LsmlensError

from tests.fuzz.damage import Edit, damaged, edits
from tests.fuzz.readings import Reading, readings

SECONDS = float(os.environ.get("LSMLENS_FUZZ_SECONDS", "60"))
DAY = int(os.environ.get("LSMLENS_FUZZ_SEED", datetime.now(UTC).toordinal()))
ROUND = 20
SLOWEST = 60.0  # a reading of some kilobytes; hundreds of times what it takes

of_the_day = settings(
    max_examples=ROUND,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)


def read_damaged(reading: Reading, some: list[Edit]) -> None:
    """Read the files with some edits done. Raises whatever must not be raised."""
    with tempfile.TemporaryDirectory() as folder:
        read_in(Path(folder), reading, some)


def read_in(folder: Path, reading: Reading, some: list[Edit]) -> None:
    bundle = folder / "bundle"
    bundle.mkdir()
    for name, text in reading.files.items():
        (bundle / name).write_bytes(damaged(text, some) if name == reading.damaged else text)
    begun = time.monotonic()
    with contextlib.suppress(LsmlensError):
        reading.read(bundle)
    assert time.monotonic() - begun < SLOWEST
    shutil.rmtree(bundle)


@pytest.mark.slow
@pytest.mark.parametrize("name", readings())
def test_whatever_is_damaged(name: str) -> None:
    reading = readings()[name]
    until = time.monotonic() + SECONDS / len(readings())
    number = cases = 0
    while not cases or time.monotonic() < until:
        number += 1

        @seed(DAY * 100_003 + number)
        @of_the_day
        @given(some=edits)
        def is_read_or_refused(some: list[Edit]) -> None:
            nonlocal cases
            cases += 1
            read_damaged(reading, some)

        is_read_or_refused()
    print(f"{cases} cases", end=" ")
