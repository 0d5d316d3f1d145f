//! Binding resolution: which Skeleton, animation and influences reach each skinnable prim.
//!
//! Works on a light [`PrimTree`] that a reader fills, so that it is testable without a file. The
//! rules are UsdSkelCache::Populate's and ComputeSkelBindings' (rules 1 to 3), as seen on usd-core
//! 26.11.

use crate::error::Warning;

/// Index of a prim in a [`PrimTree`].
pub type PrimIndex = usize;

/// What a prim is to skinning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimKind {
    SkelRoot,
    Skeleton,
    /// Not imageable either.
    SkelAnimation,
    /// Any Boundable that is neither SkelRoot nor Skeleton (rule 1); `has_points` for PointBased.
    Skinnable {
        has_points: bool,
    },
    /// Imageable, so that bindings are inherited through it.
    Imageable,
    /// Not imageable: traversal prunes it and all below.
    Other,
}

/// The first forwarded target of an authored relationship.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A prim of the tree, of whatever kind.
    Prim(PrimIndex),
    /// An authored path where no active prim is.
    Missing(String),
    /// An authored, empty list, which blocks inheritance (rule 3).
    Empty,
}

/// Which of the binding API's attributes have an authored value on a prim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuthoredBinding {
    pub joint_indices: bool,
    pub joint_weights: bool,
    pub joints: bool,
    pub geom_bind_transform: bool,
    pub skinning_method: bool,
    pub blend_shapes: bool,
    pub blend_shape_targets: bool,
}

/// One prim of the tree.
#[derive(Clone, Debug)]
pub struct TreePrim {
    pub path: String,
    /// Parent's index; parents come before their children, depth first.
    pub parent: Option<PrimIndex>,
    pub kind: PrimKind,
    /// SkelBindingAPI is applied (rule 2).
    pub has_api: bool,
    pub skeleton: Option<Target>,
    pub animation_source: Option<Target>,
    pub authored: AuthoredBinding,
}

/// Prims in depth-first order.
pub type PrimTree = Vec<TreePrim>;

/// Where a skeleton's animation is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AnimSource {
    /// From the Skeleton prim upward, as usd-core does (rule 3).
    #[default]
    AtSkeleton,
    /// From the prim that binds skel:skeleton upward, as the schema text says.
    AtBinding,
}

/// One skinnable prim and everything that reaches it. Each property's prim is the nearest ancestor
/// (or the prim itself) with an opinion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub prim: PrimIndex,
    pub skel_root: PrimIndex,
    pub skeleton: PrimIndex,
    pub animation: Option<PrimIndex>,
    pub joint_indices: Option<PrimIndex>,
    pub joint_weights: Option<PrimIndex>,
    pub joints: Option<PrimIndex>,
    pub geom_bind_transform: Option<PrimIndex>,
    pub skinning_method: Option<PrimIndex>,
}

/// A skinnable prim that a Skeleton reaches, whether or not it has anything to be skinned with. Such prims
/// count for the extents of SkelRoots (rule 33).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    pub prim: PrimIndex,
    pub skeleton: PrimIndex,
    pub geom_bind_transform: Option<PrimIndex>,
}

/// What came of resolving a tree.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    pub bindings: Vec<Binding>,
    pub reached: Vec<Reached>,
    pub warnings: Vec<Warning>,
}

#[derive(Clone, Default)]
struct Inherited {
    skel_root: Option<PrimIndex>,
    /// The prim whose skel:skeleton holds, and the skeleton if its target is one.
    skeleton: Option<(PrimIndex, Option<PrimIndex>)>,
    joint_indices: Option<PrimIndex>,
    joint_weights: Option<PrimIndex>,
    joints: Option<PrimIndex>,
    geom_bind_transform: Option<PrimIndex>,
    skinning_method: Option<PrimIndex>,
    /// Below a prim that traversal stops at.
    pruned: bool,
}

