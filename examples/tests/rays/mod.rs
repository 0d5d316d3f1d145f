//! Ray tracing of what is skinned.
//!
//! It needs a driver with ray queries. Where this machine's has none, SINEW_MESA names a program that runs another one on
//! a driver that has (tests/run.sh makes it).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::Command;

use common::command::{Bench, stderr};
use common::trials::Trial;
use glam::Vec3;
use host::Gpu;
use image::RgbaImage;
use sinew::gpu::{BlasTriangles, GpuError, OutputSlice, blas_input};
use sinew::sampled::Time;
use sinew::wgpu::BufferUsages;

use crate::{asset, example, points, program, shown, view};

/// What runs the examples, if they need help.
type Launcher = Option<OsString>;

pub fn trials() -> Vec<Trial> {
    let no_gpu = common::gpu::ignored();
    let is_here = !no_gpu && Gpu::open(true).is_ok();
    let launcher = std::env::var_os("SINEW_MESA").filter(|m| !m.is_empty() && !is_here);
    let is_missing = !no_gpu && !is_here && launcher.is_none();
    let traced: [(_, fn(&Launcher)); 2] = [
        ("what_is_traced_is_what_is_drawn", silhouette),
        ("shadows_and_reflections_lie_on_the_ground", ground),
    ];
    let traced = traced.into_iter().map(|(name, run)| {
        let launcher = launcher.clone();
        let trial = Trial::test(name, move || {
            run(&launcher);
            Ok(())
        });
        trial
            .with_kind(if is_missing { "needs SINEW_MESA" } else { "" })
            .with_ignored_flag(no_gpu || is_missing)
    });
    let geometry = (
        "a_geometry_is_of_positions_side_by_side",
        geometry as fn(),
        no_gpu,
    );
    common::trials::named([geometry])
        .into_iter()
        .chain(traced)
        .collect()
}

fn drawn(launcher: &Launcher, name: &str, scale: u32, args: &[&str]) -> RgbaImage {
    let program = program(name);
    let mut command = match launcher {
        Some(launcher) => Command::new(launcher),
        None => Command::new(&program),
    };
    let bench = Bench::new();
    let png = bench.path("out.png");
    let size = SIZE.map(|s| (s * scale).to_string()).join("x");
    let program = launcher.as_ref().map(|_| &program);
    let command = command.args(program).args(["--size", &size]).args(args);
    let done = command.arg("--out").arg(&png).output().unwrap();
    assert!(done.status.success(), "{}", stderr(&done));
    image::open(&png).unwrap().into_rgba8()
}

const SIZE: [u32; 2] = [240, 180];

/// The same pixels show the character, but for those that its outline crosses, whether results lie in the host's vertices or
/// in the crowd's buffers. The last of several frames shows that structures are updated.
fn silhouette(launcher: &Launcher) {
    if launcher.is_some() {
        let done = example("ray_traced", &["--out", "no.png"]);
        assert_eq!(done.status.code(), Some(1));
        assert!(
            stderr(&done).contains("no ray queries"),
            "{}",
            stderr(&done)
        );
    }
    for (name, seconds) in [("hatchling.usda", "0.5"), ("puppet.glb", "0.25")] {
        let file = asset(name);
        let args = [
            file.to_str().unwrap(),
            "--seconds",
            seconds,
            "--frames",
            "4",
        ];
        // A ray goes through the middle of a pixel, and the renderer blends what its samples see: nine of its pixels say of
        // each whether the outline crosses it.
        let rasterised = shown(&drawn(launcher, "renderer", 3, &args));
        for buffers in [
            &["--only", "character"][..],
            &["--only", "character", "--own"],
        ] {
            let traced = shown(&drawn(
                launcher,
                "ray_traced",
                1,
                &[&args, buffers].concat(),
            ));
            let (mut inside, mut crossed, mut slipped) = (0, 0, 0);
            for (y, row) in traced.iter().enumerate() {
                for (x, is_hit) in row.iter().enumerate() {
                    let rows = rasterised[3 * y..3 * y + 3].iter();
                    let covered = rows.flat_map(|row| &row[3 * x..3 * x + 3]);
                    match covered.filter(|is_covered| **is_covered).count() {
                        0 => assert!(!is_hit, "{name}, {buffers:?}: {x}, {y}"),
                        9 => {
                            inside += 1;
                            slipped += usize::from(!is_hit);
                        }
                        _ => crossed += 1,
                    }
                }
            }
            // lavapipe lets single rays through between triangles: 1 of 8,000 here.
            let found = [inside, crossed, slipped];
            assert!(
                inside > 4 * crossed && slipped <= 2,
                "{name}, {buffers:?}: {found:?}"
            );
        }
    }
}

