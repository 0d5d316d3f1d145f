"""Compares two layers spec by spec and field by field.

    python compare.py A B [--flattened] [--expect PATTERN ...]

Prints each difference as `PATH FIELD: A's value -> B's value` and exits with 1 if there are any. Numbers have to be
the same bits: -0 is not 0, and NaN is NaN. Asset paths are the same if they are the same text or lead to the same
file. Fields are compared as usd-core reads them, their order is not.

    --flattened          opens A and B as stages and compares what usd-core's Flatten makes of them
    --expect PATTERN     differences whose `PATH FIELD` fits the pattern (`*` fits anything) do not count
    --order              the order of prims and properties counts too
"""

import argparse
import fnmatch
import os
import re
import struct
import sys
import warnings

warnings.simplefilter("ignore")

from pxr import Ar, Sdf, Ts, Usd  # noqa: E402

LIST_OPS = ("explicitItems", "addedItems", "prependedItems", "appendedItems", "deletedItems", "orderedItems")
# Fields that usd-core does not list with the others.
MORE_FIELDS = ("default", "timeSamples", "spline", "targetPaths", "connectionPaths", "subLayers", "subLayerOffsets",
               "primOrder", "propertyOrder", "layerRelocates", "relocates", "comment")

# How usd-core begins the names of prototypes when it flattens.
PROTOTYPE = "Flattened_Prototype_"


class Asset:
    """An asset path and the file that it leads to."""

    def __init__(self, path, file):
        self.path, self.file = path, file

    def __eq__(self, other):
        return isinstance(other, Asset) and (self.path == other.path or self.file == other.file)

    def __repr__(self):
        return f"@{self.path}@"


