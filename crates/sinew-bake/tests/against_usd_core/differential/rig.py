"""Skeletons and what animates them."""

from dataclasses import dataclass

from pxr import Gf, UsdSkel, Vt

from transforms import add_transform

# Channels of blend shape weights; a prim's shapes take some of them, in an order of their own.
CHANNELS = ("smile", "frown", "blink", "jaw")


@dataclass(frozen=True)
class Rig:
    """A Skeleton, as a binding needs to know it."""

    path: str
    joints: tuple


def joint_tree(draw, count):
    """Parents before children, each at a random place in the tree; some skip a level (rule 7)."""
    joints = []
    for i in range(count):
        parent = draw.choice(joints) if joints and draw.chance(0.8) else None
        gap = "unlisted/" if draw.chance(0.1) else ""
        joints.append(f"{parent}/{gap}j{i}" if parent else f"{gap}j{i}")
    return tuple(joints)


def add_skeleton(draw, stage, path, joint_count):
    skeleton = UsdSkel.Skeleton.Define(stage, path)
    add_transform(draw, skeleton.GetPrim())
    joints = joint_tree(draw, joint_count)
    skeleton.CreateJointsAttr(joints)
    shear = draw.choice((0.0, 0.0, 0.3))
    skeleton.CreateBindTransformsAttr(Vt.Matrix4dArray([draw.matrix(shear=shear, mirror=0.05) for _ in joints]))
    skeleton.CreateRestTransformsAttr(Vt.Matrix4dArray([draw.matrix(scaled=draw.chance(0.3), reach=1) for _ in joints]))
    return Rig(path, joints)


def add_animation(draw, stage, path, rig):
    animation = UsdSkel.Animation.Define(stage, path)
    joints = _animated_joints(draw, rig)
    animation.CreateJointsAttr(joints)
    # An animation that lacks a component leaves its skeleton at rest (rule 8).
    lacks = draw.choice(("translations", "rotations", "scales")) if draw.chance(0.06) else None
    # So does an array of the wrong length, at its own time.
    count = lambda: len(joints) + (1 if draw.chance(0.02) else 0)
    vectors = lambda kind, one: kind([one() for _ in range(count())])
    if lacks != "translations":
        make = lambda: vectors(Vt.Vec3fArray, lambda: Gf.Vec3f(draw.vector()))
        draw.animate(animation.CreateTranslationsAttr(), make, blocked=0.04)
    if lacks != "rotations":
        factor = lambda: draw.uniform(0.7, 1.4) if draw.chance(0.1) else 1.0
        make = lambda: vectors(Vt.QuatfArray, lambda: Gf.Quatf(draw.quaternion() * factor()))
        draw.animate(animation.CreateRotationsAttr(), make, blocked=0.04)
    if lacks != "scales":
        make = lambda: vectors(Vt.Vec3hArray, lambda: Gf.Vec3h(draw.scale(mirror=0.03)))
        draw.animate(animation.CreateScalesAttr(), make, blocked=0.04)
    _add_weights(draw, animation)
    return path


def _animated_joints(draw, rig):
    joints = list(rig.joints)
    kind = draw.random()
    if kind < 0.35:
        draw.shuffle(joints)
    elif kind < 0.6:  # Sparse, with joints that the skeleton lacks.
        joints = draw.sample(joints, max(1, len(joints) - draw.choice((1, 2))))
        joints += ["stranger"] if draw.chance(0.4) else []
    elif kind < 0.64:  # None in common: rest (rule 9).
        joints = ["stranger"]
    return joints


def _add_weights(draw, animation):
    channels = draw.sample(CHANNELS, draw.choice((2, 3, 4)))
    animation.CreateBlendShapesAttr(channels)

    def weight():
        # At the null shape, at the primary shape, between them, and beyond both ends.
        return draw.choice((0.0, 1.0, draw.random(), draw.uniform(-1.5, 0), draw.uniform(1, 2.5)))

    if draw.chance(0.95):
        # None is blocked, see differences.py.
        # Fewer weights than channels: the rest are 0 (rule 11).
        count = len(channels) - (1 if draw.chance(0.05) else 0)
        draw.animate(animation.CreateBlendShapeWeightsAttr(), lambda: Vt.FloatArray([weight() for _ in range(count)]))