/// Resolves every skinnable prim below a SkelRoot that a Skeleton is bound to.
#[must_use]
pub fn resolve(tree: &PrimTree, reading: AnimSource) -> Resolution {
    let mut out = Resolution::default();
    let mut used_sources = vec![false; tree.len()];
    let mut states: Vec<Inherited> = Vec::with_capacity(tree.len());
    for (index, prim) in tree.iter().enumerate() {
        let mut state = prim
            .parent
            .map_or_else(Inherited::default, |p| states[p].clone());
        if prim.kind == PrimKind::SkelRoot {
            if state.pruned {
                // Every SkelRoot is visited by itself, below whatever it stands: as a prototype below a
                // PointInstancer, say, which is skinnable. Nothing is inherited into it then.
                state = Inherited::default();
            }
            state.skel_root.get_or_insert(index);
        }
        let Some(skel_root) = state.skel_root else {
            // Outside any SkelRoot nothing counts, and nothing is inherited into one.
            states.push(state);
            continue;
        };
        state.pruned |= matches!(prim.kind, PrimKind::SkelAnimation | PrimKind::Other);
        if state.pruned {
            states.push(state);
            continue;
        }
        inherit(&mut state, index, prim, tree, &mut out.warnings);
        if let PrimKind::Skinnable { .. } = prim.kind {
            bind(
                &state,
                index,
                skel_root,
                tree,
                reading,
                &mut used_sources,
                &mut out,
            );
            // Nothing below a skinnable prim is visited (rule 1).
            state.pruned = true;
        }
        states.push(state);
    }
    warn_of_unused_sources(tree, &states, &used_sources, reading, &mut out.warnings);
    out
}

fn inherit(
    state: &mut Inherited,
    index: PrimIndex,
    prim: &TreePrim,
    tree: &PrimTree,
    warnings: &mut Vec<Warning>,
) {
    let a = prim.authored;
    let says_something = prim.skeleton.is_some()
        || a.joint_indices
        || a.joint_weights
        || a.joints
        || a.geom_bind_transform
        || a.blend_shapes
        || a.blend_shape_targets;
    if !prim.has_api {
        if says_something {
            warnings.push(Warning::new(
                "binding-api-missing",
                &prim.path,
                "has skel: properties but SkelBindingAPI is not applied, so they are overlooked",
            ));
        }
        return;
    }
    if let Some(target) = &prim.skeleton {
        let skeleton = match target {
            Target::Prim(p) if tree[*p].kind == PrimKind::Skeleton => Some(*p),
            Target::Prim(p) => {
                warnings.push(Warning::new(
                    "skeleton-unbound",
                    &prim.path,
                    format!(
                        "skel:skeleton targets {}, which is no Skeleton: unbound",
                        tree[*p].path
                    ),
                ));
                None
            }
            Target::Missing(path) => {
                warnings.push(Warning::new(
                    "skeleton-unbound",
                    &prim.path,
                    format!("skel:skeleton targets {path}, where no active prim is: unbound"),
                ));
                None
            }
            Target::Empty => None,
        };
        state.skeleton = Some((index, skeleton));
    }
    let nearest = |slot: &mut Option<PrimIndex>, authored: bool| {
        if authored {
            *slot = Some(index);
        }
    };
    nearest(&mut state.joint_indices, a.joint_indices);
    nearest(&mut state.joint_weights, a.joint_weights);
    nearest(&mut state.joints, a.joints);
    nearest(&mut state.geom_bind_transform, a.geom_bind_transform);
    nearest(&mut state.skinning_method, a.skinning_method);
}

fn bind(
    state: &Inherited,
    index: PrimIndex,
    skel_root: PrimIndex,
    tree: &PrimTree,
    reading: AnimSource,
    used_sources: &mut [bool],
    out: &mut Resolution,
) {
    let prim = &tree[index];
    let influenced = state.joint_indices.is_some() && state.joint_weights.is_some();
    let blended = prim.has_api && prim.authored.blend_shapes && prim.authored.blend_shape_targets;
    let Some((bound_at, Some(skeleton))) = state.skeleton else {
        if influenced || blended {
            out.warnings.push(Warning::new(
                "no-skeleton-bound",
                &prim.path,
                "has influences or blend shapes but no Skeleton is bound here: not skinned",
            ));
        }
        return;
    };
    out.reached.push(Reached {
        prim: index,
        skeleton,
        geom_bind_transform: state.geom_bind_transform,
    });
    // A nested SkelRoot between binds nothing by itself; usd-core passes through it.
    let from = match reading {
        AnimSource::AtSkeleton => skeleton,
        AnimSource::AtBinding => bound_at,
    };
    let animation = inherited_animation_source(tree, from).and_then(|(at, target)| {
        if !std::mem::replace(&mut used_sources[at], true)
            && let Some(message) = explain_target(tree, target)
        {
            out.warnings
                .push(Warning::new("animation-ignored", &tree[at].path, message));
        }
        match target {
            Target::Prim(p) if tree[*p].kind == PrimKind::SkelAnimation => Some(*p),
            _ => None,
        }
    });
    if !influenced && !blended {
        return;
    }
    out.bindings.push(Binding {
        prim: index,
        skel_root,
        skeleton,
        animation,
        joint_indices: state.joint_indices,
        joint_weights: state.joint_weights,
        joints: state.joints,
        geom_bind_transform: state.geom_bind_transform,
        skinning_method: state.skinning_method,
    });
}

