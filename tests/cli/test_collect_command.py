"""`lsmlens collect` against a cluster that is not there: a `ceph` on PATH that answers, refuses, hangs, or is dead."""

import gzip
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.manifest import read_manifest

Run = Callable[..., subprocess.CompletedProcess[bytes]]
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
KEY = "AQD2xE9nAAAAABAAq0Yd7Z3JZ0v1M2b8l4o9Zg=="
HERE = socket.gethostname()
# osd.0 and osd.1 answer, osd.2 hangs, osd.3 refuses, osd.4 is down; osd.1 is on another host.
CEPH = r"""#!/bin/sh
echo "$*" >> "$FAKE/asked"
level() { echo "$FAKE/level.$2.$5"; }
case "$*" in
"osd ls -f json") echo '[0,1,2,3,4]';;
"osd ls") printf '0\n1\n2\n3\n4\n';;
"osd ls-tree rack -f json") echo '[0,1]';;
"osd ls-tree nowhere -f json") echo 'Error ENOENT: "nowhere" does not exist' >&2; exit 2;;
"osd crush class ls-osd ssd -f json") echo '[1]';;
"osd perf -f json") cat "$FAKE/perf.json";;
"osd perf") printf 'osd  commit_latency(ms)  apply_latency(ms)\n  0  3  3\n  1  9  9\n';;
"osd metadata -f json") cat "$FAKE/metadata.json";;
"osd metadata "*) echo "{\"id\":$3,\"osd_objectstore\":\"bluestore\"}";;
"osd tree -f json") cat "$FAKE/tree.json";;
"config dump -f json") cat "$FAKE/config_dump.json";;
"tell osd.2 "*) sleep 60;;
"tell osd.3 "*) echo "Error EACCES: access denied" >&2; exit 13;;
"tell osd.4 "*) echo "Error ENXIO: problem getting command descriptions from osd.4" >&2; exit 6;;
"tell osd."*" config set "*) echo "$6" > "$(level "$@")";;
"tell osd."*" config unset "*) [ -e "$FAKE/is_stubborn" ] && exit 1; rm "$(level "$@")";;
"tell osd."*" config diff") cat "$FAKE/config_diff.json";;
"tell osd."*" config show") cat "$FAKE/config_show.json";;
"tell osd."*" perf dump") cat "$FAKE/perf_dump.json";;
"tell osd."*" bluefs stats") echo "1 : device size 0x180000000 : using 0x1a36000(26 MiB)";;
"daemon osd."*) exit 22;;
*) echo '{"answer": "of '"$*"'"}';;
esac
"""
CONF = '#!/bin/sh\necho "$FAKE/log/ceph-$2.log"\n'
SHARDING = '#!/bin/sh\n[ "$1" = show-sharding ] && echo "m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru} L P"\n'


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "fake"
    (folder / "log").mkdir(parents=True)
    for name, text in (("ceph", CEPH), ("ceph-conf", CONF), ("ceph-bluestore-tool", SHARDING), ("journalctl", "")):
        (folder / name).write_text(text or "#!/bin/sh\n")
        (folder / name).chmod(0o755)
    shutil.copy(FIXTURES / "osd-stock/ceph-osd.0.log.gz", folder / "log/ceph-osd.0.log.1.gz")
    (folder / "log/ceph-osd.0.log").write_text(f"2026-11-21T00:00:00.000+0000 7f 1 auth: key {KEY} of {HERE}\n")
    (folder / "log/ceph-osd.0.log.9.gz").write_bytes(gzip.compress(b"old\n"))
    os.utime(folder / "log/ceph-osd.0.log.9.gz", (0, 0))
    hosts = {0: HERE, 1: "elsewhere", 2: HERE, 3: HERE, 4: HERE}
    rows = [{"id": number, "hostname": host, "osd_objectstore": "bluestore"} for number, host in hosts.items()]
    nodes = [{"id": one, "type": "osd", "status": "down" if one == 4 else "up"} for one in hosts]
    perf = [{"id": one, "perf_stats": {"commit_latency_ms": (one * 7) % 5}} for one in (0, 1)]
    secrets = {"rgw_keystone_admin_password": "hunter-1", "keyring": "hunter-2", "osd_memory_target": "4294967296"}
    diff = {"rgw_ldap_secret": {"default": "", "mon": "hunter-3"}, "debug_rocksdb": {"default": "4/5"}}
    dump = [
        {"section": "mgr", "name": "mgr/dashboard/ssl_key", "value": "hunter-4"},
        {"name": "url", "value": "x://u:hunter-5@h"},
    ]
    documents: dict[str, Any] = {
        "metadata": rows,
        "tree": {"nodes": nodes},
        "perf": {"osdstats": {"osd_perf_infos": perf}},
        "config_show": secrets,
        "config_diff": {"diff": diff},
        "config_dump": dump,
        "perf_dump": {"osd": {"op_w": 5}, "bluefs": {"db_used_bytes": 1}},
    }
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE", str(folder))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return folder