class Side:
    """One of the two layers."""

    def __init__(self, file, flattened):
        self.file = file
        if flattened:
            self.stage = Usd.Stage.Open(file)
            self.layer = self.stage.Flatten(addSourceFileComment=False)
        else:
            self.layer = Sdf.Layer.OpenAsAnonymous(file)
        if not self.layer:
            raise SystemExit(f"{file}: not a layer")
        self.paths = []
        self.layer.Traverse(Sdf.Path.absoluteRootPath, self.paths.append)
        # usd-core does not list fields that no schema knows: their names are in the text.
        pattern = r"^ +(?:(?:prepend|append|add|delete|reorder) )?([A-Za-z_]\w*) = "
        self.unregistered = set(re.findall(pattern, self.layer.ExportToString(), re.MULTILINE))
        # Names of children, which `order` compares.
        self.unregistered -= {"properties", "nameChildren", "rootPrims", "variantSets"}
        # Crate files have specs of targets, which have nothing of their own; text has none.
        self.paths = [path for path in self.paths if not path.IsTargetPath()]
        self.prototypes = {}
        if flattened:
            self.number_prototypes()
        self.paths = {self.renamed(path): path for path in self.paths}

    def number_prototypes(self):
        """Numbers the prototypes of a flattened stage in the order of their first instances.

        usd-core's own numbers depend on the order in which threads find instances.
        """
        waiting = ["/"]
        while waiting:
            root = waiting.pop(0)
            for path in sorted(self.paths):
                spec = self.layer.GetPrimAtPath(path) if path.IsPrimPath() else None
                name = str(path).split("/")[1] if spec else ""
                if not spec or (name.startswith(PROTOTYPE) if root == "/" else name != root):
                    continue
                for reference in spec.referenceList.GetAddedOrExplicitItems():
                    target = reference.primPath.name
                    if target.startswith(PROTOTYPE) and target not in self.prototypes:
                        self.prototypes[target] = f"{PROTOTYPE}{len(self.prototypes) + 1}"
                        waiting.append(target)

    def renamed(self, path):
        """The text of a path, with the new number of its prototype."""
        names = str(path).split("/")
        if len(names) > 1 and PROTOTYPE in names[1]:
            head, dot, rest = names[1].partition(".")
            names[1] = self.prototypes.get(head, head) + dot + rest
        return "/".join(names)

    def resolved(self, path):
        """An asset path with the file that it leads to, or with the path itself if there is none."""
        if not path:
            return Asset("", "")
        anchored = path
        if path.startswith(("./", "../")):
            anchored = os.path.join(os.path.dirname(os.path.abspath(self.file)), path)
        found = Ar.GetResolver().Resolve(anchored)
        return Asset(path, os.path.realpath(str(found)) if found else path)

    def fields(self, path):
        """The fields of a spec by name."""
        path = self.paths[path]
        spec = self.layer.GetObjectAtPath(path)
        if spec is None:
            return {}
        names = set(spec.ListInfoKeys())
        out = {}
        for name in names.union(MORE_FIELDS, self.unregistered):
            try:
                if name in names or spec.HasInfo(name):
                    out[name] = self.plain(spec.GetInfo(name))
            except Exception as error:  # usd-core has no Python for some values.
                out[name] = ("unreadable", str(error))
        out["spec"] = type(spec).__name__
        if "subLayers" in out:
            out["subLayers"] = [self.resolved(path) for path in self.layer.subLayerPaths]
        if isinstance(spec, Sdf.AttributeSpec):
            times = self.layer.ListTimeSamplesForPath(path)
            if times or "timeSamples" in out:
                out["timeSamples"] = ("samples", [
                    (self.plain(t), self.plain(self.layer.QueryTimeSample(path, t))) for t in times])
            if spec.HasSpline():
                out["spline"] = self.plain(spec.GetSpline())
        return out

    def order(self, path):
        """The names of children and properties of a spec."""
        path = self.paths[path]
        spec = self.layer.GetObjectAtPath(path)
        if isinstance(spec, (Sdf.PrimSpec, Sdf.VariantSpec)):
            if isinstance(spec, Sdf.VariantSpec):
                spec = spec.primSpec
            return [c.name for c in spec.nameChildren], [p.name for p in spec.properties]
        if isinstance(spec, Sdf.PseudoRootSpec) or path == Sdf.Path.absoluteRootPath:
            return [self.prototypes.get(c.name, c.name) for c in self.layer.rootPrims], []
        return [], []

    def plain(self, value):
        """A value as tuples, lists and dictionaries that `==` compares exactly."""
        if value is None or isinstance(value, (bool, int, str)):
            return (type(value).__name__, value)
        if isinstance(value, float):
            # 0 and -0 differ, NaNs do not.
            return ("float", "nan") if value != value else ("float", value, struct.pack("<d", value)[7] >> 7)
        if isinstance(value, Sdf.AssetPath):
            authored = getattr(value, "authoredPath", value.path) or value.path
            return ("asset", self.resolved(authored))
        if isinstance(value, dict):
            return ("dictionary", {str(k): self.plain(v) for k, v in value.items()})
        if isinstance(value, Sdf.Reference):
            return ("reference", self.resolved(value.assetPath), self.renamed(value.primPath), self.plain(value.layerOffset),
                    self.plain(dict(value.customData)))
        if isinstance(value, Sdf.Payload):
            return ("payload", self.resolved(value.assetPath), self.renamed(value.primPath), self.plain(value.layerOffset))
        if isinstance(value, Sdf.LayerOffset):
            return ("offset", self.plain(value.offset), self.plain(value.scale))
        if isinstance(value, Ts.Spline):
            return self.spline(value)
        if type(value).__name__.endswith("ListOp"):
            lists = {name: [self.plain(i) for i in getattr(value, name)] for name in LIST_OPS}
            return (type(value).__name__, value.isExplicit, lists)
        if type(value).__name__.endswith("ArrayEdit"):
            return (type(value).__name__, str(value))
        if isinstance(value, Sdf.Path):
            return ("path", self.renamed(value))
        if isinstance(value, Sdf.UnregisteredValue):
            return ("unregistered", self.plain(value.value))
        kind = type(value).__name__
        if hasattr(value, "GetValue") and kind in ("TimeCode", "Duration"):
            return (kind, self.plain(value.GetValue()))
        if kind.startswith("Quat") and hasattr(value, "real"):
            return (kind, self.plain(float(value.real)), [self.plain(float(x)) for x in value.imaginary])
        if kind.endswith("Array"):
            try:
                # Plain numbers: their bits. Different NaNs are rare enough to count as different.
                return (kind, len(value), bytes(memoryview(value)))
            except TypeError:
                return (kind, [self.plain(v) for v in value])
        if kind.startswith("Matrix"):
            return (kind, [[self.plain(float(x)) for x in row] for row in value])
        try:
            return (kind, [self.plain(v) for v in value])
        except TypeError:
            return (kind, str(value))

    def spline(self, value):
        """Everything that a spline stores."""
        def extrapolation(e):
            return (str(e.mode), self.plain(e.slope), self.plain(e.loopBoundaryTime))

        loop = value.GetInnerLoopParams()
        knots = value.GetKnots()
        plain = [str(value.GetValueTypeName()), str(value.GetCurveType()),
                 extrapolation(value.GetPreExtrapolation()), extrapolation(value.GetPostExtrapolation()),
                 [self.plain(x) for x in (loop.protoStart, loop.protoEnd, loop.numPreLoops, loop.numPostLoops,
                                          loop.valueOffset)]]
        hermite = value.GetCurveType() == Ts.CurveTypeHermite
        for time in knots.keys():
            knot = knots[time]
            numbers = [knot.GetTime(), knot.GetValue(), knot.GetPreValue() if knot.IsDualValued() else None,
                       knot.GetPreTanSlope(), knot.GetPostTanSlope()]
            if not hermite:
                numbers += [knot.GetPreTanWidth(), knot.GetPostTanWidth()]
            plain.append(([self.plain(x) for x in numbers], str(knot.GetNextInterpolation()),
                          str(knot.GetPreTanAlgorithm()), str(knot.GetPostTanAlgorithm()),
                          self.plain(dict(knot.GetCustomData()))))
        return ("spline", plain)


