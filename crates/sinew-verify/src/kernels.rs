//! f64 reference <-> f32 CPU mirror <-> GPU, on random skins and poses.

use std::sync::{Arc, OnceLock};

use crate::cases::{self, Influences, Motion, Spec};
use crate::compare::{compare_but, self_test};
use crate::crowds::made::{Made, add_posed, made, prewarmed, run_twice, same_in_pieces};
use crate::host::{Gpu, tight, wrong_use};
use crate::{Check, Failure, Subject, ensure, tolerance};
use glam::Vec3;
use sinew::gpu::{AdapterChoice, Crowd, Deformed, GpuDevice, GpuError, SkinnerOptions};
use sinew::kernel::{CpuJob, PackedPose, PackedSkin, Palette, points_on_cpu, skin_batch_on_cpu};
use sinew::skel::reference::{self, HemisphereTies};
use sinew::skel::{Pose, SkinningMethod};

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
    for (number, (name, spec)) in specs().into_iter().enumerate() {
        let name = format!("kernels::mirror::{name}");
        checks.push(Check::cpu(subject(&spec), name, move || mirror(number)));
    }
    checks.push(cpu("batch_equals_singles", batch as fn() -> _));
    checks.push(cpu("chosen_points_equal_all", chosen_points));
    for (number, (name, spec)) in specs().into_iter().enumerate() {
        let name = format!("kernels::gpu::{name}");
        let run = move |gpu: &Gpu| one_on_gpu(gpu, number);
        checks.push(Check::gpu(subject(&spec), name, run));
    }
    type Run = fn(&Gpu) -> Result<(), Failure>;
    let others: [(Subject, &str, Run); 4] = [
        (
            Subject::Crowds,
            "crowd_of_everything_in_one_dispatch",
            crowd_in_one_dispatch,
        ),
        (
            Subject::Limits,
            "palettes_of_many_sizes",
            palettes_of_many_sizes,
        ),
        (Subject::Crowds, "prims_share_a_palette", shared_palette),
        (Subject::Crowds, "wrong_use_is_an_error", errors),
    ];
    for (subject, name, run) in others {
        checks.extend(Check::with_both_limits(subject, "kernels::gpu", name, run));
    }
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
        let spec = Spec::default()
            .seed(k as u64)
            .influences(Influences::Vertex(k))
            .own_joints(k % 2 == 0);
        out.push((format!("influences_{k}"), spec));
    }
    for points in [0, 1, 63, 64, 65, 1000, 1025, 5000] {
        let spec = Spec::default()
            .seed(100 + points as u64)
            .points(points)
            .shapes(5);
        out.push((format!("points_{points}"), spec));
    }
    for k in [1, 2, 5] {
        let spec = Spec::default()
            .seed(200 + k as u64)
            .influences(Influences::Constant(k))
            .own_joints(true)
            .shapes(3);
        out.push((format!("constant_{k}"), spec));
    }
    let base = Spec::default().seed(300);
    out.push((
        "blend_only".into(),
        base.influences(Influences::None).shapes(9),
    ));
    out.push((
        "blend_only_without_normals".into(),
        base.influences(Influences::None).shapes(9).normals(false),
    ));
    out.push((
        "neither_influences_nor_shapes".into(),
        base.influences(Influences::None),
    ));
    out.push(("without_normals".into(), base.normals(false)));
    out.push(("blend_and_skin".into(), base.shapes(24).own_joints(true)));
    out.push((
        "blend_and_skin_without_normals".into(),
        base.shapes(24).normals(false),
    ));
    out.push((
        "skeleton_without_joints".into(),
        base.joints(0).influences(Influences::None).shapes(4),
    ));
    out.extend(dual_quaternions());
    out.extend(face_varying());
    out
}

fn dual_quaternions() -> Vec<(String, Spec)> {
    let mut out = Vec::new();
    let mut add = |name: &str, spec: Spec| {
        let method = SkinningMethod::DualQuaternion;
        out.push((format!("dual_quaternions_{name}"), spec.method(method)));
    };
    for (name, motion) in [
        ("mild", Motion::Mild),
        ("rigid", Motion::Rigid),
        ("sheared", Motion::Sheared),
        ("degenerate", Motion::Degenerate),
    ] {
        for k in [1, 2, 3, 4, 5, 8, 11] {
            let spec = Spec::default()
                .seed(410 + k as u64)
                .influences(Influences::Vertex(k))
                .own_joints(k % 3 == 2)
                .motion(motion);
            add(&format!("{name}_{k}"), spec);
        }
        for k in [1, 2, 3] {
            let spec = Spec::default()
                .seed(450 + k as u64)
                .influences(Influences::Constant(k))
                .own_joints(k == 2)
                .motion(motion);
            add(&format!("{name}_constant_{k}"), spec);
        }
    }
    let sheared = Spec::default().seed(480).motion(Motion::Sheared);
    add("blend", sheared.shapes(9));
    add("without_normals", sheared.normals(false));
    add("blend_only", sheared.influences(Influences::None).shapes(9));
    for points in [0, 1, 65, 5000] {
        add(&format!("points_{points}"), sheared.points(points));
    }
    out
}

