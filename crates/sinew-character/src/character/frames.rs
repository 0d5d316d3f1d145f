//! The frames of a character: what it tells its crowd, and what is drawn.

use std::borrow::Cow;
use std::sync::Arc;

use glam::{DVec3, Vec3};
use sinew::gpu::{Crowd, InstanceId, InstancePose, PlayedClip, Playing, RigId};
use sinew::kernel::{PackedPose, palette_on_cpu, skin_on_cpu};

use super::Character;
use crate::draw::Draw;
use crate::error::{Error, Result};
use crate::playback::{Part, Playback, Request};
use crate::resident::{Resident, Uploaded};

/// Frames.
impl Character {
    /// Brings the character to the crowd's clock, which [`Crowd::advance`] moves, and begins what was
    /// asked for since the last update. The first update adds the character to the crowd. Call it once
    /// per frame, after [`Crowd::advance`] and before [`Crowd::encode`]. A character that only plays
    /// uploads nothing, and goes on playing in frames without an update.
    ///
    /// # Errors
    /// [`Error::NotAdvanced`] if a frame was encoded since the clock was advanced last, except for
    /// the first update; [`Error::Gpu`] without memory, for a crowd that is not the character's, or
    /// for a pose by the host that is not finite. What could not begin begins with the next update.
    /// After an error in the first update the crowd has nothing of the character.
    pub fn update(&mut self, crowd: &mut Crowd) -> Result<()> {
        let joins = self.here.is_none();
        match &self.here {
            Some(here) => {
                here.check(&self.model, crowd)?;
                if crowd.awaits_advance() {
                    let file = self.model.file.clone();
                    return Err(Error::NotAdvanced { file });
                }
            }
            None => {
                let here = Resident::join(&self.model, crowd, self.keeps_previous)?;
                self.here = Some(here);
                self.is_changed = true;
                self.clock = crowd.clock();
            }
        }
        let done = self.advance(crowd);
        if joins && done.is_err() {
            // The first error counts.
            let _ = self.remove(crowd);
        }
        done
    }

    fn advance(&mut self, crowd: &mut Crowd) -> Result<()> {
        let before = std::mem::replace(&mut self.clock, crowd.clock());
        self.moved = self.root_motion_between(before, self.clock);
        self.begin_requests(crowd)?;
        self.pose(crowd)
    }

    /// Takes the character out of its crowd. First submit the frames that are already encoded. The
    /// next update adds it again: its clips begin anew, and poses of the host's stay.
    ///
    /// # Errors
    /// [`Error::Gpu`] for a crowd that is not the character's; then it stays where it is.
    pub fn remove(&mut self, crowd: &mut Crowd) -> Result<()> {
        if let Some(here) = &self.here {
            here.check(&self.model, crowd)?;
        }
        let here = self.here.take();
        let removed = here.map(|here| here.remove(&self.model, crowd));
        self.playback = Playback::rest();
        self.requests = vec![self.wanted.going_on()];
        removed.transpose()?;
        Ok(())
    }

