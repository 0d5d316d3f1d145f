//! A figure that plays clips: its rigs, skins and clips, and what they should look like by the
//! mirror and in f64.

use std::sync::{Arc, Mutex, PoisonError};

use glam::{DMat4, DQuat, DVec3, Vec3};
use sinew::gpu::{ClipId, Crowd, Deformed, InstanceId, RigId, SkinId};
use sinew::kernel::packed_clip::{ClipOptions, ClipSource};
use sinew::kernel::{
    JointTransform, PackedClip, PackedPose, PackedRig, PackedSkin, PlayedClips, palette_on_cpu,
    play_joints_on_cpu, play_weight_on_cpu, skin_on_cpu,
};
use sinew::math::Trs;
use sinew::sampled::{Interpolation, Sampled};
use sinew::skel::{Pose, Skeleton, Skin, SkinningMethod, Topology, reference};

use crate::cases;
use crate::compare::compare;
use crate::host::by_rig;
use crate::posing::rigs::{self, Shape, Spec};
use crate::rng::Rng;
use crate::{Failure, tolerance};

/// Channels of clips, and of the skin with blend shapes.
pub const CHANNELS: usize = 4;
/// The channel of clips that drives each channel of the skin. The host sets the last one.
pub const TABLE: [Option<u32>; CHANNELS] = [Some(2), Some(0), Some(1), None];
/// Its weight.
pub const OWN_WEIGHT: f32 = 0.35;

/// Length of each clip in seconds.
pub const LENGTHS: [f64; 4] = [1.0, 1.7, 0.6, 2.3];

#[derive(Clone)]
pub struct Figure {
    pub spec: Spec,
    pub skeleton: Skeleton,
    pub rig: Arc<PackedRig>,
    /// Without and with blend shapes.
    pub skins: Vec<(Skin, Arc<PackedSkin>)>,
    pub clips: Vec<Arc<PackedClip>>,
}

/// A figure in a crowd.
#[derive(Clone)]
pub struct Member {
    pub rig: RigId,
    pub instances: Vec<InstanceId>,
}

/// A figure's data in a crowd.
#[derive(Clone)]
pub struct Uploaded {
    pub skins: Vec<SkinId>,
    pub clips: Vec<ClipId>,
}

/// A pose in f64: local transforms, and the weights of channels of clips.
#[derive(Clone, Debug)]
pub struct Truth {
    pub joints: Vec<Trs>,
    pub weights: Vec<f64>,
}

fn clip(spec: &Spec, number: usize) -> Result<PackedClip, Failure> {
    let rng = &mut Rng::new(spec.seed * 31 + number as u64);
    let mut source = ClipSource::new(
        format!("clip {number}"),
        Topology::from_parents(rigs::parents(spec)),
    );
    source.rest = rigs::locals(spec, 0);
    let end = LENGTHS[number];
    let count = (end * 30.0).round() as usize;
    let time = |i: usize| end * i as f64 / count as f64;
    let parents = rigs::parents(spec);
    for (index, joint) in source.joints.iter_mut().enumerate() {
        let rest = &source.rest[index];
        let base = DQuat::from_array(rest.rotation.map(f64::from)).normalize();
        let mut number = |size: f32| f64::from(rng.range(-size, size));
        let axis = DVec3::new(number(1.0), number(1.0), number(1.0)).normalize_or(DVec3::Y);
        let (reach, phase) = (number(0.9), number(3.0));
        let turn = |i: usize| {
            let angle = reach * (time(i) / end * std::f64::consts::TAU + phase).sin();
            (time(i), Some(base * DQuat::from_axis_angle(axis, angle)))
        };
        joint.rotation = Sampled::new(None, (0..=count).map(turn).collect(), Interpolation::Linear);
        if parents[index].is_none() {
            let base = DVec3::from_array(rest.translation.map(f64::from));
            let way = DVec3::new(number(1.0), number(0.3), number(1.0));
            // It does not come back: a loop that jumps is the clip's own.
            let at = |i: usize| (time(i), Some(base + way * time(i)));
            joint.translation =
                Sampled::new(None, (0..=count).map(at).collect(), Interpolation::Linear);
        }
    }
    for channel in 0..CHANNELS {
        let phase = f64::from(rng.range(0.0, 6.0)) + channel as f64;
        let at = |i: usize| (time(i), Some(0.5 + 0.5 * (time(i) * 4.0 + phase).sin()));
        let curve = Sampled::new(None, (0..=count).map(at).collect(), Interpolation::Linear);
        source.weights.push(curve);
    }
    Ok(PackedClip::pack(&source, &ClipOptions::default())?.0)
}

