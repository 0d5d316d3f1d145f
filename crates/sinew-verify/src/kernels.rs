//! f64 reference <-> f32 CPU mirror <-> GPU, on random skins and poses.

use std::sync::Arc;

use crate::cases::{self, Influences, Motion, Spec};
use crate::compare::{compare, self_test, to_f64};
use crate::host::Gpu;
use crate::{Check, Failure, Subject, tolerance};
use glam::{DVec3, Vec3};
use sinew::gpu::{
    AdapterChoice, Deformed, GpuDevice, GpuError, OutputTarget, PipelineVariant, Prewarm,
    SkinnerOptions, pipeline_variants,
};
use sinew::kernel::{
    CpuJob, PackedPose, PackedSkin, Palette, points_on_cpu, skin_batch_on_cpu, skin_on_cpu,
};
use sinew::skel::reference::{self, HemisphereTies};
use sinew::skel::{Pose, Skin, SkinningMethod};

/// What outputs hold before a kernel runs.
const SENTINEL: Vec3 = Vec3::NAN;

pub fn checks() -> Vec<Check> {
    let cpu =
        |name: &str, run| Check::cpu(Subject::Linear, format!("kernels::mirror::{name}"), run);
    let mut checks = vec![Check::cpu(
        Subject::Linear,
        "kernels::comparer::negative",
        || Ok(self_test()?),
    )];
    for (name, spec) in specs() {
        let name = format!("kernels::mirror::{name}");
        checks.push(Check::cpu(subject(&spec), name, move || mirror(&spec)));
    }
    checks.push(cpu("batch_equals_singles", batch as fn() -> _));
    checks.push(cpu("chosen_points_equal_all", chosen_points));
    for (name, spec) in specs() {
        let name = format!("kernels::gpu::{name}");
        let run = move |gpu: &Gpu| one_on_gpu(gpu, &spec);
        checks.push(Check::gpu(subject(&spec), name, run));
    }
    type Run = fn(&Gpu) -> Result<(), Failure>;
    let others: [(Subject, &str, Run); 7] = [
        (
            Subject::Crowds,
            "crowd_of_everything_in_one_dispatch",
            crowd_in_one_dispatch,
        ),
        (
            Subject::Crowds,
            "two_frames_in_one_submit",
            two_frames_in_one_submit,
        ),
        (
            Subject::Limits,
            "palettes_of_many_sizes",
            palettes_of_many_sizes,
        ),
        (Subject::Crowds, "prims_share_a_palette", shared_palette),
        (Subject::Crowds, "wrong_use_is_an_error", errors),
        (Subject::Growth, "instances_come_and_go", reuse),
        (Subject::Loss, "a_lost_device_is_an_error", lost_device),
    ];
    for (subject, name, run) in others {
        checks.push(Check::gpu(subject, format!("kernels::gpu::{name}"), run));
    }
    let tight = |bytes, workgroups| SkinnerOptions {
        max_binding_bytes: bytes,
        max_workgroups_per_dimension: workgroups,
        ..SkinnerOptions::default()
    };
    for (name, options) in [
        ("bindings_of_4096_bytes", tight(Some(4096), None)),
        ("bindings_of_20000_bytes", tight(Some(20_000), None)),
        ("1_workgroup_per_dimension", tight(None, Some(1))),
        ("3_workgroups_per_dimension", tight(None, Some(3))),
        ("both", tight(Some(4096), Some(2))),
    ] {
        let name = format!("kernels::gpu::chunked_by_{name}");
        let run = move |gpu: &Gpu| chunked(gpu, &options);
        checks.push(Check::gpu(Subject::Limits, name, run));
    }
    checks
}

fn subject(spec: &Spec) -> Subject {
    match spec.method {
        SkinningMethod::DualQuaternion => Subject::DualQuaternions,
        _ if spec.shapes > 0 => Subject::BlendShapes,
        _ => Subject::Linear,
    }
}

