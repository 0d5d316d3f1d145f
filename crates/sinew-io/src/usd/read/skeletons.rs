//! Skeleton, SkelAnimation and BlendShape prims, and every SkelAnimation of a stage.

use glam::Vec3;
use sinew_layer::Value;
use sinew_stage::{Attribute, Prim};

use super::tree::read_tree;
use super::values::{is_blocked, read, read_sampled, read_uniform};
use crate::error::Result;
use crate::usd::file::UsdFile;
use sinew::error::{Invalid, Warning};
use sinew::sampled::{Interpolation, Sampled};
use sinew::skel::binding::{PrimKind, SWITCHED_OFF};
use sinew::skel::{BlendShape, Inbetween, SkelAnimation, Skeleton};

pub(crate) fn read_skeleton(
    prim: &Prim<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Result<Skeleton, Invalid>, sinew_stage::Error> {
    let joints: Vec<String> = read_uniform(&prim.attribute("joints"))?.unwrap_or_default();
    let bind: Option<Vec<glam::DMat4>> = read_uniform(&prim.attribute("bindTransforms"))?;
    let rest: Option<Vec<glam::DMat4>> = read_uniform(&prim.attribute("restTransforms"))?;
    if let Some(rest) = &rest
        && (rest.len() != joints.len() || !rest.iter().all(sinew::math::is_finite))
    {
        let found = match rest.len() == joints.len() {
            true => "some that are not finite".to_owned(),
            false => rest.len().to_string(),
        };
        let message = format!(
            "restTransforms: expected {} finite matrices, found {found}: they count as missing",
            joints.len()
        );
        warnings.push(Warning::new(
            "rest-transforms-ignored",
            prim.path().as_str(),
            message,
        ));
    }
    for (name, matrices) in [("bindTransforms", &bind), ("restTransforms", &rest)] {
        warn_of_projections(prim, name, matrices.iter().flatten(), warnings);
    }
    let names = read_uniform(&prim.attribute("jointNames"))?;
    let skeleton = Skeleton::new(prim.path().as_str(), joints, bind, rest);
    if let Some(roots) = skeleton.as_ref().ok().and_then(Skeleton::misread_joints) {
        let warning = Warning::new("joint-name-invalid", prim.path().as_str(), roots);
        warnings.push(warning.on("joints"));
    }
    Ok(skeleton.map(|s| s.with_joint_names(names)))
}

/// Pixar's code carries a projection through products and drops it at the points; here it is dropped throughout.
pub(crate) fn warn_of_projections<'a>(
    prim: &Prim<'_>,
    name: &str,
    mut matrices: impl Iterator<Item = &'a glam::DMat4>,
    warnings: &mut Vec<Warning>,
) {
    if !matrices.all(sinew::math::is_affine) {
        let message = format!("{name} holds a projection, which is ignored");
        warnings.push(Warning::new("matrix-not-affine", prim.path().as_str(), message).on(name));
    }
}

pub(crate) fn read_animation(
    prim: &Prim<'_>,
    interpolation: Interpolation,
    warnings: &mut Vec<Warning>,
) -> Result<SkelAnimation, sinew_stage::Error> {
    let mut switched_off = false;
    let animation = SkelAnimation {
        path: prim.path().as_str().to_owned(),
        joints: read_uniform(&prim.attribute("joints"))?.unwrap_or_default(),
        translations: read_sampled(&prim.attribute("translations"), interpolation)?,
        rotations: read_sampled(&prim.attribute("rotations"), interpolation)?,
        scales: read_sampled(&prim.attribute("scales"), interpolation)?,
        float_scales: None,
        blend_shapes: read_uniform(&prim.attribute("blendShapes"))?.unwrap_or_default(),
        blend_shape_weights: read_sampled(&prim.attribute("blendShapeWeights"), interpolation)?,
    };
    for name in ["translations", "rotations", "scales"] {
        if !animation.joints.is_empty() && is_blocked(&prim.attribute(name)) {
            let message = format!("{name} is None: the joints of this animation are ignored");
            warnings.push(Warning::new(SWITCHED_OFF, &animation.path, message).on(name));
            switched_off = true;
        }
    }
    if !switched_off {
        warn_of_components(&animation, warnings);
    }
    let weights = animation.blend_shape_weights.values();
    if !weights.flat_map(|w| w.iter()).all(|w| w.is_finite()) {
        let message = "blendShapeWeights holds values that are not finite: they count as 0";
        warnings.push(
            Warning::new("animation-not-finite", &animation.path, message).on("blendShapeWeights"),
        );
    }
    Ok(animation)
}

