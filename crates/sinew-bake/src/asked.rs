//! What a caller asks for: the prims of a scene to bake, and the file to bake into.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use crate::error::{Error, Result};
use crate::failed;
use crate::failed::{is_asked, is_below, is_below_any};
use crate::format::Format;
use crate::options::BakeOptions;
use crate::plan::Rigid;
use crate::report::{BakeReport, nothing_to_skin};
use sinew::error::{Invalid, Warning};
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, OutSpace, Scene};
use sinew_io::usd::{BakedPrim, UsdFile};

/// A bake of an open file into an output.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub file: &'a UsdFile,
    pub scene: &'a Scene,
    pub output: &'a Path,
    pub format: Format,
    pub options: &'a BakeOptions,
    /// Bindings to bake, by index into [`Scene::bindings`].
    pub chosen: &'a [usize],
}

impl Asked<'_> {
    /// The prims whose faces turn, and whether they are left-handed now: in another space the prim's
    /// transform no longer mirrors, but its points do.
    ///
    /// # Errors
    /// An orientation that cannot be decoded.
    pub fn orientations<'p>(
        &self,
        prims: impl Iterator<Item = (usize, &'p BakedPrim)>,
    ) -> Result<Vec<(String, bool)>> {
        let mut out = Vec::new();
        let start = self.scene.time_line.range.map(|(start, _)| Time::At(start));
        let space = self.options.space.unwrap_or_default();
        for (binding, prim) in prims {
            let bound = self.scene.bound(binding);
            let mirrored = is_mirrored(bound, space, start.unwrap_or(Time::Default));
            // Without a pose it is not written.
            if bound.binding().type_name != "Mesh" || !mirrored.unwrap_or(false) {
                continue;
            }
            for place in prim.places() {
                let was_left_handed = self.file.is_left_handed(place)?;
                out.push((place.to_owned(), !was_left_handed));
            }
        }
        Ok(out)
    }
}

/// Whether the transform mirrors that would show the prim's own points where the output has them. A
/// rigid prim is taken as its transform is baked, in which its own is not (rule 28).
///
/// # Errors
/// A prim that cannot be posed.
pub(super) fn is_mirrored(
    bound: BoundSkin<'_>,
    space: OutSpace,
    time: Time,
) -> Result<bool, Invalid> {
    let mut poses = bound.scene().at(time, space);
    let out_from_prim = match bound.binding().is_rigid() && space != OutSpace::Prim {
        true => Some(poses.rigid_out_from_prim(bound)?),
        false => poses.out_from_prim(bound)?,
    };
    Ok(out_from_prim.is_some_and(|m| m.determinant() < 0.0))
}

/// The report of a bake at its beginning, and the bindings to bake.
///
/// # Errors
/// Those of [`choose`].
pub(super) fn begin(
    file: Option<&UsdFile>,
    scene: &Scene,
    prims: &[String],
    backend: String,
) -> Result<(BakeReport, Vec<usize>)> {
    let mut report = BakeReport::new(backend);
    failed::begin(file, scene, &mut report)?;
    let chosen = choose(scene, prims, &mut report)?;
    Ok((report, chosen))
}

