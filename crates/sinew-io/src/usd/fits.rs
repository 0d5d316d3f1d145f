//! Which SkelAnimations fit which Skeletons: the rules that all callers share.
//!
//! A SkelAnimation fits a Skeleton that has some of its joints; one without joints fits a Skeleton
//! whose prims have some of its blend shapes. If a Skeleton has everything that it moves, Skeletons
//! with only a part are not used. If a Skeleton that it was made for is there, no other one is used.

use std::collections::{HashMap, HashSet};

use sinew::error::{Warning, first_few};
use sinew::scene::{PlacedSkeleton, Scene};
use sinew::skel::SkelAnimation;

use super::clips::StageClip;
use crate::clip_joints::by_last_parts;
use crate::shape_names;

/// The largest number of names in a message.
pub(crate) const MOST_NAMES: usize = 8;

/// A SkelAnimation, as far as its fit depends on it.
#[derive(Default)]
pub(crate) struct Mover {
    pub path: String,
    /// Paths of the Skeletons that it was made for; empty if it does not say.
    pub made_for: Vec<String>,
    pub joints: Vec<String>,
    pub shapes: Vec<String>,
}

impl Mover {
    pub fn new(clip: &StageClip, animation: &SkelAnimation) -> Self {
        Self {
            path: clip.path.clone(),
            made_for: clip.made_for.clone(),
            joints: animation.joints.clone(),
            shapes: animation.blend_shapes.clone(),
        }
    }
}

/// A Skeleton, with the blend shapes of all prims that are bound to it.
pub(crate) struct Moved {
    pub path: String,
    pub joints: Vec<String>,
    pub shapes: Vec<String>,
}

impl Moved {
    pub fn new(scene: &Scene, placed: &PlacedSkeleton) -> Self {
        Self {
            path: placed.path.clone(),
            joints: placed.instance.skeleton().joints().to_vec(),
            shapes: shape_names(scene, placed),
        }
    }
}

/// How much of a SkelAnimation a Skeleton takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fit {
    /// Whether its joints are found by their paths, not by the last parts of these.
    pub by_path: bool,
    /// Whether the Skeleton has everything that it moves.
    pub is_whole: bool,
    /// How many of its joints the Skeleton has, or of its blend shapes.
    pub known: usize,
}

/// The fits of some SkelAnimations on some Skeletons, both called by their index. Lists of names
/// that are equal are compared once, so a stage of many characters takes little longer than one of
/// them.
pub(crate) struct Fits {
    lists: Lists,
    clips: Vec<ClipList>,
    skeletons: Vec<SkeletonLists>,
    by_last_parts: bool,
    /// The fits of two lists, if some names are in both.
    known: HashMap<(usize, usize), Option<Fit>>,
    /// For each clip, whether some Skeleton takes the whole of it.
    has_whole: Vec<bool>,
    /// The clips at or below each prim.
    below: HashMap<String, Vec<usize>>,
}

struct ClipList {
    path: String,
    made_for: Vec<String>,
    /// Joints, or blend shapes of a clip without joints.
    list: usize,
    has_joints: bool,
}

struct SkeletonLists {
    path: String,
    joints: usize,
    shapes: usize,
}

/// Lists of names, each kept once and called by its number.
#[derive(Default)]
struct Lists {
    all: Vec<Vec<String>>,
    numbers: HashMap<Vec<String>, usize>,
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

impl Fits {
    /// With `by_last_parts` set, joints are found by the last parts of their paths if no path of the
    /// clip is a path of the Skeleton.
    pub fn new(clips: Vec<Mover>, skeletons: Vec<Moved>, by_last_parts: bool) -> Self {
        let mut lists = Lists::default();
        let mut below: HashMap<String, Vec<usize>> = HashMap::new();
        let skeletons = skeletons.into_iter().map(|skeleton| SkeletonLists {
            path: skeleton.path,
            joints: lists.number(skeleton.joints),
            shapes: lists.number(skeleton.shapes),
        });
        let skeletons: Vec<SkeletonLists> = skeletons.collect();
        let paths: HashSet<&str> = skeletons.iter().map(|s| s.path.as_str()).collect();
        let clips = clips.into_iter().enumerate().map(|(i, mut clip)| {
            for above in ancestors(&clip.path) {
                below.entry(above.to_owned()).or_default().push(i);
            }
            clip.made_for.retain(|path| paths.contains(path.as_str()));
            let has_joints = !clip.joints.is_empty();
            ClipList {
                path: clip.path,
                made_for: clip.made_for,
                list: lists.number(if has_joints { clip.joints } else { clip.shapes }),
                has_joints,
            }
        });
        let clips = clips.collect();
        let mut out = Self {
            lists,
            clips,
            skeletons,
            by_last_parts,
            known: HashMap::new(),
            has_whole: Vec::new(),
            below,
        };
        for clip in 0..out.clips.len() {
            let mut all = 0..out.skeletons.len();
            let has_whole = all.any(|s| out.taken(clip, s).is_some_and(Fit::takes_all));
            out.has_whole.push(has_whole);
        }
        out
    }

    /// The lists of a clip and of a Skeleton that are compared.
    fn lists(&self, clip: usize, skeleton: usize) -> (usize, usize) {
        let (clip, skeleton) = (&self.clips[clip], &self.skeletons[skeleton]);
        match clip.has_joints {
            true => (clip.list, skeleton.joints),
            false => (clip.list, skeleton.shapes),
        }
    }

