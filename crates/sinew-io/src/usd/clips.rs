//! The clips of a USD file: every SkelAnimation is one, and a caller may choose which is bound.
//!
//! A clip has the name of its SkelAnimation's prim, or its `displayName`. SkelAnimations of one name
//! are one clip, each for another Skeleton. A choice is a set of opinions in the session layer, like
//! a choice of variants, so whatever is composed of the stage sees it.

use std::collections::{HashMap, HashSet};

use sinew_layer::layer::field;
use sinew_layer::{Layer, Path, Value};
use sinew_stage::Prim;

use super::file::UsdFile;
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

/// The largest number of names in a message.
const MOST_NAMES: usize = 8;

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

/// How much of a clip a Skeleton takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClipFit {
    /// How many of the clip's joints the Skeleton has; of a clip without joints, how many of its
    /// blend shapes the prims have that are bound to the Skeleton.
    pub known: usize,
    /// How many joints, or blend shapes, the clip has.
    pub of: usize,
}

impl ClipFit {
    /// Whether the Skeleton has everything that the clip moves.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.known == self.of
    }
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

    /// For each of these clips, the Skeletons that it fits, by path. Skeletons that take only a part
    /// of a clip are listed if none takes the whole.
    ///
    /// # Errors
    /// Values that cannot be decoded.
    pub fn clip_fits(&self, clips: &[StageClip]) -> Result<Vec<Vec<(String, ClipFit)>>> {
        let tree = read_tree(&self.stage);
        let clips: Vec<&StageClip> = clips.iter().collect();
        let mut fits = self.all_read(Fits::new(&tree, &clips))?;
        let of_clip = |clip: usize| {
            let skeletons = 0..fits.skeletons.len();
            let found = skeletons.filter_map(|s| Some((s, fits.of(clip, s)?)));
            let found: Vec<(usize, ClipFit)> = found.collect();
            let path = |(s, fit): (usize, ClipFit)| (fits.skeletons[s].path.to_owned(), fit);
            found.into_iter().map(path).collect()
        };
        Ok((0..clips.len()).map(of_clip).collect())
    }

    /// Binds a clip to the Skeletons that it fits, in the session layer.
    pub(crate) fn choose_clip(&mut self, asked: &str) -> Result<()> {
        let chosen = {
            let tree = read_tree(&self.stage);
            let clips = self.all_read(read_clips(&tree))?;
            let found = find(self, &clips, asked)?;
            let found: Vec<&StageClip> = found.into_iter().map(|i| &clips[i]).collect();
            let mut fits = self.all_read(Fits::new(&tree, &found))?;
            let pairs = pairs(self, asked, &found, &mut fits)?;
            self.all_read(choice(&tree, &found, &pairs))?
        };
        let edited = self.stage.edit(SESSION, |layer| chosen.author(layer));
        edited.map_err(|e| Error::open(self.file(), e))?;
        self.chosen_clip = chosen;
        Ok(())
    }

    /// Authors the clip that the file was opened with into its root layer, in memory, so that a
    /// copy plays it.
    ///
    /// # Errors
    /// A stage that cannot be composed again.
    pub fn author_chosen_clip(&mut self) -> Result<()> {
        let chosen = self.chosen_clip.clone();
        if chosen.bound.is_empty() {
            return Ok(());
        }
        let edited = self.edit_root(|layer| chosen.author(layer));
        edited.map_err(|e| Error::open(self.file(), e))
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

/// Which clips fit which Skeletons. Lists of joints that are equal are compared once, so a stage of
/// many characters takes little longer than one of them.
struct Fits<'t> {
    lists: Lists,
    clips: Vec<ClipTokens>,
    skeletons: Vec<SkeletonTokens<'t>>,
    known: HashMap<(usize, usize), usize>,
    /// For each clip, whether some Skeleton takes the whole of it.
    has_whole: Vec<bool>,
}

/// Lists of tokens, each kept once and called by its number.
#[derive(Default)]
struct Lists {
    all: Vec<Vec<String>>,
    numbers: HashMap<Vec<String>, usize>,
}

struct ClipTokens {
    /// Joints, or blend shapes of a clip without joints.
    list: usize,
    has_joints: bool,
    /// Paths of the Skeletons that it was made for; empty if it does not say.
    made_for: Vec<Path>,
}

struct SkeletonTokens<'t> {
    path: &'t str,
    joints: usize,
    /// Blend shapes of all prims that are bound to it.
    shapes: usize,
}

impl Lists {
    fn number(&mut self, list: Vec<String>) -> usize {
        if let Some(known) = self.numbers.get(&list) {
            return *known;
        }
        self.all.push(list.clone());
        self.numbers.insert(list, self.all.len() - 1);
        self.all.len() - 1
    }
}