fn specs() -> Vec<(String, Spec)> {
    let mut out = Vec::new();
    for k in 1..=14 {
        let spec = Spec {
            seed: k as u64,
            influences: Influences::Vertex(k),
            own_joints: k % 2 == 0,
            ..Spec::default()
        };
        out.push((format!("influences_{k}"), spec));
    }
    for points in [0, 1, 63, 64, 65, 1000, 1025, 5000] {
        let spec = Spec {
            seed: 100 + points as u64,
            points,
            shapes: 5,
            ..Spec::default()
        };
        out.push((format!("points_{points}"), spec));
    }
    for k in [1, 2, 5] {
        let spec = Spec {
            seed: 200 + k as u64,
            influences: Influences::Constant(k),
            own_joints: true,
            shapes: 3,
            ..Spec::default()
        };
        out.push((format!("constant_{k}"), spec));
    }
    let base = Spec {
        seed: 300,
        ..Spec::default()
    };
    out.push((
        "blend_only".into(),
        Spec {
            influences: Influences::None,
            shapes: 9,
            ..base
        },
    ));
    out.push((
        "blend_only_without_normals".into(),
        Spec {
            influences: Influences::None,
            shapes: 9,
            normals: false,
            ..base
        },
    ));
    out.push((
        "neither_influences_nor_shapes".into(),
        Spec {
            influences: Influences::None,
            ..base
        },
    ));
    out.push((
        "without_normals".into(),
        Spec {
            normals: false,
            ..base
        },
    ));
    out.push((
        "blend_and_skin".into(),
        Spec {
            shapes: 24,
            own_joints: true,
            ..base
        },
    ));
    out.push((
        "blend_and_skin_without_normals".into(),
        Spec {
            shapes: 24,
            normals: false,
            ..base
        },
    ));
    out.push((
        "skeleton_without_joints".into(),
        Spec {
            joints: 0,
            influences: Influences::None,
            shapes: 4,
            ..base
        },
    ));
    out.extend(dual_quaternions());
    out.extend(face_varying());
    out
}

fn dual_quaternions() -> Vec<(String, Spec)> {
    let mut out = Vec::new();
    let mut add = |name: &str, spec: Spec| {
        let method = SkinningMethod::DualQuaternion;
        out.push((format!("dual_quaternions_{name}"), Spec { method, ..spec }));
    };
    for (name, motion) in [
        ("mild", Motion::Mild),
        ("rigid", Motion::Rigid),
        ("sheared", Motion::Sheared),
        ("degenerate", Motion::Degenerate),
    ] {
        for k in [1, 2, 3, 4, 5, 8, 11] {
            let spec = Spec {
                seed: 410 + k as u64,
                influences: Influences::Vertex(k),
                own_joints: k % 3 == 2,
                motion,
                ..Spec::default()
            };
            add(&format!("{name}_{k}"), spec);
        }
        for k in [1, 2, 3] {
            let spec = Spec {
                seed: 450 + k as u64,
                influences: Influences::Constant(k),
                own_joints: k == 2,
                motion,
                ..Spec::default()
            };
            add(&format!("{name}_constant_{k}"), spec);
        }
    }
    let sheared = Spec {
        seed: 480,
        motion: Motion::Sheared,
        ..Spec::default()
    };
    add(
        "blend",
        Spec {
            shapes: 9,
            ..sheared
        },
    );
    add(
        "without_normals",
        Spec {
            normals: false,
            ..sheared
        },
    );
    add(
        "blend_only",
        Spec {
            influences: Influences::None,
            shapes: 9,
            ..sheared
        },
    );
    for points in [0, 1, 65, 5000] {
        add(&format!("points_{points}"), Spec { points, ..sheared });
    }
    out
}

fn face_varying() -> Vec<(String, Spec)> {
    let mut out = Vec::new();
    let base = Spec {
        seed: 500,
        face_varying: true,
        ..Spec::default()
    };
    let mut add = |name: &str, spec: Spec| out.push((format!("face_varying_{name}"), spec));
    for k in [1, 2, 4, 7] {
        let influences = Influences::Vertex(k);
        add(
            &format!("influences_{k}"),
            Spec {
                influences,
                own_joints: k == 2,
                ..base
            },
        );
    }
    for points in [0, 1, 64, 65, 3000] {
        add(&format!("points_{points}"), Spec { points, ..base });
    }
    let constant = Influences::Constant(3);
    add(
        "constant",
        Spec {
            influences: constant,
            ..base
        },
    );
    // Shapes that have normal offsets leave faceVarying normals alone (rule 19).
    add("blend", Spec { shapes: 9, ..base });
    add(
        "blend_only",
        Spec {
            influences: Influences::None,
            shapes: 9,
            ..base
        },
    );
    for (name, motion) in [("rigid", Motion::Rigid), ("degenerate", Motion::Degenerate)] {
        let method = SkinningMethod::DualQuaternion;
        add(
            &format!("dual_quaternions_{name}"),
            Spec {
                method,
                motion,
                shapes: 3,
                ..base
            },
        );
    }
    out
}

