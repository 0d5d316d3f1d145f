#!/usr/bin/env python3
"""Writes the golden stages and what Pixar's UsdSkel.BakeSkinning makes of them.

    make_goldens.py            writes NAME.usda and NAME.golden.json next to this file
    make_goldens.py --check    does it in a temporary folder and compares with the committed files

Needs usd-core 26.11 and nothing else. Everything is computed by formulas without random numbers,
so that every run writes the same stages.
"""
import json
import math
import os
import shutil
import sys
import tempfile

from pxr import Gf, Usd, UsdGeom, UsdSkel

USD_CORE = "26.11"
HERE = os.path.dirname(os.path.abspath(__file__))

# ------------------------------------------------------------------ text of a stage


def num(x):
    s = "%.6g" % x
    return "0" if s == "-0" else s


def val(v):
    """A value as usda text: numbers, vectors (tuples), matrices, arrays (lists), tokens, raw text."""
    if v is None:
        return "None"
    if isinstance(v, str):
        return v
    if isinstance(v, (int, float)):
        return num(v)
    if isinstance(v, Gf.Matrix4d):
        return "( " + ", ".join("(%s)" % ", ".join(num(v[r][c]) for c in range(4)) for r in range(4)) + " )"
    if isinstance(v, tuple):
        return "(%s)" % ", ".join(val(x) for x in v)
    return "[%s]" % ", ".join(val(x) for x in v)


def tokens(names):
    return "[%s]" % ", ".join('"%s"' % n for n in names)


def attr(decl, v, meta=None):
    """One attribute. A dict is time samples; under the key None it holds the default value too."""
    tail = " (\n    %s\n)" % "\n    ".join(meta) if meta else ""
    if not isinstance(v, dict):
        return "%s = %s%s" % (decl, val(v), tail)
    lines = []
    if None in v:
        lines.append("%s = %s%s" % (decl, val(v[None]), tail))
    elif tail:
        lines.append(decl + tail)
    rows = ["    %s: %s," % (num(t), val(x)) for t, x in v.items() if t is not None]
    lines.append("%s.timeSamples = {\n%s\n}" % (decl, "\n".join(rows)))
    return "\n".join(lines)


def P(kind, name, props=(), kids=(), api=False, meta=(), spec="def"):
    """A prim as a list of text lines."""
    meta = list(meta)
    if api:
        meta.insert(0, 'prepend apiSchemas = ["SkelBindingAPI"]')
    head = spec + (" " + kind if kind else "") + ' "%s"' % name
    out = [head + (" (" if meta else "")]
    if meta:
        out += ["    " + l for m in meta for l in m.split("\n")] + [")"]
    out.append("{")
    for p in props:
        out += ["    " + l for l in p.split("\n")]
    for k in kids:
        out += ["    " + l for l in k]
    out.append("}")
    return out


def layer(prims, start=None, end=None, fps=24, extra=()):
    head = ["#usda 1.0", "("]
    head += ["    " + l for l in extra]
    head += ['    metersPerUnit = 1', '    upAxis = "Y"', "    timeCodesPerSecond = %s" % num(fps)]
    if start is not None:
        head += ["    startTimeCode = %s" % num(start), "    endTimeCode = %s" % num(end)]
    head.append(")")
    return "\n".join(head + [l for p in prims for l in [""] + p]) + "\n"


# ------------------------------------------------------------------ transforms


def M(t=(0, 0, 0), r=(0, 0, 0), s=(1, 1, 1)):
    """Scale, then rotate about x, y, z, then translate (row vectors)."""
    m = Gf.Matrix4d().SetScale(Gf.Vec3d(*s))
    for axis, a in zip(((1, 0, 0), (0, 1, 0), (0, 0, 1)), r):
        m = m * Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(*axis), a))
    return m * Gf.Matrix4d().SetTranslate(Gf.Vec3d(*t))


def quat(r, scale=1.0):
    """Euler angles in degrees as (w, x, y, z), times a factor."""
    q = M(r=r).ExtractRotationQuat()
    return tuple(scale * x for x in (q.GetReal(),) + tuple(q.GetImaginary()))


def xf(t=None, r=None, s=None, reset=False):
    """xformOps; each argument may be a dict of time samples."""
    out, order = [], ["!resetXformStack!"] if reset else []
    for op, v, decl in (("translate", t, "double3"), ("rotateXYZ", r, "float3"), ("scale", s, "float3")):
        if v is not None:
            out.append(attr("%s xformOp:%s" % (decl, op), v))
            order.append("xformOp:" + op)
    out.append("uniform token[] xformOpOrder = " + tokens(order))
    return out


WORLD = xf((1, 0.5, -2), (0, 30, 0))
ROOT = xf((0.3, 0.2, 0.1), (10, -20, 5), (1.2, 1.2, 1.2))
RIG = xf((0, 0.4, 0.2), (0, 0, 15))
GEO = xf((-0.2, 0.1, 0.3), (25, 0, 0), (0.9, 1.1, 1))

# ------------------------------------------------------------------ skeletons and animation

ARM = ["A", "A/B", "A/B/C"]


def parent_of(joints, i):
    best = -1
    for j, p in enumerate(joints):
        if joints[i].startswith(p + "/") and (best < 0 or len(p) > len(joints[best])):
            best = j
    return best


def local_bind(joints, i):
    return M((0.05 * i, 0.1 if parent_of(joints, i) < 0 else 1, 0.02 * i), (8 * i, 0, 10 - 12 * i))


def local_rest(joints, i):
    return M((0, 0, 0), (5, 12, -4)) * local_bind(joints, i)


def binds(joints):
    def at(i):
        p = parent_of(joints, i)
        return local_bind(joints, i) * (at(p) if p >= 0 else Gf.Matrix4d(1))
    return [at(i) for i in range(len(joints))]


def skel(name="Skel", joints=ARM, source=None, props=(), bind=True, rest=True, meta=(), xform=(), api=True):
    out = ["uniform token[] joints = " + tokens(joints)]
    if bind:
        out.append(attr("uniform matrix4d[] bindTransforms", binds(joints)))
    if rest:
        out.append(attr("uniform matrix4d[] restTransforms", [local_rest(joints, i) for i in range(len(joints))]))
    if source is not None:
        out.append("rel skel:animationSource = %s" % source)
    return P("Skeleton", name, out + list(props) + list(xform), api=api, meta=meta)


def Ts(joints, times, k=1.0):
    return {t: [(0.05 * i + 0.1 * k * math.sin(t + i), (0.1 if parent_of(joints, i) < 0 else 1) + 0.05 * k * math.cos(t), 0.02 * i)
                for i in range(len(joints))] for t in times}


def Rs(joints, times, k=1.0):
    return {t: [quat((20 * k * math.sin(0.7 * t + i), 15 * k * math.cos(0.5 * t), 30 * k * math.sin(0.4 * t - i)))
                for i in range(len(joints))] for t in times}


def Ss(joints, times, k=1.0):
    return {t: [(1 + 0.2 * k * math.sin(t + i), 1 + 0.1 * k * math.cos(t), 1 - 0.15 * k * math.sin(t - i))
                for i in range(len(joints))] for t in times}


def anim(name="Anim", joints=ARM, times=(1, 3, 5), T=0, R=0, S=0, props=(), k=1.0, meta=()):
    """T, R, S: 0 for the usual motion, None to leave it out, else the value itself."""
    out = ["uniform token[] joints = " + tokens(joints)]
    for decl, v, usual in (("float3[] translations", T, Ts), ("quatf[] rotations", R, Rs), ("half3[] scales", S, Ss)):
        if v is not None:
            out.append(attr(decl, usual(joints, times, k) if isinstance(v, int) and v == 0 else v))
    return P("SkelAnimation", name, out + list(props), meta=meta)


def weights_anim(name, shapes, weights, joints=None, times=(1, 3, 5), k=1.0):
    props = ["uniform token[] blendShapes = " + tokens(shapes), attr("float[] blendShapeWeights", weights)]
    return anim(name, joints, times, props=props, k=k) if joints else P("SkelAnimation", name, props)


# ------------------------------------------------------------------ meshes


def tube(rings=4, seg=3, radius=0.3, height=2.2):
    """Points, normals, face counts and indices of an open tube that grows thinner upward."""
    pts, nrm = [], []
    for i in range(rings):
        for j in range(seg):
            a = 2 * math.pi * j / seg + 0.3 * i
            f = radius * (1 - 0.5 * i / rings)
            pts.append((f * math.cos(a), 0.05 + height * i / (rings - 1), 0.8 * f * math.sin(a)))
            n = Gf.Vec3d(math.cos(a), 0.2, math.sin(a) / 0.8).GetNormalized()
            nrm.append(tuple(n))
    counts, idx = [], []
    for i in range(rings - 1):
        for j in range(seg):
            k = (j + 1) % seg
            counts.append(4)
            idx += [i * seg + j, (i + 1) * seg + j, (i + 1) * seg + k, i * seg + k]
    return pts, nrm, counts, idx


