"""Writes glTF files from seeds: any tree of nodes, any joints of it in any skins, any curves on any of them.

python seeds.py FIRST END FOLDER    writes FOLDER/seedN.glb for each N from FIRST to before END
"""

import json
import random
import struct
import sys
from pathlib import Path

import numpy as np

NAMES = ["a", "b.001", "mixamorig:Hips", "", "a", "7", "Кость", "points"]

# Scales that half precision holds, so that it does not blur what else is wrong.
SCALES = [0.5, 1.0, 1.5, 2.0]

# Morph targets of a mesh that has some.
TARGETS = ["swell", "lift"]


def rotated(quaternion):
    """The matrix of a rotation x, y, z, w."""
    x, y, z, w = quaternion
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


def matrix(translation=(0, 0, 0), rotation=(0, 0, 0, 1), scale=(1, 1, 1)):
    out = np.eye(4)
    out[:3, :3] = rotated(rotation) * np.array(scale)
    out[:3, 3] = translation
    return out


class Random:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.json = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": []}], "buffers": [{}]}
        self.bin = b""
        # The parent of each node and parent_from_node; nodes in components, which may be animated; nodes whose mesh
        # has morph targets.
        self.nodes, self.movable, self.morphed = [], [], []
        for _ in range(4 + self.rng.randrange(10)):
            self.node({})
        skins = [self.skin() for _ in range(1 + self.rng.randrange(3))]
        # Every skin may bend every mesh.
        joints = min(count for _, count in skins)
        meshes = [self.mesh(joints) for _ in range(1 + self.rng.randrange(3))]
        for _ in range(2 + self.rng.randrange(4)):
            mesh, has_targets = self.rng.choice(meshes)
            node = {"mesh": mesh}
            if self.chance(0.7):
                node["skin"] = self.rng.choice(skins)[0]
            if has_targets and self.chance(0.5):
                node["weights"] = self.numbers(len(TARGETS), -0.5, 1.5)
            node = self.node(node)
            if has_targets:
                self.morphed.append(node)
        scales = self.chance(0.4)
        for clip in range(self.rng.randrange(3)):
            self.clip(f"clip {clip}", scales)

    def chance(self, share):
        return self.rng.random() < share

    def numbers(self, count, least, most):
        return [float(np.float32(self.rng.uniform(least, most))) for _ in range(count)]

    def rotation(self):
        quaternion = np.array([self.rng.gauss(0, 1) for _ in range(4)])
        return (quaternion / np.linalg.norm(quaternion)).tolist()

    def scale(self):
        kind = self.rng.randrange(10)
        if kind < 6:
            return [1.0] * 3
        if kind < 8:
            return [self.rng.choice(SCALES)] * 3
        x, y, z = (self.rng.choice(SCALES) for _ in range(3))
        return [x if kind == 8 else -x, y, z]

    def push(self, name, value):
        self.json.setdefault(name, []).append(value)
        return len(self.json[name]) - 1

    def accessor(self, kind, values, component="<f4"):
        """An accessor of rows of numbers, with min and max."""
        rows = np.array(values, component)
        rows = rows.reshape(len(rows), -1)
        self.bin += b"\0" * (-len(self.bin) % 4)
        view = self.push("bufferViews", {"buffer": 0, "byteOffset": len(self.bin), "byteLength": rows.nbytes})
        self.bin += rows.tobytes()
        least, most = ([number.item() for number in edge] for edge in (rows.min(0), rows.max(0)))
        return self.push("accessors", {
            "bufferView": view, "componentType": {"<f4": 5126, "<u2": 5123}[component], "type": kind,
            "count": len(rows), "min": least, "max": most,
        })

    def node(self, node):
        """A node below any earlier one, or a root."""
        index = len(self.nodes)
        parent = self.rng.randrange(index) if index and self.chance(0.8) else None
        translation, rotation, scale = self.numbers(3, -1, 1), self.rotation(), self.scale()
        local = matrix(translation, rotation, scale)
        node["name"] = self.rng.choice(NAMES)
        if self.chance(0.15):
            if self.chance(0.3):
                local[:, 1] += 0.3 * local[:, 0]
            node["matrix"] = local.T.ravel().tolist()
        else:
            node |= {"translation": translation, "rotation": rotation, "scale": scale}
            self.movable.append(index)
        self.nodes.append((parent, local))
        self.push("nodes", node)
        if parent is None:
            self.json["scenes"][0]["nodes"].append(index)
        else:
            self.json["nodes"][parent].setdefault("children", []).append(index)
        return index

    def world(self, node):
        parent, local = self.nodes[node]
        return local if parent is None else self.world(parent) @ local

    def skin(self):
        """A skin of some of the nodes in any order, and how many they are."""
        joints = self.rng.sample(range(len(self.nodes)), 1 + self.rng.randrange(min(len(self.nodes), 7)))
        moved = matrix(self.numbers(3, -2, 2), self.rotation()) if self.rng.randrange(3) else np.eye(4)
        # Now and then bound as the joints never stand.
        foreign = self.chance(0.25)
        bound = []
        for joint in joints:
            own = matrix(self.numbers(3, -1, 1), self.rotation()) if foreign else np.eye(4)
            bound.append((own @ np.linalg.inv(self.world(joint)) @ moved).T.ravel())
        skin = {"joints": joints, "inverseBindMatrices": self.accessor("MAT4", bound)}
        return self.push("skins", skin), len(joints)

    def mesh(self, joints):
        """A mesh for so many joints, and whether it has morph targets."""
        has_targets = self.chance(0.5)
        primitives = [self.primitive(joints, has_targets) for _ in range(1 + self.rng.randrange(2))]
        mesh = {"name": "mesh", "primitives": primitives}
        if has_targets:
            mesh["extras"] = {"targetNames": TARGETS}
        return self.push("meshes", mesh), has_targets

    def primitive(self, joints, has_targets):
        """Points anywhere, in a strip of triangles with indices, or in triangles without."""
        count = 3 * (2 + self.rng.randrange(10))
        vectors = lambda size: [self.numbers(3, -size, size) for _ in range(count)]
        normals = np.array(vectors(1))
        attributes = {
            "POSITION": self.accessor("VEC3", vectors(1)),
            "NORMAL": self.accessor("VEC3", normals / np.linalg.norm(normals, axis=1, keepdims=True)),
        }
        # Up to four joints, each once; what is left over is joint 0 without a weight.
        slots = min(joints, 4)
        of_points, weights = np.zeros((count, 4)), np.zeros((count, 4))
        for point in range(count):
            first = self.rng.randrange(joints)
            for slot in range(slots):
                of_points[point, slot] = (first + slot) % joints
                if slot == 0 or self.chance(0.6):
                    weights[point, slot] = self.rng.uniform(0.1, 1)
        attributes["JOINTS_0"] = self.accessor("VEC4", of_points, "<u2")
        attributes["WEIGHTS_0"] = self.accessor("VEC4", weights / weights.sum(1, keepdims=True))
        primitive = {"attributes": attributes}
        if self.chance(0.6):
            strip = [[corner] for i in range(count - 2) for corner in (i, i + 1, i + 2)]
            primitive["indices"] = self.accessor("SCALAR", strip, "<u2")
        if has_targets:
            primitive["targets"] = [{"POSITION": self.accessor("VEC3", vectors(0.4))} for _ in TARGETS]
        return primitive

    def clip(self, name, scales):
        clip = {"name": name, "channels": [], "samplers": []}
        # Frames of 30 a second, or seconds that no rate has.
        framed = self.chance(0.5)
        used = set()
        for _ in range(1 + self.rng.randrange(8)):
            path = self.rng.choice(["translation", "rotation", "rotation", "rotation"] + ["scale"] * scales)
            nodes = self.movable
            if self.morphed and self.chance(0.3):
                path, nodes = "weights", self.morphed
            if not nodes:
                continue
            node = self.rng.choice(nodes)
            if (node, path) in used:
                continue
            used.add((node, path))
            clip["samplers"].append(self.sampler(path, framed))
            target = {"node": node, "path": path}
            clip["channels"].append({"sampler": len(clip["samplers"]) - 1, "target": target})
        if clip["channels"]:
            self.push("animations", clip)

    def sampler(self, path, framed):
        times = np.cumsum([self.rng.randint(1, 20) / 30 if framed else self.rng.uniform(0.05, 0.7)
                           for _ in range(self.rng.randint(1, 4))])
        if not framed:
            # None is so near to a frame by chance that it could be meant to be on it.
            frames = times * 24
            times += np.where(np.abs(frames - np.round(frames)) < 1e-3, 1e-3, 0)
        interpolation = self.rng.choice(["LINEAR", "LINEAR", "STEP", "CUBICSPLINE"])
        values = {
            "rotation": self.rotation,
            "translation": lambda: self.numbers(3, -1, 1),
            "scale": lambda: self.numbers(3, 0.4, 1.6),
            "weights": lambda: self.numbers(len(TARGETS), -0.5, 1.5),
        }[path]
        rows = []
        for _ in times:
            value = values()
            if interpolation == "CUBICSPLINE":
                tangents = (self.numbers(len(value), -0.7, 0.7) for _ in range(2))
                rows += [next(tangents), value, next(tangents)]
            else:
                rows.append(value)
        if path == "weights":
            rows = [[number] for row in rows for number in row]
        kind = {"rotation": "VEC4", "weights": "SCALAR"}.get(path, "VEC3")
        return {
            "input": self.accessor("SCALAR", times.reshape(-1, 1)), "output": self.accessor(kind, rows),
            "interpolation": interpolation,
        }

    def glb(self):
        self.json["buffers"][0]["byteLength"] = len(self.bin)
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        binary = self.bin + b"\0" * (-len(self.bin) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x004E4942) + binary
        return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def main(first, end, folder):
    for seed in range(int(first), int(end)):
        (Path(folder) / f"seed{seed}.glb").write_bytes(Random(seed).glb())


if __name__ == "__main__":
    main(*sys.argv[1:])
