//! Random skins that are shown by render vertices.

use std::sync::LazyLock;

use glam::{Vec3, Vec4};
use sinew::gpu::Deformed;
use sinew::kernel::{CpuJob, PackedPose, PackedSkin};
use sinew::mesh::RenderVertices;
use sinew::skel::{Skin, SkinningMethod};

use crate::cases::{Influences, Motion, Spec};
use crate::crowds::made::{Made, made};
use crate::rng::Rng;

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

/// Every value of a result, as bits.
pub fn bits(result: &Deformed) -> Vec<u32> {
    let mut out: Vec<u32> = Vec::new();
    let more = [&result.normals, &result.previous];
    for vectors in more.into_iter().flatten().chain([&result.points]) {
        out.extend_from_slice(bytemuck::cast_slice(vectors));
    }
    out.extend_from_slice(bytemuck::cast_slice(
        result.tangents.as_deref().unwrap_or_default(),
    ));
    out
}

/// The same without the positions of the frame before.
pub fn without_previous(result: &Deformed) -> Vec<u32> {
    let mut result = result.clone();
    result.previous = None;
    bits(&result)
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
        Some(points) => {
            let points = picked.iter().map(|at| points[*at as usize]);
            RenderVertices::new(points.collect()).with_normals(picked)
        }
        None => RenderVertices::new(picked),
    };
    if !tangents {
        return out;
    }
    let mut tangent = || {
        let v = rng.vector(1.0);
        let handedness = if rng.chance(0.5) { 1.0 } else { -1.0 };
        v.normalize_or_zero().extend(handedness)
    };
    let values = (0..count).map(|_| tangent()).collect();
    out.with_tangents(values)
}

/// Skins of every kind, with and without tangents.
pub static EVERY_KIND: LazyLock<Vec<Made>> = LazyLock::new(|| {
    let base = Spec::default().points(700);
    let dual = |motion| base.method(SkinningMethod::DualQuaternion).motion(motion);
    let corners = base.face_varying(true);
    let (none, constant) = (Influences::None, Influences::Constant(2));
    let mut all = vec![
        base,
        base.shapes(9),
        base.normals(false).shapes(4),
        base.own_joints(true),
        base.influences(constant),
        base.influences(none).shapes(9),
        base.influences(none),
        corners,
        corners.influences(constant),
        corners.shapes(5),
        corners.influences(none),
        dual(Motion::Mild),
        dual(Motion::Rigid),
        dual(Motion::Sheared),
        dual(Motion::Degenerate),
        dual(Motion::Rigid).face_varying(true),
        dual(Motion::Sheared).influences(constant),
        base.points(0),
        base.points(1),
        base.points(3000).shapes(3),
    ];
    all.extend([1, 3, 7, 9].map(|k| base.influences(Influences::Vertex(k))));
    let make = |(i, spec): (usize, Spec)| {
        let made = made(&spec.seed(40 + i as u64));
        // Without tangents on every third.
        let vertices = vertices(&made.skin, made.spec.seed, i % 3 != 1);
        made.packed_as(|packed| packed.with_vertices(vertices))
    };
    all.into_iter().enumerate().map(make).collect()
});
