"""Finds an export, learns its schema and reads its columns; the only room that knows SQL."""
