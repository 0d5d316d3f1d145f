//! Biovision Hierarchy (.bvh), a format of motion capture: a skeleton and one clip.
//!
//! There is no standard. This reader follows the first description of the format ("Biovision BVH",
//! University of Wisconsin-Madison) and the files of Blender, MotionBuilder and the CMU
//! conversions:
//!
//! - Rest rotations are identity, rest translations the OFFSETs. Position channels replace the
//!   OFFSET, axis by axis; those of a joint that are 0 in all frames say nothing if its OFFSET is
//!   not 0, as in poses of MakeHuman.
//! - Rotation channels are degrees and apply in the order listed, each in the frame that those
//!   before it leave (`Zrotation Xrotation Yrotation` is Rz * Rx * Ry for column vectors). Any
//!   number of them, in any order.
//! - Frames are keys of linear curves, rotations by slerp; the first stands at 0 seconds. A `Frame
//!   Time` that is a usual rate but for its rounding counts as that rate: 0.0333333 is 30 frames
//!   per second, 0.008333 is 120.
//! - An End Site is a node without tracks, named after its joint: `Head_end`. It holds the last
//!   bone's length and direction.
//! - +Y is up. There is no unit: that of a human is the one that makes the legs most like those of a
//!   grown-up, and a warning names it if it is neither metre nor centimetre. Any
//!   other rest skeleton up to 10 units across is taken to be in metres, a larger one in
//!   centimetres.
//!
//! Keywords count in any case; joints may have spaces in their names; several ROOTs are several
//! roots; braces may stand anywhere, but each frame is one line.

mod hierarchy;
mod lines;
mod motion;

use std::path::Path;

use glam::{DMat4, DVec3};

use crate::error::Result;
use sinew::error::{Invalid, Warning};
use sinew::skel::Skeleton;
use sinew_animate::asset::{Asset, AssetClip, AssetFormat, Axis, LocalTransform, Node, Trs};
use sinew_animate::retarget::{Bone, Humanoid, Rig, RigPlacement};
use sinew_layer::Files;

use hierarchy::Joint;
use lines::Lines;

/// Lengths of a unit that files have: metre, decimetre, centimetre, millimetre, inch, and that of the
/// CMU motion capture database.
const UNITS: [f64; 6] = [1.0, 0.1, 0.01, 0.001, 0.0254, 0.0564];

/// The length of thigh and shin of a grown-up, in metres.
const LEG: f64 = 0.85;

/// Units across of the largest rest skeleton that is taken to be in metres.
const LARGEST_IN_METRES: f64 = 10.0;

/// The largest number of joints of a skeleton that may be a human's.
const MOST_OF_A_HUMAN: usize = 1000;

/// Reads a file. Its joints become nodes, and its motion becomes one clip with the name of the
/// file.
///
/// # Errors
/// [`Error::Open`](crate::Error::Open) if the file cannot be read.
/// [`Error::Invalid`](crate::Error::Invalid), with line and statement, for the first error in it.
pub fn read(path: &Path) -> Result<Asset> {
    read_from(&Files::on_disk(), path)
}

/// Reads a file as [`read`] does, on disk or in memory.
///
/// # Errors
/// Those of [`read`].
pub fn read_from(files: &Files, path: &Path) -> Result<Asset> {
    let bytes = crate::read_bytes(files, path)?;
    // Names may be in any old encoding; nothing else can.
    let text = String::from_utf8_lossy(&bytes);
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut asset = parse(&text, &name).map_err(|e| e.in_file(path))?;
    path.clone_into(&mut asset.file);
    asset.validate().map_err(|e| e.in_file(path))?;
    Ok(asset)
}

