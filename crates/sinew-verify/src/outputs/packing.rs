//! Skins that are stored in fewer bytes, octahedral normals, and instances of one skin that share what they read.

use std::sync::Arc;

use crate::{Failure, ensure};
use glam::{DMat4, DVec3, Vec3};
use sinew::gpu::{Attribute, NormalFormat, OutputTarget, SkinnerOptions};
use sinew::kernel::{POSES_PER_ITEM, PackedPose, PackedSkin, Packing, unpack_normal};
use sinew::mesh::RenderVertices;
use sinew::skel::{InfluenceInterpolation, JointInfluences, Pose, RestNormals, Skin};

use crate::cases::{self, Influences, Spec};
use crate::compare::{compare, to_f64};
use crate::host::Gpu;
use crate::outputs::shown::{bits, every_kind, on_cpu};
use crate::outputs::{Run, RunOnCpu};
use crate::rng::Rng;
use crate::tolerance;

/// Instances that share an item.
const POSES: usize = POSES_PER_ITEM as usize;

pub const ON_CPU: &[(&str, RunOnCpu)] = &[
    ("packed_values_are_as_near_as_promised", values),
    ("packed_skins_are_as_near_as_promised", deformed),
    ("bytes_per_point_add_up", bytes),
    ("what_cannot_be_packed_is_refused", refused),
];

pub const CHECKS: &[(&str, Run)] = &[
    ("packed_skins_equal_the_mirror", on_gpu),
    ("packed_skins_chunked_by_bindings", chunked),
    ("instances_of_one_skin_do_not_change_each_other", alone),
    ("octahedral_normals", octahedral),
    ("octahedral_normals_in_a_callers_buffer", interleaved),
    ("packed_skins_have_previous_positions", previous),
];

const JOINTS: usize = 24;

/// A skin with weights that sum to 1.
fn skin(influences: usize, joints: usize, normals: bool, seed: u64) -> Skin {
    skin_of(700, influences, joints, normals, seed)
}

/// The same of so many points, five at least.
pub fn skin_of(points: usize, influences: usize, joints: usize, normals: bool, seed: u64) -> Skin {
    let rng = &mut Rng::new(seed);
    let mut vector = |size: f32| {
        let mut one = || rng.range(-size, size);
        Vec3::new(one(), one(), one())
    };
    let rest: Vec<Vec3> = (0..points)
        .map(|_| vector(1.5) + Vec3::new(7.0, 0.0, -2.0))
        .collect();
    let mut directions: Vec<Vec3> = (0..points).map(|_| vector(1.0)).collect();
    directions[3] = Vec3::ZERO;
    directions[4] = -Vec3::Z;
    let mut picked = Vec::new();
    let mut weights = Vec::new();
    for _ in 0..points {
        let mut own: Vec<f32> = (0..influences)
            .map(|_| rng.range(0.0, 1.0).powi(2))
            .collect();
        if rng.chance(0.1) {
            own.fill(0.0);
            own[influences / 2] = 1.0;
        }
        let sum: f32 = own.iter().sum();
        weights.extend(own.iter().map(|w| w / sum));
        picked.extend((0..influences).map(|_| rng.below(joints) as i32));
    }
    let vertex = InfluenceInterpolation::Vertex;
    let influences =
        JointInfluences::new("/P", vertex, influences, &picked, weights, points, joints);
    let normals = normals.then(|| RestNormals::per_point(Arc::new(directions)));
    let influences = Some(influences.expect("valid"));
    Skin::new(
        "/P",
        Arc::new(rest),
        normals,
        influences,
        None,
        joints,
        Vec::new(),
    )
    .expect("valid")
}

fn pack(skin: &Skin, packing: Packing) -> PackedSkin {
    let packed = PackedSkin::pack("/P", skin).expect("packs");
    packed.with_packing(packing).expect("can be packed")
}

