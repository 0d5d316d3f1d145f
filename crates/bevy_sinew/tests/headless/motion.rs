//! Motion vectors of Bevy's prepass, against the vertices of two frames.

use bevy::core_pipeline::prepass::{MotionVectorPrepass, ViewPrepassTextures};
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy_sinew::{PREVIOUS_POSITION, SinewCharacter};

use crate::{app, camera, hatchling, load, read_buffer, slab};

const SIZE: [u32; 2] = [256, 256];

/// Copies a texture of two channels into a buffer.
const COPY: &str = "
@group(0) @binding(0) var vectors: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> copied: array<vec2<f32>>;
@compute @workgroup_size(8, 8)
fn copy(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(vectors);
    if all(id.xy < size) {
        copied[id.y * size.x + id.x] = textureLoad(vectors, id.xy, 0).xy;
    }
}";

/// The motion vector of each pixel, in parts of the picture.
fn vectors(app: &mut App) -> Vec<Vec2> {
    let world = app.sub_app_mut(RenderApp).world_mut();
    let mut views = world.query::<&ViewPrepassTextures>();
    let view = views.single(world).unwrap();
    let texture = view.motion_vectors.as_ref().unwrap();
    let texture = texture.texture.texture.create_view(&Default::default());
    let device = app.world().resource::<RenderDevice>().wgpu_device();
    let size = u64::from(SIZE[0] * SIZE[1] * 8);
    let copied = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("vectors"),
        size,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(COPY.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let bound = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry {
                binding: 0,
                resource: wgpu::BindingResource::TextureView(&texture),
            },
            wgpu::BindGroupEntry {
                binding: 1,
                resource: copied.as_entire_binding(),
            },
        ],
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bound, &[]);
        pass.dispatch_workgroups(SIZE[0].div_ceil(8), SIZE[1].div_ceil(8), 1);
    }
    app.world()
        .resource::<RenderQueue>()
        .submit([encoder.finish()]);
    let bytes = read_buffer(app, &copied, 0, size);
    let values = bytes
        .chunks_exact(8)
        .map(bytemuck::pod_read_unaligned::<[f32; 2]>);
    values.map(Vec2::from_array).collect()
}

/// Each pixel that shows a vertex has its way as its vector, within half a pixel. Vertices that face
/// away, and those with a nearer one within three pixels, are left out as hidden; a tenth may differ,
/// because some are hidden by triangles alone, or lie at the edge of a pixel that shows the background.
/// Without previous positions, none that moves would pass.
#[test]
fn motion_vectors_are_the_way_of_the_vertices() {
    let mut app = app();
    let place = Transform::from_xyz(1.2, 1.0, 3.2).looking_at(Vec3::new(0.4, 0.65, -0.3), Vec3::Y);
    let lens = PerspectiveProjection::default();
    let camera = camera(&mut app, SIZE, place, lens);
    app.world_mut()
        .entity_mut(camera)
        .insert((MotionVectorPrepass, Msaa::Off));
    let character = SinewCharacter::new(hatchling())
        .playing("Dance")
        .with_motion_vectors();
    let entity = app.world_mut().spawn(character).id();
    load(&mut app, entity);
    for _ in 0..6 {
        app.update();
    }
    let found = vectors(&mut app);
    let view = app.world().get::<Camera>(camera).unwrap();
    let from = app.world().get::<GlobalTransform>(camera).unwrap();
    let pixel = |p: Vec3| {
        let size = UVec2::from_array(SIZE).as_vec2();
        let ndc = view.world_to_ndc(from, p)?;
        Some((Vec2::new(ndc.x + 1.0, 1.0 - ndc.y) * 0.5 * size, ndc.z))
    };
    // The nearest vertex of each pixel: its depth and its way.
    let mut nearest: Vec<Option<(f32, Vec2)>> = vec![None; found.len()];
    let children = app.world().get::<Children>(entity).unwrap();
    for child in children {
        let mesh = &app.world().get::<Mesh3d>(*child).unwrap().0;
        let now = slab(&app, mesh, Mesh::ATTRIBUTE_POSITION);
        let before = slab(&app, mesh, PREVIOUS_POSITION);
        let normals = slab(&app, mesh, Mesh::ATTRIBUTE_NORMAL);
        for ((now, before), normal) in now.into_iter().zip(before).zip(normals) {
            if normal.dot(from.translation() - now) <= 0.0 {
                continue;
            }
            let (Some((at, depth)), Some((was, _))) = (pixel(now), pixel(before)) else {
                continue;
            };
            let index = at.y as usize * SIZE[0] as usize + at.x as usize;
            let way = (at - was) / UVec2::from_array(SIZE).as_vec2();
            // Depth is reversed.
            if nearest[index].is_none_or(|(other, _)| depth > other) {
                nearest[index] = Some((depth, way));
            }
        }
    }
    // Whether no vertex of the pixels around is clearly nearer.
    let is_seen = |index: usize, depth: f32| {
        let [width, height] = SIZE.map(|n| n as usize);
        let (x, y) = (index % width, index / width);
        let rows = y.saturating_sub(3)..(y + 4).min(height);
        let around = |y: usize| (x.saturating_sub(3)..(x + 4).min(width)).map(move |x| (x, y));
        let depths = rows
            .flat_map(around)
            .filter_map(|(x, y)| nearest[y * width + x]);
        depths.map(|(other, _)| other).fold(0.0, f32::max) < depth * 1.01
    };
    let pairs = nearest.iter().zip(&found).enumerate();
    let pairs = pairs.filter_map(|(index, (near, found))| {
        let (depth, way) = (*near)?;
        is_seen(index, depth).then_some((way, *found))
    });
    let pairs: Vec<(Vec2, Vec2)> = pairs.collect();
    let is_close = |(expected, found): &&(Vec2, Vec2)| expected.distance(*found) * 256.0 < 0.5;
    let close = pairs.iter().filter(is_close).count();
    let moving = pairs.iter().filter(|(way, _)| way.length() * 256.0 > 1.0);
    let (moving, all) = (moving.clone().filter(is_close).count(), moving.count());
    println!(
        "{close} of {} close; {moving} of {all} that move",
        pairs.len()
    );
    // Of those that move by more than a pixel: zero vectors would have none.
    assert!(all > 500, "{all}");
    assert!(moving * 10 >= all * 9, "{moving} of {all}");
    assert!(close * 10 >= pairs.len() * 9, "{close} of {}", pairs.len());
}
