//! Sockets: Xforms that stand for nodes below joints, in the scope `Sockets` beside their Skeleton.
//! Their transforms are samples, so that they have to follow when the Skeleton gets another
//! animation.

use std::sync::Arc;

use glam::DMat4;
use sinew_layer::{Layer, Path, Value};
use sinew_stage::{Predicate, Prim};

use super::blend_shapes::Authored;
use super::edits::{Samples, author_matrices, author_order};
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

/// Where the sockets of a Skeleton are while it plays an animation.
pub(super) struct MovedSockets(Vec<(Path, Samples<DMat4>)>);

impl MovedSockets {
    pub fn new(skeleton: Prim<'_>, animation: &SkelAnimation) -> Authored<Self> {
        let sockets = sockets(skeleton)?;
        if sockets.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let skeleton = Arc::new(read_skeleton(&skeleton, &mut Vec::new())??);
        let instance = SkeletonInstance::new(skeleton, Some(Arc::new(animation.clone())));
        let mut times: Vec<f64> = animation.joint_times().collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let times: Vec<Time> = match times.is_empty() {
            true => vec![Time::Default],
            false => times.into_iter().map(Time::At).collect(),
        };
        let names = instance.skeleton().joints();
        let joint = |socket: Socket| {
            let joint = names.iter().position(|j| *j == socket.joint)?;
            Some((joint, socket))
        };
        let sockets: Vec<(usize, Socket)> = sockets.into_iter().filter_map(joint).collect();
        let mut samples: Vec<Samples<DMat4>> = vec![Vec::new(); sockets.len()];
        for time in times {
            let joints = instance.skel_from_joint(time)?;
            for ((joint, socket), samples) in sockets.iter().zip(&mut samples) {
                samples.push((time, joints[*joint] * socket.joint_from_socket));
            }
        }
        let paths = sockets.into_iter().map(|(_, socket)| socket.path);
        Ok(Self(paths.zip(samples).collect()))
    }

    pub fn author(self, layer: &mut Layer) {
        for (path, samples) in self.0 {
            for op in OPS {
                layer.remove(&path.property(op));
            }
            author_matrices(layer, path.as_str(), samples);
            author_order(layer, path.as_str(), false, true);
        }
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
