"""Results of the Ceph Benchmarking Tool (CBT): what its folders say of the load programs' output in them.

    results/00000000/id-af9a4715/1280krandomread.host/numjobs-001/total_iodepth-12/iodepth-000001/json_output.11
    results/00000001/id-2689e691/write/json_output.0.host

`00000000` is the iteration, a repeat of the same tests. `id-…` stands for a test's configuration, which is beside it in
benchmark_config.yaml. Folders `NAME-NUMBER` are parameters; another names the test, with the host after it. Files
`json_output.N` are what the volumes or processes of one test did at the same time; `output.N` is the same once more,
as it was printed. Layout: ceph/cbt, benchmark/benchmark.py, benchmark/radosbench.py, benchmark/librbdfio.py.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsmlens.analyzer.bundles.roles import Role

if TYPE_CHECKING:
    from lsmlens.analyzer.bundles.companions import Companion

_PLACE = re.compile(r"(?:^|.*/)(?:results/)?(\d{8})/(id-[0-9a-f]+)/((?:[^/]+/)*)(json_)?output\.(\d+)(?:\.[^/]+)?")
_PARAMETER = re.compile(r"([a-z_]+)-0*(\d+)")
_PRECONDITION = ("precondition", "prefill")
# What of a configuration tells one test from another, and how it is called for short.
SHORT_NAMES = {
    "mode": "",
    "op_size": "bs",
    "concurrent_ops": "t",
    "concurrent_procs": "procs",
    "numjobs": "jobs",
    "iodepth": "qd",
    "total_iodepth": "total_qd",
    "volumes_per_client": "vols",
    "procs_per_volume": "procs",
    "osd_ra": "ra",
    "client_ra": "client_ra",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a result stands among CBT's: of which iteration and test, with which parameters, which of its parts.

    `folder` is the test's, the same for its parts that ran at once. `is_copy` is what CBT wrote beside the JSON.
    """

    iteration: str
    folder: str
    test: str
    parameters: Mapping[str, str]
    part: int
    is_copy: bool
    is_preparation: bool


def place_of(path: str) -> Place | None:
    """The place a result's path says; None for one that is not in CBT's folders."""
    match = _PLACE.fullmatch(path.replace("!", "/"))
    if match is None:
        return None
    iteration, identity, folders, json, part = match.groups()
    parts = folders.split("/")[:-1]
    parameters = {found[1]: found[2] for one in parts if (found := _PARAMETER.fullmatch(one))}
    names = [one.split(".")[0] for one in parts if not _PARAMETER.fullmatch(one)]
    if "total_iodepth" in parameters:  # its volumes may have a depth each, in a folder each
        parameters.pop("iodepth", None)
        parts = [one for one in parts if not one.startswith("iodepth-")]
    start = path.replace("!", "/").index(f"{iteration}/{identity}")
    return Place(
        iteration,
        "/".join([path[:start] + iteration, identity, *parts]),
        " ".join(names),
        parameters,
        int(part),
        json is None,
        any(name.startswith(_PRECONDITION) for name in names),
    )


def test_folder(place: Place) -> str:
    """The folder `…/00000000/id-…` a place is under, where its configuration stands."""
    head, found, _ = place.folder.partition("/id-")
    return head + found + place.folder[len(head) + len(found) :].split("/")[0]


def test_parameters(companions: "Iterable[Companion]") -> dict[str, dict[str, str]]:
    """What CBT's configurations say that tells tests apart, by the folder they stand in."""
    found: dict[str, dict[str, str]] = {}
    for one in companions:
        if one.role is Role.CBT_CONFIGURATION:
            import yaml

            try:
                said = yaml.safe_load(one.content)
            except yaml.YAMLError:
                continue
            options = said.get("cluster") if isinstance(said, dict) else None
            if isinstance(options, dict):
                known = {name: options[name] for name in SHORT_NAMES if isinstance(options.get(name), str | int)}
                found[one.directory.replace("!", "/")] = {name: str(value) for name, value in known.items()}
    return found
