"""Where and when a report was captured: the machine's name and the wall clock, as far as the report tells."""

from __future__ import annotations

from dataclasses import dataclass

from nsys_analyze.ingest.export import Export
from nsys_analyze.ingest.values import as_text

_EARLIEST, _LATEST = 946_684_800 * 10**9, 2**62  # ns: the year 2000, and what int64 holds with room for a capture


@dataclass(frozen=True, slots=True)
class Session:
    """A capture's place and time.

    ``host`` is the machine's name, None where the report lacks it or had it removed. ``started_at`` is when the
    report's clock was 0, ns since 1970 in UTC by the machine's own wall clock.
    """

    host: str | None
    started_at: int | None


def read_session(export: Export) -> Session:
    """Reads where and when a report was captured."""
    names = [
        as_text(value) for name, value in export.rows("TARGET_INFO_SYSTEM_ENV", "name", "value") if name == "Hostname"
    ]
    starts = [row[0] for row in export.rows("TARGET_INFO_SESSION_START_TIME", "utcEpochNs")]
    return Session(
        host=next((name.strip() for name in names if name and name.strip() and not name.startswith("<")), None),
        started_at=next((at for at in starts if isinstance(at, int) and _EARLIEST <= at < _LATEST), None),
    )
