//! Ray tracing of what is skinned: the example's pictures, and acceleration structures of results.
//!
//! It needs a driver with ray queries. Where this machine's has none, SINEW_MESA names a program that runs another one on
//! a driver that has (tests/run.sh makes it).

use std::path::PathBuf;
use std::process::Command;

use common::command::Bench;
use common::trials::Trial;
use glam::{Vec3, Vec4};
use host::{Framing, Orbit};
use image::RgbaImage;
use sinew::gpu::{
    Attribute, BlasTriangles, Crowd, GpuError, OutputTarget, Skinner, SkinnerOptions,
};
use sinew::sampled::Time;
use sinew::wgpu;
use sinew_character::{Character, CharacterOptions};
use wgpu::util::DeviceExt;

use crate::{asset, picture_on, points, shown};

const MESA: &str = "SINEW_MESA";

pub fn trials() -> Vec<Trial> {
    let no_gpu = common::gpu::ignored();
    let launcher = std::env::var_os(MESA)
        .filter(|m| !m.is_empty())
        .map(PathBuf::from);
    let is_here = !no_gpu && adapter().is_some();
    let is_missing = !is_here && launcher.is_none();
    // None where programs need no help.
    let launcher = launcher.filter(|_| !is_here);
    let trials: [(_, fn(Option<PathBuf>)); 3] = [
        ("a_traced_silhouette_is_the_rasterised_one", silhouette),
        ("shadows_and_reflections_lie_on_the_ground", ground),
        ("structures_follow_results", structures),
    ];
    let trials = trials.into_iter().map(|(name, run)| {
        let launcher = launcher.clone();
        let trial = Trial::test(name, move || {
            run(launcher);
            Ok(())
        });
        let reason = if is_missing && !no_gpu {
            "needs SINEW_MESA"
        } else {
            ""
        };
        trial
            .with_kind(reason)
            .with_ignored_flag(no_gpu || is_missing)
    });
    trials.collect()
}

const RAYS: wgpu::Features = wgpu::Features::EXPERIMENTAL_RAY_QUERY;

/// An adapter with ray queries.
fn adapter() -> Option<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let all = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    all.into_iter().find(|a| a.features().contains(RAYS))
}

const SIZE: [u32; 2] = [320, 240];

fn drawn(
    launcher: &Option<PathBuf>,
    example: &str,
    [width, height]: [u32; 2],
    args: &[&str],
) -> RgbaImage {
    let size = format!("{width}x{height}");
    let mut all = vec!["--size", &size];
    all.extend(args);
    picture_on(launcher.as_deref(), &Bench::new(), example, &all).0
}

/// The same pixels show the character, but for those that its outline crosses. The last of several frames shows that
/// structures are updated.
fn silhouette(launcher: Option<PathBuf>) {
    for (name, seconds, frames) in [
        ("hatchling.usda", "0.5", "1"),
        ("hatchling.usda", "0.5", "12"),
        ("puppet.glb", "0.25", "12"),
    ] {
        let file = asset(name);
        let mut args = vec![
            file.to_str().unwrap(),
            "--seconds",
            seconds,
            "--frames",
            frames,
        ];
        // A ray goes through the middle of a pixel, and the renderer blends what its samples see: nine of its pixels
        // say of each whether the outline crosses it.
        let rasterised = shown(&drawn(&launcher, "renderer", SIZE.map(|s| s * 3), &args));
        args.push("--bare");
        let traced = shown(&drawn(&launcher, "ray_traced", SIZE, &args));
        let (mut inside, mut crossed, mut slipped) = (0, 0, 0);
        for (y, row) in traced.iter().enumerate() {
            for (x, is_hit) in row.iter().enumerate() {
                let rows = &rasterised[3 * y..3 * y + 3];
                let covered = rows.iter().flat_map(|row| &row[3 * x..3 * x + 3]);
                let covered = covered.filter(|is_covered| **is_covered).count();
                inside += usize::from(covered == 9);
                crossed += usize::from((1..9).contains(&covered));
                // lavapipe lets single rays through where all around them hit: 1 pixel of 8,000 here. Wrong positions
                // miss along an outline.
                let (low, left) = (y.saturating_sub(1), x.saturating_sub(1));
                let mut around = (low..=y + 1).flat_map(|v| (left..=x + 1).map(move |u| (v, u)));
                match covered {
                    9 if !is_hit && around.all(|at| at == (y, x) || traced[at.0][at.1]) => {
                        slipped += 1;
                    }
                    0 | 9 => assert_eq!(*is_hit, covered == 9, "{name}, {frames} frames: {x}, {y}"),
                    _ => {}
                }
            }
        }
        assert!(
            inside > 4 * crossed && slipped <= 2,
            "{name}: {inside}, {crossed}, {slipped}"
        );
    }
}

