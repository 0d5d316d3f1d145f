//! Formats with frames: OBJ sequences, point caches, vertex animation textures, bone textures.
//!
//! They have no sample times, so a clip is resampled at even steps. They have no prim transforms
//! either, so rigid prims move by their points.

mod bones;
mod layout;
mod names;
mod obj;
mod pc2;
mod prims;
mod session;
mod surface;
mod vat;
mod vat_mesh;
mod vat_texture;

use std::path::Path;

use crate::error::{Error, Result};
use sinew::scene::OutSpace;

pub use bones::{BoneOptions, BoneReport, BoneValues};
pub use names::FramePattern;
pub(super) use prims::{framed_prims, points_of};
pub(super) use session::bake_frames;
pub use vat::{VatOptions, VatValues};

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

/// Whether the name of an output has a placeholder for the frame number. The folder of such an
/// output may be created.
pub(super) fn is_sequence(output: &Path) -> bool {
    matches!(names::FramePattern::new(output), Ok(Some(_)))
}
