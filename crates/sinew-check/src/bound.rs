//! Findings from errors and warnings of reading, binding, skinning and posing.

use super::context::Context;
use super::{Findings, some_of};
use glam::{DMat3, DMat4};
use sinew::error::Invalid;
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, OutSpace, Scene};
use sinew::skel::binding::PrimKind;
use sinew::skel::{InfluenceInterpolation, SkinningMethod};

/// The largest difference of `transpose(m) * m` from the identity for which a skinning transform
/// `m` counts as rigid. It allows for f32 noise in its inputs.
const RIGID: f64 = 1e-3;

pub(super) fn check(context: &Context<'_>, scene: &Scene, findings: &mut Findings) {
    warnings(scene, findings);
    for error in &scene.errors {
        add_invalid(error, findings);
    }
    for bound in scene.bound_skins() {
        skin(context, bound, findings);
    }
    poses(scene, findings);
    // Prims that cannot be skinned, unless an error already says why.
    for b in &scene.bindings {
        if let Some(reason) = &b.unsupported
            && !findings.has_error_at(&b.path)
        {
            findings.add("not-skinned", &b.path, "", reason.as_str());
        }
    }
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

fn skin(context: &Context<'_>, bound: BoundSkin<'_>, findings: &mut Findings) {
    let b = bound.binding();
    let prim = context.index_of(&b.path).map(|i| &context.stage.prims[i]);
    let has_points = prim.is_none_or(|p| p.kind == PrimKind::Skinnable { has_points: true });
    let vertex = b
        .influences
        .as_ref()
        .is_some_and(|i| i.interpolation == InfluenceInterpolation::Vertex);
    if !has_points {
        if vertex {
            let message = format!("the prim is a {}, which has no points", b.type_name);
            findings.add("influences-without-points", &b.path, "", message);
        }
        return;
    }
    if let Some(joints) = &b.joints {
        let known = bound.skeleton().instance.skeleton().joints();
        let known: std::collections::HashSet<&String> = known.iter().collect();
        let unknown: Vec<&String> = joints.iter().filter(|j| !known.contains(j)).collect();
        if !unknown.is_empty() {
            let message = format!(
                "{} does not have the joints {}",
                bound.skeleton().path,
                some_of(&unknown)
            );
            findings.add("joints-unknown", &b.path, "", message);
        }
    }
    let mut times = sorted([b.rest_times(false), b.influence_times()].concat());
    if times.is_empty() || !b.rest_is_animated() {
        times.truncate(1);
    }
    for time in times_or_default(&times) {
        if let Err(e) = bound.skin(time) {
            add_invalid(&e, findings);
            break;
        }
    }
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

/// Poses every prim at all times at which a pose can change.
fn poses(scene: &Scene, findings: &mut Findings) {
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
    let mut failed = vec![false; scene.bindings.len()];
    for time in times_or_default(&sorted(all)) {
        let mut poses = scene.at(time, OutSpace::Prim);
        for (i, bound) in scene.bound_skins().enumerate() {
            if failed[i] {
                continue;
            }
            // For a rigid prim skinning replaces its transform, so its own may be singular.
            if bound.binding().is_rigid() {
                if let Err(e) = poses.rigid_transform(bound) {
                    failed[i] = true;
                    add_invalid(&e, findings);
                }
                continue;
            }
            match poses.pose(bound) {
                Ok(pose) if bound.binding().method == SkinningMethod::DualQuaternion => {
                    let transforms = pose.skinning.iter().flat_map(|s| s.iter());
                    if let Some(joint) = transforms.into_iter().position(|m| !is_rigid(m)) {
                        let joints = bound.skeleton().instance.skeleton().joints();
                        let name = joints.get(joint).map_or("a joint", String::as_str);
                        let message = format!("{name} scales or shears at time {time}");
                        findings.add("dual-quaternion-scale", &bound.binding().path, "", message);
                    }
                }
                Ok(_) => {}
                Err(e) => {
                    failed[i] = true;
                    add_invalid(&e, findings);
                }
            }
        }
    }
}

fn is_rigid(m: &DMat4) -> bool {
    let r = DMat3::from_mat4(*m);
    (r.transpose() * r).abs_diff_eq(DMat3::IDENTITY, RIGID)
}
