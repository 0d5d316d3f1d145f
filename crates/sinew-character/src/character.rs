//! A character, and what a host does with it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use glam::{BVec3, DMat4, DVec3, Vec3};
use sinew::clip::LocalPose;
use sinew::gpu::{Crowd, InstanceId, InstancePose, PlayedClip, Playing, RigId, Skinner};
use sinew::kernel::packed_clip::ClipOptions;
use sinew::kernel::{PackedPose, palette_on_cpu, skin_on_cpu};
use sinew::math;
use sinew::scene::{Material, Texture};
use sinew::{Invalid, Warning};
use sinew_animate::asset::{FoundName, find_clip_name};
use sinew_io::usd::UsdFile;
use sinew_io::{ClipChoice, OpenOptions};

use crate::clips::{CharacterClip, CharacterSkeleton};
use crate::draw::Draw;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::playback::{Part, PlayClip, Playback, Request};
use crate::resident::{Resident, Uploaded};

/// How a character is loaded.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CharacterOptions {
    /// Variants and search paths. Its choice of clips is not used: a character has all of them.
    pub open: OpenOptions,
    /// How clips are compressed. The unit is that of the file.
    pub clips: ClipOptions,
    /// Whether frames keep the positions of the frame before, for motion vectors
    /// ([`Draw::previous`]).
    pub previous: bool,
}

/// A character from a file: meshes, materials, clips and blend shapes. A crowd plays its clips and
/// skins its meshes on the GPU; [`Character::draws`] says where the results are.
///
/// It is in no crowd until its first [`Character::update`], and then belongs to that crowd. Copies
/// ([`Character::another`]) share all that does not change, and belong to the same crowd.
///
/// # Time
/// All characters of a crowd share its clock, which [`Character::update`] advances by `dt`. Update
/// each of them once per frame, with the same `dt`. For another pace set the speed of the clip
/// ([`PlayClip::speed`]).
///
/// # Limits
/// Linear blend and dual quaternion skinning; rest data that change over time stay as they are at the
/// first time (warning `character-rest-still`). Meshes that nothing moves are carried along with the
/// others, so that all draws are alike. Transforms of prims that are no joints move with the clip
/// that the file itself plays, and stand still in the others, as the reader's warnings say.
#[derive(Debug)]
pub struct Character {
    model: Arc<Model>,
    keeps_previous: bool,
    here: Option<Resident>,
    /// The time of the crowd's clock at which this character is.
    clock: f64,
    /// What it was asked for since the last update, in order.
    requests: Vec<Request>,
    /// What it was asked for last.
    wanted: Request,
    playback: Playback,
    /// Poses of the host's own, by skeleton.
    by_hand: Vec<Option<LocalPose>>,
    world_from_file: DMat4,
    weights: HashMap<String, f32>,
    moved: DVec3,
    /// Whether the poses of the instances in the crowd are out of date.
    is_changed: bool,
}

impl Character {
    /// Loads a USD, glTF, VRM or FBX file (the last with the feature `fbx`) with all its clips, and
    /// uploads its index buffers, texture coordinates and colours.
    ///
    /// What is merely wrong with single meshes, materials or clips is in [`Character::left_out`] and
    /// [`Character::warnings`]. The recursion is as deep as prims nest, so use a thread with a stack
    /// of some megabytes for unknown files.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read; [`Error::NoCharacter`] if no skeleton moves any mesh
    /// of it; [`Error::Gpu`] without memory.
    pub fn load(skinner: &Skinner, file: impl AsRef<Path>) -> Result<Self> {
        Self::load_with(skinner, file, &CharacterOptions::default())
    }

    /// As [`Character::load`], with options.
    ///
    /// # Errors
    /// As [`Character::load`]; a variant or search path that does not exist.
    pub fn load_with(
        skinner: &Skinner,
        file: impl AsRef<Path>,
        options: &CharacterOptions,
    ) -> Result<Self> {
        let open = OpenOptions {
            clips: ClipChoice::All,
            ..options.open.clone()
        };
        Self::from_file(skinner, &sinew_io::open_with(file, &open)?, options)
    }