    /// The draws of all meshes: one for each mesh and material. Everything that they refer to stays
    /// the same as long as [`Crowd::outputs_generation`] does.
    ///
    /// # Errors
    /// [`Error::NotInCrowd`] before the first update; [`Error::Gpu`] for another crowd.
    pub fn draws<'a>(&'a self, crowd: &'a Crowd) -> Result<Vec<Draw<'a>>> {
        let model = &*self.model;
        let here = self.here()?;
        here.check(model, crowd)?;
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
    /// visibility masks, bounds, readings and targets.
    ///
    /// # Errors
    /// [`Error::NotInCrowd`] before the first update.
    pub fn instances(&self) -> Result<&[InstanceId]> {
        Ok(&self.here()?.instances)
    }

    fn here(&self) -> Result<&Resident> {
        self.here.as_ref().ok_or_else(|| Error::NotInCrowd {
            file: self.model.file.clone(),
        })
    }

    /// The rigs that the crowd poses, with the index of the skeleton of each: for attachments and
    /// for hosts that skin in their own shader.
    ///
    /// # Errors
    /// [`Error::NotInCrowd`] before the first update.
    pub fn rigs(&self) -> Result<impl Iterator<Item = (usize, RigId)>> {
        let rigs = self.model.rigs.iter().zip(&self.here()?.rigs);
        Ok(rigs.map(|(rig, id)| (rig.skeleton, *id)))
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
        let packed = |skeleton: usize| match clip {
            Some(clip) => model.clips[clip].on()[skeleton].packed(),
            None => &model.rest[skeleton],
        };
        let mut palettes = Vec::with_capacity(model.rigs.len());
        for rig in &model.rigs {
            let clip = packed(rig.skeleton);
            let joints = (0..clip.joint_count()).map(|joint| clip.joint(joint, seconds));
            let joints: Vec<_> = joints.collect();
            palettes.push(Arc::new(palette_on_cpu(&rig.packed, &joints)?));
        }
        let mut out = Vec::with_capacity(model.meshes.len());
        for (index, mesh) in model.meshes.iter().enumerate() {
            let clip = packed(model.rigs[mesh.rig].skeleton);
            let weight = |(channel, own): (&Option<u32>, &f32)| match channel {
                Some(c) if (*c as usize) < clip.channel_count() => {
                    clip.weight(*c as usize, seconds)
                }
                Some(_) => 0.0,
                None => *own,
            };
            let weights = mesh.channels.iter().zip(&self.weights[index]);
            let weights = weights.map(weight).collect();
            let palette = Some(Arc::clone(&palettes[mesh.rig]));
            let world_from_skel = playback.transform(model, index, 0.0);
            let pose = PackedPose::with_palette(&mesh.skin, palette, world_from_skel, weights)?;
            let mut points = vec![Vec3::ZERO; mesh.skin.output_count()];
            skin_on_cpu(&mesh.skin, &pose, &mut points, None)?;
            out.push(points);
        }
        Ok(out)
    }

    /// Tells the crowd what was asked for, at the time where this character is. Skeletons that the
    /// host poses are left alone.
    fn begin_requests(&mut self, crowd: &mut Crowd) -> Result<()> {
        let Some(here) = self.here.as_ref().filter(|_| !self.requests.is_empty()) else {
            return Ok(());
        };
        let model = &*self.model;
        let shared = model.uploaded.lock().unwrap_or_else(|e| e.into_inner());
        let Some(uploaded) = shared.as_ref() else {
            return Ok(());
        };
        while let Some(request) = self.requests.first() {
            let request = self.playback.resumed(request, model, self.clock);
            let left = || self.playback.fade_left(self.clock);
            let fade = request.fade.unwrap_or_else(left);
            let rigs = here.rigs.iter().zip(&model.rigs);
            let all: Vec<(RigId, Playing)> = rigs
                .filter(|(_, rig)| self.by_hand[rig.skeleton].is_none())
                .map(|(id, rig)| (*id, playing(&request, fade, uploaded, rig.skeleton)))
                .collect();
            crowd.set_playing_all(&all)?;
            self.playback.ask(&request, self.clock);
            self.requests.remove(0);
        }
        Ok(())
    }

    fn root_motion_between(&self, before: f64, now: f64) -> DVec3 {
        let axes = self.playback.moves_roots;
        if axes.all() {
            return DVec3::ZERO;
        }
        let skel = self.playback.root_motion(&self.model, before, now);
        let by_clip = <[bool; 3]>::from(axes);
        let free = DVec3::from_array(std::array::from_fn(|axis| match by_clip[axis] {
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
            let own = &self.weights[index];
            let weights = match &self.by_hand[model.rigs[mesh.rig].skeleton] {
                None => Cow::Borrowed(&own[..]),
                Some(pose) => {
                    let weight = |(channel, own): (&Option<u32>, &f32)| {
                        channel.map_or(*own, |channel| pose.weights[channel as usize])
                    };
                    mesh.channels.iter().zip(own).map(weight).collect()
                }
            };
            let world_from_skel = self.playback.transform(model, index, self.clock);
            let out_from_skel = self.world_from_file * world_from_skel;
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
fn playing(request: &Request, fade: f32, uploaded: &Uploaded, skeleton: usize) -> Playing {
    let played = |part: &Part| {
        let id = match part.clip {
            Some(clip) => uploaded.clips[clip][skeleton],
            None => uploaded.rest[skeleton],
        };
        let played = PlayedClip::new(id).at(part.at).speed(part.speed);
        match part.loops {
            true => played,
            false => played.clamp(),
        }
    };
    let mut out = Playing::new(played(&request.main))
        .fade(fade)
        .root_motion(request.root_motion);
    if let Some((part, weight)) = &request.blend {
        out = out.blend(played(part), *weight);
    }
    if let Some((part, weight)) = &request.add {
        out = out.add(played(part), *weight);
    }
    out
}
