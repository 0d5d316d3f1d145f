//! The hatchling: a small dragon that dances in its eggshell hat.
//!
//! It has what skinning must get right: more than four influences per point, rigid props,
//! in-betweens, an animation of fewer joints than the skeleton has, and a SkelRoot that is not at
//! the origin.

mod body;
mod dance;
mod dancer;
mod mesh;
mod parts;
mod rig;
mod surface;
mod usda;

use glam::{Vec3, vec3};

use dance::Dance;

pub const TEAL: Vec3 = vec3(0.10, 0.50, 0.42);
pub const DEEP: Vec3 = vec3(0.05, 0.32, 0.36);
pub const CREAM: Vec3 = vec3(0.95, 0.82, 0.52);
pub const CORAL: Vec3 = vec3(0.95, 0.36, 0.16);
pub const PINK: Vec3 = vec3(0.95, 0.42, 0.40);
pub const MOUTH: Vec3 = vec3(0.42, 0.05, 0.08);

/// The stage as text (`hatchling.usda`).
pub fn usda() -> String {
    let rig = rig::hatchling();
    let mut meshes = vec![body::body(&rig)];
    for part in [parts::wing, parts::eye, parts::lid] {
        meshes.extend(rig::SIDES.map(|side| part(&rig, side)));
    }
    meshes.push(parts::hat(&rig));
    usda::stage(&rig, &meshes, &Dance::new(&rig))
}