/// A skin without and one with blend shapes.
fn skins(method: SkinningMethod, joints: usize) -> Result<Vec<(Skin, Arc<PackedSkin>)>, Failure> {
    let skin = |shapes: usize| -> Result<_, Failure> {
        let skin = cases::skin(
            &cases::Spec::default()
                .seed(90 + shapes as u64)
                .points(140)
                .joints(joints)
                .shapes(shapes)
                .method(method),
        );
        let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
        Ok((skin, packed))
    };
    Ok(vec![skin(0)?, skin(CHANNELS)?])
}

impl Figure {
    /// Packing clips takes most of a check without optimisation, so all checks share the figures.
    pub fn new(method: SkinningMethod, joints: usize) -> Result<Self, Failure> {
        type Made = Vec<((SkinningMethod, usize), Figure)>;
        static MADE: Mutex<Made> = Mutex::new(Vec::new());
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, figure)) = made.iter().find(|(of, _)| *of == (method, joints)) {
            return Ok(figure.clone());
        }
        let figure = Self::pack(method, joints)?;
        made.push(((method, joints), figure.clone()));
        Ok(figure)
    }

    fn pack(method: SkinningMethod, joints: usize) -> Result<Self, Failure> {
        let spec = Spec::default().seed(17).joints(joints).shape(Shape::Tree);
        let skeleton = rigs::skeleton(&spec);
        let rig = PackedRig::pack_for(method, &skeleton, rigs::geom_bind(&spec), true)?;
        let last = joints - 1;
        let rig = Arc::new(rig.with_attachments(&[last, joints / 2])?);
        let clips = (0..LENGTHS.len()).map(|n| clip(&spec, n).map(Arc::new));
        Ok(Self {
            skins: skins(method, joints)?,
            clips: clips.collect::<Result<_, _>>()?,
            spec,
            skeleton,
            rig,
        })
    }

    /// The skeleton with rest transforms.
    pub fn skeleton_at_rest(&self, rest: &[JointTransform]) -> Result<Skeleton, Failure> {
        let rest = rest.iter().map(JointTransform::matrix).collect();
        Ok(Skeleton::from_parents(
            "/Rig",
            self.skeleton.joints().to_vec(),
            &rigs::parents(&self.spec),
            self.skeleton.bind().to_vec(),
            Some(rest),
        )?)
    }

    /// Another figure whose skeleton has the same joints, bound in another pose, and that has the
    /// same clips.
    pub fn sibling(&self, method: SkinningMethod) -> Result<Self, Failure> {
        let other = self.spec.seed(self.spec.seed + 1);
        let skeleton = Skeleton::from_parents(
            "/Sibling",
            self.skeleton.joints().to_vec(),
            &rigs::parents(&self.spec),
            rigs::skeleton(&other).bind().to_vec(),
            None,
        )?;
        let rig = PackedRig::pack_for(method, &skeleton, rigs::geom_bind(&self.spec), true)?;
        Ok(Self {
            spec: self.spec,
            skins: skins(method, self.spec.joints)?,
            clips: self.clips.clone(),
            rig: Arc::new(rig),
            skeleton,
        })
    }

    pub fn upload(&self, crowd: &mut Crowd) -> Result<Uploaded, Failure> {
        let clips = self
            .clips
            .iter()
            .map(|clip| crowd.add_clip(Arc::clone(clip)));
        let clips = clips.collect::<Result<_, _>>()?;
        self.upload_for(crowd, clips)
    }

    /// Uploads the skins alone, for clips that are already there.
    pub fn upload_for(&self, crowd: &mut Crowd, clips: Vec<ClipId>) -> Result<Uploaded, Failure> {
        let skins = self
            .skins
            .iter()
            .map(|(_, skin)| crowd.add_skin(Arc::clone(skin)));
        let skins: Vec<SkinId> = skins.collect::<Result<_, _>>()?;
        crowd.set_clip_channels(skins[1], &TABLE)?;
        Ok(Uploaded { skins, clips })
    }

    pub fn add(&self, crowd: &mut Crowd, uploaded: &Uploaded) -> Result<Member, Failure> {
        let rig = crowd.add_rig(Arc::clone(&self.rig))?;
        let mut instances = Vec::new();
        for (skin, weights) in uploaded
            .skins
            .iter()
            .zip([&[][..], &[OWN_WEIGHT; CHANNELS]])
        {
            let instance = crowd.add_instance(*skin)?;
            crowd.set_pose(instance, by_rig(rig, &out_from_skel(), weights))?;
            instances.push(instance);
        }
        Ok(Member { rig, instances })
    }

    /// The clips that a rig plays, as it was asked.
    pub fn played(&self, numbers: [Option<usize>; 3]) -> PlayedClips<'_> {
        numbers.map(|n| n.map(|n| &*self.clips[n]))
    }

    /// The pose of a rig by the mirror, from its state.
    pub fn mirror(
        &self,
        crowd: &Crowd,
        rig: RigId,
        numbers: [Option<usize>; 3],
        held: Option<&Mirrored>,
    ) -> Mirrored {
        let ticks = sinew_ticks(crowd.clock());
        let (player, clips) = (crowd.player(rig), self.played(numbers));
        let of_held = held.map(|held| &held.joints[..]);
        let weight = |channel: usize| {
            let before = held.map_or(0.0, |held| held.weights[channel]);
            play_weight_on_cpu(&player, ticks, &clips, channel, before)
        };
        Mirrored {
            joints: play_joints_on_cpu(&self.rig, &player, ticks, &clips, of_held)
                .expect("sizes that fit"),
            weights: (0..CHANNELS).map(weight).collect(),
        }
    }

    /// The skin by the mirror, in a pose.
    fn on_cpu(&self, skin: usize, pose: &Mirrored) -> Deformed {
        let packed = &self.skins[skin].1;
        let palette = Arc::new(palette_on_cpu(&self.rig, &pose.joints).expect("sizes that fit"));
        let weights = channels(packed, |c| pose.weights[c]);
        let pose = PackedPose::with_palette(packed, Some(palette), out_from_skel(), weights)
            .expect("sizes that fit");
        let mut points = vec![Vec3::NAN; packed.point_count()];
        let mut normals = vec![Vec3::NAN; packed.point_count()];
        skin_on_cpu(packed, &pose, &mut points, Some(&mut normals)).expect("sizes that fit");
        Deformed {
            points,
            normals: Some(normals),
            ..Deformed::default()
        }
    }

    /// The skin in f64, in a pose.
    fn in_f64(&self, skin: usize, truth: &Truth) -> Result<Vec<DVec3>, Failure> {
        let locals: Vec<DMat4> = truth.joints.iter().map(matrix).collect();
        let pose = Pose::from_local(&self.skeleton, &locals)?;
        let weights = channels(&self.skins[skin].1, |c| truth.weights[c] as f32);
        let pose = pose
            .with_geom_bind(rigs::geom_bind(&self.spec))
            .with_weights(weights);
        let pose = pose.with_out_from_skel(out_from_skel());
        Ok(reference::deform(&self.skins[skin].0, &pose)?.points)
    }

    /// Whether what the GPU made of a member agrees with the mirror, and with f64.
    pub fn agrees(
        &self,
        crowd: &mut Crowd,
        member: &Member,
        mirror: &Mirrored,
        truth: Option<&Truth>,
    ) -> Result<(), Failure> {
        for (skin, id) in member.instances.iter().enumerate() {
            let found = crowd.read(&[*id])?.remove(0);
            let want = self.on_cpu(skin, mirror);
            let allowed = tolerance::played(self.rig.levels());
            let points = &found.points;
            compare("points, mirror", points, &want.points, allowed)?;
            if let (Some(found), Some(want)) = (&found.normals, &want.normals) {
                compare("normals, mirror", found, want, 10.0 * allowed)?;
            }
            if let Some(truth) = truth {
                let want = self.in_f64(skin, truth)?;
                compare("points, f64", points, &want, tolerance::PLAYED_IN_F64)?;
            }
        }
        Ok(())
    }

    /// The joints of a clip at a time, in f64.
    fn joints_at(&self, clip: usize, seconds: f64) -> Vec<Trs> {
        let clip = &self.clips[clip];
        let joint = |index: usize| {
            let joint = clip.joint(index, seconds as f32);
            let vector = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
            Trs {
                translation: vector(joint.translation),
                rotation: DQuat::from_array(joint.rotation.map(f64::from)).normalize(),
                scale: vector(joint.scale),
            }
        };
        (0..clip.joint_count()).map(joint).collect()
    }

    /// A clip at a time, in f64. The time is in the clip. A channel that it lacks has no weight.
    pub fn at(&self, clip: usize, seconds: f64) -> Truth {
        let packed = &self.clips[clip];
        let weight = |channel: usize| match channel < packed.channel_count() {
            true => f64::from(packed.weight(channel, seconds as f32)),
            false => 0.0,
        };
        Truth {
            joints: self.joints_at(clip, seconds),
            weights: (0..CHANNELS).map(weight).collect(),
        }
    }

    /// A clip that loops, at a time since its start.
    pub fn looped(&self, clip: usize, seconds: f64) -> Truth {
        let duration = f64::from(self.clips[clip].duration());
        self.at(clip, seconds.rem_euclid(duration))
    }
}

