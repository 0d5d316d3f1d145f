//! Humanoid clips onto humanoid models: EXT_skeleton_humanoid and VRM Animation, any pairing. Pure maths over
//! [`Asset`]s, no files.
//!
//! A clip's data stand for a *motion* of each human bone, and the model says how a motion becomes tracks of its
//! nodes. Every step is linear in the data (`q' = A q B`, `t' = c + M t`), so keys and tangents map one to one and
//! curves keep their interpolation; only where the model lacks a bone whose rotation its children take over are
//! curves multiplied, at the union of their keys.
//!
//! | clip data | relative to | onto a node |
//! |---|---|---|
//! | [`TrackTarget::Bone`] (EXT_skeleton_humanoid) | the bone's bind pose | `t = b_t + b_R (b_s * T)`, `r = b_R R`, `s = b_s * S`, with b the bind transform local to the *node* parent ([`BindPoses`]) |
//! | [`TrackTarget::Node`] on a node of the clip file's humanoid map (VRM Animation, plain clips) | the node's rest | `N = W L^-1 q W^-1` with the source's rest rotations (L local, W in the world), `q' = L W^-1 N W` with the target's; hips: `p' = rest' + h (p - rest)` in the world, h = ratio of hips heights |
//! | [`TrackTarget::Expression`] | | passed on by name |
//!
//! Which of the two holds follows from the clip alone, so an EXT clip goes onto a VRM model through that model's
//! skins, and a .vrma onto an EXT model through its rest pose. VRM 0.x models face -Z: their world is turned by half a
//! turn about Y, which negates x and z of rotations and translations.

mod apply;
mod binds;
mod curves;
mod describe;
mod expressions;
mod motion;
mod own;
mod reference;
mod target;

use crate::asset::{Asset, AssetClip, LocalTransform, TrackTarget};
use crate::retarget::Bone;
use sinew::error::Warning;

pub use apply::apply;
pub use binds::BindPoses;
pub use describe::{bones_by_name, describe};
pub use expressions::expressions_to_weights;
pub use own::on_own_skeleton;
pub use reference::{reference_asset, reference_rotation};

/// Bones or names that a message lists at most.
const MOST_NAMES: usize = 8;

/// How data relative to the bind pose meet a model's bones. Data relative to the rest pose (VRM Animation) have one
/// meaning only, and are the same in every mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// In the bone's own bind frame, as the extension says. What a missing bone would do is dropped.
    #[default]
    Literal,
    /// As [`Mode::Literal`], but the rotation of a missing bone is multiplied into the nearest bones below it
    /// that the model has, turned from frame to frame as the clip's own skeleton has them, else the reference pose.
    Collapse,
    /// For models whose bone axes break the reference pose: `d' = K^-1 d K` with `K = W_ref^-1 W_target`, so that the
    /// motion looks as on a model that keeps it. Scales stay along the bone's own axes.
    Conjugate,
}

/// What [`apply`] is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApplyOptions {
    pub mode: Mode,
    /// Scale translations relative to the bind pose by the ratio of hips heights. Rest-relative ones always are.
    pub scale_translation: bool,
    /// Which of the model's humanoid skeletons.
    pub skeleton: usize,
}

/// A clip on a model's own nodes.
#[derive(Clone, Debug)]
pub struct Applied {
    /// [`TrackTarget::Node`] tracks of the model's nodes and [`TrackTarget::Expression`] tracks of its expressions. Nodes
    /// without a track keep their rest.
    pub clip: AssetClip,
    pub report: HumanoidReport,
}

/// What became of a clip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HumanoidReport {
    /// Bones that move, parents first.
    pub bones: Vec<Bone>,
    /// Bones that the clip moves and the model lacks, parents first.
    pub missing: Vec<MissingBone>,
    /// Expressions that the clip moves and the model has.
    pub expressions: Vec<String>,
    /// What translations were scaled by; `None` where none was.
    pub hips_scale: Option<f64>,
    /// Missing bones and all else that is not as the clip or the model has it.
    pub warnings: Vec<Warning>,
}

/// A bone that the clip moves and the model lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingBone {
    pub bone: Bone,
    /// The bones that its rotation was multiplied into; empty where it was dropped.
    pub folded_into: Vec<Bone>,
}

impl Applied {
    /// The model with this clip as its only one. Matrices of nodes that it moves become components.
    #[must_use]
    pub fn into_asset(self, mut model: Asset) -> Asset {
        for track in &self.clip.tracks {
            if let TrackTarget::Node(node) = track.target {
                let local = &mut model.nodes[node].local;
                *local = LocalTransform::Trs(local.trs());
            }
        }
        model.warnings.extend(self.report.warnings);
        model.clips = vec![self.clip];
        model
    }
}
