//! Writing a bake: one flattened file, or a layer of overs.

use std::path::{Component, Path, PathBuf};

use openusd::{sdf, usd_utils};

use super::edits::apply;
use super::save;
use super::unbind::Unbound;
use crate::error::{Error, Result, Source};
use crate::openusd_compat::crate_arrays::Streamed;
use crate::openusd_compat::{
    empty_targets, flatten_clips, flatten_prototypes, schema_order, udim_paths,
};
use crate::usd::file::UsdFile;
use crate::usd::from_asset::convert;
use crate::usd::resolver::CheckedResolver;
use crate::usd::write::edits::BakeEdits;
use crate::usd::write::instances::{Instances, Sharing};
use crate::usd::{resolver, variants};
use sinew::error::Warning;

pub(crate) type Authoring = std::result::Result<(), sdf::AuthoringError>;

impl UsdFile {
    /// Refuses an output that is one of the files that this stage is read from.
    ///
    /// # Errors
    /// [`Error::OutputIsInput`].
    pub fn check_output(&self, output: &Path) -> Result<()> {
        let mut sources: Vec<PathBuf> = self
            .stage
            .layer_identifiers()
            .iter()
            .map(|id| outermost_file(id))
            .collect();
        sources.push(self.file().to_owned());
        // Value clips, which are no layers of the stage.
        sources.extend(self.opened.files());
        for source in sources {
            if crate::is_same_file(&source, output) {
                return Err(Error::OutputIsInput {
                    output: output.to_owned(),
                    reason: format!(
                        "it is read from: {} would be overwritten by what is made of it",
                        source.display()
                    ),
                });
            }
        }
        Ok(())
    }

    /// Writes the composed stage with the edits as one self-contained file; asset paths are made
    /// absolute, or the assets packed, for .usdz. Instances that come out the same stay instances, of
    /// a prim that holds the baked prims once; those that come out like no other are expanded.
    ///
    /// # Errors
    /// A stage that cannot be flattened, or a file that cannot be written.
    pub fn write_flattened(&self, out: &Path, edits: BakeEdits) -> Result<Vec<Warning>> {
        self.write_flattened_with(out, edits, &[], |_| Ok(()))
    }

