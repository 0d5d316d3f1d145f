"""Whether a stage of value clips has the values of the same bake in one file, as usd-core resolves them.

compare.py BETWEEN ONE CLIPS [ONE CLIPS...]: every prim, attribute and relationship, at the default time, at every sampled time, between
these, before and after. Sampled values have to be the same, others within BETWEEN parts of their size. Prints what differs, and for each pair "N attributes, M values, K moving".
"""
import sys

import numpy as np
from pxr import Usd, UsdGeom

everything = Usd.TraverseInstanceProxies(Usd.PrimAllPrimsPredicate)
problems = []
between_parts = float(sys.argv[1])
counts = {}


def same(a, b, exact):
    if a is None or b is None:
        return a is None and b is None
    if a == b:
        return True
    if exact or type(a) is not type(b):
        return False
    try:
        a, b = np.array(a, dtype=float), np.array(b, dtype=float)
    except (TypeError, ValueError):
        return False
    return a.shape == b.shape and np.abs(a - b).max() <= between_parts * max(1e-3, np.abs(a).max())


def moments(times):
    """Sampled times, and others."""
    if not times:
        return [], []
    between = [lo + (hi - lo) * f for lo, hi in zip(times, times[1:]) for f in (0.5, 0.9375)]
    return times, [times[0] - 3.25] + between + [times[-1] + 7.5]


def compare(name, sampled, others, value):
    counts["moving"] += len(sampled) > 1
    for at, exact in [(Usd.TimeCode.Default(), True)] + [(t, True) for t in sampled] + [(t, False) for t in others]:
        a, b = value(at)
        counts["values"] += 1
        if not same(a, b, exact):
            problems.append(f"{name} at {at}: {str(a)[:200]} in one file, {str(b)[:200]} in clips")
            return


def compare_prims(path, a, b):
    for what in ("GetTypeName", "GetSpecifier", "GetAppliedSchemas", "IsActive", "IsInstance"):
        if getattr(a, what)() != getattr(b, what)():
            problems.append(f"{path}: {what}")
    if a.GetMetadata("kind") != b.GetMetadata("kind"):
        problems.append(f"{path}: kind")
    ops = ("xformOpOrder", "xformOp:")
    names = {p.GetName() for prim in (a, b) for p in prim.GetAuthoredProperties() if not p.GetName().startswith(ops)}
    for name in sorted(names):
        x, y = a.GetProperty(name), b.GetProperty(name)
        if not x or not y:
            problems.append(f"{path}.{name}: {'only in clips' if y else 'only in one file'}")
        elif isinstance(x, Usd.Relationship):
            if x.GetTargets() != y.GetTargets():
                problems.append(f"{path}.{name}: targets")
        else:
            if x.GetTypeName() != y.GetTypeName() or x.GetMetadata("interpolation") != y.GetMetadata("interpolation"):
                problems.append(f"{path}.{name}: type or interpolation")
            counts["attributes"] += 1
            compare(f"{path}.{name}", *moments(x.GetTimeSamples()), lambda at: (x.Get(at), y.Get(at)))
    x, y = UsdGeom.Xformable(a), UsdGeom.Xformable(b)
    if x and y:
        if x.GetResetXformStack() != y.GetResetXformStack():
            problems.append(f"{path}: resetXformStack")
        transforms = lambda at: (x.GetLocalTransformation(at), y.GetLocalTransformation(at))
        compare(f"{path}: transform", *moments(x.GetTimeSamples()), transforms)


def compare_stages(one, clips):
    fields = ["defaultPrim", "upAxis", "metersPerUnit", "startTimeCode", "endTimeCode", "timeCodesPerSecond", "framesPerSecond"]
    for field in fields:
        if one.GetMetadata(field) != clips.GetMetadata(field):
            problems.append(f"{field}: {one.GetMetadata(field)} in one file, {clips.GetMetadata(field)} in clips")
    a, b = ({str(p.GetPath()): p for p in stage.Traverse(everything)} for stage in (one, clips))
    if a.keys() != b.keys():
        problems.append(f"prims: {sorted(a.keys() ^ b.keys())[:20]}")
    for path in sorted(a.keys() & b.keys()):
        compare_prims(path, a[path], b[path])


failed = False
for one, clips in zip(sys.argv[2::2], sys.argv[3::2]):
    problems.clear()
    counts.update(attributes=0, values=0, moving=0)
    compare_stages(Usd.Stage.Open(one), Usd.Stage.Open(clips))
    for line in problems[:5]:
        print(f"{clips}: {line}")
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    failed = failed or bool(problems)
sys.exit(failed)
