"""Generated pages are what the code says, and links lead somewhere. ``python -m tests.test_pages`` writes the pages."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import nsys_analyze
from nsys_analyze.cli.app import app
from tests.pages import api_page, cli_page, schema_page

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
DOCUMENTS = [ROOT / "README.md", ROOT / "sample_reports" / "README.md", *sorted(DOCS.glob("*.md"))]
WIDTH = 120
LINK = re.compile(r"(?<!\\)\]\(([^()\s]+)\)")


def pages():
    """Every generated page with its text."""
    with tempfile.TemporaryDirectory() as folder:
        schema = schema_page.render(Path(folder))
    return {DOCS / "cli.md": cli_page.render(), DOCS / "python.md": api_page.render(), DOCS / "schema.md": schema}


def without_code(text):
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def anchors(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_generated_pages_are_up_to_date():
    for path, text in pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: python -m tests.test_pages"


def test_every_verb_and_option_is_in_the_reference():
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    for verb in app.commands.values():
        section = text.split(f"## {verb.name}\n")[1].split("\n## ")[0]
        assert "Examples:" in section
        for option in verb.params:
            if option.param_type_name == "option":
                assert max(option.opts, key=len) in section


def test_every_public_name_is_explained():
    text = (DOCS / "python.md").read_text(encoding="utf-8")
    for name in nsys_analyze.__all__:
        assert f"### `nsys_analyze.{name}" in text
    for name in nsys_analyze.plots.__all__:
        assert f"### `nsys_analyze.plots.{name}`" in text


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    for target in LINK.findall(without_code(document.read_text(encoding="utf-8"))):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        path = (document.parent / name).resolve() if name else document
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_lines_fit(document):
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    long = [line for line in text.splitlines() if len(line) > WIDTH and not line.startswith("|")]
    assert long == []


def test_every_document_is_in_the_site():
    listed = re.search(r"```\{toctree\}.*?```", (DOCS / "index.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    assert set(re.findall(r"^(\w+)$", listed, re.MULTILINE)) == {path.stem for path in DOCS.glob("*.md")} - {"index"}


def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", DOCS, tmp_path]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    pictures = re.findall(r'<img[^>]+src="([^"]+)"', (tmp_path / "plots.html").read_text(encoding="utf-8"))
    assert pictures
    assert all((tmp_path / picture).exists() for picture in pictures)
    outside = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?//')
    assert not any(outside.search(page.read_text(encoding="utf-8")) for page in tmp_path.glob("*.html"))


if __name__ == "__main__":
    for written, content in pages().items():
        written.write_text(content, encoding="utf-8")
