"""What binds a prim to a skeleton: authored on it, or inherited from above, each property by itself."""

from dataclasses import dataclass, replace

from pxr import Sdf, UsdSkel, Vt

from rig import Rig


@dataclass(frozen=True)
class Inherited:
    """The nearest opinions at a place in namespace."""

    rig: Rig = None
    joints: tuple = None
    # (interpolation, how many points) of the influences, where there are some.
    influences: tuple = None

    def joint_count(self):
        if self.joints is not None:
            return len(self.joints)
        return len(self.rig.joints) if self.rig else 0


def bind_group(draw, prim, rigs, inherited, point_count):
    """Binds a SkelRoot, Xform or Scope: everything below inherits what is drawn here."""
    api = UsdSkel.BindingAPI.Apply(prim)
    out = inherited
    if out.rig is None or draw.chance(0.2):
        out = _bind_skeleton(draw, api, rigs, out)
    if draw.chance(0.15):
        out = _order_joints(draw, api, out)
    if draw.chance(0.15):
        api.CreateGeomBindTransformAttr(draw.matrix())
    if draw.chance(0.25):
        constant = draw.chance(0.4)
        out = add_influences(draw, api, out, 0 if constant else point_count)
    _choose_method(draw, prim, 0.2)
    return out


def bind_prim(draw, prim, rigs, inherited, point_count):
    """Binds a gprim, leaving to inheritance what it has already."""
    api = UsdSkel.BindingAPI.Apply(prim)
    out = inherited
    if out.rig is None or draw.chance(0.35):
        out = _bind_skeleton(draw, api, rigs, out)
    if draw.chance(0.25):
        out = _order_joints(draw, api, out)
    fits = out.influences is not None and out.influences[1] in (0, point_count)
    if not (fits and draw.chance(0.7)) and draw.chance(0.9):
        constant = point_count == 0 or draw.chance(0.2)
        if constant or point_count > 0:
            out = add_influences(draw, api, out, 0 if constant else point_count)
    if draw.chance(0.4):
        shear = draw.choice((0.0, 0.3))
        attribute = api.CreateGeomBindTransformAttr()
        make = lambda: draw.matrix(shear=shear, mirror=0.1)
        if draw.chance(0.25):
            draw.animate(attribute, make)
        else:
            attribute.Set(make())
    _choose_method(draw, prim, 0.3)
    return api, out


def _bind_skeleton(draw, api, rigs, inherited):
    rig = draw.choice(rigs)
    api.CreateSkeletonRel().SetTargets([rig.path])
    return replace(inherited, rig=rig)


def _order_joints(draw, api, inherited):
    """A prim's own joints: some of the skeleton's in another order, and at times one it lacks."""
    joints = list(inherited.rig.joints)
    joints = draw.sample(joints, max(1, len(joints) - draw.choice((0, 0, 1))))
    if draw.chance(0.25):
        joints.insert(draw.randrange(len(joints) + 1), "stranger")
    api.CreateJointsAttr(joints)
    return replace(inherited, joints=tuple(joints))


def add_influences(draw, api, inherited, point_count):
    """Vertex influences, or constant ones where `point_count` is 0."""
    per_point = draw.choice((1, 2, 3, 4, 6))
    rows, constant = max(point_count, 1), point_count == 0
    joint_count = inherited.joint_count()
    indices = api.CreateJointIndicesPrimvar(constant, per_point)
    weights = api.CreateJointWeightsPrimvar(constant, per_point)
    joints = [draw.randrange(joint_count) for _ in range(rows * per_point)]
    # Weights are used as authored: not normalised, and at times negative (rule 21).
    normalised, negative = draw.chance(0.7), draw.chance(0.15)

    def row():
        w = [draw.uniform(0.1, 1) * (0 if draw.chance(0.1) else 1) for _ in range(per_point)]
        w[0] += 0.1
        total = sum(w) if normalised else 1
        if negative and per_point > 1:
            w[-1] *= -0.3
        return [x / total for x in w]

    make = lambda: Vt.FloatArray([x for _ in range(rows) for x in row()])
    if draw.chance(0.1):
        draw.animate(weights.GetAttr(), make)
    else:
        weights.Set(make())
    if draw.chance(0.1):  # Indexed primvars are flattened (rule 4).
        order = list(range(rows))
        draw.shuffle(order)
        weights.SetIndices(order)
        draw.shuffle(order)
        indices.SetIndices(order)
    indices.Set(Vt.IntArray(joints))
    return replace(inherited, influences=("constant" if constant else "vertex", point_count))


def _choose_method(draw, prim, p):
    if not draw.chance(p):
        return
    attribute = prim.CreateAttribute("primvars:skel:skinningMethod", Sdf.ValueTypeNames.Token, False)
    attribute.Set(draw.choice(("dualQuaternion", "dualQuaternion", "classicLinear")))
