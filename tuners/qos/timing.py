"""Things that happen later in a simulation."""

from collections.abc import Callable

from simpy import Environment
from simpy.events import Timeout


def after(environment: Environment, seconds: float, callback: Callable[[], None]) -> None:
    """Call something so many seconds from now; without a process of its own, for there are millions of these."""
    timeout = Timeout(environment, seconds)
    assert timeout.callbacks is not None
    timeout.callbacks.append(lambda _: callback())
