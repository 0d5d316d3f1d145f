//! A character that the tests write: a skinned body of two materials, a face that only blends, a hat
//! that stands still, and two clips.

use std::path::PathBuf;

pub const HERO: &str = "hero.usda";

pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }
}

/// A folder with the character and its texture.
pub fn folder() -> Folder {
    folder_of(TEXT)
}

/// The same with a second character in the file, which has a skeleton of its own.
pub fn twins() -> Folder {
    let (head, hero) = TEXT.split_at(TEXT.find("def SkelRoot").unwrap());
    let twin = hero.replace("\"Hero\"", "\"Twin\"");
    folder_of(&format!("{head}{hero}{}", twin.replace("/Hero/", "/Twin/")))
}

/// [`twins`] whose second skeleton has no restTransforms. Its clips are kept, or only those of some
/// names.
pub fn restless_twin(clips: &[&str]) -> Folder {
    let made = twins();
    let file = made.path().join(HERO);
    let text = std::fs::read_to_string(&file).unwrap();
    let (hero, twin) = text.split_at(text.find("def SkelRoot \"Twin\"").unwrap());
    let start = twin
        .find("        uniform matrix4d[] restTransforms")
        .unwrap();
    let end = start + twin[start..].find('\n').unwrap() + 1;
    let mut twin = format!("{}{}", &twin[..start], &twin[end..]);
    if !clips.contains(&"Walk") {
        twin = twin.replace("        rel skel:animationSource = </Twin/Walk>\n", "");
    }
    for clip in ["Walk", "Run"] {
        if !clips.contains(&clip) {
            let start = twin
                .find(&format!("    def SkelAnimation \"{clip}\""))
                .unwrap();
            let end = start + twin[start..].find("\n    }\n").unwrap() + "\n    }\n".len();
            twin.replace_range(start..end, "");
        }
    }
    std::fs::write(&file, format!("{hero}{twin}")).unwrap();
    made
}

fn folder_of(text: &str) -> Folder {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(HERO), text).unwrap();
    let image = image::RgbaImage::from_fn(4, 4, |x, y| {
        image::Rgba([x as u8 * 60, y as u8 * 60, 128, 255])
    });
    image.save(folder.path().join("cloth.png")).unwrap();
    Folder(folder)
}

/// The skeleton is turned by 90 degrees about Y, so that its x axis is -z of the world.
const TEXT: &str = r#"#usda 1.0
(
    defaultPrim = "Hero"
    upAxis = "Y"
    metersPerUnit = 1
    startTimeCode = 0
    endTimeCode = 24
    timeCodesPerSecond = 24
)

def SkelRoot "Hero"
{
    def Skeleton "Skel" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        rel skel:animationSource = </Hero/Walk>
        uniform token[] joints = ["Root", "Root/Tip"]
        uniform matrix4d[] bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1))]
        uniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1))]
        double xformOp:rotateY = 90
        uniform token[] xformOpOrder = ["xformOp:rotateY"]
    }

    def SkelAnimation "Walk"
    {
        uniform token[] joints = ["Root", "Root/Tip"]
        float3[] translations = [(0, 0, 0), (0, 1, 0)]
        quatf[] rotations.timeSamples = {
            0: [(1, 0, 0, 0), (1, 0, 0, 0)],
            12: [(0.9659258, 0, 0, 0.2588190), (0.8660254, 0.5, 0, 0)],
            24: [(1, 0, 0, 0), (0.9659258, 0.2588190, 0, 0)],
        }
        half3[] scales = [(1, 1, 1), (1, 1, 1)]
        uniform token[] blendShapes = ["Smile"]
        float[] blendShapeWeights.timeSamples = { 0: [0], 12: [1], 24: [0.5] }
    }

    def SkelAnimation "Run"
    {
        uniform token[] joints = ["Root", "Root/Tip"]
        float3[] translations.timeSamples = { 0: [(0, 0, 0), (0, 1, 0)], 24: [(2, 0, 0), (0, 1, 0)] }
        quatf[] rotations.timeSamples = {
            0: [(1, 0, 0, 0), (0.9659258, 0, 0.2588190, 0)],
            24: [(1, 0, 0, 0), (0.8660254, 0, 0, -0.5)],
        }
        half3[] scales = [(1, 1, 1), (1, 1, 1)]
    }

    def Mesh "Body" (prepend apiSchemas = ["SkelBindingAPI", "MaterialBindingAPI"])
    {
        rel skel:skeleton = </Hero/Skel>
        rel material:binding = </Hero/Plain>
        uniform token subdivisionScheme = "none"
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 2, 0), (1, 2, 0)]
        normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)] (interpolation = "vertex")
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 0.5), (1, 0.5), (0, 1), (1, 1)] (interpolation = "vertex")
        int[] primvars:skel:jointIndices = [0, 0, 1, 1, 1, 1] (elementSize = 1; interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1, 1, 1, 1, 1, 1] (elementSize = 1; interpolation = "vertex")
        def GeomSubset "Upper" (prepend apiSchemas = ["MaterialBindingAPI"])
        {
            uniform token elementType = "face"
            uniform token familyName = "materialBind"
            int[] indices = [1, 3]
            rel material:binding = </Hero/Cloth>
        }
    }

    def Mesh "Face" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        rel skel:skeleton = </Hero/Skel>
        uniform token subdivisionScheme = "none"
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 3, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]
        uniform token[] skel:blendShapes = ["Smile", "Blink"]
        rel skel:blendShapeTargets = [</Hero/Face/Smile>, </Hero/Face/Blink>]
        double3 xformOp:translate = (0, 3, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def BlendShape "Smile"
        {
            uniform vector3f[] offsets = [(0, 0, 1)]
            uniform int[] pointIndices = [1]
        }
        def BlendShape "Blink"
        {
            uniform vector3f[] offsets = [(0, 1, 0)]
            uniform int[] pointIndices = [0]
        }
    }

    def Mesh "Hat"
    {
        uniform bool doubleSided = 1
        uniform token subdivisionScheme = "none"
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 3, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]
        normal3f[] normals = [(0, 0, 1)] (interpolation = "uniform")
        double3 xformOp:translate = (0, 5, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }

    def Material "Plain"
    {
        token outputs:surface.connect = </Hero/Plain/Surface.outputs:surface>
        def Shader "Surface"
        {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor = (0.25, 0.5, 0.75)
            token outputs:surface
        }
    }

    def Material "Cloth"
    {
        token outputs:surface.connect = </Hero/Cloth/Surface.outputs:surface>
        def Shader "Surface"
        {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </Hero/Cloth/Image.outputs:rgb>
            token outputs:surface
        }
        def Shader "Image"
        {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @./cloth.png@
            float2 inputs:st.connect = </Hero/Cloth/Reader.outputs:result>
            float3 outputs:rgb
        }
        def Shader "Reader"
        {
            uniform token info:id = "UsdPrimvarReader_float2"
            string inputs:varname = "st"
            float2 outputs:result
        }
    }
}
"#;
