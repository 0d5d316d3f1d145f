//! Findings from errors and warnings of reading, binding, skinning and posing.

use super::context::Context;
use super::{Finding, Findings, some_of};
use glam::{DMat3, DMat4};
use sinew::error::Invalid;
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, OutSpace, Scene, SkinPart};
use sinew::skel::binding::PrimKind;
use sinew::skel::{InfluenceInterpolation, Pose, SkinningMethod};

/// The largest difference of `transpose(m) * m` from the identity for which a skinning transform
/// `m` counts as rigid. It allows for f32 noise in its inputs.
const RIGID: f64 = 1e-3;

/// What binding tells. Without a context every bound prim counts as one with points.
pub(super) fn check(context: Option<&Context<'_>>, scene: &Scene, findings: &mut Findings) {
    warnings(scene, findings);
    for error in &scene.errors {
        add_invalid(error, findings);
    }
    for bound in scene.bound_skins() {
        if has_points(context, bound, findings) {
            joints_and_channels(bound, findings);
        }
    }
}

/// Makes all skins and poses. Returns whether a prim can be skinned, at some time at least.
pub(super) fn posed(scene: &Scene, findings: &mut Findings) -> bool {
    let skins = scene.bound_skins().map(|bound| skin(bound, findings));
    let mut able: Vec<bool> = skins.collect();
    poses(scene, &mut able, findings);
    // Prims that cannot be skinned, unless an error already says why.
    for (b, able) in scene.bindings.iter().zip(&mut able) {
        let Some(reason) = &b.unsupported else {
            continue;
        };
        *able = false;
        if !findings.has_error_at(&b.path) {
            findings.add("not-skinned", &b.path, "", reason.as_str());
        }
    }
    able.contains(&true)
}

fn warnings(scene: &Scene, findings: &mut Findings) {
    // Skip warnings about what other checks have already reported in more detail.
    let reported: Vec<bool> = scene
        .warnings
        .iter()
        .map(|w| {
            findings.has(w.code, &w.path)
                || (w.code == "influences-ignored" && has_layout(findings, &w.path))
        })
        .collect();
    for (w, _) in scene
        .warnings
        .iter()
        .zip(reported)
        .filter(|(_, reported)| !reported)
    {
        findings.add(w.code, &w.path, &w.property, w.message.as_str());
    }
}

/// Whether the layout of a prim's influences is reported.
fn has_layout(findings: &Findings, path: &str) -> bool {
    let codes = [
        "interpolation-missing",
        "element-size-missing",
        "element-size-wrong",
    ];
    codes.into_iter().any(|code| findings.has(code, path))
}

fn add_invalid(error: &Invalid, findings: &mut Findings) {
    let code = error.code.unwrap_or("not-skinned");
    let reported = match code {
        // The check of interpolation reports this.
        "influences-count" => has_layout(findings, &error.prim),
        "not-skinned" => findings.has_error_at(&error.prim),
        _ => findings.has(code, &error.prim),
    };
    if !reported {
        findings.add(code, &error.prim, &error.property, error.brief());
    }
}

/// Whether a bound prim is one with points, which a gprim such as a Sphere is not.
fn has_points(
    context: Option<&Context<'_>>,
    bound: BoundSkin<'_>,
    findings: &mut Findings,
) -> bool {
    let b = bound.binding();
    let prim = context.and_then(|c| Some(&c.stage.prims[c.index_of(&b.path)?]));
    let has_points = prim.is_none_or(|p| p.kind == PrimKind::Skinnable { has_points: true });
    let influences = b.influences.as_ref();
    if !has_points && influences.is_some_and(|i| i.interpolation == InfluenceInterpolation::Vertex)
    {
        let message = format!("the prim is a {}, which has no points", b.type_name);
        findings.add("influences-without-points", &b.path, "", message);
    }
    has_points
}

fn joints_and_channels(bound: BoundSkin<'_>, findings: &mut Findings) {
    unknown_joints(bound, findings);
    channel_weights(bound, findings);
}

/// Joints of a prim's own order that its Skeleton lacks.
fn unknown_joints(bound: BoundSkin<'_>, findings: &mut Findings) {
    let (b, placed) = (bound.binding(), bound.skeleton());
    let (Some(joints), Some(source)) = (&b.joints, &b.influences) else {
        return;
    };
    let Some(map) = b.joint_map(&placed.instance) else {
        return;
    };
    let unknown = map.iter().zip(joints).filter(|(to, _)| to.is_none());
    let unknown: Vec<&String> = unknown.map(|(_, joint)| joint).collect();
    if unknown.is_empty() {
        return;
    }
    let moves = |(joint, weight): (&i32, &f32)| {
        let joint = usize::try_from(*joint).ok().and_then(|j| map.get(j));
        *weight != 0.0 && joint.is_some_and(Option::is_none)
    };
    let has_effect = source.indices.values().any(|joints| {
        let mut weights = source.weights.values();
        weights.any(|weights| joints.iter().zip(weights.iter()).any(moves))
    });
    let (skeleton, names) = (&placed.path, some_of(&unknown));
    let (code, message) = match has_effect {
        true => (
            "joints-unknown",
            format!("what {names} influence does not move with joints of {skeleton}"),
        ),
        false => (
            "joints-unmatched",
            format!("{skeleton} does not have the joints {names}"),
        ),
    };
    findings.add(code, &b.path, "", message);
}

