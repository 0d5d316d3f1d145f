//! A clip of a file, as the evaluator plays it and as sinew opens it.

use std::path::Path;

use glam::DVec3;
use libtest_mimic::Failed;
use sinew_io::usd::UsdFile;
use sinew_io::{self as io, ClipChoice, OpenOptions};

use crate::gltf_eval::moments::{Moment, moments};
use crate::gltf_eval::pairing::Shown;
use common::compare::size;
use common::gltf_eval::clip::{Clip, Property};
use common::gltf_eval::mesh::Target;
use common::gltf_eval::{Document, Surface};

/// One clip of a document; its rest pose where it has none.
#[derive(Clone, Copy)]
pub struct Play<'a> {
    pub document: &'a Document,
    pub clip: Option<usize>,
    /// Errors count beside the size of the whole picture instead of each mesh's own.
    pub whole: bool,
}

impl<'a> Play<'a> {
    /// Every clip, or the rest pose.
    pub fn all(document: &'a Document) -> Vec<Self> {
        let play = |clip| Self {
            document,
            clip,
            whole: false,
        };
        match document.clips.len() {
            0 => vec![play(None)],
            n => (0..n).map(|i| play(Some(i))).collect(),
        }
    }

    /// The size that smaller meshes count as.
    pub fn least_size(&self, shown: &[Shown]) -> f64 {
        let all = shown.iter().flat_map(|s| s.points.iter().flatten());
        match self.whole {
            true => size(&all.copied().collect::<Vec<_>>()),
            false => 0.0,
        }
    }

    pub fn clip(&self) -> Option<&'a Clip> {
        Some(&self.document.clips[self.clip?])
    }

    pub fn name(&self) -> String {
        self.clip()
            .map_or("at rest".into(), |c| format!("clip '{}'", c.name))
    }

    pub fn moments(&self) -> Vec<Moment> {
        moments(self.clip())
    }

    pub fn scales(&self) -> bool {
        self.clip().is_some_and(|c| c.animates(Property::Scale))
    }

    /// The name that chooses this clip and no other.
    pub fn unique_name(&self) -> Option<&'a str> {
        let name = &self.clip()?.name;
        let same = self.document.clips.iter().filter(|c| c.name == *name);
        (same.count() == 1 && !name.is_empty()).then_some(name)
    }

    /// The file with this clip.
    pub fn open(&self, file: &Path) -> Result<UsdFile, Failed> {
        let clips = match self.unique_name() {
            Some(name) => ClipChoice::Named(name.to_owned()),
            None => ClipChoice::First,
        };
        let options = OpenOptions {
            clips,
            ..OpenOptions::default()
        };
        match (self.unique_name(), self.clip) {
            // No name tells it from others: it is made the only one.
            (None, Some(clip)) => {
                let mut asset = io::read_asset(file)?.ok_or("an asset")?;
                asset.clips = vec![asset.clips.swap_remove(clip)];
                Ok(UsdFile::from_asset(&asset, &options)?)
            }
            _ => Ok(io::open_with(file, &options)?),
        }
    }

    /// What the evaluator shows at the moments.
    pub fn shown(&self, moments: &[Moment]) -> Vec<Shown> {
        let clips: Vec<&Clip> = self.clip().into_iter().collect();
        shown(self.document, &clips, moments)
    }
}

/// What the evaluator shows of some clips played together.
pub fn shown(document: &Document, clips: &[&Clip], moments: &[Moment]) -> Vec<Shown> {
    let mut out: Vec<Shown> = Vec::new();
    for moment in moments {
        let surfaces = document.surfaces(clips, moment.seconds);
        for (i, surface) in surfaces.into_iter().enumerate() {
            if out.len() == i {
                out.push(empty(document, &surface));
            }
            out[i].points.push(surface.points);
            out[i].normals.push(surface.normals);
        }
    }
    out
}

/// A surface at no moment yet.
fn empty(document: &Document, surface: &Surface) -> Shown {
    let node = &document.nodes[surface.node];
    let mesh = &document.meshes[node.mesh.expect("it has surfaces")];
    let drawn = &mesh.primitives[surface.primitive];
    let moves = |t: &Target| t.points.iter().any(|p| *p != DVec3::ZERO);
    let (number, name) = (surface.node, &node.name);
    Shown {
        name: format!("node {number} '{name}' primitive {}", surface.primitive),
        deforms: node.skin.is_some() || drawn.targets.iter().any(moves),
        points: Vec::new(),
        normals: Vec::new(),
        corners: drawn.corners.clone(),
    }
}

/// Frames that a key may be off a whole one for the converter to put it there.
const OFF_FRAME: f64 = 1e-4;

/// The time code of a second.
pub fn code(seconds: f64, per_second: f64) -> f64 {
    let code = seconds * per_second;
    // A key beside a whole frame stands on it, and a step must not come too soon or too late for that.
    let near = (code - code.round()).abs() <= OFF_FRAME.max(code.abs() * f64::from(f32::EPSILON));
    if near { code.round() } else { code }
}
