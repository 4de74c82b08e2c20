"""The command line: one file a verb, each of which parses, calls the API and picks a view."""

from nsys_analyze.cli.app import main

__all__ = ["main"]
