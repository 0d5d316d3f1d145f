//! FBX files that tests read, and where FBX's definitions put their joints and points.
//!
//! They lie in `crates/sinew-io/tests/data/fbx`. `tube` is five sides on three joints with all that an FBX transform has,
//! a loose triangle without weights, a channel with an in-between, and two clips of linear, stepped and smooth curves.
//! The table beside a file was computed in f64 from the definitions in Autodesk's documentation, not by sinew.

use std::path::PathBuf;

use glam::{DMat3, DVec3};

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

/// A file's axes: FBX's numbers, and what takes its space to the asset's (right-handed, +Y up).
#[derive(Clone, Copy)]
pub struct Axes {
    pub up: (i64, i64),
    pub front: (i64, i64),
    pub coord: (i64, i64),
    pub asset_from_file: DMat3,
}

/// Right-handed, +Y up: the files are written like this.
pub const Y_UP: Axes = Axes {
    up: (1, 1),
    front: (2, 1),
    coord: (0, 1),
    asset_from_file: DMat3::IDENTITY,
};

/// Blender's and 3ds Max's.
pub const Z_UP: Axes = Axes {
    up: (2, 1),
    front: (1, -1),
    coord: (0, 1),
    asset_from_file: DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y),
};

pub const LEFT_HANDED: Axes = Axes {
    up: (1, 1),
    front: (2, -1),
    coord: (0, 1),
    asset_from_file: DMat3::from_cols(DVec3::X, DVec3::Y, DVec3::NEG_Z),
};

impl Axes {
    /// The same numbers, said to be in these axes.
    pub fn applied_to(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, (axis, sign), (old, old_sign)) in [
            ("Up", self.up, Y_UP.up),
            ("Front", self.front, Y_UP.front),
            ("Coord", self.coord, Y_UP.coord),
        ] {
            for (name, new, old) in [("Axis", axis, old), ("AxisSign", sign, old_sign)]
                .map(|(end, new, old)| (format!("{name}{end}"), new, old))
            {
                let line = |v| format!("P: \"{name}\", \"int\", \"Integer\", \"\",{v}\n");
                assert!(text.contains(&line(old)), "{name}");
                text = text.replace(&line(old), &line(new));
            }
        }
        text
    }

    fn is_mirrored(&self) -> bool {
        self.asset_from_file.determinant() < 0.0
    }
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
pub fn table(name: &str, axes: &Axes) -> Table {
    let text = super::fixture(&format!("fbx/{name}.txt"));
    let text = std::fs::read_to_string(text).unwrap();
    let mut table = Table {
        poses: Vec::new(),
        order: Vec::new(),
    };
    // A mirrored world turns faces round, about their first corner.
    let order = if axes.is_mirrored() {
        "mirrored"
    } else {
        "order"
    };
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap();
        let vectors = || {
            rest.split(", ")
                .map(|v| axes.asset_from_file * vector(v))
                .collect()
        };
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
            _ if word == order => {
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
