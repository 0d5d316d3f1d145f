//! The transforms and the visibility of drawn prims and cameras, over time.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use glam::DMat4;

use super::{OutSpace, Scene, SkinBinding, XformStack};
use crate::math::is_finite;
use crate::sampled::{Sampled, Time};

/// A prim that joints move as a whole (rule 28), and with it everything below it: the transform by
/// which a bake replaces that of the prim.
#[derive(Clone, Debug)]
pub struct Carrier {
    all: Arc<Carriers>,
    /// Index into the bindings of the carriers' scene.
    carried: usize,
    binding: usize,
}

/// What the carriers of a scene share.
#[derive(Debug)]
struct Carriers {
    /// Of the scene only what carriers need, for as long as something is placed by them.
    scene: Scene,
    /// Many prims hang on one Skeleton.
    poses: Mutex<Poses>,
}

/// Skinning transforms by Skeleton, as an index into [`Scene::instances`], and the bits of the time.
type Poses = HashMap<(usize, Option<u64>), Arc<Vec<DMat4>>>;

/// So many matrices are kept, which are 64 MiB. With more, all are computed anew.
const MOST_MATRICES: usize = 1 << 19;

impl Carrier {
    /// Index into [`Scene::bindings`] of the scene that it is of.
    #[must_use]
    pub fn binding(&self) -> usize {
        self.binding
    }

    /// The transform from the prim's space to its parent's; `None` where the prim cannot be skinned
    /// and so keeps its own.
    #[must_use]
    pub fn local(&self, time: Time) -> Option<DMat4> {
        let bound = self.all.scene.bound(self.carried);
        let instance = bound.binding().instance;
        let key = (instance, time.code().map(f64::to_bits));
        let mut cache = self.all.scene.at(time, OutSpace::Prim);
        let poses = || {
            self.all
                .poses
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let known = poses().get(&key).cloned();
        match known {
            Some(skinning) => cache.set_skinning(instance, skinning),
            None => {
                let skinning = cache.skinning(bound).ok()?;
                let mut poses = poses();
                if poses.len() * skinning.len() >= MOST_MATRICES {
                    poses.clear();
                }
                poses.insert(key, skinning);
            }
        }
        cache.rigid_transform(bound).ok().filter(is_finite)
    }

    /// Every authored time at which it may change, unsorted.
    #[must_use]
    pub fn times(&self) -> Vec<f64> {
        let scene = &self.all.scene;
        let bound = scene.bound(self.carried);
        let animation = bound.skeleton().instance.animation();
        let mut times: Vec<f64> = animation.iter().flat_map(|a| a.joint_times()).collect();
        times.extend(bound.binding().influence_times());
        times.extend(scene.transform_times(bound.binding().prim));
        times.extend(scene.transform_times(bound.skeleton().prim));
        times
    }
}

impl Scene {
    /// The prims that joints move as a whole, by path.
    #[must_use]
    pub fn carriers(&self) -> BTreeMap<String, Carrier> {
        let bindings = self.bindings.iter().enumerate();
        let (of, bindings): (Vec<usize>, Vec<SkinBinding>) = bindings
            .filter(|(_, b)| b.is_rigid() && b.unsupported.is_none())
            .map(|(index, b)| (index, b.as_carrier()))
            .unzip();
        if bindings.is_empty() {
            return BTreeMap::new();
        }
        let mut scene = Self::new(&self.file, self.time_line);
        scene.prims.clone_from(&self.prims);
        scene.instances.clone_from(&self.instances);
        scene.bindings = bindings;
        let all = Arc::new(Carriers {
            scene,
            poses: Mutex::default(),
        });
        let carrier = |(carried, binding): (usize, usize)| {
            let path = self.bindings[binding].path.clone();
            let all = all.clone();
            (
                path,
                Carrier {
                    all,
                    carried,
                    binding,
                },
            )
        };
        of.into_iter().enumerate().map(carrier).collect()
    }
}

/// A drawn prim, a camera, or an ancestor of these.
#[derive(Clone, Debug, Default)]
pub struct PlacedPrim {
    pub path: String,
    /// Index of the parent; it is less than that of this prim.
    pub parent: Option<usize>,
    /// Its own transform, from prim space to the parent's space.
    pub xform: XformStack,
    /// What moves it in place of `xform`, for everything below it.
    pub carrier: Option<Carrier>,
    /// Whether the visibility of the prim itself is `invisible`. Prims below are then invisible
    /// too.
    pub invisible: Sampled<bool>,
}

/// One prim of a hierarchy that many placements share. It computes the prim's transform and
/// visibility.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    prims: Arc<[PlacedPrim]>,
    prim: usize,
}

impl Placement {
    /// The placement of `prims[prim]`. Parents must come before their children. If there is no such
    /// prim, the placement is the origin of the world.
    #[must_use]
    pub fn new(prims: Arc<[PlacedPrim]>, prim: usize) -> Self {
        Self { prims, prim }
    }

    /// The prims of the hierarchy, parents before their children, and the index of this prim.
    #[must_use]
    pub fn hierarchy(&self) -> (&[PlacedPrim], usize) {
        (&self.prims, self.prim)
    }

