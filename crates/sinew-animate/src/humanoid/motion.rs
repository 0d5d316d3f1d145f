//! The motion of each human bone in a clip.

use std::collections::{BTreeMap, HashMap};

use glam::{DQuat, DVec3};

use super::curves::Turned;
use super::reference::reference_rotation;
use super::target::Figure;
use super::{HumanoidReport, Mode};
use crate::asset::{
    Asset, AssetClip, Curve, CurveInterpolation, HumanoidSkeleton, Keys, Track, TrackTarget,
};
use crate::retarget::Bone;
use sinew::error::{Warning, first_few};

/// The pose that the curves of a bone are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relative {
    /// The bind pose, in the bone's own bind frame.
    Bind,
    /// This node's rest transform.
    Rest { node: usize },
}

/// The curves of one bone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion<'a> {
    pub relative: Relative,
    pub rotation: Option<&'a Curve>,
    pub translation: Option<&'a Curve>,
    pub scale: Option<&'a Curve>,
}

/// The tracks of a clip, sorted by bone.
pub(super) struct Motions<'a> {
    pub source: Figure<'a>,
    pub bones: BTreeMap<Bone, Motion<'a>>,
    /// Name and curve.
    pub expressions: Vec<(&'a str, &'a Curve)>,
}

/// The file of the clip, with the humanoid skeleton that most tracks move, or the first one if none is
/// moved.
fn source<'a>(asset: &'a Asset, clip: &AssetClip) -> Figure<'a> {
    let moved = |h: &&HumanoidSkeleton| {
        let nodes: std::collections::HashSet<_> = h.bones.values().collect();
        let on = |t: &&Track| matches!(&t.target, TrackTarget::Node(n) if nodes.contains(n));
        clip.tracks.iter().filter(on).count()
    };
    // Reversed, because max_by_key returns the last of equal elements.
    let humanoid = asset.humanoids.iter().rev().max_by_key(moved);
    Figure::new(asset, humanoid)
}

impl Figure<'_> {
    /// Two rest rotations: that of a node's parent in the world, and that of the node relative to
    /// its parent.
    pub fn rest(&self, node: usize) -> (DQuat, DQuat) {
        let own = self.asset.nodes[node].local.trs().rotation;
        (self.binds.rest_parent_rotation(node), own)
    }

    /// world_from_bone of bind-relative data, in the canonical world. It converts the rotation of a
    /// missing bone to the bones below it. It comes from the clip's own skeleton, or from the
    /// reference pose if the clip has none or the mode is [`Mode::Conjugate`].
    pub fn frame(&self, bone: Bone, mode: Mode) -> DQuat {
        let own = self.node(bone).filter(|_| mode != Mode::Conjugate);
        match own.and_then(|n| self.binds.world(n)) {
            Some(world) => {
                let (_, rotation, _) = world.to_scale_rotation_translation();
                (self.facing * rotation).normalize()
            }
            None => reference_rotation(bone),
        }
    }

    /// The left and right factors of the bone's rotation relative to its reference in the world, `N =
    /// left * q * right`. `W L^-1 q W^-1 = P q L^-1 P^-1` with P the parent's rotation.
    pub fn turned<'c>(&self, bone: Bone, motion: &Motion<'c>, mode: Mode) -> Option<Turned<'c>> {
        let curve = motion.rotation?;
        let (left, right) = match motion.relative {
            Relative::Bind => {
                let frame = self.frame(bone, mode);
                (frame, frame.inverse())
            }
            Relative::Rest { node } => {
                let (parent, own) = self.rest(node);
                let parent = self.facing * parent;
                (parent, (parent * own).inverse())
            }
        };
        Some(Turned { left, curve, right })
    }
}

