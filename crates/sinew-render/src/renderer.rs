//! Draws a stage into a texture.

use bytemuck::bytes_of;

use super::blended::Sorted;
use super::buffers::{entry, filled};
use super::frame::{Frame, MeshUniform};
use super::material::{Alpha, GpuMaterial};
use super::occlusion::{Lights, OcclusionMaps};
use super::overlay::{self, BoneVertex, Line};
use super::pipelines::{Kind, Pipelines, VERTEX_BYTES};
use super::stage_mesh::StageMesh;
use super::targets::{Shadow, Targets};
use super::{Background, Camera, Look, Result, Stage};
use sinew::gpu::{GpuError, guarded};

/// Draws stages into textures of one format. It keeps textures of the last picture's size, and
/// nothing of a stage.
///
/// Three lights turn with the camera: a warm key light from the upper left, a cool fill light from
/// the right, and a rim light from behind. A hemisphere light comes from above. Surfaces reflect by
/// GGX with the material's roughness and metalness.
#[derive(Debug)]
pub struct Renderer {
    device: wgpu::Device,
    format: wgpu::TextureFormat,
    samples: u32,
    pipelines: Pipelines,
    shadow: Shadow,
    maps: OcclusionMaps,
    targets: Option<Targets>,
}

/// A visible mesh of a picture.
struct Draw<'a> {
    /// Its index in the stage.
    index: usize,
    mesh: &'a StageMesh,
    geometry: &'a wgpu::BindGroup,
    /// Offset of its [`MeshUniform`] in the picture's uniforms, in bytes.
    offset: u32,
}

/// The data that one picture is drawn from.
struct Picture<'a> {
    frame: wgpu::BindGroup,
    /// The same uniforms as a light sees them, for each map of [`OcclusionMaps`].
    seen: Vec<wgpu::BindGroup>,
    occlusion: wgpu::BindGroup,
    draws: Vec<Draw<'a>>,
    blended: Sorted<'a>,
    stage: &'a Stage,
    /// Vertices, and their number.
    lines: (wgpu::Buffer, u32),
    bones: (wgpu::Buffer, u32),
}

impl Renderer {
    /// Creates a renderer for targets of a format, with 1 or 4 samples for each pixel. The target's
    /// texels are always sRGB values: if the format does not encode them, the shaders do.
    ///
    /// Each pipeline is compiled when a picture first needs it, or before that by
    /// [`Renderer::prewarm`].
    ///
    /// # Errors
    /// [`GpuError::Limit`] if the device has fewer than three storage buffers per shader stage; the
    /// errors of wgpu if the device refuses the layouts.
    pub fn new(
        device: &wgpu::Device,
        format: wgpu::TextureFormat,
        samples: u32,
    ) -> Result<Self, GpuError> {
        let allowed = device.limits().max_storage_buffers_per_shader_stage;
        if allowed < 3 {
            return Err(GpuError::Limit {
                what: "storage buffers per stage, for drawing".into(),
                asked: 3,
                limit: u64::from(allowed),
            });
        }
        guarded(device, || {
            let pipelines = Pipelines::new(device, format, samples);
            Self {
                device: device.clone(),
                format,
                samples,
                shadow: Shadow::new(device, &pipelines),
                maps: OcclusionMaps::new(device),
                pipelines,
                targets: None,
            }
        })
    }

    /// Compiles now, in several threads, the pipelines that every picture of this look needs. What
    /// a stage needs besides, such as a blended material, is compiled by its first picture.
    ///
    /// # Errors
    /// The errors of wgpu if the device refuses the shaders.
    pub fn prewarm(&self, look: &Look) -> Result<(), GpuError> {
        self.pipelines.compile(&kinds(look))
    }

    /// Records a picture of a stage. Call [`Stage::encode`] before, with the same encoder or with
    /// one that is submitted earlier. `target` is a view of this renderer's format and of `size`
    /// pixels (width and height); all of it is written.
    ///
    /// # Errors
    /// Those of [`super::check_size`] and [`Renderer::prewarm`]; the device has no memory.
    pub fn draw(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        size: [u32; 2],
        stage: &Stage,
        camera: &Camera,
        look: &Look,
    ) -> Result<(), GpuError> {
        super::offscreen::check_size(&self.device, size)?;
        self.prewarm(look)?;
        let device = self.device.clone();
        guarded(&device, || {
            if self.targets.as_ref().is_none_or(|t| t.size != size) {
                self.targets = Some(Targets::new(&device, self.format, self.samples, size));
            }
            let picture = self.picture(stage, camera, look, size);
            self.draw_maps(encoder, &picture, look);
            if look.grid {
                self.draw_shadow(encoder, &picture, look);
            }
            self.draw_all(encoder, target, &picture, look);
        })
    }

