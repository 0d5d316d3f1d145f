//! The plan of a bake: what to compute for each prim, and which prims have the same result.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use glam::DMat4;

use crate::frames::FrameRange;
use crate::shutter::Shutter;
use crate::sink::PrimInfo;
use sinew::error::Invalid;
use sinew::sampled::Time;
use sinew::scene::{
    BoundSkin, MotionCache, OutSpace, PoseCache, Scene, ScenePrim, SkinBinding, SkinPart,
};
use sinew::skel::MeshTopology;

/// How prims with constant influences are baked (rule 28).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rigid {
    /// By their transform, as in Pixar's bake. Only blend shapes change their points.
    #[default]
    Xform,
    /// By their points, as in Hydra. Gprims without points move by their transform.
    Points,
}

/// When the prims of a bake are sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// Every prim with points at every frame, at even steps, with the same number of points at each
    /// frame. This is what caches, sequences and textures need. If a prim cannot be baked at the
    /// first frame, it is not in any frame. If it cannot be baked at a later frame, the bake fails.
    /// All prims move by their points, so [`BakePlan::rigid`] is ignored.
    #[default]
    EveryFrame,
    /// Each prim at its own times, as in USD: its authored times and the stage's frames between
    /// them, or [`BakePlan::frames`]. Prims with the same result are deformed once
    /// ([`PrimInfo::copies`](crate::PrimInfo::copies)). A prim has no sample at a time at which it
    /// cannot be baked.
    OwnTimes,
}

/// What a [`Baker`](crate::Baker) bakes of an open scene.
///
/// Start from [`BakePlan::default`], [`BakePlan::frames`] or [`BakePlan::own_times`] and set
/// fields.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct BakePlan {
    /// Absolute paths of the prims to bake: skinned prims or ancestors of skinned prims. All if
    /// empty.
    pub prims: Vec<String>,
    /// Frames to sample. `None` for the default of [`Sampling`]; even frames go from startTimeCode
    /// to endTimeCode or, if the stage has no range, from the first to the last authored time.
    pub frames: Option<FrameRange>,
    /// The space of points and normals.
    pub space: OutSpace,
    /// How prims with constant influences are baked.
    pub rigid: Rigid,
    /// When prims are sampled.
    pub sampling: Sampling,
    /// The samples of each frame for motion blur; with [`Sampling::OwnTimes`] only.
    pub shutter: Option<Shutter>,
    /// Whether samples have velocities; with [`Sampling::OwnTimes`] only.
    pub velocities: bool,
    /// As [`BakeOptions::max_error`](crate::BakeOptions::max_error); with [`Sampling::OwnTimes`]
    /// only.
    pub max_error: Option<f64>,
}

impl BakePlan {
    /// Every prim at the frames `first`, `first + step`, ... up to `last`, in prim space.
    #[must_use]
    pub fn frames(first: f64, last: f64, step: f64) -> Self {
        Self {
            frames: Some(FrameRange { first, last, step }),
            ..Self::default()
        }
    }

    /// Each prim at its own times, in prim space.
    #[must_use]
    pub fn own_times() -> Self {
        Self {
            sampling: Sampling::OwnTimes,
            ..Self::default()
        }
    }

    /// The same plan with other prims.
    #[must_use]
    pub fn with_prims<P: Into<String>>(mut self, prims: impl IntoIterator<Item = P>) -> Self {
        self.prims = prims.into_iter().map(Into::into).collect();
        self
    }

    /// The same plan with results in another space.
    #[must_use]
    pub fn with_space(mut self, space: OutSpace) -> Self {
        self.space = space;
        self
    }
}

/// The work of a whole bake.
pub(super) struct Plan {
    pub space: OutSpace,
    /// Whether samples of points have velocities.
    pub velocities: bool,
    prims: BTreeMap<usize, PrimPlan>,
}

/// The work of one prim.
pub(super) struct PrimPlan {
    /// Index into [`Scene::bindings`].
    pub binding: usize,
    /// The kind of transform that is written.
    pub transform: Option<TransformKind>,
    /// The skins that are deformed: none, one, or one for each of the two kinds of normals.
    pub parts: Vec<SkinPart>,
    /// Faces from which the normals of every part are computed, instead of skinning normals.
    pub smooth_normals: Option<Arc<MeshTopology>>,
}

/// The kind of a written transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransformKind {
    /// The skinned transform of a rigid prim.
    Rigid,
    /// The transform of the skeleton, because points are in skeleton space.
    Skeleton,
    /// The identity in the world, because points are in world space.
    World,
}

impl Plan {
    pub fn new(scene: &Scene, chosen: &[usize], asked: &BakePlan) -> Self {
        let plan = |&b: &usize| (b, prim_plan(b, &scene.bindings[b], asked));
        Self {
            space: asked.space,
            velocities: asked.velocities,
            prims: chosen.iter().map(plan).collect(),
        }
    }

