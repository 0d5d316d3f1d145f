//! f64 reference <-> f32 CPU mirror <-> GPU, on random skins and poses.

mod common;

use common::cases::{self, Influences, Spec};
use common::compare::{compare, self_test, to_f64};
use common::tolerance;
use glam::Vec3;
use libtest_mimic::{Arguments, Failed, Trial};
use sinew::kernel::{CpuJob, PackedPose, PackedSkin, skin_batch_on_cpu, skin_on_cpu};
use sinew::skel::reference;

/// What outputs hold before a kernel runs.
const SENTINEL: Vec3 = Vec3::NAN;

fn main() {
    let args = Arguments::from_args();
    let mut trials = vec![Trial::test("comparer::negative", || Ok(self_test()?))];
    for (name, spec) in specs() {
        trials.push(Trial::test(format!("mirror::{name}"), move || {
            mirror(&spec)
        }));
    }
    trials.push(Trial::test("mirror::batch_equals_singles", batch));
    libtest_mimic::run(&args, trials).exit();
}

fn specs() -> Vec<(String, Spec)> {
    let mut out = Vec::new();
    for k in 1..=12 {
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
    out
}

fn run_mirror(skin: &PackedSkin, pose: &PackedPose) -> (Vec<Vec3>, Option<Vec<Vec3>>) {
    let mut points = vec![SENTINEL; skin.point_count()];
    let mut normals = skin.normals().map(|n| vec![SENTINEL; n.len()]);
    skin_on_cpu(skin, pose, &mut points, normals.as_deref_mut());
    (points, normals)
}

fn mirror(spec: &Spec) -> Result<(), Failed> {
    let skin = cases::skin(spec);
    let packed = PackedSkin::pack("/Case", &skin)?;
    for time in 0..3 {
        let pose = cases::pose(&skin, spec.seed + time);
        let want = reference::deform(&skin, &pose);
        let (points, normals) = run_mirror(&packed, &PackedPose::pack(&packed, &pose));
        compare("points", &to_f64(&points), &want.points, tolerance::POINTS)?;
        if let Some(want) = want.normals {
            compare(
                "normals",
                &to_f64(&normals.expect("normals in, normals out")),
                &want,
                tolerance::NORMALS,
            )?;
        }
    }
    Ok(())
}

fn batch() -> Result<(), Failed> {
    let skins: Vec<_> = specs().iter().map(|(_, spec)| cases::skin(spec)).collect();
    let packed: Vec<_> = skins
        .iter()
        .map(|s| PackedSkin::pack("/Case", s))
        .collect::<Result<_, _>>()?;
    let poses: Vec<_> = skins
        .iter()
        .zip(&packed)
        .map(|(s, p)| PackedPose::pack(p, &cases::pose(s, 9)))
        .collect();
    let mut points: Vec<_> = packed
        .iter()
        .map(|s| vec![SENTINEL; s.point_count()])
        .collect();
    let mut jobs: Vec<_> = packed
        .iter()
        .zip(&poses)
        .zip(&mut points)
        .map(|((skin, pose), points)| CpuJob {
            skin,
            pose,
            points,
            normals: None,
        })
        .collect();
    skin_batch_on_cpu(&mut jobs);
    for ((skin, pose), points) in packed.iter().zip(&poses).zip(&points) {
        if run_mirror(skin, pose).0 != *points {
            return Err("the batch differs from single runs".into());
        }
    }
    Ok(())
}
