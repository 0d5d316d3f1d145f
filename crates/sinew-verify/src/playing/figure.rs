//! A figure that plays clips: its rigs, skins and clips, and what the skins look like in a pose by the
//! mirror and in f64.

use std::sync::{Arc, Mutex, PoisonError};

use glam::{DMat4, DQuat, DVec3, Vec3};
use sinew::gpu::{ClipId, Crowd, Deformed, InstanceId, RigId, SkinId};
use sinew::kernel::packed_clip::{ClipOptions, ClipSource};
use sinew::kernel::{PackedClip, PackedPose, PackedRig, PackedSkin, palette_on_cpu};
use sinew::math::Trs;
use sinew::sampled::{Interpolation, Sampled};
use sinew::skel::{Pose, Skeleton, SkinningMethod, Topology, reference};

use super::show::{Mirrored, Truth};
use crate::cases::Spec;
use crate::compare::compare;
use crate::crowds::made::{Made, made};
use crate::host::by_rig;
use crate::outputs::shown::on_cpu;
use crate::posing::rigs::{self, Shape, Spec as RigSpec};
use crate::rng::Rng;
use crate::{Failure, ensure, measured, tolerance};

/// Channels of clips, and of the skin with blend shapes.
pub const CHANNELS: usize = 4;
/// The channel of clips that drives each channel of the skin. The host sets the last one.
pub const TABLE: [Option<u32>; CHANNELS] = [Some(2), Some(0), Some(1), None];
/// Its weight.
pub const OWN_WEIGHT: f32 = 0.35;

/// Length of each clip in seconds.
pub const LENGTHS: [f64; 4] = [1.0, 1.7, 0.6, 2.3];

pub struct Figure {
    pub spec: RigSpec,
    pub skeleton: Skeleton,
    pub rig: Arc<PackedRig>,
    /// Without and with blend shapes.
    pub skins: [Made; 2],
    pub clips: Vec<Arc<PackedClip>>,
}

/// A figure's data in a crowd.
#[derive(Clone)]
pub struct Uploaded {
    pub skins: Vec<SkinId>,
    pub clips: Vec<ClipId>,
}

