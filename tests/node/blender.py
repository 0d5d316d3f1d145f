"""What Blender shows of glTF files that it imported: the vertices of every mesh, in metres with y up.

    PYTHON blender.py    answers requests, one JSON object per line; PYTHON has bpy (from PyPI)

{"file": FILE, "clip": NAME or null, "times": [SECONDS], "out": FILE}
    {"meshes": [{"name": NAME, "points": COUNT}]}
    For each time and each mesh, all points are written to "out" as f64.

An answer with "error" holds the traceback of a bug in here.
"""

import base64
import contextlib
import json
import os
import sys
import tempfile
import traceback
import urllib.parse

import bpy
import numpy as np

# Of z up to y up; rows are points.
Y_UP = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])


def with_clip(file, clip):
    """The text of a .gltf with its buffers in it, and with one of its animations or none: the importer shows all of them at once,
    and leaves what the chosen one does not move where another one took it."""
    with open(file, "rb") as stream:
        data = stream.read()
    binary = None
    if data[:4] == b"glTF":
        end = 20 + int.from_bytes(data[12:16], "little")
        data, binary = data[20:end], data[end + 8 :]
    document = json.loads(data)
    for buffer in document.get("buffers", []):
        if buffer.get("uri", "").startswith("data:"):
            continue
        contents = binary and binary[: buffer["byteLength"]]
        if "uri" in buffer:
            with open(os.path.join(os.path.dirname(file), urllib.parse.unquote(buffer["uri"])), "rb") as stream:
                contents = stream.read()
        buffer["uri"] = "data:application/octet-stream;base64," + base64.b64encode(contents).decode()
    animations = [a for a in document.pop("animations", []) if a.get("name") == clip]
    if animations:
        document["animations"] = animations
    return json.dumps(document)


def play_actions():
    """Plays actions themselves, at the times of their keys: the strips that the importer also makes begin at frame 1."""
    for thing in bpy.data.objects:
        for owner in (thing, getattr(thing.data, "shape_keys", None)):
            if owner and owner.animation_data and owner.animation_data.nla_tracks:
                strip = owner.animation_data.nla_tracks[0].strips[0]
                owner.animation_data.use_nla = False
                owner.animation_data.action = strip.action
                owner.animation_data.action_slot = strip.action_slot


def free_weights():
    """Blender keeps weights of shape keys between 0 and 1; glTF does not."""
    for keys in bpy.data.shape_keys:
        for block in keys.key_blocks:
            block.slider_min, block.slider_max = -10, 10


def meshes(times, out):
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    objects = [o for o in bpy.data.objects if o.type == "MESH" and o.visible_get()]
    told = []
    with open(out, "wb") as file:
        for time in times:
            frame = time * rate
            scene.frame_set(int(np.floor(frame)), subframe=frame - np.floor(frame))
            graph = bpy.context.evaluated_depsgraph_get()
            row = []
            for thing in objects:
                evaluated = thing.evaluated_get(graph)
                mesh = evaluated.to_mesh()
                points = np.empty(3 * len(mesh.vertices))
                mesh.vertices.foreach_get("co", points)
                world = np.array(evaluated.matrix_world)
                points = points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
                file.write((points @ Y_UP).tobytes())
                row.append({"name": thing.name, "points": len(points)})
                evaluated.to_mesh_clear()
            if told and told != row:
                raise RuntimeError("other sizes at another time")
            told = row
    return told


def answer(request):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy.gltf")
        with open(copy, "w") as stream:
            stream.write(with_clip(request["file"], request["clip"]))
        bpy.ops.import_scene.gltf(filepath=copy)
    # What the importer shows bones as.
    for thing in list(bpy.data.objects):
        if any("glTF_not_exported" in c.name for c in thing.users_collection):
            bpy.data.objects.remove(thing)
    play_actions()
    free_weights()
    return {"meshes": meshes(request["times"], request["out"])}


def main():
    # Blender tells of its progress on standard output, of which a copy is kept for the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception:  # The other side shows it with the file.
            reply = {"error": traceback.format_exc()}
        print(json.dumps(reply), file=answers, flush=True)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
