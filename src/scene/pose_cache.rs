//! Poses of many prims at one time.

use std::collections::HashMap;
use std::sync::Arc;

use glam::DMat4;

use super::BoundSkin;
use crate::error::Invalid;
use crate::math;
use crate::sampled::Time;
use crate::skel::{Pose, skin_transform};

/// The space that deformed points and normals end up in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutSpace {
    /// The prim's own, as Pixar's bake has it (rule 30).
    #[default]
    Prim,
    /// The Skeleton's.
    Skel,
    /// The world's.
    World,
}

/// Poses many prims at one time, evaluating each skeleton and each transform once.
#[derive(Debug, Default)]
pub struct PoseCache {
    space: OutSpace,
    skinning: HashMap<usize, Result<Arc<Vec<DMat4>>, Invalid>>,
    world: HashMap<usize, DMat4>,
}

impl PoseCache {
    /// A cache for one time, whose poses lead to `space`.
    #[must_use]
    pub fn new(space: OutSpace) -> Self {
        Self {
            space,
            ..Self::default()
        }
    }

    /// See [`BoundSkin::pose`].
    ///
    /// # Errors
    /// As [`BoundSkin::pose`].
    pub fn pose(&mut self, bound: BoundSkin<'_>, time: Time) -> Result<Pose, Invalid> {
        let mut pose = self.blend_pose(bound, time);
        pose.geom_bind = geom_bind(bound, time)?;
        if bound.binding.influences.is_none() {
            return Ok(pose);
        }
        pose.skinning = Some(self.skinning(bound, time)?);
        pose.out_from_skel = match self.space {
            OutSpace::Prim => {
                let world_from_prim = self.world(bound, bound.binding.prim, time);
                let prim_from_world = inverse(bound, world_from_prim, time)?;
                prim_from_world * self.world_from_skel(bound, time)
            }
            OutSpace::Skel => DMat4::IDENTITY,
            OutSpace::World => self.world_from_skel(bound, time),
        };
        Ok(pose)
    }

    /// The pose of blend shapes alone, which leaves a prim in its own space (rule 20).
    #[must_use]
    pub fn blend_pose(&mut self, bound: BoundSkin<'_>, time: Time) -> Pose {
        let instance = &bound.skeleton().instance;
        Pose {
            skinning: None,
            geom_bind: DMat4::IDENTITY,
            channel_weights: bound.binding.channel_weights(instance, time).0,
            out_from_skel: DMat4::IDENTITY,
        }
    }

    /// From a prim's own space to this cache's; `None` where they are the same. Of use for prims that
    /// only blend.
    ///
    /// # Errors
    /// A Skeleton whose world transform is singular.
    pub fn out_from_prim(
        &mut self,
        bound: BoundSkin<'_>,
        time: Time,
    ) -> Result<Option<DMat4>, Invalid> {
        if self.space == OutSpace::Prim {
            return Ok(None);
        }
        let world_from_prim = self.world(bound, bound.binding.prim, time);
        if self.space == OutSpace::World {
            return Ok(Some(world_from_prim));
        }
        let skel_from_world = inverse(bound, self.world_from_skel(bound, time), time)?;
        Ok(Some(skel_from_world * world_from_prim))
    }

    /// world_from_skel of the prim's Skeleton.
    pub fn world_from_skel(&mut self, bound: BoundSkin<'_>, time: Time) -> DMat4 {
        self.world(bound, bound.skeleton().prim, time)
    }

    /// See [`BoundSkin::rigid_transform`].
    ///
    /// # Errors
    /// As [`BoundSkin::pose`], for the parent's world transform instead of the prim's; influences
    /// that are broken, or not constant.
    pub fn rigid_transform(&mut self, bound: BoundSkin<'_>, time: Time) -> Result<DMat4, Invalid> {
        let scene = bound.scene;
        let in_file = |e: Invalid| e.in_file(&scene.file);
        let binding = bound.binding;
        let instance = &bound.skeleton().instance;
        let influences = binding
            .influences_at(instance, time, 0)
            .map_err(in_file)?
            .filter(|_| binding.is_rigid())
            .ok_or_else(|| {
                in_file(Invalid::new(
                    &binding.path,
                    "primvars:skel:jointIndices",
                    "constant influences",
                    "vertex influences, or none",
                ))
            })?;
        let skinning = self.skinning(bound, time)?;
        let joints: Vec<DMat4> = match binding.joint_map(instance) {
            Some(map) => map
                .iter()
                .map(|j| j.map_or(DMat4::IDENTITY, |j| skinning[j as usize]))
                .collect(),
            None => skinning.to_vec(),
        };
        let skel_from_prim = skin_transform(
            binding.method,
            geom_bind(bound, time)?,
            &joints,
            influences.joints(),
            influences.weights(),
        )
        .map_err(|e| {
            in_file(Invalid::new(
                &binding.path,
                "primvars:skel:jointIndices",
                "influences that fit the skeleton",
                e.to_string(),
            ))
        })?;
        let world_from_prim = self.world_from_skel(bound, time) * skel_from_prim;
        let prim = &scene.prims[binding.prim];
        match prim.parent.filter(|_| !prim.xform.resets) {
            Some(parent) => {
                let world_from_parent = self.world(bound, parent, time);
                Ok(inverse(bound, world_from_parent, time)? * world_from_prim)
            }
            None => Ok(world_from_prim),
        }
    }

    fn skinning(&mut self, bound: BoundSkin<'_>, time: Time) -> Result<Arc<Vec<DMat4>>, Invalid> {
        self.skinning
            .entry(bound.binding.instance)
            .or_insert_with(|| {
                let instance = &bound.skeleton().instance;
                instance.skinning_transforms(time).map(Arc::new)
            })
            .clone()
            .map_err(|e| e.in_file(&bound.scene.file))
    }

    fn world(&mut self, bound: BoundSkin<'_>, prim: usize, time: Time) -> DMat4 {
        *self
            .world
            .entry(prim)
            .or_insert_with(|| bound.scene.world_from_prim(prim, time))
    }
}

fn geom_bind(bound: BoundSkin<'_>, time: Time) -> Result<DMat4, Invalid> {
    let binding = bound.binding;
    let m = binding.geom_bind.at(time).map_or(DMat4::IDENTITY, |m| *m);
    if math::is_finite(&m) {
        return Ok(m);
    }
    let e = Invalid::new(
        &binding.path,
        "primvars:skel:geomBindTransform",
        "a finite matrix",
        m.to_string(),
    )
    .coded("geom-bind-not-finite");
    Err(e.in_file(&bound.scene.file))
}

fn inverse(bound: BoundSkin<'_>, m: DMat4, time: Time) -> Result<DMat4, Invalid> {
    math::try_inverse(m).ok_or_else(|| {
        let e = Invalid::new(
            &bound.binding.path,
            "xformOpOrder",
            "an invertible world transform",
            format!("a singular one at time {time}"),
        )
        .coded("prim-transform-singular");
        e.in_file(&bound.scene.file)
    })
}