/// All packings of what they are for, by number of influences.
fn kinds() -> Vec<(Packing, Skin)> {
    let mut out = Vec::new();
    for influences in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12] {
        for packing in [Packing::Exact, Packing::Fine, Packing::Compact] {
            if packing == Packing::Compact && influences > 4 {
                continue;
            }
            // Palette indices of 8 and of 16 bits.
            for joints in [JOINTS, 300] {
                if packing == Packing::Compact && joints > 255 {
                    continue;
                }
                let normals = influences != 3;
                out.push((
                    packing,
                    skin(influences, joints, normals, influences as u64),
                ));
            }
        }
    }
    out
}

/// Errors of points over the extent, of normals, and of weights.
fn promised(packing: Packing) -> (f64, f64, f64) {
    match packing {
        Packing::Exact => (0.0, 0.0, 0.0),
        Packing::Fine => tolerance::FINE_PACKING,
        Packing::Compact => tolerance::COMPACT_PACKING,
    }
}

/// Weights by palette index, since packing may bring them into another order.
fn by_palette_index(skin: &PackedSkin, point: usize) -> Vec<f32> {
    let mut out = vec![0.0; skin.palette_entry_count()];
    let influences = skin.influences().expect("it has some");
    influences
        .of_point(point)
        .for_each(|(index, w)| out[index as usize] += w);
    out
}

fn values() -> Result<(), Failure> {
    for (packing, skin) in kinds() {
        let exact = pack(&skin, Packing::Exact);
        let packed = pack(&skin, packing);
        ensure(packed.packing() == packing, "another packing")?;
        let (of_points, of_normals, of_weights) = promised(packing);
        let low = exact
            .points()
            .iter()
            .copied()
            .reduce(Vec3::min)
            .unwrap_or_default();
        let high = exact
            .points()
            .iter()
            .copied()
            .reduce(Vec3::max)
            .unwrap_or_default();
        let extent = f64::from((high - low).max_element());
        for (a, b) in exact.points().iter().zip(packed.points()) {
            let off = f64::from((*a - *b).abs().max_element());
            ensure(
                off <= of_points * extent,
                &format!("{packing:?}: a point is {off} off"),
            )?;
        }
        let normals = exact.normals().unwrap_or_default().iter();
        for (a, b) in normals.zip(packed.normals().unwrap_or_default()) {
            let off = f64::from(a.normalize_or_zero().distance(b.normalize_or_zero()));
            let near = off <= of_normals.max(tolerance::FEW_ROUNDINGS);
            ensure(near, &format!("{packing:?}: a normal is {off} off"))?;
        }
        for point in 0..exact.point_count() {
            let (a, b) = (
                by_palette_index(&exact, point),
                by_palette_index(&packed, point),
            );
            let sums: [f64; 2] = [&a, &b].map(|w| w.iter().map(|w| f64::from(*w)).sum());
            ensure(
                (sums[0] - sums[1]).abs() < tolerance::FEW_ROUNDINGS,
                "weights sum to something else",
            )?;
            // Joints may come twice.
            let influences = exact.influences().expect("it has some").count();
            let off = a
                .iter()
                .zip(&b)
                .map(|(a, b)| f64::from((a - b).abs()))
                .fold(0.0, f64::max);
            let most = of_weights * f64::from(influences);
            ensure(off <= most, &format!("{packing:?}: a weight is {off} off"))?;
        }
    }
    Ok(())
}

fn poses(skin: &Skin, count: usize) -> Vec<Pose> {
    (0..count as u64)
        .map(|time| cases::pose(skin, 40 + time))
        .collect()
}

