//! The uniforms of one picture.

use bytemuck::{Pod, Zeroable};
use glam::{DMat4, DQuat, DVec3, Mat4, Vec3, Vec4};

use super::{Background, Bounds, Camera, Light, Look, Stage};
use sinew::math;

/// `Frame` of frame.wgsl.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Frame {
    clip_from_local: Mat4,
    eye: Vec4,
    back: Vec4,
    up: Vec4,
    ground_x: Vec4,
    ground_y: Vec4,
    ground_center: Vec4,
    ground_phase: Vec4,
    key: Vec4,
    key_color: Vec4,
    fill: Vec4,
    fill_color: Vec4,
    rim: Vec4,
    rim_color: Vec4,
    sky: Vec4,
    bounce: Vec4,
    top: Vec4,
    bottom: Vec4,
    viewport: Vec4,
}

/// `Mesh` of mesh.wgsl.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct MeshUniform {
    local_from_mesh: Mat4,
    normal_from_mesh: Mat4,
    first_point: u32,
    first_normal: u32,
    has_normals: u32,
    has_heat: u32,
}

impl MeshUniform {
    /// `inputs` are those of [`super::stage_mesh::StageMesh::shader_inputs`].
    pub fn new(local_from_mesh: DMat4, inputs: [u32; 4]) -> Self {
        let [first_point, first_normal, has_normals, has_heat] = inputs;
        Self {
            local_from_mesh: local_from_mesh.as_mat4(),
            normal_from_mesh: Mat4::from_mat3(math::normal_matrix(local_from_mesh).as_mat3()),
            first_point,
            first_normal,
            has_normals,
            has_heat,
        }
    }
}

/// Distances of the lines on the ground, in the stage's units. For a scene as large as a person
/// they are a metre and a tenth of it; for other sizes they are multiplied by a power of ten.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spacing {
    fine: f64,
    coarse: f64,
}

impl Spacing {
    /// The distances for a scene of `size` units.
    fn new(size: f64, meters_per_unit: f64) -> Self {
        let metre = match meters_per_unit {
            m if m.is_finite() && m > 0.0 => 1.0 / m,
            _ => 1.0,
        };
        let tens = (size / metre / 2.5)
            .max(1e-30)
            .log10()
            .round()
            .clamp(-12.0, 12.0);
        let coarse = metre * 10f64.powf(tens);
        Self {
            fine: coarse * 0.1,
            coarse,
        }
    }
}

impl Frame {
    /// The same uniforms, seen along a projection of [`super::occlusion::Lights`]. Curves keep
    /// their own widths there, however thin they are: many thin ones cover their share of a map.
    pub fn seen_from(self, clip_from_local: Mat4) -> Self {
        let to_light = clip_from_local.row(2).truncate().normalize_or(Vec3::Y);
        Self {
            clip_from_local,
            eye: Vec4::ZERO,
            back: to_light.extend(0.0),
            viewport: self.viewport * Vec4::new(1.0, 1.0, 0.0, 1.0),
            ..self
        }
    }

