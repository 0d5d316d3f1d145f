//! Writing a bake: one flattened file, or a layer of overs.

use std::path::{Component, Path, PathBuf};

use openusd::{gf, sdf, tf, usd_utils};

use super::crate_arrays::Streamed;
use super::edits::{BakeEdits, BakedArray, BakedHint, BakedPrim, BakedTransform, Kept, Samples};
use super::explain::explain;
use super::instances::{Instances, Sharing};
use super::made;
use super::read::UsdFile;
use super::resolver::{self, CheckedResolver};
use super::values::matrix4d;
use super::{clips, output, package, prototypes, udim, variants};
use crate::error::{Error, Result, Warning};
use crate::sampled::Time;
use crate::scene::NormalsProperty;

const API_SCHEMAS: &str = "apiSchemas";

pub(super) type Authoring = std::result::Result<(), sdf::AuthoringError>;

impl UsdFile {
    /// Refuses an output that is one of the files this stage is read from.
    ///
    /// # Errors
    /// As said.
    pub fn check_output(&self, output: &Path) -> Result<()> {
        let Ok(output_file) = output.canonicalize() else {
            return Ok(()); // Not there yet, so nothing is overwritten.
        };
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
            if source.canonicalize().is_ok_and(|s| s == output_file) {
                return Err(Error::Write {
                    file: output.to_owned(),
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
    pub(super) fn write_flattened_with(
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
    pub(super) fn flattened(
        &self,
        out: &Path,
        edits: BakeEdits,
        apart: &[String],
        author: impl FnOnce(&mut sdf::LayerEdit<'_>) -> Authoring,
    ) -> Result<(sdf::Layer, Streamed)> {
        let fail = |reason: String| Error::Write {
            file: out.to_owned(),
            reason,
        };
        let mut streamed = Streamed::new();
        let instances = Instances::read(&self.stage, &edits, apart, Sharing::Flattened)
            .map_err(|e| fail(explain(&e)))?;
        let edits = instances.placed(edits).map_err(|e| fail(explain(&e)))?;
        let layer = self.flattened_as(&instances, |edit| {
            streamed = apply(edit.data_mut(), edits)?;
            author(edit)
        });
        Ok((layer.map_err(|e| fail(explain(&e)))?, streamed))
    }

    /// The composed stage as one layer, its instances shared as said, with what `author` adds to it.
    pub(super) fn flattened_as(
        &self,
        instances: &Instances,
        author: impl FnOnce(&mut sdf::LayerEdit<'_>) -> Authoring,
    ) -> std::result::Result<sdf::Layer, openusd::Error> {
        let mut layer = prototypes::flatten_once(&self.stage, instances)?;
        clips::flatten_clips(&self.stage, &mut layer)?;
        let folders = self.layer_folders();
        usd_utils::modify_asset_paths(
            &mut layer,
            |path| udim::anchor(path, &folders).unwrap_or_else(|| path.to_owned()),
            true,
        )?;
        let orders = self.schema_orders(&layer)?;
        let blocks = self.empty_targets(&layer)?;
        layer.edit(|edit| {
            for (path, order) in orders {
                let value = sdf::TokenListOp::explicit(order).into();
                edit.data_mut().set_field(&path, API_SCHEMAS, value);
            }
            for path in blocks {
                let key = sdf::FieldKey::TargetPaths.as_str();
                let none = sdf::PathListOp::explicit(Vec::new());
                edit.data_mut().set_field(&path, key, none.into());
            }
            prototypes::write_prototypes(instances, edit.data_mut())?;
            author(edit)
        })?;
        Ok(layer)
    }

    /// Writes a layer that stands for itself, packed with its assets for .usdz; beside others the pictures that are
    /// only in memory are written too.
    pub(super) fn write_whole(&self, mut layer: sdf::Layer, out: &Path) -> Result<Vec<Warning>> {
        if has_extension(out, "usdz") {
            let pictures = self.made.as_ref().map(|m| m.pictures.clone());
            let search = &self.opened_with.search_paths;
            let resolver = CheckedResolver::new(search, pictures.unwrap_or_default());
            return package::write_package(layer, out, resolver);
        }
        let mut outputs = output::Outputs::default();
        self.write_pictures(&mut layer, out, &mut outputs)?;
        output::export_with(&layer, out, &mut outputs)?;
        outputs.finish()?;
        Ok(Vec::new())
    }

    /// Writes the pictures that are only in memory, and has the layer name them.
    pub(super) fn write_pictures(
        &self,
        layer: &mut sdf::Layer,
        out: &Path,
        outputs: &mut output::Outputs,
    ) -> Result<()> {
        match &self.made {
            Some(made) => made::write_pictures(layer, &made.pictures, out, outputs),
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

    /// Applied schemas in the order that the layers ask for, where openusd's flatten has another
    /// one: the order is their strength.
    fn schema_orders(
        &self,
        flat: &sdf::Layer,
    ) -> std::result::Result<Vec<(sdf::Path, Vec<tf::Token>)>, openusd::Error> {
        let mut out = Vec::new();
        for path in flat.data().spec_paths() {
            let value = flat.data().try_field(&path, API_SCHEMAS)?;
            let Some(sdf::Value::TokenListOp(flattened)) = value.as_deref() else {
                continue;
            };
            if flattened.explicit_items.len() < 2 {
                continue;
            }
            let mut order: Vec<tf::Token> = Vec::new();
            for site in self.stage.prim(&path)?.prim_stack()?.into_iter().rev() {
                let Some(layer) = self.stage.layer(&site.layer) else {
                    continue;
                };
                let value = layer.data().try_field(&site.path, API_SCHEMAS)?;
                if let Some(sdf::Value::TokenListOp(opinion)) = value.as_deref() {
                    order = opinion.compose_over(&order);
                }
            }
            let same_schemas = order.len() == flattened.explicit_items.len()
                && order.iter().all(|s| flattened.explicit_items.contains(s));
            if same_schemas && order != flattened.explicit_items {
                out.push((path, order));
            }
        }
        Ok(out)
    }

    /// Relationships whose targets are authored as none at all, which openusd's flatten forgets: an empty
    /// skel:animationSource blocks what it would inherit (rule 3).
    fn empty_targets(
        &self,
        flat: &sdf::Layer,
    ) -> std::result::Result<Vec<sdf::Path>, openusd::Error> {
        let key = sdf::FieldKey::TargetPaths.as_str();
        let mut out = Vec::new();
        for path in flat.data().spec_paths() {
            if flat.data().spec_type(&path) != Some(sdf::SpecType::Relationship)
                || flat.data().try_field(&path, key)?.is_some()
            {
                continue;
            }
            if self.stage.relationship(&path)?.has_authored_targets()? {
                out.push(path);
            }
        }
        Ok(out)
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
        output::export(&layer, out)?;
        Ok(Vec::new())
    }

    /// Refuses a layer of overs over what no layer can sublayer.
    pub(super) fn check_layer(&self, out: &Path) -> Result<()> {
        if self.made.is_none() {
            return Ok(());
        }
        let input = self.file().display();
        Err(Error::Write {
            file: out.to_owned(),
            reason: format!(
                "a layer of overs needs a USD file below it, and {input} is none: convert it first"
            ),
        })
    }

    /// The edits alone, as [`UsdFile::write_layer`] has them, and the samples that are in the file already.
    pub(super) fn overs(&self, out: &Path, edits: BakeEdits) -> Result<(sdf::Layer, Streamed)> {
        let fail = |reason: String| Error::Write {
            file: out.to_owned(),
            reason,
        };
        let mut streamed = Streamed::new();
        let instances = Instances::read(&self.stage, &edits, &[], Sharing::Overs)
            .map_err(|e| fail(explain(&e)))?;
        let edits = instances.placed(edits).map_err(|e| fail(explain(&e)))?;
        let layer = self.overs_as(out, &instances, |edit| {
            streamed = apply(edit.data_mut(), edits)?;
            Ok(())
        });
        Ok((layer.map_err(|e| fail(explain(&e)))?, streamed))
    }

    /// A layer over the input that is to be written as `out`, its instances shared as said, with what `author` adds to it.
    pub(super) fn overs_as(
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
            prototypes::write_classes(instances, edit.data_mut(), has_extension(out, "usda"))?;
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

pub(super) fn has_extension(file: &Path, extension: &str) -> bool {
    file.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

/// The file of a layer identifier, the outermost package of one inside a package.
pub(super) fn outermost_file(identifier: &str) -> PathBuf {
    PathBuf::from(identifier.split('[').next().unwrap_or(identifier))
}

/// Arrays that are in a file make sense in that file alone.
pub(super) fn all_here(out: &Path, streamed: &Streamed) -> Result<()> {
    match streamed.keys().next() {
        None => Ok(()),
        Some(path) => Err(Error::Write {
            file: out.to_owned(),
            reason: format!("the samples of {path} are in another file"),
        }),
    }
}

/// Authors what a bake changes. The samples that are in the file already are blocks in the layer, and come back.
pub(super) fn apply(
    data: &mut dyn sdf::AbstractData,
    mut edits: BakeEdits,
) -> std::result::Result<Streamed, sdf::AuthoringError> {
    for path in &edits.retype {
        sdf::PrimSpec::over(data, path.as_str())?.set_type_name("Xform");
    }
    for prim in &mut edits.prims {
        for (property, samples) in &prim.normals {
            if *property == NormalsProperty::Primvar && !samples.is_empty() {
                unindex(data, &prim.path, property.name())?;
            }
        }
        if let Some(transform) = prim.transform.take() {
            author_transform(data, &prim.path, transform)?;
        }
    }
    author_arrays(data, edits.prims, edits.hints)
}

/// Authors points, normals and boxes; what is in the file already as [`apply`] does.
pub(super) fn author_arrays(
    data: &mut dyn sdf::AbstractData,
    prims: Vec<BakedPrim>,
    hints: Vec<BakedHint>,
) -> std::result::Result<Streamed, sdf::AuthoringError> {
    let mut streamed = Streamed::new();
    for prim in prims {
        let path = &prim.path;
        let points = [("points", "point3f[]", prim.points)];
        let normals = prim.normals.into_iter();
        let normals = normals.map(|(property, samples)| (property.name(), "normal3f[]", samples));
        for (name, type_name, samples) in points.into_iter().chain(normals) {
            author_array(data, path, name, type_name, samples, &mut streamed)?;
        }
        let extent = map_samples(prim.extent, |e| vec3f(e.to_vec()));
        author(data, path, "extent", "float3[]", extent)?;
    }
    for hint in hints {
        let samples = map_samples(hint.samples, vec3f);
        author(data, &hint.path, "extentsHint", "float3[]", samples)?;
    }
    Ok(streamed)
}

fn map_samples<T>(samples: Samples<T>, f: impl Fn(T) -> sdf::Value) -> Samples<sdf::Value> {
    samples.into_iter().map(|(t, v)| (t, f(v))).collect()
}

fn author_array(
    data: &mut dyn sdf::AbstractData,
    prim: &str,
    name: &str,
    type_name: &str,
    samples: Samples<BakedArray>,
    streamed: &mut Streamed,
) -> Authoring {
    let offset = |array: &BakedArray| match array.0 {
        Kept::Here(_) => None,
        Kept::InFile(offset) => Some(offset),
    };
    let timed = samples.iter().filter(|(time, _)| time.code().is_some());
    let offsets: Vec<Option<u64>> = timed.map(|(_, array)| offset(array)).collect();
    if offsets.iter().any(Option::is_some) {
        streamed.insert(sdf::Path::new(prim)?.append_property(name)?, offsets);
    }
    let value = |array: BakedArray| match array.0 {
        Kept::Here(values) => vec3f(values),
        Kept::InFile(_) => sdf::Value::ValueBlock,
    };
    author(data, prim, name, type_name, map_samples(samples, value))
}

/// Blocks the indices of a primvar that is written flat.
pub(super) fn unindex(data: &mut dyn sdf::AbstractData, prim: &str, name: &str) -> Authoring {
    let block = vec![(Time::Default, sdf::Value::ValueBlock)];
    author(data, prim, &format!("{name}:indices"), "int[]", block)
}

/// Makes `xformOp:transform` the prim's only op, as Pixar's bake does.
fn author_transform(
    data: &mut dyn sdf::AbstractData,
    prim: &str,
    transform: BakedTransform,
) -> Authoring {
    let is_identity = |(_, m): &(Time, glam::DMat4)| *m == glam::DMat4::IDENTITY;
    let moves = !transform.samples.iter().all(is_identity);
    if moves {
        author_matrices(data, prim, transform.samples)?;
    }
    author_order(data, prim, transform.resets, moves)
}

pub(super) const TRANSFORM: &str = "xformOp:transform";

pub(super) fn author_matrices(
    data: &mut dyn sdf::AbstractData,
    prim: &str,
    samples: Samples<glam::DMat4>,
) -> Authoring {
    let samples = map_samples(samples, |m| sdf::Value::Matrix4d(matrix4d(m)));
    author(data, prim, TRANSFORM, "matrix4d", samples)
}

/// Has a prim no op but its `xformOp:transform`, or none where it does not move.
pub(super) fn author_order(
    data: &mut dyn sdf::AbstractData,
    prim: &str,
    resets: bool,
    moves: bool,
) -> Authoring {
    let reset = resets.then(|| tf::Token::from("!resetXformStack!"));
    let order = reset
        .into_iter()
        .chain(moves.then(|| tf::Token::from(TRANSFORM)));
    let path = sdf::Path::new(prim)?.append_property("xformOpOrder")?;
    if !data.has_spec(&path) {
        let uniform = sdf::Variability::Uniform;
        sdf::AttributeSpec::new(data, &path, "token[]", uniform, false)?;
    }
    let default = sdf::FieldKey::Default.as_str();
    data.set_field(&path, default, sdf::Value::TokenVec(order.collect()));
    Ok(())
}

fn vec3f(v: Vec<glam::Vec3>) -> sdf::Value {
    // Both are three packed f32, so this moves the allocation and copies nothing.
    sdf::Value::Vec3fVec(bytemuck::cast_vec::<_, gf::Vec3f>(v))
}

/// Authors samples, replacing the ones that were there, or the default value.
pub(super) fn author(
    data: &mut dyn sdf::AbstractData,
    prim: &str,
    name: &str,
    type_name: &str,
    samples: Samples<sdf::Value>,
) -> Authoring {
    if samples.is_empty() {
        return Ok(());
    }
    let path = sdf::Path::new(prim)?.append_property(name)?;
    if !data.has_spec(&path) {
        sdf::AttributeSpec::new(data, &path, type_name, sdf::Variability::Varying, false)?;
    }
    let mut timed: sdf::TimeSampleMap = Vec::with_capacity(samples.len());
    for (time, value) in samples {
        match time {
            Time::At(t) => timed.push((t, value)),
            Time::Default => data.set_field(&path, sdf::FieldKey::Default.as_str(), value),
        }
    }
    let samples = sdf::FieldKey::TimeSamples.as_str();
    if timed.is_empty() {
        data.erase_field(&path, samples);
    } else {
        data.set_field(&path, samples, sdf::Value::TimeSamples(timed));
    }
    Ok(())
}

/// `target` as seen from the folder of `from`, with forward slashes. Absolute where they share no
/// folder, and where a symbolic link makes `..` ambiguous: USD takes `..` off the path as spelled.
pub(super) fn relative_to(target: &Path, from: &Path) -> String {
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
