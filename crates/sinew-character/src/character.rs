//! A character, and what a host does with it.

mod frames;

use std::path::Path;
use std::sync::Arc;

use glam::{BVec3, DMat4, DVec3};
use sinew::clip::LocalPose;
use sinew::gpu::Skinner;
use sinew::kernel::packed_clip::ClipOptions;
use sinew::scene::{Material, Texture};
use sinew::{Invalid, Warning};
use sinew_animate::asset::{FoundName, find_clip_name};
use sinew_io::usd::UsdFile;
use sinew_io::{ClipChoice, OpenOptions};

use crate::arrays::MeshArrays;
use crate::clips::{CharacterClip, CharacterSkeleton};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::playback::{Part, PlayClip, Playback, Request};
use crate::resident::Resident;

/// How a character is loaded.
#[derive(Clone, Debug, Default)]
pub struct CharacterOptions {
    /// Variants and search paths. Its choice of clips is not used: a character has all of them.
    pub open: OpenOptions,
    /// How clips are compressed. The unit is that of the file.
    pub clips: ClipOptions,
    /// Whether frames keep the positions of the frame before, for motion vectors
    /// ([`Draw::previous`](crate::Draw::previous)).
    pub previous: bool,
    /// Whether the host has vertex buffers of its own, as game engines do: a mesh with several
    /// materials becomes several meshes of the same path, one for each material, and
    /// [`Character::arrays`] has what does not change of them. A mesh of so many materials that its
    /// parts would have more than 32 times its vertices is left out.
    pub arrays: bool,
}

/// A character from a file: meshes, materials, clips and blend shapes. A crowd plays its clips and
/// skins its meshes on the GPU; [`Character::draws`] says where the results are.
///
/// It is in no crowd until its first [`Character::update`], and then belongs to that crowd. Copies
/// ([`Character::another`]) share all that does not change, and belong to the same crowd.
///
/// # Time
/// All characters of a crowd share its clock. Once per frame call
/// [`Crowd::advance`](sinew::gpu::Crowd::advance), and then [`Character::update`] of each, in any
/// order. For another pace set the speed of the clip ([`PlayClip::speed`]).
///
/// # Limits
/// - Linear blend and dual quaternion skinning. Rest data that change over time stay as they are at
///   the first time (warning `character-rest-still`).
/// - A skeleton without restTransforms rests in the first pose of the first clip that moves all its
///   joints. Its meshes are left out if there is none.
/// - Meshes that nothing moves are carried along with the others, so that all draws are alike.
///   Transforms of prims that are no joints move with the clip that the file itself plays, and
///   stand still in the others, as the reader's warnings say.
/// - A character that is dropped leaves its crowd when the crowd advances next.
///   [`Character::remove`] takes it out at once.
/// - After the loss of the device, load the file again, for a new crowd. A crowd that
///   [`Crowd::rebuild`](sinew::gpu::Crowd::rebuild) makes is another one to the character, because
///   indices, texture coordinates and colours were lost with the device.
#[derive(Debug)]
pub struct Character {
    model: Arc<Model>,
    keeps_previous: bool,
    here: Option<Resident>,
    /// The time of the crowd's clock at the last update.
    clock: f64,
    /// What it was asked for since the last update, in order: at most one that begins at once, and
    /// one with a fade after it.
    requests: Vec<Request>,
    /// What it was asked for last.
    wanted: Request,
    playback: Playback,
    /// Poses of the host's own, by skeleton.
    by_hand: Vec<Option<LocalPose>>,
    world_from_file: DMat4,
    /// By mesh, the host's weight of each blend shape.
    weights: Vec<Vec<f32>>,
    moved: DVec3,
    /// Whether the poses of the instances in the crowd are out of date.
    is_changed: bool,
}

