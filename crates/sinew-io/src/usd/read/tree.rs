//! The stage as a light [`PrimTree`]: kinds, relationships, which properties are authored.

use std::collections::{HashMap, HashSet};

use sinew_layer::Path;
use sinew_stage::{Predicate, Prim, Stage};

use super::values::is_blocked;
use sinew::skel::binding::{AuthoredBinding, PrimKind, PrimTree, Target, TreePrim};

/// The tree, and the stage's prim behind each of its prims.
pub(crate) struct StageTree<'s> {
    pub tree: PrimTree,
    pub prims: Vec<Prim<'s>>,
    /// UsdGeomXformable, whose xformOpOrder counts.
    pub xformable: Vec<bool>,
    /// The first prim with the same place in an instanced prototype, by prim; itself where there is none.
    pub definitions: Vec<usize>,
    index_of: HashMap<Path, usize>,
}

struct TypeFacts {
    kind: PrimKind,
    /// UsdGeomPointInstancer.
    instancer: bool,
    xformable: bool,
}

/// Prims that Hydra draws as prototypes of a PointInstancer: undefined ones (`over`) too, but no class.
pub(crate) const PROTOTYPES: Predicate = Predicate {
    defined: None,
    ..Predicate::DEFAULT_PROXIES
};

/// Walks active, loaded, defined prims, into native instances too, and PointInstancers' prototypes. Keeps
/// those that can matter: everything at or below a SkelRoot, every Skeleton and SkelAnimation, and
/// all their ancestors.
pub(crate) fn read_tree(stage: &Stage) -> StageTree<'_> {
    let mut facts_of: HashMap<&str, TypeFacts> = HashMap::new();
    let mut all: Vec<Prim<'_>> = stage.traverse(Predicate::DEFAULT_PROXIES).collect();
    learn_types(&all, &mut facts_of);
    let wanted = undefined_prototypes(&all, &facts_of);
    if !wanted.is_empty() {
        let known: HashSet<Path> = all.iter().map(|p| p.path()).collect();
        all = stage.traverse(PROTOTYPES).collect();
        all.retain(|p| {
            let path = p.path();
            let leads_there = |w: &Path| path.has_prefix(w) || w.has_prefix(&path);
            known.contains(&path) || wanted.iter().any(leads_there)
        });
        learn_types(&all, &mut facts_of);
    }
    let mut out = StageTree {
        tree: Vec::new(),
        prims: Vec::new(),
        xformable: Vec::new(),
        definitions: Vec::new(),
        index_of: HashMap::new(),
    };
    let mut first_in_prototype: HashMap<Path, usize> = HashMap::new();
    for prim in prims_that_matter(all, &facts_of) {
        let facts = &facts_of[prim.type_name()];
        let definition = match prim.prim_in_prototype() {
            Some(shared) => *first_in_prototype
                .entry(shared.path())
                .or_insert(out.tree.len()),
            None => out.tree.len(),
        };
        out.add(prim, facts.kind, facts.xformable, definition);
    }
    for i in 0..out.tree.len() {
        read_binding(stage, &out.prims[i], &out.index_of, &mut out.tree[i]);
    }
    add_abstract_targets(stage, &mut out);
    out
}

impl<'s> StageTree<'s> {
    fn add(&mut self, prim: Prim<'s>, kind: PrimKind, xformable: bool, definition: usize) {
        let path = prim.path();
        let parent = path.parent().and_then(|p| self.index_of.get(&p).copied());
        self.tree.push(TreePrim {
            path: path.as_str().to_owned(),
            parent,
            kind,
            has_type: !prim.type_name().is_empty(),
            has_api: false,
            skeleton: None,
            animation_source: None,
            authored: AuthoredBinding::default(),
        });
        self.index_of.insert(path, self.prims.len());
        self.prims.push(prim);
        self.xformable.push(xformable);
        self.definitions.push(definition);
    }

    /// The index of the prim at a path.
    pub fn index_of(&self, path: &Path) -> Option<usize> {
        self.index_of.get(path).copied()
    }
}

