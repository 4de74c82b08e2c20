"""Keeps runs in a database: what their reports told, and what became of them."""
