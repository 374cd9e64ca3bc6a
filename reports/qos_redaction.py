"""An assessment of scheduling without the names in it."""

from lsmlens.reports.redaction import Redaction
from lsmlens.tuners.qos.assessment import QosAssessment


def redacted(assessment: QosAssessment) -> QosAssessment:
    """The assessment without names of hosts, pools and the like, and without folders; OSDs stay by number."""
    redaction = Redaction()
    material = assessment.view.material
    paths = [material.stored_source, material.ceph_conf_source, material.placement_source]
    paths += [name for name, _ in material.statuses]
    paths += [line.source for line in material.cluster_lines]
    paths += [result.source for result in material.client_results]
    for osd in material.osds:
        paths += [osd.config_show_source, osd.config_diff_source, osd.metadata_source]
        paths += [name for name, _ in osd.queue_states]
        paths += [dump.source for dump in osd.perf_dumps]
        paths += [line.source for line in osd.lines]
        if osd.run is not None:
            redaction.learn_companions(osd.run)
        redaction.learn_run(osd.name)
    for path in sorted({path for path in paths if path}):
        redaction.learn_path(path)
    return redaction.of(assessment)
