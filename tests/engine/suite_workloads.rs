//! The suite's work loads are what they say, the same in every run, and the same as USD.

use std::collections::HashSet;

use crate::export;
use crate::workloads::{INBETWEEN_EVERY, Kind, Size, Workload};
use common::tolerance;
use common::trials::Trial;
use glam::Vec3;
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::sampled::Time;
use sinew::skel::Skin;

pub fn trials() -> Vec<Trial> {
    let all: [(&str, fn()); 5] = [
        ("sizes_are_those_of_the_issue", sizes),
        ("bodies_have_the_influences_they_say", bodies),
        ("faces_have_the_shapes_they_say", faces),
        ("seeds_repeat_and_meshes_differ", seeds),
        ("exported_loads_skin_alike", exported),
    ];
    common::trials::named(all.map(|(name, run)| (name, run, false)))
}

fn sizes() {
    // Points, joints, meshes, characters, shapes, active ones and frames.
    let wanted = [
        [1_000_000, 100, 1, 1, 0, 0, 1],
        [1_000_000, 100, 1, 1, 0, 0, 1],
        [5_000, 60, 20, 10_000, 0, 0, 1],
        [50_000, 0, 1, 1, 800, 120, 1],
        [50_000, 0, 1, 1, 800, 120, 1],
        [200_000, 100, 1, 1, 0, 0, 1_000],
        [1, 1, 100_000, 100_000, 0, 0, 1],
    ];
    let sizes = Kind::ALL.map(|kind| {
        let s = Size::of(kind, 1.0);
        let [meshes, characters] = [s.meshes, s.characters];
        [
            s.points, s.joints, meshes, characters, s.shapes, s.active, s.frames,
        ]
    });
    assert_eq!(sizes, wanted);
}

/// Small enough for a test, large enough to have all that the load has.
fn small(kind: Kind) -> Workload {
    Workload::new(kind, if kind == Kind::Crowd { 0.0025 } else { 0.002 })
}

fn bodies() {
    let counts = |kind| -> Vec<usize> {
        let load = small(kind);
        let influences = load.skins[0].influences().unwrap();
        let point = |p| {
            let own: Vec<_> = influences.of_point(p).filter(|(_, w)| *w != 0.0).collect();
            let sum: f32 = own.iter().map(|(_, w)| w).sum();
            assert!((sum - 1.0).abs() < tolerance::SUM_OF_WEIGHTS, "{sum}");
            let joints: HashSet<u32> = own.iter().map(|(j, _)| *j).collect();
            assert_eq!(joints.len(), own.len(), "a joint twice");
            own.len()
        };
        (0..load.size.points).map(point).collect()
    };
    assert!(counts(Kind::Body).iter().all(|n| *n == 4));
    let mixed = counts(Kind::MixedBody);
    for wanted in 1..=12 {
        let share = mixed.iter().filter(|n| **n == wanted).count() as f64 / mixed.len() as f64;
        assert!((share * 12.0 - 1.0).abs() < 0.4, "{wanted}: {share}");
    }
    let mixed = small(Kind::MixedBody);
    assert_eq!(mixed.skins[0].influences().unwrap().count(), 12);
    let with_normals = [Kind::Body, Kind::Crowd, Kind::Hero].map(|kind| small(kind).has_normals());
    assert_eq!(with_normals, [true, false, false]);
}

fn faces() {
    for kind in [Kind::Face, Kind::ScatteredFace] {
        let load = Workload::new(kind, 0.05);
        let (skin, points) = (&load.skins[0], load.size.points);
        let shapes: Vec<_> = skin.shapes().iter().flatten().collect();
        assert_eq!(shapes.len(), 800);
        for (number, shape) in shapes.iter().enumerate() {
            let moved = shape.point_indices().unwrap();
            let share = moved.len() as f64 / points as f64;
            assert!((0.029..=0.1).contains(&share), "{share}");
            assert!(moved.windows(2).all(|w| w[0] < w[1]), "a point twice");
            let betweens = if number % INBETWEEN_EVERY == 0 { 3 } else { 0 };
            assert_eq!(shape.sub_shapes().len(), 1 + betweens);
        }
        for frame in 0..3 {
            let active = |set| -> Vec<usize> {
                let weights = load.weights(set, frame);
                (0..800).filter(|i| weights[*i] != 0.0).collect()
            };
            assert_eq!(active(0).len(), 120);
            assert_ne!(active(0), active(1));
        }
        // Patches are compact: neighbours in the list are mostly neighbours on the surface.
        let steps = shapes
            .iter()
            .flat_map(|s| s.point_indices().unwrap().windows(2));
        let (near, all) = steps.fold((0, 0), |(near, all), w| {
            (near + usize::from(w[1] - w[0] == 1), all + 1)
        });
        assert_eq!(kind == Kind::Face, near * 2 > all, "{near} of {all}");
    }
}