    /// As [`UsdFile::write_flattened`], with whatever `author` adds to the prims of `apart` and to others
    /// that are in no instance.
    pub(crate) fn write_flattened_with(
        &self,
        out: &Path,
        edits: BakeEdits,
        apart: &[String],
        author: impl FnOnce(&mut sdf::LayerEdit<'_>) -> Authoring,
    ) -> Result<Vec<Warning>> {
        let (layer, streamed) = self.flattened(out, edits, apart, author)?;
        all_here(out, &streamed)?;
        self.write_whole(layer, out)
    }

    /// The composed stage with the edits as a layer that is to be written as `out`, and the samples that are in the file
    /// already.
    pub(crate) fn flattened(
        &self,
        out: &Path,
        edits: BakeEdits,
        apart: &[String],
        author: impl FnOnce(&mut sdf::LayerEdit<'_>) -> Authoring,
    ) -> Result<(sdf::Layer, Streamed)> {
        let fail = |source: Source| Error::Write {
            file: out.to_owned(),
            source,
        };
        self.check_flattened(out)?;
        let mut streamed = Streamed::new();
        let instances = Instances::read(&self.stage, &edits, apart, Sharing::Flattened)
            .map_err(|e| fail(e.into()))?;
        let edits = instances.placed(edits).map_err(|e| fail(e.into()))?;
        let unbound = Unbound::new(&edits);
        let layer = self.flattened_as(&instances, |edit| {
            streamed = apply(edit.data_mut(), edits)?;
            unbound.remove(edit)?;
            author(edit)
        });
        Ok((self.all_flattened(layer, out)?, streamed))
    }

    /// A flattened layer to be written as `out`, unless it would not hold what the files do, now that all of them are read.
    pub(crate) fn all_flattened(
        &self,
        layer: std::result::Result<sdf::Layer, openusd::Error>,
        out: &Path,
    ) -> Result<sdf::Layer> {
        self.opened.check_versions(self.file())?;
        let layer = layer.map_err(|e| Error::write(out, e))?;
        self.check_layer_values(layer.data(), out)?;
        Ok(layer)
    }

    /// The composed stage as one layer, its instances shared as said, with what `author` adds to it.
    pub(crate) fn flattened_as(
        &self,
        instances: &Instances,
        author: impl FnOnce(&mut sdf::LayerEdit<'_>) -> Authoring,
    ) -> std::result::Result<sdf::Layer, openusd::Error> {
        let mut layer = flatten_prototypes::flatten_once(&self.stage, instances)?;
        flatten_clips::flatten_clips(&self.stage, &mut layer)?;
        let folders = self.layer_folders();
        usd_utils::modify_asset_paths(
            &mut layer,
            |path| udim_paths::anchor(path, &folders).unwrap_or_else(|| path.to_owned()),
            true,
        )?;
        let orders = schema_order::lost_orders(&self.stage, &layer)?;
        let blocks = empty_targets::lost_blocks(&self.stage, &layer)?;
        layer.edit(|edit| {
            schema_order::restore(edit.data_mut(), orders);
            empty_targets::restore(edit.data_mut(), blocks);
            flatten_prototypes::write_prototypes(instances, edit.data_mut())?;
            author(edit)
        })?;
        Ok(layer)
    }

    /// Writes a layer that stands for itself, packed with its assets for .usdz; beside others the pictures that are
    /// only in memory are written too.
    pub(crate) fn write_whole(&self, mut layer: sdf::Layer, out: &Path) -> Result<Vec<Warning>> {
        if has_extension(out, "usdz") {
            let pictures = self.made.as_ref().map(|m| m.pictures.clone());
            let search = &self.opened_with.search_paths;
            let resolver = CheckedResolver::new(search, pictures.unwrap_or_default());
            return save::write_package(layer, out, resolver);
        }
        let mut outputs = save::Outputs::default();
        self.write_pictures(&mut layer, out, &mut outputs)?;
        save::export_with(&layer, out, &mut outputs)?;
        outputs.finish()?;
        Ok(Vec::new())
    }

    /// Writes the pictures that are only in memory, and has the layer name them.
    pub(crate) fn write_pictures(
        &self,
        layer: &mut sdf::Layer,
        out: &Path,
        outputs: &mut save::Outputs,
    ) -> Result<()> {
        match &self.made {
            Some(made) => convert::write_pictures(layer, &made.pictures, out, outputs),
            None => Ok(()),
        }
    }

    /// Folders of the layers that the stage is composed from, the root layer's first, and search paths.
    fn layer_folders(&self) -> Vec<PathBuf> {
        let mut out: Vec<PathBuf> = Vec::new();
        for identifier in self.stage.layer_identifiers() {
            let folder = outermost_file(&identifier).parent().map(Path::to_owned);
            out.extend(folder.filter(|f| !out.contains(f)));
        }
        out.extend(resolver::all(&self.opened_with.search_paths));
        out
    }

    /// Writes the edits alone, as overs over the input, which becomes the layer's sublayer.
    /// Instances that come out the same inherit a class that holds their overs, and stay instances; those
    /// that hold baked prims and come out like no other are overridden to `instanceable = false`.
    ///
    /// # Errors
    /// A file that cannot be written; an input that is no USD, which no layer can sublayer.
    pub fn write_layer(&self, out: &Path, edits: BakeEdits) -> Result<Vec<Warning>> {
        self.check_layer(out)?;
        let (layer, streamed) = self.overs(out, edits)?;
        all_here(out, &streamed)?;
        save::export(&layer, out)?;
        Ok(Vec::new())
    }

    /// Refuses a layer of overs over what no layer can sublayer.
    pub(crate) fn check_layer(&self, out: &Path) -> Result<()> {
        if self.made.is_none() {
            return Ok(());
        }
        let input = self.file().display();
        Err(Error::write(
            out,
            format!(
                "a layer of overs needs a USD file below it, and {input} is none: convert it first"
            ),
        ))
    }

    /// The edits alone, as [`UsdFile::write_layer`] has them, and the samples that are in the file already.
    pub(crate) fn overs(&self, out: &Path, edits: BakeEdits) -> Result<(sdf::Layer, Streamed)> {
        let fail = |source: Source| Error::Write {
            file: out.to_owned(),
            source,
        };
        let mut streamed = Streamed::new();
        let instances = Instances::read(&self.stage, &edits, &[], Sharing::Overs)
            .map_err(|e| fail(e.into()))?;
        let edits = instances.placed(edits).map_err(|e| fail(e.into()))?;
        let layer = self.overs_as(out, &instances, |edit| {
            streamed = apply(edit.data_mut(), edits)?;
            Ok(())
        });
        Ok((layer.map_err(|e| fail(e.into()))?, streamed))
    }

    /// A layer over the input that is to be written as `out`, its instances shared as said, with what `author` adds to it.
    pub(crate) fn overs_as(
        &self,
        out: &Path,
        instances: &Instances,
        author: impl FnOnce(&mut sdf::LayerEdit<'_>) -> Authoring,
    ) -> std::result::Result<sdf::Layer, openusd::Error> {
        let mut layer = sdf::Layer::new_anonymous("bake");
        let metadata = self.root_metadata()?;
        let sublayer = relative_to(self.file(), out);
        layer.edit(|edit| {
            // With its offset: a crate file has to hold as many offsets as sublayers.
            let mut root = edit.pseudo_root_mut()?;
            root.insert_sublayer(0, sublayer.as_str(), sdf::LayerOffset::default());
            for (key, value) in metadata {
                edit.data_mut()
                    .set_field(&sdf::Path::abs_root(), key, value);
            }
            // The layer stands without the selections that it was baked with, so it makes them itself.
            variants::author(edit.data_mut(), &self.opened_with.variants)?;
            flatten_prototypes::write_classes(
                instances,
                edit.data_mut(),
                has_extension(out, "usda"),
            )?;
            author(edit)
        })?;
        Ok(layer)
    }

    /// Stage metadata that the input's root layer authors and a sublayer cannot give.
    fn root_metadata(
        &self,
    ) -> std::result::Result<Vec<(&'static str, sdf::Value)>, openusd::Error> {
        const KEYS: [&str; 8] = [
            "defaultPrim",
            "upAxis",
            "metersPerUnit",
            "kilogramsPerUnit",
            "startTimeCode",
            "endTimeCode",
            "timeCodesPerSecond",
            "framesPerSecond",
        ];
        let mut out = Vec::new();
        let root = self.stage.root_layer();
        for key in KEYS {
            if let Some(value) = root.data().try_field(&sdf::Path::abs_root(), key)? {
                out.push((key, value.into_owned()));
            }
        }
        Ok(out)
    }
}

pub(crate) fn has_extension(file: &Path, extension: &str) -> bool {
    crate::extension(file) == extension
}

/// The file of a layer identifier, the outermost package of one inside a package.
pub(crate) fn outermost_file(identifier: &str) -> PathBuf {
    PathBuf::from(identifier.split('[').next().unwrap_or(identifier))
}

/// Arrays that are in a file make sense in that file alone.
pub(crate) fn all_here(out: &Path, streamed: &Streamed) -> Result<()> {
    match streamed.keys().next() {
        None => Ok(()),
        Some(path) => {
            let reason = format!("the samples of {path} are in another file");
            Err(Error::write(out, reason))
        }
    }
}

/// `target` as seen from the folder of `from`, with forward slashes. Absolute where they share no
/// folder, and where a symbolic link makes `..` ambiguous: USD takes `..` off the path as spelled.
pub(crate) fn relative_to(target: &Path, from: &Path) -> String {
    let slashed = |p: &Path| p.to_string_lossy().replace('\\', "/");
    let absolute = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.to_owned());
    let target = absolute(target);
    let folder = absolute(from)
        .parent()
        .map_or_else(PathBuf::new, Path::to_owned);
    let plain = |p: &Path| p.canonicalize().is_ok_and(|c| c == without_dots(p));
    if !plain(&folder) || !target.parent().is_some_and(plain) {
        return slashed(&target);
    }
    let (target, folder) = (without_dots(&target), without_dots(&folder));
    let (t, f): (Vec<_>, Vec<_>) = (target.components().collect(), folder.components().collect());
    let shared = t.iter().zip(&f).take_while(|(a, b)| a == b).count();
    if shared <= 1 {
        return slashed(&target);
    }
    let up = "../".repeat(f.len() - shared);
    let down: PathBuf = t[shared..].iter().collect();
    let prefix = if up.is_empty() { "./" } else { up.as_str() };
    format!("{prefix}{}", slashed(&down))
}

/// The path with `.` and `..` taken out by spelling alone.
fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
