//! The formats that a bake writes, and their options.

use std::path::Path;

use serde::Serialize;

use crate::error::{Error, Result};
use sinew::scene::OutSpace;

/// The largest width and height of a texture: the limit of Direct3D 11 and of most Vulkan devices.
pub(super) const MAX_SIDE: u32 = 16_384;

/// The format of the output of a bake, chosen by the extension of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `.usda`, `.usdc`, `.usd` or `.usdz`: the stage with its skinned prims baked.
    Usd,
    /// `.obj`: one file for each frame, with the frame number instead of `####` or `%04d`, and one
    /// object per mesh. It has the authored faces, the uvs of the first time, deformed authored
    /// normals or computed smooth normals, and names of materials. Units and axes are those of the
    /// stage.
    Obj,
    /// `.pc2`: one point cache for each prim. The header has `POINTCACHE2`, version 1, number of
    /// points, first time code, time codes from one sample to the next, and number of samples. Then
    /// follow x, y and z of every point as f32.
    Pc2,
    /// `.exr`: vertex animation textures of floats, see [`VatOptions`].
    Exr,
    /// `.bones.exr`: a bone texture, see [`BoneOptions`].
    Bones,
    /// `.png`: vertex animation textures of integers, see [`VatOptions`].
    Png,
}

impl Format {
    /// The format of a file name.
    ///
    /// # Errors
    /// [`Error::Output`](crate::Error::Output) if the extension is none of these.
    pub fn of(output: &Path) -> Result<Self> {
        let stem = output.file_stem().map(Path::new);
        let is_bones = stem.is_some_and(|s| sinew_io::extension(s) == "bones");
        match sinew_io::extension(output).as_str() {
            "exr" if is_bones => Ok(Self::Bones),
            "png" if is_bones => Err(Error::output(
                output,
                "bone textures are floats: expected a name that ends in .bones.exr",
            )),
            "usda" | "usdc" | "usd" | "usdz" => Ok(Self::Usd),
            "obj" => Ok(Self::Obj),
            "pc2" => Ok(Self::Pc2),
            "exr" => Ok(Self::Exr),
            "png" => Ok(Self::Png),
            _ => Err(Error::output(
                output,
                "expected a name that ends in .usda, .usdc, .usd, .usdz, .obj, .pc2, .exr, .bones.exr or .png",
            )),
        }
    }

    /// The space of results if the caller does not choose one. It is prim space for USD and PC2,
    /// which are applied to prims with transforms, and world space for the other formats.
    #[must_use]
    pub fn default_space(self) -> OutSpace {
        match self {
            Self::Usd | Self::Pc2 => OutSpace::Prim,
            Self::Obj | Self::Exr | Self::Bones | Self::Png => OutSpace::World,
        }
    }

    /// Whether the output consists of vertex animation textures.
    #[must_use]
    pub fn is_vat(self) -> bool {
        matches!(self, Self::Exr | Self::Png)
    }
}

/// The meaning of a texel of the position texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VatValues {
    /// The position of the vertex minus its position in the mesh file, which is that in the first
    /// frame. In metres.
    #[default]
    Offset,
    /// The position of the vertex, in metres.
    Position,
}

/// Options of vertex animation textures. Start from `VatOptions::default()` and set fields.
///
/// A bake writes four files: OUT (`.exr` or `.png`) with positions, `OUT_normal` with normals,
/// `OUT_mesh.glb` with the character at the first frame, and `OUT.json`. All are in glTF's space:
/// right-handed, Y up, metres. A shader has to convert the values in the same way as the importer
/// converts the mesh: Unity's importers negate x, Unreal's swap y and z and convert to centimetres.
///
/// A texture has one row per frame, the first frame at the top, and one column per vertex of the
/// meshes. The mesh file has a vertex of several materials once for each of them. If there are more
/// vertices than `max_width`, a frame has `rowsPerFrame` rows, one below the other. The second UV set
/// of the mesh is the centre of each vertex's texel in the first frame. So a vertex shader needs no
/// vertex numbers, and importers may reorder vertices:
///
/// ```glsl
/// vec2 uv = uv2 + vec2(0.0, float(frame * rowsPerFrame) / float(height)); // minus if v points up
/// vec3 position = vertex + texture(positions, uv).rgb;                    // "values": "offset"
/// vec3 normal = texture(normals, uv).rgb;
/// ```
///
/// A PNG texel is relative to a range in the JSON file: the value is `mix(min, max, texel)`. The
/// range of normals is -1 to 1. Import the textures as data: nearest texel, no mipmaps, no
/// compression, no sRGB. Between frames a shader interpolates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VatOptions {
    /// Whether the position texture has offsets or positions.
    pub values: VatValues,
    /// Bits per channel: 32 or 16 in EXR, 16 or 8 in PNG; `None` for the larger number.
    pub bits: Option<u8>,
    /// The largest width of a texture in texels, 1 to 16,384. Frames with more vertices have
    /// several rows.
    pub max_width: u32,
}

impl Default for VatOptions {
    fn default() -> Self {
        Self {
            values: VatValues::Offset,
            bits: None,
            max_width: 8192,
        }
    }
}

impl VatOptions {
    /// Checks the options before anything is baked.
    ///
    /// # Errors
    /// [`Error::Options`] if the format does not have these bits, or the width is out of range.
    pub(super) fn check(&self, format: Format) -> Result<()> {
        self.encoding(format)?;
        match (1..=MAX_SIDE).contains(&self.max_width) {
            true => Ok(()),
            false => Err(Error::Options(format!(
                "expected a largest width of textures from 1 to {MAX_SIDE}, found {}",
                self.max_width
            ))),
        }
    }

