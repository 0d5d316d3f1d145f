//! Native instances in the output: those that a bake leaves alike stay instances of one prim.
//!
//! UsdSkel animates instances one by one (rule 5), so a bake may tell apart what shared a prototype. Instances
//! are put into groups with the same edits inside, nested instances included. A group of several keeps one copy of the
//! baked prims; an instance with baked prims that is alone is expanded.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

use sinew_layer::Path;
use sinew_stage::{Predicate, Stage};

use crate::usd::write::edits::{BakeEdits, BakedHint};

/// Where the one copy of a group's prims is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// A prim that the instances refer to, as UsdStage::Flatten makes them. Of all instances.
    Flattened,
    /// A class that the instances inherit, with overs. Of instances that hold baked prims.
    Overs,
}

/// The stage's native instances, nested ones included.
pub(crate) struct Instances {
    sharing: Sharing,
    list: Vec<Instance>,
    index_of: HashMap<Path, usize>,
    groups: Vec<Group>,
}

struct Instance {
    path: Path,
    /// The instance around this one.
    parent: Option<usize>,
    group: usize,
}

struct Group {
    members: Vec<usize>,
    /// Whether baked prims, or others that have to stand alone, are inside, at whatever depth.
    edited: bool,
    /// Path of the shared prim.
    home: String,
    /// Where its instances end up, each once; filled when first asked for.
    positions: OnceCell<Vec<Path>>,
}

/// What is inside an instance; paths are relative to it.
#[derive(Default, PartialEq, Eq, Hash)]
struct Contents {
    prototype: String,
    /// Baked prims, by their index into the edits.
    baked: BTreeMap<String, usize>,
    retyped: BTreeMap<String, ()>,
    /// Rewritten extentsHints, by the number of their samples.
    hinted: BTreeMap<String, usize>,
    /// Numbered where the instance has to stand alone.
    alone: Option<usize>,
    /// Nested instances, by their group.
    nested: BTreeMap<String, usize>,
}

impl Instances {
    /// Finds the instances of a stage and groups them by what `edits` does to them. Those around the
    /// prims of `apart` stand alone, so that these have a place of their own in the output.
    pub fn read(stage: &Stage, edits: &BakeEdits, apart: &[String], sharing: Sharing) -> Self {
        let mut out = Self {
            sharing,
            list: Vec::new(),
            index_of: HashMap::new(),
            groups: Vec::new(),
        };
        let mut contents: Vec<Contents> = Vec::new();
        // In classes there are instances too.
        for prim in stage.traverse(Predicate::ALL_PROXIES) {
            let Some(prototype) = prim.prototype().filter(|_| prim.is_active()) else {
                continue;
            };
            let path = prim.path();
            let parent = out.around(&path);
            out.index_of.insert(path.clone(), out.list.len());
            out.list.push(Instance {
                path,
                parent,
                group: 0,
            });
            contents.push(Contents {
                prototype: prototype.path().as_str().to_owned(),
                ..Contents::default()
            });
        }
        if out.list.is_empty() {
            return out;
        }
        for (number, prim) in edits.prims.iter().enumerate() {
            for path in prim.places() {
                if let Some((i, inside)) = out.inside(&parsed(path)) {
                    contents[i].baked.insert(inside, number);
                }
            }
        }
        for path in &edits.retype {
            if let Some((i, inside)) = out.inside(&parsed(path)) {
                contents[i].retyped.insert(inside, ());
            }
        }
        let mut first_like: HashMap<Vec<u64>, usize> = HashMap::new();
        for (number, hint) in edits.hints.iter().enumerate() {
            if let Some((i, inside)) = out.inside(&parsed(&hint.path)) {
                // Those that have no samples yet may come out each in its own way.
                let same = match hint.samples.is_empty() {
                    true => number,
                    false => *first_like.entry(bits(hint)).or_insert(number),
                };
                contents[i].hinted.insert(inside, same);
            }
        }
        for (number, path) in apart.iter().enumerate() {
            let mut around = out.around(&parsed(path));
            while let Some(i) = around {
                contents[i].alone = Some(number);
                around = out.list[i].parent;
            }
        }
        out.group(contents);
        out.name_homes(stage);
        out
    }

    /// The innermost instance around a prim, which is not the prim itself.
    fn around(&self, path: &Path) -> Option<usize> {
        let mut at = path.parent();
        while let Some(path) = at {
            if let Some(i) = self.index_of.get(&path) {
                return Some(*i);
            }
            at = path.parent();
        }
        None
    }

    fn inside(&self, path: &Path) -> Option<(usize, String)> {
        let i = self.around(path)?;
        let root = self.list[i].path.as_str();
        Some((i, path.as_str()[root.len()..].to_owned()))
    }

    /// Instances with equal contents make a group; those nested within come first.
    fn group(&mut self, mut contents: Vec<Contents>) {
        let mut group_of: HashMap<Contents, usize> = HashMap::new();
        for i in (0..self.list.len()).rev() {
            let contents_of_i = std::mem::take(&mut contents[i]);
            let edited = !contents_of_i.baked.is_empty()
                || !contents_of_i.retyped.is_empty()
                || !contents_of_i.hinted.is_empty()
                || contents_of_i.alone.is_some()
                || contents_of_i
                    .nested
                    .values()
                    .any(|g| self.groups[*g].edited);
            let group = *group_of.entry(contents_of_i).or_insert_with(|| {
                self.groups.push(Group {
                    members: Vec::new(),
                    edited,
                    // Until homes have names any will do, as long as no two groups share one.
                    home: format!("/group_{}", self.groups.len()),
                    positions: OnceCell::new(),
                });
                self.groups.len() - 1
            });
            self.list[i].group = group;
            self.groups[group].members.push(i);
            if let Some((parent, inside)) = self.inside(&self.list[i].path) {
                contents[parent].nested.insert(inside, group);
            }
        }
        for group in &mut self.groups {
            // The first in the stage's order leads.
            group.members.reverse();
        }
    }

