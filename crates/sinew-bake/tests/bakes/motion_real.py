"""Compares baked velocities with small differences of usd-core's own skinned points: motion_real.py IN OUT.

OUT is a bake of IN with --velocities, in prim space, at times between its keys. For each prim the error is relative to its
largest speed. usd-core's points are f32, so a small step has noise; and in-betweens have corners, which a large step passes.
So each prim counts with the better of two steps. Prints one JSON object: by prim the error and the number of times.
"""

import json
import sys

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel, Vt

STEPS = 0.1, 0.02  # time codes

source, baked = Usd.Stage.Open(sys.argv[1]), Usd.Stage.Open(sys.argv[2])
rate = source.GetTimeCodesPerSecond()
cache = UsdSkel.Cache()


def targets():
    everything = Usd.TraverseInstanceProxies()
    for prim in source.Traverse(everything):
        if prim.IsA(UsdSkel.Root):
            root = UsdSkel.Root(prim)
            cache.Populate(root, everything)
            for binding in cache.ComputeSkelBindings(root, everything):
                for query in binding.GetSkinningTargets():
                    yield binding.GetSkeleton(), query


def points(skeleton, query, time):
    """In the prim's own space, as BakeSkinning computes them."""
    prim = query.GetPrim()
    skel = cache.GetSkelQuery(skeleton)
    result = Vt.Vec3fArray(UsdGeom.PointBased(prim).GetPointsAttr().Get(time))
    if query.HasBlendShapes() and skel.GetAnimQuery():
        weights = skel.GetAnimQuery().ComputeBlendShapeWeights(time)
        mapper = query.GetBlendShapeMapper()
        shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(prim))
        subs = shapes.ComputeSubShapeWeights(mapper.Remap(weights) if mapper else weights)
        lists = shapes.ComputeBlendShapePointIndices(), shapes.ComputeSubShapePointOffsets()
        assert shapes.ComputeDeformedPoints(*subs, *lists, result)
    if not query.HasJointInfluences():
        return np.array(result, dtype=np.float64)
    assert query.ComputeSkinnedPoints(skel.ComputeSkinningTransforms(time), result, time)
    xforms = UsdGeom.XformCache(time)
    world = np.array(xforms.GetLocalToWorldTransform(skeleton.GetPrim()))
    matrix = world @ np.linalg.inv(np.array(xforms.GetLocalToWorldTransform(prim)))
    return np.array(result, dtype=np.float64) @ matrix[:3, :3] + matrix[3, :3]


def slope(at, h):
    """Per second, of fourth order."""
    near = [at(k * h) for k in (-2, -1, 1, 2)]
    return (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * h) * rate


found = {}
for skeleton, query in targets():
    path = query.GetPrim().GetPath()
    mesh = UsdGeom.PointBased(baked.GetPrimAtPath(path))
    times = mesh.GetVelocitiesAttr().GetTimeSamples() if mesh else []
    if not times:
        continue  # a rigid prim, or one without points
    errors, speed = [[] for _ in STEPS], 0.0
    for time in times:
        ours = np.array(mesh.GetVelocitiesAttr().Get(time), dtype=np.float64)
        for h, own in zip(STEPS, errors):
            theirs = slope(lambda k: points(skeleton, query, time + k), h)
            own.append(np.linalg.norm(theirs - ours, axis=1).max())
            speed = max(speed, np.linalg.norm(ours, axis=1).max())
    error = max(min(both) for both in zip(*errors))
    found[str(path)] = {"error": error / speed if speed else error, "speed": speed, "times": len(times)}
print(json.dumps(found))