/// Skeletons and animations that prims are bound to and that no traversal meets, in a class or below an
/// `over`: Pixar's code takes them as they are. Their ancestors are here for their transforms and bindings
/// alone, so none of them is a SkelRoot or skinned.
fn add_abstract_targets<'s>(stage: &'s Stage, out: &mut StageTree<'s>) {
    let mut read = 0;
    // What is found is bound to others in turn.
    while read < out.tree.len() {
        let prim = &out.tree[read];
        let missing = [&prim.skeleton, &prim.animation_source].map(|target| match target {
            Some(Target::Missing(path)) => Path::parse(path).ok(),
            _ => None,
        });
        let mut found = false;
        for path in missing.into_iter().flatten() {
            add_abstract_target(stage, &path, out);
            found |= out.index_of.contains_key(&path);
        }
        if found {
            read_binding(stage, &out.prims[read], &out.index_of, &mut out.tree[read]);
        }
        read += 1;
    }
}

fn add_abstract_target<'s>(stage: &'s Stage, target: &Path, out: &mut StageTree<'s>) {
    let Some(prim) = stage.prim(target).filter(|_| target.is_prim()) else {
        return;
    };
    let kind = prim_kind(&prim);
    if !matches!(kind, PrimKind::Skeleton | PrimKind::SkelAnimation) {
        return;
    }
    let is_below_root = |p: &Prim<'_>| !p.path().is_root();
    let chain = std::iter::successors(Some(prim), |p| p.parent()).take_while(is_below_root);
    let mut chain: Vec<Prim<'_>> = chain.collect();
    if !chain.iter().all(|p| p.is_active()) {
        return;
    }
    chain.reverse();
    for prim in chain {
        let path = prim.path();
        if out.index_of.contains_key(&path) {
            continue;
        }
        let kind = match path == *target {
            true => kind,
            false => PrimKind::Imageable,
        };
        let index = out.tree.len();
        out.add(prim, kind, prim.is_a("Xformable"), index);
        read_binding(stage, &prim, &out.index_of, &mut out.tree[index]);
    }
}

/// Learns the facts about types that are new.
fn learn_types<'s>(prims: &[Prim<'s>], facts_of: &mut HashMap<&'s str, TypeFacts>) {
    for prim in prims {
        facts_of
            .entry(prim.type_name())
            .or_insert_with(|| type_facts(prim));
    }
}

/// Prototypes of PointInstancers that the walk over defined prims did not meet.
fn undefined_prototypes(prims: &[Prim<'_>], facts_of: &HashMap<&str, TypeFacts>) -> Vec<Path> {
    let instancers = prims.iter().filter(|p| facts_of[p.type_name()].instancer);
    let mut targets: Vec<Path> = instancers
        .flat_map(|p| p.relationship("prototypes").forwarded_targets())
        .collect();
    if targets.is_empty() {
        return targets;
    }
    let known: HashSet<Path> = prims.iter().map(|p| p.path()).collect();
    targets.retain(|t| !known.contains(t));
    targets
}

fn type_facts(prim: &Prim<'_>) -> TypeFacts {
    TypeFacts {
        instancer: prim.is_a("PointInstancer"),
        kind: prim_kind(prim),
        xformable: prim.is_a("Xformable"),
    }
}

/// What a prim's type is to skinning.
pub(crate) fn prim_kind(prim: &Prim<'_>) -> PrimKind {
    if prim.is_a("SkelRoot") {
        PrimKind::SkelRoot
    } else if prim.is_a("Skeleton") {
        PrimKind::Skeleton
    } else if prim.is_a("SkelAnimation") {
        PrimKind::SkelAnimation
    } else if prim.is_a("Boundable") {
        PrimKind::Skinnable {
            has_points: prim.is_a("PointBased"),
        }
    } else if prim.is_a("Imageable") {
        PrimKind::Imageable
    } else {
        PrimKind::Other
    }
}

fn prims_that_matter<'s>(
    prims: Vec<Prim<'s>>,
    facts: &HashMap<&str, TypeFacts>,
) -> impl Iterator<Item = Prim<'s>> {
    let mut keep = vec![false; prims.len()];
    let mut below_root = vec![false; prims.len()];
    let mut parents: Vec<Option<usize>> = Vec::with_capacity(prims.len());
    // Prims come depth first, so the ancestors of the next one are on this stack.
    let mut above: Vec<usize> = Vec::new();
    for (i, prim) in prims.iter().enumerate() {
        let parent = prim.parent();
        while above.last().is_some_and(|p| Some(prims[*p]) != parent) {
            above.pop();
        }
        let parent = above.last().copied();
        above.push(i);
        parents.push(parent);
        let kind = facts[prim.type_name()].kind;
        below_root[i] = kind == PrimKind::SkelRoot || parent.is_some_and(|p| below_root[p]);
        let wanted = below_root[i] || matches!(kind, PrimKind::Skeleton | PrimKind::SkelAnimation);
        let mut at = wanted.then_some(i);
        while let Some(i) = at.filter(|i| !keep[*i]) {
            keep[i] = true;
            at = parents[i];
        }
    }
    prims
        .into_iter()
        .zip(keep)
        .filter_map(|(p, keep)| keep.then_some(p))
}

