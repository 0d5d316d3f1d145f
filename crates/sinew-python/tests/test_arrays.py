"""Skinning of plain arrays: usd-core's values, no copies, and errors."""

import threading
import time

import numpy as np
import pytest
import sinew
from pxr import Gf, UsdSkel, Vt

POINTS, JOINTS, INFLUENCES = 3000, 9, 5
#: Points are within 3 units, and both sides add five products of f32 in another order: an error of f32
#: there is 2.4e-7, and ten of them add up to less than this.
NEAR = 1e-5


@pytest.fixture
def arrays():
    random = np.random.default_rng(7)
    points = random.uniform(-1, 1, (POINTS, 3)).astype(np.float32)
    indices = random.integers(0, JOINTS, (POINTS, INFLUENCES)).astype(np.int32)
    weights = random.uniform(0, 1, (POINTS, INFLUENCES)).astype(np.float32)
    weights /= weights.sum(axis=1, keepdims=True)
    palette = np.stack([matrix(random) for _ in range(JOINTS)])
    return points, indices, weights, palette, matrix(random)


def matrix(random):
    turn = Gf.Rotation(Gf.Vec3d(*random.uniform(-1, 1, 3)), random.uniform(-90, 90))
    out = Gf.Matrix4d().SetRotate(turn)
    out.SetTranslateOnly(Gf.Vec3d(*random.uniform(-1, 1, 3)))
    return np.array(out)


def of_usd_core(method, arrays):
    points, indices, weights, palette, bind = arrays
    out = Vt.Vec3fArray.FromNumpy(points)
    matrices = Vt.Matrix4dArray([Gf.Matrix4d(m.tolist()) for m in palette])
    flat = (Vt.IntArray(indices.reshape(-1).tolist()), Vt.FloatArray(weights.reshape(-1).tolist()))
    ok = UsdSkel.SkinPoints(method, Gf.Matrix4d(bind.tolist()), matrices, *flat, INFLUENCES, out)
    assert ok
    return np.array(out)


def test_points_are_those_of_usd_core(arrays):
    for skin, method in (
        (sinew.skin_points_lbs, UsdSkel.Tokens.classicLinear),
        (sinew.skin_points_dqs, UsdSkel.Tokens.dualQuaternion),
    ):
        error = np.abs(skin(*arrays) - of_usd_core(method, arrays)).max()
        assert error < NEAR, (method, error)


def test_normals_are_those_of_usd_core(arrays):
    normals, indices, weights, palette, bind = arrays
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    inverse = [np.linalg.inv(m[:3, :3]).T for m in (*palette, bind)]
    matrices = Vt.Matrix3dArray([Gf.Matrix3d(*m.reshape(-1).tolist()) for m in inverse[:-1]])
    flat = (Vt.IntArray(indices.reshape(-1).tolist()), Vt.FloatArray(weights.reshape(-1).tolist()))
    for skin, method in (
        (sinew.skin_normals_lbs, UsdSkel.Tokens.classicLinear),
        (sinew.skin_normals_dqs, UsdSkel.Tokens.dualQuaternion),
    ):
        out = Vt.Vec3fArray.FromNumpy(normals)
        bound = Gf.Matrix3d(*inverse[-1].reshape(-1).tolist())
        assert UsdSkel.SkinNormals(method, bound, matrices, *flat, INFLUENCES, out)
        theirs = np.array(out)
        theirs /= np.linalg.norm(theirs, axis=1, keepdims=True)
        error = np.abs(skin(normals, indices, weights, palette, bind) - theirs).max()
        assert error < NEAR, (method, error)


def test_shapes_are_those_of_usd_core(arrays):
    points, offsets = arrays[0], arrays[0][::-1][:50].copy()
    chosen = np.arange(0, 500, 10, dtype=np.int32)
    theirs = Vt.Vec3fArray.FromNumpy(points)
    shape = (Vt.Vec3fArray.FromNumpy(offsets), Vt.IntArray(chosen.tolist()))
    assert UsdSkel.ApplyBlendShape(0.25, *shape, theirs)
    ours = sinew.apply_blend_shape(points, offsets, 0.25, chosen)
    assert (ours == np.array(theirs)).all() and ours is not points
    again = points.copy()
    assert sinew.apply_blend_shape(again, offsets, 0.25, chosen, out=again) is again
    assert (again == ours).all()