    /// The transform from prim space to the world at a time, in stage units
    /// (UsdGeomXformable::ComputeLocalToWorldTransform).
    #[must_use]
    pub fn world_from_prim(&self, time: Time) -> DMat4 {
        let prim = self.prims.get(self.prim);
        let own = prim.map_or(DMat4::IDENTITY, |p| p.xform.local(time));
        self.world_from_parent(time) * own
    }

    /// Whether the prim and all its ancestors are visible (UsdGeomImageable::ComputeVisibility).
    #[must_use]
    pub fn is_visible(&self, time: Time) -> bool {
        self.chain()
            .all(|p| p.invisible.at(time).is_none_or(|invisible| !*invisible))
    }

    /// Whether the prim and its ancestors up to `root` are visible; all of them without a root.
    pub(super) fn is_visible_below(&self, root: Option<&Self>, time: Time) -> bool {
        let mut done = false;
        let mut chain = self.indices().take_while(|i| {
            let counts = !done;
            done |= root.is_some_and(|root| root.prim == *i);
            counts
        });
        chain.all(|i| {
            let invisible = self.prims[i].invisible.at(time);
            invisible.is_none_or(|invisible| !*invisible)
        })
    }

    /// The transform from the space of the prim's parent to the world; the identity if the prim
    /// resets the transform stack or has no parent.
    pub(super) fn world_from_parent(&self, time: Time) -> DMat4 {
        let local = |p: &PlacedPrim| {
            let carried = p.carrier.as_ref().and_then(|c| c.local(time));
            carried.unwrap_or_else(|| p.xform.local(time))
        };
        let above = self.moving().skip(1);
        above.fold(DMat4::IDENTITY, |m, p| local(p) * m)
    }

    /// Every authored time of transforms and visibility, unsorted.
    #[must_use]
    pub fn times(&self) -> Vec<f64> {
        let moves = self.moving().flat_map(|p| p.xform.times());
        let carriers = self.moving().skip(1).filter_map(|p| p.carrier.as_ref());
        moves
            .chain(carriers.flat_map(Carrier::times))
            .chain(self.chain().flat_map(|p| p.invisible.times()))
            .collect()
    }

    /// Indices of the prim and its ancestors, the nearest first.
    fn indices(&self) -> impl Iterator<Item = usize> {
        let first = Some(self.prim).filter(|i| *i < self.prims.len());
        std::iter::successors(first, |i| self.prims[*i].parent)
    }

    /// The prim and its ancestors, the nearest first.
    fn chain(&self) -> impl Iterator<Item = &PlacedPrim> {
        let above = |p: &&PlacedPrim| self.prims.get(p.parent?);
        std::iter::successors(self.prims.get(self.prim), above)
    }

    /// The prim and those of its ancestors whose transforms apply, the nearest first: up to one that
    /// resets the transform stack.
    pub fn moving(&self) -> impl Iterator<Item = &PlacedPrim> {
        self.chain().scan(false, |done, p| {
            let counts = !std::mem::replace(done, p.xform.resets);
            counts.then_some(p)
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::sampled::Interpolation;
    use crate::scene::{OpKind, OpValue, XformOp};

    fn moved(path: &str, parent: Option<usize>, x: f64) -> PlacedPrim {
        let name = "xformOp:translate".to_owned();
        let value = OpValue::Vec3(Sampled::constant(DVec3::X * x));
        let ops = vec![XformOp {
            kind: OpKind::Translate,
            name,
            invert: false,
            value,
        }];
        PlacedPrim {
            path: path.into(),
            parent,
            xform: XformStack { ops, resets: false },
            ..PlacedPrim::default()
        }
    }

    #[test]
    fn transforms_multiply_up_to_one_that_resets() {
        let mut prims = vec![
            moved("/A", None, 1.0),
            moved("/A/B", Some(0), 10.0),
            moved("/A/B/C", Some(1), 100.0),
        ];
        let x = |prims: &[PlacedPrim]| {
            let place = Placement::new(prims.into(), 2);
            place.world_from_prim(Time::Default).w_axis.x
        };
        assert_eq!(x(&prims), 111.0);
        prims[1].xform.resets = true;
        assert_eq!(x(&prims), 110.0);
    }

    #[test]
    fn what_is_below_something_invisible_is_not_seen() {
        let mut prims = vec![moved("/A", None, 0.0), moved("/A/B", Some(0), 0.0)];
        let blink = vec![(1.0, Some(false)), (2.0, Some(true)), (3.0, None)];
        prims[0].invisible = Sampled::new(None, blink, Interpolation::Linear);
        let place = Placement::new(prims.into(), 1);
        let seen = [1.0, 1.9, 2.0, 2.9, 3.0].map(|t| place.is_visible(Time::At(t)));
        assert_eq!(seen, [true, true, false, false, true]);
        assert!(place.is_visible(Time::Default));
        assert!(
            Placement::default().is_visible(Time::Default),
            "no place at all"
        );
    }
}
