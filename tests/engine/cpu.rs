//! What needs no device: the CPU backend in one thread and in many, and the comparison that all checks rest on.

use common::compare::compare;
use common::trials;
use common::trials::Trial;
use glam::{DVec3, Vec3, Vec4};
use libtest_mimic::Failed;
use sinew::kernel::{
    CpuJob, PackedPose, PackedSkin, bounds_on_cpu, points_on_cpu, skin_batch_on_cpu,
};
use sinew::mesh::RenderVertices;
use sinew_verify::cases::Spec;
use sinew_verify::ensure;
use sinew_verify::made::{Made, TWENTY, all_bits, made};

pub fn trials() -> Vec<Trial> {
    trials![
        batch_equals_singles,
        chosen_points_equal_all,
        repeats_on_any_number_of_threads,
        bytes_per_point_add_up,
        wrong_vertices_are_refused,
        comparison_notices_what_is_wrong,
    ]
}

/// Skins of every kind, and a large one.
fn all() -> Vec<Made> {
    let mut all = TWENTY.clone();
    all.push(made(&Spec::default().points(30_000).shapes(7)));
    all.push(made(&Spec::default().points(0)));
    all
}

/// The points of all skins in one batch.
fn batch(all: &[Made], poses: &[PackedPose]) -> Vec<Vec<Vec3>> {
    let new = |made: &Made| vec![Vec3::NAN; made.packed.output_count()];
    let mut points: Vec<Vec<Vec3>> = all.iter().map(new).collect();
    let mut jobs: Vec<CpuJob<'_>> = (all.iter().zip(poses).zip(&mut points))
        .map(|((made, pose), points)| CpuJob::new(&made.packed, pose, points))
        .collect();
    skin_batch_on_cpu(&mut jobs).expect("sizes that fit");
    drop(jobs);
    points
}

fn batch_equals_singles() -> Result<(), Failed> {
    let all = all();
    let poses: Vec<PackedPose> = all.iter().map(|made| made.pose(4)).collect();
    let found = batch(&all, &poses);
    for ((made, pose), points) in all.iter().zip(&poses).zip(&found) {
        let single = made.on_cpu(pose).points;
        ensure(single == *points, "the batch differs from single runs")?;
    }
    Ok(())
}

/// Points by themselves, in any order and more than once, to the bit.
fn chosen_points_equal_all() -> Result<(), Failed> {
    for made in all() {
        let (packed, pose) = (&made.packed, made.pose(1));
        let all = made.on_cpu(&pose).points;
        let count = packed.point_count() as u32;
        let few: Vec<u32> = [3, 0, 1, 1].into_iter().filter(|i| *i < count).collect();
        let many: Vec<u32> = (0..count).map(|i| i * 7919 % count.max(1)).collect();
        for indices in [&[][..], &few, &many] {
            let mut chosen = vec![Vec3::NAN; indices.len()];
            points_on_cpu(packed, &pose, indices, &mut chosen)?;
            let of_all: Vec<Vec3> = indices.iter().map(|i| all[*i as usize]).collect();
            let [a, b] = [&chosen, &of_all].map(|p| bytemuck::cast_slice::<_, u32>(p));
            ensure(a == b, "chosen points differ from all")?;
        }
    }
    Ok(())
}

fn repeats_on_any_number_of_threads() -> Result<(), Failed> {
    let all = all();
    let run = || {
        let poses: Vec<PackedPose> = all.iter().map(|made| made.pose(4)).collect();
        let singles = all.iter().zip(&poses).map(|(made, pose)| made.on_cpu(pose));
        let mut out = all_bits(&singles.collect::<Vec<_>>()).concat();
        let points = batch(&all, &poses);
        let boxes = points.iter().filter_map(|p| bounds_on_cpu(p)).flatten();
        let values = points.iter().flatten().copied().chain(boxes);
        out.extend(values.flat_map(|v| v.to_array().map(f32::to_bits)));
        out
    };
    let mut found = Vec::new();
    for threads in [1, 2, 3, 7, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        found.push(pool.build()?.install(run));
    }
    let equal = found.windows(2).all(|pair| pair[0] == pair[1]);
    Ok(ensure(equal, "other bits on another number of threads")?)
}

