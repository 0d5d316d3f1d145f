"""What all tests share: the files that are read, and a program to compare with."""

import os
import signal
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
ASSETS = REPOSITORY / "examples" / "assets"

# The tests send it, also where they were started to ignore it, as a script's background jobs are.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def hatchling() -> str:
    return str(ASSETS / "hatchling.usda")


@pytest.fixture
def puppet() -> str:
    return str(ASSETS / "puppet.glb")


@pytest.fixture
def command():
    """The arguments that start the command: the program itself where one is named, or the package."""
    program = os.environ.get("SINEW_COMMAND")
    return [program] if program else [sys.executable, "-m", "sinew"]


@pytest.fixture
def big(tmp_path) -> str:
    """A stage that takes about a second to bake: a long tube over a chain of joints."""
    from big import write

    path = tmp_path / "big.usda"
    write(path, points=20_000, frames=400)
    return str(path)
