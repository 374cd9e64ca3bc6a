"""What remembered client writes did."""

from collections.abc import Callable

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.clients.operations import read_operations
from lsmlens.tuners.estimation.client_operations import client_operations

WRITE = "osd_op(client.1.0:2 2.7 2:e4:::rbd_data.1:head [{}] snapc 0=[] ondisk+write+known_if_redirected e11)"
READ = "osd_op(client.1.0:3 2.7 2:e4:::rbd_data.1:head [read 0~4096] snapc 0=[] ondisk+read+known_if_redirected e11)"


def test_operations_are_counted_with_their_sizes() -> None:
    said = ["write 4096~8192", "write 0~4096", "omap-set-vals", "set-alloc-hint object_size 4194304,writefull 0~65536"]
    document = {"ops": [{"description": WRITE.format(one)} for one in said] + [{"description": READ}]}
    found = client_operations(read_operations(document).operations)
    assert found is not None
    assert found.messages == 4
    assert found.counts == {"write": 2, "omap-set-vals": 1, "set-alloc-hint": 1, "writefull": 1}
    assert found.mean_bytes == {"write": 6144, "writefull": 65536}


def test_without_client_writes_there_is_nothing_to_say() -> None:
    assert client_operations(()) is None
    assert client_operations(read_operations({"ops": [{"description": READ}]}).operations) is None


def test_a_real_dump(analysed: Callable[[str], RunAnalysis]) -> None:
    found = client_operations(analysed("osd-stock").beside.operations)
    assert found is not None
    assert found.counts["omap-rm-keys"] + found.counts["omap-set-vals"] + found.counts["write"] == found.messages
    assert found.mean_bytes.get("write", 4096) == pytest.approx(4096)
