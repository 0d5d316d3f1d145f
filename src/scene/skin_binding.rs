//! A skinnable prim that is bound to a Skeleton (UsdSkelSkinningQuery).

use std::sync::{Arc, OnceLock};

use glam::{DMat4, Vec3};

use super::ExtentRule;
use crate::error::Invalid;
use crate::sampled::{Sampled, Time};
use crate::skel::{
    AnimMapper, BlendShape, InfluenceInterpolation, JointInfluences, RestNormals, SkeletonInstance,
    Skin, SkinningMethod, joint_map,
};

/// Influences as authored, over time.
#[derive(Clone, Debug)]
pub struct InfluenceSource {
    /// One row per point, or one for the whole prim.
    pub interpolation: InfluenceInterpolation,
    /// elementSize.
    pub count: usize,
    /// `count` joints per row, in the prim's own joint order.
    pub indices: Sampled<Vec<i32>>,
    /// One weight per joint index, not normalised (rule 21).
    pub weights: Sampled<Vec<f32>>,
}

/// The property that holds normals. If both are authored, renderers use the primvar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum NormalsProperty {
    /// `normals`, which Pixar's bake deforms.
    #[serde(rename = "normals")]
    Attribute,
    /// `primvars:normals`, which Pixar's bake ignores although many exporters write it.
    #[serde(rename = "primvars:normals")]
    Primvar,
}

impl NormalsProperty {
    /// Property name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Attribute => "normals",
            Self::Primvar => "primvars:normals",
        }
    }
}

/// Rest normals that skinning changes: their interpolation is vertex, varying or faceVarying (rule
/// 24).
#[derive(Clone, Debug)]
pub struct NormalsSource {
    /// The property that holds them.
    pub property: NormalsProperty,
    /// Normals in prim space. Indices of an indexed primvar are applied already.
    pub values: Sampled<Vec<Vec3>>,
    /// faceVertexIndices if there is a normal per face corner; `None` if there is one per point.
    pub corners: Option<Sampled<Vec<i32>>>,
}

impl NormalsSource {
    fn is_animated(&self) -> bool {
        self.values.is_animated() || self.corners.as_ref().is_some_and(Sampled::is_animated)
    }

    /// The normals at a time; `None` if their number does not fit the prim. Such normals do not
    /// change while the points are skinned (rule 24).
    fn at(&self, prim: &str, time: Time, point_count: usize) -> Option<RestNormals> {
        let values = self.values.at(time)?;
        match &self.corners {
            None => (values.len() == point_count).then(|| RestNormals::per_point(values)),
            Some(corners) => {
                RestNormals::face_varying(prim, values, &corners.at(time)?, point_count).ok()
            }
        }
    }

    fn times(&self) -> impl Iterator<Item = f64> + '_ {
        let corners = self.corners.iter().flat_map(|c| c.times());
        self.values.times().chain(corners)
    }
}

/// A channel of a prim: an element of its skel:blendShapes, with its target.
#[derive(Clone, Debug)]
pub struct ShapeChannel {
    /// Token in skel:blendShapes.
    pub token: String,
    /// Target path, as authored.
    pub target: String,
    /// The shape; `None` if the target is missing (rule 17).
    pub shape: Option<Arc<BlendShape>>,
}

/// A bound prim. Its fields are as read from the file; [`BoundSkin::skin`](super::BoundSkin::skin)
/// validates them. A reader creates one with [`SkinBinding::new`], then sets its fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SkinBinding {
    /// Prim path.
    pub path: String,
    /// Schema type, such as `Mesh`.
    pub type_name: String,
    /// Index into [`super::Scene::prims`].
    pub prim: usize,
    /// Index of the SkelRoot into [`super::Scene::prims`].
    pub skel_root: usize,
    /// Index into [`super::Scene::instances`].
    pub instance: usize,
    /// Index into [`super::Scene::bindings`] of the first binding with the same rest data, Skeleton
    /// and animation. It may be this binding itself; it is another one if instances share a
    /// prototype.
    pub definition: usize,
    /// Rest points in prim space.
    pub points: Sampled<Vec<Vec3>>,
    /// Whether the prim has sizes in place of points, as a Sphere has. `points` and `normals` are
    /// then those that it is drawn with.
    pub is_shape: bool,
    /// Rest normals that skinning changes: those of `normals` first, then those of
    /// `primvars:normals`.
    pub normals: Vec<NormalsSource>,
    /// Influences; `None` if the prim only blends.
    pub influences: Option<InfluenceSource>,
    /// primvars:skel:skinningMethod.
    pub method: SkinningMethod,
    /// skel:joints of the prim, if authored.
    pub joints: Option<Vec<String>>,
    /// geomBindTransform: from prim space to skeleton space in the bind pose. Without a value it is
    /// the identity.
    pub geom_bind: Sampled<DMat4>,
    /// Blend shapes in the order of skel:blendShapes. Weights of a pose have the same order.
    pub shapes: Vec<ShapeChannel>,
    /// The map from the channels of the animation to `shapes`.
    pub channel_mapper: Option<AnimMapper>,
    /// Widths of points and curves, for their extents.
    pub widths: Sampled<Vec<f32>>,
    /// How to compute its extent from its points.
    pub extent_rule: ExtentRule,
    /// The reason why this prim is not deformed; `None` if it is deformed.
    pub unsupported: Option<String>,
    /// The validated skins of a prim whose rest data never changes. Instances of one prototype
    /// share them.
    static_skins: Arc<StaticSkins>,
}

