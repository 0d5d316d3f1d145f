"""Writes a tube over a chain of joints, of any size, as a stage for tests and timings."""

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt


def write(path, points: int, frames: int, joints: int = 24, influences: int = 4) -> None:
    stage = Usd.Stage.CreateNew(str(path))
    stage.SetStartTimeCode(1)
    stage.SetEndTimeCode(frames)
    root = UsdSkel.Root.Define(stage, "/Tube")
    skeleton = UsdSkel.Skeleton.Define(stage, "/Tube/Skel")
    names = ["/".join(f"j{k}" for k in range(j + 1)) for j in range(joints)]
    local = [Gf.Matrix4d().SetTranslate(Gf.Vec3d(0, 1 if j else 0, 0)) for j in range(joints)]
    world = [Gf.Matrix4d().SetTranslate(Gf.Vec3d(0, j, 0)) for j in range(joints)]
    skeleton.CreateJointsAttr(names)
    skeleton.CreateRestTransformsAttr(local)
    skeleton.CreateBindTransformsAttr(world)
    animation = UsdSkel.Animation.Define(stage, "/Tube/Anim")
    animation.CreateJointsAttr(names)
    animation.CreateTranslationsAttr([m.ExtractTranslation() for m in local])
    animation.CreateScalesAttr([Gf.Vec3h(1)] * joints)
    rotations = animation.CreateRotationsAttr()
    for frame in range(1, frames + 1):
        turns = [Gf.Rotation((0, 0, 1), 6 * np.sin(0.1 * frame + 0.4 * j)) for j in range(joints)]
        rotations.Set([Gf.Quatf(turn.GetQuat()) for turn in turns], frame)
    binding = UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
    binding.CreateAnimationSourceRel().SetTargets([animation.GetPath()])

    around = 50
    rows = max(points // around, 2)
    height = np.repeat(np.linspace(0, joints - 1, rows), around)
    angle = np.tile(np.linspace(0, 2 * np.pi, around, endpoint=False), rows)
    rest = np.stack([np.cos(angle), height, np.sin(angle)], axis=1).astype(np.float32)
    first = np.clip(height.astype(np.int32) - 1, 0, joints - influences)
    indices = first[:, None] + np.arange(influences, dtype=np.int32)
    weights = 1.0 / (0.3 + np.abs(indices - height[:, None]))
    weights = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    mesh = UsdGeom.Mesh.Define(stage, "/Tube/Mesh")
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(rest))
    corner = np.arange((rows - 1) * around, dtype=np.int32)
    beside = corner // around * around + (corner + 1) % around
    faces = np.stack([corner, beside, beside + around, corner + around], axis=1)
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(faces.reshape(-1)))
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray([4] * len(faces)))
    bound = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    bound.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    flat = (indices.reshape(-1).tolist(), weights.reshape(-1).tolist())
    bound.CreateJointIndicesPrimvar(False, influences).Set(Vt.IntArray(flat[0]))
    bound.CreateJointWeightsPrimvar(False, influences).Set(Vt.FloatArray(flat[1]))
    assert root.GetPrim().IsValid() and Sdf.Layer.Find(str(path))
    stage.Save()
