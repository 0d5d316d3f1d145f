#!/usr/bin/env python3
"""Writes what UsdSkel's utilities answer, for crates/sinew-bake/tests/bakes/utils.rs.

    make_utils.py            writes utils/utils.json and utils/*.usda next to this file
    make_utils.py --check    compares with the committed files

Needs usd-core 26.11 and nothing else. Inputs come from a seed and are written too, as usd-core
takes them: row-vector matrices, row by row.
"""
import json
import os
import random
import sys

from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt

sys.dont_write_bytecode = True  # no __pycache__ beside the goldens
from make_goldens import differ  # noqa: E402

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "utils")
R = random.Random(20261121)


def num(low=-2.0, high=2.0):
    return round(R.uniform(low, high), 3)


def vec(n=3, low=-2.0, high=2.0):
    return [num(low, high) for _ in range(n)]


def flat(m):
    return [m[r][c] for r in range(4) for c in range(4)]


def matrix(values):
    return Gf.Matrix4d(*values)


def rotation():
    m = Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(*vec()), R.uniform(-180, 180)))
    return m


def affine(shear=0.0, scale=True):
    """A random affine matrix of few digits, as a list; far from singular."""
    while True:
        s = Gf.Matrix4d().SetScale(Gf.Vec3d(*[R.choice([-1, 1, 1, 1]) * num(0.3, 2.5) for _ in range(3)]) if scale else 1.0)
        m = s * rotation()
        for r in range(3):
            for c in range(3):
                m[r][c] += R.uniform(-shear, shear)
        m.SetTranslateOnly(Gf.Vec3d(*vec(3, -5, 5)))
        values = [round(x, 4) for x in flat(m)]
        if abs(matrix(values).GetDeterminant()) > 0.05:
            return values


def quiet(f, *args):
    """Nothing where usd-core raises its warning as an error."""
    try:
        return f(*args)
    except Exception:
        return None


# ------------------------------------------------------------------ influences


def weights(n):
    return [R.choice([0.0, 1.0, 0.5, -0.25, num(0, 1), num(0, 1)]) for _ in range(n)]


def influences():
    out = {"normalize": [], "sort": [], "resize": [], "expand": []}
    eps = sys.float_info.epsilon * 2 ** 29  # of a float
    fixed = [([0, 0, 1e-8, 0], 2, eps), ([0.5, -0.5, 2, -3], 2, eps), ([0.25, 0.25], 2, 0.5), ([], 3, eps), ([1e-7], 1, eps)]
    for w, size, e in fixed + [(weights(size * R.randrange(0, 5)), size, eps) for size in [1, 2, 3, 4, 5, 8] * 3]:
        a = Vt.FloatArray(w)
        assert UsdSkel.NormalizeWeights(a, size, e)
        out["normalize"].append({"weights": list(Vt.FloatArray(w)), "size": size, "eps": Gf.Vec3f(e)[0], "out": list(a)})
    for size in [1, 2, 3, 4, 7, 20, 40] * 3:
        n = size * R.randrange(0, 4)
        w, j = weights(n), [R.randrange(6) for _ in range(n)]
        ws, js = Vt.FloatArray(w), Vt.IntArray(j)
        assert UsdSkel.SortInfluences(js, ws, size)
        out["sort"].append({"joints": j, "weights": list(Vt.FloatArray(w)), "size": size, "out": [list(js), list(ws)]})
    for _ in range(24):
        a, b = R.randrange(1, 6), R.randrange(1, 8)
        n = a * R.randrange(0, 5)
        w, j = weights(n), [R.randrange(6) for _ in range(n)]
        ws, js = Vt.FloatArray(w), Vt.IntArray(j)
        assert UsdSkel.ResizeInfluences(js, a, b) and UsdSkel.ResizeInfluences(ws, a, b)
        out["resize"].append({"joints": j, "weights": list(Vt.FloatArray(w)), "from": a, "to": b, "out": [list(js), list(ws)]})
    for n, points in [(0, 3), (1, 0), (2, 1), (3, 4)]:
        j = Vt.IntArray([R.randrange(9) for _ in range(n)])
        before = list(j)
        assert UsdSkel.ExpandConstantInfluencesToVarying(j, points)
        out["expand"].append({"values": before, "points": points, "out": list(j)})
    return out


