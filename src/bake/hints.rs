//! extentsHint of the prims above baked ones, as Pixar's bake and UsdGeomModelAPI::ComputeExtentsHint
//! have it (rule 32).
//!
//! For each purpose a hint holds the bounding box of everything below its prim, in that prim's own
//! space, as it stands after the bake. Boxes are united where UsdGeomBBoxCache unites them: in the space
//! of the nearest component or subcomponent above, or of the world where there is none, and then
//! brought along as boxes. So a hint equals Pixar's, and on a group that stands turned in the world it is as
//! much too large as Pixar's.
//!
//! We differ on purpose in four things. Prims that are no models get their hint too, as a hint that
//! is there would otherwise be wrong; its boxes are united in the prim's own space, where it is tight.
//! A hint is also sampled where something else below its prim moves. A baked prim counts below a prim
//! with an extent of its own (a mesh below its Skeleton, say), which Pixar prunes. Prims of native
//! instances are united one by one, which is tighter.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3};
use rayon::prelude::*;

use super::samples::thin_hint;
use super::{BakedPrim, Samples};
use crate::io::usd::BakedHint;
use crate::math;
use crate::sampled::{Interpolation, Lerp, Sampled, Time};
use crate::scene::{BoundsNode, Extent, HintedPrim, Purpose, Scene};
use crate::skel::utils::skeleton_extent;

/// The hints to write: of every prim that has one, with a baked prim at or below it.
///
/// `baked` is by index into [`Scene::bindings`], samples not thinned out yet, as their times are the
/// hints'; `retyped` are the SkelRoots that become Xforms and so have no extent of their own any more.
/// With `only_baked_times` nothing but those times is sampled; what `window` does not need is not.
pub(super) fn bake_hints(
    scene: &Scene,
    baked: &BTreeMap<usize, BakedPrim>,
    retyped: &[String],
    only_baked_times: bool,
    window: Window,
) -> Vec<BakedHint> {
    if scene.bounds.hints.is_empty() {
        return Vec::new();
    }
    let baked_stage = BakedStage::new(scene, baked, retyped);
    let mut out = Vec::new();
    for hint in &scene.bounds.hints {
        let model = Model::new(&baked_stage, hint);
        let mut times = model.times(only_baked_times);
        window.cut(&mut times);
        let still = model.still();
        let mut samples: Samples<Vec<Vec3>> = times
            .par_iter()
            .filter_map(|time| Some((*time, model.hint_at(*time, &still)?)))
            .collect();
        thin_hint(&mut samples);
        if !samples.is_empty() {
            out.push(BakedHint {
                path: scene.prims[model.nodes[0].prim].path.clone(),
                samples,
            });
        }
    }
    out
}

/// The prims that [`bake_hints`] has something to write of once `baked` are, both by index into [`Scene::prims`].
pub(super) fn hinted(scene: &Scene, baked: &HashSet<usize>) -> Vec<usize> {
    let nodes = &scene.bounds.nodes;
    let hints = scene.bounds.hints.iter().map(|h| h.node);
    let over_baked = hints.filter(|n| {
        let below = nodes[*n..nodes[*n].end].iter();
        below.into_iter().any(|node| baked.contains(&node.prim))
    });
    over_baked.map(|n| nodes[n].prim).collect()
}

/// A run of time codes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    pub from: f64,
    pub to: f64,
}

impl Window {
    pub const ALL: Self = Self {
        from: f64::NEG_INFINITY,
        to: f64::INFINITY,
    };

    /// Leaves of ascending times those that values in the window depend on: the ones inside, and the nearest on either
    /// side where none is at its edge.
    fn cut(self, times: &mut Vec<Time>) {
        let last_before = times
            .iter()
            .rposition(|t| t.code().is_some_and(|t| t <= self.from));
        let first_after = times
            .iter()
            .position(|t| t.code().is_some_and(|t| t >= self.to));
        let (first, last) = (last_before.unwrap_or(0), first_after.unwrap_or(usize::MAX));
        let mut i = 0;
        times.retain(|t| {
            i += 1;
            t.code().is_none() || (first..=last).contains(&(i - 1))
        });
    }
}

/// The stage as it will be once the bake is written.
struct BakedStage<'a> {
    scene: &'a Scene,
    /// What is baked, by index into [`Scene::prims`]; prims of instances that come out the same share it.
    baked: HashMap<usize, Arc<Baked>>,
    retyped: HashSet<usize>,
}

struct Baked {
    times: Vec<Time>,
    extent: Sampled<Vec<Vec3>>,
    transform: Option<(bool, Sampled<DMat4>)>,
}

