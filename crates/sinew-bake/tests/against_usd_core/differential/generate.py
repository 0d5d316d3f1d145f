"""A random stage from a seed."""

from pxr import Usd, UsdGeom

from character import add_character
from composition import WORLD, write
from draw import Draw
from transforms import add_transform


def generate(seed, folder):
    """Writes stage `seed` into the folder; returns the file to open and the arc that composes it."""
    draw = Draw(seed)
    stage = Usd.Stage.CreateInMemory()
    _set_time_line(draw, stage)
    world = UsdGeom.Xform.Define(stage, WORLD).GetPrim()
    stage.SetDefaultPrim(world)
    animated_ancestors = draw.choice((0, 0, 0.3))
    add_transform(draw, world, animated_ancestors, resets=0)
    if draw.chance(0.05):  # Far from the origin.
        UsdGeom.Xformable(world).AddTranslateOp(opSuffix="far").Set(draw.vector(5000))
    names = ("Ada", "Bob")[: draw.choice((1, 1, 2))]
    for name in names:
        add_character(draw, stage, f"{WORLD}/{name}", animated_ancestors)
    if draw.chance(0.2):
        _hint_extents(draw, stage, names)
    return write(draw, stage.GetRootLayer(), folder, f"stage{seed}")


def _hint_extents(draw, stage, names):
    """Makes models of the world and its characters, one with a hint that the bake has to bring up to date.

    One alone, as usd-core 26.11 crashes where more models have hints than prims are baked.
    """
    models = [(WORLD, "group"), *((f"{WORLD}/{name}", "component") for name in names)]
    for path, kind in models:
        Usd.ModelAPI(stage.GetPrimAtPath(path)).SetKind(kind)
    hinted = stage.GetPrimAtPath(draw.choice(models)[0])
    UsdGeom.ModelAPI.Apply(hinted).SetExtentsHint([(-1, -1, -1), (1, 1, 1)])


def _set_time_line(draw, stage):
    if draw.chance(0.8):
        start = draw.choice((0, 1, 1, 2))
        stage.SetStartTimeCode(start)
        stage.SetEndTimeCode(start + draw.choice((0, 2, 4, 8.5)))
    if draw.chance(0.3):
        stage.SetTimeCodesPerSecond(draw.choice((24, 30, 48)))
    if draw.chance(0.2):
        stage.SetFramesPerSecond(draw.choice((24, 30, 12)))
