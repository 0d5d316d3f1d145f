"""Which features of UsdSkel a baked prim takes part in, as the stage has them, not as the generator meant them."""

from pxr import UsdGeom, UsdSkel

INFLUENCES = ("primvars:skel:jointIndices", "primvars:skel:jointWeights")
INHERITED = INFLUENCES + (
    "primvars:skel:geomBindTransform",
    "primvars:skel:skinningMethod",
    "skel:joints",
    "skel:skeleton",
)


def features_of(stage, target, instances):
    """Names of the features; `instances` holds the paths of native instances."""
    prim, query = stage.GetPrimAtPath(target.path), target.query
    out = {f"gprim {prim.GetTypeName()}"}
    if any(target.path.startswith(f"{i}/") for i in instances):
        out.add("instance")
    if query.HasJointInfluences():
        out |= _influence_features(query)
    if query.HasBlendShapes():
        out |= _shape_features(stage, prim, query)
    out |= _normal_features(prim)
    out |= _inheritance_features(prim)
    out |= _skeleton_features(target)
    points = UsdGeom.PointBased(prim)
    if points and points.GetPointsAttr().ValueMightBeTimeVarying():
        out.add("animated rest points")
    return out


def _influence_features(query):
    out = {f"influences {query.GetInterpolation()}", f"method {query.GetSkinningMethod()}"}
    out.add(f"{query.GetNumInfluencesPerComponent()} influences per point")
    if query.GetJointWeightsPrimvar().IsIndexed():
        out.add("indexed influences")
    if query.GetJointMapper():
        out.add("own joint order")
    bind = query.GetGeomBindTransformAttr()
    if bind and bind.HasAuthoredValue():
        out.add("animated geomBindTransform" if bind.ValueMightBeTimeVarying() else "geomBindTransform")
    if query.GetJointWeightsPrimvar().ValueMightBeTimeVarying():
        out.add("animated weights")
    return out


def _shape_features(stage, prim, query):
    out = {"blend shapes"}
    if not query.HasJointInfluences():
        out.add("only blend shapes")
    for path in UsdSkel.BindingAPI(prim).GetBlendShapeTargetsRel().GetForwardedTargets():
        shape = UsdSkel.BlendShape.Get(stage, path)
        if not shape:
            continue
        out.add("sparse shape" if shape.GetPointIndicesAttr().HasAuthoredValue() else "dense shape")
        if shape.GetNormalOffsetsAttr().HasAuthoredValue():
            out.add("normal offsets")
        for inbetween in shape.GetInbetweens():
            weight = inbetween.GetWeight()
            where = "below 0" if weight < 0 else "above 1" if weight > 1 else "at an end" if weight in (0, 1) else "within"
            out.add(f"in-between {where}")
    return out


def _normal_features(prim):
    points = UsdGeom.PointBased(prim)
    if not points or not points.GetNormalsAttr().HasAuthoredValue():
        return set()
    attribute = points.GetNormalsAttr()
    authored = attribute.HasAuthoredMetadata("interpolation")
    out = {f"normals {points.GetNormalsInterpolation() if authored else 'without interpolation'}"}
    if attribute.ValueMightBeTimeVarying():
        out.add("animated normals")
    return out


def _inheritance_features(prim):
    """From how far up each property comes."""
    out = set()
    for name in INHERITED:
        levels, at = 0, prim
        while not at.IsPseudoRoot():
            if at.HasAPI(UsdSkel.BindingAPI) and at.GetProperty(name).IsAuthored():
                if levels:
                    out.add(f"{name.split(':')[-1]} inherited over {min(levels, 2)}{'+' if levels > 1 else ''} levels")
                break
            levels, at = levels + 1, at.GetParent()
    return out


def _skeleton_features(target):
    query = target.skeleton_query
    animation = query.GetAnimQuery()
    if not animation:
        return {"no animation"}
    out = set()
    skeleton, animated = list(query.GetJointOrder()), list(animation.GetJointOrder())
    common = set(skeleton) & set(animated)
    if not common:
        out.add("animation without common joints")
    elif len(common) < len(skeleton):
        out.add("sparse animation")
    elif skeleton != animated:
        out.add("shuffled animation")
    for name in ("translations", "rotations", "scales"):
        if not animation.GetPrim().GetAttribute(name).HasAuthoredValue():
            out.add("animation without a component")
    return out
