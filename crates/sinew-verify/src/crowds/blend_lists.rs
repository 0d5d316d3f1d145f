//! Lists of the blend entries that instances use: the same bits as the whole list, and what they cost.

use std::sync::Arc;

use crate::{Failure, ensure};
use sinew::gpu::{Crowd, InstanceId, SkinnerOptions};
use sinew::kernel::{PackedPose, PackedSkin};
use sinew::mesh::RenderVertices;

use crate::cases::{Influences, Spec};
use crate::crowds::Run;
use crate::crowds::made::{Made, agrees, bits, made};
use crate::host::{Gpu, tight};
use crate::rng::Rng;

pub const CHECKS: &[(&str, Run)] = &[
    ("blend_lists_equal_the_whole_list", equal_the_whole),
    (
        "blend_lists_are_uploaded_for_new_channels_only",
        new_channels_only,
    ),
    (
        "blend_lists_outlive_growth_before_their_submit",
        outlive_growth,
    ),
];

fn spec(seed: u64) -> Spec {
    Spec::default().seed(seed).points(700).joints(3).shapes(40)
}

fn pose(packed: &PackedSkin, seed: u64, made: &Made, weights: Vec<f32>) -> PackedPose {
    let palette = made.pose(seed).palette().cloned();
    PackedPose::with_palette(packed, palette, glam::DMat4::IDENTITY, weights)
        .expect("sizes that fit")
}

/// A few channels with a weight, around `first`.
fn few(rng: &mut Rng, count: usize, first: usize) -> Vec<f32> {
    let mut weights = vec![0.0; count];
    for i in 0..5 {
        if rng.chance(0.8) {
            weights[(first + i * 3) % count] = rng.range(-0.5, 1.5);
        }
    }
    weights
}

/// Sets that differ between instances and change from frame to frame, on whole skins and cut ones, with and without room.
fn equal_the_whole(gpu: &Gpu) -> Result<(), Failure> {
    let specs = [
        spec(1),
        spec(2).influences(Influences::None).normals(false),
        spec(3).face_varying(true).points(150),
    ];
    let mut skins = Vec::new();
    for spec in &specs {
        let made = made(spec)?;
        skins.push((made.packed.clone(), made));
    }
    // By render vertices, whose points come in another order.
    let shown = made(&spec(4).normals(false))?;
    let vertices = (0..900u32).map(|v| v * 7 % 700).collect();
    let packed = PackedSkin::clone(&shown.packed).with_vertices(RenderVertices::new(vertices))?;
    skins.push((Arc::new(packed), shown));

    for max_binding_bytes in [None, Some(40_000), Some(150_000), Some(400_000)] {
        let options = |never_active_lists| {
            let mut options = tight(max_binding_bytes, None);
            options.never_active_lists = never_active_lists;
            options
        };
        let mut crowds = [
            gpu.crowd_with(&options(false))?,
            gpu.crowd_with(&options(true))?,
        ];
        let mut ids: Vec<Vec<InstanceId>> = Vec::new();
        for crowd in &mut crowds {
            let mut of_crowd = Vec::new();
            for (packed, _) in &skins {
                let skin = crowd.add_skin(packed.clone())?;
                of_crowd.extend(crowd.add_instances(skin, 3)?);
            }
            ids.push(of_crowd);
        }
        let rng = &mut Rng::new(9);
        let mut listed = false;
        for frame in 0..6 {
            for (i, (a, b)) in ids[0].iter().zip(&ids[1]).enumerate() {
                let (packed, made) = &skins[i / 3];
                // The third goes by all channels in some frames, and from set to set.
                let count = packed.channel_count();
                let weights = match (i % 3, frame % 3) {
                    (2, 1) => (0..count).map(|_| rng.range(-1.0, 1.0)).collect(),
                    (n, _) => few(rng, count, n * 2 + frame / 2 * n * 5),
                };
                let pose = pose(packed, frame as u64, made, weights);
                crowds[0].set_pose(*a, &pose)?;
                crowds[1].set_pose(*b, &pose)?;
            }
            let (got, want) = (crowds[0].run()?, crowds[1].run()?);
            for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                let text = format!("{max_binding_bytes:?}: frame {frame}, instance {i} differs");
                ensure(bits(got) == bits(want), &text)?;
            }
            listed |= crowds[0].last_upload_bytes() > crowds[1].last_upload_bytes() + 1000;
        }
        ensure(
            listed || max_binding_bytes == Some(40_000),
            "no list was ever made",
        )?;
    }
    Ok(())
}

fn uploaded(crowd: &mut Crowd) -> Result<u64, Failure> {
    crowd.submit()?;
    Ok(crowd.last_upload_bytes())
}

