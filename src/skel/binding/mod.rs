//! Binding resolution: finds the Skeleton, the animation and the influences of each skinnable prim.
//!
//! It works on a [`PrimTree`], which a reader fills; so tests need no file. The rules are those of
//! UsdSkelCache::Populate and ComputeSkelBindings (rules 1 to 3), checked against usd-core 26.11.

mod tree;

use crate::error::Warning;

pub use tree::{AuthoredBinding, PrimIndex, PrimKind, PrimTree, Target, TreePrim};

/// Code of the warning about what a stage switches off in one of the schema's own ways: a prim that
/// is inactive, a relationship or an attribute whose value is `None`. Nothing is wrong then.
pub const SWITCHED_OFF: &str = "switched-off";

/// Where the search for a skeleton's animation starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AnimSource {
    /// From the Skeleton prim upward, as usd-core does (rule 3).
    #[default]
    AtSkeleton,
    /// From the prim that binds skel:skeleton upward, as the schema text says.
    AtBinding,
}

/// One skinnable prim, and the prims that its binding properties come from. A property comes from
/// the prim itself, or from the nearest ancestor that authors it.
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

/// A skinnable prim that is bound to a Skeleton, even if it has no influences and no blend shapes.
/// Such prims add to the extents of SkelRoots (rule 33).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    pub prim: PrimIndex,
    pub skeleton: PrimIndex,
    pub geom_bind_transform: Option<PrimIndex>,
}

/// The result of resolving a tree.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    pub bindings: Vec<Binding>,
    pub reached: Vec<Reached>,
    pub warnings: Vec<Warning>,
}

#[derive(Clone, Default)]
struct Inherited {
    skel_root: Option<PrimIndex>,
    /// The prim whose skel:skeleton applies here, and the Skeleton, if its target is one.
    skeleton: Option<(PrimIndex, Option<PrimIndex>)>,
    joint_indices: Option<PrimIndex>,
    joint_weights: Option<PrimIndex>,
    joints: Option<PrimIndex>,
    geom_bind_transform: Option<PrimIndex>,
    skinning_method: Option<PrimIndex>,
    /// Whether the nearest word on influences is `None`.
    influences_blocked: bool,
    /// Whether the prim is below one where traversal stops.
    pruned: bool,
}

