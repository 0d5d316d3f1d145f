//! Stages of these tests, and pictures read by hand.

use glam::DVec3;
use libtest_mimic::Failed;
use sinew::wgpu;

/// Two squares that meet at a ridge, with no normals; moved by a joint, or by none.
pub fn roof(scheme: &str, skinned: bool) -> String {
    let influences = r#"
        int[] primvars:skel:jointIndices = [0, 0, 0, 0, 0, 0] (
            elementSize = 1
            interpolation = "vertex"
        )
        float[] primvars:skel:jointWeights = [1, 1, 1, 1, 1, 1] (
            elementSize = 1
            interpolation = "vertex"
        )
        rel skel:skeleton = </Root/Skel>
"#;
    let influences = if skinned { influences } else { "" };
    format!(
        r#"#usda 1.0
(
    upAxis = "Y"
)

def SkelRoot "Root"
{{
    def Skeleton "Skel"
    {{
        uniform token[] joints = ["a"]
        uniform matrix4d[] bindTransforms = [((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))]
        uniform matrix4d[] restTransforms = [((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))]
    }}

    def Mesh "Roof" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {{
        int[] faceVertexCounts = [4, 4]
        int[] faceVertexIndices = [0, 1, 4, 3, 1, 2, 5, 4]
        point3f[] points = [(-1, 0, -1), (0, 0, 0), (1, 0, -1), (-1, 1, -1), (0, 1, 0), (1, 1, -1)]
        uniform token subdivisionScheme = "{scheme}"
{influences}
    }}
}}
"#
    )
}

/// Four squares side by side: blended, skinned, rigid, static.
pub const KINDS: &str = r#"#usda 1.0
(
    upAxis = "Y"
    metersPerUnit = 1
    startTimeCode = 0
    endTimeCode = 10
)

def SkelRoot "Root" (
    prepend apiSchemas = ["SkelBindingAPI"]
)
{
    double3 xformOp:translate = (0, 0.5, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    rel skel:skeleton = </Root/Skel>

    def Skeleton "Skel" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {
        uniform token[] joints = ["a", "a/b"]
        uniform matrix4d[] bindTransforms = [
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (1, 0, 0, 1))
        ]
        uniform matrix4d[] restTransforms = [
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (1, 0, 0, 1))
        ]
        rel skel:animationSource = </Root/Skel/Anim>

        def SkelAnimation "Anim"
        {
            uniform token[] joints = ["a", "a/b"]
            uniform token[] blendShapes = ["high"]
            float3[] translations = [(0, 0, 0), (1, 0, 0)]
            float3[] translations.timeSamples = {
                0: [(0, 0, 0), (1, 0, 0)],
                10: [(0, 0.3, 0), (1, 0.7, 0.2)],
            }
            quatf[] rotations = [(1, 0, 0, 0), (1, 0, 0, 0)]
            half3[] scales = [(1, 1, 1), (1, 1, 1)]
            float[] blendShapeWeights = [0]
            float[] blendShapeWeights.timeSamples = {
                0: [0],
                10: [1],
            }
        }
    }

    def Mesh "Blended" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {
        double3 xformOp:translate = (-2.5, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
        uniform token[] skel:blendShapes = ["high"]
        rel skel:blendShapeTargets = </Root/Blended/High>

        def BlendShape "High"
        {
            uniform vector3f[] offsets = [(0, 0.5, 0), (0, 0.5, 0)]
            uniform int[] pointIndices = [2, 3]
        }
    }

    def Mesh "Skinned" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(-1, 0, 0), (0, 0, 0), (0, 1, 0), (-1, 1, 0)]
        normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)] (
            interpolation = "faceVarying"
        )
        int[] primvars:skel:jointIndices = [0, 1, 1, 0] (
            elementSize = 1
            interpolation = "vertex"
        )
        float[] primvars:skel:jointWeights = [1, 1, 1, 1] (
            elementSize = 1
            interpolation = "vertex"
        )
        uniform token subdivisionScheme = "none"
    }

    def Mesh "Rigid" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0.5, 0, 0), (1.5, 0, 0), (1, 1, 0)]
        int[] primvars:skel:jointIndices = [1] (
            elementSize = 1
            interpolation = "constant"
        )
        float[] primvars:skel:jointWeights = [1] (
            elementSize = 1
            interpolation = "constant"
        )
    }
}

def Mesh "Static"
{
    double3 xformOp:translate.timeSamples = {
        0: (2, 0.2, 0),
        10: (2.5, 1.2, 0),
    }
    uniform token[] xformOpOrder = ["xformOp:translate"]
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
}
"#;

/// A square 10 units before a camera.
pub const CAMERA: &str = r#"#usda 1.0
(
    upAxis = "Y"
)

def Mesh "Square"
{
    double3 xformOp:translate = (3, 4, -5)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]
}

def Camera "Camera"
{
    double3 xformOp:translate = (3, 4, 5)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    float focalLength = 5
    float horizontalAperture = 4
    float verticalAperture = 3
    float horizontalApertureOffset = 0.5
    float2 clippingRange = (0.1, 100)
}
"#;

