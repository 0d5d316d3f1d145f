//! What the arguments request of a stage: its pose, and the parts that are drawn.

use crate::error::{Error, Result};
use sinew::error::first_few;
use sinew_render::{Control, DrawBackend, Focus, JointId, Look, Stage};

use super::Args;

/// The control that the arguments request.
///
/// # Errors
/// The stage has no channel or joint of a name.
pub fn control(args: &Args, stage: &Stage, backend: DrawBackend) -> Result<Control> {
    let channels = stage.channels();
    let known: Vec<&str> = channels.keys().map(String::as_str).collect();
    let mut weights = Vec::with_capacity(args.shape.len());
    for (name, weight) in &args.shape {
        match named(&known, name) {
            Some(channel) => weights.push((known[channel].to_owned(), *weight)),
            None => return Err(unknown(args, "blend shape channel", name, &known)),
        }
    }
    let heat = match &args.heat {
        None => None,
        Some(name) => Some(joint(args, stage, name)?),
    };
    Ok(Control {
        method: args.method,
        backend,
        weights: weights.into_iter().collect(),
        heat,
    })
}

/// The focus that the arguments request: a prim for a path that begins with `/`, otherwise a joint.
///
/// # Errors
/// The stage has no such prim or joint.
pub fn focus(args: &Args, stage: &Stage) -> Result<Option<Focus>> {
    let Some(name) = &args.focus else {
        return Ok(None);
    };
    if !name.starts_with('/') {
        return joint(args, stage, name).map(|joint| Some(Focus::Joint(joint)));
    }
    let focus = Focus::Prim(name.clone());
    let is_there = !stage.framed(&Look::default(), Some(&focus))?.is_empty();
    if is_there {
        return Ok(Some(focus));
    }
    let meshes = stage.meshes();
    let known: Vec<&str> = meshes.iter().map(|m| m.path.as_str()).take(8).collect();
    Err(unknown(
        args,
        "visible mesh or skeleton at or below",
        name,
        &known,
    ))
}

/// The name of a joint, for people.
pub fn joint_name(stage: &Stage, joint: JointId) -> Option<&str> {
    let skeleton = stage.skeletons().get(joint.skeleton)?;
    skeleton.joints.get(joint.joint).map(|j| j.name.as_str())
}

/// The joint of a name or path.
fn joint(args: &Args, stage: &Stage, name: &str) -> Result<JointId> {
    let (mut ids, mut known) = (Vec::new(), Vec::new());
    for (s, skeleton) in stage.skeletons().iter().enumerate() {
        for (joint, of) in skeleton.joints.iter().enumerate() {
            ids.push(JointId { skeleton: s, joint });
            known.push(match of.path == name {
                true => name,
                false => of.name.as_str(),
            });
        }
    }
    let found = named(&known, name).map(|joint| ids[joint]);
    found.ok_or_else(|| unknown(args, "joint", name, &known))
}

/// The index of a name: the first that is equal, or the only one but for upper and lower case.
fn named(known: &[&str], name: &str) -> Option<usize> {
    if let Some(equal) = known.iter().position(|known| *known == name) {
        return Some(equal);
    }
    let name = name.to_lowercase();
    let mut like = known.iter().enumerate();
    let mut like = like
        .by_ref()
        .filter(|(_, known)| known.to_lowercase() == name);
    let (found, of) = like.next()?;
    like.all(|(_, other)| other == of).then_some(found)
}

/// The error for a name that the stage does not have.
fn unknown(args: &Args, kind: &str, name: &str, known: &[&str]) -> Error {
    let known = if known.is_empty() {
        "none".to_owned()
    } else {
        first_few(known, 8)
    };
    Error::Message(format!(
        "{}: no {kind} '{name}'; there are {known}",
        args.input.display()
    ))
}

/// The look that the arguments request, before the file is read.
pub fn look_of_arguments(args: &Args) -> Look {
    Look {
        background: args.background.0,
        grid: !args.no_grid,
        surface: true,
        wireframe: args.wireframe,
        normals: args.normals,
        joints: args.joints,
        bounds: args.bounds,
        ..Look::default()
    }
}

/// The look that the arguments request of a stage. If no faces are visible, it shows the joints.
pub fn look(args: &Args, stage: &Stage, heat: Option<JointId>) -> Look {
    let no_faces = stage
        .meshes()
        .iter()
        .all(|m| (m.triangles == 0 && m.curves == 0) || !m.visible);
    Look {
        // A file that holds only a motion, or only hidden meshes, has nothing else to show.
        joints: args.joints || no_faces,
        chosen: heat,
        ..look_of_arguments(args)
    }
}
