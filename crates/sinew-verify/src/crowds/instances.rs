//! Instances and skins are added, removed and hidden, one by one and by the thousand.

use std::sync::Arc;

use crate::{Failure, ensure};
use sinew::gpu::{BoundsUse, GpuError, InstanceId, SkinnerOptions};

use crate::cases::{Influences, Spec};
use crate::check::Checks;
use crate::crowds::made::{TWENTY, add_posed, agrees, crowd_of, made};
use crate::host::{Gpu, posed, wrong_use};

pub const CHECKS: Checks = &[
    ("removed_room_is_used_again", room_is_used_again),
    ("removed_ids_are_refused", removed_ids),
    ("skins_are_removed", skins),
    ("huge_counts_are_errors_before_allocation", huge),
    ("ten_thousand_of_twenty_skins", ten_thousand),
    ("nothing_at_all_works", nothing),
    ("needed_limits_are_enough", needed_limits),
    ("poses_of_a_frame_beyond_a_buffer", poses_beyond_a_buffer),
];

/// A crowd that changes all the time does not grow for ever.
fn room_is_used_again(gpu: &Gpu) -> Result<(), Failure> {
    let mut crowd = gpu.crowd()?;
    let mut skins = Vec::new();
    for made in &*TWENTY {
        skins.push(crowd.add_skin(made.packed.clone())?);
    }
    let ids = (0..200).map(|i| crowd.add_instance(skins[i % 20]));
    let mut ids: Vec<InstanceId> = ids.collect::<Result<_, _>>()?;
    let (bytes, generation) = (crowd.buffer_bytes(), crowd.outputs_generation());
    for round in 0..50 {
        for i in 0..40 {
            let kind = (i * 7 + round) % 20;
            let old = ids[kind + 20 * (i % 10)];
            // Of the same skin, so that it fits to the byte.
            if crowd.remove_instance(old).is_ok() {
                ids[kind + 20 * (i % 10)] = crowd.add_instance(skins[kind])?;
            }
        }
    }
    ensure(crowd.instance_count() == 200, "instances went missing")?;
    ensure(crowd.instances().len() == 200, "the list went wrong")?;
    ensure(crowd.buffer_bytes() == bytes, "buffers grew")?;
    let same = crowd.outputs_generation() == generation;
    ensure(same, "buffers were replaced")?;
    ensure(crowd.index_count() <= 200, "indices were not used again")
}

fn removed_ids(gpu: &Gpu) -> Result<(), Failure> {
    let (made, mut crowd, skin) = crowd_of(gpu, &Spec::default())?;
    let old = posed(&mut crowd, skin, &made.pose(1))?;
    crowd.run()?;
    crowd.remove_instance(old)?;
    let new = crowd.add_instance(skin)?;
    ensure(
        new != old && new.index() == old.index(),
        "an index is used again under another id",
    )?;
    let removed = "an instance of another crowd, or one that is gone";
    wrong_use(removed, crowd.set_pose(old, &made.pose(1)))?;
    wrong_use(removed, crowd.set_hidden(old, true))?;
    wrong_use(removed, crowd.is_hidden(old))?;
    wrong_use(removed, crowd.points_on_gpu(old))?;
    wrong_use(removed, crowd.normals_on_gpu(old))?;
    wrong_use(removed, crowd.read(&[old]))?;
    wrong_use(removed, crowd.remove_instance(old))?;
    // Whatever lay in its place is not its own result.
    wrong_use("expected a frame", crowd.read(&[new]))?;
    crowd.clear_instances();
    wrong_use(removed, crowd.set_pose(new, &made.pose(1)))?;
    let last = crowd.add_instance(skin)?;
    ensure(last != new && last != old, "an id came again")
}

/// Skins come and go, and their room is used again.
fn skins(gpu: &Gpu) -> Result<(), Failure> {
    let base = Spec::default().shapes(4);
    let made = [made(&base), made(&base.face_varying(true))];
    let mut crowd = gpu.crowd()?;
    let mut bytes = 0;
    for round in 0..40 {
        let skin = crowd.add_skin(Arc::clone(&made[round % 2].packed))?;
        let id = crowd.add_instance(skin)?;
        wrong_use("/Case", crowd.remove_skin(skin))?;
        crowd.remove_instance(id)?;
        crowd.remove_skin(skin)?;
        ensure(crowd.remove_skin(skin).is_err(), "removed twice")?;
        ensure(crowd.add_instance(skin).is_err(), "an instance of no skin")?;
        if round == 4 {
            bytes = crowd.buffer_bytes();
        }
    }
    ensure(crowd.buffer_bytes() == bytes, "room is not used again")
}

fn huge(gpu: &Gpu) -> Result<(), Failure> {
    let [made, empty] = [1000, 0].map(|points| made(&Spec::default().points(points)));
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(made.packed.clone())?;
    let of_nothing = crowd.add_skin(empty.packed.clone())?;
    posed(&mut crowd, skin, &made.pose(1))?;
    crowd.run()?;
    let bytes = crowd.buffer_bytes();
    // Nothing is done for each of so many: 2^64 of anything would never end.
    let counts = [4_000_000, 100_000_000, u32::MAX as usize, usize::MAX];
    for (skin, counts) in [(skin, &counts[..]), (of_nothing, &counts[1..])] {
        for count in counts {
            let added = crowd.add_instances(skin, *count).map(drop);
            for error in [added, crowd.reserve_instances(skin, *count)] {
                match error {
                    Err(GpuError::Limit { asked, limit, .. }) if asked > limit => {}
                    other => return Err(format!("{count}: {other:?}").into()),
                }
            }
        }
    }
    ensure(crowd.buffer_bytes() == bytes, "something was allocated")?;
    // A budget of the host's own.
    let mut budget = SkinnerOptions::default();
    budget.max_output_bytes = Some(10 * 24_000);
    let mut small = gpu.skinner(&budget)?.crowd();
    let skin = small.add_skin(made.packed.clone())?;
    let ids = small.add_instances(skin, 10)?;
    ensure(small.add_instance(skin).is_err(), "beyond the budget")?;
    small.remove_instance(ids[3])?;
    small.add_instance(skin)?;
    agrees(&crowd.run()?[0], &made.on_cpu(&made.pose(1)))
}

