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
    for name in ("Ada", "Bob")[: draw.choice((1, 1, 2))]:
        add_character(draw, stage, f"{WORLD}/{name}", animated_ancestors)
    return write(draw, stage.GetRootLayer(), folder, f"stage{seed}")


def _set_time_line(draw, stage):
    if draw.chance(0.8):
        start = draw.choice((0, 1, 1, 2))
        stage.SetStartTimeCode(start)
        stage.SetEndTimeCode(start + draw.choice((0, 2, 4, 8.5)))
    if draw.chance(0.3):
        stage.SetTimeCodesPerSecond(draw.choice((24, 30, 48)))
    if draw.chance(0.2):
        stage.SetFramesPerSecond(draw.choice((24, 30, 12)))
