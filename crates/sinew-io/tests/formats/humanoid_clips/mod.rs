//! Humanoid clips on models: where bones are then, and what is written.

mod files;
mod fuzz;
mod usd;

use common::rows::{self, Row};
use common::{fixture, shown};
use glam::DMat4;
use serde_json::Value;
use sinew_animate::asset::Asset;
use sinew_animate::humanoid::{ApplyOptions, Mode, apply, expressions_to_weights};
use sinew_io::{Error, gltf};

/// The asset with the bind matrices that its skins have in extras: glTF has no f64.
fn with_exact_binds(mut asset: Asset) -> Asset {
    for skin in &mut asset.skins {
        let given = skin.extras.as_mut().map(|e| e["inverseBind"].take());
        if let Some(given @ Value::Array(_)) = given {
            let matrices: Vec<[f64; 16]> = serde_json::from_value(given).unwrap();
            let matrices = matrices.iter().map(DMat4::from_cols_array);
            skin.inverse_bind = matrices.collect();
        }
    }
    asset
}

/// The model of a row with the clip of the file that its `with` line names. The report is among the metadata.
fn moved(row: &Row) -> sinew_io::Result<Asset> {
    let mut model = with_exact_binds(gltf::read_bytes(&row.bytes, &row.name)?);
    // The tables of the readers have these.
    model.warnings.clear();
    let file = fixture("humanoid_clips").join(&row.with[0]);
    let source = with_exact_binds(gltf::read(&file)?);
    let mut options = ApplyOptions::default();
    for word in &row.with[1..] {
        match word.as_str() {
            "collapse" => options.mode = Mode::Collapse,
            "conjugate" => options.mode = Mode::Conjugate,
            "scale" => options.scale_translation = true,
            other => {
                let skeleton = other.strip_prefix("skeleton=").unwrap();
                options.skeleton = skeleton.parse().unwrap();
            }
        }
    }
    let applied = apply(&model, &source, &source.clips[0], &options);
    let applied = applied.map_err(|e| Error::Unsupported {
        file,
        reason: e.to_string(),
    })?;
    let report = shown::as_json(&applied.report);
    let mut asset = applied.into_asset(model);
    asset.validate()?;
    asset.clips = vec![expressions_to_weights(&asset, &asset.clips[0])];
    asset.info.metadata.insert("report".to_owned(), report);
    Ok(asset)
}

/// Data relative to the bind pose (EXT_skeleton_humanoid) and to the rest pose (VRM Animation), against the same in
/// matrices.
#[test]
fn models_move_as_the_table_says() {
    rows::check(&fixture("humanoid_clips/clips.txt"), moved);
}
