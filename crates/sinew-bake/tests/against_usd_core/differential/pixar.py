"""Pixar's own bake of a file, by usd-core."""

from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel

# What the bake writes.
OUTPUTS = ("points", "normals", "extent", "extentsHint", "xformOp:transform")


def open_stage(path):
    """The file with an edit target of its own and without instances (rule 6, see differences.py), and where they were."""
    stage = Usd.Stage.Open(path)
    session = stage.GetSessionLayer()
    # Pixar writes raw layer times; with another rate than the stage's they would be scaled.
    session.timeCodesPerSecond = stage.GetTimeCodesPerSecond()
    session.framesPerSecond = stage.GetFramesPerSecond()
    # In the layer that holds them, the bake loses animated rest points.
    stage.SetEditTarget(session)
    return stage, deinstance(stage)


def deinstance(stage):
    """Makes all instances plain prims, those inside others too; returns their paths."""
    paths = []
    while True:
        instances = [p for p in Usd.PrimRange(stage.GetPseudoRoot()) if p.IsInstance()]
        if not instances:
            return paths
        for prim in instances:
            paths.append(str(prim.GetPath()))
            prim.SetInstanceable(False)


def sample_ancestors(stage, targets):
    """Makes the bake sample what moves the ancestors too (rule 31, see differences.py)."""
    times = {}
    for target in targets.values():
        prim = stage.GetPrimAtPath(target.path)
        rigid = target.query.IsRigidlyDeformed()
        if not target.query.HasJointInfluences() or not (rigid or prim.IsA(UsdGeom.PointBased)):
            continue
        mine = times.setdefault(target.skeleton, set())
        skeleton = _chain(stage.GetPrimAtPath(target.skeleton))
        if rigid and UsdGeom.Xformable(prim).GetResetXformStack():
            moves = []  # Its transform depends on no parent.
        else:
            moves = _chain(prim.GetParent() if rigid else prim)
        # What stands above the prim where they meet moves both.
        while moves and skeleton and moves[-1] == skeleton[-1]:
            moves.pop()
            skeleton.pop()
        for ancestor in moves + skeleton:
            mine.update(UsdGeom.Xformable(ancestor).GetTimeSamples())
    for path, mine in times.items():
        if mine:
            op = UsdGeom.Xformable(stage.GetPrimAtPath(path)).AddTranslateOp(opSuffix="sampled")
            for time in mine:
                op.Set(Gf.Vec3d(0), time)


def _chain(prim):
    """The prim and its ancestors that have transforms, up to one that resets the stack."""
    out = []
    while not prim.IsPseudoRoot():
        xformable = UsdGeom.Xformable(prim)
        if xformable:
            out.append(prim)
            if xformable.GetResetXformStack():
                break
        prim = prim.GetParent()
    return out


def bake(stage, targets):
    """Bakes a stage of open_stage; returns which outputs of which prims the bake wrote: {path: {name}}."""
    sample_ancestors(stage, targets)
    UsdSkel.BakeSkinning(Usd.PrimRange(stage.GetPseudoRoot()))
    written = _written(stage.GetSessionLayer())
    mend_op_orders(stage.GetSessionLayer(), written)
    return written


def mend_op_orders(session, written):
    """Gives prims whose transforms the bake failed to write their own ops back (rule 22, see differences.py).

    They are "failed" in `written`.
    """
    failed = []

    def visit(spec_path):
        if spec_path.IsPropertyPath() and spec_path.name == "xformOpOrder":
            prim = spec_path.GetPrimPath()
            order = session.GetAttributeAtPath(spec_path).default or ()
            if list(order) == ["xformOp:transform"] and "xformOp:transform" not in written.get(str(prim), ()):
                failed.append(prim)
                written[str(prim)] = {"failed"}

    session.Traverse(Sdf.Path.absoluteRootPath, visit)
    for path in failed:
        prim = session.GetPrimAtPath(path)
        for name in ("xformOpOrder", "xformOp:transform"):
            if name in prim.attributes:
                prim.RemoveProperty(prim.attributes[name])


def _written(session):
    written = {}

    def visit(spec_path):
        if not spec_path.IsPropertyPath() or spec_path.name not in OUTPUTS:
            return
        attribute = session.GetAttributeAtPath(spec_path)
        if session.GetNumTimeSamplesForPath(spec_path) or attribute.HasDefaultValue():
            written.setdefault(str(spec_path.GetPrimPath()), set()).add(spec_path.name)

    session.Traverse(Sdf.Path.absoluteRootPath, visit)
    return written