/// What the mirror makes of a rig.
#[derive(Clone, Debug)]
pub struct Mirrored {
    pub joints: Vec<JointTransform>,
    pub weights: Vec<f32>,
}

impl From<&Mirrored> for Truth {
    fn from(pose: &Mirrored) -> Self {
        let vector = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
        let joint = |joint: &JointTransform| Trs {
            translation: vector(joint.translation),
            rotation: DQuat::from_array(joint.rotation.map(f64::from)),
            scale: vector(joint.scale),
        };
        Self {
            joints: pose.joints.iter().map(joint).collect(),
            weights: pose.weights.iter().map(|w| f64::from(*w)).collect(),
        }
    }
}

impl From<&Truth> for Mirrored {
    fn from(pose: &Truth) -> Self {
        let joint = |joint: &Trs| {
            let rotation = joint.rotation.as_quat();
            JointTransform::new(joint.translation.as_vec3(), rotation, joint.scale.as_vec3())
        };
        Self {
            joints: pose.joints.iter().map(joint).collect(),
            weights: pose.weights.iter().map(|w| *w as f32).collect(),
        }
    }
}

impl Truth {
    /// Between this pose and another one: rotations by normalised linear interpolation.
    pub fn to(&self, other: &Self, share: f64) -> Self {
        let pairs = self.joints.iter().zip(&other.joints);
        let joint = |(a, b): (&Trs, &Trs)| {
            let near = if a.rotation.dot(b.rotation) < 0.0 {
                -b.rotation
            } else {
                b.rotation
            };
            Trs {
                translation: a.translation.lerp(b.translation, share),
                rotation: (a.rotation * (1.0 - share) + near * share).normalize(),
                scale: a.scale.lerp(b.scale, share),
            }
        };
        let weights = self.weights.iter().zip(&other.weights);
        Self {
            joints: pairs.map(joint).collect(),
            weights: weights.map(|(a, b)| a + (b - a) * share).collect(),
        }
    }

