//! The clips of a character: packed for each of its skeletons, so that one name plays on all.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;
use sinew::Invalid;
use sinew::clip::Clip;
use sinew::kernel::JointTransform;
use sinew::kernel::packed_clip::{ClipOptions, ClipSource, PackedClip};
use sinew::sampled::Sampled;
use sinew::scene::Scene;
use sinew::skel::{SkelAnimation, Skeleton, SkeletonInstance};
use sinew_io::usd::SceneClip;

/// A clip of a character.
#[derive(Clone, Debug)]
pub struct CharacterClip {
    name: String,
    start: f64,
    is_bound: bool,
    on: Vec<Clip>,
}

impl CharacterClip {
    /// The name, unique among the clips of the character.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Length in seconds.
    #[must_use]
    pub fn duration(&self) -> f32 {
        self.on.first().map_or(0.0, Clip::duration)
    }

    /// The time code of the stage at which the clip begins.
    #[must_use]
    pub fn start(&self) -> f64 {
        self.start
    }

    /// Whether the file itself plays this clip. Transforms of prims that are no joints move with it
    /// alone.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.is_bound
    }

    /// The clip for each skeleton of [`Character::skeletons`](crate::Character::skeletons), to be
    /// sampled on the CPU.
    #[must_use]
    pub fn on(&self) -> &[Clip] {
        &self.on
    }
}

/// A skeleton that meshes of a character move with.
#[derive(Clone, Debug)]
pub struct CharacterSkeleton {
    /// Prim path.
    pub path: String,
    /// Joints, hierarchy and rest pose.
    pub skeleton: Arc<Skeleton>,
    /// The blend shapes that clips drive: the channels of all clips of this skeleton.
    pub channels: Vec<String>,
}

/// How a skeleton rests where no clip moves it.
#[derive(Clone, Debug)]
pub(crate) enum RestPose {
    /// As its restTransforms say.
    Own,
    /// It has none, and takes the first pose of the first clip that moves all its joints.
    OfClip(Vec<JointTransform>),
}

impl RestPose {
    /// The rest pose of a skeleton by its index into [`Scene::instances`].
    ///
    /// # Errors
    /// A skeleton without restTransforms that no clip moves as a whole, or whose restTransforms
    /// cannot be used.
    pub fn find(scene: &Scene, instance: usize, clips: &[SceneClip]) -> Result<Self, Invalid> {
        let skeleton = scene.instances[instance].instance.skeleton();
        let source = |animation| {
            let instance = SkeletonInstance::new(Arc::clone(skeleton), animation);
            let codes = scene.time_line.time_codes_per_second;
            ClipSource::from_animation::<&str>(&instance, &[], codes)
        };
        let error = match source(None) {
            Ok(_) => return Ok(Self::Own),
            Err(error) => error.in_file(&scene.file),
        };
        let animations = clips.iter().filter_map(|clip| animation(clip, instance));
        let mut sources = animations.filter_map(|animation| source(Some(animation)).ok());
        let first = sources.next().ok_or(error)?;
        let start = range_of(&first).map_or(0.0, |(start, _)| start);
        let joint = |joint| {
            let local = first.joint(joint, start);
            let rotation = local.rotation.normalize().as_quat();
            let (translation, scale) = (local.translation.as_vec3(), local.scale.as_vec3());
            JointTransform::new(translation, rotation, scale)
        };
        Ok(Self::OfClip((0..first.rest.len()).map(joint).collect()))
    }
}

/// The animation that a clip moves a skeleton with, by its index into [`Scene::instances`].
fn animation(clip: &SceneClip, instance: usize) -> Option<Arc<SkelAnimation>> {
    let mut parts = clip.parts.iter();
    parts.find(|(i, _)| *i == instance).map(|(_, a)| a.clone())
}

/// The clips of a scene for some of its skeletons, by index into [`Scene::instances`].
pub(crate) struct Packer<'a> {
    pub scene: &'a Scene,
    pub instances: &'a [usize],
    /// By index into [`Scene::instances`].
    pub rests: &'a HashMap<usize, Result<RestPose, Invalid>>,
    pub clips: &'a [SceneClip],
    pub options: ClipOptions,
}

