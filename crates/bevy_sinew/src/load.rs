//! Loads files in threads, and spawns what is drawn of them.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::{io, thread};

use bevy::asset::{Assets, Handle, RenderAssetUsages};
use bevy::camera::visibility::{NoFrustumCulling, Visibility};
use bevy::ecs::entity::Entity;
use bevy::ecs::hierarchy::ChildOf;
use bevy::ecs::name::Name;
use bevy::ecs::resource::Resource;
use bevy::ecs::system::{Commands, Query, Res, ResMut};
use bevy::image::Image;
use bevy::log::{error, info, warn};
use bevy::math::{Quat, Vec3};
use bevy::mesh::{Indices, Mesh, Mesh3d, PrimitiveTopology};
use bevy::pbr::StandardMaterial;
use bevy::transform::components::Transform;
use sinew::gpu::{GpuError, Skinner};
use sinew_character::{Character, CharacterOptions, MeshArrays};

use crate::character::{CharacterLoaded, DrawnMesh, Held, Ready, Released, SinewCharacter, State};
use crate::material::{Look, Looks, Surface};
use crate::motion::{MotionMaterial, PREVIOUS_POSITION};
use crate::skin::OnDevice;

/// Why a character cannot be loaded or played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read, or the character cannot be played.
    #[error(transparent)]
    Character(#[from] sinew_character::Error),
    /// The device cannot run the kernels.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The system starts no thread.
    #[error("{}: no thread to load it: {source}", file.display())]
    Thread {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The thread that loaded the file ended without a result.
    #[error("{}: loading ended without a result", file.display())]
    Ended {
        /// The file.
        file: PathBuf,
    },
}

/// The files of all characters.
#[derive(Resource)]
pub(crate) struct Files {
    folder: PathBuf,
    all: Vec<File>,
}

struct File {
    path: PathBuf,
    motion_vectors: bool,
    state: FileState,
    /// Shared with the components of its characters.
    users: Arc<()>,
}

enum FileState {
    Loading(Mutex<Receiver<Result<Box<Read>, Error>>>),
    Ready(Box<Template>),
    Failed(Arc<Error>),
}

/// What a thread reads of a file.
struct Read {
    character: Character,
    looks: Looks,
    /// The vertices of each mesh at rest.
    rest: Vec<Vec<glam::Vec3>>,
}

/// What characters of one file share.
struct Template {
    character: Character,
    /// The vertices of each mesh at rest: until the first frame of the crowd, and for the bounds.
    rest: Vec<Vec<glam::Vec3>>,
    /// The material of each mesh.
    materials: Vec<Shared>,
}

#[derive(Clone)]
enum Shared {
    Standard(Handle<StandardMaterial>),
    Motion(Handle<MotionMaterial>),
}

impl Files {
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            all: Vec::new(),
        }
    }

    /// The index of the file of a character; begins to load a file that is new.
    fn of(&mut self, character: &SinewCharacter, skinner: &Skinner) -> usize {
        let is_it =
            |f: &File| f.path == character.file && f.motion_vectors == character.motion_vectors;
        if let Some(index) = self.all.iter().position(is_it) {
            return index;
        }
        let state = match begin(
            self.folder.join(&character.file),
            character.motion_vectors,
            skinner.clone(),
        ) {
            Ok(receiver) => FileState::Loading(Mutex::new(receiver)),
            Err(error) => FileState::Failed(Arc::new(error)),
        };
        self.all.push(File {
            path: character.file.clone(),
            motion_vectors: character.motion_vectors,
            state,
            users: Arc::default(),
        });
        self.all.len() - 1
    }
}

fn begin(
    file: PathBuf,
    motion_vectors: bool,
    skinner: Skinner,
) -> Result<Receiver<Result<Box<Read>, Error>>, Error> {
    let (sender, receiver) = channel();
    let named = file.clone();
    thread::Builder::new()
        .name("sinew load".into())
        .spawn(move || {
            // Nobody waits any more if the app has ended.
            let _ = sender.send(read(&file, motion_vectors, &skinner));
        })
        .map_err(|source| Error::Thread {
            file: named,
            source,
        })?;
    Ok(receiver)
}

