"""Makes the models and clips of this folder, and clips.txt: where their bones must be.

    python3 make.py     # needs numpy

Everything follows from the text of EXT_skeleton_humanoid and of VRM Animation in f64 matrices, not from sinew. Numbers of
clips are f32 in files, so they are rounded before anything is computed of them. Bind matrices are in the `extras` of skins,
where they stay f64."""

import base64
import json
import math
import random
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
EXTENSION = "EXT_skeleton_humanoid"
WIDTH = {"translation": 3, "rotation": 4, "scale": 3}


# Bones, and the reference pose.

def hierarchy():
    """The parent of each of the 55 bones, parents first."""
    document = json.loads((HERE / "../humanoid.gltf").read_text())
    nodes = document["nodes"]
    bones = document["extensions"][EXTENSION]["humanoidSkeletons"][0]["humanoidBones"]
    names = {node: bone for bone, node in bones.items()}
    parent = {}
    for node in sorted(names):
        above = [i for i, n in enumerate(nodes) if node in n.get("children", [])]
        parent[names[node]] = names.get(above[0])
    return parent


PARENT = hierarchy()
ALL = list(PARENT)


def ancestors(bone):
    while bone := PARENT[bone]:
        yield bone


D = math.sqrt(0.5)
X, Y, Z = np.eye(3)
TRUNK, PALM, THUMB, THIGH, FOOT = (X, Y), (-Z, X), (Y, np.array([D, 0, D])), (-X, -Y), (-X, Z)


def finger(joint, z):
    return PALM, ((0.77, 0.81, 0.835)[joint], 1.38, z)


def on_thumb(along):
    return THUMB, (0.70 + along * D, 1.38, 0.02 + along * D)


REFERENCE = {
    "hips": (TRUNK, (0, 0.92, 0)), "spine": (TRUNK, (0, 1, 0)), "chest": (TRUNK, (0, 1.12, 0)),
    "upperChest": (TRUNK, (0, 1.24, 0)), "neck": (TRUNK, (0, 1.44, 0)), "head": (TRUNK, (0, 1.53, 0)),
    "leftEye": ((X, Z), (0.032, 1.6, 0.08)), "jaw": ((-X, Z), (0, 1.55, 0.02)),
    "leftShoulder": ((Z, X), (0.04, 1.38, 0)), "leftUpperArm": (PALM, (0.17, 1.38, 0)),
    "leftLowerArm": ((-Y, X), (0.44, 1.38, 0)), "leftHand": (PALM, (0.69, 1.38, 0)),
    "leftThumbMetacarpal": on_thumb(0), "leftThumbProximal": on_thumb(0.045), "leftThumbDistal": on_thumb(0.08),
    "leftUpperLeg": (THIGH, (0.09, 0.88, 0)), "leftLowerLeg": ((X, -Y), (0.09, 0.48, 0)),
    "leftFoot": (FOOT, (0.09, 0.08, 0)), "leftToes": (FOOT, (0.09, 0.08, 0.14)),
}
for name, z in (("Index", 0.03), ("Middle", 0.01), ("Ring", -0.01), ("Little", -0.03)):
    for i, part in enumerate(("Proximal", "Intermediate", "Distal")):
        REFERENCE[f"left{name}{part}"] = finger(i, z)


def reference(bone):
    """world_from_bone in the reference pose."""
    mirrored = bone.startswith("right")
    (x, y), at = REFERENCE[bone.replace("right", "left") if mirrored else bone]
    at = np.array(at, float)
    if mirrored:
        mirror = np.array([-1, 1, 1])
        x, y, at = -mirror * x, mirror * y, mirror * at
    m = np.eye(4)
    m[:3, :3] = np.column_stack([x, y, np.cross(x, y)])
    m[:3, 3] = at
    return m


# Transforms.

def turn(q):
    x, y, z, w = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])


def quaternion(m):
    """Of a rotation matrix."""
    k = np.array([
        [m[0, 0] - m[1, 1] - m[2, 2], 0, 0, 0],
        [m[0, 1] + m[1, 0], m[1, 1] - m[0, 0] - m[2, 2], 0, 0],
        [m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], m[2, 2] - m[0, 0] - m[1, 1], 0],
        [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], np.trace(m)],
    ]) / 3
    values, vectors = np.linalg.eigh(k)
    return vectors[:, np.argmax(values)]


def compose(t, r, s):
    """Of a translation, a rotation matrix and a scale."""
    m = np.eye(4)
    m[:3, :3] = r * np.asarray(s)
    m[:3, 3] = t
    return m


def rigid(m, scale=1.0):
    """Translation, quaternion and scale of a matrix without shear."""
    return [m[:3, 3], quaternion(m[:3, :3] / scale), np.full(3, scale)]


HALF_TURN = np.diag([-1.0, 1.0, -1.0, 1.0])


# Models.

