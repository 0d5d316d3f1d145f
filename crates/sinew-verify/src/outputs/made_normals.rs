//! Smooth normals from deformed points: reference, mirror and GPU.

use std::sync::{Arc, OnceLock};

use crate::{Failure, ensure};
use glam::{DVec3, Vec3};
use sinew::gpu::{Crowd, Deformed, GpuError};
use sinew::kernel::{PackedPose, PackedSkin};
use sinew::mesh::RenderVertices;
use sinew::skel::{
    InfluenceInterpolation, JointInfluences, MeshTopology, Pose, Skin, SkinningMethod,
};

use crate::cases::{Influences, Spec};
use crate::compare::{compare, to_f64};
use crate::crowds::made::{Made, add_posed, crowd_of_all, made, run_twice, same_in_pieces};
use crate::host::{Gpu, tight};
use crate::outputs::shown::on_cpu;
use crate::outputs::{Run, RunOnCpu};
use crate::rng::Rng;
use crate::tolerance;

pub const ON_CPU: &[(&str, RunOnCpu)] = &[("made_normals_equal_the_reference", mirror)];

pub const CHECKS: &[(&str, Run)] = &[
    ("made_normals_equal_the_reference", on_gpu),
    ("made_normals_at_the_ends_of_f32", extremes),
    ("made_normals_of_mirrored_meshes", mirrored),
    ("made_normals_chunked", chunked),
    ("made_normals_beyond_one_binding", too_large),
];

const SEEDS: &[u64] = &[80];

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

/// Meshes of every kind, made once.
fn all() -> Result<&'static [Made], Failure> {
    static MADE: OnceLock<Result<Vec<Made>, Failure>> = OnceLock::new();
    let made = MADE.get_or_init(make_all);
    made.as_deref().map_err(Clone::clone)
}

fn make_all() -> Result<Vec<Made>, Failure> {
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
        let made = made(&spec)?.with_faces(faces)?;
        out.push(made.clone());
        // All points that have faces, some of them twice, in reverse.
        let points = (0..spec.points * 3 / 2).rev();
        let points = points.map(|v| (v % spec.points) as u32).collect();
        out.push(made.packed_as(|packed| Ok(packed.with_vertices(RenderVertices::new(points))?))?);
    }
    Ok(out)
}

fn mirror() -> Result<(), Failure> {
    for made in all()? {
        let want = made.expected(SEEDS[0])?;
        made.agrees(&want.mirror, &want)?;
    }
    Ok(())
}

fn fill(crowd: Crowd) -> Result<Crowd, Failure> {
    crowd_of_all(crowd, all()?.iter().map(|made| (made, SEEDS)))
}

fn on_gpu(gpu: &Gpu) -> Result<(), Failure> {
    let results = run_twice(gpu, fill(gpu.crowd()?)?)?;
    let mut each = all()?.iter().zip(&results);
    each.try_for_each(|(made, got)| made.agrees(got, &made.expected(SEEDS[0])?))
}

/// Static data in pages of 60,000 bytes, which results of each mesh fit as a whole.
fn chunked(gpu: &Gpu) -> Result<(), Failure> {
    same_in_pieces(gpu, &[tight(Some(60_000), Some(3))], fill)
}

fn too_large(gpu: &Gpu) -> Result<(), Failure> {
    let all = all()?;
    let options = tight(Some(4096), None);
    let mut crowd = gpu.crowd_with(&options)?;
    let id = crowd.add_skin(Arc::clone(&all[0].packed))?;
    match crowd.add_instance(id) {
        Err(GpuError::Limit {
            what, limit: 4096, ..
        }) => ensure(what.contains("normals are computed"), &what),
        other => Err(format!("{other:?}").into()),
    }
}

/// Counter-clockwise seen from outside.
const CUBE: [[i32; 4]; 6] = [
    [0, 2, 3, 1],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
];

fn cube_points() -> Vec<Vec3> {
    (0..8)
        .map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32) * 2.0 - 1.0)
        .collect()
}

/// A cube and its poses: mirrored on its way to skeleton space, out of it, and both. Normals point outward as rest
/// normals do, which go by the inverse transpose.
type Posed = (Arc<PackedSkin>, Vec<PackedPose>);

fn mirrored_cube() -> Result<Vec<Posed>, Failure> {
    let (vertex, weights) = (InfluenceInterpolation::Vertex, vec![1.0; 8]);
    let influences = JointInfluences::new("/Mesh", vertex, 1, &[0; 8], weights, 8, 1)?;
    let points = Arc::new(cube_points());
    let skin = Skin::new("/Mesh", points, None, Some(influences), None, 1, vec![])?;
    let topology = MeshTopology::new("/Mesh", &[4; 6], CUBE.as_flattened(), false, 8)?;
    let mut out = Vec::new();
    for method in [
        SkinningMethod::ClassicLinear,
        SkinningMethod::DualQuaternion,
    ] {
        let packed = PackedSkin::pack("/Mesh", &skin.clone().with_method(method))?;
        let packed = Arc::new(packed.with_smooth_normals(&topology)?);
        let mirror = glam::DMat4::from_scale(DVec3::new(-1.0, 1.0, 1.0));
        let turn = glam::DMat4::from_rotation_z(0.4);
        let poses = [
            (turn, turn),
            (mirror, turn),
            (turn, mirror),
            (mirror, mirror),
        ]
        .map(|(geom_bind, out_from_skel)| {
            let pose = Pose {
                skinning: Some(Arc::new(vec![turn])),
                geom_bind,
                channel_weights: vec![],
                out_from_skel,
            };
            PackedPose::pack(&packed, &pose).expect("sizes that fit")
        });
        out.push((packed, poses.to_vec()));
    }
    Ok(out)
}

fn points_outward(got: &Deformed) -> Result<(), Failure> {
    let normals = got.normals.as_ref().ok_or("no normals")?;
    let want: Vec<DVec3> = to_f64(&got.points).iter().map(|p| p.normalize()).collect();
    Ok(compare("normals", normals, &want, tolerance::MADE_NORMALS)?)
}

fn mirrored(gpu: &Gpu) -> Result<(), Failure> {
    let mut crowd = gpu.crowd()?;
    for (skin, poses) in mirrored_cube()? {
        for pose in &poses {
            points_outward(&on_cpu(&skin, pose))?;
        }
        add_posed(&mut crowd, &skin, &poses)?;
    }
    crowd.run()?.iter().try_for_each(points_outward)
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
        let skin = Skin::new(
            "/Mesh",
            Arc::new(points.into()),
            None,
            None,
            None,
            0,
            vec![],
        )?;
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
