//! The character that is shown, with its clip, as the bytes of one file.

use sinew_animate::asset::Asset;
use sinew_animate::humanoid::on_own_skeleton;
use sinew_io::gltf::{GltfOptions, choose_clips, glb_bytes};
use sinew_io::usd::{AssetOptions, ReadOptions, UsdFile};
use sinew_io::{ClipChoice, read_asset_from};

use super::files::Purpose;
use super::findings::Messages;
use super::live;
use super::loader::{Failed, Task};

/// The bytes of a file, and what it lacks of the character.
pub struct Exported {
    pub bytes: Vec<u8>,
    pub lost: Messages,
}

/// Reads what a task shows once more, and makes a .glb or a .usdc of it. A clip that was moved to the character is the
/// only one of a .glb; a character that was only opened keeps all of its own there.
pub fn exported(task: &Task, purpose: Purpose) -> Result<Exported, Failed> {
    let mut options = task.selected.options();
    let file = match &task.onto {
        Some(onto) => live::moved(task, onto)?.target.file,
        None => match read_asset_from(&options.files, &task.file)?.map(on_own_skeleton) {
            Some(asset) if purpose == Purpose::Glb => return as_glb(asset),
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
        let (bytes, warnings) = file.usdc_bytes()?;
        let mut lost = Messages::default();
        warnings.iter().for_each(|w| lost.add(w));
        return Ok(Exported { bytes, lost });
    }
    let scene = file.scene(ReadOptions::default())?;
    let mut asset = file.to_asset(&scene, &AssetOptions::default())?;
    if task.onto.is_some() {
        asset = choose_clips(asset, &ClipChoice::First)?;
    }
    as_glb(asset)
}

fn as_glb(asset: Asset) -> Result<Exported, Failed> {
    let mut lost = Messages::default();
    for error in &asset.left_out {
        lost.add_error(error, &asset.file);
    }
    let (bytes, written) = glb_bytes(asset, &GltfOptions::default())?;
    written.warnings.iter().for_each(|w| lost.add(w));
    Ok(Exported { bytes, lost })
}