/// A square with a picture on it.
pub const TEXTURED: &str = r#"#usda 1.0
(
    upAxis = "Y"
)

def Mesh "Square" (
    prepend apiSchemas = ["MaterialBindingAPI"]
)
{
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] (
        interpolation = "vertex"
    )
    rel material:binding = </Material>
}

def Material "Material"
{
    token outputs:surface.connect = </Material/Surface.outputs:surface>

    def Shader "Surface"
    {
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor.connect = </Material/Picture.outputs:rgb>
        token outputs:surface
    }

    def Shader "Picture"
    {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @./colors.png@
        float2 inputs:st.connect = </Material/Coordinates.outputs:result>
        float3 outputs:rgb
    }

    def Shader "Coordinates"
    {
        uniform token info:id = "UsdPrimvarReader_float2"
        string inputs:varname = "st"
        float2 outputs:result
    }
}
"#;

/// Three boxes like steps, which look different from every side, 1.8 m high; with an axis up, in units of so many
/// metres, somewhere.
pub fn steps(up_axis: char, unit: f64, offset: DVec3) -> String {
    let mut points = Vec::new();
    let (mut counts, mut indices) = (Vec::new(), Vec::new());
    for (i, height) in [0.6, 1.2, 1.8].into_iter().enumerate() {
        let first = points.len();
        for corner in 0..8 {
            let bit = |n: usize| f64::from(u8::from(corner >> n & 1 == 1));
            let p = DVec3::new(
                i as f64 * 0.5 + bit(0) * 0.4,
                bit(1) * height,
                bit(2) * 0.3 * (i + 1) as f64,
            );
            points.push(p / unit);
        }
        for face in [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ] {
            counts.push("4");
            indices.extend(face.map(|corner| (first + corner).to_string()));
        }
    }
    // Y up to Z up: a quarter turn about x.
    let turned = |p: DVec3| {
        if up_axis == 'Z' {
            DVec3::new(p.x, -p.z, p.y)
        } else {
            p
        }
    };
    let text = |p: DVec3| format!("({}, {}, {})", p.x, p.y, p.z);
    let points: Vec<String> = points.into_iter().map(|p| text(turned(p))).collect();
    format!(
        r#"#usda 1.0
(
    upAxis = "{up_axis}"
    metersPerUnit = {unit}
)

def Mesh "Steps"
{{
    double3 xformOp:translate = {}
    uniform token[] xformOpOrder = ["xformOp:translate"]
    uniform token subdivisionScheme = "none"
    int[] faceVertexCounts = [{}]
    int[] faceVertexIndices = [{}]
    point3f[] points = [{}]
}}
"#,
        text(offset),
        counts.join(", "),
        indices.join(", "),
        points.join(", ")
    )
}

pub fn texture(
    device: &wgpu::Device,
    format: wgpu::TextureFormat,
    [width, height]: [u32; 2],
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

/// A buffer that a texture is copied to.
pub fn read_later(
    device: &wgpu::Device,
    encoder: &mut wgpu::CommandEncoder,
    texture: &wgpu::Texture,
    [width, height]: [u32; 2],
) -> wgpu::Buffer {
    // 320 pixels are 1280 bytes, which is a multiple of 256.
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(width) * 4 * u64::from(height),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let to = wgpu::TexelCopyBufferInfo {
        buffer: &buffer,
        layout: wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(width * 4),
            rows_per_image: None,
        },
    };
    let size = wgpu::Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    };
    encoder.copy_texture_to_buffer(texture.as_image_copy(), to, size);
    buffer
}

pub fn read_now(
    device: &wgpu::Device,
    buffer: &wgpu::Buffer,
    [width, height]: [u32; 2],
) -> Result<Vec<u8>, Failed> {
    buffer.slice(..).map_async(wgpu::MapMode::Read, |_| {});
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let bytes = buffer
        .slice(..)
        .get_mapped_range()
        .map_err(|e| e.to_string())?
        .to_vec();
    assert_eq!(bytes.len(), (width * height * 4) as usize);
    Ok(bytes)
}

/// A square two units wide that faces the camera, with a material of its own.
pub struct Surface<'a> {
    /// Inputs of its UsdPreviewSurface.
    pub inputs: &'a str,
    /// The image of a UsdUVTexture `T`, as an asset path; none if it is empty.
    pub textures: &'a str,
    /// Further inputs of that texture.
    pub sampling: &'a str,
    /// Attributes of the Material.
    pub material: &'a str,
    /// The normal at all corners.
    pub normal: [f64; 3],
}

impl Default for Surface<'_> {
    fn default() -> Self {
        Self {
            inputs: "",
            textures: "",
            sampling: "",
            material: "",
            normal: [0.0, 0.0, 1.0],
        }
    }
}

/// The faces of [`Surface`].
pub const SQUARE_FACES: &str = "int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]";

