//! Poses and skins of a scene at several times.

use glam::DVec3;
use sinew::sampled::Time;
use sinew::scene::{OutSpace, Scene};
use sinew::skel::reference;

use crate::bench::*;
use crate::truth::scene;
use common::stages::Table;

/// The scene of the table's stage of animation sources, with more in it.
fn with(more: &str) -> Scene {
    let bench = Bench::new();
    let text = Table::read("rules.txt").base("sources").to_owned();
    scene(&bench.write("in.usda", text.replace("# more", more)))
}

/// Joints and blend weights of one pose are those of one time, however many times are looked at.
pub fn each_pose_belongs_to_its_time() {
    let moving = r#"def SkelAnimation "Moving" {
            uniform token[] joints = ["J"]
            float3[] translations.timeSamples = { 1: [(1, 0, 0)], 2: [(2, 0, 0)] }
            quatf[] rotations = [(1, 0, 0, 0)]
            half3[] scales = [(1, 1, 1)]
            uniform token[] blendShapes = ["Up"]
            float[] blendShapeWeights.timeSamples = { 1: [1], 2: [2] }
        }
        rel skel:animationSource = </R/Moving>
        def Mesh "Mesh" (inherits = </Shape>) {
            def BlendShape "Up" { uniform vector3f[] offsets = [(0, 1, 0), (0, 1, 0), (0, 1, 0)]; }
            uniform token[] skel:blendShapes = ["Up"]
            rel skel:blendShapeTargets = [<Up>]
            rel skel:skeleton = </R/Skel>
        }"#;
    let scene = with(moving);
    let bound = scene.bound(0);
    let place = (bound.index(), bound.binding().path.as_str());
    assert_eq!(place, (0, "/R/Mesh"));
    let skin = bound.skin(Time::At(1.0)).unwrap();
    let mut poses = [1.0, 2.0].map(|t| scene.at(Time::At(t), OutSpace::World));
    // Each is asked twice, and in turn.
    for _ in 0..2 {
        for (poses, t) in poses.iter_mut().zip([1.0, 2.0]) {
            let pose = poses.pose(bound).unwrap();
            assert_eq!(pose.channel_weights, [t as f32]);
            let point = reference::deform(&skin, &pose).unwrap().points[0];
            assert_eq!(point, DVec3::new(t, t, 0.0));
        }
    }

    let other = with(moving);
    let [poses, _] = &mut poses;
    // A prim of another scene is posed in its own.
    let pose = poses.pose(other.bound(0)).unwrap();
    let point = reference::deform(&skin, &pose).unwrap().points[0];
    assert_eq!(point, DVec3::new(1.0, 1.0, 0.0));
}

/// An attribute may have a default and one sample that differ. Skins that never change are remembered, but not one in place
/// of the other.
pub fn skins_of_the_default_time_and_of_time_codes_are_apart() {
    let more = r#"def Mesh "Both" (inherits = </Shape>) {
            point3f[] points.timeSamples = { 1: [(5, 0, 0), (6, 0, 0), (5, 1, 0)] }
            rel skel:skeleton = </R/Skel>
        }
        def Mesh "Sampled" (prepend apiSchemas = ["SkelBindingAPI"]) {
            point3f[] points.timeSamples = { 1: [(5, 0, 0), (6, 0, 0), (5, 1, 0)] }
            int[] primvars:skel:jointIndices = [0, 0, 0] (interpolation = "vertex")
            float[] primvars:skel:jointWeights = [1, 1, 1] (interpolation = "vertex")
            rel skel:skeleton = </R/Skel>
        }"#;
    let (default, code) = (Time::Default, Time::At(3.0));
    for order in [[default, code, default], [code, default, code]] {
        let scene = with(more);
        let x = |prim: &str, time| {
            let skin = scene.resolve(prim).unwrap().skin(time);
            skin.map(|skin| skin.points()[0].x).map_err(|e| e.code)
        };
        for time in order {
            let is_default = time == default;
            assert_eq!(x("/R/Both", time), Ok(if is_default { 0.0 } else { 5.0 }));
            let want = match is_default {
                true => Err(Some("points-missing")),
                false => Ok(5.0),
            };
            assert_eq!(x("/R/Sampled", time), want);
        }
    }
}