class Figure:
    def __init__(self):
        self.names, self.parents, self.trs, self.bones, self.skins = [], [], [], {}, []
        self.kind = EXTENSION
        self.more = {}

    def node(self, parent, name, trs):
        self.names.append(name)
        self.parents.append(parent)
        self.trs.append([np.array(part, float) for part in trs])
        return len(self.names) - 1

    def local(self, node):
        t, q, s = self.trs[node]
        return compose(t, turn(q), s)

    def worlds(self, locals=None):
        """world_from_node of all nodes, at rest or with some other locals."""
        out = []
        for node, parent in enumerate(self.parents):
            local = (locals or {}).get(node)
            local = self.local(node) if local is None else local
            out.append(local if parent is None else out[parent] @ local)
        return out

    def skin(self, joints, worlds, bind_from_scene=np.eye(4)):
        self.skins.append((joints, [np.linalg.inv(bind_from_scene @ worlds[j]) for j in joints]))

    def skin_at_rest(self):
        self.skin(list(self.bones.values()), self.worlds())
        return self

    def copy(self):
        other = Figure()
        other.names, other.parents = list(self.names), list(self.parents)
        other.trs = [[part.copy() for part in trs] for trs in self.trs]
        other.bones, other.skins, other.kind = dict(self.bones), list(self.skins), self.kind
        return other


def some_turn(rng):
    while True:
        q = np.array([rng.uniform(-1, 1) for _ in range(4)])
        if np.linalg.norm(q) > 0.1:
            return q / np.linalg.norm(q)


def some_vector(rng, size=1.0):
    return np.array([rng.uniform(-size, size) for _ in range(3)])


def some_trs(rng, scaled):
    scale = rng.uniform(0.6, 1.5) if scaled else 1.0
    return [some_vector(rng), some_turn(rng), np.full(3, scale)]


def some_space(rng, scaled):
    t, q, s = some_trs(rng, scaled)
    return compose(t, turn(q), s)


def some_figure(rng, bones, scaled):
    """Every bone with a rotated node between it and the one above, below two nodes."""
    figure = Figure()
    scene = figure.node(None, "scene", some_trs(rng, scaled))
    armature = figure.node(scene, "armature", some_trs(rng, scaled))
    for bone in bones:
        above = [figure.bones[a] for a in ancestors(bone) if a in figure.bones]
        spacer = figure.node(above[0] if above else armature, f"above_{bone}", some_trs(rng, scaled))
        figure.bones[bone] = figure.node(spacer, bone, some_trs(rng, scaled))
    return figure


def some_source(rng):
    """A figure whose hips are at a height that a ratio can be made of."""
    while True:
        figure = some_figure(rng, REST_BONES, False)
        if abs(figure.worlds()[figure.bones["hips"]][1, 3]) > 0.3:
            return figure.skin_at_rest()


def reference_figure(without=()):
    """A figure in the reference pose."""
    figure = Figure()
    for bone in ALL:
        if bone in without:
            continue
        above = next((a for a in ancestors(bone) if a in figure.bones), None)
        to_parent = np.eye(4) if above is None else np.linalg.inv(reference(above))
        node = figure.node(figure.bones.get(above), bone, rigid(to_parent @ reference(bone)))
        figure.bones[bone] = node
    return figure.skin_at_rest()


# Clips.

class Curve:
    """Keys between 0 and 2 seconds, as a file has them."""

    def __init__(self, path, kind, times, keys):
        self.path, self.kind = path, kind
        self.times = np.array(times, np.float32).astype(float)
        self.keys = np.array(keys, np.float32).astype(float)
        self.stored = self.keys
        if path == "rotation" and kind != "CUBICSPLINE":
            self.keys = self.keys / np.linalg.norm(self.keys, axis=1)[:, None]

    def at(self, time):
        times, keys = self.times, self.keys
        cubic = self.kind == "CUBICSPLINE"
        after = int(np.searchsorted(times, time, side="right"))
        if after == 0 or after == len(times):
            i = max(after - 1, 0)
            value = keys[3 * i + 1] if cubic else keys[i]
        else:
            i, span = after - 1, times[after] - times[after - 1]
            u = (time - times[i]) / span
            if self.kind == "STEP":
                value = keys[i]
            elif cubic:
                a, out, into, b = keys[3 * i + 1], keys[3 * i + 2], keys[3 * i + 3], keys[3 * i + 4]
                u2, u3 = u * u, u * u * u
                value = (2 * u3 - 3 * u2 + 1) * a + span * (u3 - 2 * u2 + u) * out
                value = value + (3 * u2 - 2 * u3) * b + span * (u3 - u2) * into
            elif self.path == "rotation":
                value = slerp(keys[i], keys[i + 1], u)
            else:
                value = keys[i] + (keys[i + 1] - keys[i]) * u
        return value / np.linalg.norm(value) if self.path == "rotation" else value


