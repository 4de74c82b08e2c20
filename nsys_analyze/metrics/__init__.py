"""Group-bys of instances: stages, names, series, and what is said about the capture."""