    /// The uniforms for a picture of `size` pixels. The ground lies under `bounds`, and its middle
    /// and its shadow under `lit`; both are in world space.
    pub fn new(
        stage: &Stage,
        camera: &Camera,
        look: &Look,
        (bounds, lit): (&Bounds, &Bounds),
        size: [u32; 2],
    ) -> Self {
        let [width, height] = size.map(f64::from);
        let matrices = camera.matrices(width / height);
        let world_from_local = DMat4::from_translation(stage.origin);
        let clip_from_local = matrices.clip_from_view * matrices.view_from_world * world_from_local;
        let back = back(camera);

        let [right, up, front] = camera.axes();
        let extent = match bounds.is_empty() {
            true => 1.0,
            false => bounds.diagonal().max(1e-9),
        };
        // The ground is at height 0 if the scene stands or jumps above it; soles may sink in a
        // little. Otherwise it is at the scene's lowest point, so that it hides nothing.
        let lowest = if bounds.is_empty() {
            0.0
        } else {
            bounds.low.dot(up.abs())
        };
        let floor = match (-0.01 * extent..extent).contains(&lowest) {
            true => 0.0,
            false => lowest,
        };
        let spacing = Spacing::new(extent, stage.meters_per_unit());
        let middle = lit.center();
        let center = middle - up * (middle.dot(up) - floor);
        let phase = |axis: DVec3| center.dot(axis).rem_euclid(spacing.coarse) as f32;
        let half_shadow = lit.reach();
        let (key, fill, rim) = lights(camera, look.light);
        let (top, bottom, vignette) = match look.background {
            Background::Gradient { top, bottom } => (linear(top), linear(bottom), 0.35),
            Background::Color(color) => (linear(color), linear(color), 0.0),
            Background::Transparent => (Vec3::ZERO, Vec3::ZERO, 0.0),
        };
        // Width of lines: 1.2 pixels up to a height of 900 pixels, and in proportion above.
        let line = (height / 900.0).max(1.0) as f32 * 1.2;
        Self {
            clip_from_local: clip_from_local.as_mat4(),
            eye: local(stage, matrices.eye).extend(f32::from(u8::from(matrices.perspective))),
            back: back.as_vec3().extend(f32::from(u8::from(look.grid_lines))),
            up: up.as_vec3().extend((floor - stage.origin.dot(up)) as f32),
            ground_x: right.as_vec3().extend(spacing.fine as f32),
            ground_y: front.as_vec3().extend(spacing.coarse as f32),
            ground_center: local(stage, center).extend((half_shadow * 16.0 / 3.0) as f32),
            ground_phase: Vec4::new(phase(right), phase(front), half_shadow as f32, 0.8),
            key: key.as_vec3().extend(0.0),
            key_color: Vec4::new(1.22, 1.15, 1.05, 0.0),
            fill: fill.as_vec3().extend(0.0),
            fill_color: Vec4::new(0.19, 0.23, 0.29, 0.0),
            rim: rim.as_vec3().extend(0.0),
            rim_color: Vec4::new(0.74, 0.80, 0.89, 0.0),
            sky: Vec4::new(0.34, 0.365, 0.40, 0.0),
            bounce: Vec4::new(0.16, 0.145, 0.13, 0.0),
            top: top.extend(vignette),
            bottom: bottom.extend(0.0),
            viewport: Vec4::new(width as f32, height as f32, line, (extent * 0.02) as f32),
        }
        .lit(look.light.intensity)
    }

    /// The same uniforms with lights that are brighter by this factor.
    fn lit(mut self, intensity: f64) -> Self {
        let factor = intensity.max(0.0) as f32;
        for color in [
            &mut self.key_color,
            &mut self.fill_color,
            &mut self.rim_color,
            &mut self.sky,
            &mut self.bounce,
        ] {
            *color = (color.truncate() * factor).extend(color.w);
        }
        self
    }
}

/// Directions towards the key light, the fill light and the rim light, in world space. If they
/// follow the camera, they turn around the up axis with it; their height stays.
pub(super) fn lights(camera: &Camera, light: Light) -> (DVec3, DVec3, DVec3) {
    let [_, up, front] = camera.axes();
    let back = back(camera);
    let toward = match light.follows_camera {
        true => (back - up * back.dot(up)).normalize_or(front),
        false => front,
    };
    let toward = DQuat::from_axis_angle(up, light.turn) * toward;
    let right = up.cross(toward);
    let direction = |x: f64, y: f64, z: f64| (right * x + up * y + toward * z).normalize();
    (
        direction(-0.55, 0.75, 0.7),
        direction(0.9, 0.15, 0.55),
        direction(0.45, 0.55, -0.9),
    )
}

/// The direction opposite to the view, in world space.
fn back(camera: &Camera) -> DVec3 {
    let axes = camera.world_from_camera();
    axes.z_axis.truncate().normalize_or(DVec3::Z)
}

/// A position of world space in the stage's local space.
pub(super) fn local(stage: &Stage, world: DVec3) -> Vec3 {
    (world - stage.origin).as_vec3()
}

/// The linear colour of an sRGB colour.
pub(super) fn linear(srgb: [f32; 3]) -> Vec3 {
    Vec3::from(srgb.map(|c| match c {
        c if c <= 0.04045 => c / 12.92,
        c => ((c + 0.055) / 1.055).powf(2.4),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_a_metre_apart_under_a_person() {
        let spacing = |size, unit| {
            let s = Spacing::new(size, unit);
            (s.fine, s.coarse)
        };
        let near = |a: (f64, f64), b: (f64, f64)| {
            assert!(
                (a.0 / b.0 - 1.0).abs() < 1e-9 && (a.1 / b.1 - 1.0).abs() < 1e-9,
                "{a:?} {b:?}"
            );
        };
        near(spacing(2.0, 1.0), (0.1, 1.0));
        near(spacing(200.0, 0.01), (10.0, 100.0));
        near(spacing(20.0, 1.0), (1.0, 10.0));
        near(spacing(0.2, 1.0), (0.01, 0.1));
    }
}
