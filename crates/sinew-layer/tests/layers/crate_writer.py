"""Opens a crate file and the text of the same layer with usd-core, and compares them field by field.

    crate_writer.py compare FILE.usdc FILE.usda
    crate_writer.py edit FILE.usdc FILE.usda      the file is edited and saved twice, then compared again
    crate_writer.py version FILE.usdc             prints the version of the file
    crate_writer.py print FILE.usdc               prints the custom data of the prim /A, an entry a line
"""

import difflib
import math
import sys

from pxr import Sdf, Tf, Vt


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b) or a != a and b != b
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if a == b:
        return True
    try:
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    except TypeError:
        return repr(a) == repr(b)


def paths(layer):
    all = set()
    layer.Traverse(Sdf.Path.absoluteRootPath, all.add)
    return all


def fields(layer, path):
    if path == Sdf.Path.absoluteRootPath:
        spec = layer.pseudoRoot
    else:
        spec = layer.GetObjectAtPath(path)
    if spec is None:
        return {}  # a target
    # Python has no type for lists of offsets.
    keys = set(spec.ListInfoKeys()) - {"subLayerOffsets"}
    result = {key: spec.GetInfo(key) for key in keys}
    result["subLayerOffsets"] = list(layer.subLayerOffsets)
    result["class"] = type(spec).__name__
    if "timeSamples" in result:
        times = layer.ListTimeSamplesForPath(path)
        result["timeSamples"] = {t: layer.QueryTimeSample(path, t) for t in times}
    if isinstance(spec, Sdf.PrimSpec):
        result["children"] = [str(c) for c in spec.nameChildren.keys()]
        if path != Sdf.Path.absoluteRootPath:
            result["properties"] = [p.name for p in spec.properties]
            result["sets"] = {n: sorted(s.variants.keys()) for n, s in spec.variantSets.items()}
    return result


def compare(found, expected):
    bad = [f"{p}: only in one" for p in paths(found) ^ paths(expected)]
    for path in sorted(paths(found) & paths(expected)):
        a, b = fields(found, path), fields(expected, path)
        for key in sorted(a.keys() | b.keys()):
            if key not in a or key not in b or not same(a[key], b[key]):
                bad.append(f"{path} {key}: {a.get(key)!r}, expected {b.get(key)!r}")
    # Fields that no schema knows are only in the text.
    for line in difflib.unified_diff(text(found), text(expected), "found", "expected", "", "", 1, ""):
        bad.append(line[:300])
    if bad:
        sys.exit("\n".join(bad))


def text(layer):
    return layer.ExportToString().splitlines()


def edit(layer, index):
    prim = Sdf.PrimSpec(layer, f"New{index}", Sdf.SpecifierDef, "Scope")
    prim.SetInfo("customData", {"index": index, "name": "a text that is new"})
    attribute = Sdf.AttributeSpec(prim, "values", Sdf.ValueTypeNames.FloatArray)
    attribute.default = Vt.FloatArray([0.1 * index * i for i in range(100)])
    layer.SetTimeSample(attribute.path, float(index), Vt.FloatArray(20, float(index)))
    target = Sdf.RelationshipSpec(prim, "rel")
    target.targetPathList.prependedItems.append("/New1.values")


def main(action, *files):
    if action == "version":
        print(*open(files[0], "rb").read(11)[8:])
        return
    if action == "print":
        layer = Sdf.Layer.FindOrOpen(files[0])
        for key, value in layer.GetPrimAtPath("/A").customData.items():
            print(f"{key}: {value if 'ListOp' in repr(value) else repr(value)}")
        return
    found, expected = map(Sdf.Layer.FindOrOpen, files)
    compare(found, expected)
    if action == "edit":
        for index in 1, 2:
            for layer in found, expected:
                edit(layer, index)
            if not found.Save():
                sys.exit("it cannot be saved")
            compare(found, expected)
            if not found.Reload(force=True):
                sys.exit("it cannot be read again")
            compare(found, expected)


try:
    main(*sys.argv[1:])
except Tf.ErrorException as error:
    sys.exit(str(error))
