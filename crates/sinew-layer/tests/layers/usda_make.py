"""Writes layers with everything that usd-core writes as text: usda_make.py FOLDER."""
import pathlib
import random
import sys

from pxr import Gf, Sdf, Ts, Vt

SPECIAL = [0.0, -0.0, 1.0, 0.1, -1e-7, 1e15, 1e20, 123456.789, float("inf"), float("-inf"), float("nan"), 1 / 3]
TEXTS = [
    "", "plain", "it's", 'say "hi"', "both ' and \"", "two\nlines", "tab\tand\\", "\x01\x7f\r", "größe 日本 🦀",
    'quotes """ and \'\'\'\n', "@a@", "</A>", "# no comment // nor this", "ends with \\",
]
ASSETS = ["", "a.usda", "dir/b c.usd", "at@sign.png", "three@@@signs", "ends@", "ü.png", "x.usdz[y#z.png]"]


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def value(self, name):
        """A value of a scalar type by its name."""
        pick = self.random
        ranges = {
            "uchar": (0, 255), "int": (-2**31, 2**31 - 1), "uint": (0, 2**32 - 1),
            "int64": (-2**63, 2**63 - 1), "uint64": (0, 2**64 - 1),
        }
        real = lambda: pick.choice(SPECIAL + [pick.uniform(-1000, 1000) for _ in range(12)])
        if name == "bool":
            return pick.random() < 0.5
        if name in ranges:
            low, high = ranges[name]
            return pick.choice([low, high, pick.randint(low, high)])
        if name in ("half", "float", "double"):
            return real()
        if name == "timecode":
            return Sdf.TimeCode(real())
        if name in ("string", "token"):
            return pick.choice(TEXTS)
        if name == "asset":
            return Sdf.AssetPath(pick.choice(ASSETS))
        if name == "pathExpression":
            return Sdf.PathExpression(pick.choice(["//A*", "/A/B - /C", "", "%_ + /X{isa:Mesh}"]))
        default = Sdf.ValueTypeNames.Find(name).defaultValue
        kind = type(default)
        if "Quat" in kind.__name__:
            imaginary = type(default.imaginary)
            return kind(real(), imaginary(real(), real(), real()))
        if "Matrix" in kind.__name__:
            size = kind.dimension[0]
            return kind(*[real() for _ in range(size * size)])
        if kind.__name__.endswith("i"):
            return kind(*[pick.randint(-2**31, 2**31 - 1) for _ in range(kind.dimension)])
        return kind(*[real() for _ in range(kind.dimension)])


def type_names():
    names = set()
    for attribute in dir(Sdf.ValueTypeNames):
        if attribute[0] != "_" and attribute != "Find":
            name = str(getattr(Sdf.ValueTypeNames, attribute))
            # This crate has no durations yet; `opaque` and `group` have no values.
            if not name.startswith(("duration", "opaque", "group")) and not name.endswith("[]"):
                names.add(name)
    return sorted(names)


def arrays(name, values):
    kind = type(Sdf.ValueTypeNames.Find(name + "[]").defaultValue)
    return kind(values)


def all_types(layer, maker):
    prim = Sdf.PrimSpec(layer, "Types", Sdf.SpecifierDef, "Scope")
    for name in type_names():
        kind = Sdf.ValueTypeNames.Find(name)
        for i in range(3):
            spec = Sdf.AttributeSpec(prim, f"{name}:one{i}", kind)
            spec.default = maker.value(name)
        many = Sdf.AttributeSpec(
            prim, f"{name}:many", kind.arrayType, Sdf.VariabilityUniform, declaresCustom=True
        )
        many.default = arrays(name, [maker.value(name) for _ in range(9)])
        Sdf.AttributeSpec(prim, f"{name}:none", kind.arrayType).default = arrays(name, [])
        Sdf.AttributeSpec(prim, f"{name}:block", kind).default = Sdf.ValueBlock()
        for time in (-1.5, 0, 0.1, 1e10):
            layer.SetTimeSample(many.path, time, arrays(name, [maker.value(name) for _ in range(2)]))
        layer.SetTimeSample(many.path, 7, Sdf.ValueBlock())
    for name in ("opaque", "group"):
        Sdf.AttributeSpec(prim, name, Sdf.ValueTypeNames.Find(name))
    Sdf.AttributeSpec(prim, "animationBlock", Sdf.ValueTypeNames.Float).default = Sdf.AnimationBlock()


def dictionary(maker, depth=0):
    out = {f"{name} key": maker.value(name) for name in ("string", "int", "double", "asset", "bool")}
    out["array"] = arrays("float3", [maker.value("float3") for _ in range(2)])
    out["def"] = arrays("token", ["a", "b"])
    out["empty"] = {}
    if depth < 3:
        out["größe"] = dictionary(maker, depth + 1)
    return out


