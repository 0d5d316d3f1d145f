//! Characters on a device: what they play, draw and share.

mod made;

use std::path::Path;
use std::sync::Arc;

use common::tolerance;
use common::trials::Trial;
use glam::{BVec3, DMat4, DVec3, Vec3};
use made::{HERO, folder};
use sinew::clip::{JointMask, LocalPose};
use sinew::gpu::{Crowd, Skinner};
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::mesh::{RenderInputs, RenderMesh};
use sinew::sampled::Time;
use sinew::scene::{OutSpace, Scene};
use sinew_character::{Character, CharacterOptions, Error, PlayClip};
use sinew_io::{ClipChoice, OpenOptions};

fn main() {
    let no_gpu = common::gpu::ignored();
    let mut trials = common::trials::named([
        (
            "clips_play_as_the_file_says",
            clips_play_as_the_file_says as fn(),
            no_gpu,
        ),
        (
            "a_crossfade_is_the_blend_of_its_clips",
            a_crossfade_is_the_blend_of_its_clips,
            no_gpu,
        ),
        (
            "blends_and_sums_are_those_of_clips",
            blends_and_sums_are_those_of_clips,
            no_gpu,
        ),
        ("draws_cover_every_mesh", draws_cover_every_mesh, no_gpu),
        ("characters_share_a_crowd", characters_share_a_crowd, no_gpu),
        (
            "roots_stay_and_tell_their_way",
            roots_stay_and_tell_their_way,
            no_gpu,
        ),
        (
            "shapes_and_places_are_the_hosts",
            shapes_and_places_are_the_hosts,
            no_gpu,
        ),
        (
            "what_does_not_fit_is_an_error",
            what_does_not_fit_is_an_error,
            no_gpu,
        ),
    ]);
    trials.push(fbx(no_gpu));
    trials.extend(real_files(no_gpu));
    common::trials::run([("", trials)])
}

fn skinner() -> Skinner {
    let gpu = common::gpu::device().unwrap();
    Skinner::new(gpu.device(), gpu.queue(), &Default::default()).unwrap()
}

fn asset(name: &str) -> std::path::PathBuf {
    common::repository().join("examples/assets").join(name)
}

/// The vertices of all meshes that a frame computes.
fn results(hero: &Character, crowd: &mut Crowd) -> Vec<Vec<Vec3>> {
    crowd.submit().unwrap();
    let read = crowd.read(hero.instances()).unwrap();
    read.into_iter().map(|r| r.points).collect()
}

/// The vertices of each mesh in world space as a bake has them: of the prims that move by the clip
/// that the file was opened with.
fn baked(file: &Path, clip: ClipChoice, time: f64) -> Vec<(String, Vec<Vec3>)> {
    let options = OpenOptions {
        clips: clip,
        ..OpenOptions::default()
    };
    let file = sinew_io::open_with(file, &options).unwrap();
    let scene = file.scene(Default::default()).unwrap();
    let geometry = file.geometry(&scene).unwrap();
    let start = scene
        .time_line
        .range
        .map_or(Time::Default, |(s, _)| Time::At(s));
    let mut poses = scene.at(Time::At(time), OutSpace::World);
    let mut out = Vec::new();
    for mesh in geometry.meshes.iter().filter(|m| m.visible(start)) {
        let points = mesh.points.first().unwrap();
        let inputs = RenderInputs {
            points,
            normals: mesh.normals.as_ref().and_then(|n| n.first()),
            uvs: mesh.uvs.as_ref().and_then(|n| n.first()),
            colors: mesh.display_color.as_ref().and_then(|c| c.first()),
            opacities: mesh.display_opacity.as_ref().and_then(|c| c.first()),
        };
        let render = RenderMesh::new(&mesh.path, &mesh.topology, &inputs).unwrap();
        if render.triangles.is_empty() {
            continue;
        }
        let world = mesh.world_from_prim(Time::At(time)).as_mat4();
        let deformed: Vec<Vec3> = match mesh.binding.map(|b| scene.bound(b)) {
            Some(bound) if bound.binding().influences.is_some() => {
                world_points(&scene, &mut poses, bound.index(), time)
            }
            Some(bound) => {
                let skin = bound.skin(start).unwrap();
                let skin = PackedSkin::pack(&mesh.path, &skin).unwrap();
                let pose = poses.blend_pose(bound);
                let pose = PackedPose::pack(&skin, &pose).unwrap();
                let mut points = vec![Vec3::ZERO; skin.point_count()];
                skin_on_cpu(&skin, &pose, &mut points, None).unwrap();
                points.iter().map(|p| world.transform_point3(*p)).collect()
            }
            None => points.iter().map(|p| world.transform_point3(*p)).collect(),
        };
        let vertices = render.points.iter().map(|p| deformed[*p as usize]);
        out.push((mesh.path.clone(), vertices.collect()));
    }
    out
}

