"""The words that go before a command, by the way to the cluster."""

import socket

from lsmlens.analyzer.collection.access import Access, Osd

HERE = Osd(3, socket.gethostname(), True)
THERE = Osd(3, "ceph12", True)


def test_an_osd_is_asked_through_the_cluster_and_then_at_its_socket() -> None:
    asked = ("ceph", "tell", "osd.3", "perf", "dump")
    assert Access("ceph").daemon(THERE, "perf", "dump") == (asked,)
    assert Access("ceph").daemon(HERE, "perf", "dump") == (asked, ("ceph", "daemon", "osd.3", "perf", "dump"))
    (_, through_ssh) = Access("ceph", ssh=True).daemon(THERE, "perf", "dump")
    assert through_ssh[0] == "ssh"
    assert through_ssh[-2:] == ("ceph12", "ceph daemon osd.3 perf dump")


def test_cephadm() -> None:
    tell, enter = Access("cephadm").daemon(HERE, "version")
    assert tell == ("cephadm", "shell", "--", "ceph", "tell", "osd.3", "version")
    assert enter == ("cephadm", "enter", "--name", "osd.3", "--", "ceph", "daemon", "osd.3", "version")
    assert Access("cephadm").sharding(HERE) == (
        *("cephadm", "shell", "--name", "osd.3", "--", "ceph-bluestore-tool", "show-sharding", "--path"),
        "/var/lib/ceph/osd/ceph-3",
    )


def test_kubectl_asks_pods_wherever_they_run() -> None:
    access = Access("kubectl", "rook")
    tell, inside = access.daemon(THERE, "version")
    assert tell[:5] == ("kubectl", "-n", "rook", "exec", "deploy/rook-ceph-tools")
    assert inside == (
        *("kubectl", "-n", "rook", "exec", "deploy/rook-ceph-osd-3", "-c", "osd", "--"),
        *("ceph", "daemon", "osd.3", "version"),
    )
    assert access.log_files(THERE, None, 60) is None
    assert access.journal(THERE, 60) == (
        *("kubectl", "-n", "rook", "logs", "deploy/rook-ceph-osd-3", "-c", "osd"),
        "--since=60m",
    )


def test_an_osds_own_host_is_needed_for_its_log() -> None:
    assert Access("ceph").log_files(THERE, None, 60) is None
    found = Access("ceph").log_files(HERE, "/data/log", 60)
    assert found is not None
    assert "find -L /data/log /var/log/ceph" in found[-1]
    assert "-mmin -60" in found[-1]