    fn picture<'a>(
        &self,
        stage: &'a Stage,
        camera: &Camera,
        look: &Look,
        size: [u32; 2],
    ) -> Picture<'a> {
        let (ground, lit) = (stage.ground_bounds(), stage.lit_bounds());
        let alignment = self.device.limits().min_uniform_buffer_offset_alignment as usize;
        let uniforms = Frame::new(stage, camera, look, (&ground, &lit), size);
        let lights = Lights::new(stage, camera, look.light, &lit);
        let mut bytes = bytes_of(&uniforms).to_vec();
        let mut seen = Vec::new();
        for projection in lights.projections() {
            bytes.resize(bytes.len().next_multiple_of(alignment), 0);
            seen.push(bytes.len() as u64);
            bytes.extend_from_slice(bytes_of(&uniforms.seen_from(projection)));
        }
        let mut draws = Vec::new();
        let visible = stage
            .meshes
            .iter()
            .enumerate()
            .filter(|(_, m)| m.visible && m.buffers.draws());
        for (index, mesh) in visible {
            let Some(geometry) = mesh.group() else {
                continue;
            };
            bytes.resize(bytes.len().next_multiple_of(alignment), 0);
            draws.push(Draw {
                index,
                mesh,
                geometry,
                offset: bytes.len() as u32,
            });
            bytes.extend_from_slice(bytes_of(&MeshUniform::new(
                mesh.local_from_mesh,
                mesh.shader_inputs(),
            )));
        }
        // Space for at least one mesh, because the layout needs one bound.
        bytes.resize(bytes.len() + size_of::<MeshUniform>() + alignment, 0);
        let uniforms = filled(
            &self.device,
            "render.frame",
            &bytes,
            wgpu::BufferUsages::UNIFORM,
        );
        let part = |offset: u64, size: usize| {
            wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &uniforms,
                offset,
                size: wgpu::BufferSize::new(size as u64),
            })
        };
        let frame_at = |offset: u64| {
            self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("render.frame"),
                layout: &self.pipelines.frame,
                entries: &[
                    entry(0, part(offset, size_of::<Frame>())),
                    entry(1, part(0, size_of::<MeshUniform>())),
                ],
            })
        };
        let lines: Vec<Line> = if look.bounds {
            overlay::boxes(stage)
        } else {
            Vec::new()
        };
        let bones: Vec<BoneVertex> = match look.joints {
            true => overlay::bones(stage, look.chosen, ground.diagonal()),
            false => Vec::new(),
        };
        let vertices = |bytes: &[u8]| {
            filled(
                &self.device,
                "render.overlay",
                bytes,
                wgpu::BufferUsages::VERTEX,
            )
        };
        Picture {
            frame: frame_at(0),
            seen: seen.into_iter().map(frame_at).collect(),
            occlusion: self.maps.group(&self.device, &self.pipelines, &lights),
            draws,
            blended: Sorted::new(&self.device, stage, camera),
            stage,
            lines: (vertices(bytemuck::cast_slice(&lines)), lines.len() as u32),
            bones: (vertices(bytemuck::cast_slice(&bones)), bones.len() as u32),
        }
    }

    /// Draws the meshes as the lights see them. Blended ones are in nothing's way.
    fn draw_maps(&self, encoder: &mut wgpu::CommandEncoder, picture: &Picture<'_>, look: &Look) {
        for (map, frame) in self.maps.targets().zip(&picture.seen) {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("render.map"),
                depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                    view: map,
                    depth_ops: Some(wgpu::Operations {
                        load: wgpu::LoadOp::Clear(0.0),
                        store: wgpu::StoreOp::Store,
                    }),
                    stencil_ops: None,
                }),
                ..Default::default()
            });
            if look.surface {
                let pipelines = &self.pipelines;
                picture.surfaces(&mut pass, frame, pipelines, Kind::Caster, Alpha::Ignored);
                picture.surfaces(
                    &mut pass,
                    frame,
                    pipelines,
                    Kind::MaskedCaster,
                    Alpha::Masked,
                );
                picture.curves(&mut pass, frame, pipelines, Kind::CurveCaster);
            }
        }
    }

    /// Draws the shadow: all meshes seen from below, blurred in both directions.
    fn draw_shadow(&self, encoder: &mut wgpu::CommandEncoder, picture: &Picture<'_>, look: &Look) {
        {
            let mut pass = begin(
                encoder,
                &self.shadow.seen,
                None,
                Some(&self.shadow.depth),
                CLEAR,
            );
            pass.set_pipeline(self.pipelines.get(Kind::ShadowMesh));
            let draws = picture.draws.iter().filter(|_| look.surface);
            for draw in draws {
                draw.bind(&mut pass, &picture.frame);
                pass.draw_indexed(0..draw.mesh.buffers.triangles * 3, 0, 0..1);
            }
        }
        let blurs = [
            (
                &self.shadow.across,
                Kind::ShadowAcross,
                &self.shadow.seen_group,
            ),
            (
                &self.shadow.seen,
                Kind::ShadowAlong,
                &self.shadow.across_group,
            ),
        ];
        for (to, kind, group) in blurs {
            let mut pass = begin(encoder, to, None, None, CLEAR);
            pass.set_pipeline(self.pipelines.get(kind));
            pass.set_bind_group(0, &picture.frame, &[0]);
            pass.set_bind_group(1, group, &[]);
            pass.draw(0..3, 0..1);
        }
    }

    /// Draws background, surfaces, lines, ground and bones.
    fn draw_all(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        picture: &Picture<'_>,
        look: &Look,
    ) {
        let Some(targets) = &self.targets else {
            return;
        };
        let (color, resolved) = match &targets.color {
            Some(color) => (color, Some(target)),
            None => (target, None),
        };
        let with_bones = picture.bones.1 > 0;
        let pipelines = &self.pipelines;
        {
            let resolved = resolved.filter(|_| !with_bones);
            let mut pass = begin(encoder, color, resolved, Some(&targets.depth), CLEAR);
            pass.set_bind_group(0, &picture.frame, &[0]);
            if look.background != Background::Transparent {
                pass.set_pipeline(pipelines.get(Kind::Background));
                pass.draw(0..3, 0..1);
            }
            pass.set_bind_group(3, &picture.occlusion, &[]);
            if look.surface {
                picture.surfaces(
                    &mut pass,
                    &picture.frame,
                    pipelines,
                    Kind::Opaque,
                    Alpha::Ignored,
                );
                picture.surfaces(
                    &mut pass,
                    &picture.frame,
                    pipelines,
                    Kind::Masked,
                    Alpha::Masked,
                );
                picture.curves(&mut pass, &picture.frame, pipelines, Kind::Curves);
            }
            picture.overlays(&mut pass, pipelines, look);
            if look.grid {
                pass.set_pipeline(pipelines.get(Kind::Ground));
                pass.set_bind_group(0, &picture.frame, &[0]);
                pass.set_bind_group(1, &self.shadow.ground_group, &[]);
                pass.draw(0..4, 0..1);
            }
            if look.surface {
                picture.blended(&mut pass, pipelines);
            }
        }
        if with_bones {
            let over = wgpu::Operations {
                load: wgpu::LoadOp::Load,
                store: wgpu::StoreOp::Store,
            };
            let mut pass = begin(encoder, color, resolved, Some(&targets.depth), over);
            pass.set_pipeline(pipelines.get(Kind::Bones));
            pass.set_bind_group(0, &picture.frame, &[0]);
            pass.set_vertex_buffer(0, picture.bones.0.slice(..));
            pass.draw(0..picture.bones.1, 0..1);
        }
    }
}

