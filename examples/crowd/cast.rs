//! Who is in the crowd: a model is a file's skinned meshes, their rigs and the clips that move them, packed for the GPU.

use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3, Vec4};
use sinew::kernel::packed_clip::{ClipOptions, ClipSource, JointCurves};
use sinew::kernel::{PackedClip, PackedRig, PackedSkin};
use sinew::mesh::{RenderMesh, RenderVertices};
use sinew::sampled::Time;
use sinew::scene::{DrawnMesh, PlacedSkeleton, Scene};
use sinew::skel::{SkelAnimation, SkeletonInstance, Skin};
use sinew_animate::humanoid;
use sinew_animate::retarget::{self, BoneMap, Humanoid, RetargetOptions, Retargeter, Rig};
use sinew_io::gltf;
use sinew_io::usd::UsdFile;

use host::Result;

/// The clips that every model has, in the order of [`Model::clips`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Walk,
    Wave,
    /// The hatchling dances, and the puppet bows.
    Perform,
}

/// One skinned mesh of a model.
pub struct Part {
    pub skin: Arc<PackedSkin>,
    /// Index into [`Model::rigs`].
    pub rig: usize,
    /// For each blend shape of the mesh, the channel of the clips that drives it.
    pub channels: Vec<Option<u32>>,
    pub triangles: Vec<[u32; 3]>,
    /// Red, green and blue of each vertex, and who paints it over (`PAINT_...`).
    pub colors: Vec<Vec4>,
}

/// A vertex keeps its colour.
const PAINT_NONE: f32 = 0.0;
/// It has the first colour of its character.
const PAINT_FIRST: f32 = 1.0;
/// It has the second colour.
const PAINT_SECOND: f32 = 2.0;
/// Its own colour is tinted by the first one.
const PAINT_TINT: f32 = 3.0;

/// How far the hatchling walks in a second of its clip, in units of its skeleton.
const HATCHLING_PACE: f32 = 1.15;

/// Where a file's character is: heights of its feet and of its head, in skeleton space, and the radius of a sphere around the
/// middle between the two that it stays in, in all its clips and in blends of them, as a share of its height.
type Body = (f64, f64, f32);

/// A model, one metre tall, with its feet on the ground and its face to +Z.
pub struct Model {
    pub name: &'static str,
    pub parts: Vec<Part>,
    /// One for each geomBindTransform of its meshes. They play the same.
    pub rigs: Vec<Arc<PackedRig>>,
    pub clips: Vec<Arc<PackedClip>>,
    pub model_from_skel: DMat4,
    /// Height of the middle of a sphere around it in all its clips, and its radius, in metres.
    pub middle: f32,
    pub radius: f32,
    /// Metres that the clip [`Move::Walk`] goes in a second.
    pub pace: f32,
}

impl Model {
    /// The hatchling with its own dance. Another file has its walk and its wave.
    pub fn hatchling(folder: &str) -> Result<Self> {
        let file = sinew_io::open(format!("{folder}/assets/hatchling.usda"))?;
        let scene = file.scene(Default::default())?;
        let moves = sinew_io::open(format!("{folder}/crowd/hatchling_moves.usda"))?;
        let moves = moves.scene(Default::default())?;
        let [walk, wave] = sinew_io::skeletons(&moves)[..] else {
            return Err("hatchling_moves.usda has no walk and no wave".into());
        };
        let sources = [
            clip(&scene, walk.instance.animation(), &moves)?,
            clip(&scene, wave.instance.animation(), &moves)?,
            clip(&scene, scene.instances[0].instance.animation(), &scene)?,
        ];
        let paint = |_: Vec3, own: Vec3| own.extend(PAINT_TINT);
        let body = (-0.0141, 2.2284, 0.815);
        let model = Self::new("hatchling", &file, &scene, sources, &paint, body)?;
        // In its clip it walks on the spot.
        let pace = HATCHLING_PACE * model.model_from_skel.x_axis.length() as f32;
        Ok(Self { pace, ..model })
    }

