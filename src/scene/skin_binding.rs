//! One skinnable prim bound to a skeleton: what UsdSkelSkinningQuery is.

use std::sync::{Arc, OnceLock};

use glam::{DMat4, Vec3};

use crate::error::Invalid;
use crate::sampled::{Sampled, Time};
use crate::skel::{
    AnimMapper, BlendShape, InfluenceInterpolation, JointInfluences, SkeletonInstance, Skin,
    WEIGHT_EPSILON,
};

/// Influences as authored, over time.
#[derive(Clone, Debug)]
pub struct InfluenceSource {
    pub interpolation: InfluenceInterpolation,
    /// elementSize.
    pub count: usize,
    pub indices: Sampled<Vec<i32>>,
    pub weights: Sampled<Vec<f32>>,
}

/// What becomes of a prim's normals.
#[derive(Clone, Debug)]
pub enum Normals {
    /// None authored, or none that deformation changes (uniform, constant).
    None,
    /// One per point: deformed.
    PerPoint(Sampled<Vec<Vec3>>),
}

/// A blend shape slot of a prim.
#[derive(Clone, Debug)]
pub struct ShapeSlot {
    /// Token in skel:blendShapes.
    pub token: String,
    /// Target path, as authored.
    pub target: String,
    /// The shape, or why it is broken; `None` for a target that is not there (rule 17).
    pub shape: Option<Result<Arc<BlendShape>, Invalid>>,
}

/// A bound prim. Every field is as read; [`SkinBinding::skin`] validates.
#[derive(Debug)]
pub struct SkinBinding {
    /// Prim path.
    pub path: String,
    /// Schema type, such as `Mesh`.
    pub type_name: String,
    /// Index into [`super::Scene::prims`].
    pub prim: usize,
    /// SkelRoot's index into [`super::Scene::prims`].
    pub skel_root: usize,
    /// Index into [`super::Scene::instances`].
    pub instance: usize,
    pub points: Sampled<Vec<Vec3>>,
    pub normals: Normals,
    /// `None` where the prim only blends.
    pub influences: Option<InfluenceSource>,
    /// The prim's own skel:joints, where authored.
    pub joints: Option<Vec<String>>,
    pub geom_bind: Sampled<DMat4>,
    pub shapes: Vec<ShapeSlot>,
    /// Channels of the animation -> `shapes`.
    pub channel_mapper: Option<AnimMapper>,
    /// Widths of points and curves, for their extents.
    pub widths: Sampled<Vec<f32>>,
    /// Why this prim is left as it is, where it is.
    pub unsupported: Option<String>,
    /// The validated skin of a prim whose rest data never changes.
    pub(crate) static_skin: OnceLock<Result<Arc<Skin>, Invalid>>,
}

impl SkinBinding {
    /// True where rest points, normals or influences change over time, so that each time needs a
    /// skin of its own.
    #[must_use]
    pub fn rest_is_animated(&self) -> bool {
        self.points.is_animated()
            || matches!(&self.normals, Normals::PerPoint(n) if n.is_animated())
            || self
                .influences
                .as_ref()
                .is_some_and(|i| i.indices.is_animated() || i.weights.is_animated())
    }

    /// The validated rest data at a time.
    ///
    /// # Errors
    /// See [`JointInfluences::new`] and [`Skin::new`]; a prim without points.
    pub fn skin(&self, instance: &SkeletonInstance, time: Time) -> Result<Arc<Skin>, Invalid> {
        if self.rest_is_animated() {
            return self.build_skin(instance, time).map(Arc::new);
        }
        // What never changes is the same at any time that has a value, so one skin serves all. The
        // first sample stands in where only samples, or only a default, are authored.
        self.static_skin
            .get_or_init(|| {
                let time = if self.points.at(time).is_some() {
                    time
                } else {
                    Time::Default
                };
                self.build_skin(instance, time).map(Arc::new)
            })
            .clone()
    }