def text(value):
    """A value as it is printed: what `plain` makes of numbers and texts without its marks."""
    if isinstance(value, tuple) and len(value) > 1 and value[0] in ("float", "int", "bool", "str"):
        return repr(value[1]) + (" (negative)" if value[2:] == (1,) and value[1] == 0 else "")
    out = repr(value)
    return out if len(out) < 300 else out[:140] + " ... " + out[-140:]


def part(a, b):
    """The first place where two plain values differ: where it is, and both values there."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            if a.get(key) != b.get(key):
                where, x, y = part(a.get(key), b.get(key))
                return f"[{key}]{where}", x, y
    # The marks of single values stay together.
    single = isinstance(a, tuple) and len(a) > 1 and a[0] in ("float", "int", "bool", "str")
    if isinstance(a, (list, tuple)) and type(a) is type(b) and len(a) == len(b) and not single:
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y:
                where, x, y = part(x, y)
                return f"[{i}]{where}", x, y
    return "", a, b


def differences(a, b, order):
    """(path, field, text) of each difference."""
    for path in sorted(a.paths.keys() | b.paths.keys()):
        if path not in b.paths:
            yield path, "spec", "only in A"
            continue
        if path not in a.paths:
            yield path, "spec", "only in B"
            continue
        left, right = a.fields(path), b.fields(path)
        for name in sorted(left.keys() | right.keys()):
            if name not in right:
                yield path, name, f"{text(left[name])} -> nothing"
            elif name not in left:
                yield path, name, f"nothing -> {text(right[name])}"
            elif left[name] != right[name]:
                where, x, y = part(left[name], right[name])
                yield path, name, f"{where + ' ' if where else ''}{text(x)} -> {text(y)}"
        if order:
            for name, x, y in zip(("children", "properties"), a.order(path), b.order(path)):
                if x != y:
                    yield path, name, f"{text(x)} -> {text(y)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--flattened", action="store_true")
    parser.add_argument("--expect", action="append", default=[])
    parser.add_argument("--order", action="store_true")
    options = parser.parse_args()
    a, b = Side(options.a, options.flattened), Side(options.b, options.flattened)
    found = 0
    for path, name, what in differences(a, b, options.order):
        expected = any(fnmatch.fnmatchcase(f"{path} {name}", pattern) for pattern in options.expect)
        found += not expected
        print(f"{'expected: ' if expected else ''}{path} {name}: {what}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