impl SkinBinding {
    /// Creates the binding of a prim that nothing deforms yet: linear blend skinning, no points, no
    /// influences, no shapes. The indices are those of the fields of the same names; `definition`
    /// is 0.
    #[must_use]
    pub fn new(
        path: impl Into<String>,
        type_name: impl Into<String>,
        prim: usize,
        skel_root: usize,
        instance: usize,
    ) -> Self {
        Self {
            path: path.into(),
            type_name: type_name.into(),
            prim,
            skel_root,
            instance,
            definition: 0,
            points: Sampled::default(),
            is_shape: false,
            normals: Vec::new(),
            influences: None,
            method: SkinningMethod::default(),
            joints: None,
            geom_bind: Sampled::default(),
            shapes: Vec::new(),
            channel_mapper: None,
            widths: Sampled::default(),
            extent_rule: ExtentRule::Points,
            unsupported: None,
            static_skins: Arc::default(),
        }
    }

    /// A copy with only the fields that a [`Carrier`](super::Carrier) needs.
    pub(super) fn as_carrier(&self) -> Self {
        let of = (self.prim, self.skel_root, self.instance);
        Self {
            influences: self.influences.clone(),
            joints: self.joints.clone(),
            method: self.method,
            geom_bind: self.geom_bind.clone(),
            ..Self::new(&self.path, &self.type_name, of.0, of.1, of.2)
        }
    }

    /// Forgets the skins that were built. Call it if you change other fields after a skin was
    /// built, or if this is a changed copy of another binding.
    pub fn forget_skins(&mut self) {
        self.static_skins = Arc::default();
    }
}

/// The skins of a prim whose rest data never changes, each built at most once.
///
/// There is one for each [`SkinPart`], and separately for the default time and for time codes: an
/// attribute may have a default and one sample with different values.
#[derive(Debug, Default)]
struct StaticSkins([[BuiltSkin; SkinPart::COUNT]; 2]);

type BuiltSkin = OnceLock<Result<Arc<Skin>, Invalid>>;

impl StaticSkins {
    fn of(&self, part: SkinPart, time: Time) -> &BuiltSkin {
        let by_part = &self.0[usize::from(time.code().is_some())];
        &by_part[usize::from(part.blend_only) + 2 * part.normals.min(2)]
    }
}

/// The part of a prim's deformation that a [`Skin`] is built for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SkinPart {
    /// Whether to leave out the influences. The points of a rigid prim only blend, and its
    /// influences become a transform (rule 28).
    pub blend_only: bool,
    /// Index into [`SkinBinding::normals`] of the normals to deform. If there are not so many, the
    /// skin has no normals.
    pub normals: usize,
}

impl SkinPart {
    /// With influences or blending only, times two kinds of normals or none.
    const COUNT: usize = 6;
}

impl SkinBinding {
    /// Whether rest points, normals or influences change over time. Then each time needs its own
    /// skin.
    #[must_use]
    pub fn rest_is_animated(&self) -> bool {
        self.points.is_animated()
            || self.normals.iter().any(NormalsSource::is_animated)
            || self
                .influences
                .as_ref()
                .is_some_and(|i| i.indices.is_animated() || i.weights.is_animated())
    }

    /// Whether one set of influences moves the whole prim (rule 28).
    #[must_use]
    pub fn is_rigid(&self) -> bool {
        self.influences
            .as_ref()
            .is_some_and(|i| i.interpolation == InfluenceInterpolation::Constant)
    }

    /// The validated rest data at a time. `instance` must be the binding's own, because skins that
    /// never change are cached; [`super::BoundSkin`] ensures that.
    pub(super) fn skin(
        &self,
        instance: &SkeletonInstance,
        time: Time,
        part: SkinPart,
    ) -> Result<Arc<Skin>, Invalid> {
        if self.rest_is_animated() {
            return self.build_skin(instance, time, part).map(Arc::new);
        }
        self.static_skins
            .of(part, time)
            .get_or_init(|| {
                // If points are blocked at time codes, the prim rests at its default points.
                let time = if self.points.at(time).is_some() {
                    time
                } else {
                    Time::Default
                };
                self.build_skin(instance, time, part).map(Arc::new)
            })
            .clone()
    }

