//! A glTF scene with what files have beside characters: cameras, lights, sockets, instances, extras,
//! a second scene, and materials of several layers.

use super::document::Document;

/// Where the socket stands below the joint B. In the clip `Move` the joint A turns by a quarter about
/// Z in half a second, while B below it rises from 2 to 3.
pub const SOCKET_OFFSET: [f64; 3] = [0.5, 0.0, 0.0];

/// The character of `tiny.gltf`, and everything else that a scene has.
pub fn scenery() -> Document {
    Document::fixture("scenery.gltf")
}