fn parse(text: &str, clip_name: &str) -> Result<Asset, Invalid> {
    let mut lines = Lines::new(text);
    let joints = hierarchy::read(&mut lines)?;
    let motion = motion::read(&mut lines, &joints)?;
    let clips = if motion.tracks.is_empty() {
        Vec::new()
    } else {
        vec![AssetClip {
            name: clip_name.to_owned(),
            tracks: motion.tracks,
            ..AssetClip::default()
        }]
    };
    let mut warnings = Vec::new();
    if motion.surplus > 0 {
        let message = format!(
            "{} more frames than the file says: they are read too",
            motion.surplus
        );
        warnings.push(Warning::new("bvh-frames", "MOTION", message));
    }
    for joint in motion.unplaced {
        let message = "its position channels are 0 in all frames: the joint stays at its OFFSET";
        warnings.push(Warning::new("bvh-positions", &joints[joint].name, message));
    }
    let leg = leg(&joints);
    let meters_per_unit = leg.map_or_else(|| unit_of_size(&joints), likely_unit);
    if let Some(leg) = leg
        && ![1.0, 0.01].contains(&meters_per_unit)
    {
        let message = format!(
            "the format has no unit: {meters_per_unit} m is a guess, which makes legs {:.2} m long",
            leg * meters_per_unit
        );
        warnings.push(Warning::new("bvh-unit", "HIERARCHY", message));
    }
    Ok(Asset {
        format: AssetFormat::Bvh,
        warnings,
        up_axis: Axis::Y,
        meters_per_unit,
        frames_per_second: motion.frames_per_second,
        roots: (0..joints.len())
            .filter(|i| joints[*i].parent.is_none())
            .collect(),
        nodes: joints.into_iter().map(node).collect(),
        clips,
        ..Asset::default()
    })
}

fn node(joint: Joint) -> Node {
    Node {
        name: joint.name,
        parent: joint.parent,
        local: LocalTransform::Trs(Trs {
            translation: joint.offset,
            ..Trs::IDENTITY
        }),
        ..Node::default()
    }
}

/// The length of thigh and shin in units, at rest; `None` if no human is recognised.
fn leg(joints: &[Joint]) -> Option<f64> {
    if joints.len() > MOST_OF_A_HUMAN {
        return None;
    }
    let names: Vec<String> = joints.iter().map(|j| j.name.clone()).collect();
    let parents: Vec<Option<u32>> = joints.iter().map(|j| Some(j.parent? as u32)).collect();
    let rest = joints.iter().map(|j| DMat4::from_translation(j.offset));
    let mut bind: Vec<DMat4> = Vec::with_capacity(joints.len());
    for joint in joints {
        let above = joint.parent.map_or(DMat4::IDENTITY, |p| bind[p]);
        bind.push(above * DMat4::from_translation(joint.offset));
    }
    let rest = Some(rest.collect());
    let skeleton = Skeleton::from_parents("", names, &parents, bind, rest).ok()?;
    let rig = Rig::new("", &skeleton, RigPlacement::default()).ok()?;
    let human = Humanoid::recognise(&rig).ok()?;
    let [thigh, shin, foot] = [Bone::LeftUpperLeg, Bone::LeftLowerLeg, Bone::LeftFoot]
        .map(|bone| human.joints().get(&bone))
        .map(|joint| joint.map(|j| skeleton.bind()[*j].w_axis.truncate()));
    let (thigh, shin, foot) = (thigh?, shin?, foot?);
    let leg = thigh.distance(shin) + shin.distance(foot);
    (leg.is_finite() && leg > 0.0).then_some(leg)
}

/// The unit in metres that brings legs of this length in units nearest to those of a grown-up.
fn likely_unit(leg: f64) -> f64 {
    let off = |unit: f64| (unit * leg / LEG).ln().abs();
    let nearest = |a: f64, b: f64| if off(b) < off(a) { b } else { a };
    UNITS.into_iter().fold(UNITS[0], nearest)
}

/// A guess from the size at rest.
fn unit_of_size(joints: &[Joint]) -> f64 {
    let mut places: Vec<DVec3> = Vec::with_capacity(joints.len());
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for joint in joints {
        // A root's OFFSET is where it stands, not a bone's length.
        let place = joint
            .parent
            .map_or(DVec3::ZERO, |p| places[p] + joint.offset);
        places.push(place);
        low = low.min(place);
        high = high.max(place);
    }
    if (high - low).max_element() <= LARGEST_IN_METRES {
        1.0
    } else {
        0.01
    }
}