/// Skinned points against those of the skin as it was. Weights move a point by at most their error times the way between
/// the places that its joints alone take it to, which is below twice the largest coordinate in skeleton space.
fn deformed() -> Result<(), Failure> {
    for (packing, skin) in kinds() {
        let (exact, packed) = (pack(&skin, Packing::Exact), pack(&skin, packing));
        let mut pose = poses(&skin, 1).remove(0);
        pose.out_from_skel = DMat4::IDENTITY;
        let [want, got] = [&exact, &packed].map(|skin| {
            on_cpu(
                skin,
                &PackedPose::pack(skin, &pose).expect("sizes that fit"),
            )
        });
        let moved = pose.skinning.iter().flat_map(|all| all.iter());
        let longest = moved.fold(0.0f64, |longest, joint| {
            let all = exact.points().iter();
            let places = all.map(|p| {
                (*joint * pose.geom_bind)
                    .transform_point3(p.as_dvec3())
                    .length()
            });
            longest.max(places.fold(0.0, f64::max))
        });
        let influences = f64::from(exact.influences().expect("it has some").count());
        let (of_points, _, of_weights) = promised(packing);
        // Points are some units large, and joints scale them at most by 1.7 three times over.
        let allowed = of_points * 3.0 * 1.7f64.powi(3)
            + of_weights * influences * 2.0 * longest
            + tolerance::PACKED_POINTS;
        let worst = want
            .points
            .iter()
            .zip(&got.points)
            .map(|(a, b)| a.distance(*b));
        let worst = f64::from(worst.fold(0.0, f32::max));
        ensure(
            worst <= allowed,
            &format!("{packing:?}: a skinned point is {worst} of {allowed} off"),
        )?;
    }
    Ok(())
}

fn bytes() -> Result<(), Failure> {
    let four = skin(4, 100, true, 1);
    let of = |packing| pack(&four, packing).bytes_per_point();
    // Rest points and normals of 12 bytes, four palette indices of 1 and weights of 4.
    ensure(of(Packing::Exact).read == 44.0, "as they are")?;
    ensure(of(Packing::Fine).read == 8.0 + 4.0 + 4.0 + 8.0, "fine")?;
    ensure(of(Packing::Compact).read == 16.0, "compact")?;
    let all = [Packing::Exact, Packing::Fine, Packing::Compact];
    ensure(all.iter().all(|p| of(*p).written == 24.0), "written")?;
    let wide = pack(&skin(4, 300, true, 1), Packing::Exact).bytes_per_point();
    ensure(wide.read == 48.0, "palette indices of 2 bytes")
}

fn refused() -> Result<(), Failure> {
    let refuse = |packed: PackedSkin, packing: Packing, what: &str| {
        let found = packed.with_packing(packing).err().map(|e| e.to_string());
        let text = found.ok_or(format!("{what} was packed"))?;
        ensure(text.contains(what), &format!("{text}, and not: {what}"))
    };
    let as_it_is = |skin: &Skin| PackedSkin::pack("/P", skin).expect("packs");
    for packing in [Packing::Fine, Packing::Compact] {
        for spec in [
            Spec {
                shapes: 3,
                ..Spec::default()
            },
            Spec {
                influences: Influences::None,
                shapes: 3,
                ..Spec::default()
            },
            Spec {
                influences: Influences::Constant(2),
                ..Spec::default()
            },
            Spec {
                face_varying: true,
                ..Spec::default()
            },
        ] {
            refuse(as_it_is(&cases::skin(&spec)), packing, "of another kind")?;
        }
    }
    // Weights of both signs, whose sums are anything.
    let any = || as_it_is(&cases::skin(&Spec::default()));
    refuse(any(), Packing::Fine, "from 0 to 1")?;
    refuse(any(), Packing::Compact, "1 to pack")?;
    refuse(
        as_it_is(&skin(5, JOINTS, true, 1)),
        Packing::Compact,
        "at most four",
    )?;
    refuse(
        as_it_is(&skin(4, 300, true, 1)),
        Packing::Compact,
        "255 joints",
    )?;
    let vertices = RenderVertices::new(vec![0, 1, 2]);
    let packed = pack(&skin(2, JOINTS, true, 1), Packing::Fine);
    let unposed = |packed| PackedPose::pack(packed, &Pose::of_shapes(Vec::new()));
    ensure(unposed(&packed).is_err(), "a packed skin without a palette")?;
    ensure(
        unposed(&as_it_is(&skin(2, JOINTS, true, 1))).is_ok(),
        "a skin at rest is refused",
    )?;
    ensure(
        packed.with_vertices(vertices).is_err(),
        "vertices of a packed skin",
    )
}

