//! Writes an [`Asset`] as glTF 2.0: a .glb with everything in it, or a .gltf with a buffer and a
//! folder of images beside it.
//!
//! The output is in metres with Y up: if the asset is not, a node above everything scales and turns
//! it, and its points stay as they are. Vertices are split where values of face corners differ, and
//! polygons become the triangles that [`sinew::mesh`] makes. Equal assets give equal bytes.

mod buffer;
mod clips;
mod curves;
mod inbetweens;
mod influences;
mod materials;
mod meshes;
mod nodes;
mod save;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::output::Outputs;
use buffer::BufferBuilder;
pub use clips::choose_clips;
pub(in crate::gltf) use curves::StoredCurve;
pub use influences::InfluenceCut;
use materials::{Materials, OutImage};
pub(crate) use meshes::normals_of_triangles;
use meshes::{MeshWriter, material_of};
use nodes::named;
pub(crate) use nodes::without_shear;
use sinew::error::Warning;
use sinew_animate::asset::Asset;

/// How an asset is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct GltfOptions {
    /// The most influences of a vertex; `None` for all.
    pub max_influences: Option<u16>,
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct GltfWritten {
    /// The files: the output, then the buffer and the textures beside a `.gltf`.
    pub files: Vec<PathBuf>,
    /// What glTF cannot hold, with those of the asset.
    pub warnings: Vec<Warning>,
    /// What [`GltfOptions::max_influences`] has cut; `None` if nothing was.
    pub influences: Option<InfluenceCut>,
}

/// A document in memory, ready to be saved.
struct Document {
    json: Map<String, Value>,
    bin: Vec<u8>,
    images: Vec<OutImage>,
}

/// Writes an asset as `.glb`, or as `.gltf` with `OUT.bin` and the folder `OUT_textures` beside it.
/// The files appear under their names only when all are complete.
///
/// Coordinates become metres with Y up. All clips are written. A clip whose keys begin before 0 is
/// moved to begin there.
///
/// # Errors
/// [`Error::Invalid`] if the asset breaks a rule of [`Asset::validate`]. [`Error::Write`] if
/// `output` has another extension, is the file that was read, or cannot be written, or if the asset
/// does not fit into a file of that format. Nothing is written then.
pub fn write_asset(asset: Asset, output: &Path, options: &GltfOptions) -> Result<GltfWritten> {
    let mut outputs = Outputs::default();
    let written = write_asset_into(asset, output, options, &mut outputs)?;
    outputs.finish()?;
    Ok(written)
}

/// Writes an asset as [`write_asset`] does, as one or several of `outputs`. The files appear under
/// their names with [`Outputs::finish`].
///
/// # Errors
/// Those of [`write_asset`].
pub fn write_asset_into(
    asset: Asset,
    output: &Path,
    options: &GltfOptions,
    outputs: &mut Outputs,
) -> Result<GltfWritten> {
    let binary = save::is_binary(output)?;
    let inputs = || asset.sources.iter().chain([&asset.file]);
    crate::output::check(save::files(output, binary), inputs)?;
    let (document, mut written) = converted(asset, output, options)?;
    let before = outputs.names().count();
    save::save(document, output, binary, outputs)?;
    let others = outputs.names().skip(before).filter(|name| *name != output);
    let files = std::iter::once(output).chain(others).map(Path::to_owned);
    written.files = files.collect();
    Ok(written)
}

/// The bytes of the .glb that [`write_asset`] writes, and what it reports; nothing is written.
///
/// # Errors
/// [`Error::Invalid`] if the asset breaks a rule of [`Asset::validate`]. [`Error::Write`] if the
/// asset does not fit into a .glb.
pub fn glb_bytes(asset: Asset, options: &GltfOptions) -> Result<(Vec<u8>, GltfWritten)> {
    let name = asset.file.with_extension("glb");
    let (document, written) = converted(asset, &name, options)?;
    Ok((save::glb_bytes(document, &name)?, written))
}

/// The document of an asset, and what glTF cannot hold of it. `output` names it in errors.
fn converted(
    mut asset: Asset,
    output: &Path,
    options: &GltfOptions,
) -> Result<(Document, GltfWritten)> {
    asset.validate().map_err(|e| e.in_file(&asset.file))?;
    let mut warnings = std::mem::take(&mut asset.warnings);
    for humanoid in &asset.humanoids {
        let bones = humanoid.bones.len();
        let message = format!(
            "its map of {bones} human bones is left out; sinew describe writes one into OUT"
        );
        warnings.push(Warning::new(
            "humanoid-left-out",
            &humanoid.location,
            message,
        ));
    }
    if !asset.expressions.is_empty() {
        let count = asset.expressions.len();
        let message = format!("{count} expressions are left out; their morph targets are there");
        let path = asset.file.display().to_string();
        warnings.push(Warning::new("humanoid-left-out", path, message));
    }
    inbetweens::expand(&mut asset, &mut warnings);
    nodes::prepare(&mut asset);
    let most = options.max_influences.map(usize::from);
    let influences = most.and_then(|most| influences::cut(&mut asset, most));
    let document = document(&asset, output, &mut warnings)?;
    let written = GltfWritten {
        files: Vec::new(),
        warnings,
        influences,
    };
    Ok((document, written))
}

