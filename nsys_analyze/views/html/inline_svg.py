"""Makes a matplotlib figure part of a page: no style attributes, which a strict policy forbids, and ids of its own."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_SHORTHAND = re.compile(r"(?:(\d+|bold|normal)\s+)?([\d.]+)px\s+(.*)")  # font: bold 13px 'DejaVu Sans'
_DROPPED = ("metadata", "style", "title")


def inline(figure: Figure, prefix: str, label: str) -> str:
    """Returns the figure as an ``svg`` element with real text, all of whose ids begin with ``prefix``.

    Args:
        figure: The figure.
        prefix: What keeps it apart from other figures on the page.
        label: What it shows, for those who cannot see it.
    """
    import matplotlib as mpl

    from nsys_analyze.views.plots.style import settings

    buffer = io.BytesIO()
    with settings(), mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(buffer.getvalue())
    _clean(root, prefix, _referenced(root))
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    wide, high = root.attrib["viewBox"].split()[2:]
    root.attrib |= {"role": "img", "aria-label": label, "width": wide, "height": high}
    root.attrib |= {"stroke-linejoin": "round", "stroke-linecap": "butt"}
    ElementTree.register_namespace("", _SVG.strip("{}"))
    text = ElementTree.tostring(root, encoding="unicode")
    return re.sub(r">\s+<", "><", text)


def _referenced(root: ElementTree.Element) -> set[str]:
    found = {element.attrib.get(f"{_XLINK}href", "").removeprefix("#") for element in root.iter()}
    for element in root.iter():
        for value in element.attrib.values():
            found.update(_REFERENCE.findall(value))
    return found


def _clean(element: ElementTree.Element, prefix: str, referenced: set[str]) -> None:
    for child in list(element):
        if child.tag.removeprefix(_SVG) in _DROPPED or not child.tag.startswith(_SVG):
            element.remove(child)
        else:
            _clean(child, prefix, referenced)
    attributes = {**element.attrib, **_declared(element.attrib.get("style", ""))}
    element.attrib.clear()
    for name, value in attributes.items():
        if name == f"{_XLINK}href":
            element.set("href", f"#{prefix}{value[1:]}")
        elif name == "id":
            element.attrib |= {"id": prefix + value} if value in referenced else {}
        elif name != "style":
            element.set(name, _short(_REFERENCE.sub(rf"url(#{prefix}\1)", value)))


def _declared(style: str) -> dict[str, str]:
    """The declarations of a style attribute as attributes, the shorthand for fonts in its parts."""
    pairs = [each.partition(":") for each in style.split(";")]
    declared = {name.strip(): value.strip() for name, colon, value in pairs if colon}
    font = _SHORTHAND.fullmatch(declared.pop("font", ""))
    if font:
        declared |= {"font-size": font[2], "font-family": font[3]} | ({"font-weight": font[1]} if font[1] else {})
    return declared


def _short(value: str) -> str:
    """Numbers to a tenth of a pixel, paths on one line."""
    return " ".join(_NUMBER.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), value).split())
