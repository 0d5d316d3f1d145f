//! Extents as the file has them (UsdGeomBoundable::ComputeExtent), and prims with an authored extentsHint above bound prims.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use glam::Vec3;
use sinew_layer::{Path, Value};
use sinew_stage::{Predicate, Prim, Stage};

use super::skeletons::{read_animation, read_skeleton};
use super::skinned_prims::extent_rule;
use super::tree::StageTree;
use super::values::{FromUsd, Number, Token, read, read_sampled, read_uniform};
use super::xforms::read_stack;
use sinew::error::Warning;
use sinew::sampled::{Interpolation, Sampled, Time};
use sinew::scene::{
    BoundsNode, BoundsTree, Extent, HintedPrim, PlacedSkeleton, Purpose, ScenePrim, SkinBinding,
    XformStack,
};
use sinew::skel::SkeletonInstance;
use sinew::skel::binding::{animation_bound_at, animation_of};

type Corners = Sampled<Vec<Vec3>>;

/// A prim's extent: the authored one, else from points and widths, else from the size of an implicit
/// gprim or a light. `None` for what has neither, such as volumes and point instancers.
pub(crate) fn read_extent(
    prim: &Prim<'_>,
    interpolation: Interpolation,
) -> Result<Option<Corners>, sinew_stage::Error> {
    let attribute = prim.attribute("extent");
    if attribute.has_authored_value() {
        let authored: Corners = read_sampled(&attribute, interpolation)?;
        if authored.has_value() && authored.values().all(|v| is_extent(v)) {
            return Ok(Some(authored));
        }
    }
    let read = Reader {
        prim,
        interpolation,
    };
    let computed = if prim.is_a("PointBased") {
        read.of_points()?
    } else {
        read.of_size(prim.type_name())?
    };
    Ok(computed.filter(Sampled::has_value))
}

/// Two finite corners; an empty range counts, and is how USD writes one.
fn is_extent(corners: &[Vec3]) -> bool {
    corners.len() == 2 && corners.iter().all(|c| c.is_finite())
}

struct Reader<'a> {
    prim: &'a Prim<'a>,
    interpolation: Interpolation,
}

impl Reader<'_> {
    fn of_points(&self) -> Result<Option<Corners>, sinew_stage::Error> {
        let rule = extent_rule(self.prim);
        let points: Corners = self.sampled("points")?;
        let widths: Sampled<Vec<f32>> = self.sampled("widths")?;
        let times = points.times().chain(widths.times()).collect();
        Ok(Some(self.over(times, |time| {
            let widths = widths.at(time);
            let widths = widths.as_deref().map_or(&[][..], Vec::as_slice);
            rule.corners(&points.at(time)?, widths).map(Vec::from)
        })))
    }

    /// The extent functions of UsdGeom's implicit gprims and of UsdLux' lights.
    fn of_size(&self, type_name: &str) -> Result<Option<Corners>, sinew_stage::Error> {
        let rows: &[(&str, f64)] = match type_name {
            "Sphere" => &[("radius", 1.0)],
            "Cube" => &[("size", 2.0)],
            "Cylinder" | "Cone" => &[("radius", 1.0), ("height", 2.0)],
            "Capsule" => &[("radius", 0.5), ("height", 1.0)],
            "Cylinder_1" => &[("radiusTop", 1.0), ("radiusBottom", 1.0), ("height", 2.0)],
            "Capsule_1" => &[("radiusTop", 0.5), ("radiusBottom", 0.5), ("height", 1.0)],
            "Plane" => &[("width", 2.0), ("length", 2.0)],
            "SphereLight" | "DiskLight" => &[("inputs:radius", 0.5)],
            "RectLight" => &[("inputs:width", 1.0), ("inputs:height", 1.0)],
            "CylinderLight" => &[("inputs:radius", 0.5), ("inputs:length", 1.0)],
            _ => return Ok(None),
        };
        let mut sizes = Vec::with_capacity(rows.len());
        for (name, fallback) in rows {
            sizes.push((self.number(name)?, *fallback));
        }
        let axis = self.axis()?;
        let times = sizes.iter().flat_map(|(s, _)| s.times()).collect();
        let corners = self.over(times, |time| {
            let size = |i: usize| sizes[i].0.at(time).map_or(sizes[i].1, |v| v.0);
            let half = |r: f64, up: f64| centred([r, r, up]);
            let corners = match type_name {
                "Sphere" | "SphereLight" => centred([size(0); 3]),
                "Cube" => centred([size(0) / 2.0; 3]),
                "Cylinder" | "Cone" => half(size(0), size(1) / 2.0),
                "Capsule" => half(size(0), size(1) / 2.0 + size(0)),
                "Cylinder_1" => half(size(0).max(size(1)), size(2) / 2.0),
                "Capsule_1" => capsule(size(0), size(1), size(2)),
                "Plane" => centred([size(0) / 2.0, size(1) / 2.0, 0.0]),
                "RectLight" => centred([size(0) / 2.0, size(1) / 2.0, 0.0]),
                "DiskLight" => centred([size(0), size(0), 0.0]),
                // CylinderLight, which has no axis attribute and lies along x.
                _ => half(size(0), size(1) / 2.0),
            };
            let corners = corners.map(|c| match (axis, type_name) {
                (_, "CylinderLight") => [c[2], c[0], c[1]],
                // A plane's width lies along z where it faces x, and along x where it faces y.
                (Axis::X, "Plane") => [c[2], c[1], c[0]],
                (Axis::Y, "Plane") => [c[0], c[2], c[1]],
                (Axis::X, _) => [c[2], c[0], c[1]],
                (Axis::Y, _) => [c[1], c[2], c[0]],
                (Axis::Z, _) => c,
            });
            let corners = corners.map(|c| Vec3::from_array(c.map(|v| v as f32)));
            is_extent(&corners).then(|| corners.to_vec())
        });
        Ok(Some(corners))
    }

    fn axis(&self) -> Result<Axis, sinew_stage::Error> {
        Ok(match read_uniform::<Token>(&self.prim.attribute("axis"))? {
            Some(Token(t)) if t == "X" => Axis::X,
            Some(Token(t)) if t == "Y" => Axis::Y,
            _ => Axis::Z,
        })
    }

    fn number(&self, name: &str) -> Result<Sampled<Number>, sinew_stage::Error> {
        self.sampled(name)
    }

    fn sampled<T: FromUsd>(&self, name: &str) -> Result<Sampled<T>, sinew_stage::Error> {
        read_sampled(&self.prim.attribute(name), self.interpolation)
    }

    fn over(&self, times: Vec<f64>, corners: impl Fn(Time) -> Option<Vec<Vec3>>) -> Corners {
        let samples = times.iter().map(|t| (*t, corners(Time::At(*t)))).collect();
        Sampled::new(corners(Time::Default), samples, self.interpolation)
    }
}

