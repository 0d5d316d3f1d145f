//! SkelAnimation prims and the Skeletons that they drive.

use std::collections::HashSet;

use super::context::{ANIMATION, Context};
use super::{Findings, duplicates, some_of};
use glam::{DMat3, DMat4, DVec3};
use sinew::math;
use sinew::sampled::Time;
use sinew::scene::{PlacedSkeleton, Scene};
use sinew::skel::AnimMapper;
use sinew::skel::binding::PrimKind;
use sinew_io::usd::{AuthoredPrim, AuthoredValue};

/// The largest difference of a quaternion's length from 1 that is not reported. A joint is scaled
/// by about twice the difference. Half-precision quaternions, which some exporters write, stay
/// below it.
pub(super) const UNIT: f32 = 1e-3;

pub(super) fn check(context: &Context<'_>, scene: &Scene, findings: &mut Findings) {
    let targeted: HashSet<&str> = context
        .prims()
        .filter(|(_, p)| p.has_api)
        .filter_map(|(_, p)| p.relationships.get(ANIMATION)?.first())
        .map(String::as_str)
        .collect();
    for (_, prim) in context.prims() {
        if prim.kind != PrimKind::SkelAnimation {
            continue;
        }
        if !targeted.contains(prim.path.as_str()) {
            let message = "it is not the first target of any skel:animationSource";
            findings.add("animation-unused", &prim.path, "", message);
        }
        animation(prim, findings);
    }
    for placed in &scene.instances {
        let Some(animation) = placed.instance.animation() else {
            continue;
        };
        if let Some(tilt) = lies_at_rest(scene, placed) {
            let message = format!(
                "the transforms above the Skeleton tilt its rest pose by {:.0} degrees, and the animation undoes that",
                tilt.to_degrees()
            );
            findings.add("rest-pose-lies", &placed.path, "", message);
        }
        let (path, skeleton) = (&animation.path, placed.instance.skeleton());
        if animation.joints.is_empty() {
            if animation.blend_shapes.is_empty() {
                let message = format!("drives {} but has neither joints nor channels", placed.path);
                findings.add("animation-empty", path, "", message);
            }
            continue;
        }
        let mapper = AnimMapper::new(&animation.joints, skeleton.joints());
        let unknown: Vec<&str> = mapper
            .targets()
            .zip(&animation.joints)
            .filter(|(target, _)| target.is_none())
            .map(|(_, joint)| joint.as_str())
            .collect();
        if unknown.len() == animation.joints.len() {
            let differ = prefix(&animation.joints, skeleton.joints());
            let message = format!(
                "none of its joints is a joint of {}: the rest pose is used{}",
                placed.path,
                differ.unwrap_or_default()
            );
            findings.add("animation-joints-foreign", path, "", message);
            continue;
        }
        if !unknown.is_empty() {
            let message = format!(
                "{} does not have the joints {}",
                placed.path,
                some_of(&unknown)
            );
            findings.add("animation-joints-unknown", path, "", message);
        }
        if mapper.is_sparse() {
            let own: HashSet<&String> = animation.joints.iter().collect();
            let still: Vec<&String> = skeleton
                .joints()
                .iter()
                .filter(|j| !own.contains(j))
                .collect();
            // Joints that are listed twice make a map sparse too.
            if still.is_empty() {
                continue;
            }
            let message = format!(
                "{} joints of {} stay in their rest pose: {}",
                still.len(),
                placed.path,
                some_of(&still)
            );
            findings.add("animation-sparse", path, "", message);
        }
    }
}

/// What joints have in front of others, if that is all that most of them differ in.
fn prefix(own: &[String], others: &[String]) -> Option<String> {
    let (more, less, has) =
        match own.first()?.matches('/').count() >= others.first()?.matches('/').count() {
            true => (own, others, "have"),
            false => (others, own, "lack"),
        };
    let less: HashSet<&str> = less.iter().map(String::as_str).collect();
    let ends = more
        .iter()
        .flat_map(|joint| joint.match_indices('/').map(move |(i, _)| (joint, i + 1)));
    let (joint, end) = ends
        .into_iter()
        .find(|(joint, end)| less.contains(&joint[*end..]))?;
    let prefix = &joint[..end];
    let stripped = more.iter().filter_map(|joint| joint.strip_prefix(prefix));
    let same = stripped.filter(|joint| less.contains(joint)).count();
    (same * 2 >= more.len().min(less.len()))
        .then(|| format!("; {same} of them {has} '{prefix}' in front and are the same otherwise"))
}

/// The largest number of times at which the animation is compared with the rest pose.
const MOST_TIMES: usize = 24;

/// A pose is tilted if its up axis is this far from that of another one, in radians.
const TILTED: f64 = std::f64::consts::FRAC_PI_4;

