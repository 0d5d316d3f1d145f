"""Answers judges.rs beside it, one JSON object per line: what usd-core makes of a file, in the world.

{"bake": FILE, "times": [TIME CODE], "out": FILE}    skins by UsdSkel.BakeSkinning, then reads
    Gives {"prims": [{"path", "points", "normals", "corners", "counts", "left_handed"}], "stage": {...}} and writes, for
    each time and each prim, so many points and normals (none, or one per point) as f64, in metres with y up.
    "normals": false leaves normals out, and meshes whose number of points changes.
{"stage": FILE}                                      {"stage": {...}} alone
{"describe": FILE, "times": [TIME CODE]}             {"prims": {PATH: what its schema computes}, "variants": [...]}
{"validate": FILE}                                   {"errors": [[validator, error, site, message]]}

An answer with "error" holds the traceback of a bug in here.
"""

import json
import sys
import traceback

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdShade, UsdSkel, UsdValidation


def open_stage(request):
    stage = Usd.Stage.Open(request.get("bake") or request["stage"])
    session = stage.GetSessionLayer()
    # What the bake writes are raw layer times; with another rate than the stage's they would be scaled.
    session.timeCodesPerSecond = stage.GetTimeCodesPerSecond()
    session.framesPerSecond = stage.GetFramesPerSecond()
    stage.SetEditTarget(session)
    # What instances show can be neither bound nor baked.
    while instances := [prim for prim in stage.Traverse() if prim.IsInstance()]:
        for prim in instances:
            prim.SetInstanceable(False)
    return stage


def flattened(stage, times):
    """The stage as one layer with a sample at each time of all points that move: what a bake writes over them must not be
    what it reads at the next time."""
    moves = [p for p in stage.Traverse() if p.IsA(UsdGeom.PointBased)
             and UsdGeom.PointBased(p).GetPointsAttr().GetNumTimeSamples()]
    if not moves:
        return stage
    flat = Usd.Stage.Open(stage.Flatten())
    for prim in flat.Traverse():
        points = UsdGeom.PointBased(prim).GetPointsAttr() if prim.IsA(UsdGeom.PointBased) else None
        if points and points.GetNumTimeSamples():
            for time, value in [(time, points.Get(time)) for time in times]:
                if value is not None:
                    points.Set(value, time)
    return flat


def bake(stage, times):
    for prim in stage.Traverse():
        if prim.IsA(UsdSkel.Skeleton):
            # A moving transform that does not move makes the bake sample these times.
            if prim.GetAttribute("xformOp:translate:sampled"):
                continue  # What it inherits from has one.
            op = UsdGeom.Xformable(prim).AddTranslateOp(opSuffix="sampled")
            for time in times:
                op.Set(Gf.Vec3d(0), time)
        if prim.IsA(UsdSkel.Animation):
            # Where no joint moves, only samples of weights count.
            weights = UsdSkel.Animation(prim).GetBlendShapeWeightsAttr()
            if weights.GetNumTimeSamples():
                for time, value in [(time, weights.Get(time)) for time in times]:
                    weights.Set(value, time)
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
    # Neither invisible prims nor guides and stand-ins are part of the picture.
    prims = [p for p in prims if UsdGeom.Imageable(p).ComputeVisibility() != "invisible"
             and UsdGeom.Imageable(p).ComputePurpose() not in ("guide", "proxy")]
    if not with_normals:
        # Nobody can follow points that come and go.
        prims = [p for p in prims if len({len(UsdGeom.Mesh(p).GetPointsAttr().Get(t) or []) for t in times}) == 1]
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
                       # Mirrored prims turn their faces.
                       "left_handed": (mesh.GetOrientationAttr().Get(time) == "leftHanded")
                       != bool(np.linalg.det(world[:3, :3]) < 0)}
                if len(told) == i:
                    told.append(row)
                elif told[i] != row | {"left_handed": told[i]["left_handed"]}:
                    raise RuntimeError(f"{row['path']}: other sizes at {time}")
    return told


