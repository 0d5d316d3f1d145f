//! What moves the joints of a bone texture, as matrices of every frame.
//!
//! A joint of the texture is a joint of a Skeleton, the Skeleton itself (for influences of joints
//! that it lacks), or a prim that no joint moves. In the *bind pose* the points of a mesh are
//! placed where they are bound, and the Skeletons stand where they are at the first frame. A matrix
//! takes them from there to their place in a frame.

use std::collections::HashMap;

use ::exr::prelude::f16;
use glam::{DMat3, DMat4, DQuat, DVec3, Vec4};
use serde::Serialize;

use sinew::error::Invalid;
use sinew::math;
use sinew::sampled::Time;
use sinew::scene::{OutSpace, Scene, SkinBinding};
use sinew_io::usd::{BindPoseInfluences, BindPoseJoint, BindPoseMesh, PlacedMesh};

use super::clips::binding_at;
use crate::format::BoneValues;

/// What moves a joint of the texture.
#[derive(Clone, Copy, Debug)]
enum Mover {
    /// A joint of the Skeleton of a group.
    Joint { group: usize, joint: usize },
    /// The Skeleton of a group.
    Skeleton { group: usize },
    /// A prim that only blends, by its index into [`Bones::wholes`].
    Prim { prim: usize },
}

/// A Skeleton with the animation that drives it.
struct Group {
    /// Path of a prim that is bound to it. Every clip finds the Skeleton through it.
    prim: String,
    /// From skeleton space to the bind pose.
    bind_from_skel: DMat4,
}

/// A joint of the texture, for people and programs that look for one by name.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JointData {
    name: String,
    /// Path of the Skeleton, or of the prim that the joint stands for.
    prim: String,
    /// Joint path in the Skeleton; none for what is no joint.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Index of the parent; none for a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<usize>,
}

/// The joints of a bone texture, and the meshes that they move.
pub(super) struct Bones {
    movers: Vec<Mover>,
    groups: Vec<Group>,
    /// Prims that only blend: their paths, and the transforms from prim space to the bind pose.
    wholes: Vec<(String, DMat4)>,
    pub joints: Vec<JointData>,
    /// The nodes of the joints.
    pub nodes: Vec<BindPoseJoint>,
    pub meshes: Vec<BindPoseMesh>,
    /// From the stage's world space to that of the texture.
    out_from_world: DMat3,
}

impl Bones {
    /// The joints that move the prims `bindings` of the scene `own`, as they are in the scene of the
    /// first clip at its first frame. Prims that cannot be skinned then are left out, with their
    /// errors.
    pub fn new(
        (own, bindings): (&Scene, &[usize]),
        scene: &Scene,
        time: Time,
        out_from_world: DMat3,
    ) -> (Self, Vec<(usize, Invalid)>) {
        let mut out = Self {
            movers: Vec::new(),
            groups: Vec::new(),
            wholes: Vec::new(),
            joints: Vec::new(),
            nodes: Vec::new(),
            meshes: Vec::new(),
            out_from_world,
        };
        let mut errors = Vec::new();
        let mut with_unmapped: HashMap<usize, bool> = HashMap::new();
        let mut kept = Vec::new();
        for &of_own in bindings {
            let b = match binding_at(scene, &own.bindings[of_own].path) {
                Ok(b) => b,
                Err(e) => {
                    errors.push((of_own, e));
                    continue;
                }
            };
            let bound = scene.bound(b);
            let pose = scene.at(time, OutSpace::World).pose(bound);
            let skin = pose.and_then(|_| bound.skin(time));
            let skin = match skin {
                Ok(skin) => skin,
                Err(e) => {
                    errors.push((of_own, e));
                    continue;
                }
            };
            kept.push((of_own, b, skin.influences().is_some()));
            if let Some(influences) = skin.influences() {
                let mut all = (0..skin.points().len()).flat_map(|p| influences.of_point(p));
                let unmapped = all.any(|(j, w)| w > 0.0 && skin.skeleton_joint(j).is_none());
                *with_unmapped.entry(bound.binding().instance).or_default() |= unmapped;
            }
        }
        let mut first_of: HashMap<usize, (usize, usize)> = HashMap::new();
        for (of_own, b, is_skinned) in kept {
            match is_skinned {
                true => {
                    let instance = scene.bindings[b].instance;
                    let unmapped = with_unmapped.get(&instance).copied().unwrap_or(false);
                    let (group, first) = *first_of
                        .entry(instance)
                        .or_insert_with(|| out.add_group(scene, b, time, unmapped));
                    out.add_skinned((of_own, &scene.bindings[b]), time, group, first);
                }
                false => out.add_whole(scene, of_own, b, time),
            }
        }
        (out, errors)
    }

