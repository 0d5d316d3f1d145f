//! Applies humanoid clips to humanoid models, with EXT_skeleton_humanoid or VRM Animation on either
//! side. It works on [`Asset`]s, without files.
//!
//! A clip has a *motion* for each human bone, and the model determines the tracks of its nodes that
//! follow from it. Every step is linear in the data (`q' = A q B`, `t' = c + M t`), so keys and
//! tangents map one to one and curves keep their interpolation. There is one exception: if the
//! model does not have a bone and the bones below it take over its rotation, curves are multiplied
//! at the union of their keys.
//!
//! | clip data | relative to | tracks of a node |
//! |---|---|---|
//! | [`TrackTarget::Bone`] (EXT_skeleton_humanoid) | the bone's bind pose | `t = b_t + b_R (b_s * T)`, `r = b_R R`, `s = b_s * S`, with b the bind transform local to the *node* parent ([`BindPoses`]) |
//! | [`TrackTarget::Node`] on a node of the clip file's humanoid map (VRM Animation, plain clips) | the rest pose of the node | `N = W L^-1 q W^-1` with the rest rotations of the source (L local, W in the world), `q' = L W^-1 N W` with those of the target; hips: `p' = rest' + h (p - rest)` in the world, h = ratio of hips heights |
//! | [`TrackTarget::Expression`] | | expression with the same name |
//!
//! The clip alone determines which row applies. So an EXT_skeleton_humanoid clip is applied to a
//! VRM model by the bind pose of that model, and a `.vrma` clip to an EXT_skeleton_humanoid model
//! by its rest pose. VRM 0.x models face -Z: their world is rotated by 180 degrees about Y, which
//! negates x and z of rotations and translations.

mod all;
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

pub use all::{AppliedToAll, apply_to_all};
pub use apply::apply;
pub use binds::BindPoses;
pub use describe::{bones_by_name, describe};
pub use expressions::expressions_to_weights;
pub use own::on_own_skeleton;
pub use reference::{reference_asset, reference_rotation};

/// The largest number of bones or names in a message.
const MOST_NAMES: usize = 8;

/// How [`apply`] transfers data that are relative to the bind pose (EXT_skeleton_humanoid). Data
/// that are relative to the rest pose (VRM Animation) have only one meaning, so the mode does not
/// matter for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// In the bind frame of the bone, as the extension says. The motion of missing bones is
    /// dropped.
    #[default]
    Literal,
    /// Like [`Mode::Literal`], but the rotation of a missing bone is multiplied into the nearest
    /// bones below it that the model has. It is converted between the frames of the bones by the
    /// clip's own skeleton, or by the reference pose if the clip has none.
    Collapse,
    /// For models whose bone axes differ from the reference pose: `d' = K^-1 d K` with `K =
    /// W_ref^-1 W_target`. The motion then looks the same as on a model in the reference pose.
    /// Scales stay along the bone's own axes.
    Conjugate,
}

/// Options of [`apply`]. Start from `ApplyOptions::default()` and set fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApplyOptions {
    /// How data relative to the bind pose are transferred.
    pub mode: Mode,
    /// Whether translations relative to the bind pose are scaled by the ratio of the heights of the
    /// hips. Those relative to the rest pose always are.
    pub scale_translation: bool,
    /// Index of the model's humanoid skeleton in [`Asset::humanoids`].
    pub skeleton: usize,
}

/// The result of [`apply`]: a clip that moves the nodes of a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Applied {
    /// [`TrackTarget::Node`] tracks of the model's nodes and [`TrackTarget::Expression`] tracks of
    /// its expressions. Nodes without a track stay in their rest pose.
    pub clip: AssetClip,
    /// What was transferred and what was not.
    pub report: HumanoidReport,
}

/// Which parts of a clip [`apply`] transferred and which it could not.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct HumanoidReport {
    /// Bones of the model that move, parents first.
    pub bones: Vec<Bone>,
    /// Bones that the clip moves but the model does not have, parents first.
    pub missing: Vec<MissingBone>,
    /// Expressions that the clip moves and the model has.
    pub expressions: Vec<String>,
    /// Factor of the translations; `None` if none was scaled.
    pub hips_scale: Option<f64>,
    /// Everything that could not be transferred, or not exactly, missing bones included.
    pub warnings: Vec<Warning>,
}

/// A bone that the clip moves but the model does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingBone {
    /// The bone.
    pub bone: Bone,
    /// The bones that its rotation was multiplied into; empty if its rotation was dropped.
    pub folded_into: Vec<Bone>,
}

impl Applied {
    /// The model with this clip as its only clip. Nodes that it moves get a
    /// [`LocalTransform::Trs`].
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
