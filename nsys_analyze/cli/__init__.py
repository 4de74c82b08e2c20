"""The command line: one file a verb, each of which parses, calls the API and picks a view."""

from __future__ import annotations

from collections.abc import Sequence

INTERRUPTED = 130  # as shells say it: 128 and the number of SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code; see `nsys_analyze.cli.app.main`."""
    try:
        from nsys_analyze.cli import app
    except KeyboardInterrupt:
        return INTERRUPTED
    return app.main(arguments)