def slerp(a, b, u):
    dot = a @ b
    if dot < 0:
        b, dot = -b, -dot
    assert dot < 0.9995, "some readers take a short cut there"
    angle = math.acos(dot)
    return (math.sin((1 - u) * angle) * a + math.sin(u * angle) * b) / math.sin(angle)


def some_curve(rng, path, times=None, small=False):
    kind = rng.choice(["LINEAR", "STEP", "CUBICSPLINE"])
    each = 3 if kind == "CUBICSPLINE" else 1
    if times is None:
        times = np.cumsum([rng.uniform(0, 0.2)] + [rng.uniform(0.1, 0.5) for _ in range(3)])
    count = each * len(times)
    if path == "rotation":
        keys = [some_turn(rng) for _ in range(count)]
        if small:
            keys = [slerp(np.array([0, 0, 0, 1.0]), q, 0.3) for q in keys]
    elif path == "translation":
        keys = [some_vector(rng) for _ in range(count)]
    else:
        keys = [1 + some_vector(rng, 0.3) for _ in range(count)]
    return Curve(path, kind, times, keys)


def turns(rng, bones, **more):
    return {(bone, "rotation"): some_curve(rng, "rotation", **more) for bone in bones}


def turns_and_hips(rng, bones):
    return {**turns(rng, bones), ("hips", "translation"): some_curve(rng, "translation")}


# Files.

def write(name, figure=None, tracks=None, on_nodes=False):
    """A model, a clip of bones or of the model's nodes, or both."""
    document = {"asset": {"version": "2.0", "generator": "make.py"}, "scene": 0, "scenes": [{"nodes": []}]}
    data = bytearray()
    views, accessors = [], []

    def accessor(kind, values):
        values = np.array(values, np.float32)
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": values.nbytes})
        data.extend(values.tobytes())
        accessors.append({"bufferView": len(views) - 1, "componentType": 5126, "type": kind, "count": len(values)})
        if kind == "VEC3" and values.shape[1:] == (3,):
            accessors[-1].update(min=values.min(0).tolist(), max=values.max(0).tolist())
        return len(accessors) - 1

    uses = False
    if figure:
        nodes = []
        for node, (t, q, s) in enumerate(figure.trs):
            item = {"name": figure.names[node], "translation": t.tolist(), "rotation": q.tolist()}
            if not np.array_equal(s, np.ones(3)):
                item["scale"] = s.tolist()
            children = [i for i, p in enumerate(figure.parents) if p == node]
            if children:
                item["children"] = children
            nodes.append(item)
        document["nodes"] = nodes
        document["scenes"][0]["nodes"] = [i for i, p in enumerate(figure.parents) if p is None]
        if figure.skins:
            flat = [(joints, [m.T.ravel().tolist() for m in inverse]) for joints, inverse in figure.skins]
            document["skins"] = [{"joints": j, "extras": {"inverseBind": m}} for j, m in flat]
        if figure.kind == EXTENSION:
            uses = True
            skeletons = figure.more.get("skeletons", [figure.bones])
            roots = [i for i, p in enumerate(figure.parents) if p is None]
            skeletons = [{"rootNode": r, "humanoidBones": b} for r, b in zip(roots, skeletons)]
            document["extensions"] = {EXTENSION: {"humanoidSkeletons": skeletons}}
        elif figure.kind == "VRMC_vrm":
            bones = {bone: {"node": node} for bone, node in figure.bones.items()}
            vrm = {"specVersion": "1.0", "humanoid": {"humanBones": bones}}
            if "expressions" in figure.more:
                points = np.zeros((3, 3))
                target = {"POSITION": accessor("VEC3", points + 1)}
                primitive = {"attributes": {"POSITION": accessor("VEC3", points)}, "targets": [target, target]}
                mesh = {"primitives": [primitive], "weights": [0.25, 0], "extras": {"targetNames": ["smile", "wink"]}}
                document["meshes"] = [mesh]
                head = figure.bones["head"]
                document["nodes"][head]["mesh"] = 0
                vrm["expressions"] = {"preset": {
                    name: {"morphTargetBinds": [{"node": head, "index": i, "weight": w} for i, w in binds]}
                    for name, binds in figure.more["expressions"].items()
                }}
            document["extensions"] = {"VRMC_vrm": vrm}
        else:
            bones = [{"bone": bone, "node": node} for bone, node in figure.bones.items()]
            document["extensions"] = {"VRM": {"specVersion": "0.0", "humanoid": {"humanBones": bones}}}
    if tracks:
        samplers, channels = [], []
        for (target, path), curve in tracks.items():
            kind = "VEC4" if path == "rotation" else "VEC3"
            samplers.append({
                "input": accessor("SCALAR", curve.times), "output": accessor(kind, curve.stored), "interpolation": curve.kind,
            })
            aim = {"path": path}
            if on_nodes:
                aim["node"] = figure.bones.get(target, target)
            else:
                uses = True
                aim["extensions"] = {EXTENSION: {"humanoidBoneName": target}}
            channels.append({"sampler": len(samplers) - 1, "target": aim})
        document["animations"] = [{"name": "clip", "samplers": samplers, "channels": channels}]
    if uses:
        document["extensionsUsed"] = [EXTENSION]
    if views:
        document.update(bufferViews=views, accessors=accessors)
    data = base64.b64encode(data or bytes(4)).decode()
    size = len(base64.b64decode(data))
    document["buffers"] = [{"byteLength": size, "uri": f"data:application/octet-stream;base64,{data}"}]
    text = json.dumps(document, separators=(",", ":")).replace('{"name"', '\n{"name"').replace('{"sampler"', '\n{"sampler"')
    (HERE / f"{name}.gltf").write_text(text + "\n")


