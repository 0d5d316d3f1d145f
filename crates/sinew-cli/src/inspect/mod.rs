//! `sinew inspect`.

mod describe;
mod drawn;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, PlacedSkeleton, Scene};
use sinew::skel::InfluenceInterpolation;
use sinew_check::{CheckOptions, Counts, check_scene};
use sinew_io::usd::{ConvertedHumanoid, Origin, ReadOptions, StageClip, UsdFile};

use crate::error::Result;
use crate::exit::Exit;
use crate::finding::{self, Finding};
use crate::open::{AnimArgs, OpenArgs};
use crate::progress::Progress;
use crate::report::{Verbosity, print_report};
use drawn::DrawnReport;

/// Show the skeletons, clips, bindings, influences, shapes, times and findings of a file.
///
/// The findings are those of `sinew check`, with the same counts.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// File to inspect: USD, glTF, VRM, BVH or FBX.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    anim: AnimArgs,
    #[command(flatten)]
    open: OpenArgs,
}

const EXAMPLES: &str = "Examples:
  sinew inspect hero.usdz --json | jq '.bindings[].prim'
  sinew inspect shot.usda --variant '/Shot/Hero{lod=high}'";

/// The largest number of pairs of a clip and a Skeleton that are compared for the report.
const MOST_FITS: usize = 10_000;

#[derive(Serialize)]
struct Report {
    file: String,
    /// Contents of the original file, if it is not USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<OriginReport>,
    up_axis: char,
    meters_per_unit: f64,
    time: TimeReport,
    skel_roots: Vec<String>,
    skeletons: Vec<SkeletonReport>,
    animations: Vec<AnimationReport>,
    bindings: Vec<BindingReport>,
    drawn: DrawnReport,
    /// Bound prims that cannot be skinned, with the reason.
    failed: Vec<Finding>,
    /// The findings of `sinew check`, and how many there are of each severity.
    #[serde(flatten)]
    checked: Checked,
}

/// The part of a check's report that is told here too.
#[derive(Serialize)]
struct Checked {
    counts: Counts,
    findings: Vec<sinew_check::Finding>,
}

/// A file of another format than USD, before its conversion.
#[derive(Serialize)]
struct OriginReport {
    format: &'static str,
    clips: Vec<ClipReport>,
    /// The humanoid maps: the joint of each human bone.
    humanoids: Vec<BTreeMap<&'static str, String>>,
}

#[derive(Serialize)]
struct ClipReport {
    name: String,
    /// Seconds from the first key to the last.
    seconds: f64,
}

#[derive(Serialize)]
struct TimeReport {
    start: Option<f64>,
    end: Option<f64>,
    time_codes_per_second: f64,
    frames_per_second: f64,
}

#[derive(Serialize)]
struct SkeletonReport {
    prim: String,
    joints: usize,
    /// The joints, as `skel:joints` names them.
    joint_paths: Vec<String>,
    depth: usize,
    bind_transforms: bool,
    rest_transforms: bool,
    animation: Option<String>,
    /// Whether a prim is bound to it.
    bound: bool,
}

#[derive(Serialize)]
struct AnimationReport {
    prim: String,
    /// Name of the clip, for --clip.
    clip: String,
    /// Paths of the Skeletons that it drives.
    drives: Vec<String>,
    /// Paths of the Skeletons that it could drive, if it drives none; `None` if the stage is too
    /// large to compare all of them.
    fits: Option<Vec<String>>,
    joints: usize,
    channels: Vec<String>,
    samples: usize,
    first: Option<f64>,
    last: Option<f64>,
}

#[derive(Serialize)]
struct BindingReport {
    prim: String,
    r#type: String,
    skel_root: String,
    skeleton: String,
    animation: Option<String>,
    points: usize,
    /// Properties whose normals are deformed.
    normals: Vec<&'static str>,
    influences: Option<InfluenceReport>,
    shapes: Vec<ShapeReport>,
    /// Why the prim cannot be skinned; `None` if it can.
    problem: Option<String>,
}

