//! Smooth normals from deformed points: reference, mirror and GPU.

use std::sync::{Arc, LazyLock};

use crate::{Failure, ensure};
use glam::{DMat4, DVec3, Vec3};
use sinew::gpu::{Deformed, GpuError};
use sinew::kernel::{PackedPose, PackedSkin};
use sinew::mesh::RenderVertices;
use sinew::skel::{
    InfluenceInterpolation, JointInfluences, MeshTopology, Pose, Skin, SkinningMethod,
};

use crate::cases::{Influences, Spec};
use crate::check::Checks;
use crate::compare::{compare, to_f64};
use crate::crowds::made::{Case, add_posed, gpu_agrees, made, same_in_pieces};
use crate::host::{Gpu, tight};
use crate::outputs::shown::on_cpu;
use crate::rng::Rng;
use crate::tolerance;

pub const CHECKS: Checks = &[
    ("made_normals_equal_the_reference", |gpu| {
        gpu_agrees(gpu, &CASES)
    }),
    ("made_normals_at_the_ends_of_f32", extremes),
    ("made_normals_of_mirrored_meshes", mirrored),
    // Static data in pages of 60,000 bytes, which results of each mesh fit as a whole.
    ("made_normals_chunked", |gpu| {
        same_in_pieces(gpu, &[tight(Some(60_000), Some(3))], &CASES)
    }),
    ("made_normals_beyond_one_binding", too_large),
];

/// Triangles, quads, larger faces, faces of two corners and of none, repeated points, holes.
fn soup(rng: &mut Rng, points: usize, left_handed: bool) -> MeshTopology {
    let (mut counts, mut indices) = (Vec::new(), Vec::new());
    for face in 0..points {
        let corners = [3, 4, 3, 4, 4, 5, 7, 2, 0, 1][rng.below(10)];
        counts.push(corners as i32);
        for corner in 0..corners {
            // The last tenth of points has no face.
            let near = (face + corner * 3 + rng.below(3)) % points;
            indices.push((near * 9 / 10) as i32);
        }
    }
    let holes: Vec<i32> = (0..points as i32).step_by(11).collect();
    let topology = MeshTopology::new("/Case", &counts, &indices, left_handed, points);
    topology.expect("valid").with_holes(&holes)
}

/// Meshes of every kind.
pub static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let base = Spec::default().points(600);
    let none = Influences::None;
    let specs = [
        base,
        base.shapes(9),
        base.normals(false).points(65),
        base.face_varying(true),
        base.influences(none).shapes(5),
        base.influences(Influences::Constant(2)),
        base.points(1),
        base.points(0),
        base.points(3000),
    ];
    let mut out = Vec::new();
    for (i, spec) in specs.into_iter().enumerate() {
        let spec = spec.seed(70 + i as u64);
        let faces = soup(&mut Rng::new(spec.seed), spec.points, i % 2 == 1);
        let made = made(&spec).with_faces(faces);
        out.push(Case::new(made.clone(), [80]));
        // All points that have faces, some of them twice, in reverse.
        let points = (0..spec.points * 3 / 2).rev();
        let points = RenderVertices::new(points.map(|v| (v % spec.points) as u32).collect());
        let shown = made.packed_as(|packed| packed.with_vertices(points));
        out.push(Case::new(shown, [80]));
    }
    out
});

fn too_large(gpu: &Gpu) -> Result<(), Failure> {
    let mut crowd = gpu.crowd_with(&tight(Some(4096), None))?;
    let id = crowd.add_skin(Arc::clone(&CASES[0].made.packed))?;
    match crowd.add_instance(id) {
        Err(GpuError::Limit {
            what, limit: 4096, ..
        }) => ensure(what.contains("normals are computed"), &what),
        other => Err(format!("{other:?}").into()),
    }
}

