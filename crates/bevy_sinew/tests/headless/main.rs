//! Characters in Bevy apps without a window: an app, and readings of what it has on the device. The tests need an adapter,
//! which may be a software one.

mod leaving;
mod materials;
mod motion;
mod picture;
mod readme;
mod slab;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bevy::app::PluginsState;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::mesh::RenderMesh;
use bevy::render::mesh::allocator::MeshAllocator;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_asset::RenderAssets;
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::texture::GpuImage;
use bevy::render::{RenderApp, RenderPlugin};
use bevy::time::TimeUpdateStrategy;
use bevy::window::ExitCondition;
use bevy::winit::WinitPlugin;
use bevy_sinew::{SinewCharacter, SinewPlugin};
use wgpu::TextureFormat;

/// Seconds of a frame: a step of the crowd's clock.
pub const FRAME: f64 = 1.0 / 32.0;

/// The repository's example character.
pub fn hatchling() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/assets/hatchling.usda")
}

/// An app that draws without a window, one frame for each update. Pipelines are compiled when a frame
/// needs them, so that no mesh is left out meanwhile.
pub fn app() -> App {
    let mut app = App::new();
    app.add_plugins((
        DefaultPlugins
            .set(WindowPlugin {
                primary_window: None,
                exit_condition: ExitCondition::DontExit,
                ..default()
            })
            .set(RenderPlugin {
                synchronous_pipeline_compilation: true,
                ..default()
            })
            .disable::<WinitPlugin>()
            .disable::<PipelinedRenderingPlugin>()
            .disable::<LogPlugin>(),
        SinewPlugin,
    ))
    .insert_resource(ClearColor(Color::BLACK))
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(
        FRAME,
    )));
    while app.plugins_state() == PluginsState::Adding {
        bevy::tasks::tick_global_task_pools_on_main_thread();
    }
    app.finish();
    app.cleanup();
    app
}

/// Updates until a character is loaded. That update is the first that plays it.
pub fn load(app: &mut App, entity: Entity) {
    let start = Instant::now();
    loop {
        app.update();
        let component = app.world().get::<SinewCharacter>(entity).unwrap();
        if let Some(error) = component.error() {
            panic!("{error}");
        }
        if component.character().is_some() {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(600), "not loaded");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A camera that draws into an image of `size` pixels, without tone mapping.
pub fn camera(
    app: &mut App,
    size: [u32; 2],
    place: Transform,
    lens: PerspectiveProjection,
) -> Entity {
    let format = TextureFormat::Rgba8UnormSrgb;
    let mut image = Image::new_target_texture(size[0], size[1], format, None);
    image.texture_descriptor.usage |= wgpu::TextureUsages::COPY_SRC;
    let image = app.world_mut().resource_mut::<Assets<Image>>().add(image);
    let camera = (
        Camera3d::default(),
        bevy::camera::RenderTarget::from(image),
        Projection::Perspective(lens),
        Tonemapping::None,
        Msaa::Sample4,
        place,
    );
    app.world_mut().spawn(camera).id()
}

/// What a camera drew last: RGBA.
pub fn picture(app: &App, camera: Entity) -> image::RgbaImage {
    let target = app
        .world()
        .get::<bevy::camera::RenderTarget>(camera)
        .unwrap();
    let handle = target.as_image().unwrap();
    let images = app
        .sub_app(RenderApp)
        .world()
        .resource::<RenderAssets<GpuImage>>();
    let texture = &images.get(handle).unwrap().texture;
    let (width, height) = (texture.width(), texture.height());
    let row = (width * 4).next_multiple_of(256);
    let to = buffer(app, u64::from(row * height));
    let bytes = read(app, &to, |encoder| {
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &to,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(row),
                    rows_per_image: None,
                },
            },
            texture.size(),
        );
    });
    let rows = bytes.chunks_exact(row as usize);
    let pixels = rows
        .flat_map(|r| &r[..width as usize * 4])
        .copied()
        .collect();
    image::RgbaImage::from_raw(width, height, pixels).unwrap()
}

/// One attribute of three floats of all vertices that Bevy's slab has for a mesh.
pub fn slab(
    app: &App,
    mesh: &Handle<Mesh>,
    attribute: bevy::mesh::MeshVertexAttribute,
) -> Vec<Vec3> {
    let world = app.sub_app(RenderApp).world();
    let meshes = world.resource::<RenderAssets<RenderMesh>>();
    let layout = &meshes.get(mesh).unwrap().layout.0;
    let ids = layout.attribute_ids();
    let index = ids.iter().position(|id| *id == attribute.id).unwrap();
    let stride = layout.layout().array_stride;
    let offset = layout.layout().attributes[index].offset as usize;
    let (buffer, range) = place(app, mesh);
    let bytes = u64::from(range.end - range.start) * stride;
    let from = u64::from(range.start) * stride;
    let bytes = read_buffer(app, &buffer, from, bytes);
    let vertices = bytes.chunks_exact(stride as usize);
    let values = vertices.map(|v| {
        let values: [f32; 3] = bytemuck::pod_read_unaligned(&v[offset..offset + 12]);
        Vec3::from_array(values)
    });
    values.collect()
}

/// The vertices of Bevy's slab that a mesh has.
pub fn place(app: &App, mesh: &Handle<Mesh>) -> (wgpu::Buffer, Range<u32>) {
    let allocator = app.sub_app(RenderApp).world().resource::<MeshAllocator>();
    let slice = allocator.mesh_vertex_slice(&mesh.id()).unwrap();
    ((**slice.buffer).clone(), slice.range)
}

/// Some bytes of a buffer.
pub fn read_buffer(app: &App, buffer_of: &wgpu::Buffer, from: u64, bytes: u64) -> Vec<u8> {
    let to = buffer(app, bytes);
    read(app, &to, |encoder| {
        encoder.copy_buffer_to_buffer(buffer_of, from, &to, 0, bytes);
    })
}

fn device(app: &App) -> &wgpu::Device {
    app.world().resource::<RenderDevice>().wgpu_device()
}

fn buffer(app: &App, size: u64) -> wgpu::Buffer {
    device(app).create_buffer(&wgpu::BufferDescriptor {
        label: Some("reading"),
        size,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

fn read(app: &App, to: &wgpu::Buffer, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Vec<u8> {
    let device = device(app);
    let mut encoder = device.create_command_encoder(&Default::default());
    record(&mut encoder);
    app.world()
        .resource::<RenderQueue>()
        .submit([encoder.finish()]);
    to.slice(..)
        .map_async(wgpu::MapMode::Read, |result| result.unwrap());
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    to.slice(..).get_mapped_range().unwrap().to_vec()
}