    /// As [`Character::load`], from a file that is open. Of a file that is not USD it has the clips
    /// that the file was opened with.
    ///
    /// # Errors
    /// As [`Character::load`].
    pub fn from_file(
        skinner: &Skinner,
        file: &UsdFile,
        options: &CharacterOptions,
    ) -> Result<Self> {
        let model = Arc::new(Model::read(skinner, file, &options.clips)?);
        Ok(Self::of(model, options.previous))
    }

    fn of(model: Arc<Model>, keeps_previous: bool) -> Self {
        Self {
            by_hand: vec![None; model.skeletons.len()],
            model,
            keeps_previous,
            here: None,
            clock: 0.0,
            requests: Vec::new(),
            wanted: Request::rest(),
            playback: Playback::rest(),
            world_from_file: DMat4::IDENTITY,
            weights: HashMap::new(),
            moved: DVec3::ZERO,
            is_changed: true,
        }
    }

    /// Another character of the same file, at the file's own place and in the rest pose. Nothing is
    /// read or uploaded again.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::of(Arc::clone(&self.model), self.keeps_previous)
    }
}

/// What it plays. Clips begin with the next update.
impl Character {
    /// Plays a clip at once.
    ///
    /// # Errors
    /// No clip, or several, of this name; numbers that are not finite. After an error it plays what
    /// it played.
    pub fn play(&mut self, clip: impl Into<PlayClip>) -> Result<()> {
        self.crossfade(clip, 0.0)
    }

    /// Fades from what it plays to a clip within some seconds. Both go on meanwhile. A fade that
    /// interrupts another one begins at the pose of that moment.
    ///
    /// # Errors
    /// As [`Character::play`]; a time that is negative or not finite.
    pub fn crossfade(&mut self, clip: impl Into<PlayClip>, seconds: f32) -> Result<()> {
        let main = self.part(clip.into())?;
        let request = Request {
            main,
            blend: None,
            fade: fade(seconds)?,
            ..self.wanted.going_on()
        };
        self.ask(request);
        Ok(())
    }

    /// Blends a second clip over the one that it plays, within some seconds: a weight of 0 is the
    /// first clip alone, 1 the second. Asking again with another weight changes only the weight.
    ///
    /// # Errors
    /// As [`Character::crossfade`]; a weight that is not from 0 to 1.
    pub fn blend(&mut self, clip: impl Into<PlayClip>, weight: f32, seconds: f32) -> Result<()> {
        let part = self.part(clip.into())?;
        let before = self.wanted.blend.as_ref();
        let goes_on = before.is_some_and(|(old, _)| old.clip == part.clip);
        let request = Request {
            blend: Some((Part { goes_on, ..part }, checked_weight(weight)?)),
            fade: fade(seconds)?,
            ..self.wanted.going_on()
        };
        self.ask(request);
        Ok(())
    }

    /// Adds what a clip changes since its beginning, times a weight from 0 to 1, to whatever is
    /// played, within some seconds. `None` ends it.
    ///
    /// # Errors
    /// As [`Character::blend`].
    pub fn add(&mut self, clip: Option<PlayClip>, weight: f32, seconds: f32) -> Result<()> {
        let add = match clip {
            Some(clip) => Some((self.part(clip)?, checked_weight(weight)?)),
            None => None,
        };
        let request = Request {
            add,
            fade: fade(seconds)?,
            ..self.wanted.going_on()
        };
        self.ask(request);
        Ok(())
    }

    /// Fades to the rest pose within some seconds.
    ///
    /// # Errors
    /// A time that is negative or not finite.
    pub fn stop(&mut self, seconds: f32) -> Result<()> {
        let fade = fade(seconds)?;
        let request = Request {
            fade,
            root_motion: self.wanted.root_motion,
            ..Request::rest()
        };
        self.ask(request);
        Ok(())
    }

    /// Sets the axes of skeleton space along which clips move the root joints. Along the others a
    /// root stays where it is at the beginning of each clip, and [`Character::root_motion`] is the
    /// way that the host moves the character instead.
    pub fn set_root_motion(&mut self, axes: BVec3) {
        let request = Request {
            root_motion: axes,
            ..self.wanted.going_on()
        };
        self.ask(request);
    }

    /// How far the root of the first skeleton went in the last update along the axes that clips do
    /// not move it: in units of the world, in the axes of the file's world. Turn it by the rotation
    /// of your [`Character::set_place`].
    #[must_use]
    pub fn root_motion(&self) -> DVec3 {
        self.moved
    }

