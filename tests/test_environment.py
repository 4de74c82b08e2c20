from __future__ import annotations

import dataclasses

import pytest

from nsys_analyze import UsageError, open_report
from nsys_analyze.ingest.environment import allow_list, environment, program
from nsys_analyze.views import json_view

SECRET = "hunter2hunter2"


def capture(*rows, command=None):
    options = [("PROCESS_0:ENVIRONMENT_VARIABLE", row) for row in rows]
    return {"PROCESS_0:ENVIRONMENT_VARIABLE": [value for _, value in options]} | (
        {"PROCESS_0:COMMAND": [command]} if command else {}
    )


@pytest.mark.parametrize(
    ("row", "kept"),
    [
        ('PYTORCH_NVFUSER_DISABLE="fma"', {"PYTORCH_NVFUSER_DISABLE": "fma"}),
        ("CUDA_VISIBLE_DEVICES=0,1", {"CUDA_VISIBLE_DEVICES": "0,1"}),
        ('TORCHINDUCTOR_CACHE_DIR="/home/someone/cache"', {"TORCHINDUCTOR_CACHE_DIR": None}),
        ('TORCH_API_KEY="' + SECRET + '"', {"TORCH_API_KEY": None}),
        ('NCCL_DEBUG="https://me:' + SECRET + '@host"', {"NCCL_DEBUG": None}),
        ('NCCL_DEBUG="' + "x" * 300 + '"', {"NCCL_DEBUG": None}),
        ('NCCL_DEBUG="' + "aB3" * 20 + '"', {"NCCL_DEBUG": None}),
        ('CUDA_MODULE_LOADING=""', {"CUDA_MODULE_LOADING": ""}),
        ('PYTORCH_CUDA_ALLOC_CONF="a\\"b"', {"PYTORCH_CUDA_ALLOC_CONF": 'a"b'}),
        ('AWS_SECRET_ACCESS_KEY="' + SECRET + '"', {}),
        ("PATH=/usr/bin", {}),
        ("no equals sign", {}),
        ("NCCL_\x1b[31m=1", {}),
    ],
)
def test_what_is_kept_of_a_variable(row, kept):
    assert environment(capture(row), ()) == kept


def test_prefixes_that_were_asked_for():
    rows = capture("MYAPP_MODE=fast", "MYAPP_LEVEL=2", "MYAPP_TOKEN=" + SECRET, "OTHER=1")
    assert environment(rows, ["MYAPP_"]) == {"MYAPP_LEVEL": None, "MYAPP_MODE": None, "MYAPP_TOKEN": None}
    assert environment(rows, ["MYAPP_MODE", "MYAPP_TOKEN"]) == {"MYAPP_MODE": "fast", "MYAPP_TOKEN": None}
    assert environment(rows, ["MYAPP_L*"]) == {"MYAPP_LEVEL": None}


@pytest.mark.parametrize("prefix", ["", "*", "9", "A B", "A="])
def test_a_prefix_that_is_none(prefix):
    with pytest.raises(UsageError, match="not the beginning of a name"):
        environment(capture("A=1"), [prefix])


def test_no_environment_is_not_an_empty_one():
    assert environment({"CAPTURE_EVENT_TYPE": ["Cuda"]}, ()) is None
    assert environment(capture("HOME=/root"), ()) == {}


def test_processes_that_got_different_values():
    rows = {
        "PROCESS_0:ENVIRONMENT_VARIABLE": ["CUDA_VISIBLE_DEVICES=0", "CUDA_VERSION=13"],
        "PROCESS_1:ENVIRONMENT_VARIABLE": ["CUDA_VISIBLE_DEVICES=1", "CUDA_VERSION=13"],
    }
    assert environment(rows, ()) == {"CUDA_VERSION": "13", "CUDA_VISIBLE_DEVICES": "0; 1"}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/usr/bin/python3", "python3"),
        ("python3", "python3"),
        ('"C:\\tools\\app.exe"', "app.exe"),
        ("<removed>", None),
        ("", None),
    ],
)
def test_only_the_name_of_the_program_is_kept(command, name):
    assert program(capture(command=command) if command else {}) == name


def test_no_variable_whose_value_is_shown_could_be_a_secret():
    allowed = allow_list()
    assert all(name.startswith(allowed.prefixes) for name in allowed.shown)
    assert not [name for name in allowed.shown if any(word in name for word in allowed.secret)]
    assert not [name for name in allowed.shown if name.endswith(("DIR", "PATH", "FILE", "URL", "ADDR", "HOST"))]


def test_nothing_else_is_kept_in_memory_or_written(builder, tmp_path):
    rows = [
        ("PROCESS_0:COMMAND", "/opt/private/train.py"),
        ("PROCESS_0:ARGUMENT_0", "--password=" + SECRET),
        ("PROCESS_0:ENVIRONMENT_VARIABLE", f'AWS_SECRET_ACCESS_KEY="{SECRET}"'),
        ("PROCESS_0:ENVIRONMENT_VARIABLE", f'NCCL_AUTH_TOKEN="{SECRET}"'),
        ("PROCESS_0:ENVIRONMENT_VARIABLE", 'PYTORCH_NVFUSER_DISABLE="fma"'),
    ]
    builder.capture(1000, rows)
    builder.process(100).thread().push_pop("step", 0, 10)
    report = open_report(builder.write(tmp_path / "report.sqlite"), environment=["AWS_SECRET_ACCESS_KEY"])
    info = report.analysis().report
    assert info.command == "train.py"
    assert info.environment == {
        "AWS_SECRET_ACCESS_KEY": None,
        "NCCL_AUTH_TOKEN": None,
        "PYTORCH_NVFUSER_DISABLE": "fma",
    }
    kept = repr(dataclasses.asdict(report.metadata)) + json_view.render([report.analysis()])
    assert SECRET not in kept
    assert "private" not in kept
