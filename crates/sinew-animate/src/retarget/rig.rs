//! Rigs: skeletons prepared for retargeting.

use std::collections::HashMap;

use glam::{DMat3, DMat4, DQuat, DVec3};

use super::Humanoid;
use super::characterise::found_axes;
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
    /// Whether most joints of the bind pose tell its space.
    bind_space_is_sure: bool,
    /// Poses of a clip: world_from_skel and joint-local transforms.
    samples: Vec<(DMat4, Vec<Trs>)>,
    placement: RigPlacement,
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
        let mut rig = Self {
            label: label.into(),
            index: index(joints, &names),
            joints: joints.to_vec(),
            names,
            parents: topology.parents().collect(),
            rest_skel,
            rest,
            bind,
            bind_skel: Vec::new(),
            bind_space_is_sure: true,
            samples: Vec::new(),
            placement,
            is_uniform,
            is_sheared,
        };
        (rig.bind_skel, rig.bind_space_is_sure) = rig.bind_near_rest();
        Ok(rig)
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

    /// The bind transforms in skeleton space: those of the file may be in world space, or in another
    /// space that the topmost joint tells. The space that brings them nearest to the rest pose counts.
    #[must_use]
    pub fn bind_skel(&self) -> &[DMat4] {
        &self.bind_skel
    }

    /// Whether the space of [`Rig::bind_skel`] is that of the skeleton or of the world, or one that most
    /// joints agree about.
    pub(super) fn bind_space_is_sure(&self) -> bool {
        self.bind_space_is_sure
    }

    fn bind_near_rest(&self) -> (Vec<DMat4>, bool) {
        let turn = |m: &DMat4| math::nearest_rotation(DMat3::from_mat4(*m));
        let mut spaces = vec![DMat4::IDENTITY];
        spaces.extend(math::try_inverse(self.placement.world_from_skel));
        if spaces.len() == 2 && !self.is_empty() {
            spaces.extend(math::try_inverse(self.bind[0]).map(|m| self.rest_skel[0] * m));
        }
        // Joints turn with all joints above them, so the lower ones count less.
        let mut weights: Vec<f64> = Vec::with_capacity(self.len());
        for parent in &self.parents {
            weights.push(parent.map_or(1.0, |p| 0.5 * weights[p]));
        }
        let off = |space: &DMat4| {
            let (mut sum, mut size) = (0.0, [0.0; 2]);
            for (j, weight) in weights.iter().enumerate() {
                let (bind, rest) = (*space * self.bind[j], self.rest_skel[j]);
                if let (Some(a), Some(b)) = (turn(&bind), turn(&rest)) {
                    sum += weight * a.angle_between(b);
                }
                if let Some(p) = self.parents[j] {
                    size[0] += (bind.w_axis - (*space * self.bind[p]).w_axis).length();
                    size[1] += (rest.w_axis - self.rest_skel[p].w_axis).length();
                }
            }
            let sizes = (size[0] / size[1]).ln().abs();
            sum + if sizes.is_finite() { sizes } else { 0.0 }
        };
        let offs: Vec<f64> = spaces.iter().map(off).collect();
        let known = if offs.get(1).is_some_and(|o| *o < offs[0]) {
            1
        } else {
            0
        };
        // The topmost joint may be turned in the rest pose, so what it tells has to fit far better.
        let kind = if offs.get(2).is_some_and(|o| *o < 0.5 * offs[known]) {
            2
        } else {
            known
        };
        let skel: Vec<DMat4> = self.bind.iter().map(|m| spaces[kind] * *m).collect();
        let local = |pose: &[DMat4], j: usize| {
            let above = self.parents[j].map_or(Some(DQuat::IDENTITY), |p| turn(&pose[p]))?;
            Some(above.inverse() * turn(&pose[j])?)
        };
        let agrees = |j: &usize| {
            let turns = local(&skel, *j).zip(local(&self.rest_skel, *j));
            turns.is_some_and(|(a, b)| a.dot(b).abs() > 1.0 - 1e-6)
        };
        let agreeing = (0..self.len()).filter(agrees).count();
        (skel, kind < 2 || agreeing * 2 > self.len())
    }

    /// Adds a pose of the clip that is to be retargeted: where its skeleton is in the world, and its
    /// joint-local transforms. A few hundred poses of all of the clip are evidence for where up and
    /// the ground are, and for how the body is built if neither bind nor rest pose stands. A pose
    /// with another number of joints is ignored.
    pub fn add_sample(&mut self, world_from_skel: DMat4, local: &[DMat4]) {
        if local.len() == self.len() {
            let local = local.iter().map(Trs::from_matrix).collect();
            self.samples.push((world_from_skel, local));
        }
    }

    /// Forgets all samples, for those of another clip.
    pub fn clear_samples(&mut self) {
        self.samples.clear();
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

    /// Finds the up axis of the clip, unless one is asked for, and with `has_unit` not set its unit:
    /// formats such as BVH declare neither. The samples and the known bones are the evidence; without
    /// them only an axis that is asked for counts. Returns by how much the axis is more likely than the next one, if it was
    /// looked for.
    pub fn find_axes(
        &mut self,
        bones: Option<&Humanoid>,
        asked: Option<DVec3>,
        has_unit: bool,
    ) -> Option<f64> {
        let found = bones.and_then(|b| found_axes(self, b.joints(), asked));
        let Some(found) = found else {
            self.placement.up = asked.unwrap_or(self.placement.up);
            return None;
        };
        self.placement.up = found.up;
        if !has_unit {
            self.placement.meters_per_unit = found.unit;
        }
        found.margin
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
