//! Scenes (glTF 2.0, 3.5.1), and who made the file.

use super::document::Document;
use super::json::Json;
use sinew::error::Invalid;
use sinew_animate::asset::{AssetInfo, AssetScene, Node};

/// All scenes, and the one that is shown.
pub(super) struct Scenes {
    pub scenes: Vec<AssetScene>,
    pub shown: Option<usize>,
    /// The roots of the shown scene; all nodes without a parent where there is no scene.
    pub roots: Vec<usize>,
}

/// All scenes. The one that `scene` names is shown, or the first one where none is named.
pub(super) fn read(document: &Document, nodes: &[Node]) -> Result<Scenes, Invalid> {
    let root = document.json();
    let list = document.list_for::<AssetScene>("scenes")?;
    let scenes = list.iter().map(|s| read_scene(document, s, nodes));
    let scenes: Vec<AssetScene> = scenes.collect::<Result<_, _>>()?;
    let shown = match root.get("scene")? {
        Some(scene) => Some(scene.index("a scene", scenes.len())?),
        None => (!scenes.is_empty()).then_some(0),
    };
    let roots = match shown {
        Some(shown) => scenes[shown].roots.clone(),
        None => (0..nodes.len())
            .filter(|i| nodes[*i].parent.is_none())
            .collect(),
    };
    Ok(Scenes {
        scenes,
        shown,
        roots,
    })
}

fn read_scene(document: &Document, json: &Json<'_>, nodes: &[Node]) -> Result<AssetScene, Invalid> {
    let mut seen = std::collections::HashSet::new();
    let mut roots = Vec::new();
    for node in json.list("nodes")? {
        let index = document.node_index(&node)?;
        if let Some(parent) = nodes[index].parent {
            let found = format!("node {index}, a child of nodes[{parent}]");
            return Err(node.error("a node without a parent", found));
        }
        if !seen.insert(index) {
            return Err(node.error("each node once", format!("node {index} twice")));
        }
        roots.push(index);
    }
    Ok(AssetScene {
        name: json.text("name")?,
        roots,
        extras: json.extras()?,
    })
}

/// `asset`, and the metadata of extensions.
pub(super) fn read_info(document: &Document) -> Result<AssetInfo, Invalid> {
    let root = document.json();
    let asset = root.need("asset")?;
    let mut info = AssetInfo {
        copyright: asset.text("copyright")?,
        generator: asset.text("generator")?,
        extras: asset.extras()?,
        ..AssetInfo::default()
    };
    for (extension, member) in [
        ("KHR_xmp_json_ld", "packets"),
        ("VRM", "meta"),
        ("VRMC_vrm", "meta"),
    ] {
        let Some(extension_json) = root.extension(extension)? else {
            continue;
        };
        // VRM's own rules come later.
        if let Some(metadata) = extension_json.value().get(member) {
            let name = format!("{extension}.{member}");
            info.metadata.insert(name, metadata.clone());
        }
    }
    Ok(info)
}
