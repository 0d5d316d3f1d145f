//! OBJ sequences, point caches and vertex animation textures: read back by readers of the tests' own, and compared with the
//! f64 reference and with the same bake as USD.

#[path = "../common/mod.rs"]
mod common;

mod obj;
mod pc2;
mod stage;
mod truth;
mod vat;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use common::command::{Bench, bake as command, refused, sinew, stderr, stdout};
use common::compare::{compare, compare_within, size, to_f64};
use common::{gpu, tolerance, usd};
use glam::{DVec3, Vec3};
use sinew::bake::{
    Backend, BakeOptions, BakeReport, FrameRange, OutSpace, Rigid, VatOptions, VatValues, bake,
};
use sinew::sampled::Time;
use truth::{deformed, prims, scene, smooth_normals};
use vat::Vat;

fn project(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn cpu() -> BakeOptions {
    BakeOptions {
        backend: Backend::Cpu,
        ..BakeOptions::default()
    }
}

fn frames(first: f64, last: f64, step: f64) -> BakeOptions {
    BakeOptions {
        frames: Some(FrameRange { first, last, step }),
        ..cpu()
    }
}

fn run(input: &Path, output: &Path, options: &BakeOptions) -> BakeReport {
    bake(input, output, options, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"))
}

/// The three ways our own stage stands, as files.
fn own_stages(bench: &Bench) -> Vec<PathBuf> {
    let places = [
        ("still", ""),
        ("placed", stage::PLACED),
        ("mirrored", stage::MIRRORED),
    ];
    let write =
        |(name, place): &(&str, &str)| bench.write(&format!("{name}.usda"), stage::usda(place));
    places.iter().map(write).collect()
}

/// The same bake as USD in world space: points by prim and time, to the bit what frames hold.
struct WorldBake(openusd::usd::Stage, #[expect(dead_code)] tempfile::TempDir);

impl WorldBake {
    fn new(input: &Path, options: &BakeOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("world.usdc");
        let options = BakeOptions {
            space: Some(OutSpace::World),
            rigid: Rigid::Points,
            ..options.clone()
        };
        run(input, &out, &options);
        Self(usd::open(&out), folder)
    }

    fn points(&self, prim: &str, time: f64) -> Vec<DVec3> {
        usd::vectors(&self.0, prim, "points", Some(time)).unwrap()
    }
}

fn ints(stage: &openusd::usd::Stage, prim: &str, name: &str) -> Vec<i32> {
    let attribute = stage.attribute(format!("{prim}.{name}").as_str()).unwrap();
    match attribute.get::<openusd::sdf::Value>().unwrap() {
        Some(openusd::sdf::Value::IntVec(v)) => v.to_vec(),
        other => panic!("{prim}.{name}: {other:?}"),
    }
}

/// A mesh's faces as authored, turned where they are left-handed.
fn authored_faces(stage: &openusd::usd::Stage, prim: &str, turned: bool) -> Vec<Vec<usize>> {
    let counts = ints(stage, prim, "faceVertexCounts");
    let indices = ints(stage, prim, "faceVertexIndices");
    let orientation = stage
        .attribute(format!("{prim}.orientation").as_str())
        .unwrap();
    let orientation = orientation.get::<openusd::sdf::Value>().unwrap();
    let left =
        matches!(&orientation, Some(openusd::sdf::Value::Token(t)) if t.as_str() == "leftHanded");
    let mut at = 0;
    let mut out = Vec::new();
    for count in counts {
        let face = indices[at..at + count as usize].iter().map(|i| *i as usize);
        out.push(match left != turned {
            true => face.rev().collect(),
            false => face.collect(),
        });
        at += count as usize;
    }
    out
}

/// Faces in no order, each from its least point on.
fn sorted(mut faces: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    for face in &mut faces {
        let least = (0..face.len()).min_by_key(|i| face[*i]).unwrap_or(0);
        face.rotate_left(least);
    }
    faces.sort();
    faces
}

fn object<'a>(objects: &'a [obj::Object], prim: &str) -> &'a obj::Object {
    let name = prim.rsplit('/').next().unwrap();
    objects
        .iter()
        .find(|o| o.name == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

/// Every frame of an OBJ sequence against the reference, the USD bake, and the faces as authored.
fn check_sequence(input: &Path, times: &[f64], mirrored: bool) -> usize {
    let bench = Bench::new();
    let options = frames(times[0], times[times.len() - 1], times[1] - times[0]);
    let report = run(input, &bench.path("made/f.####.obj"), &options);
    assert_eq!(report.frames, times.len());
    let numbers = (times[0].floor() as i64..).take(times.len());
    let files: Vec<PathBuf> = numbers
        .map(|n| bench.path(&format!("made/f.{n:04}.obj")))
        .collect();
    assert_eq!(report.files, files);
    assert_eq!(
        std::fs::read_dir(bench.path("made")).unwrap().count(),
        files.len()
    );
    let (world, scene, stage) = (
        WorldBake::new(input, &options),
        scene(input),
        usd::open(input),
    );
    let prims = prims(&scene);
    let mut compared = 0;
    for (file, &time) in files.iter().zip(times) {
        let objects = obj::read(file);
        assert_eq!(objects.len(), prims.len());
        for prim in &prims {
            let what = format!("{prim} at {time}");
            let object = object(&objects, prim);
            let points = to_f64(&object.points);
            compare(&what, &points, &world.points(prim, time), 0.0).unwrap();
            let want = deformed(&scene, prim, Time::At(time), OutSpace::World);
            compare(&what, &points, &want.points, tolerance::FRAME_POINTS).unwrap();
            let faces: Vec<Vec<usize>> = object
                .faces
                .iter()
                .map(|(_, f)| f.iter().map(|c| c.point).collect())
                .collect();
            assert_eq!(
                sorted(faces.clone()),
                sorted(authored_faces(&stage, prim, mirrored)),
                "{what}"
            );
            let made = smooth_normals(&points, &faces);
            let normals = to_f64(&object.normals);
            for (_, face) in &object.faces {
                for corner in face {
                    let got = normals[corner.normal.unwrap()];
                    let want = match &want.normals {
                        Some(normals) => normals[corner.normal.unwrap()],
                        None => made[corner.point],
                    };
                    compare_within(&what, &[got], &[want], tolerance::FRAME_NORMALS).unwrap();
                    compared += 1;
                }
            }
        }
    }
    compared
}

#[test]
fn a_sequence_holds_the_points_faces_and_normals_of_every_frame() {
    let bench = Bench::new();
    for (i, input) in own_stages(&bench).iter().enumerate() {
        let compared = check_sequence(input, &[1.0, 2.0, 3.0, 4.0, 5.0], i == 2);
        assert_eq!(compared, 5 * 4 * 24);
    }
    let compared = check_sequence(
        &project("examples/assets/hatchling.usda"),
        &[1.0, 12.5, 24.0],
        false,
    );
    assert!(compared > 50_000, "{compared}");
}

#[test]
fn boxes_look_outward_whatever_stands_in_the_way() {
    let bench = Bench::new();
    for input in own_stages(&bench) {
        let out = bench.path("one.obj");
        run(&input, &out, &frames(1.0, 1.0, 1.0));
        let objects = obj::read(&out);
        let scale = if input.ends_with("mirrored.usda") {
            1.5
        } else {
            1.0
        };
        for object in &objects {
            let what = format!("{} of {}", object.name, input.display());
            assert!(
                (object.volume() - scale).abs() < 1e-5,
                "{what}: {}",
                object.volume()
            );
            // Normals look outward from the middle of a box.
            let middle = object.points.iter().sum::<Vec3>() / 8.0;
            for corner in object.faces.iter().flat_map(|(_, f)| f) {
                let normal = object.normals[corner.normal.unwrap()];
                assert!(
                    normal.dot(object.points[corner.point] - middle) > 0.1,
                    "{what}: {normal}"
                );
            }
        }
        run(&input, &bench.path("one.exr"), &frames(1.0, 1.0, 1.0));
        let vat = Vat::read(&bench.path("one.json"));
        let volume: f64 = vat.mesh.primitives.iter().map(vat::Primitive::volume).sum();
        assert!(
            (volume - 4.0 * scale * 1e-6).abs() < 1e-10,
            "{}: {volume}",
            input.display()
        );
    }
}

#[test]
fn a_sequence_has_uvs_and_materials() {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage::usda(""));
    let out = bench.path("one.obj");
    run(&input, &out, &frames(1.0, 1.0, 1.0));
    let objects = obj::read(&out);
    let object = object(&objects, "/Hero/Box");
    assert_eq!(object.uvs.len(), 4);
    let of = |name: &str| object.faces.iter().filter(|(m, _)| m == name).count();
    assert_eq!((of("Red"), of("Blue")), (5, 1));
    let (_, blue) = object.faces.iter().find(|(m, _)| m == "Blue").unwrap();
    let corners: Vec<_> = blue.iter().map(|c| (c.point, c.uv.unwrap())).collect();
    assert_eq!(corners, [(4, 0), (5, 1), (6, 2), (7, 3)]);
    let turned = object
        .faces
        .iter()
        .find(|(_, f)| f[0].point == 3 && f[1].point == 0)
        .unwrap();
    assert_eq!(
        turned.1.iter().map(|c| c.uv.unwrap()).collect::<Vec<_>>(),
        [1, 2, 3, 0]
    );
    assert!(objects.iter().all(|o| o.name == "Box" || o.uvs.is_empty()));
}

/// Caches of a prim's own space, and of the world's.
#[test]
fn point_caches_hold_the_points_to_the_bit() {
    let bench = Bench::new();
    for input in own_stages(&bench) {
        let scene = scene(&input);
        for space in [None, Some(OutSpace::World)] {
            let options = BakeOptions { space, ..cpu() };
            let report = run(&input, &bench.path("c.pc2"), &options);
            assert_eq!((report.files.len(), report.frames), (4, 5));
            // The sphere has no points.
            assert!(
                report
                    .warnings
                    .iter()
                    .any(|w| w.path == "/Hero/Ball" && w.code == "left-out")
            );
            let in_usd = bench.path("same.usdc");
            let same = BakeOptions {
                frames: Some("1:5".parse().unwrap()),
                rigid: Rigid::Points,
                ..options
            };
            run(&input, &in_usd, &same);
            let baked = usd::open(&in_usd);
            for prim in prims(&scene) {
                let name = prim.rsplit('/').next().unwrap();
                let cache = pc2::read(&bench.path(&format!("c_{name}.pc2")));
                assert_eq!(
                    (cache.first, cache.step, cache.samples.len()),
                    (1.0, 1.0, 5)
                );
                for (sample, time) in cache.samples.iter().zip(1..) {
                    let time = f64::from(time);
                    let got = to_f64(sample);
                    let what = format!("{prim} at {time}");
                    let want = usd::vectors(&baked, &prim, "points", Some(time)).unwrap();
                    compare(&what, &got, &want, 0.0).unwrap();
                    let want = deformed(&scene, &prim, Time::At(time), space.unwrap_or_default());
                    compare(&what, &got, &want.points, tolerance::FRAME_POINTS).unwrap();
                }
            }
        }
    }
}

#[test]
fn one_prim_has_the_cache_of_the_name() {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage::usda(""));
    let options = BakeOptions {
        prims: vec!["/Hero/Box".into()],
        ..frames(1.0, 2.0, 0.25)
    };
    let report = run(&input, &bench.path("c.pc2"), &options);
    assert_eq!(report.files, [bench.path("c.pc2")]);
    let cache = pc2::read(&bench.path("c.pc2"));
    assert_eq!(
        (cache.first, cache.step, cache.samples.len()),
        (1.0, 0.25, 5)
    );
}

/// From a stage's world to the space of the textures, in f64 and then rounded once.
fn in_metres(scene: &sinew::scene::Scene, p: DVec3) -> Vec3 {
    let turned = match scene.up_axis {
        'Z' => DVec3::new(p.x, p.z, -p.y),
        _ => p,
    };
    (turned * scene.meters_per_unit).as_vec3()
}

fn bits(v: Vec3) -> [u32; 3] {
    // Both zeros are one.
    (v + Vec3::ZERO).to_array().map(f32::to_bits)
}

/// Decodes every vertex of every frame as an engine does, and finds the point whose way it is. `off` and `normal_off` are how
/// far results may be away.
fn check_vat(
    input: &Path,
    output: &Path,
    options: &BakeOptions,
    off: impl Fn(&Vat, Vec3) -> Vec3,
) -> Vat {
    let report = run(input, output, options);
    let metadata = output.with_extension("json");
    assert!(report.files.contains(&metadata));
    let vat = Vat::read(&metadata);
    assert_eq!(
        (vat.frames(), vat.mesh.primitives.is_empty()),
        (report.frames, false)
    );
    let scene = scene(input);
    let range = options.frames.expect("frames");
    let step = range.step;
    assert!(
        (vat.number("framesPerSecond") * step - scene.time_line.time_codes_per_second).abs() < 1e-9
    );
    let world = WorldBake::new(input, options);
    let prims = prims(&scene);
    let ways: Vec<Vec<Vec3>> = range
        .times()
        .iter()
        .map(|time| {
            let points = prims.iter().flat_map(|prim| world.points(prim, *time));
            points.map(|p| in_metres(&scene, p)).collect()
        })
        .collect();
    let mut at_first: HashMap<[u32; 3], Vec<usize>> = HashMap::new();
    for (point, place) in ways[0].iter().enumerate() {
        at_first.entry(bits(*place)).or_default().push(point);
    }
    let mut vertices = 0;
    for primitive in &vat.mesh.primitives {
        for vertex in 0..primitive.positions.len() {
            let first = primitive.positions[vertex];
            let candidates = at_first
                .get(&bits(first))
                .expect("the mesh is the first frame");
            let is_way_of = |point: &usize| {
                (0..vat.frames()).all(|f| {
                    let (got, want) = (vat.shade(f, primitive, vertex).0, ways[f][*point]);
                    (got - want).abs().cmple(off(&vat, want)).all()
                })
            };
            assert!(
                candidates.iter().any(is_way_of),
                "vertex {vertex}: {:?} of {:?}",
                vat.shade(1, primitive, vertex),
                ways[1][candidates[0]]
            );
            let normal = vat.shade(0, primitive, vertex).1;
            let allowed =
                vat.normal_step() * 0.5 + Vec3::splat(2f32.powi(-(vat.bits().min(20) as i32)));
            assert!(
                (normal - primitive.normals[vertex])
                    .abs()
                    .cmple(allowed)
                    .all(),
                "{normal}"
            );
            vertices += 1;
        }
    }
    // Primitives of one part share their vertices.
    assert!(vertices as f64 >= vat.number("vertices"), "{vertices}");
    let low = ways.iter().flatten().copied().reduce(Vec3::min).unwrap();
    let high = ways.iter().flatten().copied().reduce(Vec3::max).unwrap();
    let bound = |i: usize, c: usize| vat.json["bounds"][i][c].as_f64().unwrap() as f32;
    for c in 0..3 {
        assert_eq!((bound(0, c), bound(1, c)), (low[c], high[c]));
    }
    vat
}

fn vat_options(values: VatValues, bits: Option<u8>, max_width: u32) -> VatOptions {
    VatOptions {
        values,
        bits,
        max_width,
    }
}

#[test]
fn float_textures_hold_every_vertex_to_the_bit() {
    let bench = Bench::new();
    let mut inputs = own_stages(&bench);
    inputs.push(project("examples/assets/hatchling.usda"));
    for input in &inputs {
        for width in [8192, 50] {
            let positions = BakeOptions {
                vat: vat_options(VatValues::Position, None, width),
                ..frames(1.0, 5.0, 2.0)
            };
            let vat = check_vat(input, &bench.path("p.exr"), &positions, |_, _| Vec3::ZERO);
            let rows = (vat.number("vertices") / f64::from(width)).ceil();
            assert_eq!(vat.number("rowsPerFrame"), rows);
            assert_eq!(vat.number("height"), rows * 3.0);
            // An offset, and its sum with the mesh, are rounded to f32 each.
            let offsets = BakeOptions {
                vat: vat_options(VatValues::Offset, None, width),
                ..positions
            };
            check_vat(input, &bench.path("o.exr"), &offsets, |vat, _| {
                Vec3::splat(largest(vat) * tolerance::VAT_SUM_IN_F32)
            });
        }
    }
}

/// The largest coordinate of a clip.
fn largest(vat: &Vat) -> f32 {
    let bounds = vat.json["bounds"].as_array().unwrap();
    let all = bounds.iter().flat_map(|b| b.as_array().unwrap());
    all.fold(0.0, |a, c| a.max(c.as_f64().unwrap().abs() as f32))
}

#[test]
fn integer_textures_are_within_half_a_step() {
    let bench = Bench::new();
    let mut inputs = own_stages(&bench);
    inputs.push(project("examples/assets/hatchling.usda"));
    for input in &inputs {
        for (bits, values) in [
            (None, VatValues::Offset),
            (Some(8), VatValues::Offset),
            (None, VatValues::Position),
            (Some(8), VatValues::Position),
        ] {
            let options = BakeOptions {
                vat: vat_options(values, bits, 100),
                ..frames(1.0, 5.0, 1.0)
            };
            let vat = check_vat(input, &bench.path("i.png"), &options, |vat, _| {
                vat.step() * tolerance::VAT_HALF_A_STEP + largest(vat) * tolerance::VAT_SUM_IN_F32
            });
            assert_eq!(vat.bits(), u32::from(bits.unwrap_or(16)));
        }
    }
}

#[test]
fn half_floats_keep_eleven_bits() {
    let bench = Bench::new();
    let input = project("examples/assets/hatchling.usda");
    let options = BakeOptions {
        vat: vat_options(VatValues::Position, Some(16), 8192),
        ..frames(1.0, 5.0, 1.0)
    };
    let vat = check_vat(&input, &bench.path("h.exr"), &options, |_, want| {
        want.abs() * tolerance::VAT_HALF_FLOAT + tolerance::VAT_SMALLEST_HALF_FLOAT
    });
    assert_eq!(vat.json["position"]["encoding"], "float16");
}

/// Normals of textures against the reference, turned into the textures' space.
#[test]
fn normal_textures_follow_the_surface() {
    let bench = Bench::new();
    for input in own_stages(&bench) {
        let options = BakeOptions {
            vat: vat_options(VatValues::Position, None, 8192),
            prims: vec!["/Hero/Left".into()],
            ..frames(1.0, 5.0, 1.0)
        };
        run(&input, &bench.path("n.exr"), &options);
        let vat = Vat::read(&bench.path("n.json"));
        let scene = scene(&input);
        let turn = |v: DVec3| DVec3::new(v.x, v.z, -v.y);
        let [primitive] = &vat.mesh.primitives[..] else {
            panic!("one primitive");
        };
        assert_eq!(primitive.positions.len(), 8);
        for frame in 0..5 {
            let want = deformed(
                &scene,
                "/Hero/Left",
                Time::At(frame as f64 + 1.0),
                OutSpace::World,
            );
            let want: BTreeMap<_, _> = want
                .points
                .iter()
                .zip(want.normals.unwrap())
                .map(|(p, n)| {
                    (
                        in_metres(&scene, *p)
                            .to_array()
                            .map(|c| (c * 1e5).round() as i64),
                        turn(n),
                    )
                })
                .collect();
            for vertex in 0..8 {
                let (position, normal) = vat.shade(frame, primitive, vertex);
                let key = position.to_array().map(|c| (c * 1e5).round() as i64);
                let want = want
                    .get(&key)
                    .unwrap_or_else(|| panic!("{position} is no point"));
                compare_within(
                    "normal",
                    &[normal.as_dvec3()],
                    &[*want],
                    tolerance::FRAME_NORMALS,
                )
                .unwrap();
            }
        }
    }
}

#[test]
fn the_mesh_of_textures_has_uvs_materials_and_parts() {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage::usda(""));
    let report = run(&input, &bench.path("v.exr"), &frames(1.0, 5.0, 1.0));
    let names = ["v.exr", "v_normal.exr", "v_mesh.glb", "v.json"].map(|n| bench.path(n));
    assert_eq!(report.files, names);
    let vat = Vat::read(&bench.path("v.json"));
    let materials: Vec<_> = vat
        .mesh
        .primitives
        .iter()
        .map(|p| p.material.as_deref())
        .collect();
    assert_eq!(materials, [Some("Red"), Some("Blue"), None, None, None]);
    let parts = vat.json["parts"].as_array().unwrap();
    let part = |i: usize| {
        (
            parts[i]["prim"].as_str().unwrap(),
            parts[i]["firstVertex"].as_u64().unwrap(),
        )
    };
    // The box's corners are split where uvs differ, and by that alone.
    let (_, left_at) = part(1);
    assert!((9..=24).contains(&left_at), "{left_at}");
    assert_eq!((part(0), part(1).0), (("/Hero/Box", 0), "/Hero/Left"));
    assert_eq!(vat.number("vertices") as u64, left_at + 24);
    let uvs = &vat.mesh.primitives[0].uvs;
    assert_eq!(uvs.len() as u64, left_at);
    // v downward in glTF: authored 0 and 0.75.
    assert!(uvs.iter().all(|uv| uv.y == 1.0 || uv.y == 0.25), "{uvs:?}");
    let triangles: usize = vat.mesh.primitives.iter().map(|p| p.triangles.len()).sum();
    assert_eq!(
        (triangles, vat.mesh.primitives[1].triangles.len()),
        (4 * 12, 2)
    );
    for (key, want) in [("upAxis", "Y"), ("handedness", "right")] {
        assert_eq!(vat.json[key], want);
    }
    assert_eq!(vat.json["source"]["upAxis"], "Z");
    assert_eq!(
        (vat.number("firstTimeCode"), vat.number("framesPerSecond")),
        (1.0, 24.0)
    );
}

