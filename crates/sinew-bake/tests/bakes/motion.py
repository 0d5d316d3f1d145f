"""Compares a baked mesh with the points that usd-core's joints give, in f64: motion.py IN OUT PRIM.

Prints one JSON object: the largest error of velocities (relative to the largest speed), of what ComputePointsAtTime makes of
them, of points between samples, the number of samples, and whether points and velocities have the same times.
"""

import json
import sys

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel

source, baked, prim = sys.argv[1:4]
stage, out = Usd.Stage.Open(source), Usd.Stage.Open(baked)
rate = stage.GetTimeCodesPerSecond()
mesh = UsdGeom.Mesh(stage.GetPrimAtPath(prim))
root = UsdSkel.Root.Find(mesh.GetPrim())
cache = UsdSkel.Cache()
cache.Populate(root, Usd.PrimDefaultPredicate)
skeleton = UsdSkel.BindingAPI(mesh.GetPrim()).GetInheritedSkeleton()
skel_query = cache.GetSkelQuery(skeleton)
query = cache.GetSkinningQuery(mesh.GetPrim())
indices, weights = query.ComputeVaryingJointInfluences(len(mesh.GetPointsAttr().Get(0)))
indices, weights = np.array(indices), np.array(weights, dtype=np.float64)
rest = np.array(mesh.GetPointsAttr().Get(0), dtype=np.float64)
each = len(indices) // len(rest)
bind = np.array(query.GetGeomBindTransform())


def placed(points, matrix):
    return points @ matrix[:3, :3] + matrix[3, :3]


def truth(time):
    """Points in the mesh's own space, from usd-core's joints."""
    joints = np.array([np.array(m) for m in skel_query.ComputeSkinningTransforms(time)])
    bound = placed(rest, bind)
    result = np.zeros_like(bound)
    for i in range(each):
        own, weight = joints[indices[i::each]], weights[i::each]
        moved = np.einsum("pi,pij->pj", bound, own[:, :3, :3]) + own[:, 3, :3]
        result += moved * weight[:, None]
    xforms = UsdGeom.XformCache(time)
    world = np.array(xforms.GetLocalToWorldTransform(skeleton.GetPrim()))
    own = np.array(xforms.GetLocalToWorldTransform(mesh.GetPrim()))
    return placed(result, world @ np.linalg.inv(own))


def slope(time):
    """The derivative per second where no key is within 0.2 time codes: four points, of fourth order."""
    h = 0.1
    near = [truth(time + k * h) for k in (-2, -1, 1, 2)]
    return (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * h) * rate


points = UsdGeom.Mesh(out.GetPrimAtPath(prim)).GetPointsAttr()
velocities = UsdGeom.Mesh(out.GetPrimAtPath(prim)).GetVelocitiesAttr()
times = points.GetTimeSamples()
result = {"samples": len(times), "times": times, "same_times": times == velocities.GetTimeSamples()}
result["authored"] = velocities.HasAuthoredValue()
keys = sorted(
    set(skel_query.GetAnimQuery().GetJointTransformTimeSamples())
    | set(UsdGeom.Xformable(root).GetTimeSamples())
)
if velocities.HasAuthoredValue():
    errors, moved, fastest = [0.0], [0.0], 0.0
    for time in times:
        if min(abs(time - k) for k in keys) < 0.25:
            continue
        want, got = slope(time), np.array(velocities.Get(time), dtype=np.float64)
        fastest = max(fastest, np.linalg.norm(want, axis=1).max())
        errors.append(np.linalg.norm(want - got, axis=1).max())
        late = time + 0.01
        extrapolated = UsdGeom.PointBased(out.GetPrimAtPath(prim)).ComputePointsAtTime(late, time)
        moved.append(np.linalg.norm(truth(late) - np.array(extrapolated), axis=1).max())
    result["velocity_error"] = max(errors) / max(fastest, 1e-9)
    result["fastest"] = fastest
    result["compared"] = len(errors) - 1
    result["extrapolated_error"] = max(moved)
between = np.linspace(times[0], times[-1], 40 * max(1, int(times[-1] - times[0])) + 1)
off = [np.linalg.norm(truth(t) - np.array(points.Get(t)), axis=1).max() for t in between]
result["between_error"] = max(off)
print(json.dumps(result))
