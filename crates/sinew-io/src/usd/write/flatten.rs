//! Writing a bake: one flattened file, or a layer of overs.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use sinew_layer::layer::field;
use sinew_layer::value::{LayerOffset, Specifier};
use sinew_layer::{Layer, ListOp, SpecKind, Token, Value, assets, usdc};
use sinew_stage::flatten::{Home, Instancing, flatten};
use sinew_stage::resolver::Resolver;

use super::edits::apply;
use super::old_motion;
use super::save::{self, Written};
use super::unbind::Unbound;
use crate::error::{Error, Result, explain};
use crate::usd::file::UsdFile;
use crate::usd::from_asset::convert;
use crate::usd::variants;
use crate::usd::write::edits::BakeEdits;
use crate::usd::write::instances::{Instances, Sharing};
use sinew::error::Warning;

impl UsdFile {
    /// Refuses an output that is one of the files of this stage, as [`UsdFile::check_outputs`] does.
    ///
    /// # Errors
    /// [`Error::OutputIsInput`].
    pub fn check_output(&self, output: &Path) -> Result<()> {
        self.check_outputs([output])
    }

    /// Refuses outputs that are among the files that this stage is read from or refers to: its
    /// layers, value clips, packages and textures.
    ///
    /// # Errors
    /// [`Error::OutputIsInput`].
    pub fn check_outputs(&self, outputs: impl IntoIterator<Item: AsRef<Path>>) -> Result<()> {
        crate::output::check(outputs, || self.sources())
    }

