//! Random skins that are shown by render vertices.

use std::sync::Arc;

use crate::{Failure, ensure};
use glam::{DVec3, Vec3, Vec4};
use sinew::gpu::Deformed;
use sinew::kernel::{CpuJob, PackedPose, PackedSkin};
use sinew::mesh::RenderVertices;
use sinew::skel::{Pose, Skin, SkinningMethod, reference};

use crate::cases::{self, Influences, Motion, Spec};
use crate::compare::{compare, to_f64};
use crate::rng::Rng;
use crate::tolerance;

/// A skin, what it is packed to, and the vertices that show it.
pub struct Shown {
    pub name: &'static str,
    pub spec: Spec,
    pub skin: Skin,
    pub packed: Arc<PackedSkin>,
}

impl Shown {
    pub fn poses(&self) -> [Pose; 2] {
        [0, 1].map(|time| cases::pose_of(&self.spec, &self.skin, time))
    }

    pub fn pack(&self, pose: &Pose) -> PackedPose {
        PackedPose::pack(&self.packed, pose).expect("sizes that fit")
    }

    fn vertices(&self) -> &RenderVertices {
        self.packed.vertices().expect("shown by vertices")
    }

    /// Compares every kind of result with the f64 reference.
    pub fn agrees_with_reference(&self, got: &Deformed, pose: &Pose) -> Result<(), Failure> {
        let want = reference::deform(&self.skin, pose)?;
        let ties = reference::hemisphere_ties(&self.skin, pose, tolerance::HEMISPHERE_TIE)?;
        let vertices = self.vertices();
        let points = vertices.points();
        self.same(
            "points",
            &to_f64(&got.points),
            &spread(&want.points, points),
            &pick(&ties.points, points),
            tolerance::POINTS,
        )?;
        ensure(
            got.normals.is_some() == want.normals.is_some(),
            "normals on one side only",
        )?;
        if let (Some(got), Some(want)) = (&got.normals, &want.normals) {
            let places = vertices.normals().unwrap_or(points);
            self.same(
                "normals",
                &to_f64(got),
                &spread(want, places),
                &pick(&ties.normals, places),
                tolerance::NORMALS,
            )?;
        }
        ensure(
            got.tangents.is_some() == vertices.tangents().is_some(),
            "tangents on one side only",
        )?;
        if let (Some(got), Some(rest)) = (&got.tangents, vertices.tangents()) {
            let vectors: Vec<(usize, DVec3)> = points
                .iter()
                .zip(rest)
                .map(|(p, t)| (*p as usize, t.truncate().as_dvec3()))
                .collect();
            let want = reference::carry(&self.skin, pose, &vectors)?;
            let xyz: Vec<DVec3> = got.iter().map(|t| t.truncate().as_dvec3()).collect();
            let ties = pick(&ties.points, points);
            self.same("tangents", &xyz, &want, &ties, tolerance::TANGENTS)?;
            ensure(
                got.iter().zip(rest).all(|(got, rest)| got.w == rest.w),
                "a tangent lost its handedness",
            )?;
        }
        Ok(())
    }

    /// Compares but for what hangs on rounding.
    fn same(
        &self,
        what: &str,
        got: &[DVec3],
        want: &[DVec3],
        ties: &[bool],
        allowed: f64,
    ) -> Result<(), Failure> {
        let most = tolerance::MOST_TIES_OF_20_JOINTS * ties.len() as f64;
        let count = ties.iter().filter(|tie| **tie).count();
        ensure(count <= 6 || count as f64 <= most, "too many ties")?;
        let without = |values: &[DVec3]| -> Vec<DVec3> {
            let kept = values.iter().enumerate();
            kept.map(|(i, v)| {
                if ties.get(i) == Some(&true) {
                    DVec3::ZERO
                } else {
                    *v
                }
            })
            .collect()
        };
        let what = format!("{}: {what}", self.name);
        Ok(compare(&what, &without(got), &without(want), allowed)?)
    }
}

fn pick(all: &[bool], places: &[u32]) -> Vec<bool> {
    places.iter().map(|p| all[*p as usize]).collect()
}

pub fn spread<T: Copy>(all: &[T], places: &[u32]) -> Vec<T> {
    places.iter().map(|p| all[*p as usize]).collect()
}

/// What the CPU makes of a pose, every kind of result.
pub fn on_cpu(skin: &PackedSkin, pose: &PackedPose) -> Deformed {
    let mut out = Deformed {
        points: vec![Vec3::NAN; skin.output_count()],
        normals: skin
            .has_output_normals()
            .then(|| vec![Vec3::NAN; skin.output_normal_count()]),
        tangents: skin.tangents().map(|t| vec![Vec4::NAN; t.len()]),
        ..Deformed::default()
    };
    let mut job = CpuJob::new(skin, pose, &mut out.points);
    job.normals = out.normals.as_deref_mut();
    job.tangents = out.tangents.as_deref_mut();
    job.run().expect("sizes that fit");
    out
}

