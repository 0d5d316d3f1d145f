"""Prints the SkelRoots whose authored extent is not what UsdSkel computes at all frames of the clip: extents.py FILE..."""

import sys
from pxr import Gf, Usd, UsdGeom, UsdSkel
for file in sys.argv[1:]:
    stage = Usd.Stage.Open(file)
    root = next(p for p in stage.Traverse() if p.IsA(UsdSkel.Root))
    authored = UsdGeom.Boundable(root).GetExtentAttr().Get()
    anim = next(p for p in stage.Traverse() if p.IsA(UsdSkel.Animation))
    times = UsdSkel.Animation(anim).GetTranslationsAttr().GetTimeSamples()
    times = sorted(set(times) | set(UsdSkel.Animation(anim).GetRotationsAttr().GetTimeSamples()))
    union = Gf.Range3f()
    for time in times or [Usd.TimeCode.Default()]:
        low, high = UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(root), time)
        union.UnionWith(Gf.Range3f(low, high))
    size = (union.max - union.min).GetLength()
    for a, b in zip(authored, [union.min, union.max]):
        if (Gf.Vec3f(a) - b).GetLength() > 1e-5 * size:
            print(file, authored, union)
