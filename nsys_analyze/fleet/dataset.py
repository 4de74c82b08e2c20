"""Reads the dataset of stages: batch by batch, and of it only the columns and stages that a summary is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
_SEPARATOR = "\x1f"  # of the elements of a path, within a batch
_OF_LOOPS = ("pace", "cpu_overhead", "gpu_active", "startup_gap", "startup_gap_exposed", "kernels")
_OF_OTHERS = ("wall", "compile_time", "startup_gap", "gpu_active")
_COHORT = list(Cohort._fields)
_IDENTITY = [*_COHORT, "path", "domains"]
_SUMS = [("report", "count"), ("pace_ns", "count"), ("active_ns", "sum"), ("wall_total_ns", "sum")]


def chosen(folder: Path, patterns: Sequence[str]) -> list[FleetStage]:
    """Returns the stages to speak of: of each cohort the loops with most GPU time and what its top level consists of.

    With ``patterns``, those that match instead.

    Raises:
        UsageError: A pattern matches no stage.
    """
    used = _used(folder)
    if patterns:
        return [_stage(row) for row in _matching(used, patterns)]
    found: list[FleetStage] = []
    cohorts = dict.fromkeys(_cohort(row) for row in used)
    for cohort in cohorts:
        own = [row for row in used if _cohort(row) == cohort and row["report_count"] > 1]
        loops = sorted((row for row in own if _is_loop(row)), key=lambda row: -(row["active_ns_sum"] or 0))
        tops = [row for row in own if not _is_loop(row) and _SEPARATOR not in row["path"]]
        tops.sort(key=lambda row: -(row["wall_total_ns_sum"] or 0))
        found += [_stage(row) for row in (*loops[:_MOST], *tops[:_MOST])]
    return found


def rows_of(folder: Path, stages: Sequence[FleetStage]) -> Iterator[tuple[FleetStage, pd.DataFrame]]:
    """Yields the numbers of each stage, a row a report and process: see `nsys_analyze.verdict.fleet.summarise`."""
    import pandas as pd

    identity_of = {_identity(stage): stage for stage in stages}
    pieces: dict[FleetStage, list[pd.DataFrame]] = {stage: [] for stage in stages}
    names = ["file", "host", "rank", "date"]
    for batch in _batches(folder, [*names, *QUANTITY_COLUMNS.values()]):
        frame = batch.to_pandas()
        keys = list(zip(*(frame[name] for name in _IDENTITY), strict=True))
        frame["stage"] = [identity_of.get(tuple(None if pd.isna(part) else part for part in key)) for key in keys]
        for stage, rows in frame[frame["stage"].notna()].groupby("stage", sort=False):
            asked = _OF_LOOPS if stage.loop else _OF_OTHERS
            columns = {"file": "report", **{QUANTITY_COLUMNS[name]: name for name in asked}}
            pieces[stage].append(rows[[*names, *(QUANTITY_COLUMNS[name] for name in asked)]].rename(columns=columns))
    for stage, found in pieces.items():
        if found:
            yield stage, _texts(pd.concat(found, ignore_index=True))


def _texts(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with ranks as texts, like everything that rows are told apart by, and without days that nobody tells."""
    dates = rows["date"].where(rows["date"] != UNKNOWN_DATE)
    return rows.assign(rank=rows["rank"].astype("Int64").astype("string"), date=dates)


def _batches(folder: Path, columns: Sequence[str]) -> Iterator[Any]:
    """The dataset as small tables, with paths and domains joined to texts."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    partitioning = ds.partitioning(pa.schema([("date", pa.string())]), flavor="hive")
    dataset = ds.dataset(folder, format="parquet", partitioning=partitioning)
    wanted = list(dict.fromkeys([*_IDENTITY, *columns]))
    for batch in dataset.to_batches(columns=wanted, batch_readahead=2, fragment_readahead=2):
        table = pa.table(batch)
        for name in ("path", "domains"):
            place = table.schema.get_field_index(name)
            table = table.set_column(place, name, pc.binary_join(table[name], _SEPARATOR))
        yield table


def _used(folder: Path) -> list[dict[str, Any]]:
    """Every stage with how many rows it has, how many of them have a pace, and GPU and wall time in all."""
    import pyarrow as pa

    total = None
    for batch in _batches(folder, [name for name, _ in _SUMS]):
        part = batch.group_by(_IDENTITY).aggregate(_SUMS)
        total = part if total is None else _added(pa.concat_tables([total, part]))
    return total.sort_by([(name, "ascending") for name in _IDENTITY]).to_pylist() if total is not None else []


def _added(parts: Any) -> Any:
    """Sums of sums, under the names that they had."""
    names = [f"{name}_{how}" for name, how in _SUMS]
    added = parts.group_by(_IDENTITY).aggregate([(name, "sum") for name in names])
    return added.rename_columns([*_IDENTITY, *names])


def _matching(used: Sequence[dict[str, Any]], patterns: Sequence[str]) -> list[dict[str, Any]]:
    stages = [_stage(row) for row in used]
    hits = {pattern: [matches(pattern, stage.path, stage.domains) for stage in stages] for pattern in patterns}
    for pattern, hit in hits.items():
        if not any(hit):
            near = ", ".join(near_names(pattern, [list(stage.path) for stage in stages])) or "there are no stages"
            raise UsageError(f"--stage {pattern}: matches no stage (nearest: {near})")
    return [row for place, row in enumerate(used) if any(hit[place] for hit in hits.values())]


def _cohort(row: dict[str, Any]) -> Cohort:
    return Cohort(*(row[name] for name in _COHORT))


def _is_loop(row: dict[str, Any]) -> bool:
    return bool(row["pace_ns_count"] * 2 > row["report_count"])


def _stage(row: dict[str, Any]) -> FleetStage:
    return FleetStage(
        cohort=_cohort(row),
        path=tuple(row["path"].split(_SEPARATOR)),
        domains=tuple(row["domains"].split(_SEPARATOR)),
        loop=_is_loop(row),
    )


def _identity(stage: FleetStage) -> tuple[str | None, ...]:
    return (*stage.cohort, _SEPARATOR.join(stage.path), _SEPARATOR.join(stage.domains))