pub fn bits(result: &Deformed) -> Vec<u32> {
    let vectors = [
        Some(&result.points),
        result.normals.as_ref(),
        result.previous.as_ref(),
    ];
    let mut out: Vec<u32> = Vec::new();
    for v in vectors.into_iter().flatten().flatten() {
        out.extend(v.to_array().map(f32::to_bits));
    }
    for t in result.tangents.iter().flatten() {
        out.extend(t.to_array().map(f32::to_bits));
    }
    out
}

/// Vertices in runs that share points, some points far off, some without any vertex.
pub fn vertices(skin: &Skin, seed: u64, tangents: bool) -> RenderVertices {
    let rng = &mut Rng::new(seed ^ 0x5407);
    let own = skin.points().len();
    let places = skin.normal_points().map_or(own, <[u32]>::len);
    let count = if places == 0 { 0 } else { own * 2 + 3 };
    let picked: Vec<u32> = (0..count)
        .map(|i| match rng.below(16) {
            0 => rng.below(places) as u32,
            // Every seventh has none of its own.
            _ => ((i * places / count + rng.below(5)) % places / 7 * 7) as u32,
        })
        .collect();
    let out = match skin.normal_points() {
        Some(points) => RenderVertices::new(spread(points, &picked)).with_normals(picked),
        None => RenderVertices::new(picked),
    };
    if !tangents {
        return out;
    }
    let mut tangent = || {
        let v = Vec3::new(
            rng.range(-1.0, 1.0),
            rng.range(-1.0, 1.0),
            rng.range(-1.0, 1.0),
        );
        let handedness = if rng.chance(0.5) { 1.0 } else { -1.0 };
        v.normalize_or_zero().extend(handedness)
    };
    let values = (0..count).map(|_| tangent()).collect();
    out.with_tangents(values)
}

/// Skins of every kind, with and without tangents.
pub fn every_kind() -> Result<Vec<Shown>, Failure> {
    let base = Spec {
        points: 700,
        ..Spec::default()
    };
    let dual = |motion| Spec {
        method: SkinningMethod::DualQuaternion,
        motion,
        ..base
    };
    let corners = Spec {
        face_varying: true,
        ..base
    };
    let constant = Influences::Constant(2);
    let mut all: Vec<(&str, Spec)> = vec![
        ("linear", base),
        ("blended", Spec { shapes: 9, ..base }),
        (
            "without normals",
            Spec {
                normals: false,
                shapes: 4,
                ..base
            },
        ),
        (
            "own joints",
            Spec {
                own_joints: true,
                ..base
            },
        ),
        (
            "constant",
            Spec {
                influences: constant,
                ..base
            },
        ),
        (
            "blends alone",
            Spec {
                influences: Influences::None,
                shapes: 9,
                ..base
            },
        ),
        (
            "rest",
            Spec {
                influences: Influences::None,
                ..base
            },
        ),
        ("corners", corners),
        (
            "corners, constant",
            Spec {
                influences: constant,
                ..corners
            },
        ),
        (
            "corners, blended",
            Spec {
                shapes: 5,
                ..corners
            },
        ),
        (
            "corners, rest",
            Spec {
                influences: Influences::None,
                ..corners
            },
        ),
        ("dual quaternions, mild", dual(Motion::Mild)),
        ("dual quaternions, rigid", dual(Motion::Rigid)),
        ("dual quaternions, sheared", dual(Motion::Sheared)),
        ("dual quaternions, degenerate", dual(Motion::Degenerate)),
        (
            "dual quaternions, corners",
            Spec {
                face_varying: true,
                ..dual(Motion::Rigid)
            },
        ),
        (
            "dual quaternions, constant",
            Spec {
                influences: constant,
                ..dual(Motion::Sheared)
            },
        ),
        ("no points", Spec { points: 0, ..base }),
        ("one point", Spec { points: 1, ..base }),
        (
            "3000 points",
            Spec {
                points: 3000,
                shapes: 3,
                ..base
            },
        ),
    ];
    for k in [1, 3, 7, 9] {
        all.push((
            "other counts",
            Spec {
                influences: Influences::Vertex(k),
                ..base
            },
        ));
    }
    all.into_iter()
        .enumerate()
        .map(|(i, (name, spec))| {
            let spec = Spec {
                seed: 40 + i as u64,
                ..spec
            };
            let skin = cases::skin(&spec);
            // Without tangents on every third.
            let vertices = vertices(&skin, spec.seed, i % 3 != 1);
            let packed = PackedSkin::pack("/Case", &skin)?.with_vertices(vertices)?;
            Ok(Shown {
                name,
                spec,
                skin,
                packed: Arc::new(packed),
            })
        })
        .collect()
}