#[derive(Clone, Copy)]
enum Axis {
    X,
    Y,
    Z,
}

/// Corners along x, y and the gprim's own axis.
fn centred(half: [f64; 3]) -> [[f64; 3]; 2] {
    [half.map(|v| -v), half]
}

/// The two spheres that touch the cone between the radii, as Capsule_1 has its caps.
fn capsule(top: f64, bottom: f64, height: f64) -> [[f64; 3]; 2] {
    let slope = match height > 0.0 {
        true => (top - bottom) / height,
        false => 0.0,
    };
    let stretch = (1.0 + slope * slope).sqrt();
    let r = top.max(bottom) * stretch;
    let low = -height / 2.0 + bottom * slope - bottom * stretch;
    let high = height / 2.0 + top * slope + top * stretch;
    [[-r, -r, low], [r, r, high]]
}

/// What is read of the stage to bound it.
pub(crate) struct BoundsReader<'a> {
    pub stage: &'a Stage,
    pub tree: &'a StageTree<'a>,
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
    pub fn read(mut self) -> Result<BoundsTree, sinew_stage::Error> {
        let mut out = BoundsTree::default();
        let hinted = self.hinted_prims()?;
        if hinted.is_empty() {
            return Ok(out);
        }
        let scene_prims: HashMap<String, usize> = self
            .prims
            .iter()
            .enumerate()
            .map(|(i, p)| (p.path.clone(), i))
            .collect();
        let mut nodes: HashMap<Path, (usize, Inherited)> = HashMap::new();
        for prim in self.stage.traverse(Predicate::DEFAULT_PROXIES) {
            let path = prim.path();
            let above = path.parent().and_then(|p| nodes.get(&p)).cloned();
            let is_hinted = scene_prims
                .get(path.as_str())
                .is_some_and(|p| hinted.contains(p));
            if above.is_none() && !is_hinted {
                continue;
            }
            if !prim.type_name().is_empty() && !prim.is_a("Imageable") && prim.is_a("Typed") {
                continue; // Nor is what lies below it seen.
            }
            let inherited = match &above {
                Some((_, inherited)) => inherited.below(&prim)?,
                None => Inherited::of(&prim)?,
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
    fn hinted_prims(&self) -> Result<HashSet<usize>, sinew_stage::Error> {
        let mut seen = vec![false; self.prims.len()];
        let mut out = HashSet::new();
        for binding in self.bindings {
            let mut at = Some(binding.prim);
            while let Some(i) = at.filter(|i| !std::mem::replace(&mut seen[*i], true)) {
                let prim = self.scene_prim(i);
                if prim.is_some_and(|p| p.attribute("extentsHint").has_authored_value()) {
                    out.insert(i);
                }
                at = self.prims[i].parent;
            }
        }
        Ok(out)
    }

    /// The stage's prim behind one of the scene's.
    fn scene_prim(&self, index: usize) -> Option<Prim<'_>> {
        self.stage.prim(&Path::parse(&self.prims[index].path).ok()?)
    }

    fn add_prim(
        &mut self,
        prim: &Prim<'_>,
        parent: Option<usize>,
    ) -> Result<usize, sinew_stage::Error> {
        let xform = match prim.is_a("Xformable") {
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

    fn nearest_component(&self, scene_prim: usize) -> Result<Option<usize>, sinew_stage::Error> {
        let mut at = Some(scene_prim);
        while let Some(i) = at {
            if let Some(prim) = self.scene_prim(i)
                && is_component(&prim)?
            {
                return Ok(Some(i));
            }
            at = self.prims[i].parent;
        }
        Ok(None)
    }

    fn extent(&mut self, prim: &Prim<'_>) -> Result<Option<Extent>, sinew_stage::Error> {
        if !prim.is_a("Boundable") {
            return Ok(None);
        }
        if let Some(corners) = read_extent(prim, self.interpolation)? {
            return Ok(Some(Extent::Corners(corners)));
        }
        if prim.is_a("SkelRoot") {
            // Pixar's own would be that of the joints below (rule 33).
            return Ok(None);
        }
        if prim.is_a("Skeleton")
            && let Some(skeleton) = self.skeleton(prim)?
        {
            let index = self.tree.index_of(&prim.path());
            let bound_at = index.and_then(|i| animation_bound_at(&self.tree.tree, i));
            let bound_at = bound_at.map(|i| self.tree.tree[i].path.clone());
            return Ok(Some(Extent::Joints { skeleton, bound_at }));
        }
        if prim.is_a("PointInstancer") || prim.is_a("Volume") {
            let message = "has no authored extent, so the extentsHints above leave it out";
            let path = prim.path();
            self.warnings.push(Warning::new(
                "extents-hint-incomplete",
                path.as_str(),
                message,
            ));
        }
        Ok(Some(Extent::Unknown))
    }

    /// A Skeleton with the animation that drives it, whether or not a prim is bound to it.
    fn skeleton(&self, prim: &Prim<'_>) -> Result<Option<SkeletonInstance>, sinew_stage::Error> {
        let path = prim.path();
        let placed = self.instances.iter().find(|i| i.path == path.as_str());
        if let Some(placed) = placed {
            return Ok(Some(placed.instance.clone()));
        }
        let Some(index) = self.tree.index_of(&path) else {
            return Ok(None);
        };
        // What is wrong with it is said where a prim is bound to it.
        let mut unheard = Vec::new();
        let Ok(skeleton) = read_skeleton(prim, &mut unheard)? else {
            return Ok(None);
        };
        let animation = match animation_of(&self.tree.tree, index) {
            Some(a) => {
                let prim = self.tree.prims[a];
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
    pub fn below(&self, prim: &Prim<'_>) -> Result<Self, sinew_stage::Error> {
        Ok(Self(authored_purpose(prim)?.or_else(|| self.0.clone())))
    }

    fn of(prim: &Prim<'_>) -> Result<Self, sinew_stage::Error> {
        let mut at = Some(*prim);
        while let Some(prim) = at {
            if let Some(purpose) = authored_purpose(&prim)? {
                return Ok(Self(Some(purpose)));
            }
            at = prim.parent();
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

fn authored_purpose(prim: &Prim<'_>) -> Result<Option<String>, sinew_stage::Error> {
    let attribute = prim.attribute("purpose");
    if !prim.is_a("Imageable") || !attribute.has_authored_value() {
        return Ok(None);
    }
    Ok(read::<Token>(&attribute)?.map(|t| t.0))
}

pub(crate) fn read_invisible(
    prim: &Prim<'_>,
    interpolation: Interpolation,
) -> Result<Sampled<bool>, sinew_stage::Error> {
    if !prim.is_a("Imageable") {
        return Ok(Sampled::default());
    }
    let visibility: Sampled<Token> = read_sampled(&prim.attribute("visibility"), interpolation)?;
    Ok(visibility.map(|token| token.0 == "invisible"))
}

/// Without a registry of kinds, those derived from component are not known as such.
fn is_component(prim: &Prim<'_>) -> Result<bool, sinew_stage::Error> {
    is_of_kind(prim, &["component", "subcomponent"])
}

fn is_of_kind(prim: &Prim<'_>, kinds: &[&str]) -> Result<bool, sinew_stage::Error> {
    let kind = prim.metadata("kind")?;
    Ok(matches!(kind, Some(Value::Token(k)) if kinds.contains(&k.as_str())))
}
