//! Skinned meshes of a stage: their skins, their poses at a time, and the results of both backends.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DMat4, Vec3};
use rayon::prelude::*;

use super::Control;
use sinew::error::Invalid;
use sinew::gpu::{Crowd, GpuError, InstanceId, InstancePose, PaletteId, Skinner};
use sinew::kernel::{PackedPose, PackedSkin, Palette, skin_on_cpu};
use sinew::math;
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, DrawnMesh, OutSpace, PoseCache, Scene, SkinPart};
use sinew::skel::{Pose, Skin, SkinningMethod};

/// The transform that takes the points of a mesh to world space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MeshTransform {
    /// None: skinning puts the points into world space.
    World,
    /// The transform of the prim.
    Prim,
    /// The rigid transform by a joint (rule 28), of the binding with this index.
    Rigid(usize),
}

/// The skin and the pose of a mesh whose points are skinned or blended.
#[derive(Debug)]
pub(super) struct Deform {
    /// Index into [`Scene::bindings`].
    pub binding: usize,
    pub part: SkinPart,
    pub skin: Arc<PackedSkin>,
    /// The instance in the crowd, once it has a pose there.
    pub instance: Option<InstanceId>,
    pub pose: Option<PackedPose>,
    /// Key of the pose's palette, which other meshes may share.
    pub palette: Option<PaletteKey>,
    /// Whether the rest data change over time. Then the CPU mirror skins the mesh, and the results
    /// are uploaded.
    pub animated_rest: bool,
}

/// Deformed points, and normals if the skin has any.
#[derive(Clone, Debug, Default)]
pub(super) struct Results {
    pub points: Vec<Vec3>,
    pub normals: Vec<Vec3>,
}

/// The transform of a mesh, and the binding and the part that deform it, if any.
pub(super) fn plan(scene: &Scene, mesh: &DrawnMesh) -> (MeshTransform, Option<(usize, SkinPart)>) {
    let Some((b, binding)) = mesh
        .binding
        .and_then(|b| Some((b, scene.bindings.get(b)?)))
        .filter(|(_, binding)| binding.unsupported.is_none())
    else {
        return (MeshTransform::Prim, None);
    };
    let rigid = binding.is_rigid();
    // The index after the last normals selects none. It is taken if the drawn normals do not
    // deform.
    let no_normals = binding.normals.len();
    let part = SkinPart {
        blend_only: rigid,
        normals: mesh.skin_normals.unwrap_or(no_normals),
    };
    let blends = !binding.shapes.is_empty();
    match (rigid, binding.influences.is_some(), blends) {
        (true, _, true) => (MeshTransform::Rigid(b), Some((b, part))),
        (true, _, false) => (MeshTransform::Rigid(b), None),
        (false, true, _) => (MeshTransform::World, Some((b, part))),
        (false, false, true) => (MeshTransform::Prim, Some((b, part))),
        (false, false, false) => (MeshTransform::Prim, None),
    }
}

/// The skin of a binding at a time. `method` replaces the binding's own skinning method. A smooth
/// surface without normals gets normals that are computed from the deformed points.
pub(super) fn pack(
    bound: BoundSkin<'_>,
    mesh: &DrawnMesh,
    part: SkinPart,
    time: Time,
    method: Option<SkinningMethod>,
) -> Result<Arc<PackedSkin>, Invalid> {
    let skin = bound.skin_part(time, part)?;
    let path = &bound.binding().path;
    let packed = match method {
        Some(method) if method != skin.method() => {
            PackedSkin::pack(path, &(*skin).clone().with_method(method))
        }
        _ => PackedSkin::pack(path, &skin),
    }?;
    match packed.normals().is_none() && mesh.subdivided {
        true => packed.with_smooth_normals(&mesh.topology).map(Arc::new),
        false => Ok(Arc::new(packed)),
    }
}

