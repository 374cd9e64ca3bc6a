"""What load generators measured, by job: parts that ran at once added up, and jobs of several arms matched.

Parts (CBT's volumes and processes, fio's clones of a job) add up their operations and bytes per second; the mean
latency is that of all their operations; of a percentile, which cannot be added up, the largest of them is taken.
Repeats (CBT's iterations, files of one name in several folders) are samples of their own.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from lsmlens.analyzer.clients.cbt import SHORT_NAMES, Place, place_of, test_folder
from lsmlens.analyzer.metrics import percentile_name
from lsmlens.analyzer.numbers import counted
from lsmlens.analyzer.units import MIB

if TYPE_CHECKING:
    from lsmlens.analyzer.clients.client_results import ClientResult
    from lsmlens.analyzer.comparison.observations import Observation

PERCENTILES = (50.0, 95.0, 99.0, 99.9)
KIB = 1 << 10

# Figures by kind of metric (`client_iops`, …), of each repeat of each job.
Samples = dict[str, list[dict[str, float]]]


def client_samples(arms: Sequence[Sequence["Observation"]]) -> list[list[Samples]]:
    """For each observation of each arm the samples of its jobs, under names by which they match between arms.

    A job is known by its file's name, fio's name for it and its direction. Where arms have no job in common and each
    has one only of each kind, they match by program, direction, block size and depth.
    """
    named = [[_by_job(one, _full_name) for one in arm] for arm in arms]
    having = [{job for samples in arm for job in samples} for arm in named]
    having = [jobs for jobs in having if jobs]
    if len(having) > 1 and not set.intersection(*having):
        short = [[_by_job(one, _short_name) for one in arm] for arm in arms]
        kept = all(
            len(a) == len(b) for some, other in zip(named, short, strict=True) for a, b in zip(some, other, strict=True)
        )
        if kept:
            return short
    return named


def incomplete_notes(results: "Iterable[ClientResult]") -> list[str]:
    """Results that were cut or that had errors, in words."""
    said = []
    for one in results:
        name = _file_name(one.source)
        if not one.is_complete:
            said.append(f"{name}: cut before its summary; left out")
        elif one.errors:
            said.append(f"{name}: {counted(one.errors, 'error')} in job {one.job or one.operation}")
    return said


def _by_job(
    observation: "Observation", name_of: "Callable[[ClientResult, Place | None, Mapping[str, str]], str]"
) -> Samples:
    groups: dict[str, dict[str, list[ClientResult]]] = {}
    places = {one.source: place_of(one.source) for one in observation.client_results}
    has_json = {(place.folder, place.part) for place in places.values() if place is not None and not place.is_copy}
    for one in observation.client_results:
        place = places[one.source]
        if not one.is_complete or (
            place is not None and (place.is_preparation or (place.is_copy and (place.folder, place.part) in has_json))
        ):
            continue
        parameters = {} if place is None else observation.client_parameters.get(test_folder(place), {})
        job = name_of(one, place, parameters).replace(" ", "_")
        repeat = one.source if place is None else place.folder
        groups.setdefault(job, {}).setdefault(repeat, []).append(one)
    return {job: [_added(groups[job][repeat]) for repeat in sorted(groups[job])] for job in sorted(groups)}


def _full_name(result: "ClientResult", place: Place | None, parameters: Mapping[str, str]) -> str:
    if place is None:
        parts = [_file_name(result.source).rsplit(".", 1)[0], result.job, result.operation or ""]
        return ".".join(part for part in parts if part)
    known = {**parameters, **place.parameters}
    sizes = [_size(result.block_bytes)] if result.block_bytes else []
    shorts = [
        f"{short}{known[name]}"
        for name, short in SHORT_NAMES.items()
        if short and name in known and known[name] not in ("0", "1") and not (name == "op_size" and sizes)
    ]
    test = place.test or known.get("mode", "")
    operation = result.operation or ""
    return ".".join(part for part in (test, "" if operation == test else operation, *sizes, *shorts) if part)


def _short_name(result: "ClientResult", place: Place | None, parameters: Mapping[str, str]) -> str:
    if place is not None:
        return _full_name(result, place, parameters)
    size = _size(result.block_bytes) if result.block_bytes else ""
    depth = f"qd{result.depth}" if result.depth else ""
    program = str(result.kind).replace(" ", "_")
    return ".".join(part for part in (program, result.operation or "", size, depth) if part)


def _added(parts: "Sequence[ClientResult]") -> dict[str, float]:
    """One sample of what ran at once."""
    found: dict[str, float] = {}
    rates = {
        "client_iops": [one.iops for one in parts],
        "client_bandwidth": [one.bytes_per_second for one in parts],
    }
    for kind, values in rates.items():
        known = [value for value in values if value is not None]
        if len(known) == len(parts):
            found[kind] = sum(known)
    weights = [one.operations or one.iops or 0 for one in parts]
    means = [one.latency_mean_seconds for one in parts]
    timed = [(mean, weight) for mean, weight in zip(means, weights, strict=True) if mean is not None and weight]
    if len(timed) == len(parts) == 1:
        found["client_latency_mean"] = timed[0][0]
    elif len(timed) == len(parts):
        found["client_latency_mean"] = sum(mean * weight for mean, weight in timed) / sum(w for _, w in timed)
    for percent in PERCENTILES:
        reached = [one.latency_percentiles_seconds.get(percent) for one in parts]
        all_known = [value for value in reached if value is not None]
        if len(all_known) == len(parts):
            found[percentile_name(percent)] = max(all_known)
    return found


def _file_name(source: str) -> str:
    return source.replace("!", "/").rsplit("/", 1)[-1]


def _size(count: int) -> str:
    if count % MIB == 0:
        return f"{count // MIB}m"
    return f"{count // KIB}k" if count % KIB == 0 else f"{count}b"