impl<'a> BakedStage<'a> {
    fn new(scene: &'a Scene, baked: &BTreeMap<usize, BakedPrim>, retyped: &[String]) -> Self {
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
        let retyped: HashSet<&str> = retyped.iter().map(String::as_str).collect();
        let roots = scene.skel_roots.iter();
        Self {
            scene,
            baked: all,
            retyped: roots
                .filter(|r| retyped.contains(r.path.as_str()))
                .map(|r| r.prim)
                .collect(),
        }
    }

    /// parent_from_prim, and whether it is world_from_prim instead.
    fn local(&self, prim: usize, time: Time) -> (DMat4, bool) {
        match self.baked.get(&prim).and_then(|b| b.transform.as_ref()) {
            // An op without a value is identity, and the prim's own ops are gone.
            Some((resets, m)) => (m.at(time).map_or(DMat4::IDENTITY, |m| *m), *resets),
            None => {
                let xform = &self.scene.prims[prim].xform;
                (xform.local(time), xform.resets)
            }
        }
    }

    /// space_from_prim, where `space` is an ancestor of the prim or the prim itself, or the world.
    fn space_from_prim(&self, space: Option<usize>, prim: usize, time: Time) -> Option<DMat4> {
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

    /// The extent that stands for a prim and all below it; `None` for a mere group.
    fn boundable<'n>(&self, node: &'n BoundsNode) -> Option<&'n Extent> {
        let extent = node.extent.as_ref();
        extent.filter(|_| !self.retyped.contains(&node.prim))
    }

    /// Corners of a prim's own extent, in its own space.
    fn extent(&self, node: &BoundsNode, time: Time) -> Option<[DVec3; 2]> {
        let own = self.boundable(node)?;
        let baked = self.baked.get(&node.prim);
        if let Some(corners) = baked.and_then(|b| b.extent.at(time)) {
            return two_corners(&corners);
        }
        match own {
            Extent::Corners(corners) => two_corners(&corners.at(time)?),
            Extent::Joints(skeleton) => {
                let corners = skeleton_extent(skeleton, time, None).ok().flatten()?;
                two_corners(&corners)
            }
            Extent::Unknown => None,
        }
    }

    /// Whether something about the prim itself depends on the time.
    fn changes(&self, node: &BoundsNode) -> bool {
        let xform = &self.scene.prims[node.prim].xform;
        self.baked.contains_key(&node.prim)
            || xform.resets
            || matches!(node.extent, Some(Extent::Joints(_)))
            || self.own_times(node).next().is_some()
    }

    /// Authored times of the prim's own transform, visibility and extent.
    fn own_times(&self, node: &'a BoundsNode) -> impl Iterator<Item = f64> + 'a {
        let extent = match &node.extent {
            Some(Extent::Corners(corners)) if !self.baked.contains_key(&node.prim) => Some(corners),
            _ => None,
        };
        let joints = match &node.extent {
            Some(Extent::Joints(skeleton)) => skeleton.animation(),
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

/// As a reader sees written samples.
fn sampled<T, U>(samples: &Samples<T>, f: impl Fn(&T) -> U) -> Sampled<U>
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

fn two_corners(corners: &[Vec3]) -> Option<[DVec3; 2]> {
    let [low, high] = <[Vec3; 2]>::try_from(corners).ok()?;
    (low.is_finite() && high.is_finite()).then(|| [low.as_dvec3(), high.as_dvec3()])
}

/// A prim with a hint and what lies below it.
struct Model<'a> {
    stage: &'a BakedStage<'a>,
    hint: &'a HintedPrim,
    /// The prim itself and all below it, depth first.
    nodes: &'a [BoundsNode],
    /// Per node: whether its box depends on the time.
    moving: Vec<bool>,
    /// Per node: whether some box at or below it does.
    live: Vec<bool>,
    /// Spaces in which boxes are united: the hint's own, then one per component below.
    spaces: Vec<Space>,
    /// Per node: the space that what lies below it is united in.
    inner: Vec<usize>,
}

struct Space {
    /// The component's index into [`Model::nodes`].
    node: usize,
    /// Index of the space around it.
    parent: usize,
}

/// Boxes per space, and how the spaces lie in each other.
#[derive(Clone)]
struct Boxes {
    ranges: Vec<[Range; Purpose::COUNT]>,
    parent_from_space: Vec<DMat4>,
}

/// Which boxes are collected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    Still,
    Moving,
}

impl<'a> Model<'a> {
    fn new(stage: &'a BakedStage<'a>, hint: &'a HintedPrim) -> Self {
        let all = &stage.scene.bounds.nodes;
        let nodes = &all[hint.node..all[hint.node].end];
        let mut out = Self {
            stage,
            hint,
            nodes,
            moving: Vec::with_capacity(nodes.len()),
            live: Vec::new(),
            spaces: vec![Space { node: 0, parent: 0 }],
            inner: Vec::with_capacity(nodes.len()),
        };
        for (i, node) in nodes.iter().enumerate() {
            let above = out.parent(i);
            let moving = match above {
                Some(p) => out.moving[p] || stage.changes(node),
                None => !out.space_times().is_empty() || stage.changes(node),
            };
            out.moving.push(moving);
            let around = above.map_or(0, |p| out.inner[p]);
            if i > 0 && node.component {
                out.inner.push(out.spaces.len());
                out.spaces.push(Space {
                    node: i,
                    parent: around,
                });
            } else {
                out.inner.push(around);
            }
        }
        out.live = out.moving.clone();
        for i in (1..nodes.len()).rev() {
            if let Some(parent) = out.parent(i) {
                out.live[parent] |= out.live[i];
            }
        }
        out
    }

    /// Index into [`Model::nodes`].
    fn parent(&self, node: usize) -> Option<usize> {
        match node {
            0 => None,
            _ => Some(self.nodes[node].parent? - self.hint.node),
        }
    }

    /// Times of the transforms between the prim and the space that its boxes are united in.
    fn space_times(&self) -> Vec<f64> {
        let prim = self.nodes[0].prim;
        match self.hint.space == Some(prim) {
            true => Vec::new(),
            // Beyond that space they cancel out, but for a reset in between.
            false => self.stage.scene.transform_times(prim),
        }
    }

    /// All times of the baked prims below, and all others at which a box below changes; none where
    /// nothing below was baked.
    fn times(&self, only_baked_times: bool) -> Vec<Time> {
        let baked = self
            .nodes
            .iter()
            .filter_map(|n| self.stage.baked.get(&n.prim));
        let mut times: Vec<Time> = baked.flat_map(|b| b.times.iter().copied()).collect();
        if times.is_empty() {
            return times;
        }
        if !only_baked_times {
            let own = self.nodes.iter().flat_map(|n| self.stage.own_times(n));
            let others = own.chain(self.space_times()).filter(|t| t.is_finite());
            times.extend(others.map(Time::At));
        }
        let key = |t: &Time| t.code().unwrap_or(f64::NEG_INFINITY);
        times.sort_by(|a, b| key(a).total_cmp(&key(b)));
        times.dedup();
        times
    }

    fn empty(&self) -> Boxes {
        Boxes {
            ranges: vec![[Range::EMPTY; Purpose::COUNT]; self.spaces.len()],
            parent_from_space: vec![DMat4::IDENTITY; self.spaces.len()],
        }
    }

    /// The boxes that are the same at all time codes.
    fn still(&self) -> Boxes {
        let mut boxes = self.empty();
        if !self.moving[0] {
            // Nothing that is still needs an inverse.
            let _ = self.collect(Time::At(0.0), Part::Still, &mut boxes);
        }
        boxes
    }

    /// The hint at a time; `None` where a transform that has to be inverted is singular.
    fn hint_at(&self, time: Time, still: &Boxes) -> Option<Vec<Vec3>> {
        let mut boxes;
        if time == Time::Default {
            boxes = self.empty();
            self.collect(time, Part::All, &mut boxes)?;
        } else {
            boxes = still.clone();
            self.collect(time, Part::Moving, &mut boxes)?;
        }
        for s in (1..self.spaces.len()).rev() {
            let inside = boxes.ranges[s];
            let around = &mut boxes.ranges[self.spaces[s].parent];
            for (around, inside) in around.iter_mut().zip(inside) {
                around.add_box(inside, boxes.parent_from_space[s]);
            }
        }
        let prim = self.nodes[0].prim;
        let space_from_prim = self.stage.space_from_prim(self.hint.space, prim, time)?;
        let prim_from_space = math::try_inverse(space_from_prim)?;
        let ranges = boxes.ranges[0].map(|range| {
            let mut out = Range::EMPTY;
            out.add_box(range, prim_from_space);
            out
        });
        let used = ranges.iter().rposition(|r| !r.is_empty()).unwrap_or(0) + 1;
        Some(ranges[..used].iter().flat_map(Range::corners).collect())
    }

    /// Unites the boxes of a part of the nodes, each in its own space.
    fn collect(&self, time: Time, part: Part, boxes: &mut Boxes) -> Option<()> {
        let mut inner_from_node = vec![DMat4::IDENTITY; self.nodes.len()];
        let mut covered = vec![false; self.nodes.len()];
        let mut i = 0;
        while i < self.nodes.len() {
            let node = &self.nodes[i];
            let skip = match part {
                Part::All => false,
                Part::Still => self.moving[i],
                Part::Moving => !self.live[i],
            };
            // Its own visibility does not count against a prim's own hint.
            let invisible = i > 0 && node.invisible.at(time).is_some_and(|invisible| *invisible);
            if skip || invisible {
                i = node.end - self.hint.node;
                continue;
            }
            let parent = self.parent(i);
            let around_from_node = match parent {
                None => self
                    .stage
                    .space_from_prim(self.hint.space, node.prim, time)?,
                Some(p) => match self.stage.local(node.prim, time) {
                    (local, false) => inner_from_node[p] * local,
                    (world_from_node, true) => {
                        let around = match self.inner[p] {
                            0 => self.hint.space,
                            s => Some(self.nodes[self.spaces[s].node].prim),
                        };
                        match around {
                            Some(a) => {
                                let world_from_around =
                                    self.stage.space_from_prim(None, a, time)?;
                                math::try_inverse(world_from_around)? * world_from_node
                            }
                            None => world_from_node,
                        }
                    }
                },
            };
            if i > 0 && node.component {
                boxes.parent_from_space[self.inner[i]] = around_from_node;
            } else {
                inner_from_node[i] = around_from_node;
            }
            let below_extent = parent.is_some_and(|p| covered[p]);
            let extent = self.stage.extent(node, time);
            covered[i] = below_extent || self.stage.boundable(node).is_some();
            let counts = part != Part::Moving || self.moving[i];
            let seen = !below_extent || self.stage.baked.contains_key(&node.prim);
            if let (Some([low, high]), Some(purpose)) = (extent, node.purpose)
                && counts
                && seen
            {
                boxes.ranges[self.inner[i]][purpose as usize]
                    .add_box(Range { low, high }, inner_from_node[i]);
            }
            i += 1;
        }
        Some(())
    }
}

/// A box along the axes.
#[derive(Clone, Copy, Debug)]
struct Range {
    low: DVec3,
    high: DVec3,
}

impl Range {
    const EMPTY: Self = Self {
        low: DVec3::INFINITY,
        high: DVec3::NEG_INFINITY,
    };

    fn is_empty(&self) -> bool {
        self.low.cmpgt(self.high).any()
    }

    fn add(&mut self, p: DVec3) {
        self.low = self.low.min(p);
        self.high = self.high.max(p);
    }

    /// Encloses another box, turned as `m` says. One that is empty or overflows adds nothing.
    fn add_box(&mut self, other: Self, m: DMat4) {
        if other.is_empty() {
            return;
        }
        let pick = |i: usize| [other.low, other.high][i];
        let corners: [DVec3; 8] = std::array::from_fn(|i| {
            let corner = DVec3::new(pick(i & 1).x, pick(i >> 1 & 1).y, pick(i >> 2).z);
            m.transform_point3(corner)
        });
        if corners.iter().all(|c| c.is_finite()) {
            corners.iter().for_each(|c| self.add(*c));
        }
    }

    /// As an extentsHint holds it, an empty range as GfRange3f has it.
    fn corners(&self) -> [Vec3; 2] {
        match self.is_empty() {
            true => [Vec3::MAX, Vec3::MIN],
            false => [self.low.as_vec3(), self.high.as_vec3()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_keeps_what_its_values_depend_on() {
        let cut = |from, to| {
            let mut times = vec![Time::Default];
            times.extend([1.0, 2.0, 3.0, 5.0, 8.0].map(Time::At));
            Window { from, to }.cut(&mut times);
            times
                .iter()
                .map(|t| t.code().unwrap_or(-1.0))
                .collect::<Vec<_>>()
        };
        assert_eq!(cut(2.0, 3.0), [-1.0, 2.0, 3.0]);
        assert_eq!(cut(4.0, 6.0), [-1.0, 3.0, 5.0, 8.0]);
        assert_eq!(cut(f64::NEG_INFINITY, 1.5), [-1.0, 1.0, 2.0]);
        assert_eq!(cut(0.0, 0.5), [-1.0, 1.0]);
        assert_eq!(cut(9.0, f64::INFINITY), [-1.0, 8.0]);
        assert_eq!(cut(f64::NEG_INFINITY, f64::INFINITY).len(), 6);
    }
}
