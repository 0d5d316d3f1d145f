"""Makes the seeds of all fuzz targets, with usd-core 26.11.

    python make_seeds.py [FOLDER]

Writes FOLDER/TARGET/NAME, by default into `seeds` beside this script. The files are the same in every run.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
from glob import glob

from pxr import Sdf, Usd, UsdUtils  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(HERE)
# Larger layers are cut down or left out: a fuzzer changes small inputs best.
MOST = 6000


def put(folder, target, name, data):
    os.makedirs(os.path.join(folder, target), exist_ok=True)
    with open(os.path.join(folder, target, name), "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def read(path):
    with open(path, "rb") as file:
        return file.read()


CHARACTER = '''#usda 1.0
(
    defaultPrim = "Char"
    endTimeCode = 2
    startTimeCode = 1
    upAxis = "Y"
)
def SkelRoot "Char" (
    prepend apiSchemas = ["SkelBindingAPI"]
)
{
    rel skel:skeleton = </Char/Skel>
    def Skeleton "Skel" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {
        uniform matrix4d[] bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1))]
        uniform token[] joints = ["A", "A/B"]
        uniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1))]
        rel skel:animationSource = </Char/Skel/Clip>
        def SkelAnimation "Clip"
        {
            uniform token[] blendShapes = ["Smile"]
            float[] blendShapeWeights.timeSamples = { 1: [0], 2: [0.75] }
            uniform token[] joints = ["A", "A/B"]
            quatf[] rotations.timeSamples = { 1: [(1,0,0,0),(1,0,0,0)], 2: [(1,0,0,0),(0.7,0.7,0,0)] }
            half3[] scales = [(1,1,1),(1,1,1)]
            float3[] translations = [(0,0,0),(0,1,0)]
        }
    }
    def Mesh "Mesh" (
        prepend apiSchemas = ["SkelBindingAPI", "MaterialBindingAPI"]
    )
    {
        rel material:binding = </Char/Look>
        float3[] extent = [(0,0,0), (1,2,0)]
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        normal3f[] normals = [(0,0,1),(0,0,1),(0,0,1),(0,0,1)] (
            interpolation = "vertex"
        )
        point3f[] points = [(0,0,0), (1,0,0), (1,2,0), (0,2,0)]
        matrix4d primvars:skel:geomBindTransform = ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))
        int[] primvars:skel:jointIndices = [0, 1, 0, 1, 1, 0, 1, 0] (
            elementSize = 2
            interpolation = "vertex"
        )
        float[] primvars:skel:jointWeights = [1, 0, 0.5, 0.5, 1, 0, 1, 0] (
            elementSize = 2
            interpolation = "vertex"
        )
        texCoord2f[] primvars:st = [(0,0),(1,0),(1,1),(0,1)] (
            interpolation = "faceVarying"
        )
        uniform token[] skel:blendShapes = ["Smile"]
        rel skel:blendShapeTargets = </Char/Mesh/Smile>
        token subdivisionScheme = "none"
        def BlendShape "Smile"
        {
            uniform vector3f[] offsets = [(0,0,1)]
            uniform vector3f[] inbetweens:half = [(0,0,0.25)] (
                weight = 0.5
            )
            uniform int[] pointIndices = [2]
        }
    }
    def Material "Look"
    {
        token outputs:surface.connect = </Char/Look/Surface.outputs:surface>
        def Shader "Surface"
        {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </Char/Look/Texture.outputs:rgb>
            token outputs:surface
        }
        def Shader "Texture"
        {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @missing.png@
            float3 outputs:rgb
        }
    }
}
'''

STAGES = {
    "arcs": '''#usda 1.0
(
    subLayers = [@sub.usda@ (offset = 1; scale = 2)]
)
def "A" (
    references = [@model.usda@</Model>, </B>]
    payload = @model.usda@
    inherits = </_class>
    specializes = </Base>
    variants = {
    string size = "big"
}
    prepend variantSets = "size"
)
{
    double x.timeSamples = {
    1: 2, 3: 4
}
    variantSet "size" = {
        "big" {
    def "Big" (references = </B>) {}
}
        "small" {
   
}
   
}
}
def "B" {
    custom rel r = [</A>, </A.x>]
}
class "_class" {
    def "Inner" {
    int y = 1
}
}
over "Base" {
    token t = "a" (allowedTokens = ["a"])
}
== sub.usda
#usda 1.0
over "A" {
    double x = 1
 timecode t = 2
 prepend rel r = </B>
}
== model.usda
#usda 1.0
(
    defaultPrim = "Model"
)
def Xform "Model" (inherits = </_class>; kind = "component") {
    def "Inner" (instanceable = true; references = </Shared>) {}
}
def "Shared" {
    def Sphere "S" {
    double radius = 2
}
}
''',
    "cycles": '''#usda 1.0
(
    subLayers = [@root.usda@, @other.usda@]
)
def "A" (references = </B>) {
    def "C" (references = </A>) {}
}
def "B" (inherits = </A>; specializes = </C>) {}
def "C" (payload = </B>) {
    rel r = </C.r>
 double d.connect = </C.d>
}
== other.usda
#usda 1.0
(
    subLayers = [@root.usda@]
)
over "A" (references = @root.usda@</C>) {}
''',
    "relocates": '''#usda 1.0
(
    relocates = {
    </A/Rig/Arm>: </A/Arm>, </A/Old>: <>
}
)
def "A" (references = </Model>) {
    over "Arm" {
    int n = 3
}
}
def "Model" {
    def "Rig" {
    def "Arm" {
    int n = 1
}
}
def "Old" {}
}
''',
    "clips": '''#usda 1.0
def "M" (
    clips = {
    dictionary default = {
    asset[] assetPaths = [@a.usda@, @b.usda@]
 string primPath = "/M"
 double2[] active = [(0, 0), (5, 1)]
 double2[] times = [(0, 0), (5, 5), (5, 0), (10, 5)]
 asset manifestAssetPath = @manifest.usda@
 bool interpolateMissingClipValues = true
}
}
)
{
    double x
}
== a.usda
#usda 1.0
def "M" {
    double x.timeSamples = {
    0: 1, 5: 2
}
}
== b.usda
#usda 1.0
def "M" {
    double x.timeSamples = {
    0: 3, 5: 9
}
}
== manifest.usda
#usda 1.0
def "M" {
    double x
}
''',
    "instances": '''#usda 1.0
def "P" {
    def "Q" {
    int i = 1
 rel r = [</P/Q>, </P>]
}
}
def "I1" (instanceable = true; references = </P>) {}
def "I2" (instanceable = true; references = </P>) {}
def "Outer" {
    def "I3" (instanceable = true; references = </P>) {
    def "lost" {}
}
}
''',
    "expressions": '''#usda 1.0
(
    expressionVariables = {
    string NAME = "model"
 bool ON = true
}
    subLayers = [@`"${NAME}.usda"`@]
)
def "A" (
    variants = {
    string v = "`if(${ON}, 'a', 'b')`"
}
    variantSets = "v"
) {
    variantSet "v" = {
    "a" {
    int n = 1
}
"b" {}
}
 pathExpression e = "/A//{isa:Mesh} - %/B:x"
 asset f = @`"${NAME}.png"`@
}
== model.usda
#usda 1.0
def "B" {
    double s.spline = {
    bezier, pre: loop repeat, 1: 2; pre (0.1, 0.2); post curve (0.5, 2), 4: 7 & 2.5; post held,
}
}
''',
    "array_edits": '''#usda 1.3
def "W" {
    int[] a = [1, 2, 3]
 int[] b.timeSamples = {
    1: [1], 2: [2, 3]
}
}
def "S" (inherits = </W>) {
    int[] a = edit [ write 9 to [0]; insert 4 at [1]; erase [-1]; append 5; resize 8 fill 7 ]
 int[] b = edit [ append 5 ]
}
''',
}


def gltf():
    """JSON and buffer of a small character: two joints, a morph target, two clips, a texture."""
    blob = b""
    views, accessors = [], []

    def accessor(form, numbers, kind, component, **more):
        nonlocal blob
        data = struct.pack(f"<{len(numbers)}{form}", *numbers)
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}[kind]
        views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": len(data)})
        blob += data + b"\0" * (-len(data) % 4)
        accessors.append({"bufferView": len(views) - 1, "componentType": component, "type": kind,
                          "count": len(numbers) // width, **more})
        return len(accessors) - 1

    points = [0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0]
    position = accessor("f", points, "VEC3", 5126, min=[0, 0, 0], max=[1, 2, 0])
    normal = accessor("f", [0, 0, 1] * 4, "VEC3", 5126)
    uv = accessor("f", [0, 0, 1, 0, 1, 1, 0, 1], "VEC2", 5126)
    joints = accessor("B", [0, 1, 0, 0] * 4, "VEC4", 5121)
    weights = accessor("f", [0.5, 0.5, 0, 0] * 4, "VEC4", 5126)
    indices = accessor("H", [0, 1, 2, 0, 2, 3], "SCALAR", 5123)
    target = accessor("f", [0, 0, 0.5] * 4, "VEC3", 5126, min=[0, 0, 0.5], max=[0, 0, 0.5])
    identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    bind = accessor("f", identity + identity[:13] + [-1, 0, 1], "MAT4", 5126)
    times = accessor("f", [0, 0.5, 1], "SCALAR", 5126, min=[0], max=[1])
    rotation = accessor("f", [0, 0, 0, 1, 0, 0, 0.7071, 0.7071, 0, 0, 0, 1], "VEC4", 5126)
    morph = accessor("f", [0, 1, 0], "SCALAR", 5126)
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 2]}],
        "nodes": [{"name": "hips", "children": [1], "translation": [0, 0, 0]},
                  {"name": "spine", "translation": [0, 1, 0], "rotation": [0, 0, 0, 1]},
                  {"name": "body", "mesh": 0, "skin": 0, "weights": [0.25]}],
        "skins": [{"joints": [0, 1], "inverseBindMatrices": bind, "skeleton": 0}],
        "meshes": [{"name": "body", "weights": [0.5], "extras": {"targetNames": ["smile"]},
                    "primitives": [{"attributes": {"POSITION": position, "NORMAL": normal, "TEXCOORD_0": uv,
                                                   "JOINTS_0": joints, "WEIGHTS_0": weights},
                                    "indices": indices, "material": 0, "targets": [{"POSITION": target}]}]}],
        "materials": [{"name": "skin", "pbrMetallicRoughness": {"baseColorFactor": [1, 0.5, 0.25, 1]},
                       "alphaMode": "MASK", "extensions": {"KHR_materials_unlit": {}}}],
        "animations": [{"name": "wave",
                        "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}},
                                     {"sampler": 1, "target": {"node": 2, "path": "weights"}}],
                        "samplers": [{"input": times, "output": rotation, "interpolation": "LINEAR"},
                                     {"input": times, "output": morph, "interpolation": "STEP"}]}],
        "extensionsUsed": ["KHR_materials_unlit"],
        "accessors": accessors, "bufferViews": views, "buffers": [{"byteLength": len(blob)}],
    }
    return document, blob


def glb(document, blob):
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(blob), 0x004E4942) + blob
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


BONES = ["hips", "spine", "head", "leftUpperLeg", "leftLowerLeg", "leftFoot", "rightUpperLeg", "rightLowerLeg",
         "rightFoot", "leftUpperArm", "leftLowerArm", "leftHand", "rightUpperArm", "rightLowerArm", "rightHand"]
PARENTS = [None, 0, 1, 0, 3, 4, 0, 6, 7, 1, 9, 10, 1, 12, 13]


def vrm(old):
    """A humanoid of VRM 0.x or 1.0 with one expression."""
    document, blob = gltf()
    nodes = [{"name": name, "translation": [0.1 * (i % 3), 0.3, 0], "children": []} for i, name in enumerate(BONES)]
    for i, parent in enumerate(PARENTS):
        if parent is not None:
            nodes[parent]["children"].append(i)
    for node in nodes:
        if not node["children"]:
            del node["children"]
    document["nodes"] = nodes + [{"name": "body", "mesh": 0, "skin": 0}]
    document["scenes"] = [{"nodes": [0, len(BONES)]}]
    channels = document["animations"][0]["channels"]
    channels[1]["target"]["node"] = len(BONES)
    if old:
        document["extensionsUsed"] = ["VRM", "KHR_materials_unlit"]
        document["extensions"] = {"VRM": {
            "specVersion": "0.0", "humanoid": {"humanBones": [{"bone": b, "node": i} for i, b in enumerate(BONES)]},
            "blendShapeMaster": {"blendShapeGroups": [{"name": "Joy", "presetName": "joy",
                                                       "binds": [{"mesh": 0, "index": 0, "weight": 100}]}]}}}
    else:
        document["extensionsUsed"] = ["VRMC_vrm", "KHR_materials_unlit"]
        document["extensions"] = {"VRMC_vrm": {
            "specVersion": "1.0", "meta": {"name": "seed", "authors": ["sinew"], "licenseUrl": "https://vrm.dev"},
            "humanoid": {"humanBones": {b: {"node": i} for i, b in enumerate(BONES)}},
            "expressions": {"preset": {"happy": {"morphTargetBinds": [{"node": len(BONES), "index": 0, "weight": 1}]}}}}}
    return glb(document, blob)


BVH = '''HIERARCHY
ROOT Hips
{
    OFFSET 0 0 0
    CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
    JOINT Spine
    {
        OFFSET 0 10 0
        CHANNELS 3 Zrotation Xrotation Yrotation
        End Site
        {
            OFFSET 0 5 0
        }
    }
}
MOTION
Frames: 2
Frame Time: 0.0333333
0 90 0 0 0 0 1 2 3
1 91 0 10 0 0 -1 4 3
'''

FBX = '''; FBX 7.4.0 project file
FBXHeaderExtension:  {
	FBXHeaderVersion: 1003
	FBXVersion: 7400
}
GlobalSettings:  {
	Version: 1000
	Properties70:  {
		P: "UpAxis", "int", "Integer", "",1
		P: "UnitScaleFactor", "double", "Number", "",1
		P: "TimeMode", "enum", "", "",6
	}
}
Objects:  {
	Geometry: 100, "Geometry::Body", "Mesh" {
		Vertices: *9 {
			a: 0,0,0,1,0,0,0,2,0
		}
		PolygonVertexIndex: *3 {
			a: 0,1,-3
		}
		GeometryVersion: 124
	}
	Geometry: 110, "Geometry::Smile", "Shape" {
		Version: 100
		Indexes: *1 {
			a: 2
		}
		Vertices: *3 {
			a: 0,0,1
		}
	}
	Model: 200, "Model::Body", "Mesh" {
		Version: 232
	}
	NodeAttribute: 300, "NodeAttribute::Hips", "LimbNode" {
		TypeFlags: "Skeleton"
	}
	Model: 210, "Model::Hips", "LimbNode" {
		Version: 232
		Properties70:  {
			P: "Lcl Translation", "Lcl Translation", "", "A",0,1,0
		}
	}
	Deformer: 400, "Deformer::Skin", "Skin" {
		Version: 101
	}
	Deformer: 410, "SubDeformer::Hips", "Cluster" {
		Version: 100
		Indexes: *3 {
			a: 0,1,2
		}
		Weights: *3 {
			a: 1,1,0.5
		}
		Transform: *16 {
			a: 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1
		}
		TransformLink: *16 {
			a: 1,0,0,0,0,1,0,0,0,0,1,0,0,1,0,1
		}
	}
	Deformer: 420, "Deformer::Shapes", "BlendShape" {
		Version: 100
	}
	Deformer: 430, "SubDeformer::Smile", "BlendShapeChannel" {
		Version: 100
		DeformPercent: 50
		FullWeights: *1 {
			a: 100
		}
	}
	AnimationStack: 500, "AnimStack::Take", "" {
	}
	AnimationLayer: 510, "AnimLayer::Base", "" {
	}
	AnimationCurveNode: 520, "AnimCurveNode::R", "" {
		Properties70:  {
			P: "d|X", "Number", "", "A",0
		}
	}
	AnimationCurve: 530, "AnimCurve::", "" {
		Default: 0
		KeyVer: 4008
		KeyTime: *2 {
			a: 0,46186158000
		}
		KeyValueFloat: *2 {
			a: 0,90
		}
		KeyAttrFlags: *1 {
			a: 24836
		}
		KeyAttrDataFloat: *4 {
			a: 0,0,0,0
		}
		KeyAttrRefCount: *1 {
			a: 2
		}
	}
}
Connections:  {
	C: "OO",200,0
	C: "OO",210,0
	C: "OO",100,200
	C: "OO",300,210
	C: "OO",400,100
	C: "OO",410,400
	C: "OO",210,410
	C: "OO",420,100
	C: "OO",430,420
	C: "OO",110,430
	C: "OO",510,500
	C: "OO",520,510
	C: "OP",520,210, "Lcl Rotation"
	C: "OP",530,520, "d|X"
}
'''


def layers(folder):
    """Layers of all features as text and as crate files, by name."""
    script = os.path.join(REPOSITORY, "tests/usd/everything.py")
    topics = ["blocks", "names", "metadata", "unregistered", "listOps", "properties", "variants", "arcs",
              "expressions", "sublayers", "clips", "instances", "unknownTypes", "assets", "durations"]
    subprocess.run([sys.executable, script, folder, *topics], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open(os.path.join(folder, "character.usda"), "w") as file:
        file.write(CHARACTER)
    every_type = Sdf.Layer.CreateAnonymous("types.usda")
    for i, kind in enumerate(sorted(dir(Sdf.ValueTypeNames))):
        found = getattr(Sdf.ValueTypeNames, kind)
        if not isinstance(found, Sdf.ValueTypeName) or kind in ("Group", "Opaque"):
            continue
        if not found.isArray and found.defaultValue is not None:
            prim = every_type.GetPrimAtPath("/T") or Sdf.CreatePrimInLayer(every_type, "/T")
            Sdf.AttributeSpec(prim, f"a{i}", found).default = found.defaultValue
            array = found.arrayType
            if array and i % 3 == 0:
                spec = Sdf.AttributeSpec(prim, f"b{i}", array)
                spec.default = type(array.defaultValue)([found.defaultValue] * 20)
    every_type.Export(os.path.join(folder, "types.usda"))
    for name in ("character", "types"):
        Sdf.Layer.FindOrOpen(os.path.join(folder, f"{name}.usda")).Export(os.path.join(folder, f"{name}.usdc"))
    for name, text in STAGES.items():
        root = text.split("\n== ")[0]
        with open(os.path.join(folder, f"stage_{name}.usda"), "w") as file:
            file.write(root)
        layer = Sdf.Layer.OpenAsAnonymous(os.path.join(folder, f"stage_{name}.usda"))
        layer.Export(os.path.join(folder, f"stage_{name}.usdc"))


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "seeds")
    # What fuzzers found stays.
    for path in glob(os.path.join(out, "*", "*")):
        if not os.path.basename(path).startswith("found_"):
            os.remove(path)
    with tempfile.TemporaryDirectory() as folder:
        layers(folder)
        texts = sorted(glob(os.path.join(folder, "*.usda")))
        crates = sorted(glob(os.path.join(folder, "*.usdc"))) + sorted(
            glob(os.path.join(REPOSITORY, "tests/crates/v0.[4-9]*.usdc")))
        for targets, files in ((("usda", "usda_round_trip", "usda_to_usdc"), texts),
                               (("usdc", "usdc_round_trip", "usdc_to_usda"), crates)):
            for path in files:
                if os.path.getsize(path) <= MOST:
                    # The round trips need no seeds of their own that the reader has already, but a few.
                    for target in targets if "stage" not in path else targets[:1]:
                        put(out, target, os.path.basename(path), read(path))
        package = Sdf.ZipFileWriter.CreateNew(os.path.join(folder, "p.usdz"))
        inner = Sdf.ZipFileWriter.CreateNew(os.path.join(folder, "inner.usdz"))
        inner.AddFile(os.path.join(folder, "variants.usdc"), "variants.usdc")
        inner.Save()
        for name in ("blocks.usdc", "listOps.usda", "inner.usdz"):
            package.AddFile(os.path.join(folder, name), name)
        package.Save()
        put(out, "usdz", "nested.usdz", read(os.path.join(folder, "p.usdz")))
        put(out, "usdz", "one.usdz", read(os.path.join(folder, "inner.usdz")))
    for name, text in STAGES.items():
        put(out, "stage", name, text)
    put(out, "stage", "character", CHARACTER)
    put(out, "scene", "character", CHARACTER)
    put(out, "scene", "clips", STAGES["clips"])
    put(out, "scene", "reference", '#usda 1.0\ndef "C" (instanceable = true; references = @c.usda@</Char>) {}\n'
        'def "D" (instanceable = true; references = @c.usda@</Char>) {}\n== c.usda\n' + CHARACTER)
    document, blob = gltf()
    put(out, "gltf", "character.glb", glb(document, blob))
    import base64
    document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(blob).decode()
    put(out, "gltf", "character.gltf", json.dumps(document, separators=(",", ":")))
    put(out, "vrm", "one.vrm", vrm(False))
    put(out, "vrm", "zero.vrm", vrm(True))
    put(out, "bvh", "two_joints.bvh", BVH)
    put(out, "fbx", "character.fbx", FBX)
    put(out, "maps", "joints.json", '{"Hips": "pelvis", "Arm_L": "upperarm_l", "a/b": "c/d"}')
    put(out, "maps", "bones.json", json.dumps({bone: i for i, bone in enumerate(BONES)}))
    for i in range(6):
        put(out, "skin", f"skin{i}", bytes((7 * k * (i + 1) + i) % 251 for k in range(300 + 200 * i)))
    for flags in (0, 1, 2, 9, 16, 32, 128, 176):
        head = struct.pack("<HBH", 5, flags, 20)
        put(out, "skin", f"flags{flags}", head + bytes((k * 37 + flags) % 200 for k in range(900)))


if __name__ == "__main__":
    main()
