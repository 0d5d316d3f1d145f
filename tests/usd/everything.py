"""Writes USD layers that use everything, with usd-core 26.11.

    python everything.py OUTDIR [TOPIC ...]

Each topic is a layer, or a stage of several layers, in text and in crate form: `types.usda` and
`types.usdc`, `splines.usda` and `splines.usdc` and so on. Layers of a stage refer to layers of the same form.
The names of all root layers are printed, one a line. The files are the same in every run.
"""

import math
import os
import sys
import warnings

warnings.simplefilter("ignore")  # Inner loops of splines are deprecated.

from pxr import Gf, Sdf, Tf, Ts, Vt

INF, NAN = math.inf, math.nan
STRINGS = [
    "",
    "plain",
    'double " quote',
    "single ' quote",
    "both \" and '",
    'three """ and \'\'\'',
    "line\nbreak",
    "tab\tcarriage\rreturn",
    "back\\slash \\n \\",
    "control \x01\x02\x1b\x7f",
    "at @ and @@@ signs",
    "ümläut Ω 日本語 🎉",
    "<angle> #hash ; , ( ) [ ] { } $ ` ~",
    "ends with quote\"",
    " spaces  around ",
    "0",
    "None",
]
PATHS = ["", "a.usd", "./dir/b.usda", "../c.usdc[sub/d.usd]", "with space.png", "at@sign.png", "tex.<UDIM>.exr",
         "ümläut.usd", "https://example.com/x?y=1&z=2", "`\"${NAME}.usd\"`"]
EXPRESSIONS = ["", "/World//", "//Char*{isa:Mesh}", "/A + /B - /A/C", "~/A", "%/A:name & /B", "/A//{not isa:Xform}"]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 1e-3, 123456789.0, INF, -INF, NAN]
NUMBERS = {
    "bool": [True, False],
    "unsigned char": [0, 1, 255],
    "int": [0, -(2**31), 2**31 - 1, -1],
    "unsigned int": [0, 2**32 - 1, 2**31],
    "long": [0, -(2**63), 2**63 - 1, -1],
    "unsigned long": [0, 2**64 - 1, 2**63],
    "pxr_half::half": FLOATS[:7] + [65504.0, 5.960464477539063e-08, INF, -INF, NAN],
    "float": FLOATS + [3.4028234663852886e38, 1.1754943508222875e-38, 1.401298464324817e-45, 16777217.0],
    "double": FLOATS + [1.7976931348623157e308, 2.2250738585072014e-308, 5e-324, 0.1 + 0.2, 1e23],
    "string": STRINGS,
    "TfToken": STRINGS,
    "SdfAssetPath": [Sdf.AssetPath(p) for p in PATHS],
    "SdfPathExpression": [Sdf.PathExpression(e) for e in EXPRESSIONS],
    "GfTimeCode": [Gf.TimeCode(t) for t in (0.0, -1.5, 1e9, INF)],
}


def values(name):
    """Values of the type whose name is a `Sdf.ValueTypeName`."""
    cpp = name.type.typeName
    if cpp in NUMBERS:
        return NUMBERS[cpp]
    make = name.type.pythonClass
    size = {"2": 2, "3": 3, "4": 4}
    if cpp.startswith("GfVec"):
        if cpp.endswith("i"):
            source = NUMBERS["int"]
        else:
            source = NUMBERS[{"h": "pxr_half::half", "f": "float", "d": "double"}[cpp[-1]]]
        n = size[cpp[5]]
        return [make(*[source[(i + k) % len(source)] for k in range(n)]) for i in range(len(source))]
    if cpp.startswith("GfMatrix"):
        n = size[cpp[8]]
        diagonal = make(1)
        odd = make(*[(-1) ** i * (i + 0.1) for i in range(n * n)])
        return [make(0), diagonal, make(-7), make(0.5), odd]
    if cpp.startswith("GfQuat"):
        return [make(1), make(0.5, -0.5, 0.5, -0.5), make(-0.0, 1, 0, 0), make(0.1, 0.2, 0.3, 0.4)]
    raise ValueError(cpp)


