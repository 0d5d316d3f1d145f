//! Readers of glTF, VRM, FBX and BVH: what they read, what they refuse and where, and how much memory they take.

mod bvh;
#[cfg(feature = "fbx")]
mod fbx;
mod gltf_broken;
mod gltf_read;
mod humanoid_clips;
mod humanoid_codes;
mod in_memory;
mod vrm;
