//! Characters of a few points, as text of a .usda file.

use std::fmt::Write;

pub const API: &str = r#"prepend apiSchemas = ["SkelBindingAPI"]"#;
pub const IDENTITY: &str = "((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))";

/// A SkelRoot with a Skeleton of two joints, an animation with two channels, and meshes.
pub fn character(name: &str, joints: &str, weights: &str, meshes: &[(&str, &str)]) -> String {
    let mut out = format!(
        r#"def SkelRoot "{name}" ({API}) {{
    rel skel:skeleton = </{name}/Skel>
    def Skeleton "Skel" ({API}) {{
        uniform token[] joints = {joints}
        uniform matrix4d[] bindTransforms = [{IDENTITY}, {IDENTITY}]
        uniform matrix4d[] restTransforms = [{IDENTITY}, {IDENTITY}]
        rel skel:animationSource = </{name}/Anim>
    }}
    def SkelAnimation "Anim" {{
        uniform token[] blendShapes = ["one", "two"]
        float[] blendShapeWeights = {weights}
    }}
"#
    );
    for (mesh, properties) in meshes {
        write!(
            out,
            r#"    def Mesh "{mesh}" ({API}) {{
        point3f[] points = [(0, 0, 0), (1, 0, 0)]
        {properties}
    }}
"#
        )
        .unwrap();
    }
    out + "}\n"
}

/// The two joints.
pub const JOINTS: &str = r#"["A", "A/B"]"#;
pub const INDICES: &str = r#"int[] primvars:skel:jointIndices = [0, 1] (interpolation = "vertex")"#;
pub const WEIGHTS: &str =
    r#"float[] primvars:skel:jointWeights = [1, 1] (interpolation = "vertex")"#;

/// The topology and points of a mesh.
pub const TRIANGLE: &str = "int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]";

/// Each point on the joint of its number.
pub fn influences() -> String {
    format!("{INDICES}\n        {WEIGHTS}")
}

/// A shape for the second channel.
pub const SHAPE: &str = r#"uniform token[] skel:blendShapes = ["two"]
        rel skel:blendShapeTargets = [<Shape>]
        def BlendShape "Shape" { uniform vector3f[] offsets = [(0, 0, 1), (0, 0, 1)]; }"#;
