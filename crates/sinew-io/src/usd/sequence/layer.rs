//! The layer of a sequence: references to the character and to the clips.
//!
//! The layer references the character and binds one SkelAnimation to each Skeleton. A single clip is
//! a reference to the published SkelAnimation, with a layer offset. Of several clips, the
//! SkelAnimation takes its samples from the published layers as value clips: USD has no other way to
//! switch from one layer to the next in time. Value clips need the same prim path, the same order of
//! joints and samples of everything that moves, so a clip that differs is copied beside the layer.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew::error::{Invalid, Warning};
use sinew::scene::{PlacedSkeleton, TimeLine};
use sinew::skel::SkelAnimation;
use sinew_layer::layer::field;
use sinew_layer::value::{AssetPath, LayerOffset, Reference};
use sinew_layer::{Dictionary, Layer, ListOp, Path as ScenePath, Token, Value};

use super::Played;
use super::form::{COPY, Form, sampled};
use super::matching::Found;
use crate::error::{Error, Result};
use crate::output::folded;
use crate::usd::clips::{as_prim_name, bind_animation};
use crate::usd::file::UsdFile;
use crate::usd::variants;
use crate::usd::write::animation::{author_animation, author_times};
use crate::usd::write::flatten::relative_to;

/// A clip on a Skeleton.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub played: &'a Played<'a>,
    pub found: &'a Found,
}

impl Part<'_> {
    /// Whether its file has this SkelAnimation itself: it was neither converted nor renamed.
    pub fn is_published(&self) -> bool {
        !self.played.file.is_made() && !self.found.is_renamed
    }

    /// Why no layer has the clip just so.
    pub fn why_unpublished(&self) -> &'static str {
        match self.played.file.is_made() {
            true => "it is converted",
            false => "its joints get other paths",
        }
    }
}

/// The clips of one Skeleton of a character.
pub(super) struct Track<'a> {
    /// A Skeleton of the character, as its own file has it.
    pub skeleton: &'a PlacedSkeleton,
    /// In the order of their starts, which differ; there is at least one. Each plays until the next
    /// one starts, and holds its last pose if it ends before.
    pub parts: Vec<Part<'a>>,
}

/// A clip that is written beside the layer.
pub(super) struct Copied {
    /// The index of the Skeleton that it is for.
    skeleton: usize,
    /// What it was made of.
    source: PathBuf,
    animation: String,
    pub file: PathBuf,
    pub layer: Arc<Layer>,
}

impl Copied {
    /// Whether it was made of this clip.
    pub fn is_of(&self, played: &Played<'_>, found: &Found) -> bool {
        self.skeleton == found.skeleton
            && self.source == played.file.file()
            && self.animation == found.animation.path
    }
}

/// The layer that is being made.
pub(super) struct Assembly<'a> {
    out: &'a Path,
    /// Time codes per second of the layer.
    rate: f64,
    layer: Layer,
    /// The paths of the Skeletons in it, in the order of the tracks.
    pub skeletons: Vec<String>,
    pub copies: Vec<Copied>,
    /// What was copied, and why.
    pub warnings: Vec<Warning>,
}

