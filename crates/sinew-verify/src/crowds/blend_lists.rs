//! Lists of the blend entries that instances use: what they cost. `playing/edits.rs` compares them with
//! the whole list.

use crate::{Failure, ensure};
use sinew::gpu::{Crowd, SkinnerOptions};

use crate::cases::Spec;
use crate::check::Checks;
use crate::crowds::made::{agrees, crowd_of, made};
use crate::host::Gpu;

pub const CHECKS: Checks = &[
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

fn uploaded(crowd: &mut Crowd) -> Result<u64, Failure> {
    crowd.submit()?;
    Ok(crowd.last_upload_bytes())
}

fn new_channels_only(gpu: &Gpu) -> Result<(), Failure> {
    let (made, mut crowd, skin) = crowd_of(gpu, &spec(5))?;
    let packed = &made.packed;
    let count = packed.channel_count();
    let ids = crowd.add_instances(skin, 2)?;
    let with = |channels: &[usize], weight: f32| {
        let mut weights = vec![0.0; count];
        channels.iter().for_each(|c| weights[*c] = weight);
        made.posed_by(made.pose(0).palette().cloned(), weights)
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
    crowd.encode(&mut gpu.encoder())?;
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
    let (made, mut crowd, skin) = crowd_of(gpu, &spec(8))?;
    let packed = &made.packed;
    let id = crowd.add_instance(skin)?;
    let mut weights = vec![0.0; packed.channel_count()];
    (weights[1], weights[4]) = (0.7, -0.2);
    let pose = made.posed_by(made.pose(0).palette().cloned(), weights);
    crowd.set_pose(id, &pose)?;
    let mut encoders = [gpu.encoder(), gpu.encoder()];
    crowd.encode(&mut encoders[0])?;
    ensure(
        crowd.last_upload_bytes() > packed.point_count() as u64 * 4,
        "no list was made",
    )?;
    let before = crowd.buffer_bytes();
    let large = self::made(&spec(9).points(20_000));
    crowd.add_skin(large.packed.clone())?;
    ensure(crowd.buffer_bytes() > before, "nothing grew")?;
    crowd.encode(&mut encoders[1])?;
    gpu.queue.submit(encoders.map(|encoder| encoder.finish()));
    agrees(&crowd.read(&[id])?[0], &made.on_cpu(&pose))
}