fn read_binding(
    stage: &Stage,
    prim: &Prim<'_>,
    index_of: &HashMap<Path, usize>,
    out: &mut TreePrim,
) {
    let first_target = |name: &str| first_target(stage, prim, name, index_of);
    // The schema's own test (HasAPI) decides, whether or not a property is authored here.
    out.has_api = prim.has_api("SkelBindingAPI");
    for name in prim.authored_property_names() {
        let attribute = || prim.attribute(&name).has_authored_value();
        match name.as_str() {
            "skel:skeleton" => out.skeleton = first_target(&name),
            "skel:animationSource" => out.animation_source = first_target(&name),
            "primvars:skel:jointIndices" => {
                out.authored.joint_indices = attribute();
                out.authored.influences_blocked |= is_blocked(&prim.attribute(&name));
            }
            "primvars:skel:jointWeights" => {
                out.authored.joint_weights = attribute();
                out.authored.influences_blocked |= is_blocked(&prim.attribute(&name));
            }
            "primvars:skel:geomBindTransform" => out.authored.geom_bind_transform = attribute(),
            "primvars:skel:skinningMethod" | "skel:skinningMethod" => {
                out.authored.skinning_method |= attribute();
            }
            "skel:joints" => out.authored.joints = attribute(),
            "skel:blendShapes" => out.authored.blend_shapes = attribute(),
            "skel:blendShapeTargets" => {
                out.authored.blend_shape_targets = prim.relationship(&name).has_authored_targets();
            }
            _ => {}
        }
    }
}

fn first_target(
    stage: &Stage,
    prim: &Prim<'_>,
    name: &str,
    index_of: &HashMap<Path, usize>,
) -> Option<Target> {
    let relationship = prim.relationship(name);
    if let Some(first) = relationship.forwarded_targets().into_iter().next() {
        return Some(match index_of.get(&first) {
            Some(i) => Target::Prim(*i),
            None if is_switched_off(stage, &first) => Target::Inactive(first.as_str().to_owned()),
            None => Target::Missing(first.as_str().to_owned()),
        });
    }
    // Relationships that forward in a circle lead nowhere.
    if relationship.forwards_in_circle()
        && let Some(first) = relationship.targets().into_iter().next()
    {
        return Some(Target::Missing(first.as_str().to_owned()));
    }
    relationship.has_authored_targets().then_some(Target::Empty)
}

/// Whether the prim at a path is inactive, or lies below one that is.
pub(crate) fn is_switched_off(stage: &Stage, path: &Path) -> bool {
    let mut above = std::iter::successors(Some(path.clone()), Path::parent);
    let nearest = above.find_map(|path| stage.prim(&path));
    nearest.is_some_and(|prim| !prim.is_active())
}
