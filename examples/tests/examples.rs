//! The examples, run as a reader of them would.

mod rays;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::command::{Bench, stderr, stdout};
use glam::{Mat4, Vec3};
use host::{Framing, Orbit};
use image::RgbaImage;
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::sampled::Time;
use sinew::scene::{OutSpace, Scene};

fn main() {
    let no_gpu = common::gpu::ignored();
    let trials: [common::trials::Named; 5] = [
        ("a_folder_is_baked_and_what_is_broken_is_told", batch, false),
        ("a_renderer_draws_what_is_skinned", renderer, no_gpu),
        (
            "vertices_of_the_host_are_skinned_and_drawn",
            own_buffer,
            no_gpu,
        ),
        (
            "the_examples_refuse_what_they_cannot_show",
            refusals,
            no_gpu,
        ),
        ("a_crowd_is_culled_on_the_gpu", crowd, no_gpu),
    ];
    common::trials::run([
        ("", common::trials::named(trials)),
        ("rays", rays::trials()),
    ])
}

fn asset(name: &str) -> PathBuf {
    let folder = common::repository().join("examples/assets");
    folder.join(name)
}

/// `cargo test` builds all examples of this package before it runs tests; for this test alone `cargo build --examples`
/// does.
fn program(name: &str) -> PathBuf {
    // This test lies in the folder `deps`, beside the folder `examples`.
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(
        program.is_file(),
        "{} is not there: cargo build --examples makes it",
        program.display()
    );
    program
}

fn example(name: &str, args: &[&str]) -> Output {
    Command::new(program(name)).args(args).output().unwrap()
}

fn batch() {
    let bench = Bench::new();
    let (input, output) = (bench.path("in"), bench.path("new/out"));
    std::fs::create_dir(&input).unwrap();
    let copy = |from: &str, to: &str| {
        std::fs::copy(asset(from), input.join(to)).unwrap();
    };
    copy("hatchling.usda", "hatchling.usda");
    copy("puppet.glb", "hero.glb");
    copy("hatchling.usda", "hero.usda");
    copy("walk.bvh", "walk.bvh");
    std::fs::write(input.join("broken.usda"), "#usda 1.0\ndef {").unwrap();
    std::fs::write(input.join("readme.txt"), "no character").unwrap();
    let (input, out) = (input.to_str().unwrap(), output.to_str().unwrap());

    let done = example("headless_batch", &[input, out, "1:3"]);
    assert_eq!(done.status.code(), Some(1), "{}", stderr(&done));
    let said = stdout(&done);
    assert!(
        said.ends_with("3 baked, 1 with nothing to skin, 1 failed\n"),
        "{said}"
    );
    assert!(stderr(&done).contains("broken.usda"), "{}", stderr(&done));
    let mut names: Vec<String> = std::fs::read_dir(&output)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["hatchling.usdc", "hero.glb.usdc", "hero.usda.usdc"]);
    let stage = common::usd::open(&output.join("hatchling.usdc"));
    let times = common::usd::times(&stage, "/Hatchling/Geo/Body", "points");
    assert_eq!(times, [1.0, 2.0, 3.0]);

    std::fs::remove_file(Path::new(input).join("broken.usda")).unwrap();
    let done = example("headless_batch", &[input, out, "1:3"]);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    let no_folder = ["/no/such", out];
    for wrong in [&[][..], &[input], &[input, out, "3:1"], &no_folder] {
        assert_eq!(example("headless_batch", wrong).status.code(), Some(2));
    }
}

/// The picture that an example draws.
fn picture(bench: &Bench, name: &str, args: &[&str]) -> (RgbaImage, String) {
    let png = bench.path("out.png");
    let mut all = vec!["--out", png.to_str().unwrap()];
    all.extend(args);
    let done = example(name, &all);
    assert!(done.status.success(), "{}", stderr(&done));
    let picture = image::open(&png).unwrap().into_rgba8();
    (picture, stdout(&done))
}

/// Which pixels show something, row by row; the background is plain.
fn shown(picture: &RgbaImage) -> Vec<Vec<bool>> {
    let background = picture.get_pixel(0, 0);
    let rows = picture.rows();
    rows.map(|row| row.map(|p| p != background).collect())
        .collect()
}

/// World points of all skinned prims, by the CPU.
fn points(scene: &Scene, time: Time) -> Vec<Vec3> {
    let mut poses = scene.at(time, OutSpace::World);
    let mut all = Vec::new();
    for bound in scene.bound_skins() {
        let skin = PackedSkin::pack("Prim", &bound.skin(time).unwrap()).unwrap();
        let pose = PackedPose::pack(&skin, &poses.pose(bound).unwrap()).unwrap();
        let mut points = vec![Vec3::ZERO; skin.point_count()];
        skin_on_cpu(&skin, &pose, &mut points, None).unwrap();
        all.append(&mut points);
    }
    all
}

