//! BVH files of our own, and where their joints stand: plain matrices, nothing from src.

use std::fmt::Write;

use glam::{DMat3, DVec3};

use super::rng::Rng;

/// A joint, after its parent.
pub struct Part {
    pub name: String,
    pub parent: Option<usize>,
    pub offset: DVec3,
    /// Such as `Xposition`, `Zrotation`.
    pub channels: Vec<&'static str>,
    /// An End Site's offset.
    pub end: Option<DVec3>,
}

impl Part {
    pub fn new(
        name: &str,
        parent: Option<usize>,
        offset: [f64; 3],
        channels: &[&'static str],
    ) -> Self {
        Self {
            name: name.to_owned(),
            parent,
            offset: DVec3::from(offset),
            channels: channels.to_vec(),
            end: None,
        }
    }
}

/// What a BVH file holds. Parts stand depth first, as they do in the file.
pub struct Bvh {
    pub parts: Vec<Part>,
    /// As written, so that tests can round it.
    pub frame_time: &'static str,
    /// A value for each channel of each part.
    pub frames: Vec<Vec<f64>>,
}

impl Bvh {
    pub fn channel_count(&self) -> usize {
        self.parts.iter().map(|p| p.channels.len()).sum()
    }

    /// The file's text. Numbers have all their digits.
    pub fn text(&self) -> String {
        let mut out = String::from("HIERARCHY\n");
        let mut open: Vec<usize> = Vec::new();
        for (i, part) in self.parts.iter().enumerate() {
            while open.last().copied() != part.parent {
                open.pop().expect("parts stand depth first");
                writeln!(out, "{}}}", "\t".repeat(open.len())).unwrap();
            }
            let indent = "\t".repeat(open.len());
            let keyword = if part.parent.is_none() {
                "ROOT"
            } else {
                "JOINT"
            };
            writeln!(out, "{indent}{keyword} {}\n{indent}{{", part.name).unwrap();
            let DVec3 { x, y, z } = part.offset;
            writeln!(out, "{indent}\tOFFSET {x:?} {y:?} {z:?}").unwrap();
            let channels = part.channels.join(" ");
            writeln!(out, "{indent}\tCHANNELS {} {channels}", part.channels.len()).unwrap();
            if let Some(DVec3 { x, y, z }) = part.end {
                let inner = format!("{indent}\t");
                writeln!(
                    out,
                    "{inner}End Site\n{inner}{{\n{inner}\tOFFSET {x:?} {y:?} {z:?}\n{inner}}}"
                )
                .unwrap();
            }
            open.push(i);
        }
        while open.pop().is_some() {
            writeln!(out, "{}}}", "\t".repeat(open.len())).unwrap();
        }
        let (count, time) = (self.frames.len(), self.frame_time);
        writeln!(out, "MOTION\nFrames: {count}\nFrame Time: {time}").unwrap();
        for frame in &self.frames {
            let values: Vec<String> = frame.iter().map(|v| format!("{v:?}")).collect();
            writeln!(out, "{}", values.join(" ")).unwrap();
        }
        out
    }

