//! Autodesk FBX (.fbx), binary and text, versions 3000 to 7700, by the ufbx library (feature `fbx`: it compiles C).
//!
//! - Spaces: right-handed with +Y up, whatever the file's axes, by turning the topmost nodes. Units stay the file's;
//!   [`Asset::meters_per_unit`] says which.
//! - Nodes: pivots, pre- and post-rotations and rotation orders are folded into translation, rotation and scale, which FBX
//!   transforms always are. A geometric transform, which moves a mesh alone, is a node of its own between, `Body_mesh`. Where a joint does not inherit its parent's scale
//!   (Maya's segment scale compensation) and that scale is not constant and uniform, a node of its own carries it, `Spine_scale`.
//! - Clips: one for each animation stack, layers blended. Keys outside the stack's range are left out, and what curves do
//!   beyond their keys is not read: each with a warning. Curves are linear: keys at the file's own, and where FBX
//!   interpolates otherwise (splines, Euler angles) as many between them as the frame rate, or a multiple of it from
//!   60 up. A step is two keys a microsecond apart. What does not change has two keys, or none where it rests.
//! - Skins: linear, with any number of influences, normalised as FBX does; points without any go with their mesh's node.
//!   Dual quaternion skins become linear, with a warning.
//! - Blend shapes: a channel's last target is the shape, those before it are in-betweens at their full weights.
//! - Materials: as far as ufbx sees simple PBR in them; textures embedded or below the file's folder, and nowhere else.
//!
//! Nothing but the textures is opened beside the file: no geometry caches, no references.

#[cfg(feature = "fbx")]
mod reader;

use std::path::Path;

use crate::error::Result;
use sinew_animate::asset::Asset;
use sinew_layer::Files;

/// Reads the file.
///
/// # Errors
/// [`Error::Open`](crate::Error::Open) if the file cannot be read, with ufbx's own description.
/// [`Error::Invalid`](crate::Error::Invalid) if it would need far more memory than its size justifies.
/// [`Error::Unsupported`](crate::Error::Unsupported) if sinew was built without the feature `fbx`.
pub fn read(path: &Path) -> Result<Asset> {
    read_from(&Files::on_disk(), path)
}

/// Reads a file as [`read`] does, on disk or in memory.
///
/// # Errors
/// Those of [`read`].
pub fn read_from(files: &Files, path: &Path) -> Result<Asset> {
    #[cfg(feature = "fbx")]
    {
        reader::read(files, path)
    }
    #[cfg(not(feature = "fbx"))]
    {
        let _ = files;
        Err(unsupported(path))
    }
}

/// The error of a build without the feature.
#[cfg(any(test, not(feature = "fbx")))]
fn unsupported(path: &Path) -> crate::Error {
    let reason = match cfg!(target_family = "wasm") {
        true => {
            "FBX is not read in a browser, because its reader is a C library; make a .glb of it \
             with `sinew convert`"
        }
        false => {
            "FBX is not in this build of sinew: build with the cargo feature `fbx` (the command \
             has it unless it is built with --no-default-features), which needs a C compiler"
        }
    };
    crate::Error::Unsupported {
        file: path.to_owned(),
        reason: reason.to_owned(),
    }
}

#[test]
fn without_the_feature_the_error_says_how_to_get_it() {
    let error = unsupported(Path::new("tube.fbx")).to_string();
    for word in ["tube.fbx", "`fbx`", "--no-default-features", "C compiler"] {
        assert!(error.contains(word), "'{error}' should say '{word}'");
    }
}
