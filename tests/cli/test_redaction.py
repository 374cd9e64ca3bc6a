"""`--redact` from outside: a bundle full of planted names, every command, every form of output, and none is left."""

import gzip
import json
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsmlens.reports.outputs import ANALYSIS, COMPARISON, DUEL, FLEET, PREDICTION, QOS, RECOMMENDATION, REPLAY, WORKLOAD

from tests.parquet_text import text_of_parquet

Run = Callable[..., subprocess.CompletedProcess[bytes]]

# Every planted name holds one of these: names made up, and names of words that are common apart.
SECRETS = (
    *("zebrafish", "cold-storage", "backup-node7", "customer_data", "qx17", "walrus", "10.77.3."),
    *("fd00:77::", "8d2f1a3c-0b1e-4c59-9b7e-1f2a3b4c5d6e", "ACME", "tenant", "müller"),
)
FAMILY, OTHER_FAMILY = "zebrafish-orders", "cold-storage"
HOST, ADDRESS, FSID = "backup-node7.qx17.example", "10.77.3.9", "8d2f1a3c-0b1e-4c59-9b7e-1f2a3b4c5d6e"
POOL, IMAGE, BUCKET, OBJECT = "walrus-pool", "vm-qx17", "customer_data", "tenant-42/müller.pdf"
FOLDER = "ACME-qx17"
SLOW = (
    f"2026-11-20T23:10:01.000+0000 7f4de5ffb6c0  0 bluestore(/var/lib/ceph/{FSID}/osd.0) log_latency_fn slow operation"
    f" observed for _collection_list, latency = 6.5s, lat = 6s cid =2.1a_head start #2:59446de1:::{BUCKET}.{POOL}:head#"
    " end GHMAX max 64\n"
    f"2026-11-20T23:10:02.000+0000 7f4de5ffb6c0 -1 bluestore(/var/lib/ceph/{FSID}/osd.0) _verify_csum bad crc32c/0x1000"
    f" checksum at blob offset 0x0, device location [0x1~1000], object #2:59446de1:{POOL}:{HOST}:{OBJECT}:head#\n"
    f"2026-11-20T23:10:03.000+0000 7f4de5ffb6c0  3 rocksdb: [db/db_impl/db_impl.cc:1] Corruption: block checksum"
    f" mismatch in /srv/{FOLDER}/db/000123.sst of {FAMILY} on {HOST} ({ADDRESS}, fd00:77::9)\n"
    '2026-11-20T23:10:04.000+0000 7f4de5ffb6c0  4 rocksdb: EVENT_LOG_v1 {"time_micros": 1795216204000000,'
    f' "event": "tenant_{BUCKET}", "job": 3, "cf_name": "{FAMILY}", "path": "/srv/{FOLDER}/x", "who": "{HOST}"}}\n'
    f'2026-11-20T23:10:05.000+0000 7f4de5ffb6c0  4 rocksdb: EVENT_LOG_v1 {{"time_micros": 17952, "event": "{HOST}\n'
)