/// The pipelines that every picture of a look needs.
fn kinds(look: &Look) -> Vec<Kind> {
    let wanted = [
        (Kind::Opaque, look.surface),
        (Kind::Caster, look.surface),
        (Kind::Background, look.background != Background::Transparent),
        (Kind::Ground, look.grid),
        (Kind::ShadowMesh, look.grid),
        (Kind::ShadowAcross, look.grid),
        (Kind::ShadowAlong, look.grid),
        (Kind::Edges, look.wireframe),
        (Kind::Normals, look.normals),
        (Kind::Lines, look.bounds),
        (Kind::Bones, look.joints),
    ];
    let wanted = wanted.into_iter().filter(|(_, is_wanted)| *is_wanted);
    wanted.map(|(kind, _)| kind).collect()
}

const CLEAR: wgpu::Operations<wgpu::Color> = wgpu::Operations {
    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
    store: wgpu::StoreOp::Store,
};

/// Begins a pass. If there is a depth texture, it is cleared to infinity.
fn begin<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    color: &wgpu::TextureView,
    resolved: Option<&wgpu::TextureView>,
    depth: Option<&wgpu::TextureView>,
    ops: wgpu::Operations<wgpu::Color>,
) -> wgpu::RenderPass<'e> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("render"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: color,
            depth_slice: None,
            resolve_target: resolved,
            ops,
        })],
        depth_stencil_attachment: depth.map(|view| wgpu::RenderPassDepthStencilAttachment {
            view,
            depth_ops: Some(wgpu::Operations {
                load: wgpu::LoadOp::Clear(0.0),
                store: wgpu::StoreOp::Discard,
            }),
            stencil_ops: None,
        }),
        timestamp_writes: None,
        occlusion_query_set: None,
        multiview_mask: None,
    })
}