#[derive(Serialize)]
struct InfluenceReport {
    interpolation: InfluenceInterpolation,
    element_size: usize,
    /// The largest number of influences with nonzero weight on one point.
    most_used: Option<usize>,
    /// Whether the prim has its own `skel:joints`.
    own_joint_order: bool,
}

#[derive(Serialize)]
struct ShapeReport {
    name: String,
    target: String,
    /// Number of points in `pointIndices`; `None` if the shape has offsets for all points.
    points: Option<usize>,
    inbetweens: Vec<f32>,
}

pub fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let mut progress = Progress::new(verbosity.is_quiet());
    progress.doing(&format!("reading {}", args.input.display()));
    let file = sinew_io::open_with(&args.input, &args.open.options()?)?;
    let scene = Arc::new(file.scene(ReadOptions {
        anim_source: args.anim.source(),
    })?);
    let mut options = CheckOptions::default();
    options.anim_source = args.anim.source();
    let checked = check_scene(&file, &scene, &options)?;
    let checked = Checked {
        counts: checked.counts,
        findings: checked.findings,
    };
    let drawn = drawn::report(&file, &scene)?;
    let report = report(&file, &scene, checked, drawn)?;
    drop(progress);
    let how = (args.json, verbosity);
    let is_verbose = matches!(verbosity, Verbosity::Verbose);
    let describe = |report: &Report| describe::describe(report, is_verbose);
    print_report("inspect", Exit::Done, how, &report, describe)
}

fn report(file: &UsdFile, scene: &Scene, checked: Checked, drawn: DrawnReport) -> Result<Report> {
    let mut animations: Vec<AnimationReport> = Vec::new();
    let placed = scene.instances.iter().chain(&scene.unbound_skeletons);
    let mut drives: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for skeleton in placed {
        if let Some(animation) = skeleton.instance.animation() {
            let driven = drives.entry(&animation.path).or_default();
            driven.insert(&skeleton.path);
        }
    }
    let clips = file.stage_clips()?;
    let idle = clips.iter().filter(|c| !drives.contains_key(&*c.path));
    let idle: Vec<StageClip> = idle.cloned().collect();
    let skeletons = scene.instances.len() + scene.unbound_skeletons.len();
    let mut fits: HashMap<&str, Vec<String>> = HashMap::new();
    if idle.len().saturating_mul(skeletons) <= MOST_FITS {
        for (clip, found) in idle.iter().zip(file.clip_fits(&idle)?) {
            fits.insert(&clip.path, found);
        }
    }
    let names: HashMap<&str, &str> = clips.iter().map(|c| (&*c.path, &*c.name)).collect();
    for a in file.animations()? {
        let mut times: Vec<f64> = a
            .joint_times()
            .chain(a.blend_shape_weights.times())
            .collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let driven = drives.get(&*a.path).into_iter().flatten();
        let driven: Vec<String> = driven.map(|s| (*s).to_owned()).collect();
        animations.push(AnimationReport {
            clip: names
                .get(&*a.path)
                .map_or_else(String::new, |n| (*n).to_owned()),
            fits: match driven.is_empty() {
                true => fits.remove(&*a.path),
                false => Some(Vec::new()),
            },
            drives: driven,
            prim: a.path,
            joints: a.joints.len(),
            channels: a.blend_shapes,
            samples: times.len(),
            first: times.first().copied(),
            last: times.last().copied(),
        });
    }
    animations.sort_by(|a, b| a.prim.cmp(&b.prim));
    let bound = scene.instances.iter().map(|p| skeleton(p, true));
    let unbound = scene.unbound_skeletons.iter().map(|p| skeleton(p, false));
    Ok(Report {
        file: scene.file.display().to_string(),
        origin: file.origin().map(origin),
        up_axis: scene.up_axis,
        meters_per_unit: scene.meters_per_unit,
        time: TimeReport {
            start: scene.time_line.range.map(|r| r.0),
            end: scene.time_line.range.map(|r| r.1),
            time_codes_per_second: scene.time_line.time_codes_per_second,
            frames_per_second: scene.time_line.frames_per_second,
        },
        skel_roots: scene.skel_roots.iter().map(|r| r.path.clone()).collect(),
        skeletons: bound.chain(unbound).collect(),
        animations,
        bindings: scene.bound_skins().map(|b| binding(scene, b)).collect(),
        drawn,
        failed: finding::of_unskinned(&scene.unskinned, Some(&scene.file)),
        checked,
    })
}