/// The ground is darker than without the character where that hides the sun or the lamp. It mirrors the character, and is
/// the same elsewhere.
fn ground(launcher: &Launcher) {
    let file = asset("hatchling.usda");
    let args = [file.to_str().unwrap(), "--seconds", "0.5"];
    let parts = [&[][..], &["--only", "ground"], &["--only", "character"]];
    let [whole, empty, character] =
        parts.map(|part| drawn(launcher, "ray_traced", 1, &[&args, part].concat()));
    let character = shown(&character);
    let is_ground = |[x, y]: [u32; 2]| !character[y as usize][x as usize];

    let scene = sinew_io::open(&file).unwrap();
    let scene = scene.scene(Default::default()).unwrap();
    let time = |seconds: f64| Time::At(1.0 + 24.0 * seconds);
    let (framing, camera) = view(&scene, time, SIZE);
    let points = points(&scene, time(0.5));
    let (low, size) = (framing.low.y, (framing.high - framing.low).length());
    let middle = (framing.low + framing.high).with_y(2.0 * low) / 2.0;
    let sun = Vec3::new(0.48, 0.72, 0.5);
    let lamp = middle + size * Vec3::new(-1.3, 1.2, 0.7);
    // The pixels of the ground that hold the points' hard shadow, soft shadow and reflection.
    let places: [&dyn Fn(Vec3) -> Vec3; 3] = [
        &|p| p - sun * ((p.y - low) / sun.y),
        &|p| p + (p - lamp) * ((p.y - low) / (lamp.y - p.y)),
        &|p| p.with_y(2.0 * low - p.y),
    ];
    let places = places.map(|place| -> BTreeSet<[u32; 2]> {
        let seen = points
            .iter()
            .map(|point| camera.project_point3(place(*point)));
        let seen = seen.map(|at| [0.5 + 0.5 * at.x, 0.5 - 0.5 * at.y]);
        seen.filter(|at| at.iter().all(|c| (0.02..0.98).contains(c)))
            .map(|[x, y]| [(x * SIZE[0] as f32) as u32, (y * SIZE[1] as f32) as u32])
            .filter(|at| is_ground(*at))
            .collect()
    });
    let is_near = |[x, y]: [u32; 2], place: usize| {
        places[place]
            .iter()
            .any(|o| o[0].abs_diff(x) < 4 && o[1].abs_diff(y) < 4)
    };
    // How much darker a pixel is than without the character, and how different.
    let darker = |[x, y]: [u32; 2]| {
        let [with, without] =
            [&whole, &empty].map(|picture| picture.get_pixel(x, y).0.map(f64::from));
        std::array::from_fn::<f64, 3, _>(|channel| without[channel] - with[channel])
    };
    let mean = |found: Vec<[f64; 3]>| {
        assert!(found.len() > 50, "{} pixels", found.len());
        let sums = |value: fn(f64) -> f64| found.iter().flatten().map(|c| value(*c)).sum::<f64>();
        [sums(|c| c), sums(f64::abs)].map(|sum| sum / 3.0 / found.len() as f64)
    };
    let [hard, soft, mirrored] = [0, 1, 2].map(|place| {
        let others = [(place + 1) % 3, (place + 2) % 3];
        let alone = places[place]
            .iter()
            .filter(|at| !others.iter().any(|other| is_near(**at, *other)));
        mean(alone.map(|at| darker(*at)).collect())
    });
    let all = (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| [x, y]));
    let free = all.filter(|at| is_ground(*at) && !(0..3).any(|place| is_near(*at, place)));
    let free = mean(free.map(darker).collect());
    let told = format!("{hard:?}, {soft:?}, {mirrored:?}, {free:?}");
    assert!(hard[0] > 20.0, "the sun's shadow: {told}");
    assert!(soft[0] > 4.0, "the lamp's shadow: {told}");
    assert!(mirrored[1] > 4.0, "the reflection: {told}");
    assert!(free[1] < 1.0, "elsewhere: {told}");
}

/// What a structure could not be built from is an error. A device without ray queries has buffers as always.
fn geometry() {
    let gpu = Gpu::open(false).unwrap();
    assert_eq!(blas_input(&gpu.device), BufferUsages::empty());
    let buffer = host::buffer(&gpu, 512, BufferUsages::STORAGE);
    let of = |offset, stride, first, count| OutputSlice {
        buffer: &buffer,
        offset,
        stride,
        first,
        count,
    };
    for (runs, words) in [
        (vec![], "found 0 runs"),
        (vec![of(0, 12, 0, 0)], "found 1 runs"),
        (vec![of(0, 12, 9, 3)], "found 1 runs"),
        (vec![of(0, 12, 0, 3), of(48, 12, 3, 3)], "found 2 runs"),
        (vec![of(0, 12, 0, 3), of(36, 16, 3, 3)], "found 2 runs"),
        (vec![of(0, 12, 0, 3), of(36, 12, 4, 3)], "found 2 runs"),
        (
            vec![of(4, 32, 0, 3)],
            "its stride, 32 bytes, found it at byte 4",
        ),
        (vec![of(4, 0, 0, 3)], "its stride, 0 bytes"),
    ] {
        match BlasTriangles::new(&runs, &buffer, 0..3) {
            Err(e @ GpuError::Invalid { .. }) if e.to_string().contains(words) => {}
            other => panic!("'{words}' expected, {other:?}"),
        }
    }
    // Runs that follow each other are one.
    let runs = [of(12, 12, 0, 4), of(60, 12, 4, 5)];
    let triangles = BlasTriangles::new(&runs, &buffer, 6..12).unwrap();
    let geometry = triangles.geometry();
    assert_eq!([geometry.size.vertex_count, geometry.first_vertex], [9, 1]);
    assert_eq!(
        [geometry.size.index_count, geometry.first_index],
        [Some(6), Some(6)]
    );
}
