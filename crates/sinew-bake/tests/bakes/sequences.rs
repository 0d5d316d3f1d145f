//! OBJ sequences and point caches, frame by frame.

use std::path::{Path, PathBuf};

use glam::Vec3;
use sinew::sampled::Time;
use sinew_bake::OutSpace;

use crate::bench::*;
use crate::readers::{authored_faces, obj, object, pc2, sorted, volume};
use crate::truth::{WorldBake, deformed, prims, scene, smooth_normals};
use crate::vat::Vat;
use common::compare::{compare, compare_within, to_f64};
use common::{tolerance, usd};

/// Every frame of an OBJ sequence against the reference, the USD bake, and the faces as authored. Returns how many normals
/// were compared.
fn check_sequence(input: &Path, times: &[f64], mirrored: bool) -> usize {
    let bench = Bench::new();
    let [first, second, .., last] = *times else {
        panic!("two times at least");
    };
    let options = options(&format!("frames {first}:{last}:{}", second - first));
    let report = run_with(input, &bench.path("made/f.####.obj"), &options);
    assert_eq!(report.frames, times.len());
    let numbers = (first.floor() as i64..).take(times.len());
    let name = |n| bench.path(&format!("made/f.{n:04}.obj"));
    let files: Vec<PathBuf> = numbers.map(name).collect();
    assert_eq!(report.files, files);
    assert_eq!(entries(&bench.path("made")), files.len());
    let world = WorldBake::new(input, &options);
    let (scene, stage) = (scene(input), usd::open(input));
    let prims = prims(&scene);
    let mut compared = 0;
    for (file, &time) in files.iter().zip(times) {
        let objects = obj(file);
        assert_eq!(objects.len(), prims.len());
        for prim in &prims {
            let what = format!("{prim} at {time}");
            let object = object(&objects, prim);
            let points = to_f64(&object.points);
            compare(&what, &points, &world.points(prim, time), 0.0).unwrap();
            let want = deformed(&scene, prim, Time::At(time), OutSpace::World);
            compare(&what, &points, &want.points, tolerance::FRAME_POINTS).unwrap();
            let faces = object.point_faces();
            let authored = authored_faces(&stage, prim, mirrored);
            assert_eq!(sorted(faces.clone()), sorted(authored), "{what}");
            let made = smooth_normals(&points, &faces);
            let normals = to_f64(&object.normals);
            for corner in object.faces.iter().flat_map(|(_, face)| face) {
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
    compared
}

pub fn a_sequence_holds_the_points_faces_and_normals_of_every_frame() {
    let bench = Bench::new();
    for (i, input) in own_stages(&bench).iter().enumerate() {
        let compared = check_sequence(input, &[1.0, 2.0, 3.0, 4.0, 5.0], i == 2);
        assert_eq!(compared, 5 * 4 * 24);
    }
    let compared = check_sequence(&hatchling(), &[1.0, 12.5, 24.0], false);
    assert!(compared > 50_000, "{compared}");
}

pub fn boxes_look_outward_whatever_stands_in_the_way() {
    let bench = Bench::new();
    let most = tolerance::VOLUME_OF_A_BOX;
    for (input, size) in own_stages(&bench).iter().zip([1.0, 1.0, 1.5]) {
        let out = bench.path("one.obj");
        run(input, &out, "frames 1");
        for object in &obj(&out) {
            let what = format!("{} of {}", object.name, input.display());
            let found = volume(&object.points, &object.point_faces());
            assert!((found - size).abs() < most, "{what}: {found}");
            // Normals look outward from the middle of a box.
            let middle = object.points.iter().sum::<Vec3>() / 8.0;
            for corner in object.faces.iter().flat_map(|(_, f)| f) {
                let normal = object.normals[corner.normal.unwrap()];
                let outward = normal.dot(object.points[corner.point] - middle);
                assert!(outward > 0.1, "{what}: {normal}");
            }
        }
        run(input, &bench.path("one.exr"), "frames 1");
        let vat = Vat::read(&bench.path("one.json"));
        let volumes = vat.primitives().iter().map(|p| {
            let corners: Vec<usize> = p.faces.indices.iter().map(|i| *i as usize).collect();
            let faces: Vec<Vec<usize>> = corners.chunks(3).map(<[usize]>::to_vec).collect();
            volume(&p.points, &faces)
        });
        let found: f64 = volumes.sum();
        let off = (found - 4.0 * size * 1e-6).abs();
        assert!(off < most * 1e-5, "{}: {found}", input.display());
    }
}

pub fn a_sequence_has_uvs_and_materials() {
    let bench = Bench::new();
    let input = bench.write("in.usda", &*BOXES);
    let out = bench.path("one.obj");
    run(&input, &out, "frames 1");
    let objects = obj(&out);
    let object = object(&objects, "/Hero/Box");
    assert_eq!(object.uvs.len(), 4);
    let of = |name: &str| object.faces.iter().filter(|(m, _)| m == name).count();
    assert_eq!((of("Red"), of("Blue")), (5, 1));
    let (_, blue) = object.faces.iter().find(|(m, _)| m == "Blue").unwrap();
    let corners: Vec<_> = blue.iter().map(|c| (c.point, c.uv.unwrap())).collect();
    assert_eq!(corners, [(4, 0), (5, 1), (6, 2), (7, 3)]);
    let mut faces = object.faces.iter().map(|(_, face)| face);
    let turned = faces.find(|f| f[0].point == 3 && f[1].point == 0).unwrap();
    let uvs: Vec<_> = turned.iter().map(|c| c.uv.unwrap()).collect();
    assert_eq!(uvs, [1, 2, 3, 0]);
    assert!(objects.iter().all(|o| o.name == "Box" || o.uvs.is_empty()));
}

pub fn a_gpu_gives_the_same_frames() {
    let bench = Bench::new();
    let input = bench.write("in.usda", scaled(MIRROR));
    run(&input, &bench.path("cpu.###.obj"), "");
    run(&input, &bench.path("gpu.###.obj"), "gpu");
    for frame in 1..=5 {
        let by = |backend: &str| obj(&bench.path(&format!("{backend}.{frame:03}.obj")));
        let (on_cpu, on_gpu) = (by("cpu"), by("gpu"));
        assert_eq!(on_cpu.len(), on_gpu.len());
        for (a, b) in on_cpu.iter().zip(&on_gpu) {
            assert_eq!((&a.name, &a.faces), (&b.name, &b.faces));
            for (a, b, most) in [
                (&a.points, &b.points, tolerance::MIRROR_POINTS),
                (&a.normals, &b.normals, tolerance::MIRROR_NORMALS),
            ] {
                compare("on a GPU", &to_f64(b), &to_f64(a), most).unwrap();
            }
        }
    }
}

/// Caches of a prim's own space, and of the world's.
pub fn point_caches_hold_the_points_to_the_bit() {
    let bench = Bench::new();
    for input in own_stages(&bench) {
        let scene = scene(&input);
        for (words, space) in [("", OutSpace::Prim), ("space world", OutSpace::World)] {
            let report = run(&input, &bench.path("c.pc2"), words);
            assert_eq!((report.files.len(), report.frames), (4, 5));
            // The sphere has no points.
            let left_out = warnings(&report, "left-out");
            assert!(left_out.iter().any(|w| w.path == "/Hero/Ball"));
            let in_usd = bench.path("same.usdc");
            let same = format!("{words} frames 1:5 rigid points");
            run(&input, &in_usd, &same);
            let baked = usd::open(&in_usd);
            for prim in prims(&scene) {
                let name = prim.rsplit('/').next().unwrap();
                let cache = pc2(&bench.path(&format!("c_{name}.pc2")));
                let samples = cache.samples.len();
                assert_eq!((cache.first, cache.step, samples), (1.0, 1.0, 5));
                for (sample, time) in cache.samples.iter().zip(1..) {
                    let time = f64::from(time);
                    let got = to_f64(sample);
                    let what = format!("{prim} at {time}");
                    let want = usd::vectors(&baked, &prim, "points", Some(time)).unwrap();
                    compare(&what, &got, &want, 0.0).unwrap();
                    let want = deformed(&scene, &prim, Time::At(time), space);
                    compare(&what, &got, &want.points, tolerance::FRAME_POINTS).unwrap();
                }
            }
        }
    }
}
