"""``python -m nsys_analyze``: the command, where its script is not on the PATH."""

from nsys_analyze.cli import main

main()
