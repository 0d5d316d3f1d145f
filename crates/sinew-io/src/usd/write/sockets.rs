//! Sockets: Xforms that stand for nodes below joints, in the scope `Sockets` beside their Skeleton.
//! Their transforms are samples, so that they have to follow when the Skeleton gets another
//! animation.

use std::sync::Arc;

use glam::DMat4;
use sinew_layer::{Path, Value};
use sinew_stage::{Predicate, Prim};

use super::blend_shapes::Authored;
use super::edits::{Samples, author_matrices, author_order};
use crate::usd::file::UsdFile;
use crate::usd::read::skeletons::read_skeleton;
use sinew::sampled::Time;
use sinew::skel::{SkelAnimation, SkeletonInstance};

/// The scope.
pub(crate) const SOCKETS: &str = "Sockets";

/// The dictionary of a prim's customData that holds data of the file that it was converted from.
pub(crate) const SOURCE_DATA: &str = "gltf";

/// Its member that names the Skeleton beside the scope.
pub(crate) const FOLLOWS_SKELETON: &str = "followsSkeleton";

/// Its member that names the joint, by its path.
pub(crate) const FOLLOWS_JOINT: &str = "followsJoint";

/// Its member that holds joint_from_socket.
pub(crate) const JOINT_OFFSET: &str = "jointOffset";

/// Ops that a converted socket has, which a matrix replaces.
const OPS: [&str; 3] = ["xformOp:translate", "xformOp:orient", "xformOp:scale"];

/// A socket of a Skeleton.
struct Socket {
    path: Path,
    joint: String,
    joint_from_socket: DMat4,
}

impl UsdFile {
    /// Moves the sockets of a Skeleton with an animation that it is about to have.
    pub(super) fn move_sockets(
        &mut self,
        skeleton: &Path,
        animation: &SkelAnimation,
    ) -> Authored<()> {
        let Some(prim) = self.stage.prim(skeleton) else {
            return Ok(());
        };
        let sockets = sockets(prim)?;
        if sockets.is_empty() {
            return Ok(());
        }
        let skeleton = Arc::new(read_skeleton(&prim, &mut Vec::new())??);
        let instance = SkeletonInstance::new(skeleton, Some(Arc::new(animation.clone())));
        let mut times: Vec<f64> = animation.joint_times().collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let times: Vec<Time> = match times.is_empty() {
            true => vec![Time::Default],
            false => times.into_iter().map(Time::At).collect(),
        };
        let mut samples: Vec<Samples<DMat4>> = vec![Vec::new(); sockets.len()];
        for time in times {
            let joints = instance.skel_from_joint(time)?;
            for (socket, samples) in sockets.iter().zip(&mut samples) {
                let names = instance.skeleton().joints();
                let Some(joint) = names.iter().position(|j| *j == socket.joint) else {
                    continue;
                };
                samples.push((time, joints[joint] * socket.joint_from_socket));
            }
        }
        self.edit_root(|layer| {
            for (socket, samples) in sockets.iter().zip(samples) {
                if samples.is_empty() {
                    continue;
                }
                for op in OPS {
                    layer.remove(&socket.path.property(op));
                }
                author_matrices(layer, socket.path.as_str(), samples);
                author_order(layer, socket.path.as_str(), false, true);
            }
        })?;
        Ok(())
    }
}

/// The sockets of a Skeleton.
fn sockets(skeleton: Prim<'_>) -> Result<Vec<Socket>, sinew_stage::Error> {
    let scope = skeleton.parent().and_then(|p| p.child(SOCKETS));
    let mut out = Vec::new();
    for prim in scope
        .into_iter()
        .flat_map(|s| s.children(Predicate::DEFAULT))
    {
        let Some(Value::Dictionary(data)) = prim.metadata("customData")? else {
            continue;
        };
        let Some(Value::Dictionary(data)) = data.get(SOURCE_DATA) else {
            continue;
        };
        let text = |key: &str| match data.get(key) {
            Some(Value::String(text)) => Some(text.as_str()),
            _ => None,
        };
        let (Some(joint), Some(Value::Matrix4d(offset))) =
            (text(FOLLOWS_JOINT), data.get(JOINT_OFFSET))
        else {
            continue;
        };
        if text(FOLLOWS_SKELETON) == Some(skeleton.path().name()) {
            out.push(Socket {
                path: prim.path().clone(),
                joint: joint.to_owned(),
                joint_from_socket: DMat4::from_cols_array(offset),
            });
        }
    }
    Ok(out)
}
