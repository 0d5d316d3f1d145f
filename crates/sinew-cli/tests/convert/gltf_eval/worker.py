"""Answers oracle.rs beside it, one JSON object per line: what usd-core makes of a file, in the world.

{"bake": FILE, "times": [TIME CODE], "out": FILE}    skins by UsdSkel.BakeSkinning, then reads
{"read": FILE, "times": [TIME CODE], "out": FILE}    reads
    Both give {"prims": [{"path", "points", "normals", "corners", "counts", "left_handed", "sampled"}], "stage": {...}} and
    write, for each time and each prim, so many points and normals (none, or one per point) as f64, in metres with y up.
    "normals": false leaves normals out.
    "animation": PATH binds every Skeleton to that SkelAnimation first.
{"stage": FILE}                                      {"stage": {...}} alone
{"validate": FILE}                                   {"errors": [[validator, error, site, message]]}

An answer with "error" holds the traceback of a bug in here.
"""

import json
import sys
import traceback

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdSkel, UsdValidation


def open_stage(request):
    stage = Usd.Stage.Open(request.get("bake") or request.get("read") or request["stage"])
    session = stage.GetSessionLayer()
    # What the bake writes are raw layer times; with another rate than the stage's they would be scaled.
    session.timeCodesPerSecond = stage.GetTimeCodesPerSecond()
    session.framesPerSecond = stage.GetFramesPerSecond()
    stage.SetEditTarget(session)
    # What instances show can be neither bound nor baked.
    while instances := [prim for prim in stage.Traverse() if prim.IsInstance()]:
        for prim in instances:
            prim.SetInstanceable(False)
    animation = request.get("animation")
    if animation:
        for prim in stage.Traverse():
            if prim.IsA(UsdSkel.Skeleton):
                rel = UsdSkel.BindingAPI(prim).GetAnimationSourceRel()
                if rel and rel.HasAuthoredTargets():
                    rel.SetTargets([animation])
    return stage


def bake(stage, times):
    for prim in stage.Traverse():
        if prim.IsA(UsdSkel.Skeleton):
            # A moving transform that does not move makes the bake sample these times.
            op = UsdGeom.Xformable(prim).AddTranslateOp(opSuffix="sampled")
            for time in times:
                op.Set(Gf.Vec3d(0), time)
    if not UsdSkel.BakeSkinning(stage.Traverse()):
        raise RuntimeError("usd-core could not bake it")


def per_point(normals, corners, points):
    """Normals of corners as normals of points, which have to agree."""
    if len(normals) == points:
        return normals
    if len(normals) != len(corners):
        raise RuntimeError(f"{len(normals)} normals for {points} points and {len(corners)} corners")
    out = np.zeros((points, 3))
    out[corners] = normals
    if np.abs(out[corners] - normals).max(initial=0) > 1e-5:
        raise RuntimeError("corners of one point have different normals")
    return out