ROWS = []
TIMES = (0.0, 0.31, 0.74, 1.2, 1.9)


def row(comment, model, clip, words, lines):
    ROWS.append(f"# {comment}\nbase {model}.gltf as {model}.glb\nwith {clip}.gltf {words}".rstrip() + "\n" + "\n".join(lines) + "\n")


def poses(figure, at, bones=None, times=TIMES):
    """Lines of the worlds that `at` gives for a time."""
    lines = ["within 1e-11"]
    for time in times:
        worlds = at(time)
        for bone in bones or figure.bones:
            numbers = worlds[figure.bones[bone]][:3, :].T.ravel()
            numbers = " ".join(f"{n:.13g}" for n in numbers + 0.0)
            lines.append(f"@ {time!r} {bone} {numbers}")
    return lines


# Relative to the bind pose: bindLocal * compose(T, R, S).

def literal(figure, worlds, tracks, conjugate=False):
    """The worlds of a model that was bound with `worlds`, by time."""
    def at(time):
        locals = {}
        for bone, node in figure.bones.items():
            own = {path: curve.at(time) for (b, path), curve in tracks.items() if b == bone}
            if not own:
                continue
            parent = figure.parents[node]
            bind = worlds[node] if parent is None else np.linalg.inv(worlds[parent]) @ worlds[node]
            t, r, s = own.get("translation", np.zeros(3)), np.eye(3), own.get("scale", np.ones(3))
            if "rotation" in own:
                r = turn(own["rotation"])
            if conjugate:
                k = reference(bone)[:3, :3].T @ worlds[node][:3, :3]
                t, r = k.T @ t, k.T @ r @ k
            locals[node] = bind @ compose(t, r, s)
        return figure.worlds(locals)
    return at


OFF = "? pose-off-reference extensions.EXT_skeleton_humanoid.humanoidSkeletons[0]"
BONES = ["hips", "spine", "chest", "neck", "head", "leftShoulder", "leftUpperArm", "leftUpperLeg", "rightUpperLeg"]


def bound(rng, figure, posed, scaled):
    """Where the nodes stood at bind time: at rest, but for some that were posed."""
    locals = {figure.bones[bone]: some_space(rng, scaled) for bone in posed}
    return figure.worlds(locals)


def all_components(rng, bones):
    return {(bone, path): some_curve(rng, path) for bone in bones for path in WIDTH}


def kinds(clip, order):
    """Lines that say that tracks, in this order, kept their keys."""
    lines = []
    for i, key in enumerate(order):
        curve = clip[key]
        at = f"/clips/0/tracks/{i}/curve"
        kind = {"LINEAR": "Linear", "STEP": "Step", "CUBICSPLINE": "CubicSpline"}[curve.kind]
        lines += [f'= {at}/interpolation "{kind}"', f"= {at}/times {json.dumps(curve.times.tolist())}"]
    return lines