impl<'a> Motions<'a> {
    /// Sorts the tracks of a clip by bone. Tracks that cannot be applied to any model are reported
    /// as warnings.
    pub fn gather(asset: &'a Asset, clip: &'a AssetClip, report: &mut HumanoidReport) -> Self {
        let source = source(asset, clip);
        let bone_of: HashMap<usize, Bone> = source
            .humanoid
            .iter()
            .flat_map(|h| h.bones.iter().map(|(b, n)| (*n, *b)))
            .collect();
        let mut motions = Self {
            source,
            bones: BTreeMap::new(),
            expressions: Vec::new(),
        };
        let mut elsewhere = Vec::new();
        // Bind-relative tracks first: where a bone has both kinds, the extension wins.
        for track in &clip.tracks {
            match &track.target {
                TrackTarget::Bone(bone) => {
                    motions.take(*bone, Relative::Bind, &track.curve, report)
                }
                TrackTarget::Expression(name) => motions.expressions.push((name, &track.curve)),
                TrackTarget::Node(_) => {}
            }
        }
        for track in &clip.tracks {
            let TrackTarget::Node(node) = &track.target else {
                continue;
            };
            match bone_of.get(node) {
                Some(bone) => {
                    motions.take(*bone, Relative::Rest { node: *node }, &track.curve, report);
                }
                None => elsewhere.push(&asset.nodes[*node].name),
            }
        }
        elsewhere.dedup();
        if !elsewhere.is_empty() {
            let text = format!(
                "{} of nodes that are not human bones are ignored: {}",
                tracks(elsewhere.len()),
                first_few(&elsewhere, super::MOST_NAMES)
            );
            report.warn("track-ignored", label(asset, clip), text);
        }
        motions.leave_rest_relative_parts(clip, report);
        motions
    }

    fn take(
        &mut self,
        bone: Bone,
        relative: Relative,
        curve: &'a Curve,
        report: &mut HumanoidReport,
    ) {
        let motion = self.bones.entry(bone).or_insert(Motion {
            relative,
            rotation: None,
            translation: None,
            scale: None,
        });
        if motion.relative != relative {
            let text =
                "tracks of its node are ignored, because the bone has tracks of the extension";
            report.warn("track-ignored", bone.name(), text);
            return;
        }
        let component = match &curve.keys {
            Keys::Rotation(_) => &mut motion.rotation,
            Keys::Translation(_) => &mut motion.translation,
            Keys::Scale(_) => &mut motion.scale,
            Keys::Weights { .. } => {
                let text = "morph weights are ignored, because they belong to the clip's own mesh";
                return report.warn("track-ignored", bone.name(), text);
            }
        };
        // Readers refuse a second track for one component. In other assets the first track is used.
        component.get_or_insert(curve);
    }

    /// Removes translations of bones other than the hips, and all scales, from rest-relative
    /// motions: they do not fit bones of other lengths. Warns if one of them was animated.
    fn leave_rest_relative_parts(&mut self, clip: &AssetClip, report: &mut HumanoidReport) {
        let mut moved = Vec::new();
        let mut scaled = Vec::new();
        for (&bone, motion) in &mut self.bones {
            let Relative::Rest { node } = motion.relative else {
                continue;
            };
            let rest = self.source.asset.nodes[node].local.trs();
            if let Some(curve) = motion.scale.take()
                && leaves(curve, rest.scale)
            {
                scaled.push(bone);
            }
            if bone != Bone::Hips
                && let Some(curve) = motion.translation.take()
                && leaves(curve, rest.translation)
            {
                moved.push(bone);
            }
        }
        let kinds = [
            ("translations", "only the hips are translated", moved),
            ("scales", "bones keep the scales of the model", scaled),
        ];
        for (what, why, bones) in kinds {
            if !bones.is_empty() {
                let text = format!(
                    "{what} of {} are ignored: {why}",
                    first_few(&bones, super::MOST_NAMES)
                );
                report.warn("track-ignored", label(self.source.asset, clip), text);
            }
        }
    }
}

/// Whether a curve has a value that differs from rest. Exporters write constant tracks for every
/// bone.
fn leaves(curve: &Curve, rest: DVec3) -> bool {
    let (Keys::Translation(keys) | Keys::Scale(keys)) = &curve.keys else {
        return false;
    };
    let cubic = curve.interpolation == CurveInterpolation::CubicSpline;
    let values = keys
        .iter()
        .enumerate()
        .filter(|(i, _)| !cubic || i % 3 == 1);
    let far = 1e-3 * rest.length().max(1e-3);
    values.into_iter().any(|(_, v)| v.distance(rest) > far)
}

impl HumanoidReport {
    pub(super) fn warn(
        &mut self,
        code: &'static str,
        path: impl Into<String>,
        message: impl Into<String>,
    ) {
        self.warnings.push(Warning::new(code, path, message));
    }
}

/// The name of a clip for messages, or that of its file if the clip has none.
pub(super) fn label(asset: &Asset, clip: &AssetClip) -> String {
    match clip.name.as_str() {
        "" => asset.file.display().to_string(),
        name => name.to_owned(),
    }
}

/// `1 track`, `3 tracks`.
fn tracks(n: usize) -> String {
    format!("{n} track{}", if n == 1 { "" } else { "s" })
}
