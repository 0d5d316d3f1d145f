"""Times the Python package against the same loops over usd-core's own functions.

    python benches/python_points.py [POINTS] [FRAMES]

Needs the package (a release build: `pip wheel crates/sinew-python`), usd-core and numpy. Each figure
is the best of five runs. Two loops are timed over a tube of 4 influences per point: all frames of a
clip, posed and skinned; and plain arrays, skinned by linear blending alone.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import sinew
from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

sys.path.insert(0, str(Path(__file__).parents[1] / "crates" / "sinew-python" / "tests"))
from big import write  # noqa: E402


def best(run, times: int = 5) -> float:
    spans = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        spans.append(time.perf_counter() - start)
    return min(spans)


def told(what: str, ours: float, theirs: float, values: int) -> None:
    rates = [values / span / 1e6 for span in (ours, theirs)]
    print(f"{what:28} sinew {ours * 1e3:8.1f} ms ({rates[0]:6.1f} M points/s)  "
          f"usd-core {theirs * 1e3:8.1f} ms ({rates[1]:6.1f} M points/s)  ratio {theirs / ours:5.1f}")


def clip(path: str, frames: int) -> None:
    """All frames, as one array: what a pipeline asks for."""
    prim = sinew.open(path).values()[0]
    out = np.empty((frames, prim.point_count, 3), np.float32)
    times = range(1, frames + 1)
    prim.points(times, out=out, space="skel", backend="cpu")

    stage = Usd.Stage.Open(path)
    cache, root = UsdSkel.Cache(), UsdSkel.Root(stage.GetPrimAtPath("/Tube"))
    cache.Populate(root, Usd.PrimDefaultPredicate)
    (binding,) = cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate)
    skeleton, query = cache.GetSkelQuery(binding.GetSkeleton()), binding.GetSkinningTargets()[0]
    rest = UsdGeom.Mesh(query.GetPrim()).GetPointsAttr().Get()
    theirs = np.empty_like(out)

    def loop() -> None:
        for i, frame in enumerate(times):
            points = Vt.Vec3fArray(rest)
            query.ComputeSkinnedPoints(skeleton.ComputeSkinningTransforms(frame), points, frame)
            theirs[i] = points

    span = best(loop)
    error = np.abs(out - theirs).max()
    assert error < 1e-4, error
    ours = best(lambda: prim.points(times, out=out, space="skel", backend="cpu"))
    told(f"clip of {frames} frames", ours, span, out.size // 3)

    def one_by_one() -> None:
        for i, frame in enumerate(times):
            prim.points(frame, out=out[i], space="skel", backend="cpu")

    told("the same, frame by frame", best(one_by_one), span, out.size // 3)


def arrays(path: str) -> None:
    """Linear blend skinning of plain arrays, which both take as they are."""
    prim = sinew.open(path).values()[0]
    influences, points = prim.influences, prim.rest_points
    palette = prim.skeleton.transforms(7, space="skinning")
    out = np.empty_like(points)
    ours = best(
        lambda: sinew.skin_points_lbs(
            points, influences.indices, influences.weights, palette, out=out
        ),
        20,
    )
    matrices = Vt.Matrix4dArray.FromBuffer(palette)
    flat = (
        Vt.IntArray.FromNumpy(influences.indices.reshape(-1)),
        Vt.FloatArray.FromNumpy(influences.weights.reshape(-1)),
    )
    count = influences.indices.shape[1]
    rest = Vt.Vec3fArray.FromNumpy(points)

    def loop() -> None:
        UsdSkel.SkinPointsLBS(Gf.Matrix4d(1), matrices, *flat, count, Vt.Vec3fArray(rest))

    told("arrays", ours, best(loop, 20), len(points))


def main() -> None:
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    frames = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    print(f"{points:,} points, sinew {sinew.__version__}, usd-core {'.'.join(map(str, Usd.GetVersion()))}")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "tube.usda")
        write(path, points, frames)
        clip(path, frames)
        arrays(path)


if __name__ == "__main__":
    main()