fn new_channels_only(gpu: &Gpu) -> Result<(), Failure> {
    let made = made(&spec(5))?;
    let packed = &made.packed;
    let count = packed.channel_count();
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(packed.clone())?;
    let ids = crowd.add_instances(skin, 2)?;
    let with = |channels: &[usize], weight: f32| {
        let mut weights = vec![0.0; count];
        channels.iter().for_each(|c| weights[*c] = weight);
        pose(packed, 0, &made, weights)
    };
    let (some, more) = ([0, 1, 5], [0, 1, 5, 9]);
    for id in &ids {
        crowd.set_pose(*id, &with(&some, 0.5))?;
    }
    uploaded(&mut crowd)?;
    // From the first to the last channel that changed, small gaps included.
    let of_weights = 2 * count as u64 * 4;
    let only_weights = |what: &str, bytes: u64| {
        let text = format!("{what}: {bytes} bytes, {of_weights} at most were expected");
        ensure(bytes > 0 && bytes <= of_weights, &text)
    };
    for weight in [0.25, 0.75, -0.3, 1.7] {
        crowd.set_pose(ids[0], &with(&some, weight))?;
        only_weights("weights alone", uploaded(&mut crowd)?)?;
    }
    // A row per point at least.
    let list = packed.point_count() as u64 * 4;
    crowd.set_pose(ids[0], &with(&more, 0.5))?;
    let bytes = uploaded(&mut crowd)?;
    ensure(bytes > list, &format!("another channel: {bytes} bytes"))?;
    crowd.set_pose(ids[0], &with(&some, 0.5))?;
    only_weights("the channel goes", uploaded(&mut crowd)?)?;
    crowd.set_pose(ids[0], &with(&more, 0.3))?;
    only_weights("the channel is back", uploaded(&mut crowd)?)?;
    // The other instance finds that list there; its item changes.
    crowd.set_pose(ids[1], &with(&more, 0.6))?;
    let bytes = uploaded(&mut crowd)?;
    ensure(
        bytes < list,
        &format!("a list that is shared: {bytes} bytes"),
    )?;

    // A list whose encoder is dropped is uploaded by the next.
    let (pose_0, pose_1) = (with(&[2, 6], 0.4), with(&[10, 12], 0.9));
    crowd.set_pose(ids[0], &pose_0)?;
    crowd.set_pose(ids[1], &pose_1)?;
    let mut dropped = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    crowd.encode(&mut dropped)?;
    drop(dropped);
    let results = crowd.run()?;
    agrees(&results[0], &made.on_cpu(&pose_0))?;
    agrees(&results[1], &made.on_cpu(&pose_1))?;

    // A crowd that is made again has lists too.
    let mut fresh = gpu.crowd()?;
    let skin = fresh.add_skin(packed.clone())?;
    let ids = fresh.add_instances(skin, 2)?;
    fresh.set_pose(ids[0], &pose_0)?;
    fresh.set_pose(ids[1], &pose_1)?;
    let expected = uploaded(&mut fresh)?;
    let skinner = gpu.skinner(&SkinnerOptions::default())?;
    let found = uploaded(&mut crowd.rebuild(&skinner)?)?;
    ensure(
        found == expected && found > list,
        &format!("made again: {found} bytes, {expected} expected"),
    )
}

/// Growing copies what is on the GPU, and a list that is recorded is not there yet.
fn outlive_growth(gpu: &Gpu) -> Result<(), Failure> {
    let made = made(&spec(8))?;
    let packed = &made.packed;
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(packed.clone())?;
    let id = crowd.add_instance(skin)?;
    let mut weights = vec![0.0; packed.channel_count()];
    (weights[1], weights[4]) = (0.7, -0.2);
    let pose = pose(packed, 0, &made, weights);
    crowd.set_pose(id, &pose)?;
    let new = || gpu.device.create_command_encoder(&Default::default());
    let mut encoders = [new(), new()];
    crowd.encode(&mut encoders[0])?;
    ensure(
        crowd.last_upload_bytes() > packed.point_count() as u64 * 4,
        "no list was made",
    )?;
    let before = crowd.buffer_bytes();
    let large = crate::crowds::made::made(&spec(9).points(20_000))?;
    crowd.add_skin(large.packed.clone())?;
    ensure(crowd.buffer_bytes() > before, "nothing grew")?;
    crowd.encode(&mut encoders[1])?;
    gpu.queue.submit(encoders.map(|encoder| encoder.finish()));
    agrees(&crowd.read(&[id])?[0], &made.on_cpu(&pose))
}