impl<'t> Fits<'t> {
    fn new(tree: &'t StageTree<'_>, clips: &[&StageClip]) -> Result<Self, sinew_stage::Error> {
        let mut out = Self {
            lists: Lists::default(),
            clips: Vec::new(),
            skeletons: Vec::new(),
            known: HashMap::new(),
            has_whole: Vec::new(),
        };
        for clip in clips {
            let tokens = Path::parse(&clip.path).ok();
            let prim = tokens
                .and_then(|p| tree.index_of(&p))
                .map(|i| tree.prims[i]);
            let (mut tokens, mut made_for) = ([Vec::new(), Vec::new()], Vec::new());
            if let Some(prim) = prim {
                tokens[0] = read_uniform(&prim.attribute("joints"))?.unwrap_or_default();
                tokens[1] = read_uniform(&prim.attribute("blendShapes"))?.unwrap_or_default();
                made_for = made_for_of(&prim);
            }
            let [joints, shapes] = tokens;
            let has_joints = !joints.is_empty();
            let list = out.lists.number(if has_joints { joints } else { shapes });
            out.clips.push(ClipTokens {
                list,
                has_joints,
                made_for,
            });
        }
        let mut shapes: HashMap<usize, HashSet<String>> = HashMap::new();
        if out.clips.iter().any(|c| !c.has_joints) {
            for bound in binding::resolve(&tree.tree, AnimSource::AtSkeleton).bindings {
                if tree.tree[bound.prim].authored.blend_shapes {
                    let attribute = tree.prims[bound.prim].attribute("skel:blendShapes");
                    let tokens: Option<Vec<String>> = read_uniform(&attribute)?;
                    let of_skeleton = shapes.entry(bound.skeleton).or_default();
                    of_skeleton.extend(tokens.unwrap_or_default());
                }
            }
        }
        for (i, prim) in tree.tree.iter().enumerate() {
            if prim.kind != PrimKind::Skeleton {
                continue;
            }
            let joints = read_uniform(&tree.prims[i].attribute("joints"))?.unwrap_or_default();
            let mut shapes: Vec<String> = shapes.remove(&i).into_iter().flatten().collect();
            shapes.sort();
            out.skeletons.push(SkeletonTokens {
                path: &prim.path,
                joints: out.lists.number(joints),
                shapes: out.lists.number(shapes),
            });
        }
        for clip in 0..out.clips.len() {
            let whole =
                (0..out.skeletons.len()).any(|s| out.taken(clip, s).is_some_and(ClipFit::is_whole));
            out.has_whole.push(whole);
        }
        Ok(out)
    }

    /// How much of a clip a Skeleton takes.
    fn taken(&mut self, clip: usize, skeleton: usize) -> Option<ClipFit> {
        let (clip, skeleton) = (&self.clips[clip], &self.skeletons[skeleton]);
        let mut made_for = clip.made_for.iter();
        if !clip.made_for.is_empty() && !made_for.any(|p| p.as_str() == skeleton.path) {
            return None;
        }
        let theirs = match clip.has_joints {
            true => skeleton.joints,
            false => skeleton.shapes,
        };
        let lists = &self.lists.all;
        let known = self.known.entry((clip.list, theirs)).or_insert_with(|| {
            let theirs: HashSet<&String> = lists[theirs].iter().collect();
            lists[clip.list]
                .iter()
                .filter(|t| theirs.contains(t))
                .count()
        });
        (*known > 0).then(|| ClipFit {
            known: *known,
            of: lists[clip.list].len(),
        })
    }

    /// How a clip fits a Skeleton. A part of a clip fits if no Skeleton takes the whole.
    fn of(&mut self, clip: usize, skeleton: usize) -> Option<ClipFit> {
        let whole = self.has_whole[clip];
        let taken = self.taken(clip, skeleton);
        taken.filter(|fit| fit.is_whole() || !whole)
    }
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
    let known = |which: &[usize]| which.iter().map(|i| names[*i].to_owned()).collect();
    match find_clip_name(&names, asked) {
        FoundName::One(one) => Ok(all(&|clip| clip.name == names[one])),
        FoundName::Several(several) => Err(Error::AmbiguousClip {
            file: file.file().to_owned(),
            asked: asked.to_owned(),
            candidates: known(&several),
        }),
        FoundName::None => Err(Error::NoSuchClip {
            file: file.file().to_owned(),
            asked: asked.to_owned(),
            known: known(&(0..names.len()).collect::<Vec<_>>()),
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

/// A Skeleton, the index of the SkelAnimation for it, and how that fits.
type Pair<'t> = (&'t str, usize, ClipFit);

/// Finds for each Skeleton that a clip fits the SkelAnimation for it: one that it takes the whole
/// of, and of several the one that is nearest in the tree.
fn pairs<'t>(
    file: &UsdFile,
    asked: &str,
    clips: &[&StageClip],
    fits: &mut Fits<'t>,
) -> Result<Vec<Pair<'t>>> {
    // The clips at or below each prim.
    let mut below: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, clip) in clips.iter().enumerate() {
        for above in ancestors(&clip.path) {
            below.entry(above).or_default().push(i);
        }
    }
    let mut out = Vec::new();
    for skeleton in 0..fits.skeletons.len() {
        let path = fits.skeletons[skeleton].path;
        let nearest = |fits: &mut Fits<'_>, whole: bool| {
            ancestors(path).find_map(|above| {
                let here = below.get(above)?.iter();
                let fitting = here.filter_map(|clip| Some((*clip, fits.of(*clip, skeleton)?)));
                let fitting: Vec<_> = fitting.filter(|(_, f)| f.is_whole() == whole).collect();
                (!fitting.is_empty()).then_some(fitting)
            })
        };
        let found = nearest(fits, true).or_else(|| nearest(fits, false));
        match found.as_deref() {
            None => {}
            Some([(clip, fit)]) => out.push((path, *clip, *fit)),
            Some(several) => {
                let several = several.iter();
                return Err(Error::AmbiguousClip {
                    file: file.file().to_owned(),
                    asked: asked.to_owned(),
                    candidates: several.map(|(i, _)| clips[*i].path.clone()).collect(),
                });
            }
        }
    }
    if out.is_empty() {
        return Err(fits_nothing(file, clips, fits));
    }
    Ok(out)
}