/// Whether they are the same but for their names.
fn same(a: &Skin, b: &Skin) -> bool {
    let shapes = |s: &Skin| -> Vec<_> {
        let shapes = s.shapes().iter().flatten();
        let parts = shapes.map(|s| {
            (
                s.point_indices().map(<[u32]>::to_vec),
                s.sub_shapes().to_vec(),
            )
        });
        parts.collect()
    };
    let parts = |s| {
        (
            Skin::points(s),
            Skin::normals(s),
            Skin::influences(s),
            shapes(s),
        )
    };
    parts(a) == parts(b)
}

fn seeds() {
    for kind in Kind::ALL {
        let (one, other) = (small(kind), small(kind));
        assert!(
            one.skins.iter().zip(&other.skins).all(|(a, b)| same(a, b)),
            "{kind:?}"
        );
        let (one, other) = (one.pose(0, 1), other.pose(0, 1));
        assert_eq!(one.skinning, other.skinning);
        assert_eq!(one.channel_weights, other.channel_weights);
    }
    let crowd = small(Kind::Crowd);
    assert_eq!(crowd.skins.len(), 20);
    assert!(!same(&crowd.skins[0], &crowd.skins[1]));
    assert_ne!(crowd.pose(0, 0).skinning, crowd.pose(20, 0).skinning);
    assert_ne!(crowd.pose(0, 0).skinning, crowd.pose(0, 1).skinning);
}

fn skinned(skin: &Skin, pose: &sinew::skel::Pose) -> (Vec<Vec3>, Option<Vec<Vec3>>) {
    let packed = PackedSkin::pack("/Mesh", skin).unwrap();
    let mut points = vec![Vec3::ZERO; packed.output_count()];
    let mut normals = packed.has_output_normals().then(|| points.clone());
    let pose = PackedPose::pack(&packed, pose).unwrap();
    skin_on_cpu(&packed, &pose, &mut points, normals.as_deref_mut()).unwrap();
    (points, normals)
}

/// What is read of an exported load has the same rest data, and skins to the same points and normals, to the bit.
fn exported() {
    let folder = tempfile::tempdir().unwrap();
    for kind in Kind::ALL {
        let load = match kind {
            Kind::Dust => Workload::new(kind, 0.0002),
            _ => small(kind),
        };
        for ending in ["usdc", "usda"] {
            let file = folder.path().join(format!("{}.{ending}", kind.name()));
            export::export(&load, &file).unwrap();
            let scene = sinew_io::open(&file).unwrap();
            let scene = scene.scene(Default::default()).unwrap();
            assert_eq!(scene.bindings.len(), load.size.characters, "{kind:?}");
            assert!(scene.errors.is_empty(), "{:?}", scene.errors);
            let frame = load.size.frames - 1;
            let time = Time::At(frame as f64);
            for character in [0, load.size.characters - 1] {
                let path = format!("/Load/Character{character}/Mesh");
                let binding = scene.resolve(&path).unwrap();
                let skin = binding.skin(time).unwrap();
                let own = &load.skins[load.mesh_of(character)];
                assert!(same(&skin, own), "{kind:?} {path}");
                let (points, normals) = skinned(&skin, &binding.pose(time).unwrap());
                let (want_points, want_normals) = skinned(own, &load.pose(character, frame));
                assert!(points == want_points, "{kind:?} {path}: points");
                assert!(normals == want_normals, "{kind:?} {path}: normals");
            }
        }
    }
}