fn clip(spec: &RigSpec, number: usize) -> Result<PackedClip, Failure> {
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
fn skins(method: SkinningMethod, joints: usize) -> [Made; 2] {
    let base = Spec::default().points(140).joints(joints).method(method);
    let with = base.seed(94).shapes(CHANNELS).own_joints(true);
    [made(&base.seed(90)), made(&with)]
}

impl Figure {
    /// Packing clips takes most of a check without optimisation, so all checks share the figures.
    pub fn new(method: SkinningMethod, joints: usize) -> Result<Arc<Self>, Failure> {
        type Made = Vec<((SkinningMethod, usize), Arc<Figure>)>;
        static MADE: Mutex<Made> = Mutex::new(Vec::new());
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, figure)) = made.iter().find(|(of, _)| *of == (method, joints)) {
            return Ok(Arc::clone(figure));
        }
        let figure = Arc::new(Self::pack(method, joints)?);
        made.push(((method, joints), Arc::clone(&figure)));
        Ok(figure)
    }

    /// A figure without clips, on another skeleton.
    pub fn posed(spec: RigSpec) -> Result<Arc<Self>, Failure> {
        Ok(Arc::new(Self::of(SkinningMethod::ClassicLinear, spec)?))
    }

    fn pack(method: SkinningMethod, joints: usize) -> Result<Self, Failure> {
        let spec = RigSpec::default()
            .seed(17)
            .joints(joints)
            .shape(Shape::Tree);
        let clips = (0..LENGTHS.len()).map(|n| clip(&spec, n).map(Arc::new));
        Ok(Self {
            clips: clips.collect::<Result<_, _>>()?,
            ..Self::of(method, spec)?
        })
    }

    fn of(method: SkinningMethod, spec: RigSpec) -> Result<Self, Failure> {
        let skeleton = rigs::skeleton(&spec);
        let rig = PackedRig::pack_for(method, &skeleton, rigs::geom_bind(&spec), true)?;
        let mut attached = vec![spec.joints - 1, spec.joints / 2];
        attached.dedup();
        Ok(Self {
            skins: skins(method, spec.joints),
            clips: Vec::new(),
            rig: Arc::new(rig.with_attachments(&attached)?),
            spec,
            skeleton,
        })
    }

    /// Another figure whose skeleton has the same joints, bound in another pose, and that has the
    /// same clips.
    pub fn sibling(&self, method: SkinningMethod) -> Result<Arc<Self>, Failure> {
        let other = self.spec.seed(self.spec.seed + 1);
        let skeleton = Skeleton::from_parents(
            "/Sibling",
            self.skeleton.joints().to_vec(),
            &rigs::parents(&self.spec),
            rigs::skeleton(&other).bind().to_vec(),
            None,
        )?;
        let rig = PackedRig::pack_for(method, &skeleton, rigs::geom_bind(&self.spec), true)?;
        Ok(Arc::new(Self {
            spec: self.spec,
            skins: skins(method, self.spec.joints),
            clips: self.clips.clone(),
            rig: Arc::new(rig),
            skeleton,
        }))
    }

    pub fn upload(&self, crowd: &mut Crowd) -> Result<Uploaded, Failure> {
        let clips = self.clips.iter();
        let clips = clips.map(|clip| crowd.add_clip(Arc::clone(clip)));
        let clips = clips.collect::<Result<_, _>>()?;
        self.upload_for(crowd, clips)
    }

    /// Uploads the skins alone, for clips that are already there.
    pub fn upload_for(&self, crowd: &mut Crowd, clips: Vec<ClipId>) -> Result<Uploaded, Failure> {
        let skins = self.skins.iter();
        let skins = skins.map(|made| crowd.add_skin(Arc::clone(&made.packed)));
        let skins: Vec<SkinId> = skins.collect::<Result<_, _>>()?;
        crowd.set_clip_channels(skins[1], &TABLE)?;
        Ok(Uploaded { skins, clips })
    }

    /// Adds a rig, and an instance of each skin.
    pub fn add(
        &self,
        crowd: &mut Crowd,
        uploaded: &Uploaded,
    ) -> Result<(RigId, Vec<InstanceId>), Failure> {
        let rig = crowd.add_rig(Arc::clone(&self.rig))?;
        let mut instances = Vec::new();
        let weights = [&[][..], &[OWN_WEIGHT; CHANNELS]];
        for (skin, weights) in uploaded.skins.iter().zip(weights) {
            let instance = crowd.add_instance(*skin)?;
            crowd.set_pose(instance, by_rig(rig, &out_from_skel(), weights))?;
            instances.push(instance);
        }
        Ok((rig, instances))
    }

    /// The bytes of a small binding that holds all clips.
    pub fn clip_page(&self, least: u64) -> u64 {
        let words: usize = self.clips.iter().map(|clip| clip.words().len()).sum();
        (words as u64 * 4 + 1024).max(least)
    }

    /// The skin by the mirror, in a pose.
    fn on_cpu(&self, skin: usize, pose: &Mirrored) -> Deformed {
        let packed = &self.skins[skin].packed;
        let palette = Arc::new(palette_on_cpu(&self.rig, &pose.joints).expect("sizes that fit"));
        let weights = channels(packed, &pose.weights);
        let pose = PackedPose::with_palette(packed, Some(palette), out_from_skel(), weights)
            .expect("sizes that fit");
        on_cpu(packed, &pose)
    }

    /// The skin in f64, in a pose.
    fn in_f64(&self, skin: usize, truth: &Truth) -> Result<reference::Deformed, Failure> {
        let locals: Vec<DMat4> = truth.joints.iter().map(Trs::matrix).collect();
        let pose = Pose::from_local(&self.skeleton, &locals)?;
        let weights: Vec<f32> = truth.weights.iter().map(|w| *w as f32).collect();
        let weights = channels(&self.skins[skin].packed, &weights);
        let pose = pose
            .with_geom_bind(rigs::geom_bind(&self.spec))
            .with_weights(weights);
        let pose = pose.with_out_from_skel(out_from_skel());
        Ok(reference::deform(&self.skins[skin].skin, &pose)?)
    }

    /// Whether what the GPU made of the two skins agrees with the mirror; and with f64, if it plays.
    pub fn agrees(
        &self,
        found: &[Deformed],
        mirror: &Mirrored,
        truth: &Truth,
    ) -> Result<(), Failure> {
        ensure(found.len() == 2, "two skins")?;
        let plays = !mirror.weights.is_empty();
        let allowed = match plays {
            true => tolerance::played(self.rig.levels()),
            false => tolerance::posed(self.rig.levels()),
        };
        for (skin, found) in found.iter().enumerate() {
            let want = self.on_cpu(skin, mirror);
            compare("points, mirror", &found.points, &want.points, allowed)?;
            let normals = found.normals.as_ref().zip(want.normals.as_ref());
            let (normals, want) = normals.ok_or("no normals")?;
            // Down a long chain of scales only f64 holds the inverse.
            let is_lost = self.spec.least_scale < 0.99 && self.spec.joints > 6;
            if plays || is_lost {
                let truth = self.in_f64(skin, truth)?;
                if is_lost {
                    let truth = truth.normals.as_ref().ok_or("no normals in f64")?;
                    as_near(normals, want, truth, 10.0 * allowed)?;
                    continue;
                }
                let (points, want) = (&found.points, &truth.points);
                compare("points, f64", points, want, tolerance::PLAYED_IN_F64)?;
            }
            compare("normals, mirror", normals, want, 10.0 * allowed)?;
        }
        Ok(())
    }
}