fn face_varying() -> Vec<(String, Spec)> {
    let mut out = Vec::new();
    let base = Spec::default().seed(500).face_varying(true);
    let mut add = |name: &str, spec: Spec| out.push((format!("face_varying_{name}"), spec));
    for k in [1, 2, 4, 7] {
        let influences = Influences::Vertex(k);
        add(
            &format!("influences_{k}"),
            base.influences(influences).own_joints(k == 2),
        );
    }
    for points in [0, 1, 64, 65, 3000] {
        add(&format!("points_{points}"), base.points(points));
    }
    let constant = Influences::Constant(3);
    add("constant", base.influences(constant));
    // Shapes that have normal offsets leave faceVarying normals alone (rule 19).
    add("blend", base.shapes(9));
    add("blend_only", base.influences(Influences::None).shapes(9));
    for (name, motion) in [("rigid", Motion::Rigid), ("degenerate", Motion::Degenerate)] {
        let method = SkinningMethod::DualQuaternion;
        add(
            &format!("dual_quaternions_{name}"),
            base.method(method).motion(motion).shapes(3),
        );
    }
    out
}

/// A skin at three times, and what is expected of it. The checks share them: most of a check is what is expected,
/// in f64 and without optimisation.
struct Case {
    spec: Spec,
    made: Made,
    poses: Vec<Pose>,
    packed_poses: Vec<PackedPose>,
    expected: OnceLock<Result<Vec<Expected>, Failure>>,
}

/// What is expected of a pose.
struct Expected {
    reference: reference::Deformed,
    mirror: Deformed,
    /// Points and normals that hang on rounding (see [`reference::hemisphere_ties`]), which two implementations need
    /// not agree on.
    ties: HemisphereTies,
}

impl Case {
    fn new(spec: &Spec) -> Result<Self, Failure> {
        let made = made(spec)?;
        let poses: Vec<_> = (0..3)
            .map(|time| cases::pose_of(spec, &made.skin, time))
            .collect();
        let packed_poses = poses.iter().map(|p| PackedPose::pack(&made.packed, p));
        Ok(Self {
            spec: *spec,
            packed_poses: packed_poses.collect::<Result<_, _>>()?,
            made,
            poses,
            expected: OnceLock::new(),
        })
    }

    fn expected(&self) -> Result<&[Expected], Failure> {
        let skin = &self.made.skin;
        let of = |(pose, packed): (&Pose, &PackedPose)| -> Result<_, Failure> {
            let ties = reference::hemisphere_ties(skin, pose, tolerance::HEMISPHERE_TIE)?;
            for ties in [&ties.points, &ties.normals] {
                let count = ties.iter().filter(|t| **t).count();
                let most = tolerance::MOST_TIES_OF_20_JOINTS * ties.len() as f64;
                let text = format!("{count} ties among {}", ties.len());
                ensure(count <= 2 || count as f64 <= most, &text)?;
            }
            Ok(Expected {
                reference: reference::deform(skin, pose)?,
                mirror: self.made.on_cpu(packed),
                ties,
            })
        };
        let all = || self.poses.iter().zip(&self.packed_poses).map(of).collect();
        let expected = self.expected.get_or_init(all);
        expected.as_deref().map_err(Clone::clone)
    }

    /// Compares results of its poses with what is expected of them.
    fn agrees(&self, results: &[Deformed]) -> Result<(), Failure> {
        let expected = self.expected()?;
        ensure(results.len() == expected.len(), "a result for each pose")?;
        for (got, want) in results.iter().zip(expected) {
            want.reference_agrees(got)?;
            let (ties, mirror) = (&want.ties, &want.mirror);
            let allowed = tolerance::MIRROR_POINTS;
            compare_but(
                "points, mirror",
                &ties.points,
                &got.points,
                &mirror.points,
                allowed,
            )?;
            if let (Some(got), Some(mirror)) = (&got.normals, &mirror.normals) {
                let allowed = tolerance::MIRROR_NORMALS;
                compare_but("normals, mirror", &ties.normals, got, mirror, allowed)?;
            }
        }
        Ok(())
    }
}

