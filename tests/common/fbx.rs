//! FBX files that tests read, and where FBX's definitions put their joints and points.
//!
//! They lie in `crates/sinew-io/tests/data/fbx`. `tube` is five sides on three joints with all that an FBX transform has,
//! a loose triangle without weights, a channel with an in-between, and two clips of linear, stepped and smooth curves.
//! The table beside a file was computed in f64 from the definitions in Autodesk's documentation, not by sinew.

use std::path::PathBuf;

use glam::DVec3;

/// The joints of the tube, root first.
pub const JOINTS: [&str; 3] = ["Hips", "mixamorig:Spine", "Neck.001"];

/// The path of a file, without its ending.
pub fn path(name: &str) -> PathBuf {
    super::fixture(&format!("fbx/{name}.fbx"))
}

/// A text file.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

/// Where joints and points are at rest, or at a time of a clip.
pub struct Pose {
    /// `None` at rest.
    pub clip: Option<String>,
    pub seconds: f64,
    pub joints: Vec<DVec3>,
    pub points: Vec<DVec3>,
}

/// All poses that are known of a file.
pub struct Table {
    pub poses: Vec<Pose>,
    /// Which of the file's points each point of the asset is: primitives, one per material, have the points of their
    /// faces in the order of these.
    pub order: Vec<usize>,
}

/// The table of a file, in the asset's space.
pub fn table(name: &str) -> Table {
    let text = super::fixture(&format!("fbx/{name}.txt"));
    let text = std::fs::read_to_string(text).unwrap();
    let mut table = Table {
        poses: Vec::new(),
        order: Vec::new(),
    };
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap();
        let vectors = || rest.split(", ").map(vector).collect();
        match word {
            "at" => {
                let (clip, seconds) = rest.split_once(' ').unwrap();
                table.poses.push(Pose {
                    clip: Some(clip.to_owned()).filter(|c| c != "rest"),
                    seconds: seconds.parse().unwrap(),
                    joints: Vec::new(),
                    points: Vec::new(),
                });
            }
            "joints" => table.poses.last_mut().unwrap().joints = vectors(),
            "points" => table.poses.last_mut().unwrap().points = vectors(),
            "order" => {
                table.order = rest.split(' ').map(|n| n.parse().unwrap()).collect();
            }
            _ => {}
        }
    }
    table
}

fn vector(text: &str) -> DVec3 {
    let numbers: Vec<f64> = text.split(' ').map(|n| n.parse().unwrap()).collect();
    DVec3::from_slice(&numbers)
}
