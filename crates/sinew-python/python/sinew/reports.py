"""The reports of commands: the objects that the command prints with ``--json``, as dictionaries."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict

__all__ = [
    "BakeReport",
    "BatchCounts",
    "BatchReport",
    "CheckAllReport",
    "CheckFinding",
    "CheckReport",
    "ConvertReport",
    "Counts",
    "Finding",
    "RetargetReport",
]


class Finding(TypedDict):
    """One error or warning. ``path`` and ``property`` are empty if it is not about one."""

    code: Optional[str]
    severity: str
    file: Optional[str]
    path: str
    property: str
    message: str


class BakeReport(TypedDict):
    """The report of :func:`sinew.bake`."""

    exit_code: int
    files: List[str]
    prims: int
    shared: int
    moved: int
    points: int
    samples: int
    frames: int
    backend: str
    estimated_bytes: int
    seconds: float
    deform_seconds: float
    deformed_points: int
    failed: List[Finding]
    errors: List[Finding]
    warnings: List[Finding]


class ConvertReport(TypedDict):
    """The report of :func:`sinew.convert`; more keys depend on the format of the output."""

    exit_code: int
    output: str
    clips: List[Dict[str, Any]]
    failed: List[Finding]
    errors: List[Finding]
    warnings: List[Finding]


class RetargetReport(TypedDict):
    """The report of :func:`sinew.retarget`; the command's manual explains the keys."""

    exit_code: int
    output: str
    clip: str
    source: str
    target: str
    samples: int
    root_scale: float
    bones: List[Dict[str, Optional[str]]]
    map: Dict[str, str]
    unmatched_source: List[str]
    unmatched_target: List[str]
    warnings: List[Finding]


class CheckFinding(TypedDict):
    """One finding of :func:`sinew.check`."""

    code: str
    severity: str
    path: str
    property: str
    message: str
    advice: str
    fixable: bool


class Counts(TypedDict):
    """Numbers of findings."""

    errors: int
    warnings: int
    infos: int


class CheckReport(TypedDict):
    """The report of :func:`sinew.check`."""

    file: str
    findings: List[CheckFinding]
    counts: Counts


class CheckAllReport(TypedDict):
    """The report of :func:`sinew.check_all`: for each file a `CheckReport`, or ``file`` and ``error``."""

    exit_code: int
    files: List[Dict[str, Any]]


class BatchCounts(TypedDict):
    """Numbers of files by how they ended."""

    done: int
    partial: int
    failed: int


class BatchReport(TypedDict):
    """The report of :func:`sinew.bake_all` and :func:`sinew.convert_all`.

    Each entry of ``files`` has ``input``, ``exit_code``, and ``error`` or the report of that file.
    """

    exit_code: int
    files: List[Dict[str, Any]]
    counts: BatchCounts
