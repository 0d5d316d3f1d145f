"""The package itself: documentation, types and licences."""

import doctest
import importlib
import importlib.metadata
import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sinew

REPOSITORY = Path(__file__).resolve().parents[3]
FOLDER = Path(sinew.__file__).parent


def public():
    """Every public function, class, method and property: (name, object)."""
    errors = importlib.import_module("sinew.errors")
    for name in sinew.__all__:
        value = getattr(sinew, name)
        if name == "__version__":
            continue
        yield name, value
        if inspect.isclass(value) and not issubclass(value, Exception):
            for member, of in vars(value).items():
                if not member.startswith("_"):
                    yield f"{name}.{member}", of
    assert {name for name in errors.__all__} <= set(sinew.__all__)


#: Fields of results that the text of their class explains.
PLAIN = ("Influences.", "BlendShape.")


@pytest.mark.parametrize(("name", "value"), list(public()))
def test_documented_with_an_example_that_is_true(name, value, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    text = inspect.getdoc(value)
    assert text, f"{name} has no documentation"
    if name.startswith(PLAIN):
        return
    names = {"sinew": sinew, **vars(sinew)}
    test = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    assert test.examples, f"{name} has no example"
    out = []
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    doctest.DocTestRunner(optionflags=flags).run(test, out=out.append)
    assert not out, "".join(out)


def test_modules_have_true_examples(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    names = {"sinew": sinew}
    test = doctest.DocTestParser().get_doctest(sinew.__doc__, names, "sinew", None, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def run_page(name, tmp_path, monkeypatch):
    """Runs the Python code of a page, in a folder that has the example characters: its names."""
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    monkeypatch.chdir(tmp_path)
    page = (REPOSITORY / "docs" / name).read_text()
    names = {}
    for block in page.split("```python\n")[1:]:
        exec(compile(block.split("```")[0], name, "exec"), names)  # noqa: S102
    return names


def test_the_page_of_the_manual_is_true(tmp_path, monkeypatch):
    names = run_page("python.md", tmp_path, monkeypatch)
    assert names["skinned"].shape == names["body"].rest_points.shape


def test_the_page_for_users_of_usd_core_is_true(tmp_path, monkeypatch):
    names = run_page("coming-from.md", tmp_path, monkeypatch)
    np.testing.assert_allclose(names["ours"], names["points"], atol=1e-6)
    stages = [names["Usd"].Stage.Open(file) for file in ("ours.usdc", "theirs.usdc")]
    bodies = [stage.GetPrimAtPath("/Hatchling/Geo/Body").GetAttribute("points") for stage in stages]
    assert bodies[0].GetTimeSamples() == bodies[1].GetTimeSamples()
    for time in bodies[0].GetTimeSamples():
        np.testing.assert_allclose(*(body.Get(time) for body in bodies), atol=1e-6)


def test_the_types_hold(tmp_path):
    package = REPOSITORY / "crates" / "sinew-python"
    environment = {**os.environ, "MYPYPATH": str(FOLDER.parent)}
    uses = package / "tests" / "typed_use.py"
    for arguments in (
        ["-m", "mypy", "-p", "sinew", "--strict"],
        ["-m", "mypy", "--strict", str(uses)],
        ["-m", "mypy.stubtest", "sinew._sinew"],
    ):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=package if arguments[1] == "mypy" else tmp_path,
            capture_output=True,
            text=True,
            env=environment,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout[-3000:]}{done.stderr[-2000:]}"


def test_the_wheel_has_types_and_licences():
    try:
        files = importlib.metadata.files("sinew") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is not installed from a wheel")
    names = [str(f) for f in files]
    assert any(name.endswith("sinew/py.typed") for name in names)
    assert any(name.endswith("sinew/_sinew.pyi") for name in names)
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        (place,) = (f for f in files if f.name == licence)
        assert len(place.read_text()) > 1000
    data = importlib.metadata.metadata("sinew")
    assert data["License-Expression"] == "MIT OR Apache-2.0"
    assert data["Version"] == sinew.__version__
