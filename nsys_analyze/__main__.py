"""``python -m nsys_analyze``: the command, where its script is not on the PATH."""

import sys

from nsys_analyze.cli import main

sys.exit(main())
