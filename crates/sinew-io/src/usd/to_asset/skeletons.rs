//! Skeletons as trees of nodes, and skins.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DMat4, DVec3};

use super::misfits::{INVISIBLE, Misfit};
use super::nodes::{NodeBuilder, local_transform, tracks};
use super::time::{Clock, merged};
use sinew::error::Invalid;
use sinew::math::{make_transform, try_inverse};
use sinew::sampled::Time;
use sinew::skel::{AnimMapper, SkelAnimation, Skeleton};
use sinew_animate::asset::{
    AssetSkin, Curve, CurveInterpolation, Keys, LocalTransform, Track, TrackTarget, Trs,
};

/// Rotations whose length differs from 1 by less than this are rounding.
const UNIT: f64 = 1e-5;

/// A Skeleton with the nodes of its joints.
pub(super) struct JointNodes {
    pub skeleton: Arc<Skeleton>,
    /// The node in whose space the Skeleton is; `None` for the world.
    pub space: Option<usize>,
    /// The node of each joint.
    pub nodes: Vec<usize>,
    /// Whether some clip moves each joint.
    pub moved: Vec<bool>,
    /// What clips do with the joints that nodes cannot.
    pub misfits: Vec<Misfit>,
    /// The shear at rest of joints that clips move, which their nodes lack.
    pub shear: Option<Misfit>,
    /// joint_from_parent at rest.
    rest: Vec<Trs>,
    /// A node at the Skeleton's own place, for influences of joints that the Skeleton lacks.
    unmapped: Option<usize>,
    skins: HashMap<(Vec<u64>, bool), usize>,
}

impl JointNodes {
    /// Adds the joints of a Skeleton below `space`. `moved` says of each joint whether some clip
    /// moves it: it can have no shear at rest then.
    pub fn new(
        builder: &mut NodeBuilder<'_>,
        skeleton: &Arc<Skeleton>,
        space: Option<usize>,
        moved: Vec<bool>,
    ) -> Self {
        let names = joint_names(skeleton);
        let locals = rest_transforms(skeleton);
        let first = builder.nodes.len();
        let mut rest = Vec::with_capacity(locals.len());
        let mut sheared = 0;
        for (joint, parent) in skeleton.topology().parents().enumerate() {
            let mut local = local_transform(&locals[joint]);
            if moved[joint] && matches!(local, LocalTransform::Matrix(_)) {
                local = LocalTransform::Trs(local.trs());
                sheared += 1;
            }
            rest.push(local.trs());
            let parent = parent.map_or(space, |p| Some(first + p));
            builder.push(&names[joint], parent, local);
        }
        let shear = (sheared > 0).then(|| Misfit {
            code: "rest-shear",
            what: format!(
                "the rest transforms of {sheared} joints that clips move have shear, which nodes that move cannot have: it is left out at rest"
            ),
            least: INVISIBLE,
        });
        Self {
            skeleton: skeleton.clone(),
            space,
            nodes: (first..builder.nodes.len()).collect(),
            moved,
            misfits: Vec::new(),
            shear,
            rest,
            unmapped: None,
            skins: HashMap::new(),
        }
    }

    /// The joint index of influences of joints that the Skeleton lacks, which do not move.
    pub fn unmapped_joint(&self) -> usize {
        self.nodes.len()
    }

    /// The skin for prims with this geomBindTransform: all joints, in the Skeleton's order.
    ///
    /// # Errors
    /// A Skeleton without bind transforms that can be inverted.
    pub fn skin(
        &mut self,
        geom_bind: DMat4,
        has_unmapped: bool,
        builder: &mut NodeBuilder<'_>,
        skins: &mut Vec<AssetSkin>,
    ) -> Result<usize, Invalid> {
        let bits = geom_bind.to_cols_array().map(f64::to_bits).to_vec();
        if let Some(known) = self.skins.get(&(bits.clone(), has_unmapped)) {
            return Ok(*known);
        }
        let inverse = self.skeleton.inverse_bind()?;
        let mut joints = self.nodes.clone();
        let mut inverse_bind: Vec<DMat4> = inverse.iter().map(|m| *m * geom_bind).collect();
        if has_unmapped {
            let name = name_of(self.skeleton.path());
            let space = self.space;
            let node = *self.unmapped.get_or_insert_with(|| {
                let rest = LocalTransform::default();
                builder.push(&format!("{name}_unmoved"), space, rest)
            });
            joints.push(node);
            inverse_bind.push(geom_bind);
        }
        skins.push(AssetSkin {
            name: name_of(self.skeleton.path()).to_owned(),
            joints,
            inverse_bind,
            ..AssetSkin::default()
        });
        self.skins.insert((bits, has_unmapped), skins.len() - 1);
        Ok(skins.len() - 1)
    }

