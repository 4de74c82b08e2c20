"""Ranges around operations: which ones, and how each executor is made to open them."""
