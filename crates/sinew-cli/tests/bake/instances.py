"""Prints where usd-core places the meshes of a PointInstancer, for each time: instances.py FILE TIME..."""

import json, sys
from pxr import Gf, Usd, UsdGeom
stage = Usd.Stage.Open(sys.argv[1])

def shown(instancer, time, root):
    # Matrices to the space of the instancer's parent, without what is above.
    out = []
    all = instancer.ComputeInstanceTransformsAtTime(
        time, time, UsdGeom.PointInstancer.IncludeProtoXform, UsdGeom.PointInstancer.IgnoreMask)
    mask = instancer.ComputeMaskAtTime(time)
    indices = instancer.GetProtoIndicesAttr().Get(time)
    targets = instancer.GetPrototypesRel().GetTargets()
    own = UsdGeom.Xformable(instancer).GetLocalTransformation(time)
    for i, (matrix, index) in enumerate(zip(all, indices)):
        if mask and not mask[i]:
            continue
        proto = stage.GetPrimAtPath(targets[index])
        if proto.IsA(UsdGeom.PointInstancer):
            inverse = UsdGeom.Xformable(proto).GetLocalTransformation(time).GetInverse()
            for path, m in shown(UsdGeom.PointInstancer(proto), time, proto):
                # The matrix of the instance has the prototype's own transform already.
                out.append((path, m * inverse * matrix * own))
            continue
        for prim in Usd.PrimRange(proto):
            if prim.IsA(UsdGeom.Mesh):
                m = Gf.Matrix4d(1)
                at = prim
                while at != proto:
                    m = m * UsdGeom.Xformable(at).GetLocalTransformation(time)
                    at = at.GetParent()
                out.append((str(prim.GetPath()), m * matrix * own))
    return out

out = []
for time in map(float, sys.argv[2:]):
    prim = stage.GetPrimAtPath('/World/P')
    above = UsdGeom.Xformable(prim).ComputeParentToWorldTransform(time)
    meshes = [(p, [v for row in m * above for v in row]) for p, m in shown(UsdGeom.PointInstancer(prim), time, prim)]
    out.append(sorted(meshes))
print(json.dumps(out))