/// Instances of every kind, more than an item holds of some; in turn, so that what shares items is not in a row.
fn crowd_of(
    gpu: &Gpu,
    options: &SkinnerOptions,
    target: &OutputTarget,
) -> Result<Vec<sinew::gpu::Deformed>, Failure> {
    let mut crowd = gpu.crowd_with(options)?;
    let kinds = kinds();
    let packed: Vec<_> = kinds
        .iter()
        .map(|(packing, skin)| Arc::new(pack(skin, *packing)))
        .collect();
    let ids = packed.iter().map(|p| crowd.add_skin(Arc::clone(p)));
    let ids: Vec<_> = ids.collect::<Result<_, _>>()?;
    for time in 0..POSES + 2 {
        for (number, (_, skin)) in kinds.iter().enumerate() {
            if time > number % (POSES + 2) {
                continue;
            }
            let instance = crowd.add_instance_to(ids[number], target.clone())?;
            let pose = &poses(skin, time + 1)[time];
            crowd.set_pose(instance, &PackedPose::pack(&packed[number], pose)?)?;
        }
    }
    Ok(crowd.run()?)
}

/// What [`crowd_of`] makes, on the CPU.
fn crowd_on_cpu() -> Vec<sinew::gpu::Deformed> {
    let kinds = kinds();
    let mut out = Vec::new();
    for time in 0..POSES + 2 {
        for (number, (packing, skin)) in kinds.iter().enumerate() {
            if time <= number % (POSES + 2) {
                let packed = pack(skin, *packing);
                let pose = &poses(skin, time + 1)[time];
                out.push(on_cpu(
                    &packed,
                    &PackedPose::pack(&packed, pose).expect("sizes that fit"),
                ));
            }
        }
    }
    out
}

fn on_gpu(gpu: &Gpu) -> Result<(), Failure> {
    for max_binding_bytes in [None, Some(64 << 10)] {
        let options = SkinnerOptions {
            max_binding_bytes,
            ..SkinnerOptions::default()
        };
        let got = crowd_of(gpu, &options, &OutputTarget::default())?;
        let want = crowd_on_cpu();
        ensure(got.len() == want.len(), "a result for each")?;
        for (got, want) in got.iter().zip(&want) {
            let points = (to_f64(&got.points), to_f64(&want.points));
            compare("points", &points.0, &points.1, tolerance::MIRROR_POINTS)?;
            ensure(
                got.normals.is_some() == want.normals.is_some(),
                "normals on one side only",
            )?;
            if let (Some(got), Some(want)) = (&got.normals, &want.normals) {
                compare(
                    "normals",
                    &to_f64(got),
                    &to_f64(want),
                    tolerance::MIRROR_NORMALS,
                )?;
            }
        }
    }
    Ok(())
}

fn chunked(gpu: &Gpu) -> Result<(), Failure> {
    let target = OutputTarget::default();
    let whole = crowd_of(gpu, &SkinnerOptions::default(), &target)?;
    let options = SkinnerOptions {
        max_binding_bytes: Some(32_000),
        max_workgroups_per_dimension: Some(3),
        ..SkinnerOptions::default()
    };
    let all = whole.iter().zip(crowd_of(gpu, &options, &target)?);
    for (a, b) in all {
        ensure(
            bits(a) == bits(&b),
            "chunked results differ from whole ones",
        )?;
    }
    Ok(())
}

