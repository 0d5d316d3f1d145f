//! The clips of a USD file: every SkelAnimation is one, and a caller may choose which is bound.
//!
//! A clip has the name of its SkelAnimation's prim, or its `displayName`. SkelAnimations of one name
//! are one clip, each for another Skeleton. A choice is a set of opinions in the session layer, like
//! a choice of variants, so whatever is composed of the stage sees it.

use std::collections::{HashMap, HashSet};
use std::path::Path as FilePath;

use sinew_layer::layer::field;
use sinew_layer::{Layer, Path, Value};
use sinew_stage::Prim;

use super::file::UsdFile;
use super::fits::{Fits, MOST_NAMES, Moved, Mover};
use super::from_asset::convert::Origin;
use super::read::tree::{StageTree, read_tree};
use super::read::values::read_uniform;
use super::variants::SESSION;
use crate::error::{Error, Result};
use sinew::error::{Warning, first_few};
use sinew::skel::binding::{self, AnimSource, PrimKind};
use sinew_animate::asset::{FoundName, find_clip_name};

/// The relationship of a SkelAnimation with the Skeleton that it was made for. `convert` writes it
/// where a file has several Skeletons, because their joints may have the same names.
pub(crate) const MADE_FOR: &str = "sinew:skeleton";

/// A SkelAnimation of a stage, as a clip that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StageClip {
    /// The clip's name: the prim's `displayName`, or else the prim's name.
    pub name: String,
    /// Path of the SkelAnimation.
    pub path: String,
    /// Paths of the Skeletons that it drives as the file is.
    pub drives: Vec<String>,
    /// Paths of the Skeletons that it was made for, if it says so.
    pub made_for: Vec<String>,
}

/// A clip that was chosen, as opinions on prims.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChosenClip {
    /// The Skeletons that it drives, and their SkelAnimations.
    bound: Vec<(Path, Path)>,
    /// Instances that hold a Skeleton, whose contents no opinion reaches while they are instances.
    expanded: Vec<Path>,
    /// First and last time code.
    range: Option<(f64, f64)>,
    pub warnings: Vec<Warning>,
}

impl ChosenClip {
    /// Writes the choice as opinions of a layer.
    pub fn author(&self, layer: &mut Layer) {
        for (skeleton, animation) in &self.bound {
            bind_animation(layer, skeleton, animation);
        }
        for instance in &self.expanded {
            let fields = &mut layer.over(instance).fields;
            fields.set(field::INSTANCEABLE, Value::Bool(false));
        }
        if let Some((start, end)) = self.range {
            let root = &mut layer.root_mut().fields;
            root.set("startTimeCode", Value::Double(start));
            root.set("endTimeCode", Value::Double(end));
        }
    }

    /// The SkelAnimation that was chosen for a Skeleton.
    pub fn of_skeleton(&self, skeleton: &str) -> Option<&Path> {
        let mut bound = self.bound.iter();
        bound
            .find(|(s, _)| s.as_str() == skeleton)
            .map(|(_, animation)| animation)
    }
}

/// Binds a SkelAnimation to a Skeleton.
pub(crate) fn bind_animation(layer: &mut Layer, skeleton: &Path, animation: &Path) {
    layer.over(skeleton);
    layer.apply_schema(skeleton, "SkelBindingAPI");
    let source = skeleton.property("skel:animationSource");
    layer.relationship(&source, vec![animation.clone()]);
}

impl UsdFile {
    /// Lists every SkelAnimation of the stage as a clip, in the stage's order, whether it drives a
    /// Skeleton or not.
    ///
    /// # Errors
    /// Values that cannot be decoded.
    pub fn stage_clips(&self) -> Result<Vec<StageClip>> {
        self.all_read(self.read_stage_clips())
    }

    /// As [`UsdFile::stage_clips`], with the stage's own errors.
    pub(crate) fn read_stage_clips(&self) -> Result<Vec<StageClip>, sinew_stage::Error> {
        read_clips(&read_tree(&self.stage))
    }

