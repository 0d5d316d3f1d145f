//! UsdSkel, VRM, glTF and FBX characters in [Bevy](https://bevy.org), played and skinned on the GPU
//! by [`sinew`], straight into Bevy's vertex buffers.
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_sinew::{SinewCharacter, SinewPlugin};
//!
//! fn main() {
//!     App::new()
//!         .add_plugins((DefaultPlugins, SinewPlugin))
//!         .add_systems(Startup, |mut commands: Commands| {
//!             commands.spawn(SinewCharacter::new("hero.usda").playing("Run"));
//!         })
//!         .run();
//! }
//! ```
//!
//! The plugin shares Bevy's device: clips are sampled and blended, skeletons are posed and meshes are
//! skinned by sinew's compute kernels, which write positions, normals and tangents into the vertex
//! slabs of Bevy's [`MeshAllocator`](bevy::render::mesh::allocator::MeshAllocator). Everything behind
//! that is Bevy's own: visibility, shadows, materials, lights. So a mesh has any number of influences
//! per point, blend shapes with in-betweens, and dual quaternion skinning, as UsdSkel defines them.
//!
//! A frame of a character that only plays uploads nothing. [`SinewCharacter::character_mut`] is the
//! [`Character`] of `sinew-character`, with crossfades, blends, shapes and root motion.

mod character;
mod images;
mod load;
mod material;
mod motion;
mod skin;

use bevy::app::{App, Last, Plugin, PreUpdate};
use bevy::asset::AssetPlugin;
use bevy::asset::io::file::FileAssetReader;
use bevy::ecs::schedule::IntoScheduleConfigs;
use bevy::log::error;

pub use character::{CharacterLoaded, SinewCharacter};
pub use load::Error;
pub use motion::{MotionMaterial, PREVIOUS_POSITION, PreviousPositions};
pub use sinew;
pub use sinew_character;
pub use sinew_character::{Character, PlayClip};

/// Loads, plays, skins and draws every [`SinewCharacter`]. Add it after Bevy's own plugins.
///
/// It gives the buffers of all meshes the usage `STORAGE`, so that kernels can write to them.
#[derive(Clone, Copy, Debug, Default)]
pub struct SinewPlugin;

impl Plugin for SinewPlugin {
    fn build(&self, app: &mut App) {
        let assets = app.get_added_plugins::<AssetPlugin>();
        let folder = assets.first().map_or("assets", |plugin| &plugin.file_path);
        let folder = FileAssetReader::get_base_path().join(folder);
        app.insert_resource(load::Files::new(folder))
            .init_resource::<character::Released>()
            .add_systems(PreUpdate, (load::forget, load::load).chain())
            .add_systems(Last, character::despawn);
        motion::build(app);
        skin::build(app);
    }

    fn finish(&self, app: &mut App) {
        if let Err(error) = skin::finish(app) {
            error!("sinew: {error}");
        }
    }
}
