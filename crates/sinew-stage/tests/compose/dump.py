"""Writes what usd-core composes: for each folder below the given one that has a root.usda, usd.txt with all prims."""

import os
import sys

from pxr import Sdf, Usd

ALL = Usd.PrimAllPrimsPredicate


def site(spec, offset):
    name = os.path.basename(spec.layer.identifier)
    return f"{name} {spec.path} {offset.offset + 0.0!r} {offset.scale!r}"


def walk(prim, path, out):
    if not prim.IsPseudoRoot():
        out.append(f"prim {path} {'instance' if prim.IsInstance() else ''}".rstrip())
        for spec, offset in prim.GetPrimStackWithLayerOffsets():
            out.append(f"  spec {site(spec, offset)}")
        for name in sorted(prim.GetPropertyNames()):
            for spec, offset in prim.GetProperty(name).GetPropertyStackWithLayerOffsets():
                out.append(f"  property {site(spec, offset)}")
    if prim.IsInstance():
        prim = prim.GetPrototype()
    for child in prim.GetFilteredChildren(ALL):
        walk(child, path.AppendChild(child.GetName()), out)


class Quiet:
    """Composition errors are no errors here: both sides have to go on in the same way."""

    def __enter__(self):
        self.saved = os.dup(2)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)

    def __exit__(self, *_):
        os.dup2(self.saved, 2)
        os.close(self.saved)


def main(folder):
    for name in sorted(os.listdir(folder)):
        here = os.path.join(folder, name)
        out = []
        with Quiet():
            stage = Usd.Stage.Open(os.path.join(here, "root.usda"))
            walk(stage.GetPseudoRoot(), Sdf.Path("/"), out)
        with open(os.path.join(here, "usd.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(out) + "\n")


main(sys.argv[1])
