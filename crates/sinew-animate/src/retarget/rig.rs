//! Rigs: skeletons prepared for retargeting.

use std::collections::HashMap;

use glam::{DMat3, DMat4, DVec3};

use super::Humanoid;
use super::characterise::found_up;
use sinew::error::Invalid;
use sinew::math::{self, Trs};
use sinew::skel::Skeleton;
use sinew::skel::utils::{compute_joint_local_transforms, concat_joint_transforms};

/// The transform of a skeleton to its world, and the up axis and unit of that world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigPlacement {
    /// The transform from skeleton space to the world.
    pub world_from_skel: DMat4,
    /// The world's up direction, of unit length.
    pub up: DVec3,
    /// Length of one unit of the world, in metres.
    pub meters_per_unit: f64,
}

impl Default for RigPlacement {
    /// The origin of a world in metres with Y up.
    fn default() -> Self {
        Self {
            world_from_skel: DMat4::IDENTITY,
            up: DVec3::Y,
            meters_per_unit: 1.0,
        }
    }
}

/// The joints, hierarchy, rest pose and bind pose of a skeleton, and its placement. Parents come
/// before children.
#[derive(Clone, Debug)]
pub struct Rig {
    label: String,
    joints: Vec<String>,
    names: Vec<String>,
    parents: Vec<Option<usize>>,
    /// Joint-local.
    rest: Vec<Trs>,
    /// skel_from_joint.
    rest_skel: Vec<DMat4>,
    /// In the space of the file.
    bind: Vec<DMat4>,
    /// In skeleton space.
    bind_skel: Vec<DMat4>,
    /// Poses of a clip: world_from_skel and joint-local transforms.
    samples: Vec<(DMat4, Vec<Trs>)>,
    placement: RigPlacement,
    up_margin: Option<f64>,
    is_uniform: bool,
    is_sheared: bool,
    /// For each name: a joint, and how many joints have the name.
    index: HashMap<String, (usize, usize)>,
}

impl Rig {
    /// Makes a rig from a skeleton. `label` is its name in messages. The names of the joints are
    /// the skeleton's jointNames or, without them, the last parts of the joint paths.
    ///
    /// If the skeleton has no rest transforms, the bind pose is used as the rest pose, and the other
    /// way round.
    ///
    /// # Errors
    /// [`Invalid`] if the skeleton has neither rest nor bind transforms.
    pub fn new(
        label: impl Into<String>,
        skeleton: &Skeleton,
        placement: RigPlacement,
    ) -> Result<Self, Invalid> {
        let joints = skeleton.joints();
        let topology = skeleton.topology();
        let bind = skeleton.inverse_bind().map(|_| skeleton.bind());
        // Cannot fail: there is one transform per joint, and the bind transforms are invertible.
        let wrong = |e: sinew::skel::utils::UtilError| {
            Invalid::new(
                skeleton.path(),
                "restTransforms",
                "joint transforms",
                e.to_string(),
            )
        };
        let rest_local = match (skeleton.rest(), &bind) {
            (Some(rest), _) => rest.to_vec(),
            (None, Ok(bind)) => {
                compute_joint_local_transforms(topology, bind, None).map_err(wrong)?
            }
            (None, Err(e)) => return Err(e.clone()),
        };
        let rest_skel = concat_joint_transforms(topology, &rest_local, None).map_err(wrong)?;
        let bind = match bind {
            Ok(bind) => bind.to_vec(),
            Err(_) => rest_skel.clone(),
        };
        let names = match skeleton.joint_names() {
            Some(names) => names.to_vec(),
            None => joints.iter().map(|j| leaf(j).to_owned()).collect(),
        };
        let rest: Vec<Trs> = rest_local.iter().map(Trs::from_matrix).collect();
        let is_uniform = rest.iter().all(|t| {
            let largest = t.scale.abs().max_element();
            (t.scale.max_element() - t.scale.min_element()).abs() <= 1e-9 * largest
        });
        let is_sheared = rest_local.iter().zip(&rest).any(|(m, trs)| {
            let size = m
                .to_cols_array()
                .into_iter()
                .map(f64::abs)
                .fold(0.0, f64::max);
            !trs.matrix().abs_diff_eq(*m, 1e-6 * size)
        });
        let parents: Vec<Option<usize>> = topology.parents().collect();
        let bind_skel = bind_near_rest(&bind, &rest_skel, &parents, placement.world_from_skel);
        Ok(Self {
            label: label.into(),
            index: index(joints, &names),
            joints: joints.to_vec(),
            names,
            parents,
            rest_skel,
            rest,
            bind,
            bind_skel,
            samples: Vec::new(),
            placement,
            up_margin: None,
            is_uniform,
            is_sheared,
        })
    }

