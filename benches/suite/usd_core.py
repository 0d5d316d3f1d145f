"""usd-core's own skinning of the suite's work loads; one JSON row per line.

usage: usd_core.py FILE LOAD RUNS FEWEST SECONDS

FILE is a load that `cargo bench --bench suite -- export FOLDER` wrote. Each function is timed by itself, on data that is
read and ordered beforehand, in place over its own results, which spares it a copy: SkinPointsLBS and SkinNormals with
matrices of floats and of doubles (the better counts), and ComputeDeformedPoints.
"""
import json
import sys
import time

from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

FILE, LOAD, RUNS, FEWEST, SECONDS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
SHORT, WARM = 0.2, 0.3  # as measure.rs has them
VERSION = "usd-core " + ".".join(str(v) for v in Usd.GetVersion()[1:])


def measure(case, points, threads, run):
    cold = time.perf_counter()
    run()
    while time.perf_counter() - cold < WARM:
        run()
    times, start = [], time.perf_counter()
    while True:
        spent = time.perf_counter() - start
        if len(times) >= RUNS and spent >= SHORT or len(times) >= FEWEST and spent >= SECONDS:
            break
        before = time.perf_counter()
        run()
        times.append(time.perf_counter() - before)
    print(json.dumps({
        "load": LOAD, "case": case, "who": VERSION, "threads": threads, "points": points,
        "times": {"seconds": sorted(times)},
        "floor_bytes": None, "floor": None, "bytes_per_point": None, "note": "",
    }), flush=True)


def read(cache, binding):
    """Of each skinned prim: what its functions take."""
    skel = cache.GetSkelQuery(binding.GetSkeleton())
    out = []
    for query in binding.GetSkinningTargets():
        mesh = UsdGeom.Mesh(query.GetPrim())
        points, normals = mesh.GetPointsAttr().Get(0), mesh.GetNormalsAttr().Get(0)
        item = {"prim": query.GetPrim(), "points": points, "normals": normals}
        if query.HasJointInfluences():
            indices, weights = query.ComputeJointInfluences(0)
            # skel:joints is not authored, so the skeleton's order is the prim's.
            transforms = skel.ComputeSkinningTransforms(0)
            item.update(
                indices=indices, weights=weights, count=query.GetNumInfluencesPerComponent(),
                bind=Gf.Matrix4d(query.GetGeomBindTransform(0)), transforms=transforms,
                bind_f=Gf.Matrix4f(query.GetGeomBindTransform(0)),
                transforms_f=Vt.Matrix4fArray([Gf.Matrix4f(m) for m in transforms]),
                inverse_f=Vt.Matrix3fArray(
                    [Gf.Matrix3f(m.ExtractRotationMatrix().GetInverse().GetTranspose()) for m in transforms]),
                inverse_d=Vt.Matrix3dArray(
                    [m.ExtractRotationMatrix().GetInverse().GetTranspose() for m in transforms]),
            )
        if query.HasBlendShapes():
            shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(query.GetPrim()))
            weights = skel.GetAnimQuery().ComputeBlendShapeWeights(0)
            mapper = query.GetBlendShapeMapper()
            if mapper:
                weights = mapper.Remap(weights)
            item.update(
                shapes=shapes, sub=shapes.ComputeSubShapeWeights(weights),
                indices=shapes.ComputeBlendShapePointIndices(), offsets=shapes.ComputeSubShapePointOffsets(),
            )
        out.append(item)
    return out


def main():
    stage = Usd.Stage.Open(FILE)
    root = UsdSkel.Root(stage.GetPrimAtPath("/Load"))
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.PrimDefaultPredicate)
    items = [i for b in cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate) for i in read(cache, b)]
    count = sum(len(i["points"]) for i in items)
    lbs = UsdSkel.Tokens.classicLinear
    parallel = None
    for in_serial in (True, False):
        # 0 stands for as many as the machine has; the suite knows how many.
        threads = 1 if in_serial else 0
        if "weights" in items[0]:
            for i in items:
                i["out"] = Vt.Vec3fArray(i["points"])

            def doubles():
                for i in items:
                    assert UsdSkel.SkinPointsLBS(
                        i["bind"], i["transforms"], i["indices"], i["weights"], i["count"], i["out"], in_serial)

            def floats():
                for i in items:
                    assert UsdSkel.SkinPointsLBS(
                        i["bind_f"], i["transforms_f"], i["indices"], i["weights"], i["count"], i["out"], in_serial)

            measure("points", count, threads, doubles)
            for i in items:
                i["out"] = Vt.Vec3fArray(i["points"])
            measure("points", count, threads, floats)
            if items[0]["normals"]:
                for i in items:
                    i["normals_out"] = Vt.Vec3fArray(i["normals"])

                def normals(kind):
                    bind = (Gf.Matrix3d if kind == "d" else Gf.Matrix3f)(1)
                    for i in items:
                        assert UsdSkel.SkinNormals(
                            lbs, bind, i["inverse_" + kind], i["indices"], i["weights"], i["count"],
                            i["normals_out"], in_serial)

                measure("normals", count, threads, lambda: normals("d"))
                measure("normals", count, threads, lambda: normals("f"))
        elif not in_serial:
            for i in items:
                i["out"] = Vt.Vec3fArray(i["points"])

            def blend():
                for i in items:
                    values, blend_shapes, sub_shapes = i["sub"]
                    assert i["shapes"].ComputeDeformedPoints(
                        values, blend_shapes, sub_shapes, i["indices"], i["offsets"], i["out"])

            measure("blend", count, 0, blend)


main()
