//! Skeleton prims: joints, bind and rest transforms.

use glam::DMat4;

use super::context::Context;
use super::{Findings, duplicates, some_of};
use sinew::math;
use sinew::skel::Skeleton;
use sinew::skel::binding::PrimKind;
use sinew::skel::topology::is_prim_path;
use sinew_io::usd::AuthoredPrim;

/// The largest difference between rest and bind pose, relative to the lengths of the bones, for
/// which they count as the same pose. Exporters write six digits, and rest transforms are products
/// of several such matrices.
const SAME_POSE: f64 = 1e-2;

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut bound = vec![(false, false); context.stage.prims.len()];
    for candidate in &context.candidates {
        if let Some(skeleton) = context.skeleton_of(candidate.prim) {
            bound[skeleton].0 = true;
            bound[skeleton].1 |= candidate.influenced;
        }
    }
    for (i, prim) in context.prims() {
        if prim.kind != PrimKind::Skeleton {
            continue;
        }
        let (used, by_influences) = bound[i];
        if !used {
            findings.add("skeleton-unused", &prim.path, "", "no prim is bound to it");
        }
        // Blend shapes alone need no bind transforms (rule 20).
        skeleton(prim, by_influences || !used, by_influences, findings);
    }
}

fn skeleton(prim: &AuthoredPrim, needs_bind: bool, skins: bool, findings: &mut Findings) {
    let path = &prim.path;
    let joints = prim.tokens("joints");
    if joints.is_empty() {
        if skins {
            findings.add(
                "skeleton-without-joints",
                path,
                "",
                "the Skeleton has no joints",
            );
        }
        return;
    }
    listed_twice(path, "joints", joints, findings);
    let matrices = |name: &str| prim.attributes.get(name)?.matrices();
    let (bind, rest) = (matrices("bindTransforms"), matrices("restTransforms"));
    for (name, list) in [("bindTransforms", bind), ("restTransforms", rest)] {
        not_affine(path, name, joints, list.unwrap_or_default(), findings);
    }
    let to_vec = |m: Option<&[DMat4]>| m.map(<[DMat4]>::to_vec);
    let skeleton = match Skeleton::new(path, joints.to_vec(), to_vec(bind), to_vec(rest)) {
        Ok(s) => Some(s),
        Err(e) => {
            findings.add("joint-order", path, &e.property, e.brief());
            None
        }
    };
    // With joints in a wrong order, the transforms are checked with a flat hierarchy.
    let roots = vec![String::from("x"); joints.len()];
    let flat = match skeleton {
        Some(s) => Ok(s),
        None => Skeleton::new(path, roots, to_vec(bind), to_vec(rest)),
    };
    let Ok(skeleton) = flat else { return };
    if let Some(roots) = skeleton.misread_joints() {
        findings.add("joint-name-invalid", path, "joints", roots);
    }
    if needs_bind && let Err(e) = skeleton.inverse_bind() {
        findings.add(
            e.code.unwrap_or("bind-transforms-missing"),
            path,
            &e.property,
            e.brief(),
        );
    }
    match (rest, skeleton.rest()) {
        (None, _) => {
            findings.add(
                "rest-transforms-missing",
                path,
                "",
                "restTransforms are not authored",
            );
        }
        (Some(authored), None) => {
            let message = format!(
                "expected {} finite matrices, found {}: they are treated as missing",
                joints.len(),
                match authored.len() == joints.len() {
                    true => "some that are not finite".to_owned(),
                    false => authored.len().to_string(),
                }
            );
            findings.add("rest-transforms-ignored", path, "", message);
        }
        (Some(_), Some(rest)) => rest_pose(path, &skeleton, rest, joints, findings),
    }
}

fn listed_twice(path: &str, property: &str, joints: &[String], findings: &mut Findings) {
    let twice = duplicates(joints);
    if !twice.is_empty() {
        let message = format!("listed more than once: {}", some_of(&twice));
        findings.add("joint-duplicate", path, property, message);
    }
}

/// What is wrong with the joint order of a prim.
pub(super) fn joint_order(path: &str, property: &str, joints: &[String], findings: &mut Findings) {
    listed_twice(path, property, joints, findings);
    let odd: Vec<&str> = joints
        .iter()
        .map(String::as_str)
        .filter(|j| !is_prim_path(j))
        .collect();
    if !odd.is_empty() {
        let quoted: Vec<String> = odd.iter().map(|j| format!("'{j}'")).collect();
        let message = format!("expected prim paths, found {}", some_of(&quoted));
        findings.add("joint-name-invalid", path, property, message);
    }
}

fn not_affine(
    path: &str,
    name: &str,
    joints: &[String],
    matrices: &[DMat4],
    findings: &mut Findings,
) {
    if let Some(i) = matrices.iter().position(|m| !math::is_affine(m)) {
        let joint = joints
            .get(i)
            .map_or_else(|| format!("index {i}"), Clone::clone);
        let message = format!("the matrix of {joint} is a projection");
        findings.add("matrix-not-affine", path, name, message);
    }
}

fn rest_pose(
    path: &str,
    skeleton: &Skeleton,
    rest: &[DMat4],
    joints: &[String],
    findings: &mut Findings,
) {
    let singular: Vec<&str> = rest
        .iter()
        .zip(joints)
        .filter(|(m, _)| math::try_inverse(**m).is_none())
        .map(|(_, j)| j.as_str())
        .collect();
    if !singular.is_empty() {
        let message = format!("the rest transforms of {} are singular", some_of(&singular));
        findings.add("rest-transforms-singular", path, "", message);
    }
    let Ok(inverse_bind) = skeleton.inverse_bind() else {
        return;
    };
    // Bind transforms are in world space, and rest transforms are relative to the parent. So only
    // joints with a parent are compared, and the place where the character was bound does not
    // matter.
    let mut apart: Vec<&str> = Vec::new();
    for (i, parent) in skeleton.topology().parents().enumerate() {
        let Some(parent) = parent else { continue };
        let bone = inverse_bind[parent] * skeleton.bind()[i];
        let size = bone.w_axis.truncate().length().max(1e-9);
        let turned = (0..3).any(|c| {
            let (a, b) = (bone.col(c).truncate(), rest[i].col(c).truncate());
            (a - b).length() > SAME_POSE * a.length().max(1e-9)
        });
        let moved = (bone.w_axis - rest[i].w_axis).truncate().length() > SAME_POSE * size.max(1e-6);
        if turned || moved {
            apart.push(&joints[i]);
        }
    }
    if !apart.is_empty() {
        let message = format!(
            "{} of {} joints differ between the rest pose and the bind pose: {}",
            apart.len(),
            joints.len(),
            some_of(&apart)
        );
        findings.add("rest-bind-mismatch", path, "", message);
    }
}
