"""How a stage is put together: one file, or another that brings it in by one of USD's arcs."""

from pxr import Gf, Sdf, Usd, UsdGeom

from transforms import add_transform

ARCS = ("none", "none", "none", "sublayer", "reference", "payload", "variant", "inherit", "specialize", "instances")
TIME_LINE = ("startTimeCode", "endTimeCode", "timeCodesPerSecond", "framesPerSecond")
WORLD = "/World"


def write(draw, layer, folder, name):
    """Writes the layer, whose root prim is WORLD; returns the file to open, and the arc."""
    kind = lambda: draw.choice(("usda", "usdc"))
    arc = draw.choice(ARCS)
    if arc == "none":
        file = f"{folder}/{name}.{kind()}"
        layer.Export(file)
        return file, arc
    inner = f"{name}_inner.{kind()}"
    layer.Export(f"{folder}/{inner}")
    outer = Sdf.Layer.CreateNew(f"{folder}/{name}.{kind()}")
    for key in TIME_LINE:
        if layer.pseudoRoot.HasInfo(key) and draw.chance(0.8):
            outer.pseudoRoot.SetInfo(key, layer.pseudoRoot.GetInfo(key))
    # Scales are positive, see differences.py.
    offset = Sdf.LayerOffset(draw.choice((0, 0, 5, -2)), draw.choice((1, 1, 2, 0.5)))
    if arc == "sublayer":
        outer.subLayerPaths.append(f"./{inner}")
        outer.subLayerOffsets[0] = offset
    else:
        _add_arc(draw, Usd.Stage.Open(outer), arc, f"./{inner}", offset)
    outer.Save()
    return outer.realPath, arc


def _add_arc(draw, stage, arc, inner, offset):
    if arc in ("reference", "payload", "variant"):
        top = UsdGeom.Xform.Define(stage, "/Top").GetPrim()
        add_transform(draw, top, 0.2)
        child = stage.DefinePrim("/Top/Child")
        if arc == "reference":
            child.GetReferences().AddReference(inner, WORLD, offset)
        elif arc == "payload":
            child.GetPayloads().AddPayload(inner, WORLD, offset)
        else:
            variants = child.GetVariantSets().AddVariantSet("look")
            for name in ("one", "two"):
                variants.AddVariant(name)
            variants.SetVariantSelection("one")
            with variants.GetVariantEditContext():
                child.GetReferences().AddReference(inner, WORLD, offset)
    elif arc in ("inherit", "specialize"):
        cls = stage.CreateClassPrim("/_class")
        cls.GetReferences().AddReference(inner, WORLD, offset)
        for name in ("A", "B"):
            prim = UsdGeom.Xform.Define(stage, f"/{name}").GetPrim()
            (prim.GetInherits().AddInherit if arc == "inherit" else prim.GetSpecializes().AddSpecialize)("/_class")
    else:
        _add_instances(draw, stage, inner, offset)


def _add_instances(draw, stage, inner, offset):
    """Native instances, at times inside another instance."""
    nested = draw.chance(0.3)
    home = "/Flock" if not nested else "/_flock"
    if nested:
        stage.CreateClassPrim(home)
    else:
        add_transform(draw, UsdGeom.Xform.Define(stage, home).GetPrim(), 0.2)
    for name in ("A", "B", "C")[: draw.choice((2, 3))]:
        place = stage.DefinePrim(f"{home}/{name}", "Xform")
        add_transform(draw, place, 0.1)
        bird = stage.DefinePrim(f"{home}/{name}/Bird")
        bird.GetReferences().AddReference(inner, WORLD, offset)
        bird.SetInstanceable(True)
    if nested:
        for name in ("Left", "Right"):
            prim = stage.DefinePrim(f"/{name}", "Xform")
            prim.GetInherits().AddInherit(home)
            prim.SetInstanceable(True)
            UsdGeom.Xformable(prim).AddTranslateOp(UsdGeom.XformOp.PrecisionDouble, "place").Set(Gf.Vec3d(draw.vector(3)))