fn ten_thousand(gpu: &Gpu) -> Result<(), Failure> {
    let mut crowd = gpu.crowd()?;
    let mut skins = Vec::new();
    for made in &*TWENTY {
        // 25 poses of each skin, so that some share a palette and most neighbours do not.
        let poses: Vec<_> = (0..25).map(|seed| made.pose(seed)).collect();
        skins.push((crowd.add_skin(made.packed.clone())?, poses));
    }
    let mut dispatches = Vec::new();
    for count in [100, 10_000] {
        for i in crowd.instance_count()..count {
            let (skin, poses) = &skins[i % 20];
            posed(&mut crowd, *skin, &poses[i / 20 % 25])?;
        }
        dispatches.push(crowd.dispatch_count()?);
    }
    let text = format!("dispatches depend on the number of instances: {dispatches:?}");
    ensure(dispatches[1] <= dispatches[0], &text)?;
    crowd.submit()?;
    // Recorded again with the pipelines that are there by now.
    crowd.encode(&mut gpu.encoder())?;
    let checked = crowd.instances().into_iter().enumerate().step_by(37);
    let (places, some): (Vec<usize>, Vec<InstanceId>) = checked.unzip();
    for (i, got) in places.into_iter().zip(crowd.read(&some)?) {
        agrees(&got, &TWENTY[i % 20].on_cpu(&skins[i % 20].1[i / 20 % 25]))?;
    }
    Ok(())
}

fn nothing(gpu: &Gpu) -> Result<(), Failure> {
    let mut crowd = gpu.crowd()?;
    crowd.enable_bounds(BoundsUse::ReadBack)?;
    ensure(crowd.run()?.is_empty(), "results of nothing")?;
    let skin = crowd.add_skin(made(&Spec::default()).packed)?;
    ensure(crowd.add_instances(skin, 0)?.is_empty(), "no ids")?;
    ensure(crowd.run()?.is_empty(), "results of no instance")?;
    let bare = Spec::default().joints(0).influences(Influences::None);
    for spec in [Spec::default().points(0), bare, bare.points(0)].map(|s| s.shapes(2)) {
        let made = made(&spec);
        let ids = add_posed(&mut crowd, &made.packed, &[made.pose(3)])?;
        agrees(&crowd.run()?[0], &made.on_cpu(&made.pose(3)))?;
        crowd.remove_instance(ids[0])?;
    }
    ensure(crowd.run()?.is_empty(), "results of removed instances")
}

/// What a device needs at least.
fn needed() -> wgpu::Limits {
    sinew::gpu::needed_limits(&wgpu::Limits::downlevel_webgl2_defaults())
}

/// Poses of one frame that no single buffer holds.
fn poses_beyond_a_buffer(gpu: &Gpu) -> Result<(), Failure> {
    const BYTES: u64 = 1 << 16;
    let gpu = gpu.with_limits(wgpu::Limits {
        max_buffer_size: BYTES,
        max_storage_buffer_binding_size: BYTES,
        ..needed()
    })?;
    let spec = Spec::default().points(50);
    let (made, mut crowd, skin) = crowd_of(&gpu, &spec)?;
    for seed in 0..300 {
        posed(&mut crowd, skin, &made.pose(seed))?;
    }
    let all = crowd.run()?;
    let bytes = crowd.last_upload_bytes();
    ensure(bytes > BYTES, "more than a buffer holds")?;
    for (seed, got) in (0..).zip(&all) {
        agrees(got, &made.on_cpu(&made.pose(seed)))?;
    }
    Ok(())
}

/// Everything on a device that has what is asked for, and not a bit more; and without some of it.
fn needed_limits(gpu: &Gpu) -> Result<(), Failure> {
    let needed = needed();
    let gpu = gpu.with_limits(needed.clone())?;
    let mut crowd = gpu.crowd()?;
    crowd.enable_bounds(BoundsUse::ReadBack)?;
    for made in &*TWENTY {
        add_posed(&mut crowd, &made.packed, &[made.pose(4)])?;
    }
    for (got, made) in crowd.run()?.iter().zip(&*TWENTY) {
        agrees(got, &made.on_cpu(&made.pose(4)))?;
    }
    let few = wgpu::Limits {
        max_storage_buffers_per_shader_stage: needed.max_storage_buffers_per_shader_stage - 1,
        ..needed
    };
    let few_bindings = few.max_storage_buffers_per_shader_stage;
    let less = gpu.with_limits(few)?;
    if less.device.limits().max_storage_buffers_per_shader_stage > few_bindings {
        // A browser gives no less than WebGPU's defaults.
        return Ok(());
    }
    match less.skinner(&SkinnerOptions::default()) {
        Err(error) if format!("{error:?}").contains("max_storage_buffers_per_shader_stage") => {
            Ok(())
        }
        other => Err(format!("{:?}", other.map(drop)).into()),
    }
}
