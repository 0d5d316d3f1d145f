"""Points, normals, transforms and extents of prims: the bits of a bake, and usd-core's values."""

import numpy as np
import pytest
import sinew
from pxr import Usd, UsdGeom, UsdSkel

#: Points of the hatchling are a few units from the origin; results differ from usd-core's by
#: roundings of f32 (crates/sinew-verify/src/tolerance.rs).
NEAR = 2e-5


def samples(stage, path, name, times):
    attribute = stage.GetPrimAtPath(path).GetAttribute(name)
    return np.stack([np.array(attribute.Get(float(time))) for time in times])


@pytest.mark.parametrize("space", ["prim", "skel", "world"])
def test_the_bits_are_those_of_a_bake(hatchling, tmp_path, space):
    out = str(tmp_path / "out.usdc")
    sinew.bake(hatchling, out, frames=(1, 12), space=space, rigid="points", backend="cpu")
    stage = Usd.Stage.Open(out)
    for prim in sinew.open(hatchling).values():
        points = prim.points(range(1, 13), space=space, backend="cpu")
        assert (points == samples(stage, prim.path, "points", range(1, 13))).all(), prim.path
        extents = prim.extents(range(1, 13), space=space, backend="cpu")
        assert (extents == samples(stage, prim.path, "extent", range(1, 13))).all(), prim.path
        if stage.GetPrimAtPath(prim.path).GetAttribute("normals").GetNumTimeSamples():
            normals = prim.normals(range(1, 13), space=space, backend="cpu")
            assert (normals == samples(stage, prim.path, "normals", range(1, 13))).all(), prim.path


def test_transforms_of_rigid_prims_are_those_of_a_bake(hatchling, tmp_path):
    out = str(tmp_path / "out.usdc")
    sinew.bake(hatchling, out, frames=(1, 12), backend="cpu")
    stage = Usd.Stage.Open(out)
    moved = 0
    for prim in sinew.open(hatchling).values():
        local = prim.transforms(range(1, 13))
        world = prim.transforms(range(1, 13), space="world")
        for time, to_parent, to_world in zip(range(1, 13), local, world):
            baked = UsdGeom.Xformable(stage.GetPrimAtPath(prim.path))
            assert np.allclose(to_parent, baked.GetLocalTransformation(time), rtol=0, atol=1e-12)
            whole = baked.ComputeLocalToWorldTransform(time)
            assert np.allclose(to_world, whole, rtol=0, atol=1e-12)
        influences = prim.influences
        moved += influences is not None and influences.constant
    assert moved == 3


def test_points_are_those_of_usd_core(hatchling):
    stage = Usd.Stage.Open(hatchling)
    cache = UsdSkel.Cache()
    root = UsdSkel.Root(stage.GetPrimAtPath("/Hatchling"))
    assert cache.Populate(root, Usd.PrimDefaultPredicate)
    (binding,) = cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate)
    skeleton = cache.GetSkelQuery(binding.GetSkeleton())
    scene = sinew.open(hatchling)
    compared = 0
    for query in binding.GetSkinningTargets():
        prim = scene[query.GetPrim().GetPath()]
        if query.HasBlendShapes() or query.IsRigidlyDeformed():
            continue
        for time in (1, 30.5, 96):
            rest = UsdGeom.PointBased(query.GetPrim()).GetPointsAttr().Get(time)
            assert query.ComputeSkinnedPoints(skeleton.ComputeSkinningTransforms(time), rest, time)
            error = np.abs(prim.points(time, space="skel", backend="cpu") - np.array(rest)).max()
            assert error < NEAR, (prim.path, time, error)
            compared += 1
        ours = scene.skeletons[0].transforms([1, 30.5], space="skinning")
        for time, matrices in zip((1, 30.5), ours):
            theirs = np.array(skeleton.ComputeSkinningTransforms(time))
            # usd-core multiplies the components of joints in single precision.
            assert np.allclose(matrices, theirs, rtol=0, atol=1e-6)
    assert compared >= 3


