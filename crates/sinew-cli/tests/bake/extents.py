"""Prints the SkelRoots whose authored extent does not fit what is below them at the times of the clip: extents.py FILE...

Points that UsdSkel deforms have to lie in it, and it may be twice as large as they need. Without meshes it is what
UsdSkel computes from the joints."""

import sys
import numpy
from pxr import Gf, Usd, UsdGeom, UsdSkel


def drawn(stage, root, times):
    """The corners of the box around all points below, in the space of the root; None without meshes."""
    stage.SetEditTarget(stage.GetSessionLayer())
    UsdSkel.BakeSkinning(Usd.PrimRange(root), Gf.Interval.GetFullInterval())
    meshes = [UsdGeom.Mesh(p) for p in Usd.PrimRange(root) if p.IsA(UsdGeom.Mesh)]
    boxes = []
    for time in times:
        cache = UsdGeom.XformCache(time)
        from_world = cache.GetLocalToWorldTransform(root).GetInverse()
        for mesh in meshes:
            matrix = numpy.array(cache.GetLocalToWorldTransform(mesh.GetPrim()) * from_world)
            points = numpy.array(mesh.GetPointsAttr().Get(time)) @ matrix[:3, :3] + matrix[3, :3]
            boxes += [points.min(0), points.max(0)]
    return (numpy.min(boxes, 0), numpy.max(boxes, 0)) if boxes else None


for file in sys.argv[1:]:
    stage = Usd.Stage.Open(file)
    root = next(p for p in stage.Traverse() if p.IsA(UsdSkel.Root))
    authored = numpy.array(UsdGeom.Boundable(root).GetExtentAttr().Get())
    anim = UsdSkel.Animation(next(p for p in stage.Traverse() if p.IsA(UsdSkel.Animation)))
    values = [anim.GetTranslationsAttr(), anim.GetRotationsAttr(), anim.GetScalesAttr(), anim.GetBlendShapeWeightsAttr()]
    times = sorted({time for value in values for time in value.GetTimeSamples()}) or [Usd.TimeCode.Default()]
    union = Gf.Range3f()
    for time in times:
        low, high = UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(root), time)
        union.UnionWith(Gf.Range3f(low, high))
    box = drawn(stage, root, times)
    if box is None:
        size = (union.max - union.min).GetLength()
        fits = numpy.abs(authored - [union.min, union.max]).max() <= 1e-5 * size
    else:
        size = numpy.linalg.norm(box[1] - box[0])
        is_inside = (authored[0] <= box[0] + 1e-5 * size).all() and (authored[1] >= box[1] - 1e-5 * size).all()
        fits = is_inside and numpy.linalg.norm(authored[1] - authored[0]) <= 2 * size
    if not fits:
        print(file, authored, union if box is None else box)