/// The ground is dimmer where the sun and the lamp take points of the character to it, and not plain where it mirrors them.
fn ground(launcher: Option<PathBuf>) {
    let name = "hatchling.usda";
    let file = asset(name);
    let args = [file.to_str().unwrap(), "--seconds", "0.5"];
    let picture = drawn(&launcher, "ray_traced", SIZE, &args);
    let bare = shown(&drawn(
        &launcher,
        "ray_traced",
        SIZE,
        &[args[0], args[1], args[2], "--bare"],
    ));

    let scene = sinew_io::open(&file)
        .unwrap()
        .scene(Default::default())
        .unwrap();
    let time = |seconds: f64| Time::At(1.0 + 24.0 * seconds);
    let framed = [0.0, 0.5, 1.0, 1.5].map(|s| points(&scene, time(s)));
    let framing = Framing::of(framed.into_iter().flatten(), false);
    let camera = Orbit::new(&framing, SIZE).clip_from_world(&framing, SIZE);
    let points = points(&scene, time(0.5));
    let low = framing.low.y;
    let size = (framing.high - framing.low).length();
    // Pixels of the ground that points are seen at, each once.
    let pixels = |place: &dyn Fn(Vec3) -> Vec3| {
        let mut out: Vec<[u32; 2]> = points
            .iter()
            .map(|point| {
                let at = camera.project_point3(place(*point));
                [0.5 + 0.5 * at.x, 0.5 - 0.5 * at.y]
            })
            .filter(|at| at.iter().all(|c| (0.02..0.98).contains(c)))
            .map(|[x, y]| [(x * SIZE[0] as f32) as u32, (y * SIZE[1] as f32) as u32])
            .filter(|[x, y]| !bare[*y as usize][*x as usize])
            .collect();
        out.sort_unstable();
        out.dedup();
        out
    };
    let sun = Vec3::new(0.48, 0.72, 0.5);
    let shadow = pixels(&|p| p - sun * ((p.y - low) / sun.y));
    let middle = (framing.low + framing.high) * 0.5;
    let lamp = Vec3::new(middle.x, low, middle.z) + size * Vec3::new(-1.3, 1.2, 0.7);
    let soft = pixels(&|p| p + (p - lamp) * ((p.y - low) / (lamp.y - p.y)));
    let mirrored = pixels(&|p| Vec3::new(p.x, 2.0 * low - p.y, p.z));
    let brightness = |at: &[u32; 2]| {
        let pixel = picture.get_pixel(at[0], at[1]).0;
        pixel[..3].iter().map(|c| f64::from(*c)).sum::<f64>() / 3.0
    };
    // The ground in the same rows, where it has none of the three.
    let compared = |places: &[[u32; 2]], value: &dyn Fn(&[u32; 2]) -> f64| {
        let is_free = |at: &[u32; 2]| {
            let near = |others: &[[u32; 2]]| {
                others
                    .iter()
                    .any(|o| o[0].abs_diff(at[0]) < 8 && o[1].abs_diff(at[1]) < 8)
            };
            !bare[at[1] as usize][at[0] as usize]
                && !near(&shadow)
                && !near(&soft)
                && !near(&mirrored)
        };
        let mean = |values: Vec<f64>| {
            assert!(values.len() > 50, "{} pixels", values.len());
            values.iter().sum::<f64>() / values.len() as f64
        };
        let mut rows: Vec<u32> = places.iter().map(|at| at[1]).collect();
        rows.sort_unstable();
        rows.dedup();
        let free = rows.iter().flat_map(|y| (4..SIZE[0]).map(move |x| [x, *y]));
        let free = mean(free.filter(is_free).map(|at| value(&at)).collect());
        [mean(places.iter().map(value).collect()), free]
    };
    let [dark, free] = compared(&shadow, &brightness);
    assert!(dark < free - 20.0, "the sun's shadow: {dark} beside {free}");
    let [dim, free] = compared(&soft, &brightness);
    assert!(dim < free - 4.0, "the lamp's shadow: {dim} beside {free}");
    // Elsewhere the ground mirrors the sky, and hardly differs from its neighbours to the left.
    let change = |at: &[u32; 2]| {
        let [here, beside] = [at[0], at[0] - 4].map(|x| picture.get_pixel(x, at[1]).0);
        let channels = here.iter().zip(beside);
        channels.map(|(a, b)| f64::from(a.abs_diff(b))).sum()
    };
    let [changes, free] = compared(&mirrored, &change);
    assert!(
        changes > 4.0 * free,
        "the reflection: {changes} beside {free}"
    );
}