/// The paths above a prim, from its parent to the root, which is empty.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    fn parent<'p>(path: &&'p str) -> Option<&'p str> {
        path.rfind('/').map(|at| &path[..at])
    }
    std::iter::successors(parent(&path), parent)
}

fn fits_nothing(file: &UsdFile, clips: &[&StageClip], fits: &Fits<'_>) -> Error {
    let skeletons: Vec<&str> = fits.skeletons.iter().map(|s| s.path).collect();
    let moved: Vec<&str> = fits
        .clips
        .iter()
        .flat_map(|c| &fits.lists.all[c.list])
        .map(String::as_str)
        .collect();
    let reason = match (skeletons.is_empty(), moved.is_empty()) {
        (true, _) => "the file has no skeleton".to_owned(),
        (false, true) => "it moves neither joints nor blend shapes".to_owned(),
        (false, false) => format!(
            "it moves {}, which the skeletons of the file lack: {}",
            first_few(&moved, MOST_NAMES),
            first_few(&skeletons, MOST_NAMES)
        ),
    };
    let paths: Vec<&str> = clips.iter().map(|c| c.path.as_str()).collect();
    Error::ClipFitsNothing {
        file: file.file().to_owned(),
        clip: first_few(&paths, MOST_NAMES),
        reason,
    }
}

/// The opinions that bind these clips, and what the stage still does otherwise.
fn choice(
    tree: &StageTree<'_>,
    clips: &[&StageClip],
    pairs: &[Pair<'_>],
) -> Result<ChosenClip, sinew_stage::Error> {
    let mut out = ChosenClip::default();
    let at = |path: &str| Path::parse(path).ok().and_then(|p| tree.index_of(&p));
    let mut changed = Vec::new();
    let mut bound = HashSet::new();
    for (skeleton, clip, fit) in pairs {
        let clip = clips[*clip];
        let (Some(index), Some(animation)) = (at(skeleton), at(&clip.path)) else {
            continue;
        };
        let (prim, animation) = (tree.prims[index], tree.prims[animation]);
        bound.insert(index);
        if !clip.drives.iter().any(|s| s == skeleton) {
            changed.push(index);
            let above = std::iter::successors(Some(prim), |p| p.parent());
            let instances = above.filter(|p| p.is_instance()).map(|p| p.path());
            for instance in instances {
                if !out.expanded.contains(&instance) {
                    out.expanded.push(instance);
                }
            }
        }
        out.bound.push((prim.path(), animation.path()));
        if !fit.is_whole() {
            let ClipFit { known, of } = fit;
            let missing = missing(&prim, &animation)?;
            let message = match missing.is_empty() {
                true => format!(
                    "the prims of {skeleton} have only {known} of the {of} blend shapes that this clip moves"
                ),
                false => format!(
                    "{skeleton} does not have {} of the {of} joints that this clip moves: {}",
                    missing.len(),
                    first_few(&missing, MOST_NAMES)
                ),
            };
            out.warnings
                .push(Warning::new("clip-joints", &clip.path, message));
        }
        for time in times(&animation)? {
            let (first, last) = out.range.get_or_insert((time, time));
            (*first, *last) = (first.min(time), last.max(time));
        }
    }
    warn_of_transforms(tree, &changed, &mut out.warnings)?;
    let others = (0..tree.tree.len()).filter(|i| tree.tree[*i].kind == PrimKind::Skeleton);
    for other in others.filter(|i| !bound.contains(i)) {
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

/// Joints of a SkelAnimation that a Skeleton lacks.
fn missing(skeleton: &Prim<'_>, animation: &Prim<'_>) -> Result<Vec<String>, sinew_stage::Error> {
    let joints = |prim: &Prim<'_>| read_uniform::<Vec<String>>(&prim.attribute("joints"));
    let (theirs, mut own) = (joints(skeleton)?, joints(animation)?.unwrap_or_default());
    own.retain(|joint| !theirs.iter().flatten().any(|t| t == joint));
    Ok(own)
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
            "a clip of a USD file moves joints alone: {} keep their own movement, which may belong to another clip; \
             convert the original file with this clip alone",
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
            message("Run").ends_with("no clip is named 'Run': it has Wave, Idle, Rig|Odd, Lost")
        );
        assert!(message("*").contains("'*' fits several clips"));
    }
}
