//! What copies of a character share: meshes, rigs, clips, materials and images.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use glam::{DMat4, Vec3};
use sinew::gpu::{GpuError, Skinner, guarded};
use sinew::kernel::packed_clip::{ClipOptions, PackedClip};
use sinew::kernel::{PackedRig, PackedSkin};
use sinew::mesh::RenderMesh;
use sinew::sampled::{Sampled, Time};
use sinew::scene::{DrawnMesh, Geometry, Material, Scene, SkinPart, Texture};
use sinew::skel::{RestNormals, Skin, SkinningMethod};
use sinew::{Invalid, Warning};
use sinew_io::usd::{SceneClip, UsdFile};
use wgpu::util::DeviceExt;

use crate::arrays::MeshArrays;
use crate::character::CharacterOptions;
use crate::clips::{CharacterClip, CharacterSkeleton, Packer, RestPose};
use crate::error::{Error, Result};
use crate::parts::MeshPart;
use crate::resident::Uploaded;

/// What copies of a character share.
#[derive(Debug)]
pub(crate) struct Model {
    pub file: PathBuf,
    pub up_axis: char,
    pub meters_per_unit: f64,
    pub codes_per_second: f64,
    pub meshes: Vec<ModelMesh>,
    pub rigs: Vec<ModelRig>,
    pub skeletons: Vec<CharacterSkeleton>,
    /// From each skeleton's space to the world, at the first time of the file.
    pub world_from_skel: Vec<DMat4>,
    pub clips: Vec<CharacterClip>,
    /// The rest pose of each skeleton.
    pub rest: Vec<Arc<PackedClip>>,
    pub materials: Vec<Material>,
    pub textures: Vec<Texture>,
    pub warnings: Vec<Warning>,
    pub left_out: Vec<Invalid>,
    /// Transforms of prims over time; `None` if none of them moves.
    pub moving: Option<Scene>,
    /// What the crowd of the copies holds.
    pub uploaded: Mutex<Option<Uploaded>>,
}

/// A skeleton with a geomBindTransform and a skinning method, which several meshes may share.
#[derive(Debug)]
pub(crate) struct ModelRig {
    pub skeleton: usize,
    pub packed: Arc<PackedRig>,
}

/// A mesh that a crowd deforms.
#[derive(Debug)]
pub(crate) struct ModelMesh {
    pub path: String,
    pub skin: Arc<PackedSkin>,
    pub rig: usize,
    /// Shared by the parts of a mesh.
    pub out: Arc<MeshTransform>,
    /// The name of each blend shape.
    pub shapes: Vec<String>,
    /// For each blend shape the channel of clips that drives it.
    pub channels: Vec<Option<u32>>,
    pub indices: wgpu::Buffer,
    pub uvs: wgpu::Buffer,
    pub colors: wgpu::Buffer,
    pub vertex_count: u32,
    /// Ranges of the indices, with the index of the material of each.
    pub sections: Vec<(Option<usize>, Range<u32>)>,
    pub double_sided: bool,
    /// What a host's own buffers hold, if the options asked for it.
    pub arrays: Option<MeshArrays>,
}

/// The transform that takes the skinned points of a mesh to the world.
#[derive(Debug)]
pub(crate) struct MeshTransform {
    /// The skeleton's prim, for points in skeleton space; `None` for points in the mesh's own
    /// space.
    skeleton: Option<usize>,
    mesh: DrawnMesh,
    /// The transform at the first time of the file.
    pub first: DMat4,
    pub is_moving: bool,
}

impl MeshTransform {
    fn new(scene: &Scene, mesh: &DrawnMesh, skeleton: Option<usize>, time: Time) -> Self {
        let mut times = match skeleton {
            Some(prim) => scene.transform_times(prim),
            None => mesh.place.times(),
        };
        for instance in &mesh.instances {
            times.extend(instance.place.times());
            times.extend(instance.prototype.times());
        }
        let mut out = Self {
            skeleton,
            // Its arrays are not needed any more.
            mesh: DrawnMesh {
                points: Sampled::default(),
                normals: None,
                uvs: None,
                display_color: None,
                display_opacity: None,
                ..mesh.clone()
            },
            first: DMat4::IDENTITY,
            is_moving: times.iter().any(|t| *t != times[0]),
        };
        out.first = out.at(scene, time);
        out
    }

    pub fn at(&self, scene: &Scene, time: Time) -> DMat4 {
        match self.skeleton {
            Some(prim) => self.mesh.world_from_prototype(time) * scene.world_from_prim(prim, time),
            None => self.mesh.world_from_prim(time),
        }
    }
}

