//! Bakes cut into clips: layers that hold the samples of a run of frames, and a stage that plays them as USD's value clips.
//!
//! A clip is weaker than any value in the layer that names it, so that layer names the clips and no more. All that is the same
//! at all times, rest values of what moves too, is in a layer below it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use openusd::sdf::{AssetPath, FieldKey, Value};
use openusd::{gf, sdf};

use super::save::Outputs;
use super::unbind::Unbound;
use super::{edits, save};
use crate::error::{Error, Result};
use crate::openusd_compat::crate_arrays::Streamed;
use crate::usd::file::UsdFile;
use crate::usd::write::bake_output::BakeOutput;
use crate::usd::write::clip_file::{ClipContents, ClipRecord};
use crate::usd::write::edits::BakeEdits;
use crate::usd::write::flatten::{Authoring, relative_to};
use crate::usd::write::instances::{Instances, Sharing};
use sinew::error::Invalid;
use sinew::sampled::Time;
use sinew::scene::NormalsProperty;

const PRIM_CHILDREN: &str = "primChildren";
const SUBLAYERS: [&str; 2] = ["subLayers", "subLayerOffsets"];

/// Where the prims of a bake are in its output, the same for all clips.
pub struct ClipLayout {
    instances: Instances,
    overs: bool,
    /// How a clip's time codes run.
    rates: Vec<(&'static str, Value)>,
}

/// The files of a stage that plays value clips.
pub struct ClipStage<'a> {
    pub out: &'a Path,
    /// The layer of everything that is the same at all times: the flattened stage without samples,
    /// or overs over the input.
    pub topology: &'a Path,
    /// The manifest, which declares the attributes that the clips hold samples of.
    pub manifest: &'a Path,
    /// The clips in order, each with the time code from which it holds.
    pub clips: &'a [(PathBuf, f64)],
}

impl UsdFile {
    /// Finds where a bake of these prims, which have no samples yet, puts them in the stage `out`. With `overs` the stage
    /// will be a layer over the input.
    ///
    /// # Errors
    /// A stage whose instances cannot be distinguished; a layer over a file that is not USD.
    pub fn clip_layout(&self, out: &Path, prims: &BakeEdits, overs: bool) -> Result<ClipLayout> {
        if overs {
            self.check_layer(out)?;
        }
        let fail = |e: openusd::Error| Error::open(self.file(), e);
        let sharing = match overs {
            true => Sharing::Overs,
            false => Sharing::Flattened,
        };
        let root = self.stage.root_layer();
        let mut rates = Vec::new();
        for key in ["timeCodesPerSecond", "framesPerSecond"] {
            let value = root.data().try_field(&sdf::Path::abs_root(), key);
            let value = value.map_err(|e| fail(e.into()))?;
            rates.extend(value.map(|v| (key, v.into_owned())));
        }
        drop(root);
        Ok(ClipLayout {
            instances: Instances::read(&self.stage, prims, &[], sharing).map_err(fail)?,
            overs,
            rates,
        })
    }

    /// Writes the stage over clips that are there: what is still, the manifest, and `stage.out` with the clips' names.
    /// `edits` says of the prims that came out, without samples, how their transforms are stacked and which SkelRoots become
    /// Xforms.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_clip_stage(
        &self,
        layout: &ClipLayout,
        stage: &ClipStage<'_>,
        contents: &ClipContents,
        edits: BakeEdits,
    ) -> Result<()> {
        let fail = |e: openusd::Error| Error::write(stage.out, e);
        let edits = layout.instances.placed(edits).map_err(fail)?;
        let mut outputs = Outputs::default();
        let unbound = Unbound::new(&edits);
        let declare = |edit: &mut sdf::LayerEdit<'_>| {
            declare(edit.data_mut(), contents, edits)?;
            match layout.overs {
                true => Ok(()),
                false => unbound.remove(edit),
            }
        };
        let mut topology = match layout.overs {
            true => self
                .overs_as(stage.topology, &layout.instances, declare)
                .map_err(fail)?,
            false => {
                let topology = self.flattened_as(&layout.instances, declare);
                self.all_flattened(topology, stage.topology)?
            }
        };
        let root = over(&topology, stage, |edit| {
            author_clips(edit.data_mut(), stage, contents, layout.overs)
        });
        let root = root.map_err(fail)?;
        if !layout.overs {
            self.write_pictures(&mut topology, stage.topology, &mut outputs)?;
        }
        save::export_with(&topology, stage.topology, &mut outputs)?;
        let manifest = manifest(contents).map_err(fail)?;
        save::export_with(&manifest, stage.manifest, &mut outputs)?;
        save::export_with(&root, stage.out, &mut outputs)?;
        outputs.remove_leftovers()?;
        outputs.finish()
    }
}

