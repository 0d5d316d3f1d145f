//! OBJ sequences.

use std::path::{Path, PathBuf};

use glam::Vec3;
use sinew::sampled::Time;
use sinew_bake::{Backend, OutSpace};

use crate::formats::bench::*;
use crate::formats::truth::{deformed, prims, scene, smooth_normals};
use crate::formats::vat::{self, Vat};
use crate::formats::{obj, stage};
use common::command::Bench;
use common::compare::{compare, compare_within, to_f64};
use common::{tolerance, usd};

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

pub fn a_sequence_holds_the_points_faces_and_normals_of_every_frame() {
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

pub fn boxes_look_outward_whatever_stands_in_the_way() {
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
                (object.volume() - scale).abs() < tolerance::VOLUME_OF_A_BOX,
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
            (volume - 4.0 * scale * 1e-6).abs() < tolerance::VOLUME_OF_A_BOX * 1e-5,
            "{}: {volume}",
            input.display()
        );
    }
}

pub fn a_sequence_has_uvs_and_materials() {
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

pub fn a_gpu_gives_the_same_frames() {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage::usda(stage::MIRRORED));
    let by = |backend: Backend, name: &str| {
        let mut options = cpu();
        options.backend = backend;
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
