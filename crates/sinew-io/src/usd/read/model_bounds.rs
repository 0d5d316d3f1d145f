//! Prims with an authored extentsHint above bound prims, and everything that such a hint encloses.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use openusd::{sdf, usd};

use crate::usd::read::extents::read_extent;
use crate::usd::read::skel_prims::{read_animation, read_skeleton};
use crate::usd::read::tree::StageTree;
use crate::usd::read::values::{Token, read, read_sampled};
use crate::usd::read::xforms::read_stack;
use sinew::error::Warning;
use sinew::sampled::{Interpolation, Sampled};
use sinew::scene::{
    BoundsNode, BoundsTree, Extent, HintedPrim, PlacedSkeleton, Purpose, ScenePrim, SkinBinding,
    XformStack,
};
use sinew::skel::SkeletonInstance;
use sinew::skel::binding::animation_of;

/// What is read of the stage to bound it.
pub(crate) struct BoundsReader<'a> {
    pub stage: &'a usd::Stage,
    pub tree: &'a StageTree,
    pub interpolation: Interpolation,
    pub instances: &'a [PlacedSkeleton],
    pub bindings: &'a [SkinBinding],
    /// Prims that hints enclose join the ones that are there.
    pub prims: &'a mut Vec<ScenePrim>,
    pub warnings: &'a mut Vec<Warning>,
}

impl BoundsReader<'_> {
    /// Walks the stage below the topmost hinted prims, as UsdGeomBBoxCache does: untyped and
    /// imageable prims count, and native instances are walked into. Nothing is walked where no bound
    /// prim has an extentsHint at or above it.
    pub fn read(mut self) -> Result<BoundsTree, openusd::Error> {
        let mut out = BoundsTree::default();
        let hinted = self.hinted_prims()?;
        if hinted.is_empty() {
            return Ok(out);
        }
        let mut paths = Vec::new();
        self.stage
            .traverse(usd::PrimPredicate::DEFAULT_PROXIES, |p| {
                paths.push(p.clone())
            })?;
        let scene_prims: HashMap<String, usize> = self
            .prims
            .iter()
            .enumerate()
            .map(|(i, p)| (p.path.clone(), i))
            .collect();
        let mut nodes: HashMap<sdf::Path, (usize, Inherited)> = HashMap::new();
        for path in paths {
            let above = path.parent().and_then(|p| nodes.get(&p)).cloned();
            let is_hinted = scene_prims
                .get(path.as_str())
                .is_some_and(|p| hinted.contains(p));
            if above.is_none() && !is_hinted {
                continue;
            }
            let prim = self.stage.prim(&path)?;
            let type_name = prim.type_name()?;
            if type_name.is_some() && !prim.is_a("Imageable")? && prim.is_a("Typed")? {
                continue; // Nor is what lies below it seen.
            }
            let inherited = match &above {
                Some((_, inherited)) => inherited.below(&prim)?,
                None => Inherited::of(self.stage, &path)?,
            };
            let parent = above.map(|(node, _)| node);
            let scene_prim = match scene_prims.get(path.as_str()) {
                Some(i) => *i,
                None => self.add_prim(&prim, parent.map(|p: usize| out.nodes[p].prim))?,
            };
            let index = out.nodes.len();
            out.nodes.push(BoundsNode {
                prim: scene_prim,
                parent,
                end: index + 1,
                component: is_component(&prim)?,
                purpose: inherited.purpose(),
                invisible: read_invisible(&prim, self.interpolation)?,
                extent: self.extent(&prim)?,
            });
            if is_hinted {
                out.hints.push(HintedPrim {
                    node: index,
                    space: match is_of_kind(&prim, &["group", "assembly"])? {
                        true => self.nearest_component(scene_prim)?,
                        false => Some(scene_prim),
                    },
                });
            }
            nodes.insert(path, (index, inherited));
        }
        for i in (0..out.nodes.len()).rev() {
            if let Some(parent) = out.nodes[i].parent {
                out.nodes[parent].end = out.nodes[parent].end.max(out.nodes[i].end);
            }
        }
        Ok(out)
    }

    /// Bound prims and ancestors of theirs whose extentsHint has a value, as indices of scene prims.
    fn hinted_prims(&self) -> Result<HashSet<usize>, openusd::Error> {
        let mut seen = vec![false; self.prims.len()];
        let mut out = HashSet::new();
        for binding in self.bindings {
            let mut at = Some(binding.prim);
            while let Some(i) = at.filter(|i| !std::mem::replace(&mut seen[*i], true)) {
                let prim = self.stage.prim(self.prims[i].path.as_str())?;
                if prim.attribute("extentsHint").has_authored_value()? {
                    out.insert(i);
                }
                at = self.prims[i].parent;
            }
        }
        Ok(out)
    }

    fn add_prim(
        &mut self,
        prim: &usd::Prim,
        parent: Option<usize>,
    ) -> Result<usize, openusd::Error> {
        let xform = match prim.is_a("Xformable")? {
            true => read_stack(prim, self.interpolation, self.warnings)?,
            false => XformStack::default(),
        };
        self.prims.push(ScenePrim {
            path: prim.path().as_str().to_owned(),
            parent,
            definition: self.prims.len(),
            xform,
        });
        Ok(self.prims.len() - 1)
    }

    fn nearest_component(&self, scene_prim: usize) -> Result<Option<usize>, openusd::Error> {
        let mut at = Some(scene_prim);
        while let Some(i) = at {
            if is_component(&self.stage.prim(self.prims[i].path.as_str())?)? {
                return Ok(Some(i));
            }
            at = self.prims[i].parent;
        }
        Ok(None)
    }

    fn extent(&mut self, prim: &usd::Prim) -> Result<Option<Extent>, openusd::Error> {
        if !prim.is_a("Boundable")? {
            return Ok(None);
        }
        if let Some(corners) = read_extent(prim, self.interpolation)? {
            return Ok(Some(Extent::Corners(corners)));
        }
        if prim.is_a("SkelRoot")? {
            // Pixar's own would be that of the joints below (rule 33).
            return Ok(None);
        }
        if prim.is_a("Skeleton")?
            && let Some(skeleton) = self.skeleton(prim)?
        {
            return Ok(Some(Extent::Joints(skeleton)));
        }
        if prim.is_a("PointInstancer")? || prim.is_a("Volume")? {
            let message = "has no authored extent, so the extentsHints above leave it out";
            let path = prim.path().as_str();
            self.warnings
                .push(Warning::new("extents-hint-incomplete", path, message));
        }
        Ok(Some(Extent::Unknown))
    }

    /// A Skeleton with the animation that drives it, whether or not a prim is bound to it.
    fn skeleton(&self, prim: &usd::Prim) -> Result<Option<SkeletonInstance>, openusd::Error> {
        let path = prim.path().as_str();
        let placed = self.instances.iter().find(|i| i.path == path);
        if let Some(placed) = placed {
            return Ok(Some(placed.instance.clone()));
        }
        let Some(index) = self.tree.tree.iter().position(|p| p.path == path) else {
            return Ok(None);
        };
        // What is wrong with it is said where a prim is bound to it.
        let mut unheard = Vec::new();
        let Ok(skeleton) = read_skeleton(prim, &mut unheard)? else {
            return Ok(None);
        };
        let animation = match animation_of(&self.tree.tree, index) {
            Some(a) => {
                let prim = self.stage.prim(&self.tree.paths[a])?;
                let read = read_animation(&prim, self.interpolation, &mut unheard)?;
                Some(Arc::new(read))
            }
            None => None,
        };
        Ok(Some(SkeletonInstance::new(Arc::new(skeleton), animation)))
    }
}

