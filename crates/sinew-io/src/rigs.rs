//! Rigs, for retargeting, from the skeletons of a scene.

use std::collections::HashSet;

use glam::{DMat4, DVec3};

use super::usd::UsdFile;
use sinew::error::Invalid;
use sinew::kernel::packed_clip::{ClipOptions, ClipReport, ClipSource, PackedClip};
use sinew::sampled::Time;
use sinew::scene::{PlacedSkeleton, Scene};
use sinew::skel::SkeletonInstance;
use sinew_animate::retarget::{Humanoid, Rig, RigPlacement};

/// Lists the skeletons of a scene, bound or not. A skeleton that several instances use is listed once.
#[must_use]
pub fn skeletons(scene: &Scene) -> Vec<&PlacedSkeleton> {
    let mut listed = HashSet::new();
    let all = scene.instances.iter().chain(&scene.unbound_skeletons);
    all.filter(|placed| listed.insert(&placed.path)).collect()
}

/// Returns where a skeleton stands in its scene at a time, with the scene's up axis and unit.
#[must_use]
pub fn placement(scene: &Scene, skeleton: &PlacedSkeleton, time: Time) -> RigPlacement {
    RigPlacement {
        world_from_skel: scene.world_from_prim(skeleton.prim, time),
        up: match scene.up_axis {
            'Z' => DVec3::Z,
            _ => DVec3::Y,
        },
        meters_per_unit: scene.meters_per_unit,
    }
}

/// Makes the rig of a skeleton, placed as it is at the first time sample of its transforms. Poses of its own
/// animation are its samples. Messages name the rig by file and prim.
///
/// # Errors
/// The errors of [`Rig::new`], with the file's name.
pub fn rig(scene: &Scene, skeleton: &PlacedSkeleton) -> Result<Rig, Invalid> {
    let mut rig = bare_rig(scene, skeleton)?;
    if let Some(animation) = skeleton.instance.animation() {
        let keys: Vec<f64> = animation.joint_times().collect();
        let world = |time| placement(scene, skeleton, time).world_from_skel;
        add_samples(&mut rig, &skeleton.instance, &keys, &world);
    }
    Ok(rig)
}

/// The rig of a skeleton without samples.
pub(crate) fn bare_rig(scene: &Scene, skeleton: &PlacedSkeleton) -> Result<Rig, Invalid> {
    let times = scene.transform_times(skeleton.prim);
    let first = times.into_iter().min_by(f64::total_cmp);
    let place = placement(scene, skeleton, first.map_or(Time::Default, Time::At));
    let label = format!("{} <{}>", scene.file.display(), skeleton.path);
    Rig::new(label, skeleton.instance.skeleton(), place).map_err(|e| e.in_file(&scene.file))
}

/// The largest number of poses of a clip that are samples of its rig, and of joints in all of them.
const MOST_SAMPLES: usize = 240;
const MOST_SAMPLED_JOINTS: usize = 1 << 20;

/// Gives a rig poses of a clip, spread over its times.
pub(crate) fn add_samples(
    rig: &mut Rig,
    instance: &SkeletonInstance,
    times: &[f64],
    world_from_skel: &dyn Fn(Time) -> DMat4,
) {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let most = (MOST_SAMPLED_JOINTS / rig.len().max(1)).clamp(1, MOST_SAMPLES);
    let count = times.len().min(most);
    let last = count.saturating_sub(1).max(1);
    let spread = (0..count).map(|i| Time::At(times[i * (times.len() - 1) / last]));
    let still = times.is_empty().then_some(Time::Default);
    for time in spread.chain(still) {
        // A pose that cannot be read is reported where it is needed.
        if let Ok(pose) = instance.joint_local_transforms(time) {
            rig.add_sample(world_from_skel(time), &pose);
        }
    }
}

/// Packs the animation of a skeleton for playing it on the GPU: the clip that the file was opened with
/// ([`OpenOptions::clips`](crate::OpenOptions::clips)). Joints are in the order of the skeleton, and channels in the order of the
/// animation's `blendShapes`. `options` are those of [`PackedClip::pack`]; the unit is that of the scene.
///
/// ```
/// use sinew::kernel::packed_clip::ClipOptions;
///
/// let scene = sinew_io::open("../../examples/assets/puppet.glb")?.scene(Default::default())?;
/// let skeleton = sinew_io::skeletons(&scene)[0];
/// let (clip, report) = sinew_io::packed_clip(&scene, skeleton, ClipOptions::default())?;
/// assert_eq!(clip.joint_count(), 21);
/// assert!(report.worst.metres <= 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of [`ClipSource::from_animation`] and of [`PackedClip::pack`], with the file's name.
pub fn packed_clip(
    scene: &Scene,
    skeleton: &PlacedSkeleton,
    options: ClipOptions,
) -> Result<(PackedClip, ClipReport), Invalid> {
    let options = ClipOptions {
        meters_per_unit: scene.meters_per_unit,
        ..options
    };
    let source = clip_source(scene, skeleton)?;
    PackedClip::pack(&source, &options).map_err(|e| e.in_file(&scene.file))
}

/// Returns the curves of a skeleton's animation, which [`packed_clip`] packs.
///
/// # Errors
/// The errors of [`ClipSource::from_animation`], with the file's name.
pub fn clip_source(scene: &Scene, skeleton: &PlacedSkeleton) -> Result<ClipSource, Invalid> {
    let instance = &skeleton.instance;
    let channels = instance.animation().map_or(&[][..], |a| &a.blend_shapes);
    let codes = scene.time_line.time_codes_per_second;
    ClipSource::from_animation(instance, channels, codes).map_err(|e| e.in_file(&scene.file))
}

/// Lists the blend shapes of all prims that are bound to a skeleton, as the tokens of `skel:blendShapes`, sorted, each
/// once.
#[must_use]
pub fn shape_names(scene: &Scene, skeleton: &PlacedSkeleton) -> Vec<String> {
    let bound = scene.bindings.iter();
    let bound = bound.filter(|b| scene.instances[b.instance].path == skeleton.path);
    let mut out: Vec<String> = bound
        .flat_map(|b| b.shapes.iter())
        .map(|s| s.token.clone())
        .collect();
    out.sort();
    out.dedup();
    out
}

/// Returns the human bones of a skeleton as the file's own humanoid map names them (VRM, EXT_skeleton_humanoid). If
/// several maps name its joints, the map with the most of them counts. `None` for a USD file, and for a skeleton that no
/// map names.
#[must_use]
pub fn humanoid(file: &UsdFile, skeleton: &PlacedSkeleton, rig: &Rig) -> Option<Humanoid> {
    let origin = file.origin()?;
    let own = origin
        .skeletons
        .iter()
        .position(|s| s.path == skeleton.path)?;
    let maps = origin.humanoids.iter().map(|map| {
        let bones = map.bones.iter().filter(|(_, (s, _))| *s == own);
        bones.map(|(bone, (_, joint))| (*bone, *joint)).collect()
    });
    let most = maps.max_by_key(std::collections::BTreeMap::len)?;
    (!most.is_empty()).then(|| Humanoid::given(rig, most))
}
