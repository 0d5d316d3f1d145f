//! Formats with frames: OBJ sequences, point caches, vertex animation textures, bone textures.
//!
//! They have no sample times, so a clip is resampled at even steps. They have no prim transforms
//! either, so rigid prims move by their points.

mod bones;
mod layout;
mod names;
mod obj;
mod pc2;
mod prims;
mod session;
mod surface;
mod vat;
mod vat_mesh;
mod vat_texture;

pub use names::FramePattern;
pub(super) use prims::{framed_prims, points_of};
pub(super) use session::bake_frames;