    /// How much of a clip a Skeleton takes, whatever other Skeletons take.
    pub fn taken(&mut self, clip: usize, skeleton: usize) -> Option<Fit> {
        let made_for = &self.clips[clip].made_for;
        if !made_for.is_empty() && !made_for.contains(&self.skeletons[skeleton].path) {
            return None;
        }
        let by_last_parts = self.by_last_parts && self.clips[clip].has_joints;
        let compared = self.lists(clip, skeleton);
        let lists = &self.lists.all;
        *self.known.entry(compared).or_insert_with(|| {
            let (own, theirs) = (&lists[compared.0], &lists[compared.1]);
            let all: HashSet<&String> = theirs.iter().collect();
            let by_path = own.iter().filter(|name| all.contains(name)).count();
            let known = match by_path {
                0 if by_last_parts => by_last_parts_count(own, theirs),
                count => count,
            };
            (known > 0).then_some(Fit {
                by_path: by_path > 0,
                is_whole: known == own.len(),
                known,
            })
        })
    }

    /// How a clip fits a Skeleton. A part of a clip fits if no Skeleton takes the whole.
    pub fn of(&mut self, clip: usize, skeleton: usize) -> Option<Fit> {
        let has_whole = self.has_whole[clip];
        let taken = self.taken(clip, skeleton);
        taken.filter(|fit| fit.takes_all() || !has_whole)
    }

    /// Paths of the Skeletons that a clip fits.
    pub fn skeletons_of(&mut self, clip: usize) -> Vec<String> {
        let mut found = Vec::new();
        for skeleton in 0..self.skeletons.len() {
            if self.of(clip, skeleton).is_some() {
                found.push(self.skeletons[skeleton].path.clone());
            }
        }
        found
    }

    /// The clip that moves a Skeleton: one that it takes the whole of, and of several the one that is
    /// nearest in the tree, of which it takes most.
    ///
    /// # Errors
    /// The clips that are equally good.
    pub fn best(&mut self, skeleton: usize) -> Result<Option<(usize, Fit)>, Vec<usize>> {
        let path = self.skeletons[skeleton].path.clone();
        for (by_path, is_whole) in [(true, true), (true, false), (false, true), (false, false)] {
            for above in ancestors(&path) {
                let here = self.below.get(above).cloned().unwrap_or_default();
                let fit = |clip| Some((clip, self.of(clip, skeleton)?));
                let mut fitting: Vec<(usize, Fit)> = here.into_iter().filter_map(fit).collect();
                fitting.retain(|(_, f)| (f.by_path, f.is_whole) == (by_path, is_whole));
                let most = fitting.iter().map(|(_, fit)| fit.known).max();
                fitting.retain(|(_, fit)| Some(fit.known) == most);
                match fitting[..] {
                    [] => {}
                    [one] => return Ok(Some(one)),
                    _ => return Err(fitting.into_iter().map(|(clip, _)| clip).collect()),
                }
            }
        }
        Ok(None)
    }

    /// The warning that a Skeleton takes a part of a clip; `None` if it takes the whole.
    pub fn warning(&mut self, clip: usize, skeleton: usize) -> Option<Warning> {
        let fit = self.taken(clip, skeleton)?;
        if fit.is_whole {
            return None;
        }
        let (own, theirs) = self.lists(clip, skeleton);
        let (own, theirs) = (&self.lists.all[own], &self.lists.all[theirs]);
        let known: HashSet<&String> = theirs.iter().collect();
        let missing = own.iter().filter(|name| !known.contains(name));
        let missing: Vec<&String> = missing.collect();
        let path = &self.skeletons[skeleton].path;
        let (of, names) = (own.len(), first_few(&missing, MOST_NAMES));
        let message = match self.clips[clip].has_joints {
            true => format!(
                "{path} does not have {} of the {of} joints that this clip moves: {names}",
                missing.len()
            ),
            false => format!(
                "the prims of {path} have only {} of the {of} blend shapes that this clip moves: they lack {names}",
                fit.known
            ),
        };
        let path = &self.clips[clip].path;
        Some(Warning::new("clip-joints", path, message))
    }

    /// What the clips move, and the Skeletons, for the message that none fits. `None` if the clips
    /// move nothing.
    pub fn lacking(&self) -> Option<(String, String)> {
        let moved = self.clips.iter().flat_map(|c| &self.lists.all[c.list]);
        let moved: Vec<&String> = moved.collect();
        let skeletons: Vec<&String> = self.skeletons.iter().map(|s| &s.path).collect();
        (!moved.is_empty()).then(|| {
            let [moved, skeletons] = [moved, skeletons].map(|all| first_few(&all, MOST_NAMES));
            (moved, skeletons)
        })
    }
}

impl Fit {
    fn takes_all(self) -> bool {
        self.is_whole && self.by_path
    }
}

fn by_last_parts_count(own: &[String], theirs: &[String]) -> usize {
    by_last_parts(own, theirs).iter().flatten().count()
}

/// The paths above a prim, from its parent to the root, which is empty.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    fn parent<'p>(path: &&'p str) -> Option<&'p str> {
        path.rfind('/').map(|at| &path[..at])
    }
    std::iter::successors(parent(&path), parent)
}
