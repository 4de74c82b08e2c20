"""Columns of what a report holds: processes, threads, ranges, calls, launches and GPU operations."""