/// The upper half of the tube is bent by 1 radian to the left, lit by its normals and striped by the host's texture coordinates.
fn own_buffer() {
    let bench = Bench::new();
    let png = bench.path("bent.png");
    let done = example("own_buffer", &[png.to_str().unwrap()]);
    assert!(done.status.success(), "{}", stderr(&done));
    let picture = image::open(&png).unwrap().into_rgba8();
    let shown = shown(&picture);
    // Of a point on the axis of the straight tube, and of the upper half when it is bent.
    let pixel = |x: f32, y: f32| {
        let [column, row] = [0.5 + 0.35 * x, 0.85 - 0.35 * y].map(|share| (share * 256.0) as usize);
        (column, row)
    };
    let is_shown = |(column, row): (usize, usize)| shown[row][column];
    let (sin, cos) = 1.0f32.sin_cos();
    assert!(is_shown(pixel(0.0, 0.3)), "the lower half");
    for along in [0.6, 0.95] {
        assert!(
            !is_shown(pixel(0.0, 1.0 + along)),
            "still straight at {along}"
        );
        assert!(
            is_shown(pixel(-sin * along, 1.0 + cos * along)),
            "not bent at {along}"
        );
    }
    let green = |(column, row): (usize, usize)| picture.get_pixel(column as u32, row as u32)[1];
    assert!(
        green(pixel(0.0, 0.05)).abs_diff(green(pixel(0.0, 0.18))) > 20,
        "stripes"
    );
    assert!(
        green(pixel(-0.25, 0.3)) < green(pixel(0.1, 0.3)),
        "light from the right"
    );
}

/// What the examples show at a size, and their camera.
fn view(scene: &Scene, time: impl Fn(f64) -> Time, size: [u32; 2]) -> (Framing, Mat4) {
    let framed = [0.0, 0.5, 1.0, 1.5].map(|s| points(scene, time(s)));
    let framing = Framing::of(framed.into_iter().flatten(), false);
    let camera = Orbit::new(&framing, size).clip_from_world(&framing, size);
    (framing, camera)
}

/// The renderer's silhouette is where the skinned points are.
fn renderer() {
    let bench = Bench::new();
    let size = [400, 300];
    for (name, first, per_second, seconds) in [
        ("hatchling.usda", 1.0, 24.0, [0.0, 1.25]),
        ("puppet.glb", 0.0, 24.0, [0.25, 0.75]),
    ] {
        let file = asset(name);
        let scene = sinew_io::open(&file).unwrap();
        let scene = scene.scene(Default::default()).unwrap();
        let time = |s: f64| Time::At(first + s * per_second);
        let (_, camera) = view(&scene, time, size);
        let pictures = seconds.map(|s| {
            let (file, s) = (file.to_str().unwrap(), s.to_string());
            let args = [file, "--seconds", &s, "--size", "400x300"];
            picture(&bench, "renderer", &args).0
        });
        for (picture, s) in pictures.iter().zip(seconds) {
            let shown = shown(picture);
            let pixels =
                || (0..size[1] as usize).flat_map(|y| (0..size[0] as usize).map(move |x| (x, y)));
            let lit: Vec<(usize, usize)> = pixels().filter(|(x, y)| shown[*y][*x]).collect();
            let share = lit.len() as f64 / f64::from(size[0] * size[1]);
            assert!((0.03..0.6).contains(&share), "{name} covers {share}");
            let pixel = |(x, y): &(usize, usize)| picture.get_pixel(*x as u32, *y as u32);
            let colors = lit.iter().map(pixel).collect::<HashSet<_>>().len();
            assert!(colors > 100, "{name} is shaded: {colors} colours");

            let mut low = [usize::MAX; 2];
            let mut high = [0; 2];
            for point in points(&scene, time(s)) {
                let at = camera.project_point3(point);
                let x = ((at.x * 0.5 + 0.5) * size[0] as f32) as usize;
                let y = ((0.5 - at.y * 0.5) * size[1] as f32) as usize;
                let near = |x: usize, y: usize| {
                    (y.saturating_sub(1)..=y + 1).any(|y| {
                        (x.saturating_sub(1)..=x + 1)
                            .any(|x| shown.get(y).and_then(|r| r.get(x)) == Some(&true))
                    })
                };
                assert!(near(x, y), "{name}: {point} is drawn at {x}, {y}");
                low = [low[0].min(x), low[1].min(y)];
                high = [high[0].max(x), high[1].max(y)];
            }
            // And nothing is anywhere else.
            for (x, y) in lit {
                let inside = |at: usize, axis: usize| at + 2 >= low[axis] && at <= high[axis] + 2;
                assert!(
                    inside(x, 0) && inside(y, 1),
                    "{name}: something is at {x}, {y}"
                );
            }
        }
        assert_ne!(pictures[0], pictures[1], "{name} moves");
    }
}