def test_influences_and_shapes_are_those_of_the_file(hatchling):
    stage = Usd.Stage.Open(hatchling)
    body = sinew.open(hatchling)["/Hatchling/Geo/Body"]
    bound = UsdSkel.BindingAPI(stage.GetPrimAtPath(body.path))
    influences = body.influences
    indices = bound.GetJointIndicesPrimvar()
    assert influences.indices.shape == (body.point_count, indices.GetElementSize())
    assert influences.indices.reshape(-1).tolist() == list(indices.Get())
    assert (influences.weights.reshape(-1) == np.array(bound.GetJointWeightsPrimvar().Get())).all()
    assert body.channels == list(bound.GetBlendShapesAttr().Get())
    for shape in body.blend_shapes:
        authored = UsdSkel.BlendShape(stage.GetPrimAtPath(shape.path))
        assert (shape.offsets == np.array(authored.GetOffsetsAttr().Get())).all()
        assert shape.point_indices.tolist() == list(authored.GetPointIndicesAttr().Get())
        assert len(shape.inbetweens) == len(authored.GetInbetweens())


def test_a_buffer_of_the_caller_is_filled_in_place(hatchling):
    body = sinew.open(hatchling).values()[0]
    buffer = np.full((5, body.point_count, 3), np.nan, np.float32)
    address = buffer.__array_interface__["data"][0]
    points = body.points(range(1, 6), out=buffer)
    assert points is buffer and points.__array_interface__["data"][0] == address
    assert (buffer == body.points(range(1, 6))).all()
    # A part of a larger array is contiguous too.
    body.points([7, 8], out=buffer[1:3])
    assert (buffer[1:3] == body.points([7, 8])).all() and (buffer[0] == body.points(1)).all()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda n: np.empty((2, n, 3)),
        lambda n: np.empty((3, n, 3), np.float32),
        lambda n: np.empty((2, n, 6), np.float32)[:, :, ::2],
        lambda n: np.broadcast_to(np.float32(0), (2, n, 3)),
        lambda n: [[0.0] * 3] * n,
    ],
)
def test_a_buffer_that_does_not_fit_is_refused(hatchling, wrong):
    body = sinew.open(hatchling).values()[0]
    with pytest.raises(sinew.UsageError, match="^out: expected a writable C-contiguous float32"):
        body.points([1, 2], out=wrong(body.point_count))


def test_times_have_many_forms(hatchling):
    body = sinew.open(hatchling).values()[0]
    one = body.points(3)
    assert one.shape == (body.point_count, 3) and one.dtype == np.float32
    for times in ([3], (3.0,), range(3, 4), np.array([3]), iter([3])):
        assert (body.points(times)[0] == one).all()
    assert body.points().shape[0] == 96
    assert body.points("default").shape == one.shape
    assert body.points([]).shape == (0, body.point_count, 3)
    for wrong in ("now", [float("nan")], [None], float("inf")):
        with pytest.raises(sinew.UsageError, match="^times: expected"):
            body.points(wrong)
    with pytest.raises(sinew.UsageError, match="^space: expected prim, skel or world"):
        body.points(1, space="screen")


def test_what_is_not_there_is_an_error(hatchling):
    scene = sinew.open(hatchling)
    with pytest.raises(sinew.UnknownPrimError, match="no skinned prim at /no/such") as raised:
        scene["/no/such"]
    assert isinstance(raised.value, KeyError) and raised.value.prim == "/no/such"
    with pytest.raises(sinew.Error) as raised:
        scene.values()[0].normals(1, property="primvars:normals")
    assert (raised.value.prim, raised.value.property) == (scene.keys()[0], "primvars:normals")
    with pytest.raises(sinew.GpuError):
        scene.values()[0].points(1, backend="an adapter that nobody has")


def test_a_scene_is_a_mapping(hatchling):
    from pxr import Sdf

    scene = sinew.open(hatchling)
    assert list(scene) == scene.keys() == [prim.path for prim in scene.values()]
    assert len(scene) == len(scene.items()) == 8
    assert Sdf.Path("/Hatchling/Geo/Body") in scene and 0 not in scene
    assert scene[Sdf.Path("/Hatchling/Geo/Body")].path == "/Hatchling/Geo/Body"
    with pytest.raises(TypeError):
        scene[0]