#[test]
fn clips_are_sampled_at_the_stages_rate() {
    let bench = Bench::new();
    let text = stage::usda("");
    let slow = bench.write(
        "slow.usda",
        text.replace("framesPerSecond = 24", "framesPerSecond = 12"),
    );
    let report = run(&slow, &bench.path("slow.pc2"), &cpu());
    assert_eq!(report.frames, 3, "from 1 to 5 by 2");
    assert_eq!(pc2::read(&bench.path("slow_Box.pc2")).step, 2.0);
    // Without a range, what is authored counts.
    let open = text
        .replace("startTimeCode = 1", "")
        .replace("endTimeCode = 5", "");
    let open = bench.write("open.usda", open.replace("5: (0, 1, 3)", "3.5: (0, 1, 3)"));
    assert_eq!(run(&open, &bench.path("open.pc2"), &cpu()).frames, 5);
    let fast = run(&slow, &bench.path("fast.%d.obj"), &frames(1.0, 2.0, 0.25));
    assert_eq!(
        fast.files[4],
        bench.path("fast.5.obj"),
        "fractions are counted"
    );
    // What never moves is one frame, whatever the range.
    let still = text
        .replace(".timeSamples = {", ".off = {")
        .replace("rel skel:animationSource", "rel other");
    let still: String = still
        .lines()
        .filter(|l| !l.contains(".off"))
        .map(|l| format!("{l}\n"))
        .collect();
    let still = bench.write("still.usda", still);
    let report = run(&still, &bench.path("still.obj"), &cpu());
    assert_eq!((report.frames, report.files.len()), (1, 1));
}

