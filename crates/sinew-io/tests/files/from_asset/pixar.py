"""What Pixar's usd-core makes of converted files, for mod.rs beside it to compare with.

usage: pixar.py FILE TIME...

Prints one JSON object: what UsdValidation finds, what the default prim and the Skeletons are, and the points of every
mesh in the world at each time, after BakeSkinning.
"""

import json
import sys

from pxr import Usd, UsdGeom, UsdSkel, UsdValidation


def findings(stage):
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    context = UsdValidation.ValidationContext(validators)
    return [f"{e.GetName()}: {e.GetMessage()}" for e in context.Validate(stage)]


def skeletons(stage):
    cache, out = UsdSkel.Cache(), {}
    for prim in stage.Traverse():
        if prim.IsA(UsdSkel.Skeleton):
            query = cache.GetSkelQuery(UsdSkel.Skeleton(prim))
            animation = query.GetAnimQuery()
            out[str(prim.GetPath())] = {
                "joints": [str(j) for j in query.GetJointOrder()],
                "names": list(UsdSkel.Skeleton(prim).GetJointNamesAttr().Get()),
                "bind": query.HasBindPose(),
                "rest": query.HasRestPose(),
                "animation": str(animation.GetPrim().GetPath()) if animation else None,
            }
    return out


def points(stage, time):
    cache, out = UsdGeom.XformCache(time), {}
    for prim in stage.Traverse():
        if prim.IsA(UsdGeom.Mesh):
            to_world = cache.GetLocalToWorldTransform(prim)
            rest = UsdGeom.Mesh(prim).GetPointsAttr().Get(time)
            out[str(prim.GetPath())] = [list(to_world.Transform(p)) for p in rest]
    return out


def main(file, *times):
    stage = Usd.Stage.Open(file)
    root = stage.GetDefaultPrim()
    out = {
        "findings": findings(stage),
        "root": [str(root.GetPath()), root.GetTypeName()],
        "rate": stage.GetTimeCodesPerSecond(),
        "frames": stage.GetFramesPerSecond(),
        "range": [stage.GetStartTimeCode(), stage.GetEndTimeCode()],
        "units": UsdGeom.GetStageMetersPerUnit(stage),
        "up": str(UsdGeom.GetStageUpAxis(stage)),
        "skeletons": skeletons(stage),
    }
    session = stage.GetSessionLayer()
    session.timeCodesPerSecond = stage.GetTimeCodesPerSecond()
    stage.SetEditTarget(session)
    out["baked"] = UsdSkel.BakeSkinning(stage.Traverse())
    out["points"] = [points(stage, float(t)) for t in times]
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
