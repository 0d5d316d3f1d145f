# What usd-core reads of a fixed file, referenced and not.

import json, sys
from pxr import Usd, UsdGeom, UsdSkel
stage = Usd.Stage.Open(sys.argv[1])
root = UsdSkel.Root(stage.GetDefaultPrim())
cache = UsdSkel.Cache()
cache.Populate(root, Usd.PrimDefaultPredicate)
path = root.GetPath()
mesh = cache.GetSkinningQuery(stage.GetPrimAtPath(path.AppendPath('M')))
stiff = cache.GetSkinningQuery(stage.GetPrimAtPath(path.AppendPath('Stiff')))
smile = UsdSkel.BlendShape(stage.GetPrimAtPath(path.AppendPath('M/Smile')))
indices, weights = mesh.ComputeVaryingJointInfluences(4)
shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(stage.GetPrimAtPath(path.AppendPath('M'))))
print(json.dumps({
    'indices': list(indices), 'weights': [round(w, 6) for w in weights],
    'per_point': mesh.GetNumInfluencesPerComponent(),
    'stiff': bool(stiff and stiff.HasJointInfluences()),
    'sub_shapes': shapes.GetNumSubShapes(),
    'types': str(smile.GetPointIndicesAttr().GetTypeName()),
    'point_indices': list(smile.GetPointIndicesAttr().Get()),
    'baked': UsdSkel.BakeSkinning(root, __import__('pxr.Gf').Gf.Interval(1, 2)),
}))