fn read(file: &Path, motion_vectors: bool, skinner: &Skinner) -> Result<Box<Read>, Error> {
    let options = CharacterOptions {
        previous: motion_vectors,
        arrays: true,
        ..CharacterOptions::default()
    };
    let character = Character::load_with(skinner, file, &options)?;
    let largest = skinner.device().limits().max_texture_dimension_2d;
    let looks = Looks::of(&character, largest);
    for warning in character.warnings() {
        warn!("{}: {warning}", file.display());
    }
    for left_out in character.left_out() {
        warn!("{left_out}");
    }
    for message in &looks.messages {
        warn!("{}: {message}", file.display());
    }
    let rest = character.positions(None, 0.0)?;
    Ok(Box::new(Read {
        character,
        looks,
        rest,
    }))
}

/// Forgets files of which no character is left.
pub(crate) fn forget(mut files: ResMut<'_, Files>) {
    files.all.retain(|file| Arc::strong_count(&file.users) > 1);
}

/// The assets that a character adds to.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct DrawnAssets<'w> {
    meshes: ResMut<'w, Assets<Mesh>>,
    images: ResMut<'w, Assets<Image>>,
    standard: ResMut<'w, Assets<StandardMaterial>>,
    motion: ResMut<'w, Assets<MotionMaterial>>,
}

/// Begins to load the files of new characters, and spawns the meshes of those that are loaded.
pub(crate) fn load(
    mut commands: Commands<'_, '_>,
    mut characters: Query<'_, '_, (Entity, &mut SinewCharacter)>,
    device: Option<Res<'_, OnDevice>>,
    mut files: ResMut<'_, Files>,
    released: Res<'_, Released>,
    mut assets: DrawnAssets<'_>,
) {
    let Some(device) = device else {
        return;
    };
    for (entity, mut character) in &mut characters {
        if !matches!(character.state, State::Loading) {
            continue;
        }
        let index = files.of(&character, &device.0);
        let file = &mut files.all[index];
        character.file_use = Some(Arc::clone(&file.users));
        file.advance(&mut assets);
        match &file.state {
            FileState::Loading(_) => {}
            FileState::Failed(error) => {
                error!("{error}");
                character.fail(Arc::clone(error));
            }
            FileState::Ready(template) => {
                let (held, entities) =
                    template.spawn(&mut commands, entity, &mut character, &mut assets);
                let ready = Ready::new(held, entities, released.clone());
                character.state = State::Ready(Box::new(ready));
                commands.trigger(CharacterLoaded { entity });
            }
        }
    }
    // A file that failed is tried again for the next character.
    files
        .all
        .retain(|file| !matches!(file.state, FileState::Failed(_)));
}

impl File {
    /// Takes what the thread has read, if it is done.
    fn advance(&mut self, assets: &mut DrawnAssets<'_>) {
        let FileState::Loading(receiver) = &mut self.state else {
            return;
        };
        let receiver = receiver.get_mut().unwrap_or_else(|e| e.into_inner());
        self.state = match receiver.try_recv() {
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Disconnected) => FileState::Failed(Arc::new(Error::Ended {
                file: self.path.clone(),
            })),
            Ok(Err(error)) => FileState::Failed(Arc::new(error)),
            Ok(Ok(read)) => {
                info!("{}: loaded", self.path.display());
                FileState::Ready(Box::new(Template::new(*read, self.motion_vectors, assets)))
            }
        };
    }
}

impl Template {
    fn new(read: Read, motion_vectors: bool, assets: &mut DrawnAssets<'_>) -> Self {
        let Read {
            character,
            looks,
            rest,
        } = read;
        let images: Vec<Handle<Image>> = looks
            .images
            .into_iter()
            .map(|image| assets.images.add(image))
            .collect();
        let made: Vec<Shared> = looks
            .surfaces
            .into_iter()
            .map(|surface: Surface| {
                let material = surface.with_images(&images);
                match motion_vectors {
                    true => Shared::Motion(assets.motion.add(MotionMaterial {
                        base: material,
                        extension: Default::default(),
                    })),
                    false => Shared::Standard(assets.standard.add(material)),
                }
            })
            .collect();
        let materials = looks.of_meshes.iter().map(|s| made[*s].clone()).collect();
        Self {
            character,
            rest,
            materials,
        }
    }