fn run_mirror(skin: &PackedSkin, pose: &PackedPose) -> (Vec<Vec3>, Option<Vec<Vec3>>) {
    let mut points = vec![SENTINEL; skin.point_count()];
    let mut normals = skin.normals().map(|n| vec![SENTINEL; n.len()]);
    skin_on_cpu(skin, pose, &mut points, normals.as_deref_mut()).expect("sizes that fit");
    (points, normals)
}

fn mirror(spec: &Spec) -> Result<(), Failure> {
    let skin = cases::skin(spec);
    let packed = PackedSkin::pack("/Case", &skin)?;
    for time in 0..3 {
        let pose = cases::pose_of(spec, &skin, time);
        let want = reference::deform(&skin, &pose)?;
        let clear = Clear::new(&skin, &pose)?;
        let (points, normals) = run_mirror(&packed, &PackedPose::pack(&packed, &pose)?);
        clear.points("points", &to_f64(&points), &want.points, tolerance::POINTS)?;
        if let Some(want) = want.normals {
            clear.normals(
                "normals",
                &to_f64(&normals.expect("normals in, normals out")),
                &want,
                tolerance::NORMALS,
            )?;
        }
    }
    Ok(())
}

/// Points and normals that do not hang on rounding (see [`reference::hemisphere_ties`]), which two
/// implementations have to agree on.
struct Clear(HemisphereTies);

impl Clear {
    fn new(skin: &Skin, pose: &Pose) -> Result<Self, Failure> {
        let ties = reference::hemisphere_ties(skin, pose, tolerance::HEMISPHERE_TIE)?;
        for ties in [&ties.points, &ties.normals] {
            let count = ties.iter().filter(|t| **t).count();
            if count > 2 && count as f64 > tolerance::MOST_TIES_OF_20_JOINTS * ties.len() as f64 {
                return Err(format!("{count} ties among {}", ties.len()).into());
            }
        }
        Ok(Self(ties))
    }

    fn points(&self, what: &str, a: &[DVec3], b: &[DVec3], allowed: f64) -> Result<(), String> {
        compare_but(what, &self.0.points, a, b, allowed)
    }

    fn normals(&self, what: &str, a: &[DVec3], b: &[DVec3], allowed: f64) -> Result<(), String> {
        compare_but(what, &self.0.normals, a, b, allowed)
    }
}

fn compare_but(
    what: &str,
    left_out: &[bool],
    got: &[DVec3],
    want: &[DVec3],
    allowed: f64,
) -> Result<(), String> {
    // Lengths are compared too.
    let zeroed = |values: &[DVec3]| -> Vec<DVec3> {
        let mut values = values.to_vec();
        for (value, _) in values.iter_mut().zip(left_out).filter(|(_, out)| **out) {
            *value = DVec3::ZERO;
        }
        values
    };
    compare(what, &zeroed(got), &zeroed(want), allowed)
}

fn batch() -> Result<(), Failure> {
    let skins: Vec<_> = specs().iter().map(|(_, spec)| cases::skin(spec)).collect();
    let packed: Vec<_> = skins
        .iter()
        .map(|s| PackedSkin::pack("/Case", s))
        .collect::<Result<_, _>>()?;
    let poses: Vec<_> = skins
        .iter()
        .zip(&packed)
        .map(|(s, p)| PackedPose::pack(p, &cases::pose(s, 9)).expect("sizes that fit"))
        .collect();
    let mut points: Vec<_> = packed
        .iter()
        .map(|s| vec![SENTINEL; s.point_count()])
        .collect();
    let mut jobs: Vec<_> = packed
        .iter()
        .zip(&poses)
        .zip(&mut points)
        .map(|((skin, pose), points)| CpuJob::new(skin, pose, points))
        .collect();
    skin_batch_on_cpu(&mut jobs)?;
    for ((skin, pose), points) in packed.iter().zip(&poses).zip(&points) {
        if run_mirror(skin, pose).0 != *points {
            return Err("the batch differs from single runs".into());
        }
    }
    Ok(())
}

