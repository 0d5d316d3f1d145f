//! Which nodes become Xforms, and where they stand.
//!
//! A node that is no joint becomes an Xform below that of its parent, unless its only purpose is a
//! mesh that a Skeleton moves. A node below a joint (a socket), or a joint that shows a camera or
//! a light, cannot stand below the joint in USD: it becomes an Xform in the scope `Sockets` beside
//! the Skeleton, with time samples that follow the bound clip.

use std::collections::{HashMap, HashSet};

use glam::{DMat4, DQuat, DVec3};
use sinew_layer::Value;

use super::clips::CodedClip;
use super::joints::{Hierarchy, components};
use super::layer::{LayerBuilder, PrimId};
use super::placement::{ANGLE, Homes, MeshUse, Place, WAY, author_ops, quatd, vec3d};
use super::sampling::{Samples, Tolerated, angle, sample_times};
use super::skeletons::SkeletonPlan;
use crate::error::Result;
use crate::usd::read::values::matrix4d;
use sinew_animate::asset::{Asset, LocalTransform, Trs};

/// A node that becomes an Xform.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownNode {
    pub node: usize,
    /// Skeleton and joint that it stands at or below.
    pub follows: Option<(usize, usize)>,
}

/// All nodes that become Xforms, parents before their children.
pub(super) fn shown_nodes(
    asset: &Asset,
    hierarchy: &Hierarchy,
    plans: &[SkeletonPlan],
    uses: &[MeshUse],
) -> Vec<ShownNode> {
    let homes = Homes::new(plans);
    let mut free = HashSet::new();
    let mut bound = HashSet::new();
    for at in uses {
        match at.place {
            Place::Free => free.insert(at.node),
            Place::Skinned { .. } | Place::Carried { .. } => bound.insert(at.node),
        };
    }
    let is_wanted = |n: &usize| {
        let node = &asset.nodes[*n];
        let shows = node.camera.is_some() || node.light.is_some() || free.contains(n);
        let is_plain = !homes.joints.contains_key(n) && !bound.contains(n);
        hierarchy.is_live[*n] && (shows || is_plain)
    };
    let wanted = (0..asset.nodes.len()).filter(is_wanted);
    let mut needed = HashSet::new();
    for node in wanted.chain(plans.iter().filter_map(|p| p.above)) {
        for above in asset.chain(node) {
            // Joints stand for themselves, but for the cameras and lights that they show.
            let is_joint = homes.joints.contains_key(&above);
            let is_new = (!is_joint || above == node) && needed.insert(above);
            if is_joint || !is_new {
                break;
            }
        }
    }
    let order = hierarchy.order.iter().copied();
    let shown = order.filter(|n| needed.contains(n)).map(|node| {
        let joint = |n: usize| homes.joints.get(&n).copied();
        let parent = asset.nodes[node].parent;
        ShownNode {
            node,
            follows: joint(node).or_else(|| joint(parent?)),
        }
    });
    shown.collect()
}

/// A node's transform over time, relative to a node some levels above it.
pub(super) struct Follower<'a> {
    pub asset: &'a Asset,
    pub node: usize,
    /// The node that its prim's parent stands for.
    pub above: Option<usize>,
    pub clip: Option<&'a CodedClip>,
    /// The size of the scene.
    pub size: f64,
}

/// Halvings of the time between two keys.
const MAX_HALVINGS: u32 = 6;

/// Samples of one follower.
const MAX_SAMPLES: usize = 1 << 16;

