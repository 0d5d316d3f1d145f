//! A prim with a hint: the prims below it, and their united boxes.

use glam::{DMat4, DVec3, Vec3};

use super::stage::BakedStage;
use sinew::math;
use sinew::sampled::Time;
use sinew::scene::{BoundsNode, HintedPrim, Purpose};

/// A prim with a hint and the prims below it.
pub(super) struct Model<'a> {
    pub(super) stage: &'a BakedStage<'a>,
    pub(super) hint: &'a HintedPrim,
    /// The prim itself and all prims below it, depth first.
    pub(super) nodes: &'a [BoundsNode],
    /// Per node: whether its box changes over time.
    pub(super) moving: Vec<bool>,
    /// Per node: whether a box at or below it changes over time.
    pub(super) live: Vec<bool>,
    /// Spaces in which boxes are united: that of the hint, then one per component below.
    pub(super) spaces: Vec<Space>,
    /// Per node: the space in which boxes below it are united.
    pub(super) inner: Vec<usize>,
}

pub(super) struct Space {
    /// The component's index into [`Model::nodes`].
    pub(super) node: usize,
    /// Index of the outer space.
    pub(super) parent: usize,
}

/// The boxes of each space, and the transforms between spaces.
#[derive(Clone)]
pub(super) struct Boxes {
    pub(super) ranges: Vec<[Range; Purpose::COUNT]>,
    pub(super) parent_from_space: Vec<DMat4>,
}

/// Which boxes are collected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    All,
    Still,
    Moving,
}

impl<'a> Model<'a> {
    pub(super) fn new(stage: &'a BakedStage<'a>, hint: &'a HintedPrim) -> Self {
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
    pub(super) fn parent(&self, node: usize) -> Option<usize> {
        match node {
            0 => None,
            _ => Some(self.nodes[node].parent? - self.hint.node),
        }
    }

    /// Times of the transforms between the prim and the space that its boxes are united in.
    pub(super) fn space_times(&self) -> Vec<f64> {
        let prim = self.nodes[0].prim;
        match self.hint.space == Some(prim) {
            true => Vec::new(),
            // Outside that space transforms cancel out, unless there is a reset in between.
            false => self.stage.scene.transform_times(prim),
        }
    }

    /// All times of the baked prims below, and all other times at which a box below changes. Empty
    /// if no prim below was baked.
    pub(super) fn times(&self, only_baked_times: bool) -> Vec<Time> {
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

    pub(super) fn empty(&self) -> Boxes {
        Boxes {
            ranges: vec![[Range::EMPTY; Purpose::COUNT]; self.spaces.len()],
            parent_from_space: vec![DMat4::IDENTITY; self.spaces.len()],
        }
    }

    /// The boxes that do not change over time.
    pub(super) fn still(&self) -> Boxes {
        let mut boxes = self.empty();
        if !self.moving[0] {
            // A box that does not move needs no inverse.
            let _ = self.collect(Time::At(0.0), Part::Still, &mut boxes);
        }
        boxes
    }

    /// The hint at a time; `None` if a transform that has to be inverted is singular.
    pub(super) fn hint_at(&self, time: Time, still: &Boxes) -> Option<Vec<Vec3>> {
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

    /// Unites the boxes of some of the nodes, each in its own space.
    pub(super) fn collect(&self, time: Time, part: Part, boxes: &mut Boxes) -> Option<()> {
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
            // The visibility of a prim does not matter for its own hint.
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

/// An axis-aligned box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) low: DVec3,
    pub(super) high: DVec3,
}

impl Range {
    const EMPTY: Self = Self {
        low: DVec3::INFINITY,
        high: DVec3::NEG_INFINITY,
    };

    pub(super) fn is_empty(&self) -> bool {
        self.low.cmpgt(self.high).any()
    }

    pub(super) fn add(&mut self, p: DVec3) {
        self.low = self.low.min(p);
        self.high = self.high.max(p);
    }

    /// Extends the box by another one that is transformed by `m`. A box that is empty or overflows
    /// adds nothing.
    pub(super) fn add_box(&mut self, other: Self, m: DMat4) {
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

    /// The box as it is written in an extentsHint. An empty box is written like an empty GfRange3f.
    pub(super) fn corners(&self) -> [Vec3; 2] {
        match self.is_empty() {
            true => [Vec3::MAX, Vec3::MIN],
            false => [self.low.as_vec3(), self.high.as_vec3()],
        }
    }
}