    /// Poses a skeleton by the host, from the next update until another clip is played: for what the
    /// GPU does not play, such as blends by masks of joints. The weights of the pose are those of
    /// [`CharacterSkeleton::channels`]. `skeleton` is an index into [`Character::skeletons`].
    ///
    /// # Errors
    /// No such skeleton; another number of joints or channels than it has.
    pub fn set_pose(&mut self, skeleton: usize, pose: LocalPose) -> Result<()> {
        let count = self.model.skeletons.len();
        let Some(own) = self.model.skeletons.get(skeleton) else {
            return Err(Error::Argument {
                what: "skeleton",
                expected: "an index of `skeletons()`",
                found: format!("{skeleton} of {count}"),
            });
        };
        let (joints, channels) = (own.skeleton.joints().len(), own.channels.len());
        let found = (pose.joints.len(), pose.weights.len());
        if found != (joints, channels) {
            let expected = format!("{joints} joints and {channels} channels");
            let found = format!("{} and {}", found.0, found.1);
            return Err(Invalid::new(&own.path, "joints", expected, found)
                .in_file(&self.model.file)
                .into());
        }
        self.requests.clear();
        self.by_hand[skeleton] = Some(pose);
        self.is_changed = true;
        Ok(())
    }

    fn ask(&mut self, request: Request) {
        if request.fade <= 0.0 && !request.main.goes_on {
            self.requests.clear();
        }
        self.wanted = request.clone();
        self.requests.push(request);
    }

    fn part(&self, clip: PlayClip) -> Result<Part> {
        if !(clip.at.is_finite() && clip.speed.is_finite()) {
            return Err(Error::Argument {
                what: "clip",
                expected: "a finite speed and time",
                found: format!("{} at {} s", clip.speed, clip.at),
            });
        }
        Ok(Part {
            clip: Some(self.find_clip(&clip.name)?),
            at: clip.at,
            speed: clip.speed,
            loops: clip.loops,
            goes_on: false,
        })
    }

    fn find_clip(&self, asked: &str) -> Result<usize> {
        let names: Vec<&str> = self.model.clips.iter().map(CharacterClip::name).collect();
        let file = self.model.file.clone();
        let asked = asked.to_owned();
        let named = |clips: &[usize]| clips.iter().map(|c| names[*c].to_owned()).collect();
        match find_clip_name(&names, &asked) {
            FoundName::One(clip) => Ok(clip),
            FoundName::Several(clips) => Err(sinew_io::Error::AmbiguousClip {
                file,
                asked,
                candidates: named(&clips),
            }
            .into()),
            FoundName::None => Err(sinew_io::Error::NoSuchClip {
                file,
                asked,
                known: named(&(0..names.len()).collect::<Vec<_>>()),
            }
            .into()),
        }
    }
}

/// Where it is, and its face.
impl Character {
    /// Places the character: the transform from the file's world to that of the game.
    pub fn set_place(&mut self, world_from_file: DMat4) {
        self.is_changed |= self.world_from_file != world_from_file;
        self.world_from_file = world_from_file;
    }

    /// Sets the weight of a blend shape of all meshes that have it. Clips drive some shapes
    /// ([`CharacterSkeleton::channels`]); those cannot be set.
    ///
    /// # Errors
    /// [`Error::NoSuchShape`], [`Error::PlayedShape`]; a weight that is not finite.
    pub fn set_shape(&mut self, shape: &str, weight: f32) -> Result<()> {
        if !weight.is_finite() {
            return Err(Error::Argument {
                what: "weight of a blend shape",
                expected: "a finite number",
                found: weight.to_string(),
            });
        }
        let meshes = self.model.meshes.iter();
        let all = || {
            meshes
                .clone()
                .flat_map(|m| m.shapes.iter().zip(&m.channels))
        };
        let mut found = all().filter(|(name, _)| *name == shape).peekable();
        if found.peek().is_none() {
            return Err(Error::NoSuchShape {
                file: self.model.file.clone(),
                asked: shape.to_owned(),
                known: self.shapes(),
            });
        }
        if found.any(|(_, channel)| channel.is_some()) {
            return Err(Error::PlayedShape {
                file: self.model.file.clone(),
                shape: shape.to_owned(),
            });
        }
        self.weights.insert(shape.to_owned(), weight);
        self.is_changed = true;
        Ok(())
    }

