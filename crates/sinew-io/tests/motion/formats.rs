//! Files of other formats, on either side.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use glam::{DMat4, DVec3};
use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew_animate::humanoid::{ApplyOptions, Mode, apply_to_all};
use sinew_io::retarget::Retargeted;
use sinew_io::usd::UsdFile;
use sinew_io::{ClipChoice, OpenOptions, open_with, placement, read_asset, skeletons};

use crate::pair::{Job, pair, warns};
use common::command::Bench;
use common::files::real;
use common::tolerance;
use common::trials::Trial;

pub fn trials() -> Vec<Trial> {
    let mut out = common::trials![formats_meet, a_clip_for_any_humanoid_needs_no_model];
    out.push(Trial::test(
        "retargeting_agrees_with_the_humanoid_formulas",
        || {
            agrees_with_humanoid(
                &example("puppet.glb"),
                &example("bow.glb"),
                tolerance::SAMPLED_CURVES,
            )
        },
    ));
    let mut of_assets = |name: &str, run: fn(&Path) -> Result<(), Failed>| {
        out.push(real(name, "", run));
    };
    of_assets(
        "the_mannequin_dances_to_its_clips",
        the_mannequin_dances_to_its_clips,
    );
    of_assets("own_clips_play_unchanged", |assets| {
        own_clips_play_unchanged(assets, &OWN_CLIPS)
    });
    of_assets("vrm_animations_agree_with_their_own_formula", |assets| {
        let assets = assets.join("vrm");
        for model in ["Example.vrm", "skinned_mesh_parent_vrm1.vrm"] {
            // hips_spine_twisting.vrma has a rest pose that does not stand, which the format forbids and its formula
            // trusts: its body is measured over the clip.
            let [model, clip] = [model, "three-vrm-test.vrma"].map(|file| assets.join(file));
            agrees_with_humanoid(&model, &clip, tolerance::MEASURED_DIRECTION)?;
        }
        Ok(())
    });
    of_assets(
        "a_mannequins_clip_moves_an_avatar",
        a_mannequins_clip_moves_an_avatar,
    );
    of_assets(
        "an_avatars_clip_moves_its_face",
        an_avatars_clip_moves_its_face,
    );
    of_assets(
        "nameless_joints_get_a_guess_that_works",
        nameless_joints_get_a_guess_that_works,
    );
    let rig = "blender/rig_identity.usda";
    out.push(real(
        "blenders_own_clip_plays_unchanged",
        rig,
        move |assets| own_clips_play_unchanged(assets, &[rig]),
    ));
    out
}

const OWN_CLIPS: [&str; 5] = [
    "usd-wg-assets/CesiumMan.usdz",
    "maya-usd/skinCluster.usda",
    "gltf/Fox.glb",
    "gltf/CesiumMan.glb",
    "pixar-openusd/pxr/usdImaging/usdImagingGL/testenv/testUsdImagingGLSkeleton/skeleton.usda",
];

fn example(name: &str) -> PathBuf {
    common::repository().join("examples/assets").join(name)
}

/// How the rig of each side was recognised.
fn origins(moved: &Retargeted) -> [String; 2] {
    moved.matching.origins().map(Option::unwrap_or_default)
}

const OWN_MAP: &str = "the file's own humanoid map";

/// First and last time code of the clip.
fn range(moved: &Retargeted) -> Result<(f64, f64), Failed> {
    Ok(moved.time_line.range.ok_or("a range")?)
}

pub fn scene(file: &Path, clip: Option<&str>) -> Result<Scene, Failed> {
    let options = OpenOptions {
        clips: clip.map_or(ClipChoice::First, |c| ClipChoice::Named(c.to_owned())),
        ..OpenOptions::default()
    };
    Ok(open_with(file, &options)?.scene(Default::default())?)
}

/// Joints in the world by what they are called, in metres.
pub fn world(scene: &Scene, time: f64) -> BTreeMap<String, DMat4> {
    let placed = skeletons(scene)[0];
    let time = Time::At(time);
    let posed = placed.instance.skel_from_joint(time).expect("a pose");
    let skeleton = placed.instance.skeleton();
    let place = placement(scene, placed, time);
    let root = DMat4::from_scale(DVec3::splat(place.meters_per_unit)) * place.world_from_skel;
    let leaf = |j: &String| j.rsplit('/').next().unwrap_or(j).to_owned();
    let names = match skeleton.joint_names() {
        Some(names) => names.to_vec(),
        None => skeleton.joints().iter().map(leaf).collect(),
    };
    names
        .into_iter()
        .zip(posed.iter().map(|m| root * *m))
        .collect()
}

