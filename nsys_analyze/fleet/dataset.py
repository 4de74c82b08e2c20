"""Reads the dataset of stages: batch by batch, and of it only the columns and stages that a summary is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nsys_analyze.errors import UsageError
from nsys_analyze.fleet.columns import QUANTITY_COLUMNS
from nsys_analyze.fleet.task import UNKNOWN_DATE
from nsys_analyze.metrics.patterns import matches, near_names
from nsys_analyze.verdict.fleet import Cohort, FleetStage

if TYPE_CHECKING:
    import pandas as pd

_MOST = 5  # loops, and other stages of the top level, of a cohort
_ELEMENT, _FIELD, _NULL = "\x1f", "\x1e", "\0"  # what separates elements of a path, and parts of an identity
_BATCHES = 64  # whose sums are added up at once
_FILES = 200  # of a dataset at once: it remembers what it read of each
_OF_LOOPS = ("pace", "cpu_overhead", "gpu_active", "startup_gap", "startup_gap_exposed", "kernels")
_OF_OTHERS = ("wall", "compile_time", "startup_gap", "gpu_active")
_IDENTITY = [*Cohort._fields, "path", "domains"]
_SUMS = [("report", "count"), ("pace_ns", "count"), ("active_ns", "sum"), ("wall_total_ns", "sum")]


def chosen(folder: Path, patterns: Sequence[str]) -> list[FleetStage]:
    """Returns the stages to speak of: of each cohort the loops with most GPU time and what its top level consists of.

    With ``patterns``, those that match instead.

    Raises:
        UsageError: A pattern matches no stage.
    """
    used = _used(folder)
    if patterns:
        return _matching(list(used), patterns)
    found: list[FleetStage] = []
    for cohort in dict.fromkeys(stage.cohort for stage in used):
        own = {stage: use for stage, use in used.items() if stage.cohort == cohort and use["report_count"] > 1}
        loops = sorted((stage for stage in own if stage.loop), key=lambda stage: -(own[stage]["active_ns_sum"] or 0))
        tops = [stage for stage in own if not stage.loop and len(stage.path) == 1]
        tops.sort(key=lambda stage: -(own[stage]["wall_total_ns_sum"] or 0))
        found += [*loops[:_MOST], *tops[:_MOST]]
    return found


def rows_of(folder: Path, stages: Sequence[FleetStage]) -> Iterator[tuple[FleetStage, pd.DataFrame]]:
    """Yields the numbers of each stage, a row a report and process: see `nsys_analyze.verdict.fleet.summarise`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    stage_of = {_identity(stage): stage for stage in stages}
    wanted = pa.array(list(stage_of), pa.string())
    names = ["file", "host", "rank", "date"]
    batches = _batches(folder, [*names, *QUANTITY_COLUMNS.values()])
    kept = [batch.filter(pc.is_in(batch["identity"], wanted)) for batch in batches]
    if not kept:
        return
    frame = pa.concat_tables(kept).to_pandas()
    groups = {str(identity): rows for identity, rows in frame.groupby("identity", sort=False)}
    for identity, stage in stage_of.items():
        rows = groups[identity]
        asked = _OF_LOOPS if stage.loop else _OF_OTHERS
        columns = {"file": "report", **{QUANTITY_COLUMNS[name]: name for name in asked}}
        yield stage, _texts(rows[[*names, *(QUANTITY_COLUMNS[name] for name in asked)]].rename(columns=columns))


def _texts(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with ranks as texts, like everything that rows are told apart by, and without days that nobody tells."""
    dates = rows["date"].where(rows["date"] != UNKNOWN_DATE)
    return rows.assign(rank=rows["rank"].astype("Int64").astype("string"), date=dates)


def _batches(folder: Path, columns: Sequence[str]) -> Iterator[Any]:
    """The dataset as small tables: these columns, and what a row is about as one text, ``identity``."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    partitioning = ds.partitioning(pa.schema([("date", pa.string())]), flavor="hive")
    files = sorted(map(str, folder.rglob("*.parquet")))
    for start in range(0, len(files), _FILES):
        some = files[start : start + _FILES]
        dataset = ds.dataset(some, format="parquet", partitioning=partitioning, partition_base_dir=str(folder))
        for batch in dataset.to_batches(columns=list(dict.fromkeys([*_IDENTITY, *columns]))):
            table = pa.table(batch)
            texts = [table[name] for name in Cohort._fields]
            texts += [pc.binary_join(table[name], _ELEMENT) for name in ("path", "domains")]
            identity = pc.binary_join_element_wise(*texts, _FIELD, null_handling="replace", null_replacement=_NULL)
            yield table.select(columns).append_column("identity", identity)


def _used(folder: Path) -> dict[FleetStage, dict[str, Any]]:
    """Every stage with how many rows it has, how many of them have a pace, and GPU and wall time in all."""
    sums: list[Any] = []
    for batch in _batches(folder, [name for name, _ in _SUMS]):
        sums.append(batch.group_by("identity").aggregate(_SUMS))
        if len(sums) == _BATCHES:
            sums = [_added(sums)]
    rows = _added(sums).sort_by("identity").to_pylist() if sums else []
    return {_stage(row): row for row in rows}


def _added(sums: Sequence[Any]) -> Any:
    """Sums of sums, under the names that they had."""
    import pyarrow as pa

    names = [f"{name}_{how}" for name, how in _SUMS]
    added = pa.concat_tables(sums).group_by("identity").aggregate([(name, "sum") for name in names])
    return added.rename_columns(["identity", *names])


def _matching(stages: Sequence[FleetStage], patterns: Sequence[str]) -> list[FleetStage]:
    found: dict[FleetStage, None] = {}
    for pattern in patterns:
        hits = [stage for stage in stages if matches(pattern, stage.path, stage.domains)]
        if not hits:
            near = ", ".join(near_names(pattern, [list(stage.path) for stage in stages])) or "there are no stages"
            raise UsageError(f"--stage {pattern}: matches no stage (nearest: {near})")
        found |= dict.fromkeys(hits)
    return list(found)


def _stage(row: Mapping[str, Any]) -> FleetStage:
    *cohort, path, domains = row["identity"].split(_FIELD)
    return FleetStage(
        cohort=Cohort(*(None if part == _NULL else part for part in cohort)),
        path=tuple(path.split(_ELEMENT)),
        domains=tuple(domains.split(_ELEMENT)),
        loop=row["pace_ns_count"] * 2 > row["report_count"],
    )


def _identity(stage: FleetStage) -> str:
    cohort = [_NULL if part is None else part for part in stage.cohort]
    return _FIELD.join([*cohort, _ELEMENT.join(stage.path), _ELEMENT.join(stage.domains)])