    /// The names of all blend shapes, sorted, each once.
    #[must_use]
    pub fn shapes(&self) -> Vec<String> {
        let meshes = self.model.meshes.iter();
        let mut out: Vec<String> = meshes.flat_map(|m| m.shapes.clone()).collect();
        out.sort();
        out.dedup();
        out
    }
}

/// What the file has.
impl Character {
    /// All clips, in the file's order.
    #[must_use]
    pub fn clips(&self) -> &[CharacterClip] {
        &self.model.clips
    }

    /// The skeletons that meshes move with.
    #[must_use]
    pub fn skeletons(&self) -> &[CharacterSkeleton] {
        &self.model.skeletons
    }

    /// Prim paths of the meshes.
    pub fn meshes(&self) -> impl Iterator<Item = &str> {
        self.model.meshes.iter().map(|m| m.path.as_str())
    }

    /// All materials, as UsdPreviewSurface.
    #[must_use]
    pub fn materials(&self) -> &[Material] {
        &self.model.materials
    }

    /// All images, encoded as in the file.
    #[must_use]
    pub fn textures(&self) -> &[Texture] {
        &self.model.textures
    }

    /// What is doubtful in the file, or was changed.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.model.warnings
    }

    /// Meshes, skeletons and clips that cannot be used, with the reason.
    #[must_use]
    pub fn left_out(&self) -> &[Invalid] {
        &self.model.left_out
    }

    /// Up axis of the file, `Y` or `Z`.
    #[must_use]
    pub fn up_axis(&self) -> char {
        self.model.up_axis
    }

    /// Metres per unit of the file. Nothing is scaled by it; [`Character::set_place`] can.
    #[must_use]
    pub fn meters_per_unit(&self) -> f64 {
        self.model.meters_per_unit
    }
}

/// Frames.
impl Character {
    /// Advances the crowd's clock by `dt` seconds, unless another character of the crowd has done so
    /// in this frame, and begins what was asked for since the last update. The first update adds the
    /// character to the crowd, and its clips begin `dt` seconds before.
    ///
    /// A character that only plays uploads nothing. Call it before [`Crowd::encode`].
    ///
    /// # Errors
    /// A `dt` that is not finite; [`Error::Gpu`] without memory, or for a crowd that is not the
    /// character's. After an error in the first update the crowd has nothing of the character.
    pub fn update(&mut self, crowd: &mut Crowd, dt: f64) -> Result<()> {
        if !dt.is_finite() {
            return Err(Error::Argument {
                what: "dt",
                expected: "seconds",
                found: dt.to_string(),
            });
        }
        if self.here.is_none() {
            let here = Resident::join(&self.model, crowd, self.keeps_previous)?;
            self.here = Some(here);
            self.clock = crowd.clock() - dt;
            self.is_changed = true;
        }
        let (before, now) = (self.clock, self.clock + dt);
        self.begin_requests(crowd)?;
        crowd.set_clock(crowd.clock().max(now));
        self.clock = now;
        self.moved = self.root_motion_between(before, now);
        self.pose(crowd)
    }

    /// Takes the character out of its crowd. First submit the frames that are already encoded. The
    /// next update adds it again.
    ///
    /// # Errors
    /// [`Error::Gpu`] for a crowd that is not the character's.
    pub fn remove(&mut self, crowd: &mut Crowd) -> Result<()> {
        if let Some(here) = self.here.take() {
            here.remove(&self.model, crowd)?;
        }
        self.playback = Playback::rest();
        self.requests = vec![self.wanted.going_on()];
        Ok(())
    }