fn bytes_per_point_add_up() -> Result<(), Failed> {
    let spec = Spec::default();
    let of = |joints| made(&spec.joints(joints)).packed.bytes_per_point();
    let four = of(100);
    // Rest points and normals of 12 bytes, four palette indices of 1 and weights of 4.
    ensure(
        [four.read, four.written] == [44.0, 24.0],
        "bytes of a point",
    )?;
    Ok(ensure(of(300).read == 48.0, "palette indices of 2 bytes")?)
}

fn wrong_vertices_are_refused() -> Result<(), Failed> {
    let spec = Spec::default().points(10);
    let of = |spec: Spec| PackedSkin::clone(&made(&spec).packed);
    let (plain, corners) = (of(spec), of(spec.face_varying(true)));
    let bare = of(spec.normals(false));
    let new = RenderVertices::new;
    let other = corners.normal_points().ok_or("corners")?[0] + 1;
    let with =
        |points: &[u32], normals: &[u32]| new(points.to_vec()).with_normals(normals.to_vec());
    for (skin, vertices, words) in [
        (&plain, new(vec![0, 10]), "point 10 at vertex 1"),
        (&corners, new(vec![0, 1]), "one per face corner"),
        (&corners, with(&[other], &[0]), "normal 0 at vertex 0"),
        (&corners, with(&[0], &[9999]), "normal 9999"),
        (&plain, with(&[0, 1], &[0, 2]), "normal 2 at vertex 1"),
        (&plain, with(&[0, 1], &[0]), "found 1 normals"),
        (&bare, with(&[0], &[0]), "a skin with rest normals"),
        (
            &plain,
            new(vec![0]).with_tangents(vec![]),
            "found 0 tangents",
        ),
        (
            &plain,
            new(vec![0]).with_tangents(vec![Vec4::NAN]),
            "finite tangents",
        ),
    ] {
        let error = skin.clone().with_vertices(vertices).map(drop).unwrap_err();
        ensure(
            error.to_string().contains(words),
            &format!("{error} names {words}"),
        )?;
    }
    // Every vertex of a point has its place.
    let made = made(&spec);
    let twice = made.clone();
    let twice = twice.packed_as(|packed| packed.with_vertices(new(vec![3, 3])));
    let [two, all] = [&twice, &made].map(|made| made.on_cpu(&made.pose(1)).points);
    Ok(ensure(two == [all[3]; 2], "another point at two vertices")?)
}

fn comparison_notices_what_is_wrong() -> Result<(), Failed> {
    let one = [DVec3::ONE; 3];
    let with = |v: DVec3| [DVec3::ONE, v, DVec3::ONE];
    let (nan, infinity) = (with(DVec3::NAN), with(DVec3::INFINITY));
    for (what, result) in [
        ("a NaN on the left", compare("", &nan, &one, 1.0)),
        ("a NaN on the right", compare("", &one, &nan, 1.0)),
        ("NaN on both sides", compare("", &nan, &nan, 1.0)),
        ("an infinity", compare("", &infinity, &infinity, 1.0)),
        (
            "one NaN component",
            compare("", &with(DVec3::new(1.0, f64::NAN, 1.0)), &one, 1.0),
        ),
        ("fewer elements", compare("", &one[..2], &one, 1.0)),
        ("more elements", compare("", &one, &one[..2], 1.0)),
        (
            "nothing against something",
            compare("", &one[..0], &one, 1.0),
        ),
        (
            "a small difference",
            compare("", &with(DVec3::new(1.0, 1.0, 1.0 + 2e-6)), &one, 1e-6),
        ),
        (
            "a sentinel",
            compare("", &with(DVec3::splat(12345.0)), &one, 1e-3),
        ),
    ] {
        ensure(result.is_err(), &format!("the comparison let {what} pass"))?;
    }
    let text = compare("here", &with(DVec3::splat(3.0)), &one, 1e-3).unwrap_err();
    ensure(
        text.contains("at 1") && text.contains("here"),
        "another element is named",
    )?;
    compare("", &one, &one, 0.0)?;
    compare("", &one[..0], &one[..0], 0.0)?;
    Ok(compare("", &with(DVec3::splat(1.0 + 1e-7)), &one, 1e-6)?)
}