    /// The name of the rig in messages.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Number of joints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Whether there are no joints.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// Joint paths.
    #[must_use]
    pub fn joints(&self) -> &[String] {
        &self.joints
    }

    /// The original names of the joints, such as those of the nodes in a glTF file.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The index of each joint's parent; `None` for roots.
    #[must_use]
    pub fn parents(&self) -> &[Option<usize>] {
        &self.parents
    }

    /// Joint-local rest transforms, without their shear.
    #[must_use]
    pub fn rest(&self) -> &[Trs] {
        &self.rest
    }

    /// skel_from_joint in the rest pose.
    #[must_use]
    pub fn rest_skel(&self) -> &[DMat4] {
        &self.rest_skel
    }

    /// The bind transforms as they are in the file: in skeleton space, in world space or in another
    /// space.
    #[must_use]
    pub fn bind(&self) -> &[DMat4] {
        &self.bind
    }

    /// The bind transforms in skeleton space, if those of the file are in it or in world space: the
    /// space that brings them nearer to the rest pose counts.
    #[must_use]
    pub fn bind_skel(&self) -> &[DMat4] {
        &self.bind_skel
    }

    /// Adds a pose of the clip that is to be retargeted: where its skeleton is in the world, and its
    /// joint-local transforms, in the units of the rig's placement and rest pose. A few hundred
    /// poses of all of the clip are evidence for where up and the ground are, and for how the body is
    /// built if neither bind nor rest pose stands. A pose with another number of joints is ignored.
    pub fn add_sample(&mut self, world_from_skel: DMat4, local: &[DMat4]) {
        if local.len() == self.len() {
            let local = local.iter().map(Trs::from_matrix).collect();
            self.samples.push((world_from_skel, local));
        }
    }

    /// The samples: world_from_skel and joint-local transforms.
    pub(super) fn local_samples(&self) -> &[(DMat4, Vec<Trs>)] {
        &self.samples
    }

    /// world_from_joint of each sample.
    pub(super) fn samples(&self) -> impl Iterator<Item = Vec<DMat4>> + '_ {
        self.samples.iter().map(|(world, local)| {
            let mut out: Vec<DMat4> = Vec::with_capacity(local.len());
            for (local, parent) in local.iter().zip(&self.parents) {
                out.push(parent.map_or(*world, |p| out[p]) * local.matrix());
            }
            out
        })
    }

    /// Finds the up axis of a clip whose format declares none, such as BVH. The samples and the known
    /// bones are the evidence; without them the axis of the placement stays. If the axis is only a
    /// little more likely than the next one, [`super::Retargeter::warnings`] says so.
    pub fn find_up(&mut self, bones: &Humanoid) {
        if let Some((up, margin)) = found_up(self, bones.joints()) {
            self.placement.up = up;
            self.up_margin = Some(margin);
        }
    }

    /// Takes an up axis, of unit length, in place of that of the placement.
    pub fn set_up(&mut self, up: DVec3) {
        self.placement.up = up;
        self.up_margin = None;
    }

    /// By how much the up axis is more likely than the next one, if it was found.
    pub(super) fn up_margin(&self) -> Option<f64> {
        self.up_margin
    }

    /// The placement of the skeleton in its world.
    #[must_use]
    pub fn placement(&self) -> &RigPlacement {
        &self.placement
    }

    /// Whether every rest scale is the same on all axes, so that world rotations are products of
    /// local ones.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.is_uniform
    }

    /// Whether some rest transform has shear, which translation, rotation and scale cannot express.
    #[must_use]
    pub fn is_sheared(&self) -> bool {
        self.is_sheared
    }

    /// A joint and its ancestors, nearest first.
    pub fn chain(&self, joint: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(joint), |j| self.parents[*j])
    }

    /// The index of the joint with this name. The name is an original name, the last part of a
    /// joint path or a full joint path; they are tried in this order.
    ///
    /// # Errors
    /// The number of joints with this name, if it is not 1.
    pub fn find(&self, name: &str) -> Result<usize, usize> {
        match self.index.get(name) {
            Some((joint, 1)) => Ok(*joint),
            Some((_, count)) => Err(*count),
            None => Err(0),
        }
    }

    /// The shortest name by which [`Rig::find`] finds this joint.
    #[must_use]
    pub fn unique_name(&self, joint: usize) -> &str {
        let name = &self.names[joint];
        match self.find(name) == Ok(joint) {
            true => name,
            false => &self.joints[joint],
        }
    }
}

