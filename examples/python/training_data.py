"""Training data: the pose and the points of every frame of a clip, as arrays for numpy or PyTorch.

    python training_data.py IN OUT.npz [PRIM]

Writes joint rotations and translations relative to the parents [T, J, 3, 4], weights of blend
shapes [T, S], and points in skeleton space [T, N, 3], all float32. With PyTorch installed, it shows
that a tensor uses the memory of the array.
"""

import sys
from typing import Optional

import numpy as np
import sinew


def clip(source: str, path: Optional[str] = None) -> dict[str, np.ndarray]:
    scene = sinew.open(source)
    prim = scene[path] if path else max(scene.values(), key=lambda prim: prim.point_count)
    # One array for the whole clip, which is filled in place.
    first, last = scene.time_range or (0.0, 0.0)
    times = np.arange(first, last + 1)
    points = np.empty((len(times), prim.point_count, 3), np.float32)
    prim.points(times, out=points, space="skel")
    local = prim.skeleton.transforms(times, space="local")
    # Row vectors, as in USD: the last column is constant, and the last row is the translation.
    joints = np.ascontiguousarray(local[..., :3].swapaxes(-1, -2), dtype=np.float32)
    return {"times": times, "joints": joints, "weights": prim.weights(times), "points": points}


def main(source: str, out: str, path: Optional[str] = None) -> None:
    arrays = clip(source, path)
    np.savez_compressed(out, **arrays)
    for name, array in arrays.items():
        print(f"{name:8} {array.dtype} {list(array.shape)}")
    try:
        import torch
    except ImportError:
        return
    tensor = torch.from_numpy(arrays["points"])
    assert tensor.data_ptr() == arrays["points"].ctypes.data
    print(f"tensor   {tensor.dtype} {list(tensor.shape)}, the same memory")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