def seen_by_native(monkeypatch):
    """The addresses of the arrays that reach the native function."""
    from sinew import _arrays

    native, seen = _arrays._sinew.skin, []

    def spy(*args):
        seen.extend(a.ctypes.data for a in args if isinstance(a, np.ndarray))
        return native(*args)

    class Native:
        skin = staticmethod(spy)

    monkeypatch.setattr(_arrays, "_sinew", Native)
    return seen


def test_nothing_is_copied_that_fits(arrays, monkeypatch):
    seen = seen_by_native(monkeypatch)
    points, indices, weights, palette, bind = arrays
    out = np.empty_like(points)
    assert sinew.skin_points_lbs(points, indices, weights, palette, bind, out=out) is out
    given = [a.ctypes.data for a in (points, indices, weights, palette, bind, out)]
    assert seen == given


def test_arrays_of_pxr_are_used_in_place(arrays, monkeypatch):
    seen = seen_by_native(monkeypatch)
    points, indices, weights, palette, bind = arrays
    vt = (
        Vt.Vec3fArray.FromNumpy(points),
        Vt.IntArray.FromNumpy(indices.reshape(-1)),
        Vt.FloatArray.FromNumpy(weights.reshape(-1)),
        Vt.Matrix4dArray.FromBuffer(palette),
    )
    ours = sinew.skin_points_lbs(*vt, Gf.Matrix4d(bind.tolist()))
    assert seen[:4] == [np.asarray(memoryview(a)).ctypes.data for a in vt]
    assert (ours == sinew.skin_points_lbs(points, indices, weights, palette, bind)).all()


def test_constant_influences_move_all_points_alike(arrays):
    points, _, _, palette, bind = arrays
    ours = sinew.skin_points_lbs(points, [[2, 4]], [[0.5, 0.5]], palette, bind)
    many = (np.tile([2, 4], (POINTS, 1)), np.full((POINTS, 2), 0.5))
    # The loops of the two add in another order.
    assert np.allclose(ours, sinew.skin_points_lbs(points, *many, palette, bind), rtol=0, atol=1e-6)


def test_wrong_arrays_are_errors(arrays):
    points, indices, weights, palette, bind = arrays
    bad = indices.copy()
    bad[2000, 3] = JOINTS
    at = 2000 * INFLUENCES + 3
    with pytest.raises(sinew.InvalidError, match=f"below {JOINTS}, found {JOINTS} at influence {at}"):
        sinew.skin_points_lbs(points, bad, weights, palette)
    for wrong, message in (
        ((points[:, :2], indices, weights, palette), "expected shape"),
        ((points, indices[1:], weights[1:], palette), "expected 3000 rows or 1"),
        ((points, indices, weights[:, 1:], palette), "expected the same shape"),
        ((points, weights, weights, palette), "expected integers, found float32"),
        ((points, indices.astype(np.int64) + 2**40, weights, palette), "32 bits"),
        ((points, indices, weights, palette[0]), "palette: expected shape"),
        ((points, indices, weights, palette + np.inf), "is not finite"),
    ):
        with pytest.raises(sinew.UsageError, match=message):
            sinew.skin_points_lbs(*wrong)
    with pytest.raises(sinew.UsageError, match="memory of its own"):
        sinew.skin_points_lbs(points, indices, weights, palette, out=points)


def test_other_threads_run_meanwhile(arrays):
    """A thread that only counts gets its turn while this one skins."""
    points, indices, weights, palette, _ = (np.tile(a, (400,) + (1,) * (a.ndim - 1)) for a in arrays)
    palette = palette[:JOINTS]
    # By the processor time of this process, which stands still while a busy machine runs others.
    turns, done, is_found = [], threading.Event(), False

    def count():
        while not done.is_set():
            turns.append(time.process_time())
            time.sleep(0.0005)

    other = threading.Thread(target=count)
    other.start()
    out = np.empty_like(points)
    limit = time.monotonic() + 300
    while not is_found and time.monotonic() < limit:
        start = time.process_time()
        sinew.skin_points_lbs(points, indices, weights, palette, out=out)
        end = time.process_time()
        # Where it has no turn meanwhile, it has some just before the call begins or after it ends.
        part = (end - start) / 4
        is_found = any(start + part < turn < end - part for turn in turns)
        turns.clear()
    done.set()
    other.join()
    assert is_found
