"""Every kind of prim that a skeleton can move."""

from pxr import Gf, Sdf, UsdGeom, Vt

from transforms import add_transform

POINT_BASED = ("Mesh", "Mesh", "Mesh", "Mesh", "Points", "BasisCurves", "NurbsCurves", "HermiteCurves", "NurbsPatch", "TetMesh")
POINTLESS = (
    "Sphere", "Cube", "Cylinder", "Cylinder_1", "Cone", "Capsule", "Capsule_1", "Plane",
    "PointInstancer", "Volume", "RectLight",
)  # fmt: skip
NORMALS = (None, "vertex", "vertex", "varying", "faceVarying", "faceVarying", "uniform", "constant")


def add_gprim(draw, stage, path, point_count):
    """Defines a prim with data of its own; returns it and how many points it has (0: none)."""
    pointless = draw.chance(0.15)
    type_name = draw.choice(POINTLESS if pointless else POINT_BASED)
    prim = stage.DefinePrim(path, type_name)
    add_transform(draw, prim)
    if type_name in POINTLESS:
        return prim, 0
    count = _round_up(type_name, point_count)
    if type_name == "NurbsPatch":
        count = 4 * (count // 4)
    faces = _add_topology(draw, prim, type_name, count)
    _add_points(draw, prim, count)
    if draw.chance(0.75):
        _add_normals(draw, prim, count, faces)
    if type_name in ("Points", "BasisCurves", "NurbsCurves") and draw.chance(0.6):
        _add_widths(draw, prim, count)
    return prim, count


def _round_up(type_name, count):
    """Cubic curves and patches need four points at least."""
    return max(count, 4) if type_name != "Points" else max(count, 1)


def _add_topology(draw, prim, type_name, count):
    """Returns the corners of each face, for normals of faces and corners."""
    if type_name == "Mesh":
        faces = _faces(draw, count)
        mesh = UsdGeom.Mesh(prim)
        mesh.CreateFaceVertexCountsAttr([len(f) for f in faces])
        mesh.CreateFaceVertexIndicesAttr([i for f in faces for i in f])
        mesh.CreateSubdivisionSchemeAttr(draw.choice(("none", "catmullClark")))
        return faces
    if type_name in ("BasisCurves", "HermiteCurves", "NurbsCurves"):
        UsdGeom.Curves(prim).CreateCurveVertexCountsAttr([count])
        if type_name == "BasisCurves":
            UsdGeom.BasisCurves(prim).CreateTypeAttr(draw.choice(("linear", "cubic")))
        if type_name == "NurbsCurves":
            UsdGeom.NurbsCurves(prim).CreateOrderAttr([3])
            UsdGeom.NurbsCurves(prim).CreateKnotsAttr([float(i) for i in range(count + 3)])
        if type_name == "HermiteCurves":
            UsdGeom.HermiteCurves(prim).CreateTangentsAttr([Gf.Vec3f(draw.direction()) for _ in range(count)])
        return [range(count)]
    if type_name == "NurbsPatch":
        patch, rows = UsdGeom.NurbsPatch(prim), count // 4
        patch.CreateUVertexCountAttr(4)
        patch.CreateVVertexCountAttr(rows)
        patch.CreateUOrderAttr(2)
        patch.CreateVOrderAttr(2)
        patch.CreateUKnotsAttr([float(i) for i in range(6)])
        patch.CreateVKnotsAttr([float(i) for i in range(rows + 2)])
    if type_name == "TetMesh":
        UsdGeom.TetMesh(prim).CreateTetVertexIndicesAttr([Gf.Vec4i(0, 1, 2, 3)])
    return [range(count)]


def _faces(draw, count):
    """Triangles and quads that use every point once at least, where that goes."""
    order = list(range(count))
    draw.shuffle(order)
    faces, i = [], 0
    while i + 3 <= count:
        size = draw.choice((3, 4)) if i + 4 <= count else 3
        faces.append(order[i : i + size])
        i += size - 1
    return faces


def _add_points(draw, prim, count):
    far = draw.vector(100) if draw.chance(0.05) else Gf.Vec3d(0)
    rest = [draw.vector() + far for _ in range(count)]
    make = lambda: Vt.Vec3fArray([Gf.Vec3f(p + draw.vector(0.1)) for p in rest])
    attribute = UsdGeom.PointBased(prim).CreatePointsAttr()
    if draw.chance(0.15):
        draw.animate(attribute, make)
    else:
        attribute.Set(make())
    if draw.chance(0.3):
        extent = UsdGeom.PointBased.ComputeExtent(make())
        UsdGeom.Boundable(prim).CreateExtentAttr(extent)


def _add_normals(draw, prim, count, faces):
    interpolation = draw.choice(NORMALS)
    if interpolation == "faceVarying" and not prim.IsA(UsdGeom.Mesh):
        interpolation = "vertex"
    sizes = {"faceVarying": sum(len(f) for f in faces), "uniform": len(faces), "constant": 1}
    size = sizes.get(interpolation, count)
    if draw.chance(0.03):
        size += 1  # The wrong number: they stay while the points are baked (rule 24).
    length = draw.choice((1, 1, 1, 2.5))
    make = lambda: Vt.Vec3fArray([Gf.Vec3f(draw.direction() * length) for _ in range(size)])
    normals = UsdGeom.PointBased(prim)
    attribute = normals.CreateNormalsAttr()
    if draw.chance(0.12):
        draw.animate(attribute, make)
    else:
        attribute.Set(make())
    if interpolation:
        normals.SetNormalsInterpolation(interpolation)


def _add_widths(draw, prim, count):
    # As many as points where each point has its own box, see differences.py.
    each = draw.chance(0.6) or prim.GetTypeName() == "Points"
    interpolation, size = ("vertex", count) if each else ("constant", 1)
    attribute = prim.CreateAttribute("widths", Sdf.ValueTypeNames.FloatArray)
    attribute.Set(Vt.FloatArray([draw.uniform(0.1, 1) for _ in range(size)]))
    attribute.SetMetadata("interpolation", interpolation)
