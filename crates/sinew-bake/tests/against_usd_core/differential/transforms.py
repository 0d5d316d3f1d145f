"""Transform stacks of every kind of op and precision."""

from pxr import Gf, UsdGeom

DOUBLE = UsdGeom.XformOp.PrecisionDouble
FLOAT = UsdGeom.XformOp.PrecisionFloat
HALF = UsdGeom.XformOp.PrecisionHalf
VECTORS = {DOUBLE: Gf.Vec3d, FLOAT: Gf.Vec3f, HALF: Gf.Vec3h}
QUATERNIONS = {DOUBLE: Gf.Quatd, FLOAT: Gf.Quatf, HALF: Gf.Quath}

VECTOR_OPS = {
    "Translate": lambda draw: draw.vector(2),
    "Scale": lambda draw: draw.scale(),
    "RotateXYZ": lambda draw: draw.vector(180),
    "RotateXZY": lambda draw: draw.vector(180),
    "RotateYXZ": lambda draw: draw.vector(180),
    "RotateYZX": lambda draw: draw.vector(180),
    "RotateZXY": lambda draw: draw.vector(180),
    "RotateZYX": lambda draw: draw.vector(180),
}
NUMBER_OPS = {
    "RotateX": lambda draw: draw.uniform(-180, 180),
    "RotateY": lambda draw: draw.uniform(-180, 180),
    "RotateZ": lambda draw: draw.uniform(-180, 180),
    "TranslateX": lambda draw: draw.uniform(-2, 2),
    "ScaleY": lambda draw: draw.uniform(0.5, 1.6),
}
KINDS = ("vector", "vector", "number", "orient", "matrix", "pivot")


def add_transform(draw, prim, animated=0.3, resets=0.06):
    """Up to three ops on a prim; none on many."""
    xformable = UsdGeom.Xformable(prim)
    for i in range(draw.choice((0, 0, 1, 1, 2, 3))):
        _add_op(draw, xformable, draw.choice(KINDS), f"op{i}", animated)
    if draw.chance(resets):
        xformable.SetResetXformStack(True)


def _add_op(draw, xformable, kind, suffix, animated):
    precision = draw.choice((DOUBLE, FLOAT, HALF))
    if kind == "pivot":
        _add_pivot(draw, xformable, suffix, precision)
        return
    if kind == "vector":
        name = draw.choice(sorted(VECTOR_OPS))
        op = getattr(xformable, f"Add{name}Op")(precision, suffix)
        make = lambda: VECTORS[precision](VECTOR_OPS[name](draw))
    elif kind == "number":
        name = draw.choice(sorted(NUMBER_OPS))
        op = getattr(xformable, f"Add{name}Op")(precision, suffix)
        make = lambda: NUMBER_OPS[name](draw)
    elif kind == "orient":
        op = xformable.AddOrientOp(precision, suffix)
        make = lambda: QUATERNIONS[precision](draw.quaternion())
    else:
        op = xformable.AddTransformOp(DOUBLE, suffix)
        make = lambda: draw.matrix(mirror=0.1)
    if draw.chance(animated):
        draw.animate(op.GetAttr(), make)
    else:
        op.GetAttr().Set(make())


def _add_pivot(draw, xformable, suffix, precision):
    """A rotation about a point: the op and its inverse share one attribute."""
    pivot = f"pivot_{suffix}"
    xformable.AddTranslateOp(precision, pivot).Set(VECTORS[precision](draw.vector()))
    xformable.AddRotateZOp(FLOAT, suffix).Set(draw.uniform(-180, 180))
    xformable.AddTranslateOp(precision, pivot, True)
