"""Reads a converted character with Pixar's usd-core, for usd_core.rs and sequences.rs beside it to compare with.

Answers {"file": FILE, "times": [TIME]} with one JSON object, a line each: the stage's rate, units and up axis; for every time where all joints are in the world, by their
jointNames (by UsdSkelSkeletonQuery), and where the points of all skinned meshes are (by UsdSkel's bake).
"""

import json
import sys
import traceback

from pxr import Usd, UsdGeom, UsdSkel


def joints(stage, times):
    """World positions of the joints of all Skeletons, by name."""
    out = {str(time): {} for time in times}
    for prim in [p for p in stage.Traverse() if p.IsA(UsdSkel.Skeleton)]:
        cache = UsdSkel.Cache()
        cache.Populate(UsdSkel.Root.Find(prim), Usd.PrimDefaultPredicate)
        query = cache.GetSkelQuery(UsdSkel.Skeleton(prim))
        names = UsdSkel.Skeleton(prim).GetJointNamesAttr().Get()
        for time in times:
            worlds = query.ComputeJointWorldTransforms(UsdGeom.XformCache(time))
            places = [list(m.ExtractTranslation()) for m in worlds]
            out[str(time)].update(zip(names, places, strict=True))
    return out


def points(stage, times):
    skinned = [p for p in stage.Traverse() if p.HasAPI(UsdSkel.BindingAPI) and p.IsA(UsdGeom.Mesh)]
    paths = [p.GetPath() for p in skinned]
    session = stage.GetSessionLayer()
    session.timeCodesPerSecond = stage.GetTimeCodesPerSecond()
    stage.SetEditTarget(session)
    if paths and not UsdSkel.BakeSkinning(stage.Traverse()):
        raise RuntimeError("usd-core does not bake it")
    out = []
    for path in paths:
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath(path))
        at = {}
        for time in times:
            world = UsdGeom.XformCache(time).GetLocalToWorldTransform(mesh.GetPrim())
            at[str(time)] = [list(world.Transform(p)) for p in mesh.GetPointsAttr().Get(time)]
        out.append(at)
    return out


def answer(file, times):
    stage = Usd.Stage.Open(file)
    return {
        "rate": stage.GetTimeCodesPerSecond(),
        "metersPerUnit": UsdGeom.GetStageMetersPerUnit(stage),
        "upAxis": str(UsdGeom.GetStageUpAxis(stage)),
        "world": joints(stage, times),
        "points": points(stage, times),
    }


for line in sys.stdin:
    try:
        reply = answer(**json.loads(line))
    except Exception:  # The other side shows it.
        reply = {"error": traceback.format_exc()}
    print(json.dumps(reply), flush=True)