    /// The files that this stage is read from or refers to.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        // Value clips, which are no layers of the stage, are among the opened files.
        let mut sources = self.resolver.opened_files();
        sources.push(self.file().to_owned());
        sources.extend(
            self.made
                .iter()
                .flat_map(|made| made.sources.iter().cloned()),
        );
        for (identifier, layer) in self.stage.layers() {
            // A layer that is broken somewhere has no more paths than those before.
            let _ = assets::map(&mut Layer::clone(layer), |path| {
                let path = self
                    .stage
                    .evaluated(path)
                    .unwrap_or_else(|| path.to_owned());
                let files = std::iter::once(path.clone()).chain(save::tiles(&path));
                let files = files.filter_map(|file| self.resolver.resolve(&file, Some(identifier)));
                sources.extend(files.map(PathBuf::from));
                None
            });
        }
        sources
    }

    /// Writes the composed stage with the edits as one self-contained file; asset paths are made
    /// absolute, or the assets packed, for .usdz. Instances that come out the same stay instances, of
    /// a prim that holds the baked prims once; those with baked prims that come out like no other are expanded.
    ///
    /// # Errors
    /// A stage that cannot be flattened, or a file that cannot be written.
    pub fn write_flattened(&self, out: &Path, edits: BakeEdits) -> Result<Written> {
        self.write_flattened_with(out, edits, &[], |_| ())
    }

    /// The bytes of the .usdc that [`UsdFile::write_flattened`] writes without edits, and its warnings; nothing is
    /// written. Textures are named in it as in the layers. They are not in it: each has a warning `texture-left-out`.
    ///
    /// # Errors
    /// A stage that cannot be flattened.
    pub fn usdc_bytes(&self) -> Result<(Vec<u8>, Vec<Warning>)> {
        let name = self.file().with_extension("usdc");
        let fail = |source: String| Error::write(&name, source);
        let extents = |layer: &mut Layer| self.write_extents(layer, true);
        let (mut layer, mut warnings) =
            self.flattened(&name, BakeEdits::default(), &[], extents)?;
        let mut named = BTreeSet::new();
        let noted = assets::map(&mut layer, |path| {
            named.insert(path.to_owned());
            None
        });
        noted.map_err(|e| fail(explain(&e)))?;
        warnings.extend(named.into_iter().map(|path| {
            let message = "the .usdc names this file and does not contain it";
            Warning::new("texture-left-out", path, message)
        }));
        let written = usdc::write_layer(&layer, Cursor::new(Vec::new()));
        let written = written.map_err(|e| fail(explain(&e)))?;
        Ok((written.into_inner(), warnings))
    }

    /// As [`UsdFile::write_flattened`], with whatever `author` adds to the prims of `apart` and to others
    /// that are in no instance.
    pub(crate) fn write_flattened_with(
        &self,
        out: &Path,
        edits: BakeEdits,
        apart: &[String],
        author: impl FnOnce(&mut Layer),
    ) -> Result<Written> {
        let (layer, warnings) = self.flattened(out, edits, apart, author)?;
        Ok(self.write_whole(layer, out)?.after(warnings))
    }

    /// The composed stage with the edits as a layer that is to be written as `out`.
    pub(crate) fn flattened(
        &self,
        out: &Path,
        mut edits: BakeEdits,
        apart: &[String],
        author: impl FnOnce(&mut Layer),
    ) -> Result<(Layer, Vec<Warning>)> {
        let old = self.block_old_motion(&mut edits);
        let instances = Instances::read(&self.stage, &edits, apart, Sharing::Flattened);
        let edits = instances.placed(edits);
        let unbound = Unbound::new(&edits);
        let (layer, mut warnings) = self.flattened_as(out, &instances, |layer| {
            apply(layer, edits);
            unbound.remove(layer);
            author(layer);
        })?;
        warnings.extend(old);
        Ok((layer, warnings))
    }

    /// Has the output no velocities and accelerations beside new points that they do not belong to.
    fn block_old_motion(&self, edits: &mut BakeEdits) -> Vec<Warning> {
        let (blocked, warnings) =
            old_motion::find(&self.stage, &edits.prims, |prim, name| match name {
                "points" => !prim.points.is_empty(),
                "velocities" => !prim.velocities.is_empty(),
                _ => false,
            });
        edits.blocked.extend(blocked);
        warnings
    }

    /// The composed stage as one layer, its instances shared as said, with what `author` adds to it.
    pub(crate) fn flattened_as(
        &self,
        out: &Path,
        instances: &Instances,
        author: impl FnOnce(&mut Layer),
    ) -> Result<(Layer, Vec<Warning>)> {
        let shared = instances.shared().into_iter();
        let homes = shared.map(|group| Home {
            path: instances.home(group),
            instance: instances.first(group).clone(),
        });
        let instancing = Instancing {
            homes: homes.collect(),
            home_of: &|instance| instances.home_of(instance),
        };
        let flattened = flatten(&self.stage, &instancing).map_err(|e| Error::write(out, e))?;
        let warnings = flattened.warnings.into_iter();
        let warnings = warnings.map(|w| Warning::new(w.code, w.path.as_str(), w.message));
        let mut layer = flattened.layer;
        author(&mut layer);
        Ok((layer, warnings.collect()))
    }

    /// Writes a layer that stands for itself, packed with its assets for .usdz; beside others the pictures that are
    /// only in memory are written too.
    pub(crate) fn write_whole(&self, mut layer: Layer, out: &Path) -> Result<Written> {
        if has_extension(out, "usdz") {
            let warnings = self.write_package(layer, None, out)?;
            return Ok(Written::file(out, warnings));
        }
        let mut outputs = save::Outputs::default();
        self.write_pictures(&mut layer, out, &mut outputs)?;
        save::export_with(&layer, out, &mut outputs)?;
        Written::finish(outputs, out)
    }

    /// Writes the pictures that are only in memory, and has the layer name them.
    pub(crate) fn write_pictures(
        &self,
        layer: &mut Layer,
        out: &Path,
        outputs: &mut save::Outputs,
    ) -> Result<()> {
        match &self.made {
            Some(made) => convert::write_pictures(layer, &made.pictures, out, outputs),
            None => Ok(()),
        }
    }

    /// Writes the edits alone, as overs over the input, which becomes the layer's sublayer.
    /// Instances that come out the same inherit a class that holds their overs, and stay instances; those
    /// that hold baked prims and come out like no other are overridden to `instanceable = false`.
    ///
    /// # Errors
    /// A file that cannot be written; an input that is no USD, which no layer can sublayer.
    pub fn write_layer(&self, out: &Path, edits: BakeEdits) -> Result<Written> {
        self.check_layer(out)?;
        let (layer, warnings) = self.overs(out, edits)?;
        save::export(&layer, out)?;
        Ok(Written::file(out, warnings))
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
                "a layer of overs needs a USD file below it, and {input} is not a USD file: convert it first"
            ),
        ))
    }

    /// The edits alone, as [`UsdFile::write_layer`] has them.
    pub(crate) fn overs(&self, out: &Path, mut edits: BakeEdits) -> Result<(Layer, Vec<Warning>)> {
        let old = self.block_old_motion(&mut edits);
        let instances = Instances::read(&self.stage, &edits, &[], Sharing::Overs);
        let edits = instances.placed(edits);
        let layer = self.overs_as(out, &instances, |layer| apply(layer, edits))?;
        Ok((layer, old))
    }

    /// A layer over the input that is to be written as `out`, its instances shared as said, with what `author` adds to it.
    pub(crate) fn overs_as(
        &self,
        out: &Path,
        instances: &Instances,
        author: impl FnOnce(&mut Layer),
    ) -> Result<Layer> {
        let mut layer = Layer::new("bake");
        // Metadata of the stage are the root layer's: a sublayer's do not count.
        for (key, value) in self.stage.root_layer().root().fields.iter() {
            if !COMPOSED.contains(&key.as_str()) {
                layer.root_mut().fields.set(key.clone(), value.clone());
            }
        }
        self.move_paths(&mut layer, out)?;
        insert_sublayer(&mut layer, relative_to(self.file(), out));
        // The layer stands without the selections that it was baked with, so it makes them itself.
        variants::author(&mut layer, &self.opened_with.variants);
        self.chosen_clip.author(&mut layer);
        write_classes(instances, &mut layer);
        author(&mut layer);
        Ok(layer)
    }
}

