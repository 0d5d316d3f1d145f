"""Dual quaternion points whose way round is a matter of the last bit (rule 25, see differences.py)."""

import numpy as np
from pxr import Vt


def hemisphere_ties(target, count, code, tolerance):
    """True for points one of whose joints is turned half way round from its heaviest joint's rotation."""
    joints = target.skeleton_query.ComputeSkinningTransforms(code)
    influences = target.query.ComputeVaryingJointInfluences(count, code)
    if not joints or not influences:
        return None
    mapper = target.query.GetJointMapper()
    if mapper:
        joints = mapper.RemapTransforms(joints, Vt.Matrix4dArray())
    rotations = np.array([_rotation(j) for j in joints])
    per_point = len(influences[0]) // count
    indices = np.array(influences[0]).reshape(count, per_point)
    weights = np.array(influences[1]).reshape(count, per_point)
    # argmax takes the first of the largest, as Pixar does.
    heaviest = rotations[indices[np.arange(count), weights.argmax(axis=1)]]
    cosines = np.einsum("pij,pj->pi", rotations[indices], heaviest)
    return ((np.abs(cosines) < tolerance) & (weights != 0)).any(axis=1)


def _rotation(matrix):
    """The rotation that dual quaternion skinning takes from a joint, as (x, y, z, w)."""
    factored = matrix.Factor()
    rotation = factored[3].GetOrthonormalized() if factored and factored[0] else matrix.RemoveScaleShear()
    q = rotation.ExtractRotationQuat()
    return (*q.GetImaginary(), q.GetReal())