/// Points by themselves, in any order and more than once, to the bit.
fn chosen_points() -> Result<(), Failure> {
    for (name, spec) in specs() {
        let skin = cases::skin(&spec);
        let packed = PackedSkin::pack("/Case", &skin)?;
        let pose = PackedPose::pack(&packed, &cases::pose_of(&spec, &skin, 5))?;
        let all = run_mirror(&packed, &pose).0;
        let count = packed.point_count() as u32;
        let few: Vec<u32> = [3, 0, 1, 1].into_iter().filter(|i| *i < count).collect();
        let many: Vec<u32> = (0..count).map(|i| i * 7919 % count.max(1)).collect();
        for indices in [&[][..], &few, &many] {
            let mut chosen = vec![SENTINEL; indices.len()];
            points_on_cpu(&packed, &pose, indices, &mut chosen)?;
            let equal = indices.iter().zip(&chosen).all(|(i, p)| {
                p.to_array().map(f32::to_bits) == all[*i as usize].to_array().map(f32::to_bits)
            });
            if !equal {
                return Err(format!("{name}: chosen points differ from all").into());
            }
        }
    }
    Ok(())
}

/// Runs one crowd with outputs prefilled, and checks that nothing behind them was written.
fn run_gpu(
    gpu: &Gpu,
    options: &SkinnerOptions,
    work: &[(Arc<PackedSkin>, Vec<PackedPose>)],
) -> Result<Vec<Deformed>, Failure> {
    const BEHIND: f32 = 12345.0;
    let skinner = gpu.skinner(options)?;
    let mut crowd = skinner.crowd();
    for (skin, poses) in work {
        let id = crowd.add_skin(Arc::clone(skin))?;
        for pose in poses {
            let instance = crowd.add_instance(id)?;
            crowd.set_pose(instance, pose)?;
        }
    }
    crowd.fill_outputs(BEHIND)?;
    let first = crowd.run()?;
    if let Some(i) = crowd
        .read_behind_outputs()?
        .iter()
        .position(|v| *v != BEHIND)
    {
        return Err(format!("something was written {i} floats behind the outputs").into());
    }
    // NaN this time: an element that is not written cannot pass for a result.
    crowd.fill_outputs(f32::NAN)?;
    let second = crowd.run()?;
    if bits(&first) != bits(&second) {
        return Err("two runs differ in their bits".into());
    }
    Ok(second)
}

fn bits(results: &[Deformed]) -> Vec<u32> {
    let values = |d: &Deformed| {
        let normals = d.normals.iter().flatten();
        d.points
            .iter()
            .chain(normals)
            .flat_map(|v| v.to_array().map(f32::to_bits))
            .collect::<Vec<_>>()
    };
    results.iter().flat_map(values).collect()
}

fn check_gpu(got: &Deformed, skin: &Skin, packed: &PackedSkin, pose: &Pose) -> Result<(), Failure> {
    let want = reference::deform(skin, pose)?;
    let clear = Clear::new(skin, pose)?;
    clear.points(
        "points, reference",
        &to_f64(&got.points),
        &want.points,
        tolerance::POINTS,
    )?;
    let (points, normals) = run_mirror(packed, &PackedPose::pack(packed, pose)?);
    clear.points(
        "points, mirror",
        &to_f64(&got.points),
        &to_f64(&points),
        tolerance::MIRROR_POINTS,
    )?;
    match (&got.normals, want.normals, normals) {
        (None, None, None) => Ok(()),
        (Some(got), Some(want), Some(mirror)) => {
            clear.normals(
                "normals, reference",
                &to_f64(got),
                &want,
                tolerance::NORMALS,
            )?;
            Ok(clear.normals(
                "normals, mirror",
                &to_f64(got),
                &to_f64(&mirror),
                tolerance::MIRROR_NORMALS,
            )?)
        }
        _ => Err("normals on one side only".into()),
    }
}

