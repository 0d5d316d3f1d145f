"""The commands as functions: bake, check, convert, render and retarget, and those over many files."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union, cast

import numpy as np
import numpy.typing as npt

from . import _sinew
from ._stage import Input, as_file
from .errors import FileError, InvalidError, SinewWarning, UsageError
from .reports import (
    BakeReport,
    BatchReport,
    CheckAllReport,
    CheckReport,
    ConvertReport,
    RetargetReport,
)

Path = Union[str, "os.PathLike[str]"]
#: Frames: one, (first, last), (first, last, step), a range, or the command's text.
Frames = Union[float, str, range, Tuple[float, float], Tuple[float, float, float]]
Progress = Callable[[int, int], object]
Option = Union[
    None, bool, int, float, Path, Tuple[float, float], Sequence[Union[str, "os.PathLike[str]"]]
]


def _frames(frames: Optional[Frames]) -> Optional[str]:
    if frames is None or isinstance(frames, str):
        return frames
    if isinstance(frames, range):
        if not frames:
            raise UsageError("frames: expected at least one frame, found an empty range")
        ends = sorted((frames[0], frames[-1]))
        return f"{ends[0]}:{ends[1]}:{abs(frames.step)}"
    if isinstance(frames, (int, float)):
        return _number(frames)
    return ":".join(_number(part) for part in frames)


def _number(value: float) -> str:
    # The shortest text that is read back as the same number.
    return repr(float(value)) if isinstance(value, float) else str(value)


def _arguments(options: Mapping[str, Option]) -> List[str]:
    """Options of the command line: ``clip_frames=100`` is ``--clip-frames=100``."""
    arguments: List[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            arguments.append(flag)
        elif isinstance(value, (str, os.PathLike)):
            arguments.append(f"{flag}={os.fspath(value)}")
        elif isinstance(value, (int, float)):
            arguments.append(f"{flag}={_number(value)}")
        elif isinstance(value, tuple) and value and isinstance(value[0], (int, float)):
            # A range, such as shutter=(-0.25, 0.25).
            arguments.append(f"{flag}={':'.join(_number(cast(float, one)) for one in value)}")
        else:
            several = cast(Sequence[Path], value)
            arguments.extend(f"{flag}={os.fspath(one)}" for one in several)
    return arguments


def _call(
    command: str,
    inputs: Sequence[str],
    arguments: Sequence[str],
    progress: Optional[Progress] = None,
    of_files: bool = False,
) -> Tuple[Dict[str, Any], List[npt.NDArray[np.uint8]]]:
    # Inputs come last, so that a file may be named like an option.
    line = ["sinew", command, *arguments, "--json", "--", *inputs]
    _, output, pictures = _sinew.call(line, progress, of_files)
    return cast(Dict[str, Any], json.loads(output)), pictures


def _warn(report: Mapping[str, Any]) -> None:
    """Issues the warnings of a report, and one for each prim that failed, for the caller's caller."""
    for found in [*report.get("failed", []), *report["warnings"]]:
        issue(found["code"], found["path"], found["property"], found["message"], stacklevel=4)


def issue(
    code: Optional[str], path: str, property: Optional[str], message: str, stacklevel: int
) -> None:
    """Issues one warning."""
    warning = SinewWarning(message, code=code, prim=path or None, property=property)
    warnings.warn(warning, stacklevel=stacklevel)


def _one_file(path: str) -> str:
    """The path itself. The command takes folders and globs too; here they are for other functions."""
    if os.path.isdir(path):
        several = "bake_all, convert_all and check_all take folders"
        raise FileError(f"{path}: expected a file, found a folder; {several}", file=path)
    if not os.path.exists(path):
        raise FileError(f"{path}: no such file", file=path)
    return path


def bake(
    input: Input,
    output: Path,
    *,
    frames: Optional[Frames] = None,
    prims: Sequence[str] = (),
    space: Optional[str] = None,
    rigid: Optional[str] = None,
    backend: str = "auto",
    clip: Optional[str] = None,
    variants: Sequence[str] = (),
    search_path: Sequence[Path] = (),
    progress: Optional[Progress] = None,
    **options: Option,
) -> BakeReport:
    """Bakes skinning and blend shapes into points and normals, as the command ``sinew bake``.

    The extension of ``output`` chooses the format. The file's bytes are those of the command with
    the same options. ``input`` may be a ``pxr.Usd.Stage``; one that is only in memory is exported.

    :param frames: one frame, (first, last), (first, last, step) or a range. Without it: the
        authored times, and the stage's frames between them.
    :param prims: bake only these prims, and those below them.
    :param progress: called with the numbers of samples that are done and that there are, on this
        thread; with ``max_error`` first with those of the times that the search for samples
        looks at. If it raises, the bake stops and the exception comes out.
    :param options: any other option of the command: ``clip_frames=100, resume=True`` is
        ``--clip-frames 100 --resume``.
    :returns: the object that the command prints with ``--json``. Prims that failed are in
        ``failed``, and each is a warning.
    :raises Error: nothing was baked. After an error or Ctrl-C, ``output`` is as it was before.

    >>> import sinew, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = sinew.bake("examples/assets/hatchling.usda", folder + "/out.usdc", frames=(1, 4))
    >>> report["samples"], report["failed"]
    (32, [])
    """
    with as_file(input) as path:
        arguments = _arguments(
            {
                "output": output,
                "frames": _frames(frames),
                "prim": list(prims),
                "space": space,
                "rigid": rigid,
                **_backend(backend),
                "clip": clip,
                "variant": list(variants),
                "search_path": list(search_path),
                **options,
            }
        )
        report, _ = _call("bake", [_one_file(path)], arguments, progress)
    _warn(report)
    return cast(BakeReport, report)


