//! Frames from first to last, into whichever format.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::clip::Clip;
use super::frame::PrimFrame;
use super::names::Pattern;
use super::obj::ObjWriter;
use super::pc2::{self, Pc2Writer};
use super::prims::{FramedPrim, frame_of, framed_prims, is_mirrored, keep_drawn, plan};
use super::surface::{NormalsOf, Surface};
use super::vat::{VatFiles, VatPart, VatWriter};
use super::vat_mesh::MeshPart;
use super::{Format, cannot_write, names};
use crate::bake::deform::Deformer;
use crate::bake::stream::{Frame, Schedule, deform_frames};
use crate::bake::tracks::check_size;
use crate::bake::troubles::{Troubles, broken_shapes};
use crate::bake::{BakeOptions, Progress};
use crate::error::{Error, Invalid, Result, Warning};
use crate::io::output::Outputs;
use crate::io::usd::UsdFile;
use crate::kernel::{RenderInputs, RenderMesh};
use crate::scene::{BoundSkin, DrawnMesh, Geometry, OutSpace, Scene};

/// What is asked for.
#[derive(Clone, Copy)]
pub(in crate::bake) struct FramesToBake<'a> {
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
pub(in crate::bake) struct FramesBaked {
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
pub(in crate::bake) fn bake_frames(
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
    let start = Instant::now();
    let mut in_session = Duration::ZERO;
    let result = deform_frames(
        scene,
        &plan,
        &schedule,
        deformer,
        &mut troubles,
        progress,
        &mut |frame| {
            let start = Instant::now();
            let done = session.frame(frame);
            in_session += start.elapsed();
            done
        },
    );
    out.deform_time = start.elapsed().saturating_sub(in_session);
    let missing = session.missing;
    let (mut errors, warnings) = troubles.finish(scene, |_| false);
    if let Err(e) = result {
        // What went wrong with a prim says more than that it is missing.
        let lost = missing.map(|b| &scene.bindings[b].path);
        let told = errors.iter().position(|t| Some(&t.prim) == lost);
        return Err(told.map_or(e, |i| Error::Invalid(errors.swap_remove(i))));
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

/// The files of an output.
enum Files {
    Obj {
        folder: Option<PathBuf>,
        frames: Vec<PathBuf>,
    },
    /// With the binding of each.
    Pc2(Vec<(usize, PathBuf)>),
    Vat(VatFiles),
}

impl Files {
    fn new(asked: FramesToBake<'_>, prims: &[FramedPrim], clip: &Clip) -> Result<Self> {
        let output = asked.output;
        Ok(match asked.format {
            Format::Pc2 => {
                let paths: Vec<&str> = prims
                    .iter()
                    .map(|p| asked.scene.bindings[p.binding].path.as_str())
                    .collect();
                let files = pc2::files(output, &paths);
                Self::Pc2(prims.iter().map(|p| p.binding).zip(files).collect())
            }
            Format::Exr | Format::Png => Self::Vat(VatFiles::of(output)),
            Format::Obj | Format::Usd => {
                match Pattern::new(output).map_err(|e| cannot_write(output, e))? {
                    Some(pattern) => Self::Obj {
                        folder: Some(pattern.folder().to_owned()),
                        frames: clip
                            .numbers()
                            .into_iter()
                            .map(|n| pattern.file(n))
                            .collect(),
                    },
                    None if clip.len() == 1 => Self::Obj {
                        folder: None,
                        frames: vec![output.to_owned()],
                    },
                    None => {
                        let example = names::beside(output, ".####", None);
                        let reason = format!(
                            "{} frames need a place for the number in the name, such as {}; or take one by --frames",
                            clip.len(),
                            example.display()
                        );
                        return Err(cannot_write(output, reason));
                    }
                }
            }
        })
    }

    fn all(&self) -> Vec<&Path> {
        match self {
            Self::Obj { frames, .. } => frames.iter().map(PathBuf::as_path).collect(),
            Self::Pc2(files) => files.iter().map(|(_, file)| file.as_path()).collect(),
            Self::Vat(files) => files.all().to_vec(),
        }
    }

    /// The folder that may be made.
    fn folder(&self) -> Option<&Path> {
        match self {
            Self::Obj { folder, .. } => folder.as_deref(),
            _ => None,
        }
    }

    /// Refuses files that the input is read from, and folders.
    fn check(&self, input: &UsdFile) -> Result<()> {
        for file in self.all() {
            if file.is_dir() {
                return Err(cannot_write(file, "it is a folder"));
            }
            input.check_output(file)?;
        }
        Ok(())
    }
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
    files: Files,
    outputs: Outputs,
    /// From the first frame on.
    writer: Option<(Writer, Vec<Shape>)>,
    index: usize,
    /// A prim that a later frame lacks.
    missing: Option<usize>,
}

/// What of a prim has to stay as it is at the first frame.
struct Shape {
    points: usize,
    mirrored: bool,
}

impl Session<'_> {
    fn frame(&mut self, frame: Frame) -> Result<()> {
        let time = frame.time;
        let mut came: Vec<_> = frame.deformed;
        if self.writer.is_none() {
            // In the order of the prims, which is that of the schedule.
            self.prims
                .retain(|p| came.iter().any(|d| d.binding == p.binding));
            if self.prims.is_empty() {
                return Ok(());
            }
        }
        came.retain(|d| self.prims.iter().any(|p| p.binding == d.binding));
        if let Some(lost) = self
            .prims
            .iter()
            .position(|p| came.iter().all(|d| d.binding != p.binding))
        {
            let binding = self.prims[lost].binding;
            self.missing = Some(binding);
            let path = &self.asked.scene.bindings[binding].path;
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
            let done = frame_of(deformed, bound, mesh, self.space, shape.mirrored, time);
            frames.push(done.map_err(|e| e.in_file(&self.asked.scene.file))?);
        }
        self.write(&frames)?;
        self.index += 1;
        Ok(())
    }

    fn shapes(&self, came: &[crate::bake::stream::Deformed]) -> Result<Vec<Shape>> {
        let time = self.clip.times[0];
        let shape = |d: &crate::bake::stream::Deformed| {
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

fn mesh_of<'g>(geometry: Option<&'g Geometry>, prim: &FramedPrim) -> Option<&'g DrawnMesh> {
    geometry?.meshes.get(prim.mesh?)
}

fn surfaces<'g>(
    geometry: Option<&'g Geometry>,
    prims: &[FramedPrim],
    shapes: &[Shape],
) -> Vec<Surface<'g>> {
    let meshes = prims.iter().filter_map(|p| mesh_of(geometry, p));
    let paths: Vec<&str> = meshes.clone().map(|m| m.path.as_str()).collect();
    let names = names::unique(&paths);
    let with_shapes = meshes.zip(prims).zip(shapes).zip(names);
    with_shapes
        .map(|(((mesh, prim), shape), name)| Surface {
            name,
            mesh,
            normals: prim
                .normals
                .as_ref()
                .map_or(NormalsOf::Points, |n| n.kind()),
            made_normals: matches!(prim.normals, Some(super::surface::NormalsFrom::Made(_))),
            mirrored: shape.mirrored,
        })
        .collect()
}

/// A surface cut into triangles and render vertices.
fn vat_part(geometry: Option<&Geometry>, surface: &Surface<'_>) -> Result<VatPart, Invalid> {
    let mesh = surface.mesh;
    let rest = mesh.points.first().cloned().unwrap_or_default();
    let normals = mesh.normals.as_ref().filter(|_| !surface.made_normals);
    let inputs = RenderInputs {
        points: &rest,
        normals: normals.and_then(|n| n.first()),
        uvs: mesh.uvs.as_ref().and_then(|uvs| uvs.first()),
        ..RenderInputs::default()
    };
    let cut = RenderMesh::new(&mesh.path, &mesh.topology, &inputs)?;
    let mut group_of_face = vec![0; mesh.topology.face_count()];
    let mut triangles = Vec::new();
    for (group, (material, faces)) in surface.faces_by_material().into_iter().enumerate() {
        let path = material
            .and_then(|m| geometry?.materials.get(m))
            .map(|m| &m.path);
        let name = path.map(|p| p.rsplit('/').next().unwrap_or_default().to_owned());
        triangles.push((name, Vec::new()));
        faces.into_iter().for_each(|f| group_of_face[f] = group);
    }
    for (triangle, face) in cut.triangles.iter().zip(&cut.face_of_triangle) {
        let [a, b, c] = *triangle;
        let outward = match surface.mirrored {
            true => [a, c, b],
            false => [a, b, c],
        };
        triangles[group_of_face[*face as usize]].1.push(outward);
    }
    triangles.retain(|(_, triangles)| !triangles.is_empty());
    Ok(VatPart {
        prim: mesh.path.clone(),
        normals: match surface.normals {
            NormalsOf::Points => cut.points.clone(),
            NormalsOf::Corners => cut.corners,
        },
        mesh: MeshPart {
            vertices: cut.points.len(),
            uvs: cut.uvs,
            triangles,
        },
        points: cut.points,
    })
}
