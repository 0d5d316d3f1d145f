//! Bakes frames into one of the formats.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::bones::bake_bones;
use super::names::{self, FramePattern};
use super::obj::ObjWriter;
use super::pc2::{self, Pc2Writer};
use super::prims::{FramedPrim, frame_of, framed_prims, keep_drawn, points_of, tell_geometry};
use super::surface::{Shape, mesh_of, surfaces, vat_part};
use super::vat::{self, VatWriter};
use crate::asked::{Asked, is_mirrored};
use crate::backend::Deformer;
use crate::clip::Clip;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::options::{Progress, Watch, tell};
use crate::report::{BakeReport, nothing_to_skin};
use crate::sink::{BakeStart, Frame, FrameSink, SinkError};
use crate::space::{self, Space};
use crate::stream::Runner;
use crate::work::Work;
use sinew::error::Invalid;
use sinew::scene::{Geometry, OutSpace};
use sinew_io::output::Outputs;

impl Asked<'_> {
    /// The files of the output: one file for each frame of a
    /// sequence, one for each prim of point caches, or those of textures.
    fn files(&self, prims: &[FramedPrim], clip: &Clip) -> Result<Vec<PathBuf>> {
        let output = self.output;
        if self.format == Format::Pc2 {
            let path = |p: &FramedPrim| self.scene.bindings[p.binding].path.as_str();
            let paths: Vec<&str> = prims.iter().map(path).collect();
            return Ok(pc2::files(output, &paths));
        }
        if self.format.is_vat() {
            return Ok(vat::files(output).into());
        }
        match FramePattern::new(output).map_err(|e| Error::output(output, e))? {
            Some(pattern) => {
                let numbers = clip.numbers().into_iter();
                Ok(numbers.map(|n| pattern.file(n)).collect())
            }
            None if clip.len() == 1 => Ok(vec![output.to_owned()]),
            None => Err(Error::FrameNumber {
                file: output.to_owned(),
                frames: clip.len(),
                example: names::beside(output, ".####", None),
            }),
        }
    }

    /// Fails if a file is one of the input, or a folder.
    pub fn check_files<'f>(&self, files: impl IntoIterator<Item = &'f Path>) -> Result<()> {
        let files: Vec<&Path> = files.into_iter().collect();
        match files.iter().find(|file| file.is_dir()) {
            Some(folder) => Err(Error::output(folder, "it is a folder")),
            None => Ok(self.file.check_outputs(files)?),
        }
    }
}

/// Bakes frame by frame and fills the report.
///
/// A prim that cannot be deformed at the first frame becomes an error in the report. If it cannot
/// be deformed at a later frame, the bake fails.
///
/// # Errors
/// The options do not fit the format, files cannot be written, the GPU fails, or nothing could be
/// baked.
pub(crate) fn bake_frames(
    asked: Asked<'_>,
    deformer: &mut Deformer,
    report: &mut BakeReport,
    watch: &mut Watch<'_>,
) -> Result<()> {
    if asked.format == Format::Bones {
        return bake_bones(asked, report, watch);
    }
    let (scene, options) = (asked.scene, asked.options);
    let space = options.space.unwrap_or(asked.format.default_space());
    if asked.format.is_vat() && space != OutSpace::World {
        let text = "expected world space for vertex animation textures, because they have all prims of a character";
        return Err(Error::Options(text.into()));
    }
    if asked.format.is_vat() {
        options.vat.check(asked.format)?;
    }
    let geometry = match asked.format {
        Format::Pc2 => None,
        _ => {
            let mut geometry = asked.file.geometry(scene)?;
            // Instances show prims that are baked once, where the prototype stands.
            geometry.meshes.retain(|m| m.instances.is_empty());
            Some(geometry)
        }
    };
    let mut prims = framed_prims(scene, geometry.as_ref(), asked.chosen, &mut report.warnings);
    if let Some(geometry) = &geometry {
        tell_geometry(scene, geometry, asked.chosen, report);
    }
    let points = points_of(space, &prims);
    let clip = Clip::new(scene, &points, options.frames.as_ref())?;
    let mut work_plan = points;
    if let Some(geometry) = &geometry {
        keep_drawn(geometry, &mut prims, &clip.times, &mut report.warnings);
        work_plan = points_of(space, &prims);
    }
    if prims.is_empty() {
        return Err(nothing_to_skin(scene, report));
    }
    let work = Work::of_clip(work_plan, clip.clone());
    work.check_size(scene, options.frames.as_ref())?;
    let files = asked.files(&prims, &clip)?;
    asked.check_files(files.iter().map(PathBuf::as_path))?;
    let meshes = geometry.iter().flat_map(|g| &g.meshes);
    let corners = meshes.filter(|m| m.binding.is_some());
    let corners = corners.map(|m| m.topology.corner_count()).sum();
    let needed = space::of_frames(scene, &work.plan, clip.len(), asked.format, corners);
    let space = Space::check(asked.output, needed, options, report, watch)?;
    let mut sink = FormatSink {
        asked,
        geometry,
        clip,
        prims,
        files,
        outputs: Outputs::default(),
        writer: None,
        written: Vec::new(),
    };
    let mut runner = Runner::new(scene, deformer, &mut *watch);
    let ran = space.explain(runner.run(&work, &work.schedule, &mut sink))?;
    runner.end(&work, &ran, report)?;
    tell(watch, Progress::Writing)?;
    space.explain(sink.finish().map_err(Error::of_sink))?;
    report.files = sink.written;
    Ok(())
}

