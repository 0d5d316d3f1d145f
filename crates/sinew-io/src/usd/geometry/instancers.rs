//! PointInstancers: where their instances stand, and the meshes of their prototypes.

use std::collections::BTreeSet;

use glam::{Quat, Vec3};
use half::f16;
use openusd::{sdf, usd};

use crate::usd::read::bounds::Inherited;
use crate::usd::read::tree::prototypes;
use crate::usd::read::values::{FromUsd, read_sampled};
use sinew::error::Warning;
use sinew::sampled::{Interpolation, Lerp, Sampled};
use sinew::scene::{OpKind, OpValue, PlacedPrim, Purpose, XformOp, XformStack};

/// Largest number of meshes that instances add to a picture.
const MOST: usize = 10_000;
/// Largest depth of instancers in prototypes of instancers.
const DEEPEST: usize = 8;

/// A PointInstancer.
pub(super) struct Instancer {
    pub path: sdf::Path,
    /// By the index that protoIndices have.
    pub prototypes: Vec<Prototype>,
    indices: Sampled<Vec<i32>>,
    positions: Sampled<Vec<Vec3>>,
    orientations: Sampled<Vec<[f16; 4]>>,
    /// `orientationsf`, which wins over `orientations`.
    precise_orientations: Sampled<Vec<Quat>>,
    scales: Sampled<Vec<Vec3>>,
    ids: Sampled<Ids>,
    invisible: Sampled<Ids>,
    inactive: BTreeSet<i64>,
}

/// A prototype of a PointInstancer.
pub(super) struct Prototype {
    pub root: sdf::Path,
    pub meshes: Vec<sdf::Path>,
    /// Indices of the instancers in it.
    pub instancers: Vec<usize>,
}

/// An instance: its instancer, its index there, and its prototype. An instance that changes its
/// prototype over time is one of each.
#[derive(Clone, Copy)]
pub(super) struct Instance {
    pub index: usize,
    pub prototype: usize,
}

#[derive(Clone, Default)]
struct Ids(Vec<i64>);

impl FromUsd for Ids {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Int64Vec(ids) => Some(Self(ids)),
            _ => None,
        }
    }
}

/// They do not interpolate.
impl Lerp for Ids {
    fn lerp(_: &Self, _: &Self, _: f64) -> Option<Self> {
        None
    }
}

/// `quath[]`, in the order of [`OpValue::QuatH`].
#[derive(Clone)]
struct Halves(Vec<[f16; 4]>);

impl FromUsd for Halves {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::QuathVec(v) => Some(Self(v.iter().map(|q| [q.x, q.y, q.z, q.w]).collect())),
            _ => None,
        }
    }
}

