//! What several test binaries share.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod bvh_maker;
pub mod cases;
pub mod character;
pub mod command;
pub mod compare;
pub mod fbx;
pub mod files;
pub mod gltf_eval;
pub mod gltf_maker;
pub mod gpu;
pub mod host;
pub mod mannequin;
pub mod pixar;
pub mod python;
pub mod rng;
pub mod tiny_gltf;
pub mod tolerance;
pub mod trials;
pub mod usd;
pub mod worker;
