//! The character that is shown, with its clip, as the bytes of one file.

use sinew_animate::humanoid::on_own_skeleton;
use sinew_io::gltf::{GltfOptions, choose_clips, glb_bytes};
use sinew_io::usd::{AssetOptions, ReadOptions, UsdFile};
use sinew_io::{ClipChoice, read_asset_from};

use super::files::Purpose;
use super::live;
use super::loader::{Failed, Task};

/// Reads what a task shows once more, and makes a .glb or a .usdc of it. A clip that was moved to the character is the
/// only one of a .glb; a character that was only opened keeps all of its own there.
pub fn bytes(task: &Task, purpose: Purpose) -> Result<Vec<u8>, Failed> {
    let mut options = task.selected.options();
    let file = match &task.onto {
        Some(onto) => live::moved(task, onto)?.target.file,
        None => match read_asset_from(&options.files, &task.file)?.map(on_own_skeleton) {
            Some(asset) if purpose == Purpose::Glb => {
                return Ok(glb_bytes(asset, &GltfOptions::default())?.0);
            }
            Some(asset) => {
                options.clips = task
                    .clip
                    .clone()
                    .map_or(ClipChoice::First, ClipChoice::Named);
                UsdFile::from_asset(&asset, &options)?
            }
            None => task.selected.clone().open(&task.file)?,
        },
    };
    if purpose != Purpose::Glb {
        return Ok(file.usdc_bytes()?);
    }
    let scene = file.scene(ReadOptions::default())?;
    let mut asset = file.to_asset(&scene, &AssetOptions::default())?;
    if task.onto.is_some() {
        asset = choose_clips(asset, &ClipChoice::First)?;
    }
    Ok(glb_bytes(asset, &GltfOptions::default())?.0)
}
