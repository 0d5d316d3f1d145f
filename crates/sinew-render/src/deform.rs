//! Skinned meshes of a stage: their skins, their poses at a time, and both backends' results.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DMat4, Vec3};
use rayon::prelude::*;

use super::Control;
use sinew::error::{Error, Invalid, Result};
use sinew::gpu::{Crowd, InstanceId, InstancePose, PaletteId, Skinner};
use sinew::kernel::{PackedPose, PackedSkin, Palette, skin_on_cpu};
use sinew::math;
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, DrawnMesh, OutSpace, PoseCache, Scene, SkinPart};
use sinew::skel::{Pose, Skin, SkinningMethod};

/// What moves a mesh as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// Nothing: its points lie in the world.
    World,
    /// Its own transform.
    Prim,
    /// A joint (rule 28); of a binding.
    Rigid(usize),
}

/// A mesh whose points change by skinning or blending.
#[derive(Debug)]
pub(super) struct Deform {
    pub binding: usize,
    pub part: SkinPart,
    pub skin: Arc<PackedSkin>,
    /// In the crowd, once it has a pose.
    pub instance: Option<InstanceId>,
    pub pose: Option<PackedPose>,
    /// Which palette the pose has, which other meshes may share.
    pub palette: Option<PaletteKey>,
    /// Rest data that changes with time is skinned by the mirror, and uploaded.
    pub animated_rest: bool,
}

/// Points, and normals where the skin has some.
#[derive(Clone, Debug, Default)]
pub(super) struct Results {
    pub points: Vec<Vec3>,
    pub normals: Vec<Vec3>,
}

/// How a mesh moves, and what deforms it.
pub(super) fn plan(scene: &Scene, mesh: &DrawnMesh) -> (Moved, Option<(usize, SkinPart)>) {
    let Some((b, binding)) = mesh
        .binding
        .and_then(|b| Some((b, scene.bindings.get(b)?)))
        .filter(|(_, binding)| binding.unsupported.is_none())
    else {
        return (Moved::Prim, None);
    };
    let rigid = binding.is_rigid();
    let part = SkinPart {
        blend_only: rigid,
        // Normals that are not deformed are left out.
        normals: mesh.skin_normals.unwrap_or(binding.normals.len().min(1)),
    };
    let blends = !binding.shapes.is_empty();
    match (rigid, binding.influences.is_some(), blends) {
        (true, _, true) => (Moved::Rigid(b), Some((b, part))),
        (true, _, false) => (Moved::Rigid(b), None),
        (false, true, _) => (Moved::World, Some((b, part))),
        (false, false, true) => (Moved::Prim, Some((b, part))),
        (false, false, false) => (Moved::Prim, None),
    }
}

/// A binding's skin at a time, by its own method or another. Smooth surfaces without normals get some, made from their points.
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

/// Smooth normals of points that nothing deforms, one per point.
pub(super) fn smooth_normals(mesh: &DrawnMesh, points: &[Vec3]) -> Result<Vec<Vec3>, Invalid> {
    let points = Arc::new(points.to_vec());
    let skin = Skin::new(&mesh.path, points, None, None, None, 0, Vec::new())?;
    let skin = PackedSkin::pack(&mesh.path, &skin)?.with_smooth_normals(&mesh.topology)?;
    let pose = PackedPose::with_palette(&skin, None, DMat4::IDENTITY, Vec::new());
    let mut points = vec![Vec3::ZERO; skin.output_count()];
    let mut normals = vec![Vec3::ZERO; skin.output_normal_count()];
    skin_on_cpu(&skin, &pose, &mut points, Some(&mut normals));
    Ok(normals)
}

/// Poses at one time, in world space less an origin.
pub(super) struct Posing<'a> {
    scene: &'a Scene,
    time: Time,
    control: &'a Control,
    local_from_world: DMat4,
    cache: PoseCache<'a>,
    palettes: HashMap<PaletteKey, Arc<Palette>>,
}

/// Skeleton instance, geomBindTransform and method; whether with normals.
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

    /// The pose of a deformed mesh.
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
        ));
        Ok(())
    }

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
        let made = self.palettes.entry(key).or_insert_with(|| {
            Arc::new(Palette::pack(
                skin.method(),
                skinning,
                pose.geom_bind,
                with_normals,
            ))
        });
        Some((key, Arc::clone(made)))
    }

    /// Local space from the space that a mesh's points are in.
    pub fn local_from_mesh(
        &mut self,
        scene: &Scene,
        mesh: &DrawnMesh,
        moved: Moved,
    ) -> Result<DMat4, Invalid> {
        let world_from_mesh = match moved {
            Moved::World => return Ok(DMat4::IDENTITY),
            Moved::Prim => mesh.world_from_prim(self.time),
            Moved::Rigid(b) => {
                let prim = scene.bindings[b].prim;
                let transform = self.cache.rigid_transform(self.scene.bound(b))?;
                let prim = &scene.prims[prim];
                match prim.parent.filter(|_| !prim.xform.resets) {
                    Some(parent) => scene.world_from_prim(parent, self.time) * transform,
                    None => transform,
                }
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

/// What the mirror makes of every pose; nothing for meshes without one.
pub(super) fn on_cpu<'a>(
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
        skin_on_cpu(skin, pose, &mut out.points, normals);
        out
    };
    meshes.into_par_iter().map(one).collect::<Vec<_>>()
}

/// The crowd of the deformed meshes.
#[derive(Debug)]
pub(super) struct OnGpu {
    pub crowd: Crowd,
    /// Palettes of the crowd, and what they were set to last.
    palettes: HashMap<PaletteKey, (PaletteId, Arc<Palette>)>,
}

impl OnGpu {
    pub fn new(skinner: &Skinner) -> Self {
        Self {
            crowd: skinner.crowd(),
            palettes: HashMap::new(),
        }
    }

    /// Hands the crowd a mesh's pose; the first makes it an instance.
    pub fn pose(&mut self, deform: &mut Deform) -> Result<()> {
        let Some(pose) = deform.pose.as_ref().filter(|_| !deform.animated_rest) else {
            return Ok(());
        };
        let instance = match deform.instance {
            Some(instance) => instance,
            None => {
                let skin = self
                    .crowd
                    .add_skin(Arc::clone(&deform.skin))
                    .map_err(Error::from)?;
                let made = self.crowd.add_instance(skin).map_err(Error::from)?;
                *deform.instance.insert(made)
            }
        };
        match deform.palette.zip(pose.palette()) {
            Some((key, palette)) => {
                let palette = self.palette(key, palette)?;
                let pose = InstancePose::Shared { palette, pose };
                Ok(self.crowd.set_pose(instance, pose)?)
            }
            None => Ok(self.crowd.set_pose(instance, pose)?),
        }
    }

    /// The crowd's palette of a key, moved to the joints of this time.
    fn palette(&mut self, key: PaletteKey, palette: &Arc<Palette>) -> Result<PaletteId> {
        if let Some((id, set)) = self.palettes.get_mut(&key) {
            if !Arc::ptr_eq(set, palette) {
                self.crowd.set_palette(*id, palette)?;
                set.clone_from(palette);
            }
            return Ok(*id);
        }
        // A geomBindTransform that moves brings a new key at every time: palettes that nothing refers to go.
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
