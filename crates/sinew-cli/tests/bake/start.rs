//! What a process does before its first result: time, drivers, pipelines.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use common::cases::{self, Spec};
use common::command::{Bench, stderr, stdout};
use common::gpu;
use common::processor;
use common::trials::Trial;
use libtest_mimic::{Completion, Failed};
use sinew::gpu::{Crowd, Deformed, Skinner, SkinnerOptions};
use sinew::kernel::{PackedPose, PackedSkin};

pub fn trials() -> Vec<Trial> {
    let ignored = gpu::ignored();
    let on_gpu =
        |name, run: fn() -> Result<(), Failed>| Trial::test(name, run).with_ignored_flag(ignored);
    let trials = vec![
        Trial::test("inspect_of_a_megabyte_is_quick", quick),
        on_gpu("drivers_are_loaded_when_needed", drivers),
        on_gpu("pipelines_are_compiled_when_needed", pipelines),
        Trial::ignorable("pipelines_are_kept_in_the_hosts_cache", cache).with_ignored_flag(ignored),
    ];
    trials
}

/// A character in 1.0 to 1.3 MB of text.
fn megabyte(bench: &Bench) -> Result<PathBuf, Failed> {
    const JOINTS: usize = 40;
    const POINTS: usize = 12_000;
    let list = |count: usize, one: &dyn Fn(usize) -> String| {
        (0..count).map(one).collect::<Vec<_>>().join(", ")
    };
    let path = |j: usize| {
        (0..=j)
            .map(|i| format!("j{i}"))
            .collect::<Vec<_>>()
            .join("/")
    };
    let names = list(JOINTS, &|j| format!("\"{}\"", path(j)));
    let bind = |j: usize| format!("((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,{},0,1))", j as f64 * 0.1);
    let binds = list(JOINTS, &bind);
    let rest = list(JOINTS, &|j| bind(j.min(1)));
    let frames = |one: &dyn Fn(usize, usize) -> String| {
        list(40, &|t| format!("{t}: [{}]", list(JOINTS, &|j| one(t, j))))
    };
    let turns = frames(&|t, j| format!("(0.9{}, 0.3, 0.{}, 0)", j % 10, t % 10));
    let moves = frames(&|t, j| format!("(0, {}, 0.{t:02})", (j > 0) as usize as f64 * 0.1));
    let scales = list(JOINTS, &|_| "(1, 1, 1)".into());
    let number = |i: usize, k: usize| ((i * 7919 + k * 104_729) % 20_011) as f64 / 10_000.0;
    let points = list(POINTS, &|i| {
        format!("({}, {}, {})", number(i, 0), number(i, 1), number(i, 2))
    });
    let faces = POINTS - 2;
    let corners = list(faces, &|i| format!("{i}, {}, {}", i + 1, i + 2));
    let joints = list(POINTS * 4, &|i| (i * 31 % JOINTS).to_string());
    let weights = list(POINTS * 4, &|i| ["0.4", "0.3", "0.2", "0.1"][i % 4].into());
    let mut text = String::new();
    write!(
        text,
        r#"#usda 1.0
(
    defaultPrim = "Hero"
)
def SkelRoot "Hero"
{{
    def Skeleton "Skel" (prepend apiSchemas = ["SkelBindingAPI"])
    {{
        uniform token[] joints = [{names}]
        uniform matrix4d[] bindTransforms = [{binds}]
        uniform matrix4d[] restTransforms = [{rest}]
        rel skel:animationSource = </Hero/Anim>
    }}
    def SkelAnimation "Anim"
    {{
        uniform token[] joints = [{names}]
        half3[] scales = [{scales}]
        quatf[] rotations.timeSamples = {{ {turns} }}
        float3[] translations.timeSamples = {{ {moves} }}
    }}
    def Mesh "Body" (prepend apiSchemas = ["SkelBindingAPI"])
    {{
        point3f[] points = [{points}]
        int[] faceVertexCounts = [{counts}]
        int[] faceVertexIndices = [{corners}]
        rel skel:skeleton = </Hero/Skel>
        int[] primvars:skel:jointIndices = [{joints}] (elementSize = 4; interpolation = "vertex")
        float[] primvars:skel:jointWeights = [{weights}] (elementSize = 4; interpolation = "vertex")
    }}
}}
"#,
        counts = list(faces, &|_| "3".into()),
    )?;
    if !(1_000_000..1_300_000).contains(&text.len()) {
        return Err(format!("{} bytes", text.len()).into());
    }
    Ok(bench.write("hero.usda", text))
}

fn sinew() -> Command {
    Command::new(env!("CARGO_BIN_EXE_sinew"))
}

/// The goal is 50 ms for a release build on a machine that does nothing else. What it takes of all processors does not depend
/// on the tests beside it, but they build without optimisation, and processors differ.
fn quick() -> Result<(), Failed> {
    const MOST: Duration = Duration::from_millis(10 * 50);
    let bench = Bench::new();
    let file = megabyte(&bench)?;
    let mut best = Duration::MAX;
    for _ in 0..8 {
        let (output, took) = processor::of_command(sinew().arg("inspect").arg(&file))?;
        best = best.min(took);
        if !output.status.success() || !stdout(&output).contains("12,000 points") {
            return Err(format!("{}{}", stdout(&output), stderr(&output)).into());
        }
    }
    println!("{best:?}");
    match best <= MOST {
        true => Ok(()),
        false => Err(format!("{best:?} at best").into()),
    }
}

