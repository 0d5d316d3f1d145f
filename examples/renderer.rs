//! A renderer of its own that takes skinning from Sinew: it owns the device, the window and the shaders, and draws from
//! the buffers that the engine skins into. Nothing is read back, and nothing is uploaded per frame but poses.
//!
//! ```text
//! cargo run --release --example renderer -- examples/assets/hatchling.usda
//! cargo run --release --example renderer -- hero.glb --out hero.png --seconds 1.5
//! ```
//!
//! `Character` is all that has to do with skinning: `load` and `skin`, about twenty lines each. The rest is what any
//! wgpu renderer has. examples/host has that: the device (opened with
//! `sinew::gpu::needed_limits()`), the window, the camera and a pipeline.

use std::process::ExitCode;
use std::sync::Arc;

use glam::{Mat4, Vec3};
use host::{Drawing, Framing, Gpu, Result, Target, upload};
use sinew::gpu::{Crowd, InstanceId, Skinner, SkinnerOptions};
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::mesh::{RenderInputs, RenderMesh, RenderVertices};
use sinew::sampled::Time;
use sinew::scene::{DrawnMesh, Geometry, OutSpace, Scene};
use sinew::wgpu;

/// The skinned meshes of a file, on our device.
struct Character {
    scene: Scene,
    /// Skins, instances and their results; one crowd serves any number of characters.
    crowd: Crowd,
    parts: Vec<Part>,
}

/// One skinned mesh.
struct Part {
    /// Index into the scene's bindings.
    binding: usize,
    /// What of it does not change.
    skin: Arc<PackedSkin>,
    /// Its results in the crowd.
    instance: InstanceId,
    indices: wgpu::Buffer,
    index_count: u32,
    colors: wgpu::Buffer,
}

impl Character {
    /// Once per file.
    fn load(gpu: &Gpu, file: &str) -> Result<Self> {
        let opened = sinew_io::open(file)?;
        let scene = opened.scene(Default::default())?;
        let geometry = opened.geometry(&scene)?;
        // Pipelines are made once per device, from our device and queue; a clone of a handle is all that it keeps.
        let skinner = Skinner::new(&gpu.device, &gpu.queue, &SkinnerOptions::default())?;
        let mut crowd = skinner.crowd();
        let mut parts = Vec::new();
        for mesh in &geometry.meshes {
            // Other meshes stand still, and are drawn as ever.
            let Some(binding) = mesh.binding else {
                continue;
            };
            // Triangles, and vertices that are split at seams. The engine writes its results in their order, so that
            // our index buffer fits.
            let drawn = triangles(mesh)?;
            let mut vertices = RenderVertices::new(drawn.points.clone());
            if let Some(normals) = &drawn.skin_normals {
                vertices = vertices.with_normals(normals.clone());
            }
            let bound = scene.bound(binding);
            let mut skin = PackedSkin::pack(&mesh.path, &*bound.skin(start(&scene))?)?;
            if skin.normals().is_none() {
                // Most subdivision meshes have none: the GPU makes them of the deformed points.
                skin = skin.with_smooth_normals(&mesh.topology)?;
            }
            let skin = Arc::new(skin.with_vertices(vertices)?);
            let id = crowd.add_skin(Arc::clone(&skin))?;
            parts.push(Part {
                binding,
                instance: crowd.add_instance(id)?,
                skin,
                index_count: drawn.triangles.len() as u32 * 3,
                indices: upload(gpu, wgpu::BufferUsages::INDEX, &drawn.triangles),
                colors: upload(
                    gpu,
                    wgpu::BufferUsages::VERTEX,
                    &colors(mesh, &drawn, &geometry),
                ),
            });
        }
        Ok(Self {
            scene,
            crowd,
            parts,
        })
    }

    /// Once per frame: poses on the CPU, and skinning recorded into our own encoder, before the pass that draws. It
    /// neither submits nor waits.
    fn skin(&mut self, time: Time, encoder: &mut wgpu::CommandEncoder) -> Result<()> {
        // Joints and transforms are computed once for all meshes of a skeleton, and results come out in world space.
        let mut poses = self.scene.at(time, OutSpace::World);
        for part in &self.parts {
            let pose = poses.pose(self.scene.bound(part.binding))?;
            let pose = PackedPose::try_pack(&part.skin, &pose)?;
            self.crowd.set_pose(part.instance, &pose)?;
        }
        self.crowd.encode(encoder)?;
        Ok(())
    }

    /// Where the points are, for the camera: the same kernels on the CPU, in the same order and numbers.
    fn points(&self, time: Time) -> Result<Vec<Vec3>> {
        let mut all = Vec::new();
        let mut poses = self.scene.at(time, OutSpace::World);
        for part in &self.parts {
            let pose = poses.pose(self.scene.bound(part.binding))?;
            let pose = PackedPose::try_pack(&part.skin, &pose)?;
            let mut points = vec![Vec3::ZERO; part.skin.output_count()];
            skin_on_cpu(&part.skin, &pose, &mut points, None);
            all.append(&mut points);
        }
        Ok(all)
    }

