//! PointInstancers: where their instances stand, and the meshes of their prototypes.

use std::collections::BTreeSet;

use glam::{Quat, Vec3};
use half::f16;
use sinew_layer::Value;
use sinew_layer::value::Array;
use sinew_stage::{Prim, Stage};

use super::places::{Kind, NotDrawn, kind_of};
use crate::usd::file::Purposes;
use crate::usd::read::bounds::Inherited;
use crate::usd::read::tree::PROTOTYPES;
use crate::usd::read::values::{FromUsd, read_sampled};
use sinew::error::Warning;
use sinew::sampled::{Interpolation, Lerp, Sampled};
use sinew::scene::{OpKind, OpValue, PlacedPrim, XformOp, XformStack};

/// Largest number of meshes that instances add to a picture.
const MOST: usize = 10_000;
/// Largest depth of instancers in prototypes of instancers.
const DEEPEST: usize = 8;

/// A PointInstancer.
pub(super) struct Instancer<'a> {
    pub prim: Prim<'a>,
    /// By the index that protoIndices have; none where the target is no prim.
    pub prototypes: Vec<Option<Prototype<'a>>>,
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
pub(super) struct Prototype<'a> {
    pub root: Prim<'a>,
    pub meshes: Vec<Prim<'a>>,
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
struct Ids(Array<i64>);

impl FromUsd for Ids {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Int64Array(ids) => Some(Self(ids)),
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
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::QuathArray(v) => Some(Self(v.iter().map(|q| q.0).collect())),
            _ => None,
        }
    }
}

/// Reads instancers, and those in their prototypes, each once.
pub(super) fn read<'a>(
    stage: &'a Stage,
    interpolation: Interpolation,
    drawn: Purposes,
    found: &[Prim<'a>],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Instancer<'a>>, sinew_stage::Error> {
    let mut out: Vec<Instancer<'a>> = Vec::new();
    let mut todo: Vec<Prim<'a>> = found.to_vec();
    let mut next = 0;
    while next < todo.len() {
        let prim = todo[next];
        next += 1;
        let mut prototypes = Vec::new();
        for target in prim.relationship("prototypes").forwarded_targets() {
            // Indices count the targets, so one that is not there keeps its place.
            let Some(root) = stage.prim(&target) else {
                prototypes.push(None);
                continue;
            };
            let below = Below::read(root, drawn)?;
            below
                .others
                .warn("meshes and shapes of prototypes", warnings);
            let mut instancers = Vec::new();
            for inner in below.instancers {
                let known = todo.iter().position(|p| *p == inner);
                instancers.push(known.unwrap_or(todo.len()));
                if known.is_none() {
                    todo.push(inner);
                }
            }
            prototypes.push(Some(Prototype {
                root,
                meshes: below.meshes,
                instancers,
            }));
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
            prim,
        };
        if !instancer.positions.has_value() || !instancer.indices.has_value() {
            let message =
                "the PointInstancer has no positions or no protoIndices: it has no instances";
            warnings.push(Warning::new("not-drawn", prim.path().as_str(), message));
        }
        out.push(instancer);
    }
    Ok(out)
}

/// What is drawn at and below a prototype's root.
#[derive(Default)]
struct Below<'a> {
    meshes: Vec<Prim<'a>>,
    instancers: Vec<Prim<'a>>,
    others: NotDrawn<'a>,
}

impl<'a> Below<'a> {
    fn read(root: Prim<'a>, drawn: Purposes) -> Result<Self, sinew_stage::Error> {
        let mut out = Self::default();
        // A stack of its own: how deep a stage nests is up to its files.
        let mut stack = vec![(root, Inherited::default())];
        while let Some((prim, above)) = stack.pop() {
            let purpose = above.below(&prim)?;
            let seen = drawn.have(purpose.purpose());
            let kind = kind_of(prim);
            match kind {
                _ if !seen => {}
                Kind::PointInstancer => out.instancers.push(prim),
                Kind::Mesh | Kind::Shape => out.meshes.push(prim),
                Kind::Curves | Kind::OtherGprim => out.others.add(prim),
                Kind::Camera | Kind::Other => {}
            }
            if kind == Kind::PointInstancer {
                continue;
            }
            let start = stack.len();
            stack.extend(prim.children(PROTOTYPES).map(|c| (c, purpose.clone())));
            stack[start..].reverse();
        }
        Ok(out)
    }
}

/// The metadata inactiveIds.
fn inactive(prim: &Prim<'_>) -> Result<BTreeSet<i64>, sinew_stage::Error> {
    Ok(match prim.metadata("inactiveIds")? {
        Some(Value::Int64ListOp(list)) => list.explicit_items.iter().copied().collect(),
        _ => BTreeSet::new(),
    })
}

impl Instancer<'_> {
    /// Every instance that is there at some time.
    pub fn instances(&self) -> Vec<Instance> {
        let mut all: BTreeSet<(usize, usize)> = BTreeSet::new();
        for indices in self.indices.values() {
            for (index, prototype) in indices.iter().enumerate() {
                let prototype = usize::try_from(*prototype).ok();
                let prototype =
                    prototype.filter(|p| matches!(self.prototypes.get(*p), Some(Some(_))));
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
            path: format!("{}[{i}]", self.prim.path()),
            parent,
            xform: XformStack { ops, resets: false },
            carrier: None,
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

/// A mesh of a prototype as instances show it, and per level the instancer and the number
/// of the instance in [`Instancer::instances`], the innermost first.
pub(super) type Shown<'a> = (Prim<'a>, Vec<(usize, usize)>);

/// Every mesh that the first `found` instancers show. The others are in their prototypes.
pub(super) fn shown<'a>(
    instancers: &[Instancer<'a>],
    found: usize,
    warnings: &mut Vec<Warning>,
) -> Vec<Shown<'a>> {
    let mut out = Vec::new();
    for top in 0..found {
        if !expand(instancers, top, &[], &mut out) {
            let path = instancers[top].prim.path();
            let message = format!(
                "instances show more than {MOST} meshes, or nest too deeply: the rest is not drawn"
            );
            warnings.push(Warning::new("not-drawn", path.as_str(), message));
            break;
        }
    }
    out
}

/// Adds what an instancer shows; false if there is too much.
fn expand<'a>(
    instancers: &[Instancer<'a>],
    at: usize,
    outer: &[(usize, usize)],
    out: &mut Vec<Shown<'a>>,
) -> bool {
    if outer.len() >= DEEPEST {
        return false;
    }
    for (number, instance) in instancers[at].instances().into_iter().enumerate() {
        let chain: Vec<(usize, usize)> = std::iter::once((at, number))
            .chain(outer.iter().copied())
            .collect();
        let Some(prototype) = &instancers[at].prototypes[instance.prototype] else {
            continue;
        };
        for mesh in &prototype.meshes {
            if out.len() >= MOST {
                return false;
            }
            out.push((*mesh, chain.clone()));
        }
        for nested in &prototype.instancers {
            if !expand(instancers, *nested, &chain, out) {
                return false;
            }
        }
    }
    true
}
