"""In Blender, replaces what armatures compute by sinew's points.

    python blender_points.py IN.usda OUT.blend      (with bpy from PyPI)
    blender --background --python blender_points.py -- IN.usda OUT.blend

Blender imports the stage. Then each skinned mesh loses its armature, its parent and its shape keys,
and on each change of the frame its vertices get sinew's points in world space: what usd-core
computes, in-betweens and dual quaternions included. The script says how far Blender's own evaluation
is from them. Handlers are not saved in files, so run the script again in a new session.
"""

import sys

import bpy
import mathutils
import numpy as np
import sinew


def coordinates(mesh) -> np.ndarray:
    out = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", out)
    return out.reshape(-1, 3)


def in_world(thing) -> np.ndarray:
    """The vertices that Blender computes for the current frame, in its world: metres, Z up."""
    shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(shown.matrix_world)
    return coordinates(shown.data) @ matrix[:3, :3].T + matrix[:3, 3]


def blender_from_stage(scene: sinew.Scene) -> mathutils.Matrix:
    """From the stage's world to Blender's."""
    turn = mathutils.Matrix.Rotation(np.pi / 2, 4, "X") if scene.up_axis == "Y" else mathutils.Matrix()
    return turn @ mathutils.Matrix.Scale(scene.meters_per_unit, 4)


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


def replace(pairs: list, world: mathutils.Matrix) -> None:
    """Takes the armatures away, and lets the meshes follow sinew."""
    for thing, _ in pairs:
        thing.animation_data_clear()
        thing.shape_key_clear()
        thing.constraints.clear()
        thing.parent = None
        thing.matrix_world = world
        for modifier in [m for m in thing.modifiers if m.type in ("ARMATURE", "MESH_SEQUENCE_CACHE")]:
            thing.modifiers.remove(modifier)
    buffers = [np.empty((prim.point_count, 3), np.float32) for _, prim in pairs]

    def update(blender, *_) -> None:
        for (thing, prim), points in zip(pairs, buffers):
            prim.points(blender.frame_current_final, out=points, space="world")
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
    before = [in_world(thing) for thing, _ in pairs]
    replace(pairs, blender_from_stage(scene))
    bpy.context.scene.frame_set(frame + 1)
    bpy.context.scene.frame_set(frame)
    for (thing, prim), blender in zip(pairs, before):
        assert (coordinates(thing.data) == prim.points(frame, space="world")).all(), prim.path
        distance = np.linalg.norm(blender - in_world(thing), axis=1).max()
        print(f"{prim.path}: Blender's own points were up to {distance:.2e} m away")
    bpy.ops.wm.save_as_mainfile(filepath=out)
    print(f"{out}: {len(pairs)} meshes follow sinew")


if __name__ == "__main__":
    arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    if len(arguments) != 2:
        sys.exit(__doc__)
    main(*arguments)