/// Joints without their sizes.
fn unscaled(mut world: BTreeMap<String, DMat4>) -> BTreeMap<String, DMat4> {
    for m in world.values_mut() {
        (m.x_axis, m.y_axis) = (m.x_axis.normalize(), m.y_axis.normalize());
    }
    world
}

/// Joints are where others of the same names are, and turned as these are.
fn joints_agree(
    got: &BTreeMap<String, DMat4>,
    want: &BTreeMap<String, DMat4>,
    metres: f64,
    direction: f64,
) -> Result<(), String> {
    for (name, got) in got {
        let want = want[name];
        let way = got.w_axis.distance(want.w_axis);
        let axes = [(got.x_axis, want.x_axis), (got.y_axis, want.y_axis)];
        let off = axes.map(|(a, b)| a.distance(b));
        if way.is_nan() || way >= metres || off.iter().any(|o| o.is_nan() || *o >= direction) {
            return Err(format!("{name}: {way:.2e} m, {off:?}"));
        }
    }
    Ok(())
}

/// Limbs of both sides point the same way at all times; gives how many there are.
fn limbs_agree(moved: &Retargeted, source: &Scene, target: &Scene) -> Result<usize, Failed> {
    let rows = moved.matching.rows(&moved.source, &moved.target);
    let row = |bone: &str| rows.iter().find(|r| r.bone == Some(bone));
    let (first, last) = range(moved)?;
    let mut count = 0;
    for side in ["left", "right"] {
        for (a, b) in [
            ("UpperArm", "LowerArm"),
            ("LowerArm", "Hand"),
            ("UpperLeg", "LowerLeg"),
            ("LowerLeg", "Foot"),
        ] {
            let ends = [a, b].map(|part| format!("{side}{part}"));
            let [Some(a), Some(b)] = ends.each_ref().map(|bone| row(bone)) else {
                continue;
            };
            let (Some(from), Some(to)) = (&a.source, &b.source) else {
                continue;
            };
            let (Some(near), Some(far)) = (&a.target, &b.target) else {
                continue;
            };
            count += 1;
            for step in 0..=10 {
                let time = first + (last - first) * f64::from(step) / 10.0;
                let time = time.round().clamp(first, last);
                let (s, t) = (world(source, time), world(target, time));
                let way = |m: &BTreeMap<String, DMat4>, a: &str, b: &str| {
                    (m[b].w_axis - m[a].w_axis).truncate().normalize()
                };
                let off = way(&s, from, to).distance(way(&t, near, far));
                if off > tolerance::DIRECTION_IN_F32 {
                    return Err(format!("{ends:?} at {time}: {off:.2e}").into());
                }
            }
        }
    }
    Ok(count)
}

fn formats_meet() -> Result<(), Failed> {
    let pair = pair(20);
    let (walk, hero) = (pair.bench.path("walk.usda"), pair.bench.path("hero.usda"));
    let (bvh, puppet) = (example("walk.bvh"), example("puppet.glb"));
    let out = pair.bench.path("out.usdc");
    for target in [&hero, &puppet] {
        let moved = Job::new(&bvh, target).write(&out)?;
        assert_eq!(origins(&moved)[0], "the names of HumanIK");
        let limbs = limbs_agree(&moved, &scene(&bvh, None)?, &scene(&out, None)?)?;
        assert_eq!(limbs, 8);
    }
    // The puppet says itself which joint is which.
    let onto_puppet = Job::new(&walk, &puppet);
    assert_eq!(origins(&onto_puppet.write(&out)?)[1], OWN_MAP);
    // A package holds the puppet's pictures too, and clips of its own are not bound to it.
    let package = pair.bench.path("out.usdz");
    onto_puppet.write(&package)?;
    let own = UsdFile::open(&package)?.animations()?;
    let paths: Vec<&String> = own.iter().map(|a| &a.path).collect();
    assert_eq!(paths.len(), 1, "{paths:?}");
    let unknown = |job: &mut Job| job.source.clip = Some("Run".to_owned());
    Job::new(&bvh, &puppet)
        .with(unknown)
        .refused(&["Run", "walk"]);
    Ok(())
}