# ------------------------------------------------------------------ joints


def joint_paths(n, ordered):
    names = []
    while len(names) < n:
        parent = R.choice(names + [""] * 2)
        deep = R.choice(["", "", "gap/"])
        name = (parent + "/" if parent else "") + deep + R.choice("ABCDE")
        if name not in names:
            names.append(name)
    if not ordered:
        R.shuffle(names)
    return names


def topologies():
    out = []
    fixed = [[], ["A", "A", "A/B"], ["A", "A/B", "A"], ["A", "A/my joint", "A//B", "A/1x"], ["/A", "A/B", "/A/B"], ["A/B/C", "A"]]
    for names in fixed + [joint_paths(R.randrange(1, 9), R.random() < 0.5) for _ in range(30)]:
        t = UsdSkel.Topology(Vt.TokenArray(names))
        valid, reason = t.Validate()
        out.append({"joints": names, "parents": list(t.GetParentIndices()), "valid": valid, "reason": reason})
    for parents in [[-1, 0, 2], [1, -1], [0], [-1, 0, 1, 1], [-5, 0]]:
        valid, reason = UsdSkel.Topology(Vt.IntArray(parents)).Validate()
        out.append({"joints": None, "parents": parents, "valid": valid, "reason": reason})
    return out


def joint_transforms():
    out = []
    for i in range(8):
        names = joint_paths(R.randrange(1, 6), True)
        t = UsdSkel.Topology(Vt.TokenArray(names))
        local = [affine(shear=0.2) for _ in names]
        root = affine() if i % 2 else None
        xforms = [matrix(m) for m in local]
        skel = UsdSkel.ConcatJointTransforms(t, Vt.Matrix4dArray(xforms), *([matrix(root)] if root else []))
        back = [affine(shear=0.2) for _ in names]
        inverse = [matrix(root).GetInverse()] if root else []
        locals_back = UsdSkel.ComputeJointLocalTransforms(t, Vt.Matrix4dArray([matrix(m) for m in back]), *inverse)
        out.append({"joints": names, "root": root, "local": local, "concatenated": [flat(m) for m in skel],
                    "skel": back, "made_local": [flat(m) for m in locals_back]})
    return out


def components():
    fixed = [
        flat(Gf.Matrix4d(1)),
        flat(Gf.Matrix4d(0.0)),
        flat(Gf.Matrix4d().SetScale(Gf.Vec3d(1, 0, 1))),
        flat(Gf.Matrix4d().SetScale(Gf.Vec3d(1e-4, 1e-4, 1e-3))),
        flat(Gf.Matrix4d().SetScale(Gf.Vec3d(1e-3, 1e-3, 1e-3))),
        flat(Gf.Matrix4d().SetScale(Gf.Vec3d(1e-6, 1e4, 1e4)) * Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(1, 2, 3), 40))),
        flat(Gf.Matrix4d().SetScale(Gf.Vec3d(1e6, 1, 1))),
        flat(Gf.Matrix4d().SetScale(Gf.Vec3d(-1, 1, 1))),
        flat(Gf.Matrix4d().SetScale(Gf.Vec3d(-1, -1, 1))),
        flat(Gf.Matrix4d().SetScale(Gf.Vec3d(-2, -3, -4))),
    ]
    fixed += [flat(Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(*axis), angle)))
              for axis in [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1)] for angle in (90, 180, 270, -120)]
    out = []
    for values in fixed + [affine() for _ in range(20)] + [affine(shear=0.6) for _ in range(40)]:
        d = quiet(UsdSkel.DecomposeTransform, matrix(values))
        made = None
        if d:
            t, r, s = d
            made = [list(t), list(r.GetImaginary()) + [r.GetReal()], [str(x) if x in (float("inf"), -float("inf")) else x for x in s]]
        out.append({"matrix": values, "out": made})
    return out


def made_transforms():
    out = []
    for _ in range(16):
        t, r, s = Gf.Vec3f(*vec()), Gf.Quatf(num(), Gf.Vec3f(*vec())), Gf.Vec3h(*vec())
        if R.random() < 0.5:
            r = r.GetNormalized()
        m = UsdSkel.MakeTransform(t, r, s)
        out.append({"translate": list(t), "rotate": list(r.GetImaginary()) + [r.GetReal()], "scale": list(s), "out": flat(m)})
    return out