    fn build_skin(&self, instance: &SkeletonInstance, time: Time) -> Result<Skin, Invalid> {
        let points = self.points.at(time).ok_or_else(|| {
            Invalid::new(
                &self.path,
                "points",
                "points",
                format!("no value at time {time}"),
            )
        })?;
        let skeleton_joints = instance.skeleton().joints();
        let own_joints = self.joints.as_ref().map_or(skeleton_joints.len(), Vec::len);
        let influences = self
            .influences
            .as_ref()
            .map(|source| {
                let missing = |name: &str| {
                    Invalid::new(&self.path, name, "a value", format!("none at time {time}"))
                };
                let indices = source
                    .indices
                    .at(time)
                    .ok_or_else(|| missing("primvars:skel:jointIndices"))?;
                let weights = source
                    .weights
                    .at(time)
                    .ok_or_else(|| missing("primvars:skel:jointWeights"))?;
                JointInfluences::new(
                    &self.path,
                    source.interpolation,
                    source.count,
                    &indices,
                    weights.to_vec(),
                    points.len(),
                    own_joints,
                )
            })
            .transpose()?;
        // From the skeleton's order, as Pixar maps: it decides which of equal tokens are served.
        let joint_map = self.joints.as_ref().map(|own| {
            let skeletons: Vec<_> = (0..skeleton_joints.len() as u32).map(Some).collect();
            let mut map = vec![None; own.len()];
            AnimMapper::new(skeleton_joints, own).remap(&skeletons, &mut map);
            map
        });
        let mut shapes: Vec<Option<Arc<BlendShape>>> = Vec::with_capacity(self.shapes.len());
        for slot in &self.shapes {
            shapes.push(match &slot.shape {
                Some(Ok(shape)) => Some(shape.clone()),
                _ => None,
            });
        }
        // A prim that only blends keeps its normals where no shape has normal offsets, and where no
        // animation gives its shapes weights (seen on usd-core).
        let blends_normals = self.channel_mapper.is_some()
            && shapes.iter().flatten().any(|s| s.has_normal_offsets());
        let moves_normals = influences.is_some() || blends_normals;
        let normals = match &self.normals {
            // Normals of the wrong number stay as they are while the points are skinned (rule 24).
            Normals::PerPoint(n) => n
                .at(time)
                .filter(|n| moves_normals && n.len() == points.len()),
            Normals::None => None,
        };
        if !shapes.is_empty()
            && self
                .points
                .first()
                .is_some_and(|first| first.len() != points.len())
        {
            return Err(Invalid::new(
                &self.path,
                "points",
                "as many points at every time, for its blend shapes",
                format!("{} at time {time}", points.len()),
            ));
        }
        Skin::new(
            &self.path,
            points,
            normals,
            influences,
            joint_map,
            skeleton_joints.len(),
            shapes,
        )
    }

    /// Channel weight of each shape slot at a time. All are zero at a time when a broken shape
    /// would take part: Pixar leaves the prim without blend shapes then (rule 18). The broken
    /// shape's report comes back with them.
    #[must_use]
    pub fn channel_weights(
        &self,
        instance: &SkeletonInstance,
        time: Time,
    ) -> (Vec<f32>, Option<Invalid>) {
        let mut weights = vec![0.0f32; self.shapes.len()];
        if let (Some(animation), Some(mapper)) = (instance.animation(), &self.channel_mapper) {
            let authored = animation.channel_weights(time);
            mapper.remap(&authored, &mut weights);
        }
        for (slot, weight) in self.shapes.iter().zip(&weights) {
            if let Some(Err(broken)) = &slot.shape
                && f64::from(weight.abs()) > WEIGHT_EPSILON
            {
                return (vec![0.0; weights.len()], Some(broken.clone()));
            }
        }
        for w in &mut weights {
            // A weight that is no number would take the whole prim with it.
            if !w.is_finite() {
                *w = 0.0;
            }
        }
        (weights, None)
    }

    /// Every authored time that this prim's own data depends on.
    #[must_use]
    pub fn own_times(&self) -> Vec<f64> {
        let mut times: Vec<f64> = self.points.times().collect();
        if let Normals::PerPoint(n) = &self.normals {
            times.extend(n.times());
        }
        if let Some(i) = &self.influences {
            times.extend(i.indices.times().chain(i.weights.times()));
            times.extend(self.geom_bind.times());
        }
        times
    }
}