/// Nearest hits of rays through one structure.
const PROGRAM: &str = "
enable wgpu_ray_query;
@group(0) @binding(0) var scene: acceleration_structure;
@group(0) @binding(1) var<storage, read> rays: array<array<vec4<f32>, 2>>;
@group(0) @binding(2) var<storage, read_write> distances: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&rays) { return; }
    let ray = rays[id.x];
    var query: ray_query;
    rayQueryInitialize(&query, scene, RayDesc(0u, 0xff, 0.0, 1e6, ray[0].xyz, ray[1].xyz));
    while rayQueryProceed(&query) {}
    let hit = rayQueryGetCommittedIntersection(&query);
    distances[id.x] = select(-1.0, hit.t, hit.kind != RAY_QUERY_INTERSECTION_NONE);
}";

/// The nearest triangle that a ray hits if all are `margin` of their size larger, on the CPU.
fn nearest(meshes: &[(Vec<Vec3>, Vec<u32>)], [from, toward]: [Vec3; 2], margin: f32) -> f32 {
    let triangles = meshes.iter().flat_map(|(points, indices)| {
        let corners = indices.chunks_exact(3);
        corners.map(|c| [0, 1, 2].map(|i| points[c[i] as usize]))
    });
    let hits = triangles.filter_map(|[a, b, c]| {
        let (ab, ac) = (b - a, c - a);
        let across = toward.cross(ac);
        let det = ab.dot(across);
        let to = from - a;
        let u = to.dot(across) / det;
        let turned = to.cross(ab);
        let v = toward.dot(turned) / det;
        let is_hit = u >= -margin && v >= -margin && u + v <= 1.0 + margin;
        (det != 0.0 && is_hit).then_some(ac.dot(turned) / det)
    });
    hits.fold(f32::INFINITY, f32::min)
}

