//! A glTF scene with what files have beside characters: cameras, lights, sockets, instances, extras,
//! a second scene, and materials of several layers.

use super::document::Document;

/// Indices of nodes in [`scenery`], above those of the character in it.
pub mod node {
    pub const SOCKET: usize = 4;
    pub const HEAD_CAMERA: usize = 5;
    pub const SPOT: usize = 8;
    pub const FOREST: usize = 10;
    pub const HIDDEN: usize = 11;
    pub const ELSEWHERE: usize = 12;
    pub const EMPTY: usize = 13;
    pub const SHOE: usize = 14;
}

/// Where the socket stands below the joint B. In the clip `Move` the joint A turns by a quarter about
/// Z in half a second, while B below it rises from 2 to 3.
pub const SOCKET_OFFSET: [f64; 3] = [0.5, 0.0, 0.0];

/// The character of `tiny.gltf`, and everything else that a scene has.
pub fn scenery() -> Document {
    Document::fixture("scenery.gltf")
}
