//! `sinew describe`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;
use sinew::Warning;
use sinew_animate::asset::Asset;
use sinew_animate::humanoid::{bones_by_name, bones_from_json, describe};
use sinew_animate::retarget::Bone;
use sinew_io::gltf::{GltfEdit, described_as};

use crate::error::Result;
use crate::exit::Exit;
use crate::finding;
use crate::humanoid::{GLTF, check_output, read_gltf, with_advice};
use crate::open::check_extension;
use crate::report::{Sizes, Verbosity, count, print_findings, print_result, result_json, to_json};

/// Add EXT_skeleton_humanoid to a glTF or VRM model: which joint is which human bone.
///
/// Then `sinew humanoid` can move the model. The bones come from --map, from the model's VRM map,
/// or from the names and the hierarchy of the joints.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model file: .gltf, .glb or .vrm.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// File to write: MODEL with the extension. Without this the extension is printed, as JSON.
    ///
    /// OUT cannot be MODEL.
    #[arg(short, long, value_name = "OUT.{gltf,glb,vrm}")]
    output: Option<PathBuf>,
    /// The node of each human bone, by name or index, as in {"hips": "Bip001 Pelvis"}.
    #[arg(long, value_name = "MAP.json")]
    map: Option<PathBuf>,
    /// Print one JSON object. Without OUT its value `extension` is the extension.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  sinew describe mannequin.gltf
  sinew describe mannequin.gltf -o mannequin_humanoid.glb
  sinew describe mannequin.gltf --json | jq .bones
  sinew describe robot.glb --map bones.json -o robot_humanoid.glb";

/// The most bones that a message names.
const SHOWN: usize = 8;

pub fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    if let Some(output) = &args.output {
        check_extension(output, &GLTF)?;
    }
    let model = read_gltf(&args.model, "describe")?;
    if let Some(output) = &args.output {
        check_output(output, &[&model], args.map.as_ref())?;
    }
    let (bones, by) = match (&args.map, model.humanoids.first()) {
        (Some(map), _) => (read_map(map, &model)?, "the map".to_owned()),
        (None, Some(given)) => (given.bones.clone(), given.location.clone()),
        (None, None) => bones_by_name(&model).map_err(with_advice)?,
    };
    let (skeleton, left_out) = describe(&model, &bones)?;
    let mut warnings: Vec<Warning> = left_out
        .iter()
        .map(|bone| {
            let node = bones.get(bone).map_or("", |n| &model.nodes[*n].name);
            let message = format!("\"{node}\" is not a joint of any skin, so the bone is left out");
            Warning::new("bone-left-out", bone.name(), message)
        })
        .collect();
    let mut edit = GltfEdit::open(&args.model)?;
    edit.describe(&skeleton)?;
    let extension = match &args.output {
        Some(output) => {
            warnings.extend(edit.save(output)?);
            None
        }
        None => Some(described_as(&skeleton)),
    };
    print_findings(&[], &warnings, verbosity);
    if let (Some(extension), false) = (&extension, args.json) {
        print_result(&to_json(extension)?)?;
        return Ok(Exit::Done);
    }
    let lacking = Bone::ALL.iter();
    let lacking = lacking
        .filter(|b| !skeleton.bones.contains_key(b))
        .map(|b| b.name());
    let lacking: Vec<&str> = lacking.collect();
    let output = args.output.as_ref();
    let written = output.map(|out| (out, Sizes::of("MODEL", &args.model, &[out])));
    if args.json {
        let name = |(bone, node): (&Bone, &usize)| (bone.name(), &model.nodes[*node].name);
        let mut report = json!({
            "bones": skeleton.bones.iter().map(name).collect::<BTreeMap<_, _>>(),
            "by": by,
            "lacking": lacking,
            "warnings": finding::of_warnings(&warnings, Some(&args.model)),
        });
        if let Some((output, sizes)) = &written {
            report["output"] = json!(output.display().to_string());
            report["input_bytes"] = json!(sizes.input_bytes);
            report["output_bytes"] = json!(sizes.output_bytes);
        }
        if let Some(extension) = extension {
            report["extension"] = extension;
        }
        print_result(&result_json("describe", Exit::Done, &report)?)?;
    } else if let (Some((output, sizes)), false) = (&written, verbosity.is_quiet()) {
        let mut text = format!("{}\n", output.display());
        text += &format!("  {}, by {by}\n", count(skeleton.bones.len(), "bone"));
        if !lacking.is_empty() {
            let lacking = sinew::error::first_few(&lacking, SHOWN);
            text += &format!("  without {lacking}\n");
        }
        print_result(&format!("{text}  {sizes}\n"))?;
    }
    Ok(Exit::Done)
}

/// Reads the map of `--map`: the node of each human bone.
fn read_map(file: &Path, model: &Asset) -> Result<BTreeMap<Bone, usize>> {
    let text = sinew_io::read_text(file)?;
    Ok(bones_from_json(&text, &file.to_string_lossy(), model)?)
}
