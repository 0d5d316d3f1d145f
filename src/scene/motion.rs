//! Points of many prims at one time, exact in f64, and their velocities.
//!
//! Values are interpolated without rounding ([`Jet`](crate::sampled::Jet)). A velocity is the
//! derivative of the points at the time: rates of the components of joints, of blend shape weights,
//! of rest data and of transforms become rates of matrices, and the points of the pose a small step
//! along these rates, before and after, are compared. It does not depend on frames.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DMat4, DVec3};

use super::pose_cache::rigid_skel_from_prim;
use super::{BoundSkin, OutSpace, Scene, SkinPart};
use crate::error::Invalid;
use crate::sampled::{Jet, Time};
use crate::skel::moving::STEP;
use crate::skel::reference::{PointPose, skin_points};
use crate::skel::{Moving, Skin};

/// Step of a blend shape's weight for the slope of the weights of its sub-shapes. These are linear
/// between in-betweens.
const WEIGHT_STEP: f64 = 1e-3;

/// The motion of a scene's prims at one time, in one space.
///
/// It evaluates each Skeleton once. A prim of another scene has a cache of its own at each call.
#[derive(Debug)]
pub struct MotionCache<'a> {
    scene: &'a Scene,
    time: Time,
    space: OutSpace,
    skinning: HashMap<usize, Result<Arc<Vec<Moving>>, Invalid>>,
}

/// Points of a prim with their velocities.
struct MovingPoints {
    skin: Arc<Skin>,
    /// Blended rest points, and their change per time code.
    points: Vec<DVec3>,
    rates: Vec<DVec3>,
    /// Skinning transforms of the Skeleton; none if the prim only blends.
    skinning: Option<Arc<Vec<Moving>>>,
    geom_bind: Moving,
    /// From skeleton space to the space of the results, or from prim space if the prim only blends.
    out: Moving,
    /// Weights with their rates, if they change over time.
    weights: Option<Jet>,
}

impl<'a> MotionCache<'a> {
    /// Creates a cache for a time. Results are in `space`.
    #[must_use]
    pub fn new(scene: &'a Scene, time: Time, space: OutSpace) -> Self {
        Self {
            scene,
            time,
            space,
            skinning: HashMap::new(),
        }
    }

    /// The points of a prim, as [`deform`](crate::skel::reference::deform) computes them, but
    /// interpolated without rounding. With `blend_only`, the influences are left out.
    ///
    /// # Errors
    /// As [`BoundSkin::pose`] and [`BoundSkin::skin_part`].
    pub fn points(
        &mut self,
        bound: BoundSkin<'_>,
        blend_only: bool,
    ) -> Result<Vec<DVec3>, Invalid> {
        if let Some(mut other) = self.elsewhere(bound) {
            return other.points(bound, blend_only);
        }
        Ok(self.moving(bound, blend_only)?.after(0.0))
    }

    /// The velocity of each point of a prim, in units of the space per time code.
    ///
    /// # Errors
    /// As [`MotionCache::points`].
    pub fn velocities(
        &mut self,
        bound: BoundSkin<'_>,
        blend_only: bool,
    ) -> Result<Vec<DVec3>, Invalid> {
        if let Some(mut other) = self.elsewhere(bound) {
            return other.velocities(bound, blend_only);
        }
        let moving = self.moving(bound, blend_only)?;
        let (before, after) = (moving.after(-STEP), moving.after(STEP));
        let pairs = before.iter().zip(&after);
        Ok(pairs.map(|(a, b)| (*b - *a) * (0.5 / STEP)).collect())
    }

