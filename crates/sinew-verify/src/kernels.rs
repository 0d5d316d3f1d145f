//! f64 reference <-> f32 CPU mirror <-> GPU, on random skins and poses.

use std::sync::{Arc, LazyLock};

use crate::cases::{Influences, Motion, Spec};
use crate::check::{Checks, Run};
use crate::crowds::made::{
    Case, add_cases, add_posed, gpu_agrees, made, mirror_agrees, prewarmed, run_twice,
    same_in_pieces,
};
use crate::host::{Gpu, tight, wrong_use};
use crate::{Check, Failure, Subject, ensure};
use sinew::gpu::{AdapterChoice, GpuDevice, GpuError, SkinnerOptions};
use sinew::kernel::{PackedPose, Palette};
use sinew::skel::SkinningMethod;

pub const CHECKS: &[(Subject, Checks)] = &[
    (
        Subject::Crowds,
        &[
            ("crowd_of_everything_in_one_dispatch", crowd_in_one_dispatch),
            ("prims_share_a_palette", shared_palette),
            ("wrong_use_is_an_error", errors),
        ],
    ),
    (
        Subject::Limits,
        &[("palettes_of_many_sizes", palettes_of_many_sizes)],
    ),
];

/// The checks with the adapter's limits alone.
pub fn checks() -> Vec<Check> {
    let mut checks = Vec::new();
    for (number, (name, spec)) in specs().into_iter().enumerate() {
        let run = move || mirror_agrees(&EVERYTHING[number..=number]);
        let name = format!("kernels::mirror::{name}");
        checks.push(Check::new(subject(&spec), name, Run::Cpu(Box::new(run))));
    }
    for (number, (name, spec)) in specs().into_iter().enumerate() {
        let run = move |gpu: &Gpu| gpu_agrees(gpu, &EVERYTHING[number..=number]);
        let (name, run) = (format!("kernels::gpu::{name}"), Box::new(run));
        checks.push(Check::new(subject(&spec), name, Run::AdapterLimits(run)));
    }
    for (name, options) in [
        ("bindings_of_4096_bytes", tight(Some(4096), None)),
        ("bindings_of_20000_bytes", tight(Some(20_000), None)),
        ("1_workgroup_per_dimension", tight(None, Some(1))),
        ("3_workgroups_per_dimension", tight(None, Some(3))),
        ("both", tight(Some(4096), Some(2))),
    ] {
        let (name, small) = (format!("kernels::gpu::chunked_by_{name}"), [options]);
        let run = Box::new(move |gpu: &Gpu| same_in_pieces(gpu, &small, &EVERYTHING));
        checks.push(Check::new(Subject::Limits, name, Run::AdapterLimits(run)));
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

/// Names of skins, and what they are made of.
fn specs() -> Vec<(String, Spec)> {
    let (none, vertex, constant) = (Influences::None, Influences::Vertex, Influences::Constant);
    let base = Spec::default();
    let (dual, corners) = (
        base.method(SkinningMethod::DualQuaternion),
        base.face_varying(true),
    );
    let mut out = Vec::new();
    let mut add = |name: String, seed: usize, spec: Spec| out.push((name, spec.seed(seed as u64)));
    for k in 1..=14 {
        let spec = base.influences(vertex(k)).own_joints(k % 2 == 0);
        add(format!("influences_{k}"), k, spec);
    }
    for n in [0, 1, 63, 64, 65, 1000, 1025, 5000] {
        add(format!("points_{n}"), 100 + n, base.points(n).shapes(5));
    }
    for k in [1, 2, 5] {
        let spec = base.influences(constant(k)).own_joints(true);
        add(format!("constant_{k}"), 200 + k, spec.shapes(3));
    }
    let still = base.influences(none);
    for (name, spec) in [
        ("blend_only", still.shapes(9)),
        ("blend_only_without_normals", still.shapes(9).normals(false)),
        ("neither_influences_nor_shapes", still),
        ("without_normals", base.normals(false)),
        ("blend_and_skin", base.shapes(24).own_joints(true)),
        (
            "blend_and_skin_without_normals",
            base.shapes(24).normals(false),
        ),
        ("skeleton_without_joints", still.joints(0).shapes(4)),
    ] {
        add(name.into(), 300, spec);
    }
    for (name, motion) in [
        ("mild", Motion::Mild),
        ("rigid", Motion::Rigid),
        ("sheared", Motion::Sheared),
        ("degenerate", Motion::Degenerate),
    ] {
        let dual = dual.motion(motion);
        for k in [1, 2, 3, 4, 5, 8, 11] {
            let spec = dual.influences(vertex(k)).own_joints(k % 3 == 2);
            add(format!("dual_quaternions_{name}_{k}"), 410 + k, spec);
        }
        for k in [1, 2, 3] {
            let spec = dual.influences(constant(k)).own_joints(k == 2);
            add(
                format!("dual_quaternions_{name}_constant_{k}"),
                450 + k,
                spec,
            );
        }
    }
    let sheared = dual.motion(Motion::Sheared);
    for (name, spec) in [
        ("blend", sheared.shapes(9)),
        ("without_normals", sheared.normals(false)),
        ("blend_only", sheared.influences(none).shapes(9)),
    ] {
        add(format!("dual_quaternions_{name}"), 480, spec);
    }
    for n in [0, 1, 65, 5000] {
        add(
            format!("dual_quaternions_points_{n}"),
            480,
            sheared.points(n),
        );
    }
    for k in [1, 2, 4, 7] {
        let spec = corners.influences(vertex(k)).own_joints(k == 2);
        add(format!("face_varying_influences_{k}"), 500, spec);
    }
    for n in [0, 1, 64, 65, 3000] {
        add(format!("face_varying_points_{n}"), 500, corners.points(n));
    }
    let turned = corners.method(SkinningMethod::DualQuaternion).shapes(3);
    for (name, spec) in [
        ("constant", corners.influences(constant(3))),
        // Shapes that have normal offsets leave faceVarying normals alone (rule 19).
        ("blend", corners.shapes(9)),
        ("blend_only", corners.influences(none).shapes(9)),
        ("dual_quaternions_rigid", turned.motion(Motion::Rigid)),
        (
            "dual_quaternions_degenerate",
            turned.motion(Motion::Degenerate),
        ),
    ] {
        add(format!("face_varying_{name}"), 500, spec);
    }
    out
}

/// All skins: two skeletons and more, every influence count.
static EVERYTHING: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let specs = specs().into_iter().map(|(_, spec)| spec);
    specs.map(|spec| case(&spec)).collect()
});