fn alone(gpu: &Gpu) -> Result<(), Failure> {
    let skin = skin(4, JOINTS, true, 5);
    for packing in [Packing::Exact, Packing::Fine, Packing::Compact] {
        let packed = Arc::new(pack(&skin, packing));
        let poses = poses(&skin, 2 * POSES + 1);
        let mut crowd = gpu.crowd()?;
        let id = crowd.add_skin(Arc::clone(&packed))?;
        let mut instances = Vec::new();
        for pose in &poses {
            let instance = crowd.add_instance(id)?;
            crowd.set_pose(instance, &PackedPose::pack(&packed, pose)?)?;
            instances.push(instance);
        }
        let together = crowd.run()?;
        // Some leave, others move up.
        for instance in &instances[..POSES - 1] {
            crowd.set_hidden(*instance, true)?;
        }
        crowd.run()?;
        for (number, instance) in instances.iter().enumerate().skip(POSES - 1) {
            let now = crowd.read(&[*instance])?;
            ensure(
                bits(&now[0]) == bits(&together[number]),
                "others left, and it changed",
            )?;
        }
        for (pose, together) in poses.iter().zip(&together) {
            let mut crowd = gpu.crowd()?;
            let id = crowd.add_skin(Arc::clone(&packed))?;
            let instance = crowd.add_instance(id)?;
            crowd.set_pose(instance, &PackedPose::pack(&packed, pose)?)?;
            ensure(
                bits(&crowd.run()?[0]) == bits(together),
                "alone it is another",
            )?;
        }
    }
    Ok(())
}

fn unit(normals: &[Vec3]) -> Vec<DVec3> {
    normals
        .iter()
        .map(|n| n.as_dvec3().normalize_or_zero())
        .collect()
}

/// Of plain skins, blended ones, render vertices, faceVarying and made normals.
fn octahedral(gpu: &Gpu) -> Result<(), Failure> {
    let targets =
        [NormalFormat::Floats, NormalFormat::Octahedral].map(|normal_format| OutputTarget {
            normal_format,
            ..OutputTarget::default()
        });
    let [want, got] = targets.map(|target| -> Result<_, Failure> {
        let mut out = crowd_of(gpu, &SkinnerOptions::default(), &target)?;
        let mut crowd = gpu.crowd()?;
        for shown in every_kind()? {
            let id = crowd.add_skin(Arc::clone(&shown.packed))?;
            let instance = crowd.add_instance_to(id, target.clone())?;
            crowd.set_pose(instance, &shown.pack(&shown.poses()[0]))?;
        }
        for made in [false, true] {
            let spec = Spec {
                face_varying: true,
                shapes: 2,
                ..Spec::default()
            };
            let skin = cases::skin(&spec);
            let mut packed = PackedSkin::pack("/P", &skin)?;
            if made {
                let faces: Vec<i32> = (0..900).collect();
                let faces = sinew::skel::MeshTopology::new("/P", &[3; 300], &faces, false, 1000)?;
                packed = packed.with_smooth_normals(&faces)?;
            }
            let pose = PackedPose::pack(&packed, &cases::pose(&skin, 3))?;
            let id = crowd.add_skin(Arc::new(packed))?;
            let instance = crowd.add_instance_to(id, target.clone())?;
            crowd.set_pose(instance, &pose)?;
        }
        out.extend(crowd.run()?);
        Ok(out)
    });
    let (want, got) = (want?, got?);
    ensure(
        want.len() == got.len() && !want.is_empty(),
        "a result for each",
    )?;
    for (want, got) in want.iter().zip(&got) {
        ensure(want.points == got.points, "other points")?;
        let (want, got) = (want.normals.as_deref(), got.normals.as_deref());
        let (want, got) = (
            unit(want.unwrap_or_default()),
            to_f64(got.unwrap_or_default()),
        );
        compare("normals", &got, &want, tolerance::OCTAHEDRAL_NORMALS)?;
    }
    Ok(())
}

