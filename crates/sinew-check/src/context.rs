//! Which prims of a stage are candidates for skinning, and which properties they inherit.

use std::collections::HashMap;

use sinew::skel::binding::PrimKind;
use sinew_io::usd::{AuthoredPrim, AuthoredStage};

pub(super) const INDICES: &str = "primvars:skel:jointIndices";
pub(super) const WEIGHTS: &str = "primvars:skel:jointWeights";
pub(super) const GEOM_BIND: &str = "primvars:skel:geomBindTransform";
pub(super) const METHOD: &str = "primvars:skel:skinningMethod";
pub(super) const SKELETON: &str = "skel:skeleton";
pub(super) const ANIMATION: &str = "skel:animationSource";
pub(super) const SHAPES: &str = "skel:blendShapes";
pub(super) const TARGETS: &str = "skel:blendShapeTargets";

/// A gprim that has influences or blend shapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub prim: usize,
    /// Whether it has or inherits both joint indices and joint weights.
    pub influenced: bool,
}

/// The authored stage, with the results of the rules of binding that checks need.
pub(super) struct Context<'a> {
    pub stage: &'a AuthoredStage,
    by_path: HashMap<&'a str, usize>,
    /// Outermost SkelRoot at or above each prim.
    pub skel_root: Vec<Option<usize>>,
    /// Whether skinning visits each prim: it is at or below a SkelRoot, and traversal does not stop
    /// above it (rule 1).
    pub visited: Vec<bool>,
    pub candidates: Vec<Candidate>,
    /// Prims from which a candidate takes only one of joint indices and joint weights, and that
    /// candidate.
    pub split: HashMap<usize, usize>,
}

impl<'a> Context<'a> {
    pub fn new(stage: &'a AuthoredStage) -> Self {
        let prims = &stage.prims;
        let mut context = Self {
            stage,
            by_path: prims
                .iter()
                .enumerate()
                .map(|(i, p)| (p.path.as_str(), i))
                .collect(),
            skel_root: Vec::with_capacity(prims.len()),
            visited: Vec::with_capacity(prims.len()),
            candidates: Vec::new(),
            split: HashMap::new(),
        };
        for (i, prim) in prims.iter().enumerate() {
            let above = prim.parent.and_then(|p| context.skel_root[p]);
            let root = above.or((prim.kind == PrimKind::SkelRoot).then_some(i));
            // Nothing below a gprim is visited.
            let stopped = above.is_some()
                && prim.parent.is_some_and(|p| {
                    !context.visited[p] || matches!(prims[p].kind, PrimKind::Skinnable { .. })
                });
            context.skel_root.push(root);
            context
                .visited
                .push(root.is_some() && !stopped && prim.kind != PrimKind::Other);
        }
        for (i, prim) in prims.iter().enumerate() {
            if !context.visited[i] || !matches!(prim.kind, PrimKind::Skinnable { .. }) {
                continue;
            }
            let from = [INDICES, WEIGHTS].map(|name| context.nearest(i, name));
            let influenced = from.iter().all(Option::is_some);
            let blended = prim.has_api
                && prim.attributes.contains_key(SHAPES)
                && prim.relationships.contains_key(TARGETS);
            if influenced || blended {
                context.candidates.push(Candidate {
                    prim: i,
                    influenced,
                });
                if from[0] != from[1] {
                    let split = from.into_iter().flatten();
                    split.for_each(|at| _ = context.split.entry(at).or_insert(i));
                }
            }
        }
        context
    }

    pub fn prims(&self) -> impl Iterator<Item = (usize, &'a AuthoredPrim)> + use<'a> {
        self.stage.prims.iter().enumerate()
    }

    pub fn index_of(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// The prims whose binding properties `prim` inherits: itself and its ancestors up to its
    /// SkelRoot (rule 2).
    fn inherited_from(&self, prim: usize) -> impl Iterator<Item = usize> + '_ {
        let root = self.skel_root[prim];
        let mut at = root.and(Some(prim));
        std::iter::from_fn(move || {
            let here = at?;
            at = if Some(here) == root {
                None
            } else {
                self.stage.prims[here].parent
            };
            Some(here)
        })
    }

    /// The nearest prim at or above `prim` from which `prim` takes a binding property.
    pub fn nearest(&self, prim: usize, name: &str) -> Option<usize> {
        self.inherited_from(prim).find(|i| {
            let p = &self.stage.prims[*i];
            p.has_api && (p.attributes.contains_key(name) || p.relationships.contains_key(name))
        })
    }

    /// Why a finding with this code cannot be fixed at this prim by a layer of overs; `None` if it
    /// can.
    pub fn why_not_fixable(&self, prim: usize, code: &str) -> Option<&'static str> {
        if self.stage.prims[prim].in_instance {
            return Some(
                "it is in a native instance, which a layer cannot override: fix the prototype's source",
            );
        }
        let outside = code == "binding-api-missing" && self.skel_root[prim].is_none();
        outside.then_some("it is outside any SkelRoot, where SkelBindingAPI is not allowed: make a common ancestor of the prim and its Skeleton a SkelRoot")
    }

    /// The Skeleton that a prim is bound to.
    pub fn skeleton_of(&self, prim: usize) -> Option<usize> {
        let at = self.nearest(prim, SKELETON)?;
        let target = self.stage.prims[at].relationships.get(SKELETON)?.first()?;
        self.index_of(target)
            .filter(|i| self.stage.prims[*i].kind == PrimKind::Skeleton)
    }
}
