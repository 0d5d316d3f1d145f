//! The component of a character.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy::asset::Handle;
use bevy::camera::visibility::Visibility;
use bevy::ecs::component::Component;
use bevy::ecs::entity::Entity;
use bevy::ecs::event::EntityEvent;
use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::mesh::Mesh;
use bevy::transform::components::Transform;
use sinew_character::{Character, PlayClip};

use crate::load::{Error, Removed};

/// A character of a USD, glTF, VRM or FBX file (the last with the feature `fbx`). The plugin loads the
/// file in a thread and spawns an entity for each mesh and material below this one. Entities with the
/// same file share what does not change.
///
/// The file's up axis becomes Y and its unit becomes a metre, by the transforms of the meshes.
/// Methods that begin with `with_` or are named `playing` count until the character is loaded.
#[derive(Component, Debug)]
#[component(on_remove = removed)]
#[require(Transform, Visibility)]
pub struct SinewCharacter {
    pub(crate) file: PathBuf,
    pub(crate) motion_vectors: bool,
    pub(crate) first_clip: Option<PlayClip>,
    pub(crate) state: State,
}

#[derive(Debug)]
pub(crate) enum State {
    Loading,
    Ready(Box<Ready>),
    Failed(Arc<Error>),
}

/// A loaded character and its meshes in Bevy.
#[derive(Debug)]
pub(crate) struct Ready {
    pub character: Character,
    /// In the order of [`Character::meshes`].
    pub meshes: Vec<Handle<Mesh>>,
    pub is_hidden: bool,
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
            State::Ready(ready) => Some(&ready.character),
            _ => None,
        }
    }

    /// The character, once it is loaded, to play and blend clips and to set shapes. Its place is that
    /// of the entity's `Transform`; the plugin advances its time by Bevy's clock.
    #[must_use]
    pub fn character_mut(&mut self) -> Option<&mut Character> {
        match &mut self.state {
            State::Ready(ready) => Some(&mut ready.character),
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
}

/// Keeps the character of a removed component until it has left the crowd.
fn removed(mut world: DeferredWorld<'_>, context: HookContext) {
    let Some(mut component) = world.get_mut::<SinewCharacter>(context.entity) else {
        return;
    };
    if let State::Ready(ready) = std::mem::replace(&mut component.state, State::Loading)
        && let Some(mut removed) = world.get_resource_mut::<Removed>()
    {
        removed.0.push(ready.character);
    }
}
