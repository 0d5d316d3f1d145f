//! The report of `sinew inspect` as text.

use std::fmt::Write;

use sinew::error::first_few;
use sinew::skel::InfluenceInterpolation;

use super::drawn::DrawnReport;
use super::{BindingReport, OriginReport, Report};
use crate::check::counted;
use crate::report::{count, or_unnamed, place};

/// The largest number of prims in a line.
const MOST_NAMES: usize = 4;

/// The report as text, with all joints and materials if it is `verbose`. Writing to a String cannot
/// fail, so its results are dropped.
pub fn describe(r: &Report, verbose: bool) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", r.file);
    let range = match (r.time.start, r.time.end) {
        (Some(a), Some(b)) => format!("frames {a} to {b}"),
        _ => "no time range".into(),
    };
    let _ = writeln!(
        out,
        "  {range}, {} time codes per second, {}-up, {} m per unit",
        r.time.time_codes_per_second, r.up_axis, r.meters_per_unit
    );
    if let Some(origin) = &r.origin {
        describe_origin(&mut out, origin);
    }
    let _ = writeln!(out, "{}", count(r.skel_roots.len(), "SkelRoot"));
    for root in &r.skel_roots {
        let _ = writeln!(out, "  {root}");
    }
    let _ = writeln!(out, "{}", count(r.skeletons.len(), "skeleton"));
    for s in &r.skeletons {
        let animated = s
            .animation
            .as_deref()
            .map_or("no animation".to_owned(), |a| format!("driven by {a}"));
        let _ = writeln!(
            out,
            "  {}: {}, depth {}, {animated}{}",
            s.prim,
            count(s.joints, "joint"),
            s.depth,
            if s.bound { "" } else { ", no bound prims" }
        );
        for joint in s.joint_paths.iter().filter(|_| verbose) {
            let _ = writeln!(out, "    {joint}");
        }
    }
    let _ = writeln!(out, "{}", count(r.animations.len(), "animation"));
    for a in &r.animations {
        let span = match (a.first, a.last) {
            (Some(first), Some(last)) => {
                format!("{} from {first} to {last}", count(a.samples, "sample"))
            }
            _ => "static".into(),
        };
        // The prim's own name is part of the path already.
        let clip = match a.prim.ends_with(&format!("/{}", a.clip)) {
            true => String::new(),
            false => format!(", clip \"{}\"", a.clip),
        };
        let use_of = match (&a.drives[..], a.fits.as_deref()) {
            ([], None) => ", drives no skeleton".to_owned(),
            ([], Some([])) => ", fits no skeleton".to_owned(),
            ([], Some(fits)) => format!(", fits {}", first_few(fits, MOST_NAMES)),
            (drives, _) => format!(", drives {}", first_few(drives, MOST_NAMES)),
        };
        let _ = writeln!(
            out,
            "  {}{clip}: {}, {}, {span}{use_of}",
            a.prim,
            count(a.joints, "joint"),
            count(a.channels.len(), "channel")
        );
    }
    let _ = writeln!(out, "{}", count(r.bindings.len(), "bound prim"));
    for b in &r.bindings {
        describe_binding(&mut out, b);
    }
    describe_drawn(&mut out, &r.drawn, verbose);
    let _ = writeln!(out, "{}", counted(r.checked.counts));
    for f in &r.checked.findings {
        let place = place(&f.path, &f.property);
        let _ = writeln!(
            out,
            "  {}: {place}: {} [{}]",
            f.severity.name(),
            f.message,
            f.code
        );
    }
    out
}

fn describe_drawn(out: &mut String, drawn: &DrawnReport, verbose: bool) {
    let _ = write!(
        out,
        "drawn: {}, {}, {}",
        count(drawn.meshes, "mesh"),
        count(drawn.points, "point"),
        count(drawn.triangles, "triangle")
    );
    if drawn.curves > 0 {
        let _ = write!(out, ", {} of curves", count(drawn.curves, "prim"));
    }
    out.push('\n');
    if let Some([low, high]) = drawn.bounds {
        let size: Vec<String> = (0..3).map(|i| format!("{:.4}", high[i] - low[i])).collect();
        let [low, high] = [low, high].map(|[x, y, z]| format!("({x:.4}, {y:.4}, {z:.4})"));
        let size = size.join(" x ");
        let _ = writeln!(out, "  {size}, from {low} to {high} at the first time");
    }
    for (names, what) in [(&drawn.materials, "material"), (&drawn.textures, "texture")] {
        if names.is_empty() {
            continue;
        }
        let most = if verbose { names.len() } else { MOST_NAMES };
        let _ = writeln!(
            out,
            "  {}: {}",
            count(names.len(), what),
            first_few(names, most)
        );
    }
}

fn describe_origin(out: &mut String, origin: &OriginReport) {
    let _ = writeln!(out, "  {}", origin.format);
    let _ = writeln!(out, "{}", count(origin.clips.len(), "clip"));
    for clip in &origin.clips {
        let name = or_unnamed(&clip.name);
        let _ = writeln!(out, "  {name}: {:.3} s", clip.seconds);
    }
    for (i, bones) in origin.humanoids.iter().enumerate() {
        let _ = writeln!(out, "humanoid {i}: {}", count(bones.len(), "human bone"));
        for (bone, joint) in bones {
            let _ = writeln!(out, "  {bone}: {joint}");
        }
    }
}

fn describe_binding(out: &mut String, b: &BindingReport) {
    let _ = writeln!(
        out,
        "  {} ({}, {}{})",
        b.prim,
        b.r#type,
        match b.points {
            0 => "no points".into(),
            n => count(n, "point"),
        },
        b.normals
            .iter()
            .map(|n| format!(", {n}"))
            .collect::<String>()
    );
    let arrow = b
        .animation
        .as_deref()
        .map_or(String::new(), |a| format!(" -> {a}"));
    let _ = writeln!(out, "    -> {}{arrow}", b.skeleton);
    if let Some(i) = &b.influences {
        let kind = match i.interpolation {
            InfluenceInterpolation::Vertex => "vertex",
            InfluenceInterpolation::Constant => "constant",
        };
        let used = i
            .most_used
            .map_or(String::new(), |n| format!(", at most {n} used"));
        let own = if i.own_joint_order {
            ", own joint order"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "    {} {kind} influence{}{used}{own}",
            i.element_size,
            if i.element_size == 1 { "" } else { "s" }
        );
    }
    for s in &b.shapes {
        let points = s.points.map_or("all points".into(), |n| count(n, "point"));
        let between = if s.inbetweens.is_empty() {
            String::new()
        } else {
            format!(", in-betweens at {:?}", s.inbetweens)
        };
        let _ = writeln!(out, "    shape {} ({points}{between})", s.name);
    }
    if let Some(problem) = &b.problem {
        let _ = writeln!(out, "    not skinned: {problem}");
    }
}
