//! Skinnable prims: rest points, normals, influences, shapes, from wherever they are inherited.

use std::collections::HashMap;
use std::sync::Arc;

use sinew_layer::{Path, Value};
use sinew_stage::{Attribute, Prim, Stage};

use super::shapes::read_shape;
use super::skeletons::{read_blend_shape, warn_of_projections};
use crate::usd::read::tree::{StageTree, is_switched_off};
use crate::usd::read::values::{is_blocked, read_metadata, read_sampled, read_uniform};
use sinew::error::Warning;
use sinew::kernel::PackedSkin;
use sinew::sampled::{Interpolation, Sampled};
use sinew::scene::{
    ExtentRule, InfluenceSource, NormalsProperty, NormalsSource, ShapeChannel, SkinBinding,
};
use sinew::skel::binding::{Binding, PrimKind, SWITCHED_OFF};
use sinew::skel::{
    AnimMapper, BlendShape, InfluenceInterpolation, SkelAnimation, SkeletonInstance, SkinningMethod,
};

const INDICES: &str = "primvars:skel:jointIndices";
const WEIGHTS: &str = "primvars:skel:jointWeights";

/// What all bound prims of a stage are read with.
pub(crate) struct SkinReader<'a> {
    pub stage: &'a Stage,
    pub tree: &'a StageTree<'a>,
    pub interpolation: Interpolation,
    /// Shapes by (path, point count), so that instances share them.
    pub shapes: HashMap<(Path, usize), Arc<BlendShape>>,
    pub warnings: &'a mut Vec<Warning>,
}

/// Where the scene keeps what the binding refers to.
pub(crate) struct SceneIndices {
    pub prim: usize,
    pub skel_root: usize,
    pub instance: usize,
}