    /// The tracks of an animation's joints. Keys are at the animation's own times.
    pub fn tracks(&self, animation: &SkelAnimation, clock: &Clock) -> Vec<Track> {
        let mapper = AnimMapper::new(&animation.joints, self.skeleton.joints());
        if mapper.reaches_nothing() {
            return Vec::new();
        }
        let times = joint_times(animation, clock);
        let seconds: Vec<f64> = times.iter().map(|t| clock.seconds(*t)).collect();
        let targets: Vec<Option<usize>> = mapper.targets().collect();
        let mut keys: HashMap<usize, Vec<Trs>> = HashMap::new();
        for (at, time) in times.iter().enumerate() {
            let components = Components::of(animation, Time::At(*time));
            for (source, target) in targets.iter().enumerate() {
                let Some(joint) = target else { continue };
                let list = keys.entry(*joint).or_default();
                let key = match &components {
                    Some(components) => components.get(source),
                    None => self.rest[*joint],
                };
                // Of joints that are listed twice, the last one counts.
                list.truncate(at);
                list.push(key);
            }
        }
        let mut joints: Vec<usize> = keys.keys().copied().collect();
        joints.sort_unstable();
        let of_joint = |j: &usize| tracks(self.nodes[*j], &seconds, &keys[j], self.rest[*j]);
        let mut out: Vec<Track> = joints.iter().flat_map(of_joint).collect();
        if out.is_empty()
            && let Some(joint) = joints.first()
        {
            // A clip that keeps the rest is a clip all the same.
            out.push(Track {
                target: TrackTarget::Node(self.nodes[*joint]),
                curve: Curve {
                    interpolation: CurveInterpolation::Linear,
                    keys: Keys::Translation(vec![self.rest[*joint].translation; seconds.len()]),
                    times: seconds,
                },
            });
        }
        out
    }
}

/// The times of an animation's joints; the start of the range if it has none.
pub(super) fn joint_times(animation: &SkelAnimation, clock: &Clock) -> Vec<f64> {
    let float_scales = animation.float_scales.iter().flat_map(|s| s.times());
    let times = merged(animation.joint_times().chain(float_scales).collect());
    match times.is_empty() {
        true => vec![clock.start()],
        false => times,
    }
}

/// The times at which the joints of an animation rest for want of values, and the number of all its
/// times.
pub(super) fn blocked_times(animation: &SkelAnimation, clock: &Clock) -> [usize; 2] {
    let times = joint_times(animation, clock);
    let is_blocked = |time: &&f64| Components::of(animation, Time::At(**time)).is_none();
    [times.iter().filter(is_blocked).count(), times.len()]
}

/// The values of an animation at one time.
struct Components {
    translations: Arc<Vec<glam::Vec3>>,
    rotations: Arc<Vec<glam::Quat>>,
    scales: Vec<DVec3>,
}

impl Components {
    /// `None` if the animation is ignored then (rule 8).
    fn of(animation: &SkelAnimation, time: Time) -> Option<Self> {
        animation.joint_local_transforms(time)?;
        let scales = match &animation.float_scales {
            Some(scales) => scales.at(time)?.iter().map(|s| s.as_dvec3()).collect(),
            None => {
                let scales = animation.scales.at(time)?;
                let wide = scales.iter().map(|s| DVec3::from_array(s.map(f64::from)));
                wide.collect()
            }
        };
        Some(Self {
            translations: animation.translations.at(time)?,
            rotations: animation.rotations.at(time)?,
            scales,
        })
    }

    fn get(&self, joint: usize) -> Trs {
        let translation = self.translations[joint].as_dvec3();
        let rotation = self.rotations[joint].as_dquat();
        let scale = self.scales[joint];
        if (rotation.length() - 1.0).abs() < UNIT {
            return Trs {
                translation,
                rotation: rotation.normalize(),
                scale,
            };
        }
        // UsdSkel takes such a rotation as it is, which is more than a rotation.
        Trs::from_matrix(&make_transform(translation, rotation, scale))
    }
}

/// The names of joints: jointNames if they are authored, or else the last parts of their paths.
fn joint_names(skeleton: &Skeleton) -> Vec<String> {
    let authored = skeleton.joint_names().unwrap_or_default();
    let joints = skeleton.joints().iter().enumerate();
    joints
        .map(|(i, path)| match authored.get(i) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => name_of(path).to_owned(),
        })
        .collect()
}

/// parent_from_joint of each joint at rest, or in the bind pose if there is no rest.
fn rest_transforms(skeleton: &Skeleton) -> Vec<DMat4> {
    if let Some(rest) = skeleton.rest() {
        return rest.to_vec();
    }
    let bind = skeleton.bind();
    let parents = skeleton.topology().parents().enumerate();
    parents
        .map(|(joint, parent)| {
            let own = bind.get(joint).copied().unwrap_or_default();
            let above = parent.and_then(|p| try_inverse(*bind.get(p)?));
            above.map_or(own, |above| above * own)
        })
        .collect()
}

/// The last part of a path.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