fn document(asset: &Asset, output: &Path, warnings: &mut Vec<Warning>) -> Result<Document> {
    let mut buffer = BufferBuilder::default();
    let primitives = asset.meshes.iter().flat_map(|m| &m.primitives);
    let used: BTreeSet<_> = primitives.map(|p| material_of(p, asset)).collect();
    let materials = Materials::new(asset, &used, warnings);
    let mut writer = MeshWriter {
        asset,
        buffer: &mut buffer,
        warnings,
        materials: &materials,
    };
    let mut meshes = Vec::new();
    let mut index_of = Vec::with_capacity(asset.meshes.len());
    for (index, joints) in joint_counts(asset).into_iter().enumerate() {
        let mesh = writer.mesh(index, joints);
        let mesh = mesh.map_err(|e| e.in_file(&asset.file))?;
        index_of.push(mesh.map(|mesh| {
            meshes.push(mesh);
            meshes.len() - 1
        }));
    }
    let mut skins = Vec::new();
    for skin in &asset.skins {
        let mut out = named(&skin.name, skin.extras.as_ref());
        out.insert("joints".into(), json!(skin.joints));
        let matrices = buffer.add_matrices(&skin.inverse_bind);
        out.insert("inverseBindMatrices".into(), json!(matrices));
        skins.push(Value::Object(out));
    }
    let mut animations = Vec::new();
    for clip in &asset.clips {
        let animation = curves::animation(asset, clip, &mut buffer, warnings);
        let animation = animation.map_err(|reason| Error::write(output, reason))?;
        animations.extend(animation);
    }
    let mut json = Map::new();
    json.insert("asset".into(), info(asset));
    let scenes = scenes(asset);
    json.insert("scene".into(), json!(asset.default_scene.unwrap_or(0)));
    let mut list = |key: &str, values: Vec<Value>| {
        // Empty lists are not allowed.
        if !values.is_empty() {
            json.insert(key.to_owned(), Value::Array(values));
        }
    };
    list("scenes", scenes);
    list("nodes", nodes::write(asset, &index_of));
    list("meshes", meshes);
    list("skins", skins);
    list("animations", animations);
    list("cameras", nodes::write_cameras(asset));
    list("materials", materials.materials);
    list("textures", materials.textures);
    list("samplers", materials.samplers);
    list("accessors", buffer.accessors);
    list("bufferViews", buffer.views);
    let mut extensions = materials.extensions;
    let lights = nodes::write_lights(asset);
    if !lights.is_empty() {
        extensions.insert(nodes::LIGHTS);
        json.insert(
            "extensions".into(),
            json!({ nodes::LIGHTS: { "lights": lights } }),
        );
    }
    if asset.nodes.iter().any(|n| n.hidden) {
        extensions.insert(nodes::VISIBILITY);
    }
    if !extensions.is_empty() {
        json.insert("extensionsUsed".into(), json!(extensions));
    }
    if let Some(extras) = &asset.extras {
        json.insert("extras".into(), extras.clone());
    }
    Ok(Document {
        json,
        bin: buffer.bytes,
        images: materials.images,
    })
}

/// The number of joints of the skin that each mesh is shown with; `None` if it is not skinned. Its
/// influences fit every skin that it is shown with.
fn joint_counts(asset: &Asset) -> Vec<Option<usize>> {
    let mut counts = vec![None; asset.meshes.len()];
    for node in &asset.nodes {
        if let (Some(mesh), Some(skin)) = (node.mesh, node.skin) {
            counts[mesh] = counts[mesh].max(Some(asset.skins[skin].joints.len()));
        }
    }
    counts
}

fn info(asset: &Asset) -> Value {
    let mut out = Map::new();
    out.insert("version".into(), json!("2.0"));
    let generator = concat!("sinew ", env!("CARGO_PKG_VERSION"));
    out.insert("generator".into(), json!(generator));
    if !asset.info.copyright.is_empty() {
        out.insert("copyright".into(), json!(asset.info.copyright));
    }
    if let Some(extras) = &asset.info.extras {
        out.insert("extras".into(), extras.clone());
    }
    Value::Object(out)
}

fn scenes(asset: &Asset) -> Vec<Value> {
    let scene = |name: &str, roots: &[usize], extras: Option<&Value>| {
        let mut out = named(name, extras);
        if !roots.is_empty() {
            out.insert("nodes".into(), json!(roots));
        }
        Value::Object(out)
    };
    if asset.scenes.is_empty() {
        return vec![scene("", &asset.roots, None)];
    }
    let scenes = asset.scenes.iter();
    scenes
        .map(|s| scene(&s.name, &s.roots, s.extras.as_ref()))
        .collect()
}
