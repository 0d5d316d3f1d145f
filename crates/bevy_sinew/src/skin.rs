//! The crowd on Bevy's device: poses when Bevy extracts, kernels before Bevy draws.

use std::collections::HashMap;
use std::sync::Arc;

use bevy::app::App;
use bevy::asset::AssetId;
use bevy::camera::visibility::InheritedVisibility;
use bevy::ecs::change_detection::DetectChangesMut;
use bevy::ecs::query::QueryState;
use bevy::ecs::resource::Resource;
use bevy::ecs::schedule::IntoScheduleConfigs;
use bevy::ecs::system::{Local, Res, ResMut};
use bevy::log::error;
use bevy::mesh::{Mesh, MeshVertexAttributeId};
use bevy::render::mesh::RenderMesh;
use bevy::render::mesh::allocator::{MeshAllocator, MeshAllocatorSettings, MeshBufferSlice};
use bevy::render::render_asset::RenderAssets;
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::{ExtractSchedule, MainWorld, Render, RenderApp, RenderSystems};
use bevy::time::Time;
use sinew::gpu::{Attribute, Crowd, GpuError, InstanceId, NormalFormat, OutputTarget, Skinner};
use wgpu::BufferUsages;

use crate::character::{Held, Ready, Released, SinewCharacter, State};
use crate::load::Error;
use crate::motion::PREVIOUS_POSITION;

/// The skinner on Bevy's device.
#[derive(Resource)]
pub(crate) struct OnDevice(pub Skinner);

/// The crowd of all characters, in the render world.
#[derive(Resource)]
struct Skinning {
    crowd: Crowd,
    wanted: Vec<Wanted>,
    /// Where they go since a frame before.
    sent: HashMap<InstanceId, (wgpu::Buffer, u64)>,
    /// Whether the last frame failed: errors are logged once.
    has_failed: bool,
}

/// The mesh that the results of an instance go to.
struct Wanted {
    instance: InstanceId,
    mesh: AssetId<Mesh>,
    vertex_count: u32,
}

/// Adds the systems, and lets kernels write to the buffers of meshes.
pub(crate) fn build(app: &mut App) {
    let Some(render) = app.get_sub_app_mut(RenderApp) else {
        return;
    };
    render
        .world_mut()
        .get_resource_or_init::<MeshAllocatorSettings>()
        .extra_buffer_usages |= BufferUsages::STORAGE;
    render.add_systems(ExtractSchedule, advance).add_systems(
        Render,
        // Behind the allocation of meshes; Bevy's passes are submitted later.
        skin.in_set(RenderSystems::PrepareResources),
    );
}

/// Creates the crowd on Bevy's device, once there is one.
pub(crate) fn finish(app: &mut App) -> Result<(), GpuError> {
    let world = app.world();
    let (Some(device), Some(queue)) = (
        world.get_resource::<RenderDevice>(),
        world.get_resource::<RenderQueue>(),
    ) else {
        return Ok(());
    };
    let skinner = Skinner::new(device.wgpu_device(), queue, &Default::default())?;
    app.insert_resource(OnDevice(skinner.clone()));
    if let Some(render) = app.get_sub_app_mut(RenderApp) {
        render.insert_resource(Skinning {
            crowd: skinner.crowd(),
            wanted: Vec::new(),
            sent: HashMap::new(),
            has_failed: false,
        });
    }
    Ok(())
}

type Characters = QueryState<(&'static mut SinewCharacter, &'static InheritedVisibility)>;

/// Advances all characters by the time of Bevy's frame.
fn advance(
    mut main: ResMut<'_, MainWorld>,
    skinning: Option<ResMut<'_, Skinning>>,
    mut characters: Local<'_, Option<Characters>>,
) {
    let Some(mut skinning) = skinning else {
        return;
    };
    let skinning = &mut *skinning;
    let dt = main
        .get_resource::<Time>()
        .map_or(0.0, Time::delta_secs_f64);
    let characters = characters.get_or_insert_with(|| QueryState::new(&mut main));
    skinning.wanted.clear();
    if let Err(error) = skinning.crowd.advance(dt) {
        error!("{error}");
    }
    for (mut component, visibility) in characters.iter_mut(&mut main) {
        // Time that passes is no change.
        let component = component.bypass_change_detection();
        let State::Ready(ready) = &mut component.state else {
            continue;
        };
        if let Err(error) = skinning.advance(ready, !visibility.get()) {
            error!("{error}");
            component.fail(Arc::new(error));
        }
    }
    for held in main.resource::<Released>().take() {
        skinning.remove(held);
    }
}

