//! The report of `sinew animate`.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use sinew::scene::TimeLine;
use sinew::{Invalid, Warning};

use crate::finding::{self, Finding};
use crate::report::Sizes;

/// The report, as JSON and as text.
#[derive(Serialize)]
pub struct Report<'a> {
    output: String,
    character: String,
    /// First and last time code.
    start: Option<f64>,
    end: Option<f64>,
    time_codes_per_second: f64,
    /// One entry for each clip and each skeleton that it moves.
    clips: &'a [ClipReport],
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
    #[serde(flatten)]
    sizes: Sizes,
}

/// A clip on a skeleton.
#[derive(Serialize)]
pub struct ClipReport {
    pub file: String,
    /// Name of the clip.
    pub clip: String,
    /// Path of the SkelAnimation in its file.
    pub animation: String,
    /// Path of the skeleton in CHARACTER.
    pub skeleton: String,
    /// Time codes of OUT. Another clip may begin before the end.
    pub start: f64,
    pub end: f64,
    /// The file that it was copied to; `None` if OUT refers to the published one.
    pub copy: Option<String>,
}

impl<'a> Report<'a> {
    pub fn new(
        (output, character): (&Path, &Path),
        time_line: &TimeLine,
        clips: &'a [ClipReport],
        (errors, warnings): (&[Invalid], &[Warning]),
        sizes: Sizes,
    ) -> Self {
        Self {
            output: output.display().to_string(),
            character: character.display().to_string(),
            start: time_line.range.map(|r| r.0),
            end: time_line.range.map(|r| r.1),
            time_codes_per_second: time_line.time_codes_per_second,
            clips,
            errors: finding::of_invalid(errors, None),
            warnings: finding::of_warnings(warnings, None),
            sizes,
        }
    }

    /// The report as text. Writing to a String cannot fail, so its results are dropped.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n", self.output);
        let rate = self.time_codes_per_second;
        if let (Some(start), Some(end)) = (self.start, self.end) {
            let _ = writeln!(
                out,
                "  frames {start} to {end}, {rate} time codes per second"
            );
        }
        for c in self.clips {
            let copy = c.copy.as_ref();
            let copy = copy.map_or(String::new(), |copy| format!(", copied to {copy}"));
            let _ = writeln!(
                out,
                "  {} to {}: {} of {} <{}> on {}{copy}",
                c.start, c.end, c.clip, c.file, c.animation, c.skeleton
            );
        }
        let _ = writeln!(out, "  {}", self.sizes);
        out
    }
}