fn world_points(
    scene: &Scene,
    poses: &mut sinew::scene::PoseCache<'_>,
    binding: usize,
    time: f64,
) -> Vec<Vec3> {
    let bound = scene.bound(binding);
    let skin = bound.skin(Time::At(time)).unwrap();
    let skin = PackedSkin::pack("Mesh", &skin).unwrap();
    let pose = PackedPose::pack(&skin, &poses.pose(bound).unwrap()).unwrap();
    let mut points = vec![Vec3::ZERO; skin.point_count()];
    skin_on_cpu(&skin, &pose, &mut points, None).unwrap();
    points
}

/// Largest distance of two lists of meshes, in parts of the size of the second.
fn apart(found: &[Vec<Vec3>], expected: &[Vec<Vec3>]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let mut worst = 0.0f32;
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!(a.is_finite());
            worst = worst.max(a.distance(*b));
        }
    }
    f64::from(worst / size(expected))
}

fn size(meshes: &[Vec<Vec3>]) -> f32 {
    let all = meshes.iter().flatten();
    let corners = all.map(|p| (*p, *p));
    let corners = corners.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap();
    (corners.1 - corners.0).length()
}

/// Plays a clip of a file and compares some moments of it with a bake.
fn compare_with_bake(file: &Path, clip: &str) {
    let skinner = skinner();
    let mut crowd = skinner.crowd();
    let mut hero = Character::load(&skinner, file).unwrap();
    let found = hero.clips().iter().find(|c| c.name() == clip).unwrap();
    let (start, duration) = (found.start(), f64::from(found.duration()));
    // A clip without a name has one here.
    let choice = match found.is_bound() {
        true => ClipChoice::First,
        false => ClipChoice::Named(clip.to_owned()),
    };
    let codes = {
        let scene = sinew_io::open(file)
            .unwrap()
            .scene(Default::default())
            .unwrap();
        scene.time_line.time_codes_per_second
    };
    hero.play(clip).unwrap();
    let mut last = 0.0;
    for share in [0.0, 0.3, 0.5, 0.85] {
        // On the grid of the crowd's clock.
        let seconds = (duration * share * 65536.0).floor() / 65536.0;
        hero.update(&mut crowd, seconds - last).unwrap();
        last = seconds;
        let found = results(&hero, &mut crowd);
        let expected = baked(file, choice.clone(), start + seconds * codes);
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
        let apart = self::apart(&own, &found);
        assert!(
            apart <= tolerance::CHARACTERS_MIRRORED,
            "{clip}: {apart:.2e}"
        );
    }
}

fn clips_play_as_the_file_says() {
    let made = folder();
    compare_with_bake(&made.path().join(HERO), "Walk");
    compare_with_bake(&made.path().join(HERO), "Run");
    compare_with_bake(&asset("hatchling.usda"), "Dance");
    compare_with_bake(&asset("puppet.glb"), "Wave");
}

