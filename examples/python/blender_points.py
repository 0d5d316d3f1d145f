"""In Blender, replaces what armatures compute by sinew's points.

    python blender_points.py IN.usda OUT.blend      (with bpy from PyPI)
    blender --background --python blender_points.py -- IN.usda OUT.blend

Blender imports the stage. Then each skinned mesh loses its armature modifier and its shape keys, and
on each change of the frame its vertices get sinew's points: what usd-core computes, in-betweens and
dual quaternions included. The script says how far Blender's own evaluation is from them. Handlers
are not saved in files, so run the script again in a new session.
"""

import sys

import bpy
import numpy as np
import sinew


def coordinates(mesh) -> np.ndarray:
    out = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", out)
    return out.reshape(-1, 3)


def evaluated(thing) -> np.ndarray:
    """The vertices that Blender computes for the current frame."""
    return coordinates(thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)


def skinned(scene: sinew.Scene) -> list:
    """Pairs of Blender's object and the prim of each skinned mesh, by name and number of points."""
    pairs = []
    for path, prim in scene.items():
        name = path.rsplit("/", 1)[-1]
        for thing in bpy.data.objects:
            is_mesh = thing.type == "MESH" and name in (thing.name, thing.data.name)
            if is_mesh and len(thing.data.vertices) == prim.point_count:
                pairs.append((thing, prim))
    return pairs


def replace(pairs: list) -> None:
    """Takes the armatures away, and lets the meshes follow sinew."""
    for thing, _ in pairs:
        thing.shape_key_clear()
        for modifier in [m for m in thing.modifiers if m.type in ("ARMATURE", "MESH_SEQUENCE_CACHE")]:
            thing.modifiers.remove(modifier)
    buffers = [np.empty((prim.point_count, 3), np.float32) for _, prim in pairs]

    def update(blender, *_) -> None:
        for (thing, prim), points in zip(pairs, buffers):
            prim.points(blender.frame_current_final, out=points)
            thing.data.vertices.foreach_set("co", points.reshape(-1))
            thing.data.update()

    bpy.app.handlers.frame_change_post.append(update)


def main(source: str, out: str) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=source)
    scene = sinew.open(source)
    pairs = skinned(scene)
    if not pairs:
        sys.exit(f"{source}: no skinned mesh was imported")
    frame = int((scene.time_range or (1, 1))[0]) + 10
    bpy.context.scene.frame_set(frame)
    before = [evaluated(thing) for thing, _ in pairs]
    replace(pairs)
    bpy.context.scene.frame_set(frame + 1)
    bpy.context.scene.frame_set(frame)
    for (thing, prim), blender in zip(pairs, before):
        points = prim.points(frame)
        assert (evaluated(thing) == points).all(), f"{prim.path} does not follow"
        print(f"{prim.path}: Blender's own points were up to {np.abs(blender - points).max():.2e} away")
    bpy.ops.wm.save_as_mainfile(filepath=out)
    print(f"{out}: {len(pairs)} meshes follow sinew")


if __name__ == "__main__":
    arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    if len(arguments) != 2:
        sys.exit(__doc__)
    main(*arguments)
