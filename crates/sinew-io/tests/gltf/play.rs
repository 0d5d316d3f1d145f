//! A clip of a file, as the evaluator plays it and as sinew opens it, and the times at which it is looked at.

use std::path::Path;

use gltf::animation::Property;
use libtest_mimic::Failed;
use sinew_io::usd::UsdFile;
use sinew_io::{self as io, ClipChoice, OpenOptions};

use crate::eval::Document;
use crate::eval::clip::Clip;
use crate::shown::{Shown, shown};
use common::compare::size;

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

    /// Does something with every clip; an error names the clip.
    pub fn each(
        document: &'a Document,
        mut run: impl FnMut(Self) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let named = |play: Self, e: Failed| format!("{}: {}", play.name(), text(&e)).into();
        let mut plays = Self::all(document).into_iter();
        plays.try_for_each(|play| run(play).map_err(|e| named(play, e)))
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

    pub fn clips(&self) -> Vec<&'a Clip> {
        self.clip().into_iter().collect()
    }

    pub fn name(&self) -> String {
        self.clip()
            .map_or("at rest".into(), |c| format!("clip '{}'", c.name))
    }

    pub fn moments(&self) -> Vec<Moment> {
        moments(self.clip())
    }

    /// Moments at keys alone.
    pub fn keys(&self) -> Vec<Moment> {
        let mut keys = self.moments();
        keys.retain(|m| m.is_key);
        keys
    }

    pub fn scales(&self) -> bool {
        self.clip().is_some_and(|c| c.animates(Property::Scale))
    }

    /// The name that chooses this clip and no other.
    fn unique_name(&self) -> Option<&'a str> {
        let name = &self.clip()?.name;
        let same = self.document.clips.iter().filter(|c| c.name == *name);
        (same.count() == 1 && !name.is_empty()).then_some(name)
    }

    /// The file with this clip.
    pub fn open(&self, file: &Path) -> Result<UsdFile, Failed> {
        let mut options = OpenOptions::default();
        match (self.unique_name(), self.clip) {
            (Some(name), _) => options.clips = ClipChoice::Named(name.to_owned()),
            // No name tells it from others: it is made the only one.
            (None, Some(clip)) => {
                let mut asset = io::read_asset(file)?.ok_or("an asset")?;
                asset.clips = vec![asset.clips.swap_remove(clip)];
                return Ok(UsdFile::from_asset(&asset, &options)?);
            }
            (None, None) => {}
        }
        Ok(io::open_with(file, &options)?)
    }

    /// What the evaluator shows at the moments.
    pub fn shown(&self, moments: &[Moment]) -> Vec<Shown> {
        shown(self.document, &self.clips(), &seconds(moments))
    }
}

/// The text of a failure.
pub fn text(failed: &Failed) -> &str {
    failed.message().unwrap_or_default()
}

#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub seconds: f64,
    /// At a key, or beyond all keys, where the nearest one holds.
    pub is_key: bool,
}

impl Moment {
    pub fn key(seconds: f64) -> Self {
        let is_key = true;
        Self { seconds, is_key }
    }

    fn between_keys(seconds: f64) -> Self {
        let is_key = false;
        Self { seconds, is_key }
    }
}

pub fn seconds(moments: &[Moment]) -> Vec<f64> {
    moments.iter().map(|m| m.seconds).collect()
}

/// Intervals of a clip up to which each is looked into twice.
const FEW_INTERVALS: usize = 40;

/// Seconds between keys below which nothing is looked at between them: a converted step's old value ends a thousandth of a frame
/// before its key.
const CLOSE: f64 = 1e-3;

/// Every key, two moments between each two (one, where there are many), and one beyond either end; one
/// moment where nothing moves.
pub fn moments(clip: Option<&Clip>) -> Vec<Moment> {
    let keys = clip.map_or(Vec::new(), Clip::key_times);
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else {
        return vec![Moment::key(0.0)];
    };
    let mut out = vec![Moment::key(first - 0.5), Moment::key(last + 0.5)];
    out.extend(keys.iter().map(|t| Moment::key(*t)));
    let shares: &[f64] = match keys.len() > FEW_INTERVALS {
        true => &[0.5],
        false => &[0.3, 0.5],
    };
    for pair in keys.windows(2).filter(|p| p[1] - p[0] > CLOSE) {
        let between = |share: &f64| Moment::between_keys(pair[0] + (pair[1] - pair[0]) * share);
        out.extend(shares.iter().map(between));
    }
    out.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    out
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

pub fn codes(moments: &[Moment], per_second: f64) -> Vec<f64> {
    let codes = moments.iter().map(|m| code(m.seconds, per_second));
    codes.collect()
}
