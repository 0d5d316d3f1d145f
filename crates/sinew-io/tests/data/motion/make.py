"""Makes the clips of this folder: a puppet that walks, dances, lies down and sits, written as other tools write motion.

    python3 make.py

Every file holds the same poses of the same body. What differs is what differs between tools: names, helpers between the
joints, the axes of the joints (and so the zero pose), where the root is at rest, the up axis, the unit. `own_*.gltf` are the
poses on the puppet's own joints: the truth that `landing.txt` compares with. Plain Python, no packages."""

import base64
import json
import math
import struct
from pathlib import Path

HERE = Path(__file__).parent
STEP = 0.125  # seconds between keys

# The puppet of examples/assets in its T-pose: bone, bone above, position in metres, Y up, facing +Z.
BODY = [
    ("hips", None, (0, 0.95, 0)),
    ("spine", "hips", (0, 1.06, 0)),
    ("chest", "spine", (0, 1.2, 0)),
    ("neck", "chest", (0, 1.45, 0)),
    ("head", "neck", (0, 1.55, 0)),
]
for side, x in (("left", 1), ("right", -1)):
    BODY += [
        (side + "Shoulder", "chest", (0.03 * x, 1.42, 0)),
        (side + "UpperArm", side + "Shoulder", (0.17 * x, 1.42, 0)),
        (side + "LowerArm", side + "UpperArm", (0.44 * x, 1.42, 0)),
        (side + "Hand", side + "LowerArm", (0.7 * x, 1.42, 0)),
    ]
for side, x in (("left", 1), ("right", -1)):
    BODY += [
        (side + "UpperLeg", "hips", (0.1 * x, 0.93, 0)),
        (side + "LowerLeg", side + "UpperLeg", (0.1 * x, 0.51, 0)),
        (side + "Foot", side + "LowerLeg", (0.1 * x, 0.09, 0)),
        (side + "Toes", side + "Foot", (0.1 * x, 0.04, 0.14)),
    ]
ABOVE = {bone: above for bone, above, _ in BODY}
AT = {bone: at for bone, _, at in BODY}
BONES = list(AT)

# ---- vectors and matrices


def sub(a, b):
    return tuple(x - y for x, y in zip(a, b))


def add(a, b):
    return tuple(x + y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a):
    size = math.sqrt(sum(x * x for x in a))
    return tuple(x / size for x in a)


def apply(m, v):
    return tuple(sum(m[i][k] * v[k] for k in range(3)) for i in range(3))


