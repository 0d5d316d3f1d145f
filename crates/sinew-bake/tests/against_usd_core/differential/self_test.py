"""The comparison's own test: it has to notice every way in which a baked stage can be wrong."""

from pxr import Gf, Usd, UsdGeom, Vt

import pixar
from compare import Comparison
from targets import find_targets


def perturb_all(file, baked, tolerance):
    """Which perturbations the comparison noticed: {name: True or False}; without what the stage has nothing of."""
    theirs, _ = pixar.open_stage(file)
    written = pixar.bake(theirs, find_targets(theirs))
    noticed = {}
    if not any(names & {"points", "xformOp:transform"} for names in written.values()):
        return noticed
    for name, perturb in PERTURBATIONS.items():
        ours = Usd.Stage.Open(baked)
        ours.SetEditTarget(ours.GetSessionLayer())
        ours.GetSessionLayer().timeCodesPerSecond = ours.GetTimeCodesPerSecond()
        # Nothing can be changed inside an instance.
        while instances := [prim for prim in ours.TraverseAll() if prim.IsInstance()]:
            for instance in instances:
                instance.SetInstanceable(False)
        if perturb(ours, written):
            noticed[name] = bool(Comparison(file, theirs, written, ours, tolerance).run().failures)
    return noticed


def _first(stage, written, name):
    """The first attribute of that name that Pixar's bake wrote."""
    for path in sorted(written):
        if name in written[path]:
            attribute = stage.GetPrimAtPath(path).GetAttribute(name)
            if attribute.Get(_time(attribute)):
                return attribute
    return None


def _time(attribute):
    times = attribute.GetTimeSamples()
    return Usd.TimeCode(times[len(times) // 2]) if times else Usd.TimeCode.Default()


def _edit(name, change):
    """A perturbation: `change` maps an array of Gf.Vec3f to what it becomes at one time."""

    def perturb(stage, written):
        attribute = _first(stage, written, name)
        if attribute is None:
            return False
        values = {t: attribute.Get(t) for t in attribute.GetTimeSamples()}
        middle = _time(attribute)
        if not values:
            attribute.Set(change(attribute.Get()))
        for time, value in values.items():
            attribute.Set(change(value) if time == middle.GetValue() else value, time)
        return True

    return perturb


def _nudge(by):
    def change(vectors):
        size = max([1.0] + [abs(x) for v in vectors for x in v])
        return Vt.Vec3fArray([*list(vectors)[:-1], vectors[-1] + Gf.Vec3f(by * size, 0, 0)])

    return change


def _first_prim(stage, written):
    """The first prim whose points or transform are baked."""
    moved = sorted(p for p, names in written.items() if names & {"points", "xformOp:transform"})
    return stage.GetPrimAtPath(moved[0])


def _drop_sample(stage, written):
    """A sample in the middle that is missing: the neighbours' mean is no replacement."""
    for path in sorted(written):
        attribute = stage.GetPrimAtPath(path).GetAttribute("points")
        times = attribute.GetTimeSamples() if attribute and "points" in written[path] else []
        if len(times) < 3:
            continue
        kept = {t: attribute.Get(t) for t in times if t != times[len(times) // 2]}
        for time, value in kept.items():
            attribute.Set(value, time)
        return True
    return False


def _move_world(stage, _):
    tops = [UsdGeom.Xformable(p) for p in stage.GetPseudoRoot().GetChildren() if p.IsA(UsdGeom.Xformable)]
    tops[0].AddTranslateOp(opSuffix="perturbed").Set(Gf.Vec3d(0, 1e-4, 0))
    return True


def _turn(stage, written):
    """A rigid prim's transform at one time."""
    for path in sorted(written):
        if "xformOp:transform" in written[path]:
            attribute = stage.GetPrimAtPath(path).GetAttribute("xformOp:transform")
            values = {t: attribute.Get(t) for t in attribute.GetTimeSamples()} or {None: attribute.Get()}
            for i, (time, value) in enumerate(values.items()):
                turned = Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(0, 0, 1), 0.01)) * value
                value = turned if i == 0 else value
                attribute.Set(value) if time is None else attribute.Set(value, time)
            return True
    return False


def _not_retyped(stage, written):
    prim = _first_prim(stage, written)
    while prim.GetName() not in ("Ada", "Bob"):
        prim = prim.GetParent()
    prim.SetTypeName("SkelRoot")
    return True


def _gone(stage, written):
    _first_prim(stage, written).SetActive(False)
    return True


def _blocked(stage, written):
    attribute = _first(stage, written, "points")
    if attribute is None:
        return False
    attribute.Block()
    return True


PERTURBATIONS = {
    "nothing": lambda stage, written: True,
    "a point moved": _edit("points", _nudge(1e-3)),
    "a point that is no number": _edit("points", _nudge(float("nan"))),
    "a point too few": _edit("points", lambda v: Vt.Vec3fArray(list(v)[:-1])),
    "two points swapped": _edit("points", lambda v: Vt.Vec3fArray([v[1], v[0], *list(v)[2:]])),
    "a sample missing": _drop_sample,
    "no points": _blocked,
    "a normal turned": _edit("normals", _nudge(1e-2)),
    "normals negated": _edit("normals", lambda v: Vt.Vec3fArray([-x for x in v])),
    "an extent that is too large": _edit("extent", _nudge(1e-3)),
    "a transform that is turned": _turn,
    "a world that moved": _move_world,
    "a SkelRoot left": _not_retyped,
    "a prim that is gone": _gone,
}