/// An animation that lacks a component is ignored without a word by Pixar's tools (rule 8).
fn warn_of_components(animation: &SkelAnimation, warnings: &mut Vec<Warning>) {
    let joints = animation.joints.len();
    if joints == 0 {
        return;
    }
    for (name, fault) in component_faults(animation) {
        let message = match fault {
            ComponentFault::Missing => {
                format!("{name} has no value: the joints of this animation are ignored")
            }
            ComponentFault::Length(n) => format!(
                "{name}: expected {joints} values, one per joint, found {n}: the joints of this animation are ignored at such times"
            ),
        };
        warnings.push(Warning::new("animation-component", &animation.path, message).on(name));
    }
    let a = animation;
    let finite = a
        .translations
        .values()
        .all(|v| v.iter().all(|t| t.is_finite()))
        && a.rotations
            .values()
            .all(|v| v.iter().all(|r| r.is_finite()))
        && a.scales
            .values()
            .all(|v| v.iter().flatten().all(|s| s.is_finite()));
    if !finite {
        let message =
            "holds values that are not finite: the rest pose is used at such times".to_owned();
        warnings.push(Warning::new(
            "animation-not-finite",
            &animation.path,
            message,
        ));
    }
}

/// Why a component of an animation does not pose its joints.
pub(crate) enum ComponentFault {
    /// It has no value.
    Missing,
    /// It has so many values at some time, and not one for each joint.
    Length(usize),
}

/// The components of an animation that do not pose its joints, by their names.
pub(crate) fn component_faults(animation: &SkelAnimation) -> Vec<(&'static str, ComponentFault)> {
    fn fault<T>(component: &Sampled<Vec<T>>, joints: usize) -> Option<ComponentFault> {
        if !component.has_value() {
            return Some(ComponentFault::Missing);
        }
        let length = component.values().map(|v| v.len()).find(|n| *n != joints);
        length.map(ComponentFault::Length)
    }
    let joints = animation.joints.len();
    let all = [
        ("translations", fault(&animation.translations, joints)),
        ("rotations", fault(&animation.rotations, joints)),
        ("scales", fault(&animation.scales, joints)),
    ];
    let found = all.into_iter();
    found
        .filter_map(|(name, fault)| Some((name, fault?)))
        .collect()
}

/// A BlendShape prim's values, before they are held to the rules.
pub(crate) struct ShapeParts {
    pub point_indices: Option<Vec<i64>>,
    pub offsets: Vec<Vec3>,
    pub normal_offsets: Option<Vec<Vec3>>,
    pub inbetweens: Vec<Inbetween>,
}

pub(crate) fn read_blend_shape(
    prim: &Prim<'_>,
    point_count: usize,
    warnings: &mut Vec<Warning>,
) -> Result<BlendShape, sinew_stage::Error> {
    let parts = read_shape_parts(prim)?;
    Ok(BlendShape::new(
        prim.path().as_str(),
        parts.point_indices.as_deref(),
        parts.offsets,
        parts.normal_offsets,
        parts.inbetweens,
        point_count,
        warnings,
    ))
}

pub(crate) fn read_shape_parts(prim: &Prim<'_>) -> Result<ShapeParts, sinew_stage::Error> {
    let point_indices = read_uniform(&prim.attribute("pointIndices"))?;
    let offsets = read_uniform(&prim.attribute("offsets"))?.unwrap_or_default();
    let normal_offsets = read_uniform(&prim.attribute("normalOffsets"))?;
    let mut inbetweens = Vec::new();
    for name in prim.authored_property_names() {
        let Some(between) = name.as_str().strip_prefix("inbetweens:") else {
            continue;
        };
        // inbetweens:NAME:normalOffsets belongs to inbetweens:NAME.
        if between.contains(':') {
            continue;
        }
        let attribute = prim.attribute(&name);
        // An in-between without a value counts at its weight and moves nothing, as in Pixar's code.
        let offsets = read(&attribute)?.unwrap_or_default();
        inbetweens.push(Inbetween {
            name: between.to_owned(),
            weight: weight_metadata(&attribute)?,
            offsets,
            normal_offsets: read(&prim.attribute(&format!("{name}:normalOffsets")))?,
        });
    }
    Ok(ShapeParts {
        point_indices,
        offsets,
        normal_offsets,
        inbetweens,
    })
}

pub(crate) fn weight_metadata(
    attribute: &Attribute<'_, '_>,
) -> Result<Option<f32>, sinew_stage::Error> {
    Ok(match attribute.metadata("weight")? {
        Some(Value::Float(w)) => Some(w),
        Some(Value::Double(w)) => Some(w as f32),
        Some(Value::Int(w)) => Some(w as f32),
        _ => None,
    })
}

impl UsdFile {
    /// Every active, loaded SkelAnimation, in the stage's order, whether it moves a Skeleton or not.
    ///
    /// # Errors
    /// Values that cannot be decoded.
    pub fn animations(&self) -> Result<Vec<SkelAnimation>> {
        self.all_read(self.read_animations())
    }

    fn read_animations(&self) -> Result<Vec<SkelAnimation>, sinew_stage::Error> {
        let tree = read_tree(&self.stage);
        let mut out = Vec::new();
        for (tree_prim, prim) in tree.tree.iter().zip(&tree.prims) {
            if tree_prim.kind == PrimKind::SkelAnimation {
                let mut animation = read_animation(prim, Interpolation::Linear, &mut Vec::new())?;
                let exact = self.made.as_ref();
                animation.float_scales = exact.and_then(|m| m.float_scales(&animation.path));
                out.push(animation);
            }
        }
        Ok(out)
    }
}
