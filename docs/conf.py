"""How Sphinx builds the site: ``make site``. Pages are Markdown, so that they read well without it."""

from __future__ import annotations

import re
from pathlib import Path

_version = Path(__file__).parent.parent / "nsys_analyze" / "_version.py"

project = "nsys-analyze"
project_copyright = "the authors of nsys-analyze"
release = re.findall(r'"(.+?)"', _version.read_text(encoding="utf-8"))[-1]
extensions = ["myst_parser"]
myst_heading_anchors = 4
exclude_patterns = ["conf.py"]
html_theme = "furo"
html_title = "nsys-analyze"
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["wide.css"]
