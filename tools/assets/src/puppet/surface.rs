//! Points and triangles of the puppet's limbs.

use std::f32::consts::{PI, TAU};

use glam::{Mat4, Vec3};

use super::rig::Joint;

/// Points with normals, influences and triangles.
#[derive(Default)]
pub struct Surface {
    pub points: Vec<[f32; 3]>,
    pub normals: Vec<[f32; 3]>,
    pub joints: Vec<[u8; 4]>,
    pub weights: Vec<[f32; 4]>,
    pub triangles: Vec<u16>,
}

const AROUND: u16 = 14;

impl Surface {
    /// Adds a ball that is stretched from (0, 0, 0) to (0, `length`, 0) in the space of `local`.
    /// `weights` gives the influences of a point from its height.
    fn stretched(
        &mut self,
        local: Mat4,
        length: f32,
        radius: Vec3,
        rings: u16,
        weights: impl Fn(f32) -> ([u8; 4], [f32; 4]),
    ) {
        let first = u16::try_from(self.points.len()).expect("a small mesh");
        for ring in 0..=rings {
            let polar = PI * f32::from(ring) / f32::from(rings);
            let middle = if ring * 2 < rings { 0.0 } else { length };
            for side in 0..AROUND {
                let angle = TAU * f32::from(side) / f32::from(AROUND);
                let unit = Vec3::new(
                    polar.sin() * angle.cos(),
                    -polar.cos(),
                    polar.sin() * angle.sin(),
                );
                let point = unit * radius + Vec3::Y * middle;
                self.points.push(local.transform_point3(point).to_array());
                let normal = local.transform_vector3(unit / radius).normalize();
                self.normals.push(normal.to_array());
                let (joints, weights) = weights(point.y);
                self.joints.push(joints);
                self.weights.push(weights);
            }
        }
        for ring in 0..rings {
            for side in 0..AROUND {
                let at = |r: u16, s: u16| first + r * AROUND + s % AROUND;
                let (a, b) = (at(ring, side), at(ring, side + 1));
                let (c, d) = (at(ring + 1, side), at(ring + 1, side + 1));
                self.triangles.extend([a, c, b, b, c, d]);
            }
        }
    }

    /// Adds the limb of a joint. It follows the joint, and near its head the parent too.
    pub fn limb(&mut self, all: &[Joint], index: usize) {
        let joint = &all[index];
        let length = joint.head.distance(joint.tail);
        let own = u8::try_from(index).expect("few joints");
        let parent = joint
            .parent
            .map_or(own, |p| u8::try_from(p).expect("few joints"));
        // Feet and hands are flat, the trunk is wider than deep.
        let flat = match joint.bone {
            b if b.ends_with("Hand") => Vec3::new(1.2, 1.0, 0.5),
            "hips" | "spine" | "chest" => Vec3::new(1.15, 0.6, 0.8),
            "head" => Vec3::new(0.9, 0.6, 1.0),
            _ => Vec3::new(1.0, 0.9, 1.0),
        };
        let radius = joint.radius * flat;
        self.stretched(joint.world(), length, radius, 10, |height| {
            // Half of the weight at the joint, all of it beyond a radius.
            let mine = (0.5 + 0.5 * height / joint.radius).clamp(0.0, 1.0);
            ([own, parent, 0, 0], [mine, 1.0 - mine, 0.0, 0.0])
        });
    }

    /// Adds a ball that follows one joint.
    pub fn ball(&mut self, joint: usize, center: Vec3, radius: Vec3) {
        let own = u8::try_from(joint).expect("few joints");
        self.stretched(Mat4::from_translation(center), 0.0, radius, 9, |_| {
            ([own, 0, 0, 0], [1.0, 0.0, 0.0, 0.0])
        });
    }
}
