//! Palettes of rigs, for hosts that skin in their own shader, with and without instances.

use std::sync::Arc;

use glam::{DVec3, DVec4, Vec4};
use sinew::gpu::{Crowd, Playing, RigId};
use sinew::kernel::{PackedRig, Palette, attachments_on_cpu, palette_on_cpu};
use sinew::math::Rows;
use sinew::skel::SkinningMethod;

use super::Run;
use super::figure::Figure;
use crate::compare::compare;
use crate::host::Gpu;
use crate::posing::rigs::Spec;
use crate::posing::{self, rigid, rigs, specs};
use crate::{Failure, ensure, tolerance};

pub const CHECKS: &[(&str, Run)] = &[
    ("palettes_without_instances", palettes),
    ("linear_palettes_of_every_depth", linear_palettes),
    ("dual_quaternions_that_scale", scaled_dual_quaternions),
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
fn read(gpu: &Gpu, crowd: &Crowd, figure: &Figure, rig: RigId) -> Result<[Vec<Rows>; 4], Failure> {
    let found = crowd.palette_on_gpu(rig)?.ok_or("no palette")?;
    let words: Vec<Vec4> = gpu.read(found.buffer)?;
    let entries = figure.rig.entry_count();
    let part =
        |first: Option<u32>, count| first.map_or(Vec::new(), |first| blocks(&words, first, count));
    Ok([
        part(Some(found.points), entries),
        part(found.normals, entries),
        part(found.motions, entries),
        part(found.attachments, figure.rig.attachments().len()),
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
    for ((found, want), what) in
        found
            .iter()
            .zip(pairs)
            .zip(["points", "normals", "motions", "attachments"])
    {
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
        let figure = Figure::new(method, 30)?;
        let mut crowd = gpu.crowd()?;
        let uploaded = figure.upload(&mut crowd)?;
        let mut rigs = Vec::new();
        for number in 0..5 {
            let rig = crowd.add_rig(Arc::clone(&figure.rig))?;
            crowd.set_playing(rig, &Playing::new(uploaded.clips[number % 4]))?;
            crowd.keep_palette(rig, true)?;
            rigs.push(rig);
        }
        // One of them has instances as well.
        let member = figure.add(&mut crowd, &uploaded)?;
        crowd.set_playing(member.rig, &Playing::new(uploaded.clips[1]))?;
        rigs.push(member.rig);
        crowd.keep_palette(rigs[3], false)?;
        for clock in [0.0, 0.4375] {
            crowd.set_clock(clock);
            crowd.submit()?;
            for (number, rig) in rigs.iter().enumerate() {
                if number == 3 {
                    ensure(
                        crowd.palette_on_gpu(*rig)?.is_none(),
                        "a palette that is not kept",
                    )?;
                    continue;
                }
                let clip = if number == 5 { 1 } else { number % 4 };
                let mirror = figure.mirror(&crowd, *rig, [Some(clip), None, None], None);
                let want = palette_on_cpu(&figure.rig, &mirror.joints)?;
                let attached = attachments_on_cpu(&figure.rig, &mirror.joints)?;
                let found = read(gpu, &crowd, &figure, *rig)?;
                agrees(&found, &want, &attached, figure.rig.levels())?;
            }
        }
        ensure(crowd.dispatch_count()? <= 8, "a dispatch per rig")?;
    }
    Ok(())
}

/// A rig of [`specs`] in a crowd.
type Posed = (&'static str, Spec, Arc<PackedRig>, RigId);

/// A crowd in which the host has posed a rig of every shape and depth, and keeps its palette.
fn posed(
    gpu: &Gpu,
    pack: impl Fn(&Spec) -> Result<PackedRig, Failure>,
) -> Result<(Crowd, Vec<Posed>), Failure> {
    let mut crowd = gpu.crowd()?;
    let mut all = Vec::new();
    for (name, spec) in specs() {
        let rig = Arc::new(pack(&spec)?);
        let id = crowd.add_rig(Arc::clone(&rig))?;
        crowd.set_joints(id, &rigs::locals(&spec, 1))?;
        crowd.keep_palette(id, true)?;
        all.push((name, spec, rig, id));
    }
    crowd.submit()?;
    Ok((crowd, all))
}

/// Rigs of every shape and depth for linear skinning, posed by the host, against f64: where joints
/// take the corners of a cube of two units.
fn linear_palettes(gpu: &Gpu) -> Result<(), Failure> {
    let (crowd, all) = posed(gpu, |spec| {
        Ok(PackedRig::pack(
            &rigs::skeleton(spec),
            rigs::geom_bind(spec),
            true,
        )?)
    })?;
    for (name, spec, rig, id) in &all {
        let found = crowd.palette_on_gpu(*id)?.ok_or("no palette")?;
        let words: Vec<Vec4> = gpu.read(found.buffer)?;
        let found = corners(&blocks(&words, found.points, rig.entry_count()));
        let want = corners(posing::truth(spec, &rigs::locals(spec, 1))?.points());
        compare(name, &found, &want, tolerance::POSED_IN_F64)?;
    }
    Ok(())
}

/// Where matrices take the corners of a cube of two units.
fn corners(blocks: &[Rows]) -> Vec<DVec3> {
    let of = |rows: &Rows| -> [DVec3; 8] {
        let rows = rows.map(|row| row.as_dvec4());
        std::array::from_fn(|corner| {
            let sign = |bit: usize| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
            let point = DVec4::new(sign(0), sign(1), sign(2), 1.0);
            DVec3::from_array(rows.map(|row| row.dot(point)))
        })
    };
    blocks.iter().flat_map(of).collect()
}

/// Rigs of every shape for dual quaternions, posed by the host.
fn scaled_dual_quaternions(gpu: &Gpu) -> Result<(), Failure> {
    let (crowd, all) = posed(gpu, rigid::rig)?;
    for (name, spec, rig, id) in &all {
        let found = crowd.palette_on_gpu(*id)?.ok_or("no palette")?;
        let words: Vec<Vec4> = gpu.read(found.buffer)?;
        let part = |first: Option<u32>| blocks(&words, first.unwrap_or(0), rig.entry_count());
        let parts = [
            part(Some(found.points)),
            part(found.normals),
            part(found.motions),
        ];
        let parts = parts.each_ref().map(|part| &part[..]);
        let (want, stretches) = rigid::truth(spec, &rigs::locals(spec, 1))?;
        let allowed = tolerance::POSED_DUAL_QUATERNIONS;
        rigid::agrees(parts, &want, &stretches, allowed).map_err(|e| format!("{name}: {e:?}"))?;
    }
    Ok(())
}
