"""Several machines: replays on the workers of a dask.distributed scheduler, one for each worker's thread."""

import pickle
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from lsmlens.analyzer.errors import LsmlensError

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 15


class ClusterExecutor(Executor):
    """Runs calls on a scheduler's workers; a call whose worker was lost goes to another one.

    A settled replay gives the same wherever it runs, so that a second attempt does no harm; after the scheduler's
    allowed failures it counts as lost.
    """

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._executor = client.get_executor(pure=False)  # type: ignore[no-untyped-call]

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Begin a call."""
        future: Future[Any] = self._executor.submit(function, *args, **kwargs)
        return future


def cluster_executor(address: str, stack: ExitStack) -> tuple[Executor, int]:
    """The executor of a scheduler, and how many replays its workers run at once; `stack` leaves it in the end.

    Raises LsmlensError if `distributed` is not installed, the scheduler is not reached, has no workers, or they have
    another version of this program.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise LsmlensError("dask.distributed is not installed", "pip install 'lsmlens[cluster]'") from error
    try:
        client = stack.enter_context(Client(address, timeout=CONNECT_SECONDS))  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise LsmlensError(f"{address}: no scheduler answers there: {error}", "dask scheduler prints it") from error
    slots = sum(client.nthreads().values())
    if not slots:
        raise LsmlensError(f"{address}: the scheduler has no workers", f"start some: dask worker {address}")
    _check_workers(client, address)
    return ClusterExecutor(client), slots


def _check_workers(client: "Client", address: str) -> None:
    """Every worker must know the very classes that trials are made of."""
    fingerprint = _fingerprint()
    try:
        found = client.run(_fingerprint)
    except Exception as error:  # of whatever kind the worker's import raises
        raise LsmlensError(f"{address}: a worker cannot import lsmlens: {error}", "install it there") from error
    other = sorted(worker for worker, one in found.items() if one != fingerprint)
    if other:
        raise LsmlensError(f"{other[0]}: has another version of lsmlens", "install the same one on all machines")


def _fingerprint() -> str:
    """What must be alike on both sides: the version, and the fields of a trial."""
    from dataclasses import fields
    from importlib.metadata import version

    from lsmlens.tuners.replays.trial import Trial

    return pickle.dumps((version("lsmlens"), [one.name for one in fields(Trial)])).hex()