    /// With the change from one pose to another one on top.
    pub fn plus(&self, begin: &Self, end: &Self, weight: f64) -> Self {
        let joint = |((a, begin), end): ((&Trs, &Trs), &Trs)| {
            let turn = begin.rotation.conjugate() * end.rotation;
            let near = if turn.w < 0.0 { -turn } else { turn };
            let share = DQuat::IDENTITY * (1.0 - weight) + near * weight;
            Trs {
                translation: a.translation + (end.translation - begin.translation) * weight,
                rotation: a.rotation * share.normalize(),
                scale: a.scale + (end.scale - begin.scale) * weight,
            }
        };
        let joints = self.joints.iter().zip(&begin.joints).zip(&end.joints);
        let weights = self.weights.iter().zip(&begin.weights).zip(&end.weights);
        Self {
            joints: joints.map(joint).collect(),
            weights: weights.map(|((a, b), e)| a + (e - b) * weight).collect(),
        }
    }
}

fn matrix(joint: &Trs) -> DMat4 {
    sinew::math::make_transform(joint.translation, joint.rotation, joint.scale)
}

/// The weights of a skin's channels, of which clips drive some.
fn channels(skin: &PackedSkin, weight: impl Fn(usize) -> f32) -> Vec<f32> {
    let of = |channel: &Option<u32>| channel.map_or(OWN_WEIGHT, |c| weight(c as usize));
    TABLE.iter().take(skin.channel_count()).map(of).collect()
}

pub fn out_from_skel() -> DMat4 {
    DMat4::from_translation(DVec3::new(0.5, -1.0, 2.0)) * DMat4::from_rotation_y(0.8)
}

/// The tick of a time of the clock.
pub fn sinew_ticks(seconds: f64) -> u32 {
    (seconds * 65536.0).round() as i64 as u32
}
