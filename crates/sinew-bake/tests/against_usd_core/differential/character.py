"""A SkelRoot with skeletons, animations, groups and what they move."""

from pxr import Usd, UsdGeom, UsdSkel

from binding import Inherited, bind_group, bind_prim
from gprims import add_gprim
from rig import add_animation, add_skeleton
from shapes import add_shapes
from transforms import add_transform


def add_character(draw, stage, path, animated_ancestors):
    root = UsdSkel.Root.Define(stage, path).GetPrim()
    add_transform(draw, root, animated_ancestors)
    point_count = draw.choice((3, 4, 5, 8, 12, 30))
    rigs = _add_rigs(draw, stage, path)
    inherited = Inherited()
    if draw.chance(0.3):
        inherited = bind_group(draw, root, rigs, inherited, point_count)
    groups = [(root, inherited)]
    above = {path: inherited}
    for name in ("Geo", "Geo/Body", "Hair")[: draw.choice((1, 2, 3))]:
        group = stage.DefinePrim(f"{path}/{name}", draw.choice(("Xform", "Xform", "Scope")))
        if group.IsA(UsdGeom.Xformable):
            add_transform(draw, group, animated_ancestors)
        bound = above[str(group.GetPath().GetParentPath())]
        if draw.chance(0.5):
            bound = bind_group(draw, group, rigs, bound, point_count)
        above[str(group.GetPath())] = bound
        groups.append((group, bound))
    if draw.chance(0.1):  # A SkelRoot inside another.
        inner = UsdSkel.Root.Define(stage, f"{path}/Geo/Inner").GetPrim()
        add_transform(draw, inner, animated_ancestors)
        groups.append((inner, groups[1][1]))
    for i in range(draw.choice((1, 2, 2, 3, 4))):
        group, from_above = draw.choice(groups)
        wanted = point_count if draw.chance(0.6) else draw.randint(3, 40)
        prim, count = add_gprim(draw, stage, f"{group.GetPath()}/Prim{i}", wanted)
        if draw.chance(0.06):
            continue  # Without SkelBindingAPI only what is inherited counts (rule 2).
        api, _ = bind_prim(draw, prim, rigs, from_above, count)
        if count and draw.chance(0.4):
            add_shapes(draw, stage, prim, api, count, f"{path}/Shapes")
    _set_purposes(draw, stage, path)


def _add_rigs(draw, stage, path):
    """One to three skeletons, each with its animation bound somewhere from itself upward (rule 3)."""
    home = path
    if draw.chance(0.5):
        home = f"{path}/Rig"
        add_transform(draw, UsdGeom.Xform.Define(stage, home).GetPrim(), 0.2)
    rigs = []
    # Skeletons of one size, so that prims can be bound to any of them.
    joint_count = draw.choice((1, 2, 4, 6, 9))
    for i in range(draw.choice((1, 1, 2, 3))):
        rig = add_skeleton(draw, stage, f"{home}/Skel{i}", joint_count)
        rigs.append(rig)
        if draw.chance(0.06):
            continue  # At rest.
        place = draw.choice((rig.path, home, path))
        animation = add_animation(draw, stage, f"{place}/Anim{i}", rig)
        bound_at = rig.path if draw.chance(0.7) else draw.choice((home, path, path.rsplit("/", 1)[0]))
        api = UsdSkel.BindingAPI.Apply(stage.GetPrimAtPath(bound_at))
        api.CreateAnimationSourceRel().SetTargets([animation])
        _block(draw, stage, rig, animation)
    return rigs


def _block(draw, stage, rig, animation):
    """What unbinds an animation from its Skeleton (rule 3)."""
    if draw.chance(0.03):
        stage.GetPrimAtPath(animation).SetActive(False)
    elif draw.chance(0.03):
        api = UsdSkel.BindingAPI.Apply(stage.GetPrimAtPath(rig.path))
        api.CreateAnimationSourceRel().SetTargets([])


def _set_purposes(draw, stage, path):
    """Invisible prims, guides and proxies are skinned too (rule 1)."""
    for prim in Usd.PrimRange(stage.GetPrimAtPath(path)):
        if prim.IsA(UsdGeom.Gprim) and draw.chance(0.1):
            if draw.chance(0.5):
                UsdGeom.Imageable(prim).CreatePurposeAttr(draw.choice(("guide", "proxy", "render")))
            else:
                UsdGeom.Imageable(prim).CreateVisibilityAttr("invisible")