def list_op(kind, items, maker):
    op = kind()
    if maker.random.random() < 0.3:
        op.explicitItems = items[: maker.random.randint(0, len(items))]
        return op
    for name in ("addedItems", "prependedItems", "appendedItems", "deletedItems", "orderedItems"):
        if maker.random.random() < 0.5:
            setattr(op, name, maker.random.sample(items, maker.random.randint(1, len(items))))
    return op


def edit(editor, op):
    """Sets the list edits of targets and connections."""
    if op.isExplicit:
        editor.ClearEditsAndMakeExplicit()
        editor.explicitItems[:] = op.explicitItems
        return
    for name in ("addedItems", "prependedItems", "appendedItems", "deletedItems", "orderedItems"):
        getattr(editor, name)[:] = getattr(op, name)


def composition(layer, maker):
    root = layer.pseudoRoot
    root.SetInfo("customLayerData", dictionary(maker))
    root.SetInfo("expressionVariables", {"A": "b", "C": 3, "D": True})
    root.SetInfo("documentation", "two\nlines")
    root.SetInfo("comment", maker.random.choice(TEXTS))
    root.SetInfo("defaultPrim", "Arcs")
    layer.framesPerSecond = 23.976
    layer.startTimeCode = -0.5
    layer.subLayerPaths = ["a.usda", "b@c.usda"]
    layer.subLayerOffsets[1] = Sdf.LayerOffset(2.5, -0.5)
    layer.relocates = [("/Arcs/a", "/Arcs/b"), ("/Arcs/c", Sdf.Path())]
    layer.rootPrimOrder = ["Types", "Arcs"]
    paths = [Sdf.Path(p) for p in ("/A", "/B/C", "/Größe/日本")]
    references = [
        Sdf.Reference("a.usda"), Sdf.Reference("b.usda", "/B", Sdf.LayerOffset(1, 2)), Sdf.Reference("", "/C"),
        Sdf.Reference("d@e.usda", "/D", Sdf.LayerOffset(0, 0.1), dictionary(maker)),
    ]
    payloads = [Sdf.Payload("a.usda"), Sdf.Payload("b.usda", "/B", Sdf.LayerOffset(1)), Sdf.Payload("", "/C")]
    for i in range(12):
        spec = Sdf.PrimSpec(layer, f"Arcs{i}" if i else "Arcs", Sdf.SpecifierOver)
        spec.SetInfo("references", list_op(Sdf.ReferenceListOp, references, maker))
        spec.SetInfo("payload", list_op(Sdf.PayloadListOp, payloads, maker))
        spec.SetInfo("inheritPaths", list_op(Sdf.PathListOp, paths, maker))
        spec.SetInfo("specializes", list_op(Sdf.PathListOp, paths, maker))
        spec.SetInfo("apiSchemas", list_op(Sdf.TokenListOp, ["A", "B:c", "D"], maker))
        spec.SetInfo("clipSets", list_op(Sdf.StringListOp, ["a", "b"], maker))
        spec.SetInfo("inactiveIds", list_op(Sdf.Int64ListOp, [1, -2**63, 2**63 - 1], maker))
        spec.SetInfo("customData", dictionary(maker))
        relationship = Sdf.RelationshipSpec(spec, "rel:a", custom=bool(i % 2))
        edit(relationship.targetPathList, list_op(Sdf.PathListOp, paths + [Sdf.Path("/A.b:c")], maker))
        attribute = Sdf.AttributeSpec(spec, "inputs:a", Sdf.ValueTypeNames.Color3f)
        edit(attribute.connectionPathList, list_op(Sdf.PathListOp, [p.AppendProperty("x") for p in paths], maker))
        attribute.SetInfo("connectability", "interfaceOnly")


