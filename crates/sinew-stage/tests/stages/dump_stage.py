"""Prints what usd-core sees in stages, one fact a line: what values.rs compares with.

    python dump_stage.py FILE ...
"""
import struct
import sys
import warnings
import zlib

warnings.simplefilter("ignore")

from pxr import Gf, Sdf, Tf, Ts, Usd, Vt


def number(x):
    if x != x:
        return "nan"
    return struct.pack(">d", x).hex().rstrip("0") or "0"


def text(s):
    return s.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def crc(parts):
    return "%08x" % zlib.crc32("".join(part + "," for part in parts).encode())


def components(v):
    if isinstance(v, (Gf.Quatd, Gf.Quatf, Gf.Quath)):
        return [*v.imaginary, v.real]
    if isinstance(v, (Gf.Matrix2d, Gf.Matrix3d, Gf.Matrix4d)):
        return [x for row in v for x in row]
    return list(v)


def value(v):
    if type(v) is float:
        return "f" + number(v)
    if v is None:
        return "-"
    if isinstance(v, bool):
        return "b%d" % v
    if isinstance(v, int):
        return "i%d" % v
    if isinstance(v, str):
        return "s" + text(v)
    if isinstance(v, Sdf.AssetPath):
        return "a" + text(v.authoredPath)
    if isinstance(v, Sdf.TimeCode):
        return "t" + number(v.GetValue())
    if type(v).__name__ == "Duration":
        return "d" + number(float(v.GetValue()))
    if isinstance(v, Sdf.PathExpression):
        return "x" + text(v.GetText())
    if isinstance(v, dict):
        return "{" + ";".join("%s=%s" % (text(k), value(v[k])) for k in sorted(v, key=lambda k: k.encode())) + "}"
    if isinstance(v, Sdf.ValueBlock):
        return "block"
    if isinstance(v, Sdf.AnimationBlock):
        return "animationblock"
    if isinstance(v, Sdf.UnregisteredValue):
        return "u" + value(v.value)
    if isinstance(v, Sdf.Path):
        return "p" + text(str(v))
    if hasattr(v, "explicitItems"):
        return "L[" + ",".join(value(i) for i in v.explicitItems) + "]" if v.isExplicit else "edits"
    if isinstance(v, Tf.Enum):
        # Units are tokens in layers.
        return ("s" if "Unit" in type(v).__name__ else "e") + v.displayName.lower()
    if isinstance(v, Ts.Spline):
        return "spline"
    name = type(v).__name__
    if name.endswith("Array") or isinstance(v, list):
        parts = [value(x) for x in v]
        return "[%d:%s:%s]" % (len(parts), crc(parts), ",".join(parts[:2]))
    try:
        return "(" + ",".join(value(x) for x in components(v)) + ")"
    except TypeError:
        return "?" + name


def get(f, *args):
    try:
        return value(f(*args))
    except Exception as e:
        return "error " + type(e).__name__


class Dump:
    def __init__(self, out):
        self.out = out

    def line(self, *parts):
        self.out.write("\t".join(parts) + "\n")

    def metadata(self, path, obj):
        authored = obj.GetAllAuthoredMetadata()
        names = sorted(authored, key=lambda n: n.encode())
        self.line(path, "metadata", ",".join(names))
        for name in names:
            if name not in ("specifier", "typeName", "variability", "custom"):
                self.line(path, "metadata " + name, get(lambda: authored[name]))

    def attribute(self, attr):
        path = str(attr.GetPath())
        self.line(path, "attribute", str(attr.GetTypeName()), str(attr.GetVariability()).split("Variability")[-1],
                  str(attr.IsCustom()))
        self.metadata(path, attr)
        times = attr.GetTimeSamples()
        self.line(path, "times", ",".join(number(t) for t in times))
        source = lambda *t: str(attr.GetResolveInfo(*t).GetSource()).split("Source")[-1]
        self.line(path, "source", source(Usd.TimeCode.Default()), source(Usd.TimeCode(1.0)))
        self.line(path, "has", str(attr.HasAuthoredValue()), str(attr.HasValue()), str(attr.ValueMightBeTimeVarying()))
        text_of_default = get(attr.Get)
        self.line(path, "default", text_of_default)
        # The text of a large array that does not move is made once. Samples may differ by the sign of a zero.
        moves = text_of_default.startswith("error") or attr.ValueMightBeTimeVarying()
        default = None if moves else attr.Get()
        at = [-1000.0, 0.0, 1.3, 7.75, 1000.0]
        for i, t in enumerate(times[:6]):
            at.append(t)
            if i + 1 < len(times):
                at += [t + (times[i + 1] - t) * 0.3]
        for t in dict.fromkeys(at):
            is_default = not moves and attr.Get(t) == default
            self.line(path, "at " + number(t), text_of_default if is_default else get(attr.Get, t))
        self.line(path, "connections", ",".join(str(p) for p in attr.GetConnections()))

    def relationship(self, rel):
        path = str(rel.GetPath())
        self.line(path, "relationship", str(rel.IsCustom()), str(rel.HasAuthoredTargets()))
        self.metadata(path, rel)
        self.line(path, "targets", ",".join(str(p) for p in rel.GetTargets()))
        self.line(path, "forwarded", ",".join(str(p) for p in rel.GetForwardedTargets()))

    def prim(self, prim):
        path = str(prim.GetPath())
        flags = (prim.IsActive(), prim.IsDefined(), prim.IsAbstract(), prim.IsLoaded(), prim.IsInstance(),
                 prim.IsInstanceProxy())
        self.line(path, "prim", str(prim.GetTypeName()), str(prim.GetSpecifier()).split("Specifier")[-1],
                  "".join("%d" % f for f in flags))
        self.line(path, "apis", ",".join(prim.GetAppliedSchemas()))
        self.line(path, "is", ",".join(str(prim.IsA(t)) for t in
                                       ("Typed", "Imageable", "Xformable", "Boundable", "Gprim", "PointBased")))
        self.line(path, "properties", ",".join(prim.GetPropertyNames()))
        self.line(path, "authored", ",".join(prim.GetAuthoredPropertyNames()))
        sets = prim.GetVariantSets()
        self.line(path, "variants", ",".join(
            "%s=%s(%s)" % (n, sets.GetVariantSelection(n), "|".join(sets.GetVariantSet(n).GetVariantNames()))
            for n in sets.GetNames()))
        self.metadata(path, prim)
        for prop in prim.GetProperties():
            if isinstance(prop, Usd.Attribute):
                self.attribute(prop)
            else:
                self.relationship(prop)

    def stage(self, file):
        self.line("STAGE", file)
        try:
            stage = Usd.Stage.Open(file)
        except Exception as e:
            self.line("ERROR", type(e).__name__)
            return
        root = stage.GetPseudoRoot()
        self.metadata("/", root)
        self.line("/", "rates", number(stage.GetTimeCodesPerSecond()), number(stage.GetFramesPerSecond()))
        for name in ("upAxis", "metersPerUnit", "startTimeCode", "comment", "framePrecision"):
            self.line("/", "stage " + name, get(stage.GetMetadata, name))
        self.line("/", "prototypes", str(len(stage.GetPrototypes())))
        every = Usd.TraverseInstanceProxies(Usd.PrimAllPrimsPredicate)
        for prim in Usd.PrimRange(root, every):
            if not prim.IsPseudoRoot():
                self.prim(prim)


if __name__ == "__main__":
    # usd-core warns of what is wrong in a file; here only the result counts.
    import os
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 2)
    dump = Dump(sys.stdout)
    for name in sys.argv[1:]:
        dump.stage(name)
