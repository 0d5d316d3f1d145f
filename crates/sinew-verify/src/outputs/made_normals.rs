//! Smooth normals from deformed points: reference, mirror and GPU.

use std::sync::{Arc, OnceLock};

use crate::{Failure, ensure};
use glam::{DVec3, Vec3};
use sinew::gpu::{Crowd, Deformed, GpuError};
use sinew::kernel::{PackedPose, PackedSkin};
use sinew::mesh::RenderVertices;
use sinew::skel::{
    InfluenceInterpolation, JointInfluences, MeshTopology, Pose, Skin, SkinningMethod, reference,
};

use crate::cases::{self, Influences, Spec};
use crate::compare::{compare, to_f64};
use crate::crowds::made::{add_posed, run_twice, same_in_pieces};
use crate::host::{Gpu, posed, tight};
use crate::outputs::shown::{on_cpu, spread};
use crate::outputs::{Run, RunOnCpu};
use crate::rng::Rng;
use crate::tolerance;

pub const ON_CPU: &[(&str, RunOnCpu)] = &[
    ("made_normals_equal_the_reference", mirror),
    ("made_normals_of_mirrored_meshes", mirrored),
    ("made_normals_at_the_ends_of_f32", extremes),
];

pub const CHECKS: &[(&str, Run)] = &[
    ("made_normals_equal_the_reference", on_gpu),
    ("made_normals_at_the_ends_of_f32", extremes_on_gpu),
    ("made_normals_of_mirrored_meshes", mirrored_on_gpu),
    ("made_normals_chunked", chunked),
    ("made_normals_beyond_one_binding", too_large),
];

/// A skin with faces.
struct Meshed {
    skin: Skin,
    topology: MeshTopology,
    packed: Arc<PackedSkin>,
    pose: Pose,
}

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
fn all() -> Result<&'static [Meshed], Failure> {
    static MADE: OnceLock<Result<Vec<Meshed>, Failure>> = OnceLock::new();
    let made = MADE.get_or_init(make_all);
    made.as_deref().map_err(Clone::clone)
}

fn make_all() -> Result<Vec<Meshed>, Failure> {
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
        for shown in [false, true] {
            let spec = spec.seed(70 + i as u64);
            let skin = cases::skin(&spec);
            let rng = &mut Rng::new(spec.seed);
            let topology = soup(rng, spec.points, i % 2 == 1);
            let mut packed = PackedSkin::pack("/Case", &skin)?;
            if shown {
                // All points that have faces, some of them twice, in reverse.
                let points = (0..spec.points * 3 / 2)
                    .rev()
                    .map(|v| (v % spec.points) as u32);
                let vertices = RenderVertices::new(points.collect());
                let rest = packed.clone().with_smooth_normals(&topology)?;
                packed = rest.with_vertices(vertices)?;
            } else {
                packed = packed.with_smooth_normals(&topology)?;
            }
            let pose = cases::pose_of(&spec, &skin, 3);
            out.push(Meshed {
                skin,
                topology,
                packed: Arc::new(packed),
                pose,
            });
        }
    }
    Ok(out)
}

impl Meshed {
    /// Its normals have to be those of its points in f64, but where these cancel to nothing.
    fn agrees(&self, got: &Deformed) -> Result<(), Failure> {
        let shown = self.packed.vertices().map(RenderVertices::points);
        let own: Vec<u32> = (0..self.skin.points().len() as u32).collect();
        let places = shown.unwrap_or(&own);
        compare(
            "points",
            &got.points,
            &spread(&reference::deform(&self.skin, &self.pose)?.points, places),
            tolerance::POINTS,
        )?;
        // Of the points that the kernel made: what is compared is the normals' own arithmetic.
        let mut points = vec![DVec3::ZERO; own.len()];
        for (place, p) in places.iter().zip(&got.points) {
            points[*place as usize] = p.as_dvec3();
        }
        let want = reference::smooth_normals(&self.topology, &points)?;
        let sizes = term_sizes(&self.topology, &points);
        let normals = got.normals.as_ref().ok_or("no normals")?;
        let unit = |n: &Vec3| *n == Vec3::ZERO || (n.length() - 1.0).abs() < tolerance::UNIT_LENGTH;
        ensure(normals.iter().all(unit), "a normal that is no unit vector")?;
        let mut left_out = 0;
        let (mut kept, mut expected) = (Vec::new(), Vec::new());
        for (n, place) in normals.iter().zip(places) {
            let (sum, terms) = sizes[*place as usize];
            if sum < terms * tolerance::CANCELLED_AREAS {
                left_out += 1;
                continue;
            }
            kept.push(n.as_dvec3());
            expected.push(want[*place as usize]);
        }
        ensure(left_out * 50 <= normals.len(), "too much cancels")?;
        Ok(compare(
            "normals",
            &kept,
            &expected,
            tolerance::MADE_NORMALS,
        )?)
    }
}

