//! Bakes cut into clips: layers that hold the samples of a run of frames, and a stage that plays them as USD's value clips.
//!
//! A clip is weaker than any value in the layer that names it, so that layer names the clips and no more. All that is the same
//! at all times, rest values of what moves too, is in a layer below it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew_layer::layer::field;
use sinew_layer::value::AssetPath;
use sinew_layer::{Dictionary, Layer, Path as ScenePath, Token, Value};

use super::save::{Outputs, Written};
use super::unbind::Unbound;
use super::{edits, old_motion, save};
use crate::error::Result;
use crate::usd::file::UsdFile;
use crate::usd::write::bake_output::BakeOutput;
use crate::usd::write::clip_file::{ClipContents, ClipRecord};
use crate::usd::write::edits::BakeEdits;
use crate::usd::write::flatten::{insert_sublayer, relative_to};
use crate::usd::write::instances::{Instances, Sharing};
use sinew::error::Invalid;
use sinew::sampled::Time;
use sinew::scene::NormalsProperty;

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
        let sharing = match overs {
            true => Sharing::Overs,
            false => Sharing::Flattened,
        };
        let root = self.stage.root_layer().root();
        let rates = ["timeCodesPerSecond", "framesPerSecond"];
        let rates = rates
            .into_iter()
            .filter_map(|key| Some((key, root.get(key)?.clone())));
        Ok(ClipLayout {
            instances: Instances::read(&self.stage, prims, &[], sharing),
            overs,
            rates: rates.collect(),
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
        mut edits: BakeEdits,
    ) -> Result<Written> {
        let (blocked, warnings) = old_motion::find(&self.stage, &edits.prims, |prim, name| {
            let place = layout.place(&prim.path);
            place.is_ok_and(|place| contents.has_values(&format!("{place}.{name}")))
        });
        edits.blocked = blocked;
        let edits = layout.instances.placed(edits);
        let mut outputs = Outputs::default();
        let unbound = Unbound::new(&edits);
        let declare = |layer: &mut Layer| {
            declare(layer, contents, edits);
            if !layout.overs {
                unbound.remove(layer);
            }
        };
        let mut topology = match layout.overs {
            true => self.overs_as(stage.topology, &layout.instances, declare)?,
            false => {
                self.flattened_as(stage.topology, &layout.instances, declare)?
                    .0
            }
        };
        let root = over(&topology, stage, |layer| {
            author_clips(layer, stage, contents, layout.overs);
        });
        if !layout.overs {
            self.write_pictures(&mut topology, stage.topology, &mut outputs)?;
        }
        save::export_with(&topology, stage.topology, &mut outputs)?;
        let manifest = manifest(contents);
        save::export_with(&manifest, stage.manifest, &mut outputs)?;
        save::export_with(&root, stage.out, &mut outputs)?;
        outputs.remove_leftovers()?;
        Ok(Written::finish(outputs, stage.out)?.after(warnings))
    }
}

impl ClipLayout {
    /// Returns the path in the output of a prim of the stage.
    ///
    /// # Errors
    /// No path of a prim.
    pub fn place(&self, prim: &str) -> Result<String> {
        let path = ScenePath::parse(prim)
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
        let mut layer = Layer::new("clip");
        self.author_clip(&mut layer, edits, frames, record);
        out.finish_layer(layer).map(|_| ())
    }

    fn author_clip(
        &self,
        layer: &mut Layer,
        edits: BakeEdits,
        frames: Option<(f64, f64)>,
        record: &ClipRecord,
    ) {
        let mut edits = self.instances.placed(edits);
        record.write(layer);
        let root = &mut layer.root_mut().fields;
        for (key, value) in &self.rates {
            root.set(*key, value.clone());
        }
        if let Some((first, last)) = frames {
            root.set("startTimeCode", Value::Double(first));
            root.set("endTimeCode", Value::Double(last));
        }
        for prim in &mut edits.prims {
            // The order of its ops holds at all times, so it is the stage's.
            if let Some(transform) = prim.transform.take() {
                edits::author_matrices(layer, &prim.path, transform.samples);
            }
        }
        // Likewise what becomes of indices and types.
        edits::author_arrays(layer, edits.prims, edits.hints);
    }
}