    /// The SkelAnimations that a text means: the one at this path, or all of the clip that it
    /// names. A name is meant as in [`ClipChoice::Named`](super::ClipChoice::Named).
    ///
    /// # Errors
    /// [`Error::NoSuchClip`] and [`Error::AmbiguousClip`]; values that cannot be decoded.
    pub fn find_clip(&self, asked: &str) -> Result<Vec<StageClip>> {
        let mut clips = self.stage_clips()?;
        let found = find(self, &clips, asked)?;
        let mut index = 0..;
        clips.retain(|_| index.next().is_some_and(|i| found.contains(&i)));
        Ok(clips)
    }

    /// For each of these clips, the paths of the Skeletons that it fits. Skeletons that take only a
    /// part of a clip are listed if none takes the whole.
    ///
    /// # Errors
    /// Values that cannot be decoded.
    pub fn clip_fits(&self, clips: &[StageClip]) -> Result<Vec<Vec<String>>> {
        let tree = read_tree(&self.stage);
        let clips: Vec<&StageClip> = clips.iter().collect();
        let mut fits = self.all_read(read_fits(&tree, &clips))?;
        let all = 0..clips.len();
        Ok(all.map(|clip| fits.skeletons_of(clip)).collect())
    }

    /// Binds a clip to the Skeletons that it fits, in the session layer.
    pub(crate) fn choose_clip(&mut self, asked: &str) -> Result<()> {
        let chosen = {
            let tree = read_tree(&self.stage);
            let clips = self.all_read(read_clips(&tree))?;
            let found = find(self, &clips, asked)?;
            let found: Vec<&StageClip> = found.into_iter().map(|i| &clips[i]).collect();
            let mut fits = self.all_read(read_fits(&tree, &found))?;
            let pairs = pairs(self, asked, (&tree, &found), &mut fits)?;
            self.all_read(choice(&tree, &found, &pairs, &mut fits))?
        };
        let edited = self.stage.edit(SESSION, |layer| chosen.author(layer));
        edited.map_err(|e| Error::open(self.file(), e))?;
        self.chosen_clip = chosen;
        Ok(())
    }
}

fn read_clips(tree: &StageTree<'_>) -> Result<Vec<StageClip>, sinew_stage::Error> {
    let of_kind = |kind: PrimKind| (0..tree.tree.len()).filter(move |i| tree.tree[*i].kind == kind);
    let mut driven: HashMap<usize, Vec<String>> = HashMap::new();
    for skeleton in of_kind(PrimKind::Skeleton) {
        if let Some(animation) = binding::animation_of(&tree.tree, skeleton) {
            let path = tree.tree[skeleton].path.clone();
            driven.entry(animation).or_default().push(path);
        }
    }
    let mut out = Vec::new();
    for i in of_kind(PrimKind::SkelAnimation) {
        out.push(StageClip {
            name: name_of(&tree.prims[i])?,
            path: tree.tree[i].path.clone(),
            drives: driven.remove(&i).unwrap_or_default(),
            made_for: made_for_of(&tree.prims[i])
                .iter()
                .map(|p| p.as_str().to_owned())
                .collect(),
        });
    }
    Ok(out)
}

fn made_for_of(prim: &Prim<'_>) -> Vec<Path> {
    prim.relationship(MADE_FOR).forwarded_targets()
}

fn name_of(prim: &Prim<'_>) -> Result<String, sinew_stage::Error> {
    Ok(match prim.metadata("displayName")? {
        Some(Value::String(name)) if !name.is_empty() => name.as_str().to_owned(),
        _ => prim.name().to_owned(),
    })
}

/// How clips fit the Skeletons of a stage, in the stage's order.
fn read_fits(tree: &StageTree<'_>, clips: &[&StageClip]) -> Result<Fits, sinew_stage::Error> {
    let list = |prim: &Prim<'_>, name: &str| -> Result<Vec<String>, sinew_stage::Error> {
        Ok(read_uniform(&prim.attribute(name))?.unwrap_or_default())
    };
    let mut movers = Vec::with_capacity(clips.len());
    for clip in clips {
        let path = Path::parse(&clip.path).ok();
        let mut mover = Mover {
            path: clip.path.clone(),
            made_for: clip.made_for.clone(),
            ..Mover::default()
        };
        if let Some(index) = path.and_then(|p| tree.index_of(&p)) {
            mover.joints = list(&tree.prims[index], "joints")?;
            mover.shapes = list(&tree.prims[index], "blendShapes")?;
        }
        movers.push(mover);
    }
    let mut shapes: HashMap<usize, HashSet<String>> = HashMap::new();
    if movers.iter().any(|clip| clip.joints.is_empty()) {
        for bound in binding::resolve(&tree.tree, AnimSource::AtSkeleton).bindings {
            if tree.tree[bound.prim].authored.blend_shapes {
                let tokens = list(&tree.prims[bound.prim], "skel:blendShapes")?;
                shapes.entry(bound.skeleton).or_default().extend(tokens);
            }
        }
    }
    let mut skeletons = Vec::new();
    for i in skeletons_of(tree) {
        let mut shapes: Vec<String> = shapes.remove(&i).into_iter().flatten().collect();
        shapes.sort();
        skeletons.push(Moved {
            path: tree.tree[i].path.clone(),
            joints: list(&tree.prims[i], "joints")?,
            shapes,
        });
    }
    Ok(Fits::new(movers, skeletons, false))
}

