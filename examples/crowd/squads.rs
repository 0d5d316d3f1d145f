//! The crowd on the device. A squad is all characters of one model whose results fit a binding: each of its meshes is
//! drawn by one indirect draw, however many are seen.

use std::sync::Arc;

use glam::Vec4;
use host::{Gpu, Result, buffer, upload};
use sinew::gpu::{Attribute, Crowd, InstancePose, OutputTarget, RigId};
use sinew::wgpu;

use crate::cast::Model;
use crate::places::{Person, Placed};

/// Bytes of a point or a normal.
const VECTOR: u64 = 12;
/// Bytes of the arguments of an indirect draw.
pub const DRAW: u64 = 20;
/// Indices of a quad, for shadows.
pub const QUAD: [u32; 6] = [0, 1, 2, 2, 1, 3];

/// A mesh of a squad.
pub struct SquadPart {
    /// Three floats per vertex, all vertices of the first character before those of the next. The engine writes them, and
    /// the vertex shader reads them.
    pub points: wgpu::Buffer,
    pub normals: wgpu::Buffer,
    pub vertex_count: wgpu::Buffer,
    pub indices: wgpu::Buffer,
    pub colors: wgpu::Buffer,
}

/// Characters of one model.
pub struct Squad {
    pub count: u32,
    pub parts: Vec<SquadPart>,
    /// `struct Squad` of scene.wgsl.
    pub uniform: wgpu::Buffer,
    pub characters: wgpu::Buffer,
    pub instances: wgpu::Buffer,
    pub seen: wgpu::Buffer,
    pub places: wgpu::Buffer,
    pub draws: wgpu::Buffer,
}

/// Adds everyone to the crowd. Returns the squads, and the rigs of each person.
pub fn gather(
    gpu: &Gpu,
    crowd: &mut Crowd,
    models: &[Model],
    people: &[Person],
) -> Result<(Vec<Squad>, Vec<Vec<RigId>>)> {
    let largest = gpu.device.limits().max_storage_buffer_binding_size;
    let mut squads = Vec::new();
    let mut rigs: Vec<Vec<RigId>> = vec![Vec::new(); people.len()];
    for (number, model) in models.iter().enumerate() {
        let meshes = Meshes::new(gpu, crowd, model)?;
        let most = model.parts.iter().map(|part| part.skin.output_count());
        let room = largest / (VECTOR * most.max().unwrap_or(1) as u64);
        let who: Vec<usize> = (0..people.len())
            .filter(|i| people[*i].model == number)
            .collect();
        for who in who.chunks(room.max(1) as usize) {
            for i in who {
                let added = model.rigs.iter().map(|rig| crowd.add_rig(Arc::clone(rig)));
                rigs[*i] = added.collect::<std::result::Result<_, _>>()?;
            }
            let placed: Vec<Placed> = who.iter().map(|i| people[*i].placed).collect();
            let rigs: Vec<&[RigId]> = who.iter().map(|i| &rigs[*i][..]).collect();
            squads.push(meshes.squad(gpu, crowd, model, &placed, &rigs)?);
        }
    }
    Ok((squads, rigs))
}

/// What the squads of a model share.
struct Meshes {
    skins: Vec<sinew::gpu::SkinId>,
    indices: Vec<wgpu::Buffer>,
    colors: Vec<wgpu::Buffer>,
}

impl Meshes {
    fn new(gpu: &Gpu, crowd: &mut Crowd, model: &Model) -> Result<Self> {
        let mut skins = Vec::new();
        for part in &model.parts {
            let skin = crowd.add_skin(Arc::clone(&part.skin))?;
            crowd.set_clip_channels(skin, &part.channels)?;
            skins.push(skin);
        }
        let parts = || model.parts.iter();
        let index = wgpu::BufferUsages::INDEX;
        Ok(Self {
            skins,
            indices: parts().map(|p| upload(gpu, index, &p.triangles)).collect(),
            colors: parts()
                .map(|p| upload::<Vec4>(gpu, wgpu::BufferUsages::VERTEX, &p.colors))
                .collect(),
        })
    }

    fn squad(
        &self,
        gpu: &Gpu,
        crowd: &mut Crowd,
        model: &Model,
        placed: &[Placed],
        rigs: &[&[RigId]],
    ) -> Result<Squad> {
        use wgpu::BufferUsages as Usages;
        let count = placed.len();
        let parts = model.parts.iter().enumerate().map(|(n, part)| {
            let vertices = part.skin.output_count();
            let bytes = VECTOR * (vertices * count) as u64;
            SquadPart {
                points: buffer(gpu, bytes, Usages::STORAGE),
                normals: buffer(gpu, bytes, Usages::STORAGE),
                vertex_count: upload(gpu, Usages::UNIFORM, &[vertices as u32, 0, 0, 0]),
                indices: self.indices[n].clone(),
                colors: self.colors[n].clone(),
            }
        });
        let parts: Vec<SquadPart> = parts.collect();
        let mut instances: Vec<u32> = Vec::new();
        for (character, rigs) in rigs.iter().enumerate() {
            for (n, part) in model.parts.iter().enumerate() {
                let own = |results: &wgpu::Buffer| Attribute::In {
                    buffer: results.clone(),
                    offset: VECTOR * (character * part.skin.output_count()) as u64,
                    stride: VECTOR,
                };
                let target = OutputTarget {
                    positions: own(&parts[n].points),
                    normals: Some(own(&parts[n].normals)),
                    tangents: None,
                    ..Default::default()
                };
                let instance = crowd.add_instance_to(self.skins[n], target)?;
                let pose = InstancePose::Rig {
                    rig: rigs[part.rig],
                    out_from_skel: &model.model_from_skel,
                    channel_weights: &vec![0.0; part.skin.channel_count()],
                };
                crowd.set_pose(instance, pose)?;
                instances.push(instance.index());
            }
        }
        let counts = model.parts.iter().map(|part| part.triangles.len() * 3);
        let counts = counts.chain([QUAD.len()]).map(|count| count as u32);
        let draws: Vec<[u32; 5]> = counts.map(|indices| [indices, 0, 0, 0, 0]).collect();
        let sphere = [model.middle, model.radius].map(f32::to_bits);
        let uniform = [count as u32, parts.len() as u32, sphere[0], sphere[1]];
        let drawn = Usages::INDIRECT | Usages::STORAGE | Usages::COPY_SRC;
        Ok(Squad {
            count: count as u32,
            uniform: upload(gpu, Usages::UNIFORM, &uniform),
            characters: upload(gpu, Usages::STORAGE, placed),
            instances: upload(gpu, Usages::STORAGE, &instances),
            seen: buffer(gpu, 4 * count as u64, Usages::STORAGE),
            places: buffer(gpu, 16 * count as u64, Usages::STORAGE),
            draws: upload(gpu, drawn, &draws),
            parts,
        })
    }
}
