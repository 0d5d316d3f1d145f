//! A stage with a case of everything that formats tell apart.

const CUBE_COUNTS: &str = "[4, 4, 4, 4, 4, 4]";
const CUBE: [[u32; 4]; 6] = [
    [0, 3, 2, 1],
    [4, 5, 6, 7],
    [0, 1, 5, 4],
    [1, 2, 6, 5],
    [2, 3, 7, 6],
    [3, 0, 4, 7],
];
const ANGLES: &str = r#"prepend apiSchemas = ["SkelBindingAPI"]"#;
const IDENTITY: &str = "((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))";

fn points(x: f32) -> String {
    let corner = |i: u32| {
        let (a, b) = (i.div_ceil(2) % 2, i / 2 % 2);
        format!("({}, {b}, {})", x + a as f32, i / 4)
    };
    let all: Vec<String> = (0..8).map(corner).collect();
    format!("[{}]", all.join(", "))
}

fn indices(left_handed: bool) -> String {
    let face = |f: &[u32; 4]| match left_handed {
        true => format!("{}, {}, {}, {}", f[3], f[2], f[1], f[0]),
        false => format!("{}, {}, {}, {}", f[0], f[1], f[2], f[3]),
    };
    let all: Vec<String> = CUBE.iter().map(face).collect();
    format!("[{}]", all.join(", "))
}

/// Five frames, Z up, in centimetres: a box with uvs of its corners and two materials, bent by two joints; a left-handed box with
/// normals; a rigid one; one that only blends; and a sphere. `place` goes into the SkelRoot.
pub fn usda(place: &str) -> String {
    let (right, left) = (indices(false), indices(true));
    let (a, b, c, d) = (points(0.0), points(2.0), points(4.0), points(6.0));
    let weights = r#"int[] primvars:skel:jointIndices = [0, 0, 0, 0, 1, 1, 1, 1] (elementSize = 1; interpolation = "vertex")
            float[] primvars:skel:jointWeights = [1, 1, 1, 1, 1, 1, 1, 1] (elementSize = 1; interpolation = "vertex")"#;
    // Four uvs, taken by every face, but the last face turned.
    let uvs = r#"texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 0.75), (0, 0.75)] (interpolation = "faceVarying")
            int[] primvars:st:indices = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 3, 0]"#;
    format!(
        r#"#usda 1.0
(
    upAxis = "Z"
    metersPerUnit = 0.01
    startTimeCode = 1
    endTimeCode = 5
    timeCodesPerSecond = 24
    framesPerSecond = 24
)
def SkelRoot "Hero" ({ANGLES}) {{
    {place}
    rel skel:skeleton = </Hero/Skel>
    def Skeleton "Skel" ({ANGLES}) {{
        rel skel:animationSource = </Hero/Skel/Anim>
        uniform token[] joints = ["Root", "Root/Tip"]
        uniform matrix4d[] bindTransforms = [{IDENTITY}, {IDENTITY}]
        uniform matrix4d[] restTransforms = [{IDENTITY}, {IDENTITY}]
        def SkelAnimation "Anim" {{
            uniform token[] joints = ["Root", "Root/Tip"]
            float3[] translations.timeSamples = {{ 1: [(0, 0, 0), (0, 0, 0)], 5: [(0, 4, 0.3), (0.7, 0.1, 1)] }}
            quatf[] rotations.timeSamples = {{ 1: [(1, 0, 0, 0), (1, 0, 0, 0)], 5: [(0.8, 0, 0.6, 0), (0.6, 0.8, 0, 0)] }}
            half3[] scales = [(1, 1, 1), (1, 1, 1)]
            uniform token[] blendShapes = ["grow"]
            float[] blendShapeWeights.timeSamples = {{ 1: [0], 5: [1] }}
        }}
    }}
    def Mesh "Box" ({ANGLES}) {{
        int[] faceVertexCounts = {CUBE_COUNTS}
        int[] faceVertexIndices = {right}
        point3f[] points = {a}
        {uvs}
        {weights}
        rel material:binding = </Looks/Red>
        def GeomSubset "Cap" {{
            uniform token elementType = "face"
            uniform token familyName = "materialBind"
            int[] indices = [1]
            rel material:binding = </Looks/Blue>
        }}
    }}
    def Mesh "Left" ({ANGLES}) {{
        uniform token orientation = "leftHanded"
        int[] faceVertexCounts = {CUBE_COUNTS}
        int[] faceVertexIndices = {left}
        point3f[] points = {b}
        normal3f[] normals = [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)] (interpolation = "vertex")
        {weights}
    }}
    def Mesh "Rigid" ({ANGLES}) {{
        int[] faceVertexCounts = {CUBE_COUNTS}
        int[] faceVertexIndices = {right}
        point3f[] points = {c}
        color3f[] primvars:displayColor = [(0.1, 0.2, 0.3)] (interpolation = "constant")
        int[] primvars:skel:jointIndices = [1] (elementSize = 1; interpolation = "constant")
        float[] primvars:skel:jointWeights = [1] (elementSize = 1; interpolation = "constant")
        double3 xformOp:translate = (0, 0, 3)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
    def Mesh "Blend" ({ANGLES}) {{
        int[] faceVertexCounts = {CUBE_COUNTS}
        int[] faceVertexIndices = {right}
        point3f[] points = {d}
        normal3f[] normals = [(0, 0, -1), (0, 0, 1), (0, -1, 0), (1, 0, 0), (0, 1, 0), (-1, 0, 0)] (interpolation = "uniform")
        uniform token[] skel:blendShapes = ["grow"]
        rel skel:blendShapeTargets = </Hero/Blend/Grow>
        double3 xformOp:translate.timeSamples = {{ 1: (0, 0, 3), 5: (0, 1, 3) }}
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def BlendShape "Grow" {{
            uniform vector3f[] offsets = [(0, 0, 2), (0.1, 0, 2)]
            uniform int[] pointIndices = [4, 6]
        }}
    }}
    def Sphere "Ball" ({ANGLES}) {{
        double radius = 1
        int[] primvars:skel:jointIndices = [1] (elementSize = 1; interpolation = "constant")
        float[] primvars:skel:jointWeights = [1] (elementSize = 1; interpolation = "constant")
    }}
}}
def Scope "Looks" {{
    def Material "Red" {{
        token outputs:surface.connect = </Looks/Red/Shader.outputs:surface>
        def Shader "Shader" {{
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor = (1, 0, 0)
            token outputs:surface
        }}
    }}
    def Material "Blue" {{
        token outputs:surface.connect = </Looks/Blue/Shader.outputs:surface>
        def Shader "Shader" {{
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor = (0, 0, 1)
            token outputs:surface
        }}
    }}
}}
"#
    )
}

/// Turned, moved, and mirrored: what is written in world space has to be turned over.
pub const MIRRORED: &str = r#"double3 xformOp:translate = (3, 1, -2)
    float3 xformOp:rotateXYZ = (10, 20, 30)
    float3 xformOp:scale = (-1, 1.5, 1)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"]"#;

/// Turned and moved alone.
pub const PLACED: &str = r#"double3 xformOp:translate = (3, 1, -2)
    float3 xformOp:rotateXYZ = (10, 20, 30)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ"]"#;
