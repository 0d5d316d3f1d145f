//! The record in each clip of the bake that it is from.

use std::path::Path;

use crate::error::Result;
use crate::failed::is_below;
use crate::options::BakeOptions;
use crate::plan::Rigid;
use crate::shutter::Shutter;
use sinew::scene::OutSpace;
use sinew::skel::AnimSource;
use sinew_io::usd::{ClipRecord, UsdFile};
use sinew_io::{ClipChoice, OpenOptions};

/// The properties that all clips of a bake share.
pub(super) struct Records {
    /// File name of OUT.
    pub stage: String,
    input: String,
    options: String,
    count: usize,
}

impl Records {
    /// # Errors
    /// The input cannot be read any more.
    pub fn new(file: &UsdFile, output: &Path, options: &BakeOptions, count: usize) -> Result<Self> {
        let stage = output.file_name().unwrap_or_default();
        Ok(Self {
            stage: stage.to_string_lossy().into_owned(),
            input: file.fingerprint()?,
            options: as_text(options),
            count,
        })
    }

    /// The record of a clip, by its index.
    pub fn of(&self, index: usize, frames: Option<(f64, f64)>, backend: &str) -> ClipRecord {
        ClipRecord {
            stage: self.stage.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            input: self.input.clone(),
            options: self.options.clone(),
            backend: backend.to_owned(),
            clip: format!("{} of {}", index + 1, self.count),
            frames: match frames {
                Some((first, last)) => format!("{first} to {last}"),
                None => "none".to_owned(),
            },
        }
    }
}

/// All options that values depend on, as readable text. Search paths are not included, because they
/// differ between machines; the files that are found are part of the input.
fn as_text(options: &BakeOptions) -> String {
    // All fields are named here, so that a new field is not forgotten.
    let BakeOptions {
        open,
        frames,
        backend: _,
        prims,
        layer,
        anim_source,
        rigid,
        space,
        keep_bindings,
        ignore_free_space: _,
        vat: _,
        bones: _,
        shutter,
        velocities,
        max_error,
        clip_frames,
        resume: _,
        shard: _,
    } = options;
    let OpenOptions {
        variants,
        search_paths: _,
        clips,
        purposes: _,
        files: _,
    } = open;
    let mut out = Vec::new();
    if let Some(n) = clip_frames {
        out.push(format!("clip-frames {n}"));
    }
    if let Some(range) = frames {
        let (first, last, step) = (range.first, range.last, range.step);
        out.push(format!("frames {first}:{last}:{step}"));
    }
    out.extend(topmost(prims).map(|p| format!("prim {}", if p.is_empty() { "/" } else { p })));
    out.extend(layer.then(|| "layer".to_owned()));
    out.extend(variants.iter().map(|v| format!("variant {v}")));
    match clips {
        ClipChoice::First => {}
        ClipChoice::Named(name) => out.push(format!("clip {name}")),
        ClipChoice::All => out.push("all clips".to_owned()),
    }
    match anim_source {
        AnimSource::AtSkeleton => {}
        AnimSource::AtBinding => out.push("anim-source binding".to_owned()),
    }
    if *keep_bindings {
        out.push("keep-bindings".to_owned());
    }
    if let Some(Shutter {
        open,
        close,
        samples,
    }) = shutter
    {
        out.push(format!("shutter {open}:{close} of {samples} samples"));
    }
    if *velocities {
        out.push("velocities".to_owned());
    }
    if let Some(error) = max_error {
        out.push(format!("max-error {error}"));
    }
    match rigid {
        Rigid::Xform => {}
        Rigid::Points => out.push("rigid points".to_owned()),
    }
    // Words of their own: files that are baked in parts hold them, whatever the type's names become.
    let space = match space.unwrap_or_default() {
        OutSpace::Prim => "prim",
        OutSpace::Skel => "skel",
        OutSpace::World => "world",
    };
    out.push(format!("space {space}"));
    out.join(", ")
}

/// Prim paths, sorted, without duplicates and without paths below another one.
fn topmost(prims: &[String]) -> impl Iterator<Item = &str> {
    let mut all: Vec<&str> = prims.iter().map(|p| p.trim_end_matches('/')).collect();
    // After sorting, prims below a prim follow it.
    all.sort_unstable_by(|a, b| a.split('/').cmp(b.split('/')));
    all.dedup_by(|later, kept| is_below(later, kept));
    all.into_iter()
}
