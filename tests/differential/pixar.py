"""Pixar's own bake of a file, by usd-core."""

from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel

# What the bake writes.
OUTPUTS = ("points", "normals", "extent", "xformOp:transform")


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
        if not target.query.HasJointInfluences():
            continue
        mine = times.setdefault(target.skeleton, set())
        _add_times(stage.GetPrimAtPath(target.skeleton), mine)
        prim = stage.GetPrimAtPath(target.path)
        rigid = target.query.IsRigidlyDeformed()
        if rigid and UsdGeom.Xformable(prim).GetResetXformStack():
            continue  # Its transform depends on no parent.
        _add_times(prim.GetParent() if rigid else prim, mine)
    for path, mine in times.items():
        if mine:
            op = UsdGeom.Xformable(stage.GetPrimAtPath(path)).AddTranslateOp(opSuffix="sampled")
            for time in mine:
                op.Set(Gf.Vec3d(0), time)


def _add_times(prim, times):
    while not prim.IsPseudoRoot():
        xformable = UsdGeom.Xformable(prim)
        if xformable:
            times.update(xformable.GetTimeSamples())
            if xformable.GetResetXformStack():
                return
        prim = prim.GetParent()


def bake(stage, targets):
    """Bakes a stage of open_stage; returns which outputs of which prims the bake wrote: {path: {name}}."""
    sample_ancestors(stage, targets)
    UsdSkel.BakeSkinning(Usd.PrimRange(stage.GetPseudoRoot()))
    return _written(stage.GetSessionLayer())


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