def joints_extents():
    out = []
    for n, pad, rooted in [(1, 0, False), (3, 0.5, False), (3, 0.0, True), (5, 0.25, True), (4, -0.5, True)]:
        xforms = [affine() for _ in range(n)]
        root = affine() if rooted else None
        r = UsdSkel.ComputeJointsExtent([matrix(m) for m in xforms], pad, *([matrix(root)] if rooted else []))
        out.append({"transforms": xforms, "pad": pad, "root": root, "out": [list(r.GetMin()), list(r.GetMax())]})
    return out


def skinned_transforms():
    out = []
    for i in range(36):
        joints = R.randrange(1, 5)
        method = ["classicLinear", "dualQuaternion"][i % 2]
        n = [1, 2, 3, 4][i // 2 % 4]
        index = [R.randrange(joints) for _ in range(n)]
        weight = [1.0] if n == 1 and i < 8 else [num(0.1, 1.0) for _ in range(n)]
        if i % 3 == 0 and n > 1:
            weight[R.randrange(n)] = 0.0
        if i >= 8 and i % 5:
            weight = [w / sum(weight) for w in weight]
        if i in (12, 13, 21):
            index[0] = joints
        if i in (14, 15):
            n, index, weight = 1, [0], [0.99999]
        geom_bind = affine(shear=0.1)
        # Dual quaternions of rotations alone, too: then no scale is used.
        xforms = [affine(shear=0.3 if i % 4 < 2 else 0.0, scale=i % 4 < 2 or method == "classicLinear") for _ in range(joints)]
        if i == 31:
            xforms[0] = flat(Gf.Matrix4d().SetScale(Gf.Vec3d(1, 0, 1)))
        weight = list(Vt.FloatArray(weight))
        m = UsdSkel.SkinTransform(method, matrix(geom_bind), [matrix(x) for x in xforms], Vt.IntArray(index), Vt.FloatArray(weight))
        valid = all(j < joints for j in index)
        assert valid or m == matrix(geom_bind)
        out.append({"method": method, "geom_bind": geom_bind, "skinning": xforms, "joints": index, "weights": weight,
                    "out": flat(m) if valid else None})
    return out


# ------------------------------------------------------------------ mapping


def mappings():
    out = []
    fixed = [([], []), ([], ["a"]), (["a"], []), (["x"], ["a"]), (["a", "a"], ["a", "a"]), (["a"], ["a", "a"]), (["a", "b"], ["a", "x", "a", "b"]),
             (["b", "c"], ["a", "b", "c", "d"]), (["A/B"], ["B"]), (["a", "a", "b"], ["b", "a"])]

    def order():
        return [R.choice("abcdef") for _ in range(R.randrange(0, 6))]

    def slices():
        a = R.sample("abcdef", R.randrange(1, 7))
        i = R.randrange(len(a))
        return a[i:i + R.randrange(1, 4)], a

    pairs = fixed + [(order(), order()) for _ in range(70)] + [slices() for _ in range(25)]
    pairs += [(R.sample("abcde", 5), list("abcde")) for _ in range(10)]
    for source, target in pairs:
        m = UsdSkel.AnimMapper(Vt.TokenArray(source), Vt.TokenArray(target))
        case = {"source": source, "target": target, "null": m.IsNull(), "identity": m.IsIdentity(), "sparse": m.IsSparse(), "len": len(m), "remaps": []}
        for _ in range(2):
            size = R.choice([1, 1, 2, 3])
            extra = R.choice([0, 0, 0, -1, 1, 2, 5])
            values = list(range(1, 1 + max(0, len(source) * size + extra)))
            held = [-k for k in range(1, 1 + R.choice([0, 0, len(target) * size, len(target) * size + 2, 1]))]
            default = R.choice([0, 99])
            result = m.Remap(Vt.IntArray(values), Vt.IntArray(held), size, default)
            case["remaps"].append({"values": values, "held": held, "size": size, "default": default, "out": list(result)})
        out.append(case)
    m = UsdSkel.AnimMapper(Vt.TokenArray(["b"]), Vt.TokenArray(["a", "b"]))
    moved = Gf.Matrix4d().SetTranslate(Gf.Vec3d(1, 2, 3))
    transforms = m.RemapTransforms(Vt.Matrix4dArray([moved]), Vt.Matrix4dArray())
    return {"cases": out, "transforms": {"source": [flat(moved)], "out": [flat(x) for x in transforms]}}


# ------------------------------------------------------------------ shapes


def shape_prims(stage):
    """Blend shapes with in-betweens on both sides of 0 and 1; the target in the middle is missing."""
    mesh = UsdGeom.Mesh.Define(stage, "/M")
    points = 6
    mesh.GetPointsAttr().Set([Gf.Vec3f(*vec()) for _ in range(points)])
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    targets, shapes = [], []
    for i in range(6):
        path = "/M/S%d" % i
        targets.append(path)
        if i == 5:
            shapes.append(None)
            continue
        shape = UsdSkel.BlendShape.Define(stage, path)
        sparse = i % 2 == 0
        indices = [R.randrange(points) for _ in range(R.randrange(1, 5))] if sparse else []
        n = len(indices) or points
        offsets = [vec() for _ in range(n)] if i != 3 else []
        shape.GetOffsetsAttr().Set([Gf.Vec3f(*v) for v in offsets])
        if sparse:
            shape.GetPointIndicesAttr().Set(indices)
        betweens = []
        for k, weight in enumerate([[], [0.5], [-0.5, 0.25], [0.25, 0.75], [-1.0, 0.5, 1.5]][i]):
            b = shape.CreateInbetween("b%d" % k)
            b.SetWeight(weight)
            bo = [vec() for _ in range(n)]
            b.SetOffsets(Vt.Vec3fArray([Gf.Vec3f(*v) for v in bo]))
            betweens.append({"name": "b%d" % k, "weight": weight, "offsets": bo})
        shapes.append({"path": path, "indices": indices, "offsets": offsets, "inbetweens": betweens})
    binding.GetBlendShapesAttr().Set(["s%d" % i for i in range(len(targets))])
    binding.GetBlendShapeTargetsRel().SetTargets(targets)
    return binding, points, shapes


def packed_shapes():
    stage = Usd.Stage.CreateInMemory()
    binding, points, shapes = shape_prims(stage)
    query = UsdSkel.BlendShapeQuery(binding)
    indices = query.ComputeBlendShapePointIndices()
    offsets = query.ComputeSubShapePointOffsets()
    # ComputePackedShapeTable has no Python name; this is what it packs.
    table = [[] for _ in range(points)]
    for sub, values in enumerate(offsets):
        of_shape = list(indices[query.GetBlendShapeIndex(sub)]) or range(len(values))
        for point, v in zip(of_shape, values):
            table[point].append(list(v) + [sub])
    weighed = []
    for _ in range(24):
        # The last target is missing: usd-core reads a neighbour there, unless all is null.
        w = [R.choice([num(-2, 2), 0.0, 1.0, 0.5, 0.25, -1.0]) for _ in shapes[:-1]]
        part = UsdSkel.BlendShapeQuery(binding)
        binding.GetBlendShapeTargetsRel().SetTargets([s["path"] for s in shapes if s])
        part = UsdSkel.BlendShapeQuery(binding)
        got = part.ComputeSubShapeWeights(Vt.FloatArray(w))
        weighed.append({"weights": list(Vt.FloatArray(w)), "out": [list(x) for x in zip(*(list(g) for g in got))]})
    return {"points": points, "shapes": shapes, "sub_shapes": query.GetNumSubShapes(), "table": table, "weighed": weighed}


# ------------------------------------------------------------------ extents


def skel(stage, path, joints, at, rest=True):
    s = UsdSkel.Skeleton.Define(stage, path)
    s.GetJointsAttr().Set(joints)
    s.GetBindTransformsAttr().Set([Gf.Matrix4d(1) for _ in joints])
    if rest:
        s.GetRestTransformsAttr().Set([Gf.Matrix4d().SetTranslate(Gf.Vec3d(*v)) for v in at])
    return s


def anim(stage, path, joints, samples):
    a = UsdSkel.Animation.Define(stage, path)
    a.GetJointsAttr().Set(joints)
    for time, t in samples.items():
        a.GetTranslationsAttr().Set([Gf.Vec3f(*v) for v in t], time)
    a.GetRotationsAttr().Set([Gf.Quatf(1)] * len(joints))
    a.GetScalesAttr().Set([Gf.Vec3h(1)] * len(joints))
    return a


def mesh(stage, path, extent, skeleton=None, influenced=True, geom_bind=None):
    m = UsdGeom.Mesh.Define(stage, path)
    m.GetPointsAttr().Set([Gf.Vec3f(*v) for v in (extent or [(0, 0, 0), (1, 1, 1)])])
    if extent:
        m.GetExtentAttr().Set([Gf.Vec3f(*v) for v in extent])
    if influenced or geom_bind or skeleton:
        b = UsdSkel.BindingAPI.Apply(m.GetPrim())
        if influenced:
            b.CreateJointIndicesPrimvar(False, 1).Set([0, 0])
            b.CreateJointWeightsPrimvar(False, 1).Set([1.0, 1.0])
        if geom_bind is not None:
            b.CreateGeomBindTransformAttr().Set(geom_bind)
        if skeleton:
            b.CreateSkeletonRel().SetTargets([skeleton])
    return m


def extents_stage():
    """SkelRoots that differ in what counts for their extents."""
    stage = Usd.Stage.CreateInMemory()
    two = ["A", "A/B"]
    moving = {0: [(0, 0, 0), (1, 0, 0)], 10: [(0, 2, 0), (1, 0, 3)]}

    def root(name, skeleton="Skel", bound=True):
        r = UsdSkel.Root.Define(stage, "/" + name)
        if bound:
            UsdSkel.BindingAPI.Apply(r.GetPrim()).CreateSkeletonRel().SetTargets(["/%s/%s" % (name, skeleton)])
        return r

    def animated(name, skeleton="Skel", rest=True, at=((0, 0, 0), (1, 0, 0)), joints=two):
        s = skel(stage, "/%s/%s" % (name, skeleton), joints, at, rest)
        anim(stage, "/%s/%sAnim" % (name, skeleton), joints, moving)
        UsdSkel.BindingAPI.Apply(s.GetPrim()).CreateAnimationSourceRel().SetTargets(["/%s/%sAnim" % (name, skeleton)])
        return s

    # The overhang pads all sides; the skeleton stands elsewhere in its root, which itself does not count.
    root("Padded").AddTranslateOp().Set(Gf.Vec3d(100, 0, 0))
    animated("Padded").AddTranslateOp().Set(Gf.Vec3d(0, 0, 5))
    mesh(stage, "/Padded/M", [(-0.5, -0.25, 0), (1.25, 0.75, 0.5)])
    mesh(stage, "/Padded/Smaller", [(0, 0, 0), (1, 0.1, 0.1)])
    # A prop without influences pads as well; a turned geomBindTransform turns the box.
    root("Prop")
    animated("Prop")
    mesh(stage, "/Prop/M", [(0, 0, 0), (1, 0, 0)])
    mesh(stage, "/Prop/P", [(0, 0, 0), (3, 2, 1)], influenced=False,
         geom_bind=Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(0, 0, 1), 30)) * Gf.Matrix4d().SetTranslate(Gf.Vec3d(1, 0, 0)))
    # Without extents, and without rest transforms, there is no padding.
    root("NoExtent")
    animated("NoExtent")
    mesh(stage, "/NoExtent/M", None)
    root("NoRest")
    animated("NoRest", rest=False)
    mesh(stage, "/NoRest/M", [(-9, -9, -9), (9, 9, 9)])
    # One padding per skeleton.
    root("Two")
    animated("Two")
    animated("Two", "Other").AddTranslateOp().Set(Gf.Vec3d(20, 0, 0))
    mesh(stage, "/Two/M", [(-0.5, 0, 0), (1, 0, 0)])
    mesh(stage, "/Two/N", [(-4, 0, 0), (1, 0, 0)], skeleton="/Two/Other")
    # Nothing is bound: all skeletons below count, those at rest as well.
    root("Unbound", bound=False)
    animated("Unbound")
    skel(stage, "/Unbound/Rest", two, [(0, 0, -7), (0, 1, 0)])
    # A bound one takes the unbound one out.
    root("Half")
    animated("Half")
    skel(stage, "/Half/Rest", two, [(0, 0, -7), (0, 1, 0)])
    mesh(stage, "/Half/M", [(0, 0, 0), (1, 0, 0)])
    # A skeleton that resets the stack, below a moved parent.
    root("Reset", bound=False)
    UsdGeom.Xform.Define(stage, "/Reset/X").AddTranslateOp().Set(Gf.Vec3d(0, 50, 0))
    s = skel(stage, "/Reset/X/Skel", two, [(0, 0, 0), (1, 0, 0)])
    s.AddTranslateOp().Set(Gf.Vec3d(0, 0, 1))
    s.SetResetXformStack(True)
    mesh(stage, "/Reset/M", [(-1, 0, 0), (1, 0, 0)], skeleton="/Reset/X/Skel")
    # A skeleton outside of the root.
    UsdGeom.Xform.Define(stage, "/Else").AddTranslateOp().Set(Gf.Vec3d(0, 0, 30))
    skel(stage, "/Else/Skel", two, [(0, 0, 0), (1, 0, 0)])
    root("Outside", bound=False).AddTranslateOp().Set(Gf.Vec3d(7, 0, 0))
    mesh(stage, "/Outside/M", [(-1, 0, 0), (1, 2, 0)], skeleton="/Else/Skel")
    # Nothing at all.
    root("Empty", bound=False)
    text = stage.GetRootLayer().ExportToString()
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString(text)
    return stage, text


