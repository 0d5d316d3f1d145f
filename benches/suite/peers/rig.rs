//! What several peers make of a load: folded joints, the largest influences, dense targets; and what their results are held to.

use glam::{DAffine3, DMat4, Mat4, Vec3};
use sinew::gpu::GpuError;
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::skel::{Pose, Skin};

use super::gpu::Gpu;
use crate::load::Load;

/// Skinning transforms, and the identity for joints that the skeleton lacks: what engines with a bind matrix upload.
pub fn skinning(pose: &Pose) -> Vec<Mat4> {
    transforms(pose).map(|m| m.as_mat4()).collect()
}

/// Each joint's way from prim space to where the result is wanted: what engines without a bind matrix upload.
pub fn joints(pose: &Pose) -> Vec<Mat4> {
    transforms(pose)
        .map(|m| (pose.out_from_skel * m * pose.geom_bind).as_mat4())
        .collect()
}

fn transforms(pose: &Pose) -> impl Iterator<Item = DMat4> + '_ {
    let skinning = pose.skinning.as_ref().map_or(&[][..], |s| s.as_slice());
    let every = skinning.iter().chain(std::iter::once(&DMat4::IDENTITY));
    every.map(|m| DMat4::from(DAffine3::from_mat4(*m)))
}

/// Each skin of a load, packed.
pub fn packed(load: &Load<'_>) -> Vec<PackedSkin> {
    let packed = load.skins.iter().map(|s| PackedSkin::pack("/Peer", s));
    packed.map(|skin| skin.expect("packs")).collect()
}

/// Room for each skin's dense targets of `bytes` a point, within `room` bytes each.
pub fn dense(gpu: &Gpu<'_>, load: &Load<'_>, bytes: u64, room: u64) -> Vec<Dense> {
    let skins = load.skins.iter();
    skins.map(|s| Dense::new(gpu, s, bytes, room)).collect()
}

/// An array of each skin, of the points that are measured.
pub fn of_skins(
    packed: &[PackedSkin],
    dense: &[Dense],
    f: &dyn Fn(&PackedSkin, usize) -> Vec<u32>,
) -> Vec<Vec<u32>> {
    let skins = packed.iter().zip(dense);
    skins.map(|(skin, dense)| f(skin, dense.points)).collect()
}

/// A point's palette indices and weights, as many as an engine's vertex holds: the largest, adding up to 1.
pub fn largest<const N: usize>(skin: &PackedSkin, point: usize) -> ([u16; N], [f32; N]) {
    let Some(influences) = skin.influences() else {
        return ([0; N], [0.0; N]);
    };
    let kept = influences.largest::<N>(point);
    let sum: f32 = kept.weights.iter().sum();
    let scale = if sum != 0.0 { 1.0 / sum } else { 0.0 };
    (kept.palette_indices, kept.weights.map(|w| w * scale))
}

/// Dense targets: every sub-shape holds an offset for every point.
pub struct Dense {
    /// Sub-shapes of all shapes, in-betweens among them, which none of these engines has of itself.
    pub targets: usize,
    /// Points that there is room for; the first so many are measured.
    pub points: usize,
}

/// No more than this on software devices, whose memory is the machine's.
const SOFTWARE_BYTES: u64 = 512 << 20;

impl Dense {
    /// For targets of `bytes` a point; `room` is what the device has for them, in bytes.
    pub fn new(gpu: &Gpu<'_>, skin: &Skin, bytes: u64, room: u64) -> Self {
        let targets: usize = skin
            .shapes()
            .iter()
            .flatten()
            .map(|s| s.sub_shapes().len())
            .sum();
        let room = if gpu.device.report().software {
            room.min(SOFTWARE_BYTES)
        } else {
            room
        };
        let most = match targets {
            0 => usize::MAX,
            n => (room / bytes / n as u64) as usize,
        };
        Self {
            targets,
            points: skin.points().len().min(most),
        }
    }

