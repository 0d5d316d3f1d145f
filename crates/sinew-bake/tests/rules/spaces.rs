//! Where baked points end up: in prim, skeleton or world space the picture is the same.

use common::compare::{bounds, compare_within, size};
use common::{tolerance, usd};
use glam::DVec3;
use sinew::sampled::Time;
use sinew::scene::{MotionCache, NormalsProperty, Scene};
use sinew::skel::reference;
use sinew_bake::{Backend, BakeOptions, OutSpace, Rigid, bake};
use sinew_io::usd::{ReadOptions, UsdFile};
use sinew_stage::Stage;

/// Stages with moving parents, rigid prims, prims that only blend, and every gprim type.
const STAGES: &[&str] = &[
    "ancestors_animated",
    "blend_only",
    "constant_rigid_meshless_note",
    "geom_bind",
    "gprims",
    "instanced",
    "xform_ops",
];

struct Baked {
    stage: Stage,
    _folder: tempfile::TempDir,
}

fn golden(stage: &str) -> std::path::PathBuf {
    common::repository().join(format!("tests/goldens/{stage}.usda"))
}

fn baked(stage: &str, space: OutSpace, rigid: Rigid) -> Baked {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.usdc");
    let mut options = BakeOptions::default();
    options.backend = Backend::Cpu;
    options.space = Some(space);
    options.rigid = rigid;
    bake(&golden(stage), &out, &options, &mut |_| {}).unwrap();
    Baked {
        stage: usd::open(&out),
        _folder: folder,
    }
}

fn scene(stage: &str) -> Scene {
    let file = UsdFile::open(golden(stage)).unwrap();
    file.scene(ReadOptions::default()).unwrap()
}

/// A prim's points in world space.
fn in_world(baked: &Baked, prim: &str, time: f64) -> Vec<DVec3> {
    let world_from_prim = usd::world_from_prim(&baked.stage, prim, time);
    let points = usd::vectors(&baked.stage, prim, "points", Some(time)).expect("points");
    points
        .iter()
        .map(|p| world_from_prim.transform_point3(*p))
        .collect()
}

#[test]
fn rule_30_the_picture_is_the_same_in_every_space() {
    let (mut compared, mut left) = (0, 0);
    for stage in STAGES {
        let prim_space = baked(stage, OutSpace::Prim, Rigid::Points);
        let skel_space = baked(stage, OutSpace::Skel, Rigid::Points);
        let world_space = baked(stage, OutSpace::World, Rigid::Points);
        for binding in &scene(stage).bindings {
            if !binding.points.has_value() || binding.unsupported.is_some() {
                continue;
            }
            let prim = &binding.path;
            if usd::tokens(&world_space.stage, prim, "xformOpOrder") != ["!resetXformStack!"] {
                left += 1; // Broken, and said so.
                continue;
            }
            for time in [1.0, 2.0, 4.0] {
                let want = in_world(&prim_space, prim, time);
                let allowed = tolerance::PIXAR_BAKE_POINTS * size(&want).max(1.0);
                for other in [&skel_space, &world_space] {
                    let got = in_world(other, prim, time);
                    let what = format!("{stage} {prim} at {time}");
                    compare_within(&what, &got, &want, allowed).unwrap();
                    compared += 1;
                }
                let what_stands = format!("{stage} {prim} at {time} as it stands");
                let there = usd::vectors(&world_space.stage, prim, "points", Some(time)).unwrap();
                compare_within(&what_stands, &there, &want, allowed).unwrap();
            }
        }
    }
    assert!(
        compared > 100 && left == 1,
        "{compared} compared, {left} left"
    );
}

#[test]
fn extents_are_in_the_space_of_the_points() {
    let world = baked("ancestors_animated", OutSpace::World, Rigid::Points);
    let prim = "/World/Char/Geo/Body";
    let points = usd::vectors(&world.stage, prim, "points", Some(2.0)).unwrap();
    let extent = usd::vectors(&world.stage, prim, "extent", Some(2.0)).unwrap();
    compare_within("extent", &extent, &bounds(&points), tolerance::EXTENT).unwrap();
}

