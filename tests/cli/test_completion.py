"""Completion: what bash puts in place of words that were begun, as it is installed."""

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from select import select

import pytest
from lsmlens.analyzer.rules import RULES

Complete = Callable[[str], str]
SECONDS = 30.0


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of somebody who has installed completion for bash."""
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    home = tmp_path_factory.mktemp("home")
    (home / ".bashrc").write_text("PS1='> '\nbind 'set enable-bracketed-paste off'\n")
    # from a bash, as a person does: the shell is found among the processes that this one runs in
    install = ["bash", "-c", "lsmlens --install-completion bash; exit $?"]
    done = subprocess.run(install, env=environment(home), capture_output=True, check=True, timeout=60)
    assert b"completion installed" in done.stdout
    return home


def environment(home: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"HOME": str(home), "PATH": path, "TERM": "dumb", "COLUMNS": "200"}


@pytest.fixture(scope="module")
def complete(home: Path) -> Complete:
    """What stands on the command line of an interactive bash after TAB was pressed behind a text."""

    def completed(text: str) -> str:
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(home)
            os.execvpe("bash", ["bash", "--rcfile", str(home / ".bashrc"), "-i"], environment(home))
        try:
            read_until(terminal, b"> ")
            # C-a leads to the line's begin: what was typed is printed in place of being run
            os.write(terminal, f"{text}\t\x01echo said: \n".encode())
            said = read_until(terminal, b"\r\nsaid: ").partition(b"\r\nsaid: ")[2]
            said += b"" if b"\n" in said else read_until(terminal, b"\n")
            return said.decode().splitlines()[0].strip()
        finally:
            os.close(terminal)
            os.waitpid(process, 0)

    return completed


def read_until(terminal: int, mark: bytes) -> bytes:
    said = b""
    while mark not in said:
        ready, _, _ = select([terminal], [], [], SECONDS)
        assert ready, said
        said += os.read(terminal, 4096)
    return said


@pytest.mark.parametrize(
    ("begun", "whole"),
    [
        ("lsmlens wor", "lsmlens workload"),
        ("lsmlens analyze --redac", "lsmlens analyze --redact"),
        ("lsmlens analyze --format mark", "lsmlens analyze --format markdown"),
        ("lsmlens explain total_output_si", "lsmlens explain total_output_size_mib"),
        ("lsmlens compare a b --fail-if stall_li", "lsmlens compare a b --fail-if stall_lines"),
        ("lsmlens replay rbd", "lsmlens replay rbd-4k-randwrite"),
        ("lsmlens replay w --options ceph:qui", "lsmlens replay w --options ceph:quincy"),
        ("lsmlens replay w --options now=ceph:qui", "lsmlens replay w --options now=ceph:quincy"),
        ("lsmlens replay w --options=ceph:qui", "lsmlens replay w --options=ceph:quincy"),
        ("lsmlens engine install 6.15", "lsmlens engine install 6.15.5"),
    ],
)
def test_bash_completes(begun: str, whole: str, complete: Complete) -> None:
    assert complete(begun) == whole


def test_codes_of_findings_are_listed(home: Path) -> None:
    asked = {"COMP_WORDS": "lsmlens\nexplain\nR2", "COMP_CWORD": "2", "_LSMLENS_COMPLETE": "complete_bash"}
    done = subprocess.run(["lsmlens"], env=environment(home) | asked, capture_output=True, check=True, timeout=60)
    assert done.stdout.decode().split() == [rule.code for rule in RULES if rule.code.startswith("R2")]
