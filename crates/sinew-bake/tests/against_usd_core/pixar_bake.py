"""Bakes files with Pixar's usd-core, for assets.rs to compare with.

usage: pixar_bake.py OUT_FOLDER FILE...

Writes OUT_FOLDER/N.usdc for the N-th file and prints one JSON object: per file, whether it baked,
which prims the bake wrote, and UsdSkel's own bindings.
"""

import json
import sys

from pxr import Sdf, Usd, UsdSkel


def bindings(stage):
    """Skeleton and animation of every skinned prim, by UsdSkel.Cache."""
    out = {}
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        if not prim.IsA(UsdSkel.Root):
            continue
        root, cache = UsdSkel.Root(prim), UsdSkel.Cache()
        cache.Populate(root, Usd.TraverseInstanceProxies())
        for binding in cache.ComputeSkelBindings(root, Usd.TraverseInstanceProxies()):
            skeleton = binding.GetSkeleton()
            animation = cache.GetSkelQuery(skeleton).GetAnimQuery()
            for target in binding.GetSkinningTargets():
                out[str(target.GetPrim().GetPath())] = {
                    "skeleton": str(skeleton.GetPath()),
                    "animation": str(animation.GetPrim().GetPath()) if animation else None,
                    "influences": target.HasJointInfluences(),
                    "shapes": target.HasBlendShapes(),
                }
    return out


def bake(path, out):
    stage = Usd.Stage.Open(path)
    result = {"bindings": bindings(stage)}
    for prim in stage.Traverse():
        # Pixar's bake refuses native instances (rule 6).
        if prim.IsInstance():
            prim.SetInstanceable(False)
    # Into the session layer: in the layer that holds them, the bake loses animated rest points.
    session = stage.GetSessionLayer()
    session.timeCodesPerSecond = stage.GetTimeCodesPerSecond()
    stage.SetEditTarget(session)
    result["ok"] = UsdSkel.BakeSkinning(stage.Traverse())
    written = {"points": [], "normals": [], "extentsHint": []}

    def visit(spec):
        if spec.IsPropertyPath() and spec.name in written:
            written[spec.name].append(str(spec.GetPrimPath()))

    session.Traverse(Sdf.Path.absoluteRootPath, visit)
    result.update(written)
    stage.Export(out)
    return result


def main():
    folder, files = sys.argv[1], sys.argv[2:]
    out = {}
    for number, path in enumerate(files):
        try:
            out[path] = bake(path, f"{folder}/{number}.usdc")
        except Exception as e:  # A file that usd-core cannot open is a result too.
            out[path] = {"error": str(e)}
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
