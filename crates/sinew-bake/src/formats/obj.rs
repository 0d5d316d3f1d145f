//! Wavefront OBJ sequences: one file per frame, one object per prim, with the authored faces.
//!
//! Only points and normals change from frame to frame; the rest of a file is made once.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use glam::Vec3;

use super::prims::{NormalsOf, PrimFrame};
use super::surface::Surface;
use crate::error::Result;
use sinew::sampled::Time;
use sinew::scene::{Material, Scene};
use sinew_io::output::Outputs;

/// Writes the frames, in order.
pub(super) struct ObjWriter {
    files: std::vec::IntoIter<PathBuf>,
    /// Comments at the head of each file.
    head: String,
    objects: Vec<Object>,
}

/// The text of a prim that is the same in every frame.
struct Object {
    name: String,
    uvs: String,
    faces: String,
}

impl ObjWriter {
    /// `files` has one name per frame.
    pub fn new(
        scene: &Scene,
        materials: &[Material],
        surfaces: &[Surface<'_>],
        files: Vec<PathBuf>,
    ) -> Self {
        let mut first = Firsts {
            point: 1,
            uv: 1,
            normal: 1,
        };
        let objects = surfaces.iter().map(|s| object(materials, s, &mut first));
        let file = scene.file.file_name().unwrap_or_default().to_string_lossy();
        Self {
            files: files.into_iter(),
            head: format!(
                "# {} by sinew {}; {} up, {} m to the unit\n",
                file.replace(char::is_control, " "),
                env!("CARGO_PKG_VERSION"),
                scene.up_axis,
                scene.meters_per_unit
            ),
            objects: objects.collect(),
        }
    }

    /// Writes the file of the next frame.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn frame(&mut self, outputs: &mut Outputs, time: Time, prims: &[PrimFrame]) -> Result<()> {
        let Some(file) = self.files.next() else {
            return Ok(());
        };
        Ok(outputs.file(&file, |sink| {
            let mut write = || {
                sink.write_all(self.head.as_bytes())?;
                if let Some(code) = time.code() {
                    writeln!(sink, "# time code {code}")?;
                }
                for (object, prim) in self.objects.iter().zip(prims) {
                    writeln!(sink, "o {}", object.name)?;
                    vectors(sink, "v", &prim.points)?;
                    sink.write_all(object.uvs.as_bytes())?;
                    vectors(sink, "vn", prim.normals.as_deref().unwrap_or_default())?;
                    sink.write_all(object.faces.as_bytes())?;
                }
                Ok(())
            };
            write().map_err(|e: std::io::Error| e.to_string())
        })?)
    }
}

/// Writes vectors, with the shortest decimal numbers that parse to the same f32.
fn vectors(sink: &mut impl Write, keyword: &str, vectors: &[Vec3]) -> std::io::Result<()> {
    for v in vectors {
        writeln!(sink, "{keyword} {} {} {}", v.x, v.y, v.z)?;
    }
    Ok(())
}

/// The faces of a prim. Indices start at 1 and count through all objects of a file.
struct Firsts {
    point: usize,
    uv: usize,
    normal: usize,
}

fn object(materials: &[Material], surface: &Surface<'_>, first: &mut Firsts) -> Object {
    let mesh = surface.mesh;
    let topology = &mesh.topology;
    let uvs = mesh.uvs.as_ref().and_then(|uvs| uvs.first());
    // Writing to a String cannot fail.
    let mut uv_text = String::new();
    for uv in uvs.iter().flat_map(|uvs| uvs.values) {
        let _ = writeln!(uv_text, "vt {} {}", uv.x, uv.y);
    }
    let mut faces = String::new();
    for (material, of_material) in surface.faces_by_material() {
        if let Some(material) = material.and_then(|m| materials.get(m)) {
            let name = material.path.rsplit('/').next().unwrap_or_default();
            let _ = writeln!(faces, "usemtl {name}");
        }
        for face in of_material {
            faces.push('f');
            surface.for_each_corner(face, |corner| {
                let point = topology.corner_points()[corner];
                let _ = write!(faces, " {}/", first.point + point as usize);
                if let Some(uvs) = &uvs {
                    let _ = write!(faces, "{}", first.uv + uvs.index(face, corner, point));
                }
                let normal = match surface.normals {
                    NormalsOf::Points => point as usize,
                    NormalsOf::Corners => corner,
                };
                let _ = write!(faces, "/{}", first.normal + normal);
            });
            faces.push('\n');
        }
    }
    first.point += mesh.point_count();
    first.uv += uvs.map_or(0, |uvs| uvs.values.len());
    first.normal += match surface.normals {
        NormalsOf::Points => mesh.point_count(),
        NormalsOf::Corners => topology.corner_count(),
    };
    Object {
        name: surface.name.clone(),
        uvs: uv_text,
        faces,
    }
}