/// Whether the GPU's normals are about as near to those in f64 as the mirror's are: half of them, and nine in ten. The rest are
/// where next to nothing is left of the sum that is normalised, so that rounding decides.
fn as_near(gpu: &[Vec3], mirror: &[Vec3], truth: &[DVec3], allowed: f64) -> Result<(), String> {
    let off = |normals: &[Vec3]| {
        let pairs = normals.iter().zip(truth);
        let mut off: Vec<f64> = pairs.map(|(a, b)| a.as_dvec3().distance(*b)).collect();
        off.sort_by(f64::total_cmp);
        off
    };
    let (gpu, mirror) = (off(gpu), off(mirror));
    if gpu.len() != truth.len() || gpu.iter().any(|d| d.is_nan()) {
        return Err(format!("{} normals, or one is NaN", gpu.len()));
    }
    for share in [0.5, 0.9] {
        let at = (gpu.len() as f64 * share) as usize;
        let most = tolerance::AS_NEAR_AS_THE_MIRROR * mirror[at] + allowed;
        measured::note(gpu[at], most);
        if gpu[at] > most {
            return Err(format!(
                "{share} of normals are off by {}, not {most}",
                gpu[at]
            ));
        }
    }
    Ok(())
}

/// The weights of a skin's channels, of which clips drive some if they drive any.
fn channels(skin: &PackedSkin, weights: &[f32]) -> Vec<f32> {
    let of = |channel: &Option<u32>| {
        let driven = channel.and_then(|channel| weights.get(channel as usize));
        driven.copied().unwrap_or(OWN_WEIGHT)
    };
    TABLE.iter().take(skin.channel_count()).map(of).collect()
}

pub fn out_from_skel() -> DMat4 {
    DMat4::from_translation(DVec3::new(0.5, -1.0, 2.0)) * DMat4::from_rotation_y(0.8)
}