/// UsdGeomImageable::PurposeInfo: the purpose that the prim authors or inherits.
#[derive(Clone, Default)]
pub(crate) struct Inherited(Option<String>);

impl Inherited {
    pub fn below(&self, prim: &usd::Prim) -> Result<Self, openusd::Error> {
        Ok(Self(authored_purpose(prim)?.or_else(|| self.0.clone())))
    }

    fn of(stage: &usd::Stage, path: &sdf::Path) -> Result<Self, openusd::Error> {
        let mut at = Some(path.clone());
        while let Some(path) = at.filter(|p| !p.is_abs_root()) {
            if let Some(purpose) = authored_purpose(&stage.prim(&path)?)? {
                return Ok(Self(Some(purpose)));
            }
            at = path.parent();
        }
        Ok(Self(None))
    }

    pub fn purpose(&self) -> Option<Purpose> {
        match &self.0 {
            Some(token) => Purpose::from_token(token),
            None => Some(Purpose::Default),
        }
    }
}

fn authored_purpose(prim: &usd::Prim) -> Result<Option<String>, openusd::Error> {
    let attribute = prim.attribute("purpose");
    if !prim.is_a("Imageable")? || !attribute.has_authored_value()? {
        return Ok(None);
    }
    Ok(read::<Token>(&attribute)?.map(|t| t.0))
}

pub(crate) fn read_invisible(
    prim: &usd::Prim,
    interpolation: Interpolation,
) -> Result<Sampled<bool>, openusd::Error> {
    if !prim.is_a("Imageable")? {
        return Ok(Sampled::default());
    }
    let visibility: Sampled<Token> = read_sampled(&prim.attribute("visibility"), interpolation)?;
    Ok(visibility.map(|token| token.0 == "invisible"))
}

/// Without a registry of kinds, those derived from component are not known as such.
fn is_component(prim: &usd::Prim) -> Result<bool, openusd::Error> {
    is_of_kind(prim, &["component", "subcomponent"])
}

fn is_of_kind(prim: &usd::Prim, kinds: &[&str]) -> Result<bool, openusd::Error> {
    Ok(prim.kind()?.is_some_and(|k| kinds.contains(&k.as_str())))
}
