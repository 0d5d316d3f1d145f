//! Applies the motions of a clip to the bones of a model.

use glam::{DMat3, DQuat, DVec3};

use super::curves::{Turned, move_by, product, scale_by};
use super::motion::{Motion, Motions, Relative, label};
use super::reference::reference_rotation;
use super::target::{Figure, height, ratio};
use super::{Applied, ApplyOptions, HumanoidReport, MissingBone, Mode};
use crate::asset::{Asset, AssetClip, Curve, CurveInterpolation, Keys, Track, TrackTarget};
use crate::error::{Error, Result};
use crate::retarget::Bone;
use sinew::error::first_few;
use sinew::math::try_inverse;

/// Applies a clip to a model. `clip` belongs to `clip_file`, whose nodes give the rest pose and the
/// humanoid map for node tracks. `clip_file` may be the model itself.
///
/// # Errors
/// - [`Error::NoHumanoid`] if the model has no humanoid skeleton with the index
///   [`ApplyOptions::skeleton`].
/// - [`Error::NothingMoves`] if no track of the clip moves a bone or an expression of the model.
pub fn apply(
    model: &Asset,
    clip_file: &Asset,
    clip: &AssetClip,
    options: &ApplyOptions,
) -> Result<Applied> {
    let target = Figure::model(model, options.skeleton)?;
    let mut report = HumanoidReport::default();
    let motions = Motions::gather(clip_file, clip, &mut report);
    let mut work = Work {
        target,
        motions,
        options,
        report,
        tracks: Vec::new(),
    };
    work.missing_bones();
    let bind_scale = work.bind_translation_scale();
    let mut bound = Vec::new();
    for &bone in Bone::ALL {
        if let Some(node) = work.target.node(bone) {
            work.bone(bone, node, bind_scale, &mut bound);
        }
    }
    if options.mode != Mode::Conjugate {
        work.target.warn_off_reference(&bound, &mut work.report);
    }
    work.expressions(clip);
    if work.tracks.is_empty() {
        return Err(Error::NothingMoves {
            file: clip_file.file.clone(),
            clip: clip.name.clone(),
            model: model.file.clone(),
            has_humanoid: work.motions.source.humanoid.is_some(),
        });
    }
    Ok(Applied {
        clip: clip.with_tracks(work.tracks),
        report: work.report,
    })
}

/// The part of a bind transform by which the node's differs for the rounding of f32 alone.
const ROUNDING: f64 = 1e-5;

struct Work<'a> {
    target: Figure<'a>,
    motions: Motions<'a>,
    options: &'a ApplyOptions,
    report: HumanoidReport,
    tracks: Vec<Track>,
}