def meshes(stage, times, out, with_normals):
    prims = [p for p in stage.Traverse() if p.IsA(UsdGeom.Mesh)]
    axis = UsdGeom.GetStageUpAxis(stage)
    turn = np.eye(3) if axis == "Y" else np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])  # Rows: x, y, z of z up.
    unit = UsdGeom.GetStageMetersPerUnit(stage)
    # Neither invisible prims nor guides are part of the picture.
    prims = [p for p in prims if UsdGeom.Imageable(p).ComputeVisibility() != "invisible"]
    told = []
    with open(out, "wb") as file:
        for time in times:
            cache = UsdGeom.XformCache(time)
            for i, prim in enumerate(prims):
                mesh = UsdGeom.Mesh(prim)
                points = np.array(mesh.GetPointsAttr().Get(time) or [], dtype=np.float64).reshape(-1, 3)
                corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(time) or [], dtype=int)
                world = np.array(cache.GetLocalToWorldTransform(prim))
                file.write(((points @ world[:3, :3] + world[3, :3]) @ turn * unit).tobytes())
                normals = mesh.GetNormalsAttr().Get(time) if with_normals else None
                count = 0
                if normals:
                    normals = per_point(np.array(normals, dtype=np.float64), corners, len(points))
                    turned = world[:3, :3]
                    flat = np.linalg.det(turned) == 0  # Nothing has a normal then.
                    normals = normals * 0 if flat else normals @ np.linalg.inv(turned).T @ turn
                    length = np.linalg.norm(normals, axis=1, keepdims=True)
                    normals = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)
                    file.write(normals.tobytes())
                    count = len(normals)
                row = {"path": str(prim.GetPath()), "points": len(points), "normals": count, "corners": corners.tolist(),
                       "counts": list(mesh.GetFaceVertexCountsAttr().Get(time) or []),
                       "left_handed": mesh.GetOrientationAttr().Get(time) == "leftHanded"}
                if len(told) == i:
                    told.append(row | {"sampled": sampled(mesh)})
                elif told[i] != row | {"sampled": told[i]["sampled"]}:
                    raise RuntimeError(f"{row['path']}: other sizes at {time}")
    return told


def sampled(mesh):
    """The times at which the points have a sample; where they never change, those of the transforms above them."""
    times = set(mesh.GetPointsAttr().GetTimeSamples())
    prim = None if times else mesh.GetPrim()
    while prim and prim.IsA(UsdGeom.Xformable):
        times.update(UsdGeom.Xformable(prim).GetTimeSamples())
        prim = prim.GetParent()
    return sorted(times)


def keys(stage):
    """Every time at which something has a sample that may move points."""
    times = set()
    for prim in stage.Traverse():
        moving = prim.GetAttributes() if prim.IsA(UsdSkel.Animation) else []
        if prim.IsA(UsdGeom.Xformable):
            moving = [a for a in prim.GetAttributes() if a.GetName().startswith("xformOp") or a.GetName() == "points"]
        for attribute in moving:
            times.update(attribute.GetTimeSamples())
    return sorted(times)


def facts(stage):
    skeletons = [p for p in stage.Traverse() if p.IsA(UsdSkel.Skeleton)]
    return {
        "time_codes_per_second": stage.GetTimeCodesPerSecond(),
        "frames_per_second": stage.GetFramesPerSecond(),
        "start": stage.GetStartTimeCode(),
        "end": stage.GetEndTimeCode(),
        "up_axis": str(UsdGeom.GetStageUpAxis(stage)),
        "meters_per_unit": UsdGeom.GetStageMetersPerUnit(stage),
        "default_prim": str(stage.GetDefaultPrim().GetPath()) if stage.GetDefaultPrim() else None,
        "animations": [str(p.GetPath()) for p in stage.Traverse() if p.IsA(UsdSkel.Animation)],
        "keys": keys(stage),
        "joint_names": [list(UsdSkel.Skeleton(s).GetJointNamesAttr().Get() or []) for s in skeletons],
    }


def validate(path):
    registry = UsdValidation.ValidationRegistry()
    context = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators())
    errors = []
    for error in context.Validate(Usd.Stage.Open(path)):
        sites = [str(s.GetPrim().GetPath()) if s.IsPrim() else str(s.GetProperty().GetPath()) if s.IsProperty() else ""
                 for s in error.GetSites()]
        errors.append([error.GetValidator().GetMetadata().name, error.GetName(), " ".join(sites), error.GetMessage()])
    return errors


def answer(request):
    if "validate" in request:
        return {"errors": validate(request["validate"])}
    stage = open_stage(request)
    stage_facts = facts(stage)
    if "stage" in request:
        return {"stage": stage_facts}
    if "bake" in request:
        bake(stage, request["times"])
    return {"prims": meshes(stage, request["times"], request["out"], request.get("normals", True)), "stage": stage_facts}


def main():
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception:  # The other side shows it with the file.
            reply = {"error": traceback.format_exc()}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