fn one_on_gpu(gpu: &Gpu, spec: &Spec) -> Result<(), Failure> {
    let skin = cases::skin(spec);
    let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
    let poses: Vec<_> = (0..3)
        .map(|time| cases::pose_of(spec, &skin, time))
        .collect();
    let packed_poses = poses
        .iter()
        .map(|p| PackedPose::pack(&packed, p).expect("sizes that fit"))
        .collect();
    let results = run_gpu(
        gpu,
        &SkinnerOptions::default(),
        &[(Arc::clone(&packed), packed_poses)],
    )?;
    for (got, pose) in results.iter().zip(&poses) {
        check_gpu(got, &skin, &packed, pose)?;
    }
    Ok(())
}

/// A skin, the same packed, and its poses.
type Case = (Skin, Arc<PackedSkin>, Vec<Pose>);

/// All skins at three times each: two skeletons and more, every influence count, in one crowd.
fn everything() -> Result<Vec<Case>, Failure> {
    let specs: Vec<Spec> = specs().into_iter().map(|(_, spec)| spec).collect();
    cases_of(&specs)
}

fn cases_of(specs: &[Spec]) -> Result<Vec<Case>, Failure> {
    specs
        .iter()
        .map(|spec| {
            let skin = cases::skin(spec);
            let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
            let poses = (0..3)
                .map(|time| cases::pose_of(spec, &skin, time))
                .collect();
            Ok((skin, packed, poses))
        })
        .collect()
}

fn packed_work(all: &[Case]) -> Vec<(Arc<PackedSkin>, Vec<PackedPose>)> {
    let pack = |packed: &PackedSkin, poses: &[Pose]| {
        poses
            .iter()
            .map(|p| PackedPose::pack(packed, p).expect("sizes that fit"))
            .collect()
    };
    all.iter()
        .map(|(_, packed, poses)| (Arc::clone(packed), pack(packed, poses)))
        .collect()
}

fn crowd_in_one_dispatch(gpu: &Gpu) -> Result<(), Failure> {
    let all = everything()?;
    let skinner = gpu.new_skinner(&SkinnerOptions::default())?;
    let mut crowd = skinner.crowd();
    for (packed, poses) in packed_work(&all) {
        let id = crowd.add_skin(packed)?;
        for pose in &poses {
            let instance = crowd.add_instance(id)?;
            crowd.set_pose(instance, pose)?;
        }
    }
    // One for each pipeline that some skin needs: what is compiled ahead is all that is compiled.
    let mut variants: Vec<PipelineVariant> = Vec::new();
    for (packed, _) in packed_work(&all) {
        let of_skin = pipeline_variants(&packed, &OutputTarget::default(), Prewarm::default());
        for variant in of_skin {
            if !variants.contains(&variant) {
                variants.push(variant);
            }
        }
    }
    let dispatches = crowd.dispatch_count()?;
    if dispatches > variants.len() {
        return Err(format!("{dispatches} dispatches, {} pipelines", variants.len()).into());
    }
    skinner.prewarm(&variants)?;
    let compiled = skinner.compiled();
    crowd.run()?;
    if (compiled, skinner.compiled()) != (variants.len(), variants.len()) {
        return Err(format!("{compiled} pipelines, then {}", skinner.compiled()).into());
    }
    check_work(gpu, &all)
}

/// Small palettes lie beside ones of more than 64 KiB.
fn palettes_of_many_sizes(gpu: &Gpu) -> Result<(), Failure> {
    let of = |joints| Spec {
        seed: joints as u64,
        joints,
        shapes: 4,
        ..Spec::default()
    };
    check_work(gpu, &cases_of(&[20, 1500, 600, 650, 2000, 5].map(of))?)
}

/// Runs everything in one crowd and compares with the reference.
fn check_work(gpu: &Gpu, all: &[Case]) -> Result<(), Failure> {
    let results = run_gpu(gpu, &SkinnerOptions::default(), &packed_work(all))?;
    let expected = all
        .iter()
        .flat_map(|(skin, packed, poses)| poses.iter().map(move |p| (skin, packed, p)));
    for (got, (skin, packed, pose)) in results.iter().zip(expected) {
        check_gpu(got, skin, packed, pose)?;
    }
    Ok(())
}

