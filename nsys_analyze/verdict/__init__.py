"""Judges numbers: what differs between reports, and whether that is too much."""