/// Shapes of a prim whose channels have no weight at some times.
fn channel_weights(bound: BoundSkin<'_>, findings: &mut Findings) {
    let Some(animation) = bound.skeleton().instance.animation() else {
        return;
    };
    let Some(mapper) = &bound.binding().channel_mapper else {
        return;
    };
    let channels = animation.blend_shapes.len();
    let least = animation
        .blend_shape_weights
        .values()
        .map(|w| w.len())
        .min();
    let Some(least) = least.filter(|least| *least < channels) else {
        return;
    };
    if mapper.targets().skip(least).any(|shape| shape.is_some()) {
        let message = format!(
            "expected {channels} weights, one per channel, found {least}: missing weights are 0"
        );
        let path = &animation.path;
        let is_same = |f: &Finding| f.code == "channel-weights-unmatched" && f.path == *path;
        findings.list.retain(|f| !is_same(f));
        findings.add("channel-weights-count", path, "", message);
    }
}

/// Makes the skins of a prim at all times at which it changes. Returns whether one of them is
/// valid.
fn skin(bound: BoundSkin<'_>, findings: &mut Findings) -> bool {
    let b = bound.binding();
    // The transform of a rigid prim moves, whatever its points are.
    let blend_only = b.is_rigid();
    if findings.has("influences-without-points", &b.path) || (blend_only && b.shapes.is_empty()) {
        return blend_only;
    }
    let part = SkinPart {
        blend_only,
        ..SkinPart::default()
    };
    let mut times = sorted([b.rest_times(false), b.influence_times()].concat());
    if times.is_empty() || !b.rest_is_animated() {
        times.truncate(1);
    }
    let mut is_valid = false;
    let mut has_failed = false;
    for time in times_or_default(&times) {
        match bound.skin_part(time, part) {
            Ok(_) => is_valid = true,
            Err(e) if !has_failed => {
                has_failed = true;
                add_invalid(&e, findings);
            }
            Err(_) => {}
        }
    }
    is_valid
}

fn sorted(mut times: Vec<f64>) -> Vec<f64> {
    times.retain(|t| t.is_finite());
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

fn times_or_default(times: &[f64]) -> Vec<Time> {
    match times.is_empty() {
        true => vec![Time::Default],
        false => times.iter().copied().map(Time::At).collect(),
    }
}

/// Poses every prim at all times at which a pose can change. Prims without any pose become unable.
fn poses(scene: &Scene, able: &mut [bool], findings: &mut Findings) {
    let mut all = Vec::new();
    for bound in scene.bound_skins() {
        let b = bound.binding();
        all.extend(b.geom_bind.times());
        all.extend(scene.transform_times(b.prim));
        all.extend(scene.transform_times(bound.skeleton().prim));
        if let Some(animation) = bound.skeleton().instance.animation() {
            all.extend(animation.joint_times());
        }
    }
    let mut posed = vec![false; able.len()];
    let mut failed = vec![false; able.len()];
    for time in times_or_default(&sorted(all)) {
        let mut poses = scene.at(time, OutSpace::Prim);
        for (i, bound) in scene.bound_skins().enumerate() {
            if failed[i] && posed[i] {
                continue;
            }
            let pose = match bound.binding().is_rigid() {
                // Skinning replaces its transform, so its own may be singular.
                true => poses.rigid_transform(bound).map(|_| None),
                false => poses.pose(bound).map(Some),
            };
            match pose {
                Ok(pose) => {
                    posed[i] = true;
                    if let Some(pose) = pose {
                        scaled(bound, &pose, time, findings);
                    }
                }
                Err(e) => {
                    failed[i] = true;
                    add_invalid(&e, findings);
                }
            }
        }
    }
    able.iter_mut()
        .zip(posed)
        .for_each(|(able, posed)| *able &= posed);
}

/// Joints that scale a prim that is skinned by dual quaternions.
fn scaled(bound: BoundSkin<'_>, pose: &Pose, time: Time, findings: &mut Findings) {
    let b = bound.binding();
    if b.method != SkinningMethod::DualQuaternion {
        return;
    }
    let transforms = pose.skinning.iter().flat_map(|s| s.iter());
    if let Some(joint) = transforms.into_iter().position(|m| !is_rigid(m)) {
        let joints = bound.skeleton().instance.skeleton().joints();
        let name = joints.get(joint).map_or("a joint", String::as_str);
        let message = format!("{name} scales or shears at time {time}");
        findings.add("dual-quaternion-scale", &b.path, "", message);
    }
}

fn is_rigid(m: &DMat4) -> bool {
    let r = DMat3::from_mat4(*m);
    (r.transpose() * r).abs_diff_eq(DMat3::IDENTITY, RIGID)
}
