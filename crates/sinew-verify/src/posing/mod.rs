//! Posing in f32 on the GPU, against its mirror and f64.

mod on_gpu;
pub mod rigs;

use std::sync::Arc;

use crate::check::Checks;
use crate::compare::compare;
use crate::{Failure, Subject, ensure, tolerance};
use glam::{DMat3, DMat4, DQuat, DVec3, DVec4, Vec4};
use rigs::{Shape, Spec};
use sinew::kernel::{JointTransform, Palette};
use sinew::math::Rows;
use sinew::skel::{Pose, SkinningMethod};

pub const CHECKS: &[(Subject, Checks)] = &[(Subject::Posing, on_gpu::CHECKS)];

pub fn specs() -> Vec<(&'static str, Spec)> {
    let base = Spec::default();
    let of = |seed, joints, shape| base.seed(seed).joints(joints).shape(shape);
    let chain = of(2, 200, Shape::Chain);
    vec![
        ("no_joints", of(1, 0, Shape::Tree)),
        ("one_joint", of(1, 1, Shape::Tree)),
        ("chain_of_200", chain),
        ("chain_of_200_that_shears", chain.least_scale(0.99)),
        (
            "chain_of_12_that_shears",
            of(3, 12, Shape::Chain).least_scale(0.8),
        ),
        ("chain_of_1024", of(4, 1024, Shape::Chain)),
        ("star_of_300", of(5, 300, Shape::Star)),
        ("tree_of_63", of(6, 63, Shape::Tree)),
        ("tree_of_64", of(7, 64, Shape::Tree)),
        (
            "tree_of_500_that_shears",
            of(8, 500, Shape::Tree).least_scale(0.6),
        ),
        (
            "tree_of_500_that_mirrors",
            of(9, 500, Shape::Tree).least_scale(0.8).mirrored(true),
        ),
        ("forest_of_400", of(10, 400, Shape::Forest)),
        ("a_kilometre_away", of(11, 80, Shape::Tree).away(1000.0)),
    ]
}

/// The palette in f64, and the matrices of the joints that it is made of.
pub fn truth(
    method: SkinningMethod,
    spec: &Spec,
    joints: &[JointTransform],
) -> Result<(Palette, Arc<Vec<DMat4>>), Failure> {
    let locals: Vec<DMat4> = joints.iter().map(JointTransform::matrix).collect();
    let pose = Pose::from_local(&rigs::skeleton(spec), &locals)?;
    let skinning = pose.skinning.ok_or("not posed")?;
    let palette = Palette::pack(method, &skinning, rigs::geom_bind(spec), true);
    Ok((palette, skinning))
}

/// Where the joints of a palette take the corners of a cube of two units: by matrices, and by motions of dual
/// quaternions after them, if it has some.
fn corners(matrices: &[Rows], motions: &[Rows]) -> Vec<DVec3> {
    let still = [Vec4::W, Vec4::ZERO, Vec4::ZERO];
    let motions = motions.iter().chain(std::iter::repeat(&still));
    let of = |(matrix, [real, dual, _]): (&Rows, &Rows)| -> [DVec3; 8] {
        let matrix = matrix.map(|row| row.as_dvec4());
        let (turn, r, d) = (quaternion(*real), real.as_dvec4(), dual.as_dvec4());
        let cross = r.truncate().cross(d.truncate());
        let translation = 2.0 * (r.w * d.truncate() - d.w * r.truncate() + cross);
        std::array::from_fn(|corner| {
            let sign = |bit: usize| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
            let point = DVec4::new(sign(0), sign(1), sign(2), 1.0);
            turn * DVec3::from_array(matrix.map(|row| row.dot(point))) + translation
        })
    };
    matrices.iter().zip(motions).flat_map(of).collect()
}

fn quaternion(q: Vec4) -> DQuat {
    DQuat::from_vec4(q.as_dvec4())
}

/// Whether a palette (points, normals, motions) takes points where f64 takes them; if its joints have motions, by the
/// same rotations.
///
/// Rotations of joints that stretch much more along one axis than along others are not compared:
/// rounding decides them.
pub fn agrees(
    [points, normals, motions]: [&[Rows]; 3],
    want: &Palette,
    skinning: &[DMat4],
) -> Result<(), Failure> {
    let allowed = tolerance::POSED_IN_F64;
    let want_motions = want.rigid().map_or(&[][..], |rigid| rigid.motions());
    let want_normals = want.normals().unwrap_or_default();
    let joints = want_motions.len();
    let lengths = [normals, want_normals, want.points()].map(<[Rows]>::len);
    let same = motions.len() == joints && (joints == 0 || lengths == [joints; 3]);
    ensure(same, "another number of joints")?;
    let expected = corners(want.points(), want_motions);
    compare("corners", &corners(points, motions), &expected, allowed)?;
    for i in 0..joints {
        // The last entry is of no joint.
        let linear = skinning
            .get(i)
            .map_or(DMat3::IDENTITY, |m| DMat3::from_mat4(*m));
        let (_, squares) = sinew::math::principal_axes(linear.transpose() * linear);
        if squares.max_element() > 1e4 * squares.min_element().max(0.0) {
            continue;
        }
        for (what, kind) in [("rotation", 0), ("turn of normals", 2)] {
            let [a, b] = [motions, want_motions].map(|all| quaternion(all[i][kind]));
            let off = (a - b).length().min((a + b).length());
            let text = format!("{what} of joint {i} is off by {off:.2e}: {a}, not {b}");
            ensure(off <= 100.0 * allowed, &text)?;
        }
        let linear = |rows: &Rows| rows.map(|row| row.truncate().as_dvec3());
        let (a, b) = (linear(&normals[i]), linear(&want_normals[i]));
        let length = b.iter().fold(0.0, |a: f64, row| a.max(row.length()));
        let [a, b] = [a, b].map(|rows| rows.map(|row| row / length));
        compare(&format!("normals of joint {i}"), &a, &b, 100.0 * allowed)?;
    }
    Ok(())
}
