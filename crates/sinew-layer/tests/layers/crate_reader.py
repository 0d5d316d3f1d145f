"""Writes a layer with values of all types as a crate file of a version, and as text.

    crate_reader.py FILE.usdc FILE.usda VERSION
"""

import os
import random
import sys

crate_file, text_file, version = sys.argv[1:]
os.environ["USD_WRITE_NEW_USDC_FILES_AS_VERSION"] = version
os.environ["PXR_USDC_EMIT_DEPRECATION_WARNINGS"] = "0"
minor = int(version.split(".")[1])

from pxr import Sdf, Ts, Vt  # noqa: E402

random.seed(1)
layer = Sdf.Layer.CreateNew(crate_file)
types = Sdf.ValueTypeNames
ints = {"int": (-(2**31), 2**31 - 1), "uint": (0, 2**32 - 1), "uchar": (0, 255)}
ints |= {"int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1)}


def prim(path, type_name="Scope"):
    spec = Sdf.CreatePrimInLayer(layer, path)
    spec.specifier = Sdf.SpecifierDef
    spec.typeName = type_name
    return spec


def one(type_name, fallback, small):
    """A value of a type; if small, one that crate files have in the place of their offset."""

    def number():
        return float(random.randint(-100, 100)) if small else random.uniform(-10, 10)

    kind = type(fallback).__name__
    if isinstance(fallback, bool):
        return random.random() < 0.5
    if isinstance(fallback, int):
        low, high = ints[type_name]
        return random.randint(max(low, -100), 100) if small else random.randint(low, high)
    if isinstance(fallback, float):
        return number()
    if isinstance(fallback, str):
        return f"text {random.randint(0, 50)}"
    if isinstance(fallback, Sdf.AssetPath):
        return Sdf.AssetPath(f"a{random.randint(0, 50)}.png")
    if isinstance(fallback, Sdf.PathExpression):
        return Sdf.PathExpression(f"/A//b{random.randint(0, 50)}")
    if isinstance(fallback, Sdf.TimeCode):
        return Sdf.TimeCode(random.randint(-100, 100) / 4)
    if kind.startswith("Matrix"):
        matrix = type(fallback)(1)
        for i in range(fallback.dimension[0]):
            for j in range(fallback.dimension[0]):
                if i == j or not small:
                    matrix[i, j] = number()
        return matrix
    if kind.startswith("Quat"):
        return type(fallback)(number(), type(fallback.imaginary)(number(), number(), number()))
    whole = kind.endswith("i")
    return type(fallback)(*[int(number()) if whole else number() for _ in range(fallback.dimension)])


def values():
    spec = prim("/Values")
    for name in dir(types):
        value_type = getattr(types, name)
        if not isinstance(value_type, Sdf.ValueTypeName) or name.startswith(("Opaque", "Group")):
            continue
        # These came with later versions.
        since = {"Duration": 99, "PathExpression": 10, "TimeCode": 9}
        if minor < since.get(name.removesuffix("Array"), 0):
            continue
        for small in (True, False):
            attribute = Sdf.AttributeSpec(spec, f"{name}_{small}", value_type)

            def make():
                fallback = value_type.scalarType.defaultValue
                return one(str(value_type.scalarType), fallback, small)

            def sample(time, value):
                layer.SetTimeSample(attribute.path, time, value)

            if not value_type.isArray:
                attribute.default = make()
                for time in (1, 2.5, 7):
                    sample(time, make())
                continue
            array = type(value_type.defaultValue)
            attribute.default = array([make() for _ in range(40)])
            few = [make() for _ in range(3)]
            sample(1, array([make()] * 3000))
            sample(2, array([]))
            sample(3, array([random.choice(few) for _ in range(500)]))
            sample(4, Sdf.ValueBlock())
            sample(5, array([make()]))


def metadata():
    layer.documentation = "döc\n'x' \"y\""
    layer.subLayerPaths.append("sub.usda")
    layer.subLayerOffsets[0] = Sdf.LayerOffset(3, 2)
    layer.defaultPrim = "Arcs"
    layer.customLayerData = {
        "a": 1,
        "b": {"c": Vt.IntArray([1, 2]), "d": {"e": 2.5, "f": Vt.FloatArray([1, 2.5])}},
        "long": Vt.IntArray([5] * 1000),
        "large": 2**40,
        "asset": Sdf.AssetPath("x.png"),
        "token": Vt.TokenArray(["q"]),
    }
    if minor >= 11:
        layer.relocates = [("/Arcs/A", "/Arcs/B")]


def arcs():
    spec = prim("/Arcs", "Mesh")
    offset = Sdf.LayerOffset(1, 2)
    reference = Sdf.Reference("x.usda", "/X", offset, {"data": {"k": 1.5}})
    spec.referenceList.prependedItems = [reference, Sdf.Reference("", "/Values")]
    if minor >= 8:
        spec.payloadList.appendedItems = [Sdf.Payload("p.usda", "/P", Sdf.LayerOffset(5, 1))]
    else:
        spec.payloadList.explicitItems = [Sdf.Payload("p.usda", "/P")]
    spec.inheritPathList.prependedItems = ["/C"]
    spec.specializesList.deletedItems = ["/D"]
    schemas = Sdf.TokenListOp.Create(["S"], ["T"], ["U"])
    spec.SetInfo("apiSchemas", schemas)
    spec.permission = Sdf.PermissionPrivate
    spec.customData = {"x": {"y": Vt.Vec3fArray([(1, 2, 3)])}}
    spec.active = False
    spec.hidden = True
    number = Sdf.AttributeSpec(spec, "number", types.Float, Sdf.VariabilityUniform)
    number.connectionPathList.prependedItems = ["/Values.Float_True", "/Arcs.other"]
    number.allowedTokens = ["a", "b"]
    relation = Sdf.RelationshipSpec(spec, "relation")
    relation.targetPathList.explicitItems = ["/Values", "/Values.Int_True"]
    spec.propertyOrder = ["relation", "number"]
    variants = Sdf.VariantSetSpec(spec, "look")
    spec.variantSetNameList.prependedItems = ["look"]
    spec.variantSelections["look"] = "gr-een"
    for name in ("red", "gr-een", "1"):
        variant = Sdf.VariantSpec(variants, name).primSpec
        Sdf.AttributeSpec(variant, "inside", types.Int).default = 4
        below = Sdf.PrimSpec(variant, "Below", Sdf.SpecifierOver)
        Sdf.AttributeSpec(below, "deep", types.Int).default = 5
        inner = Sdf.VariantSetSpec(variant, "inner")
        variant.variantSetNameList.prependedItems = ["inner"]
        Sdf.VariantSpec(inner, "k")


def many():
    for i in range(300):
        spec = prim(f"/Many/c{i}", "Scope")
        Sdf.AttributeSpec(spec, "v", types.Int).default = i % 7
        Sdf.AttributeSpec(spec, "primvars:with_a_long_name", types.Float3).default = (i, 0.5, 0)
    prim("/Deep" + "/d" * 60)


def splines():
    attribute = Sdf.AttributeSpec(prim("/Splines"), "curve", types.Double)
    spline = Ts.Spline("double")
    for time in range(5):
        knot = Ts.Knot("double")
        knot.SetTime(time)
        knot.SetValue(time * 3.5)
        knot.SetNextInterpolation(Ts.InterpCurve)
        knot.SetPreTanWidth(0.25)
        knot.SetPostTanWidth(0.5)
        knot.SetPostTanSlope(2)
        if time == 2:
            knot.SetCustomDataByKey("note", "x")
        spline.SetKnot(knot)
    attribute.SetInfo("spline", spline)


def edits():
    spec = prim("/Edits")
    builder = Vt.IntArrayEditBuilder()
    builder.Append(5)
    builder.Prepend(7)
    builder.Write(3, 2)
    builder.EraseRef(0)
    attribute = Sdf.AttributeSpec(spec, "some", types.IntArray)
    attribute.default = builder.FinalizeAndReset()
    layer.SetTimeSample(attribute.path, 3, Vt.IntArrayEdit())
    builder = Vt.StringArrayEditBuilder()
    builder.Append("x")
    Sdf.AttributeSpec(spec, "text", types.StringArray).default = builder.FinalizeAndReset()
    Sdf.AttributeSpec(spec, "none", types.FloatArray).default = Vt.FloatArrayEdit()


values()
if minor >= 12:
    splines()
if minor >= 14:
    edits()
metadata()
arcs()
many()
assert layer.Save()
assert layer.Export(text_file)
