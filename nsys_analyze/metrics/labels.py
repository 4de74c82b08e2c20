"""What a range says that was opened around one operation: its title, and the operation that it calls.

Thunder names the ranges of a trace by its lines, ``t0 = torch.nn.functional.linear(x, w, b)  # t0: "cuda:0 f32[4]"``;
PyTorch's ``emit_nvtx`` by operators, ``aten::mm``.
"""

from __future__ import annotations

import re

_COMMENT = re.compile(r"""(?:[^#"']|"[^"]*"|'[^']*'|["'](?=[^"']*$)|(?<!\s)\#)*""")
_TARGETS = r"[\[(]?[\w*]+(?:,\s*[\w*]+)*,?[\])]?"
_CALL = re.compile(rf"(?:{_TARGETS}\s*=\s*)?(?P<operation>[A-Za-z_]\w*(?:(?:\.|::)\w+)*)\(")


def title(label: str) -> str:
    """The label without the comment at its end.

    >>> title('t0 = torch.add(x, y)  # t0: "cuda:0 f32[4]"')
    't0 = torch.add(x, y)'
    """
    match = _COMMENT.match(label)
    return (match[0].rstrip() if match else "") or label


def operation(label: str) -> str:
    """The operation that the label calls; a label that is no call is its own operation.

    >>> operation('t0 = torch.nn.functional.linear(x, w, b)  # t0: "cuda:0 f32[4, 8]"'), operation("aten::mm")
    ('torch.nn.functional.linear', 'aten::mm')
    """
    match = _CALL.match(label)
    return match["operation"] if match else title(label)