fn a_clip_for_any_humanoid_needs_no_model() -> Result<(), Failed> {
    let pair = pair(21);
    let out = pair.bench.path("out.usda");
    let moved = Job::new(example("bow.glb"), pair.bench.path("hero.usda")).write(&out)?;
    assert_eq!(origins(&moved)[0], OWN_MAP);
    let scene = scene(&out, None)?;
    let (_, last) = range(&moved)?;
    let lean = |i: u32| {
        let at = world(&scene, last * f64::from(i) / 10.0);
        let up = at["J_Bip_C_Head"].w_axis - at["J_Bip_C_Hips"].w_axis;
        up.truncate().angle_between(DVec3::Y).to_degrees()
    };
    let most = (0..=10).map(lean).fold(0.0, f64::max);
    assert!(most > 20.0, "{most} degrees are no bow");
    Ok(())
}

/// The clip on the model by the formulas of humanoid clips, as `sinew humanoid` writes it.
fn by_humanoid_formulas(model: &Path, clip: &Path) -> Result<Scene, Failed> {
    let [model, source] = [model, clip].map(|file| read_asset(file).ok().flatten());
    let (model, source) = model.zip(source).ok_or("two files of glTF")?;
    let mut options = ApplyOptions::default();
    options.mode = Mode::Conjugate;
    let applied = apply_to_all(&model, &source, &source.clips[0], &options, None)?;
    let asset = applied.into_applied().into_asset(model);
    Ok(UsdFile::from_asset(&asset, &OpenOptions::default())?.scene(Default::default())?)
}

/// Those go from bone to bone relative to the rest pose or, of an EXT_skeleton_humanoid clip, to
/// the reference pose (conjugated); no maths is shared.
fn agrees_with_humanoid(model: &Path, clip: &Path, within: f64) -> Result<(), Failed> {
    let bench = Bench::new();
    let out = bench.path("out.usdc");
    let moved = Job::new(clip, model).write(&out)?;
    let (ours, theirs) = (scene(&out, None)?, by_humanoid_formulas(model, clip)?);
    let (_, last) = range(&moved)?;
    let rate = theirs.time_line.time_codes_per_second / ours.time_line.time_codes_per_second;
    let rest = world(&theirs, 0.0);
    let mut turned = 0.0f64;
    for step in 0..=12 {
        let time = (last * f64::from(step) / 12.0).round();
        let (got, want) = (world(&ours, time), world(&theirs, time * rate));
        assert_eq!(got.len(), want.len());
        joints_agree(&got, &want, within, within).map_err(|e| format!("at {time}: {e}"))?;
        let turns = want.iter().map(|(j, m)| m.y_axis.distance(rest[j].y_axis));
        turned = turns.fold(turned, f64::max);
    }
    assert!(turned > 0.1, "{turned}: nothing moves");
    Ok(())
}

/// From a file onto itself: bind poses of other spaces, placements that move, mirrored eyes, tails and all.
fn own_clips_play_unchanged(assets: &Path, names: &[&str]) -> Result<(), Failed> {
    for name in names {
        let bench = Bench::new();
        let (file, out) = (assets.join(name), bench.path("out.usdc"));
        let (mut target, moved) = Job::new(&file, &file).run()?;
        let (skeleton, clip) = (&moved.skeleton, &moved.animation);
        target
            .file
            .set_animation(skeleton, "Animation", clip, &moved.time_line)?;
        target.file.write(&out)?;
        let (want, got) = (scene(&file, None)?, scene(&out, None)?);
        let (first, last) = range(&moved)?;
        for step in 0..=8 {
            let time = (first + (last - first) * f64::from(step) / 8.0).round();
            let (want, got) = (world(&want, time), world(&got, time));
            let size = want
                .values()
                .map(|m| m.w_axis.truncate().length())
                .fold(0.0, f64::max);
            for (joint, want) in &want {
                let off = got[joint].w_axis.distance(want.w_axis);
                assert!(
                    off < tolerance::OWN_CLIP * size,
                    "{name}: {joint} at {time}: {off:.2e}"
                );
            }
        }
    }
    Ok(())
}

