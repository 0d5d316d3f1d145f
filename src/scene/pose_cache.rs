//! Poses of many prims at one time.

use std::collections::HashMap;
use std::sync::Arc;

use glam::DMat4;

use super::{BoundSkin, Scene};
use crate::error::Invalid;
use crate::math;
use crate::sampled::Time;
use crate::skel::{Pose, skin_transform};

/// The space of deformed points and normals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutSpace {
    /// Prim space, as in Pixar's bake (rule 30).
    #[default]
    Prim,
    /// Skeleton space.
    Skel,
    /// World space.
    World,
}

/// The poses of a scene's prims at one time, in one space.
///
/// It evaluates each skeleton and each transform once, so posing many prims of one character costs
/// little more than posing one. Scene, time and space are fixed: create another cache for another
/// frame.
///
/// A prim of another scene is posed by a cache of its own at each call.
#[derive(Debug)]
pub struct PoseCache<'a> {
    scene: &'a Scene,
    time: Time,
    space: OutSpace,
    /// Skinning transforms of each element of [`Scene::instances`].
    skinning: HashMap<usize, Result<Arc<Vec<DMat4>>, Invalid>>,
    /// The local transform of each element of [`Scene::prims`].
    local: HashMap<usize, DMat4>,
}

impl<'a> PoseCache<'a> {
    /// Creates a cache for the poses of `scene` at `time`. Skinned points are in `space`.
    #[must_use]
    pub fn new(scene: &'a Scene, time: Time, space: OutSpace) -> Self {
        Self {
            scene,
            time,
            space,
            skinning: HashMap::new(),
            local: HashMap::new(),
        }
    }