def bind_relative():
    for seed in range(4):
        rng = random.Random(seed)
        scaled = seed % 2 == 0
        figure = some_figure(rng, BONES, scaled)
        worlds = bound(rng, figure, ["leftUpperArm", "head"], scaled)
        space = np.eye(4) if seed == 3 else some_space(rng, scaled)
        joints = list(figure.bones.values())
        joints += [i for i, n in enumerate(figure.names) if n.startswith("above") and i % 4 == 0]
        figure.skin(joints, worlds, space)
        clip = all_components(rng, BONES)
        write(f"bound_{seed}", figure)
        write(f"bound_{seed}_clip", tracks=clip)
        names = json.dumps([b[0].upper() + b[1:] for b in BONES])
        lines = [OFF, f"= /info/metadata/report/bones {names}", "count /info/metadata/report/missing 0"]
        lines += kinds(clip, [(b, path) for b in BONES for path in ("rotation", "translation", "scale")])
        lines += poses(figure, literal(figure, worlds, clip))
        text = "Nodes between the bones, some of them joints, in any bind space, and two bones posed otherwise."
        row(text, f"bound_{seed}", f"bound_{seed}_clip", "", lines)
        if seed == 0:
            few = {(b, "rotation"): clip[b, "rotation"] for b in BONES if b != "neck"} | {("neck", "scale"): clip["neck", "scale"]}
            write("bound_turns_clip", tracks=few)
            text = "What a clip lacks is that of the bind pose: some rotations alone, of bones that were posed, and a scale."
            row(text, "bound_0", "bound_turns_clip", "", [OFF] + poses(figure, literal(figure, worlds, few)))
    for seed in range(4):
        rng = random.Random(1000 + seed)
        figure = some_figure(rng, BONES, False)
        worlds = bound(rng, figure, ["head"], False)
        upper = [figure.bones[b] for b in BONES if "Leg" not in b]
        lower = [figure.bones[b] for b in BONES if "Leg" in b]
        if seed % 2 == 0:
            lower.append(figure.bones["hips"])
        if seed > 1:
            upper.reverse()
        for joints in (upper, lower):
            figure.skin(joints, worlds, some_space(rng, False))
        clip = all_components(rng, BONES)
        write(f"two_skins_{seed}", figure)
        write(f"two_skins_{seed}_clip", tracks=clip)
        joined = "by the hips in both" if seed % 2 == 0 else "through the scene alone"
        lines = [OFF] + poses(figure, literal(figure, worlds, clip), times=TIMES[::2])
        row(f"Legs in a skin of their own, joined {joined}.", f"two_skins_{seed}", f"two_skins_{seed}_clip", "", lines)
    # Two bones that the model lacks.
    rng = random.Random(3)
    clip = all_components(rng, ["chest", "upperChest", "leftHand"])
    write("chest_clip", tracks=clip)
    missing = ["? bone-missing upperChest | the model lacks this bone; its motion is dropped",
               "? bone-missing leftHand | the model lacks this bone; its motion is dropped", OFF,
               '= /info/metadata/report/bones ["Chest"]', "count /clips/0/tracks 3"]
    row("A missing bone is dropped, with a warning.", "two_skins_0", "chest_clip", "", missing)
    write("upper_chest_clip", tracks=all_components(rng, ["upperChest"]))
    row("A clip of missing bones alone.", "two_skins_0", "upper_chest_clip", "", ["! nothing of clip"])
    row("A clip for a file without bones.", "upper_chest_clip", "upper_chest_clip", "", ["! has no humanoid skeleton"])


def by_turns(figure, turned, hips=None):
    """The worlds of a model whose bones are turned in the world against their rest, by time."""
    rest = figure.worlds()
    node_of = {node: bone for bone, node in figure.bones.items()}

    def at(time):
        out = []
        for node, parent in enumerate(figure.parents):
            world = figure.local(node) if parent is None else out[parent] @ figure.local(node)
            bone = node_of.get(node)
            if bone is not None:
                world = world.copy()
                world[:3, :3] = turned(bone, time) @ rest[node][:3, :3]
                if bone == "hips" and hips:
                    world[:3, 3] = hips(time)
            out.append(world)
        return out
    return at


def turned_by(figure, at):
    """What a pose turns each bone of a figure by in the world."""
    rest = figure.worlds()
    return lambda bone, time: at(time)[figure.bones[bone]][:3, :3] @ rest[figure.bones[bone]][:3, :3].T


def collapse():
    lacking = ["chest", "upperChest", "leftShoulder", "rightToes"]
    whole, less = reference_figure(), reference_figure(lacking)
    write("reference", whole)
    write("lacking", less)
    rng = random.Random(5)
    keys = [0.1, 0.5, 0.8, 1.3, 1.7]
    moved = ["spine", "chest", "upperChest", "neck", "leftShoulder", "leftUpperArm", "rightUpperArm", "rightToes"]
    clip = turns(rng, moved, times=keys, small=True)
    write("lacking_clip", tracks=clip)
    wanted = by_turns(less, turned_by(whole, literal(whole, whole.worlds(), clip)))
    told = "its rotation is multiplied into"
    missing = [f"? bone-missing chest | {told} neck, leftUpperArm, rightShoulder",
               f"? bone-missing upperChest | {told} neck, leftUpperArm, rightShoulder",
               f"? bone-missing leftShoulder | {told} leftUpperArm",
               "? bone-missing rightToes | its motion is dropped"]
    # The first track is the spine's.
    lines = missing + ["count /clips/0/tracks/0/curve/times 5"]
    lines += poses(less, wanted, times=[float(np.float32(k)) for k in keys[::2]])
    between = poses(less, wanted, times=[0.3, 1.1])
    between[0] = "within 5e-3"
    row("The turn of missing bones goes to those below: exactly at keys, within the turn of a sample between.",
        "lacking", "lacking_clip", "collapse", lines + between)
    dropped = {key: curve for key, curve in clip.items() if key[0] not in lacking}
    order = ("chest", "upperChest", "leftShoulder", "rightToes")
    lines = [f"? bone-missing {bone} | its motion is dropped" for bone in order]
    row("The same without them.", "lacking", "lacking_clip", "", lines + poses(less, literal(less, less.worlds(), dropped), ["neck"]))
    # Axes other than the reference pose's, which the clip's own skeleton has too.
    rng = random.Random(61)
    source = some_figure(rng, BONES, False).skin_at_rest()
    target = source.copy()
    del target.bones["leftShoulder"]
    clip = turns(rng, ["leftShoulder"])
    write("own_axes", target)
    write("own_axes_clip", source, clip)
    at = turned_by(source, literal(source, source.worlds(), clip))
    wanted = by_turns(target, lambda bone, time: at(bone, time))
    lines = ["? bone-missing leftShoulder | multiplied into leftUpperArm", OFF]
    row("Collapsing goes by the clip's own skeleton.", "own_axes", "own_axes_clip", "collapse",
        lines + poses(target, wanted, ["leftUpperArm"]))