    /// The draws of all meshes: one for each mesh and material. Everything that they refer to stays
    /// the same as long as [`Crowd::outputs_generation`] does.
    ///
    /// # Errors
    /// [`Error::NotInCrowd`] before the first update; [`Error::Gpu`] for another crowd.
    pub fn draws<'a>(&'a self, crowd: &'a Crowd) -> Result<Vec<Draw<'a>>> {
        let model = &*self.model;
        let Some(here) = &self.here else {
            return Err(Error::NotInCrowd {
                file: model.file.clone(),
            });
        };
        let mut out = Vec::with_capacity(model.meshes.len());
        for (mesh, instance) in model.meshes.iter().zip(&here.instances) {
            let points = crowd.points_on_gpu(*instance)?;
            let normals = crowd.normals_on_gpu(*instance)?;
            let previous = crowd.previous_on_gpu(*instance)?;
            let (Some(points), Some(normals)) = (points.first(), normals.first()) else {
                continue;
            };
            for (material, range) in &mesh.sections {
                out.push(Draw {
                    mesh: &mesh.path,
                    indices: &mesh.indices,
                    range: range.clone(),
                    vertex_count: mesh.vertex_count,
                    points: *points,
                    normals: *normals,
                    previous: previous.first().copied(),
                    uvs: &mesh.uvs,
                    colors: &mesh.colors,
                    material: material.and_then(|m| model.materials.get(m)),
                    double_sided: mesh.double_sided,
                    textures: &model.textures,
                });
            }
        }
        Ok(out)
    }

    /// The instance of each mesh in the crowd, in the order of [`Character::meshes`]: for
    /// visibility masks, bounds and readings. Empty before the first update.
    #[must_use]
    pub fn instances(&self) -> &[InstanceId] {
        self.here.as_ref().map_or(&[], |here| &here.instances)
    }

    /// The rigs that the crowd poses, with the index of the skeleton of each: for attachments and
    /// for hosts that skin in their own shader. Empty before the first update.
    pub fn rigs(&self) -> impl Iterator<Item = (usize, RigId)> {
        let ids = self.here.iter().flat_map(|here| &here.rigs);
        let rigs = self.model.rigs.iter();
        rigs.zip(ids).map(|(rig, id)| (rig.skeleton, *id))
    }

    /// The vertices of each mesh at a time of a clip, in the file's world, by the mirrors of the
    /// kernels: for cameras and for picking. `None` is the rest pose.
    ///
    /// # Errors
    /// No clip, or several, of this name.
    pub fn positions(&self, clip: Option<&str>, seconds: f32) -> Result<Vec<Vec<Vec3>>> {
        let model = &*self.model;
        let clip = clip.map(|name| self.find_clip(name)).transpose()?;
        let mut playback = Playback::rest();
        let main = Part {
            clip,
            at: seconds,
            loops: false,
            ..Part::REST
        };
        let request = Request {
            main,
            ..Request::rest()
        };
        playback.ask(&request, 0.0);
        let mut out = Vec::with_capacity(model.meshes.len());
        for (index, mesh) in model.meshes.iter().enumerate() {
            let rig = &model.rigs[mesh.rig];
            let packed = match clip {
                Some(clip) => model.clips[clip].on()[rig.skeleton].packed(),
                None => &model.rest[rig.skeleton],
            };
            let joints: Vec<_> = (0..packed.joint_count())
                .map(|joint| packed.joint(joint, seconds))
                .collect();
            let weights = mesh.channels.iter().zip(&mesh.shapes);
            let weights = weights.map(|(channel, shape)| match channel {
                Some(c) if (*c as usize) < packed.channel_count() => {
                    packed.weight(*c as usize, seconds)
                }
                Some(_) => 0.0,
                None => self.weights.get(shape).copied().unwrap_or_default(),
            });
            let palette = Arc::new(palette_on_cpu(&rig.packed, &joints)?);
            let world_from_skel = playback.transform(model, index, 0.0);
            let weights = weights.collect();
            let pose =
                PackedPose::with_palette(&mesh.skin, Some(palette), world_from_skel, weights)?;
            let mut points = vec![Vec3::ZERO; mesh.skin.output_count()];
            skin_on_cpu(&mesh.skin, &pose, &mut points, None)?;
            out.push(points);
        }
        Ok(out)
    }

