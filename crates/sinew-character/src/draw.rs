//! What a renderer draws of a character.

use std::ops::Range;

use sinew::gpu::{BlasTriangles, GpuError, OutputSlice};
use sinew::scene::{ColorSource, Material, Texture, TextureUse};

/// Triangles of a mesh that share a material, with everything that a renderer binds for them.
///
/// All vertex buffers have one element per vertex, without gaps, and the indices of all draws of a
/// mesh refer to the same vertices. Positions and normals are in world space: that of the file,
/// moved by [`Character::set_place`](crate::Character::set_place). They are what the last encoded
/// frame of the crowd writes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Draw<'a> {
    /// Prim path of the mesh.
    pub mesh: &'a str,
    /// Indices of 32 bits. Triangles are counter-clockwise as seen from outside.
    pub indices: &'a wgpu::Buffer,
    /// The indices to draw.
    pub range: Range<u32>,
    /// Number of vertices.
    pub vertex_count: u32,
    /// Positions: three floats.
    pub points: OutputSlice<'a>,
    /// Normals: three floats. Those of the file, or smooth ones if it has none that skinning can
    /// move.
    pub normals: OutputSlice<'a>,
    /// Positions of the frame before, three floats, for motion vectors; if
    /// [`CharacterOptions::previous`](crate::CharacterOptions::previous) asked for them.
    pub previous: Option<OutputSlice<'a>>,
    /// Texture coordinates: two floats, as in USD. v = 0 is the lower edge of an image, so a shader
    /// samples at `1 - v`. Zeros if the mesh has none.
    pub uvs: &'a wgpu::Buffer,
    /// Linear colour and opacity of the mesh itself (displayColor, displayOpacity): four floats.
    /// White if the mesh has none. See [`Draw::is_colored`].
    pub colors: &'a wgpu::Buffer,
    /// The material; `None` if the mesh has none.
    pub material: Option<&'a Material>,
    /// Whether back faces are visible.
    pub double_sided: bool,
    /// All images of the character: [`TextureUse::texture`] is an index into them.
    pub textures: &'a [Texture],
}

impl<'a> Draw<'a> {
    /// The vertex buffers that [`Draw::record`] sets, for the pipeline that it draws with: positions,
    /// normals, texture coordinates and colours, as shader locations 0 to 3.
    pub const VERTEX_BUFFERS: [Option<wgpu::VertexBufferLayout<'static>>; 4] = [
        buffer(12, &POSITION),
        buffer(12, &NORMAL),
        buffer(8, &UV),
        buffer(16, &COLOR),
    ];

    /// The image that an input of the material reads, encoded as in the file. `None` if it could
    /// not be read, which is among the character's warnings.
    #[must_use]
    pub fn image(&self, used: &TextureUse) -> Option<&'a Texture> {
        let texture = self.textures.get(used.texture)?;
        (!texture.bytes.is_empty()).then_some(texture)
    }

    /// The texture of the base colour, and its image.
    #[must_use]
    pub fn base_color(&self) -> Option<(&'a TextureUse, &'a Texture)> {
        let used = self.material?.diffuse_color.texture.as_ref()?;
        Some((used, self.image(used)?))
    }

    /// Whether the base colour is that of the vertices ([`Draw::colors`]): the mesh has no
    /// material, or one that reads displayColor.
    #[must_use]
    pub fn is_colored(&self) -> bool {
        let displayed = |m: &Material| m.color_source == ColorSource::DisplayColor;
        self.material.is_none_or(displayed)
    }

    /// The triangles as a geometry of an acceleration structure, for ray tracing. The draws of a
    /// character can be the geometries of one structure, in the same order: then the geometry index
    /// of a hit is the index of the draw.
    ///
    /// # Errors
    /// As [`BlasTriangles::new`].
    pub fn triangles(&self) -> Result<BlasTriangles<'a>, GpuError> {
        BlasTriangles::new(&[self.points], self.indices, self.range.clone())
    }

    /// Records the draw with the pipeline and bind groups that are set. The pipeline has the vertex
    /// buffers [`Draw::VERTEX_BUFFERS`].
    pub fn record(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_vertex_buffer(0, self.points.buffer.slice(self.points.offset..));
        pass.set_vertex_buffer(1, self.normals.buffer.slice(self.normals.offset..));
        pass.set_vertex_buffer(2, self.uvs.slice(..));
        pass.set_vertex_buffer(3, self.colors.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(self.range.clone(), 0, 0..1);
    }
}

const POSITION: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![0 => Float32x3];
const NORMAL: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![1 => Float32x3];
const UV: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![2 => Float32x2];
const COLOR: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![3 => Float32x4];

/// A buffer of one attribute, without gaps.
const fn buffer(
    array_stride: u64,
    attributes: &'static [wgpu::VertexAttribute],
) -> Option<wgpu::VertexBufferLayout<'static>> {
    Some(wgpu::VertexBufferLayout {
        array_stride,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes,
    })
}