/// Fields of the root layer that count in a sublayer too.
const COMPOSED: [&str; 5] = [
    field::SUBLAYERS,
    field::SUBLAYER_OFFSETS,
    field::LAYER_RELOCATES,
    field::RELOCATES,
    field::PRIM_ORDER,
];

/// Makes a layer the strongest sublayer.
pub(crate) fn insert_sublayer(layer: &mut Layer, sublayer: String) {
    let root = &mut layer.root_mut().fields;
    let mut paths: Vec<Token> = match root.get(field::SUBLAYERS) {
        Some(Value::StringVector(paths)) => paths.to_vec(),
        _ => Vec::new(),
    };
    let mut offsets: Vec<LayerOffset> = match root.get(field::SUBLAYER_OFFSETS) {
        Some(Value::LayerOffsetVector(offsets)) => offsets.to_vec(),
        _ => Vec::new(),
    };
    // As many offsets as sublayers.
    offsets.resize(paths.len(), LayerOffset::IDENTITY);
    paths.insert(0, sublayer.into());
    offsets.insert(0, LayerOffset::IDENTITY);
    root.set(field::SUBLAYERS, Value::StringVector(Arc::new(paths)));
    root.set(
        field::SUBLAYER_OFFSETS,
        Value::LayerOffsetVector(Arc::new(offsets)),
    );
}

/// Declares the classes that hold the overs of shared instances, has these inherit them, and expands
/// the instances that hold baked prims of their own.
fn write_classes(instances: &Instances, layer: &mut Layer) {
    for group in instances.shared() {
        let home = instances.home(group);
        let class = Value::Specifier(Specifier::Class);
        let home_spec = layer.create(&home, SpecKind::Prim);
        home_spec.fields.set(field::SPECIFIER, class);
        for position in instances.positions(group) {
            let inherits = ListOp::prepended(vec![home.clone()]);
            let inherits = Value::PathListOp(Arc::new(inherits));
            layer.over(position).fields.set(field::INHERITS, inherits);
        }
    }
    for position in instances.expanded() {
        let expanded = Value::Bool(false);
        layer
            .over(&position)
            .fields
            .set(field::INSTANCEABLE, expanded);
    }
}

pub(crate) fn has_extension(file: &Path, extension: &str) -> bool {
    crate::extension(file) == extension
}

/// The file of a layer identifier, the outermost package of one inside a package.
pub(crate) fn outermost_file(identifier: &str) -> PathBuf {
    PathBuf::from(identifier.split('[').next().unwrap_or(identifier))
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
    // A folder that is not there yet is made as it is spelled.
    let plain = |p: &Path| {
        let there = p.ancestors().find(|a| a.exists());
        there.is_some_and(|a| a.canonicalize().is_ok_and(|c| c == without_dots(a)))
    };
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
