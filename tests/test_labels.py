from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from nsys_analyze.verdict.labels import side_labels


@pytest.mark.parametrize(
    ("paths", "labels"),
    [
        (["llama_eager.sqlite.xz", "llama_thunder_torch.nsys-rep"], ["eager", "thunder_torch"]),
        (["old/r.sqlite", "new/r.sqlite"], ["old", "new"]),
        (["/t/a/r.sqlite", "/t/b/r.json"], ["a", "b"]),
        (["a/x/r.sqlite", "b/x/r.sqlite", "b/y/r.sqlite"], ["a/x", "b/x", "b/y"]),
        (["a.sqlite", "a.sqlite"], ["a (1)", "a (2)"]),
        (["/t/a.sqlite", "/t/a.sqlite", "/t/b.sqlite"], ["a (1)", "a (2)", "b"]),
        (["run.sqlite", "run_2.sqlite"], ["run", "run_2"]),
        (["runs/eager", "runs/inductor"], ["eager", "inductor"]),
        (["東京_速い.sqlite", "東京_遅い.sqlite"], ["速い", "遅い"]),
        (["report.sqlite"], ["report"]),
        ([".sqlite", "b.sqlite"], ["sqlite", "b"]),
    ],
)
def test_the_shortest_part_that_tells_them_apart(paths, labels):
    assert side_labels([PurePosixPath(path) for path in paths]) == labels