    /// Tells the crowd what was asked for, at the time where this character is.
    fn begin_requests(&mut self, crowd: &mut Crowd) -> Result<()> {
        let model = Arc::clone(&self.model);
        let Some(here) = &self.here else {
            return Ok(());
        };
        let shared = model.uploaded.lock().unwrap_or_else(|e| e.into_inner());
        let Some(uploaded) = shared.as_ref() else {
            return Ok(());
        };
        let clock = crowd.clock();
        for request in self.requests.drain(..) {
            crowd.set_clock(self.clock);
            let rigs = here.rigs.iter().zip(&model.rigs);
            let all: Vec<(RigId, Playing)> = rigs
                .map(|(id, rig)| (*id, playing(&request, uploaded, rig.skeleton)))
                .collect();
            let done = crowd.set_playing_all(&all);
            crowd.set_clock(clock);
            done?;
            self.playback.ask(&request, self.clock);
            self.by_hand.fill(None);
            self.is_changed = true;
        }
        Ok(())
    }

    fn root_motion_between(&self, before: f64, now: f64) -> DVec3 {
        let skel = self.playback.root_motion(&self.model, before, now);
        let held = <[bool; 3]>::from(self.wanted.root_motion);
        let free = DVec3::from_array(std::array::from_fn(|axis| match held[axis] {
            true => 0.0,
            false => skel[axis],
        }));
        self.model.world_from_skel[0].transform_vector3(free)
    }

    /// Sets what the host knows of the instances: their places and the weights that no clip drives.
    fn pose(&mut self, crowd: &mut Crowd) -> Result<()> {
        let model = &*self.model;
        let Some(here) = &self.here else {
            return Ok(());
        };
        if self.is_changed {
            for (id, rig) in here.rigs.iter().zip(&model.rigs) {
                if let Some(pose) = &self.by_hand[rig.skeleton] {
                    crowd.set_joints(*id, &pose.joints)?;
                }
            }
        }
        for (index, (mesh, instance)) in model.meshes.iter().zip(&here.instances).enumerate() {
            if !(self.is_changed || mesh.out.is_moving) {
                continue;
            }
            let by_hand = self.by_hand[model.rigs[mesh.rig].skeleton].as_ref();
            let weight = |(shape, channel): (&String, &Option<u32>)| match (channel, by_hand) {
                (Some(channel), Some(pose)) => pose.weights[*channel as usize],
                _ => self.weights.get(shape).copied().unwrap_or_default(),
            };
            let weights: Vec<f32> = mesh.shapes.iter().zip(&mesh.channels).map(weight).collect();
            let world_from_skel = self.playback.transform(model, index, self.clock);
            let out_from_skel = self.world_from_file * world_from_skel;
            if !math::is_finite(&out_from_skel) {
                let found = out_from_skel.to_string();
                return Err(Invalid::new(&mesh.path, "place", "a finite matrix", found)
                    .in_file(&model.file)
                    .into());
            }
            let pose = InstancePose::Rig {
                rig: here.rigs[mesh.rig],
                out_from_skel: &out_from_skel,
                channel_weights: &weights,
            };
            crowd.set_pose(*instance, pose)?;
        }
        self.is_changed = false;
        Ok(())
    }
}

/// What a rig of a skeleton plays.
fn playing(request: &Request, uploaded: &Uploaded, skeleton: usize) -> Playing {
    let played = |part: &Part| {
        let id = match part.clip {
            Some(clip) => uploaded.clips[clip][skeleton],
            None => uploaded.rest[skeleton],
        };
        let played = PlayedClip::new(id).at(part.at).speed(part.speed);
        let played = match part.loops {
            true => played,
            false => played.hold(),
        };
        match part.goes_on {
            true => played.keep_time(),
            false => played,
        }
    };
    let mut out = Playing::new(played(&request.main))
        .fade(request.fade)
        .root_motion(request.root_motion);
    if let Some((part, weight)) = &request.blend {
        out = out.blend(played(part), *weight);
    }
    if let Some((part, weight)) = &request.add {
        out = out.add(played(part), *weight);
    }
    out
}

fn fade(seconds: f32) -> Result<f32> {
    if seconds.is_finite() && seconds >= 0.0 {
        return Ok(seconds);
    }
    Err(Error::Argument {
        what: "fade",
        expected: "seconds",
        found: seconds.to_string(),
    })
}

fn checked_weight(weight: f32) -> Result<f32> {
    if (0.0..=1.0).contains(&weight) {
        return Ok(weight);
    }
    Err(Error::Argument {
        what: "weight",
        expected: "a number from 0 to 1",
        found: weight.to_string(),
    })
}