    /// The validated influences at a time; `None` if the prim only blends. `point_count` is used
    /// only if there are influences per point.
    ///
    /// # Errors
    /// Influences without a value at this time; see [`JointInfluences::new`].
    pub fn influences_at(
        &self,
        instance: &SkeletonInstance,
        time: Time,
        point_count: usize,
    ) -> Result<Option<JointInfluences>, Invalid> {
        let Some(source) = &self.influences else {
            return Ok(None);
        };
        let missing = |name: &str| {
            Invalid::new(&self.path, name, "a value", format!("none at time {time}"))
                .coded("influences-no-value")
        };
        let indices = source
            .indices
            .at(time)
            .ok_or_else(|| missing("primvars:skel:jointIndices"))?;
        let weights = source
            .weights
            .at(time)
            .ok_or_else(|| missing("primvars:skel:jointWeights"))?;
        let skeleton_joints = instance.skeleton().joints().len();
        JointInfluences::new(
            &self.path,
            source.interpolation,
            source.count,
            &indices,
            weights.to_vec(),
            point_count,
            self.joints.as_ref().map_or(skeleton_joints, Vec::len),
        )
        .map(Some)
    }

    /// The map from the joint order of the prim to that of the Skeleton (rule 11). `None` if the
    /// prim has no joint order of its own.
    #[must_use]
    pub fn joint_map(&self, instance: &SkeletonInstance) -> Option<Vec<Option<u32>>> {
        let own = self.joints.as_ref()?;
        Some(joint_map(own, instance.skeleton().joints()))
    }

    fn build_skin(
        &self,
        instance: &SkeletonInstance,
        time: Time,
        part: SkinPart,
    ) -> Result<Skin, Invalid> {
        let points = self.points.at(time).ok_or_else(|| {
            Invalid::new(
                &self.path,
                "points",
                "points",
                format!("no value at time {time}"),
            )
            .coded("points-missing")
        })?;
        let influences = match part.blend_only {
            true => None,
            false => self.influences_at(instance, time, points.len())?,
        };
        let shapes: Vec<_> = self.shapes.iter().map(|c| c.shape.clone()).collect();
        let normals = self
            .normals
            .get(part.normals)
            .filter(|n| influences.is_some() || self.blends(n))
            .and_then(|n| n.at(&self.path, time, points.len()));
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
            )
            .coded("points-count-varies"));
        }
        Skin::new(
            &self.path,
            points,
            normals,
            influences,
            self.joint_map(instance),
            instance.skeleton().joints().len(),
            shapes,
        )
        .map(|skin| skin.with_method(self.method))
    }

    /// The weight of each blend shape at a time. If a broken sub-shape takes part, all weights are
    /// zero, because Pixar then applies no blend shapes to the prim (rule 18), and the fault of the
    /// sub-shape is returned with them.
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
        for (channel, weight) in self.shapes.iter().zip(&weights) {
            let fault = |s: &BlendShape| s.fault_at(f64::from(*weight)).cloned();
            if let Some(fault) = channel.shape.as_deref().and_then(fault) {
                return (vec![0.0; weights.len()], Some(fault));
            }
        }
        for w in &mut weights {
            // A weight that is not finite would make the whole prim not finite.
            if !w.is_finite() {
                *w = 0.0;
            }
        }
        (weights, None)
    }

    /// Whether blend shapes change these normals. A prim that only blends keeps them if no shape
    /// has normal offsets, or if no animation gives its shapes weights (as in usd-core).
    fn blends(&self, normals: &NormalsSource) -> bool {
        let mut shapes = self.shapes.iter().filter_map(|s| s.shape.as_ref());
        normals.corners.is_none()
            && self.channel_mapper.is_some()
            && shapes.any(|s| s.has_normal_offsets())
    }

    /// Every authored time of the rest points, and of normals: of all normals if the prim is
    /// skinned, and of those that blend shapes change if it only blends (`blend_only`).
    #[must_use]
    pub fn rest_times(&self, blend_only: bool) -> Vec<f64> {
        let skinned = self.influences.is_some() && !blend_only;
        let changed = self.normals.iter().filter(|n| skinned || self.blends(n));
        let mut times: Vec<f64> = self.points.times().collect();
        times.extend(changed.flat_map(NormalsSource::times));
        times
    }

    /// Every authored time of the influences and of geomBindTransform.
    #[must_use]
    pub fn influence_times(&self) -> Vec<f64> {
        let mut times: Vec<f64> = self.geom_bind.times().collect();
        if let Some(i) = &self.influences {
            times.extend(i.indices.times().chain(i.weights.times()));
        }
        times
    }
}