def moving(stage):
    """Times of the samples of every attribute that may move points."""
    out = []
    for prim in stage.Traverse():
        attributes = prim.GetAttributes() if prim.IsA(UsdSkel.Animation) else []
        if prim.IsA(UsdGeom.Xformable):
            attributes = [a for a in prim.GetAttributes() if a.GetName().startswith("xformOp") or a.GetName() == "points"]
        out += [a.GetTimeSamples() for a in attributes if a.GetNumTimeSamples() > 0]
    return out


def keys(stage):
    """Every time at which something has a sample, and whether everything has one there or holds still."""
    all_times = [set(times) for times in moving(stage)]
    union = sorted(set().union(*all_times))
    return [[t, all(t in times or t < min(times) or t > max(times) for times in all_times)] for t in union]


def bound(stage):
    """The animation that moves each Skeleton that has one."""
    cache = UsdSkel.Cache()
    for prim in stage.Traverse():
        if prim.IsA(UsdSkel.Root):
            cache.Populate(UsdSkel.Root(prim), Usd.PrimDefaultPredicate)
    queries = {str(p.GetPath()): cache.GetSkelQuery(UsdSkel.Skeleton(p)).GetAnimQuery()
               for p in stage.Traverse() if p.IsA(UsdSkel.Skeleton)}
    return {path: str(query.GetPrim().GetPath()) for path, query in queries.items() if query}


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
        "moves": bool(bound(stage)) or any(
            a.GetNumTimeSamples() > 0 for p in stage.Traverse() if p.IsA(UsdGeom.Xformable)
            for a in p.GetAttributes() if a.GetName().startswith("xformOp")),
        "gprims": [str(p.GetPath()) for p in stage.Traverse() if p.IsA(UsdGeom.Gprim)],
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


def rows(matrix):
    return [list(matrix.GetRow(i)) for i in range(4)]


def camera(prim):
    frustum = UsdGeom.Camera(prim).GetCamera(Usd.TimeCode.Default()).frustum
    window, depth = frustum.window, frustum.nearFar
    return {"window": [*window.min, *window.max], "depth": [depth.min, depth.max]}


def variants(stage):
    """The chosen variant of materials, and what each binds the shoe of scenery.gltf to."""
    if not stage.GetPrimAtPath("/scenery/Shoe/Shoe"):
        return None
    chosen = stage.GetDefaultPrim().GetVariantSet("materialVariant")
    out = [chosen.GetVariantSelection(), {}]
    shoe = UsdShade.MaterialBindingAPI(stage.GetPrimAtPath("/scenery/Shoe/Shoe"))
    for name in chosen.GetVariantNames():
        chosen.SetVariantSelection(name)
        out[1][name] = str(shoe.ComputeBoundMaterial()[0].GetPath())
    stage.GetSessionLayer().Clear()
    return out


def describe(file, times):
    stage = Usd.Stage.Open(file)
    stage.SetEditTarget(stage.GetSessionLayer())
    out = {"variants": variants(stage), "prims": {}}
    for prim in stage.TraverseAll():
        found = {"visible": None}
        if prim.IsA(UsdGeom.Imageable):
            found["visible"] = UsdGeom.Imageable(prim).ComputeVisibility() == "inherited"
            caches = [UsdGeom.XformCache(time) for time in times]
            found["world"] = [rows(c.GetLocalToWorldTransform(prim)) for c in caches]
        if prim.IsA(UsdGeom.Camera):
            found["camera"] = camera(prim)
        if prim.IsA(UsdGeom.PointInstancer):
            matrices = UsdGeom.PointInstancer(prim).ComputeInstanceTransformsAtTime(0, 0)
            found["instances"] = [rows(m) for m in matrices]
        if bind := UsdSkel.BindingAPI(prim).GetGeomBindTransformAttr().Get():
            found["bind"] = rows(bind)
        out["prims"][str(prim.GetPath())] = found
    return out


def answer(request):
    if "describe" in request:
        return describe(request["describe"], request["times"])
    if "validate" in request:
        return {"errors": validate(request["validate"])}
    stage = open_stage(request)
    stage_facts = facts(stage)
    if "stage" in request:
        return {"stage": stage_facts}
    if not request.get("normals", True):
        stage = flattened(stage, request["times"])
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