/// Sixteen bytes to a vertex: its place, and its normal.
fn interleaved(gpu: &Gpu) -> Result<(), Failure> {
    let skin = skin(4, JOINTS, true, 6);
    let packed = Arc::new(pack(&skin, Packing::Compact));
    let pose = PackedPose::pack(&packed, &poses(&skin, 1)[0])?;
    let words = packed.point_count() * 4 + 2;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let buffer = gpu.filled(words, usage, 0x5555_5555);
    let at = |offset| Attribute::In {
        buffer: buffer.clone(),
        offset,
        stride: 16,
    };
    let target = OutputTarget {
        positions: at(4),
        normals: Some(at(16)),
        normal_format: NormalFormat::Octahedral,
        ..OutputTarget::default()
    };
    let mut crowd = gpu.crowd()?;
    let id = crowd.add_skin(Arc::clone(&packed))?;
    let too_narrow = OutputTarget {
        normal_format: NormalFormat::Floats,
        ..target.clone()
    };
    let floats = crowd.add_instance_to(id, too_narrow);
    ensure(
        floats.is_err(),
        "normals of 12 bytes between places 16 bytes apart",
    )?;
    let instance = crowd.add_instance_to(id, target)?;
    crowd.set_pose(instance, &pose)?;
    let read = crowd.run()?.remove(0);
    let found = gpu.read::<u32>(&buffer)?;
    ensure(
        found[0] == 0x5555_5555 && found[words - 1] == 0x5555_5555,
        "something else was touched",
    )?;
    let normals = read.normals.ok_or("normals were asked for")?;
    let want = on_cpu(&packed, &pose);
    compare(
        "points",
        &to_f64(&read.points),
        &to_f64(&want.points),
        tolerance::MIRROR_POINTS,
    )?;
    for (i, vertex) in found[1..words - 1].chunks_exact(4).enumerate() {
        let place = [vertex[0], vertex[1], vertex[2]].map(f32::from_bits);
        ensure(Vec3::from(place) == read.points[i], "another place")?;
        ensure(unpack_normal(vertex[3]) == normals[i], "another normal")?;
    }
    let want = unit(&want.normals.unwrap_or_default());
    compare(
        "normals",
        &to_f64(&normals),
        &want,
        tolerance::OCTAHEDRAL_NORMALS,
    )?;
    Ok(())
}

/// Each frame hands its positions on, whichever of an item's poses they are.
fn previous(gpu: &Gpu) -> Result<(), Failure> {
    let skin = skin(4, JOINTS, true, 6);
    let target = OutputTarget {
        previous: Some(Attribute::Own),
        ..OutputTarget::default()
    };
    for packing in [Packing::Exact, Packing::Fine, Packing::Compact] {
        let packed = Arc::new(pack(&skin, packing));
        let mut crowd = gpu.crowd()?;
        let id = crowd.add_skin(Arc::clone(&packed))?;
        let mut last: Vec<sinew::gpu::Deformed> = Vec::new();
        for frame in 0..4usize {
            // Some that have a frame before them, and some that have none.
            for target in [target.clone(), OutputTarget::default()] {
                crowd.add_instance_to(id, target)?;
            }
            let all = crowd.instances();
            for (number, instance) in all.iter().enumerate() {
                let pose = &poses(&skin, frame + number + 1)[frame + number];
                crowd.set_pose(*instance, &PackedPose::pack(&packed, pose)?)?;
            }
            let now = crowd.run()?;
            for (number, result) in now.iter().enumerate() {
                let asked = number % 2 == 0;
                ensure(result.previous.is_some() == asked, "previous positions")?;
                if let Some(previous) = &result.previous {
                    let before = last.get(number).map_or(&result.points, |last| &last.points);
                    ensure(
                        previous == before,
                        &format!("{packing:?}: not those of the frame before"),
                    )?;
                }
            }
            last = now;
        }
    }
    Ok(())
}