impl Character {
    /// Loads a USD, glTF, VRM or FBX file (the last with the feature `fbx`) with all its clips, and
    /// uploads its index buffers, texture coordinates and colours.
    ///
    /// What is merely wrong with single meshes, materials or clips is in [`Character::left_out`]
    /// and [`Character::warnings`].
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read; [`Error::NoCharacter`] if no skeleton moves any
    /// mesh of it; [`Error::Gpu`] without memory.
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
        let model = Arc::new(Model::read(skinner, file, options)?);
        Ok(Self::of(model, options.previous))
    }

    fn of(model: Arc<Model>, keeps_previous: bool) -> Self {
        let shapes = model.meshes.iter().map(|mesh| mesh.shapes.len());
        Self {
            weights: shapes.map(|count| vec![0.0; count]).collect(),
            by_hand: vec![None; model.skeletons.len()],
            model,
            keeps_previous,
            here: None,
            clock: 0.0,
            requests: Vec::new(),
            wanted: Request::rest(),
            playback: Playback::rest(),
            world_from_file: DMat4::IDENTITY,
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

/// What it plays. Clips begin with the next update, at the crowd's clock of that moment.
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
            fade: Some(fade(seconds)?),
            ..self.changed()
        };
        self.end_poses();
        self.ask(request);
        Ok(())
    }

    /// Blends a second clip over the one that it plays, within some seconds: a weight of 0 is the
    /// first clip alone, 1 the second. Asking again with another weight changes only the weight:
    /// both clips go on, also one that cannot be seen at a weight of 0 or 1.
    ///
    /// A call with 0 seconds does not cut a running fade short: the blend is reached at its end.
    ///
    /// # Errors
    /// As [`Character::crossfade`]; a weight that is not from 0 to 1.
    pub fn blend(&mut self, clip: impl Into<PlayClip>, weight: f32, seconds: f32) -> Result<()> {
        let part = self.part(clip.into())?;
        let before = self.changed();
        let part = match before.blend {
            Some((old, _)) if old.clip == part.clip => Part {
                at: old.at,
                goes_on: old.goes_on,
                ..part
            },
            _ => part,
        };
        let request = Request {
            blend: Some((part, checked_weight(weight)?)),
            fade: Some(fade(seconds)?).filter(|fade| *fade > 0.0),
            ..before
        };
        self.end_poses();
        self.ask(request);
        Ok(())
    }

    /// Adds what a clip changes since its beginning, times a weight from 0 to 1, to whatever is
    /// played, within some seconds. `None` ends it. A call with 0 seconds does not cut a running
    /// fade short.
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
            fade: Some(fade(seconds)?).filter(|fade| *fade > 0.0),
            ..self.changed()
        };
        self.ask(request);
        Ok(())
    }

    /// Fades to the rest pose within some seconds.
    ///
    /// # Errors
    /// A time that is negative or not finite.
    pub fn stop(&mut self, seconds: f32) -> Result<()> {
        let request = Request {
            fade: Some(fade(seconds)?),
            root_motion: self.wanted.root_motion,
            ..Request::rest()
        };
        self.end_poses();
        self.ask(request);
        Ok(())
    }

    /// Sets the axes of skeleton space along which clips move the root joints. Along the others a
    /// root stays where it is at the beginning of each clip, and [`Character::root_motion`] is the
    /// way that the host moves the character instead. A fade that runs ends when it would have.
    pub fn set_root_motion(&mut self, axes: BVec3) {
        if self.wanted.root_motion == axes {
            return;
        }
        let request = Request {
            root_motion: axes,
            ..self.changed()
        };
        self.ask(request);
    }

    /// How far the root of the first skeleton went between the last two updates along the axes that
    /// clips do not move it: in units of the world, in the axes of the file's world. Turn it by the rotation
    /// of your [`Character::set_place`].
    #[must_use]
    pub fn root_motion(&self) -> DVec3 {
        self.moved
    }

    /// Poses a skeleton by the host, from the next update until [`Character::play`],
    /// [`Character::crossfade`], [`Character::blend`] or [`Character::stop`] is called: for what
    /// the GPU does not play, such as blends by masks of joints. The other skeletons go on. The
    /// weights of the pose are those of [`CharacterSkeleton::channels`]. `skeleton` is an index
    /// into [`Character::skeletons`].
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
        self.by_hand[skeleton] = Some(pose);
        self.is_changed = true;
        Ok(())
    }

    /// What it is asked for by now, to be changed.
    fn changed(&self) -> Request {
        let pending = self.requests.last().copied();
        pending.unwrap_or_else(|| self.wanted.going_on())
    }

    fn ask(&mut self, request: Request) {
        self.wanted = request;
        match self.requests.last_mut() {
            // What begins with the next update begins changed.
            Some(pending) if request.fade.is_none() => {
                self.wanted.fade = pending.fade;
                *pending = self.wanted;
            }
            _ => {
                // A fade still begins at what was asked for at once, but not at another fade.
                self.requests.retain(|old| request.fades() && !old.fades());
                self.requests.push(request);
            }
        }
    }

    fn end_poses(&mut self) {
        self.is_changed |= self.by_hand.iter().any(Option::is_some);
        self.by_hand.fill(None);
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
        let names = || self.model.clips.iter().map(CharacterClip::name);
        if let Some(equal) = names().position(|name| name == asked) {
            return Ok(equal);
        }
        let names: Vec<&str> = names().collect();
        let file = || self.model.file.clone();
        let asked = asked.to_owned();
        let named = |clips: &[usize]| clips.iter().map(|c| names[*c].to_owned()).collect();
        match find_clip_name(&names, &asked) {
            FoundName::One(clip) => Ok(clip),
            FoundName::Several(clips) => Err(sinew_io::Error::AmbiguousClip {
                file: file(),
                asked,
                candidates: named(&clips),
            }
            .into()),
            FoundName::None => Err(sinew_io::Error::NoSuchClip {
                file: file(),
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
    ///
    /// # Errors
    /// A matrix with numbers that f32 does not hold. After an error it is where it was.
    pub fn set_place(&mut self, world_from_file: DMat4) -> Result<()> {
        if !world_from_file.as_mat4().is_finite() {
            return Err(Error::Argument {
                what: "place",
                expected: "a matrix of finite numbers, as f32 too",
                found: world_from_file.to_string(),
            });
        }
        self.is_changed |= self.world_from_file != world_from_file;
        self.world_from_file = world_from_file;
        Ok(())
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
        for (mesh, weights) in self.model.meshes.iter().zip(&mut self.weights) {
            for (name, to) in mesh.shapes.iter().zip(weights) {
                if name == shape {
                    *to = weight;
                }
            }
        }
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

    /// What does not change of each mesh, in the order of [`Character::meshes`]: to fill a host's own
    /// buffers, into which [`Crowd::set_target`](sinew::gpu::Crowd::set_target) then sends the results
    /// of [`Character::instances`]. Nothing unless [`CharacterOptions::arrays`] asked for it.
    pub fn arrays(&self) -> impl Iterator<Item = &MeshArrays> {
        self.model.meshes.iter().filter_map(|m| m.arrays.as_ref())
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