impl ClipLayout {
    /// Returns the path in the output of a prim of the stage.
    ///
    /// # Errors
    /// No path of a prim.
    pub fn place(&self, prim: &str) -> Result<String> {
        let path = sdf::Path::new(prim)
            .map_err(|e| Invalid::new(prim, "", "a prim path", e.to_string()))?;
        Ok(self.instances.place(&path).as_str().to_owned())
    }

    /// Writes the results of a run of frames, first and last in `frames`, behind the arrays that are in `out` already.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_clip(
        &self,
        out: BakeOutput<'_>,
        edits: BakeEdits,
        frames: Option<(f64, f64)>,
        record: &ClipRecord,
    ) -> Result<()> {
        let mut layer = sdf::Layer::new_anonymous("clip");
        let written = self.author_clip(&mut layer, edits, frames, record);
        let streamed = written.map_err(|e| out.failed(e))?;
        out.finish_layer(layer, streamed).map(|_| ())
    }

    fn author_clip(
        &self,
        layer: &mut sdf::Layer,
        edits: BakeEdits,
        frames: Option<(f64, f64)>,
        record: &ClipRecord,
    ) -> std::result::Result<Streamed, openusd::Error> {
        let mut edits = self.instances.placed(edits)?;
        let mut streamed = Streamed::new();
        layer.edit(|edit| {
            let data = edit.data_mut();
            let root = sdf::Path::abs_root();
            record.write(data);
            for (key, value) in &self.rates {
                data.set_field(&root, key, value.clone());
            }
            if let Some((first, last)) = frames {
                data.set_field(&root, "startTimeCode", Value::Double(first));
                data.set_field(&root, "endTimeCode", Value::Double(last));
            }
            for prim in &mut edits.prims {
                // The order of its ops holds at all times, so it is the stage's.
                if let Some(transform) = prim.transform.take() {
                    edits::author_matrices(data, &prim.path, transform.samples)?;
                }
            }
            // Likewise what becomes of indices and types.
            streamed = edits::author_arrays(data, edits.prims, edits.hints)?;
            Ok::<(), sdf::AuthoringError>(())
        })?;
        Ok(streamed)
    }
}

/// Declares what the clips give values to, without samples of its own, and authors what is still.
fn declare(
    data: &mut dyn sdf::AbstractData,
    contents: &ClipContents,
    edits: BakeEdits,
) -> Authoring {
    let sampled = contents.sampled.iter().map(|(p, (t, _))| (p, t, None));
    let still = contents.still.iter().map(|(p, (t, v))| (p, t, Some(v)));
    for (path, type_name, value) in sampled.chain(still) {
        let path = declared(data, path, type_name)?;
        data.erase_field(&path, FieldKey::TimeSamples.as_str());
        if let Some(value) = value {
            data.set_field(&path, FieldKey::Default.as_str(), value.clone());
        }
        if let Some((prim, name)) = path.split_property()
            && name == NormalsProperty::Primvar.name()
        {
            edits::unindex(data, prim.as_str(), name)?;
        }
    }
    for prim in &edits.prims {
        if let Some(transform) = &prim.transform {
            let moves = format!("{}.{}", prim.path, edits::TRANSFORM);
            let moves =
                contents.sampled.contains_key(&moves) || contents.still.contains_key(&moves);
            edits::author_order(data, &prim.path, transform.resets, moves)?;
        }
    }
    for path in &edits.retype {
        sdf::PrimSpec::over(data, path.as_str())?.set_type_name("Xform");
    }
    Ok(())
}

fn declared(
    data: &mut dyn sdf::AbstractData,
    path: &str,
    type_name: &str,
) -> std::result::Result<sdf::Path, sdf::AuthoringError> {
    let path = sdf::Path::new(path)?;
    if !data.has_spec(&path) {
        let varying = sdf::Variability::Varying;
        sdf::AttributeSpec::new(data, &path, type_name, varying, false)?;
    }
    Ok(path)
}