def falloff(n, k, joints, per_ring=3):
    """k influences for each of n points, the nearest joints first, weights that sum to 1."""
    ji, jw = [], []
    for i in range(n):
        h = joints * (i // per_ring) / max(1, (n - 1) // per_ring)
        order = sorted(range(joints), key=lambda j: abs(j + 0.4 - h))[:k]
        w = [1 / (0.2 + abs(j + 0.4 - h)) for j in order]
        s = sum(w)
        pad = [0] * (k - len(order))
        ji += order + pad
        jw += [x / s for x in w] + pad
    return ji, jw


def infl(ji, jw, k, interp="vertex"):
    meta = ["elementSize = %d" % k, 'interpolation = "%s"' % interp]
    return [attr("int[] primvars:skel:jointIndices", ji, meta), attr("float[] primvars:skel:jointWeights", jw, meta)]


def gbt(m):
    return attr("matrix4d primvars:skel:geomBindTransform", m)


def mesh(name="Body", k=2, joints=3, normals=True, influences=None, bind=None, props=(), kids=(), xform=(), rings=4, api=True,
         points=None, meta=(), corners=None):
    """A tube bound to a skeleton. influences: None for the usual falloff, [] for none."""
    pts, nrm, counts, idx = tube(rings)
    idx = corners or idx
    out = [attr("int[] faceVertexCounts", counts), attr("int[] faceVertexIndices", idx),
           attr("point3f[] points", points or pts), 'uniform token subdivisionScheme = "none"']
    if normals:
        out.append(attr("normal3f[] normals", normals if isinstance(normals, dict) else nrm, ['interpolation = "vertex"']))
    out += infl(*falloff(len(pts), k, joints), k) if influences is None else list(influences)
    if bind is not None:
        out.append(gbt(bind))
    return P("Mesh", name, out + list(props) + list(xform), kids, api=api, meta=meta)


def scene(meshes, rig=None, root_props=(), world=WORLD, root=ROOT, rig_xf=RIG, geo_xf=GEO, bound=True, geo_props=(), extra=()):
    """World / SkelRoot Char / (Rig: skeletons and animations; Geo: meshes)."""
    rig = rig if rig is not None else [skel(source="</World/Char/Rig/Anim>"), anim()]
    props = list(root) + (["rel skel:skeleton = </World/Char/Rig/Skel>"] if bound else []) + list(root_props)
    kids = [P("Xform", "Rig", rig_xf, rig), P("Xform", "Geo", list(geo_xf) + list(geo_props), meshes)]
    return [P("Xform", "World", world, [P("SkelRoot", "Char", props, kids, api=True)] + list(extra))]


ANIM = "</World/Char/Rig/Anim>"
SK = "rel skel:skeleton = </World/Char/Rig/%s>"
GB = M((0.1, 0.2, -0.1), (10, 20, 5), (1.1, 0.9, 1))

# ------------------------------------------------------------------ the stages

STAGES = {}


def golden(note=None, deinstance=False):
    def take(f):
        STAGES[f.__name__] = (f, note, deinstance)
        return f
    return take


@golden()
def lbs_basic():
    return {"": layer(scene([mesh(bind=GB, xform=xf((0.5, 0, 0), (0, 45, 0)))]), 1, 5)}


@golden()
def influences_many():
    js = ["A", "A/B", "A/B/C", "A/B/C/D", "A/B/C/D/E", "A/F", "A/F/G"]
    n, k = 12, 9
    ji, jw = [], []
    for i in range(n):
        m = 9 - i % 4  # fewer influences than slots: the rest is padded with zeros
        ji += [(i + j) % len(js) for j in range(m)] + [0] * (k - m)
        w = [(0.5 + ((i * 7 + j * 3) % 5)) / (2.3 * m) for j in range(m)]
        if i % 3 == 0:
            w[1] = -0.15
        jw += w + [0] * (k - m)
    rig = [skel(joints=js, source=ANIM), anim(joints=js)]
    return {"": layer(scene([mesh(influences=infl(ji, jw, k)), mesh("NoNormals", k=5, joints=7, normals=False)], rig), 1, 5)}


@golden("Pixar writes the prim's transform here; deformed_prim_space holds the same as points.")
def constant_rigid_meshless_note():
    c = "constant"
    moved = xf({1: (0.5, 0, 0), 5: (0.8, 0.1, 0)}, (0, 45, 0))
    unauthored = ["int[] primvars:skel:jointIndices = [1] (\n    elementSize = 1\n)",
                  "float[] primvars:skel:jointWeights = [1] (\n    elementSize = 1\n)"]
    return {"": layer(scene([
        mesh("One", influences=infl([2], [1], 1, c), bind=GB, xform=moved),
        mesh("Two", influences=infl([0, 2], [0.4, 0.6], 2, c), xform=xf((0, 1, 0), None, (1, 2, 1))),
        mesh("Reset", influences=infl([1], [1], 1, c), normals=False, xform=xf((0, 1, 0), (0, 0, 90), reset=True)),
        mesh("Unauthored", influences=unauthored, normals=False),
        P("Sphere", "Ball", ["double radius = 0.2"] + infl([1], [1], 1, c) + xf((0, 0.3, 0)), api=True),
    ]), 1, 5)}


@golden("What lies below a prim that joints move as a whole is not skinned; the prim carries it.")
def rigid_followers():
    c = "constant"

    def below(name):
        def gem(kind, props):
            return mesh(kind + name, influences=[], normals=False, rings=2, xform=props, api=False)

        moving = xf({1: (0, 0.2, 0), 5: (0.4, 0.2, 0)}, (0, 30, 0))
        return [gem("Gem", xf((0.2, 0.5, 0), (0, 0, 60))), gem("Bare", ()),
                P("Xform", "Hook", moving, [gem("Deep", xf((0, 0, 0.3))), gem("Free", xf((0, 0, 0.5), reset=True))])]

    def of(name, joints, weights, **more):
        kids = below(name)
        return mesh(name, influences=infl(joints, weights, len(joints), c), normals=False, kids=kids, **more)

    return {"": layer(scene([
        of("One", [2], [1], bind=GB, xform=xf({1: (0.5, 0, 0), 5: (0.8, 0.1, 0)}, (0, 45, 0))),
        of("Two", [0, 2], [0.4, 0.6], xform=xf((0, 1, 0), None, (1, 2, 1))),
        of("Reset", [1], [1], xform=xf((0, 1, 0), (0, 0, 90), reset=True)),
    ]), 1, 5)}


@golden()
def skel_joints_order():
    own = "uniform token[] skel:joints = "
    return {"": layer(scene([
        mesh("Reordered", joints=2, props=[own + tokens(["A/B/C", "A"])]),
        mesh("Lacking", joints=3, normals=False, props=[own + tokens(["A/B", "A/Nobody", "A"])], bind=GB),
    ]), 1, 5)}


@golden("Where an order is a part of the other in one piece, values are copied as one block: tokens that repeat, and weights beyond the channels.")
def orders_repeated():
    own = "uniform token[] skel:joints = "
    order = ["Big", "Small", "Third"]
    sh = [shape(n, offs(12, 1 + i)) for i, n in enumerate(order)]

    def shaped(name, toks):
        return mesh(name, normals=False, props=targets("/World/Char/Geo/" + name, toks, order[:len(toks)]), kids=sh)

    return {"": layer(scene([
        mesh("Twice", normals=False, joints=3, props=[own + tokens(["A/B/C", "A", "A/B/C"])]),
        mesh("OnceMore", normals=False, joints=4, props=[own + tokens(ARM + ["A/B"])]),
        mesh("Doubled", normals=False, joints=2, props=[own + tokens(["A/B", "A/B"])]),
        shaped("InOnePiece", order),
        shaped("Shuffled", ["Small", "Big", "Third"]),
        shaped("OfTwins", ["Big", "Big"]),
    ], [skel(source=ANIM), weights_anim("Anim", order[:2], {1: [0.2, 0.4, 0.8], 5: [1, -0.5, 0.3]}, ARM)]), 1, 5)}


@golden()
def sparse_anim():
    rig = [skel(source=ANIM), anim(joints=["A/B/C", "A"])]
    rig += [skel("SkelForeign", source="</World/Char/Rig/AnimForeign>"), anim("AnimForeign", joints=["X", "X/Y"])]
    rig += [skel("SkelNoRest", source=ANIM, rest=False)]
    rig += [skel("SkelNoRestFull", source="</World/Char/Rig/AnimFull>", rest=False), anim("AnimFull")]
    rig += [skel("SkelPartForeign", source="</World/Char/Rig/AnimPart>"), anim("AnimPart", joints=["X", "A/B", "C"])]
    more = [mesh("Of" + s, props=[SK % s], normals=False)
            for s in ("SkelForeign", "SkelNoRest", "SkelNoRestFull", "SkelPartForeign")]
    return {"": layer(scene([mesh()] + more, rig), 1, 5)}


@golden()
def missing_component():
    rig = [skel(source=ANIM), anim(S=None)]
    for c in "TRS":
        rig += [skel("Skel" + c, source="</World/Char/Rig/Anim%s>" % c), anim("Anim" + c, **{c: None})]
    rig += [skel("SkelStatic", source="</World/Char/Rig/AnimStatic>"),
            anim("AnimStatic", T=Ts(ARM, [1])[1], S=Ss(ARM, [1])[1])]
    return {"": layer(scene([mesh()] + [mesh("Mesh" + c, props=[SK % ("Skel" + c)], normals=False)
                                       for c in ("T", "R", "S", "Static")], rig), 1, 5)}


@golden()
def blocked_samples():
    r = Rs(ARM, (1, 3, 5, 7))
    r[3] = None
    # A default under blocked samples shows that a blocked sample does not fall back on it.
    with_default = dict(r)
    with_default[None] = Rs(ARM, [2])[2]
    rig = [skel(source=ANIM), anim(times=(1, 3, 5, 7), R=r),
           skel("SkelWhole", source="</World/Char/Rig/AnimWhole>"), anim("AnimWhole", times=(1, 3, 5, 7), R="None"),
           skel("SkelDefault", source="</World/Char/Rig/AnimDefault>"), anim("AnimDefault", times=(1, 3, 5, 7), R=with_default)]
    return {"": layer(scene([mesh(), mesh("Whole", props=[SK % "SkelWhole"], normals=False),
                            mesh("Default", props=[SK % "SkelDefault"], normals=False)], rig), 1, 7)}


@golden("framesPerSecond is not authored, so 24, and the step between frames is 30 / 24. Pixar goes one frame past endTimeCode.")
def held_and_times():
    rig = [skel(source=ANIM), anim(T=Ts(ARM, (1, 2.25, 7.5)), R=Rs(ARM, (0.5, 4)), S=Ss(ARM, (1, 9)))]
    rig += [skel("SkelTwo", source="</World/Char/Rig/AnimTwo>"),
            anim("AnimTwo", T=Ts(ARM, [3.125]), R=Rs(ARM, (2.75, 3.875)), S=Ss(ARM, [3])[3])]
    return {"": layer(scene([mesh(), mesh("Two", props=[SK % "SkelTwo"], normals=False)], rig), 2, 5, fps=30)}


@golden()
def slerp_half():
    r = {1: [quat((0, 0, 0)), quat((0, 170, 0)), quat((10, 0, 0), 1.5)],
         5: [quat((179, 0, 0)), quat((0, -170, 30), -1), quat((100, 20, 0), 0.7)],
         9: [quat((179, 90, 0), -1), quat((0, -170, 30)), quat((0, 200, 0), -2)]}
    s = {1: [(0.1, 0.1, 0.1), (1, 1, 1), (2.7, 0.3, 1.1)], 5: [(3.3, 3.3, 3.3), (0.333, 0.77, 1.9), (1, 1, 1)],
         9: [(0.7, 1.3, 0.9), (-1, 1, 1), (0.01, 1, 1)]}
    t = {1: [(0, 0.1, 0), (0, 1, 0), (0, 1, 0)], 9: [(0.3, 0.1, 0), (0.1, 1.3, 0), (0, 0.7, 0.2)]}
    return {"": layer(scene([mesh()], [skel(source=ANIM), anim(T=t, R=r, S=s)]), 1, 9)}


@golden()
def array_length_change():
    t = Ts(ARM, (1, 3, 5, 7))
    t[3] = t[3][:2]
    r = Rs(ARM, (1, 3, 5, 7))
    r[5] = r[5] + [quat((0, 0, 0))]
    rig = [skel(source=ANIM), anim(times=(1, 3, 5, 7), T=t),
           skel("SkelLong", source="</World/Char/Rig/AnimLong>"), anim("AnimLong", times=(1, 3, 5, 7), R=r)]
    return {"": layer(scene([mesh(), mesh("Long", props=[SK % "SkelLong"], normals=False)], rig), 1, 7)}


def shape(name, offs, noffs=None, idx=None, inbetweens=(), meta=()):
    """inbetweens: (name, offsets, weight or None, normal offsets or None)."""
    out = [attr("uniform vector3f[] offsets", offs)]
    if noffs:
        out.append(attr("uniform vector3f[] normalOffsets", noffs))
    if idx is not None:
        out.append(attr("uniform int[] pointIndices", idx))
    for n, o, w, no in inbetweens:
        out.append(attr("uniform vector3f[] inbetweens:" + n, o, ["weight = " + num(w)] if w is not None else None))
        if no:
            out.append(attr("uniform vector3f[] inbetweens:%s:normalOffsets" % n, no))
    return P("BlendShape", name, out, meta=meta)


def offs(n, seed, amp=0.3):
    return [(amp * math.sin(1.3 * i + seed), amp * math.cos(0.9 * i - seed), amp * math.sin(2.1 * i * seed)) for i in range(n)]


def targets(path, toks, names=None):
    names = names or toks
    return ["uniform token[] skel:blendShapes = " + tokens(toks),
            "rel skel:blendShapeTargets = [%s]" % ", ".join("<%s/%s>" % (path, n) for n in names)]


GEOP = "/World/Char/Geo/"


def blend_mesh(name, shapes, toks, names=None, **kw):
    props = targets(GEOP + name, toks, names) + list(kw.pop("props", ()))
    return mesh(name, props=props, kids=shapes, **kw)


def blend_scene(meshes, toks, weights, end=5, **kw):
    return {"": layer(scene(meshes, [skel(source=ANIM), weights_anim("Anim", toks, weights, ARM, **kw)]), 1, end)}


@golden()
def blend_dense():
    w = {1: [0, 0.2], 3: [1, -0.5], 5: [0.4, 2]}
    sh = [shape("Big", offs(12, 1), offs(12, 4, 0.5)), shape("Small", offs(12, 2, 0.1))]
    return blend_scene([blend_mesh("Body", sh, ["Big", "Small"], bind=GB, xform=xf((0, 1, 0), (0, 50, 0))),
                        blend_mesh("NoNormals", sh, ["Big", "Small"], normals=False)], ["Big", "Small"], w)


@golden()
def blend_sparse():
    w = {1: [0, 0.2, 0.5], 3: [1, -0.5, 1], 5: [0.4, 2, 0.1]}
    sh = [shape("Some", offs(4, 1), offs(4, 4, 0.5), [2, 5, 11, 0]), shape("Twice", offs(4, 2), offs(4, 3), [7, 7, 1, 7]),
          shape("Empty", [], None, [])]
    return blend_scene([blend_mesh("Body", sh, ["Some", "Twice", "Empty"])], ["Some", "Twice", "Empty"], w)


@golden()
def blend_inbetweens():
    times = [1, 3, 5, 7, 9, 11, 13]
    w = {t: [x, x] for t, x in zip(times, (-1, -0.5, 0.1, 0.4, 0.75, 1.25, 2))}
    ib = [("neg", offs(12, 5), -0.5, offs(12, 6, 0.6)), ("half", offs(12, 7), 0.5, offs(12, 8, 0.6)),
          ("quarter", offs(12, 9), 0.25, None), ("over", offs(12, 10), 1.5, None)]
    sp = [("half", offs(3, 7), 0.5, offs(3, 8, 0.6)), ("quarter", offs(3, 9), 0.25, None)]
    sh = [shape("Full", offs(12, 1), offs(12, 2, 0.5), None, ib), shape("Sparse", offs(3, 3), None, [3, 4, 9], sp)]
    return blend_scene([blend_mesh("Body", sh, ["Full", "Sparse"]), blend_mesh("Only", sh[1:], ["Sparse"], normals=False)],
                       ["Full", "Sparse"], w, 13, times=(1, 13))


@golden("MSame has two in-betweens at 0.5: below that weight Pixar uses the first one, above it the second.")
def blend_bad_inbetweens():
    w = {1: [-0.5] * 3, 3: [0.3] * 3, 5: [0.6] * 3, 7: [1.2] * 3}
    zero = [("atZero", offs(12, 5), 0, None), ("good", offs(12, 6), 0.5, None)]
    one = [("atOne", offs(12, 5), 1, None), ("noWeight", offs(12, 8), None, None)]
    same = [("a", offs(12, 5), 0.5, None), ("b", offs(12, 7), 0.5, None)]
    sh = [shape("Zero", offs(12, 1), None, None, zero), shape("One", offs(12, 2), None, None, one),
          shape("Same", offs(12, 3), None, None, same)]
    return blend_scene([blend_mesh("M" + n, [s], [n], normals=False) for n, s in zip(("Zero", "One", "Same"), sh)],
                       ["Zero", "One", "Same"], w, 7, times=(1, 7))


@golden()
def blend_inbetween_sizes():
    # A sub-shape with too few or too many offsets stops all shapes of the prim where it takes part.
    steps = [-1, -0.5, -0.25, 0, 0.05, 0.2, 0.25, 0.3, 0.5, 0.55, 0.95, 1, 1.05, 1.5, 2]
    w = {i: [x] * 4 + [1] for i, x in enumerate(steps, 1)}
    half = [("half", offs(11, 5), 0.5, None)]
    two = [("fits", offs(12, 6), 0.25, None)] + half
    neg = [("neg", offs(13, 7), -0.5, None)]
    of_primary = [("half", offs(12, 5), 0.5, None)]
    t = ["Half", "Two", "Neg", "Primary"]
    sh = [shape("Half", offs(12, 1), None, None, half), shape("Two", offs(12, 2), None, None, two),
          shape("Neg", offs(12, 3), None, None, neg), shape("Primary", offs(11, 4), None, None, of_primary)]
    end = len(steps)
    good = shape("Good", offs(12, 8, 0.1))
    return blend_scene([blend_mesh("M" + n, [s, good], [n, "Good"], normals=False) for n, s in zip(t, sh)],
                       t + ["Good"], w, end, times=(1, end))


@golden()
def blend_mapping():
    # The example of the schema text: the mesh's weights are [0.75, 1].
    m = mesh("Mesh", props=targets("/World/Char/Geo/Mesh", ["B", "A"], ["Foo", "Bar"]) + [SK % "Skel", "rel skel:animationSource = " + ANIM],
             kids=[shape("Foo", offs(12, 1)), shape("Bar", offs(12, 2))])
    rig = [skel(source=ANIM), weights_anim("Anim", ["A", "B", "C", "D"], [1, 0.75, 0, 0], ARM)]
    quiet = [skel("Skel"), weights_anim("Anim", ["A", "B", "C", "D"], [1, 0.75, 0, 0], ARM)]
    root2 = P("SkelRoot", "Literal", xf((3, 0, 0)), [
        P("Xform", "Rig", RIG, quiet),
        mesh("Mesh", props=targets("/World/Literal/Mesh", ["B", "A"], ["Foo", "Bar"]) +
             ["rel skel:skeleton = </World/Literal/Rig/Skel>", "rel skel:animationSource = </World/Literal/Rig/Anim>"],
             kids=[shape("Foo", offs(12, 1)), shape("Bar", offs(12, 2))])], api=True)
    return {"": layer(scene([m], rig, extra=[root2]), 1, 5)}


@golden()
def blend_only():
    w = {1: [0, 1], 3: [1, 0.5], 5: [-1, 2]}
    sh = [shape("One", offs(12, 1), offs(12, 2, 0.5)), shape("Two", offs(2, 3), None, [4, 10])]
    none = P("Skeleton", "SkelNone", ["uniform token[] joints = []", "uniform matrix4d[] bindTransforms = []",
                                      "uniform matrix4d[] restTransforms = []", "rel skel:animationSource = </World/Char/Rig/AnimNone>"],
             api=True)
    rig = [skel(source=ANIM), weights_anim("Anim", ["One", "Two"], w, ARM), none,
           weights_anim("AnimNone", ["One", "Two"], w)]
    move = xf((0.5, 0.2, 0), (0, 40, 0), (1, 1.5, 1))
    t = ["One", "Two"]
    rigid = infl([1], [1], 1, "constant")
    return {"": layer(scene([blend_mesh("NoInfluences", sh, t, influences=[], bind=GB, xform=move),
                            blend_mesh("NoJoints", sh, t, influences=[], xform=move, props=[SK % "SkelNone"]),
                            blend_mesh("Rigid", sh, t, influences=rigid, xform=move, bind=GB),
                            blend_mesh("NoJointsInfluences", sh, t, xform=move, props=[SK % "SkelNone"])], rig), 1, 5)}


@golden()
def blend_missing_channel():
    # Three shapes, two channels, at one time only one weight. Extra has no channel at all.
    w = {1: [0.5, 1], 3: [1], 5: [0.2, 0.6]}
    sh = [shape("Extra", offs(12, 3)), shape("One", offs(12, 1)), shape("Two", offs(12, 2))]
    return blend_scene([blend_mesh("Body", sh, ["Extra", "One", "Two"])], ["One", "Two"], w)


@golden()
def geom_bind():
    shear = Gf.Matrix4d(1, 0.3, 0, 0, 0, 1.2, 0.1, 0, 0.4, 0, 0.9, 0, 0.1, -0.2, 0.3, 1)
    child = P("Xform", "Group", xf((0, 0.3, 0)) + [gbt(shear)], [mesh("Inherits")], api=True)
    return {"": layer(scene([
        mesh("Shear", bind=shear, xform=xf((0.5, 0, 0), (0, 45, 0))), child,
        mesh("Animated", bind={1: M(), 4: GB, 5: M((0.5, 0, 0), (0, 0, 40), (1, 1, 2))}),
        mesh("Mirror", bind=M((0, 0, 0), (0, 0, 10), (-1, 1, 1)))]), 1, 5)}


@golden()
def inherited_binding():
    # Everything sits on ancestors. Off repeats the influences without applying the API.
    pts, _, _, _ = tube()
    fall = infl(*falloff(12, 2, 2), 2)
    other = infl(*falloff(12, 1, 2), 1)
    sub = P("Xform", "Group", xf((0, 0.2, 0)) + fall + [gbt(GB), "uniform token[] skel:joints = " + tokens(["A/B/C", "A/B"])], [
        mesh("All", influences=[]),
        mesh("OwnInfluences", influences=other),
        mesh("OwnJoints", influences=[], props=["uniform token[] skel:joints = " + tokens(["A", "A/B/C"])]),
        mesh("OwnBind", influences=[], bind=M((0.5, 0, 0)), normals=False),
        mesh("NoApi", influences=[], api=False, normals=False),
        mesh("NoApiOwn", influences=other, api=False, normals=False),
        mesh("OwnSkeleton", influences=[], normals=False, props=[SK % "Still"]),
    ], api=True)
    bare = P("Xform", "Bare", xf((0, 0.2, 0)) + fall, [mesh("UnderNoApi", influences=[], normals=False)])
    return {"": layer(scene([sub, bare, mesh("Alone", influences=other, api=False, normals=False)],
                            [skel(source=ANIM), anim(), skel("Still")]), 1, 5)}


def bound_group(name, props, meshes, kids=()):
    return P("Xform", name, props, list(kids) + meshes, api=True)


@golden("The first Skeletons lie beside the bindings, so no source reaches them; those of Under lie below.")
def anim_source_1():
    src = "rel skel:animationSource = </World/%s/Anim>"
    m = lambda n: mesh(n, normals=False)
    beside = P("SkelRoot", "Beside", ROOT, [anim(), skel("Skel1"), skel("Skel2"), bound_group("A", [src % "Beside"], [], [
        bound_group("B", ["rel skel:skeleton = </World/Beside/Skel1>"], [m("Mesh")]),
        bound_group("C", ["rel skel:skeleton = </World/Beside/Skel2>"], [m("Mesh")])])])
    under = P("SkelRoot", "Under", ROOT, [anim(), bound_group("A", [src % "Under"], [], [
        bound_group("B", ["rel skel:skeleton = </World/Under/A/B/Skel1>"], [m("Mesh")], [skel("Skel1")]),
        bound_group("C", ["rel skel:skeleton = </World/Under/A/C/Skel2>"], [m("Mesh")], [skel("Skel2")])])])
    return {"": layer([P("Xform", "World", WORLD, [beside, under])], 1, 5)}


@golden("As the schema text says, /A has no animation: a source below the Skeleton binding has no effect.")
def anim_source_2():
    m = lambda n: mesh(n, normals=False)
    root = P("SkelRoot", "Root", ROOT, [anim("Anim1"), anim("Anim2", k=2), skel("Skel"), bound_group(
        "A", ["rel skel:skeleton = </World/Root/Skel>"], [m("Mesh")], [
            bound_group("B", ["rel skel:animationSource = </World/Root/Anim1>"], [m("Mesh")]),
            bound_group("C", ["rel skel:animationSource = </World/Root/Anim2>"], [m("Mesh")])])])
    return {"": layer([P("Xform", "World", WORLD, [root])], 1, 5)}


@golden("One Skeleton serves both bindings, and its source is found from the Skeleton upward.")
def anim_source_3():
    m = lambda n: mesh(n, normals=False)

    def tree(top, place):
        sk = "rel skel:skeleton = </World/%s%s/Skel>" % (top, place)
        s1, s2 = ("rel skel:animationSource = </World/%s/Anim%d>" % (top, i) for i in (1, 2))
        a = bound_group("A", [sk, s1], [m("Mesh")], ([skel("Skel")] if place else []) + [
            bound_group("B", [s2], [m("Mesh")]), bound_group("C", [s2, sk], [m("Mesh")])])
        return P("SkelRoot", top, ROOT, [anim("Anim1"), anim("Anim2", k=2)] + ([] if place else [skel("Skel")]) + [a])
    return {"": layer([P("Xform", "World", WORLD, [tree("Beside", ""), tree("Under", "/A")])], 1, 5)}


@golden("MInactive has no Skeleton and is not baked; all others but MNormal stay at rest.")
def anim_blocked():
    rig = [anim(), anim("AnimOff", meta=["active = false"]), P("Xform", "NotAnim"),
           skel("Inherits"), skel("Empty", source="[]"), skel("None", source="None"), skel("Missing", source="</World/Nope>"),
           skel("Off", source="</World/Char/Rig/AnimOff>"), skel("Wrong", source="</World/Char/Rig/NotAnim>"),
           skel("First", source="[</World/Char/Rig/AnimOther>, </World/Char/Rig/Anim>]"), anim("AnimOther", k=2),
           skel("NoApi", source="</World/Char/Rig/AnimOther>", api=False), skel("Inactive", meta=["active = false"])]
    names = ("Inherits", "Empty", "None", "Missing", "Off", "Wrong", "First", "NoApi", "Inactive")
    ms = [mesh("M" + n, props=[SK % n], normals=False, rings=3) for n in names]
    return {"": layer(scene(ms, rig, bound=False, root_props=["rel skel:animationSource = " + ANIM]), 1, 3)}


@golden()
def nearest_parent():
    js = ["A", "A/B/C", "A/B/C/D", "E/F"]
    rig = [skel(joints=js, source=ANIM), anim(joints=js)]
    order = ["A/B", "A"]
    rig += [skel("Wrong", joints=order, source="</World/Char/Rig/AnimWrong>"), anim("AnimWrong", joints=order)]
    return {"": layer(scene([mesh(joints=4), mesh("ChildFirst", joints=2, normals=False, props=[SK % "Wrong"])], rig), 1, 5)}


@golden("Both SkelRoots list InnerMesh; it is deformed once, as it would be with the inner ones being Xforms.")
def nested_skel_roots():
    inner = P("SkelRoot", "Inner", xf((1, 0, 0), (0, 0, 30)) + ["rel skel:skeleton = </World/Char/Geo/Inner/Skel>"], [
        skel(source="</World/Char/Geo/Inner/Anim>"), anim(k=2), mesh("InnerMesh", normals=False)], api=True)
    plain = P("SkelRoot", "Plain", xf((0, 0, 1)), [mesh("PlainMesh", normals=False)])
    return {"": layer(scene([mesh(), inner, plain]), 1, 5)}


@golden("Only /World/Char is baked; what lies outside of a SkelRoot is left alone.")
def skelroot_not():
    loose = P("Xform", "Loose", ["rel skel:skeleton = </World/Loose/Skel>"], [
        skel(source="</World/Loose/Anim>"), anim(), mesh("Mesh", normals=False)], api=True)
    char = lambda n: P("SkelRoot", n, ["rel skel:skeleton = </World/%s/Skel>" % n], [
        skel(source="</World/%s/Anim>" % n), anim(), mesh("Mesh", normals=False)], api=True)
    base = layer([P("Xform", "World", [], [char("Retyped")])])
    over = P("Xform", "Retyped")
    return {"": layer(scene([mesh()], extra=[loose, over]), 1, 5, extra=["subLayers = [@./skelroot_not_base.usda@]"]),
            "base": base}


@golden("Pixar refuses instances; the bake was made with instanceable = false on every prim.", deinstance=True)
def instanced():
    # The Skeleton has no source of its own, so it takes the one authored on its instance.
    char = P("", "Character", [], [
        P("SkelRoot", "Root", ["rel skel:skeleton = </Character/Root/Rig/Skel>"], [
            P("Xform", "Rig", RIG, [skel()]), P("Xform", "Geo", GEO, [
                mesh("Body", bind=GB), mesh("Hat", influences=infl([2], [1], 1, "constant"), normals=False)])], api=True)],
        spec="class")
    def inst(n, src, x):
        return P("Xform", n, ["rel skel:animationSource = <%s>" % src] + x, api=True,
                 meta=["instanceable = true", "inherits = </Character>"])
    return {"": layer([char, P("Xform", "World", WORLD, [
        anim("Anim1"), anim("Anim2", k=2),
        inst("One", "/World/Anim1", xf((2, 0, 0), (0, 70, 0))),
        inst("Two", "/World/Anim2", xf((-2, 1, 0), (0, 0, 20), (1.5, 1, 1)))])], 1, 5)}


INSTANCED = "Pixar refuses instances; the bake was made with instanceable = false on every prim."


def instance(name, of, x, props=(), meta=(), api=False):
    return P("Xform", name, list(props) + x, api=api, meta=["instanceable = true", "inherits = <%s>" % of] + list(meta))


def instanced_char(name, source=True, path=None):
    path = path or "/" + name
    rig = [skel(source="<%s/Root/Rig/Anim>" % path if source else None)] + ([anim()] if source else [])
    return P("", name, [], [P("SkelRoot", "Root", ["rel skel:skeleton = <%s/Root/Rig/Skel>" % path], [
        P("Xform", "Rig", RIG, rig), P("Xform", "Geo", GEO, [mesh("Body", bind=GB), mesh("Hat", normals=False, props=["uniform token orientation = \"leftHanded\""])])],
        api=True)], spec="class")


@golden(INSTANCED, deinstance=True)
def instances_shared():
    # Placed differently, one of them moving; two share an animation from outside, one has its own.
    bound = lambda n, a, x: instance(n, "/Bound", x, ["rel skel:animationSource = </World/%s>" % a], api=True)
    return {"": layer([instanced_char("Own"), instanced_char("Bound", source=False), P("Xform", "World", WORLD, [
        anim("Anim1"), anim("Anim2", k=2),
        instance("Near", "/Own", xf((2, 0, 0), (0, 70, 0))), instance("Far", "/Own", xf((1e6, 0, 0), (0, 0, 20), (1.5, 1, 1))),
        instance("Walks", "/Own", xf({1: (0, 0, 0), 5: (9, 0, 0)})),
        bound("One", "Anim1", xf((0, 1, 0))), bound("Two", "Anim1", xf((0, 2, 0), (30, 0, 0))), bound("Other", "Anim2", xf((0, 3, 0)))])], 1, 5)}


@golden(INSTANCED, deinstance=True)
def instances_nested():
    # Squads of two; the second squad's animation comes from outside, down through both instances.
    squad = P("", "Squad", [], [instance("A", "/Bound", xf((1, 0, 0))), instance("B", "/Bound", xf((0, 0, 1), (0, 40, 0)))], spec="class")
    s = lambda n, a, x: instance(n, "/Squad", x, ["rel skel:animationSource = </World/%s>" % a], api=True)
    return {"": layer([instanced_char("Bound", source=False), squad, P("Xform", "World", WORLD, [
        anim("Anim1"), anim("Anim2", k=2), s("S1", "Anim1", xf((2, 0, 0))), s("S2", "Anim1", xf((4, 0, 0), (0, 0, 90))), s("S3", "Anim2", xf((6, 0, 0)))])], 1, 5)}


@golden(INSTANCED, deinstance=True)
def instances_skeleton_outside():
    # How the prims stand to the skeleton differs, so that no two come out the same.
    hat = P("", "Hat", [], [mesh("Mesh", bind=GB)], spec="class")
    rig = [skel(source=ANIM), anim()]
    return {"": layer([hat] + scene([instance("I1", "/Hat", xf((0.5, 0, 0))), instance("I2", "/Hat", xf((0, 0.5, 0), (0, 30, 0)))], rig), 1, 5)}


@golden("Baked into a stronger layer: into its own layer Pixar's bake loses the animated rest points and writes none.")
def rest_points_animated():
    pts, nrm, _, _ = tube()
    mv = lambda t: [(x * (1 + 0.1 * t), y + 0.05 * t * math.sin(3 * x), z) for x, y, z in pts]
    nm = lambda t: [tuple(Gf.Vec3d(x, y + 0.2 * t, z).GetNormalized()) for x, y, z in nrm]
    still = [skel("Still"), skel(source=ANIM), anim()]
    return {"": layer(scene([mesh(points={1: mv(0), 2.5: mv(2), 6: mv(4)}, normals={1: nm(0), 4: nm(3)}, bind=GB),
                            mesh("OnStill", points={1: mv(0), 4: mv(3)}, normals=False, props=[SK % "Still"])], still), 1, 5)}


@golden("Pixar does not sample the times of the ancestors' transforms; StillMesh is baked once, at the default time.")
def ancestors_animated():
    world = xf({1: (0, 0, 0), 5: (3, 1, 0)}, (0, 30, 0))
    root = xf((0.3, 0, 0), {2: (0, 0, 0), 4.5: (0, 90, 0)})
    rig_xf = xf((0, 0.4, 0), {1: (0, 0, 0), 5: (0, 0, 60)})
    geo_xf = xf({1: (0, 0, 0), 3.5: (0, 2, 0)}, None, (1, 1.5, 1))
    rig = [skel(source=ANIM, xform=xf({1: (0, 0, 0), 5: (1, 0, 0)})), anim(times=(1, 5)), skel("Still")]
    rigid = infl([1], [1], 1, "constant")
    return {"": layer(scene([mesh(xform=xf((0, 1, 0), {1: (0, 0, 0), 5: (180, 0, 0)})), mesh("Plain", normals=False),
                            mesh("Rigid", influences=rigid, normals=False),
                            mesh("StillMesh", normals=False, props=[SK % "Still"])],
                           rig, world=world, root=root, rig_xf=rig_xf, geo_xf=geo_xf), 1, 5)}


@golden()
def xform_ops():
    o = lambda *n: "uniform token[] xformOpOrder = " + tokens(n)
    world = [attr("double3 xformOp:translate", (1, 2, 3)), attr("float3 xformOp:rotateZYX", {1: (10, 20, 30), 5: (60, -20, 90)}),
             o("xformOp:translate", "xformOp:rotateZYX")]
    root = [attr("quatf xformOp:orient", {1: quat((10, 50, 0)), 5: quat((-20, 100, 30))}), attr("double xformOp:rotateY:extra", 25),
            o("xformOp:orient", "xformOp:rotateY:extra")]
    rig_xf = [attr("float3 xformOp:translate:pivot", (0, 1, 0.5)), attr("float3 xformOp:scale", {1: (1, 1, 1), 5: (2, 1, 0.5)}),
              attr("float3 xformOp:rotateXZY", (5, 10, 15)),
              o("xformOp:translate:pivot", "xformOp:rotateXZY", "xformOp:scale", "!invert!xformOp:translate:pivot")]
    geo_xf = [attr("matrix4d xformOp:transform", {1: M((0, 1, 0), (0, 30, 0)), 5: M((1, 0, 0), (40, 0, 0), (1, 2, 1))}), o("xformOp:transform")]
    rot = [attr("float3 xformOp:rotateYXZ", (10, 20, 30)), attr("float3 xformOp:rotateYZX:b", (5, -20, 30)),
           attr("half xformOp:rotateX:c", 12.5), attr("double xformOp:rotateZ:d", -7), attr("float3 xformOp:rotateZXY:e", (1, 2, 3)),
           o("xformOp:rotateYXZ", "xformOp:rotateYZX:b", "xformOp:rotateX:c", "!invert!xformOp:rotateZ:d", "xformOp:rotateZXY:e")]
    rig = [skel(source=ANIM, xform=[attr("quath xformOp:orient", quat((0, 33, 0))), attr("half3 xformOp:scale", (1.5, 1, 0.7)),
                                    o("xformOp:orient", "xformOp:scale")]), anim()]
    rigid = infl([1], [1], 1, "constant")
    reset = xf({1: (1, 0, 0), 5: (1, 2, 0)}, (0, 10, 0), reset=True)
    return {"": layer(scene([mesh(xform=rot), mesh("Reset", xform=reset), mesh("RigidReset", influences=rigid, normals=False, xform=reset),
                            mesh("Unlisted", normals=False, xform=["double3 xformOp:translate = (9, 9, 9)"])],
                           rig, world=world, root=root, rig_xf=rig_xf, geo_xf=geo_xf), 1, 5)}


@golden()
def composed():
    wave, nod = anim("Wave", times=(0, 2, 4)), anim("Nod", times=(0, 1, 4), k=2)
    pick = lambda v: '"%s" (\n    prepend apiSchemas = ["SkelBindingAPI"]\n) {\n    rel skel:animationSource = </Char/Rig/%s>\n}' % (v, v.capitalize())
    bound = P("", "_Bound", [gbt(GB)], spec="class")
    variants = 'variantSet "motion" = {\n%s\n%s\n}' % (pick("wave"), pick("nod"))
    char = P("SkelRoot", "Char", ROOT + ["rel skel:skeleton = </Char/Rig/Skel>", variants], [
        P("Xform", "Rig", RIG, [skel(), wave, nod]),
        P("Xform", "Geo", GEO, [mesh("Body", meta=["inherits = </_Bound>"]), mesh("Arm", normals=False)])],
        api=True, meta=['variants = {\n    string motion = "wave"\n}', 'prepend variantSets = "motion"'])
    hat = P("Mesh", "Hat", mesh("x", normals=False, influences=infl([2], [1], 1, "constant"), rings=3)[5:-1], api=True)
    body = falloff(12, 3, 3)
    jw = [body[1][(i + 3) % 36] for i in range(36)]
    weights = P("", "World", [], [P("", "Hero", [], [P("", "Geo", [], [P("", "Arm", infl(body[0], jw, 3), spec="over")], spec="over")],
                                  spec="over")], spec="over")
    ref = "prepend references = @./composed_char.usda@</Char> (offset = 10; scale = 2)"
    # Stronger here than in the character's own file: an inherit is implied across the reference.
    cls = P("", "_Bound", [gbt(M((0.3, 0, 0), (0, 25, 0)))], spec="class")
    hero = P("", "Hero", xf({10: (0, 0, 0), 18: (1, 0, 0)}), [
        P("", "Geo", [], [P("", "Hat", [], meta=["prepend payload = @./composed_hat.usda@</Hat>"], spec="def")], spec="over")],
        meta=[ref, 'variants = {\n    string motion = "nod"\n}'])
    plain = P("", "Plain", xf((4, 0, 0)), meta=["prepend references = @./composed_char.usda@</Char>"])
    return {"": layer([cls, P("Xform", "World", WORLD, [hero, plain])], 10, 14, extra=["subLayers = [@./composed_weights.usda@]"]),
            "char": layer([bound, char]), "hat": layer([hat]), "weights": layer([weights])}


def corner_normals():
    """Normals of the tube that differ from corner to corner."""
    _, nrm, _, idx = tube()
    return [tuple((Gf.Vec3d(*nrm[p]) + Gf.Vec3d(0.1 * (i % 3), 0, 0.05 * (i % 5))).GetNormalized()) for i, p in enumerate(idx)]


@golden()
def normals_interpolations():
    pts, nrm, counts, idx = tube()
    corners = corner_normals()

    def normals(values, interpolation):
        return [attr("normal3f[] normals", values, ['interpolation = "%s"' % interpolation] if interpolation else None)]

    shapes = ["uniform token[] skel:blendShapes = " + tokens(["bend"]), "rel skel:blendShapeTargets = <bend>"]
    bend = P("BlendShape", "bend", [
        attr("uniform vector3f[] offsets", [(0.1, 0, 0.1), (0, 0.2, 0)]), attr("uniform vector3f[] normalOffsets", [(0, 0.5, 0), (0.3, 0, 0)]),
        "uniform int[] pointIndices = [4, 7]"])
    bad = list(idx)
    bad[5], bad[9] = 99, -2
    moved = xf((0.1, 0, 0), (0, 20, 0), (1, 1.3, 1))
    animated = {1: corners, 5: [(-x, y, z) for x, y, z in corners]}
    rig = [skel(source=ANIM), weights_anim("Anim", ["bend"], {1: [0.2], 5: [0.9]}, ARM)]
    return {"": layer(scene([
        mesh("Varying", normals=False, props=normals(nrm, "varying") + shapes, kids=[bend], xform=moved),
        mesh("FaceVarying", normals=False, props=normals(corners, "faceVarying"), bind=GB, xform=moved),
        mesh("FaceVaryingBlended", normals=False, props=normals(corners, "faceVarying") + shapes, kids=[bend]),
        mesh("FaceVaryingAnimated", normals=False, props=normals(animated, "faceVarying")),
        mesh("BadCorners", normals=False, props=normals(corners, "faceVarying"), corners=bad),
        mesh("WrongNumber", normals=False, props=normals(corners[:-1], "faceVarying")),
        mesh("Unauthored", normals=False, props=normals(nrm, None)),
        mesh("Uniform", normals=False, props=normals(corners[:len(counts)], "uniform")),
        mesh("Constant", normals=False, props=normals(corners[:1], "constant")),
        mesh("Rigid", normals=False, props=normals(corners, "faceVarying") + shapes, kids=[bend], influences=infl([1], [1], 1, "constant")),
    ], rig), 1, 5)}


@golden()
def gprims():
    """Every gprim type: by points where there are some, else by transform."""
    pts, nrm, _, _ = tube()
    n, c = len(pts), "constant"
    skinned = [attr("point3f[] points", pts)] + infl(*falloff(n, 2, 3), 2)
    widths = [attr("float[] widths", [0.01 * (i + 1) for i in range(n)], ['interpolation = "vertex"'])]
    one = infl([2], [1], 1, c)
    two = infl([0, 2], [0.3, 0.7], 2, c)
    moved = xf((0, 0.3, 0), (0, 0, 20))

    def by_points(kind, name, props, joints=skinned):
        return P(kind, name, list(props) + joints + moved, api=True)

    def whole(kind, props, joints):
        return P(kind, kind, list(props) + joints + moved, api=True)

    curve = ['uniform token type = "linear"', attr("int[] curveVertexCounts", [6, 6])]
    return {"": layer(scene([
        by_points("Points", "Points", widths),
        by_points("Points", "PointsOneWidth", ["float[] widths = [0.2]"]),
        by_points("Points", "PointsNoWidths", []),
        by_points("BasisCurves", "BasisCurves", curve + widths),
        by_points("NurbsCurves", "NurbsCurves", [attr("int[] curveVertexCounts", [12]), "int[] order = [2]", attr("double[] knots", list(range(14)))] + widths),
        by_points("HermiteCurves", "HermiteCurves", [attr("int[] curveVertexCounts", [12]), attr("vector3f[] tangents", nrm)] + widths),
        by_points("NurbsPatch", "NurbsPatch", ["int uVertexCount = 3", "int vVertexCount = 4", "int uOrder = 2", "int vOrder = 2",
                  attr("double[] uKnots", list(range(5))), attr("double[] vKnots", list(range(6)))] + widths),
        by_points("TetMesh", "TetMesh", ["int4[] tetVertexIndices = [(0, 1, 2, 3)]"]),
        by_points("Mesh", "MeshWithWidths", widths),
        by_points("Points", "RigidPoints", widths, [attr("point3f[] points", pts)] + two),
        whole("Sphere", ["double radius = 0.2"], one),
        whole("Cube", ["double size = 0.3"], two),
        whole("Cylinder", ["double height = 1"], one),
        whole("Cone", ["double height = 1"], two),
        whole("Capsule", ["double height = 1"], one),
        whole("Plane", ["double width = 1"], two),
        whole("Camera", [], one),
        P("Sphere", "VertexInfluences", infl([0, 1], [1, 1], 1), api=True),
        P("Xform", "Group", one, [P("Cube", "Inherits", moved, api=True)], api=True),
    ]), 1, 5)}


# ------------------------------------------------------------------ dual quaternions


def method(name):
    return 'uniform token primvars:skel:skinningMethod = "%s"' % name


DQ = method("dualQuaternion")
ONES = [(1, 1, 1)] * 3


@golden("Inherited from the SkelRoot, opinion by opinion. Rigid has rotations and translations alone; Pixar does not bake Unknown.")
def dq_points_normals():
    js = ["A", "A/B", "A/B/C", "A/B/C/D", "A/B/C/D/E", "A/F", "A/F/G"]
    rig = [skel(source=ANIM), anim(k=2), skel("Rigid", source="</World/Char/Rig/AnimRigid>"), anim("AnimRigid", S=ONES, k=2),
           skel("Many", joints=js, source="</World/Char/Rig/AnimMany>"), anim("AnimMany", joints=js)]
    n, k = 12, 9
    ji = [(i + j) % len(js) for i in range(n) for j in range(k)]
    jw = [(0.5 + ((i * 7 + j * 3) % 5)) / (2.3 * k) for i in range(n) for j in range(k)]
    return {"": layer(scene([
        mesh(bind=GB, xform=xf((0.5, 0, 0), (0, 45, 0))), mesh("OnRigid", props=[SK % "Rigid"], bind=GB),
        mesh("OnMany", influences=infl(ji, jw, k), props=[SK % "Many"]), mesh("Linear", props=[method("classicLinear")]),
        mesh("Unknown", props=[method("sideways")], normals=False)], rig, root_props=[DQ]), 1, 5)}


@golden("Unequal scales under rotations make shear.")
def dq_scale_shear():
    s = {t: [(1.5 + 0.5 * math.sin(t), 0.6, 1.1), (0.5, 1.4 + 0.3 * math.cos(t), 0.8), (2, 2, 2 + 0.1 * t)] for t in (1, 3, 5)}
    rig = [skel(source=ANIM), anim(S=s, k=2)]
    return {"": layer(scene([mesh(k=3, bind=GB), mesh("Single", k=1, props=[SK % "Skel"], normals=False)], rig, root_props=[DQ]), 1, 5)}


@golden("Mirrored, singular and almost singular joints. A joint is singular where its determinant is below 1e-10.")
def dq_mirrored_singular():
    s = {"Mirror": [(-1, 1, 1), (1, 1, 1), (0.5, -2, 1)], "Two": [(-1, -1, 1), (1, 1, 1), (-1, -1, -1)],
         "Zero": [(1, 1, 1), (1, 1, 1), (0, 0, 0)], "Pivot": [(1, 1, 1), (0, 0, 0), (1, 1, 1)],
         "Tiny": [(1, 1, 1), (1, 1, 1), (0.0004, 0.0004, 0.0004)], "Small": [(1, 1, 1), (1, 1, 1), (0.0006, 0.0006, 0.0006)],
         "Thin": [(1, 1, 1), (1, 1, 1), (0.000004, 30, 40)], "All": [(0, 0, 0)] * 3}
    rig, ms = [], []
    for n, v in s.items():
        rig += [skel("Skel" + n, source="</World/Char/Rig/Anim%s>" % n), anim("Anim" + n, times=(1, 3), S=v)]
        ms.append(mesh("M" + n, k=3, props=[SK % ("Skel" + n)], normals=n not in ("Zero", "Pivot", "All"), rings=3))
    return {"": layer(scene(ms, rig, bound=False, root_props=[DQ]), 1, 3)}


@golden("Sums of nothing are identity; weights that do not sum to 1 count only where some joint is scaled.")
def dq_zero_sum():
    rig = [skel(source=ANIM), anim(k=2), skel("Rigid", source="</World/Char/Rig/AnimRigid>"), anim("AnimRigid", S=ONES, k=2)]
    rows = [([0, 0], [0.5, -0.5]), ([1, 2], [0, 0]), ([0, 1], [0.25, 0.25]), ([2, 1], [1.5, -0.25]), ([1, 0], [-0.5, -0.5]),
            ([1, 1], [0.75, -0.25]), ([0, 2], [-0.75, 0.25]), ([2, 2], [1e-11, 0]), ([2, 1], [1e-9, 1e-9]), ([0, 2], [2, 3]),
            ([0, 1], [0.5, 0.5]), ([1, 2], [0.125, 0.875])]
    fl = infl([j for r in rows for j in r[0]], [w for r in rows for w in r[1]], 2)
    return {"": layer(scene([mesh("Scaled", influences=fl), mesh("OnRigid", influences=fl, props=[SK % "Rigid"])],
                           rig, root_props=[DQ]), 1, 5)}


@golden("Whether scale counts is decided over the joints of the prim's own order, used by its points or not.")
def dq_own_joint_order():
    own = "uniform token[] skel:joints = "
    s = [(1, 1, 1), (1, 1, 1), (1.5, 0.5, 1)]
    half = lambda ji: infl(ji * 6, [0.5, 0.25] * 12, 2)
    ms = [mesh("Without", influences=half([1, 0, 0, 1]), props=[own + tokens(["A/B", "A"])]),
          mesh("Unused", influences=half([1, 0, 0, 1]), props=[own + tokens(["A/B", "A", "A/B/C"])]),
          mesh("Used", influences=half([1, 0, 2, 1]), props=[own + tokens(["A/B", "A", "A/B/C"])]),
          mesh("Lacking", influences=half([1, 0, 0, 1]), props=[own + tokens(["A/B", "A/Nobody"])], bind=GB)]
    return {"": layer(scene(ms, [skel(source=ANIM), anim(S=s, k=2)], root_props=[DQ]), 1, 5)}


@golden("Pixar writes the prim's transform here; deformed_prim_space holds the same as points. One influence of weight 1 is no blend.")
def dq_constant():
    c = "constant"
    rig = [skel(source=ANIM), anim(k=2), skel("Flat", source="</World/Char/Rig/AnimFlat>"),
           anim("AnimFlat", S=[(1, 1, 1), (1, 0.001, 0.00001), (1, 1, 1)])]
    return {"": layer(scene([
        mesh("One", influences=infl([2], [1], 1, c), bind=GB), mesh("OneOfFlat", influences=infl([1], [1], 1, c), props=[SK % "Flat"]),
        mesh("Half", influences=infl([2], [0.5], 1, c), bind=GB), mesh("Two", influences=infl([0, 2], [0.4, 0.6], 2, c), bind=GB),
        mesh("Three", influences=infl([1, 2, 0], [0.5, 0.75, -0.25], 3, c))], rig, root_props=[DQ]), 1, 5)}


@golden("Joints far apart: the first of the largest weight says which way round.")
def dq_hemisphere():
    # About a third of a turn from each to the next: which pair goes the long way depends on the pivot.
    r = {t: [quat((0, 10 * t, 0)), quat((0, 118 + 3 * t, 0)), quat((5 * t, 125, 0), -1)] for t in (1, 3, 5)}
    rows = [([0, 1, 2], w) for w in ([0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [1 / 3, 1 / 3, 1 / 3], [0.25, 0.25, 0.5])]
    rows += [([2, 1, 0], w) for w in ([0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [1 / 3, 1 / 3, 1 / 3], [0.25, 0.25, 0.5])]
    rows += [([1, 1, 2], w) for w in ([0.3, 0.3, 0.4], [-0.5, 0.7, 0.8], [0, 0.5, 0.5], [0.35, 0.35, 0.3])]
    fl = infl([j for x in rows for j in x[0]], [w for x in rows for w in x[1]], 3)
    return {"": layer(scene([mesh(influences=fl)], [skel(source=ANIM), anim(R=r)], root_props=[DQ]), 1, 5)}


@golden()
def dq_blend_shapes():
    sh = [shape("wide", offs(12, 1), offs(12, 2, 0.2)), shape("tall", offs(2, 3), idx=[3, 7], inbetweens=[("half", offs(2, 4), 0.5, None)])]
    ms = [blend_mesh("Both", sh, ["wide", "tall"], bind=GB), blend_mesh("Points", sh[1:], ["tall"], normals=False)]
    rig = [skel(source=ANIM), weights_anim("Anim", ["wide", "tall"], {1: [0, 0], 3: [1, 0.7], 5: [-0.5, 1.2]}, ARM)]
    return {"": layer(scene(ms, rig, root_props=[DQ]), 1, 5)}


@golden("Times pass a sublayer's offset and scale, layers of 12 and 48 time codes per second, and a reference's offset.")
def layer_offsets():
    # Weaker than the character's own file: a specialized class speaks last.
    base = P("", "_Base", [gbt(GB), attr("float3[] extent", [(0, 0, 0), (1, 1, 1)])], spec="class")
    rigs = [skel(source="</Char/Rig/Anim>", xform=xf({1: (0, 0, 0), 4: (0, 1, 0)})), anim(times=(0, 2, 3))]
    char = P("SkelRoot", "Char", ["rel skel:skeleton = </Char/Rig/Skel>"], [
        P("Xform", "Rig", RIG, rigs), P("Xform", "Geo", GEO, [
            mesh("Body", meta=["specializes = </_Base>"]),
            mesh("Arm", normals=False, bind=M((0, 0.5, 0)), meta=["specializes = </_Base>"])])], api=True)
    ref = "prepend payload = @./layer_offsets_char.usda@</Char> (offset = 2; scale = 0.5)"
    mid = [P("Xform", "World", WORLD, [P("", "Hero", xf({8: (0, 0, 0), 16: (1, 0, 0)}), meta=[ref])])]
    return {"": layer([P("Xform", "World", spec="over")], 0, 12, extra=["subLayers = [@./layer_offsets_mid.usda@ (offset = 3; scale = 0.25)]"]),
            "mid": layer(mid, fps=48), "char": layer([base, char], fps=12)}


# ------------------------------------------------------------------ value clips


def clip_layer(k, times):
    """What one clip animates: a skeleton, rest points, and a mesh that is not skinned."""
    pts = tube()[0]
    mv = lambda t: [(x + 0.1 * math.sin(t + k + y), y, z + 0.05 * k) for x, y, z in pts]
    cloth = [attr("point3f[] points", {t: mv(t) for t in times}), attr("double3 xformOp:translate", {t: (math.sin(t), k, 0) for t in times}),
             attr("token mood", {t: '"m%s_%d"' % (num(t), k) for t in times}), attr("double size", {t: t * k for t in times})]
    over = lambda n, props, kids=(): P("", n, props, kids, spec="over")
    return layer([over("Clip", [], [over("Rig", [], [over("Anim", [attr("float3[] translations", Ts(ARM, times, k)),
                                                                   attr("quatf[] rotations", Rs(ARM, times, k))])]),
                                    over("Geo", [], [over("Melt", [attr("point3f[] points", {t: mv(t) for t in times})]), over("Cloth", cloth)])])])


def clip_manifest():
    over = lambda n, props, kids=(): P("", n, props, kids, spec="over")
    cloth = ["point3f[] points", "double3 xformOp:translate", "token mood", "double size"]
    return layer([over("Clip", [], [over("Rig", [], [over("Anim", ["float3[] translations", "quatf[] rotations"])]),
                                    over("Geo", [], [over("Melt", ["point3f[] points"]), over("Cloth", cloth)])])])


def clip_char(sets, name="Char", path="/World/Char"):
    """The topology that the clips animate, with the clip sets on its root."""
    still = anim(T=None, R=None, S=[(1, 1, 1)] * 3, props=["float3[] translations", "quatf[] rotations"])
    melt = [l for l in mesh("Melt", normals=False) if "point3f[] points" not in l]
    at = melt.index("{") + 1
    melt.insert(at, "    point3f[] points")
    cloth = P("Mesh", "Cloth", ["point3f[] points", "int[] faceVertexCounts = [3]", "int[] faceVertexIndices = [0, 1, 2]", "double3 xformOp:translate",
                                'uniform token[] xformOpOrder = ["xformOp:translate"]', 'custom token mood = "calm"', "custom double size = 7"])
    meta = ["clips = {\n    dictionary default = {\n%s\n    }\n}" % "\n".join("        " + l for l in sets)]
    return P("SkelRoot", name, ["rel skel:skeleton = <%s/Rig/Skel>" % path], [
        P("Xform", "Rig", RIG, [skel(source="<%s/Rig/Anim>" % path), still]),
        P("Xform", "Geo", GEO, [mesh("Body", bind=GB), melt, cloth])], api=True, meta=meta)


TWO = ["asset[] assetPaths = [@./%s_a.usda@, @./%s_b.usda@]", 'string primPath = "/Clip"', "asset manifestAssetPath = @./%s_manifest.usda@"]
POINTS_NOTE = "Points that clips supply are skinned here by skinning queries: after its first sample Pixar's bake reads its own points."


def two_clips(name, lines):
    return [l.replace("%s", name) for l in TWO] + list(lines), {
        "a": clip_layer(1, [0, 2, 4, 6, 8, 10]), "b": clip_layer(2, [0, 1.5, 3, 5, 7, 9, 10]), "manifest": clip_manifest()}


@golden(POINTS_NOTE)
def clips_switch():
    sets, files = two_clips("clips_switch", ["double2[] active = [(0, 0), (5, 1), (11, 0)]", "double2[] times = [(0, 1), (6, 4), (8, 9), (22, 2)]"])
    return {"": layer([P("Xform", "World", WORLD, [clip_char(sets)])], 0, 12), **files}


@golden(POINTS_NOTE)
def clips_loop():
    sets, files = two_clips("clips_loop", ["double2[] active = [(0, 0), (6, 1)]",
                                           "double2[] times = [(0, 0), (3, 3), (3, 0), (6, 3), (6, 0), (9, 3)]"])
    return {"": layer([P("Xform", "World", WORLD, [clip_char(sets)])], 0, 9), **files}


@golden(POINTS_NOTE)
def clips_gap():
    sets, files = two_clips("clips_gap", ["double2[] active = [(0, 0), (4, 2), (8, 1)]", "double2[] times = [(0, 0), (10, 10)]"])
    sets[0] = sets[0].replace("_b.usda@]", "_b.usda@, @./clips_gap_none.usda@]")
    return {"": layer([P("Xform", "World", WORLD, [clip_char(sets)])], 0, 10), "none": layer([P("", "Clip", spec="over")]), **files}


@golden(POINTS_NOTE)
def clips_template():
    sets = ['string primPath = "/Clip"', 'string templateAssetPath = "./clips_template_c.###.usda"', "double templateStartTime = 1",
            "double templateEndTime = 9", "double templateStride = 4", "double templateActiveOffset = -0.5"]
    ref = "prepend references = @./clips_template_char.usda@</Char> (offset = 5; scale = 2)"
    char = layer([clip_char(sets, path="/Char")], fps=48)
    return {"": layer([P("Xform", "World", WORLD, [P("", "Hero", [], meta=[ref])])], 3, 20), "char": char,
            "c.001": clip_layer(1, [1, 2, 3, 4, 5]), "c.005": clip_layer(2, [4, 5, 6, 7, 8, 9]), "c.009": clip_layer(3, [9, 10, 12])}


HINT = "float3[] extentsHint = [(0, 0, 0), (1, 1, 1)]"


def of_kind(kind):
    return ['kind = "%s"' % kind]


@golden("Part is no model, so Pixar leaves its hint alone; Prop has nothing baked below it.")
def extents_hint():
    rigid = infl([1], [1], 1, "constant")
    token = lambda name, v: attr("token " + name, v)
    purpose = lambda p: 'uniform token purpose = "%s"' % p
    pts = tube()[0]
    blinks = token("visibility", {1: '"inherited"', 3: '"invisible"', 5: '"inherited"'})
    loose = [attr("point3f[] points", pts)]
    skinned = [
        mesh("Body", xform=xf((0.5, 0, 0), (0, 45, 0))),
        mesh("Stands", influences=rigid, normals=False, xform=xf((0, 1, 0), (0, 0, 30))),
        mesh("Hidden", k=1, normals=False, props=['token visibility = "invisible"'], points=[(9 * x, 9 * y, 9 * z) for x, y, z in pts]),
        mesh("Simple", k=1, normals=False, props=[purpose("proxy")]),
        P("Sphere", "RigidBall", ["double radius = 0.3", purpose("guide")] + rigid + xf((0, 0.3, 0)), api=True),
    ]
    beside = [
        P("Sphere", "Ball", ["double radius = 0.25"] + xf({1: (0, 0, 2), 5: (1, 3, 2)}, (0, 40, 10))),
        P("Sphere", "Blinks", ["double radius = 3", blinks] + xf((1, 0, 0), (0, 20, 0))),
        P("Mesh", "Loose", loose + xf((0, -1, 0), (30, 0, 0))),
        P("Points", "Dots", loose + [attr("float[] widths", [0.02 * i for i in range(12)]), purpose("render")]),
        P("Mesh", "Authored", [attr("float3[] extent", {1: [(-2, 0, 0), (0, 1, 1)], 5: [(-4, 0, 0), (0, 1, 1)]})],
          [P("Sphere", "Covered", ["double radius = 50"])]),
        P("Cube", "Resets", ["double size = 0.5"] + xf((0, 2, 0), (0, 0, 30), reset=True)),
        P("Material", "Look", [], [P("Sphere", "Unseen", ["double radius = 50"])]),
        P("", "Untyped", [], [P("Cone", "Cone", ["uniform token axis = \"X\""] + xf((0, 0, -1)))]),
        P("Xform", "Group", [purpose("proxy")] + xf((0, 1, 0), (0, 0, 20)), [
            P("Cylinder", "Inherits", ["double height = 3", "uniform token axis = \"Y\""] + xf((0, 0, 1), (20, 0, 0))),
            P("Capsule", "Own", [purpose("default")] + xf((0, 0, -1), (20, 0, 0)))]),
        P("Xform", "Part", [HINT] + xf((2, 0, 0), (0, 60, 0)), [
            P("Cube", "Cube", xf((0, 0, 0), (0, 0, 45))), P("Plane", "Plane", xf((0, 2, 0), (0, 0, 45))),
            mesh("Limb", normals=False)], meta=of_kind("subcomponent")),
    ]
    rig = [skel(source=ANIM), anim(), skel("Alone", source="</World/Char/Rig/AnimAlone>", xform=xf((4, 0, 0))), anim("AnimAlone", k=2)]
    kids = [P("Xform", "Rig", RIG, rig), P("Xform", "Geo", GEO, skinned), P("Xform", "Beside", xf(None, (0, 0, 10)), beside)]
    char = P("SkelRoot", "Char", ROOT + ["rel skel:skeleton = </World/Char/Rig/Skel>", HINT, "float3[] extent = [(0, 0, 0), (1, 1, 1)]"],
             kids, api=True, meta=of_kind("component"))
    still = P("SkelRoot", "Still", xf((-3, 0, 0), (0, 25, 0)) + ["rel skel:skeleton = </World/Still/Skel>", HINT], [
        skel(), mesh("Body", normals=False)], api=True, meta=of_kind("component"))
    prop = P("Xform", "Prop", [HINT], [P("Sphere", "Ball", xf((0, 0, -6)))], meta=of_kind("component"))
    return {"": layer([P("Xform", "World", WORLD + [HINT], [char, still, prop], meta=of_kind("group"))], 1, 5)}


# ------------------------------------------------------------------ baking and reading back


def open_stage(path, deinstance):
    stage = Usd.Stage.Open(path)
    while deinstance:
        found = [p for p in stage.TraverseAll() if p.IsInstance()]
        if not found:
            break
        for p in found:
            p.SetInstanceable(False)
    return stage


def key(t):
    return "default" if t is None else "%.9g" % t


def world(stage, path, t):
    return UsdGeom.Imageable(stage.GetPrimAtPath(path)).ComputeLocalToWorldTransform(
        Usd.TimeCode.Default() if t is None else Usd.TimeCode(t))


def bindings_of(stage):
    out = {}
    for prim in stage.Traverse():
        if not prim.IsA(UsdSkel.Root):
            continue
        cache, root = UsdSkel.Cache(), UsdSkel.Root(prim)
        cache.Populate(root, Usd.PrimDefaultPredicate)
        for b in cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate):
            sk = b.GetSkeleton().GetPrim()
            query = cache.GetSkelQuery(b.GetSkeleton())
            aq = query.GetAnimQuery() if query else None
            for q in b.GetSkinningTargets():
                joints, shapes = q.GetJointOrder(), q.GetBlendShapeOrder()
                if joints is None and q.HasJointInfluences() and query:
                    joints = query.GetJointOrder()
                out[str(q.GetPrim().GetPath())] = {
                    "skeleton": str(sk.GetPath()) if sk else None,
                    "animation": str(aq.GetPrim().GetPath()) if aq else None,
                    "joints": list(joints) if joints is not None else None,
                    "blend_shapes": list(shapes) if shapes is not None else None}
    return out


def written(session, path, name, both=False):
    """What the bake wrote to one attribute: [(time or None, value)], the default beside time samples where both count."""
    a = session.GetAttributeAtPath(path + "." + name)
    if not a:
        return []
    times = session.ListTimeSamplesForPath(a.path)
    default = [(None, a.default)] if a.HasDefaultValue() and (both or not times) else []
    return default + [(t, session.QueryTimeSample(a.path, t)) for t in times]


def plain_value(v):
    if v is None or isinstance(v, (str, float, int)):
        return v
    return [plain_value(x) for x in ([v.GetReal()] + list(v.GetImaginary()) if hasattr(v, "GetImaginary") else v)]


def without_jumps(times):
    """Sample times without those that stand just before a jump."""
    return [t for t, u in zip(times, times[1:] + [math.inf]) if u - t > 1e-6]


def clip_values(stage):
    """What value clips supply: {attribute: {time: value}}, at the sample times, between them and beyond."""
    out = {}
    for prim in stage.Traverse():
        for a in prim.GetAuthoredAttributes():
            if a.GetResolveInfo(Usd.TimeCode(0)).GetSource() != Usd.ResolveInfoSourceValueClips:
                continue
            times = without_jumps(a.GetTimeSamples())
            between = [t + (u - t) * k for t, u in zip(times, times[1:]) for k in (0.125, 0.5, 0.875)]
            times = sorted(times + between + [times[0] - 1, times[-1] + 1])
            out[str(a.GetPath())] = {key(t): plain_value(a.Get(t)) for t in times}
    return out


def skinned_by_query(stage, path, times):
    """Points of a prim in its own space, by the queries that the bake is made of."""
    prim = stage.GetPrimAtPath(path)
    root = UsdSkel.Root.Find(prim)
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.PrimDefaultPredicate)
    skeleton = UsdSkel.BindingAPI(prim).GetInheritedSkeleton()
    query, skinning, out = cache.GetSkelQuery(skeleton), cache.GetSkinningQuery(prim), {}
    for t in times:
        points = UsdGeom.PointBased(prim).GetPointsAttr().Get(t)
        if points is None or not skinning.ComputeSkinnedPoints(query.ComputeSkinningTransforms(t), points, t):
            continue
        m = world(stage, str(skeleton.GetPath()), t) * world(stage, path, t).GetInverse()
        out[key(t)] = [list(m.Transform(Gf.Vec3d(p))) for p in points]
    return out


def bake(name, folder, note, deinstance):
    """Bakes a copy, into the session layer, which then holds what the bake wrote and nothing else.

    It also keeps Pixar from destroying its own input: a bake into the layer that holds animated rest
    points clears these before it reads them, and writes nothing.
    """
    src = os.path.join(folder, name + ".usda")
    plain = open_stage(src, deinstance)
    with tempfile.TemporaryDirectory() as tmp:
        for f in os.listdir(folder):
            if f == name + ".usda" or f.startswith(name + "_"):
                shutil.copy(os.path.join(folder, f), tmp)
        stage = open_stage(os.path.join(tmp, name + ".usda"), deinstance)
        session = stage.GetSessionLayer()
        # Pixar writes raw layer times; with another rate the session layer's times would be scaled.
        session.timeCodesPerSecond = stage.GetTimeCodesPerSecond()
        session.framesPerSecond = stage.GetFramesPerSecond()
        stage.SetEditTarget(session)
        ok = UsdSkel.BakeSkinning(stage.Traverse())
        out = {"usd_core": USD_CORE, "stage": name + ".usda"}
        if deinstance:
            out["deinstanced"] = True
        if note:
            out["note"] = note
        if not ok:
            out["bake_failed"] = True
        out["bindings"] = bindings_of(plain)
        clipped = clip_values(plain)
        if clipped:
            out["clips"] = clipped
        baked, worlds, disp = {}, {}, 0.0


        baked, worlds, disp, hints = {}, {}, 0.0, {}
        for prim in stage.Traverse():
            path = str(prim.GetPath())
            entry = {}
            hint = written(session, path, "extentsHint", both=True)
            if hint:
                hints[path] = {key(t): [list(p) for p in v] for t, v in hint}
            pts, nrm = written(session, path, "points"), written(session, path, "normals")
            moves = written(session, path, "xformOp:transform")
            old = UsdGeom.PointBased(plain.GetPrimAtPath(path))
            code = lambda t: Usd.TimeCode.Default() if t is None else Usd.TimeCode(t)
            rest = lambda t: old.GetPointsAttr().Get(code(t)) if old else None
            if path + ".points" in clipped and pts:
                entry["points"] = skinned_by_query(plain, path, without_jumps([t for t, _ in pts]))
            elif pts:
                keep = without_jumps([t for t, _ in pts]) if pts[0][0] is not None else [None]
                entry["points"] = {key(t): [list(p) for p in v] for t, v in pts if t in keep}
                for t, v in pts:
                    disp = max([disp] + [(p - q).GetLength() for p, q in zip(v, rest(t))])
            if nrm:
                keep = without_jumps([t for t, _ in nrm]) if nrm[0][0] is not None else [None]
                entry["normals"] = {key(t): [list(p) for p in v] for t, v in nrm if t in keep}
                entry["interpolation"] = UsdGeom.PointBased(prim).GetNormalsInterpolation()
            if pts and not prim.IsA(UsdGeom.Mesh):
                # Meshes have their points' bounding box; the others' widths count too.
                entry["extent"] = {key(t): [list(p) for p in v] for t, v in written(session, path, "extent")}
            if moves:
                entry["transform"] = {key(t): [x for r in v for x in r] for t, v in moves}
                if old:
                    for t, _ in moves:
                        m = world(stage, path, t) * world(plain, path, t).GetInverse()
                        new = [m.Transform(Gf.Vec3d(p)) for p in UsdGeom.PointBased(prim).GetPointsAttr().Get(code(t))]
                        disp = max([disp] + [(p - Gf.Vec3d(q)).GetLength() for p, q in zip(new, rest(t))])
                        entry.setdefault("deformed_prim_space", {})[key(t)] = [list(p) for p in new]
                        n = UsdGeom.PointBased(prim).GetNormalsAttr().Get(code(t))
                        if n:
                            it = m.GetInverse().GetTranspose()
                            entry.setdefault("deformed_prim_space_normals", {})[key(t)] = [
                                list(it.TransformDir(Gf.Vec3d(x)).GetNormalized()) for x in n]
            if entry:
                baked[path] = entry
                worlds[path] = {key(t): [x for r in world(plain, path, t) for x in r] for t, _ in pts or moves}
        out["baked"] = baked
        if hints:
            out["hints"] = hints
        out["world_from_prim"] = worlds
        return out, disp, ok


def numbers(v):
    """Nine significant digits, as few characters as that takes."""
    if isinstance(v, (list, tuple)):
        return "[%s]" % ",".join(numbers(x) for x in v)
    s = "%.9g" % v
    return "0" if s == "-0" else s


def dump(v, depth=0):
    """JSON with one prim or one time per line."""
    if isinstance(v, dict) and depth < 4 and v:
        pad = "  " * (depth + 1)
        deep = any(isinstance(x, dict) for x in v.values()) or any(isinstance(x, list) and x and not isinstance(x[0], str) for x in v.values())
        if deep or depth == 0:
            rows = ["%s%s: %s" % (pad, json.dumps(k), dump(x, depth + 1)) for k, x in v.items()]
            return "{\n%s\n%s}" % (",\n".join(rows), "  " * depth)
    if isinstance(v, list) and v and not isinstance(v[0], str):
        return numbers(v)
    return json.dumps(v)


def make(folder, only=()):
    if Usd.GetVersion() != tuple(int(x) for x in ("0." + USD_CORE).split(".")):
        sys.exit("these goldens are for usd-core %s, this is %s" % (USD_CORE, Usd.GetVersion()))
    total = 0
    for name, (build, note, deinstance) in STAGES.items():
        if only and name not in only:
            continue
        for tail, text in build().items():
            with open(os.path.join(folder, name + ("_" + tail if tail else "") + ".usda"), "w", newline="\n") as f:
                f.write(text)
        out, disp, ok = bake(name, folder, note, deinstance)
        text = dump(out) + "\n"
        assert json.loads(text)["stage"] == name + ".usda"
        with open(os.path.join(folder, name + ".golden.json"), "w", newline="\n") as f:
            f.write(text)
        total += len(text)
        unbaked = [p for p in out["bindings"] if p not in out["baked"]]
        print("%-30s moved %8.4f  prims %d  %6d bytes%s%s" % (
            name, disp, len(out["baked"]), len(text), "" if ok else "  BAKE FAILED", "  bound, not baked: %s" % unbaked if unbaked else ""))
    return total


def differ(a, b, where):
    """The first difference between two goldens, or None."""
    if isinstance(a, dict) and isinstance(b, dict):
        if list(a) != list(b):
            return "%s: keys %s, %s" % (where, list(a), list(b))
        for k in a:
            d = differ(a[k], b[k], where + "/" + k)
            if d:
                return d
        return None
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            d = differ(x, y, "%s[%d]" % (where, i))
            if d:
                return d
        return None
    number = lambda x: isinstance(x, (int, float)) and not isinstance(x, bool)
    if number(a) and number(b):
        if a != b and not abs(a - b) <= 1e-6 * max(1.0, abs(a), abs(b)):
            return "%s: %r, %r" % (where, a, b)
        return None
    return None if a == b else "%s: %r, %r" % (where, a, b)


def check():
    bad = []
    with tempfile.TemporaryDirectory() as tmp:
        make(tmp)
        ours = {f for f in os.listdir(HERE) if f.endswith((".usda", ".golden.json"))}
        for f in sorted(ours ^ set(os.listdir(tmp))):
            bad.append("%s: only in %s" % (f, "the committed files" if f in ours else "the new ones"))
        for f in sorted(ours & set(os.listdir(tmp))):
            a, b = (open(os.path.join(d, f), newline="").read() for d in (HERE, tmp))
            if f.endswith(".usda"):
                if a.replace("\r\n", "\n") != b:
                    bad.append(f + ": the stage differs")
            else:
                d = differ(json.loads(a), json.loads(b), f)
                if d:
                    bad.append(d)
    for line in bad:
        print("DIFFERS", line)
    print("%d differences" % len(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    print("total %d bytes" % make(HERE, sys.argv[1:]))