/// Rays meet the surface of each frame, whether results lie in the crowd's own buffers or in interleaved vertices.
fn structures(launcher: Option<PathBuf>) {
    if let Some(launcher) = launcher {
        let this = std::env::current_exe().unwrap();
        let name = "rays::structures_follow_results";
        let done = Command::new(launcher)
            .arg(this)
            .args(["--exact", name])
            .output()
            .unwrap();
        let told = common::command::stdout(&done) + &common::command::stderr(&done);
        assert!(done.status.success() && told.contains("1 passed"), "{told}");
        return;
    }
    let adapter = adapter().unwrap();
    let limits = wgpu::Limits::defaults().using_acceleration_structure_values(adapter.limits());
    let descriptor = wgpu::DeviceDescriptor {
        required_features: RAYS,
        required_limits: sinew::gpu::needed_limits(&limits),
        // SAFETY: experimental features may have faults, which would fail this test.
        experimental_features: unsafe { wgpu::ExperimentalFeatures::enabled() },
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
    let options = SkinnerOptions {
        blas_input: true,
        ..Default::default()
    };
    let skinner = Skinner::new(&device, &queue, &options).unwrap();
    let mut wanted = CharacterOptions::default();
    wanted.arrays = true;
    let file = asset("hatchling.usda");
    let mut hero = Character::load_with(&skinner, &file, &wanted).unwrap();
    let clip = hero.clips()[0].name().to_owned();
    hero.play(clip.as_str()).unwrap();
    let mut crowd = skinner.crowd();
    hero.update(&mut crowd, 0.0).unwrap();
    refused(&device, &queue, &hero, &crowd);

    // The first mesh goes to the caller's vertices of 32 bytes, behind five others.
    let first = hero.instances()[0];
    let count = hero.draws(&crowd).unwrap()[0].vertex_count;
    let vertices = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: (5 + u64::from(count)) * 32,
        usage: wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::BLAS_INPUT
            | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    let at = |offset: u64| Attribute::In {
        buffer: vertices.clone(),
        offset: 5 * 32 + offset,
        stride: 32,
    };
    let target = OutputTarget {
        positions: at(0),
        normals: Some(at(12)),
        ..OutputTarget::default()
    };
    crowd.set_target(first, target).unwrap();

    let flags = wgpu::AccelerationStructureFlags::ALLOW_UPDATE;
    let update_mode = wgpu::AccelerationStructureUpdateMode::PreferUpdate;
    let sizes = hero.draws(&crowd).unwrap();
    let sizes = sizes.iter().map(|draw| draw.triangles().unwrap().size);
    let blas = device.create_blas(
        &wgpu::CreateBlasDescriptor {
            label: None,
            flags,
            update_mode,
        },
        wgpu::BlasGeometrySizeDescriptors::Triangles {
            descriptors: sizes.collect(),
        },
    );
    let mut tlas = device.create_tlas(&wgpu::CreateTlasDescriptor {
        label: None,
        max_instances: 1,
        flags,
        update_mode,
    });
    let identity = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    tlas[0] = Some(wgpu::TlasInstance::new(&blas, identity, 0, 0xff));
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(PROGRAM.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    for (frame, dt) in [0.0, 0.4, 0.4].into_iter().enumerate() {
        hero.update(&mut crowd, dt).unwrap();
        let indices = || hero.arrays().map(|mesh| mesh.indices.clone());
        let positions = hero.positions(Some(&clip), 0.4 * frame as f32).unwrap();
        let (rays, size) = rays(&positions.into_iter().zip(indices()).collect::<Vec<_>>());
        let mut encoder = device.create_command_encoder(&Default::default());
        crowd.encode(&mut encoder).unwrap();
        let draws = hero.draws(&crowd).unwrap();
        let triangles: Vec<_> = draws.iter().map(|draw| draw.triangles().unwrap()).collect();
        let entry = wgpu::BlasBuildEntry {
            blas: &blas,
            geometry: wgpu::BlasGeometries::TriangleGeometries(
                triangles.iter().map(BlasTriangles::geometry).collect(),
            ),
        };
        encoder.build_acceleration_structures([&entry], [&tlas]);
        let found = traced(&device, &queue, encoder, &pipeline, &tlas, &rays);
        let read = crowd.read(hero.instances()).unwrap();
        let meshes: Vec<_> = read
            .into_iter()
            .map(|mesh| mesh.points)
            .zip(indices())
            .collect();
        for (ray, found) in rays.iter().zip(found) {
            // A ray along an edge may miss it or not; in between, the structure decides.
            let most = nearest(&meshes, *ray, -1e-3) + 1e-4 * size;
            let least = nearest(&meshes, *ray, 1e-3) - 1e-4 * size;
            assert!(
                (least..=most).contains(&found),
                "frame {frame}: {found}, not {least} to {most}"
            );
        }
    }
}

/// Rays that meet some triangles of each mesh, and the size of all.
fn rays(meshes: &[(Vec<Vec3>, Vec<u32>)]) -> (Vec<[Vec3; 2]>, f32) {
    let points = || meshes.iter().flat_map(|(points, _)| points.iter().copied());
    let framing = Framing::of(points(), false);
    let size = (framing.high - framing.low).length();
    let mut out = Vec::new();
    for (points, indices) in meshes {
        for (number, triangle) in indices.chunks_exact(3).enumerate().step_by(7) {
            let middle = triangle.iter().map(|i| points[*i as usize]).sum::<Vec3>() / 3.0;
            let turn = number as f32;
            let toward = Vec3::new(turn.cos(), 0.3, turn.sin()).normalize();
            out.push([middle - 2.0 * size * toward, toward]);
        }
    }
    assert!(out.len() > 300, "{} rays", out.len());
    (out, size)
}

/// The distance of each ray's nearest hit; -1 without one.
fn traced(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    mut encoder: wgpu::CommandEncoder,
    pipeline: &wgpu::ComputePipeline,
    tlas: &wgpu::Tlas,
    rays: &[[Vec3; 2]],
) -> Vec<f32> {
    let contents: Vec<Vec4> = rays.iter().flatten().map(|v| v.extend(0.0)).collect();
    let rays_buffer = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: None,
        contents: bytemuck::cast_slice(&contents),
        usage: wgpu::BufferUsages::STORAGE,
    });
    let buffer = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: rays.len() as u64 * 4,
            usage,
            mapped_at_creation: false,
        })
    };
    let distances = buffer(wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
    let readable = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            entry(0, tlas.as_binding()),
            entry(1, rays_buffer.as_entire_binding()),
            entry(2, distances.as_entire_binding()),
        ],
    });
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups((rays.len() as u32).div_ceil(64), 1, 1);
    drop(pass);
    encoder.copy_buffer_to_buffer(&distances, 0, &readable, 0, readable.size());
    queue.submit([encoder.finish()]);
    readable.map_async(wgpu::MapMode::Read, .., |_| {});
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let view = readable.get_mapped_range(..).unwrap();
    bytemuck::pod_collect_to_vec(&view)
}

