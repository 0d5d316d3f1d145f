//! Motion vectors of deformed vertices: a vertex holds its position of the frame before, and the
//! prepass reads it.

use bevy::app::App;
use bevy::asset::{Asset, embedded_asset};
use bevy::mesh::{MeshVertexAttribute, MeshVertexBufferLayoutRef, VertexFormat};
use bevy::pbr::{
    ExtendedMaterial, MaterialExtension, MaterialExtensionKey, MaterialExtensionPipeline,
    MaterialPlugin, StandardMaterial,
};
use bevy::reflect::TypePath;
use bevy::render::render_resource::{
    AsBindGroup, RenderPipelineDescriptor, SpecializedMeshPipelineError,
};
use bevy::shader::ShaderRef;
use wgpu::VertexAttribute;

/// Position of a vertex in the frame before, in the space of the mesh: three floats.
pub const PREVIOUS_POSITION: MeshVertexAttribute = MeshVertexAttribute::new(
    "SinewPreviousPosition",
    0x5157_e801_9f4b_1c57,
    VertexFormat::Float32x3,
);

/// The location of that attribute in `previous.wesl`. Bevy's own prepass uses 0 to 7.
const LOCATION: u32 = 8;

/// The shader definition under which the shader reads that attribute.
const HAS_PREVIOUS: &str = "SINEW_PREVIOUS_POSITION";

const SHADER: &str = "embedded://bevy_sinew/previous.wesl";

/// Bevy's standard material with motion vectors of deformed vertices.
pub type MotionMaterial = ExtendedMaterial<StandardMaterial, PreviousPositions>;

/// Lets the prepass of a material read [`PREVIOUS_POSITION`] for motion vectors. Meshes without that
/// attribute are drawn as by the base material.
#[derive(Asset, AsBindGroup, TypePath, Clone, Copy, Debug, Default)]
pub struct PreviousPositions {}

impl MaterialExtension for PreviousPositions {
    fn prepass_vertex_shader() -> ShaderRef {
        SHADER.into()
    }

    fn deferred_vertex_shader() -> ShaderRef {
        SHADER.into()
    }

    fn specialize(
        _pipeline: &MaterialExtensionPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        layout: &MeshVertexBufferLayoutRef,
        _key: MaterialExtensionKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        let is_defined = |name: &'static str| {
            let defined = &descriptor.vertex.shader_defs;
            defined.iter().any(|def| *def == name.into())
        };
        if !(is_defined("PREPASS_PIPELINE") && is_defined("MOTION_VECTOR_PREPASS")) {
            return Ok(());
        }
        let ids = layout.0.attribute_ids();
        let index = ids.iter().position(|id| *id == PREVIOUS_POSITION.id);
        if let (Some(index), Some(buffer)) = (index, descriptor.vertex.buffers.first_mut()) {
            buffer.attributes.push(VertexAttribute {
                shader_location: LOCATION,
                ..layout.0.layout().attributes[index]
            });
            descriptor.vertex.shader_defs.push(HAS_PREVIOUS.into());
        }
        Ok(())
    }
}

pub(crate) fn build(app: &mut App) {
    embedded_asset!(app, "previous.wesl");
    app.add_plugins(MaterialPlugin::<MotionMaterial>::default());
}