    /// Draws every part from where its points and normals lie.
    fn draw(&self, pass: &mut wgpu::RenderPass<'_>) -> Result<()> {
        for part in &self.parts {
            let points = self.crowd.points_on_gpu(part.instance)?;
            let normals = self.crowd.normals_on_gpu(part.instance)?;
            // A mesh of more than 10 million vertices is in several runs, and wants an index buffer for each; or a vertex
            // buffer of ours, which `Crowd::add_instance_to` writes to.
            let ([points], [normals]) = (&points[..], &normals[..]) else {
                return Err("a mesh is larger than a binding of this device".into());
            };
            pass.set_vertex_buffer(0, points.buffer.slice(points.offset..));
            pass.set_vertex_buffer(1, normals.buffer.slice(normals.offset..));
            pass.set_vertex_buffer(2, part.colors.slice(..));
            pass.set_index_buffer(part.indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..part.index_count, 0, 0..1);
        }
        Ok(())
    }
}

/// The first frame of the file.
fn start(scene: &Scene) -> Time {
    let range = scene.time_line.range;
    range.map_or(Time::Default, |(first, _)| Time::At(first))
}

/// The frame to show after so many seconds, around and around.
fn looped(scene: &Scene, seconds: f64) -> Time {
    match scene.time_line.range {
        Some((first, last)) if last > first => {
            let codes = seconds * scene.time_line.time_codes_per_second;
            Time::At(first + codes.rem_euclid(last - first))
        }
        _ => start(scene),
    }
}

fn triangles(mesh: &DrawnMesh) -> Result<RenderMesh> {
    let points = mesh.points.first().ok_or("a mesh without points")?;
    let inputs = RenderInputs {
        points,
        normals: mesh.normals.as_ref().and_then(|n| n.first()),
        colors: mesh.display_color.as_ref().and_then(|c| c.first()),
        ..Default::default()
    };
    Ok(RenderMesh::new(&mesh.path, &mesh.topology, &inputs)?)
}

/// A colour per vertex: the mesh's own, else its material's. Textures are another example's matter.
fn colors(mesh: &DrawnMesh, drawn: &RenderMesh, geometry: &Geometry) -> Vec<Vec3> {
    let of = |material: Option<usize>| {
        let material = material.or(mesh.material).map(|m| &geometry.materials[m]);
        material.map_or(Vec3::splat(0.5), |m| m.diffuse_color.value)
    };
    let mut colors = match &drawn.colors {
        Some(colors) => colors.clone(),
        None => vec![of(None); drawn.points.len()],
    };
    for subset in &mesh.subsets {
        for (triangle, face) in drawn.triangles.iter().zip(&drawn.face_of_triangle) {
            if subset.faces.binary_search(face).is_ok() {
                triangle
                    .iter()
                    .for_each(|v| colors[*v as usize] = of(subset.material));
            }
        }
    }
    colors
}

/// The renderer: a pipeline, and what it draws.
struct Renderer {
    character: Character,
    drawing: Drawing,
    tint: wgpu::Buffer,
    framing: Framing,
}

impl host::Program for Renderer {
    const USAGE: &'static str = "renderer [FILE]";
    const HELP: &'static str = "\
Draws a skinned character of a USD, glTF, VRM or FBX file.

example: renderer hero.glb --out hero.png --seconds 1.5
";
    type Options = String;

    fn options(words: Vec<String>) -> std::result::Result<String, String> {
        match &words[..] {
            [] => Ok("examples/assets/hatchling.usda".into()),
            [option, ..] if option.starts_with('-') => Err(format!("no option {option}")),
            [file] => Ok(file.clone()),
            _ => Err("more than one file".into()),
        }
    }

    fn new(gpu: &Gpu, file: String) -> Result<Self> {
        let character = Character::load(gpu, &file)?;
        if character.parts.is_empty() {
            return Err("no mesh in this file is skinned".into());
        }
        let mut points = Vec::new();
        for seconds in [0.0, 0.5, 1.0, 1.5] {
            points.extend(character.points(looped(&character.scene, seconds))?);
        }
        let framing = Framing::of(points, character.scene.up_axis == 'Z');
        Ok(Self {
            character,
            drawing: Drawing::new(gpu),
            tint: upload(gpu, wgpu::BufferUsages::VERTEX, &[Vec3::ONE]),
            framing,
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
        let time = looped(&self.character.scene, seconds);
        self.character.skin(time, encoder)?;
        let mut pass = target.begin(encoder, None);
        self.drawing.begin(gpu, clip_from_world, &mut pass);
        pass.set_vertex_buffer(3, self.tint.slice(..));
        self.character.draw(&mut pass)
    }
}

fn main() -> ExitCode {
    host::run::<Renderer>()
}