@pytest.fixture(scope="module")
def osd(fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of an OSD, with names in its log and in all that stands beside it."""
    folder = tmp_path_factory.mktemp("of") / FOLDER / f"sos-{HOST}"
    shutil.copytree(fixtures / "osd-stock", folder)
    (folder / "SOURCE.md").unlink()
    log = gzip.decompress((folder / "ceph-osd.0.log.gz").read_bytes())
    (folder / "ceph-osd.0.log.gz").unlink()
    (folder / "ceph-osd.0.log").write_bytes(log + SLOW.encode())
    for name in ("fio_B.json", "fio_E.json"):
        fio = json.loads((folder / name).read_text())
        for job in fio["jobs"]:
            job["jobname"], job["hostname"] = f"{POOL}/{IMAGE}", HOST
            job["job options"] |= {
                "pool": POOL,
                "rbdname": IMAGE,
                "clientname": "tenant",
                "filename": f"/srv/{FOLDER}/f",
            }
        (folder / f"{POOL}-{name}").write_text(json.dumps(fio))
        (folder / name).unlink()
    config = json.loads((folder / "config_show.json").read_text())
    config |= {
        "host": HOST,
        "fsid": FSID,
        "mon_host": f"[v2:{ADDRESS}:3300/0,v1:{ADDRESS}:6789/0]",
        "crush_location": f"host={HOST} rack=tenant-rack",
        "bluestore_rocksdb_options_annex": f"wal_dir=/srv/{FOLDER}/wal,db_log_dir=/srv/{FOLDER}",
        "osd_data": f"/srv/{FOLDER}/osd.0",
    }
    (folder / "config_show.json").write_text(json.dumps(config))
    (folder / "ceph.conf").write_text(
        f"[global]\nfsid = {FSID}\nmon_host = {ADDRESS}\nhost = {HOST}\n"
        f"[osd]\nbluestore_rocksdb_options_annex = wal_dir=/srv/{FOLDER}\n[client.tenant]\nkeyring = /etc/{FOLDER}\n"
    )
    metadata = json.loads((folder / "osd_metadata.json").read_text())
    metadata |= {"hostname": HOST, "back_addr": f"[v2:{ADDRESS}:6802/3]", "bluestore_bdev_path": f"/srv/{FOLDER}/block"}
    (folder / "osd_metadata.json").write_text(json.dumps(metadata))
    for name in ("dump_historic_ops.json", "dump_historic_slow_ops.json"):
        text = (folder / name).read_text().replace("rbd_data.", f"{BUCKET}.{POOL}.").replace("127.0.0.1", ADDRESS)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def database(fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose families a person named, below a folder that says whose it is."""
    folder = tmp_path_factory.mktemp("of") / FOLDER / f"db-{HOST}"
    folder.mkdir(parents=True)
    for path in (fixtures / "rocksdb-current").glob("LOG*"):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = re.sub(rb'([\["])users([\]"])', rb"\1" + FAMILY.encode() + rb"\2", text)
        text = re.sub(rb'([\["])blobs([\]"])', rb"\1" + OTHER_FAMILY.encode() + rb"\2", text)
        text = text.replace(b"/var/lib/rocksdb-lab", f"/srv/{FOLDER}".encode()).replace(
            b":  lab\n", f":  {HOST}\n".encode()
        )
        text = re.sub(rb"(Options\.comparator: )\S+", rb"\1" + f"{FOLDER}.Comparator".encode(), text)
        (folder / path.name.removesuffix(".gz")).write_bytes(text)
    return folder


def text_of(file: Path) -> str:
    if file.suffix == ".parquet":
        return text_of_parquet(file)
    if file.suffix == ".db":
        with sqlite3.connect(file) as connection:
            return "\n".join(connection.iterdump()) + file.read_bytes().decode("latin-1")
    return file.read_bytes().decode("utf-8", "replace")


@pytest.fixture
def no_secret(lsmlens: Run, tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Run a command with `--redact`, writing every form; what it wrote, in which no planted name is."""

    def check(command: str, *arguments: str | Path, forms: Any = None, without: str = "") -> dict[str, str]:
        out = tmp_path / "out"
        out.mkdir(exist_ok=True)
        suffixes = [] if forms is None else [one for one in forms.forms if one != without]
        asked = [option for suffix in suffixes for option in ("-o", out / f"report{suffix}")]
        done = lsmlens(*command.split(), *arguments, "--redact", *asked, cwd=out)
        assert done.returncode == 0, done.stderr.decode()
        assert not suffixes or (out / f"report{suffixes[0]}").exists()
        texts = {file.name: text_of(file) for file in out.iterdir() if file.is_file()}
        texts |= {"stdout": done.stdout.decode(), "stderr": done.stderr.decode()}
        left = {
            f"{command} {name}": sorted({text[max(0, place - 60) : place + 60] for place in places})
            for name, text in texts.items()
            if (places := [match.start() for secret in SECRETS for match in re.finditer(re.escape(secret), text)])
        }
        assert left == {}
        return texts

    return check


def test_the_names_are_there_without_it(lsmlens: Run, osd: Path, database: Path) -> None:
    done = lsmlens("analyze", osd, database, "-q", "--full", "--format", "json")
    said = done.stdout.decode()
    missing = [
        secret for secret in SECRETS if secret not in said and secret.encode("unicode_escape").decode() not in said
    ]
    assert set(missing) <= {"10.77.3.", "fd00:77::"}  # which are in other commands' reports


@pytest.mark.parametrize("form", ["text", "github"])
def test_analyze(form: str, osd: Path, database: Path, no_secret: Callable[..., dict[str, str]]) -> None:
    texts = no_secret("analyze -q --full", osd, database, "--format", form, forms=ANALYSIS if form == "text" else None)
    assert "family-1" in texts["stdout"] or form == "github"


def test_charts(osd: Path, no_secret: Callable[..., dict[str, str]]) -> None:
    no_secret("analyze -q", osd, "-o", "timeline.svg", "-o", "latency.svg", "-o", "families.svg")


def test_compare(osd: Path, database: Path, no_secret: Callable[..., dict[str, str]]) -> None:
    no_secret("compare -q --full", osd, f"after={osd}", forms=COMPARISON)
    no_secret("compare -q --full", database, f"after={database}", "--format", "json")


def test_compare_of_saved_analyses(
    lsmlens: Run, osd: Path, tmp_path: Path, no_secret: Callable[..., dict[str, str]]
) -> None:
    saved = tmp_path / f"{HOST}.json"
    assert lsmlens("analyze", osd, "-q", "-o", saved).returncode == 0
    no_secret("compare -q --full", saved, osd, forms=COMPARISON)


def test_qos(osd: Path, no_secret: Callable[..., dict[str, str]]) -> None:
    no_secret("qos -q --full --no-simulation", osd, forms=QOS)


def test_fleet_report(lsmlens: Run, osd: Path, tmp_path: Path, no_secret: Callable[..., dict[str, str]]) -> None:
    dataset = tmp_path / FOLDER
    added = lsmlens("fleet", "add", dataset, osd, "--host", HOST, "--cluster", "tenant-cluster", "--jobs", "1", "-q")
    assert added.returncode == 0, added.stderr
    no_secret("fleet report --full --by host", dataset, forms=FLEET)


def test_workload_and_replay(database: Path, no_secret: Callable[..., dict[str, str]], tmp_path: Path) -> None:
    texts = no_secret("workload -q --full", database, forms=WORKLOAD)
    assert "name: family-" in texts["report.yaml"]
    own = tmp_path / f"{FAMILY}.yaml"
    own.write_text(
        f"schema: lsmlens.workload/1\nname: of {FOLDER}\nseconds: 5\ncolumn_families:\n- name: {FAMILY}\n"
        "  keys: {length: 24}\n  values: 100\n  components:\n"
        "  - {kind: overwrite, rate: 500, working_sets: [{keys: 600}]}\n"
    )
    no_secret("replay -q --full --engine rocksdict", own, "--options", "rocksdb:default", forms=REPLAY)


@pytest.mark.slow
def test_predict(database: Path, no_secret: Callable[..., dict[str, str]]) -> None:
    engine = ("--engine", "rocksdict", "--seeds", "1", "--scale", "64")
    no_secret(
        *("predict -q --full", database, *engine, "--options", "+write_buffer_size=1048576"),
        *("--observed", database),
        forms=PREDICTION,
    )


@pytest.mark.slow
def test_tune_and_its_study(database: Path, no_secret: Callable[..., dict[str, str]]) -> None:
    engine = ("--engine", "rocksdict", "--jobs", "1", "-q")
    texts = no_secret(
        "tune --full --trials 1 --study study.db", database, *engine, forms=RECOMMENDATION, without=".conf"
    )
    assert "study.db" in texts
    no_secret(
        *("tune --full", database, *engine, "--ab", "+write_buffer_size=1048576", "+write_buffer_size=2097152"),
        forms=DUEL,
    )
