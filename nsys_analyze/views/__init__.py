"""Draws results: one module per format, and none of them computes a number."""