    /// The puppet with its own wave, a bow that was made for human bones, and motion capture of another skeleton.
    pub fn puppet(folder: &str) -> Result<Self> {
        let path = format!("{folder}/assets/puppet.glb");
        let file = sinew_io::open(&path)?;
        let scene = file.scene(Default::default())?;
        let skeleton = scene.instances.first().ok_or("no skeleton")?;

        // Another skeleton, with other joints, axes and units: retargeted.
        let walk = sinew_io::open(format!("{folder}/assets/walk.bvh"))?.scene(Default::default())?;
        let walking = retargeted(&walk, &scene, skeleton)?;

        // EXT_skeleton_humanoid: a clip for any model that says which of its nodes are which bones.
        let asset = gltf::read(path.as_ref())?;
        let bow = gltf::read(format!("{folder}/assets/bow.glb").as_ref())?;
        let bows = bow.clips.first().ok_or("bow.glb has no clip")?;
        let bowing = humanoid::apply(&asset, &bow, bows, &Default::default())?.into_asset(asset);
        let bowing = UsdFile::from_asset(&bowing, &Default::default())?.scene(Default::default())?;

        let walk = clip(&scene, Some(&Arc::new(walking)), &walk)?;
        let wave = clip(&scene, skeleton.instance.animation(), &scene)?;
        let mut bow = clip(&scene, bowing.instances[0].instance.animation(), &bowing)?;
        // The bow says nothing of the arms. They hang as where they pass the body in the walk.
        let joints = skeleton.instance.skeleton().joints();
        for (joint, path) in joints.iter().enumerate() {
            if path.contains("Shoulder") {
                bow.joints[joint] = JointCurves::default();
                bow.rest[joint] = walk.joint(joint, 0.0).into();
            }
        }
        let sources = [walk, wave, bow];
        // It has no clothes but paint: a shirt, trousers and shoes, by where a vertex is at rest.
        let paint = |at: Vec3, own: Vec3| match at.y {
            ..0.09 => Vec3::new(0.05, 0.04, 0.04).extend(PAINT_NONE),
            ..0.98 if at.x.abs() < 0.3 => own.extend(PAINT_SECOND),
            0.98..1.49 if at.x.abs() < 0.5 => own.extend(PAINT_FIRST),
            _ => own.extend(PAINT_NONE),
        };
        let body = (-0.0035, 1.829, 0.703);
        let model = Self::new("puppet", &file, &scene, sources, &paint, body)?;
        // The capture goes forward. A rig plays it without that, and its character moves instead.
        let clip = &model.clips[Move::Walk as usize];
        let at = |seconds| Vec3::from_array(clip.joint(0, seconds).translation);
        let far = (at(clip.duration()) - at(0.0)).with_y(0.0).length() / clip.duration();
        let pace = far * model.model_from_skel.x_axis.length() as f32;
        Ok(Self { pace, ..model })
    }

    fn new(
        name: &'static str,
        file: &UsdFile,
        scene: &Scene,
        sources: [ClipSource; 3],
        paint: &dyn Fn(Vec3, Vec3) -> Vec4,
        (low, high, radius): Body,
    ) -> Result<Self> {
        let scale = DVec3::splat(1.0 / (high - low));
        let lift = DMat4::from_translation(DVec3::new(0.0, -low, 0.0));
        let geometry = file.geometry(scene)?;
        let skeleton = &scene.instances[0];
        let channels = sinew_io::shape_names(scene, skeleton);
        let options = ClipOptions {
            meters_per_unit: scene.meters_per_unit,
            ..Default::default()
        };
        let mut clips = Vec::new();
        for source in &sources {
            clips.push(Arc::new(PackedClip::pack(source, &options)?.0));
        }
        let mut model = Self {
            name,
            parts: Vec::new(),
            rigs: Vec::new(),
            clips,
            model_from_skel: DMat4::from_scale(scale) * lift,
            middle: 0.5,
            radius,
            pace: 1.0,
        };
        let mut binds: Vec<DMat4> = Vec::new();
        for mesh in &geometry.meshes {
            let binding = mesh.binding.filter(|b| scene.bindings[*b].instance == 0);
            let Some(binding) = binding else { continue };
            let bind = scene.bindings[binding].geom_bind.at(Time::Default);
            let bind = bind.map_or(DMat4::IDENTITY, |m| *m);
            let known = binds.iter().position(|b| *b == bind);
            let rig = known.unwrap_or(binds.len());
            if known.is_none() {
                let rig = PackedRig::pack(skeleton.instance.skeleton(), bind, true)?;
                model.rigs.push(Arc::new(rig));
                binds.push(bind);
            }
            let material = mesh.material.map(|m| &geometry.materials[m]);
            let plain = material.map_or(Vec3::splat(0.5), |m| m.diffuse_color.value);
            let mut part = Part::new(
                mesh,
                &*scene.bound(binding).skin(Time::Default)?,
                plain,
                paint,
            )?;
            let shapes = scene.bindings[binding].shapes.iter();
            let channel = |name| channels.iter().position(|c| c == name);
            let channels = shapes.map(|s| channel(&s.token).map(|c| c as u32));
            (part.rig, part.channels) = (rig, channels.collect());
            model.parts.push(part);
        }
        Ok(model)
    }
}