/// Computes the frame into Bevy's vertex buffers.
fn skin(
    skinning: Option<ResMut<'_, Skinning>>,
    meshes: Res<'_, RenderAssets<RenderMesh>>,
    allocator: Res<'_, MeshAllocator>,
    device: Res<'_, RenderDevice>,
    queue: Res<'_, RenderQueue>,
) {
    let Some(mut skinning) = skinning else {
        return;
    };
    let result = skinning.encode(&meshes, &allocator, &device, &queue);
    if let Err(error) = &result
        && !skinning.has_failed
    {
        error!("sinew: {error}");
    }
    skinning.has_failed = result.is_err();
}

impl Skinning {
    fn advance(&mut self, ready: &mut Ready, is_hidden: bool) -> Result<(), Error> {
        let was_hidden = ready.is_hidden;
        let Some(held) = ready.held() else {
            return Ok(());
        };
        held.character.update(&mut self.crowd)?;
        let instances = held.character.instances()?;
        if was_hidden != is_hidden {
            for instance in instances {
                self.crowd.set_hidden(*instance, is_hidden)?;
            }
        }
        let wanted = instances.iter().zip(&held.meshes);
        self.wanted.extend(wanted.map(|(instance, drawn)| Wanted {
            instance: *instance,
            mesh: drawn.mesh.id(),
            vertex_count: drawn.vertex_count,
        }));
        ready.is_hidden = is_hidden;
        Ok(())
    }

    /// Takes a character out of the crowd, before Bevy gives the places of its meshes to others.
    fn remove(&mut self, mut held: Held) {
        for instance in held.character.instances().unwrap_or_default() {
            self.sent.remove(instance);
        }
        if let Err(error) = held.character.remove(&mut self.crowd) {
            error!("{error}");
        }
    }

    fn encode(
        &mut self,
        meshes: &RenderAssets<RenderMesh>,
        allocator: &MeshAllocator,
        device: &RenderDevice,
        queue: &RenderQueue,
    ) -> Result<(), GpuError> {
        if self.wanted.is_empty() {
            return Ok(());
        }
        for wanted in &self.wanted {
            let instance = &wanted.instance;
            let slice = allocator.mesh_vertex_slice(&wanted.mesh);
            let slice = slice.filter(|s| s.range.len() == wanted.vertex_count as usize);
            let (Some(slice), Some(mesh)) = (slice, meshes.get(wanted.mesh)) else {
                // Bevy has not uploaded it yet, or the app has removed or replaced the mesh, and its
                // place may belong to another one.
                if self.sent.remove(instance).is_some() {
                    self.crowd.set_target(*instance, OutputTarget::default())?;
                }
                continue;
            };
            let stride = mesh.layout.0.layout().array_stride;
            let offset = u64::from(slice.range.start) * stride;
            let sent = self.sent.get(instance);
            if sent.is_some_and(|(buffer, at)| *buffer == **slice.buffer && *at == offset) {
                continue;
            }
            let target = target(mesh, &slice, offset, stride);
            self.crowd.set_target(*instance, target)?;
            let sent = ((**slice.buffer).clone(), offset);
            self.sent.insert(*instance, sent);
        }
        let mut encoder = device
            .wgpu_device()
            .create_command_encoder(&Default::default());
        self.crowd.encode(&mut encoder)?;
        queue.submit([encoder.finish()]);
        Ok(())
    }
}

/// The part of a vertex slab that a mesh has.
fn target(
    mesh: &RenderMesh,
    slice: &MeshBufferSlice<'_>,
    offset: u64,
    stride: u64,
) -> OutputTarget {
    let layout = &mesh.layout.0;
    let attribute = |id: MeshVertexAttributeId| {
        let index = layout.attribute_ids().iter().position(|own| *own == id)?;
        Some(Attribute::In {
            buffer: (**slice.buffer).clone(),
            offset: offset + layout.layout().attributes[index].offset,
            stride,
        })
    };
    OutputTarget {
        positions: attribute(Mesh::ATTRIBUTE_POSITION.id).unwrap_or_default(),
        normals: attribute(Mesh::ATTRIBUTE_NORMAL.id),
        normal_format: NormalFormat::Floats,
        tangents: attribute(Mesh::ATTRIBUTE_TANGENT.id),
        previous: attribute(PREVIOUS_POSITION.id),
    }
}