fn refusals() {
    for name in ["renderer", "crowd", "ray_traced", "headless_batch"] {
        let help = example(name, &["--help"]);
        assert!(help.status.success() && stdout(&help).to_lowercase().contains("usage:"));
        let has_example = stdout(&help).contains("\nexample: ");
        assert!(has_example || name == "headless_batch", "{name}");
    }
    let bench = Bench::new();
    let png = bench.path("out.png");
    let png = png.to_str().unwrap();
    for (name, words) in [
        ("renderer", ["--size 0x5", "--seconds", "--frob", "a b"]),
        ("crowd", ["--count 0", "--count many", "--count", "--frob"]),
        ("crowd", ["--frames 0", "a", "--size 0x5", "--seconds"]),
    ] {
        for words in words {
            let args: Vec<&str> = words.split(' ').collect();
            assert_eq!(example(name, &args).status.code(), Some(2), "{words}");
        }
    }
    for file in ["no/such/file.usda", asset("walk.bvh").to_str().unwrap()] {
        let done = example("renderer", &[file, "--out", png]);
        assert_eq!(done.status.code(), Some(1), "{file}");
        assert!(stderr(&done).contains("error: "), "{}", stderr(&done));
        assert!(!Path::new(png).exists());
    }
}

/// The number before a word of a text.
fn number(text: &str, word: &str) -> f64 {
    let before = text.split(word).next().unwrap();
    before.split_whitespace().last().unwrap().parse().unwrap()
}

/// The share of pixels that differ.
fn difference(a: &RgbaImage, b: &RgbaImage) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let differ = a.pixels().zip(b.pixels()).filter(|(a, b)| a != b).count();
    differ as f64 / f64::from(a.width() * a.height())
}

/// The crowd with culling is the crowd without, although the engine computes less.
fn crowd() {
    let bench = Bench::new();
    let run = |more: &[&str]| {
        let mut args = vec!["--frames", "4", "--size", "480x270"];
        args.extend(more);
        picture(&bench, "crowd", &args)
    };
    let (culled, said) = run(&["--count", "120", "--no-graph"]);
    assert!(said.contains("120 characters"), "{said}");
    for cost in ["CPU, playing", "GPU, culling", "GPU, drawing"] {
        assert!(said.contains(cost), "{said}");
    }
    let seen = number(&said, " seen");
    assert!((20.0..110.0).contains(&seen), "{said}");
    let uploaded = number(&said, " bytes uploaded");
    assert!(uploaded < 4000.0, "{said}");

    let (whole, said) = run(&["--count", "120", "--no-graph", "--no-cull"]);
    assert!((number(&said, " seen") - 120.0).abs() < 0.5, "{said}");
    let differ = difference(&culled, &whole);
    assert!(culled == whole, "{differ} of pixels differ");

    // They cover the ground, in many colours, and they move.
    let (empty, _) = run(&["--count", "1", "--no-graph"]);
    let covered = difference(&culled, &empty);
    assert!((0.1..0.9).contains(&covered), "{covered} of the picture");
    let colors: HashSet<_> = culled.pixels().collect();
    assert!(colors.len() > 2000, "{} colours", colors.len());
    let (later, _) = run(&["--count", "120", "--no-graph", "--seconds", "0.8"]);
    assert!(difference(&culled, &later) > 0.02, "nobody moves");

    // The graph is in its corner, and has bars of three colours.
    let (graph, _) = run(&["--count", "120"]);
    let (mut inside, mut bars) = (0, [0; 3]);
    // Where the bars of a lane are: below its words, which have its colour too, and above the next lane's. The tallest is 7
    // to 17 pixels high. All are a pixel wide, and every second one lies between two pixels, which have half its colour each.
    let lane = |y: u32| (0..3u32).find(|n| (192 + 25 * n..209 + 25 * n).contains(&y));
    for (x, y, pixel) in graph.enumerate_pixels() {
        let changed = pixel != culled.get_pixel(x, y);
        inside += usize::from(changed);
        assert!(!changed || (x < 220 && y > 120), "the graph is at {x}, {y}");
        let [r, g, b, _] = pixel.0.map(u32::from);
        let is_bar = match lane(y).filter(|_| changed) {
            Some(0) => b > 170 && r < 190,
            Some(1) => r > 170 && b < 120,
            Some(2) => g > 160 && r < 190 && b < 180,
            _ => false,
        };
        if is_bar {
            bars[lane(y).unwrap() as usize] += 1;
        }
    }
    assert!(
        inside > 5000 && bars.iter().all(|n| *n > 4),
        "{inside}: {bars:?}"
    );
}