#[test]
fn rule_28_rigid_by_points_and_by_transform_give_one_picture() {
    for stage in [
        "constant_rigid_meshless_note",
        "xform_ops",
        "blend_only",
        "gprims",
    ] {
        let (by_points, by_transform) = (
            baked(stage, OutSpace::Prim, Rigid::Points),
            baked(stage, OutSpace::Prim, Rigid::Xform),
        );
        let scene = scene(stage);
        let rigid = scene
            .bindings
            .iter()
            .filter(|b| b.is_rigid() && b.points.has_value());
        let mut compared = 0;
        for binding in rigid {
            let prim = &binding.path;
            for time in [1.0, 2.0, 5.0] {
                let (a, b) = (
                    in_world(&by_points, prim, time),
                    in_world(&by_transform, prim, time),
                );
                let allowed = tolerance::PIXAR_BAKE_POINTS * size(&a).max(1.0);
                compare_within(&format!("{stage} {prim}"), &b, &a, allowed).unwrap();
                compared += 1;
            }
            // A prim moved by its transform keeps its rest points, unless they blend.
            let rest: Vec<DVec3> = binding
                .points
                .first()
                .unwrap()
                .iter()
                .map(|p| p.as_dvec3())
                .collect();
            let points = usd::vectors(&by_transform.stage, prim, "points", Some(2.0)).unwrap();
            assert_eq!(points == rest, binding.shapes.is_empty(), "{stage} {prim}");
        }
        assert!(compared > 0, "{stage}");
    }
}

/// One transform does what skinning every point by the same influences does, in every space.
#[test]
fn rule_28_a_rigid_prims_transform_serves_an_instance() {
    let mut compared = 0;
    for stage in ["constant_rigid_meshless_note", "xform_ops", "gprims"] {
        let scene = scene(stage);
        let skins = scene.bound_skins().filter(|b| {
            let binding = b.binding();
            binding.is_rigid() && binding.points.has_value() && binding.shapes.is_empty()
        });
        for (bound, time) in skins.flat_map(|b| [1.0, 2.5, 5.0].map(|t| (b, Time::At(t)))) {
            for space in [OutSpace::Prim, OutSpace::Skel, OutSpace::World] {
                let mut cache = scene.at(time, space);
                let Ok(pose) = cache.pose(bound) else {
                    // A singular prim has no space of its own to go to, and says so both ways.
                    assert!(cache.rigid_out_from_prim(bound).is_err());
                    continue;
                };
                let skin = bound.skin(time).unwrap();
                let want = reference::deform(&skin, &pose).unwrap().points;
                let out_from_prim = cache.rigid_out_from_prim(bound).unwrap();
                let rest = skin.points().iter().map(|p| p.as_dvec3());
                let got: Vec<_> = rest.map(|p| out_from_prim.transform_point3(p)).collect();
                let allowed = tolerance::SAME_IN_F64 * size(&want).max(1.0);
                let what = format!("{stage} {} in {space:?}", bound.binding().path);
                compare_within(&what, &got, &want, allowed).unwrap();
                compared += 1;
            }
        }
    }
    assert!(compared > 30, "{compared}");
}

/// Caches of one scene pose the prims of another one as that one's own caches do.
#[test]
fn prims_of_another_scene_are_its_own() {
    let (own, other) = (scene("blend_only"), scene("xform_ops"));
    let mut compared = 0;
    for space in [OutSpace::Prim, OutSpace::Skel, OutSpace::World] {
        for bound in other.bound_skins() {
            let time = Time::At(2.5);
            let (mut a, mut b) = (own.at(time, space), other.at(time, space));
            let same = [
                (a.rigid_transform(bound), b.rigid_transform(bound)),
                (a.rigid_out_from_prim(bound), b.rigid_out_from_prim(bound)),
            ];
            for (a, b) in same {
                compared += usize::from(b.is_ok());
                assert_eq!(a.ok(), b.ok(), "{} in {space:?}", bound.binding().path);
            }
            let (mut a, mut b) = (
                MotionCache::new(&own, time, space),
                MotionCache::new(&other, time, space),
            );
            let (a, b) = (a.velocities(bound, false), b.velocities(bound, false));
            compared += usize::from(b.is_ok());
            assert_eq!(a.ok(), b.ok(), "{} in {space:?}", bound.binding().path);
        }
    }
    assert!(compared > 6, "{compared}");
}