fn skeleton(placed: &PlacedSkeleton, bound: bool) -> SkeletonReport {
    let s = placed.instance.skeleton();
    SkeletonReport {
        prim: placed.path.clone(),
        joints: s.joints().len(),
        joint_paths: s.joints().to_vec(),
        depth: s.topology().depth(),
        bind_transforms: s.inverse_bind().is_ok(),
        rest_transforms: s.rest().is_some(),
        animation: placed.instance.animation().map(|a| a.path.clone()),
        bound,
    }
}

fn origin(origin: &Origin) -> OriginReport {
    let clip = |(name, range): &(String, Option<(f64, f64)>)| ClipReport {
        name: name.clone(),
        seconds: range.map_or(0.0, |(first, last)| last - first),
    };
    let humanoid = |humanoid: &ConvertedHumanoid| {
        let joint =
            |(skeleton, joint): &(usize, usize)| origin.skeletons[*skeleton].joints[*joint].clone();
        let bones = humanoid.bones.iter();
        bones.map(|(bone, at)| (bone.name(), joint(at))).collect()
    };
    OriginReport {
        format: origin.format.name(),
        clips: origin.clips.iter().map(clip).collect(),
        humanoids: origin.humanoids.iter().map(humanoid).collect(),
    }
}

fn binding(scene: &Scene, bound: BoundSkin<'_>) -> BindingReport {
    let b = bound.binding();
    // If a mesh has only time samples, it has no value at the default time.
    let time = match b.points.times().next() {
        Some(t) => Time::At(t),
        None => Time::Default,
    };
    let influences = match &b.unsupported {
        Some(reason) => Err(reason.clone()),
        // A gprim without points is moved by its transform.
        None if (b.is_shape || !b.points.has_value()) && b.is_rigid() => bound
            .rigid_transform(time)
            .and_then(|_| b.influences_at(&bound.skeleton().instance, time, 0))
            .map_err(|e| e.to_string()),
        None => bound
            .skin(time)
            .map(|skin| skin.influences().cloned())
            .map_err(|e| e.to_string()),
    };
    let most_used = influences.as_ref().ok().and_then(|influences| {
        let influences = influences.as_ref()?;
        let rows = influences.joints().len() / influences.count();
        (0..rows)
            .map(|p| influences.of_point(p).filter(|(_, w)| *w != 0.0).count())
            .max()
    });
    BindingReport {
        prim: b.path.clone(),
        r#type: b.type_name.clone(),
        skel_root: scene.prims[b.skel_root].path.clone(),
        skeleton: bound.skeleton().path.clone(),
        animation: bound
            .skeleton()
            .instance
            .animation()
            .map(|a| a.path.clone()),
        points: b.points.first().map_or(0, |p| p.len()),
        normals: b.normals.iter().map(|n| n.property.name()).collect(),
        influences: b.influences.as_ref().map(|i| InfluenceReport {
            interpolation: i.interpolation,
            element_size: i.count,
            most_used,
            own_joint_order: b.joints.is_some(),
        }),
        shapes: b
            .shapes
            .iter()
            .map(|s| {
                let shape = s.shape.as_ref();
                ShapeReport {
                    name: s.token.clone(),
                    target: s.target.clone(),
                    points: shape.and_then(|s| s.point_indices()).map(<[u32]>::len),
                    inbetweens: shape.map_or_else(Vec::new, |s| {
                        s.sub_shapes()
                            .iter()
                            .map(|s| s.weight)
                            .filter(|w| *w != 1.0)
                            .collect()
                    }),
                }
            })
            .collect(),
        problem: influences.err(),
    }
}
