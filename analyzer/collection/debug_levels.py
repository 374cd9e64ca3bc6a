"""Debug levels, raised for a while and put back whatever happens.

What puts them back is written first, as a shell script with a name, and a guard is started that runs it: a shell in a
session of its own, which waits until this program closes its end of a pipe, by itself or by being killed, or until the
time is over. So there is one way of putting back, for the usual end, a signal and `kill -9`. Where even the guard is
lost (the machine went down), the script stays, and the next collection runs it.
"""

import fcntl
import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import platformdirs
from lsmlens.analyzer.collection.access import Command
from lsmlens.analyzer.collection.requests import DEBUG_LEVELS

AT_ONCE = 8
LIMIT_SECONDS = 30
GRACE_SECONDS = 60  # past the time asked for, until the guard acts though this program is still there
GUARD = """\
exec 3<&0 >/dev/null 2>&1
cat <&3 & waiting=$!
(sleep "$2"; kill $waiting) & patience=$!
wait $waiting
kill $patience
sh "$1"
"""
_KEPT_ENVIRONMENT = ("CEPH_CONF", "KUBECONFIG")


def undo_folder() -> Path:
    """Where the scripts that put levels back are, in the user's own state."""
    return platformdirs.user_state_path("lsmlens") / "collect"


def levels_before(config_diff: Any) -> dict[str, str | None] | None:
    """What was set at run time for each of DEBUG_LEVELS, None where nothing was; None where `config diff` is none."""
    diff = config_diff.get("diff") if isinstance(config_diff, dict) else None
    if not isinstance(diff, dict):
        return None
    set_now = {name: diff[name] if isinstance(diff.get(name), dict) else {} for name in DEBUG_LEVELS}
    return {name: sources.get("override") for name, sources in set_now.items()}


def commands_of(tell: Command, before: Mapping[str, str | None]) -> tuple[list[Command], list[Command]]:
    """What raises an OSD's levels, and what puts them back; `tell` is what goes before its commands."""
    raised: list[Command] = [(*tell, "config", "set", name, level) for name, level in DEBUG_LEVELS.items()]
    back: list[Command] = [
        (*tell, "config", "unset", name) if level is None else (*tell, "config", "set", name, level)
        for name, level in before.items()
    ]
    return raised, back


def undo_script(commands: Mapping[str, Sequence[Command]]) -> str:
    """A shell script that runs each OSD's commands, and takes itself away if all of them went well."""
    lines = [
        "#!/bin/sh",
        "# Puts back the debug levels that `lsmlens collect` raised. Run it with sh; it may be run again.",
        *(f"export {name}={shlex.quote(os.environ[name])}" for name in _KEPT_ENVIRONMENT if name in os.environ),
        f'limit() {{ if command -v timeout >/dev/null; then timeout {LIMIT_SECONDS} "$@"; else "$@"; fi; }}',
        'rm -f "$0.failed"',
    ]
    for number, (daemon, some) in enumerate(commands.items(), 1):
        steps = " && ".join(f"limit {shlex.join(command)}" for command in some)
        lines.append(f'{{ {steps} || echo {daemon} >> "$0.failed"; }} &')
        if number % AT_ONCE == 0:
            lines.append("wait")
    lines += ["wait", 'if [ -e "$0.failed" ]; then cat "$0.failed" >&2; exit 1; fi', 'rm -f "$0"']
    return "\n".join(lines) + "\n"


@contextmanager
def guarded(commands: Mapping[str, Sequence[Command]], seconds: float) -> Iterator[Path]:
    """Have these commands run at the end, however it comes; gives the script's path.

    The script is there afterwards only if it has still to be run: levels could not be put back everywhere.
    """
    path = undo_folder() / f"undo-{os.getpid()}.sh"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(0o600)
    with path.open("w") as script:
        script.write(undo_script(commands))
        script.flush()
        os.fsync(script.fileno())
        fcntl.flock(script, fcntl.LOCK_EX)  # says that this program is there
        guard = subprocess.Popen(
            ["sh", "-c", GUARD, "guard", str(path), str(round(seconds + GRACE_SECONDS))],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            yield path
        finally:
            assert guard.stdin is not None
            guard.stdin.close()
            guard.wait()


def put_back_left() -> list[tuple[Path, bool]]:
    """Run what collections left behind that ended without putting levels back: the scripts, and whether each worked."""
    done = []
    for path in sorted(undo_folder().glob("undo-*.sh")):
        with ExitStack() as stack:
            try:
                fcntl.flock(stack.enter_context(path.open()), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, FileNotFoundError):
                continue  # its collection is still under way, or has just put them back
            done.append((path, subprocess.run(["sh", str(path)], capture_output=True, check=False).returncode == 0))
    return done
