"""What a batch user would pick on CUDA: SMPL's linear blend skinning in PyTorch, eager and compiled; one JSON row per line.

usage: smpl_torch.py LOAD POINTS JOINTS CHARACTERS MESHES RUNS [--device cuda|cpu]
       smpl_torch.py check

SMPL's layout (smplx, lbs.py): a dense row of weights per point, one for every joint; a matrix product with the joints' 4x4
matrices gives each point of each character a matrix, which a second product applies. Sizes are those of a work load, values
from a seed: four influences per point, rotations and translations for joints. Each mesh's characters are one batch.
Matrices are made beforehand and stay on the device. Float32, without TF32.

Bytes of a point, by the layout: 64 for its matrix, written and read again, 12 for the result; the point (16) and its
weights (4 per joint) once per batch.

`check` holds the arithmetic to a sum over influences in float64: by PyTorch where it is installed, and by NumPy.
Where PyTorch or the device is missing, one line on stderr says so and nothing is printed.
"""
import json
import sys
import time

import numpy as np

INFLUENCES = 4


def lbs(weights, transforms, rest):
    """[V, J] weights, [B, J, 4, 4] transforms and [V, 4] rest points to [B, V, 3]; tensors or arrays."""
    batch, joints = transforms.shape[:2]
    blended = (weights @ transforms.reshape(batch, joints, 16)).reshape(batch, -1, 4, 4)
    return (blended @ rest[..., None])[..., :3, 0]


def mesh(points, joints, seed):
    """Rest points, joints and weights of each point, and the dense weights made of these."""
    rng = np.random.default_rng(seed)
    rest = np.ones((points, 4), np.float32)
    rest[:, :3] = rng.random((points, 3))
    main = np.arange(points)[:, None] * joints // points
    indices = (main + rng.integers(0, min(16, joints), (points, INFLUENCES))) % joints
    weights = rng.random((points, INFLUENCES)).astype(np.float32) + 0.1
    weights /= weights.sum(axis=1, keepdims=True)
    dense = np.zeros((points, joints), np.float32)
    # A joint that a point names twice counts twice.
    np.add.at(dense, (np.arange(points)[:, None], indices), weights)
    return rest, indices, weights, dense


def poses(characters, joints, seed):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=(characters, joints, 3))
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    angle = rng.uniform(-0.3, 0.3, (characters, joints, 1, 1))
    x, y, z = np.moveaxis(axis, -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).reshape(characters, joints, 3, 3)
    out = np.zeros((characters, joints, 4, 4), np.float32)
    out[..., :3, :3] = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * (cross @ cross)
    out[..., :3, 3] = rng.uniform(-1, 1, (characters, joints, 3))
    out[..., 3, 3] = 1
    return out


def check():
    rest, indices, weights, dense = mesh(300, 20, 1)
    transforms = poses(3, 20, 2)
    wanted = np.zeros((3, 300, 3))
    for character in range(3):
        for point in range(300):
            for joint, weight in zip(indices[point], weights[point].astype(np.float64)):
                matrix = transforms[character, joint].astype(np.float64)
                wanted[character, point] += weight * (matrix @ rest[point].astype(np.float64))[:3]
    results = {"NumPy": lbs(dense, transforms, rest)}
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: the same function by NumPy alone")
    else:
        tensors = [torch.from_numpy(a) for a in (dense, transforms, rest)]
        results["PyTorch"] = lbs(*tensors).numpy()
    moved = np.abs(wanted - rest[None, :, :3]).max()
    for name, result in results.items():
        error = np.abs(result - wanted).max()
        print(f"{name}: off by {error:.1e}, where points move by up to {moved:.2f}")
        if result.shape != wanted.shape or not error < 2e-6 * max(1.0, np.abs(wanted).max()):
            sys.exit(f"{name}: wrong")


def measure(load, points, joints, characters, meshes, runs, device_name):
    try:
        import torch
    except ImportError:
        sys.exit("smpl_torch.py: not run, PyTorch is not installed")
    if device_name == "cuda" and not torch.cuda.is_available():
        sys.exit("smpl_torch.py: not run, PyTorch finds no CUDA device")
    device = torch.device(device_name)
    torch.backends.cuda.matmul.allow_tf32 = False
    batches = []
    for number in range(meshes):
        rest, _, _, dense = mesh(points, joints, number)
        # As many as there are characters with this mesh.
        count = len(range(number, characters, meshes))
        arrays = (dense, poses(count, joints, 1000 + number), rest)
        batches.append([torch.from_numpy(a).to(device) for a in arrays])
    wait = torch.cuda.synchronize if device_name == "cuda" else lambda: None
    name = torch.cuda.get_device_name(device) if device_name == "cuda" else "CPU"
    # In one batch, a point of a character: its matrix twice, and the result; what the batch shares is divided among it.
    shared = (16 + 4 * joints) * meshes / characters
    for who, function in (("eager", lbs), ("compiled", torch.compile(lbs))):
        def frame():
            for batch in batches:
                function(*batch)

        times = []
        with torch.no_grad():
            # The first calls compile, and fill the allocator's cache.
            for run in range(runs + 3):
                wait()
                start = time.perf_counter()
                frame()
                wait()
                if run >= 3:
                    times.append(time.perf_counter() - start)
        print(json.dumps({
            "load": load, "case": "points", "who": f"PyTorch {torch.__version__}, {who}", "threads": None,
            "points": points * characters, "times": {"seconds": sorted(times)},
            "floor_bytes": None, "floor": None, "bytes_per_point": 64 * 2 + 12 + shared,
            "note": f"SMPL's dense weights, on {name}; {meshes} batches a frame",
        }), flush=True)


def main(arguments):
    if arguments == ["check"]:
        return check()
    device = "cuda"
    if arguments[-2:-1] == ["--device"]:
        device, arguments = arguments[-1], arguments[:-2]
    if len(arguments) != 6 or device not in ("cuda", "cpu"):
        sys.exit(__doc__)
    measure(arguments[0], *map(int, arguments[1:]), device)


main(sys.argv[1:])
