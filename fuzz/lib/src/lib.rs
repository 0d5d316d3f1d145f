//! The bodies of the fuzz targets: what each does with one input.
//!
//! Readers have to give an error or a result for any bytes: no panic, no hang, no more memory than the input justifies. What
//! they give is used as the program uses it. The fuzzers in `fuzz_targets` and the test `seeds` both run these functions.

mod assets;
mod layers;
mod maps;
mod scenes;
mod skins;
mod stages;

/// What a target does with an input.
pub type Body = fn(&[u8]);

/// All targets by name, which is also the name of the folder of their seeds.
pub const TARGETS: &[(&str, Body)] = &[
    ("usda", layers::usda),
    ("usdc", layers::usdc),
    ("usdz", layers::usdz),
    ("usda_round_trip", layers::usda_round_trip),
    ("usdc_round_trip", layers::usdc_round_trip),
    ("usda_to_usdc", layers::usda_to_usdc),
    ("usdc_to_usda", layers::usdc_to_usda),
    ("stage", stages::stage),
    ("scene", scenes::scene),
    ("gltf", assets::gltf),
    ("vrm", assets::vrm),
    ("bvh", assets::bvh),
    #[cfg(feature = "fbx")]
    ("fbx", assets::fbx),
    ("maps", maps::maps),
    ("skin", skins::skin),
];

/// Runs the target of this name.
///
/// # Panics
/// If there is no such target, or if the target finds an error in the project.
pub fn run(target: &str, input: &[u8]) {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    let (_, body) = found.unwrap_or_else(|| panic!("no target {target}"));
    body(input);
}
