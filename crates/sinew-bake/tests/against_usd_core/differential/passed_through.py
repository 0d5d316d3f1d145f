"""What a prim's points pass through on their way from rest to the world, to judge a difference by."""

import numpy as np
from pxr import Usd, UsdGeom

from pixar import open_stage
from targets import find_targets


class PassedThrough:
    """The file before the bake. `find_ties` is given (target, point count, time code, tolerance)."""

    def __init__(self, path, find_ties):
        self._stage, _ = open_stage(path)
        self._targets = find_targets(self._stage)
        self._find_ties = find_ties

    def ties(self, path, codes, count, tolerance):
        """Which points' dual quaternions tie at one of these times."""
        tied = np.zeros(count, bool)
        target = self._targets.get(path)
        query = target.query if target else None
        if not query or not query.HasJointInfluences() or query.GetSkinningMethod() != "dualQuaternion":
            return tied
        for time in codes:
            found = self._find_ties(target, count, time, tolerance)
            if found is not None and len(found) == count:
                tied |= found
        return tied

    def scale(self, path, code, world=None):
        """The largest coordinate on the way, as seen from the world, or from the prim where its transform is given."""
        target = self._targets.get(path)
        prim = self._stage.GetPrimAtPath(path)
        points = prim.GetAttribute("points").Get(code)
        if target is None or not points or not target.query.HasJointInfluences():
            return 0.0
        largest = np.abs(np.array(points, dtype=np.float64)).max()
        joints = target.skeleton_query.ComputeSkinningTransforms(code)
        if not joints:
            return 0.0
        bind = np.array(target.query.GetGeomBindTransform(code))
        to_world = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(target.skeleton_query.GetPrim()))
        influences = target.query.ComputeJointInfluences(code)
        weights = np.abs(np.array(influences[1], dtype=np.float64)).reshape(-1, target.query.GetNumInfluencesPerComponent())
        total = max(1.0, weights.sum(axis=1).max(initial=0))
        bound = _reach(largest, bind)
        posed = max(_reach(bound, np.array(j)) for j in joints) * total
        placed = _reach(posed, to_world)
        if world is None:
            return placed
        return _reach(placed, np.linalg.inv(world))


def _reach(largest, matrix):
    """How far from the origin a row-vector transform can take points with coordinates up to `largest`."""
    return np.abs(matrix[:3, :3]).sum(axis=0).max() * largest + np.abs(matrix[3, :3]).max()
