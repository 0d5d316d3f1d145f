"""Blend shapes of a prim: dense and sparse, with and without in-betweens and normal offsets."""

from pxr import Gf, UsdSkel, Vt

from rig import CHANNELS

# Weights of in-betweens: below 0, above 1, and at 0 and 1, which are skipped (rule 13). None is drawn
# twice for one shape, see differences.py.
INBETWEEN_WEIGHTS = (-0.5, 0.25, 0.5, 0.75, 1.5, 0.0, 1.0)


def add_shapes(draw, stage, prim, api, point_count, shared_home):
    # "nobody" is a token that no animation has.
    tokens = draw.sample(CHANNELS + ("nobody",), draw.choice((1, 2, 3)))
    targets = []
    for token in tokens:
        home = str(prim.GetPath()) if draw.chance(0.8) else f"{shared_home}/{prim.GetName()}"
        targets.append(_add_shape(draw, stage, f"{home}_{token}" if home != str(prim.GetPath()) else f"{home}/{token}", point_count))
    api.CreateBlendShapesAttr(tokens)
    api.CreateBlendShapeTargetsRel().SetTargets(targets)


def _add_shape(draw, stage, path, point_count):
    shape = UsdSkel.BlendShape.Define(stage, path)
    count = point_count
    if draw.chance(0.5):
        count = draw.randint(1, max(1, point_count // 2))
        # Indices that repeat add up (rule 18).
        shape.CreatePointIndicesAttr([draw.randrange(point_count) for _ in range(count)])

    def offsets(size):
        return Vt.Vec3fArray([Gf.Vec3f(draw.vector(size)) for _ in range(count)])

    shape.CreateOffsetsAttr(offsets(0.5))
    if draw.chance(0.4):
        shape.CreateNormalOffsetsAttr(offsets(0.3))
    for i, weight in enumerate(draw.sample(INBETWEEN_WEIGHTS, draw.choice((0, 0, 1, 2, 3)))):
        inbetween = shape.CreateInbetween(f"between{i}")
        inbetween.SetWeight(weight)
        inbetween.SetOffsets(offsets(0.5))
        if draw.chance(0.4):
            inbetween.SetNormalOffsets(offsets(0.3))
    return shape.GetPath()