impl<'a> Assembly<'a> {
    /// Makes a layer `out` that puts clips on a character. `time_line` is that of the result.
    ///
    /// # Errors
    /// A character without one root prim above its Skeletons; a Skeleton that needs rest transforms
    /// for joints that a clip lacks, and has none; an output that is one of the inputs.
    pub fn new(
        character: &UsdFile,
        out: &'a Path,
        tracks: &[Track<'_>],
        time_line: &TimeLine,
    ) -> Result<Self> {
        character.check_output(out)?;
        let from = root_of(character, tracks)?;
        let root = ScenePath::root().child(from.name());
        let mut work = Self {
            out,
            rate: time_line.time_codes_per_second,
            layer: Layer::new("sequence"),
            skeletons: Vec::with_capacity(tracks.len()),
            copies: Vec::new(),
            warnings: Vec::new(),
        };
        author_times(&mut work.layer, time_line);
        for key in ["upAxis", "metersPerUnit"] {
            let value = character.stage.metadata(key);
            let value = value.map_err(|e| Error::open(character.file(), e))?;
            if let Some(value) = value {
                work.layer.root_mut().fields.set(key, value);
            }
        }
        let fields = &mut work.layer.root_mut().fields;
        fields.set(field::DEFAULT_PRIM, Value::token(root.name()));
        let spec = work.layer.define(&root, "");
        let reference = reference(character, &from, out);
        spec.fields.set(field::REFERENCES, references(reference));
        let mut selections = character.opened_with.variants.clone();
        for selection in &mut selections {
            let path = ScenePath::parse(&selection.prim).ok();
            if let Some(moved) = path.and_then(|p| p.replace_prefix(&from, &root)) {
                moved.as_str().clone_into(&mut selection.prim);
            }
        }
        variants::author(&mut work.layer, &selections);
        let mut taken = HashSet::new();
        for track in tracks {
            let own = ScenePath::parse(&track.skeleton.path).unwrap_or_default();
            let skeleton = own.replace_prefix(&from, &root).unwrap_or_default();
            for above in instances_above(character, &own) {
                let above = above.replace_prefix(&from, &root).unwrap_or_default();
                let fields = &mut work.layer.over(&above).fields;
                fields.set(field::INSTANCEABLE, Value::Bool(false));
            }
            let name = free_child(character, &from, &mut taken);
            let animation = root.child(&name);
            match track.parts[..] {
                [only] => work.author_one(only, &animation),
                _ => work.author_several(track, &animation)?,
            }
            bind_animation(&mut work.layer, &skeleton, &animation);
            work.skeletons.push(skeleton.as_str().to_owned());
        }
        work.check_outputs(character, tracks)?;
        Ok(work)
    }

    /// The stage of the layer and its copies, before they are written. `beside_it` has the asset paths
    /// of other layers that are not written yet.
    ///
    /// # Errors
    /// A stage that cannot be composed.
    pub fn compose(
        &self,
        character: &UsdFile,
        beside_it: impl Iterator<Item = (String, Arc<Layer>)>,
    ) -> Result<UsdFile> {
        let name = std::path::absolute(self.out).unwrap_or_else(|_| self.out.to_owned());
        let name = name.to_string_lossy().into_owned();
        let copies = self.copies.iter();
        let copies = copies.map(|c| (beside(&c.file, self.out), Arc::clone(&c.layer)));
        let in_memory = copies
            .chain(beside_it)
            .chain([(name.clone(), Arc::new(self.layer.clone()))]);
        let options = crate::usd::OpenOptions {
            search_paths: character.opened_with.search_paths.clone(),
            ..Default::default()
        };
        UsdFile::compose(self.out, &name, &options, in_memory)
    }

    /// One clip: a reference that is moved in time.
    fn author_one(&mut self, part: Part<'_>, at: &ScenePath) {
        let mut reference = match part.is_published() {
            true => {
                let prim = ScenePath::parse(&part.found.animation.path).unwrap_or_default();
                reference(part.played.file, &prim, self.out)
            }
            false => {
                let prim = ScenePath::parse(COPY).unwrap_or_default();
                let why = part.why_unpublished();
                let file = self.copy(part, &part.found.animation, &prim, why);
                Reference {
                    asset: beside(&file, self.out).into(),
                    ..Reference::default()
                }
            }
        };
        // USD itself scales by the ratio of the time codes per second.
        let factor = self.rate / part.played.rate;
        reference.offset = LayerOffset {
            offset: part.played.start - part.played.range.0 * factor,
            scale: 1.0,
        };
        let spec = self.layer.define(at, "SkelAnimation");
        spec.fields.set(field::REFERENCES, references(reference));
    }

    /// Several clips: value clips over a reference to the first, which has what does not vary.
    fn author_several(&mut self, track: &Track<'_>, at: &ScenePath) -> Result<()> {
        let parts = &track.parts;
        let form = Form::of(track.skeleton, parts);
        let conformed = parts.iter().map(|part| {
            form.conform(&part.found.animation, track.skeleton)
                .ok_or_else(|| {
                    let expected = "restTransforms, for joints that a clip of the sequence lacks";
                    let path = &track.skeleton.path;
                    let error = Invalid::new(path, "restTransforms", expected, "none");
                    error.coded("rest-transforms-needed")
                })
        });
        let conformed = conformed.collect::<Result<Vec<_>, _>>()?;
        let mut assets: Vec<String> = Vec::new();
        let mut active = Vec::new();
        for (part, animation) in parts.iter().zip(&conformed) {
            let asset = match form.misfit(part, &conformed) {
                None => relative_to(part.played.file.file(), self.out),
                Some(why) => {
                    let animation = sampled(animation, &conformed, part.played.range.0);
                    let file = self.copy(*part, &animation, &form.prim, why);
                    beside(&file, self.out)
                }
            };
            let index = assets.iter().position(|a| *a == asset).unwrap_or_else(|| {
                assets.push(asset);
                assets.len() - 1
            });
            active.push([part.played.start, index as f64]);
        }
        let first = Reference {
            asset: assets[0].as_str().into(),
            prim: form.prim.clone(),
            ..Reference::default()
        };
        let assets = assets.into_iter().map(|a| AssetPath(a.into()));
        let set = Dictionary::from([
            ("assetPaths".into(), Value::AssetPathArray(assets.collect())),
            ("primPath".into(), Value::string(form.prim.as_str())),
            ("active".into(), Value::Vec2dArray(active.into())),
            ("times".into(), Value::Vec2dArray(self.times(parts).into())),
        ]);
        let sets = [(
            Token::new_static("default"),
            Value::Dictionary(Arc::new(set)),
        )];
        let spec = self.layer.define(at, "SkelAnimation");
        spec.fields.set(field::REFERENCES, references(first));
        spec.fields
            .set(field::CLIPS, Value::Dictionary(Arc::new(sets.into())));
        Ok(())
    }

    /// Pairs of a time of the stage and the time in the clip. Two at one time of the stage are a
    /// jump from one clip to the next.
    fn times(&self, parts: &[Part<'_>]) -> Vec<[f64; 2]> {
        let mut out = Vec::new();
        for (i, Part { played, .. }) in parts.iter().enumerate() {
            let (first, last) = played.range;
            let (start, end) = (played.start, played.end);
            out.push([start, first]);
            match parts.get(i + 1).map(|next| next.played.start) {
                Some(next) if next < end => {
                    out.push([next, first + (next - start) * played.rate / self.rate]);
                }
                next => {
                    if end > start {
                        out.push([end, last]);
                    }
                    // The last pose is held until the next clip begins.
                    out.extend(next.filter(|next| *next > end).map(|next| [next, last]));
                }
            }
        }
        out
    }

    /// Makes a layer of a clip, which is to be written beside the output.
    fn copy(
        &mut self,
        part: Part<'_>,
        animation: &SkelAnimation,
        prim: &ScenePath,
        why: &str,
    ) -> PathBuf {
        let Part { played, found } = part;
        // A clip that plays again is one file.
        if let Some(known) = self.copies.iter().find(|c| c.is_of(played, found)) {
            return known.file.clone();
        }
        let stem = self.out.file_stem().unwrap_or_default().to_string_lossy();
        let folder = self.out.with_file_name(format!("{stem}_clips"));
        let name = as_prim_name(&found.name);
        let name = if name.is_empty() { "Clip" } else { &name };
        let numbered = (2u64..).map(|n| format!("{name}_{n}"));
        let names = std::iter::once(name.to_owned()).chain(numbered);
        let mut files = names.map(|name| folder.join(name + ".usdc"));
        let is_free = |file: &PathBuf| {
            let name = folded(file);
            !self.copies.iter().any(|c| folded(&c.file) == name)
        };
        let file = files.find(is_free).unwrap_or_default();
        let mut layer = Layer::new("clip");
        author_animation(&mut layer, prim, animation);
        author_times(
            &mut layer,
            &TimeLine {
                range: Some(played.range),
                time_codes_per_second: played.rate,
                frames_per_second: played.rate,
            },
        );
        let (source, path) = (played.file.file().display(), &found.animation.path);
        let fields = &mut layer.root_mut().fields;
        let text = format!("A copy of <{path}> of {source}, because {why}.");
        fields.set(field::DOCUMENTATION, Value::string(text.as_str()));
        if prim.depth() == 1 {
            fields.set(field::DEFAULT_PRIM, Value::token(prim.name()));
        }
        let message = format!(
            "copied from {source} to {}, because {why}; later changes of {source} do not reach the copy",
            file.display()
        );
        self.warnings
            .push(Warning::new("clip-copied", path, message));
        self.copies.push(Copied {
            skeleton: found.skeleton,
            source: played.file.file().to_owned(),
            animation: path.clone(),
            file: file.clone(),
            layer: Arc::new(layer),
        });
        file
    }

    /// Refuses outputs that are inputs.
    fn check_outputs(&self, character: &UsdFile, tracks: &[Track<'_>]) -> Result<()> {
        let parts = tracks.iter().flat_map(|t| &t.parts);
        let files: Vec<&UsdFile> = parts.map(|p| p.played.file).chain([character]).collect();
        let copies = self.copies.iter().map(|c| c.file.as_path());
        for output in copies.chain([self.out]) {
            for file in &files {
                file.check_output(output)?;
            }
        }
        Ok(())
    }
}

/// The prim to reference: the default prim, or else the only root prim above the Skeletons.
fn root_of(character: &UsdFile, tracks: &[Track<'_>]) -> Result<ScenePath> {
    let refuse = |reason: String| {
        let file = character.file().to_owned();
        Err(Error::Edit { file, reason })
    };
    let skeletons = tracks.iter().map(|t| ScenePath::parse(&t.skeleton.path));
    let skeletons: Vec<ScenePath> = skeletons.flatten().collect();
    let default = match character.stage.root_layer().root().get(field::DEFAULT_PRIM) {
        Some(Value::Token(name)) if name.starts_with('/') => ScenePath::parse(name).ok(),
        Some(Value::Token(name)) => Some(ScenePath::root().child(name)),
        _ => None,
    };
    if let Some(default) = default.filter(|p| character.stage.prim(p).is_some()) {
        return match skeletons.iter().find(|s| !s.has_prefix(&default)) {
            Some(outside) => refuse(format!(
                "the skeleton {outside} is outside the default prim {default}, so a reference does not bring it in"
            )),
            None => Ok(default),
        };
    }
    let mut roots = skeletons.iter().filter_map(|s| {
        let above = std::iter::successors(Some(s.clone()), ScenePath::parent);
        above.filter(|p| !p.is_root()).last()
    });
    let first = roots.next().unwrap_or_default();
    match roots.find(|r| *r != first) {
        Some(other) => refuse(format!(
            "the file has no default prim, and its skeletons are below several root prims, {first} and {other}: one reference cannot bring in all of them"
        )),
        None => Ok(first),
    }
}

/// The instances that hold a prim, from the innermost on.
fn instances_above(character: &UsdFile, path: &ScenePath) -> Vec<ScenePath> {
    let above = std::iter::successors(character.stage.prim(path), |p| p.parent());
    let instances = above.filter(|p| p.is_instance());
    instances.map(|p| p.path()).collect()
}

/// A name for a SkelAnimation below the character's root prim, where it has nothing.
fn free_child(character: &UsdFile, root: &ScenePath, taken: &mut HashSet<String>) -> String {
    let numbered = (2u64..).map(|n| format!("Animation_{n}"));
    let mut names = std::iter::once("Animation".to_owned()).chain(numbered);
    let is_free = |name: &String| character.stage.prim(&root.child(name)).is_none();
    let name = names.find(|name| is_free(name) && taken.insert(name.clone()));
    name.unwrap_or_default()
}

/// A reference from `out` to a prim of a file; without a path if it is the default prim.
fn reference(file: &UsdFile, prim: &ScenePath, out: &Path) -> Reference {
    let default = file.stage.root_layer().root().get(field::DEFAULT_PRIM);
    let is_default = match default {
        Some(Value::Token(name)) => {
            prim.as_str() == name.as_str() || prim.as_str().strip_prefix('/') == Some(name.as_str())
        }
        _ => false,
    };
    Reference {
        asset: relative_to(file.file(), out).into(),
        prim: match is_default {
            true => ScenePath::default(),
            false => prim.clone(),
        },
        ..Reference::default()
    }
}

fn references(reference: Reference) -> Value {
    Value::ReferenceListOp(Arc::new(ListOp::prepended(vec![reference])))
}

/// The asset path of a copy in the layer `out`. Its folder need not be there yet.
fn beside(copy: &Path, out: &Path) -> String {
    let below = out
        .parent()
        .and_then(|folder| copy.strip_prefix(folder).ok());
    let below = below.unwrap_or(copy).to_string_lossy();
    format!("./{}", below.replace('\\', "/"))
}