def members(archive: Path) -> dict[str, bytes]:
    if archive.name.endswith(".zst"):
        raw = subprocess.run(["zstd", "-dc", archive], capture_output=True, check=True).stdout
        archive = archive.with_suffix(".plain")
        archive.write_bytes(raw)
    with tarfile.open(archive) as opened:
        files = {one.name: opened.extractfile(one) for one in opened if one.isfile()}
        return {name: file.read() for name, file in files.items() if file is not None}


QUICK = ("--interval", "10ms", "--timeout", "3s", "-q")


def raised(fake: Path) -> dict[str, str]:
    return {one.name.removeprefix("level."): one.read_text().strip() for one in fake.glob("level.*")}


@pytest.mark.parametrize("suffix", [".tar.gz", ".tar.zst"])
def test_what_each_gives_is_in_the_bundle_and_what_failed_is_listed(
    fake: Path, tmp_path: Path, lsmlens: Run, suffix: str
) -> None:
    bundle = tmp_path / f"bundle{suffix}"
    done = lsmlens("collect", "--osds", "all", *QUICK, "-o", str(bundle))
    assert done.returncode == 1
    found = members(bundle)
    of_osd = {"perf_dump.1.json", "perf_dump.2.json", "config_show.json", "config_diff.json", "dump_historic_ops.json"}
    of_osd |= {"dump_historic_slow_ops.json", "perf_histogram_dump.json", "bluefs_stats.txt", "osd_metadata.json"}
    assert {f"osd.1/{name}" for name in of_osd} == {name for name in found if name.startswith("osd.1/")}
    assert {name for name in found if name.startswith("osd.0/")} == {
        *(f"osd.0/{name}" for name in of_osd),
        "osd.0/ceph-osd.0.log",
        "osd.0/ceph-osd.0.log.1",
    }
    assert found["osd.0/ceph-osd.0.log.1"] == gzip.decompress((fake / "log/ceph-osd.0.log.1.gz").read_bytes())
    of_cluster = {
        "versions.json",
        "osd_tree.json",
        "osd_df.json",
        "health_detail.json",
        "config_dump.json",
        "pg_dump.json",
    }
    assert of_cluster <= found.keys()
    assert b"m(3)" in found["osd.4/show_sharding.txt"]
    failed = {one["file"]: one["why"] for one in json.loads(found["collection.json"])["failed"]}
    assert failed["osd.2/config_show.json"] == "no answer within 3 s"
    assert "access denied" in failed["osd.3/perf_dump.2.json"]
    assert failed["osd.4/"] == "the OSD is down: it answers nothing"
    assert failed["osd.1/, its log"] == "its log is on elsewhere: collect there as well, or with --ssh"
    said = done.stderr.decode()
    assert "warning: osd.3/config_show.json: Error EACCES: access denied\n" in said
    assert "more that failed are listed in collection.json" in said
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_only_questions_are_asked(fake: Path, tmp_path: Path, lsmlens: Run) -> None:
    lsmlens("collect", "--osds", "osd.0,osd.1", *QUICK, "-o", str(tmp_path / "b.tar.gz"))
    asked = (fake / "asked").read_text()
    assert asked.count("tell osd.0 perf dump\n") == 2
    assert not any(word in asked for word in (" set ", " unset ", "injectargs", "reset"))


