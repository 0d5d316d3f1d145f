import os
from typing import Any, Callable, Iterator, Literal, Optional, Sequence, TypeVar, Union, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "add_blend_shape",
    "skin",
    "BlendShape",
    "Influences",
    "Prim",
    "Scene",
    "open_scene",
    "Skeleton",
    "command",
    "call",
    "__version__",
]

__version__: str

_Times = Union[None, float, str, Sequence[float], npt.NDArray[Any], range]
_Floats = npt.NDArray[np.float32]
_Doubles = npt.NDArray[np.float64]
_Default = TypeVar("_Default")

def command(args: Sequence[str]) -> int: ...
def call(
    args: Sequence[str],
    progress: Optional[Callable[[int, int], object]] = None,
    of_files: bool = False,
) -> tuple[int, str, list[npt.NDArray[np.uint8]]]: ...
def open_scene(
    path: Union[str, os.PathLike[str]],
    variants: Sequence[str],
    search_path: Sequence[Union[str, os.PathLike[str]]],
    clip: Optional[str],
    anim_source: str,
) -> Scene: ...
def skin(
    name: str,
    rest: _Floats,
    joint_indices: npt.NDArray[np.int32],
    joint_weights: _Floats,
    count: int,
    palette: _Doubles,
    geom_bind: _Doubles,
    dual_quaternion: bool,
    normals: bool,
    out: Optional[_Floats],
) -> _Floats: ...
def add_blend_shape(
    points: npt.ArrayLike,
    offsets: _Floats,
    weight: float,
    point_indices: Optional[npt.NDArray[np.int32]],
    out: Optional[_Floats],
) -> _Floats: ...
@final
class Scene:
    def __len__(self) -> int: ...
    def __contains__(self, path: object, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __getitem__(self, path: object, /) -> Prim: ...
    def get(self, path: object, default: _Default = ...) -> Union[Prim, _Default]: ...
    def keys(self) -> list[str]: ...
    def values(self) -> list[Prim]: ...
    def items(self) -> list[tuple[str, Prim]]: ...
    @property
    def file(self) -> str: ...
    @property
    def time_range(self) -> Optional[tuple[float, float]]: ...
    @property
    def time_codes_per_second(self) -> float: ...
    @property
    def frames_per_second(self) -> float: ...
    @property
    def up_axis(self) -> str: ...
    @property
    def meters_per_unit(self) -> float: ...
    @property
    def skeletons(self) -> list[Skeleton]: ...
    @property
    def warnings(self) -> list[tuple[str, str, str, str]]: ...
    @property
    def errors(self) -> list[tuple[Optional[str], str, str, str]]: ...
@final
class Skeleton:
    @property
    def path(self) -> str: ...
    @property
    def joints(self) -> list[str]: ...
    @property
    def parents(self) -> npt.NDArray[np.int32]: ...
    @property
    def bind_transforms(self) -> _Doubles: ...
    @property
    def rest_transforms(self) -> Optional[_Doubles]: ...
    def transforms(
        self,
        times: _Times = None,
        *,
        out: Optional[_Doubles] = None,
        space: Literal["local", "skel", "world", "skinning"] = "skel",
    ) -> _Doubles: ...
@final
class Influences:
    @property
    def indices(self) -> npt.NDArray[np.int32]: ...
    @property
    def weights(self) -> _Floats: ...
    @property
    def constant(self) -> bool: ...
@final
class BlendShape:
    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def point_indices(self) -> Optional[npt.NDArray[np.uint32]]: ...
    @property
    def offsets(self) -> _Floats: ...
    @property
    def normal_offsets(self) -> Optional[_Floats]: ...
    @property
    def inbetweens(self) -> list[tuple[float, _Floats]]: ...
@final
class Prim:
    @property
    def path(self) -> str: ...
    @property
    def type_name(self) -> str: ...
    @property
    def point_count(self) -> int: ...
    @property
    def rest_points(self) -> _Floats: ...
    @property
    def skeleton(self) -> Skeleton: ...
    @property
    def joints(self) -> list[str]: ...
    @property
    def influences(self) -> Optional[Influences]: ...
    @property
    def skinning_method(self) -> str: ...
    @property
    def geom_bind_transform(self) -> _Doubles: ...
    @property
    def channels(self) -> list[str]: ...
    @property
    def blend_shapes(self) -> list[BlendShape]: ...
    def weights(self, times: _Times = None, *, out: Optional[_Floats] = None) -> _Floats: ...
    def points(
        self,
        times: _Times = None,
        *,
        out: Optional[_Floats] = None,
        space: Literal["prim", "skel", "world"] = "prim",
        backend: str = "auto",
    ) -> _Floats: ...
    def normals(
        self,
        times: _Times = None,
        *,
        out: Optional[_Floats] = None,
        space: Literal["prim", "skel", "world"] = "prim",
        backend: str = "auto",
        property: Optional[str] = None,
    ) -> _Floats: ...
    def extents(
        self,
        times: _Times = None,
        *,
        out: Optional[_Floats] = None,
        space: Literal["prim", "skel", "world"] = "prim",
        backend: str = "auto",
    ) -> _Floats: ...
    def transforms(
        self,
        times: _Times = None,
        *,
        out: Optional[_Doubles] = None,
        space: Literal["parent", "world"] = "parent",
    ) -> _Doubles: ...
