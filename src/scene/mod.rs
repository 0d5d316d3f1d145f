//! A [`Scene`]: everything that skinning needs from a file, as plain data that threads can share.

mod bounds;
mod camera;
mod extent;
mod extent_rule;
mod geometry;
mod material;
mod motion;
mod placement;
mod pose_cache;
mod relation;
mod skin_binding;
mod xform;

use std::path::PathBuf;
use std::sync::Arc;

use glam::{DMat4, Vec3};

use crate::error::{Error, Invalid, Result, Warning};
use crate::sampled::{Sampled, Time};
use crate::skel::{Pose, SkelAnimation, SkeletonInstance, Skin};

pub use bounds::{BoundsNode, BoundsTree, Extent, HintedPrim, Purpose};
pub use camera::{Frustum, StageCamera};
pub use extent_rule::ExtentRule;
pub use geometry::{
    CurveBasis, CurveWidths, CurveWrap, Curves, DrawnMesh, Geometry, Instanced, Primvar, Subset,
};
pub use material::{
    ColorSource, Input, Material, Texture, TextureChannel, TextureUse, TextureWrap, Toon,
};
pub use motion::MotionCache;
pub use placement::{Carrier, PlacedPrim, Placement};
pub use pose_cache::{OutSpace, PoseCache};
pub use relation::Relation;
pub use skin_binding::{
    InfluenceSource, NormalsProperty, NormalsSource, ShapeChannel, SkinBinding, SkinPart,
};
pub use xform::{OpKind, OpValue, XformOp, XformStack};

/// The stage's time line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLine {
    /// startTimeCode and endTimeCode; `None` unless both are authored.
    pub range: Option<(f64, f64)>,
    /// timeCodesPerSecond.
    pub time_codes_per_second: f64,
    /// framesPerSecond, or 24 if it is not authored.
    pub frames_per_second: f64,
}

/// A prim whose transform is needed: a bound prim, a Skeleton, a SkelRoot, a prim that an
/// extentsHint encloses, or an ancestor of one of these.
#[derive(Clone, Debug)]
pub struct ScenePrim {
    pub path: String,
    /// Index of the parent, which is less than that of this prim.
    pub parent: Option<usize>,
    /// Index of the first prim that represents the same prim of an instanced prototype. It may be
    /// this prim itself.
    pub definition: usize,
    /// Its local transform: from prim space to the space of the parent.
    pub xform: XformStack,
}

/// A SkelRoot.
#[derive(Clone, Debug)]
pub struct SkelRoot {
    pub path: String,
    /// Index into [`Scene::prims`].
    pub prim: usize,
    /// Whether a prim above has an animation source, which Skeletons without their own inherit.
    pub inherits_animation: bool,
}

/// The part of a SkelRoot's extent that a skinnable prim bound to a Skeleton adds (rule 33).
#[derive(Clone, Debug)]
pub struct RestExtent {
    /// Prim path.
    pub path: String,
    /// Index of the Skeleton into [`Scene::prims`].
    pub skeleton: usize,
    /// The authored extent, in prim space.
    pub extent: Sampled<Vec<Vec3>>,
    /// geomBindTransform: from prim space to skeleton space in the bind pose.
    pub geom_bind: Sampled<DMat4>,
}

/// A bound prim that cannot be skinned, because its Skeleton is invalid or its place is not known.
#[derive(Clone, Debug, PartialEq)]
pub struct UnskinnedPrim {
    /// Prim path.
    pub path: String,
    /// The error; its prim may be the Skeleton.
    pub error: Invalid,
}

/// A Skeleton of the scene, with the animation that drives it.
#[derive(Clone, Debug)]
pub struct PlacedSkeleton {
    /// Prim path of the Skeleton, or of its instance proxy below an instance.
    pub path: String,
    /// Index into [`Scene::prims`].
    pub prim: usize,
    /// The Skeleton and its animation.
    pub instance: SkeletonInstance,
}