/// Length of each point's sum of areas, and the sum of their lengths.
fn term_sizes(topology: &MeshTopology, points: &[DVec3]) -> Vec<(f64, f64)> {
    let mut sums = vec![(DVec3::ZERO, 0.0); points.len()];
    for face in 0..topology.face_count() {
        if topology.holes().contains(&(face as u32)) {
            continue;
        }
        let corners = &topology.corner_points()[topology.corners(face)];
        for i in 0..corners.len() {
            let at = |i: usize| points[corners[i % corners.len()] as usize];
            let area = (at(i + 1) - at(i)).cross(at(i + corners.len() - 1) - at(i));
            let (sum, length) = &mut sums[corners[i] as usize];
            *sum += area;
            *length += area.length();
        }
    }
    sums.iter()
        .map(|(sum, length)| (sum.length(), *length))
        .collect()
}

fn mirror() -> Result<(), Failure> {
    for mesh in all()? {
        let pose = PackedPose::pack(&mesh.packed, &mesh.pose)?;
        mesh.agrees(&on_cpu(&mesh.packed, &pose))?;
    }
    Ok(())
}

fn fill(mut crowd: Crowd) -> Result<Crowd, Failure> {
    for mesh in all()? {
        let pose = PackedPose::pack(&mesh.packed, &mesh.pose)?;
        add_posed(&mut crowd, &mesh.packed, &[pose])?;
    }
    Ok(crowd)
}

fn on_gpu(gpu: &Gpu) -> Result<(), Failure> {
    let results = run_twice(gpu, fill(gpu.crowd()?)?)?;
    let mut each = all()?.iter().zip(&results);
    each.try_for_each(|(mesh, got)| mesh.agrees(got))
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

/// A skin that stays as it is.
fn resting(points: Vec<Vec3>) -> Skin {
    Skin::new("/Mesh", Arc::new(points), None, None, None, 0, vec![]).expect("valid")
}

fn at_rest(skin: &PackedSkin) -> Deformed {
    let pose = Pose::of_shapes(Vec::new());
    let pose = PackedPose::pack(skin, &pose).expect("sizes that fit");
    on_cpu(skin, &pose)
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
    let influences = JointInfluences::new(
        "/Mesh",
        InfluenceInterpolation::Vertex,
        1,
        &[0; 8],
        vec![1.0; 8],
        8,
        1,
    )?;
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

fn mirrored() -> Result<(), Failure> {
    for (skin, poses) in mirrored_cube()? {
        for pose in poses {
            points_outward(&on_cpu(&skin, &pose))?;
        }
    }
    Ok(())
}

fn mirrored_on_gpu(gpu: &Gpu) -> Result<(), Failure> {
    let mut crowd = gpu.crowd()?;
    for (skin, poses) in mirrored_cube()? {
        let id = crowd.add_skin(skin)?;
        for pose in poses {
            posed(&mut crowd, id, &pose)?;
        }
    }
    crowd.run()?.iter().try_for_each(points_outward)
}

/// A triangle of edges that are tiny, ordinary, huge, or nothing; far from the origin or not.
fn extreme_skins() -> Result<Vec<(Arc<PackedSkin>, Vec3)>, Failure> {
    let topology = MeshTopology::new("/Mesh", &[3], &[0, 1, 2], false, 4)?;
    let mut out = Vec::new();
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
        let packed = PackedSkin::pack("/Mesh", &resting(points.to_vec()))?;
        out.push((Arc::new(packed.with_smooth_normals(&topology)?), normal));
    }
    Ok(out)
}

fn is_as_said(got: &Deformed, normal: Vec3) -> Result<(), Failure> {
    let want = to_f64(&[normal, normal, normal, Vec3::ZERO]);
    let normals = got.normals.as_ref().ok_or("no normals")?;
    Ok(compare("normals", normals, &want, tolerance::MADE_NORMALS)?)
}

fn extremes() -> Result<(), Failure> {
    for (skin, normal) in extreme_skins()? {
        is_as_said(&at_rest(&skin), normal)?;
    }
    Ok(())
}

fn extremes_on_gpu(gpu: &Gpu) -> Result<(), Failure> {
    let mut crowd = gpu.crowd()?;
    let all = extreme_skins()?;
    let pose = Pose::of_shapes(Vec::new());
    for (skin, _) in &all {
        add_posed(&mut crowd, skin, &[PackedPose::pack(skin, &pose)?])?;
    }
    for (got, (_, normal)) in crowd.run()?.iter().zip(&all) {
        is_as_said(got, *normal)?;
    }
    Ok(())
}