impl Draw<'_> {
    /// Sets the bind groups and the buffers of the mesh.
    fn bind(&self, pass: &mut wgpu::RenderPass<'_>, frame: &wgpu::BindGroup) {
        let buffers = &self.mesh.buffers;
        pass.set_bind_group(0, frame, &[self.offset]);
        pass.set_bind_group(1, self.geometry, &[]);
        pass.set_vertex_buffer(0, buffers.vertices.slice(..));
        pass.set_index_buffer(buffers.indices.slice(..), wgpu::IndexFormat::Uint32);
    }
}

impl Picture<'_> {
    /// Draws the triangles of the materials with such an alpha, if there are some.
    fn surfaces(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        frame: &wgpu::BindGroup,
        pipelines: &Pipelines,
        kind: Kind,
        alpha: Alpha,
    ) {
        let materials = &self.stage.materials;
        if !materials.any(alpha) {
            return;
        }
        pass.set_pipeline(pipelines.get(kind));
        let selected = |m: &&GpuMaterial| m.alpha == alpha;
        for draw in &self.draws {
            let mut bound = false;
            for section in &draw.mesh.buffers.sections {
                let Some(material) = materials.get(section.material).filter(selected) else {
                    continue;
                };
                if !std::mem::replace(&mut bound, true) {
                    draw.bind(pass, frame);
                }
                pass.set_bind_group(2, &material.group, &[]);
                pass.draw_indexed(section.indices.clone(), 0, 0..1);
            }
        }
    }

    /// Draws the blended triangles, the farthest first.
    fn blended(&self, pass: &mut wgpu::RenderPass<'_>, pipelines: &Pipelines) {
        if self.blended.runs.is_empty() {
            return;
        }
        pass.set_pipeline(pipelines.get(Kind::Blended));
        for run in &self.blended.runs {
            let (mesh, part) = self.blended.parts[run.part];
            let found = self.draws.binary_search_by_key(&mesh, |d| d.index);
            let draw = found.ok().map(|i| &self.draws[i]);
            let material = self.stage.materials.get(part.material);
            let (Some(draw), Some(material)) = (draw, material) else {
                continue;
            };
            draw.bind(pass, &self.frame);
            pass.set_index_buffer(self.blended.indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.set_bind_group(2, &material.group, &[]);
            pass.draw_indexed(run.indices.clone(), 0, 0..1);
        }
    }

    /// Draws curves, as opaque as they come.
    fn curves(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        frame: &wgpu::BindGroup,
        pipelines: &Pipelines,
        kind: Kind,
    ) {
        let curves = self.draws.iter().filter(|d| d.mesh.buffers.piece_count > 0);
        for (i, draw) in curves.enumerate() {
            let buffers = &draw.mesh.buffers;
            let Some(material) = self.stage.materials.get(buffers.curve_material) else {
                continue;
            };
            if i == 0 {
                pass.set_pipeline(pipelines.get(kind));
            }
            draw.bind(pass, frame);
            pass.set_bind_group(2, &material.group, &[]);
            pass.set_vertex_buffer(0, buffers.pieces.slice(..));
            pass.draw(0..4, 0..buffers.piece_count);
        }
    }

    /// Draws the lines on and around the meshes.
    fn overlays(&self, pass: &mut wgpu::RenderPass<'_>, pipelines: &Pipelines, look: &Look) {
        let lines = [(look.wireframe, Kind::Edges), (look.normals, Kind::Normals)];
        for (i, (_, kind)) in lines.iter().enumerate().filter(|(_, (on, _))| *on) {
            pass.set_pipeline(pipelines.get(*kind));
            for draw in &self.draws {
                let buffers = &draw.mesh.buffers;
                draw.bind(pass, &self.frame);
                if i == 0 {
                    pass.set_vertex_buffer(0, buffers.edges.slice(..));
                    pass.draw(0..6, 0..buffers.edge_count);
                } else if draw.mesh.has_normals() {
                    let bytes = u64::from(buffers.vertex_count) * VERTEX_BYTES;
                    pass.set_vertex_buffer(0, buffers.vertices.slice(..bytes));
                    pass.draw(0..6, 0..buffers.vertex_count);
                }
            }
        }
        if self.lines.1 > 0 {
            pass.set_pipeline(pipelines.get(Kind::Lines));
            pass.set_bind_group(0, &self.frame, &[0]);
            pass.set_vertex_buffer(0, self.lines.0.slice(..));
            pass.draw(0..6, 0..self.lines.1);
        }
    }
}