    /// Adds the joints of a Skeleton. Returns the group and its first joint.
    fn add_group(
        &mut self,
        scene: &Scene,
        b: usize,
        time: Time,
        with_unmapped: bool,
    ) -> (usize, usize) {
        let placed = &scene.instances[scene.bindings[b].instance];
        let out_from_skel = self.to_out(scene.world_from_prim(placed.prim, time));
        let bind_from_skel = match math::try_inverse(out_from_skel) {
            Some(_) => out_from_skel,
            // A Skeleton that has no size at the first frame.
            None => DMat4::from_mat3(self.out_from_world),
        };
        let (group, first) = (self.groups.len(), self.movers.len());
        let skeleton = placed.instance.skeleton();
        let names = skeleton.joint_names().unwrap_or_default();
        let parents = skeleton.topology().parents();
        for (joint, parent) in parents.enumerate() {
            let path = &skeleton.joints()[joint];
            let authored = names.get(joint).filter(|n| !n.is_empty());
            let name = authored.map_or_else(|| last(path), Clone::clone);
            let bind = skeleton.bind().get(joint).copied().unwrap_or_default();
            self.add(
                Mover::Joint { group, joint },
                JointData {
                    name,
                    prim: placed.path.clone(),
                    path: Some(path.clone()),
                    parent: parent.map(|p| first + p),
                },
                without_size(bind_from_skel * bind),
            );
        }
        if with_unmapped {
            let data = JointData {
                name: last(&placed.path),
                prim: placed.path.clone(),
                path: None,
                parent: None,
            };
            self.add(
                Mover::Skeleton { group },
                data,
                without_size(bind_from_skel),
            );
        }
        self.groups.push(Group {
            prim: scene.bindings[b].path.clone(),
            bind_from_skel,
        });
        (group, first)
    }

    fn add(&mut self, mover: Mover, data: JointData, place: DMat4) {
        self.nodes.push(BindPoseJoint {
            name: data.name.clone(),
            parent: data.parent,
            asset_from_joint: place,
        });
        self.movers.push(mover);
        self.joints.push(data);
    }

    fn add_skinned(
        &mut self,
        (of_own, binding): (usize, &SkinBinding),
        time: Time,
        group: usize,
        first: usize,
    ) {
        let geom_bind = binding.geom_bind.at(time);
        let geom_bind = geom_bind.map_or(DMat4::IDENTITY, |m| *m);
        let asset_from_prim = self.groups[group].bind_from_skel * geom_bind;
        self.meshes.push(BindPoseMesh {
            binding: of_own,
            asset_from_prim,
            influences: BindPoseInfluences::OfPrim(first),
        });
    }

    /// Adds a prim that only blends, and a joint for it.
    fn add_whole(&mut self, scene: &Scene, of_own: usize, b: usize, time: Time) {
        let binding = &scene.bindings[b];
        let asset_from_prim = self.to_out(scene.world_from_prim(binding.prim, time));
        let data = JointData {
            name: last(&binding.path),
            prim: binding.path.clone(),
            path: None,
            parent: None,
        };
        let joint = self.movers.len();
        let prim = self.wholes.len();
        self.wholes.push((binding.path.clone(), asset_from_prim));
        self.add(Mover::Prim { prim }, data, without_size(asset_from_prim));
        self.meshes.push(BindPoseMesh {
            binding: of_own,
            asset_from_prim,
            influences: BindPoseInfluences::Whole(joint),
        });
    }

    /// A transform to the stage's world, as one to the space of the texture.
    pub fn to_out(&self, world_from: DMat4) -> DMat4 {
        DMat4::from_mat3(self.out_from_world) * world_from
    }

    /// The matrix of each joint at a time of a clip, from the bind pose to the frame. `bindings`
    /// are the meshes' own in the scene of the clip.
    ///
    /// # Errors
    /// A Skeleton that cannot be posed, or values that are not finite.
    pub fn matrices(
        &self,
        scene: &Scene,
        bindings: &ClipBindings,
        time: Time,
    ) -> Result<Vec<DMat4>, Invalid> {
        let mut groups = Vec::with_capacity(self.groups.len());
        for (group, b) in self.groups.iter().zip(&bindings.of_groups) {
            let placed = &scene.instances[scene.bindings[*b].instance];
            let skinning = placed.instance.skinning_transforms(time);
            let skinning = skinning.map_err(|e| e.in_file(&scene.file))?;
            let out_from_skel = self.to_out(scene.world_from_prim(placed.prim, time));
            let skel_from_bind = math::try_inverse(group.bind_from_skel).unwrap_or_default();
            groups.push((skinning, out_from_skel, skel_from_bind));
        }
        let matrix = |mover: &Mover| match mover {
            Mover::Joint { group, joint } => {
                let (skinning, out_from_skel, skel_from_bind) = &groups[*group];
                *out_from_skel * skinning[*joint] * *skel_from_bind
            }
            Mover::Skeleton { group } => {
                let (_, out_from_skel, skel_from_bind) = &groups[*group];
                *out_from_skel * *skel_from_bind
            }
            Mover::Prim { prim } => {
                let prim_from_bind = math::try_inverse(self.wholes[*prim].1).unwrap_or_default();
                let prim = scene.bindings[bindings.of_wholes[*prim]].prim;
                self.to_out(scene.world_from_prim(prim, time)) * prim_from_bind
            }
        };
        let matrices: Vec<DMat4> = self.movers.iter().map(matrix).collect();
        match matrices.iter().position(|m| !math::is_finite(m)) {
            None => Ok(matrices),
            Some(joint) => {
                let data = &self.joints[joint];
                let e = Invalid::new(
                    &data.prim,
                    "joints",
                    "finite transforms",
                    format!("none of {} at time {time}", data.name),
                );
                Err(e.in_file(&scene.file))
            }
        }
    }
}