impl<'a> Work<'a> {
    fn source(&self) -> &Figure<'a> {
        &self.motions.source
    }

    /// Whether the rotation of a missing bone is multiplied into the bones below it. VRM Animation
    /// asks for this.
    fn folds(&self, motion: &Motion) -> bool {
        motion.relative != Relative::Bind || self.options.mode == Mode::Collapse
    }

    fn missing_bones(&mut self) {
        for (&bone, motion) in &self.motions.bones {
            if self.target.node(bone).is_some() {
                continue;
            }
            let folded_into = if motion.rotation.is_some() && self.folds(motion) {
                self.target.nearest_below(bone)
            } else {
                Vec::new()
            };
            let what = match (motion.rotation.is_some(), folded_into.is_empty()) {
                (true, false) => format!(
                    "the model lacks this bone; its rotation is multiplied into {}",
                    first_few(&folded_into, super::MOST_NAMES)
                ),
                _ => "the model lacks this bone; its motion is dropped".to_owned(),
            };
            self.report.warn("bone-missing", bone.name(), what);
            if !folded_into.is_empty() && (motion.translation.is_some() || motion.scale.is_some()) {
                let what = "its translation and scale are dropped";
                self.report.warn("bone-missing", bone.name(), what);
            }
            self.report.missing.push(MissingBone { bone, folded_into });
        }
    }

    /// Makes all tracks of one bone.
    fn bone(&mut self, bone: Bone, node: usize, bind_scale: f64, bound: &mut Vec<(Bone, DQuat)>) {
        let own = self.motions.bones.get(&bone).copied();
        let above: Vec<(Bone, Motion)> = self
            .target
            .missing_above(bone)
            .into_iter()
            .filter_map(|b| Some((b, *self.motions.bones.get(&b)?)))
            .filter(|(_, m)| m.rotation.is_some() && self.folds(m))
            .collect();
        // A bone without data of its own moves like the bone whose rotation it takes over.
        let Some(relative) = own.or(above.last().map(|(_, m)| *m)).map(|m| m.relative) else {
            return;
        };
        let mut parts: Vec<Turned> = Vec::new();
        for (b, motion) in above.iter().chain(own.map(|m| (bone, m)).iter()) {
            parts.extend(self.source().turned(*b, motion, self.options.mode));
        }
        let before = self.tracks.len();
        match relative {
            Relative::Bind => {
                let own = own.as_ref();
                bound.push((
                    bone,
                    self.bind_relative(bone, node, own, &parts, bind_scale),
                ));
            }
            Relative::Rest { .. } => self.rest_relative(bone, node, own.as_ref(), &parts),
        }
        if self.tracks.len() > before {
            self.report.bones.push(bone);
        }
    }

    fn push(&mut self, node: usize, curve: Option<Curve>) {
        self.tracks.extend(curve.map(|curve| Track {
            target: TrackTarget::Node(node),
            curve,
        }));
    }

    /// Makes tracks by `r = b_R d`, `t = b_t + b_R (b_s * T)`, `s = b_s * S`, where what the clip
    /// lacks is d = 1, T = 0 and S = 1. Returns the bone's bind rotation in the canonical world.
    fn bind_relative(
        &mut self,
        bone: Bone,
        node: usize,
        own: Option<&Motion>,
        parts: &[Turned],
        scale: f64,
    ) -> DQuat {
        let bound = self.target.bound(bone, node, &mut self.report);
        let b = bound.local;
        // Data in the world of the reference pose to data in this bone's frame: d = frame^-1 N
        // frame.
        let (frame, vectors) = match self.options.mode {
            // N = W d W^-1, so this is d again.
            mode @ (Mode::Literal | Mode::Collapse) => {
                let turn = self.target.literal_turn();
                (self.source().frame(bone, mode) * turn, turn.inverse())
            }
            Mode::Conjugate => {
                let frame = bound.world;
                (frame, frame.inverse() * reference_rotation(bone))
            }
        };
        let rotation = product(b.rotation * frame.inverse(), parts, frame);
        let linear = DMat3::from_quat(b.rotation)
            * DMat3::from_diagonal(b.scale * scale)
            * DMat3::from_quat(vectors);
        let translation = own.and_then(|m| m.translation);
        let translation = translation.and_then(|c| move_by(c, b.translation, linear));
        let scale = own.and_then(|m| m.scale);
        let scale = scale.and_then(|c| scale_by(c, b.scale));
        // A part without a curve is that of the bind pose, which the node's may differ from.
        let rest = self.target.asset.nodes[node].local.trs();
        let curves = [&rotation, &translation, &scale].into_iter().flatten();
        let from = curves
            .filter_map(|c| c.times.first().copied())
            .reduce(f64::min);
        let still = |is_bound: bool, keys: Keys| {
            from.filter(|_| !is_bound).map(|time| Curve {
                times: vec![time],
                interpolation: CurveInterpolation::Step,
                keys,
            })
        };
        let is_near = |a: DVec3, b: DVec3| a.abs_diff_eq(b, ROUNDING * a.length().max(1e-3));
        let turned = || {
            let is_bound = b.rotation.dot(rest.rotation).abs() > 1.0 - ROUNDING;
            still(is_bound, Keys::Rotation(vec![b.rotation]))
        };
        let moved = || {
            let is_bound = is_near(b.translation, rest.translation);
            still(is_bound, Keys::Translation(vec![b.translation]))
        };
        let sized = || still(is_near(b.scale, rest.scale), Keys::Scale(vec![b.scale]));
        self.push(node, rotation.or_else(turned));
        self.push(node, translation.or_else(moved));
        self.push(node, scale.or_else(sized));
        bound.world
    }

    /// Makes tracks by `q' = L W^-1 N W = P^-1 N P L`, with P the parent's rotation in the world.
    fn rest_relative(&mut self, bone: Bone, node: usize, own: Option<&Motion>, parts: &[Turned]) {
        let parent = self.target.facing * self.target.binds.rest_parent_rotation(node);
        let own_rest = self.target.asset.nodes[node].local.trs().rotation;
        let rotation = product(parent.inverse(), parts, parent * own_rest);
        self.push(node, rotation);
        if let Some(motion) = own
            && let Relative::Rest { node: source } = motion.relative
            && let Some(curve) = motion.translation
            && bone == Bone::Hips
        {
            self.hips(node, source, curve);
        }
    }

    /// Makes the translation of the hips by `p' = rest' + h (p - rest)` in the canonical world.
    fn hips(&mut self, node: usize, source: usize, curve: &Curve) {
        let from = self.source();
        let rest = from.asset.nodes[source].local.trs().translation;
        let heights = (
            height(self.target.asset, &self.target.binds.rest_world(node)),
            height(from.asset, &from.binds.rest_world(source)),
        );
        let to_world =
            DMat3::from_quat(from.facing) * DMat3::from_mat4(from.binds.rest_parent_world(source));
        let above = self.target.binds.rest_parent_world(node);
        let Some(to_parent) = try_inverse(above) else {
            let text =
                "a node above the hips is scaled to 0: the translation of the hips is dropped";
            return self
                .report
                .warn("hips-height", self.target.name(Bone::Hips, node), text);
        };
        let to_parent =
            DMat3::from_mat4(to_parent) * DMat3::from_quat(self.target.facing.inverse());
        let h = ratio(heights.0, heights.1).unwrap_or_else(|| {
            let text = format!(
                "the hips are {} above the ground in the model and {} in the clip, which gives no usable ratio: translations are not scaled",
                heights.0, heights.1
            );
            self.report.warn("hips-height", self.target.name(Bone::Hips, node), text);
            1.0
        });
        let linear = to_parent * to_world * h;
        let own_rest = self.target.asset.nodes[node].local.trs().translation;
        let moved = move_by(curve, own_rest - linear * rest, linear);
        self.report.hips_scale = Some(h);
        self.push(node, moved);
    }

    /// Factor of bind-relative translations: 1, or the ratio of the heights of the hips, each in
    /// the units of its skeleton's translations.
    fn bind_translation_scale(&mut self) -> f64 {
        let moves = |m: &Motion| m.relative == Relative::Bind && m.translation.is_some();
        if !self.options.scale_translation || !self.motions.bones.values().any(moves) {
            return 1.0;
        }
        let source = self.source();
        let own_height = |figure: &Figure| Some(own_height(figure, figure.node(Bone::Hips)?));
        let (found, wanted) = (own_height(source), own_height(&self.target));
        match wanted.zip(found).and_then(|(t, s)| ratio(t, s)) {
            Some(scale) => {
                self.report.hips_scale = Some(scale);
                scale
            }
            None => {
                let text = if found.is_none() {
                    "the clip's file has no hips, so their height is unknown: translations are not scaled"
                } else {
                    "the heights of the hips in the clip and the model give no usable ratio: translations are not scaled"
                };
                let at = self.target.location().to_owned();
                self.report.warn("hips-height", at, text);
                1.0
            }
        }
    }

    fn expressions(&mut self, clip: &AssetClip) {
        let mut missing = Vec::new();
        for (name, curve) in &self.motions.expressions {
            if !self
                .target
                .asset
                .expressions
                .iter()
                .any(|e| e.name == *name)
            {
                missing.push(*name);
                continue;
            }
            self.report.expressions.push((*name).to_owned());
            self.tracks.push(Track {
                target: TrackTarget::Expression((*name).to_owned()),
                curve: (*curve).clone(),
            });
        }
        if !missing.is_empty() {
            let text = format!(
                "the model does not have the expressions {}",
                first_few(&missing, super::MOST_NAMES)
            );
            let at = label(self.source().asset, clip);
            self.report.warn("expression-missing", at, text);
        }
    }
}

/// The height of the hips at bind time, in the units of their bind-relative translations.
fn own_height(figure: &Figure, hips: usize) -> f64 {
    let (asset, binds) = (figure.asset, &figure.binds);
    let world = binds.world(hips).unwrap_or_else(|| binds.rest_world(hips));
    let local = binds
        .local(hips)
        .unwrap_or_else(|| asset.nodes[hips].local.matrix());
    let (scale, _, _): (DVec3, _, _) = local.to_scale_rotation_translation();
    let above = DMat3::from_mat4(binds.rest_parent_world(hips)).determinant();
    let unit = (above * scale.element_product()).abs().cbrt();
    height(asset, &world) / unit
}