/// Reads instancers, and those in their prototypes, each once.
pub(super) fn read(
    stage: &usd::Stage,
    interpolation: Interpolation,
    found: &[sdf::Path],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Instancer>, openusd::Error> {
    let mut out: Vec<Instancer> = Vec::new();
    if found.is_empty() {
        return Ok(out);
    }
    let mut all = Vec::new();
    stage.traverse(prototypes(), |p| all.push(p.clone()))?;
    let mut todo: Vec<sdf::Path> = found.to_vec();
    let mut next = 0;
    while next < todo.len() {
        let path = todo[next].clone();
        next += 1;
        let prim = stage.prim(&path)?;
        let mut prototypes = Vec::new();
        for root in prim.relationship("prototypes").forwarded_targets()? {
            let (meshes, nested) = below(stage, &all, &root)?;
            let mut instancers = Vec::new();
            for path in nested {
                let known = todo.iter().position(|p| *p == path);
                instancers.push(known.unwrap_or(todo.len()));
                if known.is_none() {
                    todo.push(path);
                }
            }
            prototypes.push(Prototype {
                root,
                meshes,
                instancers,
            });
        }
        let halves: Sampled<Halves> = read_sampled(&prim.attribute("orientations"), interpolation)?;
        let invisible = prim.attribute("invisibleIds");
        let instancer = Instancer {
            indices: read_sampled(&prim.attribute("protoIndices"), interpolation)?,
            positions: read_sampled(&prim.attribute("positions"), interpolation)?,
            orientations: halves.map(|h| h.0.clone()),
            precise_orientations: read_sampled(&prim.attribute("orientationsf"), interpolation)?,
            scales: read_sampled(&prim.attribute("scales"), interpolation)?,
            ids: read_sampled(&prim.attribute("ids"), interpolation)?,
            invisible: read_sampled(&invisible, interpolation)?,
            inactive: inactive(&prim)?,
            prototypes,
            path,
        };
        if !instancer.positions.has_value() || !instancer.indices.has_value() {
            let message =
                "the PointInstancer has no positions or no protoIndices: it has no instances";
            warnings.push(Warning::new("not-drawn", instancer.path.as_str(), message));
        }
        out.push(instancer);
    }
    Ok(out)
}

/// The drawn meshes at and below a prototype's root, and the instancers there.
fn below(
    stage: &usd::Stage,
    all: &[sdf::Path],
    root: &sdf::Path,
) -> Result<(Vec<sdf::Path>, Vec<sdf::Path>), openusd::Error> {
    let (mut meshes, mut instancers) = (Vec::new(), Vec::new());
    let mut pruned: Vec<&sdf::Path> = Vec::new();
    let mut purposes: Vec<(&sdf::Path, Inherited)> = Vec::new();
    for path in all.iter().filter(|p| p.has_prefix(root)) {
        if pruned.iter().any(|p| path.has_prefix(p)) {
            continue;
        }
        let prim = stage.prim(path)?;
        // Paths come in the order of the tree, so the last prefix is the parent.
        purposes.retain(|(above, _)| path.has_prefix(above));
        let above = purposes.last().map(|(_, p)| p.clone()).unwrap_or_default();
        let purpose = above.below(&prim)?;
        let seen = matches!(purpose.purpose(), Some(Purpose::Default | Purpose::Render));
        purposes.push((path, purpose));
        if prim.is_a("PointInstancer")? {
            pruned.push(path);
            if seen {
                instancers.push(path.clone());
            }
        } else if seen && prim.is_a("Mesh")? {
            meshes.push(path.clone());
        }
    }
    Ok((meshes, instancers))
}

/// The metadata inactiveIds.
fn inactive(prim: &usd::Prim) -> Result<BTreeSet<i64>, openusd::Error> {
    Ok(match prim.get_metadata::<sdf::Value>("inactiveIds")? {
        Some(sdf::Value::Int64ListOp(list)) => {
            let items = [
                &list.explicit_items,
                &list.added_items,
                &list.prepended_items,
                &list.appended_items,
            ];
            items.into_iter().flatten().copied().collect()
        }
        Some(sdf::Value::Int64Vec(ids)) => ids.into_iter().collect(),
        _ => BTreeSet::new(),
    })
}

impl Instancer {
    /// Every instance that is there at some time.
    pub fn instances(&self) -> Vec<Instance> {
        let mut all: BTreeSet<(usize, usize)> = BTreeSet::new();
        for indices in self.indices.values() {
            for (index, prototype) in indices.iter().enumerate() {
                let prototype = usize::try_from(*prototype).ok();
                let prototype = prototype.filter(|p| *p < self.prototypes.len());
                all.extend(prototype.map(|p| (index, p)));
            }
        }
        let instance = |(index, prototype)| Instance { index, prototype };
        all.into_iter().map(instance).collect()
    }

    /// The place of an instance, below the instancer's own at `parent`.
    pub fn place(&self, instance: Instance, parent: Option<usize>) -> PlacedPrim {
        let i = instance.index;
        let op = |kind, name: &str, value| XformOp {
            kind,
            name: name.to_owned(),
            invert: false,
            value,
        };
        let mut ops = vec![op(
            OpKind::Translate,
            "xformOp:translate",
            OpValue::Vec3F(
                self.positions
                    .map(|v| v.get(i).copied().into_iter().collect()),
            ),
        )];
        let orient = match self.precise_orientations.has_value() {
            true => OpValue::QuatF(
                self.precise_orientations
                    .map(|v| v.get(i).copied().into_iter().collect()),
            ),
            false => OpValue::QuatH(
                self.orientations
                    .map(|v| v.get(i).copied().into_iter().collect()),
            ),
        };
        ops.push(op(OpKind::Orient, "xformOp:orient", orient));
        let scale = self.scales.map(|v| v.get(i).copied().into_iter().collect());
        ops.push(op(OpKind::Scale, "xformOp:scale", OpValue::Vec3F(scale)));
        PlacedPrim {
            path: format!("{}[{i}]", self.path),
            parent,
            xform: XformStack { ops, resets: false },
            invisible: self.invisible(instance),
        }
    }

    /// When an instance is not there: it has another prototype or none, or its id is invisible or
    /// inactive.
    fn invisible(&self, instance: Instance) -> Sampled<bool> {
        use sinew::sampled::Time;
        let hidden = |time: Time| {
            let indices = self.indices.at(time);
            let prototype = indices.as_ref().and_then(|v| v.get(instance.index));
            let id = self.ids.at(time);
            let id = id.and_then(|ids| ids.0.get(instance.index).copied());
            let id = id.unwrap_or(instance.index as i64);
            let invisible = self.invisible.at(time);
            prototype.is_none_or(|p| usize::try_from(*p) != Ok(instance.prototype))
                || invisible.is_some_and(|ids| ids.0.contains(&id))
                || self.inactive.contains(&id)
        };
        let mut times: Vec<f64> = self.indices.times().collect();
        times.extend(self.ids.times().chain(self.invisible.times()));
        times.sort_by(f64::total_cmp);
        times.dedup();
        let samples = times.into_iter().map(|t| (t, Some(hidden(Time::At(t)))));
        Sampled::new(
            Some(hidden(Time::Default)),
            samples.collect(),
            Interpolation::Held,
        )
    }
}

/// A mesh of a prototype as instances show it: its path, and per level the instancer and the number
/// of the instance in [`Instancer::instances`], the innermost first.
pub(super) type Shown = (sdf::Path, Vec<(usize, usize)>);

/// Every mesh that the first `found` instancers show. The others are in their prototypes.
pub(super) fn shown(
    instancers: &[Instancer],
    found: usize,
    warnings: &mut Vec<Warning>,
) -> Vec<Shown> {
    let mut out = Vec::new();
    for top in 0..found {
        if !expand(instancers, top, &[], &mut out) {
            let path = instancers[top].path.as_str();
            let message = format!(
                "instances show more than {MOST} meshes, or nest too deeply: the rest is not drawn"
            );
            warnings.push(Warning::new("not-drawn", path, message));
            break;
        }
    }
    out
}

/// Adds what an instancer shows; false if there is too much.
fn expand(
    instancers: &[Instancer],
    at: usize,
    outer: &[(usize, usize)],
    out: &mut Vec<Shown>,
) -> bool {
    if outer.len() >= DEEPEST {
        return false;
    }
    for (number, instance) in instancers[at].instances().into_iter().enumerate() {
        let chain: Vec<(usize, usize)> = std::iter::once((at, number))
            .chain(outer.iter().copied())
            .collect();
        let prototype = &instancers[at].prototypes[instance.prototype];
        for mesh in &prototype.meshes {
            if out.len() >= MOST {
                return false;
            }
            out.push((mesh.clone(), chain.clone()));
        }
        for nested in &prototype.instancers {
            if !expand(instancers, *nested, &chain, out) {
                return false;
            }
        }
    }
    true
}
