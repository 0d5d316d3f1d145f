"""What Pixar's usd-core makes of a converted scene, for scenery.rs beside it to compare with.

usage: scenery.py FILE TIME...

Prints one JSON object: what UsdValidation finds, and of every prim what its schema computes: frusta of cameras, inputs
of lights and shaders, instances, custom data, and transforms in the world at each time.
"""

import json
import sys

from pxr import Sdf, Usd, UsdGeom, UsdLux, UsdShade, UsdValidation


def plain(value):
    """A value of USD as one of JSON."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, Sdf.AssetPath):
        return value.path
    return [plain(v) for v in value]


def rows(matrix):
    return [list(matrix.GetRow(i)) for i in range(4)]


def camera(prim):
    frustum = UsdGeom.Camera(prim).GetCamera(Usd.TimeCode.Default()).frustum
    window, depth = frustum.window, frustum.nearFar
    return {
        "projection": str(UsdGeom.Camera(prim).GetProjectionAttr().Get()),
        "window": [*window.min, *window.max],
        "depth": [depth.min, depth.max],
    }


def inputs(shader):
    out = {}
    for i in shader.GetInputs():
        source = i.GetAttr().GetConnections()
        out[i.GetBaseName()] = str(source[0]) if source else plain(i.Get())
    return out


def light(prim):
    shaping = UsdLux.ShapingAPI(prim) if prim.HasAPI(UsdLux.ShapingAPI) else None
    point = prim.GetAttribute("treatAsPoint")
    return {
        "inputs": inputs(UsdLux.LightAPI(prim)),
        "cone": [shaping.GetShapingConeAngleAttr().Get(), shaping.GetShapingConeSoftnessAttr().Get()]
        if shaping
        else None,
        "point": point.Get() if point else None,
    }


def main(file, *times):
    stage = Usd.Stage.Open(file)
    context = UsdValidation.ValidationContext(
        UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    )
    out = {
        "findings": [f"{e.GetName()}: {e.GetMessage()}" for e in context.Validate(stage)],
        "layer": plain(stage.GetRootLayer().customLayerData),
        "comment": stage.GetRootLayer().comment,
        "prims": {},
    }
    stage.SetEditTarget(stage.GetSessionLayer())
    chosen = stage.GetDefaultPrim().GetVariantSet("materialVariant")
    out["variants"] = [chosen.GetVariantSelection(), {}]
    shoe = UsdShade.MaterialBindingAPI(stage.GetPrimAtPath("/scenery/Shoe/Shoe"))
    for name in chosen.GetVariantNames():
        chosen.SetVariantSelection(name)
        out["variants"][1][name] = str(shoe.ComputeBoundMaterial()[0].GetPath())
    stage.GetSessionLayer().Clear()
    for prim in stage.TraverseAll():
        found = {
            "type": prim.GetTypeName(),
            "active": prim.IsActive(),
            "name": prim.GetDisplayName(),
            "data": plain(prim.GetCustomData()),
        }
        if prim.IsA(UsdGeom.Imageable):
            found["visible"] = UsdGeom.Imageable(prim).ComputeVisibility() == "inherited"
            caches = [UsdGeom.XformCache(float(t)) for t in times]
            found["world"] = [rows(c.GetLocalToWorldTransform(prim)) for c in caches]
        if prim.IsA(UsdGeom.Camera):
            found["camera"] = camera(prim)
        if prim.HasAPI(UsdLux.LightAPI):
            found["light"] = light(prim)
        if prim.IsA(UsdGeom.PointInstancer):
            matrices = UsdGeom.PointInstancer(prim).ComputeInstanceTransformsAtTime(0, 0)
            found["instances"] = [rows(m) for m in matrices]
        if prim.IsA(UsdShade.Shader):
            found["inputs"] = inputs(UsdShade.Shader(prim))
        out["prims"][str(prim.GetPath())] = found
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
