//! Bone textures: an image with the transform of every joint in every frame, for engines that skin
//! in the vertex shader, a mesh with joints and weights, and a JSON file that describes them.

mod clips;
mod measure;
mod metadata;
mod motion;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ::exr::prelude::{SpecificChannels, Vec2, f16};
use glam::Vec4;

use super::layout::TextureLayout;
use super::names::beside;
use super::prims::{FramedPrim, framed_prims, keep_drawn, tell_geometry};
use super::vat::{gltf_from_world, source_of};
use super::vat_texture::exr;
use crate::asked::Asked;
use crate::clip::Clip;
use crate::diagnostics::Diagnostics;
use crate::error::{Error, Result};
use crate::format::{BoneOptions, BoneValues};
use crate::options::{Progress, Watch, tell};
use crate::report::{BakeReport, BoneReport, nothing_to_skin};
use crate::space::Space;
use clips::BoneClip;
use measure::Measure;
use metadata::{ClipData, Metadata, PartData, TextureData};
use motion::{Bones, ClipBindings};
use sinew::error::Warning;
use sinew::sampled::Time;
use sinew::scene::{Geometry, OutSpace, Scene};
use sinew_io::gltf::{GltfOptions, write_asset_into};
use sinew_io::output::Outputs;
use sinew_io::usd::{BindPose, PlacedMesh};

/// The three files of a bone texture: the texture, the mesh and the metadata.
type BoneFiles = [PathBuf; 3];

/// Bakes into a bone texture and fills the report.
///
/// # Errors
/// The options do not fit, a clip is not there, the texture would be too large, no prim can be
/// skinned, or files cannot be written. Nothing is written then.
pub(super) fn bake_bones(
    asked: Asked<'_>,
    report: &mut BakeReport,
    watch: &mut Watch<'_>,
) -> Result<()> {
    let began = Instant::now();
    let (scene, options) = (asked.scene, asked.options);
    options.bones.check()?;
    if options.space.is_some_and(|s| s != OutSpace::World) {
        let text =
            "expected world space for bone textures, because they have all prims of a character";
        return Err(Error::Options(text.into()));
    }
    let output = asked.output;
    let [mesh, metadata] = ["glb", "json"].map(|end| beside(output, "", Some(end)));
    let files = [output.to_owned(), mesh, metadata];
    asked.check_files(files.iter().map(PathBuf::as_path))?;
    let mut clips = clips::of_file(asked)?;
    let mut geometry = asked.file.geometry(scene)?;
    leave_untouched(&mut geometry, report);
    let mut prims = framed_prims(scene, Some(&geometry), asked.chosen, &mut report.warnings);
    tell_geometry(scene, &geometry, asked.chosen, report);
    let mut diagnostics = Diagnostics::default();
    let Some(mut clip) = clips.next(asked)? else {
        return Err(nothing_to_skin(scene, report));
    };
    clip.tell(asked, report)?;
    let all: Vec<usize> = prims.iter().map(|p| p.binding).collect();
    let mut frames = clip.frames(asked, &all)?;
    let mut times = frames.times.clone();
    if prims.iter().any(|p| shows_later(&geometry, p, &times)) {
        times.extend(clips.times(asked, &all)?);
    }
    keep_drawn(&geometry, &mut prims, &times, &mut report.warnings);
    let bindings: Vec<usize> = prims.iter().map(|p| p.binding).collect();
    // The meshes are those of the file as it was opened; the first clip says where they stand.
    let (bones, errors) = Bones::new(
        (scene, &bindings),
        clip.scene(scene),
        frames.times[0],
        gltf_from_world(scene)?,
    );
    errors
        .into_iter()
        .for_each(|(b, e)| diagnostics.whole(b, e));
    let mut pose = asked.file.bind_pose(scene, &bones.nodes, &bones.meshes)?;
    let meshes = std::mem::take(&mut pose.meshes);
    for left in &pose.asset.left_out {
        let mut of_prim = bindings.iter();
        if let Some(b) = of_prim.find(|b| scene.bindings[**b].path == left.prim) {
            diagnostics.whole(*b, left.clone());
        }
    }
    for b in &bindings {
        let is_there = meshes.iter().any(|m| m.binding == *b);
        if !is_there && !diagnostics.is_broken(*b) {
            let message = "the mesh has no triangles: it is not in the output";
            let warning = Warning::new("left-out", &scene.bindings[*b].path, message);
            report.warnings.push(warning);
        }
    }
    let came_out = |b| meshes.iter().any(|m| m.binding == b);
    diagnostics.finish(scene, came_out, &BTreeMap::new(), report);
    if meshes.is_empty() {
        return Err(nothing_to_skin(scene, report));
    }
    let work = Work {
        asked,
        bones: &bones,
        meshes: &meshes,
    };
    let mut baked = Baked {
        texels: Vec::new(),
        clips: Vec::new(),
        measure: Measure::new(scene, &meshes)?,
    };
    let mut times = Vec::new();
    loop {
        work.add(&mut baked, &clip, &frames, watch)?;
        times.append(&mut frames.times);
        let Some(next) = clips.next(asked)? else {
            break;
        };
        clip = next;
        clip.tell(asked, report)?;
        frames = clip.frames(asked, &bindings)?;
    }
    tell_hidden(&geometry, &meshes, &times, report);
    report.deform_time = began.elapsed();
    work.finish((baked, pose), &files, report, watch)
}

