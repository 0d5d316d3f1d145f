"""Blend shapes of a prim: dense and sparse, with and without in-betweens and normal offsets."""

from pxr import Gf, Sdf, UsdGeom, UsdSkel, Vt

from rig import CHANNELS

# Weights of in-betweens: below 0, above 1, and at 0 and 1, which are skipped (rule 13). None is drawn
# twice for one shape, see differences.py.
INBETWEEN_WEIGHTS = (-0.5, 0.25, 0.5, 0.75, 1.5, 0.0, 1.0)


def add_shapes(draw, stage, prim, api, point_count, shared_home):
    # Normals of the wrong number get no offsets, see differences.py.
    normals = UsdGeom.PointBased(prim).GetNormalsAttr().Get(0)
    offset_normals = not normals or len(normals) == point_count
    # "nobody" is a token that no animation has.
    tokens = draw.sample(CHANNELS + ("nobody",), draw.choice((1, 2, 3)))
    targets = []
    for token in tokens:
        path = f"{prim.GetPath()}/{token}" if draw.chance(0.8) else f"{shared_home}/{prim.GetName()}_{token}"
        targets.append(_add_shape(draw, stage, path, point_count, offset_normals))
    api.CreateBlendShapesAttr(tokens)
    api.CreateBlendShapeTargetsRel().SetTargets(targets)


def _add_shape(draw, stage, path, point_count, offset_normals):
    shape = UsdSkel.BlendShape.Define(stage, path)
    count = point_count
    if draw.chance(0.5):
        count = draw.randint(1, max(1, point_count // 2))
        # Indices that repeat add up (rule 18).
        indices = [draw.randrange(point_count) for _ in range(count)]
        if draw.chance(0.1):  # The type that early files have.
            _author(shape, "pointIndices", Sdf.ValueTypeNames.UIntArray, Vt.UIntArray(indices))
        else:
            shape.CreatePointIndicesAttr(indices)

    def offsets(size):
        return Vt.Vec3fArray([Gf.Vec3f(draw.vector(size)) for _ in range(count)])

    if draw.chance(0.1):
        kind = draw.choice((Sdf.ValueTypeNames.Point3fArray, Sdf.ValueTypeNames.Float3Array))
        _author(shape, "offsets", kind, offsets(0.5))
    else:
        shape.CreateOffsetsAttr(offsets(0.5))
    if offset_normals and draw.chance(0.4):
        shape.CreateNormalOffsetsAttr(offsets(0.3))
    for i, weight in enumerate(draw.sample(INBETWEEN_WEIGHTS, draw.choice((0, 0, 1, 2, 3)))):
        inbetween = shape.CreateInbetween(f"between{i}")
        inbetween.SetWeight(weight)
        inbetween.SetOffsets(offsets(0.5))
        if offset_normals and draw.chance(0.4):
            inbetween.SetNormalOffsets(offsets(0.3))
    return shape.GetPath()


def _author(shape, name, type_name, value):
    """Authors an attribute of another type than the schema's, which is fine in a layer."""
    layer = shape.GetPrim().GetStage().GetRootLayer()
    spec = Sdf.AttributeSpec(layer.GetPrimAtPath(shape.GetPath()), name, type_name, Sdf.VariabilityUniform)
    spec.default = value
