//! How far the points of a bone texture are from where UsdSkel has them, and the boxes of clips.

use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;

use super::motion::{Bones, ClipBindings};
use crate::error::Result;
use crate::format::BoneValues;
use sinew::error::{Invalid, Warning};
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, OutSpace, PoseCache, Scene, SkinPart};
use sinew::skel::SkinningMethod;
use sinew::skel::reference::deform;
use sinew_io::usd::PlacedMesh;

/// Errors below this part of a mesh's size do not show.
const INVISIBLE: f64 = 1e-6;

/// Sums of weights that differ from 1 by less than this are rounding.
const LOOSE: f64 = 1e-5;

/// Directions and lengths that differ by less than this are rounding.
const RIGID: f64 = 1e-5;

/// Compares the points of a texture with the f64 reference, frame by frame.
pub(super) struct Measure {
    meshes: Vec<Measured>,
    /// The box of the clip so far.
    bounds: Option<[Vec3; 2]>,
    /// Frames of all clips so far.
    frames: usize,
}

/// What is known of a mesh.
struct Measured {
    path: String,
    size: f64,
    reasons: Vec<Reason>,
    worst: f64,
    /// Where the largest error is.
    at: String,
    /// Whether joints mirror the mesh, as a whole, where it is made.
    is_mirrored: bool,
    /// Frames at which that is otherwise.
    turned_over: usize,
}

/// Why the texture cannot hold the deformation of a mesh.
struct Reason {
    code: &'static str,
    what: String,
}

/// A frame of a mesh: its largest error, its box, and whether joints mirror it as a whole.
struct Compared {
    is_mirrored: bool,
    error: f64,
    low: DVec3,
    high: DVec3,
}

impl Measure {
    /// # Errors
    /// A mesh that cannot be placed at rest.
    pub fn new(scene: &Scene, meshes: &[PlacedMesh]) -> Result<Self, Invalid> {
        // As the meshes are made.
        let rest = scene.time_line.range.map_or(0.0, |range| range.0);
        let mut poses = scene.at(Time::At(rest), OutSpace::World);
        let measured = |mesh: &PlacedMesh| {
            let all = || mesh.points.iter().copied();
            let low = all().reduce(Vec3::min).unwrap_or_default();
            let high = all().reduce(Vec3::max).unwrap_or_default();
            Ok(Measured {
                path: scene.bindings[mesh.binding].path.clone(),
                size: f64::from(low.distance(high)).max(f64::MIN_POSITIVE),
                reasons: Vec::new(),
                worst: 0.0,
                at: String::new(),
                is_mirrored: is_mirrored(&mut poses, scene.bound(mesh.binding))?,
                turned_over: 0,
            })
        };
        let measured = meshes.iter().map(measured);
        Ok(Self {
            meshes: measured.collect::<Result<_, Invalid>>()?,
            bounds: None,
            frames: 0,
        })
    }

    /// Begins a clip, whose first frame is at `time`. Each clip may move what others leave alone, so
    /// it may have reasons of its own.
    ///
    /// # Errors
    /// A mesh that cannot be skinned at `time`.
    pub fn begin(
        &mut self,
        (scene, bindings): (&Scene, &ClipBindings),
        values: BoneValues,
        time: Time,
    ) -> Result<(), Invalid> {
        for (mesh, binding) in self.meshes.iter_mut().zip(&bindings.of_meshes) {
            let mut new = reasons(scene.bound(*binding), values, time)?;
            new.retain(|r| mesh.reasons.iter().all(|known| known.code != r.code));
            mesh.reasons.extend(new);
        }
        Ok(())
    }

    /// Compares frames. `texels` are those of these frames.
    ///
    /// # Errors
    /// A mesh that cannot be skinned at one of the times.
    pub fn add(
        &mut self,
        bones: &Bones,
        (scene, bindings, clip): (&Scene, &ClipBindings, &str),
        (values, meshes): (BoneValues, &[PlacedMesh]),
        times: &[Time],
        texels: &[Vec4],
    ) -> Result<()> {
        let per_frame = (texels.len() / times.len().max(1)).max(1);
        let frames = times.par_iter().zip(texels.par_chunks(per_frame));
        let compared: Result<Vec<Vec<Compared>>, Invalid> = frames
            .map(|(time, texels)| {
                let mut poses = scene.at(*time, OutSpace::World);
                let each = meshes.iter().zip(&bindings.of_meshes);
                each.map(|(mesh, b)| {
                    let bound = scene.bound(*b);
                    let part = SkinPart {
                        blend_only: false,
                        // Beyond the last one there are none.
                        normals: usize::MAX,
                    };
                    let skin = bound.skin_part(*time, part)?;
                    let truth = deform(&skin, &poses.pose(bound)?)?.points;
                    let out_from = match skin.influences() {
                        Some(_) => bones.to_out(glam::DMat4::IDENTITY),
                        None => bones.to_out(scene.world_from_prim(bound.binding().prim, *time)),
                    };
                    let truth = truth.iter().map(|p| out_from.transform_point3(*p));
                    let is_mirrored = is_mirrored(&mut poses, bound)?;
                    Ok(compare(values, mesh, texels, truth, is_mirrored))
                })
                .collect()
            })
            .collect();
        self.frames += times.len();
        for (time, frame) in times.iter().zip(compared?) {
            for (mesh, compared) in self.meshes.iter_mut().zip(frame) {
                if compared.error > mesh.worst {
                    mesh.worst = compared.error;
                    mesh.at = format!(" (time code {time} of {clip})");
                }
                mesh.turned_over += usize::from(compared.is_mirrored != mesh.is_mirrored);
                let (low, high) = (compared.low.as_vec3(), compared.high.as_vec3());
                if low.is_finite() && high.is_finite() {
                    let [a, b] = self.bounds.unwrap_or([low, high]);
                    self.bounds = Some([a.min(low), b.max(high)]);
                }
            }
        }
        Ok(())
    }

