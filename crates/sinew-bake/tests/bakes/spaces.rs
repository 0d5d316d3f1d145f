//! Where baked points end up: in prim, skeleton or world space the picture is the same.

use glam::DVec3;
use sinew::sampled::Time;
use sinew::scene::{MotionCache, OutSpace, Scene};
use sinew::skel::reference;
use sinew_stage::Stage;

use crate::bench::*;
use common::compare::{bounds, compare_matrices, compare_within, size};
use common::{tolerance, usd};

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

fn baked(stage: &str, words: &str) -> Stage {
    let bench = Bench::new();
    let out = bench.path("out.usdc");
    run(&golden(stage), &out, words);
    usd::open(&out)
}

fn scene(stage: &str) -> Scene {
    crate::truth::scene(&golden(stage))
}

/// A prim's points in world space.
fn in_world(baked: &Stage, prim: &str, time: f64) -> Vec<DVec3> {
    let world_from_prim = usd::world_from_prim(baked, prim, time);
    let points = usd::vectors(baked, prim, "points", Some(time)).expect("points");
    points
        .iter()
        .map(|p| world_from_prim.transform_point3(*p))
        .collect()
}

/// Of rule 28 too: rigid prims that move by their points or by their transform give one picture.
pub fn rule_30_the_picture_is_the_same_in_every_space() {
    let (mut compared, mut left, mut rigid) = (0, 0, 0);
    for stage in STAGES {
        let prim_space = baked(stage, "space prim rigid points");
        let skel_space = baked(stage, "space skel rigid points");
        let world_space = baked(stage, "space world rigid points");
        let by_transform = baked(stage, "space prim rigid xform");
        for binding in &scene(stage).bindings {
            let has_points = binding.points.has_value() && !binding.is_shape;
            if !has_points || binding.unsupported.is_some() {
                continue;
            }
            let prim = &binding.path;
            if usd::tokens(&world_space, prim, "xformOpOrder") != ["!resetXformStack!"] {
                left += 1; // Broken, and said so.
                continue;
            }
            for time in [1.0, 2.0, 4.0] {
                let want = in_world(&prim_space, prim, time);
                let allowed = tolerance::PIXAR_BAKE_POINTS * size(&want).max(1.0);
                for other in [&skel_space, &world_space, &by_transform] {
                    let got = in_world(other, prim, time);
                    let what = format!("{stage} {prim} at {time}");
                    compare_within(&what, &got, &want, allowed).unwrap();
                    compared += 1;
                }
                let what_stands = format!("{stage} {prim} at {time} as it stands");
                let there = usd::vectors(&world_space, prim, "points", Some(time)).unwrap();
                compare_within(&what_stands, &there, &want, allowed).unwrap();
                let extent = usd::vectors(&world_space, prim, "extent", Some(time)).unwrap();
                if usd::type_name(&world_space, prim) == "Mesh" {
                    compare_within("extent", &extent, &bounds(&there), tolerance::EXTENT).unwrap();
                }
            }
            if binding.is_rigid() {
                // A prim moved by its transform keeps its rest points, unless they blend.
                let rest = binding.points.first().unwrap();
                let rest: Vec<DVec3> = rest.iter().map(|p| p.as_dvec3()).collect();
                let points = usd::vectors(&by_transform, prim, "points", Some(2.0)).unwrap();
                assert_eq!(points == rest, binding.shapes.is_empty(), "{stage} {prim}");
                rigid += 1;
            }
        }
    }
    assert!(
        compared > 150 && left == 1 && rigid > 4,
        "{compared} compared, {left} left, {rigid} rigid"
    );
}

/// What is drawn below a prim that joints move as a whole stands where the bake has it.
pub fn rule_28_what_hangs_on_a_rigid_prim_follows_it() {
    let baked = baked("rigid_followers", "");
    let file = sinew_io::open(golden("rigid_followers")).expect("a stage");
    let scene = file.scene(Default::default()).expect("a scene");
    let geometry = file.geometry(&scene).expect("its geometry");
    let mut followers: Vec<_> = geometry.meshes.iter().collect();
    followers.retain(|m| m.binding.is_none());
    assert_eq!(followers.len(), 12);
    for mesh in followers {
        for time in [1.0, 2.0, 4.0, 5.0] {
            let want = usd::world_from_prim(&baked, &mesh.path, time);
            let got = mesh.world_from_prim(Time::At(time));
            let same = compare_matrices(&mesh.path, got, want, tolerance::PIXAR_TRANSFORM);
            same.unwrap_or_else(|e| panic!("at {time}: {e}"));
        }
    }
}

/// One transform does what skinning every point by the same influences does, in every space.
pub fn rule_28_a_rigid_prims_transform_serves_an_instance() {
    let mut compared = 0;
    for stage in ["constant_rigid_meshless_note", "xform_ops", "gprims"] {
        let scene = scene(stage);
        let skins = scene.bound_skins().filter(|b| {
            let binding = b.binding();
            let has_points = binding.points.has_value() && !binding.is_shape;
            binding.is_rigid() && has_points && binding.shapes.is_empty()
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
pub fn prims_of_another_scene_are_its_own() {
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
pub fn rule_10_joints_are_where_skinning_takes_their_bind_poses() {
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
