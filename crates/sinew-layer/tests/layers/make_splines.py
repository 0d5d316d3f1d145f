"""Writes splines with their values, as usd-core computes them.

    python make_splines.py COUNT SEED > splines.txt

Each spline is three kinds of lines:

    spline HEX              its bytes as usd-core writes them into a crate file
    at TIME VALUE BEFORE    Eval and EvalPreValue, - where there is no value
    scaled OFFSET SCALE HEX the bytes of GetTimeScaled(SCALE, OFFSET)
"""

import os
import random
import struct
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
os.environ["TF_DISABLE_WARNINGS"] = "1"
from pxr import Sdf, Tf, Ts  # noqa: E402

TYPES = {
    "double": Sdf.ValueTypeNames.Double,
    "float": Sdf.ValueTypeNames.Float,
    "half": Sdf.ValueTypeNames.Half,
    "timecode": Sdf.ValueTypeNames.TimeCode,
}
INTERPOLATIONS = [Ts.InterpValueBlock, Ts.InterpHeld, Ts.InterpLinear] + 4 * [Ts.InterpCurve]
EXTRAPOLATIONS = [
    Ts.ExtrapValueBlock,
    Ts.ExtrapHeld,
    Ts.ExtrapLinear,
    Ts.ExtrapSloped,
    Ts.ExtrapLoopRepeat,
    Ts.ExtrapLoopReset,
    Ts.ExtrapLoopOscillate,
]
ALGORITHMS = [Ts.TangentAlgorithmNone] * 3 + [Ts.TangentAlgorithmAutoEase, Ts.TangentAlgorithmCustom]


def number(random, digits=3, scale=10):
    return round(random.uniform(-scale, scale), digits)


def extrapolation(random, times, inner):
    mode = random.choice(EXTRAPOLATIONS)
    out = Ts.Extrapolation(mode)
    if mode == Ts.ExtrapSloped:
        out.slope = number(random)
    if out.IsLooping() and not inner and random.random() < 0.4:
        out.loopBoundaryTime = random.choice(times + [times[0] + 0.125])
    return out


def spline(random):
    kind = random.choice(["double", "double", "float", "half", "timecode"])
    out = Ts.Spline(kind)
    if random.random() < 0.25:
        out.SetCurveType(Ts.CurveTypeHermite)
    hermite = out.GetCurveType() == Ts.CurveTypeHermite
    algorithms = random.random() < 0.2
    count = random.choice([1, 2, 2, 3, 4, 6])
    times = sorted({number(random, random.choice([0, 1, 3])) for _ in range(count)})
    wide = random.choice([1, 1, 3])
    for time in times:
        knot = Ts.Knot(typeName=kind, time=time, value=number(random))
        if random.random() < 0.25:
            knot.SetPreValue(number(random))
        knot.SetNextInterpolation(random.choice(INTERPOLATIONS))
        if not hermite:
            knot.SetPreTanWidth(round(random.uniform(0, wide * 5), 3) * random.choice([0, 1, 1]))
            knot.SetPostTanWidth(round(random.uniform(0, wide * 5), 3) * random.choice([0, 1, 1]))
        knot.SetPreTanSlope(number(random))
        knot.SetPostTanSlope(number(random))
        if algorithms:
            knot.SetPreTanAlgorithm(random.choice(ALGORITHMS))
            knot.SetPostTanAlgorithm(random.choice(ALGORITHMS))
        out.SetKnot(knot)
    inner = random.random() < 0.25
    if inner:
        params = Ts.LoopParams()
        params.protoStart = random.choice(times)
        params.protoEnd = params.protoStart + round(random.uniform(0.5, 8), 1)
        params.numPreLoops = random.choice([0, 1, 3, -1])
        params.numPostLoops = random.choice([0, 1, 2, -1])
        params.valueOffset = number(random, 1)
        out.SetInnerLoopParams(params)
    out.SetPreExtrapolation(extrapolation(random, times, inner))
    out.SetPostExtrapolation(extrapolation(random, times, inner))
    return out, kind, times


def crate_bytes(spline, kind, file):
    layer = Sdf.Layer.CreateAnonymous(".usdc")
    prim = Sdf.PrimSpec(layer, "A", Sdf.SpecifierDef)
    attribute = Sdf.AttributeSpec(prim, "x", TYPES[kind])
    attribute.SetInfo("spline", spline)
    layer.Export(file)
    with open(file, "rb") as f:
        data = f.read()
    # After the header (88 bytes), the names of children and of properties (12 bytes each).
    (size,) = struct.unpack_from("<Q", data, 112)
    out = data[120 : 120 + size]
    assert size < len(data) - 120 and out[0] & 15 in (1, 2, 3), "the file has another layout"
    return out.hex()


def text(value):
    return "-" if value is None else repr(float(value))


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    source = random.Random(seed)
    file = os.path.join(tempfile.mkdtemp(), "spline.usdc")
    with Ts.AntiRegressionAuthoringSelector(Ts.AntiRegressionNone):
        for _ in range(count):
            curve, kind, times = spline(source)
            print("spline", crate_bytes(curve, kind, file))
            asked = source.sample(times, min(2, len(times)))
            asked += [(a + b) / 2 for a, b in zip(times, times[1:])][:2]
            low, high = times[0] - 15, times[-1] + 15
            asked += [round(source.uniform(low, high), 4) for _ in range(7)]
            span = times[-1] - times[0]
            asked += [times[0] - span, times[-1] + span]
            if curve.HasInnerLoops() and curve.HasExtrapolatingLoops():
                # Where two repetitions meet, rounding decides in which one a time is.
                asked = [time + 0.0007 for time in asked]
            for time in asked:
                try:
                    values = [curve.Eval(time), curve.EvalPreValue(time)]
                except Tf.ErrorException:
                    # usd-core reports an error of its own for some inner loops in looping extrapolation.
                    continue
                print("at", repr(time), *[text(value) for value in values])
            if source.random() < 0.4:
                scale = source.choice([2.0, 0.3, 1.0, -1.0, -0.5])
                offset = number(source)
                scaled = curve.GetTimeScaled(scale, offset)
                print("scaled", repr(offset), repr(scale), crate_bytes(scaled, kind, file))


main()