impl Packer<'_> {
    /// The skeletons, each with the channels that some clip has and some mesh reads.
    pub fn skeletons(&self) -> Vec<CharacterSkeleton> {
        let of = |skeleton: usize| {
            let placed = &self.scene.instances[self.instances[skeleton]];
            let bindings = self.scene.bindings.iter();
            let bound = bindings.filter(|b| b.instance == self.instances[skeleton]);
            let read: BTreeSet<&str> = bound
                .flat_map(|b| b.shapes.iter().map(|s| s.token.as_str()))
                .collect();
            let animations = self
                .clips
                .iter()
                .filter_map(|c| animation(c, self.instances[skeleton]));
            let mut channels: Vec<String> =
                animations.flat_map(|a| a.blend_shapes.clone()).collect();
            channels.retain(|token| read.contains(token.as_str()));
            channels.sort();
            channels.dedup();
            CharacterSkeleton {
                path: placed.path.clone(),
                skeleton: Arc::clone(placed.instance.skeleton()),
                channels,
            }
        };
        (0..self.instances.len()).map(of).collect()
    }

    /// Packs all clips. A clip that cannot be packed is among the errors.
    pub fn pack(&self, skeletons: &[CharacterSkeleton]) -> (Vec<CharacterClip>, Vec<Invalid>) {
        let clips = self.clips.par_iter();
        let packed: Vec<_> = clips.map(|clip| self.pack_one(clip, skeletons)).collect();
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        for clip in packed {
            match clip {
                Ok(clip) => out.push(clip),
                Err(error) => errors.push(error),
            }
        }
        (out, errors)
    }

    fn pack_one(
        &self,
        clip: &SceneClip,
        skeletons: &[CharacterSkeleton],
    ) -> Result<CharacterClip, Invalid> {
        let sources = (0..skeletons.len()).map(|i| {
            let animation = animation(clip, self.instances[i]);
            self.source(i, &skeletons[i], animation)
        });
        let mut sources: Vec<ClipSource> = sources.collect::<Result<_, _>>()?;
        // All skeletons loop together.
        let ranges = sources.iter().filter_map(range_of);
        let range = ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (start, end) = range.unwrap_or_default();
        let mut on = Vec::with_capacity(sources.len());
        for source in &mut sources {
            source.range = (start, end);
            let (packed, report) =
                PackedClip::pack(source, &self.options).map_err(|e| e.in_file(&self.scene.file))?;
            log::debug!("{}: {} bytes", clip.name, report.bytes);
            on.push(Clip::new(&clip.name, packed));
        }
        Ok(CharacterClip {
            name: clip.name.clone(),
            start: start * self.scene.time_line.time_codes_per_second,
            is_bound: clip.is_bound,
            on,
        })
    }

    fn source(
        &self,
        index: usize,
        skeleton: &CharacterSkeleton,
        animation: Option<Arc<SkelAnimation>>,
    ) -> Result<ClipSource, Invalid> {
        let rest = self.rests.get(&self.instances[index]);
        if let (None, Some(Ok(RestPose::OfClip(joints)))) = (&animation, rest) {
            let topology = skeleton.skeleton.topology().clone();
            let mut source = ClipSource::new(&skeleton.path, topology);
            source.rest.clone_from(joints);
            source.weights = vec![Sampled::default(); skeleton.channels.len()];
            source.range = (0.0, 0.0);
            return Ok(source);
        }
        let instance = SkeletonInstance::new(Arc::clone(&skeleton.skeleton), animation);
        let codes = self.scene.time_line.time_codes_per_second;
        ClipSource::from_animation(&instance, &skeleton.channels, codes)
            .map_err(|e| e.in_file(&self.scene.file))
    }

    /// The rest pose of a skeleton, as a clip without length.
    ///
    /// # Errors
    /// As [`RestPose::find`].
    pub fn rest(&self, index: usize, skeleton: &CharacterSkeleton) -> Result<PackedClip, Invalid> {
        let mut source = self.source(index, skeleton, None)?;
        source.range = (0.0, 0.0);
        let packed = PackedClip::pack(&source, &self.options);
        Ok(packed.map_err(|e| e.in_file(&self.scene.file))?.0)
    }
}

/// The first and the last key time of all curves, in seconds.
fn range_of(source: &ClipSource) -> Option<(f64, f64)> {
    let joints = source.joints.iter().flat_map(|joint| {
        let translation = joint.translation.times();
        translation
            .chain(joint.rotation.times())
            .chain(joint.scale.times())
    });
    let weights = source.weights.iter().flat_map(|w| w.times());
    let times = joints
        .chain(weights)
        .chain(source.key_times.iter().copied());
    times.fold(None, |range: Option<(f64, f64)>, time| {
        let (first, last) = range.unwrap_or((time, time));
        Some((first.min(time), last.max(time)))
    })
}