def value_types():
    """All types of attributes that are not arrays."""
    for name in sorted(dir(Sdf.ValueTypeNames)):
        kind = getattr(Sdf.ValueTypeNames, name)
        if isinstance(kind, Sdf.ValueTypeName) and not kind.isArray:
            yield name, kind


def prim(layer, path, type_name="Scope", specifier=Sdf.SpecifierDef):
    spec = Sdf.CreatePrimInLayer(layer, path)
    spec.specifier = specifier
    spec.typeName = type_name
    return spec


def types(layer):
    """Each type, as scalar and array, as default, as samples with a block, in dictionaries.

    Durations, which are newer than the others, have a topic of their own.
    """
    for name, kind in value_types():
        if name == "Duration":
            continue
        spec = prim(layer, "/" + name)
        if kind.type.typeName == "SdfOpaqueValue":
            Sdf.AttributeSpec(spec, "nothing", kind)
            continue
        all_values = values(kind)
        for i, value in enumerate(all_values):
            Sdf.AttributeSpec(spec, f"default{i}", kind).default = value
        samples = Sdf.AttributeSpec(spec, "samples", kind)
        for i, value in enumerate(all_values):
            layer.SetTimeSample(samples.path, i * 1.5 - 2, value)
        layer.SetTimeSample(samples.path, 1e6, Sdf.ValueBlock())
        layer.SetTimeSample(samples.path, 1e6 + 0.1, all_values[0])
        Sdf.AttributeSpec(spec, "blocked", kind).default = Sdf.ValueBlock()
        Sdf.AttributeSpec(spec, "none", kind)
        make = kind.arrayType.type.pythonClass
        if make is None:
            continue
        arrays = [make(all_values), make([]), make(all_values[:1]), make(all_values * 7)]
        for i, value in enumerate(arrays):
            Sdf.AttributeSpec(spec, f"array{i}", kind.arrayType).default = value
        samples = Sdf.AttributeSpec(spec, "arraySamples", kind.arrayType)
        for i, value in enumerate(arrays):
            layer.SetTimeSample(samples.path, float(i), value)
        layer.SetTimeSample(samples.path, 10.0, Sdf.ValueBlock())
        layer.SetTimeSample(samples.path, 11.0, arrays[0])
        try:
            spec.customData = {"value": all_values[-1], "array": arrays[0]}
        except Tf.ErrorException:
            # Not all types may stand in dictionaries.
            pass


def large(layer):
    """Arrays that a crate file compresses, and some that it cannot compress."""
    spec = prim(layer, "/Large")
    n = 100_000

    def add(name, kind, value):
        Sdf.AttributeSpec(spec, name, kind).default = value

    names = Sdf.ValueTypeNames
    noise = [(i * 2654435761) & 0xFFFFFFFF for i in range(n)]
    add("rising", names.IntArray, Vt.IntArray(list(range(n))))
    add("constant", names.IntArray, Vt.IntArray(n, 7))
    add("noise", names.UIntArray, Vt.UIntArray(noise))
    add("signs", names.IntArray, Vt.IntArray([(-1) ** i * i for i in range(n)]))
    add("noise64", names.Int64Array, Vt.Int64Array([(x << 31) - x * 3 for x in noise]))
    add("steps64", names.UInt64Array, Vt.UInt64Array([i * 2**40 for i in range(1000)]))
    add("whole", names.FloatArray, Vt.FloatArray([float(i % 1000) for i in range(n)]))
    add("few", names.FloatArray, Vt.FloatArray([(i % 9) * 0.1 for i in range(n)]))
    add("many", names.FloatArray, Vt.FloatArray([math.sin(i) for i in range(n)]))
    add("wholeDouble", names.DoubleArray, Vt.DoubleArray([float(i % 1000) for i in range(n)]))
    add("fewDouble", names.DoubleArray, Vt.DoubleArray([(i % 9) * 0.1 for i in range(n)]))
    add("wholeHalf", names.HalfArray, Vt.HalfArray([float(i % 1000) for i in range(5000)]))
    add("points", names.Point3fArray, Vt.Vec3fArray([Gf.Vec3f(i, -i, i * 0.1) for i in range(20_000)]))
    add("tokens", names.TokenArray, Vt.TokenArray([f"joint{i % 300}/child" for i in range(20_000)]))
    add("strings", names.StringArray, Vt.StringArray([f"text {i}" for i in range(5000)]))
    add("bools", names.BoolArray, Vt.BoolArray([i % 3 == 0 for i in range(5000)]))
    samples = Sdf.AttributeSpec(spec, "samples", names.FloatArray)
    shared = Vt.FloatArray([math.cos(i) for i in range(2000)])
    for frame in range(100):
        value = shared if frame % 3 else Vt.FloatArray([math.cos(i + frame) for i in range(50)])
        layer.SetTimeSample(samples.path, frame + 0.5, value)


