//! A file that was read for drawing, before it is on a device.

use std::path::Path;

use super::error::Result;
use super::images::{TextureImage, decode};
use sinew::scene::{Geometry, Scene, UnskinnedPrim};
use sinew::{Invalid, Warning};
use sinew_check::Finding;
use sinew_io::usd::{Origin, ReadOptions, UsdFile};
use sinew_io::{self as io, ClipChoice, OpenOptions};

/// Warnings of readers that change how pictures look.
const OF_PICTURES: [&str; 8] = [
    "mtoon-simplified",
    "gltf-image-unreadable",
    "gltf-image-format",
    "gltf-texture-format",
    "gltf-material-ignored",
    "fbx-texture-left-out",
    "texture-format",
    "normal-scale",
];

/// A clip of a file that is not USD.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    /// Name of the clip in the file.
    pub name: String,
    /// Times of its first and last key, in seconds; `None` if it has no keys.
    pub seconds: Option<(f64, f64)>,
}

/// The data that a [`super::Stage`] is created from. It needs no device, so another thread can read
/// it while a window goes on drawing.
#[derive(Debug)]
pub struct Loaded {
    /// Skeletons, animations and bindings.
    pub scene: Scene,
    /// Meshes, materials, textures and cameras.
    pub geometry: Geometry,
    /// The clips that [`OpenOptions::clips`] can choose; empty for a USD file.
    pub clips: Vec<Clip>,
    /// Index into `clips` of the clip that plays.
    pub clip: Option<usize>,
    /// Prims that are not drawn, or not skinned, because something of them is invalid.
    pub failed: Vec<UnskinnedPrim>,
    /// What the stage leaves out, whatever is posed and drawn of it.
    pub left_out: Vec<Finding>,
    /// What is invalid in the file.
    pub errors: Vec<Invalid>,
    /// Parts of the file that are not drawn, or drawn differently, and why.
    pub warnings: Vec<Warning>,
    /// Whether its characters face -Z, as those of VRM 0.x do.
    pub(super) faces_back: bool,
    /// The decoded images, by index of [`Geometry::textures`].
    pub(super) images: Vec<Option<TextureImage>>,
}

impl Loaded {
    /// Reads a file of any format that sinew opens.
    ///
    /// # Errors
    /// Those of [`io::open_with`] and [`UsdFile::scene`]. A broken prim is no error;
    /// [`Loaded::errors`] names it.
    pub fn read(file: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::read_with(file, options, ReadOptions::default())
    }

    /// Like [`Loaded::read`], with options for reading the scene.
    ///
    /// # Errors
    /// As [`Loaded::read`].
    pub fn read_with(
        file: impl AsRef<Path>,
        options: &OpenOptions,
        read: ReadOptions,
    ) -> Result<Self> {
        Self::of_with(&io::open_with(file, options)?, options, read)
    }

    /// Like [`Loaded::read`], for a file that is already open with the same options.
    ///
    /// # Errors
    /// Those of [`UsdFile::scene`].
    pub fn of(file: &UsdFile, options: &OpenOptions) -> Result<Self> {
        Self::of_with(file, options, ReadOptions::default())
    }

    /// Like [`Loaded::of`], with options for reading the scene.
    ///
    /// # Errors
    /// As [`Loaded::of`].
    pub fn of_with(file: &UsdFile, options: &OpenOptions, read: ReadOptions) -> Result<Self> {
        let scene = file.scene(read)?;
        let mut geometry = file.geometry(&scene)?;
        let mut undecoded = Vec::new();
        let images = decode(&geometry, &mut undecoded);
        geometry.warnings.extend(undecoded);
        let clips: Vec<Clip> = file.origin().map_or_else(Vec::new, |origin| {
            let clips = origin.clips.iter();
            clips
                .map(|(name, seconds)| Clip {
                    name: name.clone(),
                    seconds: *seconds,
                })
                .collect()
        });
        let clip = match &options.clips {
            ClipChoice::Named(name) => file.origin().and_then(|o| o.find_clip(name)),
            _ => (!clips.is_empty()).then_some(0),
        };
        let errors = scene.errors.iter().chain(&geometry.errors);
        let of_pictures = scene.warnings.iter();
        let of_pictures = of_pictures.filter(|w| OF_PICTURES.contains(&w.code));
        let warnings = of_pictures.chain(&geometry.warnings);
        let (errors, warnings) = (errors.cloned().collect(), warnings.cloned().collect());
        let mut failed = scene.unskinned.clone();
        failed.extend(geometry.errors.iter().map(|e| UnskinnedPrim {
            path: e.prim.clone(),
            error: e.clone(),
        }));
        for binding in &scene.bindings {
            if let Some(reason) = &binding.unsupported {
                let expected = "a prim that can be skinned";
                let found = format!("one that {reason}");
                let error = Invalid::new(&binding.path, "", expected, found).coded("not-skinned");
                failed.push(UnskinnedPrim {
                    path: binding.path.clone(),
                    error: error.in_file(&scene.file),
                });
            }
        }
        let left_out = sinew_check::left_out(Some(file), &scene, false)?;
        Ok(Self {
            faces_back: file.origin().is_some_and(Origin::faces_back),
            left_out,
            scene,
            geometry,
            clips,
            clip,
            failed,
            errors,
            warnings,
            images,
        })
    }
}
