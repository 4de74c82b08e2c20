"""The public door to one report: open it, then ask for stages, ranges, launches or operations."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nsys_analyze.attribution import Attribution, Moments, Nesting, attribute, nest
from nsys_analyze.attribution.nesting import without_too_deep
from nsys_analyze.errors import UsageError
from nsys_analyze.ingest.digest import sha256
from nsys_analyze.ingest.events import read_events
from nsys_analyze.ingest.export import open_export
from nsys_analyze.ingest.locate import located
from nsys_analyze.ingest.metadata import Metadata, read_metadata
from nsys_analyze.ingest.session import Session, read_session
from nsys_analyze.instances import Instances, Paths, build_instances
from nsys_analyze.instances.host_code import HostCode, host_code
from nsys_analyze.metrics.analysis import analyse
from nsys_analyze.metrics.kernels import analyse_kernels
from nsys_analyze.metrics.patterns import matches, near_names
from nsys_analyze.metrics.results import Analysis, KernelAnalysis, Settings
from nsys_analyze.metrics.unprofiled import check_patterns, with_unprofiled
from nsys_analyze.model.build import build_trace
from nsys_analyze.model.compile_rules import CompileRule, with_user_rules
from nsys_analyze.model.evidence import Evidence, find_evidence
from nsys_analyze.model.folding import compile_patterns
from nsys_analyze.model.ranges import RangeOptions
from nsys_analyze.model.tables import Trace

if TYPE_CHECKING:
    import pandas as pd

Rule = Literal["process", "thread"]
By = Literal["path", "name"]
KernelsBy = Literal["name", "label", "operation"]


def open_report(
    path: str | os.PathLike[str],
    *,
    attribution: Rule = "process",
    fold: bool = True,
    fold_patterns: Sequence[str] = (),
    domains: Iterable[str] | None = None,
    compile_rules: str | os.PathLike[str] | None = None,
    environment: Iterable[str] = (),
) -> Report:
    """Reads a report; the file is opened read-only, and closed again before this returns.

    Args:
        path: A SQLite export (``.sqlite``, also ``.sqlite.xz``), the folder of a Parquet or Arrow export, or a
            ``.nsys-rep`` where nsys is installed.
        attribution: "process" gives launches from threads without an open range to the main thread's ranges; "thread"
            stops at the launching thread, as NVIDIA's own reports do.
        fold: Whether names that only count (``step 1``, ``step 2``) are one stage.
        fold_patterns: Regular expressions whose matches are removed from names as well.
        domains: NVTX domains to keep; None keeps all. "default" is the domain without a name.
        compile_rules: A TOML file of rules, tried before the packaged ones, that tell compilers' ranges by their names.
        environment: Environment variables, or what their names begin with, to keep beside those known to be harmless;
            the value of one that is named in full is kept, too.

    Raises:
        ReportError: The file is missing, unreadable or not an Nsight Systems export.
        UsageError: An unknown attribution or domain, a bad pattern, bad rules, or a variable that cannot be one.
    """
    if attribution not in ("process", "thread"):
        raise UsageError(f"attribution {attribution!r}: it is 'process' or 'thread'")
    options = RangeOptions(
        domains=None if domains is None else _listed(domains),
        fold=fold,
        patterns=compile_patterns(_listed(fold_patterns)),
    )
    rules = with_user_rules(None if compile_rules is None else Path(compile_rules))
    with located(path) as sqlite, open_export(sqlite, path) as export:
        events, metadata = read_events(export), read_metadata(export, _listed(environment))
        session = read_session(export)
    trace = without_too_deep(build_trace(events, options))
    settings = Settings(
        attribution=attribution,
        folding=_folding(fold, _listed(fold_patterns)),
        domain=None if options.domains is None else list(options.domains),
        compile_rules=None if compile_rules is None else Path(compile_rules).name,
    )
    return Report(Path(path), trace, metadata, settings, rules, session)


def _listed(strings: Iterable[str]) -> tuple[str, ...]:
    """Several strings, or the one that somebody gave instead."""
    return (strings,) if isinstance(strings, str) else tuple(strings)


def _folding(fold: bool, patterns: Sequence[str]) -> str:
    return ", ".join(["default" if fold else "none", *patterns])


@dataclass(frozen=True)
class Report:
    """One report in memory. Everything is computed when first asked for, and once.

    Attributes:
        path: The file that was opened.
        trace: All tables, as arrays.
        metadata: What the report says of itself.
        settings: How the numbers are made.
        rules: Which names of ranges tell of compiling.
        session: Where and when it was captured.
    """

    path: Path
    trace: Trace
    metadata: Metadata
    settings: Settings
    rules: tuple[CompileRule, ...]
    session: Session

    @cached_property
    def nesting(self) -> Nesting:
        """Parents of the ranges, on their own threads and across threads."""
        return nest(self.trace.ranges, self.trace.threads, self.settings.attribution)

    @cached_property
    def launched(self) -> Attribution:
        """Where the launches belong."""
        launches = self.trace.launches
        return self._attribute(Moments(launches.thread, launches.start))

    @cached_property
    def evidence(self) -> Evidence:
        """Evidence of compiling and loading."""
        return find_evidence(self.trace, self.rules)

    @cached_property
    def compiled(self) -> Attribution:
        """Where the evidence of compiling belongs."""
        return self._attribute(Moments(self.evidence.thread, self.evidence.start))

    def _attribute(self, moments: Moments) -> Attribution:
        return attribute(moments, self.trace, self.nesting, self.settings.attribution)

    @cached_property
    def _instances_and_paths(self) -> tuple[Instances, Paths]:
        return build_instances(self.trace, self.nesting, self.launched, self.evidence, self.compiled)

    @property
    def instances(self) -> Instances:
        """One row a range, in the order of the trace's ranges."""
        return self._instances_and_paths[0]

    @cached_property
    def host_code(self) -> HostCode | None:
        """What the host code of every instance consists of, None where the capture does not tell."""
        trace, worked = self.trace, [self.launched, self.compiled]
        if trace.host is None:
            return None
        return host_code(trace, self.evidence, self.nesting, worked, trace.host)

    @property
    def paths(self) -> Paths:
        """The paths that instances name."""
        return self._instances_and_paths[1]

    def analysis(
        self,
        by: By = "path",
        *,
        instances: bool = False,
        digest: bool = False,
        unprofiled: Mapping[str, int] | None = None,
    ) -> Analysis:
        """Everything that is said about the report: the JSON contract as values.

        Args:
            by: "path" for a row a stage, "name" for a row a name whatever its path.
            instances: Whether to list every instance too.
            digest: Whether to take the report's SHA-256.
            unprofiled: What an instance takes without a profiler, ns, by a pattern of stages such as "steady/step".

        Raises:
            UsageError: A pattern matches no stage.
        """
        analysis = analyse(self, by, instances, sha256(self.path) if digest else None)
        if not unprofiled:
            return analysis
        check_patterns(unprofiled, analysis.stages)
        return replace(analysis, stages=with_unprofiled(analysis.stages, unprofiled))

    def kernel_analysis(
        self, analysis: Analysis | None = None, by: KernelsBy = "name", *, outside: bool = False
    ) -> KernelAnalysis:
        """What stages put on the GPU, as values.

        Args:
            analysis: An analysis of this report by path, whose stages are taken; `dataclasses.replace` leaves some out.
                None takes all stages.
            by: "name" for a row a kernel (a kind of copy, ...), "label" for a row a range inside the stage, "operation"
                for a row an operation that such ranges call.
            outside: Whether to add, for each process, what belongs to no range: the whole program where it has none.

        Raises:
            UsageError: An unknown ``by``.
        """
        if by not in ("name", "label", "operation"):
            raise UsageError(f"by {by!r}: it is 'name', 'label' or 'operation'")
        return analyse_kernels(self, analysis or self.analysis(), by, outside=outside)

    def kernels(self, by: KernelsBy = "name", stage: str | None = None) -> pd.DataFrame:
        """One row a stage and kernel, or label, or operation; see `nsys_analyze.frames.kernels` for the columns.

        Args:
            by: As in `kernel_analysis`.
            stage: A pattern, as ``--stage`` takes it; the stages it matches are taken. None takes all of them, and what
                belongs to no range.

        Raises:
            UsageError: An unknown ``by``, or a pattern that matches no stage.
        """
        from nsys_analyze import frames

        analysis = _only(self.analysis(), stage)
        return frames.kernels(self.kernel_analysis(analysis, by, outside=stage is None))

    def stages(self, by: By = "path", stage: str | None = None) -> pd.DataFrame:
        """One row a stage (or a name), parents before children; see `nsys_analyze.frames.stages` for the columns.

        Args:
            by: As in `analysis`.
            stage: A pattern, as ``--stage`` takes it; only the stages it matches have a row. None takes all of them.

        Raises:
            UsageError: A pattern that matches no stage.
        """
        from nsys_analyze import frames

        return frames.stages(_only(self.analysis(by), stage))

    def ranges(self) -> pd.DataFrame:
        """One row an NVTX range with all of its numbers; see `nsys_analyze.frames.ranges`."""
        from nsys_analyze import frames

        return frames.ranges(self)

    def launches(self) -> pd.DataFrame:
        """One row a launch; see `nsys_analyze.frames.launches`."""
        from nsys_analyze import frames

        return frames.launches(self)

    def gpu_ops(self) -> pd.DataFrame:
        """One row a GPU operation, with how it was attributed; see `nsys_analyze.frames.gpu_ops`."""
        from nsys_analyze import frames

        return frames.gpu_ops(self)


def _only(analysis: Analysis, pattern: str | None) -> Analysis:
    """The analysis with the stages that a pattern matches, without what lies below them; None leaves it whole."""
    if pattern is None:
        return analysis
    chosen = [each for each in analysis.stages if matches(pattern, each.path, each.domains)]
    if not chosen:
        near = ", ".join(near_names(pattern, [each.path for each in analysis.stages]))
        raise UsageError(f"stage {pattern!r}: matches no stage (nearest: {near or 'there are no stages'})")
    return replace(analysis, stages=chosen)
