//! How much a file's layer may hold. A few bytes can ask for a lot: a clip that moves one joint is written for all
//! of them, a mesh stands in as many places as nodes name it, and paths repeat every name above.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use sinew_layer::Value;

use crate::error::Result;
use sinew::error::Invalid;
use sinew_animate::asset::Asset;

/// Bytes that any file may become...
const ALLOWANCE: usize = 1 << 28;
/// ... and what its own data may become, each byte of them.
const EXPANSION: usize = 16;

/// Bytes that a layer may still take.
#[derive(Debug)]
pub(super) struct Budget {
    file: PathBuf,
    whole: usize,
    left: Cell<usize>,
}

impl Budget {
    pub fn of(asset: &Asset) -> Self {
        let whole = data_bytes(asset)
            .saturating_mul(EXPANSION)
            .saturating_add(ALLOWANCE);
        Self {
            file: asset.file.clone(),
            whole,
            left: Cell::new(whole),
        }
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Accounts for bytes that are about to be taken, or just were.
    ///
    /// # Errors
    /// More than are left, at the place named.
    pub fn charge(&self, bytes: usize, at: impl FnOnce() -> String) -> Result<()> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                let most = self.whole >> 20;
                let expected =
                    format!("prims and values of {most} MiB at most, for a file of this size");
                let error = Invalid::new(at(), "", expected, "more");
                Err(error.coded("too-large").in_file(&self.file).into())
            }
        }
    }
}

/// Bytes of points, of what goes with them, and of keys.
fn data_bytes(asset: &Asset) -> usize {
    let primitives = asset.meshes.iter().flat_map(|m| &m.primitives);
    let primitives = primitives.map(|p| {
        let touched = |t: &sinew_animate::asset::MorphTarget| 12 * t.offsets.len();
        let shapes: usize = p.targets.iter().map(touched).sum();
        12 * p.points.len() + 4 * p.faces.indices.len() + 8 * p.joints.len() + shapes
    });
    let curves = asset.clips.iter().flat_map(|c| &c.tracks).map(|t| &t.curve);
    let curves = curves.map(|c| 8 * c.times.len() + c.keys.bytes());
    primitives.chain(curves).fold(0, usize::saturating_add)
}

/// Bytes of a value in a layer.
pub(super) fn value_bytes(value: &Value) -> usize {
    use Value as V;
    let bytes = |count: usize, each: usize| count.saturating_mul(each);
    match value {
        V::IntArray(v) => bytes(v.len(), 4),
        V::FloatArray(v) => bytes(v.len(), 4),
        V::Vec2fArray(v) => bytes(v.len(), 8),
        V::Vec3hArray(v) => bytes(v.len(), 6),
        V::Vec3fArray(v) => bytes(v.len(), 12),
        V::Vec4fArray(v) => bytes(v.len(), 16),
        V::QuatfArray(v) => bytes(v.len(), 16),
        V::Matrix4dArray(v) => bytes(v.len(), 128),
        // Written out in full wherever they stand in text.
        V::TokenArray(v) => v.iter().map(|t| 16 + t.as_str().len()).sum(),
        V::TimeSamples(v) => v.values().iter().map(|v| 64 + value_bytes(v)).sum(),
        _ => 64,
    }
}

/// Whether all numbers of a value are finite.
pub(super) fn is_finite(value: &Value) -> bool {
    use Value as V;
    fn floats<T: bytemuck::NoUninit>(v: &[T]) -> bool {
        bytemuck::cast_slice::<T, f32>(v)
            .iter()
            .all(|x| x.is_finite())
    }
    fn doubles<T: bytemuck::NoUninit>(v: &[T]) -> bool {
        bytemuck::cast_slice::<T, f64>(v)
            .iter()
            .all(|x| x.is_finite())
    }
    match value {
        V::Float(v) => v.is_finite(),
        V::FloatArray(v) => floats(v),
        V::Vec2fArray(v) => floats(v),
        V::Vec2f(v) => floats(&[*v]),
        V::Vec3f(v) => floats(&[*v]),
        V::Vec3fArray(v) => floats(v),
        V::Vec3hArray(v) => v.as_flattened().iter().all(|x| x.is_finite()),
        V::Vec4f(v) => floats(&[*v]),
        V::Vec4fArray(v) => floats(v),
        V::QuatfArray(v) => floats(v),
        V::Vec3d(v) => doubles(&[*v]),
        V::Quatd(v) => doubles(&v.0),
        V::Matrix4d(v) => doubles(&**v),
        V::Matrix4dArray(v) => doubles(v),
        V::TimeSamples(v) => v.values().iter().all(is_finite),
        _ => true,
    }
}