impl Surface<'_> {
    /// The stage as text.
    pub fn text(&self) -> String {
        let [x, y, z] = self.normal;
        let normal = format!("({x}, {y}, {z})");
        let texture = match self.textures {
            "" => String::new(),
            file => format!(
                r#"    def Shader "T"
    {{
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = {file}
        float2 inputs:st.connect = </M/C.outputs:result>
        {}
        float3 outputs:rgb
        float outputs:r
        float outputs:g
        float outputs:b
    }}

    def Shader "C"
    {{
        uniform token info:id = "UsdPrimvarReader_float2"
        string inputs:varname = "st"
        float2 outputs:result
    }}
"#,
                self.sampling
            ),
        };
        let normals = match self.normal {
            [0.0, 0.0, 1.0] => String::new(),
            _ => format!("normal3f[] normals = [{normal}, {normal}, {normal}, {normal}]"),
        };
        format!(
            r#"#usda 1.0
(
    upAxis = "Y"
)

def Mesh "Square" (
    prepend apiSchemas = ["MaterialBindingAPI"]
)
{{
    {SQUARE_FACES}
    {normals}
    uniform token subdivisionScheme = "none"
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] (
        interpolation = "vertex"
    )
    rel material:binding = </M>
}}

def Material "M"
{{
    token outputs:surface.connect = </M/S.outputs:surface>
    {}

    def Shader "S"
    {{
        uniform token info:id = "UsdPreviewSurface"
        {}
        token outputs:surface
    }}

{texture}}}
"#,
            self.material, self.inputs
        )
    }
}

/// The faces of a ball, in place of [`SQUARE_FACES`].
pub fn ball_faces() -> String {
    let (rings, sides) = (24, 48);
    let (mut points, mut counts, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for ring in 0..=rings {
        let (sin, cos) = (std::f64::consts::PI * f64::from(ring) / f64::from(rings)).sin_cos();
        for side in 0..sides {
            let (x, z) = (std::f64::consts::TAU * f64::from(side) / f64::from(sides)).sin_cos();
            points.push(format!("({}, {}, {})", sin * x, cos, sin * z));
        }
    }
    for ring in 0..rings {
        for side in 0..sides {
            let next = (side + 1) % sides;
            let (above, below) = (ring * sides, (ring + 1) * sides);
            counts.push("4");
            let face = [above + side, below + side, below + next, above + next];
            indices.extend(face.map(|i| i.to_string()));
        }
    }
    format!(
        "int[] faceVertexCounts = [{}]\n    int[] faceVertexIndices = [{}]\n    point3f[] points = [{}]",
        counts.join(", "),
        indices.join(", "),
        points.join(", ")
    )
}

/// A translucent square at a depth.
pub fn pane(name: &str, z: f64, color: &str) -> String {
    format!(
        r#"
def Mesh "{name}"
{{
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points = [(-1, -1, {z}), (1, -1, {z}), (1, 1, {z}), (-1, 1, {z})]
    uniform token subdivisionScheme = "none"
    color3f[] primvars:displayColor = [{color}]
    float[] primvars:displayOpacity = [0.6]
}}
"#
    )
}

/// Two translucent squares as faces of one mesh, with the corners in an order.
pub fn two_panes(order: &str) -> String {
    format!(
        r#"#usda 1.0

def Mesh "Panes"
{{
    int[] faceVertexCounts = [4, 4]
    int[] faceVertexIndices = [{order}]
    point3f[] points = [(-1, -1, -0.5), (1, -1, -0.5), (1, 1, -0.5), (-1, 1, -0.5),
        (-1, -1, 0.5), (1, -1, 0.5), (1, 1, 0.5), (-1, 1, 0.5)]
    uniform token subdivisionScheme = "none"
    color3f[] primvars:displayColor = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1),
        (1, 0, 0), (1, 0, 0), (1, 0, 0), (1, 0, 0)] (
        interpolation = "vertex"
    )
    float[] primvars:displayOpacity = [0.6]
}}
"#
    )
}

/// One red curve; its width is constant.
pub fn curve(basis: &str, points: &str, count: usize, width: Option<f64>) -> String {
    let kind = if basis == "linear" { "linear" } else { "cubic" };
    let basis = if basis == "linear" { "bezier" } else { basis };
    let widths = width.map_or_else(String::new, |width| {
        format!("float[] widths = [{width}] (\n        interpolation = \"constant\"\n    )")
    });
    format!(
        r#"#usda 1.0
def BasisCurves "Curve"
{{
    uniform token type = "{kind}"
    uniform token basis = "{basis}"
    int[] curveVertexCounts = [{count}]
    point3f[] points = [{points}]
    {widths}
    color3f[] primvars:displayColor = [(0.8, 0.05, 0.05)]
}}
"#
    )
}

/// A camera at a height that looks along -Z, so far from the world's XY plane.
pub fn before(height: f64, distance: f64) -> sinew_render::Camera {
    let mut camera = sinew_render::Camera::new('Y');
    let orbit = camera.orbit_mut(&sinew_render::Bounds::EMPTY);
    (orbit.yaw, orbit.pitch) = (0.0, 0.0);
    orbit.target = DVec3::new(0.0, height, 0.0);
    orbit.distance = distance;
    camera
}