/// Every joint that both have is where the clip has it.
fn the_mannequin_dances_to_its_clips(assets: &Path) -> Result<(), Failed> {
    let bench = Bench::new();
    let clips = assets.join("kaykit_char/res/anim/Med_MovementBasic.glb");
    let mannequin = assets.join("kaykit_char/res/models/mannequin_v2/manny_med_mod.gltf");
    for clip in ["Rig_Medium|Running_A", "Rig_Medium|Jump_Full_Long"] {
        let out = bench.path("out.usda");
        let moved = Job::new(&clips, &mannequin)
            .with(|job| job.source.clip = Some(clip.to_owned()))
            .write(&out)?;
        let [_, still] = moved.matching.unmatched(&moved.source, &moved.target);
        assert!(still.is_empty(), "{still:?}");
        let (source, target) = (scene(&clips, Some(clip))?, scene(&out, None)?);
        let mut went = 0.0f64;
        let rest = world(&target, 0.0);
        let (first, last) = range(&moved)?;
        for time in first as i32..=last as i32 {
            let time = f64::from(time);
            let [want, got] = [&source, &target].map(|scene| unscaled(world(scene, time)));
            let within = tolerance::DIRECTION_IN_F32;
            joints_agree(&got, &want, tolerance::RETARGETED_METRES, within)
                .map_err(|e| format!("{clip} at {time}: {e}"))?;
            let ways = got.iter().map(|(j, m)| m.w_axis.distance(rest[j].w_axis));
            went = ways.fold(went, f64::max);
        }
        assert!(went > 0.3, "{clip}: {went} m are no dance");
        // The texture is there.
        assert!(bench.path("out_textures/mannequin_texture.png").is_file());
    }
    Ok(())
}

fn a_mannequins_clip_moves_an_avatar(assets: &Path) -> Result<(), Failed> {
    let bench = Bench::new();
    let clips = assets.join("kaykit_char/res/anim/Med_MovementBasic.glb");
    let clip = "Rig_Medium|Running_A";
    for avatar in ["Example.vrm", "skinned_mesh_parent_vrm1.vrm"] {
        let out = bench.path("out.usdc");
        let moved = Job::new(&clips, assets.join("vrm").join(avatar))
            .with(|job| job.source.clip = Some(clip.to_owned()))
            .write(&out)?;
        assert_eq!(origins(&moved)[1], OWN_MAP);
        let (source, target) = (scene(&clips, Some(clip))?, scene(&out, None)?);
        assert_eq!(limbs_agree(&moved, &source, &target)?, 8, "{avatar}");
    }
    Ok(())
}

fn an_avatars_clip_moves_its_face(assets: &Path) -> Result<(), Failed> {
    let bench = Bench::new();
    let clip = assets.join("vrm/three-vrm-test.vrma");
    let avatar = assets.join("vrm/modifier_shapekey_vrm1.vrm");
    // The avatar has a shape for "aa" and none for "happy"; JSON allows for blanks.
    let bytes = std::fs::read(&clip)?;
    let at = bytes
        .windows(8)
        .position(|w| w == b"\"happy\":")
        .ok_or("no happy")?;
    let mut saying = bytes.clone();
    saying[at..at + 8].copy_from_slice(b"\"aa\"   :");
    let saying = bench.write("saying.vrma", saying);
    let out = bench.path("out.usda");
    Job::new(&saying, &avatar).write(&out)?;
    let made = UsdFile::open(&out)?
        .animations()?
        .pop()
        .ok_or("no animation")?;
    let channel = made
        .blend_shapes
        .iter()
        .position(|s| s == "aa")
        .ok_or("no aa")?;
    let highest = made
        .blend_shape_weights
        .values()
        .map(|w| w[channel])
        .fold(0.0, f32::max);
    assert_eq!(highest, 1.0);
    let (_, moved) = Job::new(&saying, example("puppet.glb")).run()?;
    assert!(
        warns(&moved, "retarget-expressions"),
        "{:?}",
        moved.warnings
    );
    Ok(())
}

fn nameless_joints_get_a_guess_that_works(assets: &Path) -> Result<(), Failed> {
    let bench = Bench::new();
    let out = bench.path("out.usda");
    let man = Job::new(example("walk.bvh"), assets.join("gltf/CesiumMan.glb"));
    let words = [
        "CesiumMan.glb",
        "no human body",
        "best guess",
        "LeftForeArm",
    ];
    let guess = man.unmatched(&words).guess;
    let moved = man.mapped(guess).write(&out)?;
    assert!(moved.matching.map.pairs.len() >= 12);
    // This one has names, of no tool.
    let moved = Job::new(example("walk.bvh"), assets.join("gltf/RiggedFigure.glb")).write(&out)?;
    assert_eq!(origins(&moved)[1], "names and hierarchy");
    assert!(moved.matching.unsure.is_empty());
    let [_, still] = moved.matching.unmatched(&moved.source, &moved.target);
    assert!(still.is_empty(), "{still:?}");
    Ok(())
}