    /// Notes that a joint has scale or shear, which dual quaternions leave out.
    pub fn found_scale(&mut self) {
        for mesh in &mut self.meshes {
            if !mesh.reasons.iter().any(|r| r.code == "bones-scale") {
                mesh.reasons.push(Reason {
                    code: "bones-scale",
                    what: "joints have scale or shear, which dual quaternions leave out".into(),
                });
            }
        }
    }

    /// The box of the true points of all frames since the last call.
    pub fn take_bounds(&mut self) -> [Vec3; 2] {
        self.bounds.take().unwrap_or_default()
    }

    /// The largest error in metres, and the largest one as a part of the size of its mesh.
    pub fn largest(&self) -> (f64, f64) {
        let worst = self.meshes.iter().map(|m| m.worst).fold(0.0, f64::max);
        let relative = self.meshes.iter().map(|m| m.worst / m.size);
        (worst, relative.fold(0.0, f64::max))
    }

    /// The largest error of each mesh, in metres.
    pub fn errors(&self) -> impl Iterator<Item = f64> + '_ {
        self.meshes.iter().map(|m| m.worst)
    }

    /// What the texture cannot hold, with the error that this causes.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut out = Vec::new();
        for mesh in &self.meshes {
            let relative = mesh.worst / mesh.size;
            for reason in mesh.reasons.iter().filter(|_| relative >= INVISIBLE) {
                let message = format!(
                    "{}; points are off by up to {:.3e} m, {:.3} % of the mesh's size{}",
                    reason.what,
                    mesh.worst,
                    relative * 100.0,
                    mesh.at
                );
                out.push(Warning::new(reason.code, &mesh.path, message));
            }
            if mesh.turned_over > 0 {
                let message = format!(
                    "joints mirror it at some frames and not at others: at {} of {} frames its faces are inside out",
                    mesh.turned_over, self.frames
                );
                out.push(Warning::new("bones-mirrored", &mesh.path, message));
            }
        }
        out
    }
}

/// Whether joints move a prim as a whole, and mirror it.
fn is_mirrored(poses: &mut PoseCache<'_>, bound: BoundSkin<'_>) -> Result<bool, Invalid> {
    if !bound.binding().is_rigid() {
        return Ok(false);
    }
    Ok(poses.rigid_out_from_prim(bound)?.determinant() < 0.0)
}

/// Whether a transform has scale or shear.
pub(super) fn has_scale(m: glam::DMat4) -> bool {
    let m = glam::DMat3::from_mat4(m);
    let square = m.transpose() * m;
    !square.abs_diff_eq(glam::DMat3::IDENTITY, RIGID) || m.determinant() < 0.0
}

fn compare(
    values: BoneValues,
    mesh: &PlacedMesh,
    texels: &[Vec4],
    truth: impl Iterator<Item = DVec3>,
    is_mirrored: bool,
) -> Compared {
    let mut out = Compared {
        is_mirrored,
        error: 0.0,
        low: DVec3::INFINITY,
        high: DVec3::NEG_INFINITY,
    };
    for (i, (point, truth)) in mesh.points.iter().zip(truth).enumerate() {
        let row = i * mesh.each..(i + 1) * mesh.each;
        let joints = mesh.joints[row.clone()].iter().copied();
        let influences = joints.zip(mesh.weights[row].iter().copied());
        let placed = values.apply(texels, influences, point.as_dvec3());
        out.error = out.error.max(placed.distance(truth));
        out.low = out.low.min(truth);
        out.high = out.high.max(truth);
    }
    out
}

fn reasons(bound: BoundSkin<'_>, values: BoneValues, time: Time) -> Result<Vec<Reason>, Invalid> {
    let (binding, skin) = (bound.binding(), bound.skin(time)?);
    let mut out = Vec::new();
    let mut add = |code, what: String| out.push(Reason { code, what });
    match (skin.method(), values, skin.influences()) {
        (_, _, None) => {}
        (SkinningMethod::DualQuaternion, BoneValues::Matrix, _) => add(
            "bones-method",
            "it is skinned by dual quaternions, but the texture has matrices".into(),
        ),
        (SkinningMethod::ClassicLinear, BoneValues::DualQuaternion, _) => add(
            "bones-method",
            "it is skinned by matrices, but the texture has dual quaternions".into(),
        ),
        _ => {}
    }
    let shapes = binding.shapes.iter();
    let shapes = shapes.filter(|s| s.shape.is_some()).count();
    if shapes > 0 && binding.channel_mapper.is_some() {
        let what =
            format!("its {shapes} blend shapes are left out, because textures have joints only");
        add("bones-shapes", what);
    }
    if let Some(influences) = skin.influences() {
        let is_loose = |row: &[f32]| {
            let sum: f64 = row.iter().map(|w| f64::from(*w)).sum();
            (sum - 1.0).abs() > LOOSE || row.iter().any(|w| *w < 0.0)
        };
        let rows = influences.weights().chunks_exact(influences.count().max(1));
        let loose = rows.filter(|row| is_loose(row)).count();
        if loose > 0 {
            let what = format!(
                "the weights of {loose} points do not add up to 1 or are below 0: in the mesh they are not negative, and divided by their sum"
            );
            add("bones-weights", what);
        }
    }
    if binding.rest_is_animated() || binding.geom_bind.is_animated() {
        let what = "its points at rest, its weights or its geomBindTransform change over time: the mesh has those of the first frame";
        add("bones-rest", what.into());
    }
    Ok(out)
}
