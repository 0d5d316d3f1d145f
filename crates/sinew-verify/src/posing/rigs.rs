//! Random skeletons and local transforms.

use glam::{DMat4, DVec3, Quat, Vec3};
use sinew::kernel::JointTransform;
use sinew::skel::Skeleton;

use crate::rng::Rng;

/// How the joints hang together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// One below the other.
    Chain,
    /// All below one root.
    Star,
    /// Any joint below any that comes before it.
    Tree,
    /// Many roots.
    Forest,
}

crate::cases::options! {
    Spec {
        seed: u64 = 1,
        joints: usize = 60,
        shape: Shape = Shape::Tree,
        /// Scales lie between this and its inverse, so they make shear where they differ by axis.
        least_scale: f32 = 1.0,
        /// Every sixth joint or so mirrors.
        mirrored: bool = false,
        /// Length of the root's translation.
        away: f32 = 1.0,
    }
}

fn rotation(rng: &mut Rng) -> Quat {
    let (axis, angle) = (rng.vector(1.0), rng.range(-3.1, 3.1));
    Quat::from_axis_angle(axis.try_normalize().unwrap_or(Vec3::X), angle)
}

fn local(rng: &mut Rng, spec: &Spec, is_root: bool) -> JointTransform {
    let mut scale = Vec3::ONE;
    if spec.least_scale < 1.0 {
        let most = spec.least_scale.recip().ln();
        let mut one = || rng.range(-most, most).exp();
        scale = Vec3::new(one(), one(), one());
    }
    if spec.mirrored && rng.below(6) == 0 {
        scale.x = -scale.x;
    }
    let length = if is_root { spec.away } else { 0.3 };
    JointTransform::new(rng.vector(length), rotation(rng), scale)
}

/// The parent of each joint.
pub fn parents(spec: &Spec) -> Vec<Option<u32>> {
    let rng = &mut Rng::new(spec.seed ^ 0xb0e5);
    let parent = |joint: usize| match (spec.shape, joint) {
        (_, 0) => None,
        (Shape::Chain, joint) => Some(joint as u32 - 1),
        (Shape::Star, _) => Some(0),
        (Shape::Tree, joint) => Some(rng.below(joint) as u32),
        (Shape::Forest, joint) => (joint % 5 != 0).then(|| rng.below(joint) as u32),
    };
    (0..spec.joints).map(parent).collect()
}

/// A skeleton whose joints rest somewhere within a metre or two.
pub fn skeleton(spec: &Spec) -> Skeleton {
    let rng = &mut Rng::new(spec.seed ^ 0xb14d);
    let names = (0..spec.joints).map(|i| format!("joint{i}")).collect();
    let bind = (0..spec.joints).map(|_| {
        let (turn, at) = (rotation(rng).as_dquat(), rng.vector(1.0).as_dvec3());
        DMat4::from_rotation_translation(turn, at)
    });
    Skeleton::from_parents("/Rig", names, &parents(spec), bind.collect(), None).expect("valid")
}

/// Local transforms at some time.
pub fn locals(spec: &Spec, time: u64) -> Vec<JointTransform> {
    let rng = &mut Rng::new(spec.seed ^ (time + 1) << 32);
    let all = parents(spec);
    let all = all.iter().map(|parent| local(rng, spec, parent.is_none()));
    all.collect()
}

/// From prim space to skeleton space at bind, with scale and shear.
pub fn geom_bind(spec: &Spec) -> DMat4 {
    let rng = &mut Rng::new(spec.seed ^ 0x6e0b);
    let (turn, at) = (rotation(rng).as_dquat(), rng.vector(1.0).as_dvec3());
    let scale = DVec3::new(0.7, 1.3, 1.1);
    DMat4::from_scale_rotation_translation(scale, turn, at) * DMat4::from_rotation_y(0.4)
}