fn chunked(gpu: &Gpu, options: &SkinnerOptions) -> Result<(), Failure> {
    let work = packed_work(&everything()?);
    let whole = run_gpu(gpu, &SkinnerOptions::default(), &work)?;
    let cut = run_gpu(gpu, options, &work)?;
    if bits(&whole) != bits(&cut) {
        return Err("chunked results differ from whole ones".into());
    }
    Ok(())
}

/// Two frames recorded into one submit keep their own poses.
fn two_frames_in_one_submit(gpu: &Gpu) -> Result<(), Failure> {
    let spec = Spec {
        shapes: 5,
        ..Spec::default()
    };
    let skin = cases::skin(&spec);
    let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
    let skinner = gpu.skinner(&SkinnerOptions::default())?;
    let mut crowd = skinner.crowd();
    let id = crowd.add_skin(Arc::clone(&packed))?;
    let instance = crowd.add_instance(id)?;
    let poses = [cases::pose(&skin, 1), cases::pose(&skin, 2)];
    let bytes = spec.points as u64 * 12;
    let kept = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("test.kept"),
        size: bytes * 2,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    for (i, pose) in poses.iter().enumerate() {
        crowd.set_pose(instance, &PackedPose::pack(&packed, pose)?)?;
        crowd.encode(&mut encoder)?;
        let slices = crowd.points_on_gpu(instance)?;
        encoder.copy_buffer_to_buffer(
            slices[0].buffer,
            slices[0].offset,
            &kept,
            i as u64 * bytes,
            bytes,
        );
    }
    gpu.queue.submit([encoder.finish()]);
    kept.map_async(wgpu::MapMode::Read, .., |_| {});
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    let view = kept.get_mapped_range(..)?;
    let all: Vec<Vec3> = bytemuck::pod_collect_to_vec(&view);
    for (i, pose) in poses.iter().enumerate() {
        let got = to_f64(&all[i * spec.points..(i + 1) * spec.points]);
        compare(
            "points",
            &got,
            &reference::deform(&skin, pose)?.points,
            tolerance::POINTS,
        )?;
    }
    Ok(())
}

/// One palette behind two prims and two outputs.
fn shared_palette(gpu: &Gpu) -> Result<(), Failure> {
    let specs = [
        Spec {
            seed: 5,
            ..Spec::default()
        },
        Spec {
            seed: 6,
            points: 333,
            ..Spec::default()
        },
    ];
    let skins = specs.map(|s| cases::skin(&s));
    let poses = [cases::pose(&skins[0], 3), cases::pose(&skins[1], 3)];
    let skinning = poses[0].skinning.as_ref().expect("posed");
    let palette = Arc::new(Palette::pack(
        skins[0].method(),
        skinning,
        poses[0].geom_bind,
        true,
    ));
    let mut work = Vec::new();
    for (skin, pose) in skins.iter().zip(&poses) {
        let packed = Arc::new(PackedSkin::pack("/Case", skin)?);
        let shared = PackedPose::with_palette(
            &packed,
            Some(Arc::clone(&palette)),
            pose.out_from_skel,
            Vec::new(),
        )?;
        work.push((packed, vec![shared]));
    }
    let results = run_gpu(gpu, &SkinnerOptions::default(), &work)?;
    for (i, got) in results.iter().enumerate() {
        check_gpu(got, &skins[i], &work[i].0, &poses[i])?;
    }
    Ok(())
}

