//! A character with clips one after another, as a small layer of references.
//!
//! The layer references the character and binds one SkelAnimation to each Skeleton. A single clip is
//! a reference to the published SkelAnimation, with a layer offset. Of several clips, the
//! SkelAnimation takes its samples from the published layers as value clips: USD has no other way to
//! switch from one layer to the next in time. Value clips need one prim path, one order of joints
//! and samples of everything that moves, so a clip that differs is copied beside the layer.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{DMat4, Quat, Vec3};
use half::f16;
use sinew_layer::layer::field;
use sinew_layer::value::{AssetPath, LayerOffset, Reference};
use sinew_layer::{Dictionary, Layer, ListOp, Path as ScenePath, Token, Value};
use sinew_stage::Source;

use super::animation::{author_animation, author_times};
use super::flatten::relative_to;
use super::save;
use crate::error::{Error, Result};
use crate::usd::clips::{as_prim_name, bind_animation};
use crate::usd::file::UsdFile;
use crate::usd::variants;
use sinew::error::{Invalid, Warning};
use sinew::math::Trs;
use sinew::sampled::{Half3, Interpolation, Sampled};
use sinew::scene::{PlacedSkeleton, TimeLine};
use sinew::skel::SkelAnimation;

/// The prim of a copied clip, where no published one gives it a path.
const COPY: &str = "/Animation";

/// A clip that plays from a time on.
pub struct SequencePart<'a> {
    /// The file that holds it, as it was opened.
    pub file: &'a UsdFile,
    /// What the clip moves, by the joint paths of the Skeleton.
    pub animation: SkelAnimation,
    /// Whether the file has the SkelAnimation just so: it was neither converted nor renamed.
    pub is_published: bool,
    /// The clip's name, for a copy.
    pub name: String,
    /// The time code of the result at which it begins.
    pub start: f64,
    /// Its first and last time code, in its own file.
    pub range: (f64, f64),
    /// Time codes per second of its own file.
    pub rate: f64,
}

impl SequencePart<'_> {
    /// Why no layer has the clip just so.
    fn why_unpublished(&self) -> &'static str {
        match self.file.made {
            Some(_) => "it is converted",
            None => "its joints get other paths",
        }
    }
}

/// The clips of one Skeleton of a character.
pub struct SkeletonSequence<'a> {
    /// A Skeleton of the character, as its own file has it.
    pub skeleton: &'a PlacedSkeleton,
    /// In the order of their starts, which differ. Each plays until the next one starts, and holds
    /// its last pose if it ends before.
    pub parts: Vec<SequencePart<'a>>,
}

/// A character with clips, composed in memory.
pub struct Assembled {
    /// The stage of the layer that is to be written.
    pub file: UsdFile,
    /// The paths of the Skeletons in that stage, in the order of the sequences.
    pub skeletons: Vec<String>,
    /// The copies of clips that are written beside it, by the indices of their Skeleton and part.
    pub copies: Vec<(usize, usize, PathBuf)>,
    /// What was copied, and why.
    pub warnings: Vec<Warning>,
    layers: Vec<(PathBuf, Arc<Layer>)>,
}

impl Assembled {
    /// Writes the layer and the copies of clips. They appear under their names together.
    ///
    /// # Errors
    /// A file or a folder that cannot be written.
    pub fn save(&self) -> Result<()> {
        let mut outputs = save::Outputs::default();
        for (file, layer) in &self.layers {
            if let Some(folder) = file.parent() {
                outputs.folder(folder)?;
            }
            save::export_with(layer, file, &mut outputs)?;
        }
        save::export_with(self.file.stage.root_layer(), self.file.file(), &mut outputs)?;
        outputs.finish()
    }
}