/// A scene to skin. Every reader produces one: [`Scene::new`], then its fields.
///
/// ```
/// use sinew::sampled::Time;
/// use sinew::scene::OutSpace;
///
/// // `sinew-io` reads one from a USD, glTF, VRM, FBX or BVH file.
/// let scene = sinew_io::open("examples/assets/hatchling.usda")?.scene(Default::default())?;
/// for problem in &scene.warnings {
///     println!("{problem}");
/// }
/// // The poses of all bound prims at a time code, for results in world space.
/// let mut poses = scene.at(Time::At(12.5), OutSpace::World);
/// for bound in scene.bound_skins() {
///     let (skin, pose) = (bound.skin(Time::At(12.5))?, poses.pose(bound)?);
///     println!("{}: {} points", bound.binding().path, skin.points().len());
/// #   assert_eq!(pose.channel_weights.len(), skin.shapes().len());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Scene {
    /// The file that it was read from.
    pub file: PathBuf,
    /// The rates and the range of the stage.
    pub time_line: TimeLine,
    /// Up axis, `Y` or `Z`.
    pub up_axis: char,
    /// Metres per stage unit. Nothing is scaled by it.
    pub meters_per_unit: f64,
    /// Prims whose transforms matter. Parents come before their children.
    pub prims: Vec<ScenePrim>,
    /// Every SkelRoot, including nested ones.
    pub skel_roots: Vec<SkelRoot>,
    /// Every pair of a Skeleton and an animation that prims are bound to.
    pub instances: Vec<PlacedSkeleton>,
    /// Every other valid Skeleton, with the animation that would drive it.
    pub unbound_skeletons: Vec<PlacedSkeleton>,
    /// Every SkelAnimation that drives one of them.
    pub animations: Vec<Arc<SkelAnimation>>,
    /// Every bound prim: all prims that are skinned or blended.
    pub bindings: Vec<SkinBinding>,
    /// The rest extent of every skinnable prim that is bound to a Skeleton, including prims that
    /// are not skinned.
    pub rest_extents: Vec<RestExtent>,
    /// The prims that extentsHints above bound prims enclose.
    pub bounds: BoundsTree,
    /// Bound prims that are not among the bindings, with the reason. One invalid Skeleton has one
    /// entry in `errors`, but one here for each prim that is bound to it.
    pub unskinned: Vec<UnskinnedPrim>,
    /// Prims that cannot be skinned, with the reason.
    pub errors: Vec<Invalid>,
    /// Warnings: problems that did not stop the reading.
    pub warnings: Vec<Warning>,
}

impl Scene {
    /// Creates a scene without prims, with Y up and 0.01 metres per unit, as a stage without these
    /// metadata has them.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>, time_line: TimeLine) -> Self {
        Self {
            file: file.into(),
            time_line,
            up_axis: 'Y',
            meters_per_unit: 0.01,
            prims: Vec::new(),
            skel_roots: Vec::new(),
            instances: Vec::new(),
            unbound_skeletons: Vec::new(),
            animations: Vec::new(),
            bindings: Vec::new(),
            rest_extents: Vec::new(),
            bounds: BoundsTree::default(),
            unskinned: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The bound prim at an index into [`Scene::bindings`].
    ///
    /// # Panics
    /// If there is no such binding.
    #[must_use]
    pub fn bound(&self, index: usize) -> BoundSkin<'_> {
        BoundSkin {
            scene: self,
            binding: &self.bindings[index],
            index,
        }
    }