    /// The transform of a rigid prim, as [`PoseCache`](super::PoseCache) computes it, but
    /// interpolated without rounding.
    ///
    /// # Errors
    /// As [`PoseCache::rigid_transform`](super::PoseCache::rigid_transform).
    pub fn rigid_transform(&mut self, bound: BoundSkin<'_>) -> Result<DMat4, Invalid> {
        if let Some(mut other) = self.elsewhere(bound) {
            return other.rigid_transform(bound);
        }
        let skinning = self.skinning(bound)?;
        let joints: Vec<DMat4> = skinning.iter().map(|j| j.at).collect();
        let geom_bind = self.geom_bind(bound).at;
        let skel_from_prim = rigid_skel_from_prim(bound, self.time, &joints, geom_bind)?;
        let prim = &self.scene.prims[bound.binding().prim];
        let skel = bound.skeleton().prim;
        let out_from_skel = match prim.parent.filter(|_| !prim.xform.resets) {
            Some(parent) => self.relative(bound, parent, skel)?,
            None => self.world_from_prim(skel),
        };
        Ok(out_from_skel.at * skel_from_prim)
    }

    /// A cache for the scene of a prim, if that is another one, whose indices mean other prims.
    fn elsewhere<'b>(&self, bound: BoundSkin<'b>) -> Option<MotionCache<'b>> {
        let is_own = std::ptr::eq(self.scene, bound.scene);
        (!is_own).then(|| MotionCache::new(bound.scene, self.time, self.space))
    }

    fn geom_bind(&self, bound: BoundSkin<'_>) -> Moving {
        let jet = bound.binding().geom_bind.jet(self.time);
        jet.map_or(Moving::IDENTITY, |jet| Moving {
            at: matrix(&jet.value),
            rate: matrix(&jet.rate),
        })
    }

    /// The transform from a prim's space to the world.
    #[must_use]
    pub fn world_from_prim(&self, prim: usize) -> Moving {
        self.product(&self.scene.chain(prim))
    }

    fn moving(&mut self, bound: BoundSkin<'_>, blend_only: bool) -> Result<MovingPoints, Invalid> {
        let binding = bound.binding();
        let part = SkinPart {
            blend_only,
            // Beyond the last one there are none.
            normals: usize::MAX,
        };
        let skin = bound.skin_part(self.time, part)?;
        let is_skinned = skin.influences().is_some();
        let (points, rates) = self.blended(bound, &skin);
        let weights = binding.influences.as_ref().filter(|_| is_skinned);
        let weights = weights.filter(|i| i.weights.is_animated());
        let skel = bound.skeleton().prim;
        let out = match (is_skinned, self.space) {
            (true, OutSpace::Prim) => self.relative(bound, binding.prim, skel)?,
            (true, OutSpace::Skel) | (false, OutSpace::Prim) => Moving::IDENTITY,
            (true, OutSpace::World) => self.world_from_prim(skel),
            (false, OutSpace::Skel) => self.relative(bound, skel, binding.prim)?,
            (false, OutSpace::World) => self.world_from_prim(binding.prim),
        };
        let geom_bind = match is_skinned {
            true => self.geom_bind(bound),
            false => Moving::IDENTITY,
        };
        Ok(MovingPoints {
            skinning: match is_skinned {
                true => Some(self.skinning(bound)?),
                false => None,
            },
            weights: weights.and_then(|i| i.weights.jet(self.time)),
            skin,
            points,
            rates,
            geom_bind,
            out,
        })
    }

    /// Rest points with blend shapes, and their rates.
    fn blended(&self, bound: BoundSkin<'_>, skin: &Skin) -> (Vec<DVec3>, Vec<DVec3>) {
        let binding = bound.binding();
        let mut points: Vec<DVec3> = skin.points().iter().map(|p| p.as_dvec3()).collect();
        let mut rates = vec![DVec3::ZERO; points.len()];
        if binding.points.is_animated()
            && let Some(jet) = binding.points.jet(self.time)
            && jet.value.len() == points.len() * 3
        {
            let vector = |v: &[f64]| DVec3::new(v[0], v[1], v[2]);
            points = jet.value.chunks_exact(3).map(vector).collect();
            rates = jet.rate.chunks_exact(3).map(vector).collect();
        }
        for (channel, weight) in self.channels(bound).into_iter().enumerate() {
            let Some(Some(shape)) = skin.shapes().get(channel) else {
                continue;
            };
            let (weight, change) = weight;
            let at = shape.sub_shape_weights(weight);
            let before = shape.sub_shape_weights(weight - WEIGHT_STEP);
            let after = shape.sub_shape_weights(weight + WEIGHT_STEP);
            for (i, sub) in shape.sub_shapes().iter().enumerate() {
                let slope = (after[i] - before[i]) * (0.5 / WEIGHT_STEP) * change;
                if at[i] == 0.0 && slope == 0.0 {
                    continue;
                }
                for (entry, offset) in sub.offsets.iter().enumerate() {
                    let point = shape.point_of(entry);
                    points[point] += offset.as_dvec3() * at[i];
                    rates[point] += offset.as_dvec3() * slope;
                }
            }
        }
        (points, rates)
    }

    /// The weight of each blend shape with its rate.
    fn channels(&self, bound: BoundSkin<'_>) -> Vec<(f64, f64)> {
        let (binding, instance) = (bound.binding(), &bound.skeleton().instance);
        let (rounded, broken) = binding.channel_weights(instance, self.time);
        let mut out: Vec<(f64, f64)> = rounded.iter().map(|w| (f64::from(*w), 0.0)).collect();
        let (Some(animation), Some(mapper), None) =
            (instance.animation(), &binding.channel_mapper, broken)
        else {
            return out;
        };
        if let Some(jet) = animation.blend_shape_weights.jet(self.time) {
            let mut authored: Vec<(f64, f64)> = jet.value.into_iter().zip(jet.rate).collect();
            let count = authored.len().max(animation.blend_shapes.len());
            authored.resize(count, (0.0, 0.0));
            mapper.remap(&authored, &mut out);
        }
        for weight in &mut out {
            if !(weight.0.is_finite() && weight.1.is_finite()) {
                *weight = (0.0, 0.0);
            }
        }
        out
    }

    fn skinning(&mut self, bound: BoundSkin<'_>) -> Result<Arc<Vec<Moving>>, Invalid> {
        let time = self.time;
        let entry = self.skinning.entry(bound.binding().instance);
        let skinning = entry.or_insert_with(|| {
            let instance = &bound.skeleton().instance;
            instance.moving_skinning(time).map(Arc::new)
        });
        skinning.clone().map_err(|e| e.in_file(&self.scene.file))
    }

    fn relative(&self, bound: BoundSkin<'_>, to: usize, from: usize) -> Result<Moving, Invalid> {
        let relation = self.scene.relation(to, from);
        let to = self.product(&relation.to).try_inverse().ok_or_else(|| {
            let found = format!("a singular one at time {}", self.time);
            let path = &bound.binding().path;
            Invalid::new(path, "xformOpOrder", "an invertible transform", found)
                .coded("prim-transform-singular")
                .in_file(&self.scene.file)
        })?;
        Ok(to * self.product(&relation.from))
    }

    /// The product of the local transforms of prims. The list begins with the innermost prim.
    fn product(&self, prims: &[usize]) -> Moving {
        let local = |p: &usize| self.scene.prims[*p].xform.moving(self.time);
        let locals = prims.iter().map(local);
        locals.fold(Moving::IDENTITY, |m, local| local * m)
    }
}

impl MovingPoints {
    /// The points a step of time later, along the rates.
    fn after(&self, step: f64) -> Vec<DVec3> {
        let rates = self.points.iter().zip(&self.rates);
        let mut points: Vec<DVec3> = rates.map(|(p, r)| *p + *r * step).collect();
        let out = self.out.after(step);
        if let Some(skinning) = &self.skinning {
            let joints: Vec<DMat4> = skinning.iter().map(|j| j.after(step)).collect();
            let weights: Option<Vec<f64>> = self.weights.as_ref().map(|jet| {
                let rates = jet.value.iter().zip(&jet.rate);
                rates.map(|(w, r)| w + r * step).collect()
            });
            let pose = PointPose {
                skinning: &joints,
                geom_bind: self.geom_bind.after(step),
                weights: weights.as_deref(),
            };
            skin_points(&self.skin, &pose, &mut points);
        }
        for p in &mut points {
            *p = out.transform_point3(*p);
        }
        points
    }
}

fn matrix(v: &[f64]) -> DMat4 {
    <[f64; 16]>::try_from(v).map_or(DMat4::IDENTITY, |v| DMat4::from_cols_array(&v))
}