    /// The work to compute points in `space` without transforms: one skin for each binding, with
    /// smooth normals of the deformed points if there is a topology.
    pub fn of_points(
        space: OutSpace,
        parts: impl Iterator<Item = (usize, SkinPart, Option<Arc<MeshTopology>>)>,
    ) -> Self {
        let plan = |(binding, part, smooth_normals)| {
            let plan = PrimPlan {
                binding,
                transform: match space {
                    OutSpace::Prim => None,
                    OutSpace::Skel => Some(TransformKind::Skeleton),
                    OutSpace::World => Some(TransformKind::World),
                },
                parts: vec![part],
                smooth_normals,
            };
            (binding, plan)
        };
        Self {
            space,
            velocities: false,
            prims: parts.map(plan).collect(),
        }
    }

    /// The work of a chosen binding.
    pub fn of(&self, binding: usize) -> &PrimPlan {
        &self.prims[&binding]
    }

    pub fn prims(&self) -> impl Iterator<Item = &PrimPlan> {
        self.prims.values()
    }

    /// Number of points, normals and velocities of a prim at one time.
    pub fn vectors(&self, scene: &Scene, b: usize) -> u64 {
        if self.of(b).parts.is_empty() {
            return 0;
        }
        let binding = &scene.bindings[b];
        let normals = binding.normals.iter().map(|n| n.values.first());
        let points = || std::iter::once(binding.points.first());
        let velocities = points().filter(|_| self.velocities);
        let arrays = points().chain(normals).chain(velocities);
        arrays.flatten().map(|v| v.len() as u64).sum()
    }

    /// The [`PrimInfo`] of a binding's prim.
    pub fn info(&self, scene: &Scene, b: usize, points: usize) -> PrimInfo {
        let binding = &scene.bindings[b];
        let plan = self.of(b);
        let normals = plan.parts.iter().map(|part| {
            let authored = binding.normals.get(part.normals);
            authored
                .filter(|_| plan.smooth_normals.is_none())
                .map(|n| n.property)
        });
        PrimInfo {
            path: binding.path.clone(),
            binding: b,
            points,
            normals: normals.collect(),
            copies: Vec::new(),
        }
    }
}

fn prim_plan(b: usize, binding: &SkinBinding, asked: &BakePlan) -> PrimPlan {
    let has_points = binding.points.has_value() && !binding.is_shape;
    let moves_transform = binding.is_rigid() && (asked.rigid == Rigid::Xform || !has_points);
    let blends = !binding.shapes.is_empty() && binding.channel_mapper.is_some();
    let skins = binding.influences.is_some() && !moves_transform;
    let mut parts = Vec::new();
    if skins || (blends && has_points) {
        // A skin has one kind of normals, so a prim with both kinds is skinned twice.
        parts.extend((0..binding.normals.len().max(1)).map(|normals| SkinPart {
            blend_only: moves_transform,
            normals,
        }));
    }
    let transform = match asked.space {
        _ if moves_transform => Some(TransformKind::Rigid),
        // Shapes without weights do not change the prim in its own space.
        _ if parts.is_empty() => None,
        OutSpace::Prim => None,
        OutSpace::Skel => Some(TransformKind::Skeleton),
        OutSpace::World => Some(TransformKind::World),
    };
    PrimPlan {
        binding: b,
        transform,
        parts,
        smooth_normals: None,
    }
}

impl TransformKind {
    /// Whether the written transform does not include those of the parents.
    pub fn resets(self, prim: &ScenePrim) -> bool {
        match self {
            Self::Rigid => prim.xform.resets,
            Self::Skeleton | Self::World => true,
        }
    }

    /// parent_from_prim at the time of the poses, or world_from_prim if it [resets](Self::resets).
    pub fn at(self, bound: BoundSkin<'_>, poses: &mut PoseCache<'_>) -> Result<DMat4, Invalid> {
        match self {
            Self::Rigid => poses.rigid_transform(bound),
            Self::Skeleton => Ok(poses.world_from_skel(bound)),
            Self::World => Ok(DMat4::IDENTITY),
        }
    }

    /// As [`TransformKind::at`], interpolated without rounding.
    pub fn exact(
        self,
        bound: BoundSkin<'_>,
        motion: &mut MotionCache<'_>,
    ) -> Result<DMat4, Invalid> {
        match self {
            Self::Rigid => motion.rigid_transform(bound),
            Self::Skeleton => Ok(motion.world_from_prim(bound.skeleton().prim).at),
            Self::World => Ok(DMat4::IDENTITY),
        }
    }
}

/// Everything that the result of a prim depends on.
#[derive(PartialEq, Eq, Hash)]
struct Cause {
    /// Rest data, Skeleton, animation.
    definition: usize,
    /// Prims whose transforms matter, by their definitions.
    transforms: Vec<usize>,
    times: Vec<Option<u64>>,
}

/// Finds the prims that have the same result as an earlier one: instances of a prototype that share
/// their animation. The result is by the earlier prim. All are indices into [`Scene::bindings`];
/// `times_of` is by index into [`Scene::instances`].
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
        // If the prim replaces its own transform, only its parents matter.
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
    // Both lists are one key, so that a prim in one list is not mistaken for one in the other.
    out.push(usize::MAX);
    out.extend(from.iter().map(definition));
    out
}
