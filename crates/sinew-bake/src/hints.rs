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

mod model;
mod stage;

use std::collections::{BTreeMap, HashSet};

use glam::Vec3;
use rayon::prelude::*;

use model::Model;
use stage::BakedStage;

use super::samples::thin_hint;
use super::{BakedPrim, Samples};
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew_io::usd::BakedHint;

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