def splines(layer):
    """Splines of each type with everything that they store."""
    kinds = {"double": "Double", "float": "Float", "half": "Half", "timecode": "TimeCode"}
    modes = [Ts.ExtrapValueBlock, Ts.ExtrapHeld, Ts.ExtrapLinear, Ts.ExtrapSloped, Ts.ExtrapLoopRepeat,
             Ts.ExtrapLoopReset, Ts.ExtrapLoopOscillate]
    interpolations = [Ts.InterpCurve, Ts.InterpLinear, Ts.InterpHeld, Ts.InterpValueBlock, Ts.InterpCurve]
    algorithms = [Ts.TangentAlgorithmNone, Ts.TangentAlgorithmAutoEase, Ts.TangentAlgorithmCustom]
    for kind, type_name in kinds.items():
        spec = prim(layer, "/" + kind)

        def add(name, curve):
            Sdf.AttributeSpec(spec, name, getattr(Sdf.ValueTypeNames, type_name)).SetSpline(curve)

        def build(hermite=False, algorithm=False, custom=False, count=5):
            curve = Ts.Spline(kind)
            if hermite:
                curve.SetCurveType(Ts.CurveTypeHermite)
            for i in range(count):
                knot = Ts.Knot(typeName=kind, time=i * 2.5 - 3, value=math.sin(i) * 4)
                if i % 2:
                    knot.SetPreValue(math.cos(i))
                knot.SetNextInterpolation(interpolations[i % len(interpolations)])
                if not hermite:
                    knot.SetPreTanWidth(0.7 + i * 0.1)
                    knot.SetPostTanWidth(0.9)
                knot.SetPreTanSlope(-i * 0.3)
                knot.SetPostTanSlope(i * 0.1 + 0.05)
                if algorithm:
                    knot.SetPreTanAlgorithm(algorithms[i % 3])
                    knot.SetPostTanAlgorithm(algorithms[(i + 1) % 3])
                if custom:
                    knot.SetCustomData({"label": f"knot {i}", "nested": {"number": i}, "list": Vt.IntArray([i, 1])})
                curve.SetKnot(knot)
            return curve

        add("bezier", build())
        add("hermite", build(hermite=True))
        add("algorithms", build(algorithm=True))
        add("customData", build(custom=True))
        add("everything", build(hermite=True, algorithm=True, custom=True))
        add("one", build(count=1))
        add("empty", Ts.Spline(kind))
        for i, mode in enumerate(modes):
            for bounded in (False, True):
                curve = build()
                before, after = Ts.Extrapolation(mode), Ts.Extrapolation(modes[-1 - i])
                for side, boundary in ((before, 2.0), (after, -0.5)):
                    if side.mode == Ts.ExtrapSloped:
                        side.slope = -1.25
                    if side.IsLooping() and bounded:
                        side.loopBoundaryTime = boundary
                curve.SetPreExtrapolation(before)
                curve.SetPostExtrapolation(after)
                add(f"extrapolation{i}{'bounded' if bounded else ''}", curve)
        with Ts.AntiRegressionAuthoringSelector(Ts.AntiRegressionNone):
            curve = build()
            knot = curve.GetKnot(-3)
            knot.SetPostTanWidth(20)
            curve.SetKnot(knot)
            add("regressive", curve)
        curve = build()
        params = Ts.LoopParams()
        params.protoStart, params.protoEnd, params.valueOffset = -0.5, 4.5, 1.5
        params.numPreLoops, params.numPostLoops = 2, 1
        curve.SetInnerLoopParams(params)
        add("innerLoop", curve)


