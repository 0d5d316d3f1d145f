//! Clips against bakes of their files.

use std::path::Path;

use common::tolerance;
use common::trials::Trial;
use glam::Vec3;
use sinew::gpu::Crowd;
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::mesh::RenderMesh;
use sinew::sampled::Time;
use sinew::scene::{Geometry, OutSpace, Scene};
use sinew::skel::{Pose, Skin};
use sinew_character::Character;
use sinew_io::{ClipChoice, OpenOptions};

use crate::made::{HERO, TWIN_WITHOUT_CLIPS, TWIN_WITHOUT_REST, scene};
use crate::{Stage, apart, asset, results, skinner, step, trials};

pub fn trials() -> Vec<Trial> {
    let mut trials = trials![
        play_as_the_file_says,
        without_a_rest_pose_are_kept,
        without_a_skeleton_are_kept,
    ];
    trials.push(fbx());
    trials
}

/// A file as a bake reads it.
struct Baked {
    scene: Scene,
    geometry: Geometry,
}

impl Baked {
    fn open(file: &Path, clips: ClipChoice) -> Self {
        let options = OpenOptions {
            clips,
            ..OpenOptions::default()
        };
        let file = sinew_io::open_with(file, &options).unwrap();
        let scene = file.scene(Default::default()).unwrap();
        let geometry = file.geometry(&scene).unwrap();
        Self { scene, geometry }
    }

    /// The vertices of each mesh in world space: of the prims that move by the clip that the file
    /// was opened with.
    fn meshes(&self, time: f64) -> Vec<(String, Vec<Vec3>)> {
        let Self { scene, geometry } = self;
        let start = scene
            .time_line
            .range
            .map_or(Time::Default, |(s, _)| Time::At(s));
        let mut poses = scene.at(Time::At(time), OutSpace::World);
        let mut out = Vec::new();
        for mesh in geometry.meshes.iter().filter(|m| m.visible(start)) {
            let points = mesh.points.first().unwrap();
            let inputs = mesh.render_inputs();
            let render = RenderMesh::new(&mesh.path, &mesh.topology, &inputs).unwrap();
            if render.triangles.is_empty() {
                continue;
            }
            let world = mesh.world_from_prim(Time::At(time)).as_mat4();
            let deformed: Vec<Vec3> = match mesh.binding.map(|b| scene.bound(b)) {
                Some(bound) if bound.binding().influences.is_some() => {
                    let skin = bound.skin(Time::At(time)).unwrap();
                    deformed(&skin, &poses.pose(bound).unwrap())
                }
                Some(bound) => {
                    let points = deformed(&bound.skin(start).unwrap(), &poses.blend_pose(bound));
                    points.iter().map(|p| world.transform_point3(*p)).collect()
                }
                None => points.iter().map(|p| world.transform_point3(*p)).collect(),
            };
            let vertices = render.points.iter().map(|p| deformed[*p as usize]);
            out.push((mesh.path.clone(), vertices.collect()));
        }
        out
    }
}

fn deformed(skin: &Skin, pose: &Pose) -> Vec<Vec3> {
    let skin = PackedSkin::pack("Mesh", skin).unwrap();
    let pose = PackedPose::pack(&skin, pose).unwrap();
    let mut points = vec![Vec3::ZERO; skin.point_count()];
    skin_on_cpu(&skin, &pose, &mut points, None).unwrap();
    points
}

/// Plays a clip of a file and compares some moments of it with a bake.
fn compare_with_bake(file: &Path, clip: &str) {
    let skinner = skinner();
    let mut hero = Character::load(&skinner, file).unwrap();
    compare(&mut hero, &mut skinner.crowd(), file, clip);
}

/// The same for a character that is loaded.
pub fn compare(hero: &mut Character, crowd: &mut Crowd, file: &Path, clip: &str) {
    let found = hero.clips().iter().find(|c| c.name() == clip).unwrap();
    let (start, duration) = (found.start(), f64::from(found.duration()));
    // A clip without a name has one here.
    let baked = Baked::open(
        file,
        match found.is_bound() {
            true => ClipChoice::First,
            false => ClipChoice::Named(clip.to_owned()),
        },
    );
    let codes = baked.scene.time_line.time_codes_per_second;
    hero.play(clip).unwrap();
    let mut last = 0.0;
    for share in [0.0, 0.3, 0.5, 0.85] {
        // On the grid of the crowd's clock.
        let seconds = (duration * share * 65536.0).floor() / 65536.0;
        step(hero, crowd, seconds - last);
        last = seconds;
        let found = results(hero, crowd);
        let expected = baked.meshes(start + seconds * codes);
        let paths: Vec<&str> = expected.iter().map(|(path, _)| path.as_str()).collect();
        assert!(hero.meshes().eq(paths.iter().copied()), "{paths:?}");
        let expected: Vec<Vec<Vec3>> = expected.into_iter().map(|(_, points)| points).collect();
        let apart = apart(&found, &expected);
        assert!(
            apart <= tolerance::CHARACTERS,
            "{} {clip} at {seconds} s: {apart:.2e}",
            file.display()
        );
        // The mirror, which cameras and picking use.
        let own = hero.positions(Some(clip), seconds as f32).unwrap();
        let apart = crate::apart(&own, &found);
        assert!(
            apart <= tolerance::CHARACTERS_MIRRORED,
            "{clip}: {apart:.2e}"
        );
    }
}