/// Smooth normals of points that no skin deforms, one per point.
pub(super) fn smooth_normals(mesh: &DrawnMesh, points: &[Vec3]) -> Result<Vec<Vec3>, Invalid> {
    let points = Arc::new(points.to_vec());
    let skin = Skin::new(&mesh.path, points, None, None, None, 0, Vec::new())?;
    let skin = PackedSkin::pack(&mesh.path, &skin)?.with_smooth_normals(&mesh.topology)?;
    let pose = PackedPose::with_palette(&skin, None, DMat4::IDENTITY, Vec::new())?;
    let mut points = vec![Vec3::ZERO; skin.output_count()];
    let mut normals = vec![Vec3::ZERO; skin.output_normal_count()];
    skin_on_cpu(&skin, &pose, &mut points, Some(&mut normals))?;
    Ok(normals)
}

/// Poses the meshes of a scene at one time, in local space: world space relative to the stage's
/// origin.
pub(super) struct Posing<'a> {
    scene: &'a Scene,
    time: Time,
    control: &'a Control,
    local_from_world: DMat4,
    cache: PoseCache<'a>,
    palettes: HashMap<PaletteKey, Arc<Palette>>,
}

/// Identifies a palette: index of the skeleton instance, bits of geomBindTransform, whether the
/// method is dual quaternion, and whether the skin has normals.
pub(super) type PaletteKey = (usize, [u64; 16], bool, bool);

impl<'a> Posing<'a> {
    pub fn new(
        scene: &'a Scene,
        time: Time,
        control: &'a Control,
        local_from_world: DMat4,
    ) -> Self {
        Self {
            scene,
            time,
            control,
            local_from_world,
            cache: scene.at(time, OutSpace::World),
            palettes: HashMap::new(),
        }
    }

    /// Sets the pose of a deformed mesh, and its skin if the rest data change over time.
    ///
    /// # Errors
    /// The binding has no skin or no pose at this time.
    pub fn pose(&mut self, mesh: &DrawnMesh, deform: &mut Deform) -> Result<(), Invalid> {
        let bound = self.scene.bound(deform.binding);
        if deform.animated_rest {
            deform.skin = pack(bound, mesh, deform.part, self.time, self.control.method)?;
        }
        let mut pose = match deform.part.blend_only {
            true => self.cache.blend_pose(bound),
            false => self.cache.pose(bound)?,
        };
        for (channel, weight) in bound.binding().shapes.iter().zip(&mut pose.channel_weights) {
            if let Some(wanted) = self.control.weights.get(&channel.token) {
                *weight = *wanted;
            }
        }
        let (key, palette) = self.palette(&deform.skin, bound, &pose).unzip();
        deform.palette = key;
        let Pose {
            out_from_skel,
            channel_weights,
            ..
        } = pose;
        let local_from_skel = self.local_from_world * out_from_skel;
        deform.pose = Some(PackedPose::with_palette(
            &deform.skin,
            palette,
            local_from_skel,
            channel_weights,
        )?);
        Ok(())
    }

    /// The palette of a pose and its key, if the skin has influences. Meshes with the same key
    /// share one.
    fn palette(
        &mut self,
        skin: &PackedSkin,
        bound: BoundSkin<'_>,
        pose: &Pose,
    ) -> Option<(PaletteKey, Arc<Palette>)> {
        let skinning = pose
            .skinning
            .as_ref()
            .filter(|_| skin.influences().is_some())?;
        let with_normals = skin.normals().is_some();
        let key = (
            bound.binding().instance,
            pose.geom_bind.to_cols_array().map(f64::to_bits),
            skin.method() == SkinningMethod::DualQuaternion,
            with_normals,
        );
        let palette = self.palettes.entry(key).or_insert_with(|| {
            Arc::new(Palette::pack(
                skin.method(),
                skinning,
                pose.geom_bind,
                with_normals,
            ))
        });
        Some((key, Arc::clone(palette)))
    }