def conjugate():
    rng = random.Random(11)
    whole = reference_figure()
    rest = whole.worlds()
    twisted = Figure()
    worlds = []
    for bone in ALL:
        node = whole.bones[bone]
        parent = whole.parents[node]
        world = rest[node] @ compose(np.zeros(3), turn(some_turn(rng)), np.ones(3))
        local = world if parent is None else np.linalg.inv(worlds[parent]) @ world
        worlds.append(world)
        twisted.bones[bone] = twisted.node(parent, bone, rigid(local))
    twisted.skin_at_rest()
    write("twisted", twisted)
    clip = turns_and_hips(rng, ALL)
    write("twisted_clip", tracks=clip)
    straight = literal(whole, rest, clip)
    row("On a model in the reference pose.", "reference", "twisted_clip", "conjugate", poses(whole, straight, times=TIMES[1:3]))

    def wanted(time):
        turned = turned_by(whole, straight)
        out = []
        for bone in ALL:
            world = worlds[twisted.bones[bone]].copy()
            world[:3, :3] = turned(bone, time) @ world[:3, :3]
            world[:3, 3] = straight(time)[whole.bones[bone]][:3, 3]
            out.append(world)
        return out
    row("Conjugated, a model with any axes turns as that does.", "twisted", "twisted_clip", "conjugate",
        poses(twisted, wanted, times=TIMES[1:3]))
    row("Literally it does not, which is warned of.", "twisted", "twisted_clip", "",
        [OFF]
        + poses(twisted, literal(twisted, worlds, clip), ["hips", "leftHand"]))


def heights():
    big, small = reference_figure(), Figure()
    armature = small.node(None, "armature", [np.zeros(3), [0, 0, 0, 1], np.full(3, 0.01)])
    for bone in ALL:
        t, q, s = big.trs[big.bones[bone]]
        parent = armature if PARENT[bone] is None else small.bones[PARENT[bone]]
        small.bones[bone] = small.node(parent, bone, [t * 50, q, s])
    small.skin_at_rest()
    write("small", small)
    rng = random.Random(2)
    clip = {("hips", "translation"): some_curve(rng, "translation")}
    write("big_clip", big, clip)
    write("alone_clip", tracks=clip)
    big_at = literal(big, big.worlds(), clip)

    def at(time):
        world = small.worlds()[small.bones["hips"]].copy()
        world[:3, 3] = big_at(time)[0][:3, 3] * 0.5
        return {small.bones["hips"]: world}
    row("Half the size, in hundredths: translations scale with the hips.", "small", "big_clip", "scale",
        poses(small, at, ["hips"]) + ["within 1e-9", "= /info/metadata/report/hips_scale 50"])
    row("A clip without a model has no height.", "small", "alone_clip", "scale",
        ["? hips-height extensions.EXT_skeleton_humanoid.humanoidSkeletons[0]", "= /info/metadata/report/hips_scale null"])


REST_BONES = ["hips", "spine", "chest", "upperChest", "neck", "head", "leftShoulder", "leftUpperArm", "leftLowerArm", "rightUpperLeg"]


def twins(rng):
    """A figure as VRM 1.0, facing +Z, and as VRM 0.x, facing -Z, with the world's axes on every bone."""
    one = some_figure(rng, REST_BONES, False)
    for trs in one.trs:
        trs[1], trs[2] = np.array([0, 0, 0, 1.0]), np.ones(3)
    zero = one.copy()
    for trs in zero.trs:
        trs[0] = trs[0] * [-1, 1, -1]
    one.kind, zero.kind = "VRMC_vrm", "VRM"
    return one.skin_at_rest(), zero.skin_at_rest()


def mirrored(at):
    """The worlds of the twin."""
    return lambda time: [HALF_TURN @ world @ HALF_TURN for world in at(time)]