/// What a structure could not be built from is an error that names it.
fn refused(device: &wgpu::Device, queue: &wgpu::Queue, hero: &Character, crowd: &Crowd) {
    let draws = hero.draws(crowd).unwrap();
    let (draw, points) = (&draws[0], draws[0].points);
    let buffer = |size, usage| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    };
    let plain = buffer(1200, wgpu::BufferUsages::INDEX);
    let tight = buffer(124, wgpu::BufferUsages::BLAS_INPUT);
    let of = |offset, stride, count| sinew::gpu::OutputSlice {
        buffer: &tight,
        offset,
        stride,
        first: 0,
        count,
    };
    let last = sinew::gpu::OutputSlice { first: 9, ..points };
    let count = draw.indices.size() as u32 / 4;
    for (runs, indices, range, words) in [
        (
            vec![points],
            &plain,
            0..3,
            "indices: expected a buffer with usage BLAS_INPUT",
        ),
        (
            vec![points],
            draw.indices,
            0..4,
            "a range of triangles, found 0..4",
        ),
        (
            vec![points],
            draw.indices,
            3..3,
            "a range of triangles, found 3..3",
        ),
        (vec![points], draw.indices, count..count + 3, "indices"),
        (
            vec![of(4, 32, 3)],
            draw.indices,
            0..3,
            "multiple of the stride of 32 bytes, found it at byte 4",
        ),
        (
            vec![of(32, 32, 3)],
            draw.indices,
            0..3,
            "124 bytes, and the last ends at byte 128",
        ),
        (vec![of(0, 12, 0)], draw.indices, 0..3, "side by side"),
        (
            vec![],
            draw.indices,
            0..3,
            "side by side in one buffer, found 0 runs",
        ),
        (vec![points, last], draw.indices, 0..3, "found 2 runs"),
        (vec![last], draw.indices, 0..3, "found 1 runs"),
    ] {
        match BlasTriangles::new(&runs, indices, range) {
            Err(GpuError::Mismatch(text)) if text.contains(words) => {}
            other => panic!("'{words}' expected, {other:?}"),
        }
    }
    // Runs that follow each other are one.
    let runs = [
        of(12, 12, 4),
        sinew::gpu::OutputSlice {
            first: 4,
            ..of(60, 12, 5)
        },
    ];
    let triangles = BlasTriangles::new(&runs, draw.indices, 0..3).unwrap();
    assert_eq!(triangles.size.vertex_count, 9);
    assert_eq!(triangles.geometry().first_vertex, 1);

    // Without the option, positions are as they were.
    let skinner = Skinner::new(device, queue, &SkinnerOptions::default()).unwrap();
    let mut crowd = skinner.crowd();
    let mut plain = Character::load(&skinner, asset("puppet.glb")).unwrap();
    plain.update(&mut crowd, 0.0).unwrap();
    let draws = plain.draws(&crowd).unwrap();
    let usage = draws[0].points.buffer.usage() | draws[0].indices.usage();
    assert!(!usage.contains(wgpu::BufferUsages::BLAS_INPUT));
    let error = draws[0].triangles().unwrap_err().to_string();
    assert!(
        error.contains("positions: expected a buffer with usage BLAS_INPUT"),
        "{error}"
    );
}
