"""What frames the tables: the facts that head a report, how much of it they cover, what a reader must know."""

from __future__ import annotations

from collections import Counter

from nsys_analyze.metrics import results
from nsys_analyze.metrics.results import Coverage, ReportInfo
from nsys_analyze.views import units
from nsys_analyze.views.document import Note, Remarks
from nsys_analyze.views.naming import process_name
from nsys_analyze.views.tables import Report
from nsys_analyze.views.text import visible

_NOTES = 12  # findings on a page; the rest is counted
_PROCESSES = 3  # process names in a heading
_REASONS = {
    "no_launch_row": "with no launch in the report (launched before the capture began)",
    "outside_ranges": "launched while no range was open",
    "ambiguous_thread": "launched by a thread without ranges while several others had one open",
}
_SAID = {reason.replace("_", "-") for reason in _REASONS}  # findings that the sentence on coverage tells already


def heading(report: Report) -> list[str]:
    """Returns the facts that head a report: file, GPUs, versions, processes, length."""
    info = report.analysis.report
    facts = [
        report.label,
        *_gpus(info),
        f"driver {_release(info.driver)}" if info.driver else "",
        f"nsys {_release(info.nsys_version)}" if info.nsys_version else "",
        _processes(info),
        f"{units.duration(info.duration_ns)} captured" if info.duration_ns else "",
    ]
    return [visible(fact) for fact in facts if fact]


def remarks(report: Report, *, several: bool) -> Remarks:
    """Returns what follows the tables: coverage in sentences, then warnings, then notes."""
    findings = sorted(_findings(report.analysis), key=lambda finding: finding.level != "warning")
    notes = [_note(finding) for finding in findings[:_NOTES]]
    if len(findings) > _NOTES:
        rest = f"{len(findings) - _NOTES:,} more warnings and notes: --format json lists all"
        notes.append(Note(level="note", code="more", message=rest))
    return Remarks(heading=report.label if several else "", sentences=_coverage(report.analysis.coverage), notes=notes)


def _findings(analysis: results.Analysis) -> list[results.Notice]:
    """What a page must add: not what the coverage says already, nor notes on stages that were not asked for."""
    keys = {stage.key for stage in analysis.stages}
    return [
        finding
        for finding in analysis.warnings
        if finding.code not in _SAID and (finding.level == "warning" or finding.stage is None or finding.stage in keys)
    ]


def told(finding: results.Notice) -> str:
    """Returns a finding in words: a sentence that begins with what is counted, not with "the", gets the count."""
    counts = finding.count is not None and not finding.message.startswith("the ")
    return visible(f"{finding.count:,} {finding.message}" if counts else finding.message)


def _note(finding: results.Notice) -> Note:
    return Note(level=visible(finding.level), code=visible(finding.code), message=told(finding))


def _gpus(info: ReportInfo) -> list[str]:
    counted = Counter(gpu.name for gpu in info.gpus)
    return [name if number == 1 else f"{number} x {name}" for name, number in counted.items()]


def _release(version: str) -> str:
    """The first two parts of a version."""
    return ".".join(version.split(".")[:2])


def _processes(info: ReportInfo) -> str:
    counted = Counter(process_name(process.name, process.pid) for process in info.processes)
    if len(counted) > _PROCESSES:
        return f"{len(info.processes)} processes"
    return ", ".join(name if number == 1 else f"{number} x {name}" for name, number in counted.items())


def _coverage(coverage: Coverage) -> list[str]:
    if not coverage.gpu_ops:
        return ["Covered: nothing, as the report holds no GPU operation."]
    sentences = [_covered(coverage)]
    missing = [_missing(coverage, reason, text) for reason, text in _REASONS.items() if getattr(coverage, reason)]
    if missing:
        sentences.append(f"Not covered: {'; '.join(missing)}.")
    return sentences


def _covered(coverage: Coverage) -> str:
    part = coverage.attributed_share
    of_time = "" if part is None else f", {units.share(part)} of GPU time"
    how = f"{coverage.process:,} of them by way of their process's main thread"
    if not coverage.process:
        how = "all by the launching thread" if coverage.attributed else "none belongs to a range"
    return f"Covered: {coverage.attributed:,} of {coverage.gpu_ops:,} GPU operations{of_time} ({how})."


def _missing(coverage: Coverage, reason: str, text: str) -> str:
    said = f"{getattr(coverage, reason):,} {text}"
    return f"{said}: {units.duration(getattr(coverage.gpu_time_ns, reason))}" if coverage.gpu_time_ns else said
