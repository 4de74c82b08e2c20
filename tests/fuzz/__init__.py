"""Wrong and hostile reports, made of sound ones, and what the command must do with each; see `python -m tests.fuzz`."""