def times(*all):
    out = all[0]
    for b in all[1:]:
        out = [[sum(out[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    return out


def inverse(m):
    return [list(row) for row in zip(*m)]


def columns(*all):
    return inverse([list(c) for c in all])


ONE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def turn(axis, degrees):
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return {
        "X": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "Y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "Z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }[axis]


def turns(text):
    """`X-30 Y10`: rotations, the first outermost."""
    return times(ONE, *(turn(word[0], float(word[1:])) for word in text.split()))


def angles(m, order):
    """Degrees about the axes of `order`, such as ZYX, whose product is m."""
    i, j, k = ("XYZ".index(axis) for axis in order)
    sign = 1 if (j - i) % 3 == 1 else -1
    middle = math.asin(max(-1, min(1, sign * m[i][k])))
    if abs(math.cos(middle)) > 1e-6:
        first, last = math.atan2(-sign * m[j][k], m[k][k]), math.atan2(-sign * m[i][j], m[i][i])
    else:
        first, last = math.atan2(sign * m[k][j], m[j][j]), 0
    return [math.degrees(a) for a in (first, middle, last)]


def quaternion(m):
    """x, y, z, w"""
    # The largest part is found without a difference of near values.
    sizes = [1 + m[0][0] - m[1][1] - m[2][2], 1 - m[0][0] + m[1][1] - m[2][2], 1 - m[0][0] - m[1][1] + m[2][2], 1 + m[0][0] + m[1][1] + m[2][2]]
    largest = max(range(4), key=sizes.__getitem__)
    rows = [
        [sizes[0], m[1][0] + m[0][1], m[0][2] + m[2][0], m[2][1] - m[1][2]],
        [m[1][0] + m[0][1], sizes[1], m[2][1] + m[1][2], m[0][2] - m[2][0]],
        [m[0][2] + m[2][0], m[2][1] + m[1][2], sizes[2], m[1][0] - m[0][1]],
        [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1], sizes[3]],
    ]
    return [x / (2 * math.sqrt(sizes[largest])) for x in rows[largest]]


def continuous(all):
    """Quaternions, each of the sign that is nearer to the one before."""
    out = all[:1]
    for q in all[1:]:
        near = sum(a * b for a, b in zip(q, out[-1])) >= 0
        out.append(q if near else [-x for x in q])
    return out


# ---- the motion: for each key the place of the hips and the turns of bones, from the T-pose, in the frame of the bone above


def walk(t):
    """The feet are level and point ahead, and the one that goes back stays in place."""
    swing = math.sin(2 * math.pi * t)
    lift = math.cos(2 * math.pi * t)
    return None, {
        "hips": f"Y{8 * swing}",
        "chest": f"Y{-14 * swing} X4",
        "head": f"Y{6 * swing} X-4",
        "leftUpperLeg": f"Y{-8 * swing} X{-28 * swing - 6}",
        "rightUpperLeg": f"Y{-8 * swing} X{28 * swing - 6}",
        "leftLowerLeg": f"X{12 + 45 * max(0, lift)}",
        "rightLowerLeg": f"X{12 + 45 * max(0, -lift)}",
        "leftFoot": f"X{28 * swing - 6 - 45 * max(0, lift)}",
        "rightFoot": f"X{-28 * swing - 6 - 45 * max(0, -lift)}",
        "leftUpperArm": f"X{26 * swing} Z-74",
        "rightUpperArm": f"X{-26 * swing} Z74",
        "leftLowerArm": f"Y{-25 + 10 * swing}",
        "rightLowerArm": f"Y{25 + 10 * swing}",
    }


def dance(t):
    wave = math.sin(2 * math.pi * t)
    return (0.3 * wave, None, 0.1 * t), {
        "hips": f"Y{150 * t} Z{8 * wave}",
        "spine": f"Z{-10 * wave}",
        "chest": f"Y{20 * wave} Z{-8 * wave}",
        "head": f"Y{-30 * wave}",
        "leftUpperLeg": f"X{-70 * max(0, wave) - 8} Z8",
        "leftLowerLeg": f"X{80 * max(0, wave) + 15}",
        "leftFoot": "X-8",
        "rightUpperLeg": f"X{-50 * max(0, -wave) - 8} Z-8",
        "rightLowerLeg": f"X{70 * max(0, -wave) + 15}",
        "rightFoot": "X-8",
        "leftUpperArm": f"Z{60 * wave} Y{-20 * t}",
        "rightUpperArm": f"Z{50 * wave + 20} Y{30 * t}",
        "leftLowerArm": f"Y{-50 - 35 * wave}",
        "rightLowerArm": f"Y{60 - 25 * wave}",
        "leftHand": f"Z{20 * wave}",
    }


def lie(t):
    """Stands, and is on its back from the middle on."""
    down = min(1, 2.2 * t)
    return (0, None, -0.5 * down), {
        "hips": f"X{-84 * down}",
        "spine": f"X{20 * math.sin(math.pi * down)}",
        "head": f"Y{25 * t} X{8 * down}",
        "leftUpperLeg": f"X{-70 * math.sin(math.pi * down) - 4} Z5",
        "rightUpperLeg": f"X{-60 * math.sin(math.pi * down) - 20 * t} Z-5",
        "leftLowerLeg": f"X{90 * math.sin(math.pi * down) + 6}",
        "rightLowerLeg": f"X{80 * math.sin(math.pi * down) + 30 * t}",
        "leftUpperArm": f"Z{-60 + 20 * t} X{30 * t}",
        "rightUpperArm": f"Z{60 - 30 * t}",
        "leftLowerArm": f"Y{-20 - 40 * t}",
        "rightLowerArm": f"Y{30 + 30 * t}",
    }


def sit(t):
    wave = math.sin(2 * math.pi * t)
    return (0, None, 0), {
        "hips": "X-5",
        "chest": f"X10 Y{12 * wave}",
        "head": f"Y{-25 * wave} X-6",
        "leftUpperLeg": "X-82 Z6",
        "rightUpperLeg": "X-80 Z-6",
        "leftLowerLeg": "X86",
        "rightLowerLeg": "X84",
        "leftUpperArm": f"X-20 Z{-68 + 30 * max(0, wave)}",
        "rightUpperArm": f"X-15 Z{66 - 30 * max(0, -wave)}",
        "leftLowerArm": f"Y{-60 - 25 * wave}",
        "rightLowerArm": f"Y{55 - 25 * wave}",
    }


CLIPS = {"walk": walk, "dance": dance, "lie": lie, "sit": sit}


def body(told):
    """{bone: (turn in the world, position)} with the hips at the origin."""
    out = {}
    for bone in BONES:
        above = ABOVE[bone]
        own = turns(told.get(bone, ""))
        if above is None:
            out[bone] = (own, (0, 0, 0))
            continue
        outer, at = out[above]
        out[bone] = (times(outer, own), add(at, apply(outer, sub(AT[bone], AT[above]))))
    return out


def over_a_foot(clip, t):
    """Where the hips are at a time if the foot that goes back under them stays in place."""
    poses = [body(clip(k / 64)[1]) for k in range(round(64 * t) + 1)]
    hips = (0, 0, 0)
    for old, new in zip(poses, poses[1:]):
        foot = max(("leftToes", "rightToes"), key=lambda toes: old[toes][1][2] - new[toes][1][2])
        hips = add(hips, sub(old[foot][1], new[foot][1]))
    return hips


def pose(clip, t):
    """The same at a time from 0 to 1, in place. The lowest joint is on the ground: where the toes are at rest."""
    hips, told = clip(t)
    x, _, z = hips or over_a_foot(clip, t)
    out = body(told)
    lowest = min(at[1] for _, at in out.values())
    return {bone: (turn, add(at, (x, 0.04 - lowest, z))) for bone, (turn, at) in out.items()}


# ---- conventions: how a tool's rig differs from the puppet


def along(axis, bone):
    """The frame of a joint whose `axis` points along its bone, from the joint to the next one."""
    below = [b for b in BONES if ABOVE[b] == bone]
    straight = [b for b in below if b in ("spine", "neck")] or below
    if bone == "hips":
        way = (0, 1, 0)
    elif straight:
        way = unit(sub(AT[straight[0]], AT[bone]))
    else:
        way = unit(sub(AT[bone], AT[ABOVE[bone]]))
    side = unit(cross(way, (0, 0, 1) if abs(way[2]) < 0.8 else (0, 1, 0)))
    frame = {"X": (way, side, cross(way, side)), "Y": (side, way, cross(side, way))}[axis[-1]]
    if axis.startswith("-"):
        frame = tuple(tuple(-x for x in v) for v in frame[:2]) + (frame[2],)
    return columns(*frame)


def named(words, sides, form):
    """Names of the bones: `form` joins a side of `sides` and a word."""
    out = {}
    for bone in BONES:
        side = next((s for s in ("left", "right") if bone.startswith(s)), None)
        key = bone[len(side):] if side else bone
        out[bone] = form(sides[side] if side else "", words[key]) if key in words else None
    return out


TRUNK = {"hips": "Hips", "spine": "Spine", "chest": "Spine1", "neck": "Neck", "head": "Head"}
MAYA = {**TRUNK, "Shoulder": "Shoulder", "UpperArm": "Arm", "LowerArm": "ForeArm", "Hand": "Hand", "UpperLeg": "UpLeg", "LowerLeg": "Leg", "Foot": "Foot", "Toes": "ToeBase"}
BANDAI = {**TRUNK, "chest": "Chest", "Shoulder": "Shoulder", "UpperArm": "UpperArm", "LowerArm": "LowerArm", "Hand": "Hand", "UpperLeg": "UpperLeg", "LowerLeg": "LowerLeg", "Foot": "Foot", "Toes": "Toes"}
MAKEHUMAN = {"hips": "Root", "spine": "Spine1", "chest": "Spine2", "neck": "Neck", "head": "Head", "Shoulder": "Clavicle", "UpperArm": "UpArm", "LowerArm": "LoArm", "Hand": "Hand", "UpperLeg": "UpLeg", "LowerLeg": "LoLeg", "Foot": "Foot", "Toes": "Toe"}
ROKOKO = {**MAYA, "UpperLeg": "Thigh", "LowerLeg": "Shin", "Toes": "Toe"}
XSENS = {**TRUNK, "spine": "Chest", "chest": "Chest4", "Shoulder": "Collar", "UpperArm": "Shoulder", "LowerArm": "Elbow", "Hand": "Wrist", "UpperLeg": "Hip", "LowerLeg": "Knee", "Foot": "Ankle", "Toes": "Toe"}
ENGLISH = {"left": "Left", "right": "Right"}
LETTERS = {"left": "L", "right": "R"}


def splayed(bone):
    """CMU's zero pose: legs 20 degrees apart, feet in line with the ground."""
    away = {"left": -20, "right": 20}.get(next((s for s in ("left", "right") if bone.startswith(s)), ""), 0)
    return turn("Z", away) if "Leg" in bone or "Foot" in bone or "Toes" in bone else ONE


def mirrored(bone):
    """Bandai-Namco's axes: +X along the bones of the left, -X along those of the right."""
    return along("-X" if bone.startswith("right") else "X", bone)


def humanik(bone):
    """The hips have the world's axes, all others X along the bone."""
    return ONE if bone == "hips" else along("X", bone)


# names, axes of the joints at the T-pose, position channels' unit in metres, up axis, the root's OFFSET in metres (None: as it
# stands), order of the channels, helpers: name, the bone whose axes it has (None: the file's), the bones that hang from it, its place.
CONVENTIONS = {
    "cmu": dict(names=named(MAYA, ENGLISH, str.__add__), axes=splayed, unit=0.0564, offset=(0, 0, 0), order="ZYX",
        helpers=[("LHipJoint", "hips", ["leftUpperLeg"], (0, 0.95, 0)), ("RHipJoint", "hips", ["rightUpperLeg"], (0, 0.95, 0)), ("LowerBack", "hips", ["spine"], (0, 0.95, 0))]),
    "lafan1": dict(names=named({**MAYA, "Toes": "Toe"}, ENGLISH, str.__add__), axes=lambda b: along("X", b), unit=0.01, offset=(0, 0, 0), order="ZYX",
        helpers=[("SimulationBone", None, ["hips"], (0, 0, 0))]),
    "bandai": dict(names=named(BANDAI, LETTERS, lambda s, w: w + ("_" + s if s else "")), axes=mirrored, unit=0.01, offset=None, order="ZYX",
        helpers=[("joint_Root", None, ["hips"], (0, 0, 0))]),
    "makehuman": dict(names=named(MAKEHUMAN, LETTERS, lambda s, w: w + ("_" + s if s else "")), axes=lambda b: ONE, unit=0.1, up="Z", offset=None, still=True, order="ZXY",
        helpers=[("__UpLeg_L", "hips", ["leftUpperLeg"], (0, 0.9, 0)), ("__UpLeg_R", "hips", ["rightUpperLeg"], (0, 0.9, 0)), ("__Clavicle_L", "chest", ["leftShoulder"], (0, 1.4, 0)), ("__Clavicle_R", "chest", ["rightShoulder"], (0, 1.4, 0))]),
    "rokoko": dict(names=named(ROKOKO, ENGLISH, str.__add__), axes=humanik, unit=0.01, offset=None, order="YXZ", helpers=[]),
    "humanik": dict(names=named(MAYA, ENGLISH, lambda s, w: "Character1_" + s + w), axes=lambda b: along("Y", b), unit=0.0254, offset=(0, 0, 0), order="XYZ",
        helpers=[("Character1_Reference", None, ["hips"], (0, 0, 0)), ("Character1_LeftUpLegRoll", "leftUpperLeg", ["leftLowerLeg"], (0.1, 0.72, 0)), ("Character1_RightUpLegRoll", "rightUpperLeg", ["rightLowerLeg"], (-0.1, 0.72, 0))]),
    "mixamo": dict(names=named(MAYA, ENGLISH, lambda s, w: "mixamorig:" + s + w), axes=lambda b: ONE, unit=0.01, offset=(0, 0.21, 0), order="ZXY", helpers=[]),
    "xsens": dict(names=named(XSENS, ENGLISH, str.__add__), axes=lambda b: ONE, unit=0.01, up="Z", offset=(0, 0, 0), order="YXZ", helpers=[]),
    # A solver turned the hips, and the joints below them back, in all of the clip: the zero pose stands, on other hips.
    "solver": dict(names=named(MAYA, ENGLISH, str.__add__), axes=lambda b: turns("Z90 Y-20 X-35") if b == "hips" else ONE, unit=0.0564, offset=(0, 0, 0), order="ZYX",
        helpers=[("LHipJoint", None, ["leftUpperLeg"], (0, 0.95, 0)), ("RHipJoint", None, ["rightUpperLeg"], (0, 0.95, 0)), ("LowerBack", None, ["spine"], (0, 0.95, 0))]),
    "own": dict(names={b: b for b in BONES}, axes=lambda b: ONE, unit=1, offset=None, order="XYZ", helpers=[]),
}


class Rig:
    """Joints, parents first: name, index of the parent, bone or None, axes, place at the T-pose."""

    def __init__(self, name, body=AT):
        self.convention = how = CONVENTIONS[name]
        self.up = turn("X", 90) if how.get("up") == "Z" else ONE
        holder, self.joints = {}, []
        for bone in BONES:
            above = holder.get(ABOVE[bone])
            for helper, on, below, at in how["helpers"]:
                if bone in below:
                    above = self.add(helper, above, None, ONE if on is None else how["axes"](on), at)
            holder[bone] = self.add(how["names"][bone], above, bone, how["axes"](bone), body[bone])

    def add(self, *joint):
        self.joints.append(joint)
        return len(self.joints) - 1

    def rest(self, joint):
        """The turn and the place of a joint against its parent at the T-pose, in metres."""
        name, above, bone, axes, at = self.joints[joint]
        if above is None:
            return times(self.up, axes), apply(self.up, at)
        _, _, _, outer, start = self.joints[above]
        return times(inverse(outer), axes), apply(inverse(outer), sub(at, start))

    def locals(self, posed):
        """The turn of each joint against its parent, and where the hips are."""
        world, out = [], []
        for name, above, bone, axes, _ in self.joints:
            if bone is not None:
                turned = times(self.up, posed[bone][0], axes)
            else:
                # A helper turns with what it hangs from; one above the hips stands still.
                turned = times(self.up, axes) if above is None else times(world[above], inverse(self.joints[above][3]), axes)
            out.append(turned if above is None else times(inverse(world[above]), turned))
            world.append(turned)
        return out, apply(self.up, posed["hips"][1])

    def below(self, joint):
        return [i for i, j in enumerate(self.joints) if j[1] == joint]


def number(x, digits=2):
    text = f"{x:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def keys():
    return [k * STEP for k in range(9)]


# ---- BVH: the zero pose has all joints along the file's axes


def bvh(convention, clip):
    rig = Rig(convention)
    how = rig.convention
    out = ["HIERARCHY"]

    def write(joint, depth):
        name, above, bone, _, at = rig.joints[joint]
        # Zero turns: the offset stands in the axes of the joint above.
        offset = apply(rig.up, at) if above is None else rig.rest(joint)[1]
        if bone == "hips" and how["offset"] is not None:
            offset = apply(rig.up, how["offset"])
        places = "Xposition Yposition Zposition " if bone == "hips" or above is None else ""
        out.append(f"{'ROOT' if above is None else 'JOINT'} {name}\n{{\nOFFSET " + " ".join(number(x / how["unit"], 3) for x in offset))
        out.append(f"CHANNELS {6 if places else 3} {places}" + " ".join(axis + "rotation" for axis in how["order"]))
        for below in rig.below(joint):
            write(below, depth + 1)
        if not rig.below(joint):
            out.append("End Site\n{\nOFFSET 0 0 0\n}")
        out.append("}")
        order.append(joint)

    order = []
    write(0, 0)
    written = []

    def visit(joint):
        written.append(joint)
        for below in rig.below(joint):
            visit(below)

    visit(0)
    out += ["MOTION", f"Frames: {len(keys())}", f"Frame Time: {STEP}"]
    for t in keys():
        turned, hips = rig.locals(pose(clip, t))
        row = []
        for joint in written:
            _, above, bone, _, _ = rig.joints[joint]
            if bone == "hips":
                # Poses of MakeHuman leave the place of the hips alone.
                row += [0, 0, 0] if how.get("still") else [x / how["unit"] for x in hips]
            elif above is None:
                row += [0, 0, 0]
            row += angles(turned[joint], how["order"])
        out.append(" ".join(number(x, 1 if abs(x) >= 10 else 2) for x in row))
    return "\n".join(out) + "\n"


# ---- glTF and VRM Animation: rests as at the T-pose


def gltf(convention, clip, vrma=False):
    rig = Rig(convention)
    how = rig.convention
    data, views, accessors = bytearray(), [], []

    def accessor(kind, values):
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[kind]
        flat = [x for v in values for x in (v if width > 1 else [v])]
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": 4 * len(flat)})
        data.extend(struct.pack(f"<{len(flat)}f", *flat))
        found = {"bufferView": len(views) - 1, "componentType": 5126, "count": len(values), "type": kind}
        if kind == "SCALAR":
            found.update(min=[min(values)], max=[max(values)])
        accessors.append(found)
        return len(accessors) - 1

    nodes = []
    for joint, (name, above, bone, _, _) in enumerate(rig.joints):
        turned, at = rig.rest(joint)
        if above is None and rig.up is not ONE:
            raise ValueError("glTF has Y up")
        node = {"name": name, "translation": [round(x, 4) for x in at]}
        q = [round(x, 5) for x in quaternion(turned)]
        if q != [0, 0, 0, 1]:
            node["rotation"] = q
        if rig.below(joint):
            node["children"] = rig.below(joint)
        nodes.append(node)
    poses = [rig.locals(pose(clip, t)) for t in keys()]
    time = accessor("SCALAR", keys())
    channels, samplers = [], []

    def channel(joint, path, kind, values):
        samplers.append({"input": time, "output": accessor(kind, values)})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": joint, "path": path}})

    for joint, (_, above, bone, _, _) in enumerate(rig.joints):
        rest = quaternion(rig.rest(joint)[0])
        values = continuous([rest] + [quaternion(turned[joint]) for turned, _ in poses])[1:]
        if any(abs(a - b) > 1e-6 for v in values for a, b in zip(v, rest)):
            channel(joint, "rotation", "VEC4", values)
        if bone == "hips":
            channel(joint, "translation", "VEC3", [hips for _, hips in poses])
    document = {
        "asset": {"version": "2.0", "generator": "make.py"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": nodes,
        "animations": [{"name": clip.__name__, "channels": channels, "samplers": samplers}],
        "accessors": accessors,
        "bufferViews": views,
    }
    if convention == "humanik":
        # A camera that moves beside the body is no second body.
        document["scenes"][0]["nodes"].append(len(nodes))
        nodes.append({"name": "Camera", "translation": [0, 1, 3]})
        channel(len(nodes) - 1, "translation", "VEC3", [(t, 1, 3) for t in keys()])
    if convention == "own" and clip is sit:
        # A clip that leaves the hips as they are at rest moves nothing: the next one is the first.
        still = {"input": time, "output": accessor("VEC4", [(0, 0, 0, 1)] * len(keys()))}
        target = {"node": 0, "path": "rotation"}
        document["animations"].insert(0, {"name": "Still", "channels": [{"sampler": 0, "target": target}], "samplers": [still]})
    if vrma:
        bones = {bone: {"node": joint} for joint, (_, _, bone, _, _) in enumerate(rig.joints) if bone}
        document["extensionsUsed"] = ["VRMC_vrm_animation"]
        document["extensions"] = {"VRMC_vrm_animation": {"specVersion": "1.0", "humanoid": {"humanBones": bones}}}
    uri = "data:application/octet-stream;base64," + base64.b64encode(bytes(data)).decode()
    document["buffers"] = [{"byteLength": len(data), "uri": uri}]
    return json.dumps(document, separators=(",", ":")) + "\n"


# ---- FBX: as Mixamo writes a clip without a skin, hips at 21 cm at rest


def fbx(convention, clip):
    rig = Rig(convention)
    how = rig.convention
    tick = 46186158000
    objects, links = [], []
    objects.append('AnimationStack: 1, "AnimStack::Still", "" {\n}\nAnimationLayer: 2, "AnimLayer::Still", "" {\n}')
    objects.append('AnimationStack: 3, "AnimStack::%s", "" {\n}\nAnimationLayer: 4, "AnimLayer::%s", "" {\n}' % (clip.__name__, clip.__name__))
    links += ["2,1", "4,3"]
    poses = [rig.locals(pose(clip, t)) for t in keys()]
    ticks = ",".join(str(round(t * tick)) for t in keys())
    count = len(keys())
    for joint, (name, above, bone, _, _) in enumerate(rig.joints):
        turned, at = rig.rest(joint)
        if bone == "hips" and how["offset"] is not None:
            at = how["offset"]
        own = 100 * (joint + 1)
        place = ",".join(number(x / how["unit"], 3) for x in at)
        still = ",".join(number(x, 3) for x in reversed(angles(turned, "ZYX")))
        objects.append(f'Model: {own}, "Model::{name}", "LimbNode" {{\nProperties70: {{\nP: "Lcl Translation", "Lcl Translation", "", "A",{place}\nP: "Lcl Rotation", "Lcl Rotation", "", "A",{still}\n}}\n}}')
        objects.append(f'NodeAttribute: {own + 1}, "NodeAttribute::", "LimbNode" {{\nTypeFlags: "Skeleton"\n}}')
        links += [f"{own},{0 if above is None else 100 * (above + 1)}", f"{own + 1},{own}"]
        moves = [("R", "Lcl Rotation", [list(reversed(angles(t[joint], "ZYX"))) for t, _ in poses])]
        if bone == "hips":
            moves.append(("T", "Lcl Translation", [[x / how["unit"] for x in hips] for _, hips in poses]))
        for place, (short, property, values) in enumerate(moves):
            node = own + 10 * (place + 1)
            rests = list(reversed(angles(turned, "ZYX"))) if short == "R" else at
            if all(abs(a - b) < 1e-3 for v in values for a, b in zip(v, rests)):
                continue
            objects.append(f'AnimationCurveNode: {node}, "AnimCurveNode::{short}", "" {{\n}}')
            links += [f"{node},4", f'{node},{own}, "{property}"']
            for axis in range(3):
                numbers = [v[axis] for v in values]
                # Angles run on where they would jump.
                for k in range(1, count) if short == "R" else ():
                    numbers[k] -= 360 * round((numbers[k] - numbers[k - 1]) / 360)
                objects.append(
                    f'AnimationCurve: {node + 1 + axis}, "AnimCurve::", "" {{\nKeyVer: 4008\nKeyTime: *{count} {{\na: {ticks}\n}}\n'
                    f"KeyValueFloat: *{count} {{\na: {','.join(number(x) for x in numbers)}\n}}\n"
                    f"KeyAttrFlags: *1 {{\na: 4\n}}\nKeyAttrDataFloat: *4 {{\na: 0,0,0,0\n}}\nKeyAttrRefCount: *1 {{\na: {count}\n}}\n}}"
                )
                links.append(f'{node + 1 + axis},{node}, "d|{"XYZ"[axis]}"')
    head = """; FBX 7.4.0 project file
FBXHeaderExtension: {
FBXHeaderVersion: 1003
FBXVersion: 7400
}
GlobalSettings: {
Version: 1000
Properties70: {
P: "UpAxis", "int", "Integer", "",1
P: "UpAxisSign", "int", "Integer", "",1
P: "FrontAxis", "int", "Integer", "",2
P: "FrontAxisSign", "int", "Integer", "",1
P: "CoordAxis", "int", "Integer", "",0
P: "CoordAxisSign", "int", "Integer", "",1
P: "UnitScaleFactor", "double", "", "A",%s
}
}
Objects: {
%s
}
Connections: {
%s
}
"""
    connections = "\n".join(f'C: "{"OP" if chr(34) in link else "OO"}",{link}' for link in links)
    return head % (number(how["unit"] * 100), "\n".join(objects), connections)


# ---- the figure that stands in an A-pose, with other proportions, and animals that are no figures


def a_pose():
    """The puppet's names on a body with longer legs, arms 50 degrees down: a glTF with a skin of one triangle, and a prop of one joint."""
    body, turned = {}, {}
    for bone in BONES:
        above = ABOVE[bone]
        if above is None:
            body[bone], turned[bone] = (0, 1.13, 0), ONE
            continue
        size = 1.2 if "Leg" in bone or "Foot" in bone else 0.9
        down = {"leftUpperArm": -50, "rightUpperArm": 50}.get(bone)
        turned[bone] = turn("Z", down) if down else turned[above]
        size = tuple(size * x for x in sub(AT[bone], AT[above]))
        body[bone] = add(body[above], apply(turned[above], size))
    nodes, binds = [], []
    for bone in BONES:
        above = ABOVE[bone]
        at = body[bone] if above is None else sub(body[bone], body[above])
        nodes.append({"name": bone, "translation": [round(x, 4) for x in at]})
        below = [BONES.index(b) for b in BONES if ABOVE[b] == bone]
        if below:
            nodes[-1]["children"] = below
        binds += [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, *(-x for x in body[bone]), 1]
    data = struct.pack("<9f", 0, 1, 0, 0.1, 1, 0, 0, 1.1, 0) + bytes(12) + struct.pack("<12f", *[1, 0, 0, 0] * 3) + struct.pack(f"<{len(binds)}f", *binds)
    count = len(nodes)
    view = lambda start, size: {"buffer": 0, "byteOffset": start, "byteLength": size}
    document = {
        "asset": {"version": "2.0", "generator": "make.py"},
        "scene": 0,
        "scenes": [{"nodes": [0, count, count + 1, count + 2]}],
        "nodes": nodes + [{"name": "body", "mesh": 0, "skin": 0}, {"name": "Prop"}, {"name": "prop", "mesh": 0, "skin": 1}],
        "skins": [{"joints": list(range(count)), "inverseBindMatrices": 3}, {"joints": [count + 1]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 1, 0], "max": [0.1, 1.1, 0]},
            {"bufferView": 1, "componentType": 5121, "count": 3, "type": "VEC4"},
            {"bufferView": 2, "componentType": 5126, "count": 3, "type": "VEC4"},
            {"bufferView": 3, "componentType": 5126, "count": len(nodes), "type": "MAT4"},
        ],
        "bufferViews": [view(0, 36), view(36, 12), view(48, 48), view(96, 64 * len(nodes))],
        "buffers": [{"byteLength": len(data), "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}],
    }
    return json.dumps(document, separators=(",", ":")) + "\n"


# name, joint above, place in centimetres
ANIMALS = {
    # Names of humans on four legs.
    "horse": [("hips", None, (0, 110, -60)), ("spine", "hips", (0, 112, -30)), ("chest", "spine", (0, 112, 20)), ("neck", "chest", (0, 130, 40)), ("head", "neck", (0, 160, 70)), ("tail", "hips", (0, 110, -80))]
    + [(f"{s}{w}", f"{s}{a}" if a in ("UpLeg", "Leg", "Arm", "ForeArm") else a, (x * 12, y, z)) for s, x in (("Left", 1), ("Right", -1))
       for w, a, y, z in (("UpLeg", "hips", 95, -60), ("Leg", "UpLeg", 50, -66), ("Foot", "Leg", 8, -62), ("Arm", "chest", 92, 25), ("ForeArm", "Arm", 50, 22), ("Hand", "ForeArm", 8, 25))],
    # On two legs, without arms.
    "dinosaur": [("hips", None, (0, 130, 0)), ("spine", "hips", (0, 135, 40)), ("neck", "spine", (0, 170, 80)), ("head", "neck", (0, 200, 110)), ("tail1", "hips", (0, 130, -60)), ("tail2", "tail1", (0, 120, -140))]
    + [(f"{w}_{s}", f"{a}_{s}" if a in ("thigh", "shin") else a, (x * 25, y, z)) for s, x in (("L", 1), ("R", -1))
       for w, a, y, z in (("thigh", "hips", 120, 0), ("shin", "thigh", 70, 15), ("foot", "shin", 10, -5))],
}


def animal(joints):
    out = ["HIERARCHY"]
    at = {name: place for name, _, place in joints}
    written = []

    def write(name, above):
        written.append(name)
        offset = sub(at[name], at[above]) if above else at[name]
        places = "" if above else "Xposition Yposition Zposition "
        out.append(f"{'JOINT' if above else 'ROOT'} {name}\n{{\nOFFSET " + " ".join(number(x) for x in offset))
        out.append(f"CHANNELS {3 if above else 6} {places}Zrotation Xrotation Yrotation")
        below = [n for n, a, _ in joints if a == name]
        for other in below:
            write(other, name)
        out.append("}" if below else "End Site\n{\nOFFSET 0 0 0\n}\n}")

    write(joints[0][0], None)
    out += ["MOTION", "Frames: 3", "Frame Time: 0.25"]
    for t in range(3):
        row = list(at[joints[0][0]])
        for place in range(len(written)):
            row += [0, round(12 * math.sin(2 * t + place)), 0]
        out.append(" ".join(number(x) for x in row))
    return "\n".join(out) + "\n"


def main():
    for old in HERE.glob("*_*.*"):
        old.unlink()
    files = {"a_pose.gltf": a_pose()}
    files.update({f"animal_{name}.bvh": animal(joints) for name, joints in ANIMALS.items()})
    for name, clip in CLIPS.items():
        for convention in CONVENTIONS:
            # Poses of MakeHuman do not move the hips: on the ground and on a seat they mean nothing.
            still = CONVENTIONS[convention].get("still") and name in ("lie", "sit")
            if convention != "own" and not still:
                files[f"{convention}_{name}.bvh"] = bvh(convention, clip)
        files[f"own_{name}.gltf"] = gltf("own", clip)
        files[f"lafan1_{name}.vrma"] = gltf("lafan1", clip, vrma=True)
    for name in ("walk", "dance"):
        files[f"humanik_{name}.gltf"] = gltf("humanik", CLIPS[name])
        files[f"mixamo_{name}.fbx"] = fbx("mixamo", CLIPS[name])
    for name, text in files.items():
        (HERE / name).write_text(text)
    print(len(files), "files,", sum(map(len, files.values())) // 1000, "kB")


main()