impl UsdFile {
    /// Puts clips on this character: a layer `out` that references it and the clips. `time_line` is
    /// that of the result.
    ///
    /// # Errors
    /// A character without one root prim above its Skeletons; a Skeleton that needs rest transforms
    /// for joints that a clip lacks, and has none; an output that is one of the inputs.
    pub fn assemble(
        &self,
        out: &Path,
        sequences: &[SkeletonSequence<'_>],
        time_line: &TimeLine,
    ) -> Result<Assembled> {
        self.check_output(out)?;
        let from = self.root_of(sequences)?;
        let root = ScenePath::root().child(from.name());
        let mut work = Assembly {
            out,
            layer: Layer::new("sequence"),
            copies: Vec::new(),
            layers: Vec::new(),
            sources: Vec::new(),
            warnings: Vec::new(),
        };
        author_times(&mut work.layer, time_line);
        for key in ["upAxis", "metersPerUnit"] {
            let value = self
                .stage
                .metadata(key)
                .map_err(|e| Error::open(self.file(), e))?;
            if let Some(value) = value {
                work.layer.root_mut().fields.set(key, value);
            }
        }
        let fields = &mut work.layer.root_mut().fields;
        fields.set(field::DEFAULT_PRIM, Value::token(root.name()));
        let reference = self.reference(&from, out);
        let spec = work.layer.define(&root, "");
        spec.fields.set(field::REFERENCES, references(reference));
        let mut selections = self.opened_with.variants.clone();
        for selection in &mut selections {
            let path = ScenePath::parse(&selection.prim).ok();
            if let Some(moved) = path.and_then(|p| p.replace_prefix(&from, &root)) {
                moved.as_str().clone_into(&mut selection.prim);
            }
        }
        variants::author(&mut work.layer, &selections);
        let mut taken = HashSet::new();
        let mut skeletons = Vec::with_capacity(sequences.len());
        for (i, sequence) in sequences.iter().enumerate() {
            let own = ScenePath::parse(&sequence.skeleton.path).unwrap_or_default();
            let skeleton = own.replace_prefix(&from, &root).unwrap_or_default();
            for above in self.instances_above(&own) {
                let above = above.replace_prefix(&from, &root).unwrap_or_default();
                let fields = &mut work.layer.over(&above).fields;
                fields.set(field::INSTANCEABLE, Value::Bool(false));
            }
            let animation = self.free_child(&from, &root, &mut taken);
            work.author(i, sequence, &animation)?;
            bind_animation(&mut work.layer, &skeleton, &animation);
            skeletons.push(skeleton.as_str().to_owned());
        }
        work.check_copies(self, sequences)?;
        let Assembly {
            layer,
            copies,
            layers,
            warnings,
            ..
        } = work;
        let name = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
        let name = name.to_string_lossy().into_owned();
        let mut in_memory = vec![(name.clone(), Arc::new(layer))];
        for (file, layer) in &layers {
            in_memory.push((beside(file, out), Arc::clone(layer)));
        }
        let options = crate::usd::OpenOptions {
            search_paths: self.opened_with.search_paths.clone(),
            ..Default::default()
        };
        let file = Self::compose_layers(out, &name, &options, in_memory)?;
        Ok(Assembled {
            file,
            skeletons,
            copies,
            warnings,
            layers,
        })
    }

    /// The prim to reference: the default prim, or else the only root prim above the Skeletons.
    fn root_of(&self, sequences: &[SkeletonSequence<'_>]) -> Result<ScenePath> {
        let refuse = |reason: String| {
            Err(Error::Edit {
                file: self.file().to_owned(),
                reason,
            })
        };
        let skeletons = sequences.iter().map(|s| ScenePath::parse(&s.skeleton.path));
        let skeletons: Vec<ScenePath> = skeletons.flatten().collect();
        let default = match self.stage.root_layer().root().get(field::DEFAULT_PRIM) {
            Some(Value::Token(name)) if name.starts_with('/') => ScenePath::parse(name).ok(),
            Some(Value::Token(name)) => Some(ScenePath::root().child(name)),
            _ => None,
        };
        if let Some(default) = default.filter(|p| self.stage.prim(p).is_some()) {
            return match skeletons.iter().find(|s| !s.has_prefix(&default)) {
                Some(outside) => refuse(format!(
                    "the skeleton {outside} is outside of the default prim {default}, so no reference brings it in"
                )),
                None => Ok(default),
            };
        }
        let mut roots = skeletons.iter().filter_map(|s| {
            let above = std::iter::successors(Some(s.clone()), ScenePath::parent);
            above.filter(|p| !p.is_root()).last()
        });
        let Some(first) = roots.next() else {
            return refuse("no skeleton to move".to_owned());
        };
        match roots.find(|r| *r != first) {
            Some(other) => refuse(format!(
                "the file has no default prim, and its skeletons are below several root prims, {first} and {other}: no one reference brings them in"
            )),
            None => Ok(first),
        }
    }

    /// The instances that hold a prim, from the innermost on.
    fn instances_above(&self, path: &ScenePath) -> Vec<ScenePath> {
        let above = std::iter::successors(self.stage.prim(path), |p| p.parent());
        let instances = above.filter(|p| p.is_instance());
        instances.map(|p| p.path()).collect()
    }

    /// A path for a SkelAnimation below the character's root prim, where it has nothing.
    fn free_child(
        &self,
        from: &ScenePath,
        root: &ScenePath,
        taken: &mut HashSet<String>,
    ) -> ScenePath {
        let numbered = (2u64..).map(|n| format!("Animation_{n}"));
        let mut names = std::iter::once("Animation".to_owned()).chain(numbered);
        let is_free =
            |name: &String| !taken.contains(name) && self.stage.prim(&from.child(name)).is_none();
        let name = names.find(is_free).unwrap_or_default();
        taken.insert(name.clone());
        root.child(&name)
    }

    /// A reference from `out` to a prim of this file; without a path if it is the default prim.
    fn reference(&self, prim: &ScenePath, out: &Path) -> Reference {
        let default = self.stage.root_layer().root().get(field::DEFAULT_PRIM);
        let is_default = match default {
            Some(Value::Token(name)) => {
                prim.as_str() == name.as_str()
                    || prim.as_str().strip_prefix('/') == Some(name.as_str())
            }
            _ => false,
        };
        Reference {
            asset: relative_to(self.file(), out).into(),
            prim: match is_default {
                true => ScenePath::default(),
                false => prim.clone(),
            },
            ..Reference::default()
        }
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

/// The layer that is being made.
struct Assembly<'a> {
    out: &'a Path,
    layer: Layer,
    copies: Vec<(usize, usize, PathBuf)>,
    layers: Vec<(PathBuf, Arc<Layer>)>,
    sources: Vec<CopySource>,
    warnings: Vec<Warning>,
}

/// What a copy was made of.
struct CopySource {
    skeleton: usize,
    file: PathBuf,
    animation: String,
    copy: PathBuf,
}

/// What all value clips of a Skeleton have in common.
struct Form {
    joints: Vec<String>,
    shapes: Vec<String>,
    prim: ScenePath,
}

impl Assembly<'_> {
    /// Authors the SkelAnimation of one Skeleton.
    fn author(
        &mut self,
        skeleton: usize,
        sequence: &SkeletonSequence<'_>,
        at: &ScenePath,
    ) -> Result<()> {
        match &sequence.parts[..] {
            [only] => self.author_one(skeleton, only, at),
            parts => self.author_several(skeleton, sequence.skeleton, parts, at),
        }
    }

    /// One clip: a reference that is moved in time.
    fn author_one(
        &mut self,
        skeleton: usize,
        part: &SequencePart<'_>,
        at: &ScenePath,
    ) -> Result<()> {
        let mut reference = match part.is_published {
            true => {
                let prim = ScenePath::parse(&part.animation.path).unwrap_or_default();
                part.file.reference(&prim, self.out)
            }
            false => {
                let prim = ScenePath::parse(COPY).unwrap_or_default();
                let why = part.why_unpublished();
                let file = self.copy((skeleton, 0), part, &part.animation, &prim, why);
                Reference {
                    asset: beside(&file, self.out).into(),
                    ..Reference::default()
                }
            }
        };
        // USD itself scales by the ratio of the time codes per second.
        let factor = self.rate() / part.rate;
        reference.offset = LayerOffset {
            offset: part.start - part.range.0 * factor,
            scale: 1.0,
        };
        let spec = self.layer.define(at, "SkelAnimation");
        spec.fields.set(field::REFERENCES, references(reference));
        Ok(())
    }

    /// Several clips: value clips over a reference to the first, which has what does not vary.
    fn author_several(
        &mut self,
        skeleton: usize,
        placed: &PlacedSkeleton,
        parts: &[SequencePart<'_>],
        at: &ScenePath,
    ) -> Result<()> {
        let form = Form::of(placed, parts);
        let rest = placed.instance.skeleton().rest();
        let joints = placed.instance.skeleton().joints();
        let conformed = parts.iter().map(|part| {
            let poses = Rest { joints, rest };
            form.conform(&part.animation, &poses).ok_or_else(|| {
                let expected = "restTransforms, for joints that a clip of the sequence lacks";
                let error = Invalid::new(&placed.path, "restTransforms", expected, "none");
                error.coded("rest-transforms-needed")
            })
        });
        let conformed = conformed.collect::<std::result::Result<Vec<_>, _>>()?;
        let varies = Varies::of(&conformed);
        let mut assets: Vec<String> = Vec::new();
        let mut active = Vec::new();
        for (i, (part, animation)) in parts.iter().zip(&conformed).enumerate() {
            let asset = match form.misfit(part, &varies) {
                None => relative_to(part.file.file(), self.out),
                Some(why) => {
                    let animation = varies.sampled(animation, part.range.0);
                    let file = self.copy((skeleton, i), part, &animation, &form.prim, why);
                    beside(&file, self.out)
                }
            };
            let index = assets.iter().position(|a| *a == asset).unwrap_or_else(|| {
                assets.push(asset);
                assets.len() - 1
            });
            active.push([part.start, index as f64]);
        }
        let first = Reference {
            asset: assets
                .first()
                .map(String::as_str)
                .unwrap_or_default()
                .into(),
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
    fn times(&self, parts: &[SequencePart<'_>]) -> Vec<[f64; 2]> {
        let mut out = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            let (first, last) = part.range;
            let factor = self.rate() / part.rate;
            let end = part.start + (last - first) * factor;
            out.push([part.start, first]);
            match parts.get(i + 1).map(|next| next.start) {
                Some(next) if next < end => {
                    out.push([next, first + (next - part.start) / factor]);
                }
                next => {
                    if end > part.start {
                        out.push([end, last]);
                    }
                    // The last pose is held until the next clip begins.
                    out.extend(next.filter(|next| *next > end).map(|next| [next, last]));
                }
            }
        }
        out
    }

    /// Time codes per second of the layer.
    fn rate(&self) -> f64 {
        match self.layer.root().get("timeCodesPerSecond") {
            Some(Value::Double(rate)) => *rate,
            _ => 24.0,
        }
    }

    /// Makes a layer of a clip, which is to be written beside the output.
    fn copy(
        &mut self,
        (skeleton, index): (usize, usize),
        part: &SequencePart<'_>,
        animation: &SkelAnimation,
        prim: &ScenePath,
        why: &str,
    ) -> PathBuf {
        // A clip that plays again is one file.
        let source = part.file.file();
        let again = |c: &&CopySource| {
            c.skeleton == skeleton && c.file == source && c.animation == animation.path
        };
        if let Some(known) = self.sources.iter().find(again) {
            let known = known.copy.clone();
            self.copies.push((skeleton, index, known.clone()));
            return known;
        }
        let stem = self.out.file_stem().unwrap_or_default().to_string_lossy();
        let folder = self.out.with_file_name(format!("{stem}_clips"));
        let name = as_prim_name(&part.name);
        let name = if name.is_empty() { "Clip" } else { &name };
        let numbered = (2u64..).map(|n| format!("{name}_{n}"));
        let names = std::iter::once(name.to_owned()).chain(numbered);
        let mut files = names.map(|name| folder.join(name + ".usdc"));
        let is_free = |file: &PathBuf| !self.layers.iter().any(|(known, _)| known == file);
        let file = files.find(is_free).unwrap_or_default();
        let mut layer = Layer::new("clip");
        author_animation(&mut layer, prim, animation);
        author_times(
            &mut layer,
            &TimeLine {
                range: Some(part.range),
                time_codes_per_second: part.rate,
                frames_per_second: part.rate,
            },
        );
        let source = source.display();
        let fields = &mut layer.root_mut().fields;
        let text = format!(
            "A copy of <{}> of {source}, because {why}.",
            part.animation.path
        );
        fields.set(field::DOCUMENTATION, Value::string(text.as_str()));
        if prim.depth() == 1 {
            fields.set(field::DEFAULT_PRIM, Value::token(prim.name()));
        }
        let message = format!(
            "copied from {source} to {}, because {why}; later changes of {source} do not reach the copy",
            file.display()
        );
        let path = part.animation.path.as_str();
        self.warnings
            .push(Warning::new("clip-copied", path, message));
        self.sources.push(CopySource {
            skeleton,
            file: part.file.file().to_owned(),
            animation: animation.path.clone(),
            copy: file.clone(),
        });
        self.layers.push((file.clone(), Arc::new(layer)));
        self.copies.push((skeleton, index, file.clone()));
        file
    }

    /// Refuses outputs that are inputs.
    fn check_copies(&self, character: &UsdFile, sequences: &[SkeletonSequence<'_>]) -> Result<()> {
        let parts = sequences.iter().flat_map(|s| &s.parts);
        let files: Vec<&UsdFile> = parts.map(|p| p.file).chain([character]).collect();
        let copies = self.layers.iter().map(|(file, _)| file.as_path());
        for output in copies.chain([self.out]) {
            for file in &files {
                file.check_output(output)?;
            }
        }
        Ok(())
    }
}

/// The rest pose of a Skeleton.
struct Rest<'a> {
    joints: &'a [String],
    rest: Option<&'a [DMat4]>,
}

impl Rest<'_> {
    fn of(&self, joint: &str) -> Option<Trs> {
        let index = self.joints.iter().position(|j| j == joint)?;
        Some(Trs::from_matrix(self.rest?.get(index)?))
    }
}

impl Form {
    /// The form of the first published clip that has everything that the clips move; where there
    /// is none, a form of its own.
    fn of(skeleton: &PlacedSkeleton, parts: &[SequencePart<'_>]) -> Self {
        let union = |of: &dyn Fn(&SkelAnimation) -> &[String]| -> Vec<String> {
            let mut seen = HashSet::new();
            let all = parts.iter().flat_map(|p| of(&p.animation));
            all.filter(|t| seen.insert(t.as_str())).cloned().collect()
        };
        let (joints, shapes) = (union(&|a| &a.joints), union(&|a| &a.blend_shapes));
        let published = parts.iter().find_map(|part| {
            let animation = &part.animation;
            let is_all = animation.joints.len() == joints.len()
                && animation.blend_shapes.len() == shapes.len();
            let prim = published_at(part).ok().filter(|_| is_all)?;
            Some(Self {
                joints: animation.joints.clone(),
                shapes: animation.blend_shapes.clone(),
                prim,
            })
        });
        published.unwrap_or_else(|| {
            let moved: HashSet<&String> = joints.iter().collect();
            let order = skeleton.instance.skeleton().joints().iter();
            Self {
                joints: order.filter(|j| moved.contains(j)).cloned().collect(),
                shapes,
                prim: ScenePath::parse(COPY).unwrap_or_default(),
            }
        })
    }

    /// Why a part cannot be a value clip as it was published.
    fn misfit(&self, part: &SequencePart<'_>, varies: &Varies) -> Option<&'static str> {
        let animation = &part.animation;
        match published_at(part) {
            Err(why) => Some(why),
            Ok(_) if animation.joints != self.joints || animation.blend_shapes != self.shapes => {
                Some("value clips in a sequence need the same joints and blend shapes in one order")
            }
            Ok(prim) if prim != self.prim => Some("value clips in a sequence need one prim path"),
            Ok(_) if varies.lacks_samples(animation) => {
                Some("value clips have samples alone, and it has a value without time")
            }
            Ok(_) => None,
        }
    }

    /// A clip in this form; `None` if it needs a rest pose that is not there. Joints that it lacks
    /// are at rest, blend shapes that it lacks have weight 0.
    fn conform(&self, animation: &SkelAnimation, rest: &Rest<'_>) -> Option<SkelAnimation> {
        let at = |all: &[String], one: &String| all.iter().position(|t| t == one);
        let joints: Vec<Option<usize>> = self
            .joints
            .iter()
            .map(|j| at(&animation.joints, j))
            .collect();
        let needs_rest = joints.iter().zip(&self.joints).filter(|(i, _)| i.is_none());
        for (_, joint) in needs_rest {
            rest.of(joint)?;
        }
        let rest: Vec<Trs> = self
            .joints
            .iter()
            .map(|j| rest.of(j).unwrap_or(Trs::IDENTITY))
            .collect();
        let shapes: Vec<Option<usize>> = self
            .shapes
            .iter()
            .map(|s| at(&animation.blend_shapes, s))
            .collect();
        let translation = |t: &Trs| t.translation.as_vec3();
        let rotation = |t: &Trs| t.rotation.as_quat();
        let scale = |t: &Trs| t.scale.as_vec3().to_array().map(f16::from_f32);
        let has_joints = !animation.joints.is_empty();
        let rest: (Vec<Vec3>, Vec<Quat>, Vec<Half3>) = (
            rest.iter().map(translation).collect(),
            rest.iter().map(rotation).collect(),
            rest.iter().map(scale).collect(),
        );
        let zeros = vec![0.0; self.shapes.len()];
        Some(SkelAnimation {
            path: animation.path.clone(),
            joints: self.joints.clone(),
            translations: picked(&animation.translations, &joints, rest.0, has_joints),
            rotations: picked(&animation.rotations, &joints, rest.1, has_joints),
            scales: picked(&animation.scales, &joints, rest.2, has_joints),
            float_scales: None,
            blend_shapes: self.shapes.clone(),
            blend_shape_weights: picked(
                &animation.blend_shape_weights,
                &shapes,
                zeros,
                !animation.blend_shapes.is_empty(),
            ),
        })
    }
}

/// Values in another order; what is missing comes from `fallback`.
fn picked<T: Clone>(
    from: &Sampled<Vec<T>>,
    order: &[Option<usize>],
    fallback: Vec<T>,
    is_there: bool,
) -> Sampled<Vec<T>> {
    if !is_there || !from.has_value() {
        return Sampled::constant(fallback);
    }
    from.map(|values| {
        let pick = |(i, fallback): (&Option<usize>, &T)| {
            let own = i.and_then(|i| values.get(i));
            own.unwrap_or(fallback).clone()
        };
        order.iter().zip(&fallback).map(pick).collect()
    })
}

/// The prim of a clip, if all that is said of it is said by the layer that its file's name opens.
fn published_at(part: &SequencePart<'_>) -> std::result::Result<ScenePath, &'static str> {
    if !part.is_published {
        return Err(part.why_unpublished());
    }
    let path = ScenePath::parse(&part.animation.path).unwrap_or_default();
    let Some(prim) = part.file.stage.prim(&path) else {
        return Err("its prim is not in the file");
    };
    let mut opinions = prim.opinions();
    let root = part.file.stage.root_layer();
    let is_own = match (opinions.next(), opinions.next()) {
        (Some(only), None) => Arc::ptr_eq(&only.layer.layer, root) && *only.path == path,
        _ => false,
    };
    if !is_own {
        return Err("value clips are read from one layer, and its values come from others");
    }
    let sources = ["translations", "rotations", "scales", "blendShapeWeights"];
    let sources = sources.map(|name| prim.attribute(name).source(Some(0.0)));
    if sources.contains(&Source::Clips) {
        return Err("it is made of value clips itself, and these have samples alone");
    }
    if sources.contains(&Source::Spline) {
        return Err("value clips have samples alone, and it has splines");
    }
    Ok(path)
}

/// Which components of the clips of a sequence vary: over time, or from clip to clip.
struct Varies {
    translations: bool,
    rotations: bool,
    scales: bool,
    weights: bool,
}

impl Varies {
    fn of(clips: &[SkelAnimation]) -> Self {
        fn varies<T: PartialEq>(
            clips: &[SkelAnimation],
            of: impl Fn(&SkelAnimation) -> &Sampled<T>,
        ) -> bool {
            let first = clips.first().and_then(|c| of(c).first());
            let mut all = clips.iter().map(of);
            all.any(|s| s.times().next().is_some() || s.first() != first)
        }
        Self {
            translations: varies(clips, |c| &c.translations),
            rotations: varies(clips, |c| &c.rotations),
            scales: varies(clips, |c| &c.scales),
            weights: varies(clips, |c| &c.blend_shape_weights),
        }
    }

    /// Whether a clip has no samples of something that varies.
    fn lacks_samples(&self, clip: &SkelAnimation) -> bool {
        fn lacks<T>(varies: bool, of: &Sampled<T>) -> bool {
            varies && of.times().next().is_none()
        }
        lacks(self.translations, &clip.translations)
            || lacks(self.rotations, &clip.rotations)
            || lacks(self.scales, &clip.scales)
            || lacks(self.weights, &clip.blend_shape_weights)
    }

    /// The clip with a sample at `time` of what varies and has none.
    fn sampled(&self, clip: &SkelAnimation, time: f64) -> SkelAnimation {
        fn at<T: Clone>(varies: bool, of: &Sampled<T>, time: f64) -> Sampled<T> {
            match of.first() {
                Some(value) if varies && of.times().next().is_none() => {
                    let sample = (time, Some(T::clone(value)));
                    Sampled::new(None, vec![sample], Interpolation::Linear)
                }
                _ => of.clone(),
            }
        }
        SkelAnimation {
            translations: at(self.translations, &clip.translations, time),
            rotations: at(self.rotations, &clip.rotations, time),
            scales: at(self.scales, &clip.scales, time),
            blend_shape_weights: at(self.weights, &clip.blend_shape_weights, time),
            ..clip.clone()
        }
    }
}