/// A tetrahedron round the origin, whose faces are counter-clockwise seen from outside, so that normals point
/// away from there as rest normals do, which go by the inverse transpose.
const CORNERS: [Vec3; 4] = [
    Vec3::ONE,
    Vec3::new(1.0, -1.0, -1.0),
    Vec3::new(-1.0, 1.0, -1.0),
    Vec3::new(-1.0, -1.0, 1.0),
];
const FACES: [i32; 12] = [0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2];

/// It is mirrored on its way to skeleton space, out of it, and both.
fn mirrored(gpu: &Gpu) -> Result<(), Failure> {
    let (vertex, weights) = (InfluenceInterpolation::Vertex, vec![1.0; 4]);
    let influences = JointInfluences::new("/Mesh", vertex, 1, &[0; 4], weights, 4, 1)?;
    let points = Arc::new(CORNERS.to_vec());
    let skin = Skin::new("/Mesh", points, None, Some(influences), None, 1, vec![])?;
    let topology = MeshTopology::new("/Mesh", &[3; 4], &FACES, false, 4)?;
    let mirror = DMat4::from_scale(DVec3::new(-1.0, 1.0, 1.0));
    let turn = DMat4::from_rotation_z(0.4);
    let mut crowd = gpu.crowd()?;
    for method in [
        SkinningMethod::ClassicLinear,
        SkinningMethod::DualQuaternion,
    ] {
        let packed = PackedSkin::pack("/Mesh", &skin.clone().with_method(method))?;
        let packed = Arc::new(packed.with_smooth_normals(&topology)?);
        for (geom_bind, out_from_skel) in [
            (turn, turn),
            (mirror, turn),
            (turn, mirror),
            (mirror, mirror),
        ] {
            let pose = Pose {
                skinning: Some(Arc::new(vec![turn])),
                geom_bind,
                channel_weights: vec![],
                out_from_skel,
            };
            let pose = PackedPose::pack(&packed, &pose)?;
            points_outward(&on_cpu(&packed, &pose))?;
            add_posed(&mut crowd, &packed, &[pose])?;
        }
    }
    crowd.run()?.iter().try_for_each(points_outward)
}

fn points_outward(got: &Deformed) -> Result<(), Failure> {
    let normals = got.normals.as_ref().ok_or("no normals")?;
    let want: Vec<DVec3> = to_f64(&got.points).iter().map(|p| p.normalize()).collect();
    Ok(compare("normals", normals, &want, tolerance::MADE_NORMALS)?)
}

/// A triangle of edges that are tiny, ordinary, huge, or nothing; far from the origin or not.
fn extremes(gpu: &Gpu) -> Result<(), Failure> {
    let faces = MeshTopology::new("/Mesh", &[3], &[0, 1, 2], false, 4)?;
    let still = Pose::of_shapes(Vec::new());
    for (size, normal) in [
        (1e-12, Vec3::Z),
        (1e-5, Vec3::Z),
        (1.0, Vec3::Z),
        (1e15, Vec3::Z),
        // Areas beyond f32 have no direction.
        (1e25, Vec3::ZERO),
        (0.0, Vec3::ZERO),
    ] {
        let points = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE].map(|p| p * size);
        let points = Arc::new(points.into());
        let skin = Skin::new("/Mesh", points, None, None, None, 0, vec![])?;
        let packed = PackedSkin::pack("/Mesh", &skin)?.with_smooth_normals(&faces)?;
        let (pose, packed) = (PackedPose::pack(&packed, &still)?, Arc::new(packed));
        let mut crowd = gpu.crowd()?;
        add_posed(&mut crowd, &packed, std::slice::from_ref(&pose))?;
        for got in [on_cpu(&packed, &pose), crowd.run()?.remove(0)] {
            let want = to_f64(&[normal, normal, normal, Vec3::ZERO]);
            let normals = got.normals.as_ref().ok_or("no normals")?;
            compare("normals", normals, &want, tolerance::MADE_NORMALS)?;
        }
    }
    Ok(())
}