def test_no_secret_leaves_its_place(fake: Path, tmp_path: Path, lsmlens: Run) -> None:
    lsmlens("collect", "--osds", "osd.0", *QUICK, "-o", str(tmp_path / "b.tar.gz"))
    found = members(tmp_path / "b.tar.gz")
    everything = b"".join(found.values())
    assert b"hunter" not in everything
    assert KEY.encode() not in everything
    assert json.loads(found["osd.0/config_show.json"])["osd_memory_target"] == "4294967296"
    assert json.loads(found["config_dump.json"])[0]["name"] == "mgr/dashboard/ssl_key"


def test_names_are_hidden_at_the_source_and_the_figures_stay(fake: Path, tmp_path: Path, lsmlens: Run) -> None:
    bundle = tmp_path / "b.tar.gz"
    lsmlens("collect", "--osds", "osd.0", *QUICK, "--redact", "-o", str(bundle))
    found = members(bundle)
    assert not any(re.search(rf"\b{re.escape(HERE)}\b".encode(), content) for content in found.values())
    (tmp_path / "log").mkdir()
    shutil.copy(fake / "log/ceph-osd.0.log.1.gz", tmp_path / "log")
    (collected,), (plain,) = analyze([str(bundle)]).runs, analyze([str(tmp_path / "log")]).runs
    assert plain.run.jobs.height > 0
    assert collected.sums == plain.sums
    assert collected.families == plain.families


@pytest.mark.parametrize(
    ("which", "osds"),
    [("host:rack", [0, 1]), ("class:ssd", [1]), ("osd.1", [1]), ("all", [0, 1, 2, 3, 4])],
)
def test_which_osds(fake: Path, lsmlens: Run, which: str, osds: list[int]) -> None:
    done = lsmlens("collect", "--osds", which, "--dry-run")
    lines = done.stdout.decode().splitlines()
    assert {line.partition("/")[0] for line in lines if line.startswith("osd.")} == {f"osd.{one}" for one in osds}
    assert "tell" not in (fake / "asked").read_text()


def test_the_worst_are_those_whose_commits_take_longest(fake: Path, lsmlens: Run) -> None:
    done = lsmlens("collect", "--osds", "all", "--worst", "1", "--dry-run")
    assert b"osd.1/" in done.stdout
    assert b"osd.0/" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--osds", "host:nowhere"), "nowhere"),
        (("--osds", "osd.77"), "there is no osd.77"),
        (("--osds", "some"), "some names no OSDs"),
        ((), "which OSDs"),
        (("--osds", "all", "--db", "."), "which OSDs"),
        (("--db", "/nowhere"), "/nowhere"),
    ],
)
def test_what_cannot_be_collected(
    fake: Path, tmp_path: Path, lsmlens: Run, arguments: tuple[str, ...], said: str
) -> None:
    done = lsmlens("collect", *arguments, "-o", str(tmp_path / "b.tar.gz"))
    lines = done.stderr.decode().splitlines()
    assert [line.split(" ")[0] for line in lines] == ["error:", "hint:"]
    assert said in lines[0]
    assert (done.returncode, list(tmp_path.glob("*.tar*"))) == (2, [])


