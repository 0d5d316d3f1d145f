"""Skinning of plain arrays."""

from __future__ import annotations

from typing import Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _sinew
from .errors import UsageError

Floats = npt.NDArray[np.float32]
_IDENTITY = np.eye(4)


def _vectors(what: str, values: npt.ArrayLike) -> Floats:
    array = np.ascontiguousarray(values, dtype=np.float32)
    if array.ndim == 1 and array.size % 3 == 0:
        array = array.reshape(-1, 3)
    if array.ndim != 2 or array.shape[1] != 3:
        raise UsageError(f"{what}: expected shape (N, 3), found {array.shape}")
    return array


def _influences(
    count: int, indices: npt.ArrayLike, weights: npt.ArrayLike
) -> Tuple[npt.NDArray[np.int32], Floats, int]:
    joints = _integers("joint_indices", indices)
    shares = np.ascontiguousarray(weights, dtype=np.float32)
    if joints.shape != shares.shape:
        shapes = f"{joints.shape} and {shares.shape}"
        raise UsageError(f"joint_indices, joint_weights: expected the same shape, found {shapes}")
    if joints.ndim == 2:
        each = joints.shape[1]
    elif count and joints.size % count == 0:
        each = joints.size // count
    else:
        raise UsageError(
            f"joint_indices: expected shape (N, K), or N * K of {count} points, found {joints.shape}"
        )
    if joints.ndim == 2 and joints.shape[0] not in (count, 1):
        raise UsageError(f"joint_indices: expected {count} rows or 1, found {joints.shape[0]}")
    return joints.reshape(-1), shares.reshape(-1), each


def _integers(what: str, values: npt.ArrayLike) -> npt.NDArray[np.int32]:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise UsageError(f"{what}: expected integers, found {array.dtype}")
    if array.dtype.itemsize > 4 or array.dtype.kind == "u":
        # A value that does not fit must not become another index.
        if array.size and (array.max() > np.iinfo(np.int32).max or array.min() < -1):
            raise UsageError(f"{what}: expected indices of 32 bits")
    return np.ascontiguousarray(array, dtype=np.int32)


def _matrices(what: str, values: npt.ArrayLike, ndim: int) -> npt.NDArray[np.float64]:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != ndim or array.shape[-2:] != (4, 4):
        expected = "(J, 4, 4)" if ndim == 3 else "(4, 4)"
        raise UsageError(f"{what}: expected shape {expected}, found {array.shape}")
    return array


def _skin(
    name: str,
    values: npt.ArrayLike,
    joint_indices: npt.ArrayLike,
    joint_weights: npt.ArrayLike,
    palette: npt.ArrayLike,
    geom_bind: Optional[npt.ArrayLike],
    out: Optional[Floats],
    dual_quaternion: bool,
    normals: bool,
) -> Floats:
    rest = _vectors(name, values)
    joints, weights, count = _influences(len(rest), joint_indices, joint_weights)
    matrices = _matrices("palette", palette, 3)
    bind = _IDENTITY if geom_bind is None else _matrices("geom_bind", geom_bind, 2)
    result: Floats = _sinew.skin(
        name, rest, joints, weights, count, matrices, bind, dual_quaternion, normals, out
    )
    return result


def skin_points_lbs(
    points: npt.ArrayLike,
    joint_indices: npt.ArrayLike,
    joint_weights: npt.ArrayLike,
    palette: npt.ArrayLike,
    geom_bind: Optional[npt.ArrayLike] = None,
    out: Optional[Floats] = None,
) -> Floats:
    """Skins points by linear blend skinning, as ``UsdSkel.SkinPointsLBS``.

    Arrays of these types and in C order are used without a copy, also the ``Vt`` arrays of pxr.
    Nothing is normalised. Where one mesh is skinned many times, a scene's ``Prim.points`` is faster.

    :param points: float32 [N, 3], in prim space.
    :param joint_indices: int32 [N, K], or N * K of them; [1, K] for the same joints at all points.
    :param joint_weights: float32 of the same shape.
    :param palette: float64 [J, 4, 4] of row vectors, as in pxr: the skinning transform of each
        joint (``Skeleton.transforms(time, space="skinning")``).
    :param geom_bind: geomBindTransform; without it the identity.
    :param out: a float32 array [N, 3] to fill, which is returned. It must not be ``points``.
    :returns: points in skeleton space.
    :raises InvalidError: a joint index that the palette lacks. Then ``out`` is not specified.

    >>> import numpy as np, sinew
    >>> up = np.eye(4)
    >>> up[3, 1] = 2.0
    >>> sinew.skin_points_lbs([[1, 0, 0]], [[0, 1]], [[0.5, 0.5]], [np.eye(4), up]).tolist()
    [[1.0, 1.0, 0.0]]
    """
    return _skin(
        "skin_points_lbs", points, joint_indices, joint_weights, palette,
        geom_bind, out, False, False,
    )


