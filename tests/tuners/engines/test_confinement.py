"""A process that loads a library has no network, bounded memory, and leaves no core file."""

import json
import socket
import subprocess
import sys

import psutil
import pytest
from lsmlens.tuners.engines.confinement import UNTOUCHED_BYTES

CONFINED = """
import json, resource, socket, sys
from lsmlens.tuners.engines import confinement
left = []
leave = confinement.leave_network
confinement.leave_network = lambda: left.append(leave())
confinement.confine()
limits = [resource.getrlimit(one) for one in (resource.RLIMIT_AS, resource.RLIMIT_CORE)]
said = {"memory": limits[0], "core": limits[1], "left": left}
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5).close()
    said["network"] = True
except OSError:
    said["network"] = False
try:
    bytearray(said["memory"][0])
except MemoryError:
    said["refused"] = True
print(json.dumps(said))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits and namespaces are Linux's")
def test_a_confined_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-c", CONFINED, str(port)], capture_output=True, text=True, check=True, timeout=60
        )
    said = json.loads(done.stdout)
    machine = psutil.virtual_memory().total + psutil.swap_memory().total
    assert 0 < said["memory"][0] == said["memory"][1] <= machine + UNTOUCHED_BYTES
    assert said["core"] == [0, 0]
    assert said["refused"]
    assert said["network"] is not said["left"][0]  # where the system has namespaces, there is no network
