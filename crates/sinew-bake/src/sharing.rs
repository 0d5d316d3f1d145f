//! Which prims come out the same, so that one is deformed for all: instances of a prototype that share
//! their animation.

use std::collections::{BTreeMap, HashMap};

use super::plan::{Plan, PrimPlan, TransformKind};
use sinew::sampled::Time;
use sinew::scene::{OutSpace, Scene};

/// Everything that a prim's result depends on.
#[derive(PartialEq, Eq, Hash)]
struct Cause {
    /// Rest data, Skeleton, animation.
    definition: usize,
    /// Prims whose transforms count, by their definitions.
    transforms: Vec<usize>,
    times: Vec<Option<u64>>,
}

/// Finds the prims that are the same as an earlier one, by that one. All are indices into
/// [`Scene::bindings`]; `times_of` is by index into [`Scene::instances`].
pub(super) fn copies(
    scene: &Scene,
    plan: &Plan,
    times_of: &BTreeMap<usize, Vec<Time>>,
) -> BTreeMap<usize, Vec<usize>> {
    let mut first_with: HashMap<Cause, usize> = HashMap::new();
    let mut out: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for prim in plan.prims() {
        let binding = &scene.bindings[prim.binding];
        let times = &times_of[&binding.instance];
        let cause = Cause {
            definition: binding.definition,
            transforms: transforms(scene, plan, prim),
            times: times.iter().map(|t| t.code().map(f64::to_bits)).collect(),
        };
        let first = *first_with.entry(cause).or_insert(prim.binding);
        if first != prim.binding {
            out.entry(first).or_default().push(prim.binding);
        }
    }
    out
}

fn transforms(scene: &Scene, plan: &Plan, prim: &PrimPlan) -> Vec<usize> {
    let binding = &scene.bindings[prim.binding];
    let skel = scene.instances[binding.instance].prim;
    let parent = scene.prims[binding.prim].parent;
    let resets = scene.prims[binding.prim].xform.resets;
    let relation = match (plan.space, prim.transform) {
        // Where the prim replaces its own transform, its parents' count.
        (OutSpace::Prim, Some(TransformKind::Rigid)) if !resets => {
            parent.map(|parent| scene.relation(parent, skel))
        }
        (OutSpace::Prim, None) => Some(scene.relation(binding.prim, skel)),
        _ => None,
    };
    let (to, from) = match relation {
        Some(relation) => (relation.to, relation.from),
        None => (scene.chain(binding.prim), scene.chain(skel)),
    };
    let definition = |p: &usize| scene.prims[*p].definition;
    let mut out: Vec<usize> = to.iter().map(definition).collect();
    // Both lists are in one, so that one prim in either is not the other.
    out.push(usize::MAX);
    out.extend(from.iter().map(definition));
    out
}