/// Joints in the world, against the way that skinning transforms take their bind poses.
#[test]
fn rule_10_joints_are_where_skinning_takes_their_bind_poses() {
    let mut compared = 0;
    for stage in STAGES {
        let scene = scene(stage);
        for (bound, time) in scene
            .bound_skins()
            .flat_map(|b| [1.0, 2.5, 4.0].map(|t| (b, Time::At(t))))
        {
            let mut cache = scene.at(time, OutSpace::World);
            let skeleton = bound.skeleton().instance.skeleton();
            let Ok(pose) = cache.pose(bound) else {
                continue;
            };
            let Some(skinning) = &pose.skinning else {
                continue;
            };
            let joints = bound.world_from_joints(time).unwrap();
            assert_eq!(joints.len(), skeleton.joints().len());
            assert_eq!(joints, cache.world_from_joints(bound).unwrap());
            for ((joint, skinning), bind) in joints.iter().zip(&**skinning).zip(skeleton.bind()) {
                let want = pose.out_from_skel * *skinning * *bind;
                let places = |m: &glam::DMat4| {
                    [m.x_axis, m.y_axis, m.z_axis, m.w_axis].map(|column| column.truncate())
                };
                let allowed = tolerance::SAME_IN_F64 * size(&places(&want)).max(1.0);
                compare_within(stage, &places(joint), &places(&want), allowed).unwrap();
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn rule_28_a_rigid_prim_keeps_its_reset_of_the_transform_stack() {
    let baked = baked("xform_ops", OutSpace::Prim, Rigid::Xform);
    let order = usd::tokens(&baked.stage, "/World/Char/Geo/RigidReset", "xformOpOrder");
    assert_eq!(order, ["!resetXformStack!", "xformOp:transform"]);
}

#[test]
fn rule_24_primvars_normals_follow_like_normals() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(golden("normals_interpolations")).unwrap();
    // The same normals under the other name, one of them indexed besides.
    let renamed = text.replace("normal3f[] normals", "normal3f[] primvars:normals");
    assert_ne!(text, renamed);
    let (input, out) = (
        folder.path().join("in.usda"),
        folder.path().join("out.usdc"),
    );
    std::fs::write(&input, renamed).unwrap();
    let mut options = BakeOptions::default();
    options.backend = Backend::Cpu;
    bake(&input, &out, &options, &mut |_| {}).unwrap();
    let (got, want) = (
        usd::open(&out),
        baked("normals_interpolations", OutSpace::Prim, Rigid::Xform),
    );
    let mut compared = 0;
    for name in [
        "Varying",
        "FaceVarying",
        "FaceVaryingBlended",
        "FaceVaryingAnimated",
        "BadCorners",
    ] {
        let prim = format!("/World/Char/Geo/{name}");
        for time in [1.0, 2.0, 5.0] {
            let got = usd::vectors(&got, &prim, NormalsProperty::Primvar.name(), Some(time));
            let want = usd::vectors(&want.stage, &prim, "normals", Some(time)).unwrap();
            assert_eq!(got.unwrap(), want, "{prim} at {time}");
            compared += 1;
        }
    }
    assert_eq!(compared, 15);
}

const INDEXED: &str = r#"#usda 1.0
def SkelRoot "R" (prepend apiSchemas = ["SkelBindingAPI"]) {
    rel skel:skeleton = </R/S>
    def Skeleton "S" (prepend apiSchemas = ["SkelBindingAPI"]) {
        uniform token[] joints = ["A"]
        uniform matrix4d[] bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]
        uniform matrix4d[] restTransforms = [((0,1,0,0),(-1,0,0,0),(0,0,1,0),(0,0,0,1))]
    }
    def Mesh "M" (prepend apiSchemas = ["SkelBindingAPI"]) {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0,0,0), (1,0,0), (0,1,0)]
        normal3f[] normals = [(0,0,1), (0,0,1), (0,0,1)]
        normal3f[] primvars:normals = [(1,0,0), (0,1,0)] (interpolation = "faceVarying")
        int[] primvars:normals:indices = [1, 0, 0]
        int[] primvars:skel:jointIndices = [0, 0, 0] (interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1, 1, 1] (interpolation = "vertex")
    }
}
"#;

