//! Frames from first to last, into whichever format.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Format;
use super::clip::Clip;
use super::cut::{Shape, mesh_of, surfaces, vat_part};
use super::files::Files;
use super::frame::PrimFrame;
use super::obj::ObjWriter;
use super::pc2::Pc2Writer;
use super::prims::{FramedPrim, frame_of, framed_prims, is_mirrored, keep_drawn, plan};
use super::vat::VatWriter;
use crate::deform::Deformer;
use crate::frames::{Deformed, Frame, Schedule};
use crate::stream::deform_frames;
use crate::tracks::check_size;
use crate::troubles::{Troubles, broken_shapes};
use crate::{BakeOptions, Progress};
use sinew::error::{Error, Invalid, Result, Warning};
use sinew::scene::{BoundSkin, Geometry, OutSpace, Scene};
use sinew_io::output::Outputs;
use sinew_io::usd::UsdFile;

/// What is asked for.
#[derive(Clone, Copy)]
pub(crate) struct FramesToBake<'a> {
    pub file: &'a UsdFile,
    pub scene: &'a Scene,
    pub output: &'a Path,
    pub format: Format,
    pub options: &'a BakeOptions,
    /// Indices into [`Scene::bindings`].
    pub chosen: &'a [usize],
}

/// What was written.
#[derive(Default)]
pub(crate) struct FramesBaked {
    pub files: Vec<PathBuf>,
    pub frames: usize,
    pub prims: usize,
    /// Points of one frame.
    pub points: usize,
    /// Posing and deforming alone.
    pub deform_time: Duration,
    pub errors: Vec<Invalid>,
    pub warnings: Vec<Warning>,
}

/// Bakes frame by frame. No prims in the result: nothing could be baked, and nothing is written.
///
/// A prim that cannot be deformed at the first frame is left out, as an error; one that cannot at a later frame ends the bake.
///
/// # Errors
/// A request that does not fit the format, files that cannot be written, a GPU that fails.
pub(crate) fn bake_frames(
    asked: FramesToBake<'_>,
    deformer: &mut Deformer,
    progress: &mut dyn FnMut(Progress),
) -> Result<FramesBaked> {
    let scene = asked.scene;
    let mut out = FramesBaked::default();
    let space = asked.options.space.unwrap_or(asked.format.default_space());
    if asked.format.is_vat() && space != OutSpace::World {
        let text = "vertex animation textures are of a whole character, in world space alone";
        return Err(Error::Request(text.into()));
    }
    if asked.format.is_vat() {
        asked.options.vat.check(asked.format)?;
    }
    let geometry = match asked.format {
        Format::Pc2 => None,
        _ => Some(asked.file.geometry(scene)?),
    };
    let mut prims = framed_prims(scene, geometry.as_ref(), asked.chosen, &mut out.warnings);
    if let Some(geometry) = &geometry {
        let is_chosen = |path: &String| {
            asked
                .chosen
                .iter()
                .any(|b| scene.bindings[*b].path == *path)
        };
        out.errors.extend(
            geometry
                .errors
                .iter()
                .filter(|e| is_chosen(&e.prim))
                .cloned(),
        );
        out.warnings.extend(
            geometry
                .warnings
                .iter()
                // What is left out is told already.
                .filter(|w| is_chosen(&w.path) && w.code != "not-drawn")
                .cloned(),
        );
    }
    let plan = plan(space, &prims);
    let clip = Clip::new(scene, &plan, asked.options.frames.as_ref())?;
    if let Some(geometry) = &geometry {
        keep_drawn(geometry, &mut prims, &clip, &mut out.warnings);
    }
    if prims.is_empty() {
        return Ok(out);
    }
    let bindings: Vec<usize> = prims.iter().map(|p| p.binding).collect();
    let schedule: Schedule = clip.times.iter().map(|t| (*t, bindings.clone())).collect();
    if asked.options.frames.is_none() {
        check_size(scene, &plan, &schedule)?;
    }
    let mut session = Session {
        bound: scene.bound_skins().collect(),
        files: Files::new(asked, &prims, &clip)?,
        asked,
        geometry,
        space,
        clip,
        prims,
        kept: HashSet::new(),
        outputs: Outputs::default(),
        writer: None,
        index: 0,
        missing: None,
    };
    session.files.check(asked.file)?;
    if let Some(folder) = session.files.folder() {
        session.outputs.folder(folder)?;
    }
    let mut troubles = Troubles::default();
    let result = deform_frames(
        scene,
        &plan,
        &schedule,
        deformer,
        &mut troubles,
        progress,
        &mut |frame, _| session.frame(frame),
    );
    let missing = session.missing;
    let (mut errors, warnings) = troubles.finish(scene, |_| false);
    match result {
        Ok(time) => out.deform_time = time,
        Err(e) => {
            // What went wrong with a prim says more than that it is missing.
            let lost = missing.map(|b| &scene.bindings[b].path);
            let told = errors.iter().position(|t| Some(&t.prim) == lost);
            return Err(told.map_or(e, |i| Error::Invalid(errors.swap_remove(i))));
        }
    }
    out.errors.extend(errors);
    out.warnings.extend(warnings);
    out.warnings.extend(broken_shapes(scene, &schedule));
    if session.writer.is_none() {
        return Ok(out);
    }
    progress(Progress::Writing);
    session.finish(&mut out)?;
    Ok(out)
}

enum Writer {
    Obj(ObjWriter),
    Pc2(Pc2Writer),
    Vat(Box<VatWriter>),
}