/// Resolves every skinnable prim that is below a SkelRoot and bound to a Skeleton.
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
                // Every SkelRoot is visited on its own, also below a prim where traversal stops,
                // such as a prototype below a PointInstancer, which is skinnable. It inherits
                // nothing then.
                state = Inherited::default();
            }
            state.skel_root.get_or_insert(index);
        }
        let Some(skel_root) = state.skel_root else {
            // Outside of SkelRoots nothing is bound, and a SkelRoot inherits nothing from there.
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
                "has skel: properties but SkelBindingAPI is not applied, so they are ignored",
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
                        "skel:skeleton targets {}, which {}: not bound",
                        tree[*p].path,
                        what_it_is(&tree[*p], "Skeleton")
                    ),
                ));
                None
            }
            Target::Missing(path) => {
                warnings.push(Warning::new(
                    "skeleton-unbound",
                    &prim.path,
                    format!("skel:skeleton targets {path}, but no prim is there: not bound"),
                ));
                None
            }
            // The prims that are not skinned for it are told.
            Target::Inactive(_) | Target::Empty => None,
        };
        state.skeleton = Some((index, skeleton));
    }
    let nearest = |found: &mut Option<PrimIndex>, authored: bool| {
        if authored {
            *found = Some(index);
        }
    };
    if a.influences_blocked || a.joint_indices || a.joint_weights {
        state.influences_blocked = a.influences_blocked;
    }
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
    let half = match (state.joint_indices, state.joint_weights) {
        (Some(_), None) => Some(("jointIndices", "jointWeights")),
        (None, Some(_)) => Some(("jointWeights", "jointIndices")),
        _ => None,
    };
    if let Some((there, missing)) = half {
        let message =
            format!("the prim has or inherits {there}, but no {missing}: it has no influences");
        let property = format!("primvars:skel:{missing}");
        let code = match state.influences_blocked {
            true => SWITCHED_OFF,
            false => "influences-incomplete",
        };
        let warning = Warning::new(code, &prim.path, message);
        out.warnings.push(warning.on(property));
    }
    if state.influences_blocked && half.is_none() && !influenced {
        let message = "jointIndices and jointWeights are None: it has no influences";
        let warning = Warning::new(SWITCHED_OFF, &prim.path, message);
        out.warnings.push(warning.on("primvars:skel:jointIndices"));
    }
    let Some((bound_at, Some(skeleton))) = state.skeleton else {
        if influenced || blended {
            out.warnings.push(unbound(state, prim, tree));
        }
        return;
    };
    out.reached.push(Reached {
        prim: index,
        skeleton,
        geom_bind_transform: state.geom_bind_transform,
    });
    // A nested SkelRoot in between does not stop the search, as in usd-core.
    let from = match reading {
        AnimSource::AtSkeleton => skeleton,
        AnimSource::AtBinding => bound_at,
    };
    let animation = inherited_animation_source(tree, from).and_then(|(at, target)| {
        if !std::mem::replace(&mut used_sources[at], true)
            && let Some((code, message)) = explain_target(tree, target)
        {
            let warning = Warning::new(code, &tree[at].path, message);
            out.warnings.push(warning.on("skel:animationSource"));
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

/// The warning about a prim that could be skinned but has no Skeleton.
fn unbound(state: &Inherited, prim: &TreePrim, tree: &PrimTree) -> Warning {
    let authored = state
        .skeleton
        .and_then(|(at, _)| tree[at].skeleton.as_ref());
    let warning = match authored {
        Some(Target::Empty) => Warning::new(
            SWITCHED_OFF,
            &prim.path,
            "skel:skeleton is None: not skinned",
        ),
        Some(Target::Inactive(path)) => {
            let message = format!("its Skeleton {path} is inactive: not skinned");
            Warning::new(SWITCHED_OFF, &prim.path, message)
        }
        _ => Warning::new(
            "no-skeleton-bound",
            &prim.path,
            "has influences or blend shapes but no Skeleton is bound here: not skinned",
        ),
    };
    warning.on("skel:skeleton")
}

/// What a prim is that is not of the type that it should have.
fn what_it_is(prim: &TreePrim, wanted: &str) -> String {
    match prim.has_type {
        true => format!("is no {wanted}"),
        false => format!("has no type, and should be a {wanted}"),
    }
}

/// The code and the text of the warning about an animation source that drives nothing.
fn explain_target(tree: &PrimTree, target: &Target) -> Option<(&'static str, String)> {
    let (code, what) = match target {
        Target::Prim(p) if tree[*p].kind == PrimKind::SkelAnimation => return None,
        Target::Empty => (SWITCHED_OFF, "is None".to_owned()),
        Target::Prim(p) => {
            let is = what_it_is(&tree[*p], "SkelAnimation");
            let found = format!("targets {}, which {is}", tree[*p].path);
            ("animation-ignored", found)
        }
        Target::Missing(path) => {
            let found = format!("targets {path}, but no prim is there");
            ("animation-ignored", found)
        }
        Target::Inactive(path) => (SWITCHED_OFF, format!("targets {path}, which is inactive")),
    };
    let message = format!("skel:animationSource {what}: rest pose");
    Some((code, message))
}

/// The prim whose skel:animationSource drives a Skeleton: the Skeleton or the nearest prim above it.
#[must_use]
pub fn animation_bound_at(tree: &PrimTree, skeleton: PrimIndex) -> Option<PrimIndex> {
    inherited_animation_source(tree, skeleton).map(|(at, _)| at)
}

/// The SkelAnimation that drives a Skeleton, even if no prim is bound to that Skeleton (rule 3).
#[must_use]
pub fn animation_of(tree: &PrimTree, skeleton: PrimIndex) -> Option<PrimIndex> {
    match inherited_animation_source(tree, skeleton)? {
        (_, Target::Prim(p)) if tree[*p].kind == PrimKind::SkelAnimation => Some(*p),
        _ => None,
    }
}

/// The nearest opinion on skel:animationSource at or above `from`, on prims with SkelBindingAPI
/// applied. The search continues above the SkelRoot.
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
    // A Skeleton that skins nothing is animated too.
    let mut used = used.to_vec();
    let skeletons = (0..tree.len()).filter(|i| tree[*i].kind == PrimKind::Skeleton);
    for skeleton in skeletons.filter(|_| reading == AnimSource::AtSkeleton) {
        if let Some((source, Target::Prim(_))) = inherited_animation_source(tree, skeleton) {
            used[source] = true;
        }
    }
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
                "an animation is searched from the Skeleton prim upward, not from here"
            }
            (true, AnimSource::AtBinding) => {
                "no prim at or below this one binds a skel:skeleton that inherits it"
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
mod tests;
