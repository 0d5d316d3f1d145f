//! Clips that two skeletons play.

use sinew::skel::SkinningMethod;

use super::Run;
use super::show::{clip, play};
use super::stage::Stage;
use crate::Failure;
use crate::host::{Gpu, wrong_use};

pub const CHECKS: &[(&str, Run)] = &[("skeletons_share_clips", skeletons_share)];

/// Two skeletons with the same joints, bound in different poses and skinned by different methods,
/// play the same clips of one crowd.
fn skeletons_share(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let sibling = stage.figure.sibling(SkinningMethod::DualQuaternion)?;
    let clips = stage.uploaded.clips.clone();
    let uploaded = sibling.upload_for(&mut stage.crowd, clips.clone())?;
    stage.add_other(sibling, &uploaded)?;
    for at in [0, 1] {
        stage.play(at, &play(clip(1).since(Some(0.0))))?;
    }
    for clock in [0.0, 0.4375, 1.6875] {
        stage.frame(clock)?;
    }
    // One of them fades to another clip while the other goes on.
    stage.crowd.set_clock(2.0);
    stage.play(1, &play(clip(2)).fade(0.5))?;
    stage.frame(2.25)?;
    // The clip stays as long as one of them plays it.
    stage.remove(0)?;
    stage.frame(2.375)?;
    wrong_use("no rigs that use it", stage.crowd.remove_clip(clips[1]))?;
    stage.frame(2.5)?;
    Ok(stage.crowd.remove_clip(clips[1])?)
}