enum Writer {
    Obj(ObjWriter),
    Pc2(Pc2Writer),
    Vat(Box<VatWriter>),
}

/// Writes frames to the files of a format.
struct FormatSink<'a> {
    asked: Asked<'a>,
    geometry: Option<Geometry>,
    clip: Clip,
    /// The prims that are written, after the first frame.
    prims: Vec<FramedPrim>,
    /// The files of point caches are in the order of `prims`.
    files: Vec<PathBuf>,
    outputs: Outputs,
    writer: Option<Writer>,
    /// The finished files, at the end.
    written: Vec<PathBuf>,
}

impl FrameSink for FormatSink<'_> {
    fn begin(&mut self, start: &BakeStart<'_>) -> Result<(), SinkError> {
        let kept: HashSet<usize> = start.prims.iter().map(|p| p.binding).collect();
        if self.asked.format == Format::Pc2 {
            let mut prims = self.prims.iter();
            self.files
                .retain(|_| prims.next().is_some_and(|p| kept.contains(&p.binding)));
        }
        self.prims.retain(|p| kept.contains(&p.binding));
        let shape = |p: &crate::PrimInfo| -> Result<Shape, Invalid> {
            let bound = start.scene.bound(p.binding);
            Ok(Shape {
                points: p.points,
                mirrored: is_mirrored(bound, start.space, start.times[0])?,
            })
        };
        let shapes: Result<Vec<Shape>, Invalid> = start.prims.iter().map(shape).collect();
        let shapes = shapes.map_err(Error::from)?;
        self.writer = Some(self.open(&shapes)?);
        Ok(())
    }

    fn frame(&mut self, frame: &mut Frame) -> Result<(), SinkError> {
        let scene = self.asked.scene;
        let mut frames = Vec::with_capacity(frame.prims.len());
        for (sample, prim) in frame.prims.iter_mut().zip(&self.prims) {
            let mesh = mesh_of(self.geometry.as_ref(), prim).zip(prim.normals.as_ref());
            let bound = scene.bound(prim.binding);
            let space = self.space();
            let done = frame_of(sample, bound, mesh, space, frame.time);
            frames.push(done.map_err(|e| Error::from(e.in_file(&scene.file)))?);
        }
        match &mut self.writer {
            Some(Writer::Obj(obj)) => obj.frame(&mut self.outputs, frame.time, &frames)?,
            Some(Writer::Pc2(pc2)) => pc2.frame(&mut self.outputs, &frames)?,
            Some(Writer::Vat(vat)) => vat.frame(&frames),
            None => {}
        }
        for prim in frames {
            frame.recycle(prim.points);
            prim.normals.into_iter().for_each(|n| frame.recycle(n));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        match self.writer.take() {
            Some(Writer::Pc2(mut pc2)) => pc2.flush(&mut self.outputs)?,
            Some(Writer::Vat(vat)) => {
                vat.finish(self.asked.scene, &self.clip, &mut self.outputs)?;
            }
            Some(Writer::Obj(_)) | None => {}
        }
        let outputs = std::mem::take(&mut self.outputs);
        self.written = outputs.names().map(Path::to_owned).collect();
        Ok(outputs.finish().map_err(Error::from)?)
    }
}

impl FormatSink<'_> {
    fn space(&self) -> OutSpace {
        let own = self.asked.format.default_space();
        self.asked.options.space.unwrap_or(own)
    }

    fn open(&mut self, shapes: &[Shape]) -> Result<Writer> {
        let scene = self.asked.scene;
        let geometry = self.geometry.as_ref();
        Ok(match self.asked.format {
            Format::Pc2 => {
                let files = self.files.iter().cloned();
                let prims: Vec<_> = files.zip(shapes.iter().map(|s| s.points)).collect();
                Writer::Pc2(Pc2Writer::new(&mut self.outputs, &self.clip, &prims)?)
            }
            Format::Obj | Format::Usd | Format::Bones => {
                let surfaces = surfaces(geometry, &self.prims, shapes);
                let materials = geometry.map_or(&[][..], |g| &g.materials);
                Writer::Obj(ObjWriter::new(
                    scene,
                    materials,
                    &surfaces,
                    self.files.clone(),
                ))
            }
            Format::Exr | Format::Png => {
                let options = &self.asked.options.vat;
                let encoding = options.encoding(self.asked.format)?;
                let surfaces = surfaces(geometry, &self.prims, shapes);
                let parts = surfaces
                    .iter()
                    .map(|s| vat_part(geometry, s))
                    .collect::<Result<_, Invalid>>();
                let parts = parts.map_err(|e| e.in_file(&scene.file))?;
                let writer = VatWriter::new(
                    scene,
                    &self.clip,
                    vat::files(self.asked.output),
                    encoding,
                    options,
                    parts,
                )?;
                Writer::Vat(Box::new(writer))
            }
        })
    }
}
