//! Palettes of rigs for dual quaternion skinning, posed in f32, against f64.

use glam::{DMat3, DMat4, DQuat, DVec3, DVec4, Vec4};
use sinew::kernel::{JointTransform, PackedRig, Palette};
use sinew::math::Rows;
use sinew::skel::{Pose, SkinningMethod};

use crate::posing::rigs::{self, Spec};
use crate::{Failure, measured};

const METHOD: SkinningMethod = SkinningMethod::DualQuaternion;

/// A rig of a spec, with normals.
pub fn rig(spec: &Spec) -> Result<PackedRig, Failure> {
    let skeleton = rigs::skeleton(spec);
    Ok(PackedRig::pack_for(
        METHOD,
        &skeleton,
        rigs::geom_bind(spec),
        true,
    )?)
}

/// The palette in f64, and how much each joint stretches at most and at least.
pub fn truth(spec: &Spec, joints: &[JointTransform]) -> Result<(Palette, Vec<[f64; 2]>), Failure> {
    let locals: Vec<DMat4> = joints.iter().map(JointTransform::matrix).collect();
    let pose = Pose::from_local(&rigs::skeleton(spec), &locals)?;
    let skinning = pose.skinning.ok_or("not posed")?;
    let palette = Palette::pack(METHOD, &skinning, rigs::geom_bind(spec), true);
    let stretches = |m: &DMat4| {
        let linear = DMat3::from_mat4(*m);
        let (_, squares) = sinew::math::principal_axes(linear.transpose() * linear);
        [
            squares.max_element().sqrt(),
            squares.min_element().max(0.0).sqrt(),
        ]
    };
    let last = std::iter::once([1.0; 2]);
    Ok((
        palette,
        skinning.iter().map(stretches).chain(last).collect(),
    ))
}

fn apply(rows: &Rows, p: DVec3) -> DVec3 {
    DVec3::from_array(rows.map(|row| row.as_dvec4().dot(p.extend(1.0))))
}

fn quaternion(q: Vec4) -> DQuat {
    DQuat::from_vec4(q.as_dvec4())
}

/// Where a joint of a palette takes the corners of a cube of two units.
fn corners(matrix: &Rows, motion: &[Vec4; 3]) -> [DVec3; 8] {
    let (real, dual) = (quaternion(motion[0]), motion[1].as_dvec4());
    let (r, d) = (DVec4::from(real), dual);
    let translation =
        2.0 * (r.w * d.truncate() - d.w * r.truncate() + r.truncate().cross(d.truncate()));
    std::array::from_fn(|corner| {
        let sign = |bit: usize| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
        let p = apply(matrix, DVec3::new(sign(0), sign(1), sign(2)));
        real * p + translation
    })
}

/// Whether a palette takes points where f64 takes them, by the same rotations.
///
/// Rotations of joints that stretch much more along one axis than along others are not compared:
/// rounding decides them.
pub fn agrees(
    found: [&[Rows]; 3],
    want: &Palette,
    stretches: &[[f64; 2]],
    allowed: f64,
) -> Result<(), Failure> {
    let motions = want.rigid().map_or(&[][..], |rigid| rigid.motions());
    let normals = want.normals().unwrap_or_default();
    if found.map(<[Rows]>::len) != [motions.len(); 3] || normals.len() != motions.len() {
        return Err("another number of joints".into());
    }
    let all = || motions.iter().zip(want.points());
    let expected: Vec<[DVec3; 8]> = all()
        .map(|(motion, matrix)| corners(matrix, motion))
        .collect();
    let size = expected
        .iter()
        .flatten()
        .fold(1.0, |a: f64, p| a.max(p.length()));
    for (i, expected) in expected.iter().enumerate() {
        let of = corners(&found[0][i], &found[2][i]);
        let off = of
            .iter()
            .zip(expected)
            .map(|(a, b)| a.distance(*b))
            .max_by(f64::total_cmp)
            .unwrap_or(f64::NAN)
            / size;
        measured::note(off, allowed);
        if off.is_nan() || off > allowed {
            return Err(format!("joint {i} is off by {off:.2e} of {size}").into());
        }
        let [most, least] = stretches[i];
        if most > 100.0 * least {
            continue;
        }
        for (what, kind) in [("rotation", 0), ("turn of normals", 2)] {
            let (a, b) = (quaternion(found[2][i][kind]), quaternion(motions[i][kind]));
            let off = (a - b).length().min((a + b).length());
            if off.is_nan() || off > 100.0 * allowed {
                return Err(
                    format!("{what} of joint {i} is off by {off:.2e}: {a}, not {b}").into(),
                );
            }
        }
        let linear = |rows: &Rows| rows.map(|row| row.truncate().as_dvec3());
        let (a, b) = (linear(&found[1][i]), linear(&normals[i]));
        let length = b.iter().fold(0.0, |a: f64, row| a.max(row.length()));
        let off = a
            .iter()
            .zip(&b)
            .map(|(a, b)| a.distance(*b))
            .max_by(f64::total_cmp)
            .unwrap_or(f64::NAN)
            / length;
        if off.is_nan() || off > 100.0 * allowed {
            return Err(format!("normals of joint {i} are off by {off:.2e}").into());
        }
    }
    Ok(())
}