/// Wrong use comes back as an error.
fn errors(gpu: &Gpu) -> Result<(), Failure> {
    let spec = Spec {
        shapes: 3,
        ..Spec::default()
    };
    let skin = cases::skin(&spec);
    let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
    let other = cases::skin(&Spec { joints: 7, ..spec });
    let other_packed = PackedSkin::pack("/Other", &other)?;
    let foreign = PackedPose::pack(&other_packed, &cases::pose(&other, 1))?;
    let skinner = gpu.skinner(&SkinnerOptions::default())?;
    let mut crowd = skinner.crowd();
    if !crowd.run()?.is_empty() {
        return Err("results of an empty crowd".into());
    }
    let id = crowd.add_skin(Arc::clone(&packed))?;
    let instance = crowd.add_instance(id)?;
    let expect = |what: &str, result: Result<(), GpuError>| match result {
        Err(GpuError::Mismatch(_) | GpuError::Limit { .. } | GpuError::NoAdapter { .. }) => Ok(()),
        other => Err(Failure::from(format!("{what}: {other:?}"))),
    };
    expect("no pose", crowd.submit())?;
    expect("a foreign pose", crowd.set_pose(instance, &foreign))?;
    expect(
        "reading before a frame",
        crowd.read_points(instance).map(drop),
    )?;
    // Another crowd has a skin and an instance in the same slots, and does not take these for them.
    let mut twin = skinner.crowd();
    let its_skin = twin.add_skin(Arc::clone(&packed))?;
    let its = twin.add_instance(its_skin)?;
    let pose = PackedPose::pack(&packed, &cases::pose(&skin, 1))?;
    expect("a foreign skin", twin.add_instance(id).map(drop))?;
    expect("a foreign instance", twin.set_pose(instance, &pose))?;
    expect("hiding a foreign instance", twin.set_hidden(instance, true))?;
    expect(
        "removing a foreign instance",
        twin.remove_instance(instance),
    )?;
    expect("removing a foreign skin", twin.remove_skin(id))?;
    if twin.is_hidden(its)? || twin.instance_count() != 1 {
        return Err("an id of another crowd hit an instance".into());
    }
    let named = AdapterChoice::Named("no such adapter".into());
    expect("an unknown adapter", GpuDevice::new(&named).map(drop))?;
    // A palette that no binding of 256 bytes holds.
    let tiny = SkinnerOptions {
        max_binding_bytes: Some(256),
        ..SkinnerOptions::default()
    };
    let mut small = gpu.skinner(&tiny)?.crowd();
    let result = small.add_skin(Arc::clone(&packed)).and_then(|id| {
        let instance = small.add_instance(id)?;
        small.set_pose(
            instance,
            &PackedPose::pack(&packed, &cases::pose(&skin, 1)).expect("sizes that fit"),
        )?;
        small.submit()
    });
    expect("a palette beyond the limit", result)?;
    Ok(())
}

/// A crowd that grows, shrinks and grows again.
fn reuse(gpu: &Gpu) -> Result<(), Failure> {
    let all = everything()?;
    let skinner = gpu.skinner(&SkinnerOptions::default())?;
    let mut crowd = skinner.crowd();
    let mut ids = Vec::new();
    for round in 0..3 {
        crowd.clear_instances();
        for (skin, packed, poses) in all.iter().skip(round).step_by(3) {
            ids.push(crowd.add_skin(Arc::clone(packed))?);
            let id = *ids.last().expect("just added");
            let instances: Vec<_> = poses
                .iter()
                .map(|_| crowd.add_instance(id))
                .collect::<Result<_, _>>()?;
            let _ = (skin, instances);
        }
        let mut number = 0;
        let expected: Vec<_> = all.iter().skip(round).step_by(3).collect();
        let ids = crowd.instances();
        for (_, packed, poses) in &expected {
            for pose in poses {
                crowd.set_pose(ids[number], &PackedPose::pack(packed, pose)?)?;
                number += 1;
            }
        }
        let results = crowd.run()?;
        let flat = expected
            .iter()
            .flat_map(|(skin, packed, poses)| poses.iter().map(move |p| (skin, packed, p)));
        for (got, (skin, packed, pose)) in results.iter().zip(flat) {
            check_gpu(got, skin, packed, pose)?;
        }
    }
    Ok(())
}

/// A device that goes away in the middle of the work, on a device of its own.
fn lost_device(gpu: &Gpu) -> Result<(), Failure> {
    let skin = cases::skin(&Spec::default());
    let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
    let gpu = gpu.another()?;
    let skinner = gpu.skinner(&SkinnerOptions::default())?;
    let mut crowd = skinner.crowd();
    let id = crowd.add_skin(Arc::clone(&packed))?;
    let instance = crowd.add_instance(id)?;
    crowd.set_pose(
        instance,
        &PackedPose::pack(&packed, &cases::pose(&skin, 1))?,
    )?;
    crowd.run()?;
    gpu.device.destroy();
    match crowd.run() {
        Err(GpuError::Lost(_)) => {}
        other => return Err(format!("{:?}", other.map(|r| r.len())).into()),
    }
    match crowd.add_skin(packed) {
        Err(GpuError::Lost(_)) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}