    /// World rotation and position of every part in one frame.
    pub fn world(&self, frame: usize) -> Vec<(DMat3, DVec3)> {
        let mut values = self.frames[frame].iter();
        let mut world: Vec<(DMat3, DVec3)> = Vec::new();
        for part in &self.parts {
            let mut turn = DMat3::IDENTITY;
            let mut place = part.offset;
            for channel in &part.channels {
                let value = *values.next().unwrap();
                let axis = (channel.as_bytes()[0] - b'X') as usize;
                if channel.ends_with("position") {
                    place[axis] = value;
                } else {
                    turn *= axis_turn(axis, value);
                }
            }
            world.push(match part.parent {
                Some(p) => {
                    let (above, at) = world[p];
                    (above * turn, at + above * place)
                }
                None => (turn, place),
            });
        }
        world
    }
}

/// Right-handed rotation about an axis, from its definition.
fn axis_turn(axis: usize, degrees: f64) -> DMat3 {
    let (s, c) = (degrees * std::f64::consts::PI / 180.0).sin_cos();
    let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut m = DMat3::IDENTITY;
    m.col_mut(j)[j] = c;
    m.col_mut(j)[k] = s;
    m.col_mut(k)[j] = -s;
    m.col_mut(k)[k] = c;
    m
}

const ROOT: [&str; 6] = [
    "Xposition",
    "Yposition",
    "Zposition",
    "Zrotation",
    "Yrotation",
    "Xrotation",
];
const TURN: [&str; 3] = ["Zrotation", "Yrotation", "Xrotation"];

/// Name, name of the parent, offset in centimetres: a T-pose facing +Z, hips at their height, as Mixamo's figures stand.
const MIXAMO_LEFT_AND_MIDDLE: &[(&str, &str, [f64; 3])] = &[
    ("Hips", "", [0.0, 98.0, 0.5]),
    ("Spine", "Hips", [0.0, 10.0, -1.0]),
    ("Spine1", "Spine", [0.0, 11.5, -0.2]),
    ("Spine2", "Spine1", [0.0, 13.0, 0.1]),
    ("Neck", "Spine2", [0.0, 15.0, 0.8]),
    ("Head", "Neck", [0.0, 9.5, 2.5]),
    ("HeadTop_End", "Head", [0.0, 18.0, 6.5]),
    ("LeftShoulder", "Spine2", [6.0, 9.5, 0.2]),
    ("LeftArm", "LeftShoulder", [12.0, -0.5, -2.5]),
    ("LeftForeArm", "LeftArm", [27.0, 0.0, 0.0]),
    ("LeftHand", "LeftForeArm", [28.0, 0.2, 0.3]),
    ("LeftHandThumb1", "LeftHand", [3.0, -2.5, 2.5]),
    ("LeftHandThumb2", "LeftHandThumb1", [3.5, -2.0, 2.0]),
    ("LeftHandThumb3", "LeftHandThumb2", [3.0, -1.2, 1.4]),
    ("LeftHandIndex1", "LeftHand", [9.5, 0.1, 2.8]),
    ("LeftHandIndex2", "LeftHandIndex1", [3.6, 0.0, 0.0]),
    ("LeftHandIndex3", "LeftHandIndex2", [3.2, 0.0, 0.0]),
    ("LeftUpLeg", "Hips", [9.0, -5.5, 0.0]),
    ("LeftLeg", "LeftUpLeg", [0.4, -40.5, 0.5]),
    ("LeftFoot", "LeftLeg", [-0.2, -41.0, -2.0]),
    ("LeftToeBase", "LeftFoot", [0.3, -9.0, 11.0]),
    ("LeftToe_End", "LeftToeBase", [0.0, -0.5, 7.5]),
];

/// A figure with Mixamo's names, `prefix` (such as `mixamorig:`) before each, that moves all its joints, the hips also
/// through space; no two frames alike, the same for the same seed. Centimetres, 30 frames per second.
pub fn mixamo(prefix: &str, frames: u32, seed: u64) -> Bvh {
    let mut bones: Vec<(String, String, [f64; 3])> = Vec::new();
    for (name, parent, offset) in MIXAMO_LEFT_AND_MIDDLE {
        bones.push(((*name).to_owned(), (*parent).to_owned(), *offset));
        if name.starts_with("Left") {
            let right = |n: &str| n.replace("Left", "Right");
            bones.push((
                right(name),
                right(parent),
                [-offset[0], offset[1], offset[2]],
            ));
        }
    }
    let parts = depth_first(&bones, prefix);
    let mut rng = Rng::new(seed);
    // Each channel swings by itself, slowly enough that no joint turns half round in a frame.
    let channels: usize = parts.iter().map(|p| p.channels.len()).sum();
    let swings: Vec<[f64; 3]> = (0..channels)
        .map(|_| [(5.0, 40.0), (0.05, 0.3), (0.0, 6.0)].map(|(a, b)| f64::from(rng.range(a, b))))
        .collect();
    let frames = (0..frames)
        .map(|f| {
            let mut values: Vec<f64> = swings
                .iter()
                .map(|[size, speed, start]| size * (start + speed * f64::from(f)).sin())
                .collect();
            // The hips walk forward about their height.
            values[1] = 95.0 + values[1] * 0.1;
            values[2] += 3.0 * f64::from(f);
            values
        })
        .collect();
    Bvh {
        parts,
        frame_time: "0.0333333",
        frames,
    }
}

fn depth_first(bones: &[(String, String, [f64; 3])], prefix: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut open: Vec<(usize, Option<usize>)> = vec![(0, None)];
    while let Some((bone, parent)) = open.pop() {
        let (name, _, offset) = &bones[bone];
        let channels: &[&'static str] = if parent.is_none() { &ROOT } else { &TURN };
        let mut part = Part::new(&format!("{prefix}{name}"), parent, *offset, channels);
        let index = parts.len();
        let below: Vec<usize> = (0..bones.len()).filter(|b| bones[*b].1 == *name).collect();
        if below.is_empty() {
            part.end = Some(DVec3::from(*offset) * 0.5);
        }
        open.extend(below.into_iter().rev().map(|b| (b, Some(index))));
        parts.push(part);
    }
    parts
}
