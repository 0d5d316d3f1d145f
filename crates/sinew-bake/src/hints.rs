//! The extentsHint of prims above baked prims, as in Pixar's bake and
//! UsdGeomModelAPI::ComputeExtentsHint (rule 32).
//!
//! For each purpose a hint has the bounding box of everything below its prim after the bake, in
//! that prim's own space. Boxes are united in the same space as in UsdGeomBBoxCache: that of the
//! nearest component or subcomponent above, or the world if there is none. Then they are
//! transformed as boxes. So a hint equals Pixar's. On a group that is rotated in the world, both
//! are larger than necessary.
//!
//! There are four deliberate differences:
//!
//! - Prims that are not models get a hint too, because an existing hint would be wrong after the
//!   bake. Its boxes are united in the prim's own space, where it is tight.
//! - A hint also has samples at times when something else below its prim moves.
//! - A baked prim below a prim with its own extent is included, such as a mesh below its Skeleton.
//!   Pixar prunes it.
//! - Prims of native instances are united one by one, which is tighter.

mod model;
mod stage;

use std::collections::{BTreeMap, HashSet};

use glam::Vec3;
use rayon::prelude::*;

use model::Model;
use stage::BakedStage;

use crate::samples::thin_hint;
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew_io::usd::{BakedHint, BakedPrim, Samples};

/// The hints to write: one for every prim that has a hint and a baked prim at or below it.
///
/// `baked` is by index into [`Scene::bindings`]. Its samples are not thinned yet, because hints
/// have samples at the same times. `retyped` are the SkelRoots that become Xforms and have no
/// extent of their own any more. Skeletons that are bound to their animation at or below the
/// `unbound` SkelRoots lose it. With `only_baked_times`, only the times of `baked` are sampled.
/// Times outside `window` are sampled only if values in it depend on them.
pub(super) fn bake_hints(
    scene: &Scene,
    baked: &BTreeMap<usize, BakedPrim>,
    (retyped, unbound): (&[String], &[String]),
    only_baked_times: bool,
    window: Window,
) -> Vec<BakedHint> {
    if scene.bounds.hints.is_empty() {
        return Vec::new();
    }
    let baked_stage = BakedStage::new(scene, baked, retyped, unbound);
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

/// The prims with hints that [`bake_hints`] writes if the prims `baked` are baked. All are indices
/// into [`Scene::prims`].
pub(super) fn hinted(scene: &Scene, baked: &HashSet<usize>) -> Vec<usize> {
    let nodes = &scene.bounds.nodes;
    let hints = scene.bounds.hints.iter().map(|h| h.node);
    let over_baked = hints.filter(|n| {
        let below = nodes[*n..nodes[*n].end].iter();
        below.into_iter().any(|node| baked.contains(&node.prim))
    });
    over_baked.map(|n| nodes[n].prim).collect()
}

/// A range of time codes.
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

    /// Keeps only the ascending times that values in the window depend on: those inside, and the
    /// nearest on either side if there is none at the edge.
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
