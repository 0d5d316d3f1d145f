"""What usd-core says of everything that is drawn, as JSON: meshes, materials, cameras of the stages named."""

import json
import sys

from pxr import Ar, Usd, UsdGeom, UsdShade


def number(value):
    return None if value is None else float(value)


def times_of(stage):
    start, end = stage.GetStartTimeCode(), stage.GetEndTimeCode()
    return [Usd.TimeCode.Default()] + [Usd.TimeCode(t) for t in (start, start * 0.4 + end * 0.6, end)]


def at(time):
    return "default" if time.IsDefault() else time.GetValue()


def flat(primvar):
    """Number and sum of the flattened values at the first time that has any."""
    if not primvar or not primvar.HasValue():
        return None
    times = primvar.GetTimeSamples()
    value = primvar.ComputeFlattened(Usd.TimeCode(times[0]) if times else Usd.TimeCode.Default())
    if value is None:
        return None
    total = sum(float(part) for v in value for part in (v if hasattr(v, "__len__") else (v,)))
    return [len(value), total]


def texture(surface, name):
    """Bytes of the picture that an input reads."""
    value = surface.GetInput(name)
    if not value:
        return None
    for attribute in UsdShade.Utils.GetValueProducingAttributes(value):
        shader = UsdShade.Shader(attribute.GetPrim())
        if shader and shader.GetIdAttr().Get() == "UsdUVTexture":
            path = shader.GetInput("file").Get()
            if path and path.resolvedPath and "<UDIM>" not in path.path:
                asset = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(path.resolvedPath))
                return asset.GetSize() if asset else None
    return None


def bound(prim):
    material = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("preview")[0]
    if not material:
        return None
    surface = material.ComputeSurfaceSource()[0]
    known = bool(surface) and surface.GetIdAttr().Get() == "UsdPreviewSurface"
    out = {"path": str(material.GetPath()), "known": known}
    if known:
        for name in ("diffuseColor", "roughness", "metallic", "opacity"):
            out[name + "Texture"] = texture(surface, name)
            value = surface.GetInput(name)
            # A connection, or another type than the schema's, gives none.
            value = value.Get() if value and not value.HasConnectedSource() else None
            out[name] = [float(v) for v in (value if hasattr(value, "__len__") else [value])] if value is not None else None
    return out


def mesh_of(prim, times):
    mesh = UsdGeom.Mesh(prim)
    first = lambda a: a.Get(Usd.TimeCode.EarliestTime()) if a else None
    size = lambda v: 0 if v is None else len(v)
    holes, counts = first(mesh.GetHoleIndicesAttr()), first(mesh.GetFaceVertexCountsAttr())
    primvars = UsdGeom.PrimvarsAPI(prim)
    image = UsdGeom.Imageable(prim)
    uvs = {p.GetPrimvarName(): flat(p) for p in primvars.GetPrimvars() if str(p.GetTypeName()).startswith(("texCoord2", "float2"))}
    subsets = UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets()
    return {
        "points": size(first(mesh.GetPointsAttr())),
        "faces": size(counts),
        "corners": size(first(mesh.GetFaceVertexIndicesAttr())),
        "holes": size(holes),
        "leftHanded": mesh.GetOrientationAttr().Get() == "leftHanded",
        "doubleSided": bool(UsdGeom.Gprim(prim).GetDoubleSidedAttr().Get()),
        "subdivided": mesh.GetSubdivisionSchemeAttr().Get() != "none" if mesh else False,
        "worlds": [[v for row in UsdGeom.XformCache(t).GetLocalToWorldTransform(prim) for v in row] for t in times],
        "visible": [image.ComputeVisibility(t) != "invisible" for t in times],
        "uvs": uvs,
        "displayColor": flat(primvars.FindPrimvarWithInheritance("displayColor")),
        "subsets": {str(s.GetPath()): size(s.GetIndicesAttr().Get()) for s in subsets},
        "material": bound(prim),
        "isProxy": prim.IsInstanceProxy(),
    }


# Types with sizes in place of points.
SHAPES = (UsdGeom.Sphere, UsdGeom.Cube, UsdGeom.Cylinder, UsdGeom.Cylinder_1, UsdGeom.Cone, UsdGeom.Capsule, UsdGeom.Capsule_1, UsdGeom.Plane)


def shape_of(prim, times):
    """As a mesh, of which its box is compared in place of points and faces."""
    boxes = [UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(prim), t) for t in times]
    return {**mesh_of(prim, times), "boxes": [[list(corner) for corner in box] for box in boxes]}


def camera_of(prim, times):
    out = []
    for time in times:
        camera = UsdGeom.Camera(prim).GetCamera(time)
        frustum = camera.frustum
        window = frustum.GetWindow()
        out.append({
            "perspective": frustum.GetProjectionType().name == "Perspective",
            "window": [*window.GetMin(), *window.GetMax()],
            "nearFar": [frustum.GetNearFar().GetMin(), frustum.GetNearFar().GetMax()],
            "world": [v for row in camera.transform for v in row],
        })
    return out


def stage_of(name):
    stage = Usd.Stage.Open(name)
    times = times_of(stage)
    meshes, cameras = {}, {}
    prims = iter(Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()))
    for prim in prims:
        if prim.IsA(UsdGeom.PointInstancer):
            prims.PruneChildren()
        elif prim.IsA(UsdGeom.Mesh):
            if UsdGeom.Imageable(prim).ComputePurpose() in ("default", "render"):
                meshes[str(prim.GetPath())] = mesh_of(prim, times)
        elif any(prim.IsA(shape) for shape in SHAPES):
            if UsdGeom.Imageable(prim).ComputePurpose() in ("default", "render"):
                meshes[str(prim.GetPath())] = shape_of(prim, times)
        elif prim.IsA(UsdGeom.Camera):
            cameras[str(prim.GetPath())] = camera_of(prim, times)
    return {"times": [at(t) for t in times], "meshes": meshes, "cameras": cameras}


out = {}
for name in sys.argv[1:]:
    try:
        out[name] = stage_of(name)
    except Exception as error:  # Some real files are broken on purpose.
        print(name, error, file=sys.stderr)
        out[name] = None
print(json.dumps(out))