/// Khronos' loader says that it is there, where it is asked to.
fn drivers() -> Result<(), Failed> {
    let bench = Bench::new();
    let file = megabyte(&bench)?;
    let out = bench.path("out.usdc");
    let run = |args: &[&str], more: &[&std::path::Path]| -> Result<bool, Failed> {
        let output = sinew()
            .args(args)
            .args(more)
            .env("VK_LOADER_DEBUG", "all")
            .output()?;
        match output.status.success() {
            true => Ok(stderr(&output).contains("Vulkan Loader")),
            false => Err(stderr(&output).into()),
        }
    };
    if cfg!(target_os = "linux") && !run(&["devices"], &[])? {
        return Err("`sinew devices` loads no drivers, so this shows nothing".into());
    }
    for (args, more) in [
        (&["inspect"][..], &[&*file][..]),
        (&["inspect", "--json"], &[&file]),
        (
            &["bake", "--backend", "cpu", "--frames", "0:1", "-o"],
            &[&out, &file],
        ),
        (&["completions", "bash"], &[]),
    ] {
        if run(args, more)? {
            return Err(format!("sinew {args:?} loads drivers").into());
        }
    }
    Ok(())
}

/// A crowd of one instance.
fn one(skinner: &Skinner, spec: &Spec) -> Result<Crowd, Failed> {
    let skin = cases::skin(spec);
    let packed = std::sync::Arc::new(PackedSkin::pack("/Case", &skin)?);
    let mut crowd = skinner.crowd();
    let id = crowd.add_skin(std::sync::Arc::clone(&packed))?;
    let instance = crowd.add_instance(id)?;
    crowd.set_pose(
        instance,
        &PackedPose::pack(&packed, &cases::pose(&skin, 1)).unwrap(),
    )?;
    Ok(crowd)
}

fn bits(results: &[Deformed]) -> Vec<u32> {
    let points = results.iter().flat_map(|d| &d.points);
    points
        .flat_map(|p| p.to_array().map(f32::to_bits))
        .collect()
}

fn pipelines() -> Result<(), Failed> {
    let device = gpu::device()?;
    let skinner = Skinner::new(device.device(), device.queue(), &SkinnerOptions::default())?;
    let mut counts = vec![skinner.compiled()];
    let plain = Spec {
        normals: false,
        ..Spec::default()
    };
    let shapes = Spec {
        shapes: 5,
        ..Spec::default()
    };
    for spec in [plain, plain, shapes, plain, shapes] {
        one(&skinner, &spec)?.run()?;
        counts.push(skinner.compiled());
    }
    // One to skin by, then another with blend shapes and one for their weights.
    match counts == [0, 1, 1, 3, 3, 3] {
        true => Ok(()),
        false => Err(format!("{counts:?}").into()),
    }
}

fn cache() -> Result<Completion, Failed> {
    let device = gpu::device()?;
    let feature = wgpu::Features::PIPELINE_CACHE;
    if !device.device().features().contains(feature) {
        // Only Vulkan has it.
        return match device.report().backend.as_str() {
            "vulkan" => Err("no pipeline cache on Vulkan".into()),
            other => Ok(Completion::ignored_with(format!(
                "no pipeline cache on {other}"
            ))),
        };
    }
    let spec = Spec::default();
    let run = |data: Option<&[u8]>| -> Result<(Vec<u32>, Vec<u8>, Duration), Failed> {
        let (device, queue) = (device.device(), device.queue());
        // SAFETY: bytes that a cache gave, or nothing; what is broken does not get past wgpu's header.
        let cache = unsafe {
            device.create_pipeline_cache(&wgpu::PipelineCacheDescriptor {
                label: Some("test"),
                data,
                fallback: true,
            })
        };
        let options = SkinnerOptions {
            pipeline_cache: Some(cache.clone()),
            ..SkinnerOptions::default()
        };
        let skinner = Skinner::new(device, queue, &options)?;
        let mut crowd = one(&skinner, &spec)?;
        let start = Instant::now();
        let results = bits(&crowd.run()?);
        let data = cache.get_data().ok_or("no data of the cache")?;
        Ok((results, data, start.elapsed()))
    };
    let (first, data, cold) = run(None)?;
    let (second, _, warm) = run(Some(&data))?;
    println!("{cold:?}, then {warm:?}, of {} bytes", data.len());
    let mut broken = data.clone();
    broken[..16].fill(0xff);
    let (third, ..) = run(Some(&broken))?;
    let (fourth, ..) = run(Some(&data[..data.len() / 2]))?;
    match first == second && first == third && first == fourth && !first.is_empty() {
        true => Ok(Completion::Completed),
        false => Err("results differ".into()),
    }
}