    /// The encoding of a texture.
    ///
    /// # Errors
    /// [`Error::Options`] if the format does not have these bits.
    pub(super) fn encoding(&self, format: Format) -> Result<VatEncoding> {
        Ok(match (format == Format::Png, self.bits) {
            (false, None | Some(32)) => VatEncoding::Float32,
            (false, Some(16)) => VatEncoding::Float16,
            (true, None | Some(16)) => VatEncoding::Unorm16,
            (true, Some(8)) => VatEncoding::Unorm8,
            (false, Some(bits)) => return bad_bits(bits, "32 or 16 bits per channel for EXR"),
            (true, Some(bits)) => return bad_bits(bits, "16 or 8 bits per channel for PNG"),
        })
    }
}

fn bad_bits<T>(bits: u8, has: &str) -> Result<T> {
    Err(Error::Options(format!("expected {has}, found {bits}")))
}

/// The encoding of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum VatEncoding {
    /// EXR with the channels R, G and B as 32-bit floats, which are exact.
    #[serde(rename = "float32")]
    Float32,
    /// EXR with the channels R, G and B as 16-bit floats, with 11 bits of precision.
    #[serde(rename = "float16")]
    Float16,
    /// RGB PNG with 16 bits: 0 is the smallest value of the range, 65535 the largest.
    #[serde(rename = "unorm16")]
    Unorm16,
    /// RGB PNG with 8 bits: 0 is the smallest value of the range, 255 the largest.
    #[serde(rename = "unorm8")]
    Unorm8,
}

impl VatEncoding {
    /// Whether texels are relative to a range.
    #[must_use]
    pub fn is_normalized(self) -> bool {
        matches!(self, Self::Unorm16 | Self::Unorm8)
    }
}

/// The meaning of the texels of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum BoneValues {
    /// Three texels, the rows of a 3x4 matrix. They hold any transform, and are blended linearly.
    #[default]
    Matrix,
    /// Two texels, the real and the dual part of a unit dual quaternion as (x, y, z, w). They hold
    /// rotations and translations, and are blended as dual quaternions.
    DualQuaternion,
}

/// Options of bone textures. Start from `BoneOptions::default()` and set fields.
///
/// A bake into `OUT.bones.exr` writes three files: the texture, `OUT.bones.glb` with the meshes in
/// their bind pose, and `OUT.bones.json`. All are in glTF's space: right-handed, Y up, metres. A
/// vertex shader blends the transforms of a vertex's joints and applies the result to the vertex:
///
/// ```glsl
/// ivec2 texel(int frame, int joint) {        // numbers of the JSON file
///     int column = frame / framesPerColumn;
///     return ivec2(column * columnWidth + (joint % jointsPerRow) * texelsPerJoint,
///                  (frame - column * framesPerColumn) * rowsPerFrame + joint / jointsPerRow);
/// }
/// vec3 moved(int frame, int joint, vec3 p) { // "values": "matrix"
///     ivec2 t = texel(frame, joint);
///     return vec3(dot(texelFetch(bones, t, 0), vec4(p, 1)),
///                 dot(texelFetch(bones, t + ivec2(1, 0), 0), vec4(p, 1)),
///                 dot(texelFetch(bones, t + ivec2(2, 0), 0), vec4(p, 1)));
/// }
/// vec3 position = weights.x * moved(frame, joints.x, vertex)
///               + weights.y * moved(frame, joints.y, vertex) + ...;
/// ```
///
/// Frame `i` of a clip is row `firstFrame + i`. Import the texture as data: nearest texel, no
/// mipmaps, no compression, no sRGB.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoneOptions {
    /// The meaning of texels.
    pub values: BoneValues,
    /// Bits per channel: 32 or 16; `None` for 32.
    pub bits: Option<u8>,
    /// The largest width of the texture in texels, at least that of a joint and at most 16,384.
    pub max_width: u32,
    /// The clips to bake, as [`ClipChoice::Named`](sinew_io::ClipChoice::Named) finds them. If it
    /// is empty, those of [`OpenOptions::clips`](sinew_io::OpenOptions::clips), and without a
    /// choice there, all clips of the file.
    pub clips: Vec<String>,
}

impl Default for BoneOptions {
    fn default() -> Self {
        Self {
            values: BoneValues::Matrix,
            bits: None,
            max_width: 8192,
            clips: Vec::new(),
        }
    }
}

impl BoneOptions {
    /// # Errors
    /// [`Error::Options`] if EXR does not have these bits, or the width is out of range.
    pub(super) fn check(&self) -> Result<()> {
        if !matches!(self.bits, None | Some(32 | 16)) {
            let bits = self.bits.unwrap_or_default();
            let text =
                format!("expected 32 or 16 bits per channel for bone textures, found {bits}");
            return Err(Error::Options(text));
        }
        let least = self.values.texels();
        match (least..=MAX_SIDE).contains(&self.max_width) {
            true => Ok(()),
            false => Err(Error::Options(format!(
                "expected a largest width of bone textures from {least} to {MAX_SIDE}, found {}",
                self.max_width
            ))),
        }
    }

    pub(super) fn is_half(&self) -> bool {
        self.bits == Some(16)
    }
}

impl BoneValues {
    /// Number of texels of a joint.
    pub(super) fn texels(self) -> u32 {
        match self {
            Self::Matrix => 3,
            Self::DualQuaternion => 2,
        }
    }
}
