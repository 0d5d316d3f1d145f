"""The reports of commands: the objects that the command prints with ``--json``, as dictionaries."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict

__all__ = [
    "BakeReport",
    "CheckReport",
    "ConvertReport",
    "Counts",
    "FailedPrim",
    "Finding",
    "RetargetReport",
    "WarningReport",
]


class FailedPrim(TypedDict):
    """A prim that the output lacks, or does not have as it was asked for."""

    path: str
    code: Optional[str]
    reason: str


class WarningReport(TypedDict, total=False):
    """What was ignored, guessed or left out."""

    code: str
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
    failed: List[FailedPrim]
    errors: List[WarningReport]
    warnings: List[WarningReport]


class ConvertReport(TypedDict):
    """The report of :func:`sinew.convert`; more keys depend on the format of the output."""

    exit_code: int
    output: str
    clips: List[Dict[str, Any]]
    failed: List[FailedPrim]
    errors: List[WarningReport]
    warnings: List[WarningReport]


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
    warnings: List[WarningReport]


class Finding(TypedDict):
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
    findings: List[Finding]
    counts: Counts