/// Bakes an open file into an output that was checked: finds what to bake, calls `make`, and
/// completes the report.
///
/// # Errors
/// Those of [`choose`] and of `make`.
pub(super) fn of_file(
    file: &UsdFile,
    scene: &Scene,
    (output, format): (&Path, Format),
    options: &BakeOptions,
    backend: String,
    make: impl FnOnce(Asked<'_>, &mut BakeReport) -> Result<()>,
) -> Result<BakeReport> {
    let (mut report, chosen) = begin(Some(file), scene, &options.prims, backend)?;
    if chosen.is_empty() && (format != Format::Usd || options.clip_frames.is_some()) {
        return Err(nothing_to_skin(scene, &report));
    }
    let left = no_longer_skinned(scene, &options.prims, &chosen);
    report.warnings.extend(left);
    if format == Format::Usd {
        report
            .warnings
            .extend(left_behind(file, scene, options, &chosen));
    }
    let asked = Asked {
        file,
        scene,
        output,
        format,
        options,
        chosen: &chosen,
    };
    make(asked, &mut report)?;
    failed::complete(scene, &options.prims, &chosen, &mut report);
    Ok(report)
}

/// Warnings about what stands below prims whose points are baked where their transform moved it.
fn left_behind(
    file: &UsdFile,
    scene: &Scene,
    options: &BakeOptions,
    chosen: &[usize],
) -> Vec<Warning> {
    let elsewhere = options.space.is_some_and(|space| space != OutSpace::Prim);
    let as_points = options.rigid == Rigid::Points;
    let bindings = chosen.iter().map(|b| &scene.bindings[*b]);
    let left = bindings.filter(|b| elsewhere || (as_points && b.is_rigid()));
    let left = left.filter(|b| b.points.has_value() && !b.is_shape && file.carries(&b.path));
    let message = "its points move in place of its transform, so prims below it do not follow it";
    left.map(|b| Warning::new("followers-left", &b.path, message))
        .collect()
}

/// SkelRoots that become Xforms once these prims are baked.
pub(super) fn retyped<'a>(
    scene: &Scene,
    prims: impl Iterator<Item = &'a BakedPrim>,
) -> Vec<String> {
    let places: HashSet<&str> = prims.flat_map(BakedPrim::places).collect();
    let bound = scene.bindings.iter();
    let roots = bound
        .filter(|b| places.contains(b.path.as_str()))
        .map(|b| scene.prims[b.skel_root].path.clone());
    skel_roots_to_retype(scene, &roots.collect())
}

/// The requested bindings that can be baked. The others become warnings.
///
/// # Errors
/// [`Error::PrimPath`] or [`Error::UnknownPrim`] for a path without a skinned prim;
/// [`Error::NothingToSkin`] if nothing can be baked.
fn choose(scene: &Scene, prims: &[String], report: &mut BakeReport) -> Result<Vec<usize>> {
    for path in prims {
        let path = path.clone();
        if !path.starts_with('/') {
            return Err(Error::PrimPath { path });
        }
        // A prim that cannot be skinned is known, and has an error of its own.
        let mut unskinned = scene.unskinned.iter();
        let is_unskinned = unskinned.any(|p| is_below(&p.path, &path));
        if !is_unskinned && !scene.bindings.iter().any(|b| is_below(&b.path, &path)) {
            let known = scene.bindings.iter().map(|b| b.path.clone());
            return Err(Error::UnknownPrim {
                file: scene.file.clone(),
                path,
                known: known.take(8).collect(),
            });
        }
    }
    let mut chosen = Vec::new();
    for (i, binding) in scene.bindings.iter().enumerate() {
        if !is_asked(prims, &binding.path) {
            continue;
        }
        match &binding.unsupported {
            Some(reason) => {
                let message = format!("{reason}: it is not baked");
                let warning = Warning::new("not-baked", &binding.path, message);
                report.warnings.push(warning);
            }
            None => chosen.push(i),
        }
    }
    match chosen.is_empty() && !failed::is_switched_off(scene, report) {
        true => Err(nothing_to_skin(scene, report)),
        false => Ok(chosen),
    }
}

/// Warnings about prims that are not baked but lose their skinning, because their SkelRoot becomes
/// an Xform.
fn no_longer_skinned(scene: &Scene, prims: &[String], chosen: &[usize]) -> Vec<Warning> {
    let roots: HashSet<usize> = chosen
        .iter()
        .map(|c| scene.bindings[*c].skel_root)
        .collect();
    let left = scene.bindings.iter().filter(|b| !is_asked(prims, &b.path));
    left.filter(|b| roots.contains(&b.skel_root))
        .map(|b| {
            let message = "the prim is not among those to bake, but its SkelRoot becomes an Xform, so it keeps its rest points";
            Warning::new("no-longer-skinned", &b.path, message)
        })
        .collect()
}

/// Baked SkelRoots and all SkelRoots nested in them.
pub(super) fn skel_roots_to_retype(scene: &Scene, baked: &BTreeSet<String>) -> Vec<String> {
    let baked: HashSet<&str> = baked.iter().map(String::as_str).collect();
    scene
        .skel_roots
        .iter()
        .filter(|r| is_below_any(&r.path, &baked))
        .map(|r| r.path.clone())
        .collect()
}
