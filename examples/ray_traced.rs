//! A skinned character in a ray tracer: the engine skins into the host's vertices, an acceleration
//! structure is built from the same bytes, and a shader traces hard shadows, soft shadows and
//! reflections through ray queries. Nothing is copied or read back.
//!
//! ```text
//! cargo run --release -p sinew-examples --example ray_traced -- examples/assets/hatchling.usda
//! cargo run --release -p sinew-examples --example ray_traced -- hero.glb --out hero.png --seconds 1.5
//! ```
//!
//! It needs a device with ray queries. Textures are left out.

use std::path::PathBuf;
use std::process::ExitCode;

use glam::{Mat4, Vec3, Vec4};
use host::{Framing, Gpu, Result, Target};
use sinew::gpu::{Attribute, BlasTriangles, Crowd, OutputTarget, Skinner};
use sinew::wgpu;
use sinew_character::{Character, CharacterOptions};
use wgpu::BufferUsages as Usage;

#[derive(Clone, clap::Args)]
struct Options {
    /// What it draws
    #[arg(default_value = "examples/assets/hatchling.usda")]
    file: PathBuf,
    /// Leave out the rest
    #[arg(long)]
    only: Option<Part>,
    /// Skin positions into the crowd's own buffers, and trace the character's draws
    #[arg(long)]
    own: bool,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Part {
    Character,
    Ground,
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Frame {
    world_from_clip: Mat4,
    ground: Vec4,
    up: Vec4,
    size: [f32; 4],
}

/// A mesh as the shader finds its values.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Mesh {
    color: Vec4,
    first_vertex: u32,
    first_index: u32,
    index_count: u32,
    padding: u32,
}

/// Bytes of a vertex: its position, then its normal.
const VERTEX: u64 = 24;

struct RayTracer {
    hero: Character,
    crowd: Crowd,
    meshes: Vec<Mesh>,
    indices: wgpu::Buffer,
    blas: wgpu::Blas,
    tlas: wgpu::Tlas,
    frame: wgpu::Buffer,
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
    framing: Framing,
    options: Options,
    seconds: f64,
}

/// The triangles of each mesh, where the crowd writes their positions.
fn triangles<'a>(
    hero: &'a Character,
    crowd: &'a Crowd,
    indices: &'a wgpu::Buffer,
    meshes: &[Mesh],
    own: bool,
) -> Result<Vec<BlasTriangles<'a>>> {
    if own {
        let draws = hero.draws(crowd)?;
        return draws.iter().map(|draw| Ok(draw.triangles()?)).collect();
    }
    let meshes = hero.instances()?.iter().zip(meshes);
    let triangles = meshes.map(|(instance, mesh)| {
        let range = mesh.first_index..mesh.first_index + mesh.index_count;
        let points = crowd.points_on_gpu(*instance)?;
        Ok(BlasTriangles::new(&points, indices, range)?)
    });
    triangles.collect()
}

impl host::Program for RayTracer {
    const NAME: &'static str = "ray_traced";
    const ABOUT: &'static str = "Traces rays through a skinned character.";
    const EXAMPLE: &'static str = "ray_traced hero.glb --out hero.png --seconds 1.5";
    const TRACES_RAYS: bool = true;
    type Options = Options;

