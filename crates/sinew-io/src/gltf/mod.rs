//! glTF 2.0: .gltf and .glb files, and VRM files (.vrm, .vrma).
//!
//! This module has its own JSON reader (`json`), because the errors of a general parser or of the
//! `gltf` crate have no location in the file. That crate also rejects or drops the data of
//! extensions in animation channels.
//!
//! If a file breaks a rule, the error has the location of the fault. Data that only changes the
//! look, such as an image that cannot be read, is dropped with a warning.

mod accessor;
mod cameras;
mod clips;
mod container;
mod coverage;
mod document;
mod edit;
pub mod extensions;
mod influences;
mod instances;
mod json;
mod materials;
mod meshes;
mod nodes;
mod primitives;
mod scenes;
mod uri;
mod views;
mod write;

use std::path::Path;

use crate::error::Result;
use sinew::error::Invalid;
use sinew_animate::asset::{Asset, AssetFormat, Axis};
use sinew_layer::Files;

pub use container::write_glb;
pub(crate) use document::Document;
pub use edit::{GltfEdit, described_as};
pub use write::{
    GltfOptions, GltfWritten, InfluenceCut, choose_clips, glb_bytes, write_asset, write_asset_into,
};
pub(crate) use write::{normals_of_triangles, without_shear};

/// Reads a .gltf, .glb, .vrm or .vrma file, with its buffers and images. Units are metres, and Y is
/// up.
///
/// # Errors
/// - [`Error::Open`](crate::Error::Open) if the file cannot be read.
/// - [`Error::Invalid`](crate::Error::Invalid) for the first rule that is broken. Its
///   [`Invalid::prim`] is the location in the JSON, such as `accessors[3].bufferView`.
pub fn read(path: &Path) -> Result<Asset> {
    read_from(&Files::on_disk(), path)
}

/// Reads a file as [`read`] does, with the files that it refers to, on disk or in memory.
///
/// # Errors
/// Those of [`read`].
pub fn read_from(files: &Files, path: &Path) -> Result<Asset> {
    let bytes = crate::read_bytes(files, path)?;
    document(&bytes, files, path)
}

/// Reads a file that is already in memory. `file` is its path in errors, and other files are looked
/// for in its folder on disk.
///
/// # Errors
/// Those of [`read`].
pub fn read_bytes(bytes: &[u8], file: &Path) -> Result<Asset> {
    document(bytes, &Files::on_disk(), file)
}

fn document(bytes: &[u8], files: &Files, file: &Path) -> Result<Asset> {
    let document = Document::parse(bytes, files, file).map_err(|e| e.in_file(file))?;
    let asset = asset(&document).map_err(|e| e.in_file(file))?;
    Ok(asset)
}

fn asset(document: &Document) -> Result<Asset, Invalid> {
    let mut nodes = nodes::read(document)?;
    let scenes = scenes::read(document, &nodes)?;
    let skins = nodes::read_skins(document)?;
    // Nodes and skins hold by now, and errors of channels are the extension's own.
    let humanoid_warnings = extensions::humanoid::check(document.json().value())?;
    let meshes = meshes::read(document, &nodes, &skins)?;
    meshes::check_node_weights(document, &nodes, &meshes)?;
    let clips = clips::read(document, &mut nodes, &meshes)?;
    let materials = materials::read(document)?;
    let images = materials::read_images(document)?;
    let mut asset = Asset {
        file: document.file.clone(),
        sources: uri::files(document.json().value(), document.folder()),
        format: AssetFormat::Gltf,
        up_axis: Axis::Y,
        meters_per_unit: 1.0,
        frames_per_second: None,
        nodes,
        roots: scenes.roots,
        scenes: scenes.scenes,
        default_scene: scenes.shown,
        meshes,
        skins,
        cameras: cameras::read(document)?,
        lights: cameras::read_lights(document)?,
        clips,
        materials,
        material_variants: materials::read_variants(document)?,
        images,
        info: scenes::read_info(document)?,
        extras: document.json().extras()?,
        ..Asset::default()
    };
    coverage::warn_of_left_out(document, &asset);
    asset.warnings = document.take_warnings();
    asset.warnings.extend(humanoid_warnings);
    extensions::apply(document.json().value(), &mut asset)?;
    asset.validate()?;
    Ok(asset)
}