/// A layer over `topology` that says of the whole stage what that one does.
fn over(
    topology: &sdf::Layer,
    stage: &ClipStage<'_>,
    author: impl FnOnce(&mut sdf::LayerEdit<'_>) -> Authoring,
) -> std::result::Result<sdf::Layer, openusd::Error> {
    let root = sdf::Path::abs_root();
    let mut metadata = Vec::new();
    for key in topology.data().list_fields(&root).unwrap_or_default() {
        if key == PRIM_CHILDREN || SUBLAYERS.contains(&key.as_str()) {
            continue;
        }
        if let Some(value) = topology.data().try_field(&root, &key)? {
            metadata.push((key, value.into_owned()));
        }
    }
    let mut layer = sdf::Layer::new_anonymous("stage");
    layer.edit(|edit| {
        let sublayer = relative_to(stage.topology, stage.out);
        let mut pseudo_root = edit.pseudo_root_mut()?;
        pseudo_root.insert_sublayer(0, sublayer.as_str(), sdf::LayerOffset::default());
        for (key, value) in metadata {
            edit.data_mut().set_field(&root, &key, value);
        }
        author(edit)
    })?;
    Ok(layer)
}

/// What the clips have samples of, as readers look it up.
fn manifest(contents: &ClipContents) -> std::result::Result<sdf::Layer, openusd::Error> {
    let mut layer = sdf::Layer::new_anonymous("manifest");
    layer.edit(|edit| {
        for (path, (type_name, _)) in &contents.sampled {
            declared(edit.data_mut(), path, type_name)?;
        }
        Ok::<(), sdf::AuthoringError>(())
    })?;
    Ok(layer)
}

/// Names the clips: one set of them at each root prim that something of moves, at the nearest prim that all this is at or
/// below.
fn author_clips(
    data: &mut dyn sdf::AbstractData,
    stage: &ClipStage<'_>,
    contents: &ClipContents,
    overs: bool,
) -> Authoring {
    let mut anchors: BTreeMap<sdf::Path, sdf::Path> = BTreeMap::new();
    for path in contents.sampled.keys() {
        let prim = sdf::Path::new(path)?.prim_path();
        let mut root = prim.clone();
        while let Some(parent) = root.parent().filter(|p| *p != sdf::Path::abs_root()) {
            root = parent;
        }
        let anchor = anchors.entry(root).or_insert_with(|| prim.clone());
        while !prim.has_prefix(anchor) {
            match anchor.parent() {
                Some(parent) => *anchor = parent,
                None => break,
            }
        }
    }
    let asset = |file: &Path| AssetPath::new(relative_to(file, stage.out));
    let at = |x: f64, y: f64| gf::Vec2d { x, y };
    let clips = stage.clips.iter();
    let assets = clips.clone().map(|(file, _)| asset(file)).collect();
    let active = clips
        .clone()
        .enumerate()
        .map(|(i, (_, from))| at(*from, i as f64));
    let active: Vec<gf::Vec2d> = active.collect();
    let mut set: HashMap<String, Value> = HashMap::from([
        ("assetPaths".to_owned(), Value::AssetPathVec(assets)),
        ("active".to_owned(), Value::Vec2dVec(active)),
        // Without `times` a clip's times are the stage's, beyond the last clip too, where a hint may have samples.
        (
            "manifestAssetPath".to_owned(),
            Value::AssetPath(asset(stage.manifest)),
        ),
    ]);
    if contents.has_gaps() {
        let key = "interpolateMissingClipValues".to_owned();
        set.insert(key, Value::Bool(true));
    }
    // The input may have clips of its own there, of the usual name; sets go by the alphabet.
    let name = match overs {
        true => "bake",
        false => "default",
    };
    for anchor in anchors.into_values() {
        let mut set = set.clone();
        let prim_path = Value::String(anchor.as_str().to_owned());
        set.insert("primPath".to_owned(), prim_path);
        let sets = HashMap::from([(name.to_owned(), Value::Dictionary(set))]);
        sdf::PrimSpec::over(data, anchor.clone())?;
        data.set_field(&anchor, FieldKey::Clips.as_str(), Value::Dictionary(sets));
    }
    Ok(())
}

/// Removes the samples that have no time code.
pub fn without_still(edits: &mut BakeEdits) {
    fn timed<T>(samples: &mut Vec<(Time, T)>) {
        samples.retain(|(time, _)| time.code().is_some());
    }
    for prim in &mut edits.prims {
        timed(&mut prim.points);
        timed(&mut prim.extent);
        prim.normals.iter_mut().for_each(|(_, n)| timed(n));
        if let Some(transform) = &mut prim.transform {
            timed(&mut transform.samples);
        }
    }
    edits.hints.iter_mut().for_each(|h| timed(&mut h.samples));
}
