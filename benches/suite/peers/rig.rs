//! What several peers make of a load: folded joints, the largest influences, dense targets; and what their results are held to.

use bytemuck::Pod;
use glam::{DAffine3, DMat4, Mat4, Vec3};
use sinew::gpu::{GpuDevice, GpuError};
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::skel::{Pose, Skin};

use super::gpu::{Arrays, Clock, Dispatch, Gpu};
use super::{About, Load, Peer, Result};
use crate::measure::Runs;

/// A load on its way through a peer's kernels.
pub struct Frame<'a> {
    pub about: About,
    pub gpu: Gpu<'a>,
    pub load: &'a Load<'a>,
    /// What the instances of each skin share.
    pub rests: Vec<Rest<'a>>,
    pub dispatches: Vec<Dispatch>,
    /// What the dispatches read and write, palettes apart.
    pub bytes: usize,
}

/// A skin, and how much of it there is room for.
pub struct Rest<'a> {
    pub skin: &'a Skin,
    pub packed: PackedSkin,
    /// Sub-shapes of all shapes, in-betweens among them, which none of these engines has of itself. Every one of these dense
    /// targets holds an offset for every point.
    pub targets: usize,
    /// Points that there is room for; the first so many are measured.
    pub points: usize,
}

/// No more than this on software devices, whose memory is the machine's.
const SOFTWARE_BYTES: u64 = 512 << 20;

impl<'a> Frame<'a> {
    /// For dense targets of `bytes` a point, which share one array where `is_shared`.
    ///
    /// # Errors
    /// Baselines know no offsets of normals and no faceVarying ones.
    pub fn new(
        about: About,
        device: &'a GpuDevice,
        load: &'a Load<'a>,
        bytes: u64,
        is_shared: bool,
    ) -> Result<Self> {
        suits(about.name, load)?;
        let gpu = Gpu { device };
        let arrays = if is_shared { load.skins.len() } else { 1 };
        let mut room = gpu.largest_array() / arrays as u64;
        if device.report().software {
            room = room.min(SOFTWARE_BYTES);
        }
        let mut rests = Vec::with_capacity(load.skins.len());
        for skin in load.skins {
            let shapes = skin.shapes().iter().flatten();
            let targets = shapes.map(|s| s.sub_shapes().len()).sum();
            let most = room.checked_div(bytes * targets as u64);
            let most = most.map_or(usize::MAX, |most| most as usize);
            rests.push(Rest {
                skin,
                packed: PackedSkin::pack("/Peer", skin)?,
                targets,
                points: skin.points().len().min(most),
            });
        }
        Ok(Self {
            about,
            gpu,
            load,
            rests,
            dispatches: Vec::new(),
            bytes: 0,
        })
    }

    /// The number of each instance's skin, that skin, and the pose.
    pub fn instances(&self) -> impl Iterator<Item = (usize, &Rest<'a>, &'a Pose)> {
        let instances = self.load.instances.iter();
        instances.map(|(s, pose)| (*s, &self.rests[*s], pose))
    }

