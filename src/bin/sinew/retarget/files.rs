//! Both files, of whatever format.

use std::path::Path;

use sinew::asset::{Asset, Target};
use sinew::humanoid::{ApplyOptions, apply, reference_asset};
use sinew::io::usd::UsdFile;
use sinew::io::{ClipChoice, OpenOptions, read_asset};
use sinew::{Error, Result};

use super::Args;

/// The file with the clip. Which clip of a USD file is taken is chosen later.
pub fn source(args: &Args) -> Result<UsdFile> {
    let Some(mut asset) = read_asset(&args.source)? else {
        return UsdFile::open(&args.source);
    };
    let chosen = match &args.clip {
        Some(name) => asset.clips.iter().position(|c| c.name == *name),
        None => Some(0).filter(|_| !asset.clips.is_empty()),
    };
    let Some(chosen) = chosen else {
        return Err(no_clip(&args.source, &asset, args.clip.as_deref()));
    };
    asset.clips = vec![asset.clips.swap_remove(chosen)];
    if asset.clips[0]
        .tracks
        .iter()
        .any(|t| matches!(t.target, Target::Bone(_)))
    {
        asset = on_bones(asset)?;
    }
    let options = OpenOptions {
        clips: ClipChoice::First,
        ..OpenOptions::default()
    };
    UsdFile::from_asset(&asset, &options)
}

/// The file with the character; clips of its own do not count.
pub fn target(args: &Args) -> Result<UsdFile> {
    match read_asset(&args.target)? {
        Some(mut asset) => {
            asset.clips.clear();
            UsdFile::from_asset(&asset, &OpenOptions::default())
        }
        None => UsdFile::open(&args.target),
    }
}

/// A clip for any humanoid, on the file's own model or else on one in the reference pose.
fn on_bones(asset: Asset) -> Result<Asset> {
    let model = match asset.humanoids.iter().any(|h| !h.bones.is_empty()) {
        true => asset.clone(),
        false => Asset {
            file: asset.file.clone(),
            ..reference_asset()
        },
    };
    let applied = apply(&model, &asset, &asset.clips[0], &ApplyOptions::default())?;
    Ok(applied.into_asset(model))
}

fn no_clip(file: &Path, asset: &Asset, asked: Option<&str>) -> Error {
    let names: Vec<&str> = asset.clips.iter().map(|c| c.name.as_str()).collect();
    let has = match names.is_empty() {
        true => "it holds none".to_owned(),
        false => format!("it holds {}", names.join(", ")),
    };
    let file = file.display();
    Error::Request(match asked {
        Some(name) => format!("{file}: no clip is named {name}: {has}"),
        None => format!("{file}: there is no clip"),
    })
}