/// Indices of a stage's Skeletons.
fn skeletons_of(tree: &StageTree<'_>) -> impl Iterator<Item = usize> {
    let all = 0..tree.tree.len();
    all.filter(|i| tree.tree[*i].kind == PrimKind::Skeleton)
}

/// Indices of the SkelAnimations that a text means.
fn find(file: &UsdFile, clips: &[StageClip], asked: &str) -> Result<Vec<usize>> {
    let all = |fits: &dyn Fn(&StageClip) -> bool| -> Vec<usize> {
        (0..clips.len()).filter(|i| fits(&clips[*i])).collect()
    };
    let own_name = |clip: &StageClip| {
        let name = clip.path.rsplit('/').next().unwrap_or_default();
        name == asked || name == as_prim_name(asked)
    };
    let exact = [
        all(&|clip| clip.path == asked),
        all(&|clip| clip.name == asked),
        all(&own_name),
    ];
    if let Some(found) = exact.into_iter().find(|found| !found.is_empty()) {
        return Ok(found);
    }
    let mut names: Vec<&str> = Vec::new();
    for clip in clips {
        if !names.contains(&clip.name.as_str()) {
            names.push(&clip.name);
        }
    }
    let one = one_named(file.file(), &names, asked)?;
    Ok(all(&|clip| clip.name == names[one]))
}

/// Index of the clip of a file that a text names, as in [`ClipChoice::Named`](super::ClipChoice::Named).
///
/// # Errors
/// [`Error::NoSuchClip`] and [`Error::AmbiguousClip`].
pub(crate) fn one_named(file: &FilePath, names: &[&str], asked: &str) -> Result<usize> {
    let named = |which: &[usize]| which.iter().map(|i| names[*i].to_owned()).collect();
    match find_clip_name(names, asked) {
        FoundName::One(one) => Ok(one),
        FoundName::Several(several) => Err(Error::AmbiguousClip {
            file: file.to_owned(),
            asked: asked.to_owned(),
            candidates: named(&several),
        }),
        FoundName::None => Err(Error::NoSuchClip {
            file: file.to_owned(),
            asked: asked.to_owned(),
            known: named(&(0..names.len()).collect::<Vec<_>>()),
        }),
    }
}

/// A clip's name as the name of a prim: each character that no prim name may have becomes `_`.
pub(crate) fn as_prim_name(name: &str) -> String {
    let part = |c: char| match c == '_' || c.is_alphanumeric() {
        true => c,
        false => '_',
    };
    name.chars().map(part).collect()
}

impl Origin {
    /// Index of the clip that a text names, as in [`ClipChoice::Named`](super::ClipChoice::Named).
    /// `None` if not one clip alone fits.
    #[must_use]
    pub fn find_clip(&self, asked: &str) -> Option<usize> {
        let names: Vec<&str> = self.clips.iter().map(|(name, _)| name.as_str()).collect();
        match find_clip_name(&names, asked) {
            FoundName::One(clip) => Some(clip),
            FoundName::None | FoundName::Several(_) => None,
        }
    }
}

/// A Skeleton among those of the stage, its index in the tree, and the index of the clip for it.
type Pair = (usize, usize, usize);

