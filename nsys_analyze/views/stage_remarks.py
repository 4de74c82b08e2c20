"""What stands below a stage's row, phrase by phrase: what its startup gap, wall time and compiling consist of."""

from __future__ import annotations

from nsys_analyze.metrics.breakdown import Kind, Part, Split, code_splits, host_split, phase_split
from nsys_analyze.metrics.results import NamedInstance, Stage
from nsys_analyze.views import units
from nsys_analyze.views.text import path_text, shorten, visible
from nsys_analyze.views.wording import module_phrases, modules, part_name

_NAME_MOST = 40  # columns of a name in a remark
_NOTABLE = 0.01  # share of a time from which a part of it is worth a remark


def gap_remarks(stage: Stage) -> list[list[str]]:
    """Returns how the mean startup gap of a loop splits up."""
    means = stage.gap_means_ns
    if means is None or stage.pace_ns is None:
        return []
    total, prelude, launch, queue = units.split(means.total, [means.prelude, means.launch, means.queue])
    parts = f"mean gap {total} = prelude {prelude} + launch {launch} + queue {queue}"
    return [[parts, *([f"hidden behind earlier work: {units.duration(means.hidden)}"] if means.hidden else [])]]


def loop_remarks(stage: Stage) -> list[list[str]]:
    """Returns how the mean startup gap of a loop splits up, and what a step costs without the profiler."""
    return [*gap_remarks(stage), *unprofiled_remark(stage)]


def unprofiled_remark(stage: Stage) -> list[list[str]]:
    """Returns what is left of CPU overhead without the profiler, where an instance's time without it was stated."""
    time, overhead, share = stage.unprofiled_ns, stage.unprofiled_cpu_overhead_ns, stage.profiler_share_ns
    if time is None or share is None:
        return []
    texts = [str(number) for number in units.durations([time, overhead, abs(share)], [stage.typical_ns])]
    stated = f"{texts[0]} unprofiled"
    if overhead is not None:
        (per_kernel,) = units.microseconds([stage.unprofiled_overhead_per_kernel_ns])
        stated += f": CPU overhead {texts[1]}" + (f", {per_kernel} us/kernel" if per_kernel else "")
    return [[stated, f"the profiler {'adds' if share >= 0 else 'seems to save'} {texts[2]} each time"]]


def start_remarks(stage: Stage) -> list[list[str]]:
    """Returns what filled a stage's wall time, what of it compilers did, and how much was the profiler's own."""
    return [*_host_remark(stage), *_compile_remark(stage), *_profiler_remark(stage), *unprofiled_remark(stage)]


def look_remarks(stage: Stage) -> list[list[str]]:
    """Returns where in the Nsight Systems GUI to look: at the instance that stands for the stage, and at the worst."""
    middle, worst = stage.median_instance, stage.worst_instance
    if middle is None or worst is None:
        return []
    return [[f"look at: median {_place(middle)}", f"worst {_place(worst)}"]]


def _place(instance: NamedInstance) -> str:
    name = shorten(path_text([instance.name]), _NAME_MOST)
    return f"`{name}` at {units.instants([instance.start_ns])[0]}"


def code_remarks(stage: Stage) -> list[list[str]]:
    """Returns what host code consists of, as means over the instances; samples are counted and not timed."""
    remarks = []
    for split in code_splits(stage):
        if split.kind is Kind.SAMPLED:
            phrases = [f"{_function(part)} {units.share(part.share)}" for part in split.parts]
            count = f"{split.whole.time:,.0f} sample{'' if split.whole.time == 1 else 's'}"
            remarks.append([f"{count}: {phrases[0]}", *phrases[1:]])
        elif [part.name for part in split.parts] == ["unknown"]:
            remarks.append(["the capture does not tell what the thread did"])
        else:
            phrases = [f"{_function(part)} {units.duration(part.time)}" for part in split.per_instance().parts]
            remarks.append([f"blocked: {phrases[0]}" if split.kind is Kind.BLOCKED else phrases[0], *phrases[1:]])
    return remarks


def _function(part: Part) -> str:
    return shorten(visible(part.name), _NAME_MOST)


def _host_remark(stage: Stage) -> list[list[str]]:
    """What filled a stage's wall time, unless it was one thing only and nothing was compiled."""
    split, compiling = host_split(stage), stage.compile_ns
    some = compiling is not None and compiling.total > 0
    phrases = _phrases(split, only_loading=stage.only_loads) if split else []
    if len(phrases) < (1 if some else 2):
        return []
    return [[f"filled by {phrases[0]}", *phrases[1:]]]


def _compile_remark(stage: Stage) -> list[list[str]]:
    """What compilers did, where they left a trace."""
    split, compiling = phase_split(stage), stage.compile_ns
    if split is None or compiling is None:
        return []
    if compiling.only_loading:
        return [[f"loaded: {modules(compiling.modules)}"]] if compiling.modules else []
    threads = f", {units.duration(split.whole.time)} of thread time" if split.whole.united_if_less else ""
    phrases = _phrases(split)
    return [[f"compiling{threads}: {phrases[0]}", *phrases[1:], *module_phrases(compiling)]]


def _phrases(split: Split, *, only_loading: bool = False) -> list[str]:
    """The parts that matter, each with its time."""
    notable = [part for part in split.parts if part.share > _NOTABLE]
    names = [part_name(split.kind, part.name, only_loading=only_loading) for part in notable]
    return [f"{name} {units.duration(part.time)}" for name, part in zip(names, notable, strict=True)]


def _profiler_remark(stage: Stage) -> list[list[str]]:
    """How much of the time before the first GPU work was the profiler's own, and what it is without that."""
    gap = stage.startup_gap_ns
    if gap is None or gap.profiler < _NOTABLE * gap.total or not gap.profiler:
        return []
    profiler, total, net = (units.duration(time) for time in (gap.profiler, gap.total, gap.without_profiler))
    return [[f"the profiler's own work: {profiler} of the {total} before the first GPU work", f"{net} without"]]