/// Removes what no joint can move, with a warning for meshes.
fn leave_untouched(geometry: &mut Geometry, report: &mut BakeReport) {
    // Instances show prims that are baked once, where the prototype stands.
    geometry.meshes.retain(|m| m.instances.is_empty());
    let mut unbound = geometry.meshes.iter().filter(|m| m.binding.is_none());
    if let Some(first) = unbound.next() {
        let count = 1 + unbound.count();
        let message =
            format!("no Skeleton moves it: it is not in the output; {count} such meshes in all");
        let warning = Warning::new("left-out", &first.path, message);
        report.warnings.push(warning);
    }
}

/// Whether a mesh is invisible at all of these times, but not at all times.
fn shows_later(geometry: &Geometry, prim: &FramedPrim, times: &[Time]) -> bool {
    let Some(mesh) = prim.mesh.map(|m| &geometry.meshes[m]) else {
        return false;
    };
    let authored = mesh.place.times().into_iter().map(Time::At);
    !times.iter().any(|t| mesh.visible(*t)) && authored.into_iter().any(|t| mesh.visible(t))
}

/// Warns about meshes that are invisible at some of the frames.
fn tell_hidden(
    geometry: &Geometry,
    meshes: &[PlacedMesh],
    times: &[Time],
    report: &mut BakeReport,
) {
    for placed in meshes {
        let mut drawn = geometry.meshes.iter();
        let Some(mesh) = drawn.find(|m| m.binding == Some(placed.binding)) else {
            continue;
        };
        let hidden = times.iter().filter(|t| !mesh.visible(**t)).count();
        if hidden > 0 {
            let message = format!(
                "the mesh is invisible at {hidden} of {} frames, but a bone texture has no visibility: it is drawn at all of them",
                times.len()
            );
            let warning = Warning::new("bones-visibility", &mesh.path, message);
            report.warnings.push(warning);
        }
    }
}

/// The frames of all clips so far.
struct Baked {
    /// Frame by frame, joint by joint.
    texels: Vec<Vec4>,
    clips: Vec<ClipData>,
    measure: Measure,
}

/// Frames to compute at once, before the caller may stop the bake.
const AT_ONCE: usize = 64;

/// What all clips have in common.
struct Work<'a> {
    asked: Asked<'a>,
    bones: &'a Bones,
    meshes: &'a [PlacedMesh],
}