def test_without_a_way_to_a_cluster(tmp_path: Path, command: list[str]) -> None:
    arguments = [*command, "collect", "--osds", "all", "-o", str(tmp_path / "b.tar.gz")]
    done = subprocess.run(
        arguments, capture_output=True, check=False, timeout=60, env={**os.environ, "PATH": "/nowhere"}
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: no ceph, cephadm or kubectl here\n")


def test_a_full_disk_leaves_nothing(fake: Path, tmp_path: Path, command: list[str]) -> None:
    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    arguments = [*command, "collect", "--osds", "osd.0", *QUICK, "-o", str(tmp_path / "b.tar.gz")]
    done = subprocess.run(arguments, capture_output=True, check=False, timeout=60, preexec_fn=small)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == f"error: {tmp_path}/b.tar.gz: file too large".encode()
    assert [one for one in tmp_path.iterdir() if "tar" in one.name] == []


# ---- debug levels


def test_levels_are_raised_for_a_while_and_put_back(fake: Path, tmp_path: Path, lsmlens: Run) -> None:
    (fake / "config_diff.json").write_text('{"diff": {"debug_bluestore": {"default": "1/5", "override": "2/5"}}}')
    done = lsmlens("collect", "--osds", "osd.0", *QUICK, "--debug-for", "100ms", "-o", str(tmp_path / "b.tar.gz"))
    asked = (fake / "asked").read_text()
    assert "tell osd.0 config set debug_rocksdb 5/5\n" in asked
    assert "tell osd.0 config set debug_bluestore 5/5\n" in asked
    assert raised(fake) == {"osd.0.debug_bluestore": "2/5"}
    assert f"sh {tmp_path}/state/lsmlens/collect/undo-".encode() in done.stderr
    assert list((tmp_path / "state/lsmlens/collect").iterdir()) == []


def test_an_osd_that_does_not_take_its_levels_back_is_named_with_what_does_it(
    fake: Path, tmp_path: Path, lsmlens: Run
) -> None:
    (fake / "is_stubborn").touch()
    done = lsmlens("collect", "--osds", "osd.0", *QUICK, "--debug-for", "10ms", "-o", str(tmp_path / "b.tar.gz"))
    (undo,) = (tmp_path / "state/lsmlens/collect").glob("*.sh")
    said = f"warning: debug levels: not put back everywhere; when the OSDs answer again: sh {undo}\n"
    assert done.returncode == 1
    assert said in done.stderr.decode()
    assert "collection.json" in members(tmp_path / "b.tar.gz")
    (fake / "is_stubborn").unlink()
    subprocess.run(["sh", undo], check=True)
    assert raised(fake) == {}
    assert not undo.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_levels_are_put_back_whatever_ends_the_collection(
    fake: Path, tmp_path: Path, command: list[str], number: signal.Signals
) -> None:
    collecting = under_way(fake, tmp_path, command)
    collecting.send_signal(number)
    _, said = collecting.communicate(timeout=30)
    assert wait_for(lambda: not raised(fake))
    assert wait_for(lambda: not list((tmp_path / "state/lsmlens/collect").iterdir()))
    assert not (tmp_path / "b.tar.gz").exists()
    if number is not signal.SIGKILL:
        assert collecting.returncode == 130
        assert said.endswith(b"error: interrupted\n")
        assert [one for one in tmp_path.iterdir() if "tar" in one.name] == []


def test_what_a_lost_machine_left_raised_the_next_collection_puts_back(
    fake: Path, tmp_path: Path, command: list[str], lsmlens: Run
) -> None:
    collecting = under_way(fake, tmp_path, command)
    (undo,) = (tmp_path / "state/lsmlens/collect").iterdir()
    children = Path(f"/proc/{collecting.pid}/task/{collecting.pid}/children").read_text().split()
    guards = [one for one in children if b"guard" in Path(f"/proc/{one}/cmdline").read_bytes()]
    assert len(guards) == 1
    assert (
        "still under way"
        not in lsmlens("collect", "--osds", "osd.1", *QUICK, "-o", str(tmp_path / "c.tar.gz")).stderr.decode()
    )
    assert raised(fake)  # the script is of a collection that lives
    os.kill(int(guards[0]), signal.SIGKILL)
    collecting.kill()
    collecting.communicate()
    assert raised(fake)
    assert list(tmp_path.glob(".b.tar.gz.*"))
    done = lsmlens("collect", "--osds", "osd.1", *QUICK, "-o", str(tmp_path / "b.tar.gz"))
    assert list(tmp_path.glob(".b.tar.gz.*")) == []
    assert b"note: debug levels that an earlier collection left raised were put back\n" in done.stderr
    assert raised(fake) == {}
    assert not undo.exists()


def under_way(fake: Path, tmp_path: Path, command: list[str]) -> "subprocess.Popen[bytes]":
    """A collection that has raised debug levels, and waits."""
    arguments = ["collect", "--osds", "osd.0", *QUICK, "--debug-for", "50s", "-o", str(tmp_path / "b.tar.gz")]
    collecting = subprocess.Popen([*command, *arguments], stderr=subprocess.PIPE)
    assert wait_for(lambda: len(raised(fake)) == 2)
    return collecting


def wait_for(holds: Callable[[], bool], seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


# ---- the script


def test_the_script_collects_the_same(fake: Path, tmp_path: Path, lsmlens: Run) -> None:
    shell = shutil.which("dash") or "sh"
    arguments = ("--osds", "all", "--interval", "1s", "--timeout", "2s")
    script = lsmlens("collect", *arguments, "--print-script").stdout
    (tmp_path / "collect.sh").write_bytes(script)
    done = subprocess.run([shell, "collect.sh", "b"], capture_output=True, check=True, timeout=120, cwd=tmp_path)
    assert done.stdout == b"b.tar.gz\n"
    found = members(tmp_path / "b.tar.gz")
    lsmlens("collect", *arguments, "-q", "-o", str(tmp_path / "c.tar.gz"))
    expected = members(tmp_path / "c.tar.gz")
    own = {"collection.json", "osd.4/show_sharding.txt", "osd.2/osd_metadata.json"}
    assert found.keys() - {"failures.txt"} >= expected.keys() - own
    assert found["osd.0/ceph-osd.0.log.1"] == expected["osd.0/ceph-osd.0.log.1"]
    for name in ("osd.0/config_show.json", "config_dump.json", "osd.0/perf_dump.2.json"):
        assert json.loads(found[name]) == json.loads(expected[name])
    everything = b"".join(found.values())
    assert b"hunter" not in everything
    assert KEY.encode() not in everything
    assert (
        b"osd.3/config_show.json: ceph tell osd.3 config show: Error EACCES: access denied\n" in found["failures.txt"]
    )
    assert b"no answer within 2 s" in found["failures.txt"]
    assert sorted(one.name for one in tmp_path.iterdir() if "collecting" in one.name or "tar" in one.name) == [
        "b.tar.gz",
        "c.tar.gz",
    ]


def test_the_script_takes_the_worst(fake: Path, tmp_path: Path, lsmlens: Run) -> None:
    script = lsmlens("collect", "--osds", "all", "--worst", "1", "--interval", "1s", "--print-script").stdout
    subprocess.run(["sh", "-s", "b"], input=script, capture_output=True, check=True, timeout=60, cwd=tmp_path)
    assert {name.partition("/")[0] for name in members(tmp_path / "b.tar.gz") if name.startswith("osd.")} == {"osd.1"}


# ---- a database by itself


def test_a_database(tmp_path: Path, lsmlens: Run) -> None:
    from rocksdict import Options, Rdict

    database = Rdict(str(tmp_path / "db"), Options(raw_mode=True))
    for _ in range(2):
        database[b"key"] = b"value"
        database.flush()
    (tmp_path / "db/LOG.old.1").write_text("old\n")
    os.utime(tmp_path / "db/LOG.old.1", (0, 0))
    before = sorted(one.name for one in (tmp_path / "db").iterdir())
    done = lsmlens("collect", "--db", str(tmp_path / "db"), "-o", str(tmp_path / "db.tar.zst"), "-q")
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(one.name for one in (tmp_path / "db").iterdir()) == before
    found = members(tmp_path / "db.tar.zst")
    assert found["LOG"] == (tmp_path / "db/LOG").read_bytes()
    assert "LOG.old.1" not in found
    assert sum(name.startswith("OPTIONS-") for name in found) >= 1
    shape = json.loads(found["manifest.json"])
    assert [(one["family"], one["level"], len(one["tables"])) for one in shape["levels"]] == [("default", 0, 2)]
    assert "Compaction Stats" in shape["stats"]
    (run,) = analyze([str(tmp_path / "db.tar.zst")]).runs
    assert run.run.event_counts["flush_finished"] == 2
    assert run.run.manifest == read_manifest(tmp_path / "db")
    database.close()
