"""The command in a process of its own, forked from one that has imported what most commands need.

Its streams, folder, environment and exit status are its own, as of any process; only the second that the imports take
is spent once.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

SECONDS = 300
IMPORTED = (
    *("lsmlens.analyzer.diagnosis", "lsmlens.reports.outputs", "lsmlens.reports.analysis_json", "lsmlens.tuners.api"),
    *("altair", "pyarrow.parquet", "scipy.stats"),
)


class CommandServer:
    """Forks a process for each command that it is asked for, one after the other."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="lsmlens-commands-")
        self._server = subprocess.Popen(
            [sys.executable, "-P", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(
        self, arguments: Sequence[str], cwd: Path | None, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the command to its end; it is killed after five minutes, so that nothing hangs."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        streams = [Path(self._folder.name, name) for name in ("stdout", "stderr")]
        request = {
            "arguments": list(arguments),
            "cwd": str(cwd or Path.cwd()),
            "environment": dict(environment),
            "streams": list(map(str, streams)),
        }
        print(json.dumps(request), file=self._server.stdin, flush=True)
        status = int(self._server.stdout.readline())
        return subprocess.CompletedProcess(list(arguments), status, *(one.read_bytes() for one in streams))

    def close(self) -> None:
        """End the server."""
        self._server.communicate()
        self._folder.cleanup()


def _serve() -> None:
    """Fork for each line of standard input; in the child, be the command."""
    for name in IMPORTED:
        import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            status = _command(**json.loads(line))
            atexit._run_exitfuncs()
            sys.stdout.flush()
            os._exit(status)  # to take down all that the server imported takes longer than most commands
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _command(arguments: list[str], cwd: str, environment: dict[str, str], streams: list[str]) -> int:
    from lsmlens.cli import main

    signal.alarm(SECONDS)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(streams, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = arguments
    return main()


if __name__ == "__main__":
    _serve()
