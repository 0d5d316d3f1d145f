//! The component of a character.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bevy::asset::Handle;
use bevy::camera::visibility::Visibility;
use bevy::ecs::component::Component;
use bevy::ecs::entity::Entity;
use bevy::ecs::event::EntityEvent;
use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::resource::Resource;
use bevy::ecs::system::{Commands, Res};
use bevy::ecs::world::DeferredWorld;
use bevy::mesh::Mesh;
use bevy::transform::components::Transform;
use sinew_character::{Character, PlayClip};

use crate::load::Error;

/// A character of a USD, glTF, VRM or FBX file (the last with the feature `fbx`). The plugin loads the
/// file in a thread and spawns an entity for each mesh and material below this one. Entities with the
/// same file share what does not change.
///
/// The file's up axis becomes Y and its unit becomes a metre, by the transforms of the meshes.
/// Methods that begin with `with_` or are named `playing` count until the character is loaded.
///
/// When the component is removed, replaced or assigned, and when the character fails, the character
/// leaves the GPU and its meshes are despawned.
#[derive(Component, Debug)]
#[component(on_discard = discarded)]
#[require(Transform, Visibility)]
pub struct SinewCharacter {
    pub(crate) file: PathBuf,
    pub(crate) motion_vectors: bool,
    pub(crate) first_clip: Option<PlayClip>,
    pub(crate) state: State,
    /// Keeps what was read of the file.
    pub(crate) file_use: Option<Arc<()>>,
}

#[derive(Debug)]
pub(crate) enum State {
    Loading,
    Ready(Box<Ready>),
    Failed(Arc<Error>),
}

/// A loaded character and its meshes in Bevy. When it is dropped, in whatever way, they are released.
#[derive(Debug)]
pub(crate) struct Ready {
    /// Always there until it is dropped.
    held: Option<Held>,
    entities: Vec<Entity>,
    released: Released,
    pub is_hidden: bool,
}

/// What must leave the crowd together.
#[derive(Debug)]
pub(crate) struct Held {
    pub character: Character,
    /// In the order of [`Character::meshes`]. While these handles live, Bevy gives the places that
    /// the crowd writes to, to no other meshes.
    pub meshes: Vec<DrawnMesh>,
}

/// A mesh in Bevy, and the number of its vertices.
#[derive(Debug)]
pub(crate) struct DrawnMesh {
    pub mesh: Handle<Mesh>,
    pub vertex_count: u32,
}

/// Where dropped characters wait until the crowd and Bevy let them go.
#[derive(Resource, Clone, Debug, Default)]
pub(crate) struct Released(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    held: Vec<Held>,
    entities: Vec<Entity>,
}

impl Ready {
    pub fn new(held: Held, entities: Vec<Entity>, released: Released) -> Self {
        Self {
            held: Some(held),
            entities,
            released,
            is_hidden: false,
        }
    }

    pub fn held(&mut self) -> Option<&mut Held> {
        self.held.as_mut()
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        self.released.with(|waiting| {
            waiting.held.extend(self.held.take());
            waiting.entities.append(&mut self.entities);
        });
    }
}

impl Released {
    fn with<T>(&self, work: impl FnOnce(&mut Waiting) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The characters that are to leave the crowd.
    pub fn take(&self) -> Vec<Held> {
        self.with(|waiting| std::mem::take(&mut waiting.held))
    }
}

/// Despawns the meshes of released characters.
pub(crate) fn despawn(mut commands: Commands<'_, '_>, released: Res<'_, Released>) {
    for entity in released.with(|waiting| std::mem::take(&mut waiting.entities)) {
        // They may be gone with their parent.
        commands.entity(entity).try_despawn();
    }
}

/// Triggered at the entity of a character when its file is loaded and its meshes are spawned.
#[derive(EntityEvent, Clone, Debug)]
pub struct CharacterLoaded {
    /// The entity with the [`SinewCharacter`].
    pub entity: Entity,
}

impl SinewCharacter {
    /// A character of a file, in the rest pose. A relative path is one in Bevy's folder of assets.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self {
            file: file.into(),
            motion_vectors: false,
            first_clip: None,
            state: State::Loading,
            file_use: None,
        }
    }

    /// Plays a clip from the beginning, by its name or as a [`PlayClip`]. If the file has no such clip,
    /// the error is logged and the character rests.
    #[must_use]
    pub fn playing(mut self, clip: impl Into<PlayClip>) -> Self {
        self.first_clip = Some(clip.into());
        self
    }

    /// Gives motion vectors of the deformed vertices to cameras with a
    /// [`MotionVectorPrepass`](bevy::core_pipeline::prepass::MotionVectorPrepass), for motion blur and
    /// temporal anti-aliasing. The vertices then hold the positions of the frame before, and the
    /// materials are [`MotionMaterial`](crate::MotionMaterial).
    #[must_use]
    pub fn with_motion_vectors(mut self) -> Self {
        self.motion_vectors = true;
        self
    }

    /// The file, as it was given.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The character, once it is loaded.
    #[must_use]
    pub fn character(&self) -> Option<&Character> {
        match &self.state {
            State::Ready(ready) => ready.held.as_ref().map(|held| &held.character),
            _ => None,
        }
    }

    /// The character, once it is loaded, to play and blend clips and to set shapes. Its place is that
    /// of the entity's `Transform`; the plugin advances its time by Bevy's clock. Do not replace it
    /// by another one, which would leave this one on the GPU.
    #[must_use]
    pub fn character_mut(&mut self) -> Option<&mut Character> {
        match &mut self.state {
            State::Ready(ready) => ready.held().map(|held| &mut held.character),
            _ => None,
        }
    }

    /// Why the character was not loaded or is not played any more.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        match &self.state {
            State::Failed(error) => Some(error),
            _ => None,
        }
    }

    pub(crate) fn fail(&mut self, error: Arc<Error>) {
        self.state = State::Failed(error);
        self.file_use = None;
    }
}

/// Releases the character of a component that is removed, replaced or taken out.
fn discarded(mut world: DeferredWorld<'_>, context: HookContext) {
    if let Some(mut component) = world.get_mut::<SinewCharacter>(context.entity) {
        component.state = State::Loading;
        component.file_use = None;
    }
}
