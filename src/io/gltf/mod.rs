//! glTF 2.0: .gltf, .glb, and what is built on them (.vrm, .vrma).

mod accessor;
mod container;
mod document;
mod json;
mod meshopt;
mod supported;
mod uri;
mod views;

pub(crate) use document::Document;
pub(crate) use json::Json;
