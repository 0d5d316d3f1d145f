//! What `sinew render` says that it did.

use std::fmt::Write;

use serde::Serialize;
use sinew::gpu::AdapterReport;

use crate::report::count;

/// What was drawn.
#[derive(Serialize)]
pub struct Report {
    pub input: String,
    pub size: [u32; 2],
    pub adapter: AdapterReport,
    /// `gpu` or `cpu`.
    pub skinned_on: &'static str,
    pub meshes: usize,
    /// Points that each picture skinned or blended.
    pub points: usize,
    pub joints: usize,
    pub pictures: Vec<PictureReport>,
    /// What is drawn differently from what the file says, or not at all.
    pub messages: Vec<String>,
    pub seconds: f64,
}

#[derive(Serialize)]
pub struct PictureReport {
    pub file: String,
    /// Time codes: one, or those of a sheet's cells; none for what has no times.
    pub times: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degrees: Option<f64>,
}

/// Writing to a String cannot fail.
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
    let _ = writeln!(
        out,
        "  {}, {} x {} pixels",
        count(report.pictures.len(), "picture"),
        report.size[0],
        report.size[1]
    );
    let _ = writeln!(
        out,
        "  {}, {} skinned on the {}, {}",
        match report.meshes {
            1 => "1 mesh".to_owned(),
            n => format!("{n} meshes"),
        },
        count(report.points, "point"),
        report.skinned_on.to_uppercase(),
        count(report.joints, "joint")
    );
    let _ = writeln!(
        out,
        "  drawn on {} in {:.3} s",
        report.adapter.name, report.seconds
    );
    out
}
