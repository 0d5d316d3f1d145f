"""Writes what usd-core composes: for each folder below the given one that has a root.usda, usd.txt with all prims."""

import os
import signal
import sys

from pxr import Sdf, Tf, Usd

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


def opened(path):
    """A stage, also where usd-core finds an error in its own code: it has composed the stage all the same."""
    cache = Usd.StageCache()
    try:
        with Usd.StageCacheContext(cache):
            return Usd.Stage.Open(path)
    except Tf.ErrorException:
        return cache.GetAllStages()[0]


def compose(here):
    out = []
    with Quiet():
        stage = opened(os.path.join(here, "root.usda"))
        walk(stage.GetPseudoRoot(), Sdf.Path("/"), out)
    with open(os.path.join(here, "usd.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def main(folder):
    for name in sorted(os.listdir(folder)):
        # usd-core does not end on some stages with circles: each has a process and a time limit.
        child = os.fork()
        if child == 0:
            signal.alarm(1)
            try:
                compose(os.path.join(folder, name))
            except RecursionError:
                pass
            os._exit(0)
        os.waitpid(child, 0)


main(sys.argv[1])