    /// Matrix from the space of a mesh's points to local space.
    ///
    /// # Errors
    /// The transform is not finite, or the binding has no rigid transform at this time.
    pub fn local_from_mesh(
        &mut self,
        scene: &Scene,
        mesh: &DrawnMesh,
        transform: MeshTransform,
    ) -> Result<DMat4, Invalid> {
        let world_from_mesh = match transform {
            MeshTransform::World if mesh.instances.is_empty() => return Ok(DMat4::IDENTITY),
            // Skinning puts the points where the prototype stands, in local space.
            MeshTransform::World => {
                mesh.world_from_prototype(self.time) * self.local_from_world.inverse()
            }
            MeshTransform::Prim => mesh.world_from_prim(self.time),
            MeshTransform::Rigid(b) => {
                let prim = scene.bindings[b].prim;
                let transform = self.cache.rigid_transform(self.scene.bound(b))?;
                let prim = &scene.prims[prim];
                let world_from_prim = match prim.parent.filter(|_| !prim.xform.resets) {
                    Some(parent) => scene.world_from_prim(parent, self.time) * transform,
                    None => transform,
                };
                mesh.world_from_prototype(self.time) * world_from_prim
            }
        };
        if math::is_finite(&world_from_mesh) {
            return Ok(self.local_from_world * world_from_mesh);
        }
        Err(Invalid::new(
            &mesh.path,
            "xformOpOrder",
            "a finite transform",
            world_from_mesh.to_string(),
        ))
    }
}

/// Deforms every mesh by the CPU mirror. The results of a mesh without a pose are empty.
pub(super) fn deform_on_cpu<'a>(
    meshes: impl IntoParallelIterator<Item = Option<&'a Deform>>,
) -> Vec<Results> {
    let one = |deform: Option<&Deform>| {
        let Some((skin, pose)) = deform.and_then(|d| Some((&d.skin, d.pose.as_ref()?))) else {
            return Results::default();
        };
        let mut out = Results {
            points: vec![Vec3::ZERO; skin.output_count()],
            normals: vec![Vec3::ZERO; skin.output_normal_count()],
        };
        let normals = skin.has_output_normals().then_some(&mut out.normals[..]);
        let done = skin_on_cpu(skin, pose, &mut out.points, normals);
        done.expect("outputs of the skin's sizes, and a pose that was packed for it");
        out
    };
    meshes.into_par_iter().map(one).collect::<Vec<_>>()
}

/// The crowd that deforms the meshes of a stage on the GPU.
#[derive(Debug)]
pub(super) struct OnGpu {
    pub crowd: Crowd,
    /// The palettes of the crowd by their key, each with the value that it was last set to.
    palettes: HashMap<PaletteKey, (PaletteId, Arc<Palette>)>,
}

impl OnGpu {
    pub fn new(skinner: &Skinner) -> Self {
        Self {
            crowd: skinner.crowd(),
            palettes: HashMap::new(),
        }
    }

    /// Sets the pose of a mesh in the crowd. The first pose adds the mesh to the crowd.
    pub fn pose(&mut self, deform: &mut Deform) -> Result<(), GpuError> {
        let Some(pose) = deform.pose.as_ref().filter(|_| !deform.animated_rest) else {
            return Ok(());
        };
        let instance = match deform.instance {
            Some(instance) => instance,
            None => {
                let skin = self.crowd.add_skin(Arc::clone(&deform.skin))?;
                let instance = self.crowd.add_instance(skin)?;
                *deform.instance.insert(instance)
            }
        };
        match deform.palette.zip(pose.palette()) {
            Some((key, palette)) => {
                let palette = self.palette(key, palette)?;
                let pose = InstancePose::Shared { palette, pose };
                self.crowd.set_pose(instance, pose)
            }
            None => self.crowd.set_pose(instance, pose),
        }
    }

    /// The palette of the crowd with a key, set to this value.
    fn palette(&mut self, key: PaletteKey, palette: &Arc<Palette>) -> Result<PaletteId, GpuError> {
        if let Some((id, set)) = self.palettes.get_mut(&key) {
            if !Arc::ptr_eq(set, palette) {
                self.crowd.set_palette(*id, palette)?;
                set.clone_from(palette);
            }
            return Ok(*id);
        }
        // An animated geomBindTransform gives a new key at every time, so remove palettes that no
        // instance refers to.
        if self.palettes.len() > 2 * self.crowd.instance_count() {
            let crowd = &mut self.crowd;
            self.palettes
                .retain(|_, (id, _)| crowd.remove_palette(*id).is_err());
        }
        let id = self.crowd.add_palette(Arc::clone(palette));
        self.palettes.insert(key, (id, Arc::clone(palette)));
        Ok(id)
    }
}
