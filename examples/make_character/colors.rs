//! The colours that more than one part of the hatchling shares.

use glam::{Vec3, vec3};

pub const TEAL: Vec3 = vec3(0.10, 0.50, 0.42);
pub const DEEP: Vec3 = vec3(0.05, 0.32, 0.36);
pub const CREAM: Vec3 = vec3(0.95, 0.82, 0.52);
pub const CORAL: Vec3 = vec3(0.95, 0.36, 0.16);
pub const PINK: Vec3 = vec3(0.95, 0.42, 0.40);
pub const MOUTH: Vec3 = vec3(0.42, 0.05, 0.08);