    /// An array of each skin.
    pub fn of_skins<T: Pod>(&self, label: &str, f: impl Fn(&Rest<'a>) -> Vec<T>) -> Result<Arrays> {
        let arrays: Vec<Vec<T>> = self.rests.iter().map(f).collect();
        self.gpu.arrays(label, &arrays)
    }

    /// An array of each instance.
    pub fn of_instances<T: Pod>(
        &self,
        label: &str,
        f: impl Fn(&Rest<'a>, &Pose) -> Vec<T>,
    ) -> Result<Arrays> {
        let arrays = self.instances().map(|(_, rest, pose)| f(rest, pose));
        self.gpu.arrays(label, &arrays.collect::<Vec<_>>())
    }

    /// Room for so many words of results of each instance.
    pub fn outputs(
        &self,
        label: &str,
        is_shared: bool,
        words: impl Fn(&Rest<'a>) -> usize,
    ) -> Result<Arrays> {
        let sizes = self.instances().map(|(_, rest, _)| words(rest) as u64 * 4);
        let sizes: Vec<u64> = sizes.collect();
        self.gpu.outputs(label, &sizes, is_shared)
    }

    /// Records a dispatch over the points of a skin.
    pub fn dispatch(
        &mut self,
        kernel: &wgpu::ComputePipeline,
        resources: &[wgpu::BindingResource<'_>],
        points: usize,
    ) -> Result<()> {
        let dispatch = self.gpu.dispatch(kernel, resources, points)?;
        self.dispatches.push(dispatch);
        Ok(())
    }

    /// Runs all dispatches, and looks at what they wrote.
    pub fn measured(&self, runs: Runs, read: &Read<'_>) -> Result<Peer> {
        self.gpu.device.check()?;
        let clock = Clock::new(self.gpu.device);
        let times = runs.collect(|| self.gpu.frame(&clock, &self.dispatches))?;
        self.gpu.device.check()?;
        let points = self.instances().map(|(_, rest, _)| rest.points).sum();
        Ok(Peer {
            about: self.about,
            times,
            points,
            dispatches: self.dispatches.len(),
            bytes_per_point: self.bytes as f64 / points as f64,
            worst: worst(self.load, read)?,
        })
    }
}

impl Rest<'_> {
    pub fn has_normals(&self) -> bool {
        self.packed.has_point_normals()
    }

    pub fn is_skinned(&self) -> bool {
        self.packed.influences().is_some()
    }

    /// Positions of the points that are measured.
    pub fn positions(&self) -> &[Vec3] {
        &self.packed.points()[..self.points]
    }

    /// Their normals, where there are some.
    pub fn normals(&self) -> &[Vec3] {
        let normals = self.packed.normals().unwrap_or_default();
        &normals[..normals.len().min(self.points)]
    }

    /// A point's palette indices and weights, as many as an engine's vertex holds: the largest, adding up to 1.
    pub fn largest<const N: usize>(&self, point: usize) -> ([u16; N], [f32; N]) {
        let Some(influences) = self.packed.influences() else {
            return ([0; N], [0.0; N]);
        };
        let mut all: Vec<(u16, f32)> = influences.of_point(point).collect();
        // The sort is stable: of equal weights, the first authored stays first.
        all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        all.truncate(N);
        let sum: f32 = all.iter().map(|(_, weight)| weight).sum();
        let scale = if sum != 0.0 { 1.0 / sum } else { 0.0 };
        let mut kept = ([0; N], [0.0; N]);
        for (i, (palette_index, weight)) in all.into_iter().enumerate() {
            kept.0[i] = palette_index;
            kept.1[i] = weight * scale;
        }
        kept
    }

    /// Dense targets in so many floats; `place` says where among them a target's offset of a point begins.
    pub fn dense(&self, floats: usize, place: impl Fn(usize, usize) -> usize) -> Vec<f32> {
        let mut out = vec![0f32; floats];
        self.for_each_offset(|target, point, offset| {
            let at = place(target, point);
            out[at..at + 3].copy_from_slice(&offset.to_array());
        });
        out
    }

    /// For each point the targets that move it, and how far.
    pub fn sparse(&self) -> Vec<Vec<(u32, Vec3)>> {
        let mut out = vec![Vec::new(); self.points];
        self.for_each_offset(|target, point, offset| out[point].push((target as u32, offset)));
        out
    }

    /// Target, point and offset.
    fn for_each_offset(&self, mut f: impl FnMut(usize, usize, Vec3)) {
        let shapes = self.skin.shapes().iter().flatten();
        let subs = shapes.flat_map(|shape| shape.sub_shapes().iter().map(move |sub| (shape, sub)));
        for (target, (shape, sub)) in subs.enumerate() {
            for (entry, offset) in sub.offsets.iter().enumerate() {
                let point = shape.point_of(entry);
                if point < self.points {
                    f(target, point, *offset);
                }
            }
        }
    }

    /// Weight of every target.
    pub fn target_weights(&self, pose: &Pose) -> Vec<f32> {
        let channels = self.skin.shapes().iter().zip(&pose.channel_weights);
        let shapes = channels.filter_map(|(shape, weight)| Some((shape.as_ref()?, weight)));
        shapes
            .flat_map(|(shape, weight)| shape.sub_shape_weights(f64::from(*weight)))
            .map(|weight| weight as f32)
            .collect()
    }
}

/// Pairs of 16-bit numbers as words.
pub fn pairs(values: &[u16]) -> impl Iterator<Item = u32> {
    let pairs = values.chunks(2);
    pairs.map(|p| u32::from(p[0]) | u32::from(p[1]) << 16)
}

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

/// Baselines know no offsets of normals and no faceVarying ones.
pub fn suits(name: &str, load: &Load<'_>) -> Result<()> {
    let odd = |s: &Skin| s.blends_normals() || s.normal_points().is_some();
    if load.skins.iter().any(|s| odd(s)) {
        let why = format!("{name}: normals that the baseline lacks");
        return Err(GpuError::Unsupported(why).into());
    }
    Ok(())
}

/// Points, and normals where there are some, that a kernel wrote for an instance: a slice of them from the first on.
pub type Read<'a> = dyn Fn(usize) -> Result<(Vec<Vec3>, Option<Vec<Vec3>>)> + 'a;

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

impl Worst {
    /// Whether points are within a limit, for each unit of reach but for at least one, and normals within theirs. Rest points
    /// would not pass for results.
    pub fn is_within(&self, points: f64, normals: f64) -> bool {
        let points = points * f64::from(self.reach.max(1.0));
        f64::from(self.points) < points
            && f64::from(self.normals) < normals
            && f64::from(self.moved) > points * 100.0
    }
}

/// Instances that are looked at, spread over the load.
const LOOKED_AT: usize = 7;

pub fn worst(load: &Load<'_>, read: &Read<'_>) -> Result<Worst> {
    let mut worst = Worst::default();
    let last = load.instances.len() - 1;
    let mut looked_at: Vec<usize> = (0..LOOKED_AT).map(|i| i * last / (LOOKED_AT - 1)).collect();
    looked_at.dedup();
    for instance in looked_at {
        let (skin, pose) = &load.instances[instance];
        let skin = PackedSkin::pack("/Peer", &load.skins[*skin])?;
        let mut points = vec![Vec3::ZERO; skin.output_count()];
        let normals = skin.has_output_normals();
        let mut normals = normals.then(|| vec![Vec3::ZERO; skin.output_normal_count()]);
        let pose = PackedPose::pack(&skin, pose)?;
        skin_on_cpu(&skin, &pose, &mut points, normals.as_deref_mut())?;
        let (theirs, their_normals) = read(instance)?;
        for (ours, rest) in points.iter().zip(skin.points()) {
            worst.reach = worst.reach.max(ours.abs().max_element());
            worst.moved = worst.moved.max(ours.distance(*rest));
        }
        for (ours, theirs) in points.iter().zip(&theirs) {
            // A NaN is no distance: it would be passed over by max.
            let distance = ours.distance(*theirs);
            let distance = if distance.is_nan() {
                f32::INFINITY
            } else {
                distance
            };
            worst.points = worst.points.max(distance);
        }
        for (ours, theirs) in normals.iter().flatten().zip(their_normals.iter().flatten()) {
            let (ours, theirs) = (ours.normalize_or_zero(), theirs.normalize_or_zero());
            worst.normals = worst.normals.max(ours.distance(theirs));
        }
    }
    Ok(worst)
}
