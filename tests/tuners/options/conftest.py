"""Options of the fixtures' logs, each analysed once."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.run_options import options_of_run


@pytest.fixture(scope="session")
def run_in(fixtures: Path) -> Callable[[str], RunAnalysis]:
    """The run of a fixture that is no monitor's."""

    @cache
    def read(name: str) -> RunAnalysis:
        (run,) = [one for one in analyze([str(fixtures / name)]).runs if not one.run.is_monitor]
        return run

    return read


@pytest.fixture(scope="session")
def options_in(run_in: Callable[[str], RunAnalysis]) -> Callable[[str], OptionSet]:
    """The option set a fixture's log shows."""
    return lambda name: options_of_run(run_in(name))
