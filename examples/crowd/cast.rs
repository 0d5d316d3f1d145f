//! Who is in the crowd: models, with the clips that move them.

use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3};
use sinew::kernel::{PackedPose, PackedSkin, Palette, skin_on_cpu};
use sinew::mesh::{RenderInputs, RenderMesh, RenderVertices};
use sinew::sampled::Time;
use sinew::scene::{Geometry, Scene};
use sinew::skel::SkeletonInstance;
use sinew_animate::humanoid;
use sinew_animate::retarget::{BoneMap, ClipSource, Humanoid, RetargetOptions, Retargeter, Rig};
use sinew_io::gltf;
use sinew_io::usd::UsdFile;
use sinew_io::{rig, skeletons};

use host::Result;

/// A skeleton that a clip moves, and when.
pub struct Clip {
    pub instance: SkeletonInstance,
    first: f64,
    length: f64,
    codes_per_second: f64,
}

impl Clip {
    fn of(instance: SkeletonInstance, scene: &Scene) -> Self {
        let (first, last) = scene.time_line.range.unwrap_or_default();
        Self {
            instance,
            first,
            length: (last - first).max(1e-9),
            codes_per_second: scene.time_line.time_codes_per_second,
        }
    }

    /// The time to show after so many seconds, around and around.
    pub fn time(&self, seconds: f64) -> Time {
        Time::At(self.first + (seconds * self.codes_per_second).rem_euclid(self.length))
    }
}

/// One skinned mesh of a model.
pub struct Part {
    /// Index into the scene's bindings.
    pub binding: usize,
    pub skin: Arc<PackedSkin>,
    pub triangles: Vec<[u32; 3]>,
    pub colors: Vec<Vec3>,
}

/// A file's skinned meshes, one skeleton, and every clip there is for it.
pub struct Model {
    pub scene: Scene,
    pub parts: Vec<Part>,
    pub clips: Vec<Clip>,
    /// From skeleton space to metres on the ground, Y up.
    pub ground_from_skel: DMat4,
}

impl Model {
    /// The hatchling with its own dance, `height` metres tall.
    pub fn hatchling(folder: &str, height: f64) -> Result<Self> {
        let file = sinew_io::open(format!("{folder}/hatchling.usda"))?;
        Self::new(&file, height)
    }

    /// The puppet with three clips: its own, one on human bones, and motion capture of another skeleton.
    pub fn puppet(folder: &str, height: f64) -> Result<Self> {
        let path = format!("{folder}/puppet.glb");
        let file = sinew_io::open(&path)?;
        let mut model = Self::new(&file, height)?;
        let skeleton = Arc::clone(model.clips[0].instance.skeleton());

        // EXT_skeleton_humanoid: a clip for any model that says which of its nodes are which bones.
        let (asset, bow) = (
            gltf::read(path.as_ref())?,
            gltf::read(format!("{folder}/bow.glb").as_ref())?,
        );
        let clip = bow.clips.first().ok_or("bow.glb has no clip")?;
        let bowing = humanoid::apply(&asset, &bow, clip, &Default::default())?.into_asset(asset);
        let bowing = UsdFile::from_asset(&bowing, &Default::default())?.scene(Default::default())?;
        let animation = bowing.instances[0].instance.animation().cloned();
        let instance = SkeletonInstance::new(Arc::clone(&skeleton), animation);
        model.clips.push(Clip::of(instance, &bowing));

        // Another skeleton, with other joints, axes and units: retargeted.
        let walk = sinew_io::open(format!("{folder}/walk.bvh"))?.scene(Default::default())?;
        let walker = skeletons(&walk)[0];
        let (source, target) = (
            rig(&walk, walker)?,
            rig(&model.scene, skeletons(&model.scene)[0])?,
        );
        let bones = |rig: &Rig| Humanoid::recognise(rig).map_err(|_| "no humanoid's joint names");
        let (from, to) = (bones(&source)?, bones(&target)?);
        let map = BoneMap::between((&source, &from), (&target, &to));
        let mut in_place = RetargetOptions::default();
        in_place.in_place = true;
        let clip = ClipSource {
            instance: &walker.instance,
            world_from_skel: None,
            world_from_target: None,
        };
        let times: Vec<f64> = walker
            .instance
            .animation()
            .map_or(Vec::new(), |a| a.joint_times().collect());
        let walking = Retargeter::new(&source, &target, &map, &in_place)?;
        let walking = { walking }.retarget_clip(&clip, &target, &times, &[])?;
        let instance = SkeletonInstance::new(skeleton, Some(Arc::new(walking)));
        model.clips.push(Clip::of(instance, &walk));
        Ok(model)
    }

