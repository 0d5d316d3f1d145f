"""Inputs: paths, and stages of pxr that may be only in memory."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import Any, Iterator, Union

#: A path, or a ``pxr.Usd.Stage``.
Input = Union[str, "os.PathLike[str]", Any]


@contextlib.contextmanager
def as_file(source: Input) -> Iterator[str]:
    """The path of a file with the content of ``source``, for as long as the context lasts."""
    if isinstance(source, (str, os.PathLike)):
        yield os.fspath(source)
        return
    if not hasattr(source, "GetRootLayer"):
        raise TypeError(f"expected a path or a pxr.Usd.Stage, found {type(source).__name__}")
    if _is_on_disk(source):
        yield source.GetRootLayer().realPath
        return
    with tempfile.TemporaryDirectory(prefix="sinew-") as folder:
        path = os.path.join(folder, "stage.usdc")
        if not source.Export(path):
            raise OSError(f"{path}: the stage could not be exported")
        yield path


def _is_on_disk(stage: Any) -> bool:
    """Whether opening the root layer's file gives this very stage."""
    if stage.GetMutedLayers() or not stage.GetRootLayer().realPath:
        return False
    session = stage.GetSessionLayer()
    layers = [layer for layer in stage.GetUsedLayers() if layer != session]
    if any(layer.dirty or layer.anonymous for layer in layers):
        return False
    if session and not session.empty:
        return False
    rules = stage.GetLoadRules()
    return bool(rules == type(rules).LoadAll())
