"""GPU and CPU skinning for UsdSkel characters, with the results of Pixar's code.

>>> import sinew
>>> scene = sinew.open("examples/assets/hatchling.usda")
>>> body = scene["/Hatchling/Geo/Body"]
>>> points = body.points(times=range(1, 49), space="world")   # float32 [48, N, 3]

The manual is docs/python.md of the repository. Errors are :class:`Error`, warnings are
:class:`SinewWarning`, and messages go to the logger ``sinew`` of the module ``logging``.
"""

from __future__ import annotations

import os as _os
from typing import Optional, Sequence, Union

from ._arrays import (
    apply_blend_shape,
    skin_normals_dqs,
    skin_normals_lbs,
    skin_points_dqs,
    skin_points_lbs,
)
from ._commands import (
    bake,
    bake_all,
    check,
    check_all,
    convert,
    convert_all,
    issue,
    render,
    retarget,
)
from ._sinew import BlendShape, Influences, Prim, Scene, Skeleton, __version__, open_scene
from ._stage import Input, as_file
from .errors import (
    CancelledError,
    Error,
    FileError,
    GpuError,
    InvalidError,
    NothingToSkinError,
    SinewWarning,
    UnknownPrimError,
    UsageError,
)

__all__ = [
    "BlendShape",
    "CancelledError",
    "Error",
    "FileError",
    "GpuError",
    "Influences",
    "InvalidError",
    "NothingToSkinError",
    "Prim",
    "Scene",
    "SinewWarning",
    "Skeleton",
    "UnknownPrimError",
    "UsageError",
    "__version__",
    "apply_blend_shape",
    "bake",
    "bake_all",
    "check",
    "check_all",
    "convert",
    "convert_all",
    "open",
    "render",
    "retarget",
    "skin_normals_dqs",
    "skin_normals_lbs",
    "skin_points_dqs",
    "skin_points_lbs",
]


# Without a display Mesa's device-select layer chooses nothing, and complains on stderr.
if not {"XDG_RUNTIME_DIR", "WAYLAND_DISPLAY"} & _os.environ.keys():
    _os.environ.setdefault("NODEVICE_SELECT", "1")


def open(
    source: Input,
    *,
    clip: Optional[str] = None,
    variants: Sequence[str] = (),
    search_path: Sequence[Union[str, "_os.PathLike[str]"]] = (),
    anim_source: str = "skeleton",
) -> Scene:
    """Opens a character: USD, glTF, VRM, BVH or FBX.

    :param source: a path, or a ``pxr.Usd.Stage``. A stage whose layers are all on disk is read from
        there. Any other one is exported once, flattened, to a temporary file.
    :param clip: the clip that plays, as ``--clip`` of the command.
    :param variants: selections such as ``"/Hero{lod=high}"``, instead of the file's own.
    :param search_path: folders in which assets named without ``./`` are searched.
    :param anim_source: where the animation of a Skeleton is searched: "skeleton", as in Pixar's
        code, or "binding", as in the schema's text.
    :raises Error: the file cannot be read. Prims that cannot be skinned are ``Scene.errors``.

    >>> scene = open("examples/assets/puppet.glb")
    >>> len(scene.skeletons[0].joints)
    21
    """
    with as_file(source) as path:
        scene = open_scene(path, list(variants), list(search_path), clip, anim_source)
    for code, prim, property, message in scene.warnings:
        issue(code, prim, property, message, stacklevel=3)
    return scene