#[test]
fn a_gpu_gives_the_same_frames() {
    if gpu::ignored() {
        return;
    }
    let bench = Bench::new();
    let input = bench.write("in.usda", stage::usda(stage::MIRRORED));
    let by = |backend: Backend, name: &str| {
        let options = BakeOptions { backend, ..cpu() };
        run(&input, &bench.path(&format!("{name}.###.obj")), &options);
        (1..=5)
            .map(|f| obj::read(&bench.path(&format!("{name}.{f:03}.obj"))))
            .collect::<Vec<_>>()
    };
    let (on_cpu, on_gpu) = (by(Backend::Cpu, "cpu"), by(Backend::Gpu, "gpu"));
    for (a, b) in on_cpu.iter().flatten().zip(on_gpu.iter().flatten()) {
        assert_eq!((&a.name, &a.faces), (&b.name, &b.faces));
        compare(
            &a.name,
            &to_f64(&b.points),
            &to_f64(&a.points),
            tolerance::MIRROR_POINTS,
        )
        .unwrap();
        compare(
            &a.name,
            &to_f64(&b.normals),
            &to_f64(&a.normals),
            tolerance::MIRROR_NORMALS,
        )
        .unwrap();
    }
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage::usda(""));
    let out = |name: &str| bench.path(name);
    std::fs::create_dir(out("taken.0002.obj")).unwrap();
    for (name, more, words) in [
        ("a.abc", &[][..], &["a.abc", ".pc2", ".exr"][..]),
        ("a.obj", &[], &["5 frames", "a.####.obj", "--frames"]),
        ("#_#.obj", &[], &["one place for the frame number"]),
        ("none/a.pc2", &[], &["there is no folder"]),
        ("none/a.exr", &[], &["there is no folder"]),
        ("taken.####.obj", &[], &["taken.0002.obj", "it is a folder"]),
        ("a.exr", &["--vat-bits", "8"], &["8 bits", "32 or 16"]),
        ("a.png", &["--vat-bits", "32"], &["32 bits", "16 or 8"]),
        ("a.exr", &["--vat-width", "0"], &["width of 0"]),
        ("a.exr", &["--vat-width", "40000"], &["16384"]),
        (
            "a.exr",
            &["--frames", "0:20000", "--vat-width", "48"],
            &["20001 frames", "16384"],
        ),
        ("a.exr", &["--space", "prim"], &["world space"]),
        ("a.obj", &["--vat-width", "8"], &["--vat-width", ".png"]),
        ("a.pc2", &["--layer"], &["layer", ".usda"]),
        (
            "a.pc2",
            &["--rigid", "xform"],
            &["--rigid xform", "only USD"],
        ),
        (
            "a.exr",
            &["--prim", "/Hero/Ball"],
            &["nothing could be skinned", "/Hero/Ball", "no points"],
        ),
    ] {
        let output = command(&input, &out(name), more);
        assert_eq!(output.status.code(), Some(1), "{name} {more:?}");
        let text = stderr(&output);
        for word in words {
            assert!(text.contains(word), "'{text}' should say '{word}'");
        }
    }
    let left: Vec<_> = std::fs::read_dir(bench.folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
    // Nothing is written over what is read.
    let glb = bench.path("in_mesh.glb");
    std::fs::copy(project("examples/assets/puppet.glb"), &glb).unwrap();
    let before = std::fs::read(&glb).unwrap();
    let output = command(&glb, &bench.path("in.exr"), &["--frames", "1:2"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("is read from"),
        "{}",
        stderr(&output)
    );
    assert_eq!(std::fs::read(&glb).unwrap(), before);
}

/// A prim that breaks in the middle of a clip ends the bake, and nothing of it is left.
#[test]
fn a_clip_that_breaks_leaves_nothing() {
    let text = stage::usda("");
    let moving = text.replace("5: (0, 1, 3)", "4: (0, 0, inf)");
    let box_points = text
        .lines()
        .find(|l| l.contains("point3f[] points"))
        .unwrap();
    let (_, points) = box_points.split_once('=').unwrap();
    let counted = format!("point3f[] points.timeSamples = {{ 1: {points}, 3: [(0, 0, 0)] }}");
    let counted = text.replacen(box_points.trim(), &counted, 1);
    assert!(moving != text && counted != text);
    for (text, prim, output, breaks) in [
        (&moving, "/Hero/Blend", "f/a.####.obj", true),
        (&moving, "/Hero/Blend", "a.exr", true),
        // In its own space nothing of this is seen.
        (&moving, "/Hero/Blend", "a.pc2", false),
        (&counted, "/Hero/Box", "a.pc2", true),
        (&counted, "/Hero/Box", "f/a.####.obj", true),
        (&counted, "/Hero/Box", "a.exr", true),
    ] {
        let bench = Bench::new();
        let input = bench.write("in.usda", text);
        let done = command(&input, &bench.path(output), &[]);
        let left = std::fs::read_dir(bench.folder.path()).unwrap().count();
        if breaks {
            refused(&done, &bench.path(output), &["in.usda", prim]);
            assert_eq!(left, 1, "{output}");
            continue;
        }
        assert_eq!(done.status.code(), Some(0), "{output}: {}", stderr(&done));
        assert_eq!(
            stderr(&done).contains(prim),
            output != "a.pc2",
            "{}",
            stderr(&done)
        );
        assert!(left > 1);
    }
}

#[test]
fn the_command_reports_in_json() {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage::usda(""));
    let output = command(&input, &bench.path("a.png"), &["--json", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["files"].as_array().unwrap().len(), 4);
    let number = |key: &str| json[key].as_u64().unwrap();
    assert_eq!(
        (
            number("prims"),
            number("frames"),
            number("points"),
            number("samples")
        ),
        (4, 5, 32, 20)
    );
    assert!(
        json["seconds"].as_f64().unwrap() > 0.0
            && json["backend"].as_str().unwrap().contains("cpu")
    );
    assert_eq!(json["warnings"][0]["path"], "/Hero/Ball");
    let output = command(&input, &bench.path("a.usda"), &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["files"][0], bench.path("a.usda").to_str().unwrap());
    assert_eq!(
        (json["frames"].as_u64(), json["moved"].as_u64()),
        (Some(0), Some(2))
    );
    let text = stdout(&sinew(&["bake", "--help"]));
    for example in ["hero.####.obj", "hero.pc2", "hero.exr", "hero.png"] {
        assert!(text.contains(example), "{text}");
    }
}

/// Every real character, a few frames of it: sequences in world space, and textures as an engine decodes them.
#[test]
fn real_files_come_out_as_in_usd() {
    let Ok(assets) = std::env::var("SINEW_ASSETS") else {
        return;
    };
    let (mut compared, mut files) = (0, 0);
    for file in common::files::files_of(Path::new(&assets), &["usda", "usdc", "usdz", "glb", "vrm"])
    {
        let Ok(stage) = sinew::open(&file) else {
            continue;
        };
        let scene = stage.scene(Default::default()).unwrap();
        let Some(time) = middle(&scene) else {
            continue;
        };
        let bench = Bench::new();
        let options = frames(time, time, 1.0);
        let Ok(report) = bake(&file, &bench.path("f.obj"), &options, &mut |_| {}) else {
            continue;
        };
        assert_eq!(report.frames, 1);
        files += 1;
        let mut in_file = 0;
        let world = WorldBake::new(&file, &options);
        let objects = obj::read(&bench.path("f.obj"));
        for binding in &scene.bindings {
            let alone = scene
                .bindings
                .iter()
                .filter(|b| b.path.rsplit('/').next() == binding.path.rsplit('/').next())
                .count()
                == 1;
            let name = match alone {
                true => binding.path.rsplit('/').next().unwrap().to_owned(),
                false => binding.path.trim_start_matches('/').replace('/', "_"),
            };
            let Some(object) = objects.iter().find(|o| o.name == name) else {
                continue;
            };
            let Some(want) = usd::vectors(&world.0, &binding.path, "points", Some(time)) else {
                continue;
            };
            let what = format!("{} {}", file.display(), binding.path);
            compare_within(
                &what,
                &to_f64(&object.points),
                &want,
                tolerance::FRAME_POINTS * size(&want),
            )
            .unwrap();
            assert!(
                object
                    .faces
                    .iter()
                    .all(|(_, f)| f.iter().all(|c| c.point < want.len())),
                "{what}"
            );
            in_file += 1;
        }
        assert_eq!(in_file, report.prims, "{}", file.display());
        compared += in_file;
    }
    assert!(
        compared > 40 && files > 20,
        "{compared} prims of {files} files"
    );
}

/// A time in the middle of what moves.
fn middle(scene: &sinew::scene::Scene) -> Option<f64> {
    let times: Vec<f64> = scene
        .animations
        .iter()
        .flat_map(|a| a.joint_times())
        .collect();
    let low = times.iter().copied().reduce(f64::min)?;
    let high = times.iter().copied().reduce(f64::max)?;
    (low + high)
        .is_finite()
        .then_some(((low + high) / 2.0).round())
}