impl Model {
    /// Reads everything of an open file and uploads what does not change.
    ///
    /// # Errors
    /// Values that cannot be decoded; a file without a mesh that a skeleton moves; out of memory.
    pub fn read(skinner: &Skinner, file: &UsdFile, options: &CharacterOptions) -> Result<Self> {
        let scene = file.scene(Default::default())?;
        let geometry = file.geometry(&scene)?;
        let clips = file.scene_clips(&scene)?;
        let mut reader = Reader {
            skinner,
            time: scene
                .time_line
                .range
                .map_or(Time::Default, |(first, _)| Time::At(first)),
            scene: &scene,
            geometry: &geometry,
            clips: &clips,
            rests: HashMap::new(),
            instances: Vec::new(),
            rigs: Vec::new(),
            rig_index: HashMap::new(),
            keeps_arrays: options.arrays,
            warnings: Vec::new(),
            left_out: Vec::new(),
        };
        let meshes = reader.meshes()?;
        let Reader {
            time,
            instances,
            rests,
            rigs,
            mut warnings,
            mut left_out,
            ..
        } = reader;
        left_out.extend(scene.errors.iter().chain(&geometry.errors).cloned());
        left_out.extend(scene.unskinned.iter().map(|prim| prim.error.clone()));
        left_out.dedup();
        if meshes.is_empty() {
            let file = scene.file.clone();
            return Err(Error::NoCharacter { file, left_out });
        }
        let options = ClipOptions {
            meters_per_unit: scene.meters_per_unit,
            ..options.clips
        };
        let packer = Packer {
            scene: &scene,
            instances: &instances,
            rests: &rests,
            clips: &clips,
            options,
        };
        let skeletons = packer.skeletons();
        let (clips, refused) = packer.pack(&skeletons);
        left_out.extend(refused);
        let rest = (skeletons.iter().enumerate())
            .map(|(i, skeleton)| packer.rest(i, skeleton).map(Arc::new))
            .collect::<Result<Vec<_>, _>>()?;
        let mut meshes = meshes;
        for mesh in &mut meshes {
            let channels = &skeletons[rigs[mesh.rig].skeleton].channels;
            let channel = |token: &String| Some(channels.iter().position(|c| c == token)? as u32);
            mesh.channels = mesh.shapes.iter().map(channel).collect();
        }
        let world_from_skel = instances
            .iter()
            .map(|i| scene.world_from_prim(scene.instances[*i].prim, time))
            .collect();
        warnings.extend(scene.warnings.iter().chain(&geometry.warnings).cloned());
        let (up_axis, meters_per_unit) = (scene.up_axis, scene.meters_per_unit);
        Ok(Self {
            file: scene.file.clone(),
            up_axis,
            meters_per_unit,
            codes_per_second: scene.time_line.time_codes_per_second,
            moving: meshes.iter().any(|m| m.out.is_moving).then(|| {
                let mut moving = Scene::new(&scene.file, scene.time_line);
                moving.prims = scene.prims.clone();
                moving
            }),
            meshes,
            rigs,
            skeletons,
            world_from_skel,
            clips,
            rest,
            materials: geometry.materials,
            textures: geometry.textures,
            warnings,
            left_out,
            uploaded: Mutex::new(None),
        })
    }
}

/// A rig's skeleton, its bits of geomBindTransform and its method.
type RigKey = (usize, [u64; 16], bool);

/// Makes the meshes and rigs of a model.
struct Reader<'a> {
    skinner: &'a Skinner,
    scene: &'a Scene,
    geometry: &'a Geometry,
    clips: &'a [SceneClip],
    /// By index into [`Scene::instances`].
    rests: HashMap<usize, Result<RestPose, Invalid>>,
    time: Time,
    /// Index into [`Scene::instances`] of each skeleton that is used.
    instances: Vec<usize>,
    rigs: Vec<ModelRig>,
    rig_index: HashMap<RigKey, usize>,
    /// Whether meshes have one material each and keep their arrays on the CPU.
    keeps_arrays: bool,
    warnings: Vec<Warning>,
    left_out: Vec<Invalid>,
}

/// What deforms a mesh.
struct Deformed {
    skin: Skin,
    /// Index into [`Scene::instances`].
    instance: usize,
    geom_bind: DMat4,
    /// Prim of the skeleton, if points are in skeleton space.
    skeleton_prim: Option<usize>,
    shapes: Vec<String>,
}