/// Both kinds of normals on one mesh, the primvar indexed: both follow, and the indices go.
#[test]
fn rule_24_indexed_normals_are_written_flat() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.usda");
    std::fs::write(&input, INDEXED).unwrap();
    for layer in [false, true] {
        let out = folder.path().join("out.usda");
        let mut options = BakeOptions::default();
        options.backend = Backend::Cpu;
        options.layer = layer;
        bake(&input, &out, &options, &mut |_| {}).unwrap();
        let stage = usd::open(&out);
        let vectors = |name: &str| usd::vectors(&stage, "/R/M", name, None).unwrap();
        let (x, y) = (DVec3::Y, DVec3::NEG_X);
        compare_within(
            "primvars:normals",
            &vectors("primvars:normals"),
            &[y, x, x],
            tolerance::FEW_ROUNDINGS,
        )
        .unwrap();
        compare_within(
            "normals",
            &vectors("normals"),
            &[DVec3::Z; 3],
            tolerance::FEW_ROUNDINGS,
        )
        .unwrap();
        let points = [DVec3::ZERO, DVec3::Y, DVec3::NEG_X];
        compare_within(
            "points",
            &vectors("points"),
            &points,
            tolerance::FEW_ROUNDINGS,
        )
        .unwrap();
        assert!(!usd::has_value(&stage, "/R/M", "primvars:normals:indices"));
    }
}

/// Samples that interpolation gives back are left out, and the rest is where it was.
#[test]
fn rule_31_equal_neighbours_are_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (
        folder.path().join("in.usda"),
        folder.path().join("out.usdc"),
    );
    // Animated from 3 to 4, still before and after.
    let text = INDEXED.replace(
        "def Mesh",
        r#"def SkelAnimation "A" {
            uniform token[] joints = ["A"]
            float3[] translations.timeSamples = { 1: [(0,0,0)], 3: [(0,0,0)], 4: [(1,0,0)], 8: [(1,0,0)] }
            quatf[] rotations = [(1,0,0,0)]
            half3[] scales = [(1,1,1)]
        }
        def Mesh"#,
    );
    let text = text.replace(
        "uniform token[] joints = [\"A\"]\n        uniform matrix4d[] bind",
        "rel skel:animationSource = </R/A>\n        uniform token[] joints = [\"A\"]\n        uniform matrix4d[] bind",
    );
    let text = text.replace(
        "#usda 1.0",
        "#usda 1.0\n(startTimeCode = 1; endTimeCode = 8)",
    );
    std::fs::write(&input, text).unwrap();
    let mut options = BakeOptions::default();
    options.backend = Backend::Cpu;
    let report = bake(&input, &out, &options, &mut |_| {}).unwrap();
    assert_eq!(report.samples, 8);
    let stage = usd::open(&out);
    assert_eq!(usd::times(&stage, "/R/M", "points"), [3.0, 4.0]);
    assert_eq!(usd::times(&stage, "/R/M", "extent"), [3.0, 4.0]);
    assert_eq!(usd::times(&stage, "/R/M", "normals").len(), 1);
    for (time, x) in [(1.0, 0.0), (2.5, 0.0), (3.5, 0.5), (7.0, 1.0)] {
        let points = usd::vectors(&stage, "/R/M", "points", Some(time)).unwrap();
        assert!(
            (points[0].x - x).abs() < tolerance::FEW_ROUNDINGS,
            "{points:?} at {time}"
        );
    }
}
