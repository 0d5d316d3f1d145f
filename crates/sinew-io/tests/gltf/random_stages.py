"""Writes stages from seeds: what glTF holds, and what it cannot hold.

python random_stages.py FIRST END FOLDER    writes FOLDER/seedN.usda for each N from FIRST to before END, and

    FOLDER/seedN.CLIP.usda    the stage as a clip shows it: with that clip bound, and still where no clip moves it
    FOLDER/seedN.json         {"clips": {NAME: FILE}, "times": [TIME CODE]} with all times at which something has a sample
"""

import json
import math
import random
import sys
from pathlib import Path

RATES = (24, 30, 100)
SHAPES = ["smile", "blink"]


def text(value):
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(text, value))
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return repr(value) if isinstance(value, (int, float)) else f'"{value}"'


def product(a, b):
    return tuple(tuple(sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)) for i in range(4))


def transform(translation, quaternion, scale, shear=0.0):
    """A matrix for row vectors."""
    w, x, y, z = quaternion
    turned = (
        (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
        (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
        (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
    )
    rows = [tuple(s * v for v in row) + (0.0,) for s, row in zip(scale, turned)]
    out = (*rows, (*translation, 1.0))
    return product(((1, 0, 0, 0), (shear, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)), out) if shear else out


class Stage:
    """What a seed draws. Everything that moves is asked for by `moving`, so that a stage can be written still."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        draw = self.draw
        self.seed, self.rate = seed, draw.choice(RATES)
        self.start = draw.choice((0, 1, 10))
        self.end = self.start + draw.choice((4, 8, 20))
        self.up, self.unit = draw.choice("YZ"), draw.choice((1, 0.01, 0.3048))
        self.times = set()
        self.clips = ["Walk", "Run", "Jump"][: draw.choice((1, 1, 2, 3))]
        # Whether the Skeletons have the first clip, or none.
        self.bound = self.chance(0.85)
        self.mirrors = self.chance(0.4)
        # Attributes of value clips by the path of their prim.
        self.in_clips = {} if self.bound and self.chance(0.15) else None

    def chance(self, part):
        return self.draw.random() < part

    def vector(self, size=1.0):
        return tuple(round(self.draw.uniform(-size, size), 3) for _ in range(3))

    def quaternion(self, most=math.pi, length=1.0):
        axis = self.vector()
        size = math.sqrt(sum(v * v for v in axis)) or 1.0
        half = 0.5 * self.draw.uniform(-most, most)
        return (length * math.cos(half), *(length * math.sin(half) * v / size for v in axis))

    def scale(self, mirrored=0.0):
        by = self.draw.choice(((1, 1, 1), (1, 1, 1), (2, 2, 2), (0.5, 1, 1.5), (1.25, 0.75, 1)))
        return (-by[0], *by[1:]) if self.chance(mirrored) else by

    def matrix(self, mirrored=0.0, sheared=0.0, size=1.0):
        shear = 0.5 if self.chance(sheared) else 0.0
        return transform(self.vector(size), self.quaternion(), self.scale(mirrored), shear)

    def keys(self, cuts=0.25):
        """Times of samples, the first at the start. One may stand right before another: a cut."""
        count = self.draw.choice((2, 3, 4))
        times = sorted({round(self.draw.uniform(self.start, self.end), 2) for _ in range(count)} | {float(self.start)})
        if len(times) > 1 and self.chance(cuts):
            cut = self.draw.choice(times[1:])
            times = sorted({*times, round(cut - self.draw.choice((1e-8, 1e-5, 1e-3)), 9)})
        self.times.update(times)
        return times

    def samples(self, make, **how):
        return {time: make() for time in self.keys(**how)}


def attribute(kind, name, value, still=False, suffix=""):
    """An attribute with a value, or with samples by time, of which a still stage has the first."""
    if not isinstance(value, dict):
        return [f"{kind} {name} = {text(value)}{suffix}"]
    if still:
        return [f"{kind} {name} = {text(value[min(value)])}{suffix}"]
    lines = [f"{kind} {name}.timeSamples = {{"]
    lines += [f"    {time!r}: {text(each)}," for time, each in sorted(value.items())]
    tail = [f"{kind} {name}{suffix}"] if suffix else []
    return tail + [*lines, "}"]


def prim(kind, name, lines, children=(), api=False):
    head = f'def {kind} "{name}"' + (' (prepend apiSchemas = ["SkelBindingAPI"])' if api else "")
    inside = [line for line in lines] + [line for child in children for line in child]
    return [head, "{", *("    " + line for line in inside), "}"]


def placed(stage, moves=0.2, mirrored=0.0, sheared=0.0):
    """What gives the lines of a transform: none for many."""
    if stage.chance(0.4) and not mirrored:
        return lambda still: []
    make = lambda: stage.matrix(mirrored, sheared)
    kind = stage.draw.choice(("matrix", "ops"))
    if kind == "matrix":
        value = stage.samples(make) if stage.chance(moves) else make()
        return lambda still: [
            *attribute("matrix4d", "xformOp:transform", value, still),
            'uniform token[] xformOpOrder = ["xformOp:transform"]',
        ]
    move = stage.samples(stage.vector) if stage.chance(moves) else stage.vector()
    turn = stage.samples(lambda: stage.vector(170)) if stage.chance(moves) else stage.vector(90)
    size = stage.scale(mirrored)
    return lambda still: [
        *attribute("double3", "xformOp:translate", move, still),
        *attribute("float3", "xformOp:rotateXYZ", turn, still),
        *attribute("double3", "xformOp:scale", size, still),
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"]',
    ]


def joint_tree(stage):
    joints = ["a"]
    for name in "bcdef"[: stage.draw.choice((0, 1, 2, 3, 5))]:
        joints.append(f"{stage.draw.choice(joints[-2:])}/{name}")
    return joints


def skeleton(stage, path):
    draw, joints = stage.draw, joint_tree(stage)
    bent = 0.25 if stage.chance(0.3) else 0.0
    local = {joint: stage.matrix(0.1 if stage.mirrors else 0, bent) for joint in joints}
    bind = {}
    for joint in joints:
        above = joint.rpartition("/")[0]
        bind[joint] = product(local[joint], bind[above]) if above else local[joint]
    rest = [local[joint] if stage.chance(0.6) else stage.matrix(0, bent) for joint in joints]
    place = placed(stage, 0.2, 0.3 if stage.mirrors else 0)

    def lines(still, clip):
        source = clip if still else (stage.clips[0] if stage.bound else None)
        return prim(
            "Skeleton",
            "Skel",
            [
                *attribute("uniform token[]", "joints", joints),
                *attribute("uniform matrix4d[]", "bindTransforms", list(bind.values())),
                *attribute("uniform matrix4d[]", "restTransforms", rest),
                *([f"rel skel:animationSource = <{path}/{source}>"] if source else []),
                *place(still),
            ],
            api=True,
        )

    return joints, lines


def animation(stage, path, name, joints, in_clips):
    draw = stage.draw
    moved = draw.sample(joints, draw.randint(1, len(joints)))
    loose = 0.8 if stage.chance(0.06) else 1.0
    cut = 0.6 if stage.chance(0.4) else 0.0
    each = lambda make: lambda: [make() for _ in moved]

    def component(make, moves):
        return stage.samples(each(make), cuts=cut) if stage.chance(moves) else each(make)()

    values = {
        "float3[] translations": component(stage.vector, 0.7),
        "quatf[] rotations": component(lambda: stage.quaternion(2.5, loose), 0.9),
        "half3[] scales": component(stage.scale, 0.3),
    }
    weights = lambda: [round(draw.uniform(-0.3, 1.2), 3) for _ in SHAPES]
    values["float[] blendShapeWeights"] = stage.samples(weights, cuts=cut)
    own = {}
    if in_clips is not None:
        own = {key: value for key, value in values.items() if isinstance(value, dict)}
        in_clips[path] = own
    lines = []
    for key, value in values.items():
        kind, attribute_name = key.split(" ")
        lines += [key] if key in own else attribute(kind, attribute_name, value)
    return prim(
        "SkelAnimation",
        name,
        [
            *attribute("uniform token[]", "joints", moved),
            *attribute("uniform token[]", "blendShapes", SHAPES),
            *lines,
        ],
    )


def influences(stage, kind, count, joints):
    """Lines of jointIndices and jointWeights."""
    draw = stage.draw
    each = {"rigid": 1, "pair": 2}.get(kind) or draw.choice((1, 2, 3, 4, 6))
    rows = 1 if kind in ("rigid", "pair") else count
    odd = draw.choice(("zero", "loose", "negative")) if stage.chance(0.2) else None

    def row():
        w = [draw.uniform(0.05, 1) for _ in range(each)]
        if odd == "negative" and each > 1:
            w[-1] *= -0.3
        total = sum(w) * (1.2 if odd == "loose" else 1.0)
        return [0.0 if odd == "zero" and stage.chance(0.3) and rows > 1 else x / total for x in w]

    make = lambda: [x for _ in range(rows) for x in row()]
    weights = stage.samples(make) if stage.chance(0.05) else make()
    if kind == "rigid":
        weights = [1.0]
    indices = [draw.randrange(len(joints)) for _ in range(rows * each)]
    how = "vertex" if rows > 1 else "constant"
    tail = f" (\n    elementSize = {each}\n    interpolation = \"{how}\"\n)"
    return lambda still: [
        *attribute("int[]", "primvars:skel:jointIndices", indices, suffix=tail),
        *attribute("float[]", "primvars:skel:jointWeights", weights, still, tail),
    ]


def shapes(stage, count):
    """Blend shapes, and the lines that bind them to a prim."""
    draw = stage.draw
    offsets = lambda n: [stage.vector(0.5) for _ in range(n)]
    made = []
    for name in SHAPES[: draw.choice((1, 2))]:
        some = sorted(draw.sample(range(count), draw.randint(1, count)))
        lines = [
            *attribute("uniform vector3f[]", "offsets", offsets(len(some))),
            *attribute("uniform vector3f[]", "normalOffsets", offsets(len(some))),
            *attribute("uniform int[]", "pointIndices", some),
        ]
        for i, weight in enumerate(draw.sample((0.25, 0.5, 0.75), draw.choice((0, 0, 1, 2)))):
            tail = f" (\n    weight = {weight}\n)"
            lines += attribute("uniform vector3f[]", f"inbetweens:at{i}", offsets(len(some)), suffix=tail)
        made.append(prim("BlendShape", name, lines))
    return made


def mesh(stage, path, name, joints, kind):
    """A mesh of triangles of a kind: skinned, rigid, pair (of two joints, as a whole), or plain."""
    draw = stage.draw
    count = draw.randint(4, 12)
    corners = [draw.sample(range(count), 3) for _ in range(draw.randint(2, 8))]
    make = lambda: [stage.vector() for _ in range(count)]
    points = stage.samples(make) if stage.chance(0.04) else make()
    normals = [tuple(v / math.sqrt(sum(x * x for x in n)) for v in n) for n in ((*stage.vector()[:2], 1.0) for _ in range(count))]
    place = placed(stage, 0.15, 0.3 if stage.mirrors else 0, 0.1)
    lines = [
        *attribute("int[]", "faceVertexCounts", [3] * len(corners)),
        *attribute("int[]", "faceVertexIndices", [c for face in corners for c in face]),
        *attribute("normal3f[]", "normals", normals, suffix=' (\n    interpolation = "vertex"\n)'),
        'uniform token subdivisionScheme = "none"',
        *(['uniform token orientation = "leftHanded"'] if stage.chance(0.2) else []),
    ]
    parts = [lambda still: attribute("point3f[]", "points", points, still), place]
    children = []
    if kind != "plain":
        lines.append(f"rel skel:skeleton = <{path}/Skel>")
        if stage.chance(0.12):
            lines.append('uniform token primvars:skel:skinningMethod = "dualQuaternion"')
        parts.append(influences(stage, kind, count, joints))
        if stage.chance(0.5):
            make = lambda: stage.matrix(0.2 if stage.mirrors else 0, 0.2)
            bind = stage.samples(make) if stage.chance(0.1) else make()
            parts.append(lambda still: attribute("matrix4d", "primvars:skel:geomBindTransform", bind, still))
        if stage.chance(0.35):
            children = shapes(stage, count)
    carries = kind in ("rigid", "pair") and stage.chance(0.7)
    below = mesh(stage, path, f"{name}_held", joints, "plain") if carries else None

    def written(still, at):
        here = f"{at}/{name}"
        bound = []
        if children:
            names = [child[0].split('"')[1] for child in children]
            targets = ", ".join(f"<{here}/{n}>" for n in names)
            bound = [*attribute("uniform token[]", "skel:blendShapes", names), f"rel skel:blendShapeTargets = [{targets}]"]
        more = [below(still, here)] if below else []
        return prim("Mesh", name, lines + bound + [line for part in parts for line in part(still)], [*children, *more], api=True)

    return written


def character(stage, name):
    draw, path = stage.draw, f"/World/{name}"
    place = placed(stage, 0.2, 0.3 if stage.mirrors else 0)
    joints, skel = skeleton(stage, path)
    shown = {stage.clips[0]: stage.in_clips}
    clips = [animation(stage, f"{path}/{clip}", clip, joints, shown.get(clip)) for clip in stage.clips]
    kinds = ["skinned"] + draw.choices(("skinned", "rigid", "pair", "plain"), (3, 2, 1, 1), k=draw.randint(0, 3))
    meshes = [mesh(stage, path, f"{name}_{i}", joints, kind) for i, kind in enumerate(kinds)]
    return lambda still, clip: prim(
        "SkelRoot", name, place(still), [skel(still, clip), *clips, *(m(still, path) for m in meshes)], api=True
    )


def write_value_clips(stage, folder):
    """The files of value clips: two, of which each shows a part of the time; gives the metadata of the prim that has them."""
    middle = (stage.start + stage.end) // 2
    names = [f"seed{stage.seed}.part{i}.usda" for i in range(2)]
    stage.times.add(float(middle))
    for name in [*names, f"seed{stage.seed}.manifest.usda"]:
        lines = []
        for path, values in stage.in_clips.items():
            inside = []
            for key, value in values.items():
                kind, attribute_name = key.split(" ")
                if name == names[1]:
                    value = dict(zip(value, reversed(value.values())))
                inside += [key] if "manifest" in name else attribute(kind, attribute_name, value)
            lines += [f'over "{path.split("/")[2]}"', "{", f'    over "{path.split("/")[3]}"', "    {", *inside, "    }", "}"]
        (folder / name).write_text("\n".join(["#usda 1.0", 'over "World"', "{", *lines, "}", ""]))
    spans = [(float(stage.start), 0.0), (float(middle), 1.0)]
    ends = [(float(t), float(t)) for t in (stage.start, stage.end)]
    return [
        "clips = {",
        "    dictionary default = {",
        f"        asset[] assetPaths = [{', '.join(f'@./{n}@' for n in names)}]",
        f"        asset manifestAssetPath = @./seed{stage.seed}.manifest.usda@",
        '        string primPath = "/World"',
        f"        double2[] active = {text(spans)}",
        f"        double2[] times = {text(ends)}",
        "    }",
        "}",
    ]


def write(seed, folder):
    stage = Stage(seed)
    place = placed(stage, 0.15, 0.2 if stage.mirrors else 0)
    characters = [character(stage, name) for name in ("Ada", "Bob")[: stage.draw.choice((1, 1, 2))]]
    metadata = write_value_clips(stage, folder) if stage.in_clips else []
    head = [
        "#usda 1.0",
        "(",
        '    defaultPrim = "World"',
        f"    startTimeCode = {stage.start}",
        f"    endTimeCode = {stage.end}",
        f"    timeCodesPerSecond = {stage.rate}",
        f"    metersPerUnit = {stage.unit}",
        f'    upAxis = "{stage.up}"',
        ")",
    ]

    def file(name, still, clip):
        world = prim("Xform", "World", place(still), [lines(still, clip) for lines in characters])
        world[0] += " (\n    " + "\n    ".join(metadata) + "\n)" if metadata and not still else ""
        (folder / name).write_text("\n".join([*head, *world, ""]))
        return name

    shown = file(f"seed{seed}.usda", False, None)
    clips = {clip: file(f"seed{seed}.{clip}.usda", True, clip) for clip in stage.clips}
    # What is bound moves with all that the stage moves.
    clips[stage.clips[0] if stage.bound else "Animation"] = shown
    times = sorted(stage.times | {float(stage.start), float(stage.end)})
    (folder / f"seed{seed}.json").write_text(json.dumps({"clips": clips, "times": times}))


if __name__ == "__main__":
    first, end, folder = sys.argv[1:]
    for seed in range(int(first), int(end)):
        write(seed, Path(folder))
