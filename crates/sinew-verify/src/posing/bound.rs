//! The error that `kernel::POSE_RIG` promises, joint by joint.

use glam::{DMat3, DMat4, DVec3, DVec4};
use sinew::kernel::{JointTransform, Palette};
use sinew::math::Rows;

use crate::posing::rigs::{self, Spec};
use crate::{measured, tolerance};

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

/// Whether every matrix is as near to the one in f64 as is promised; prints how near.
pub fn check(
    spec: &Spec,
    joints: &[JointTransform],
    found: &Palette,
    want: &Palette,
) -> Result<(), String> {
    let skeleton = rigs::skeleton(spec);
    let inverse_bind = skeleton.inverse_bind().map_err(|e| e.to_string())?;
    let geom_bind = rigs::geom_bind(spec);
    let u = f64::from(f32::EPSILON) / 2.0;
    let (mut worst, mut worst_normal) = (0.0f64, 0.0f64);
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
        worst = worst.max(off);

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
        worst_normal = worst_normal.max(off);
    }
    let last = joints.len();
    if found.points()[last] != want.points()[last] {
        return Err("the last palette entry is not geomBindTransform".into());
    }
    // In shares of a bound that differs from joint to joint.
    let unit = tolerance::POSED_PER_LEVEL * u;
    measured::note(worst.max(worst_normal) * unit, unit);
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
