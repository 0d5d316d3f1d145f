//! What a process does before its first result: time, drivers, pipelines.

use std::sync::Arc;
use std::time::Duration;

use crate::bench::Folder;
use common::cases::{self, Spec};
use common::command::{stderr, stdout};
use common::{gpu, processor, stages};
use libtest_mimic::{Completion, Failed};
use sinew::gpu::{Skinner, SkinnerOptions};
use sinew::kernel::{PackedPose, PackedSkin};

/// The goal is 50 ms for a release build on a machine that does nothing else. What it takes of all processors does not depend
/// on the tests beside it, but they build without optimisation, and processors differ.
pub fn inspect_of_a_megabyte_is_quick() {
    const MOST: Duration = Duration::from_millis(10 * 50);
    let folder = Folder::new();
    // 40 joints with keys at 40 times, and 12,000 points.
    let text = stages::repeated(include_str!("megabyte.usda"));
    assert!(
        (1_000_000..1_300_000).contains(&text.len()),
        "{}",
        text.len()
    );
    folder.0.write("hero.usda", text);
    let mut best = Duration::MAX;
    for _ in 0..8 {
        let mut inspect = folder.command("inspect hero.usda");
        let (output, took) = processor::of_command(&mut inspect).unwrap();
        best = best.min(took);
        let told = stdout(&output);
        assert!(told.contains("12,000 points"), "{told}{}", stderr(&output));
    }
    assert!(best <= MOST, "{best:?} at best");
}

/// Khronos' loader says that it is there, where it is asked to.
pub fn drivers_are_loaded_when_needed() {
    let folder = Folder::new();
    let loads = |line: &str| {
        let mut command = folder.command(line);
        let output = command.env("VK_LOADER_DEBUG", "all").output().unwrap();
        let told = stderr(&output);
        assert!(output.status.success(), "{line}: {told}");
        told.contains("Vulkan Loader")
    };
    let is_shown = !cfg!(target_os = "linux") || loads("devices");
    assert!(
        is_shown,
        "`sinew devices` loads none, so this shows nothing"
    );
    for line in [
        "inspect hatchling.usda",
        "inspect hatchling.usda --json",
        "bake --backend cpu --frames 0:1 -o out.usdc hatchling.usda",
        "completions bash",
    ] {
        assert!(!loads(line), "{line}");
    }
}

pub fn pipelines_are_kept_in_the_hosts_cache() -> Result<Completion, Failed> {
    let gpu = gpu::device()?;
    let (device, queue) = (gpu.device(), gpu.queue());
    if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
        // Only Vulkan has it.
        return match gpu.report().backend.as_str() {
            "vulkan" => Err("no pipeline cache on Vulkan".into()),
            other => Ok(Completion::ignored_with(format!("none on {other}"))),
        };
    }
    let skin = cases::skin(&Spec::default());
    let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
    let pose = PackedPose::pack(&packed, &cases::pose(&skin, 1))?;
    let run = |data: Option<&[u8]>| -> Result<(Vec<[u32; 3]>, Vec<u8>), Failed> {
        // SAFETY: bytes that a cache gave, or nothing; what is broken does not get past wgpu's header.
        let cache = unsafe {
            device.create_pipeline_cache(&wgpu::PipelineCacheDescriptor {
                label: Some("test"),
                data,
                fallback: true,
            })
        };
        let mut options = SkinnerOptions::default();
        options.pipeline_cache = Some(cache.clone());
        let mut crowd = Skinner::new(device, queue, &options)?.crowd();
        let id = crowd.add_skin(Arc::clone(&packed))?;
        let instance = crowd.add_instance(id)?;
        crowd.set_pose(instance, &pose)?;
        let results = crowd.run()?;
        let points = results.iter().flat_map(|d| &d.points);
        let bits = points.map(|p| p.to_array().map(f32::to_bits)).collect();
        Ok((bits, cache.get_data().ok_or("no data of the cache")?))
    };
    let (first, data) = run(None)?;
    let mut broken = data.clone();
    broken[..16].fill(0xff);
    for data in [&data, &broken, &data[..data.len() / 2]] {
        assert_eq!(run(Some(data))?.0, first);
    }
    assert!(!first.is_empty());
    Ok(Completion::Completed)
}
