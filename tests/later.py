"""Copies of a report in which the program did some things later, as if it had been slower there."""

from __future__ import annotations

import shutil
import sqlite3
from bisect import bisect_right
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HOST = ("CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD")
GPU = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET")


def later(report: Path, copy: Path, moments: Sequence[int], delay: int) -> Path:
    """Copy a report; from each moment on, everything the host does comes later, and GPU work as much as its launch."""
    shutil.copyfile(report, copy)
    moments = sorted(moments)
    with closing(sqlite3.connect(copy)) as connection, connection:
        there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        calls = connection.execute("SELECT correlationId, start FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchall()
        launched = {correlation: delay * bisect_right(moments, start) for correlation, start in calls}
        connection.create_function("later", 1, lambda at: at and at + delay * bisect_right(moments, at))
        connection.create_function("launched", 1, lambda correlation: launched.get(correlation, 0))
        for table in there & set(HOST):
            connection.execute(f"UPDATE {table} SET start = later(start), end = later(end)")
        for table in there & set(GPU):
            connection.execute(f"UPDATE {table} SET start = start + launched(correlationId)")
            connection.execute(f"UPDATE {table} SET end = end + launched(correlationId)")
    return copy


def first_launches(report: Path, stage: str) -> list[int]:
    """When the first launch of each range of that name begins."""
    with closing(sqlite3.connect(report)) as connection:
        ranges = connection.execute(
            "SELECT start, end FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId "
            "WHERE coalesce(text, value) = ? AND end IS NOT NULL",
            (stage,),
        ).fetchall()
        starts = [
            start
            for (start,) in connection.execute(
                "SELECT DISTINCT r.start FROM CUPTI_ACTIVITY_KIND_RUNTIME r "
                "JOIN CUPTI_ACTIVITY_KIND_KERNEL k USING (correlationId) ORDER BY r.start"
            )
        ]
    return [min(start for start in starts if begin <= start < end) for begin, end in ranges]
