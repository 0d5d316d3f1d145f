//! Extents of SkelRoots (UsdSkelRoot's compute-extent function, rule 33).

use std::collections::HashMap;

use glam::{DMat4, Vec3};

use super::{PlacedSkeleton, RestExtent, Scene};
use crate::error::Result;
use crate::sampled::Time;
use crate::skel::utils::{compute_joints_extent, concat_joint_transforms, extents_padding};

impl Scene {
    /// Computes the extent of a SkelRoot at a time as Pixar's tools do (rule 33). It is in the
    /// space of the SkelRoot, or transformed by `transform`.
    ///
    /// It encloses the joint pivots of every Skeleton that prims below are bound to (or of every
    /// Skeleton below, if no prim is bound), grown by a padding per Skeleton. The padding is the
    /// largest distance by which the authored `extent` of a bound prim reaches beyond the joints at
    /// rest. It is 0 if no extents or no restTransforms are authored. So points may leave the
    /// result; exact extents need deformed points.
    ///
    /// A Skeleton without a pose or without joints adds nothing. `transform` is not applied to a
    /// Skeleton that resets the transform stack, as in Pixar's code. `None` if no Skeleton adds
    /// anything.
    ///
    /// # Errors
    /// There is no SkelRoot of this scene at the path.
    pub fn skel_root_extent(
        &self,
        path: &str,
        time: Time,
        transform: Option<DMat4>,
    ) -> Result<Option<[Vec3; 2]>> {
        let root = self.skel_roots.iter().find(|r| r.path == path);
        let root = root.ok_or_else(|| {
            let known = self.skel_roots.iter().map(|r| r.path.clone());
            self.unknown(path, "SkelRoot", known)
        })?;
        let mut padding: HashMap<usize, f32> = HashMap::new();
        for rest in &self.rest_extents {
            if is_below(&rest.path, path) {
                let padding = padding.entry(rest.skeleton).or_default();
                *padding = padding.max(self.padding(rest));
            }
        }
        let visualized = |s: &&PlacedSkeleton| match padding.is_empty() {
            true => is_below(&s.path, path),
            false => padding.contains_key(&s.prim),
        };
        let skeletons = self.skeletons().filter(visualized);
        let boxes = skeletons.filter_map(|placed| {
            let pad = padding.get(&placed.prim).copied().unwrap_or(0.0);
            let posed = placed.instance.skel_from_joint(time).ok()?;
            let (mut out_from_skel, reset) = self.relative(placed.prim, root.prim, time);
            if let (false, Some(transform)) = (reset, transform) {
                out_from_skel = transform * out_from_skel;
            }
            compute_joints_extent(&posed, pad, Some(out_from_skel))
        });
        Ok(boxes.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]))
    }

    /// Computes one extent of a SkelRoot that encloses its extents at all authored times: the union
    /// of [`Scene::skel_root_extent`] over the times of the animations and of the transforms of the
    /// Skeletons at or below it, and at the default time if nothing is animated.
    ///
    /// # Errors
    /// There is no SkelRoot of this scene at the path.
    pub fn skel_root_extent_of_clip(&self, path: &str) -> Result<Option<[Vec3; 2]>> {
        let mut times: Vec<f64> = Vec::new();
        for placed in self.skeletons().filter(|s| is_below(&s.path, path)) {
            let animation = placed.instance.animation();
            times.extend(animation.iter().flat_map(|a| a.joint_times()));
            times.extend(self.transform_times(placed.prim));
        }
        times.retain(|t| t.is_finite());
        times.sort_by(f64::total_cmp);
        times.dedup();
        let times = match times.is_empty() {
            true => vec![Time::Default],
            false => times.into_iter().map(Time::At).collect(),
        };
        let mut all: Option<[Vec3; 2]> = None;
        for time in times {
            let Some([low, high]) = self.skel_root_extent(path, time, None)? else {
                continue;
            };
            let [a, b] = all.unwrap_or([low, high]);
            all = Some([a.min(low), b.max(high)]);
        }
        Ok(all)
    }

    /// Every Skeleton, bound or not.
    fn skeletons(&self) -> impl Iterator<Item = &PlacedSkeleton> {
        self.instances.iter().chain(&self.unbound_skeletons)
    }

    fn padding(&self, prim: &RestExtent) -> f32 {
        // Paddings use the earliest time, as in UsdSkelSkinningQuery, because they should not
        // change over time.
        let earliest = Time::At(f64::MIN);
        let placed = self.skeletons().find(|s| s.prim == prim.skeleton);
        let (Some(placed), Some(extent)) = (placed, prim.extent.at(earliest)) else {
            return 0.0;
        };
        let skeleton = placed.instance.skeleton();
        let (Some(rest), [low, high]) = (skeleton.rest(), extent.as_slice()) else {
            return 0.0;
        };
        let rest = concat_joint_transforms(skeleton.topology(), rest, None)
            .expect("rest transforms were counted");
        let geom_bind = prim.geom_bind.at(earliest);
        let geom_bind = geom_bind.map_or(DMat4::IDENTITY, |m| *m);
        extents_padding(&rest, [*low, *high], geom_bind)
    }

    /// The transform from the space of a prim to that of `ancestor`. Also whether a prim between
    /// them resets the transform stack, which ends the product there. If `ancestor` is not above
    /// the prim, the transform leads to the world, as in Pixar's code.
    fn relative(&self, prim: usize, ancestor: usize, time: Time) -> (DMat4, bool) {
        let mut m = DMat4::IDENTITY;
        let mut at = Some(prim);
        while let Some(index) = at.filter(|i| *i != ancestor) {
            let p = &self.prims[index];
            m = p.xform.local(time) * m;
            if p.xform.resets {
                return (m, true);
            }
            at = p.parent;
        }
        (m, false)
    }
}

fn is_below(path: &str, ancestor: &str) -> bool {
    path.strip_prefix(ancestor)
        .is_some_and(|rest| rest.starts_with('/'))
}
