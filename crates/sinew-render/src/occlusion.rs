//! What is in the way of the lights: depth maps of the meshes, from the key light for sharp shadows,
//! and from directions all around for soft ones (ambient occlusion).
//!
//! Maps in place of a pass over the picture's depth, because they also know what the camera does
//! not see, do not change when it moves, and work with several samples a pixel and with surfaces
//! that blend.

use bytemuck::{Pod, Zeroable};
use glam::{DMat4, DVec3, Mat4, Vec4};

use super::buffers::{entry, filled};
use super::pipelines::{DEPTH, Pipelines};
use super::targets::drawn_into;
use super::{Bounds, Camera, Light, Stage, frame};

/// Number of the maps that are seen from all around; occlusion.wgsl has the same.
pub(super) const SKY_MAPS: usize = 12;

/// Width and height of the key light's map, in texels.
const KEY_SIZE: u32 = 2048;

/// Width and height of the other maps. Twice as many of twice the size look about the same and take
/// twice the time on a software adapter, whose cost is the vertices of each map.
const SKY_SIZE: u32 = 256;

/// `Occlusion` of occlusion.wgsl.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct OcclusionUniform {
    key_from_local: Mat4,
    sky_from_local: [Mat4; SKY_MAPS],
    sky_from: [Vec4; SKY_MAPS],
    texels: Vec4,
}

/// The maps of a renderer.
#[derive(Debug)]
pub(super) struct OcclusionMaps {
    key: wgpu::TextureView,
    sky: wgpu::TextureView,
    /// Each layer of `sky`.
    layers: Vec<wgpu::TextureView>,
    nearer: wgpu::Sampler,
}

/// Where the maps of a picture are seen from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lights(OcclusionUniform);

impl Lights {
    /// Maps around a box in world space.
    pub fn new(stage: &Stage, camera: &Camera, light: Light, around: &Bounds) -> Self {
        let reach = around.reach();
        let center = around.center() - stage.origin;
        let [right, up, front] = camera.axes();
        let (key, ..) = frame::lights(camera, light);
        let sky = directions().map(|d| right * d.x + up * d.y + front * d.z);
        let seen_from = |from: DVec3| map_from_local(from, center, reach).as_mat4();
        Self(OcclusionUniform {
            key_from_local: seen_from(key),
            sky_from_local: sky.map(seen_from),
            sky_from: sky.map(|d| d.as_vec3().extend(0.0)),
            texels: Vec4::new(
                (2.0 * reach / f64::from(KEY_SIZE)) as f32,
                (2.0 * reach / f64::from(SKY_SIZE)) as f32,
                0.0,
                0.0,
            ),
        })
    }

    /// The projection of each map: the key light's first.
    pub fn projections(&self) -> impl Iterator<Item = Mat4> {
        std::iter::once(self.0.key_from_local).chain(self.0.sky_from_local)
    }
}

impl OcclusionMaps {
    pub fn new(device: &wgpu::Device) -> Self {
        let create = |label, size, layers| {
            let bound = wgpu::TextureUsages::TEXTURE_BINDING;
            drawn_into(device, label, [size, size, layers], 1, DEPTH, bound)
        };
        let key = create("render.key_map", KEY_SIZE, 1);
        let sky = create("render.sky_maps", SKY_SIZE, SKY_MAPS as u32);
        let layer = |base_array_layer| {
            sky.create_view(&wgpu::TextureViewDescriptor {
                dimension: Some(wgpu::TextureViewDimension::D2),
                base_array_layer,
                array_layer_count: Some(1),
                ..Default::default()
            })
        };
        Self {
            key: key.create_view(&Default::default()),
            layers: (0..SKY_MAPS as u32).map(layer).collect(),
            sky: sky.create_view(&wgpu::TextureViewDescriptor {
                dimension: Some(wgpu::TextureViewDimension::D2Array),
                ..Default::default()
            }),
            nearer: device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("render.occlusion"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                compare: Some(wgpu::CompareFunction::GreaterEqual),
                ..Default::default()
            }),
        }
    }

    /// The textures to draw the meshes into, in the order of [`Lights::projections`].
    pub fn targets(&self) -> impl Iterator<Item = &wgpu::TextureView> {
        std::iter::once(&self.key).chain(&self.layers)
    }

    /// What the shaders of surfaces and the ground bind.
    pub fn group(
        &self,
        device: &wgpu::Device,
        pipelines: &Pipelines,
        lights: &Lights,
    ) -> wgpu::BindGroup {
        let numbers = filled(
            device,
            "render.occlusion",
            bytemuck::bytes_of(&lights.0),
            wgpu::BufferUsages::UNIFORM,
        );
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("render.occlusion"),
            layout: &pipelines.occlusion,
            entries: &[
                entry(0, numbers.as_entire_binding()),
                entry(1, wgpu::BindingResource::TextureView(&self.key)),
                entry(2, wgpu::BindingResource::TextureView(&self.sky)),
                entry(3, wgpu::BindingResource::Sampler(&self.nearer)),
            ],
        })
    }
}

/// Directions of equal parts of the sphere, without its lowest quarter, where the ground is: points
/// on a spiral. X points right, Y up and Z to the front.
fn directions() -> [DVec3; SKY_MAPS] {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    std::array::from_fn(|i| {
        let y = 1.0 - 1.5 * (i as f64 + 0.5) / SKY_MAPS as f64;
        let (sin, cos) = (golden * i as f64).sin_cos();
        let across = (1.0 - y * y).sqrt();
        DVec3::new(across * cos, y, across * sin)
    })
}

/// The projection along a direction: -1 to 1 across `reach` to either side of the centre, and a
/// depth between 0 and 1 that is larger nearer to where it is seen from.
fn map_from_local(from: DVec3, center: DVec3, reach: f64) -> DMat4 {
    let right = from.any_orthonormal_vector();
    let up = from.cross(right);
    let rows = [right / reach, up / reach, from * (0.25 / reach)];
    let [x, y, z] = rows.map(|row| row.extend(-row.dot(center)));
    DMat4::from_cols(x, y, z + glam::DVec4::W * 0.5, glam::DVec4::W).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_show_the_box_with_near_points_first() {
        let center = DVec3::new(1.0, 2.0, 3.0);
        for from in directions() {
            assert!(
                (from.length() - 1.0).abs() < 1e-12 && from.y > -0.5,
                "{from}"
            );
            let map = map_from_local(from, center, 2.0);
            let at = |p| map.project_point3(p);
            assert!(at(center).abs_diff_eq(DVec3::Z * 0.5, 1e-12));
            assert!(at(center + from).z > at(center).z);
            let beside = at(center + from.any_orthonormal_vector() * 2.0);
            assert!(
                beside.abs_diff_eq(DVec3::new(1.0, 0.0, 0.5), 1e-12),
                "{beside}"
            );
        }
    }
}
