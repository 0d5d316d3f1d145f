"""usd-core's SkinPointsLBS and blend on the sizes of skinning.rs; one JSON row per line.

usage: usd_core_skinning.py POINTS RUNS
"""
import json
import math
import sys
import time

import numpy as np
from pxr import Gf, Usd, UsdSkel, Vt

POINTS, RUNS = int(sys.argv[1]), int(sys.argv[2])
JOINTS, INFLUENCES = 100, 4


def measure(backend, case, points, run):
    times = []
    for _ in range(RUNS + 2):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    times = sorted(times[2:])
    best, median = times[0], times[len(times) // 2]
    print(json.dumps({
        "backend": backend, "case": case, "points": points,
        "best_ms": best * 1e3, "median_ms": median * 1e3,
        "best_mpoints_per_s": points / best / 1e6, "median_mpoints_per_s": points / median / 1e6,
    }))


rng = np.random.default_rng(7)
version = "usd-core " + ".".join(str(v) for v in Usd.GetVersion())
rest = rng.random((POINTS, 3), dtype=np.float32)
base = np.repeat(np.arange(POINTS, dtype=np.int64) * JOINTS // POINTS, INFLUENCES)
indices = ((base + rng.integers(0, 8, POINTS * INFLUENCES)) % JOINTS).astype(np.int32)
weights = np.full(POINTS * INFLUENCES, 1.0 / INFLUENCES, dtype=np.float32)
transforms = Vt.Matrix4dArray([
    Gf.Matrix4d().SetTransform(Gf.Rotation(Gf.Vec3d(0, 1, 0), math.degrees(a)), Gf.Vec3d(*t))
    for a, t in zip(rng.random(JOINTS), rng.random((JOINTS, 3)))
])
bind = Gf.Matrix4d().SetTranslate(Gf.Vec3d(1, 0, 0))
vt_indices, vt_weights = Vt.IntArray.FromNumpy(indices), Vt.FloatArray.FromNumpy(weights)

for name, serial in (("parallel", False), ("serial", True)):
    # Points are skinned in place, over and over; translations stay small enough to remain finite.
    points = Vt.Vec3fArray.FromNumpy(rest)

    def run():
        ok = UsdSkel.SkinPointsLBS(bind, transforms, vt_indices, vt_weights, INFLUENCES, points, serial)
        assert ok

    measure(f"{version} {name}", "lbs", POINTS, run)

# 200 shapes that each move 5 % of 50,000 points; 20 of them are active.
count = 50_000
points = Vt.Vec3fArray.FromNumpy(rng.random((count, 3), dtype=np.float32))
active = [
    (
        Vt.Vec3fArray.FromNumpy(rng.random((count // 20, 3), dtype=np.float32)),
        Vt.IntArray.FromNumpy(rng.integers(0, count, count // 20).astype(np.int32)),
    )
    for _ in range(20)
]


def blend():
    for offsets, where in active:
        UsdSkel.ApplyBlendShape(0.5, offsets, where, points)


measure(version, "blend 200x5%, 20 active", count, blend)
