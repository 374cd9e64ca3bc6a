"""A process that loads somebody's library, held to what a replay needs: no network, bounded memory, no core file.

Called in a child process before the library is loaded and before any thread is started. What the system does not allow
(namespaces are often switched off in containers) is left as it is.
"""

import contextlib
import ctypes
import resource
import sys

import psutil

NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000  # CLONE_NEWUSER, CLONE_NEWNET
# Beyond the machine's own memory: files that are mapped, stacks and arenas that are never touched.
UNTOUCHED_BYTES = 16 << 30


def confine() -> None:
    """Hold this process, and those it starts, to these limits for good."""
    memory = psutil.virtual_memory().total + psutil.swap_memory().total
    _limit(resource.RLIMIT_AS, memory + UNTOUCHED_BYTES)
    _limit(resource.RLIMIT_CORE, 0)
    leave_network()


def leave_network() -> bool:
    """Leave the network for one of the process's own that has no interface up; whether the system allows it."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return any(libc.unshare(ctypes.c_int(flags)) == 0 for flags in (NEW_NETWORK, NEW_USER | NEW_NETWORK))


def _limit(kind: int, most: int) -> None:
    with contextlib.suppress(ValueError, OSError):  # it was lower already
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
