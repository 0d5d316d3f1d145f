//! What a clip says about each human bone.

use std::collections::{BTreeMap, HashMap};

use glam::{DQuat, DVec3};

use super::binds::BindPoses;
use super::curves::Turned;
use super::reference::reference_rotation;
use super::target::facing;
use super::{HumanoidReport, Mode};
use crate::asset::{
    Asset, AssetClip, Curve, CurveInterpolation, HumanoidSkeleton, Keys, Track, TrackTarget,
};
use crate::retarget::Bone;
use sinew::error::{Warning, first_few};

/// What a bone's curves are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relative {
    /// The bind pose, in the bone's own bind frame.
    Bind,
    /// This node's rest transform.
    Rest { node: usize },
}

/// One bone's curves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion<'a> {
    pub relative: Relative,
    pub rotation: Option<&'a Curve>,
    pub translation: Option<&'a Curve>,
    pub scale: Option<&'a Curve>,
}

/// A clip, sorted by bone.
pub(super) struct Motions<'a> {
    pub source: Source<'a>,
    pub bones: BTreeMap<Bone, Motion<'a>>,
    /// Name and curve.
    pub expressions: Vec<(&'a str, &'a Curve)>,
}

/// The clip's own file: rest poses and heights.
pub(super) struct Source<'a> {
    pub asset: &'a Asset,
    pub binds: BindPoses<'a>,
    /// Canonical world, facing +Z, from the file's.
    pub facing: DQuat,
    /// The humanoid skeleton that most tracks move; the first one where none does.
    pub humanoid: Option<&'a HumanoidSkeleton>,
}

impl<'a> Source<'a> {
    fn new(asset: &'a Asset, clip: &AssetClip) -> Self {
        let moved = |h: &&HumanoidSkeleton| {
            let nodes: std::collections::HashSet<_> = h.bones.values().collect();
            let on = |t: &&Track| matches!(&t.target, TrackTarget::Node(n) if nodes.contains(n));
            clip.tracks.iter().filter(on).count()
        };
        Self {
            asset,
            binds: BindPoses::new(asset),
            facing: facing(asset),
            // Of equals the first.
            humanoid: asset.humanoids.iter().rev().max_by_key(moved),
        }
    }

    /// The rest rotations of a node: of its parent in the world, and its own.
    pub fn rest(&self, node: usize) -> (DQuat, DQuat) {
        let own = self.asset.nodes[node].local.trs().rotation;
        (self.binds.rest_parent_rotation(node), own)
    }

    /// world_from_bone of bind-relative data, in the canonical world: what turns a missing bone's rotation into those
    /// below it. The clip's own skeleton knows best; else the reference pose, which [`Mode::Conjugate`] always goes by.
    pub fn frame(&self, bone: Bone, mode: Mode) -> DQuat {
        let node = self.humanoid.and_then(|h| h.bones.get(&bone));
        let own = node.filter(|_| mode != Mode::Conjugate);
        match own.and_then(|n| self.binds.world(*n)) {
            Some(world) => {
                let (_, rotation, _) = world.to_scale_rotation_translation();
                (self.facing * rotation).normalize()
            }
            None => reference_rotation(bone),
        }
    }

    /// The bone's rotation as what it adds to the world: left and right factors of `N = left * q * right`.
    /// `W L^-1 q W^-1 = P q L^-1 P^-1` with P the parent's.
    pub fn turned(&self, bone: Bone, motion: &Motion<'a>, mode: Mode) -> Option<Turned<'a>> {
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
    /// Sorts a clip's tracks; those that no model can take are told of.
    pub fn gather(asset: &'a Asset, clip: &'a AssetClip, report: &mut HumanoidReport) -> Self {
        let source = Source::new(asset, clip);
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
                "{} of nodes that are no human bones are left out: {}",
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
            let text = "tracks of its node are left out: the extension's go first";
            report.warn("track-ignored", bone.name(), text);
            return;
        }
        let slot = match &curve.keys {
            Keys::Rotation(_) => &mut motion.rotation,
            Keys::Translation(_) => &mut motion.translation,
            Keys::Scale(_) => &mut motion.scale,
            Keys::Weights { .. } => {
                let text = "morph weights are left out: they are the source's own mesh's";
                return report.warn("track-ignored", bone.name(), text);
            }
        };
        // Two tracks for one component are refused by readers; of hand-made ones the first counts.
        slot.get_or_insert(curve);
    }

    /// Rest-relative clips move the hips alone, and scale nothing: bones of different lengths have no use for it. Told of
    /// where something moved.
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
            ("translations", "only the hips are moved", moved),
            ("scales", "bones keep the target's", scaled),
        ];
        for (what, why, bones) in kinds {
            if !bones.is_empty() {
                let text = format!(
                    "{what} of {} are left out: {why}",
                    first_few(&bones, super::MOST_NAMES)
                );
                report.warn("track-ignored", label(self.source.asset, clip), text);
            }
        }
    }
}

/// True where a curve has a value other than the rest's; exporters write constant tracks for every bone.
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

/// A clip's name for messages: its file's where it has none.
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
