"""Reads authored blend shapes with Pixar's usd-core, for author.rs to compare with.

usage: author_readback.py FILE MESH ANIMATION TIME...

Prints one JSON object: the mesh's blend shapes as UsdSkel's schemas have them, what the validators of
the schema's own classes say, and the points that BakeSkinning makes at the times.
"""

import json
import sys

from pxr import Usd, UsdGeom, UsdSkel


def vectors(values):
    """None for no value and for an empty one: in-betweens answer with either."""
    return [list(v) for v in values] if values else None


def main(file, mesh, animation, *times):
    stage = Usd.Stage.Open(file)
    prim = stage.GetPrimAtPath(mesh)
    binding = UsdSkel.BindingAPI(prim)
    animation = UsdSkel.Animation(stage.GetPrimAtPath(animation))
    out = {
        "api": prim.HasAPI(UsdSkel.BindingAPI),
        "tokens": list(binding.GetBlendShapesAttr().Get()),
        "targets": [str(t) for t in binding.GetBlendShapeTargetsRel().GetTargets()],
        "channels": list(animation.GetBlendShapesAttr().Get()),
        "weights": {str(t): list(animation.GetBlendShapeWeightsAttr().Get(t)) for t in animation.GetBlendShapeWeightsAttr().GetTimeSamples()},
        "shapes": {},
    }
    for target in out["targets"]:
        shape = UsdSkel.BlendShape(stage.GetPrimAtPath(target))
        assert shape, target
        attributes = shape.GetPrim().GetAuthoredAttributes()
        indices = shape.GetPointIndicesAttr().Get()
        points = len(UsdGeom.PointBased(prim).GetPointsAttr().Get())
        assert UsdSkel.BlendShape.ValidatePointIndices(indices or [], points)[0]
        out["shapes"][target] = {
            "indices": list(indices) if indices is not None else None,
            "offsets": vectors(shape.GetOffsetsAttr().Get()),
            "normals": vectors(shape.GetNormalOffsetsAttr().Get()),
            "types": {a.GetName(): str(a.GetTypeName()) for a in attributes},
            "custom": [a.GetName() for a in attributes if a.IsCustom() or a.GetVariability().name != "VariabilityUniform"],
            "inbetweens": [
                {"name": b.GetAttr().GetName(), "weight": b.GetWeight(), "offsets": vectors(b.GetOffsets()), "normals": vectors(b.GetNormalOffsets())}
                for b in shape.GetInbetweens()
            ],
        }
    root = UsdSkel.Root.Find(prim)
    assert UsdSkel.BakeSkinning(root)
    points = UsdGeom.PointBased(stage.GetPrimAtPath(mesh)).GetPointsAttr()
    out["baked"] = [vectors(points.Get(float(t))) for t in times]
    json.dump(out, sys.stdout)


main(*sys.argv[1:])
