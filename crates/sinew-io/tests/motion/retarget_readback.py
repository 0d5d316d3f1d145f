"""Reads a retargeted character with Pixar's usd-core, for written.rs to compare with.

usage: retarget_readback.py FILE SKELETON

Prints one JSON object: the stage's rate, range, units and up axis, types of the bound SkelAnimation's attributes, weights
of its channels, where every joint is in the world at each of its times (by UsdSkelSkeletonQuery), and what is wrong.
"""

import json
import sys

from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel


def main(file, path):
    stage = Usd.Stage.Open(file)
    skeleton = UsdSkel.Skeleton(stage.GetPrimAtPath(path))
    cache = UsdSkel.Cache()
    cache.Populate(UsdSkel.Root.Find(skeleton.GetPrim()), Usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(skeleton)
    animation = query.GetAnimQuery()
    prim = animation.GetPrim()
    complaints = []
    if not skeleton.GetPrim().HasAPI(UsdSkel.BindingAPI):
        complaints.append("SkelBindingAPI is not applied")
    if list(animation.GetJointOrder()) != list(query.GetJointOrder()):
        complaints.append("joints are not the skeleton's")
    times = animation.GetJointTransformTimeSamples()
    for attribute in prim.GetAuthoredAttributes():
        if attribute.IsCustom():
            complaints.append(f"{attribute.GetName()} is custom")
        uniform = attribute.GetName() in ("joints", "blendShapes")
        if (attribute.GetVariability() == Sdf.VariabilityUniform) != uniform:
            complaints.append(f"{attribute.GetName()} has another variability")
    world = {}
    for time in times:
        xforms = UsdGeom.XformCache(time)
        joints = query.ComputeJointWorldTransforms(xforms)
        world[str(time)] = [list(Gf.Matrix4d(m).ExtractTranslation()) for m in joints]
    weights = {str(t): list(animation.ComputeBlendShapeWeights(t)) for t in animation.GetBlendShapeWeightTimeSamples()}
    json.dump(
        {
            "rate": [stage.GetTimeCodesPerSecond(), stage.GetFramesPerSecond(), stage.GetStartTimeCode(), stage.GetEndTimeCode()],
            "units": [UsdGeom.GetStageMetersPerUnit(stage), str(UsdGeom.GetStageUpAxis(stage))],
            "types": {a.GetName(): str(a.GetTypeName()) for a in prim.GetAuthoredAttributes()},
            "weights": weights,
            "world": world,
            "complaints": complaints,
        },
        sys.stdout,
    )


main(*sys.argv[1:])
