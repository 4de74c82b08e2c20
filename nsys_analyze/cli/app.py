"""The command: its verbs, and the one place where errors become a line and an exit code."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Sequence

import click
from click_default_group import DefaultGroup

from nsys_analyze._version import __version__
from nsys_analyze.cli import INTERRUPTED, output
from nsys_analyze.cli.capture import capture
from nsys_analyze.cli.check import check
from nsys_analyze.cli.compare import compare
from nsys_analyze.cli.doctor import doctor
from nsys_analyze.cli.fleet import fleet
from nsys_analyze.cli.history import history
from nsys_analyze.cli.kernels import kernels
from nsys_analyze.cli.report import report
from nsys_analyze.cli.run import run
from nsys_analyze.cli.slice import slice as slice_verb
from nsys_analyze.cli.summary import summary
from nsys_analyze.cli.trace import trace
from nsys_analyze.errors import NsysAnalyzeError
from nsys_analyze.views.text import visible

NAME = "nsys-analyze"
OK = 0
BAD_INPUT = 2

_EXAMPLES = """\b
Examples:
  nsys-analyze report.sqlite                      what every stage cost
  nsys-analyze report.sqlite --stage steady/step  one stage and what it consists of
  nsys-analyze a.sqlite b.sqlite -o both.csv      several reports, as a spreadsheet
  nsys-analyze report.sqlite --format md          ready to paste into an issue
  nsys-analyze compare a.sqlite b.sqlite          how b differs from a, and what changed around them
  nsys-analyze check new/ --baseline old/         fails where startup or launching got slower
  nsys-analyze history results.db                 runs that check --save kept
  nsys-analyze fleet 'runs/**/*.nsys-rep' -o out  many reports at once, into one dataset
  nsys-analyze doctor report.sqlite               what it can answer, and what would help
  nsys-analyze kernels report.sqlite              the kernels of each loop
  nsys-analyze trace report.sqlite -o t.pftrace   a picture for ui.perfetto.dev
  nsys-analyze slice report.sqlite s.sqlite --redact  a report, or a part of it, that is safe to share
  nsys-analyze report --help                      all options of the default verb
  nsys-analyze run -- python train.py             profile a program, then the same
  nsys-analyze capture llama --executor eager -o out  make reports of a model
  nsys-analyze summary out                        compare what was captured
"""


@click.group(cls=DefaultGroup, default="report", invoke_without_command=True, epilog=_EXAMPLES)
@click.version_option(__version__, prog_name=NAME, message="%(prog)s %(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    """Says what each NVTX stage of a GPU program cost, from an NVIDIA Nsight Systems report.

    Without a verb, `report` is meant: nsys-analyze REPORT...
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(BAD_INPUT)


app.add_command(report)
app.add_command(compare)
app.add_command(check)
app.add_command(history)
app.add_command(fleet)
app.add_command(doctor)
app.add_command(kernels)
app.add_command(capture)
app.add_command(run)
app.add_command(summary)
app.add_command(trace)
app.add_command(slice_verb)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code.

    0 fine, 1 a check failed, 2 bad usage or input, 3 a check cannot tell, 130 interrupted.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in arguments
    code = OK
    try:
        with app.make_context(NAME, list(arguments)) as context:
            app.invoke(context)
    except click.exceptions.Exit as leave:
        code = leave.exit_code
    except BrokenPipeError:
        output.forget_reader()
    except (KeyboardInterrupt, click.Abort):
        code = INTERRUPTED
    except click.ClickException as error:
        code = _fail(error.format_message(), debug)
    except NsysAnalyzeError as error:
        code = _fail(str(error), debug)
    except OSError as error:
        code = _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error), debug)
    except Exception as error:
        bug = f"{type(error).__name__}: {error}"
        code = _fail(f"this is a bug in {NAME}, please report it: {bug} (--debug shows where)", debug)
    return code


def _fail(message: str, debug: bool) -> int:
    """Says on one line what went wrong; with ``debug``, after the traceback."""
    if debug:
        traceback.print_exc()
    with contextlib.suppress(OSError):
        click.echo(f"Error: {visible(' '.join(message.split()))}", err=True)
    return BAD_INPUT