fn explain_target(tree: &PrimTree, target: &Target) -> Option<String> {
    match target {
        Target::Prim(p) if tree[*p].kind == PrimKind::SkelAnimation => None,
        Target::Prim(p) => Some(format!(
            "skel:animationSource targets {}, which is no SkelAnimation: rest pose",
            tree[*p].path
        )),
        Target::Missing(path) => Some(format!(
            "skel:animationSource targets {path}, where no active prim is: rest pose"
        )),
        Target::Empty => None,
    }
}

/// The SkelAnimation that drives a Skeleton, also one that nothing is bound to (rule 3).
#[must_use]
pub fn animation_of(tree: &PrimTree, skeleton: PrimIndex) -> Option<PrimIndex> {
    match inherited_animation_source(tree, skeleton)? {
        (_, Target::Prim(p)) if tree[*p].kind == PrimKind::SkelAnimation => Some(*p),
        _ => None,
    }
}

/// The nearest opinion on skel:animationSource at or above `from`, on prims with the API applied.
/// It is searched above the SkelRoot too.
fn inherited_animation_source(tree: &PrimTree, from: PrimIndex) -> Option<(PrimIndex, &Target)> {
    let mut at = Some(from);
    while let Some(index) = at {
        let prim = &tree[index];
        if prim.has_api
            && let Some(target) = &prim.animation_source
        {
            return Some((index, target));
        }
        at = prim.parent;
    }
    None
}

