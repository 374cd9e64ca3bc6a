"""The host's processors, and the workers that keep one busy while they wait.

Up to 17.2.3 the first worker of a queue whose classes are all at their limits does not sleep until one of them is
due: it asks again and again (tracker 56530, fixed by PR 47216). Each such worker takes a hardware thread from all else
that runs on the host, which on a host with few to spare makes everything slower, and clients most.
"""

from lsmlens.analyzer.qos.settings import Release

# What is left to everything else, however many workers ask.
LEAST_SHARE = 0.1
SLEEPS_AT_LIMIT: Release = (17, 2, 4)


def spins_at_limit(release: Release | None) -> bool:
    """Whether a release's workers keep a processor busy while their queue is at its limits."""
    return release is not None and release < SLEEPS_AT_LIMIT


class Processors:
    """Hardware threads of the simulated OSDs' hosts, taken as one."""

    def __init__(self, threads: float) -> None:
        self._threads = threads
        self._spinning = 0
        self._stretch = 1.0

    def spin(self, change: int) -> None:
        """One worker more, or less, asks its queue again and again."""
        self._spinning += change
        self._stretch = 1 / max(LEAST_SHARE, 1 - self._spinning / self._threads)

    def seconds(self, seconds: float) -> float:
        """How long something takes now that takes so long on processors of its own."""
        return seconds * self._stretch
