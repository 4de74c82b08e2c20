"""What the doctor found, as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Sequence

from nsys_analyze.doctor.answers import Answer, Diagnosis, Finding, State
from nsys_analyze.views.json_view import Json, frame, written
from nsys_analyze.views.markdown_view import code, plain
from nsys_analyze.views.text import pad, shorten, visible, width, wrap

_STATE = 8  # columns
_SUBJECT_MOST = 60
_LEAST_ROOM = 30  # beside the questions


def render(diagnoses: Sequence[Diagnosis], columns: int) -> str:
    """Returns the answers as text of ``columns`` columns: a block for each file."""
    return "\n\n".join("\n".join(_block(diagnosis, columns)) for diagnosis in diagnoses) + "\n"


def render_markdown(diagnoses: Sequence[Diagnosis]) -> str:
    """Returns the answers as Markdown tables."""
    return "\n\n".join("\n".join(_markdown(diagnosis)) for diagnosis in diagnoses) + "\n"


def render_json(diagnoses: Sequence[Diagnosis]) -> str:
    """Returns one document for one file, else one that lists them."""
    if len(diagnoses) == 1:
        return written({**frame(), **_document(diagnoses[0])})
    return written({**frame(), "reports": [_document(diagnosis) for diagnosis in diagnoses]})


def _block(diagnosis: Diagnosis, columns: int) -> list[str]:
    heading = [shorten(visible(fact), min(_SUBJECT_MOST, columns)) for fact in (diagnosis.subject, *diagnosis.facts)]
    titles = max(width(answer.title) for answer in diagnosis.answers) + 2
    lines = [*wrap(heading, " · ", columns, "  "), ""]
    for answer in diagnosis.answers:
        lines += _answer(answer, titles, columns)
    lines.append("")
    for text in _verdict(diagnosis):
        lines += wrap(_words(text, columns), " ", columns, "  ")
    return lines


def _answer(answer: Answer, titles: int, columns: int) -> list[str]:
    """The state and the question, and the texts beside them, or below where there is too little room."""
    lead = pad(answer.finding.state, _STATE) + pad(answer.title, titles)
    beside = columns - width(lead) >= _LEAST_ROOM
    room = columns - (width(lead) if beside else _STATE)
    texts = [line for text in _texts(answer.finding) for line in wrap(_words(text, room), " ", room, "  ")]
    if not beside:
        return [shorten(lead.rstrip(), columns), *(" " * _STATE + text for text in texts)]
    return [lead + texts[0], *(" " * width(lead) + text for text in texts[1:])]


def _words(text: str, room: int) -> list[str]:
    return [shorten(word, room - 2) for word in visible(text).split()]


def _texts(finding: Finding) -> list[str]:
    """Why, then what would help."""
    help_lines = [f"nsys profile {' '.join(finding.flags)}"] if finding.flags else []
    return [finding.why, *([finding.remedy] if finding.remedy else []), *help_lines]


def _verdict(diagnosis: Diagnosis) -> list[str]:
    needed = [answer.title for answer in diagnosis.answers if answer.needed and answer.finding.state is State.NO]
    verdict = "Healthy." if diagnosis.healthy else f"Not healthy; no to: {'; '.join(needed)}."
    if not diagnosis.flags:
        return [verdict]
    return [verdict, f"To answer more, at the price of a slower program: nsys profile {' '.join(diagnosis.flags)} ..."]


def _markdown(diagnosis: Diagnosis) -> list[str]:
    facts = " · ".join([code(visible(diagnosis.subject)), *(plain(visible(fact)) for fact in diagnosis.facts)])
    lines = [facts, "", "| | question | why | what helps |", "| --- | --- | --- | --- |"]
    for answer in diagnosis.answers:
        finding = answer.finding
        remedy = [plain(visible(finding.remedy))] if finding.remedy else []
        helps = "; ".join([*remedy, *(code(flag) for flag in finding.flags)])
        lines.append(f"| {finding.state} | {plain(answer.title)} | {plain(visible(finding.why))} | {helps} |")
    return [*lines, "", *(plain(text) for text in _verdict(diagnosis))]


def _document(diagnosis: Diagnosis) -> dict[str, Json]:
    return {
        "subject": diagnosis.subject,
        "facts": list(diagnosis.facts),
        "readable": diagnosis.readable,
        "healthy": diagnosis.healthy,
        "answers": [
            {
                "question": answer.question,
                "title": answer.title,
                "needed": answer.needed,
                "state": str(answer.finding.state),
                "why": answer.finding.why,
                "flags": list(answer.finding.flags),
                "remedy": answer.finding.remedy or None,
            }
            for answer in diagnosis.answers
        ],
        "flags": list(diagnosis.flags),
    }