impl Reader<'_> {
    /// All meshes that can be drawn; none if no skeleton moves any of them.
    fn meshes(&mut self) -> Result<Vec<ModelMesh>> {
        let geometry = self.geometry;
        let bound = geometry.meshes.iter().filter_map(|m| self.binding(m));
        let mut instances: Vec<usize> = bound.map(|b| self.scene.bindings[b].instance).collect();
        instances.dedup();
        // A mesh that nothing moves goes with the skeleton of one that something moves.
        let mut instances = instances.into_iter();
        let Some(first) = instances.next() else {
            return Ok(Vec::new());
        };
        let mut has_rest = |instance: &usize| self.check_rest(*instance).is_ok();
        let instance = match has_rest(&first) {
            true => first,
            false => instances.find(has_rest).unwrap_or(first),
        };
        let mut out = Vec::with_capacity(geometry.meshes.len());
        for mesh in &geometry.meshes {
            if !mesh.visible(self.time) {
                continue;
            }
            match self.mesh(mesh, instance) {
                Ok(made) => out.extend(made?),
                Err(error) => self.left_out.push(error.in_file(&self.scene.file)),
            }
        }
        Ok(out)
    }

    /// The binding of a mesh that is skinned or blended.
    fn binding(&self, mesh: &DrawnMesh) -> Option<usize> {
        let index = mesh.binding?;
        let binding = self.scene.bindings.get(index)?;
        let is_deformed = binding.influences.is_some() || !binding.shapes.is_empty();
        (binding.unsupported.is_none() && is_deformed).then_some(index)
    }

    /// A mesh on the device: none if it has no triangles, several if it is split by material.
    fn mesh(
        &mut self,
        mesh: &DrawnMesh,
        instance: usize,
    ) -> Result<Result<Vec<ModelMesh>, GpuError>, Invalid> {
        let points = mesh.points.first().cloned().unwrap_or_default();
        let render = RenderMesh::new(&mesh.path, &mesh.topology, &mesh.render_inputs())?;
        if render.triangles.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        let deformed = match self.binding(mesh) {
            Some(binding) => self.deformed(mesh, binding)?,
            None => self.still(mesh, points.clone(), instance)?,
        };
        let rig = self.rig(
            deformed.instance,
            deformed.geom_bind,
            deformed.skin.method(),
        )?;
        let (indices, sections) = render.sections(&mesh.face_materials());
        let whole = MeshPart {
            render,
            indices,
            sections,
            skin: deformed.skin,
            topology: Arc::clone(&mesh.topology),
        };
        let parts = match self.keeps_arrays {
            true => whole.cut(&mesh.path)?,
            false => vec![whole],
        };
        let out_of = MeshTransform::new(self.scene, mesh, deformed.skeleton_prim, self.time);
        let out_of = Arc::new(out_of);
        let mut out = Vec::with_capacity(parts.len());
        for part in parts {
            let mut skin = PackedSkin::pack(&mesh.path, &part.skin)?;
            if skin.normals().is_none() {
                skin = skin.with_smooth_normals(&part.topology)?;
            }
            let mut vertices = skin.vertices_of(&part.render);
            let arrays = self.keeps_arrays.then(|| {
                let material = part.sections.first().and_then(|(material, _)| *material);
                let is_bumpy = material
                    .and_then(|m| self.geometry.materials.get(m))
                    .is_some_and(|m| m.at_main_uvs(&m.normal).is_some());
                part.arrays(is_bumpy, mesh.double_sided)
            });
            if let Some(tangents) = arrays.as_ref().and_then(|a| a.tangents.clone()) {
                vertices = vertices.with_tangents(tangents);
            }
            let skin = Arc::new(skin.with_vertices(vertices)?);
            let buffers = match self.upload(&part) {
                Ok(buffers) => buffers,
                Err(error) => return Ok(Err(error)),
            };
            let [indices, uvs, colors] = buffers;
            out.push(ModelMesh {
                path: mesh.path.clone(),
                skin,
                rig,
                out: Arc::clone(&out_of),
                shapes: deformed.shapes.clone(),
                channels: Vec::new(),
                indices,
                uvs,
                colors,
                vertex_count: part.render.points.len() as u32,
                sections: part.sections,
                double_sided: mesh.double_sided,
                arrays,
            });
        }
        Ok(Ok(out))
    }

    /// The buffers of a mesh that do not change: indices, texture coordinates, colours.
    fn upload(&self, part: &MeshPart) -> Result<[wgpu::Buffer; 3], GpuError> {
        let device = self.skinner.device();
        let buffer = |label, bytes: &[u8], usage| {
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some(label),
                contents: bytes,
                usage,
            })
        };
        let (uvs, colors) = (part.uvs(), part.colors());
        guarded(device, || {
            let vertex = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::STORAGE;
            let index = wgpu::BufferUsages::INDEX | wgpu::BufferUsages::STORAGE;
            let index = index | sinew::gpu::blas_input(device);
            let indices = bytemuck::cast_slice(&part.indices);
            [
                buffer("character.indices", indices, index),
                buffer("character.uvs", bytemuck::cast_slice(&uvs), vertex),
                buffer("character.colors", bytemuck::cast_slice(&colors), vertex),
            ]
        })
    }

    /// The skin of a bound mesh.
    fn deformed(&mut self, mesh: &DrawnMesh, index: usize) -> Result<Deformed, Invalid> {
        let bound = self.scene.bound(index);
        let binding = bound.binding();
        if binding.rest_is_animated() || binding.geom_bind.is_animated() {
            let message = "rest points, normals or influences change over time: \
                           a character keeps those of the first time";
            self.warnings
                .push(Warning::new("character-rest-still", &binding.path, message));
        }
        let part = SkinPart {
            // Behind the last ones there are none.
            normals: mesh.skin_normals.unwrap_or(binding.normals.len()),
            ..SkinPart::default()
        };
        let skin = bound.skin_part(self.time, part)?;
        let shapes = binding.shapes.iter().map(|s| s.token.clone()).collect();
        let joints = bound.skeleton().instance.skeleton().joints().len();
        if skin.influences().is_none() {
            return Ok(Deformed {
                skin: self
                    .with_normals((*skin).clone(), mesh)?
                    .without_joints(joints),
                instance: binding.instance,
                geom_bind: DMat4::IDENTITY,
                skeleton_prim: None,
                shapes,
            });
        }
        let geom_bind = binding.geom_bind.at(self.time);
        Ok(Deformed {
            skin: (*skin).clone(),
            instance: binding.instance,
            geom_bind: geom_bind.map_or(DMat4::IDENTITY, |m| *m),
            skeleton_prim: Some(bound.skeleton().prim),
            shapes,
        })
    }

    /// The skin of a mesh that stands still in its own space.
    fn still(
        &self,
        mesh: &DrawnMesh,
        points: Arc<Vec<Vec3>>,
        instance: usize,
    ) -> Result<Deformed, Invalid> {
        let skeleton = self.scene.instances[instance].instance.skeleton();
        let skin = Skin::new(&mesh.path, points, None, None, None, 0, Vec::new())?;
        let skin = self.with_normals(skin, mesh)?;
        Ok(Deformed {
            skin: skin.without_joints(skeleton.joints().len()),
            instance,
            geom_bind: DMat4::IDENTITY,
            skeleton_prim: None,
            shapes: Vec::new(),
        })
    }

    /// Gives a skin the normals that its mesh is drawn with, one per face corner, unless it has
    /// some that blend shapes change.
    fn with_normals(&self, skin: Skin, mesh: &DrawnMesh) -> Result<Skin, Invalid> {
        let authored = mesh.normals.as_ref().and_then(|p| p.first());
        let Some(normals) = authored.filter(|_| skin.normals().is_none()) else {
            return Ok(skin);
        };
        let topology = &mesh.topology;
        let points = topology.corner_points();
        let mut values = Vec::with_capacity(points.len());
        for face in 0..topology.face_count() {
            for corner in topology.corners(face) {
                values.push(normals.values[normals.index(face, corner, points[corner])]);
            }
        }
        let normals = RestNormals {
            values: Arc::new(values),
            points: Some(Arc::new(points.to_vec())),
        };
        skin.with_normals(&mesh.path, normals)
    }

    /// Finds the rest pose of a skeleton once.
    fn check_rest(&mut self, instance: usize) -> Result<(), Invalid> {
        let rest = self.rests.entry(instance);
        let rest = rest.or_insert_with(|| RestPose::find(self.scene, instance, self.clips));
        rest.as_ref().map(|_| ()).map_err(Invalid::clone)
    }

    fn rig(
        &mut self,
        instance: usize,
        geom_bind: DMat4,
        method: SkinningMethod,
    ) -> Result<usize, Invalid> {
        let bits = geom_bind.to_cols_array().map(f64::to_bits);
        let key = (instance, bits, method == SkinningMethod::DualQuaternion);
        if let Some(index) = self.rig_index.get(&key) {
            return Ok(*index);
        }
        self.check_rest(instance)?;
        let skeleton = self.scene.instances[instance].instance.skeleton();
        let packed = Arc::new(PackedRig::pack_for(method, skeleton, geom_bind, true)?);
        let known = self.instances.iter().position(|i| *i == instance);
        let skeleton = known.unwrap_or_else(|| {
            self.instances.push(instance);
            self.instances.len() - 1
        });
        self.rigs.push(ModelRig { skeleton, packed });
        self.rig_index.insert(key, self.rigs.len() - 1);
        Ok(self.rigs.len() - 1)
    }
}