def metadata(layer, maker):
    """Every field that usd-core knows on every kind of spec."""
    prim = Sdf.PrimSpec(layer, "Metadata", Sdf.SpecifierClass, "Mesh")
    variants = Sdf.VariantSetSpec(prim, "look")
    variant = Sdf.VariantSpec(variants, ".red|-1")
    specs = [
        layer.pseudoRoot, prim, variant, Sdf.AttributeSpec(prim, "attribute", Sdf.ValueTypeNames.Float),
        Sdf.RelationshipSpec(prim, "relationship"),
    ]
    made = {
        "bool": True, "string": 'a "b"', "int": -3, "long": -2**40, "float": 0.1, "double": 0.1, "TfToken": "to'ken",
        "VtDictionary": dictionary(maker), "SdfAssetPath": Sdf.AssetPath("a@b"), "SdfPermission": Sdf.PermissionPrivate,
        "VtArray<TfToken>": Vt.TokenArray(["a", "b"]), "VtArray<string>": Vt.StringArray(["a", ""]),
        "VtArray<SdfAssetPath>": Sdf.AssetPathArray([Sdf.AssetPath("a")]),
    }
    for spec in specs:
        for key in spec.GetMetaDataInfoKeys():
            kind = str(spec.GetTypeForInfo(key)).split("'")[1]
            if kind not in made or key in ("typeName", "defaultPrim"):
                continue
            value = made[kind]
            if "Substitutions" in key:
                value = {"a b": "c", "d": "'"}
            elif key == "symmetryFunction":
                value = "mirror"
            elif key == "fallbackPrimTypes":
                value = {"A": Vt.TokenArray(["B"])}
            try:
                spec.SetInfo(key, value)
            except Exception as error:
                print(f"{spec.path} {key}: {error}")
    variant.primSpec.SetInfo("kind", "component")
    inner = Sdf.PrimSpec(variant.primSpec, "Inner", Sdf.SpecifierDef)
    Sdf.AttributeSpec(inner, "x", Sdf.ValueTypeNames.Int).default = 1
    Sdf.RelationshipSpec(inner, "y").targetPathList.Prepend("/Metadata")
    deep = Sdf.VariantSpec(Sdf.VariantSetSpec(inner, "deep"), "one")
    Sdf.PrimSpec(deep.primSpec, "Leaf", Sdf.SpecifierOver)
    Sdf.VariantSpec(variants, "empty")
    prim.variantSetNameList.Prepend("look")
    prim.variantSelections["look"] = ".red|-1"
    prim.nameChildrenOrder = ["b", "a"]
    prim.propertyOrder = ["relationship", "attribute"]


def splines(layer, maker):
    prim = Sdf.PrimSpec(layer, "Splines", Sdf.SpecifierDef)
    kinds = {"double": Sdf.ValueTypeNames.Double, "float": Sdf.ValueTypeNames.Float, "half": Sdf.ValueTypeNames.Half}
    for name, type_name in kinds.items():
        for i, curve in enumerate((Ts.CurveTypeBezier, Ts.CurveTypeHermite)):
            spline = Ts.Spline(name)
            spline.SetCurveType(curve)
            for j in range(6):
                knot = Ts.Knot(name)
                knot.SetCurveType(curve)
                knot.SetTime(j * 1.1)
                knot.SetValue(maker.random.uniform(-9, 9))
                knot.SetNextInterpolation(
                    [Ts.InterpCurve, Ts.InterpHeld, Ts.InterpLinear, Ts.InterpCurve, Ts.InterpValueBlock][j % 5]
                )
                if j % 2:
                    knot.SetPreValue(maker.random.uniform(-9, 9))
                if curve == Ts.CurveTypeBezier:
                    knot.SetPreTanWidth(maker.random.random() / 3)
                    knot.SetPostTanWidth(maker.random.random() / 3)
                knot.SetPreTanSlope(maker.random.uniform(-2, 2))
                knot.SetPostTanSlope(maker.random.uniform(-2, 2))
                if j == 3:
                    knot.SetCustomDataByKey("note", "a 'b'")
                spline.SetKnot(knot)
            before = Ts.Extrapolation(Ts.ExtrapSloped)
            before.slope = 0.25
            spline.SetPreExtrapolation(before)
            spline.SetPostExtrapolation(Ts.Extrapolation([Ts.ExtrapLoopRepeat, Ts.ExtrapLinear][i]))
            attribute = Sdf.AttributeSpec(prim, f"{name}{i}", type_name)
            layer.GetAttributeAtPath(attribute.path).SetInfo("spline", spline)


RAW = {
    "everything": (pathlib.Path(__file__).parent.parent.parent / "src/usda/everything.usda").read_text(),
    "crlf": '#usda 1.0\r\n(\r\n    upAxis = "Z"\r\n)\r\ndef "A"\r\n{\r\n    int a = 1\r\n    string b = """x\r\ny"""\r\n}\r\n',
}


def main(folder):
    for seed in range(6):
        for make in (all_types, composition, metadata, splines):
            layer = Sdf.Layer.CreateAnonymous(".usda")
            make(layer, Maker(seed))
            layer.Export(f"{folder}/{make.__name__}{seed}.usda")
    for name, text in RAW.items():
        with open(f"{folder}/{name}.usda", "w", newline="") as file:
            file.write(text)
        Sdf.Layer.OpenAsAnonymous(f"{folder}/{name}.usda")


if __name__ == "__main__":
    main(sys.argv[1])
