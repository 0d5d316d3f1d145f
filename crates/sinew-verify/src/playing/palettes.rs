//! Palettes of rigs, for hosts that skin in their own shader, with and without instances.

use std::sync::Arc;

use glam::{DVec3, Vec4};
use sinew::gpu::{Crowd, RigId};
use sinew::kernel::{PackedRig, Palette, attachments_on_cpu, palette_on_cpu};
use sinew::math::Rows;
use sinew::skel::SkinningMethod;

use super::figure::Figure;
use super::show::{clip, play};
use super::stage::Stage;
use crate::check::Checks;
use crate::compare::compare;
use crate::host::Gpu;
use crate::posing::{self, rigs, specs};
use crate::{Failure, ensure, tolerance};

pub const CHECKS: Checks = &[
    ("palettes_without_instances", palettes),
    ("linear_palettes_of_every_depth", |gpu| {
        every_depth(gpu, SkinningMethod::ClassicLinear)
    }),
    ("dual_quaternions_that_scale", |gpu| {
        every_depth(gpu, SkinningMethod::DualQuaternion)
    }),
];

/// Some blocks of three rows of a buffer.
fn blocks(words: &[Vec4], first: u32, count: usize) -> Vec<Rows> {
    let rows = &words[first as usize..first as usize + count * 3];
    rows.chunks_exact(3)
        .map(|rows| [rows[0], rows[1], rows[2]])
        .collect()
}

fn vectors(blocks: &[Rows]) -> Vec<DVec3> {
    let parts = |row: &Vec4| {
        let row = row.as_dvec4();
        [row.truncate(), DVec3::new(row.w, 0.0, 0.0)]
    };
    blocks.iter().flatten().flat_map(parts).collect()
}

/// The palette that the GPU computed for a rig: points, normals, motions, attachments.
fn read(gpu: &Gpu, crowd: &Crowd, rig: &PackedRig, id: RigId) -> Result<[Vec<Rows>; 4], Failure> {
    let found = crowd.palette_on_gpu(id)?.ok_or("no palette")?;
    let words: Vec<Vec4> = gpu.read(found.buffer)?;
    let entries = rig.entry_count();
    let part =
        |first: Option<u32>, count| first.map_or(Vec::new(), |first| blocks(&words, first, count));
    Ok([
        part(Some(found.points), entries),
        part(found.normals, entries),
        part(found.motions, entries),
        part(found.attachments, rig.attachments().len()),
    ])
}

fn agrees(
    found: &[Vec<Rows>; 4],
    want: &Palette,
    attached: &[Rows],
    levels: usize,
) -> Result<(), Failure> {
    let motions = want.rigid().map_or(&[][..], |rigid| rigid.motions());
    let normals = want.normals().unwrap_or_default();
    let pairs = [want.points(), normals, motions, attached];
    for (number, (found, want)) in found.iter().zip(pairs).enumerate() {
        let what = ["points", "normals", "motions", "attachments"][number];
        let allowed = tolerance::played(levels);
        compare(what, &vectors(found), &vectors(want), allowed)?;
    }
    Ok(())
}

fn palettes(gpu: &Gpu) -> Result<(), Failure> {
    for method in [
        SkinningMethod::ClassicLinear,
        SkinningMethod::DualQuaternion,
    ] {
        let mut stage = Stage::new(gpu.crowd()?, Figure::new(method, 30)?, 6)?;
        for at in 0..6 {
            let actor = &mut stage.actors[at];
            let rig = actor.rig;
            // The last has instances as well.
            if at < 5 {
                for id in std::mem::take(&mut actor.instances) {
                    stage.crowd.remove_instance(id)?;
                }
                stage.crowd.keep_palette(rig, at != 3)?;
            }
            stage.play(at, &play(clip(at % 4)))?;
        }
        for clock in [0.0, 0.4375] {
            stage.frame(clock)?;
            for (at, actor) in stage.actors.iter().enumerate() {
                if at == 3 {
                    let kept = stage.crowd.palette_on_gpu(actor.rig)?.is_some();
                    ensure(!kept, "a palette that is not kept")?;
                    continue;
                }
                let joints = &stage.last(at).ok_or("no frame")?.joints;
                let want = palette_on_cpu(&actor.figure.rig, joints)?;
                let attached = attachments_on_cpu(&actor.figure.rig, joints)?;
                let found = read(gpu, &stage.crowd, &actor.figure.rig, actor.rig)?;
                agrees(&found, &want, &attached, actor.figure.rig.levels())?;
            }
        }
        ensure(stage.crowd.dispatch_count()? <= 8, "a dispatch per rig")?;
    }
    Ok(())
}

/// Palettes of rigs of every shape and depth, posed by the host, against f64.
fn every_depth(gpu: &Gpu, method: SkinningMethod) -> Result<(), Failure> {
    let mut crowd = gpu.crowd()?;
    let mut all = Vec::new();
    for (name, spec) in specs() {
        let (skeleton, geom_bind) = (rigs::skeleton(&spec), rigs::geom_bind(&spec));
        let rig = Arc::new(PackedRig::pack_for(method, &skeleton, geom_bind, true)?);
        let id = crowd.add_rig(Arc::clone(&rig))?;
        crowd.set_joints(id, &rigs::locals(&spec, 1))?;
        crowd.keep_palette(id, true)?;
        all.push((name, spec, rig, id));
    }
    crowd.submit()?;
    for (name, spec, rig, id) in &all {
        let [points, normals, motions, _] = read(gpu, &crowd, rig, *id)?;
        let (want, skinning) = posing::truth(method, spec, &rigs::locals(spec, 1))?;
        let agrees = posing::agrees([&points, &normals, &motions], &want, &skinning);
        agrees.map_err(|e| format!("{name}: {e}"))?;
    }
    Ok(())
}
