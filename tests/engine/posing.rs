//! Posing in f32 on the CPU, against f64: the error that `kernel::POSE_RIG` promises, joint by joint.

use common::tolerance;
use common::trials::Trial;
use glam::{DMat3, DMat4, DVec3, DVec4};
use libtest_mimic::Failed;
use sinew::kernel::{JointTransform, PackedRig, Palette, palette_on_cpu};
use sinew::math::Rows;
use sinew::skel::SkinningMethod::{ClassicLinear, DualQuaternion};
use sinew_verify::posing::rigs::{self, Spec};
use sinew_verify::posing::{agrees, specs, truth};

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("negative::a_step_left_out_is_seen", negative)];
    for (name, spec) in specs() {
        let name = |mirror: &str| format!("{mirror}::{name}");
        trials.push(Trial::test(name("mirror"), move || mirror(&spec)));
        let run = move || dual_quaternions(&spec);
        trials.push(Trial::test(name("dual_quaternions"), run));
    }
    trials
}

/// What a chain's errors grow with.
#[derive(Clone, Copy, Default)]
struct Reach {
    levels: f64,
    /// Product of the largest scales.
    scale: f64,
    /// Product of the smallest.
    least: f64,
    /// Sum of the lengths, each times the scales above it.
    length: f64,
}

fn reaches(spec: &Spec, joints: &[JointTransform]) -> Vec<Reach> {
    let mut out: Vec<Reach> = Vec::new();
    let parents = rigs::parents(spec);
    for (joint, parent) in joints.iter().zip(parents) {
        let root = Reach {
            scale: 1.0,
            least: 1.0,
            ..Reach::default()
        };
        let above = parent.map_or(root, |p| out[p as usize]);
        let scales = joint.scale.map(|s| f64::from(s.abs()));
        let translation = DVec3::from_array(joint.translation.map(f64::from));
        out.push(Reach {
            levels: above.levels + 1.0,
            scale: above.scale * scales.into_iter().fold(0.0, f64::max),
            least: above.least * scales.into_iter().fold(f64::MAX, f64::min),
            length: above.length + above.scale * translation.length(),
        });
    }
    out
}

/// Whether every matrix is as near to the one in f64 as is promised.
fn check(
    spec: &Spec,
    joints: &[JointTransform],
    found: &Palette,
    want: &Palette,
) -> Result<(), String> {
    let skeleton = rigs::skeleton(spec);
    let inverse_bind = skeleton.inverse_bind().map_err(|e| e.to_string())?;
    let geom_bind = rigs::geom_bind(spec);
    let u = f64::from(f32::EPSILON) / 2.0;
    for (i, reach) in reaches(spec, joints).iter().enumerate() {
        let bind = inverse_bind[i] * geom_bind;
        let (linear, translation) = parts(bind);
        let stretch = norm(linear);
        // The product with the bind matrix, and what rounding it and the result costs, count as one level more.
        let allowed = tolerance::POSED_PER_LEVEL * u * (reach.levels + 1.0);
        let (d, t) = difference(&found.points()[i], &want.points()[i]);
        let off = norm(d) / (allowed * reach.scale * stretch);
        let distance = reach.scale * translation.length() + reach.length;
        let off = off.max(t.length() / (allowed * distance));
        if off.is_nan() || off > 1.0 {
            return Err(format!("joint {i} is off by {off} of what is allowed"));
        }

        let [found, want] = [found, want].map(|p| p.normals().map(|n| n[i]));
        let (Some(found), Some(want)) = (found, want) else {
            return Err("no normals".into());
        };
        let (d, _) = difference(&found, &want);
        let ratio = reach.scale / reach.least;
        let off = norm(d) / (allowed * ratio * ratio * norm(parts(matrix(&want)).0));
        if off.is_nan() || off > 1.0 {
            return Err(format!(
                "the normals of joint {i} are off by {off} of what is allowed"
            ));
        }
    }
    let last = joints.len();
    if found.points()[last] != want.points()[last] {
        return Err("the last palette entry is not geomBindTransform".into());
    }
    Ok(())
}

fn matrix(rows: &Rows) -> DMat4 {
    let [x, y, z] = rows.map(|row| row.as_dvec4());
    DMat4::from_cols(x, y, z, DVec4::W).transpose()
}

fn parts(m: DMat4) -> (DMat3, DVec3) {
    (DMat3::from_mat4(m), m.w_axis.truncate())
}

fn difference(a: &Rows, b: &Rows) -> (DMat3, DVec3) {
    parts(matrix(a) - matrix(b))
}

/// Frobenius norm.
fn norm(m: DMat3) -> f64 {
    m.to_cols_array().iter().map(|e| e * e).sum::<f64>().sqrt()
}

fn mirror(spec: &Spec) -> Result<(), Failed> {
    let rig = PackedRig::pack(&rigs::skeleton(spec), rigs::geom_bind(spec), true)?;
    for time in 0..3 {
        let joints = rigs::locals(spec, time);
        rig.check(&joints)?;
        let found = palette_on_cpu(&rig, &joints)?;
        check(
            spec,
            &joints,
            &found,
            &truth(ClassicLinear, spec, &joints)?.0,
        )?;
    }
    Ok(())
}

/// The bound is narrow enough to see that one joint's scale was not applied.
fn negative() -> Result<(), Failed> {
    let spec = specs().swap_remove(3).1;
    let rig = PackedRig::pack(&rigs::skeleton(&spec), rigs::geom_bind(&spec), true)?;
    let joints = rigs::locals(&spec, 0);
    let mut changed = joints.clone();
    changed[100].scale[1] *= 1.001;
    let found = palette_on_cpu(&rig, &changed)?;
    match check(
        &spec,
        &joints,
        &found,
        &truth(ClassicLinear, &spec, &joints)?.0,
    ) {
        Ok(()) => Err("passed".into()),
        Err(_) => Ok(()),
    }
}

fn dual_quaternions(spec: &Spec) -> Result<(), Failed> {
    let (skeleton, geom_bind) = (rigs::skeleton(spec), rigs::geom_bind(spec));
    let rig = PackedRig::pack_for(DualQuaternion, &skeleton, geom_bind, true)?;
    for time in 0..3 {
        let joints = rigs::locals(spec, time);
        let found = palette_on_cpu(&rig, &joints)?;
        let (want, skinning) = truth(DualQuaternion, spec, &joints)?;
        let motions = found.rigid().map_or(&[][..], |rigid| rigid.motions());
        let parts = [found.points(), found.normals().unwrap_or_default(), motions];
        agrees(parts, &want, &skinning)?;
    }
    Ok(())
}