impl Expected {
    fn reference_agrees(&self, got: &Deformed) -> Result<(), Failure> {
        let (ties, want) = (&self.ties, &self.reference);
        let allowed = tolerance::POINTS;
        compare_but(
            "points, reference",
            &ties.points,
            &got.points,
            &want.points,
            allowed,
        )?;
        match (&got.normals, &want.normals) {
            (None, None) => Ok(()),
            (Some(got), Some(want)) => {
                let allowed = tolerance::NORMALS;
                Ok(compare_but(
                    "normals, reference",
                    &ties.normals,
                    got,
                    want,
                    allowed,
                )?)
            }
            _ => Err("normals on one side only".into()),
        }
    }
}

/// All skins: two skeletons and more, every influence count.
fn everything() -> Result<&'static [Case], Failure> {
    static CASES: OnceLock<Result<Vec<Case>, Failure>> = OnceLock::new();
    let cases = CASES.get_or_init(|| specs().iter().map(|(_, spec)| Case::new(spec)).collect());
    cases.as_deref().map_err(Clone::clone)
}

/// One of them by its place.
fn case(number: usize) -> Result<&'static Case, Failure> {
    Ok(&everything()?[number])
}

fn mirror(number: usize) -> Result<(), Failure> {
    let mut expected = case(number)?.expected()?.iter();
    expected.try_for_each(|e| e.reference_agrees(&e.mirror))
}

fn batch() -> Result<(), Failure> {
    let all = everything()?;
    let new = |case: &Case| vec![SENTINEL; case.made.packed.point_count()];
    let mut points: Vec<_> = all.iter().map(new).collect();
    let mut jobs: Vec<_> = all
        .iter()
        .zip(&mut points)
        .map(|(case, points)| CpuJob::new(&case.made.packed, &case.packed_poses[0], points))
        .collect();
    skin_batch_on_cpu(&mut jobs)?;
    for (case, points) in all.iter().zip(&points) {
        let single = case.made.on_cpu(&case.packed_poses[0]).points;
        ensure(single == *points, "the batch differs from single runs")?;
    }
    Ok(())
}

/// Points by themselves, in any order and more than once, to the bit.
fn chosen_points() -> Result<(), Failure> {
    for case in everything()? {
        let (packed, pose) = (&case.made.packed, &case.packed_poses[1]);
        let all = case.made.on_cpu(pose).points;
        let count = packed.point_count() as u32;
        let few: Vec<u32> = [3, 0, 1, 1].into_iter().filter(|i| *i < count).collect();
        let many: Vec<u32> = (0..count).map(|i| i * 7919 % count.max(1)).collect();
        for indices in [&[][..], &few, &many] {
            let mut chosen = vec![SENTINEL; indices.len()];
            points_on_cpu(packed, pose, indices, &mut chosen)?;
            let of_all: Vec<Vec3> = indices.iter().map(|i| all[*i as usize]).collect();
            let [a, b] = [&chosen, &of_all].map(|p| bytemuck::cast_slice::<_, u32>(p));
            let text = format!("{:?}: chosen points differ from all", case.spec);
            ensure(a == b, &text)?;
        }
    }
    Ok(())
}

/// A crowd of cases, each with its poses.
fn crowd_of<'a>(
    mut crowd: Crowd,
    all: impl IntoIterator<Item = &'a Case>,
) -> Result<Crowd, Failure> {
    for case in all {
        add_posed(&mut crowd, &case.made.packed, &case.packed_poses)?;
    }
    Ok(crowd)
}

/// Whether a crowd's results are those of the cases, one after the other.
fn agree<'a>(results: &[Deformed], all: impl IntoIterator<Item = &'a Case>) -> Result<(), Failure> {
    let mut each = results.chunks(3);
    for case in all {
        case.agrees(each.next().ok_or("a result for each case")?)?;
    }
    ensure(each.next().is_none(), "more results than poses")
}

fn one_on_gpu(gpu: &Gpu, number: usize) -> Result<(), Failure> {
    check_work(gpu, std::slice::from_ref(case(number)?))
}

fn crowd_in_one_dispatch(gpu: &Gpu) -> Result<(), Failure> {
    let all = everything()?;
    let (skinner, pipelines) = prewarmed(gpu, all.iter().map(|case| &case.made.packed))?;
    let mut crowd = crowd_of(skinner.crowd(), all)?;
    // One for each pipeline that some skin needs: what is compiled ahead is all that is compiled.
    let dispatches = crowd.dispatch_count()?;
    let text = format!("{dispatches} dispatches, {pipelines} pipelines");
    ensure(dispatches <= pipelines, &text)?;
    crowd.run()?;
    let text = format!("{pipelines} pipelines, then {}", skinner.compiled());
    ensure(skinner.compiled() == pipelines, &text)?;
    check_work(gpu, all)
}

