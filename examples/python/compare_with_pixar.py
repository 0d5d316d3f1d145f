"""Compares sinew's points with those of Pixar's BakeSkinning, and plots the error over time.

    python compare_with_pixar.py IN.usda ERROR.png

Needs usd-core and matplotlib. Both results are in the prims' own space.
"""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import sinew  # noqa: E402
from pxr import Usd, UsdSkel  # noqa: E402

#: Largest error that roundings of f32 explain, as a share of the character's size.
BOUND = 2e-6


def main(source: str, picture: str) -> int:
    scene = sinew.open(source)
    first, last = scene.time_range or (0.0, 0.0)
    times = np.arange(first, last + 1)
    stage = Usd.Stage.Open(source)
    if not UsdSkel.BakeSkinning(stage.Traverse()):
        sys.exit(f"{source}: BakeSkinning failed")
    worst, compared = 0.0, 0
    figure, axes = plt.subplots(figsize=(9, 5))
    for path, prim in scene.items():
        baked = stage.GetPrimAtPath(path).GetAttribute("points")
        if prim.influences is None or prim.influences.constant or not baked.GetNumTimeSamples():
            continue  # it moves by its transform
        theirs = np.stack([np.array(baked.Get(time)) for time in times])
        ours = prim.points(times)
        size = np.linalg.norm(np.ptp(theirs.reshape(-1, 3), axis=0))
        error = np.linalg.norm(ours - theirs, axis=2).max(axis=1) / size
        axes.semilogy(times, np.maximum(error, 1e-9), label=path)
        worst, compared = max(worst, error.max()), compared + 1
    axes.axhline(BOUND, color="grey", linestyle="--", label="bound")
    axes.set(xlabel="time code", ylabel="largest distance / size", title=f"sinew and usd-core: {source}")
    axes.legend(fontsize="small")
    figure.savefig(picture, dpi=120)
    print(f"largest error {worst:.2e} of the size; {picture}")
    if compared == 0:
        sys.exit(f"{source}: no prim whose points move")
    return 0 if worst < BOUND else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