    fn new(gpu: &Gpu, options: Options) -> Result<Self> {
        let skinner = Skinner::new(&gpu.device, &gpu.queue, &Default::default())?;
        let wanted = CharacterOptions {
            arrays: true,
            ..CharacterOptions::default()
        };
        let mut hero = Character::load_with(&skinner, &options.file, &wanted)?;
        let clip = hero.clips().first().map(|clip| clip.name().to_owned());
        if let Some(clip) = &clip {
            hero.play(clip.as_str())?;
        }
        let mut points = Vec::new();
        for seconds in [0.0, 0.5, 1.0, 1.5] {
            points.extend(hero.positions(clip.as_deref(), seconds)?.concat());
        }
        let framing = Framing::of(points, hero.up_axis() == 'Z');

        // The host's own buffers, of all meshes one behind the other: vertices are skinned, the others do not change.
        let (mut meshes, mut indices, mut colors) =
            (Vec::new(), Vec::<u32>::new(), Vec::<Vec4>::new());
        for mesh in hero.arrays() {
            let material = mesh
                .material
                .map(|m| hero.materials()[m].diffuse_color.value);
            let (first_vertex, first_index) = (colors.len() as u32, indices.len() as u32);
            meshes.push(Mesh {
                color: material.unwrap_or(Vec3::ONE).extend(1.0),
                first_vertex,
                first_index,
                index_count: mesh.indices.len() as u32,
                padding: 0,
            });
            indices.extend(&mesh.indices);
            colors.extend(&mesh.colors);
        }
        let bytes = colors.len() as u64 * VERTEX;
        let vertices = host::buffer(gpu, bytes, Usage::STORAGE | Usage::BLAS_INPUT);
        let indices = host::upload(gpu, Usage::STORAGE | Usage::BLAS_INPUT, &indices);
        let mut crowd = skinner.crowd();
        hero.update(&mut crowd)?;
        for (instance, mesh) in hero.instances()?.iter().zip(&meshes) {
            let at = |byte| Attribute::In {
                buffer: vertices.clone(),
                offset: u64::from(mesh.first_vertex) * VERTEX + byte,
                stride: VERTEX,
            };
            let target = OutputTarget {
                positions: if options.own { Attribute::Own } else { at(0) },
                normals: Some(at(12)),
                ..OutputTarget::default()
            };
            crowd.set_target(*instance, target)?;
        }

        // One structure of all meshes.
        let triangles = triangles(&hero, &crowd, &indices, &meshes, options.own)?;
        let (blas, mut tlas) = host::traced(gpu, triangles.into_iter().map(|t| t.size).collect());

        if options.only == Some(Part::Ground) {
            tlas[0] = None;
        }
        let module = host::shader(gpu, include_str!("ray_traced.wgsl"));
        let pipeline = host::Look::new("ray_traced").pipeline(gpu, &module, None);
        let frame = host::buffer(
            gpu,
            size_of::<Frame>() as u64,
            Usage::UNIFORM | Usage::COPY_DST,
        );
        let mesh_buffer = host::upload(gpu, Usage::STORAGE, &meshes);
        let colors = host::upload(gpu, Usage::STORAGE, &colors);
        let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("scene"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[
                entry(0, frame.as_entire_binding()),
                entry(1, tlas.as_binding()),
                entry(2, mesh_buffer.as_entire_binding()),
                entry(3, indices.as_entire_binding()),
                entry(4, vertices.as_entire_binding()),
                entry(5, colors.as_entire_binding()),
            ],
        });
        Ok(Self {
            hero,
            crowd,
            indices,
            meshes,
            blas,
            tlas,
            frame,
            pipeline,
            group,
            framing,
            options,
            seconds: 0.0,
        })
    }

    fn framing(&self) -> Framing {
        self.framing
    }

    fn frame(
        &mut self,
        gpu: &Gpu,
        seconds: f64,
        clip_from_world: Mat4,
        encoder: &mut wgpu::CommandEncoder,
        target: &Target,
    ) -> Result<()> {
        self.crowd.advance(seconds - self.seconds)?;
        self.hero.update(&mut self.crowd)?;
        self.seconds = seconds;
        self.crowd.encode(encoder)?;
        // What was skinned is traced in the same frame.
        let (hero, crowd, own) = (&self.hero, &self.crowd, self.options.own);
        let triangles = triangles(hero, crowd, &self.indices, &self.meshes, own)?;
        let geometry = triangles.iter().map(BlasTriangles::geometry).collect();
        let entry = wgpu::BlasBuildEntry {
            blas: &self.blas,
            geometry: wgpu::BlasGeometries::TriangleGeometries(geometry),
        };
        encoder.build_acceleration_structures([&entry], [&self.tlas]);

        let Framing { low, high, .. } = self.framing;
        let up = if self.framing.z_up { Vec3::Z } else { Vec3::Y };
        let middle = (low + high) / 2.0;
        let ground = middle + up * (low - middle).dot(up);
        let frame = Frame {
            world_from_clip: clip_from_world.inverse(),
            ground: ground.extend((high - low).length()),
            up: up.extend(f32::from(self.options.only != Some(Part::Character))),
            size: [target.size[0] as f32, target.size[1] as f32, 0.0, 0.0],
        };
        gpu.queue
            .write_buffer(&self.frame, 0, bytemuck::bytes_of(&frame));
        let mut pass = target.begin(encoder, None);
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.draw(0..3, 0..1);
        Ok(())
    }
}

fn main() -> ExitCode {
    host::run::<RayTracer>()
}
