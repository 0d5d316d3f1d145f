//! What makes a clip what it is.

use std::path::Path;

use crate::baker::is_below;
use crate::error::Result;
use crate::options::BakeOptions;
use crate::plan::Rigid;
use sinew::skel::AnimSource;
use sinew_io::usd::{ClipRecord, UsdFile};
use sinew_io::{ClipChoice, OpenOptions};

/// What all clips of a bake have the same of.
pub(super) struct Records {
    /// File name of OUT.
    pub stage: String,
    input: String,
    options: String,
    count: usize,
}

impl Records {
    /// # Errors
    /// An input that cannot be read any more.
    pub fn new(file: &UsdFile, output: &Path, options: &BakeOptions, count: usize) -> Result<Self> {
        let stage = output.file_name().unwrap_or_default();
        Ok(Self {
            stage: stage.to_string_lossy().into_owned(),
            input: file.fingerprint()?,
            options: as_text(options),
            count,
        })
    }

    /// Of a clip by its index.
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

/// All that values depend on besides the input, as a person would ask for it. Search paths do not count, as machines
/// have their own: what is found there does.
fn as_text(options: &BakeOptions) -> String {
    // Every field is named here, so that none that is added is forgotten.
    let BakeOptions {
        open,
        frames,
        backend: _,
        prims,
        layer,
        anim_source,
        rigid,
        space,
        vat: _,
        clip_frames,
        resume: _,
        shard: _,
    } = options;
    let OpenOptions {
        variants,
        search_paths: _,
        clips,
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
    out.extend(variants.iter().map(|v| format!("variant {v:?}")));
    match clips {
        ClipChoice::First => {}
        ClipChoice::Named(name) => out.push(format!("clip {name}")),
        ClipChoice::All => out.push("all clips".to_owned()),
    }
    match anim_source {
        AnimSource::AtSkeleton => {}
        AnimSource::AtBinding => out.push("anim-source binding".to_owned()),
    }
    match rigid {
        Rigid::Xform => {}
        Rigid::Points => out.push("rigid points".to_owned()),
    }
    let space = format!("{:?}", space.unwrap_or_default());
    out.push(format!("space {}", space.to_lowercase()));
    out.join(", ")
}

/// Prims in one order, each named once and none below another.
fn topmost(prims: &[String]) -> impl Iterator<Item = &str> {
    let mut all: Vec<&str> = prims.iter().map(|p| p.trim_end_matches('/')).collect();
    // What is below a prim follows it then.
    all.sort_unstable_by(|a, b| a.split('/').cmp(b.split('/')));
    all.dedup_by(|later, kept| is_below(later, kept));
    all.into_iter()
}