impl SkinReader<'_> {
    pub fn read(
        &mut self,
        binding: &Binding,
        at: &SceneIndices,
        instance: &SkeletonInstance,
    ) -> Result<SkinBinding, sinew_stage::Error> {
        let tree_prim = &self.tree.tree[binding.prim];
        let prim = self.tree.prims[binding.prim];
        let has_points = tree_prim.kind == PrimKind::Skinnable { has_points: true };
        let mut out = SkinBinding::new(
            tree_prim.path.as_str(),
            prim.type_name(),
            at.prim,
            at.skel_root,
            at.instance,
        );
        out.influences = self.read_influences(binding)?;
        if let Some(p) = binding.joints {
            let from = self.tree.prims[p];
            out.joints = read_uniform(&from.attribute("skel:joints"))?;
        }
        if let Some(p) = binding.geom_bind_transform {
            let from = self.tree.prims[p];
            let name = "primvars:skel:geomBindTransform";
            let read = read_sampled(&from.attribute(name), self.interpolation)?;
            let matrices = read.values().map(AsRef::as_ref);
            warn_of_projections(&from, name, matrices, self.warnings);
            out.geom_bind = read;
        }
        out.extent_rule = extent_rule(&prim);
        match self.read_method(binding)? {
            Ok(method) => out.method = method,
            Err(reason) => out.unsupported = Some(reason),
        }
        if !has_points {
            if !out.is_rigid() {
                let reason = "has no points, which vertex influences need";
                out.unsupported.get_or_insert_with(|| reason.into());
            } else if let Some(shape) = read_shape(&prim, self.interpolation)? {
                out.is_shape = true;
                out.points = shape.points;
                out.normals.push(NormalsSource {
                    property: NormalsProperty::Primvar,
                    values: shape.normals,
                    corners: None,
                });
            }
            return Ok(out);
        }
        out.points = read_sampled(&prim.attribute("points"), self.interpolation)?;
        self.read_normals(&prim, &mut out)?;
        let animation = instance.animation();
        self.read_shapes(&prim, &mut out, animation.map(AsRef::as_ref))?;
        out.widths = read_sampled(&prim.attribute("widths"), self.interpolation)?;
        if out.influences.is_none() && out.shapes.is_empty() && out.unsupported.is_none() {
            out.unsupported = Some("has neither usable influences nor blend shapes".into());
        }
        let joints = instance.skeleton().joints().len();
        let deforms = !out.is_rigid() || !out.shapes.is_empty();
        if deforms && joints > PackedSkin::MAX_JOINTS && out.unsupported.is_none() {
            let most = PackedSkin::MAX_JOINTS;
            out.unsupported = Some(format!(
                "its Skeleton has {joints} joints, but at most {most} are possible"
            ));
        }
        Ok(out)
    }

    fn warn(&mut self, code: &'static str, path: &str, message: impl Into<String>) {
        self.warnings.push(Warning::new(code, path, message));
    }

    /// The skinning method, or why the prim is left as it is: one that is unknown.
    fn read_method(
        &self,
        binding: &Binding,
    ) -> Result<Result<SkinningMethod, String>, sinew_stage::Error> {
        let Some(from) = binding.skinning_method else {
            return Ok(Ok(SkinningMethod::default()));
        };
        let prim = self.tree.prims[from];
        // The schema names it primvars:skel:skinningMethod; skel:skinningMethod is an older name.
        for name in ["primvars:skel:skinningMethod", "skel:skinningMethod"] {
            if let Some(Value::Token(token)) = prim.attribute(name).default()? {
                let method = SkinningMethod::from_token(token.as_str());
                return Ok(method.ok_or_else(|| {
                    format!(
                        "skinning method '{}' is unknown: expected classicLinear or dualQuaternion",
                        token.as_str()
                    )
                }));
            }
        }
        Ok(Ok(SkinningMethod::default()))
    }

    /// Influences with their primvar metadata (rule 4), or none with a warning where indices and
    /// weights do not agree.
    fn read_influences(
        &mut self,
        binding: &Binding,
    ) -> Result<Option<InfluenceSource>, sinew_stage::Error> {
        let (Some(indices_at), Some(weights_at)) = (binding.joint_indices, binding.joint_weights)
        else {
            return Ok(None);
        };
        let path = self.tree.tree[binding.prim].path.clone();
        let indices = self.tree.prims[indices_at].attribute(INDICES);
        let weights = self.tree.prims[weights_at].attribute(WEIGHTS);
        let (interp_i, size_i) = primvar_layout(&indices)?;
        let (interp_w, size_w) = primvar_layout(&weights)?;
        if interp_i != interp_w || size_i != size_w {
            self.warn(
                "influences-ignored",
                &path,
                format!(
                    "{INDICES} is {interp_i} with elementSize {size_i}, {WEIGHTS} is {interp_w} with elementSize \
                     {size_w}; they have to agree, so there are no influences"
                ),
            );
            return Ok(None);
        }
        let interpolation = match interp_i.as_str() {
            "vertex" => InfluenceInterpolation::Vertex,
            "constant" => InfluenceInterpolation::Constant,
            other => {
                let message =
                    format!("influences are {other}; only vertex and constant are allowed");
                self.warn("influences-ignored", &path, message);
                return Ok(None);
            }
        };
        let Some(count) = usize::try_from(size_i).ok().filter(|n| *n > 0) else {
            let message = format!(
                "{INDICES} has elementSize {size_i}; at least 1 is expected, so there are no influences"
            );
            self.warn("influences-ignored", &path, message);
            return Ok(None);
        };
        Ok(Some(InfluenceSource {
            interpolation,
            count,
            indices: self.read_primvar(&indices, count)?,
            weights: self.read_primvar(&weights, count)?,
        }))
    }

    /// A primvar, flattened where it is indexed (rule 4).
    fn read_primvar<T>(
        &self,
        attribute: &Attribute<'_, '_>,
        count: usize,
    ) -> Result<Sampled<Vec<T>>, sinew_stage::Error>
    where
        Vec<T>: crate::usd::read::values::FromUsd,
        T: Copy,
    {
        let values: Sampled<Vec<T>> = read_sampled(attribute, self.interpolation)?;
        let name = format!("{}:indices", attribute.name());
        let indices: Option<Vec<i32>> = read_uniform(&attribute.prim().attribute(&name))?;
        let Some(indices) = indices else {
            return Ok(values);
        };
        Ok(values.map(|values| {
            indices
                .iter()
                // An index out of range leaves too few values, which the size check then reports.
                .filter_map(|&i| {
                    let start = usize::try_from(i).ok()?.checked_mul(count)?;
                    values.get(start..start.checked_add(count)?)
                })
                .flatten()
                .copied()
                .collect()
        }))
    }

    /// Normals that deform: vertex, varying and faceVarying ones. Uniform and constant ones stay, as
    /// in Pixar's bake (rule 24), which overlooks `primvars:normals`.
    fn read_normals(
        &mut self,
        prim: &Prim<'_>,
        out: &mut SkinBinding,
    ) -> Result<(), sinew_stage::Error> {
        for property in [NormalsProperty::Attribute, NormalsProperty::Primvar] {
            let attribute = prim.attribute(property.name());
            let unauthored = match property {
                NormalsProperty::Attribute => "vertex",
                NormalsProperty::Primvar => "constant",
            };
            let interpolation =
                token_metadata(&attribute, "interpolation")?.unwrap_or_else(|| unauthored.into());
            let corners = match interpolation.as_str() {
                "vertex" | "varying" => None,
                "faceVarying" => {
                    let corners = prim.attribute("faceVertexIndices");
                    let corners = read_sampled(&corners, self.interpolation)?;
                    self.warn_of_corners(out, &corners);
                    Some(corners)
                }
                _ => continue,
            };
            let values = match property {
                NormalsProperty::Attribute => read_sampled(&attribute, self.interpolation)?,
                NormalsProperty::Primvar => self.read_primvar(&attribute, 1)?,
            };
            if !values.has_value() {
                continue;
            }
            let source = NormalsSource {
                property,
                values,
                corners,
            };
            self.warn_of_normals(out, &source);
            out.normals.push(source);
        }
        Ok(())
    }

    /// Rule 24: the normal of a corner without a point moves with the first point.
    fn warn_of_corners(&mut self, out: &SkinBinding, corners: &Sampled<Vec<i32>>) {
        let points = out.points.first().map_or(0, |p| p.len());
        let is_outside = |i: &i32| usize::try_from(*i).map_or(true, |i| i >= points);
        let outside = corners
            .values()
            .find_map(|c| c.iter().copied().find(is_outside));
        if let Some(outside) = outside {
            let message = format!(
                "expected indices below {points}, found {outside}: the faceVarying normal of such a corner moves with the first point"
            );
            let warning = Warning::new("corner-index-range", &out.path, message);
            self.warnings.push(warning.on("faceVertexIndices"));
        }
    }

    /// Rule 24: normals of the wrong number stay while the points are skinned.
    fn warn_of_normals(&mut self, out: &SkinBinding, normals: &NormalsSource) {
        let (expected, what) = match &normals.corners {
            None => (out.points.first().map(|p| p.len()), "one per point"),
            Some(corners) => (corners.first().map(|c| c.len()), "one per face corner"),
        };
        let Some(expected) = expected else { return };
        if let Some(n) = normals.values.values().find(|n| n.len() != expected) {
            let message = format!(
                "{}: expected {expected} normals, {what}, found {}: left as they are",
                normals.property.name(),
                n.len()
            );
            self.warn("normals-left", &out.path, message);
        }
    }

    fn read_shapes(
        &mut self,
        prim: &Prim<'_>,
        out: &mut SkinBinding,
        animation: Option<&SkelAnimation>,
    ) -> Result<(), sinew_stage::Error> {
        let authored = prim.has_api("SkelBindingAPI");
        let tokens: Vec<String> = match authored {
            true => read_uniform(&prim.attribute("skel:blendShapes"))?.unwrap_or_default(),
            false => Vec::new(),
        };
        let targets_at = prim.relationship("skel:blendShapeTargets");
        let targets = targets_at.forwarded_targets();
        if tokens.is_empty() && (targets.is_empty() || !authored) {
            return Ok(());
        }
        if tokens.len() != targets.len() {
            let off = [
                (
                    "skel:blendShapes",
                    tokens.is_empty() && is_blocked(&prim.attribute("skel:blendShapes")),
                ),
                (
                    "skel:blendShapeTargets",
                    targets.is_empty() && targets_at.has_authored_targets(),
                ),
            ];
            if let Some((name, _)) = off.iter().find(|(_, is_off)| *is_off) {
                let message = format!("{name} is None: no blend shapes");
                let warning = Warning::new(SWITCHED_OFF, &out.path, message);
                self.warnings.push(warning.on(*name));
                return Ok(());
            }
            let message = format!(
                "skel:blendShapes has {} tokens, skel:blendShapeTargets {} targets; they have to agree, so there are no \
                 blend shapes",
                tokens.len(),
                targets.len()
            );
            self.warn("blend-shapes-ignored", &out.path.clone(), message);
            return Ok(());
        }
        let point_count = out.points.first().map_or(0, |p| p.len());
        for (token, target) in tokens.iter().zip(targets) {
            let shape = self.read_shape(&target, point_count, &out.path)?;
            out.shapes.push(ShapeChannel {
                token: token.clone(),
                target: target.as_str().to_owned(),
                shape,
            });
        }
        // Without weights the shapes do nothing at all, not even normalise normals (seen on usd-core).
        out.channel_mapper = animation
            .filter(|a| a.blend_shape_weights.has_value())
            .map(|a| AnimMapper::new(&a.blend_shapes, &tokens));
        Ok(())
    }

    fn read_shape(
        &mut self,
        target: &Path,
        point_count: usize,
        user: &str,
    ) -> Result<Option<Arc<BlendShape>>, sinew_stage::Error> {
        let prim = self.stage.prim(target);
        let Some(prim) = prim.filter(|p| p.is_active() && p.is_a("BlendShape")) else {
            if is_switched_off(self.stage, target) {
                let message =
                    format!("the blend shape {target} is inactive: its channel moves nothing");
                self.warn(SWITCHED_OFF, user, message);
                return Ok(None);
            }
            let message = format!(
                "blend shape target {target} is no BlendShape: its channel contributes nothing"
            );
            self.warn("blend-shape-missing", user, message);
            return Ok(None);
        };
        let key = (target.clone(), point_count);
        if !self.shapes.contains_key(&key) {
            let shape = read_blend_shape(&prim, point_count, self.warnings)?;
            self.shapes.insert(key.clone(), Arc::new(shape));
        }
        Ok(self.shapes.get(&key).cloned())
    }
}

/// Which of UsdGeom's extent functions serves a prim.
pub(crate) fn extent_rule(prim: &Prim<'_>) -> ExtentRule {
    if prim.is_a("Points") {
        ExtentRule::WidthPerPoint
    } else if prim.is_a("Curves") {
        ExtentRule::LargestWidth
    } else {
        ExtentRule::Points
    }
}

/// Interpolation (constant where none is authored) and elementSize of a primvar.
fn primvar_layout(attribute: &Attribute<'_, '_>) -> Result<(String, i32), sinew_stage::Error> {
    let interpolation =
        token_metadata(attribute, "interpolation")?.unwrap_or_else(|| "constant".into());
    let size = read_metadata(attribute, "elementSize")?.unwrap_or(1);
    Ok((interpolation, size))
}

pub(crate) fn token_metadata(
    attribute: &Attribute<'_, '_>,
    key: &str,
) -> Result<Option<String>, sinew_stage::Error> {
    Ok(match attribute.metadata(key)? {
        Some(Value::Token(t) | Value::String(t)) => Some(t.into()),
        _ => None,
    })
}
