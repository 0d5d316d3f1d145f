//! The report of `sinew render`.

use std::fmt::Write;

use serde::Serialize;
use sinew::gpu::AdapterReport;

use crate::finding::Finding;
use crate::report::count;

use super::shots::number;

/// The report, as JSON and as text.
#[derive(Serialize)]
pub struct Report {
    pub input: String,
    /// Width and height of each picture in pixels, as asked for.
    pub size: [u32; 2],
    pub adapter: AdapterReport,
    /// Backend that skinned: `gpu` or `cpu`.
    pub skinned_on: &'static str,
    pub meshes: usize,
    /// Number of points that were skinned or blended for each picture.
    pub points: usize,
    pub joints: usize,
    pub pictures: Vec<PictureReport>,
    /// Prims that were not drawn, or not skinned.
    pub failed: Vec<Finding>,
    /// Parts of the file that are not drawn, or drawn differently, and why.
    pub warnings: Vec<Finding>,
    pub seconds: f64,
}

#[derive(Serialize)]
pub struct PictureReport {
    pub file: String,
    /// Time code of the picture, or those of a sheet's cells; empty if nothing moves.
    pub times: Vec<f64>,
    /// Angle of a turntable's picture around the up axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degrees: Option<f64>,
    /// How long a clip file plays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

impl PictureReport {
    /// What is in the file.
    fn contents(&self) -> Option<String> {
        let seconds = self.seconds?;
        let frames = count(self.times.len(), "frame");
        Some(format!("{frames} in {} s", number(seconds)))
    }
}

impl Report {
    /// How many pictures of how many pixels there are, or how long a clip is.
    pub fn brief(&self) -> String {
        let clip = self.pictures.first().and_then(PictureReport::contents);
        let pictures = clip.unwrap_or_else(|| count(self.pictures.len(), "picture"));
        let [width, height] = self.size;
        format!("{pictures}, {width} x {height} pixels")
    }
}

/// The report as text. Writing to a String cannot fail, so its results are dropped.
pub fn describe(report: &Report) -> String {
    let mut out = String::new();
    match report.pictures.as_slice() {
        [first, .., last] => {
            let _ = writeln!(out, "{} to {}", first.file, last.file);
        }
        [one] => {
            let _ = writeln!(out, "{}", one.file);
        }
        [] => {}
    }
    let _ = writeln!(out, "  {}", report.brief());
    let meshes = match report.meshes {
        1 => "1 mesh".to_owned(),
        n => format!("{n} meshes"),
    };
    let skinned = match report.points {
        0 => "nothing skinned".to_owned(),
        n => format!(
            "{} skinned on the {}",
            count(n, "point"),
            report.skinned_on.to_uppercase()
        ),
    };
    let joints = count(report.joints, "joint");
    let _ = writeln!(out, "  {meshes}, {skinned}, {joints}");
    let _ = writeln!(
        out,
        "  drawn on {} in {:.3} s",
        report.adapter.name, report.seconds
    );
    out
}
