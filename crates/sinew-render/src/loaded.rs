//! A file read for drawing, before any device knows of it.

use std::path::Path;

use super::pictures::{Picture, decode};
use sinew::error::Result;
use sinew::scene::{Geometry, Scene};
use sinew_io::usd::UsdFile;
use sinew_io::{self as io, ClipChoice, OpenOptions};

/// A clip of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    pub name: String,
    /// Of its first and last keys, where it has any.
    pub seconds: Option<(f64, f64)>,
}

/// Everything that a [`super::Stage`] is made of: plain data that another thread can read while a window stays alive.
#[derive(Debug)]
pub struct Loaded {
    pub scene: Scene,
    pub geometry: Geometry,
    /// Clips that can be chosen by [`OpenOptions::clips`]; none of a USD file, which has one animation.
    pub clips: Vec<Clip>,
    /// Index into `clips` of the one that plays.
    pub clip: Option<usize>,
    /// What is drawn differently from what the file says, or not at all.
    pub messages: Vec<String>,
    /// By [`Geometry::textures`].
    pub(super) pictures: Vec<Option<Picture>>,
}

impl Loaded {
    /// Reads a file of any format that sinew opens. Recursion goes as deep as layers nest, so give the thread a stack of some
    /// megabytes for files that you do not know.
    ///
    /// # Errors
    /// As [`io::open_with`] and [`UsdFile::scene`]. Single prims that are broken end in [`Loaded::messages`].
    pub fn read(file: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::of(&io::open_with(file, options)?, options)
    }

    /// As [`Loaded::read`], of a file that is open.
    ///
    /// # Errors
    /// As [`UsdFile::scene`].
    pub fn of(file: &UsdFile, options: &OpenOptions) -> Result<Self> {
        let scene = file.scene(Default::default())?;
        let geometry = file.geometry(&scene)?;
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
            ClipChoice::Named(name) => clips.iter().position(|c| c.name == *name),
            _ => (!clips.is_empty()).then_some(0),
        };
        let mut messages: Vec<String> = scene.errors.iter().map(ToString::to_string).collect();
        // What is drawn elsewhere than it is.
        let splines = scene.warnings.iter().filter(|w| w.code == "spline-ignored");
        messages.extend(splines.map(ToString::to_string));
        messages.extend(geometry.errors.iter().map(ToString::to_string));
        messages.extend(geometry.warnings.iter().map(ToString::to_string));
        let pictures = decode(&geometry, &mut messages);
        Ok(Self {
            scene,
            geometry,
            clips,
            clip,
            messages,
            pictures,
        })
    }
}
