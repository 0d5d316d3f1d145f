"""Uses of the package that mypy checks; nothing runs this file."""

from pathlib import Path
from typing import Optional

import numpy as np
import numpy.typing as npt
import sinew


def points_of(path: Path) -> npt.NDArray[np.float32]:
    scene = sinew.open(path, variants=["/Hero{lod=high}"])
    prim: sinew.Prim = scene["/Hero/Body"]
    influences: Optional[sinew.Influences] = prim.influences
    if influences is not None:
        indices: npt.NDArray[np.int32] = influences.indices
        assert indices.shape == influences.weights.shape
    other: Optional[sinew.Prim] = scene.get("/Hero/Eye", None)
    assert other is None or other.skeleton.joints
    buffer = np.empty((10, prim.point_count, 3), np.float32)
    return prim.points(times=range(1, 11), out=buffer, space="world", backend="cpu")


def bake(path: str) -> int:
    report = sinew.bake(path, Path("out.usdc"), frames=(1, 100), progress=print, clip_frames=10)
    try:
        picture: npt.NDArray[np.uint8] = sinew.render(path, time=1)
    except sinew.GpuError as error:
        code: Optional[str] = error.code
        raise SystemExit(code) from error
    rows: int = picture.shape[0]
    return report["samples"] + rows