/// A skin in three poses.
fn case(spec: &Spec) -> Case {
    Case::new(made(spec), [0, 1, 2].map(|time| spec.seed + time))
}

fn crowd_in_one_dispatch(gpu: &Gpu) -> Result<(), Failure> {
    let all = &EVERYTHING;
    let (skinner, pipelines) = prewarmed(gpu, all.iter().map(|case| &case.made.packed))?;
    let mut crowd = skinner.crowd();
    add_cases(&mut crowd, all)?;
    // One for each pipeline that some skin needs: what is compiled ahead is all that is compiled.
    let dispatches = crowd.dispatch_count()?;
    let text = format!("{dispatches} dispatches, {pipelines} pipelines");
    ensure(dispatches <= pipelines, &text)?;
    crowd.run()?;
    let text = format!("{pipelines} pipelines, then {}", skinner.compiled());
    ensure(skinner.compiled() == pipelines, &text)?;
    gpu_agrees(gpu, all)
}

/// Small palettes lie beside ones of more than 64 KiB.
fn palettes_of_many_sizes(gpu: &Gpu) -> Result<(), Failure> {
    let base = Spec::default().shapes(4);
    let of = |joints| case(&base.seed(joints as u64).joints(joints));
    gpu_agrees(gpu, &[20, 1500, 600, 650, 2000, 5].map(of))
}

/// One palette behind two prims and two outputs.
fn shared_palette(gpu: &Gpu) -> Result<(), Failure> {
    let all = [1000, 333].map(|points| made(&Spec::default().points(points)));
    let pose = all[0].unpacked(3);
    let skinning = pose.skinning.as_ref().ok_or("not posed")?;
    let method = all[0].packed.method();
    let palette = Arc::new(Palette::pack(method, skinning, pose.geom_bind, true));
    let mut crowd = gpu.crowd()?;
    for made in &all {
        let palette = Some(Arc::clone(&palette));
        let shared =
            PackedPose::with_palette(&made.packed, palette, pose.out_from_skel, Vec::new())?;
        add_posed(&mut crowd, &made.packed, &[shared])?;
    }
    // The pose of a seed is the same whatever the skin.
    let mut results = all.iter().zip(run_twice(gpu, crowd)?);
    results.try_for_each(|(made, got)| made.agrees(&got, &made.expected(3)?))
}

/// Wrong use comes back as an error.
fn errors(gpu: &Gpu) -> Result<(), Failure> {
    let spec = Spec::default().shapes(3);
    let (one, other) = (made(&spec), made(&spec.joints(7)));
    let (packed, pose) = (&one.packed, one.pose(1));
    let foreign = other.pose(1);
    let skinner = gpu.skinner(&SkinnerOptions::default())?;
    let mut crowd = skinner.crowd();
    let id = crowd.add_skin(Arc::clone(packed))?;
    let instance = crowd.add_instance(id)?;
    wrong_use("/Case: instance 0: expected a pose", crowd.submit())?;
    wrong_use("/Case: expected", crowd.set_pose(instance, &foreign))?;
    wrong_use("expected a frame", crowd.read_points(instance))?;
    // Another crowd has a skin and an instance in the same slots, and does not take these for them.
    let mut twin = skinner.crowd();
    let its_skin = twin.add_skin(Arc::clone(packed))?;
    let its = twin.add_instance(its_skin)?;
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
    let result = small.add_skin(Arc::clone(packed)).and_then(|id| {
        let instance = small.add_instance(id)?;
        small.set_pose(instance, &pose)?;
        small.submit()
    });
    match result {
        Err(GpuError::Limit { .. }) => Ok(()),
        other => Err(format!("a palette beyond the limit: {other:?}").into()),
    }
}