def _backend(backend: str) -> Dict[str, Option]:
    """``auto``, ``cpu`` and ``gpu`` are backends; anything else is a part of an adapter's name."""
    if backend in ("auto", "cpu", "gpu"):
        return {"backend": backend}
    return {"adapter": backend}


def check(
    input: Input,
    *,
    severity: str = "info",
    max_influences: Optional[int] = None,
    clip: Optional[str] = None,
    variants: Sequence[str] = (),
    search_path: Sequence[Path] = (),
    **options: Option,
) -> CheckReport:
    """Checks the skinning data of a file, as the command ``sinew check``.

    :param severity: return only findings of this severity or worse: info, warning, error.
    :param max_influences: report points with more influences.
    :raises Error: the file cannot be opened. Findings are no exceptions and no warnings.

    >>> import sinew
    >>> report = sinew.check("examples/assets/hatchling.usda", severity="error")
    >>> report["findings"], report["counts"]["errors"]
    ([], 0)
    """
    with as_file(input) as path:
        arguments = _arguments(
            {
                "severity": severity,
                "max_influences": max_influences,
                "clip": clip,
                "variant": list(variants),
                "search_path": list(search_path),
                **options,
            }
        )
        report, _ = _call("check", [_one_file(path)], arguments)
        entry = report["files"][0]
        if "error" in entry:
            error = entry["error"]
            kind = InvalidError if error["code"] else FileError
            raise kind(
                error["message"],
                code=error["code"],
                prim=error["path"] or None,
                property=error["property"] or None,
                file=path,
            )
    return cast(CheckReport, entry)


def convert(
    input: Input,
    output: Path,
    *,
    clip: Optional[str] = None,
    variants: Sequence[str] = (),
    search_path: Sequence[Path] = (),
    **options: Option,
) -> ConvertReport:
    """Converts a character to USD or glTF, as the command ``sinew convert``.

    Ctrl-C stops between reading and writing.

    :param clip: convert only this clip.
    :param options: any other option of the command, such as ``flatten=True``.

    >>> import sinew, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = sinew.convert("examples/assets/puppet.glb", folder + "/puppet.usda")
    >>> len(report["clips"]) > 0
    True
    """
    with as_file(input) as path:
        arguments = _arguments(
            {
                "output": output,
                "clip": clip,
                "variant": list(variants),
                "search_path": list(search_path),
                **options,
            }
        )
        report, _ = _call("convert", [_one_file(path)], arguments)
    _warn(report)
    return cast(ConvertReport, report)


def retarget(
    clip: Input,
    target: Input,
    output: Path,
    *,
    name: Optional[str] = None,
    **options: Option,
) -> RetargetReport:
    """Moves a clip from one character to another, as the command ``sinew retarget``.

    Ctrl-C stops between reading, retargeting and writing.

    :param clip: the file with the clip.
    :param target: the file with the character to move.
    :param name: the clip, if the file has several.
    :param options: any other option of the command, such as ``lock_feet=True`` or ``map="map.json"``.

    >>> import sinew, tempfile
    >>> puppet = "examples/assets/puppet.glb"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = sinew.retarget(puppet, puppet, folder + "/out.usda")
    >>> round(report["root_scale"], 6)
    1.0
    """
    with as_file(clip) as source, as_file(target) as character:
        arguments = _arguments({"output": output, "clip": name, **options})
        report, _ = _call("retarget", [source, character], arguments)
    _warn(report)
    return cast(RetargetReport, report)


