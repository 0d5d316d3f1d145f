//! A whole file, part by part.

mod clips;
mod key_times;
mod load;
mod materials;
mod meshes;
mod nodes;
mod skins;

use std::path::Path;

use load::Budget;
use materials::Materials;
use nodes::Nodes;

use crate::error::Result;
use sinew::error::Warning;
use sinew_animate::asset::{Asset, AssetFormat, Axis};
use sinew_layer::Files;

/// FBX's own unit, for files that give none.
const CENTIMETRE: f64 = 0.01;

pub fn read(files: &Files, path: &Path) -> Result<Asset> {
    let bytes = crate::read_bytes(files, path)?;
    let scene = load::scene(&bytes, path)?;
    let mut budget = Budget::new(bytes.len());

    let mut nodes = Nodes::new(&scene);
    let meshes = meshes::read(&scene, &mut nodes, &mut budget).map_err(|e| e.in_file(path))?;
    let mut warnings = meshes.warnings.clone();
    let file = (bytes.len(), path);
    let clips = clips::read(&scene, &nodes, &meshes, &mut budget, file, &mut warnings)?;
    let materials =
        Materials::read(&scene, files, path, &mut budget).map_err(|e| e.in_file(path))?;

    let settings = &scene.settings;
    let is_unit = settings.unit_meters.is_finite() && settings.unit_meters > 0.0;
    let rate = settings.frames_per_second;
    let mut asset = Asset {
        file: path.to_owned(),
        sources: materials.sources,
        format: AssetFormat::Fbx,
        up_axis: Axis::Y,
        meters_per_unit: if is_unit {
            settings.unit_meters
        } else {
            CENTIMETRE
        },
        frames_per_second: (1.0..=1000.0).contains(&rate).then_some(rate),
        roots: (0..nodes.nodes.len())
            .filter(|i| nodes.nodes[*i].parent.is_none())
            .collect(),
        nodes: nodes.nodes,
        meshes: meshes.meshes,
        skins: meshes.skins,
        clips,
        materials: materials.materials,
        images: materials.images,
        warnings,
        ..Asset::default()
    };
    for mesh in &mut asset.meshes {
        for primitive in &mut mesh.primitives {
            let material = primitive.material.and_then(|m| asset.materials.get(m));
            primitive.double_sided = material.is_some_and(|m| m.double_sided);
        }
    }
    asset.warnings.extend(materials.warnings);
    asset.warnings.extend(repairs(&scene));
    asset.validate().map_err(|e| e.in_file(path))?;
    Ok(asset)
}

/// What ufbx repaired, and what is not read.
fn repairs(scene: &ufbx::Scene) -> Vec<Warning> {
    let repaired = scene.metadata.warnings.iter().map(|w| {
        let element = scene.elements.get(w.element_id as usize);
        let name = element.map_or_else(String::new, |e| e.name.to_string());
        let message = match w.count {
            0 | 1 => w.description.to_string(),
            count => format!("{} ({count} times)", w.description),
        };
        Warning::new("fbx-repaired", name, message)
    });
    let mut warnings: Vec<Warning> = repaired.collect();
    for surface in &scene.nurbs_surfaces {
        let name = surface.element.name.to_string();
        warnings.push(Warning::new(
            "fbx-nurbs",
            name,
            "a NURBS surface, which is not read",
        ));
    }
    let goes_on = |curve: &&ufbx::AnimCurve| {
        let ends = [&curve.pre_extrapolation, &curve.post_extrapolation];
        let mut ends = ends.into_iter();
        let is_constant = |end: &ufbx::Extrapolation| match end.mode {
            ufbx::ExtrapolationMode::Constant => true,
            ufbx::ExtrapolationMode::Slope => false,
            _ => end.repeat_count == 0,
        };
        curve.keyframes.len() > 1 && !ends.all(is_constant)
    };
    let curves = scene.anim_curves.iter().map(|curve| &**curve);
    let endless = curves.filter(goes_on).count();
    if endless > 0 {
        let message = format!(
            "{endless} curves repeat or go on beyond their keys, which is not read: their first and last values hold"
        );
        warnings.push(Warning::new("fbx-extrapolation", "", message));
    }
    for constraint in &scene.constraints {
        if constraint.active {
            let name = constraint.element.name.to_string();
            let message =
                "a constraint, which is not evaluated: its target keeps its own animation";
            warnings.push(Warning::new("fbx-constraint", name, message));
        }
    }
    warnings
}