    /// The scene whose prims are posed.
    #[must_use]
    pub fn scene(&self) -> &'a Scene {
        self.scene
    }

    /// The time of every pose.
    #[must_use]
    pub fn time(&self) -> Time {
        self.time
    }

    /// The space of the results of every pose.
    #[must_use]
    pub fn space(&self) -> OutSpace {
        self.space
    }

    /// The pose of a prim: [`BoundSkin::pose`] for this cache's time and space.
    ///
    /// # Errors
    /// As [`BoundSkin::pose`].
    pub fn pose(&mut self, bound: BoundSkin<'_>) -> Result<Pose, Invalid> {
        if let Some(mut other) = self.elsewhere(bound) {
            return other.pose(bound);
        }
        let mut pose = self.blend_pose(bound);
        pose.geom_bind = geom_bind(bound, self.time)?;
        if bound.binding.influences.is_none() {
            return Ok(pose);
        }
        pose.skinning = Some(self.skinning(bound)?);
        pose.out_from_skel = self.out_from_skel(bound)?;
        Ok(pose)
    }

    /// The pose of only the blend shapes. The prim stays in its own space (rule 20).
    #[must_use]
    pub fn blend_pose(&mut self, bound: BoundSkin<'_>) -> Pose {
        let instance = &bound.skeleton().instance;
        Pose {
            skinning: None,
            geom_bind: DMat4::IDENTITY,
            channel_weights: bound.binding.channel_weights(instance, self.time).0,
            out_from_skel: DMat4::IDENTITY,
        }
    }

    /// The transform from prim space to the space of this cache, for prims that only blend. `None`
    /// if the two are the same.
    ///
    /// # Errors
    /// A Skeleton whose transform is singular.
    pub fn out_from_prim(&mut self, bound: BoundSkin<'_>) -> Result<Option<DMat4>, Invalid> {
        if let Some(mut other) = self.elsewhere(bound) {
            return other.out_from_prim(bound);
        }
        if self.space == OutSpace::Prim {
            return Ok(None);
        }
        let prim = bound.binding.prim;
        if self.space == OutSpace::World {
            return Ok(Some(self.world(prim)));
        }
        let skel_from_prim = self.relative(bound, bound.skeleton().prim, prim)?;
        Ok(Some(skel_from_prim))
    }

    /// The transform from the space of the prim's Skeleton to the world.
    pub fn world_from_skel(&mut self, bound: BoundSkin<'_>) -> DMat4 {
        if let Some(mut other) = self.elsewhere(bound) {
            return other.world_from_skel(bound);
        }
        self.world(bound.skeleton().prim)
    }

    /// The transform of a rigid prim, as [`BoundSkin::rigid_transform`].
    ///
    /// # Errors
    /// As [`BoundSkin::pose`], for the parent's transform instead of the prim's; influences
    /// that are broken, or not constant.
    pub fn rigid_transform(&mut self, bound: BoundSkin<'_>) -> Result<DMat4, Invalid> {
        if let Some(mut other) = self.elsewhere(bound) {
            return other.rigid_transform(bound);
        }
        let skel_from_prim = self.rigid_skel_from_prim(bound)?;
        let prim = &bound.scene.prims[bound.binding.prim];
        let out_from_skel = match prim.parent.filter(|_| !prim.xform.resets) {
            Some(parent) => self.relative(bound, parent, bound.skeleton().prim)?,
            None => self.world_from_skel(bound),
        };
        Ok(out_from_skel * skel_from_prim)
    }

    /// The transform of a rigid prim from prim space to the space of this cache: skinning by
    /// constant influences as one matrix (rule 28). It applies to rest points, or to blended
    /// points. A renderer can draw such prims as instances.
    ///
    /// # Errors
    /// As [`PoseCache::pose`]; influences that are broken, or not constant.
    pub fn rigid_out_from_prim(&mut self, bound: BoundSkin<'_>) -> Result<DMat4, Invalid> {
        if let Some(mut other) = self.elsewhere(bound) {
            return other.rigid_out_from_prim(bound);
        }
        let skel_from_prim = self.rigid_skel_from_prim(bound)?;
        Ok(self.out_from_skel(bound)? * skel_from_prim)
    }

    fn rigid_skel_from_prim(&mut self, bound: BoundSkin<'_>) -> Result<DMat4, Invalid> {
        let skinning = self.skinning(bound)?;
        let geom_bind = geom_bind(bound, self.time)?;
        rigid_skel_from_prim(bound, self.time, &skinning, geom_bind)
    }

    fn out_from_skel(&mut self, bound: BoundSkin<'_>) -> Result<DMat4, Invalid> {
        match self.space {
            OutSpace::Prim => self.relative(bound, bound.binding.prim, bound.skeleton().prim),
            OutSpace::Skel => Ok(DMat4::IDENTITY),
            OutSpace::World => Ok(self.world_from_skel(bound)),
        }
    }

    /// World transforms of the joints of the prim's Skeleton, in the order of
    /// [`crate::skel::Skeleton::joints`]. They do not depend on bind transforms.
    ///
    /// # Errors
    /// Rest transforms that are needed but missing (rule 9).
    pub fn world_from_joints(&mut self, bound: BoundSkin<'_>) -> Result<Vec<DMat4>, Invalid> {
        let world_from_skel = self.world_from_skel(bound);
        bound
            .scene
            .joints_from(world_from_skel, bound.binding.instance, self.time)
    }

    /// A cache for the scene of a prim, if that is another one, whose indices mean other prims.
    fn elsewhere<'b>(&self, bound: BoundSkin<'b>) -> Option<PoseCache<'b>> {
        let is_own = std::ptr::eq(self.scene, bound.scene);
        (!is_own).then(|| bound.scene.at(self.time, self.space))
    }

    /// Takes the skinning transforms of a Skeleton that are known already.
    pub(super) fn set_skinning(&mut self, instance: usize, skinning: Arc<Vec<DMat4>>) {
        self.skinning.insert(instance, Ok(skinning));
    }

    pub(super) fn skinning(&mut self, bound: BoundSkin<'_>) -> Result<Arc<Vec<DMat4>>, Invalid> {
        self.skinning
            .entry(bound.binding.instance)
            .or_insert_with(|| {
                let instance = &bound.skeleton().instance;
                instance.skinning_transforms(self.time).map(Arc::new)
            })
            .clone()
            .map_err(|e| e.in_file(&bound.scene.file))
    }

    fn world(&mut self, prim: usize) -> DMat4 {
        self.product(&self.scene.chain(prim))
    }

    /// The transform from the space of prim `from` to that of prim `to`, through their first common
    /// ancestor.
    fn relative(&mut self, bound: BoundSkin<'_>, to: usize, from: usize) -> Result<DMat4, Invalid> {
        let relation = bound.scene.relation(to, from);
        let ancestor_from_to = self.product(&relation.to);
        let ancestor_from_from = self.product(&relation.from);
        Ok(inverse(bound, ancestor_from_to, self.time)? * ancestor_from_from)
    }

    /// The product of the local transforms of prims. The list begins with the innermost prim.
    fn product(&mut self, prims: &[usize]) -> DMat4 {
        let mut m = DMat4::IDENTITY;
        for &prim in prims {
            let local = self.local.entry(prim);
            m = *local.or_insert_with(|| self.scene.prims[prim].xform.local(self.time)) * m;
        }
        m
    }
}

/// The transform of a rigid prim from prim space to skeleton space: skinning by constant influences
/// as one matrix. `skinning` are the skinning transforms of its Skeleton.
pub(super) fn rigid_skel_from_prim(
    bound: BoundSkin<'_>,
    time: Time,
    skinning: &[DMat4],
    geom_bind: DMat4,
) -> Result<DMat4, Invalid> {
    let in_file = |e: Invalid| e.in_file(&bound.scene.file);
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
    let joints: Vec<DMat4> = match binding.joint_map(instance) {
        Some(map) => map
            .iter()
            .map(|j| j.map_or(DMat4::IDENTITY, |j| skinning[j as usize]))
            .collect(),
        None => skinning.to_vec(),
    };
    skin_transform(
        binding.method,
        geom_bind,
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
    })
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
            "an invertible transform",
            format!("a singular one at time {time}"),
        )
        .coded("prim-transform-singular");
        e.in_file(&bound.scene.file)
    })
}