impl Part {
    /// Without its rig and its channels. `plain` is the colour of vertices that have none.
    fn new(
        mesh: &DrawnMesh,
        skin: &Skin,
        plain: Vec3,
        paint: &dyn Fn(Vec3, Vec3) -> Vec4,
    ) -> Result<Self> {
        let mut inputs = mesh.render_inputs();
        (inputs.uvs, inputs.opacities) = (None, None);
        let drawn = RenderMesh::new(&mesh.path, &mesh.topology, &inputs)?;
        let mut vertices = RenderVertices::new(drawn.points.clone());
        if let Some(normals) = &drawn.skin_normals {
            vertices = vertices.with_normals(normals.clone());
        }
        let mut skin = PackedSkin::pack(&mesh.path, skin)?;
        if skin.normals().is_none() {
            skin = skin.with_smooth_normals(&mesh.topology)?;
        }
        let of_vertex = |(vertex, point): (usize, &u32)| {
            let own = drawn.colors.as_ref().map_or(plain, |colors| colors[vertex]);
            // Eyes are darker than paint.
            match own.max_element() < 0.05 {
                true => own.extend(PAINT_NONE),
                false => paint(inputs.points[*point as usize], own),
            }
        };
        Ok(Self {
            rig: 0,
            channels: Vec::new(),
            colors: drawn.points.iter().enumerate().map(of_vertex).collect(),
            skin: Arc::new(skin.with_vertices(vertices)?),
            triangles: drawn.triangles,
        })
    }
}

/// An animation of one scene, as a clip for the skeleton of another.
fn clip(to: &Scene, animation: Option<&Arc<SkelAnimation>>, from: &Scene) -> Result<ClipSource> {
    let skeleton = to.instances.first().ok_or("no skeleton")?;
    let channels = sinew_io::shape_names(to, skeleton);
    let own = Arc::clone(skeleton.instance.skeleton());
    let instance = SkeletonInstance::new(own, animation.cloned());
    let codes = from.time_line.time_codes_per_second;
    Ok(ClipSource::from_animation(&instance, &channels, codes)?)
}

/// The first clip of one scene, for the skeleton of another.
fn retargeted(from: &Scene, to: &Scene, skeleton: &PlacedSkeleton) -> Result<SkelAnimation> {
    let walker = sinew_io::skeletons(from)[0];
    let (source, target) = (sinew_io::rig(from, walker)?, sinew_io::rig(to, skeleton)?);
    let bones = |rig: &Rig| Humanoid::recognise(rig).map_err(|_| "no humanoid's joint names");
    let (bones_of_source, bones_of_target) = (bones(&source)?, bones(&target)?);
    let map = BoneMap::between((&source, &bones_of_source), (&target, &bones_of_target));
    let clip = retarget::ClipSource {
        instance: &walker.instance,
        world_from_skel: None,
        world_from_target: None,
    };
    let animation = walker.instance.animation().ok_or("nothing moves")?;
    let times: Vec<f64> = animation.joint_times().collect();
    let mut retargeter = Retargeter::new(&source, &target, &map, &RetargetOptions::default())?;
    Ok(retargeter.retarget_clip(&clip, &target, &times, &[])?)
}