/// The bindings of a clip's scene. Their order may differ from that of the scene of the meshes.
pub(super) struct ClipBindings {
    of_groups: Vec<usize>,
    of_wholes: Vec<usize>,
    /// Of the meshes that are written.
    pub of_meshes: Vec<usize>,
}

impl ClipBindings {
    /// # Errors
    /// A prim that the clip's scene lacks.
    pub fn find(
        bones: &Bones,
        own: &Scene,
        meshes: &[PlacedMesh],
        scene: &Scene,
    ) -> Result<Self, Invalid> {
        let find = |path: &str| binding_at(scene, path);
        let groups = bones.groups.iter().map(|g| find(&g.prim));
        let wholes = bones.wholes.iter().map(|(path, _)| find(path));
        let meshes = meshes.iter().map(|m| find(&own.bindings[m.binding].path));
        Ok(Self {
            of_groups: groups.collect::<Result<_, _>>()?,
            of_wholes: wholes.collect::<Result<_, _>>()?,
            of_meshes: meshes.collect::<Result<_, _>>()?,
        })
    }
}

fn last(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// The place of a node without scale and shear, so that programs show it as a joint.
fn without_size(place: DMat4) -> DMat4 {
    let turn = math::nearest_rotation(DMat3::from_mat4(place)).unwrap_or(DQuat::IDENTITY);
    DMat4::from_rotation_translation(turn, place.w_axis.truncate())
}

impl BoneValues {
    /// The texels of a joint. `before` is its first texel in the frame before: a quaternion takes
    /// the sign that is nearer to it, so that a shader may interpolate between frames.
    pub(super) fn encode(self, m: DMat4, before: Option<Vec4>, out: &mut Vec<Vec4>) {
        match self {
            Self::Matrix => out.extend([m.row(0), m.row(1), m.row(2)].map(|r| r.as_vec4())),
            Self::DualQuaternion => {
                let real = math::nearest_rotation(DMat3::from_mat4(m)).unwrap_or(DQuat::IDENTITY);
                let t = m.w_axis.truncate() * 0.5;
                let dual = DQuat::from_xyzw(t.x, t.y, t.z, 0.0) * real;
                let (mut real, mut dual) = (narrow(real), narrow(dual));
                if before.is_some_and(|b| b.dot(real) < 0.0) {
                    (real, dual) = (-real, -dual);
                }
                out.extend([real, dual]);
            }
        }
    }

    /// The place of a point in a frame, as a vertex shader computes it from texels. `texels` are
    /// those of the frame, and `influences` the joints of the point with their weights.
    pub(super) fn apply(
        self,
        texels: &[Vec4],
        influences: impl Iterator<Item = (u32, f32)> + Clone,
        point: DVec3,
    ) -> DVec3 {
        let each = self.texels() as usize;
        let of = |joint: u32, part: usize| texels[joint as usize * each + part].as_dvec4();
        match self {
            Self::Matrix => {
                let p = point.extend(1.0);
                let moved = |(j, w): (u32, f32)| {
                    DVec3::new(of(j, 0).dot(p), of(j, 1).dot(p), of(j, 2).dot(p)) * f64::from(w)
                };
                influences.map(moved).sum()
            }
            Self::DualQuaternion => {
                let mut pivot: Option<(u32, f32)> = None;
                for (j, w) in influences.clone() {
                    if pivot.is_none_or(|(_, largest)| largest < w) {
                        pivot = Some((j, w));
                    }
                }
                let pivot = pivot.map_or(glam::DVec4::W, |(j, _)| of(j, 0));
                let (mut real, mut dual) = (glam::DVec4::ZERO, glam::DVec4::ZERO);
                for (j, w) in influences {
                    let sign = if of(j, 0).dot(pivot) < 0.0 { -1.0 } else { 1.0 };
                    real += of(j, 0) * f64::from(w) * sign;
                    dual += of(j, 1) * f64::from(w) * sign;
                }
                let length = real.length().max(1e-10);
                let (real, dual) = (
                    DQuat::from_vec4(real / length),
                    DQuat::from_vec4(dual / length),
                );
                real * point + (dual * real.conjugate()).xyz() * 2.0
            }
        }
    }
}

fn narrow(q: DQuat) -> Vec4 {
    glam::DVec4::from(q).as_vec4()
}

/// Rounds texels to 16-bit floats, in place. `false` if one is too large for them.
pub(super) fn to_half(texels: &mut [Vec4]) -> bool {
    let mut fits = true;
    for texel in texels {
        *texel = Vec4::from_array(texel.to_array().map(|v| f16::from_f32(v).to_f32()));
        fits &= texel.is_finite();
    }
    fits
}
