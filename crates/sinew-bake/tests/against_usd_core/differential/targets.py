"""Who is bound to what, by UsdSkel.Cache."""

from dataclasses import dataclass

from pxr import Usd, UsdSkel


@dataclass(frozen=True)
class Target:
    """A prim that UsdSkel finds skinnable and bound."""

    path: str
    skeleton: str
    query: UsdSkel.SkinningQuery
    skeleton_query: UsdSkel.SkeletonQuery


def find_targets(stage):
    """All targets by path, on a stage without instances. The queries hold on to the stage's prims."""
    out = {}
    for prim in Usd.PrimRange(stage.GetPseudoRoot()):
        if not prim.IsA(UsdSkel.Root):
            continue
        root, cache = UsdSkel.Root(prim), UsdSkel.Cache()
        cache.Populate(root, Usd.PrimDefaultPredicate)
        for binding in cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate):
            skeleton = binding.GetSkeleton()
            skeleton_query = cache.GetSkelQuery(skeleton)
            for query in binding.GetSkinningTargets():
                path = str(query.GetPrim().GetPath())
                # A SkelRoot inside another sees its prims again, without what they inherit from above it.
                if path in out and not (query.HasJointInfluences() or query.HasBlendShapes()):
                    continue
                out[path] = Target(path, str(skeleton.GetPath()), query, skeleton_query)
    return out