    fn new(file: &UsdFile, height: f64) -> Result<Self> {
        let scene = file.scene(Default::default())?;
        let geometry = file.geometry(&scene)?;
        let start = scene
            .time_line
            .range
            .map_or(Time::Default, |(first, _)| Time::At(first));
        let placed = scene.instances.first().ok_or("a file without a skeleton")?;
        let clips = vec![Clip::of(placed.instance.clone(), &scene)];
        let parts = geometry.meshes.iter().enumerate();
        let parts =
            parts.filter(|(_, m)| m.binding.is_some_and(|b| scene.bindings[b].instance == 0));
        let parts: Vec<Part> = parts
            .map(|(mesh, _)| Part::new(&scene, &geometry, mesh, start))
            .collect::<Result<_>>()?;
        let world_from_skel = scene.world_from_prim(placed.prim, start);
        let mut model = Self {
            scene,
            parts,
            clips,
            ground_from_skel: world_from_skel,
        };
        // As tall as it is wanted, with its feet on the ground.
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (part, pose) in model
            .parts
            .iter()
            .zip(model.poses(0, start, DMat4::IDENTITY)?)
        {
            let mut points = vec![Vec3::ZERO; part.skin.output_count()];
            skin_on_cpu(&part.skin, &pose, &mut points, None);
            for point in points {
                (low, high) = (low.min(point.y.into()), high.max(point.y.into()));
            }
        }
        let scale = DMat4::from_scale(DVec3::splat(height / (high - low).max(1e-9)));
        let lift = DMat4::from_translation(DVec3::new(0.0, -low, 0.0));
        model.ground_from_skel = scale * lift * world_from_skel;
        Ok(model)
    }

    /// A pose for every part: joints are computed once, and parts that are bound alike share a palette.
    pub fn poses(
        &self,
        clip: usize,
        time: Time,
        world_from_ground: DMat4,
    ) -> Result<Vec<PackedPose>> {
        let clip = &self.clips[clip];
        let joints = clip.instance.skinning_transforms(time)?;
        let mut palettes: Vec<(DMat4, Arc<Palette>)> = Vec::new();
        let poses = self.parts.iter().map(|part| {
            let binding = &self.scene.bindings[part.binding];
            let bind = binding.geom_bind.at(time).map_or(DMat4::IDENTITY, |m| *m);
            let known = palettes
                .iter()
                .find(|(b, p)| *b == bind && p.method() == part.skin.method());
            let palette = match known {
                Some((_, palette)) => Arc::clone(palette),
                None => {
                    let palette = Arc::new(Palette::pack(part.skin.method(), &joints, bind, true));
                    palettes.push((bind, Arc::clone(&palette)));
                    palette
                }
            };
            // Only the clip that the file has knows the shapes' channels.
            let own = Arc::ptr_eq(
                clip.instance.skeleton(),
                self.scene.instances[0].instance.skeleton(),
            ) && clip.instance.animation().map(Arc::as_ptr)
                == self.scene.instances[0]
                    .instance
                    .animation()
                    .map(Arc::as_ptr);
            let weights = match own {
                true => binding.channel_weights(&clip.instance, time).0,
                false => vec![0.0; part.skin.channel_count()],
            };
            let out = world_from_ground * self.ground_from_skel;
            PackedPose::with_palette(&part.skin, Some(palette), out, weights)
        });
        Ok(poses.collect())
    }
}

impl Part {
    fn new(scene: &Scene, geometry: &Geometry, mesh: usize, start: Time) -> Result<Self> {
        let mesh = &geometry.meshes[mesh];
        let inputs = RenderInputs {
            points: mesh.points.first().ok_or("a mesh without points")?,
            normals: mesh.normals.as_ref().and_then(|n| n.first()),
            colors: mesh.display_color.as_ref().and_then(|c| c.first()),
            ..Default::default()
        };
        let drawn = RenderMesh::new(&mesh.path, &mesh.topology, &inputs)?;
        let mut vertices = RenderVertices::new(drawn.points.clone());
        if let Some(normals) = &drawn.skin_normals {
            vertices = vertices.with_normals(normals.clone());
        }
        let binding = mesh.binding.ok_or("a mesh that is not skinned")?;
        let mut skin = PackedSkin::pack(&mesh.path, &*scene.bound(binding).skin(start)?)?;
        if skin.normals().is_none() {
            skin = skin.with_smooth_normals(&mesh.topology)?;
        }
        let material = mesh
            .material
            .map(|m| geometry.materials[m].diffuse_color.value);
        let plain = || vec![material.unwrap_or(Vec3::splat(0.5)); drawn.points.len()];
        Ok(Self {
            binding,
            skin: Arc::new(skin.with_vertices(vertices)?),
            colors: drawn.colors.clone().unwrap_or_else(plain),
            triangles: drawn.triangles,
        })
    }
}
