//! A copy of the root layer whose asset paths lead to the same files from another folder.

use std::path::Path;

use openusd::{sdf, usd_utils};

use crate::openusd_compat::udim;
use crate::usd::read::scene::UsdFile;
use crate::usd::write::flatten::{Authoring, outermost_file, relative_to};

impl UsdFile {
    /// The root layer as it is in memory, to be written as `out`.
    pub(crate) fn root_layer_copy(
        &self,
        out: &Path,
    ) -> std::result::Result<sdf::Layer, openusd::Error> {
        let root = self.stage.root_layer();
        let mut layer = sdf::Layer::new_anonymous("copy");
        layer.edit(|edit| copy(root.data(), edit.data_mut()))?;
        let folder = outermost_file(root.identifier())
            .parent()
            .map_or_else(Default::default, Path::to_owned);
        usd_utils::modify_asset_paths(&mut layer, |path| anchored(path, &folder, out), true)?;
        Ok(layer)
    }
}

fn copy(from: &dyn sdf::AbstractData, to: &mut dyn sdf::AbstractData) -> Authoring {
    for path in from.spec_paths() {
        if let Some(kind) = from.spec_type(&path) {
            to.create_spec(path.clone(), kind);
        }
        for field in from.list_fields(&path).unwrap_or_default() {
            let value = from.get_field(&path, &field)?.into_owned();
            to.set_field(&path, &field, value);
        }
    }
    Ok(())
}

/// A path of a layer in `folder` as seen from the folder of `out`. Search paths, absolute paths,
/// addresses and expressions stay.
fn anchored(path: &str, folder: &Path, out: &Path) -> String {
    let (file, inside) = match path.find('[') {
        Some(at) => path.split_at(at),
        None => (path, ""),
    };
    let spelled = file.starts_with("./") || file.starts_with("../");
    let odd = file.is_empty() || file.starts_with('`') || file.contains("://");
    if odd || Path::new(file).is_absolute() {
        return path.to_owned();
    }
    // A plain name is looked for beside the layer before it is searched for.
    let beside = folder.join(file);
    let tiled = udim::tiles(file).any(|tile| folder.join(tile).is_file());
    if !spelled && !beside.exists() && !tiled {
        return path.to_owned();
    }
    let same_folder = |a: &Path, b: &Path| match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    let out_folder = match out.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    if same_folder(folder, out_folder) {
        return path.to_owned();
    }
    relative_to(&beside, out) + inside
}
