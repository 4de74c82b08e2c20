"""Questions about the capture itself: whether it is whole, what it cost, where it was made."""

from __future__ import annotations

from nsys_analyze.doctor.answers import EXPORT_AGAIN, Finding, no, partly, yes
from nsys_analyze.doctor.patient import Patient, sentence
from nsys_analyze.durations import duration_text
from nsys_analyze.metrics.versions import conflicts, dotted, is_older_than_driver, newest_cuda, version
from nsys_analyze.metrics.wording import listed, worded

_SCHEMAS = (2, 3)  # major versions that are known
_CUT = ("unfinished-ranges", "cut-by-start", "cut-by-end", "no-launch-row", "launches-at-the-end")
_MENDED = ("missing-column", "absurd-times", "endless-kernels", "reversed-times", "clock-skew")


def file(patient: Patient) -> Finding:
    """Whether the file is what nsys wrote."""
    if patient.damage:
        return no(f"damaged: {patient.damage}", remedy=EXPORT_AGAIN)
    doubts = [*_doubts(patient), *map(sentence, patient.said(*_MENDED))]
    return partly("; ".join(doubts), remedy=EXPORT_AGAIN) if doubts else yes("nothing is damaged or missing")


def _doubts(patient: Patient) -> list[str]:
    schema = patient.analysis.report.export_schema
    numbers = version(schema)
    doubts = {
        "it is too large to be checked in a few seconds": patient.damage is None,
        "its export was not finished: rows lay in a -wal or -journal file beside it": patient.unsettled,
        f"its schema {schema} is unknown": numbers is not None and numbers[0] not in _SCHEMAS,
    }
    return [doubt for doubt, applies in doubts.items() if applies]


def window(patient: Patient) -> Finding:
    """Whether the edges of the capture cut something."""
    opened, found = patient.report.metadata.window, patient.said(*_CUT)
    began = [f"the capture was started by {opened}"] if opened else []
    if not found:
        return yes("; ".join(began) or "no range and no operation is cut by its edges")
    more = f" ({worded('{count} more finding[|s] of this kind', len(found) - 1)})" if len(found) > 1 else ""
    why = "; ".join([*began, sentence(found[0]) + more])
    if opened:
        return partly(why, remedy="stop the capture between two steps")
    return partly(why, remedy="let the program end by itself, or capture whole steps: --capture-range=cudaProfilerApi")


def profiler_cost(patient: Patient) -> Finding:
    """Whether the profiler's own cost is known."""
    remedy = "time a step without nsys and state it: --unprofiled step=TIME"
    if not patient.inspection.has("PROFILER_OVERHEAD"):
        return no("the report does not tell of the profiler's own work", remedy=remedy)
    took = sum(program.profiler_ns for program in patient.analysis.programs)
    return partly(f"{duration_text(took)} of its own work; not what it adds to each call and range", remedy=remedy)


def environment(patient: Patient) -> Finding:
    """Whether the report says where it was made."""
    info, variables = patient.analysis.report, patient.inspection.variables
    known = {"GPUs": bool(info.gpus), "CPU": bool(info.cpu), "driver": bool(info.driver)}
    there = [name for name, found in known.items() if found]
    missing = ", ".join(name for name, found in known.items() if not found)
    if variables:
        there.append(worded("{count} environment variable[|s], which may hold secrets", variables))
    recorded = f"recorded: {', '.join(there)}"
    if not missing:
        return yes(recorded)
    return partly(f"{recorded}; not: {missing}") if there else no(f"not recorded: {missing}")


def versions(patient: Patient) -> Finding:
    """Whether nsys, the driver and packages are known to work together."""
    text, driver = patient.analysis.report.nsys_version, patient.report.metadata.cuda_driver
    nsys = version(text)
    if nsys is None:
        return partly("the report names no version of nsys")
    newest = newest_cuda(nsys)
    if is_older_than_driver(nsys, driver) and newest and driver:
        why = f"nsys {text} knows CUDA up to {dotted(newest)}, and the driver is of CUDA {dotted(driver)}"
        return partly(why, remedy="take an nsys as new as the driver")
    known = conflicts(nsys)
    if known:
        names = listed([f"{each.package} {dotted(each.since)} and later ({each.effect})" for each in known])
        newer = dotted(max(each.nsys_before for each in known))
        return partly(f"nsys {text} does not work with {names}", remedy=f"take nsys {newer} or newer")
    return yes(f"nothing is known against nsys {text}")


def nsys_itself(patient: Patient) -> Finding:
    """What nsys said while it captured."""
    errors, warned = patient.said("nsys-error"), patient.said("nsys-warning")
    if errors:
        return no(worded("{count} error[|s]; {first}", len(errors), first=errors[0].message))
    if warned:
        return partly(worded("{count} warning[|s]; {first}", len(warned), first=warned[0].message))
    if not patient.inspection.has("DIAGNOSTIC_EVENT"):
        return partly("the report holds no diagnostics; those of nsys 2024 and later do")
    return yes("no warning and no error")