    /// Names that no root prim has, numbered in the order of the first members.
    fn name_homes(&mut self, stage: &Stage) {
        let stem = match self.sharing {
            Sharing::Flattened => "Flattened_Prototype",
            Sharing::Overs => "Skinned_Prototype",
        };
        let mut number = 1;
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by_key(|g| self.groups[*g].members[0]);
        for g in order {
            if !self.is_shared(g) {
                continue;
            }
            loop {
                let home = format!("/{stem}_{number}");
                number += 1;
                if stage.prim(&parsed(&home)).is_none() {
                    self.groups[g].home = home;
                    break;
                }
            }
        }
        // They were found with stand-in names.
        for group in &mut self.groups {
            group.positions = OnceCell::new();
        }
    }

    /// Whether a group keeps one copy for its instances.
    fn is_shared(&self, group: usize) -> bool {
        match self.groups[group].edited {
            true => self.positions(group).len() > 1,
            false => self.sharing == Sharing::Flattened,
        }
    }

    /// Where the instances of a group end up, each place once.
    pub fn positions(&self, group: usize) -> &[Path] {
        let g = &self.groups[group];
        g.positions.get_or_init(|| {
            let mut seen = HashSet::new();
            let places = g.members.iter().map(|i| self.place(&self.list[*i].path));
            places.filter(|p| seen.insert(p.clone())).collect()
        })
    }

    /// Where a prim of the stage is in the output.
    pub fn place(&self, path: &Path) -> Path {
        let Some((i, inside)) = self.inside(path) else {
            return path.clone();
        };
        let group = self.list[i].group;
        let root = match self.is_shared(group) {
            true => self.groups[group].home.clone(),
            false => self.place(&self.list[i].path).as_str().to_owned(),
        };
        parsed(&format!("{root}{inside}"))
    }

    /// The edits where they belong in the output, each place once.
    pub fn placed(&self, edits: BakeEdits) -> BakeEdits {
        if self.list.is_empty() {
            return edits;
        }
        let place = |path: &str| self.place(&parsed(path)).as_str().to_owned();
        let mut prims = Vec::with_capacity(edits.prims.len());
        for mut prim in edits.prims {
            let mut places = once(prim.places().map(place), String::clone);
            prim.copies.clear();
            let Some(last) = places.pop() else { continue };
            for other in places {
                let mut copy = prim.clone();
                copy.path = other;
                prims.push(copy);
            }
            prim.path = last;
            prims.push(prim);
        }
        let paths = |paths: &[String]| once(paths.iter().map(|p| place(p)), String::clone);
        let blocked = edits.blocked.into_iter().map(|mut attribute| {
            attribute.prim = place(&attribute.prim);
            attribute
        });
        let hints = edits.hints.into_iter().map(|mut hint| {
            hint.path = place(&hint.path);
            hint
        });
        BakeEdits {
            prims,
            retype: paths(&edits.retype),
            unbind: paths(&edits.unbind),
            blocked: once(blocked, |a| (a.prim.clone(), a.name.clone())),
            hints: once(hints, |hint| hint.path.clone()),
        }
    }

    /// Groups that keep one copy for their instances, in the order of their homes' numbers.
    pub fn shared(&self) -> Vec<usize> {
        let mut out: Vec<usize> = (0..self.groups.len())
            .filter(|g| self.is_shared(*g))
            .collect();
        out.sort_by_key(|g| self.groups[*g].members[0]);
        out
    }

    /// The first instance of a group, as the stage has it.
    pub fn first(&self, group: usize) -> &Path {
        &self.list[self.groups[group].members[0]].path
    }

    /// The prim that a shared group's instances share.
    pub fn home(&self, group: usize) -> Path {
        parsed(&self.groups[group].home)
    }

    /// The prim that an instance shares with others of its group; none if it is expanded.
    pub fn home_of(&self, instance: &Path) -> Option<Path> {
        let group = self.list[*self.index_of.get(instance)?].group;
        self.is_shared(group).then(|| self.home(group))
    }

    /// Instances that hold baked prims and share them with none, where they end up.
    pub fn expanded(&self) -> Vec<Path> {
        let groups =
            (0..self.groups.len()).filter(|g| self.groups[*g].edited && !self.is_shared(*g));
        groups.flat_map(|g| self.positions(g).to_vec()).collect()
    }
}

/// The first of all things with the same key.
fn once<T, K: Eq + Hash>(all: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut seen = HashSet::new();
    all.filter(|one| seen.insert(key(one))).collect()
}

/// A path of the stage, which is valid.
fn parsed(path: &str) -> Path {
    Path::parse(path).unwrap_or_default()
}

/// The samples of a hint as bits, to find hints that are the same.
fn bits(hint: &BakedHint) -> Vec<u64> {
    let mut out = Vec::new();
    for (time, corners) in &hint.samples {
        out.push(time.code().map_or(u64::MAX, f64::to_bits));
        out.push(corners.len() as u64);
        out.extend(
            corners
                .iter()
                .flat_map(|c| c.to_array())
                .map(|x| u64::from(x.to_bits())),
        );
    }
    out
}
