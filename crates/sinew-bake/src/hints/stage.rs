//! The stage after the bake: the transforms and boxes of its prims.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3};

use crate::failed::is_below_any;
use sinew::math;
use sinew::sampled::{Interpolation, Lerp, Sampled, Time};
use sinew::scene::{BoundsNode, Extent, Scene};
use sinew::skel::SkeletonInstance;
use sinew::skel::utils::skeleton_extent;
use sinew_io::usd::{BakedPrim, Samples};

/// The stage after the bake is written.
pub(super) struct BakedStage<'a> {
    pub(super) scene: &'a Scene,
    /// The baked data, by index into [`Scene::prims`]. Instances with the same result share it.
    pub(super) baked: HashMap<usize, Arc<Baked>>,
    pub(super) retyped: HashSet<usize>,
    /// Skeletons that lose their animation with their bindings, by index into [`Scene::prims`].
    still: HashMap<usize, SkeletonInstance>,
}

pub(super) struct Baked {
    pub(super) times: Vec<Time>,
    pub(super) extent: Sampled<Vec<Vec3>>,
    pub(super) transform: Option<(bool, Sampled<DMat4>)>,
}

impl<'a> BakedStage<'a> {
    pub(super) fn new(
        scene: &'a Scene,
        baked: &BTreeMap<usize, BakedPrim>,
        retyped: &[String],
        unbound: &[String],
    ) -> Self {
        let bindings = scene.bindings.iter();
        let prim_at: HashMap<&str, usize> = bindings.map(|b| (b.path.as_str(), b.prim)).collect();
        let mut all = HashMap::new();
        for prim in baked.values() {
            let transform = prim.transform.as_ref();
            let moves = transform.iter().flat_map(|t| t.samples.iter().map(|s| s.0));
            let baked = Arc::new(Baked {
                times: prim.extent.iter().map(|s| s.0).chain(moves).collect(),
                extent: sampled(&prim.extent, |e| e.to_vec()),
                transform: transform.map(|t| (t.resets, sampled(&t.samples, |m| *m))),
            });
            let places = prim.places().filter_map(|path| prim_at.get(path));
            all.extend(places.map(|place| (*place, baked.clone())));
        }
        let unbound: HashSet<&str> = unbound.iter().map(String::as_str).collect();
        let mut still = HashMap::new();
        for node in &scene.bounds.nodes {
            if let Some(Extent::Joints {
                skeleton,
                bound_at: Some(at),
            }) = &node.extent
                && is_below_any(at, &unbound)
            {
                let skeleton = SkeletonInstance::new(skeleton.skeleton().clone(), None);
                still.insert(node.prim, skeleton);
            }
        }
        let retyped: HashSet<&str> = retyped.iter().map(String::as_str).collect();
        let roots = scene.skel_roots.iter();
        Self {
            scene,
            baked: all,
            still,
            retyped: roots
                .filter(|r| retyped.contains(r.path.as_str()))
                .map(|r| r.prim)
                .collect(),
        }
    }

    /// parent_from_prim, and whether it is world_from_prim instead.
    pub(super) fn local(&self, prim: usize, time: Time) -> (DMat4, bool) {
        match self.baked.get(&prim).and_then(|b| b.transform.as_ref()) {
            // An op without a value is the identity, and the prim's own ops are replaced.
            Some((resets, m)) => (m.at(time).map_or(DMat4::IDENTITY, |m| *m), *resets),
            None => {
                let xform = &self.scene.prims[prim].xform;
                (xform.local(time), xform.resets)
            }
        }
    }

    /// space_from_prim, where `space` is an ancestor of the prim or the prim itself, or the world.
    pub(super) fn space_from_prim(
        &self,
        space: Option<usize>,
        prim: usize,
        time: Time,
    ) -> Option<DMat4> {
        let (mut m, mut at) = (DMat4::IDENTITY, Some(prim));
        while let Some(i) = at.filter(|_| at != space) {
            let (local, resets) = self.local(i, time);
            m = local * m;
            if resets {
                let world_from_space = match space {
                    Some(space) => self.space_from_prim(None, space, time)?,
                    None => DMat4::IDENTITY,
                };
                return Some(math::try_inverse(world_from_space)? * m);
            }
            at = self.scene.prims[i].parent;
        }
        Some(m)
    }

    /// The extent of a prim and everything below it; `None` for a group.
    pub(super) fn boundable<'n>(&self, node: &'n BoundsNode) -> Option<&'n Extent> {
        let extent = node.extent.as_ref();
        extent.filter(|_| !self.retyped.contains(&node.prim))
    }

    /// The corners of a prim's own extent, in its own space.
    pub(super) fn extent(&self, node: &BoundsNode, time: Time) -> Option<[DVec3; 2]> {
        let own = self.boundable(node)?;
        let baked = self.baked.get(&node.prim);
        if let Some(corners) = baked.and_then(|b| b.extent.at(time)) {
            return two_corners(&corners);
        }
        match own {
            Extent::Corners(corners) => two_corners(&corners.at(time)?),
            Extent::Joints { skeleton, .. } => {
                let skeleton = self.still.get(&node.prim).unwrap_or(skeleton);
                let corners = skeleton_extent(skeleton, time, None).ok().flatten()?;
                two_corners(&corners)
            }
            Extent::Unknown => None,
        }
    }

    /// Whether the prim's own transform, visibility or extent changes over time.
    pub(super) fn changes(&self, node: &BoundsNode) -> bool {
        let xform = &self.scene.prims[node.prim].xform;
        self.baked.contains_key(&node.prim)
            || xform.resets
            || matches!(node.extent, Some(Extent::Joints { .. }))
            || self.own_times(node).next().is_some()
    }

    /// The authored times of the prim's own transform, visibility and extent.
    pub(super) fn own_times(&self, node: &'a BoundsNode) -> impl Iterator<Item = f64> + 'a {
        let extent = match &node.extent {
            Some(Extent::Corners(corners)) if !self.baked.contains_key(&node.prim) => Some(corners),
            _ => None,
        };
        let joints = match &node.extent {
            Some(Extent::Joints { skeleton, .. }) if !self.still.contains_key(&node.prim) => {
                skeleton.animation()
            }
            _ => None,
        };
        let xform = &self.scene.prims[node.prim].xform;
        let moved = self
            .baked
            .get(&node.prim)
            .is_some_and(|b| b.transform.is_some());
        let xform_times = match moved {
            true => Vec::new(),
            false => xform.times(),
        };
        xform_times
            .into_iter()
            .chain(node.invisible.times())
            .chain(extent.into_iter().flat_map(Sampled::times))
            .chain(joints.into_iter().flat_map(|a| a.joint_times()))
    }
}

/// The value of written samples at a time, as a reader computes it.
pub(super) fn sampled<T, U>(samples: &Samples<T>, f: impl Fn(&T) -> U) -> Sampled<U>
where
    U: Lerp,
{
    let mut default = None;
    let mut timed = Vec::with_capacity(samples.len());
    for (time, value) in samples {
        match time {
            Time::Default => default = Some(f(value)),
            Time::At(t) => timed.push((*t, Some(f(value)))),
        }
    }
    Sampled::new(default, timed, Interpolation::Linear)
}

pub(super) fn two_corners(corners: &[Vec3]) -> Option<[DVec3; 2]> {
    let [low, high] = <[Vec3; 2]>::try_from(corners).ok()?;
    (low.is_finite() && high.is_finite()).then(|| [low.as_dvec3(), high.as_dvec3()])
}