impl Follower<'_> {
    fn chain(&self) -> impl Iterator<Item = usize> + '_ {
        let above = self.above;
        self.asset
            .chain(self.node)
            .take_while(move |n| Some(*n) != above)
    }

    /// above_from_node; at rest without a time.
    fn matrix(&self, time: Option<f64>) -> DMat4 {
        self.chain().fold(DMat4::IDENTITY, |m, n| {
            let local = &self.asset.nodes[n].local;
            let (Some(clip), Some(time)) = (self.clip, time) else {
                return local.matrix() * m;
            };
            let curves = (
                clip.translations.get(&n),
                clip.rotations.get(&n),
                clip.scales.get(&n),
            );
            if matches!(curves, (None, None, None)) {
                return local.matrix() * m;
            }
            let rest = local.trs();
            let (t, r, s) = curves;
            let trs = Trs {
                translation: t.and_then(|c| c.vector(time)).unwrap_or(rest.translation),
                rotation: r.and_then(|c| c.rotation(time)).unwrap_or(rest.rotation),
                scale: s.and_then(|c| c.vector(time)).unwrap_or(rest.scale),
            };
            trs.matrix() * m
        })
    }

    /// Time codes at which it has to be sampled; none where nothing above it moves.
    fn times(&self) -> Vec<f64> {
        let Some(clip) = self.clip else {
            return Vec::new();
        };
        let curves = self.chain().flat_map(|n| {
            [
                clip.translations.get(&n).map(|c| (c, WAY * self.size)),
                clip.rotations.get(&n).map(|c| (c, ANGLE)),
                clip.scales.get(&n).map(|c| (c, WAY)),
            ]
        });
        let curves: Vec<Tolerated<'_>> = curves.flatten().collect();
        if curves.is_empty() {
            return Vec::new();
        }
        let (keys, _) = sample_times(&curves, 1, &clip.keys);
        let mut times = keys.clone();
        let mut open: Vec<_> = keys.windows(2).map(|w| (w[0], w[1], 0)).collect();
        while let Some((a, b, halvings)) = open.pop() {
            let is_full = times.len() > MAX_SAMPLES;
            if is_full || halvings == MAX_HALVINGS || !self.strays(a, b) {
                continue;
            }
            let middle = 0.5 * (a + b);
            times.push(middle);
            open.push((a, middle, halvings + 1));
            open.push((middle, b, halvings + 1));
        }
        times.sort_by(f64::total_cmp);
        times
    }

    /// Whether the straight way between two times is too far off.
    fn strays(&self, a: f64, b: f64) -> bool {
        let [from, to, middle] =
            [a, b, 0.5 * (a + b)].map(|t| Trs::from_matrix(&self.matrix(Some(t))));
        let way = middle
            .translation
            .distance(from.translation.lerp(to.translation, 0.5));
        let turn = angle(middle.rotation, from.rotation.slerp(to.rotation, 0.5));
        let grown = middle.scale.distance(from.scale.lerp(to.scale, 0.5));
        way > WAY * self.size || turn > ANGLE || grown > WAY
    }

    /// Authors the xformOps of its prim.
    pub fn author(&self, layer: &mut LayerBuilder, prim: PrimId) -> Result<()> {
        let sample = |t: f64| (t, self.matrix(Some(t)));
        let samples = self.times().into_iter().map(sample).collect();
        let samples = Samples::new(samples, || self.matrix(None));
        let split = |m: &DMat4| components(&LocalTransform::Matrix(*m));
        let parts: Option<Vec<(f64, Trs)>> = match &samples {
            Samples::Constant(m) => split(m).map(|trs| vec![(0.0, trs)]),
            Samples::Varying(v) => v.iter().map(|(t, m)| Some((*t, split(m)?))).collect(),
        };
        let Some(mut parts) = parts else {
            let samples = samples.map(matrix4d);
            return author_ops(layer, prim, vec![("xformOp:transform", samples)]);
        };
        let mut last = DQuat::IDENTITY;
        for (_, trs) in &mut parts {
            if trs.rotation.dot(last) < 0.0 {
                trs.rotation = -trs.rotation;
            }
            last = trs.rotation;
        }
        let samples = |of: &dyn Fn(&Trs) -> Value| {
            let values = parts.iter().map(|(t, trs)| (*t, of(trs))).collect();
            Samples::new(values, || of(&Trs::IDENTITY))
        };
        let mut ops = vec![
            ("xformOp:translate", samples(&|trs| vec3d(trs.translation))),
            ("xformOp:orient", samples(&|trs| quatd(trs.rotation))),
        ];
        let is_scaled = |scale: DVec3| (scale - DVec3::ONE).abs().max_element() > 1e-9;
        if parts.iter().any(|(_, trs)| is_scaled(trs.scale)) {
            ops.push(("xformOp:scale", samples(&|trs| vec3d(trs.scale))));
        }
        author_ops(layer, prim, ops)
    }
}

/// Prims of nodes, and the scopes of sockets.
#[derive(Default)]
pub(super) struct Xforms {
    pub prims: HashMap<usize, PrimId>,
    /// Prims that follow a Skeleton, by its index.
    pub followers: Vec<(PrimId, usize)>,
    /// By the node that the Skeleton hangs below.
    pub sockets: HashMap<Option<usize>, PrimId>,
}