/// The angle by which the transforms above a Skeleton tilt its rest pose, if its animation stands as
/// the rest pose does without them; `None` otherwise. Maya's exporter writes rest transforms in world
/// space below a SkelRoot that is rotated.
fn lies_at_rest(scene: &Scene, placed: &PlacedSkeleton) -> Option<f64> {
    let skeleton = placed.instance.skeleton();
    let top = skeleton.topology().parents().position(|p| p.is_none())?;
    let turn = |m: DMat4| math::nearest_rotation(DMat3::from_mat4(m));
    let rest = turn(skeleton.rest()?[top])?;
    let up = match scene.up_axis {
        'Z' => DVec3::Z,
        _ => DVec3::Y,
    };
    let mut times: Vec<f64> = placed.instance.animation()?.joint_times().collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let step = times.len().div_ceil(MOST_TIMES).max(1);
    let times: Vec<Time> = match times.is_empty() {
        true => vec![Time::Default],
        false => times.into_iter().step_by(step).map(Time::At).collect(),
    };
    let (mut lies, mut tilt) = (0, 0.0_f64);
    for time in &times {
        let pose = placed.instance.joint_local_transforms(*time).ok()?;
        let world = turn(scene.world_from_prim(placed.prim, *time))?;
        let since_rest = world * turn(pose[top])? * rest.inverse();
        // How far the animation tilts the rest pose as it is, and without the placement.
        let as_it_is = (since_rest * (world.inverse() * up)).angle_between(up);
        let without = (since_rest * up).angle_between(up);
        if without < TILTED && as_it_is > without + TILTED {
            lies += 1;
            tilt = tilt.max((world * up).angle_between(up));
        }
    }
    (lies * 2 > times.len()).then_some(tilt)
}

fn animation(prim: &AuthoredPrim, findings: &mut Findings) {
    let path = &prim.path;
    let joints = prim.tokens("joints");
    let twice = duplicates(joints);
    if !twice.is_empty() {
        let message = format!("listed more than once: {}", some_of(&twice));
        findings.add("joint-duplicate", path, "joints", message);
    }
    let channels = prim.tokens("blendShapes");
    let twice = duplicates(channels);
    if !twice.is_empty() {
        let message = format!("listed more than once: {}", some_of(&twice));
        findings.add("shape-duplicate", path, "blendShapes", message);
    }
    match prim.attributes.get("blendShapeWeights") {
        Some(weights) => {
            let lengths = weights.values.iter().filter_map(|(t, v)| match v {
                AuthoredValue::Floats(f) => Some((t, f.len())),
                _ => None,
            });
            if let Some((t, n)) = lengths.into_iter().find(|(_, n)| *n != channels.len()) {
                let message = format!("expected {} weights, found {n} at time {t}", channels.len());
                findings.add("channel-weights-unmatched", path, "", message);
            }
        }
        None if !channels.is_empty() => {
            let message = format!("{} channels, but no blendShapeWeights", channels.len());
            findings.add("channel-weights-missing", path, "", message);
        }
        None => {}
    }
    rotations(prim, joints, findings);
    let scales = prim.attributes.get("scales");
    for (time, value) in scales.iter().flat_map(|a| &a.values) {
        let AuthoredValue::Halves(scales) = value else {
            continue;
        };
        let zero = |s: &[half::f16; 3]| s.iter().any(|x| x.to_f32() == 0.0);
        if let Some(i) = scales.iter().position(zero) {
            let message = format!("scales {} to 0 at time {time}", name_of(joints, i));
            findings.add("scale-zero", path, "", message);
        }
    }
}

fn name_of(joints: &[String], i: usize) -> String {
    joints
        .get(i)
        .cloned()
        .unwrap_or_else(|| format!("joint {i}"))
}

fn rotations(prim: &AuthoredPrim, joints: &[String], findings: &mut Findings) {
    let rotations = prim.attributes.get("rotations");
    for (time, value) in rotations.iter().flat_map(|a| &a.values) {
        let AuthoredValue::Quats(quats) = value else {
            continue;
        };
        for (i, q) in quats.iter().enumerate() {
            let length = q.length();
            let code = if length == 0.0 {
                "rotation-zero"
            } else if length.is_finite() && (length - 1.0).abs() > UNIT {
                "rotation-not-unit"
            } else {
                continue;
            };
            if !findings.has(code, &prim.path) {
                let message = format!(
                    "the rotation of {} has length {length} at time {time}",
                    name_of(joints, i)
                );
                findings.add(code, &prim.path, "", message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::prefix;

    #[test]
    fn prefixes_are_named() {
        let joints = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let rig = joints("Hip Hip/Leg Hip/Leg/Foot");
        let armature = joints("Armature/Hip Armature/Hip/Leg Armature/Hip/Leg/Toe");
        let has = "; 2 of them have 'Armature/' in front and are the same otherwise";
        assert_eq!(prefix(&armature, &rig).as_deref(), Some(has));
        let lacks = has.replace("have", "lack");
        assert_eq!(prefix(&rig, &armature), Some(lacks));
        assert_eq!(prefix(&joints("a a/b"), &rig), None);
    }
}