    /// Spawns a copy of the character below an entity.
    fn spawn(
        &self,
        commands: &mut Commands<'_, '_>,
        parent: Entity,
        component: &mut SinewCharacter,
        assets: &mut DrawnAssets<'_>,
    ) -> (Held, Vec<Entity>) {
        let mut character = self.character.another();
        if let Some(clip) = component.first_clip.take()
            && let Err(error) = character.play(clip)
        {
            error!("{error}");
        }
        let place = upright(&character);
        let mut meshes = Vec::with_capacity(self.materials.len());
        let mut entities = Vec::with_capacity(self.materials.len());
        let paths: Vec<String> = character.meshes().map(str::to_owned).collect();
        for (index, arrays) in character.arrays().enumerate() {
            let rest = self.rest.get(index).map_or(&[][..], Vec::as_slice);
            let look = Look::of(&character, arrays);
            let mesh = mesh(arrays, rest, look, component.motion_vectors);
            let mesh = assets.meshes.add(mesh);
            let mut spawned = commands.spawn((
                Name::new(paths[index].clone()),
                Mesh3d(mesh.clone()),
                place,
                Visibility::default(),
                // Its clips move it out of the bounds of the rest pose.
                NoFrustumCulling,
                ChildOf(parent),
            ));
            match &self.materials[index] {
                Shared::Standard(m) => spawned.insert(bevy::pbr::MeshMaterial3d(m.clone())),
                Shared::Motion(m) => spawned.insert(bevy::pbr::MeshMaterial3d(m.clone())),
            };
            entities.push(spawned.id());
            meshes.push(DrawnMesh {
                mesh,
                vertex_count: arrays.vertex_count() as u32,
            });
        }
        (Held { character, meshes }, entities)
    }
}

/// From the file's world to one with Y up and in metres.
fn upright(character: &Character) -> Transform {
    let rotation = match character.up_axis() {
        'Z' => Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
        _ => Quat::IDENTITY,
    };
    Transform {
        translation: Vec3::ZERO,
        rotation,
        scale: Vec3::splat(character.meters_per_unit() as f32),
    }
}

/// The mesh that results are written to.
fn mesh(arrays: &MeshArrays, rest: &[glam::Vec3], look: Look, motion_vectors: bool) -> Mesh {
    let count = arrays.vertex_count();
    let mut positions: Vec<[f32; 3]> = rest.iter().map(|p| p.to_array()).collect();
    positions.resize(count, [0.0; 3]);
    let mut out = Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::RENDER_WORLD,
    );
    out.insert_indices(Indices::U32(arrays.indices.clone()));
    if motion_vectors {
        out.insert_attribute(PREVIOUS_POSITION, positions.clone());
    }
    out.insert_attribute(Mesh::ATTRIBUTE_POSITION, positions);
    out.insert_attribute(Mesh::ATTRIBUTE_NORMAL, vec![[0.0f32, 1.0, 0.0]; count]);
    // Bevy's images begin at the upper edge.
    let uvs: Vec<[f32; 2]> = arrays.uvs.iter().map(|uv| [uv.x, 1.0 - uv.y]).collect();
    out.insert_attribute(Mesh::ATTRIBUTE_UV_0, uvs);
    if let Some(tangents) = &arrays.tangents {
        let tangents: Vec<[f32; 4]> = tangents.iter().map(|t| t.to_array()).collect();
        out.insert_attribute(Mesh::ATTRIBUTE_TANGENT, tangents);
    }
    if look.is_colored {
        let colors: Vec<[f32; 4]> = arrays.colors.iter().map(|c| c.to_array()).collect();
        out.insert_attribute(Mesh::ATTRIBUTE_COLOR, colors);
    }
    out
}