def skin_points_dqs(
    points: npt.ArrayLike,
    joint_indices: npt.ArrayLike,
    joint_weights: npt.ArrayLike,
    palette: npt.ArrayLike,
    geom_bind: Optional[npt.ArrayLike] = None,
    out: Optional[Floats] = None,
) -> Floats:
    """Skins points by dual quaternion skinning. The arguments are those of :func:`skin_points_lbs`.

    >>> import numpy as np, sinew
    >>> sinew.skin_points_dqs([[1, 2, 3]], [[0]], [[1.0]], [np.eye(4)]).tolist()
    [[1.0, 2.0, 3.0]]
    """
    return _skin(
        "skin_points_dqs", points, joint_indices, joint_weights, palette,
        geom_bind, out, True, False,
    )


def skin_normals_lbs(
    normals: npt.ArrayLike,
    joint_indices: npt.ArrayLike,
    joint_weights: npt.ArrayLike,
    palette: npt.ArrayLike,
    geom_bind: Optional[npt.ArrayLike] = None,
    out: Optional[Floats] = None,
) -> Floats:
    """Skins normals by linear blend skinning; the result has unit length.

    The arguments are those of :func:`skin_points_lbs`: ``palette`` has the matrices of points, and
    this function computes their inverse transposes.

    >>> import numpy as np, sinew
    >>> sinew.skin_normals_lbs([[0, 1, 0]], [[0]], [[1.0]], [np.diag([4.0, 2.0, 1.0, 1.0])]).tolist()
    [[0.0, 1.0, 0.0]]
    """
    return _skin(
        "skin_normals_lbs", normals, joint_indices, joint_weights, palette,
        geom_bind, out, False, True,
    )


def skin_normals_dqs(
    normals: npt.ArrayLike,
    joint_indices: npt.ArrayLike,
    joint_weights: npt.ArrayLike,
    palette: npt.ArrayLike,
    geom_bind: Optional[npt.ArrayLike] = None,
    out: Optional[Floats] = None,
) -> Floats:
    """Skins normals by dual quaternion skinning. The arguments are those of :func:`skin_normals_lbs`.

    >>> import numpy as np, sinew
    >>> sinew.skin_normals_dqs([[0, 1, 0]], [[0]], [[1.0]], [np.eye(4)]).tolist()
    [[0.0, 1.0, 0.0]]
    """
    return _skin(
        "skin_normals_dqs", normals, joint_indices, joint_weights, palette,
        geom_bind, out, True, True,
    )


def apply_blend_shape(
    points: npt.ArrayLike,
    offsets: npt.ArrayLike,
    weight: float,
    point_indices: Optional[npt.ArrayLike] = None,
    out: Optional[Floats] = None,
) -> Floats:
    """Adds the offsets of a blend shape, times a weight, to points, as ``UsdSkel.ApplyBlendShape``.

    :param points: float32 [N, 3], in prim space.
    :param offsets: float32 [M, 3].
    :param point_indices: int32 [M]: the points that the offsets belong to; without it all, in order.
    :param out: an array to fill, which is returned. It may be ``points`` itself.

    >>> import sinew
    >>> sinew.apply_blend_shape([[0, 0, 0], [1, 1, 1]], [[0, 2, 0]], 0.5, [1]).tolist()
    [[0.0, 0.0, 0.0], [1.0, 2.0, 1.0]]
    """
    rest = points if out is points else _vectors("points", points)
    indices = None if point_indices is None else _integers("point_indices", point_indices)
    shape = _vectors("offsets", offsets)
    return _sinew.add_blend_shape(rest, shape, weight, indices, out)