def vrm():
    rng = random.Random(21)
    one, zero = twins(rng)
    write("one", one)
    write("zero", zero)
    clip = turns_and_hips(rng, REST_BONES)
    write("twins_clip", tracks=clip)
    for mode in ("", "collapse", "conjugate"):
        at = literal(one, one.worlds(), clip, mode == "conjugate")
        for name, figure, wanted in (("one", one, at), ("zero", zero, mirrored(at))):
            off = [] if mode == "conjugate" else [f"? pose-off-reference {LOCATION[figure.kind]}"]
            row(f"VRM on a clip of bones, {mode or 'literal'}.", name, "twins_clip", mode, off + poses(figure, wanted, times=TIMES[::2]))
    turned = one.copy()
    turned.kind = "VRM"
    scene = HALF_TURN @ one.local(0)
    turned.trs[0] = rigid(scene)
    turned.skins = []
    turned.skin_at_rest()
    write("turned", turned)
    at = literal(one, one.worlds(), clip)
    row("A VRM 0.x model that is turned as a whole, axes and all.", "turned", "twins_clip", "",
        [f"? pose-off-reference {LOCATION['VRM']}"] + poses(turned, lambda t: [HALF_TURN @ w for w in at(t)], times=TIMES[::2]))
    # Relative to rest, from any figure.
    source = some_source(rng)
    motion = turns_and_hips(rng, REST_BONES)
    write("twins_source", source, motion, on_nodes=True)
    at = moved_as(source, motion, one)
    for name, figure, wanted in (("one", one, at), ("zero", zero, mirrored(at))):
        row("VRM on a clip of nodes.", name, "twins_source", "", poses(figure, wanted, times=TIMES[::2]))
    # As a source.
    motion = turns_and_hips(rng, REST_BONES)
    write("zero_source", zero, motion, on_nodes=True)
    rest = zero.worlds()[zero.bones["hips"]][:3, 3]
    pose = posed(zero, motion)
    turned_zero = turned_by(zero, pose)
    half = HALF_TURN[:3, :3]
    own = one.worlds()[one.bones["hips"]][:3, 3]
    at = by_turns(one, lambda b, t: half @ turned_zero(b, t) @ half,
                  lambda t: own + half @ (pose(t)[zero.bones["hips"]][:3, 3] - rest))
    row("A clip of a VRM 0.x file on its twin.", "one", "zero_source", "", poses(one, at, times=TIMES[::2]))
    # Expressions.
    one.more["expressions"] = {"happy": [(0, 0.5), (1, 1.0)], "blink": [(1, 0.5)]}
    write("face", one)


LOCATION = {"VRMC_vrm": "extensions.VRMC_vrm.humanoid.humanBones", "VRM": "extensions.VRM.humanoid.humanBones"}


# Relative to the rest pose: what the clip turns a bone by in the world stays.

def posed(figure, tracks):
    """The worlds of a clip's own figure, whose nodes it moves."""
    def at(time):
        locals = {}
        for bone, node in figure.bones.items():
            t, q, s = figure.trs[node]
            t = tracks[bone, "translation"].at(time) if (bone, "translation") in tracks else t
            q = tracks[bone, "rotation"].at(time) if (bone, "rotation") in tracks else q
            locals[node] = compose(t, turn(q), s)
        return figure.worlds(locals)
    return at


def moved_as(source, tracks, target):
    """The worlds of a target, whose bones turn as the source's, and whose hips go as far for their height."""
    pose = posed(source, tracks)
    own, rest = (f.worlds()[f.bones["hips"]][:3, 3] for f in (target, source))
    height = own[1] / rest[1]

    def hips(time):
        return own + height * (pose(time)[source.bones["hips"]][:3, 3] - rest)
    return by_turns(target, turned_by(source, pose), hips)


