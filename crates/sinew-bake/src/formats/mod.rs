//! Formats that hold frames one by one: OBJ sequences, point caches, vertex animation textures.
//!
//! They have no sample times, so a clip is sampled anew at even steps, and none of them skins, so points move where a USD file
//! has a transform that does.

mod clip;
mod files;
mod names;
mod obj;
mod pc2;
mod prims;
mod session;
mod surface;
mod vat;
mod vat_layout;
mod vat_mesh;
mod vat_texture;

use std::path::Path;

use crate::error::{Error, Result};
use sinew::scene::OutSpace;

pub(super) use clip::Clip;
pub(super) use session::{FramesToBake, bake_frames};
pub use vat::{VatOptions, VatValues};

/// What a bake writes, as the ending of the output's name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `.usda`, `.usdc`, `.usd` or `.usdz`: the stage with its skinned prims baked.
    Usd,
    /// `.obj`: a file for each frame, its number in place of `####` or `%04d`, with an object per mesh: faces as they are
    /// authored, the first time's uvs, normals as authored and deformed or else smooth ones, names of materials. Stage units
    /// and axes.
    Obj,
    /// `.pc2`: a point cache for each prim: `POINTCACHE2`, version 1, points, first time code, time codes from one sample to
    /// the next, samples, and then x, y and z of every point as f32.
    Pc2,
    /// `.exr`: vertex animation textures of floats, see [`VatOptions`].
    Exr,
    /// `.png`: vertex animation textures of integers, see [`VatOptions`].
    Png,
}

impl Format {
    /// The format of a file name.
    ///
    /// # Errors
    /// An ending that is none of these.
    pub fn of(output: &Path) -> Result<Self> {
        match sinew_io::extension(output).as_str() {
            "usda" | "usdc" | "usd" | "usdz" => Ok(Self::Usd),
            "obj" => Ok(Self::Obj),
            "pc2" => Ok(Self::Pc2),
            "exr" => Ok(Self::Exr),
            "png" => Ok(Self::Png),
            _ => Err(Error::output(
                output,
                "expected a name that ends in .usda, .usdc, .usd, .usdz, .obj, .pc2, .exr or .png",
            )),
        }
    }

    /// Where results end up without being asked to: where there are transforms, or something that has them and is named by
    /// prim, in the prim's own space; else in the world.
    #[must_use]
    pub fn default_space(self) -> OutSpace {
        match self {
            Self::Usd | Self::Pc2 => OutSpace::Prim,
            Self::Obj | Self::Exr | Self::Png => OutSpace::World,
        }
    }

    /// Whether it is made of textures.
    #[must_use]
    pub fn is_vat(self) -> bool {
        matches!(self, Self::Exr | Self::Png)
    }
}

/// Whether the output's name has a place for a frame number, and so names files whose folder may be made for them.
pub(super) fn is_sequence(output: &Path) -> bool {
    matches!(names::Pattern::new(output), Ok(Some(_)))
}
