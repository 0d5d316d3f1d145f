//! What a character and its copies hold in a crowd.

use std::mem::take;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use sinew::gpu::{
    Attribute, ClipId, Crowd, GpuError, InstanceId, OutputTarget, Playing, RigId, SkinId,
};

use crate::model::Model;

/// What all copies of a character share in a crowd.
#[derive(Debug, Default)]
pub(crate) struct Uploaded {
    /// Number of the crowd.
    crowd: u64,
    /// Number of copies in the crowd.
    users: usize,
    skins: Vec<SkinId>,
    /// By clip and skeleton.
    pub clips: Vec<Vec<ClipId>>,
    /// By skeleton.
    pub rest: Vec<ClipId>,
}

impl Uploaded {
    fn fill(&mut self, model: &Model, crowd: &mut Crowd) -> Result<(), GpuError> {
        for mesh in &model.meshes {
            let skin = crowd.add_skin(mesh.skin.clone())?;
            self.skins.push(skin);
            if mesh.channels.iter().any(Option::is_some) {
                crowd.set_clip_channels(skin, &mesh.channels)?;
            }
        }
        for clip in &model.clips {
            self.clips.push(Vec::new());
            for on in clip.on() {
                let id = crowd.add_clip(on.packed().clone())?;
                if let Some(ids) = self.clips.last_mut() {
                    ids.push(id);
                }
            }
        }
        for rest in &model.rest {
            self.rest.push(crowd.add_clip(rest.clone())?);
        }
        Ok(())
    }

    /// Removes everything, also after an error, and returns the first error.
    fn remove(self, crowd: &mut Crowd) -> Result<(), GpuError> {
        let mut out = Ok(());
        for skin in self.skins {
            out = out.and(crowd.remove_skin(skin));
        }
        for clip in self.clips.into_iter().flatten().chain(self.rest) {
            out = out.and(crowd.remove_clip(clip));
        }
        out
    }
}

/// Compares the number of a character's crowd with that of another one.
fn check(model: &Model, number: u64, crowd: &Crowd) -> Result<(), GpuError> {
    if number == crowd.number() {
        return Ok(());
    }
    let file = model.file.display();
    let what = format!("{file}: a character");
    Err(GpuError::Foreign { what })
}

/// One copy of a character in a crowd.
#[derive(Debug)]
pub(crate) struct Resident {
    /// Number of the crowd.
    crowd: u64,
    pub rigs: Vec<RigId>,
    pub instances: Vec<InstanceId>,
    /// How it leaves the crowd when it is dropped; `None` if it has left.
    on_drop: Option<(Arc<Model>, Sender<Leave>)>,
}

/// Takes something out of a crowd.
type Leave = Box<dyn FnOnce(&mut Crowd) + Send>;

/// It leaves the crowd when the crowd advances next. If the crowd is gone, so is all that is in it.
impl Drop for Resident {
    fn drop(&mut self) {
        let Some((model, crowd)) = self.on_drop.take() else {
            return;
        };
        let (rigs, instances) = (take(&mut self.rigs), take(&mut self.instances));
        let mut left = Self {
            crowd: self.crowd,
            rigs,
            instances,
            on_drop: None,
        };
        let leave: Leave = Box::new(move |crowd: &mut Crowd| {
            if let Err(error) = left.leave_with_model(&model, crowd) {
                log::warn!("{}: a dropped character: {error}", model.file.display());
            }
        });
        let _ = crowd.send(leave);
    }
}

impl Resident {
    /// Adds a copy to a crowd, in the rest pose, and what copies share if it is the first one.
    /// After an error the crowd has nothing of it.
    pub fn join(model: &Arc<Model>, crowd: &mut Crowd, previous: bool) -> Result<Self, GpuError> {
        let mut shared = model.uploaded.lock().unwrap_or_else(|e| e.into_inner());
        let uploaded = match &mut *shared {
            Some(uploaded) => uploaded,
            none => {
                let mut uploaded = Uploaded {
                    crowd: crowd.number(),
                    ..Uploaded::default()
                };
                if let Err(error) = uploaded.fill(model, crowd) {
                    // The first error counts.
                    let _ = uploaded.remove(crowd);
                    return Err(error);
                }
                none.insert(uploaded)
            }
        };
        check(model, uploaded.crowd, crowd)?;
        let mut out = Self {
            crowd: crowd.number(),
            rigs: Vec::new(),
            instances: Vec::new(),
            on_drop: None,
        };
        if let Err(error) = out.fill(model, uploaded, crowd, previous) {
            let _ = out.leave(crowd);
            if uploaded.users == 0
                && let Some(uploaded) = shared.take()
            {
                let _ = uploaded.remove(crowd);
            }
            return Err(error);
        }
        uploaded.users += 1;
        out.on_drop = Some((Arc::clone(model), crowd.deferred()));
        Ok(out)
    }

    fn fill(
        &mut self,
        model: &Model,
        uploaded: &Uploaded,
        crowd: &mut Crowd,
        previous: bool,
    ) -> Result<(), GpuError> {
        for rig in &model.rigs {
            let id = crowd.add_rig(rig.packed.clone())?;
            self.rigs.push(id);
            crowd.set_playing(id, &Playing::new(uploaded.rest[rig.skeleton]))?;
        }
        for (mesh, skin) in model.meshes.iter().zip(&uploaded.skins) {
            let target = OutputTarget {
                previous: previous.then_some(Attribute::Own),
                ..OutputTarget::default()
            };
            let instance = crowd.add_instance_to(*skin, target)?;
            self.instances.push(instance);
            let runs = crowd.points_on_gpu(instance)?.len();
            if runs != 1 {
                return Err(GpuError::Limit {
                    what: format!("{}: bindings of one mesh of a character", mesh.path),
                    asked: runs as u64,
                    limit: 1,
                });
            }
        }
        Ok(())
    }

    /// Whether it is in this crowd.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] if it is in another one.
    pub fn check(&self, model: &Model, crowd: &Crowd) -> Result<(), GpuError> {
        check(model, self.crowd, crowd)
    }

    /// Removes instances and rigs, also after an error, and returns the first error.
    fn leave(&mut self, crowd: &mut Crowd) -> Result<(), GpuError> {
        let mut out = Ok(());
        for instance in self.instances.drain(..) {
            out = out.and(crowd.remove_instance(instance));
        }
        for rig in self.rigs.drain(..) {
            out = out.and(crowd.remove_rig(rig));
        }
        out
    }

    /// Removes a copy, and with the last one what copies share.
    pub fn remove(mut self, model: &Model, crowd: &mut Crowd) -> Result<(), GpuError> {
        self.on_drop = None;
        self.leave_with_model(model, crowd)
    }

    fn leave_with_model(&mut self, model: &Model, crowd: &mut Crowd) -> Result<(), GpuError> {
        let mut out = self.leave(crowd);
        let mut shared = model.uploaded.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(uploaded) = shared.as_mut() {
            uploaded.users -= 1;
            if uploaded.users == 0
                && let Some(uploaded) = shared.take()
            {
                out = out.and(uploaded.remove(crowd));
            }
        }
        out
    }
}