def extents(stage):
    moved = Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(0, 0, 1), 90)) * Gf.Matrix4d().SetTranslate(Gf.Vec3d(0, 0, 0.5))
    out = []
    for prim in stage.Traverse():
        if not (prim.IsA(UsdSkel.Root) or prim.IsA(UsdSkel.Skeleton)):
            continue
        for time in (0.0, 5.0, 10.0):
            for transform in (None, moved):
                args = (UsdGeom.Boundable(prim), Usd.TimeCode(time)) + ((transform,) if transform else ())
                got = UsdGeom.Boundable.ComputeExtentFromPlugins(*args)
                box = [list(v) for v in got] if got else None
                if box and box[0][0] > box[1][0]:
                    box = None  # The empty box, of the largest floats inside out.
                out.append({"path": str(prim.GetPath()), "root": prim.IsA(UsdSkel.Root), "time": time,
                            "transform": flat(transform) if transform else None, "out": box})
    return out


def make():
    stage, text = extents_stage()
    answers = {
        "usd_core": "26.11",
        "influences": influences(),
        "topologies": topologies(),
        "joint_transforms": joint_transforms(),
        "components": components(),
        "made_transforms": made_transforms(),
        "joints_extents": joints_extents(),
        "skin_transforms": skinned_transforms(),
        "mappings": mappings(),
        "shapes": packed_shapes(),
        "extents": extents(stage),
    }
    lines = []
    for key, value in answers.items():
        if isinstance(value, list):
            body = "[\n  %s\n ]" % ",\n  ".join(json.dumps(v, separators=(",", ":")) for v in value)
        else:
            body = json.dumps(value, separators=(",", ":"))
        lines.append(' "%s": %s' % (key, body))
    return {"utils.json": "{\n%s\n}\n" % ",\n".join(lines), "extents.usda": text}


def main():
    files = make()
    if sys.argv[1:] != ["--check"]:
        os.makedirs(HERE, exist_ok=True)
        for name, text in files.items():
            with open(os.path.join(HERE, name), "w", newline="\n") as f:
                f.write(text)
            print(name, len(text), "bytes")
        return 0
    bad = []
    for name, text in files.items():
        with open(os.path.join(HERE, name), newline="") as f:
            committed = f.read().replace("\r\n", "\n")
        if name.endswith(".json"):
            bad += filter(None, [differ(json.loads(committed), json.loads(text), name)])
        elif committed != text:
            bad.append(name + ": the stage differs")
    for line in bad:
        print("DIFFERS", line)
    print("%d differences in the utilities' answers" % len(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