/// Bind transforms in skeleton space, from skeleton or world space: the space counts in which joints
/// are turned, bones are long and the topmost joint is placed more as at rest.
fn bind_near_rest(
    bind: &[DMat4],
    rest_skel: &[DMat4],
    parents: &[Option<usize>],
    world_from_skel: DMat4,
) -> Vec<DMat4> {
    let turn = |m: DMat4| math::nearest_rotation(DMat3::from_mat4(m));
    let off = |space: &DMat4| {
        // Joints turn with all joints above them, so the lower ones count less.
        let mut weights: Vec<f64> = Vec::with_capacity(bind.len());
        let (mut sum, mut size) = (0.0, [0.0; 2]);
        for (j, parent) in parents.iter().enumerate() {
            weights.push(parent.map_or(1.0, |p| 0.5 * weights[p]));
            let turns = turn(*space * bind[j]).zip(turn(rest_skel[j]));
            sum += turns.map_or(0.0, |(a, b)| weights[j] * a.angle_between(b));
            if let Some(p) = parent {
                size[0] += (*space * (bind[j].w_axis - bind[*p].w_axis)).length();
                size[1] += (rest_skel[j].w_axis - rest_skel[*p].w_axis).length();
            }
        }
        let moved = bind.first().zip(rest_skel.first());
        let moved = moved.map_or(0.0, |(a, b)| {
            (*space * a.w_axis - b.w_axis).length() / size[1]
        });
        let sizes = (size[0] / size[1]).ln().abs() + moved;
        sum + if sizes.is_finite() { sizes } else { 0.0 }
    };
    let world = math::try_inverse(world_from_skel);
    let world = world.filter(|world| off(world) < off(&DMat4::IDENTITY));
    let space = world.unwrap_or(DMat4::IDENTITY);
    bind.iter().map(|m| space * *m).collect()
}

/// The last part of a joint path.
pub(super) fn leaf(joint: &str) -> &str {
    joint.rsplit('/').next().unwrap_or(joint)
}

/// For each name: a joint, and how many joints have the name. Original names come first, then last
/// parts of paths, then full paths. A name that several joints have is replaced by a later kind of
/// name that is unique.
fn index(joints: &[String], names: &[String]) -> HashMap<String, (usize, usize)> {
    let mut out: HashMap<String, (usize, usize)> = HashMap::new();
    let leaves: Vec<&str> = joints.iter().map(|j| leaf(j)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let paths: Vec<&str> = joints.iter().map(String::as_str).collect();
    for kind in [names, leaves, paths] {
        let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
        for (joint, name) in kind.into_iter().enumerate() {
            counts.entry(name).or_insert((joint, 0)).1 += 1;
        }
        for (name, found) in counts {
            let known = out.entry(name.to_owned()).or_insert(found);
            if known.1 > 1 && found.1 == 1 {
                *known = found;
            }
        }
    }
    out
}