/// The clips of an FBX character, where this build reads FBX.
fn fbx(no_gpu: bool) -> Trial {
    let bench = common::command::Bench::new();
    let file = bench.write("tube.fbx", common::fbx::Character::tube().text());
    let is_read = !matches!(
        sinew_io::open(&file),
        Err(sinew_io::Error::Unsupported { .. })
    );
    let trial = Trial::test("clips_of_fbx_play", move || {
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
        .with_ignored_flag(no_gpu || !is_read)
}

/// Every clip of real characters.
fn real_files(no_gpu: bool) -> Vec<Trial> {
    let files = [
        "gltf",
        "blender",
        "vrm",
        "kaykit_char/res",
        "usd-wg-assets",
        "maya-usd",
    ];
    let Some(assets) = std::env::var_os("SINEW_ASSETS") else {
        let trial = Trial::test("real_files_play", || Ok(())).with_ignored_flag(true);
        return vec![trial.with_kind("needs SINEW_ASSETS")];
    };
    let assets = std::path::PathBuf::from(assets);
    let mut found: Vec<std::path::PathBuf> = Vec::new();
    for folder in files {
        let entries = std::fs::read_dir(assets.join(folder)).into_iter().flatten();
        found.extend(entries.flatten().map(|entry| entry.path()));
    }
    let kinds = ["glb", "gltf", "vrm", "usdz", "usdc", "usda"];
    found.retain(|f| f.is_file() && kinds.iter().any(|k| f.extension() == Some(k.as_ref())));
    found.sort();
    let trial = |file: std::path::PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        Trial::test(format!("real_file_plays_{name}"), move || {
            real_file(&file);
            Ok(())
        })
        .with_ignored_flag(no_gpu)
    };
    found.into_iter().map(trial).collect()
}

fn real_file(file: &Path) {
    let hero = match Character::load(&skinner(), file) {
        Err(Error::NoCharacter { .. }) => return,
        other => other.unwrap(),
    };
    for clip in hero.clips().iter().filter(|c| c.is_bound()) {
        compare_with_bake(file, clip.name());
    }
}

/// Half a fade on the GPU, and the same by the clips of the CPU in another character.
fn a_crossfade_is_the_blend_of_its_clips() {
    let made = folder();
    let skinner = skinner();
    let mut crowd = skinner.crowd();
    let mut hero = Character::load(&skinner, made.path().join(HERO)).unwrap();
    let mut other = hero.another();
    hero.play("Walk").unwrap();
    hero.update(&mut crowd, 0.25).unwrap();
    hero.crossfade("Run", 0.5).unwrap();
    hero.update(&mut crowd, 0.25).unwrap();
    let clip = |name: &str| hero.clips().iter().find(|c| c.name() == name).unwrap().on()[0].clone();
    let (walk, run) = (clip("Walk"), clip("Run"));
    let mut blended = walk.sample(0.5);
    blended.blend(&run.sample(0.25), 0.5).unwrap();
    other.set_pose(0, blended).unwrap();
    other.update(&mut crowd, 0.0).unwrap();
    let (found, expected) = (results(&hero, &mut crowd), results(&other, &mut crowd));
    let difference = apart(&found, &expected);
    assert!(
        difference <= tolerance::CHARACTERS_MIRRORED,
        "{difference:.2e}"
    );
    // It is neither of the two, and ends at the second.
    for (clip, seconds) in [("Walk", 0.5), ("Run", 0.25)] {
        let alone = hero.positions(Some(clip), seconds).unwrap();
        assert!(apart(&found, &alone) > 1e-2, "{clip}");
    }
    hero.update(&mut crowd, 0.25).unwrap();
    let found = results(&hero, &mut crowd);
    let alone = hero.positions(Some("Run"), 0.5).unwrap();
    assert!(apart(&found, &alone) <= tolerance::CHARACTERS_MIRRORED);
    // To the rest pose.
    hero.stop(0.25).unwrap();
    hero.update(&mut crowd, 0.5).unwrap();
    let found = results(&hero, &mut crowd);
    let rest = hero.positions(None, 0.0).unwrap();
    assert!(apart(&found, &rest) <= tolerance::CHARACTERS_MIRRORED);
}

fn blends_and_sums_are_those_of_clips() {
    let made = folder();
    let skinner = skinner();
    let mut crowd = skinner.crowd();
    let mut hero = Character::load(&skinner, made.path().join(HERO)).unwrap();
    let mut other = hero.another();
    hero.play(PlayClip::new("Walk").at(0.25)).unwrap();
    hero.blend("Run", 0.25, 0.0).unwrap();
    hero.add(Some(PlayClip::new("Run").at(0.125).speed(0.0)), 0.5, 0.0)
        .unwrap();
    hero.update(&mut crowd, 0.25).unwrap();
    let on = |name: &str| hero.clips().iter().find(|c| c.name() == name).unwrap().on()[0].clone();
    let (walk, run) = (on("Walk"), on("Run"));
    let mut expected = walk.sample(0.5);
    expected.blend(&run.sample(0.25), 0.25).unwrap();
    expected
        .add(&run.sample(0.0), &run.sample(0.125), 0.5)
        .unwrap();
    other.set_pose(0, expected.clone()).unwrap();
    other.update(&mut crowd, 0.0).unwrap();
    let (found, wanted) = (results(&hero, &mut crowd), results(&other, &mut crowd));
    let difference = apart(&found, &wanted);
    assert!(
        difference <= tolerance::CHARACTERS_MIRRORED,
        "{difference:.2e}"
    );
    // By a mask only below the second joint; the host poses it, and then plays again.
    let mask = JointMask::below(&hero.skeletons()[0].skeleton, &["Tip"]).unwrap();
    let mut masked = walk.sample(0.5);
    masked.blend_masked(&run.sample(0.25), 1.0, &mask).unwrap();
    assert_eq!(masked.joints[0], walk.sample(0.5).joints[0]);
    assert_ne!(masked.joints[1], walk.sample(0.5).joints[1]);
    other.set_pose(0, masked).unwrap();
    other.update(&mut crowd, 0.25).unwrap();
    assert!(apart(&results(&other, &mut crowd), &wanted) > 1e-2);
    other.play(PlayClip::new("Walk").once()).unwrap();
    other.update(&mut crowd, 100.0).unwrap();
    let ended = hero.positions(Some("Walk"), 1.0).unwrap();
    let found = results(&other, &mut crowd);
    assert!(apart(&found, &ended) <= tolerance::CHARACTERS_MIRRORED);
}

/// Every triangle of every mesh is in one draw, with the material of its face and its image.
fn draws_cover_every_mesh() {
    let made = folder();
    let skinner = skinner();
    let mut crowd = skinner.crowd();
    let mut hero = Character::load(&skinner, made.path().join(HERO)).unwrap();
    assert!(matches!(hero.draws(&crowd), Err(Error::NotInCrowd { .. })));
    hero.update(&mut crowd, 0.0).unwrap();
    crowd.submit().unwrap();
    let draws = hero.draws(&crowd).unwrap();
    let of = |mesh: &'static str| draws.iter().filter(move |d| d.mesh == mesh);
    for (mesh, triangles) in [("/Hero/Body", 4), ("/Hero/Face", 2), ("/Hero/Hat", 2)] {
        let mut next = 0;
        for draw in of(mesh) {
            assert_eq!(draw.range.start, next);
            next = draw.range.end;
            assert_eq!(draw.points.count, draw.vertex_count as usize);
            assert_eq!(draw.normals.count, draw.vertex_count as usize);
            assert_eq!((draw.points.stride, draw.normals.stride), (12, 12));
            assert_eq!(draw.uvs.size(), u64::from(draw.vertex_count) * 8);
            assert_eq!(draw.colors.size(), u64::from(draw.vertex_count) * 16);
            assert_eq!(draw.indices.size(), triangles * 12);
            assert!(draw.previous.is_none());
        }
        assert_eq!(u64::from(next), triangles * 3, "{mesh}");
    }
    assert!(hero.meshes().eq(["/Hero/Body", "/Hero/Face", "/Hero/Hat"]));
    // The body has a material for two of its faces, with a texture, and another one.
    let mut body: Vec<_> = of("/Hero/Body").collect();
    body.sort_by_key(|draw| draw.material.map(|m| &m.path));
    let names: Vec<&str> = body
        .iter()
        .map(|d| d.material.unwrap().path.as_str())
        .collect();
    assert_eq!(names, ["/Hero/Cloth", "/Hero/Plain"]);
    let (used, texture) = body[0].base_color().unwrap();
    assert_eq!(
        (used.uv_primvar.as_str(), &texture.bytes[1..4]),
        ("st", &b"PNG"[..])
    );
    assert!(body[1].base_color().is_none());
    assert_eq!(
        body[1].material.unwrap().diffuse_color.value,
        Vec3::new(0.25, 0.5, 0.75)
    );
    assert!(of("/Hero/Hat").all(|d| d.material.is_none() && d.double_sided));
    // Previous positions where they are wanted.
    let mut options = CharacterOptions::default();
    options.previous = true;
    let mut hero = Character::load_with(&skinner, made.path().join(HERO), &options).unwrap();
    hero.update(&mut crowd, 0.0).unwrap();
    assert!(
        hero.draws(&crowd)
            .unwrap()
            .iter()
            .all(|d| d.previous.is_some())
    );
}

fn characters_share_a_crowd() {
    let made = folder();
    let skinner = skinner();
    let mut crowd = skinner.crowd();
    let mut first = Character::load(&skinner, made.path().join(HERO)).unwrap();
    first.play("Walk").unwrap();
    first.update(&mut crowd, 0.25).unwrap();
    let mut others: Vec<Character> = (0..3).map(|_| first.another()).collect();
    for (i, other) in others.iter_mut().enumerate() {
        other.play("Run").unwrap();
        other.set_place(DMat4::from_translation(DVec3::X * (10.0 * (i + 1) as f64)));
    }
    // All of one frame have the same dt; the clock goes on by it once.
    for _ in 0..4 {
        first.update(&mut crowd, 0.0625).unwrap();
        for other in &mut others {
            other.update(&mut crowd, 0.0625).unwrap();
        }
    }
    assert_eq!(crowd.instance_count(), 4 * 3);
    let found = results(&first, &mut crowd);
    let expected = first.positions(Some("Walk"), 0.5).unwrap();
    assert!(apart(&found, &expected) <= tolerance::CHARACTERS_MIRRORED);
    for (i, other) in others.iter().enumerate() {
        let mut expected = other.positions(Some("Run"), 0.25).unwrap();
        let aside = Vec3::X * (10.0 * (i + 1) as f32);
        expected.iter_mut().flatten().for_each(|p| *p += aside);
        let found = results(other, &mut crowd);
        // Rounded at ten times the size.
        assert!(apart(&found, &expected) <= 10.0 * tolerance::CHARACTERS_MIRRORED);
    }
    // Nothing is uploaded for those that only play.
    first.update(&mut crowd, 0.0625).unwrap();
    crowd.submit().unwrap();
    assert!(
        crowd.last_upload_bytes() <= 64,
        "{}",
        crowd.last_upload_bytes()
    );
    // A file belongs to one crowd, until all its characters have left.
    let mut elsewhere = skinner.crowd();
    assert!(matches!(first.draws(&elsewhere), Err(Error::Gpu(_))));
    for character in others.iter_mut().chain([&mut first]) {
        character.remove(&mut crowd).unwrap();
    }
    assert_eq!(crowd.instance_count(), 0);
    first.update(&mut elsewhere, 0.5).unwrap();
    let found = results(&first, &mut elsewhere);
    let expected = first.positions(Some("Walk"), 0.5).unwrap();
    assert!(apart(&found, &expected) <= tolerance::CHARACTERS_MIRRORED);
}

fn roots_stay_and_tell_their_way() {
    let made = folder();
    let skinner = skinner();
    let mut crowd = skinner.crowd();
    let mut hero = Character::load(&skinner, made.path().join(HERO)).unwrap();
    hero.play("Run").unwrap();
    hero.update(&mut crowd, 0.25).unwrap();
    assert_eq!(hero.root_motion(), DVec3::ZERO, "the clip itself moves it");
    let with_motion = results(&hero, &mut crowd);
    hero.set_root_motion(BVec3::FALSE);
    // Run goes 2 along x in its second, and over its end. Its skeleton stands turned to -z.
    let mut way = DVec3::ZERO;
    for _ in 0..8 {
        hero.update(&mut crowd, 0.25).unwrap();
        way += hero.root_motion();
    }
    let apart_of = |a: DVec3, b: DVec3| a.distance(b);
    assert!(apart_of(way, DVec3::NEG_Z * 4.0) < 1e-2, "{way}");
    let in_place = results(&hero, &mut crowd);
    // The same moment of the clip, half a unit further back.
    let shift = Vec3::Z * 0.5;
    let moved: Vec<Vec3> = with_motion[0].iter().map(|p| *p + shift).collect();
    assert!(apart(&in_place[..1], &[moved]) <= 1e-3);
}

fn shapes_and_places_are_the_hosts() {
    let made = folder();
    let skinner = skinner();
    let mut crowd = skinner.crowd();
    let mut hero = Character::load(&skinner, made.path().join(HERO)).unwrap();
    assert_eq!(hero.shapes(), ["Blink", "Smile"]);
    assert_eq!(hero.skeletons()[0].channels, ["Smile"]);
    hero.update(&mut crowd, 0.0).unwrap();
    let before = results(&hero, &mut crowd);
    hero.set_shape("Blink", 0.5).unwrap();
    hero.set_place(DMat4::from_scale(DVec3::splat(2.0)));
    hero.update(&mut crowd, 0.0).unwrap();
    let after = results(&hero, &mut crowd);
    // The face's first point rises by half of the shape; its place has a height of 3.
    assert_eq!(after[1][0], (before[1][0] + Vec3::Y * 0.5) * 2.0);
    assert_eq!(after[2][0], before[2][0] * 2.0);
    assert!(matches!(
        hero.set_shape("Smile", 1.0),
        Err(Error::PlayedShape { .. })
    ));
    let error = hero.set_shape("Frown", 1.0).unwrap_err().to_string();
    assert!(error.contains("Blink, Smile"), "{error}");
    assert!(hero.set_shape("Blink", f32::NAN).is_err());
    hero.set_place(DMat4::from_scale(DVec3::splat(f64::NAN)));
    assert!(hero.update(&mut crowd, 0.0).is_err());
}

fn what_does_not_fit_is_an_error() {
    let made = folder();
    let skinner = skinner();
    let mut crowd = skinner.crowd();
    let text = |error: Error| error.to_string();
    let missing = made.path().join("none.usda");
    assert!(text(Character::load(&skinner, &missing).unwrap_err()).contains("none.usda"));
    let error = Character::load(&skinner, asset("walk.bvh")).unwrap_err();
    assert!(matches!(error, Error::NoCharacter { .. }), "{error}");
    let broken = made.path().join("broken.usda");
    let whole = std::fs::read_to_string(made.path().join(HERO)).unwrap();
    std::fs::write(
        &broken,
        whole.replace("[0, 0, 1, 1, 1, 1]", "[0, 7, 1, 1, 1, 1]"),
    )
    .unwrap();
    let hero = Character::load(&skinner, &broken).unwrap();
    let left_out = hero
        .left_out()
        .iter()
        .find(|e| e.prim == "/Hero/Body")
        .unwrap();
    assert!(left_out.to_string().contains("broken.usda"), "{left_out}");
    assert!(hero.meshes().all(|m| m != "/Hero/Body"));

    let mut hero = Character::load(&skinner, made.path().join(HERO)).unwrap();
    assert!(
        hero.warnings()
            .iter()
            .all(|w| w.code != "character-rest-still")
    );
    let error = text(hero.play("Fly").unwrap_err());
    assert!(
        error.contains("hero.usda") && error.contains("Walk, Run"),
        "{error}"
    );
    assert!(hero.crossfade("Run", -1.0).is_err());
    assert!(
        hero.crossfade(PlayClip::new("Run").speed(f32::NAN), 0.0)
            .is_err()
    );
    assert!(hero.blend("Run", 1.5, 0.0).is_err());
    assert!(hero.add(Some("Run".into()), f32::NAN, 0.0).is_err());
    assert!(hero.update(&mut crowd, f64::NAN).is_err());
    assert!(hero.set_pose(1, LocalPose::default()).is_err());
    assert!(hero.set_pose(0, LocalPose::default()).is_err());
    assert_eq!(crowd.instance_count(), 0);
    hero.update(&mut crowd, 0.0).unwrap();
    let rest = hero.positions(None, 0.0).unwrap();
    assert!(apart(&results(&hero, &mut crowd), &rest) <= tolerance::CHARACTERS_MIRRORED);
    // Rest data that change over time.
    let moving = whole.replace(
        "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)",
        "point3f[] points.timeSamples = { 0: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 2, 0), (1, 2, 0)], 9: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 2, 0), (1, 2, 1)] }\n        point3f[] other = [(0, 0, 0), (1, 0, 0), (0, 1, 0)",
    );
    assert_ne!(moving, whole);
    std::fs::write(&broken, moving).unwrap();
    let hero = Character::load(&skinner, &broken).unwrap();
    assert!(
        hero.warnings()
            .iter()
            .any(|w| w.code == "character-rest-still")
    );
    let _ = Arc::new(hero);
}