fn play_as_the_file_says() {
    compare_with_bake(&scene(HERO), "Walk");
    compare_with_bake(&scene(HERO), "Run");
    compare_with_bake(&asset("hatchling.usda"), "Dance");
    compare_with_bake(&asset("puppet.glb"), "Wave");
}

/// The clips of an FBX character, where this build reads FBX.
fn fbx() -> Trial {
    let bench = common::command::Bench::new();
    let file = bench.write("tube.fbx", common::fbx::text("tube"));
    let is_read = !matches!(
        sinew_io::open(&file),
        Err(sinew_io::Error::Unsupported { .. })
    );
    let trial = Trial::test("of_fbx_play", move || {
        let hero = Character::load(&skinner(), bench.path("tube.fbx"))?;
        let names: Vec<&str> = hero.clips().iter().map(|c| c.name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        for name in names {
            compare_with_bake(&file, name);
        }
        Ok(())
    });
    let reason = if is_read { "" } else { "needs the feature fbx" };
    trial
        .with_kind(reason)
        .with_ignored_flag(common::gpu::ignored() || !is_read)
}

/// A second skeleton has no rest pose, and one of the clips does not move it: there it stands in the
/// first pose of the other.
fn without_a_rest_pose_are_kept() {
    let mut stage = Stage::of(TWIN_WITHOUT_REST);
    let names: Vec<&str> = stage.hero.clips().iter().map(|c| c.name()).collect();
    assert_eq!(names, ["Walk", "Run"], "{:?}", stage.hero.left_out());
    let is_twin: Vec<bool> = stage.hero.meshes().map(|m| m.contains("Twin")).collect();
    assert_eq!(is_twin.iter().filter(|twin| **twin).count(), 3);
    stage.hero.play("Run").unwrap();
    let found = stage.frame(0.5);
    let of = |all: Vec<Vec<Vec3>>, twin: bool| -> Vec<Vec<Vec3>> {
        let own = all.into_iter().zip(&is_twin);
        own.filter(|(_, is)| **is == twin).map(|(m, _)| m).collect()
    };
    let runs = of(stage.hero.positions(Some("Run"), 0.5).unwrap(), false);
    let stands = of(stage.hero.positions(Some("Walk"), 0.0).unwrap(), true);
    assert!(apart(&of(found.clone(), false), &runs) <= tolerance::CHARACTERS_MIRRORED);
    assert!(apart(&of(found, true), &stands) <= tolerance::CHARACTERS_MIRRORED);
}

/// No clip moves the second skeleton, which has no rest pose: its meshes alone are left out.
fn without_a_skeleton_are_kept() {
    let mut stage = Stage::of(TWIN_WITHOUT_CLIPS);
    let names: Vec<&str> = stage.hero.clips().iter().map(|c| c.name()).collect();
    assert_eq!(names, ["Walk", "Run"], "{:?}", stage.hero.left_out());
    let meshes: Vec<&str> = stage.hero.meshes().collect();
    // What nothing moves needs no skeleton.
    assert_eq!(
        meshes,
        ["/Hero/Body", "/Hero/Face", "/Hero/Hat", "/Twin/Hat"]
    );
    let left_out: Vec<String> = stage
        .hero
        .left_out()
        .iter()
        .map(|e| e.to_string())
        .collect();
    let of_rest = left_out.iter().filter(|e| e.contains("restTransforms"));
    assert_eq!(of_rest.count(), 1, "{left_out:?}");
    stage.hero.play("Run").unwrap();
    let found = stage.frame(0.5);
    let expected = stage.hero.positions(Some("Run"), 0.5).unwrap();
    assert!(apart(&found, &expected) <= tolerance::CHARACTERS_MIRRORED);
}