struct Session<'a> {
    asked: FramesToBake<'a>,
    bound: Vec<BoundSkin<'a>>,
    geometry: Option<Geometry>,
    space: OutSpace,
    clip: Clip,
    /// Those that are written, once the first frame has been.
    prims: Vec<FramedPrim>,
    /// Their bindings.
    kept: HashSet<usize>,
    files: Files,
    outputs: Outputs,
    /// From the first frame on.
    writer: Option<(Writer, Vec<Shape>)>,
    index: usize,
    /// A prim that a later frame lacks.
    missing: Option<usize>,
}

impl Session<'_> {
    fn frame(&mut self, frame: Frame) -> Result<()> {
        let time = frame.time;
        let mut came: Vec<Deformed> = frame.deformed;
        if self.writer.is_none() {
            let there: HashSet<usize> = came.iter().map(|d| d.binding).collect();
            self.prims.retain(|p| there.contains(&p.binding));
            if self.prims.is_empty() {
                return Ok(());
            }
            self.kept = self.prims.iter().map(|p| p.binding).collect();
        }
        came.retain(|d| self.kept.contains(&d.binding));
        // Both are in the order of the schedule.
        let mut bindings = came.iter().map(|d| d.binding);
        if let Some(lost) = self
            .prims
            .iter()
            .find(|p| bindings.next() != Some(p.binding))
        {
            self.missing = Some(lost.binding);
            let path = &self.asked.scene.bindings[lost.binding].path;
            return Err(Error::Request(format!(
                "{path}: nothing came out at time {time}"
            )));
        }
        let shapes = match &self.writer {
            Some((_, shapes)) => shapes,
            None => {
                let shapes = self.shapes(&came)?;
                let writer = self.open(&shapes)?;
                &self.writer.insert((writer, shapes)).1
            }
        };
        let mut frames = Vec::with_capacity(came.len());
        for ((deformed, prim), shape) in came.into_iter().zip(&self.prims).zip(shapes) {
            let bound = self.bound[prim.binding];
            if deformed.points.len() != shape.points {
                let expected = format!("{} of them, as at the first frame", shape.points);
                let found = format!("{} at time {time}", deformed.points.len());
                let e = Invalid::new(&bound.binding().path, "points", expected, found);
                return Err(e.in_file(&self.asked.scene.file).into());
            }
            let mesh = mesh_of(self.geometry.as_ref(), prim).zip(prim.normals.as_ref());
            let done = frame_of(deformed, bound, mesh, self.space, time);
            frames.push(done.map_err(|e| e.in_file(&self.asked.scene.file))?);
        }
        self.write(&frames)?;
        self.index += 1;
        Ok(())
    }

    fn shapes(&self, came: &[Deformed]) -> Result<Vec<Shape>> {
        let time = self.clip.times[0];
        let shape = |d: &Deformed| {
            Ok(Shape {
                points: d.points.len(),
                mirrored: is_mirrored(self.bound[d.binding], self.space, time)?,
            })
        };
        came.iter().map(shape).collect()
    }

    fn write(&mut self, frames: &[PrimFrame]) -> Result<()> {
        match &mut self.writer {
            Some((Writer::Obj(obj), _)) => {
                obj.frame(&mut self.outputs, &self.clip, self.index, frames)
            }
            Some((Writer::Pc2(pc2), _)) => pc2.frame(&mut self.outputs, frames),
            Some((Writer::Vat(vat), _)) => {
                vat.frame(frames);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn open(&mut self, shapes: &[Shape]) -> Result<Writer> {
        let scene = self.asked.scene;
        let geometry = self.geometry.as_ref();
        Ok(match &self.files {
            Files::Pc2(files) => {
                let file_of = |binding: usize| {
                    let file = files.iter().find(|(b, _)| *b == binding);
                    file.map(|(_, file)| file.clone())
                };
                let with_points = self.prims.iter().zip(shapes);
                let prims: Vec<(PathBuf, usize)> = with_points
                    .filter_map(|(p, s)| Some((file_of(p.binding)?, s.points)))
                    .collect();
                Writer::Pc2(Pc2Writer::new(&mut self.outputs, &self.clip, &prims)?)
            }
            Files::Obj { frames, .. } => {
                let surfaces = surfaces(geometry, &self.prims, shapes);
                let materials = geometry.map_or(&[][..], |g| &g.materials);
                Writer::Obj(ObjWriter::new(scene, materials, &surfaces, frames.clone()))
            }
            Files::Vat(files) => {
                let options = &self.asked.options.vat;
                let encoding = options.encoding(self.asked.format)?;
                let surfaces = surfaces(geometry, &self.prims, shapes);
                let parts = surfaces
                    .iter()
                    .map(|s| vat_part(geometry, s))
                    .collect::<Result<_, Invalid>>();
                let parts = parts.map_err(|e| e.in_file(&scene.file))?;
                let writer =
                    VatWriter::new(scene, &self.clip, files.clone(), encoding, options, parts)?;
                Writer::Vat(Box::new(writer))
            }
        })
    }

    fn finish(mut self, out: &mut FramesBaked) -> Result<()> {
        let Some((writer, shapes)) = self.writer else {
            return Ok(());
        };
        match writer {
            Writer::Obj(_) => {}
            Writer::Pc2(mut pc2) => pc2.flush(&mut self.outputs)?,
            Writer::Vat(vat) => vat.finish(self.asked.scene, &self.clip, &mut self.outputs)?,
        }
        out.files = self.outputs.names().map(Path::to_owned).collect();
        out.frames = self.clip.len();
        out.prims = self.prims.len();
        out.points = shapes.iter().map(|s| s.points).sum();
        self.outputs.finish()
    }
}
