//! Posing in f32 on the GPU, against its mirror and f64.

mod on_gpu;
pub mod rigid;
pub mod rigs;

use crate::{Check, Failure, Subject};
use glam::DMat4;
use rigs::{Shape, Spec};
use sinew::kernel::{JointTransform, Palette};
use sinew::skel::{Pose, SkinningMethod};

pub fn checks() -> Vec<Check> {
    let each = |(name, run): &(&'static str, on_gpu::Run)| {
        Check::with_both_limits(Subject::Posing, "posing", name, *run)
    };
    on_gpu::CHECKS.iter().flat_map(each).collect()
}

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

/// The palette in f64.
pub fn truth(spec: &Spec, joints: &[JointTransform]) -> Result<Palette, Failure> {
    let skeleton = rigs::skeleton(spec);
    let locals: Vec<DMat4> = joints.iter().map(JointTransform::matrix).collect();
    let pose = Pose::from_local(&skeleton, &locals)?;
    let skinning = pose.skinning.ok_or("not posed")?;
    let method = SkinningMethod::ClassicLinear;
    Ok(Palette::pack(
        method,
        &skinning,
        rigs::geom_bind(spec),
        true,
    ))
}