fn warn_of_unused_sources(
    tree: &PrimTree,
    states: &[Inherited],
    used: &[bool],
    reading: AnimSource,
    warnings: &mut Vec<Warning>,
) {
    for (index, prim) in tree.iter().enumerate() {
        let authored = matches!(
            prim.animation_source,
            Some(Target::Prim(_) | Target::Missing(_))
        );
        if !authored || used[index] || states[index].skel_root.is_none() {
            continue;
        }
        let why = match (prim.has_api, reading) {
            (false, _) => "SkelBindingAPI is not applied to this prim",
            (true, AnimSource::AtSkeleton) => {
                "animation is searched from the Skeleton prim upward and none is bound from here"
            }
            (true, AnimSource::AtBinding) => {
                "no skel:skeleton is bound at or below this prim that inherits it"
            }
        };
        warnings.push(Warning::new(
            "animation-source-ignored",
            &prim.path,
            format!("skel:animationSource has no effect: {why}"),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a tree from `(path, kind)`; parents by path.
    fn tree(prims: &[(&str, PrimKind)]) -> PrimTree {
        let mut out = PrimTree::new();
        for (path, kind) in prims {
            let parent = path
                .rsplit_once('/')
                .filter(|(p, _)| !p.is_empty())
                .map(|(p, _)| p);
            out.push(TreePrim {
                path: (*path).to_owned(),
                parent: parent.and_then(|p| out.iter().position(|q: &TreePrim| q.path == p)),
                kind: *kind,
                has_api: true,
                skeleton: None,
                animation_source: None,
                authored: AuthoredBinding::default(),
            });
        }
        out
    }

    fn find(t: &PrimTree, path: &str) -> usize {
        t.iter().position(|p| p.path == path).unwrap()
    }

    fn influence(t: &mut PrimTree, path: &str) {
        let i = find(t, path);
        t[i].authored.joint_indices = true;
        t[i].authored.joint_weights = true;
    }

    fn to(t: &PrimTree, path: &str) -> Option<Target> {
        Some(Target::Prim(find(t, path)))
    }

    const MESH: PrimKind = PrimKind::Skinnable { has_points: true };

    fn simple() -> PrimTree {
        let mut t = tree(&[
            ("/R", PrimKind::SkelRoot),
            ("/R/Skel", PrimKind::Skeleton),
            ("/R/Anim", PrimKind::SkelAnimation),
            ("/R/M", MESH),
        ]);
        t[0].skeleton = to(&t, "/R/Skel");
        t[1].animation_source = to(&t, "/R/Anim");
        influence(&mut t, "/R/M");
        t
    }

    #[test]
    fn inherits_the_skeleton_and_finds_its_animation() {
        let r = resolve(&simple(), AnimSource::AtSkeleton);
        assert_eq!(r.bindings.len(), 1);
        assert_eq!(
            (r.bindings[0].skeleton, r.bindings[0].animation),
            (1, Some(2))
        );
        assert!(r.warnings.is_empty(), "{:?}", r.warnings);
    }

    #[test]
    fn the_schema_texts_reading_looks_at_the_binding() {
        let r = resolve(&simple(), AnimSource::AtBinding);
        assert_eq!(r.bindings[0].animation, None);
        assert_eq!(r.warnings[0].code, "animation-source-ignored");
    }

    #[test]
    fn nothing_counts_without_a_skel_root() {
        let mut t = simple();
        t[0].kind = PrimKind::Imageable;
        assert!(resolve(&t, AnimSource::AtSkeleton).bindings.is_empty());
    }

    #[test]
    fn an_empty_target_blocks() {
        let mut t = simple();
        t[1].animation_source = Some(Target::Empty);
        t[0].animation_source = to(&t, "/R/Anim");
        assert_eq!(
            resolve(&t, AnimSource::AtSkeleton).bindings[0].animation,
            None
        );
        t[3].skeleton = Some(Target::Empty);
        let r = resolve(&t, AnimSource::AtSkeleton);
        assert!(r.bindings.is_empty());
    }

    #[test]
    fn without_the_api_own_properties_are_overlooked() {
        let mut t = simple();
        t[3].has_api = false;
        let r = resolve(&t, AnimSource::AtSkeleton);
        assert!(r.bindings.is_empty());
        assert_eq!(r.warnings[0].code, "binding-api-missing");
    }

    #[test]
    fn a_skel_root_below_what_prunes_stands_by_itself() {
        let mut t = tree(&[
            ("/O", PrimKind::SkelRoot),
            ("/O/Skel", PrimKind::Skeleton),
            ("/O/Instancer", PrimKind::Skinnable { has_points: false }),
            ("/O/Instancer/R", PrimKind::SkelRoot),
            ("/O/Instancer/R/Skel", PrimKind::Skeleton),
            ("/O/Instancer/R/M", MESH),
            ("/O/Instancer/R/Unbound", MESH),
        ]);
        t[0].skeleton = to(&t, "/O/Skel");
        t[5].skeleton = to(&t, "/O/Instancer/R/Skel");
        influence(&mut t, "/O/Instancer/R/M");
        influence(&mut t, "/O/Instancer/R/Unbound");
        let r = resolve(&t, AnimSource::AtSkeleton);
        assert_eq!(r.bindings.len(), 1, "nothing is inherited from /O");
        assert_eq!((r.bindings[0].skel_root, r.bindings[0].skeleton), (3, 4));
    }

    #[test]
    fn non_imageable_prims_prune() {
        for kind in [PrimKind::Other, PrimKind::SkelAnimation] {
            let mut t = tree(&[
                ("/R", PrimKind::SkelRoot),
                ("/R/Skel", PrimKind::Skeleton),
                ("/R/Looks", kind),
                ("/R/Looks/M", MESH),
            ]);
            t[0].skeleton = to(&t, "/R/Skel");
            influence(&mut t, "/R/Looks/M");
            let r = resolve(&t, AnimSource::AtSkeleton);
            assert!(r.bindings.is_empty(), "{kind:?}");
        }
    }
}