impl Work<'_> {
    fn options(&self) -> &BoneOptions {
        &self.asked.options.bones
    }

    /// Texels of a frame.
    fn per_frame(&self) -> usize {
        self.bones.joints.len() * self.options().values.texels() as usize
    }

    fn layout(&self, frames: usize) -> Result<TextureLayout> {
        let (joints, options) = (self.bones.joints.len(), self.options());
        TextureLayout::of_joints(joints, frames, options.values.texels(), options.max_width)
            .map_err(|reason| Error::output(self.asked.output, reason))
    }

    /// Adds the frames of a clip.
    fn add(
        &self,
        out: &mut Baked,
        clip: &BoneClip,
        frames: &Clip,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let scene = clip.scene(self.asked.scene);
        let bindings = ClipBindings::find(self.bones, self.asked.scene, self.meshes, scene)?;
        let before = out.texels.len() / self.per_frame();
        let total = before + frames.len();
        self.layout(total)?;
        let values = self.options().values;
        out.measure
            .begin((scene, &bindings), values, frames.times[0])?;
        let mut done = before;
        for times in frames.times.chunks(AT_ONCE) {
            tell(watch, Progress::Deforming { done, total })?;
            let first = out.texels.len();
            for time in times {
                // Signs of quaternions go on from frame to frame of a clip.
                let follows = done > before;
                self.add_frame(out, scene, &bindings, *time, follows)?;
                done += 1;
            }
            let compared = (self.options().values, self.meshes);
            let of_clip = (scene, &bindings, clip.name.as_str());
            let new = &out.texels[first..];
            out.measure.add(self.bones, of_clip, compared, times, new)?;
        }
        let bounds = out.measure.take_bounds();
        let data = ClipData::new(clip.name.clone(), before, frames, bounds);
        out.clips.push(data);
        Ok(())
    }

    fn add_frame(
        &self,
        out: &mut Baked,
        scene: &Scene,
        bindings: &ClipBindings,
        time: Time,
        follows: bool,
    ) -> Result<()> {
        let options = self.options();
        let matrices = self.bones.matrices(scene, bindings, time)?;
        let is_rigid = options.values == BoneValues::DualQuaternion;
        if is_rigid && matrices.iter().any(|m| measure::has_scale(*m)) {
            out.measure.found_scale();
        }
        let begin = out.texels.len();
        let each = options.values.texels() as usize;
        for (joint, m) in matrices.iter().enumerate() {
            let before = follows.then(|| out.texels[begin - self.per_frame() + joint * each]);
            options.values.encode(*m, before, &mut out.texels);
        }
        if options.is_half() && !motion::to_half(&mut out.texels[begin..]) {
            let reason = format!(
                "expected transforms up to {} for 16-bit floats, found larger ones at time {time}",
                f16::MAX
            );
            return Err(Error::output(self.asked.output, reason));
        }
        Ok(())
    }

    /// Writes the three files.
    fn finish(
        &self,
        (baked, pose): (Baked, BindPose),
        files: &BoneFiles,
        report: &mut BakeReport,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let frames = baked.texels.len() / self.per_frame();
        let layout = self.layout(frames)?;
        let bytes: u64 = if self.options().is_half() { 2 } else { 4 };
        let vertices: usize = self.meshes.iter().map(|m| m.vertices).sum();
        let (largest_error, relative_error) = baked.measure.largest();
        let numbers = BoneReport {
            joints: self.bones.joints.len(),
            clips: baked.clips.len(),
            texture_bytes: u64::from(layout.width) * u64::from(layout.height) * 4 * bytes,
            // Positions and normals, with three channels each.
            vertex_texture_bytes: vertices as u64 * frames as u64 * 2 * 3 * bytes,
            largest_error,
            relative_error,
        };
        let needed = numbers.texture_bytes + vertices as u64 * 64;
        let space = Space::check(self.asked.output, needed, self.asked.options, report, watch)?;
        report.warnings.extend(baked.measure.warnings());
        tell(watch, Progress::Writing)?;
        let written = self.write((&baked, pose), layout, files, report);
        report.files = space.explain(written)?;
        report.frames = frames;
        report.prims = self.meshes.len();
        report.points = self.meshes.iter().map(|m| m.points.len()).sum();
        report.samples = report.prims * frames;
        report.bones = Some(numbers);
        Ok(())
    }

    fn write(
        &self,
        (baked, mut pose): (&Baked, BindPose),
        layout: TextureLayout,
        files: &BoneFiles,
        report: &mut BakeReport,
    ) -> Result<Vec<PathBuf>> {
        let mut outputs = Outputs::default();
        let [texture_file, mesh_file, metadata_file] = files;
        let is_half = self.options().is_half();
        let size = (layout.width, layout.height);
        let texel = |x: usize, y: usize| -> [f32; 4] {
            let at = layout.at(x as u32, y as u32);
            at.map_or(Vec4::ZERO, |at| baked.texels[at]).to_array()
        };
        let full = |Vec2(x, y)| <(f32, f32, f32, f32)>::from(texel(x, y));
        let half = |Vec2(x, y)| <(f16, f16, f16, f16)>::from(texel(x, y).map(f16::from_f32));
        outputs.file(texture_file, |sink| match is_half {
            false => exr!(sink, size, SpecificChannels::rgba(full)),
            true => exr!(sink, size, SpecificChannels::rgba(half)),
        })?;
        let known = &report.warnings;
        pose.asset.warnings.retain(|w| !known.contains(w));
        let options = GltfOptions::default();
        let written = write_asset_into(pose.asset, mesh_file, &options, &mut outputs)?;
        report.warnings.extend(written.warnings);
        let scene = self.asked.scene;
        let parts = self.meshes.iter().zip(baked.measure.errors());
        let part = |(mesh, largest_error): (&PlacedMesh, f64)| PartData {
            prim: &scene.bindings[mesh.binding].path,
            vertices: mesh.vertices,
            influences: mesh.each,
            largest_error,
        };
        let metadata = Metadata {
            generator: concat!("sinew ", env!("CARGO_PKG_VERSION")),
            version: 1,
            texture: TextureData {
                file: super::vat::file_name(texture_file),
                encoding: if is_half { "float16" } else { "float32" },
                channels: "RGBA",
                values: self.options().values,
            },
            mesh: super::vat::file_name(mesh_file),
            layout,
            clips: &baked.clips,
            joint_names: &self.bones.joints,
            parts: parts.map(part).collect(),
            up_axis: "Y",
            meters_per_unit: 1.0,
            handedness: "right",
            space: "world",
            source: source_of(scene),
        };
        outputs.file(metadata_file, |sink| {
            serde_json::to_writer_pretty(sink, &metadata).map_err(|e| e.to_string())
        })?;
        let names = outputs.names().map(Path::to_owned).collect();
        outputs.finish()?;
        Ok(names)
    }
}