    /// Offsets that there is room for: (target, point, offset).
    pub fn for_each(&self, skin: &Skin, mut f: impl FnMut(usize, usize, Vec3)) {
        let mut target = 0;
        for shape in skin.shapes().iter().flatten() {
            for sub_shape in shape.sub_shapes() {
                for (entry, offset) in sub_shape.offsets.iter().enumerate() {
                    let point = shape.point_of(entry);
                    if point < self.points {
                        f(target, point, *offset);
                    }
                }
                target += 1;
            }
        }
    }
}

/// Weight of every target.
pub fn target_weights(skin: &Skin, pose: &Pose) -> Vec<f32> {
    let channels = skin.shapes().iter().zip(&pose.channel_weights);
    let shapes = channels.filter_map(|(shape, weight)| Some((shape.as_ref()?, weight)));
    shapes
        .flat_map(|(shape, weight)| shape.sub_shape_weights(f64::from(*weight)))
        .map(|weight| weight as f32)
        .collect()
}

/// Baselines know no offsets of normals and no faceVarying ones.
pub fn suits(name: &str, load: &Load<'_>) -> Result<(), GpuError> {
    let odd = |s: &Skin| s.blends_normals() || s.normal_points().is_some();
    match load.skins.iter().any(|s| odd(s)) {
        true => Err(GpuError::Mismatch(format!(
            "{name}: normals that the baseline lacks"
        ))),
        false => Ok(()),
    }
}

/// Points, and normals where there are some, that a kernel wrote for an instance: a slice of them from the first on.
pub type Read<'a> = dyn Fn(usize) -> Result<(Vec<Vec3>, Option<Vec<Vec3>>), GpuError> + 'a;

/// How far results are from the CPU mirror's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Worst {
    /// Largest distance of a point.
    pub points: f32,
    /// Largest distance between the tips of two normals of length 1.
    pub normals: f32,
    /// Largest coordinate of the mirror's points.
    pub reach: f32,
    /// Farthest that the mirror moved a point: what the distances are to be seen beside.
    pub moved: f32,
}

/// Instances that are looked at, spread over the load.
const LOOKED_AT: usize = 7;

pub fn worst(load: &Load<'_>, packed: &[PackedSkin], read: &Read<'_>) -> Result<Worst, GpuError> {
    let mut worst = Worst::default();
    let count = load.instances.len();
    let mut looked_at: Vec<usize> = (0..LOOKED_AT)
        .map(|i| i * (count - 1) / (LOOKED_AT - 1))
        .collect();
    looked_at.dedup();
    for instance in looked_at {
        let (skin, pose) = &load.instances[instance];
        let skin = &packed[*skin];
        let mut points = vec![Vec3::ZERO; skin.output_count()];
        let mut normals = skin
            .has_output_normals()
            .then(|| vec![Vec3::ZERO; skin.output_normal_count()]);
        skin_on_cpu(
            skin,
            &PackedPose::pack(skin, pose).expect("sizes that fit"),
            &mut points,
            normals.as_deref_mut(),
        )
        .expect("sizes that fit");
        let (theirs, their_normals) = read(instance)?;
        for (ours, rest) in points.iter().zip(skin.points()) {
            worst.reach = worst.reach.max(ours.abs().max_element());
            worst.moved = worst.moved.max(ours.distance(*rest));
        }
        for (ours, theirs) in points.iter().zip(&theirs) {
            // A NaN is no distance: it would be passed over by max.
            let distance = ours.distance(*theirs);
            worst.points = worst.points.max(if distance.is_nan() {
                f32::INFINITY
            } else {
                distance
            });
        }
        for (ours, theirs) in normals.iter().flatten().zip(their_normals.iter().flatten()) {
            let distance = ours
                .normalize_or_zero()
                .distance(theirs.normalize_or_zero());
            worst.normals = worst.normals.max(distance);
        }
    }
    Ok(worst)
}
