"""The assessment of scheduling as a JSON document, as the schema `lsmlens.qos/1` describes it."""

from dataclasses import asdict
from typing import Any

from lsmlens.analyzer.findings import Finding
from lsmlens.analyzer.qos.allocation import ClassAllocation, Rate
from lsmlens.analyzer.qos.service_classes import message_classes
from lsmlens.analyzer.qos.settings import Setting
from lsmlens.analyzer.qos.view import OsdView
from lsmlens.tuners.qos.assessment import ProfileForm, QosAssessment
from lsmlens.tuners.qos.outcome import ClientFigures
from lsmlens.tuners.qos.recommendation import Prediction, Recommendation

SCHEMA = "lsmlens.qos/1"


def document(assessment: QosAssessment) -> dict[str, Any]:
    """Everything an assessment says, as JSON values; the same bytes for the same input."""
    view = assessment.view
    observed = view.observed
    recovering = view.recovering
    return {
        "schema": SCHEMA,
        "osds": [_osd(osd) for osd in view.osds],
        "cluster": {
            "osds": view.osd_count,
            "pool_size": view.material.cluster.size,
            "erasure_coded_pools": list(view.material.cluster.erasure_coded),
            "placement_groups_recovering": None if recovering is None else len(recovering),
            "queues_recovering": [asdict(load) for load in view.loads],
            "observed_recovery": None if observed is None else asdict(observed),
        },
        "findings": [
            {"osd": one.subject, **_finding(finding)} for one in assessment.diagnoses for finding in one.findings
        ],
        "not_assessed": [
            {"osd": one.subject, **asdict(rule)} for one in assessment.diagnoses for rule in one.not_assessed
        ],
        "subject": assessment.subject.name,
        "mended": None
        if assessment.mended_capacity is None
        else {
            "capacity_iops": assessment.mended_capacity,
            "allocation": [_allocation(one) for one in assessment.mended],
        },
        "closed_forms": [_form(form) for form in assessment.forms],
        "littles_law": [
            {**asdict(check), "deviation": check.deviation, "holds": check.holds} for check in view.littles_law
        ],
        "recommendation": None if assessment.recommendation is None else _recommendation(assessment.recommendation),
    }


def to_json(assessment: QosAssessment) -> str:
    """The document as indented JSON text, ending in a newline."""
    import orjson

    return orjson.dumps(document(assessment), option=orjson.OPT_INDENT_2).decode() + "\n"


def _osd(osd: OsdView) -> dict[str, Any]:
    one = osd.in_force
    costs, charges, shares = one.costs, osd.charges, one.shares
    compaction = osd.compaction
    return {
        "name": osd.name,
        "release": ".".join(map(str, one.release)) if one.release is not None else None,
        "scheduler": _setting(one.scheduler),
        "profile": _setting(one.profile),
        "device": {"kind": one.kind, "source": one.kind_source},
        "capacity_iops": _setting(one.capacity),
        "bandwidth_bytes_per_second": _setting(one.bandwidth),
        "shards": _setting(one.shards),
        "threads_per_shard": _setting(one.threads),
        "cutoff_priority": one.cutoff,
        "max_backfills": _setting(one.max_backfills),
        "recovery_max_active": _setting(one.max_active),
        "bluestore_throttle_bytes": _setting(one.throttle_bytes),
        "cost_model": None
        if costs is None
        else {
            "unit": costs.unit.value,
            "per_io": costs.per_io,
            "per_byte": costs.per_byte,
            "crossover_bytes": costs.crossover_bytes,
            "cost_4kib": costs.cost(4096),
            "cost_4mib": costs.cost(4 << 20),
        },
        "recovery_charges": None if charges is None else {**asdict(charges), "at_primary": charges.at_primary},
        "profile_table": None if shares is None or shares.table is None else shares.table.name,
        "shares_assumed": None if shares is None else shares.is_assumed,
        "allocation": [_allocation(allotted) for allotted in osd.allocation],
        "message_classes": [
            {"message": said.message, "class": said.service_class.value, "note": said.note}
            for said in message_classes(one.release)
        ],
        "compaction": None if compaction is None else asdict(compaction),
    }


def _setting(setting: Setting | None) -> dict[str, Any] | None:
    if setting is None:
        return None
    return {
        "option": setting.name,
        "value": setting.value,
        "number": setting.real,
        "set_by": setting.origin,
        "source": setting.source,
        "default": setting.default,
    }


def _allocation(allotted: ClassAllocation) -> dict[str, Any]:
    return {
        "class": allotted.service_class.value,
        "reservation_share": allotted.reservation_share,
        "weight": allotted.weight,
        "limit_share": allotted.limit_share or None,
        "reservation": _rate(allotted.reservation),
        "limit": _rate(allotted.limit),
        "reservation_per_shard": _rate(allotted.reservation_per_shard),
        "limit_per_shard": _rate(allotted.limit_per_shard),
    }


def _rate(rate: Rate | None) -> dict[str, float] | None:
    return None if rate is None else asdict(rate)


def _finding(finding: Finding) -> dict[str, Any]:
    said = asdict(finding)
    del said["changes"]  # these findings are of the scheduler, whose options are no database's
    said.pop("column_family")
    return {**said, "severity": finding.severity.value, "confidence": finding.confidence.value}


def _form(form: ProfileForm) -> dict[str, Any]:
    time = form.recovery
    return {
        "profile": form.profile,
        "in_force": form.is_current,
        "class": form.service_class.value,
        "bound": time.bound.value,
        "recovery_seconds": time.seconds,
        "recovery_seconds_low": time.low,
        "recovery_seconds_high": time.high,
        "objects_per_second": time.objects_per_second,
        "client_iops": None if form.budget is None else form.budget.iops,
    }


def _recommendation(one: Recommendation) -> dict[str, Any]:
    model = one.model
    return {
        "objective": one.objective.value,
        "pick": one.predictions.index(one.pick),
        "reasons": list(one.reasons),
        "commands": list(one.commands),
        "way_back": list(one.way_back),
        "needs_restart": one.needs_restart,
        "clients_alone": _client(one.base),
        "clients_alone_without_compactions": _client(one.base_without_compactions),
        "calibration": asdict(one.calibration),
        "played": {
            "osds": model.osds,
            "copies": model.copies,
            "hardware": model.hardware.name,
            "depth": model.client.depth,
            "block_bytes": model.client.block_bytes,
            "groups": len(model.groups),
            "objects": model.objects,
            "object_bytes": model.object_bytes,
            "facts": list(model.facts),
            "assumptions": list(model.assumptions),
        },
        "predictions": [_prediction(prediction) for prediction in one.predictions],
    }


def _client(figures: ClientFigures | None) -> dict[str, float] | None:
    return None if figures is None else asdict(figures)


def _prediction(one: Prediction) -> dict[str, Any]:
    return {
        "settings": asdict(one.candidate),
        "client_iops": one.client_iops,
        "client_mean_seconds": one.mean_seconds,
        "client_mean_error": one.mean_error,
        "client_p95_seconds": one.p95_seconds,
        "recovery_seconds": one.recovery_seconds,
        "recovery_seconds_low": one.recovery_low,
        "recovery_seconds_high": one.recovery_high,
        "recovery_objects_per_second": one.objects_per_second,
        "bound_by": "limit" if one.is_limited else "concurrency",
        "on_front": one.is_on_front,
        "contended_share": one.play.contended_share,
        "course": [asdict(point) for point in one.play.course],
    }
