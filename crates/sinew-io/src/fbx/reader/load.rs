//! Calls of ufbx: options, the memory that a file may ask for, and errors.

use std::path::Path;

use crate::error::{Error, Result};
use sinew::error::Invalid;

/// Levels of nodes. Paths of joints are as long as they are deep, so that files deeper than any
/// skeleton would need memory by the square of their size.
const DEEPEST: u32 = 512;
/// Rotations between keys are spherical in a curve and Euler angles in FBX: samples this close
/// differ by less than a thousandth of a radian for anything that swings once a second.
const LOWEST_RATE: f64 = 60.0;
/// Samples between two keys; ufbx halves the rate beyond.
const MOST_SEGMENTS: usize = 4096;
/// Seconds that a step takes: below any frame, and far above what seconds round by.
pub const STEP: f64 = 1e-6;

/// The scene of a file's bytes.
pub fn scene(bytes: &[u8], path: &Path) -> Result<ufbx::SceneRoot> {
    let options = ufbx::LoadOpts {
        temp_allocator: limited(bytes.len()),
        result_allocator: limited(bytes.len()),
        node_depth_limit: DEEPEST,
        file_format: ufbx::FileFormat::Fbx,
        use_blender_pbr_material: true,
        // ufbx can apply them to points instead, but overlooks blend shapes.
        geometry_transform_handling: ufbx::GeometryTransformHandling::HelperNodes,
        // No word that FBX files hold themselves: ufbx would no longer know it.
        geometry_transform_helper_name: "geometry_helper".into(),
        inherit_mode_handling: ufbx::InheritModeHandling::Compensate,
        scale_helper_name: "scale_helper".into(),
        space_conversion: ufbx::SpaceConversion::AdjustTransforms,
        handedness_conversion_axis: ufbx::MirrorAxis::X,
        target_axes: ufbx::CoordinateAxes {
            right: ufbx::CoordinateAxis::PositiveX,
            up: ufbx::CoordinateAxis::PositiveY,
            front: ufbx::CoordinateAxis::PositiveZ,
        },
        ..ufbx::LoadOpts::default()
    };
    ufbx::load_memory(bytes, options).map_err(|e| refused(&e, path))
}

/// A stack's curves as ufbx samples them.
pub fn bake(
    scene: &ufbx::Scene,
    stack: &ufbx::AnimStack,
    file_size: usize,
    path: &Path,
) -> Result<ufbx::BakedAnimRoot> {
    let options = ufbx::BakeOpts {
        temp_allocator: limited(file_size),
        result_allocator: limited(file_size),
        resample_rate: sample_rate(scene.settings.frames_per_second),
        max_keyframe_segments: MOST_SEGMENTS,
        step_handling: ufbx::BakeStepHandling::CustomDuration,
        step_custom_duration: STEP,
        ..ufbx::BakeOpts::default()
    };
    ufbx::bake_anim(scene, &stack.anim, options).map_err(|e| refused(&e, path))
}

/// A whole multiple of the frame rate, so that frames have samples of their own.
fn sample_rate(frame_rate: f64) -> f64 {
    let rate = if (1.0..=1000.0).contains(&frame_rate) {
        frame_rate
    } else {
        LOWEST_RATE
    };
    rate * (LOWEST_RATE / rate).ceil()
}

fn limited(file_size: usize) -> ufbx::AllocatorOpts {
    ufbx::AllocatorOpts {
        memory_limit: allowance(file_size),
        ..ufbx::AllocatorOpts::default()
    }
}

fn refused(error: &ufbx::Error, path: &Path) -> Error {
    let reason = format!("{} ({:?})", error.description, error.type_);
    Error::open(path, reason)
}

/// Bytes that any file may need, however small.
const FLOOR: usize = 256 << 20;
/// Bytes for each byte of the file: what is packed in it may unpack to much more.
const PER_BYTE: usize = 100;

/// Bytes for what ufbx holds of a file of that size, and again for what is made of it.
pub fn allowance(file_size: usize) -> usize {
    FLOOR.saturating_add(file_size.saturating_mul(PER_BYTE))
}

/// What is left for structures that instances, influences or channels multiply.
pub struct Budget {
    left: usize,
}

impl Budget {
    pub fn new(file_size: usize) -> Self {
        Self {
            left: allowance(file_size),
        }
    }

    /// Takes `count` times the size of a `T` off, before that much is allocated.
    pub fn spend<T>(&mut self, count: usize, at: &str) -> Result<(), Invalid> {
        let bytes = count.saturating_mul(size_of::<T>());
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Invalid::new(
                at,
                "",
                format!(
                    "data within {} more bytes, the limit for a file of this size",
                    self.left
                ),
                format!("{bytes} bytes"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sample_rate;

    #[test]
    fn frames_are_sampled() {
        for (frames, samples) in [
            (24.0, 72.0),
            (25.0, 75.0),
            (30.0, 60.0),
            (60.0, 60.0),
            (120.0, 120.0),
            (1e-9, 60.0),
            (f64::NAN, 60.0),
        ] {
            assert_eq!(sample_rate(frames), samples, "{frames}");
        }
    }
}
