//! A small character as text.

pub const API: &str = r#"prepend apiSchemas = ["SkelBindingAPI"]"#;
pub const IDENTITY: &str = "((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))";

/// Contents of the SkelRoot /Hero: one joint that the animation moves, and a mesh of one point.
pub fn rig(translations: &str, point: &str) -> String {
    format!(
        r#"rel skel:skeleton = </Hero/Skel>
        def Skeleton "Skel" ({API}) {{
            rel skel:animationSource = </Hero/Skel/Anim>
            uniform token[] joints = ["A"]
            uniform matrix4d[] bindTransforms = [{IDENTITY}]
            uniform matrix4d[] restTransforms = [{IDENTITY}]
            def SkelAnimation "Anim" {{
                uniform token[] joints = ["A"]
                {translations}
                quatf[] rotations = [(1, 0, 0, 0)]
                half3[] scales = [(1, 1, 1)]
            }}
        }}
        def Mesh "Body" ({API}) {{
            point3f[] points = [{point}]
            int[] primvars:skel:jointIndices = [0] (elementSize = 1; interpolation = "vertex")
            float[] primvars:skel:jointWeights = [1] (elementSize = 1; interpolation = "vertex")
        }}
"#
    )
}