def render(
    input: Input,
    *,
    time: Optional[float] = None,
    size: Tuple[int, int] = (1280, 720),
    camera: str = "auto",
    background: str = "grey",
    backend: str = "auto",
    clip: Optional[str] = None,
    variants: Sequence[str] = (),
    search_path: Sequence[Path] = (),
    **options: Option,
) -> npt.NDArray[np.uint8]:
    """Draws a character, as the command ``sinew render``, and returns the picture.

    Needs a GPU or a software Vulkan driver. Ctrl-C stops between pictures.

    :param time: time code; without it the first time of the clip.
    :param size: width and height in pixels.
    :param camera: prim path of a camera of the file, or "auto".
    :param options: any other option of the command for one picture: ``wireframe=True``,
        ``heat="LeftArm"``, ``sheet="6x4"``.
    :returns: uint8 [H, W, 4]: red, green, blue and alpha in sRGB, the top row first.

    >>> import sinew
    >>> try:
    ...     shape = sinew.render("examples/assets/hatchling.usda", time=1, size=(64, 48)).shape
    ... except sinew.GpuError:
    ...     shape = (48, 64, 4)
    >>> shape
    (48, 64, 4)
    """
    with as_file(input) as path:
        arguments = _arguments(
            {
                # The pictures come back as arrays, so the name is not used.
                "output": "picture.png",
                "time": time,
                "size": f"{size[0]}x{size[1]}",
                "camera": camera,
                "background": background,
                **_backend(backend),
                "clip": clip,
                "variant": list(variants),
                "search_path": list(search_path),
                **options,
            }
        )
        report, pictures = _call("render", [_one_file(path)], arguments)
    _warn(report)
    return pictures[0]


def _files(inputs: Union[Path, Sequence[Path]]) -> List[str]:
    paths = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    return [os.fspath(path) for path in paths]


def _all(
    command: str,
    inputs: Union[Path, Sequence[Path]],
    folder: Path,
    progress: Optional[Progress],
    options: Mapping[str, Option],
) -> BatchReport:
    # The names of the options where a command has others than its function here.
    options = {{"prims": "prim", "variants": "variant"}.get(k, k): v for k, v in options.items()}
    # The separator makes the output a folder, also where there is only one file.
    arguments = _arguments({"output": os.path.join(os.fspath(folder), ""), **options})
    report, _ = _call(command, _files(inputs), arguments, progress, of_files=True)
    for entry in report["files"]:
        _warn_of_entry(entry)
    return cast(BatchReport, report)


def _warn_of_entry(entry: Mapping[str, Any]) -> None:
    """Issues the warnings of one file among many, and one for the error that it ended with."""
    error = [entry["error"]] if "error" in entry else []
    for found in [*error, *entry.get("failed", []), *entry.get("warnings", [])]:
        issue(found["code"], found["path"], found["property"], found["message"], stacklevel=5)


def bake_all(
    inputs: Union[Path, Sequence[Path]],
    folder: Path,
    *,
    to: str = "usdc",
    frames: Optional[Frames] = None,
    backend: str = "auto",
    progress: Optional[Progress] = None,
    **options: Option,
) -> BatchReport:
    """Bakes many files, one after another, as ``sinew bake IN... -o FOLDER/``.

    A file that cannot be baked is an entry with ``error``, and a warning; the others are baked.

    :param inputs: a folder, a glob such as ``"shots/*.usda"``, a file, or several of them.
    :param folder: where the results go, each with the name of its input.
    :param to: extension of the results.
    :param progress: called with the numbers of files that are finished and that there are. If it
        raises, the work stops. Files that are finished stay.
    :param options: other options of the command, as in :func:`bake`.
    :returns: the object that the command prints with ``--json``: an entry in ``files`` for each
        file, and ``counts``.
    :raises Error: an input that is not there; two files that would get the same name.

    >>> import sinew, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = sinew.bake_all("examples/assets/*.usda", folder, frames=1)
    >>> report["counts"]["failed"], len(report["files"]) == report["counts"]["done"]
    (0, True)
    """
    arguments: Dict[str, Option] = {"to": to, "frames": _frames(frames), **_backend(backend)}
    return _all("bake", inputs, folder, progress, {**arguments, **options})


def convert_all(
    inputs: Union[Path, Sequence[Path]],
    folder: Path,
    *,
    to: str = "usdc",
    progress: Optional[Progress] = None,
    **options: Option,
) -> BatchReport:
    """Converts many files, one after another, as ``sinew convert IN... -o FOLDER/``.

    The arguments and the result are those of :func:`bake_all`; options are those of :func:`convert`.

    >>> import sinew, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = sinew.convert_all("examples/assets/*.bvh", folder, to="usda")
    >>> report["counts"]["failed"]
    0
    """
    return _all("convert", inputs, folder, progress, {"to": to, **options})


def check_all(
    inputs: Union[Path, Sequence[Path]],
    *,
    severity: str = "info",
    progress: Optional[Progress] = None,
    **options: Option,
) -> CheckAllReport:
    """Checks many files, as ``sinew check IN...``.

    :param inputs: a folder, a glob, a file, or several of them.
    :param progress: called with the numbers of files that are checked and that there are.
    :param options: other options of the command, as in :func:`check`.
    :returns: an entry in ``files`` for each file, as :func:`check` returns it, or with ``error`` for
        one that cannot be opened.

    >>> import sinew
    >>> report = sinew.check_all("examples/assets", severity="error")
    >>> any(entry["findings"] for entry in report["files"])
    False
    """
    arguments = _arguments({"severity": severity, **options})
    report, _ = _call("check", _files(inputs), arguments, progress, of_files=True)
    return cast(CheckAllReport, report)
