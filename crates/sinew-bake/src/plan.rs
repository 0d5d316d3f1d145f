//! What is computed of which prim.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::DMat4;

use super::BakeOptions;
use sinew::error::Invalid;
use sinew::scene::{BoundSkin, OutSpace, PoseCache, Scene, ScenePrim, SkinBinding, SkinPart};
use sinew::skel::MeshTopology;

/// What becomes of prims with constant influences (rule 28).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rigid {
    /// Their transform follows the joints, as in Pixar's bake; points stay, but for blend shapes.
    #[default]
    Xform,
    /// Their points do, where they have any, as in Hydra; gprims without points move by transform.
    Points,
}

/// The work of a whole bake.
pub(super) struct Plan {
    pub space: OutSpace,
    prims: BTreeMap<usize, PrimPlan>,
}

/// The work of one prim.
pub(super) struct PrimPlan {
    /// Index into [`Scene::bindings`].
    pub binding: usize,
    /// The transform that is written.
    pub transform: Option<TransformKind>,
    /// The skins that are deformed: none, one, or one for each kind of normals.
    pub parts: Vec<SkinPart>,
    /// Faces from which every part's normals are made, in place of its own.
    pub made_normals: Option<Arc<MeshTopology>>,
}

/// What a written transform is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransformKind {
    /// Of a rigid prim: skinned.
    Rigid,
    /// Points are in skeleton space, so the prim stands where the skeleton does.
    Skeleton,
    /// Points are in world space, so the prim has no transform.
    World,
}

impl Plan {
    pub fn new(scene: &Scene, chosen: &[usize], options: &BakeOptions) -> Self {
        let plan = |&b: &usize| (b, prim_plan(b, &scene.bindings[b], options));
        Self {
            space: options.space.unwrap_or_default(),
            prims: chosen.iter().map(plan).collect(),
        }
    }

    /// The work that gives points in `space`, and no transforms: of each binding one skin, with normals that are made
    /// from the deformed points where a topology comes along.
    pub fn of_points(
        space: OutSpace,
        parts: impl Iterator<Item = (usize, SkinPart, Option<Arc<MeshTopology>>)>,
    ) -> Self {
        let plan = |(binding, part, made_normals)| {
            let plan = PrimPlan {
                binding,
                transform: match space {
                    OutSpace::Prim => None,
                    OutSpace::Skel => Some(TransformKind::Skeleton),
                    OutSpace::World => Some(TransformKind::World),
                },
                parts: vec![part],
                made_normals,
            };
            (binding, plan)
        };
        Self {
            space,
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
}

fn prim_plan(b: usize, binding: &SkinBinding, options: &BakeOptions) -> PrimPlan {
    let has_points = binding.points.has_value();
    let moves_transform = binding.is_rigid() && (options.rigid == Rigid::Xform || !has_points);
    let blends = !binding.shapes.is_empty() && binding.channel_mapper.is_some();
    let skins = binding.influences.is_some() && !moves_transform;
    let mut parts = Vec::new();
    if skins || (blends && has_points) {
        // One skin carries one kind of normals; a prim with both kinds is skinned twice.
        parts.extend((0..binding.normals.len().max(1)).map(|normals| SkinPart {
            blend_only: moves_transform,
            normals,
        }));
    }
    let transform = match options.space.unwrap_or_default() {
        _ if moves_transform => Some(TransformKind::Rigid),
        // Shapes that nothing weighs leave the prim alone, in its own space.
        _ if parts.is_empty() => None,
        OutSpace::Prim => None,
        OutSpace::Skel => Some(TransformKind::Skeleton),
        OutSpace::World => Some(TransformKind::World),
    };
    PrimPlan {
        binding: b,
        transform,
        parts,
        made_normals: None,
    }
}

impl TransformKind {
    /// Whether the written transform leaves out the parents'.
    pub fn resets(self, prim: &ScenePrim) -> bool {
        match self {
            Self::Rigid => prim.xform.resets,
            Self::Skeleton | Self::World => true,
        }
    }

    /// parent_from_prim at the time of the poses, or world_from_prim where it [resets](Self::resets).
    pub fn at(self, bound: BoundSkin<'_>, poses: &mut PoseCache<'_>) -> Result<DMat4, Invalid> {
        match self {
            Self::Rigid => poses.rigid_transform(bound),
            Self::Skeleton => Ok(poses.world_from_skel(bound)),
            Self::World => Ok(DMat4::IDENTITY),
        }
    }
}