def array_edits(layer):
    """Edits of arrays with all operations, and the arrays that they edit."""
    weak = prim(layer, "/Weak")
    strong = prim(layer, "/Strong")
    strong.inheritPathList.prependedItems.append(weak.path)
    for name in ["Bool", "UChar", "Int", "UInt", "Int64", "UInt64", "Half", "Float", "Double", "String", "Token",
                 "TimeCode", "Matrix2d", "Matrix3d", "Matrix4d", "Quatd", "Quatf", "Quath"] + [
                     f"Vec{n}{c}" for n in "234" for c in "dfhi"]:
        short = {"d": "Double", "f": "Float", "h": "Half", "i": "Int"}
        type_name = short[name[4]] + name[3] if name.startswith("Vec") else name
        kind = getattr(Sdf.ValueTypeNames, type_name)
        source = values(kind)
        a, b = source[0], source[1]
        make = getattr(Vt, name + "Array")
        Sdf.AttributeSpec(weak, type_name, kind.arrayType).default = make([a, b, b, a])
        builder = getattr(Vt, name + "ArrayEditBuilder")()
        builder.Write(b, 0)
        builder.WriteRef(0, -1)
        builder.Insert(a, 1)
        builder.InsertRef(0, 2)
        builder.Prepend(b)
        builder.PrependRef(-1)
        builder.Append(a)
        builder.Append(b)
        builder.AppendRef(0)
        builder.EraseRef(3)
        builder.MinSize(12)
        builder.MinSize(14, b)
        builder.SetSize(15)
        builder.SetSize(16, b)
        builder.MaxSize(13)
        edit = builder.FinalizeAndReset()
        Sdf.AttributeSpec(strong, type_name, kind.arrayType).default = edit
        sampled = Sdf.AttributeSpec(strong, "sampled" + type_name, kind.arrayType)
        layer.SetTimeSample(sampled.path, 1.0, make([b]))
        layer.SetTimeSample(sampled.path, 2.0, edit)
        nothing = Sdf.AttributeSpec(strong, "nothing" + type_name, kind.arrayType)
        nothing.default = getattr(Vt, name + "ArrayEdit")()


def write(layer, folder, name, extension):
    """Exports a layer."""
    path = os.path.join(folder, f"{name}.{extension}")
    if not layer.Export(path):
        raise SystemExit(f"{path}: not written")
    return path


def main():
    from topics import TEXT_ONLY, TEXTS

    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    folder, wanted = sys.argv[1], set(sys.argv[2:])
    os.makedirs(folder, exist_ok=True)
    built = {"types": types, "large": large, "splines": splines, "arrayEdits": array_edits}
    unknown = wanted - set(built) - set(TEXTS)
    if unknown:
        raise SystemExit(f"no such topic: {', '.join(sorted(unknown))}")
    for name, build in built.items():
        if wanted and name not in wanted:
            continue
        layer = Sdf.Layer.CreateAnonymous(name + ".usda")
        with Sdf.ChangeBlock():
            build(layer)
        for extension in ("usda", "usdc"):
            print(write(layer, folder, name, extension))
    for topic, layers in TEXTS.items():
        if wanted and topic not in wanted:
            continue
        for extension in ("usda",) if topic in TEXT_ONLY else ("usda", "usdc"):
            for i, (name, text) in enumerate(layers):
                layer = Sdf.Layer.CreateAnonymous(name + ".usda")
                try:
                    layer.ImportFromString(text.replace("EXT", extension))
                except Tf.ErrorException as error:
                    raise SystemExit(f"{name}: {error}") from error
                path = write(layer, folder, name, extension)
                if i == 0:
                    print(path)


if __name__ == "__main__":
    main()