/// Finds for each Skeleton that a clip fits the SkelAnimation for it.
fn pairs(
    file: &UsdFile,
    asked: &str,
    (tree, clips): (&StageTree<'_>, &[&StageClip]),
    fits: &mut Fits,
) -> Result<Vec<Pair>> {
    let mut out = Vec::new();
    for (skeleton, index) in skeletons_of(tree).enumerate() {
        match fits.best(skeleton) {
            Ok(best) => out.extend(best.map(|(clip, _)| (skeleton, index, clip))),
            Err(several) => {
                return Err(Error::AmbiguousClip {
                    file: file.file().to_owned(),
                    asked: asked.to_owned(),
                    candidates: several.iter().map(|i| clips[*i].path.clone()).collect(),
                });
            }
        }
    }
    if !out.is_empty() {
        return Ok(out);
    }
    let reason = match (skeletons_of(tree).next(), fits.lacking()) {
        (None, _) => "the file has no skeleton".to_owned(),
        (_, None) => "it moves neither joints nor blend shapes".to_owned(),
        (_, Some((moved, skeletons))) => {
            format!("it moves {moved}, which the skeletons of the file lack: {skeletons}")
        }
    };
    let paths: Vec<&str> = clips.iter().map(|c| c.path.as_str()).collect();
    Err(Error::ClipFitsNothing {
        file: file.file().to_owned(),
        clip: first_few(&paths, MOST_NAMES),
        reason,
    })
}

/// The opinions that bind these clips, and what the stage still does otherwise.
fn choice(
    tree: &StageTree<'_>,
    clips: &[&StageClip],
    pairs: &[Pair],
    fits: &mut Fits,
) -> Result<ChosenClip, sinew_stage::Error> {
    let mut out = ChosenClip::default();
    let mut changed = Vec::new();
    for (skeleton, index, chosen) in pairs {
        let clip = clips[*chosen];
        let path = Path::parse(&clip.path).ok();
        let Some(animation) = path.and_then(|p| tree.index_of(&p)) else {
            continue;
        };
        let (prim, animation) = (tree.prims[*index], tree.prims[animation]);
        if !clip.drives.contains(&tree.tree[*index].path) {
            changed.push(*index);
            let above = std::iter::successors(Some(prim), |p| p.parent());
            let instances = above.filter(|p| p.is_instance()).map(|p| p.path());
            for instance in instances {
                if !out.expanded.contains(&instance) {
                    out.expanded.push(instance);
                }
            }
        }
        out.bound.push((prim.path(), animation.path()));
        out.warnings.extend(fits.warning(*chosen, *skeleton));
        for time in times(&animation)? {
            let (first, last) = out.range.get_or_insert((time, time));
            (*first, *last) = (first.min(time), last.max(time));
        }
    }
    warn_of_transforms(tree, &changed, &mut out.warnings)?;
    let bound: HashSet<usize> = pairs.iter().map(|(_, index, _)| *index).collect();
    for other in skeletons_of(tree).filter(|i| !bound.contains(i)) {
        let path = &tree.tree[other].path;
        if let Some(own) = binding::animation_of(&tree.tree, other) {
            let message = format!(
                "the chosen clip does not fit this skeleton, which keeps {}",
                tree.tree[own].path
            );
            out.warnings
                .push(Warning::new("clip-elsewhere", path, message));
        }
    }
    Ok(out)
}

/// Every time of a SkelAnimation's samples.
fn times(animation: &Prim<'_>) -> Result<Vec<f64>, sinew_stage::Error> {
    let mut out = Vec::new();
    for name in ["translations", "rotations", "scales", "blendShapeWeights"] {
        out.extend(animation.attribute(name).times()?);
    }
    Ok(out)
}

/// A SkelAnimation moves joints alone: what moves above the joints, or beside them, does so as it
/// did with the clip that was bound.
fn warn_of_transforms(
    tree: &StageTree<'_>,
    skeletons: &[usize],
    warnings: &mut Vec<Warning>,
) -> Result<(), sinew_stage::Error> {
    let parent = |i: &usize| tree.tree[*i].parent;
    let mut roots: HashSet<usize> = HashSet::new();
    let mut above: HashSet<usize> = HashSet::new();
    for skeleton in skeletons {
        for i in std::iter::successors(Some(*skeleton), parent) {
            above.insert(i);
            if tree.tree[i].kind == PrimKind::SkelRoot {
                roots.insert(i);
            }
        }
    }
    let mut moving = Vec::new();
    for (i, prim) in tree.prims.iter().enumerate() {
        let mut chain = std::iter::successors(Some(i), parent);
        if !above.contains(&i) && !chain.any(|a| roots.contains(&a)) {
            continue;
        }
        let names = prim.authored_property_names();
        for name in names.iter().filter(|n| n.as_str().starts_with("xformOp:")) {
            if prim.attribute(name).times()?.len() > 1 {
                moving.push(tree.tree[i].path.as_str());
                break;
            }
        }
    }
    if let Some(first) = moving.first() {
        let message = format!(
            "a clip of a USD file moves only joints: {} keep their own movement, which may belong to another clip; \
             convert the original file with only this clip",
            first_few(&moving, MOST_NAMES)
        );
        warnings.push(Warning::new("clip-transforms", *first, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGE: &str = r#"#usda 1.0
def SkelRoot "A" {
    def Skeleton "Skel" { uniform token[] joints = ["a", "a/b"]; }
    def SkelAnimation "Wave" { uniform token[] joints = ["a"]; }
}
def SkelRoot "B" {
    def Skeleton "Skel" (prepend apiSchemas = ["SkelBindingAPI"]) {
        uniform token[] joints = ["a", "a/c"]
        rel skel:animationSource = </B/Idle>
    }
    def SkelAnimation "Wave" { uniform token[] joints = ["a"]; }
    def SkelAnimation "Idle" { uniform token[] joints = ["a/c", "a"]; }
    def SkelAnimation "Odd" ( displayName = "Rig|Odd" ) { uniform token[] joints = ["a", "x", "y"]; }
    def SkelAnimation "Lost" { uniform token[] joints = ["x"]; }
}
def "One" {
    def SkelAnimation "Nod" { uniform token[] joints = ["a"]; }
}
def "Two" {
    def SkelAnimation "Nod" { uniform token[] joints = ["a"]; }
}
"#;

    fn open(choice: &str) -> Result<UsdFile> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stage.usda");
        std::fs::write(&file, STAGE).unwrap();
        let options = super::super::OpenOptions {
            clips: super::super::ClipChoice::Named(choice.to_owned()),
            ..Default::default()
        };
        UsdFile::open_with(&file, &options)
    }

    fn bound(choice: &str) -> Vec<(String, String)> {
        let file = open(choice).unwrap();
        let bound = file.chosen_clip.bound.iter();
        bound
            .map(|(s, a)| (s.as_str().to_owned(), a.as_str().to_owned()))
            .collect()
    }

    fn pair(s: &str, a: &str) -> (String, String) {
        (s.to_owned(), a.to_owned())
    }

    #[test]
    fn each_skeleton_takes_the_nearest_clip_of_the_name() {
        let both = [pair("/A/Skel", "/A/Wave"), pair("/B/Skel", "/B/Wave")];
        assert_eq!(bound("Wave"), both);
        let one = [pair("/A/Skel", "/A/Wave"), pair("/B/Skel", "/A/Wave")];
        assert_eq!(bound("/A/Wave"), one);
        assert_eq!(bound("Idle"), [pair("/B/Skel", "/B/Idle")]);
        assert_eq!(bound("Id*"), [pair("/B/Skel", "/B/Idle")]);
    }

    #[test]
    fn a_part_of_a_clip_is_bound_with_a_warning() {
        let file = open("Odd").unwrap();
        let codes: Vec<&str> = file.chosen_clip.warnings.iter().map(|w| w.code).collect();
        assert_eq!(codes, ["clip-joints", "clip-joints"]);
        assert_eq!(bound("Rig|Odd").len(), 2);
    }

    #[test]
    fn what_fits_nothing_or_is_not_there_is_refused() {
        let message = |choice: &str| open(choice).unwrap_err().to_string();
        let lost = "it moves x, which the skeletons of the file lack: /A/Skel, /B/Skel";
        assert!(message("Lost").contains(lost), "{}", message("Lost"));
        assert!(
            message("Run")
                .ends_with("no clip is named 'Run': it has Wave, Idle, Rig|Odd, Lost, Nod")
        );
        assert!(message("*").contains("'*' fits several clips"));
        assert!(message("Nod").ends_with("choose one of /One/Nod, /Two/Nod"));
    }
}