    /// The bound prim at a path. It searches all bindings: in a loop over prims or frames keep
    /// [`BoundSkin::index`] and call [`Scene::bound`].
    ///
    /// # Errors
    /// There is no bound prim of this scene at the path.
    pub fn resolve(&self, path: &str) -> Result<BoundSkin<'_>> {
        if let Some(index) = self.bindings.iter().position(|b| b.path == path) {
            return Ok(self.bound(index));
        }
        let known = self.bindings.iter().map(|b| b.path.clone());
        Err(self.unknown(path, "skinned prim", known))
    }

    fn unknown(
        &self,
        path: &str,
        kind: &'static str,
        known: impl Iterator<Item = String>,
    ) -> Error {
        Error::UnknownPrim {
            file: self.file.clone(),
            path: path.to_owned(),
            kind,
            known: known.take(8).collect(),
        }
    }

    /// Every bound prim, in the order of [`Scene::bindings`].
    pub fn bound_skins(&self) -> impl Iterator<Item = BoundSkin<'_>> {
        (0..self.bindings.len()).map(|index| self.bound(index))
    }

    /// The poses of this scene's prims at a time. Skinned points are in `space`.
    #[must_use]
    pub fn at(&self, time: Time, space: OutSpace) -> PoseCache<'_> {
        PoseCache::new(self, time, space)
    }

    /// The transform from prim space to the world at a time. It multiplies the transforms of the
    /// prim and its ancestors, up to one that resets the transform stack.
    #[must_use]
    pub fn world_from_prim(&self, prim: usize, time: Time) -> DMat4 {
        let chain = self.chain(prim);
        let local = |p: &usize| self.prims[*p].xform.local(time);
        chain.iter().map(local).fold(DMat4::IDENTITY, |m, l| l * m)
    }

    /// The transforms of a skeleton's joints from joint space to the world at a time, in the order
    /// of [`crate::skel::Skeleton::joints`]. `instance` is an index into [`Scene::instances`].
    /// Column `w_axis` is the place of a joint, in stage units.
    ///
    /// # Errors
    /// Rest transforms that are needed but missing (rule 9).
    pub fn world_from_joints(&self, instance: usize, time: Time) -> Result<Vec<DMat4>, Invalid> {
        let world_from_skel = self.world_from_prim(self.instances[instance].prim, time);
        self.joints_from(world_from_skel, instance, time)
    }

    fn joints_from(
        &self,
        out_from_skel: DMat4,
        instance: usize,
        time: Time,
    ) -> Result<Vec<DMat4>, Invalid> {
        let joints = self.instances[instance].instance.skel_from_joint(time);
        let mut joints = joints.map_err(|e| e.in_file(&self.file))?;
        for joint in &mut joints {
            *joint = out_from_skel * *joint;
        }
        Ok(joints)
    }

    /// Every authored time of the transforms that [`Scene::world_from_prim`] multiplies.
    #[must_use]
    pub fn transform_times(&self, prim: usize) -> Vec<f64> {
        let chain = self.chain(prim);
        let times = |p: &usize| self.prims[*p].xform.times();
        chain.iter().flat_map(times).collect()
    }
}

/// A bound prim of a scene. It computes the skin and the poses of the prim.
#[derive(Clone, Copy, Debug)]
pub struct BoundSkin<'a> {
    scene: &'a Scene,
    binding: &'a SkinBinding,
    index: usize,
}

impl<'a> BoundSkin<'a> {
    /// The scene that the prim belongs to.
    #[must_use]
    pub fn scene(&self) -> &'a Scene {
        self.scene
    }

    /// Index into [`Scene::bindings`], for [`Scene::bound`].
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// The binding's data.
    #[must_use]
    pub fn binding(&self) -> &'a SkinBinding {
        self.binding
    }

    /// The skeleton that the prim is bound to.
    #[must_use]
    pub fn skeleton(&self) -> &'a PlacedSkeleton {
        &self.scene.instances[self.binding.instance]
    }

    /// The validated rest data at a time. It is the same at all time codes unless
    /// [`SkinBinding::rest_is_animated`].
    ///
    /// # Errors
    /// An attribute that breaks a UsdSkel rule. The error names the file.
    pub fn skin(&self, time: Time) -> Result<Arc<Skin>, Invalid> {
        self.skin_part(time, SkinPart::default())
    }

    /// The validated rest data of a part of the deformation. Its pose is that of
    /// [`BoundSkin::pose`], or of [`PoseCache::blend_pose`] if the part only blends.
    ///
    /// # Errors
    /// As [`BoundSkin::skin`].
    pub fn skin_part(&self, time: Time, part: SkinPart) -> Result<Arc<Skin>, Invalid> {
        self.binding
            .skin(&self.skeleton().instance, time, part)
            .map_err(|e| e.in_file(&self.scene.file))
    }

    /// The pose at a time. Results are in the prim's own space, as in Pixar's bake (rule 30).
    ///
    /// # Errors
    /// Skeletons without the bind or rest transforms that they need (rules 9, 10); a prim whose
    /// transform, up to the ancestor that it shares with the Skeleton, is singular.
    pub fn pose(&self, time: Time) -> Result<Pose, Invalid> {
        self.scene.at(time, OutSpace::Prim).pose(*self)
    }

    /// World transforms of its skeleton's joints, as [`Scene::world_from_joints`].
    ///
    /// # Errors
    /// As [`Scene::world_from_joints`].
    pub fn world_from_joints(&self, time: Time) -> Result<Vec<DMat4>, Invalid> {
        self.scene.world_from_joints(self.binding.instance, time)
    }

    /// The transform that replaces a rigid prim's own transform at a time: from prim space to its
    /// parent's space, or to the world if the prim resets its transform stack (rule 28).
    ///
    /// # Errors
    /// As [`PoseCache::rigid_transform`].
    pub fn rigid_transform(&self, time: Time) -> Result<DMat4, Invalid> {
        self.scene.at(time, OutSpace::Prim).rigid_transform(*self)
    }
}