/// Small palettes lie beside ones of more than 64 KiB.
fn palettes_of_many_sizes(gpu: &Gpu) -> Result<(), Failure> {
    let of = |joints| Case::new(&Spec::default().seed(joints as u64).joints(joints).shapes(4));
    let all: Result<Vec<_>, _> = [20, 1500, 600, 650, 2000, 5].into_iter().map(of).collect();
    check_work(gpu, &all?)
}

/// Runs everything in one crowd and compares with what is expected.
fn check_work(gpu: &Gpu, all: &[Case]) -> Result<(), Failure> {
    agree(&run_twice(gpu, crowd_of(gpu.crowd()?, all)?)?, all)
}

fn chunked(gpu: &Gpu, options: &SkinnerOptions) -> Result<(), Failure> {
    same_in_pieces(gpu, std::slice::from_ref(options), |crowd| {
        crowd_of(crowd, everything()?)
    })
}

/// One palette behind two prims and two outputs.
fn shared_palette(gpu: &Gpu) -> Result<(), Failure> {
    let base = Spec::default();
    let mut all = Vec::new();
    for spec in [base.seed(5), base.seed(6).points(333)] {
        let mut case = Case::new(&spec)?;
        case.poses = vec![cases::pose(&case.made.skin, 3)];
        all.push(case);
    }
    let (method, pose) = (all[0].made.skin.method(), &all[0].poses[0]);
    let skinning = pose.skinning.as_ref().expect("posed");
    let palette = Arc::new(Palette::pack(method, skinning, pose.geom_bind, true));
    for case in &mut all {
        let (palette, way) = (Some(Arc::clone(&palette)), case.poses[0].out_from_skel);
        let shared = PackedPose::with_palette(&case.made.packed, palette, way, Vec::new())?;
        case.packed_poses = vec![shared];
    }
    let results = run_twice(gpu, crowd_of(gpu.crowd()?, &all)?)?;
    let mut each = all.iter().zip(results.chunks(1));
    each.try_for_each(|(case, result)| case.agrees(result))
}

/// Wrong use comes back as an error.
fn errors(gpu: &Gpu) -> Result<(), Failure> {
    let spec = Spec::default().shapes(3);
    let skin = cases::skin(&spec);
    let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
    let other = cases::skin(&spec.joints(7));
    let other_packed = PackedSkin::pack("/Other", &other)?;
    let foreign = PackedPose::pack(&other_packed, &cases::pose(&other, 1))?;
    let skinner = gpu.skinner(&SkinnerOptions::default())?;
    let mut crowd = skinner.crowd();
    if !crowd.run()?.is_empty() {
        return Err("results of an empty crowd".into());
    }
    let id = crowd.add_skin(Arc::clone(&packed))?;
    let instance = crowd.add_instance(id)?;
    wrong_use("/Case: instance 0: expected a pose", crowd.submit())?;
    wrong_use("/Case: expected", crowd.set_pose(instance, &foreign))?;
    wrong_use("expected a frame", crowd.read_points(instance))?;
    // Another crowd has a skin and an instance in the same slots, and does not take these for them.
    let mut twin = skinner.crowd();
    let its_skin = twin.add_skin(Arc::clone(&packed))?;
    let its = twin.add_instance(its_skin)?;
    let pose = PackedPose::pack(&packed, &cases::pose(&skin, 1))?;
    let (of_skins, of_instances) = ("a skin of another crowd", "an instance of another crowd");
    wrong_use(of_skins, twin.add_instance(id))?;
    wrong_use(of_instances, twin.set_pose(instance, &pose))?;
    wrong_use(of_instances, twin.set_hidden(instance, true))?;
    wrong_use(of_instances, twin.remove_instance(instance))?;
    wrong_use(of_skins, twin.remove_skin(id))?;
    if twin.is_hidden(its)? || twin.instance_count() != 1 {
        return Err("an id of another crowd hit an instance".into());
    }
    let named = AdapterChoice::Named("no such adapter".into());
    match GpuDevice::new(&named) {
        Err(GpuError::NoAdapter { .. }) => {}
        other => return Err(format!("an unknown adapter: {other:?}").into()),
    }
    // A palette that no binding of 256 bytes holds.
    let tiny = tight(Some(256), None);
    let mut small = gpu.skinner(&tiny)?.crowd();
    let result = small.add_skin(Arc::clone(&packed)).and_then(|id| {
        let instance = small.add_instance(id)?;
        small.set_pose(
            instance,
            &PackedPose::pack(&packed, &cases::pose(&skin, 1)).expect("sizes that fit"),
        )?;
        small.submit()
    });
    match result {
        Err(GpuError::Limit { .. }) => Ok(()),
        other => Err(format!("a palette beyond the limit: {other:?}").into()),
    }
}
