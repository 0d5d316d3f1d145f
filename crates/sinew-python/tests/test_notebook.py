"""The notebook of examples/python: its cells run, one after another, without Jupyter."""

import json
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib")
matplotlib.use("Agg")

NOTEBOOK = Path(__file__).resolve().parents[3] / "examples" / "python" / "notebook.ipynb"


def test_the_cells_of_the_notebook_run(monkeypatch, capsys):
    monkeypatch.chdir(NOTEBOOK.parent)
    notebook = json.loads(NOTEBOOK.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    names = {}
    for cell in notebook["cells"]:
        assert cell["cell_type"] in ("code", "markdown") and cell["id"]
        if cell["cell_type"] == "code":
            # Pictures and numbers are made anew, and not kept in the repository.
            assert cell["outputs"] == [] and cell["execution_count"] is None
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)  # noqa: S102
    names["folder"].cleanup()
    assert "largest distance" in capsys.readouterr().out