/// Declares what the clips give values to, without samples of its own, and authors what is still.
fn declare(layer: &mut Layer, contents: &ClipContents, edits: BakeEdits) {
    let sampled = contents.sampled.iter().map(|(p, (t, _))| (p, t, None));
    let still = contents.still.iter().map(|(p, (t, v))| (p, t, Some(v)));
    for (path, type_name, value) in sampled.chain(still) {
        // Paths of clips are valid.
        let path = ScenePath::parse(path).unwrap_or_default();
        let fields = &mut layer.attribute(&path, type_name).fields;
        fields.remove(field::TIME_SAMPLES);
        fields.remove(field::SPLINE);
        if let Some(value) = value {
            fields.set(field::DEFAULT, value.clone());
        }
        if path.name() == NormalsProperty::Primvar.name() {
            edits::unindex(layer, path.prim_path().as_str(), path.name());
        }
    }
    for prim in &edits.prims {
        if let Some(transform) = &prim.transform {
            let moves = format!("{}.{}", prim.path, edits::TRANSFORM);
            let moves = contents.has_values(&moves);
            edits::author_order(layer, &prim.path, transform.resets, moves);
        }
    }
    edits::retype(layer, &edits.retype);
    edits::orient(layer, &edits.orientations);
    old_motion::block(layer, &edits.blocked);
}

/// A layer over `topology` that says of the whole stage what that one does.
fn over(topology: &Layer, stage: &ClipStage<'_>, author: impl FnOnce(&mut Layer)) -> Layer {
    let mut layer = Layer::new("stage");
    for (key, value) in topology.root().fields.iter() {
        if !SUBLAYERS.contains(&key.as_str()) {
            layer.root_mut().fields.set(key.clone(), value.clone());
        }
    }
    insert_sublayer(&mut layer, relative_to(stage.topology, stage.out));
    author(&mut layer);
    layer
}

/// What the clips have samples of, as readers look it up.
fn manifest(contents: &ClipContents) -> Layer {
    let mut layer = Layer::new("manifest");
    for (path, (type_name, _)) in &contents.sampled {
        layer.attribute(&ScenePath::parse(path).unwrap_or_default(), type_name);
    }
    layer
}

/// Names the clips: one set of them at each root prim that something of moves, at the nearest prim that all this is at or
/// below.
fn author_clips(layer: &mut Layer, stage: &ClipStage<'_>, contents: &ClipContents, overs: bool) {
    let mut anchors: BTreeMap<ScenePath, ScenePath> = BTreeMap::new();
    for path in contents.sampled.keys() {
        let prim = ScenePath::parse(path).unwrap_or_default().prim_path();
        let mut root = prim.clone();
        while let Some(parent) = root.parent().filter(|p| !p.is_root()) {
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
    let asset = |file: &Path| AssetPath(relative_to(file, stage.out).into());
    let assets = stage.clips.iter().map(|(file, _)| asset(file)).collect();
    let active = stage.clips.iter().enumerate();
    let active = active.map(|(i, (_, from))| [*from, i as f64]).collect();
    let mut set = Dictionary::from([
        ("assetPaths".into(), Value::AssetPathArray(assets)),
        ("active".into(), Value::Vec2dArray(active)),
        // Without `times` a clip's times are the stage's, beyond the last clip too, where a hint may have samples.
        (
            "manifestAssetPath".into(),
            Value::AssetPath(asset(stage.manifest)),
        ),
    ]);
    if contents.has_gaps() {
        let key = "interpolateMissingClipValues".into();
        set.insert(key, Value::Bool(true));
    }
    // The input may have clips of its own there, of the usual name; sets go by the alphabet.
    let name = match overs {
        true => "bake",
        false => "default",
    };
    for anchor in anchors.into_values() {
        let mut set = set.clone();
        set.insert("primPath".into(), Value::string(anchor.as_str()));
        let sets = [(Token::new_static(name), Value::Dictionary(Arc::new(set)))];
        let sets = Value::Dictionary(Arc::new(sets.into()));
        layer.over(&anchor).fields.set(field::CLIPS, sets);
    }
}

/// Removes the samples that have no time code.
pub fn without_still(edits: &mut BakeEdits) {
    fn timed<T>(samples: &mut Vec<(Time, T)>) {
        samples.retain(|(time, _)| time.code().is_some());
    }
    for prim in &mut edits.prims {
        timed(&mut prim.points);
        timed(&mut prim.velocities);
        timed(&mut prim.extent);
        prim.normals.iter_mut().for_each(|(_, n)| timed(n));
        if let Some(transform) = &mut prim.transform {
            timed(&mut transform.samples);
        }
    }
    edits.hints.iter_mut().for_each(|h| timed(&mut h.samples));
}