def rest_relative():
    for seed in range(3):
        rng = random.Random(500 + seed)
        source, target = some_source(rng), some_source(rng)
        motion = turns_and_hips(rng, REST_BONES)
        write(f"rest_{seed}", target)
        write(f"rest_{seed}_source", source, motion, on_nodes=True)
        order = [("hips", "rotation"), ("hips", "translation")] + [(b, "rotation") for b in REST_BONES[1:]]
        lines = kinds(motion, order) + poses(target, moved_as(source, motion, target))
        row("Any rests, rotated nodes between the bones, other heights.", f"rest_{seed}", f"rest_{seed}_source", "", lines)
    # What is not said is told of, in every mode the same.
    rng = random.Random(41)
    head = source.bones["head"]
    clip = {("head", "rotation"): some_curve(rng, "rotation"), ("neck", "translation"): some_curve(rng, "translation"),
            (source.parents[head], "rotation"): some_curve(rng, "rotation")}
    write("ignored_source", source, clip, on_nodes=True)
    for mode in ("", "collapse", "conjugate"):
        lines = ["? track-ignored clip | above_head", "? track-ignored clip | translations of neck", '= /info/metadata/report/bones ["Head"]']
        rest = literal_head(source, target, clip)
        row("Tracks that mean nothing there.", "rest_2", "ignored_source", mode, lines + rest)
    # Missing bones.
    lacking = ["chest", "upperChest", "leftUpperArm"]
    rng = random.Random(77)
    source = some_source(rng)
    kept = [b for b in REST_BONES if b not in lacking]
    target = some_figure(rng, kept, False).skin_at_rest()
    keys = [0.15, 0.6, 1.0, 1.4]
    motion = turns(rng, REST_BONES, times=keys)
    motion["hips", "translation"] = some_curve(rng, "translation")
    write("gaps", target)
    write("gaps_source", source, motion, on_nodes=True)
    lines = ["? bone-missing chest | multiplied into neck, leftShoulder", "? bone-missing upperChest | multiplied into neck, leftShoulder",
             "? bone-missing leftUpperArm | multiplied into leftLowerArm"]
    lines += poses(target, moved_as(source, motion, target), times=[float(np.float32(k)) for k in keys])
    row("The turn of missing bones goes to those below.", "gaps", "gaps_source", "", lines)


def literal_head(source, target, clip):
    """The head turns in the world as the source's, and only the head."""
    pose = posed(source, {("head", "rotation"): clip["head", "rotation"]})
    turned = turned_by(source, pose)
    head = target.bones["head"]
    rest = target.worlds()

    def at(time):
        out = [w.copy() for w in rest]
        out[head][:3, :3] = turned("head", time) @ rest[head][:3, :3]
        return out
    return poses(target, at, ["neck", "head"])


def several():
    """The same skeleton twice in one file."""
    one = reference_figure()
    count = len(one.names)
    two = one.copy()
    two.skins = []
    for parent, name, trs in zip(one.parents, one.names, one.trs):
        two.node(None if parent is None else parent + count, name, trs)
    twin = {bone: node + count for bone, node in one.bones.items()}
    two.more["skeletons"] = [one.bones, twin]
    two.skin(list(one.bones.values()) + list(twin.values()), two.worlds())
    write("two", two)
    write("head_clip", tracks=turns(random.Random(1), ["head"]))
    head = one.bones["head"]
    for skeleton in range(2):
        line = f'= /clips/0/tracks/0/target {{"Node": {head + skeleton * count}}}'
        row("One of two skeletons.", "two", "head_clip", f"skeleton={skeleton}", [line])
    row("There is no third.", "two", "head_clip", "skeleton=2", ["! number 2"])


def expressions():
    """A face of sliders, in VRM Animation."""
    def slider(values):
        return Curve("translation", "LINEAR", list(range(len(values))), [[v, 0, 0] for v in values])
    figure = Figure()
    names = {"happy": [0, 1], "blink": [1, 0, 1], "surprised": [0, 1]}
    for name in names:
        figure.bones[name] = figure.node(None, name, [np.zeros(3), [0, 0, 0, 1], np.ones(3)])
    tracks = {(name, "translation"): slider(values) for name, values in names.items()}
    write("face_clip", figure, tracks, on_nodes=True)
    file = HERE / "face_clip.gltf"
    document = json.loads(file.read_text())
    preset = {name: {"node": node} for name, node in figure.bones.items()}
    document["extensions"] = {"VRMC_vrm_animation": {"specVersion": "1.0", "expressions": {"preset": preset}}}
    document.pop("extensionsUsed", None)
    file.write_text(json.dumps(document, separators=(",", ":")) + "\n")
    lines = ["? expression-missing clip | surprised",
             '= /info/metadata/report/expressions ["happy", "blink"]', "count /clips/0/tracks 1",
             '= /clips/0/tracks/0/curve {"interpolation": "Linear", "times": [0, 1, 2]}',
             '= /clips/0/tracks/0/curve/keys {"is": "Weights", "count": 2}',
             "within 1e-12", "= /clips/0/tracks/0/curve/keys/values [0.25, 0.5, 0.75, 1, 0.75, 1.5]"]
    row("Expressions go by name, and become weights: 0.25 + 0.5 happy, and happy + 0.5 blink.", "face", "face_clip", "", lines)


def main():
    bind_relative()
    collapse()
    conjugate()
    heights()
    rest_relative()
    vrm()
    several()
    expressions()
    head = "# Clips on models, and where their bones must be then. Made by make.py; common::rows says how to read this table.\n# Within 1e-11: f64 rounding over a dozen transforms of a few units. Products of rotation curves between their keys: within 5e-3,\n# as straight turns of both factors are one straight turn only at the samples, which stand 10 degrees apart at most.\n"
    (HERE / "clips.txt").write_text("\n".join([head] + ROWS))


main()
