//! The stage as USD's text: prims, values and the lines they are written in.

use std::fmt::{Display, Write};

use glam::{Mat4, Quat, Vec3};

use super::dance::{self, Dance, FRAMES, Pose, Sample};
use super::mesh::{Bounds, Mesh, Shape, Skin};
use super::rig::Rig;

const BINDING: &str = "prepend apiSchemas = [\"SkelBindingAPI\"]";

pub fn stage(rig: &Rig, meshes: &[Mesh], dance: &Dance) -> String {
    let mut out = Writer::default();
    out.line("#usda 1.0");
    out.metadata(&[
        "defaultPrim = \"Hatchling\"",
        "doc = \"A hatchling dragon, made by tools/assets.\"",
        &format!("endTimeCode = {FRAMES}"),
        "framesPerSecond = 24",
        "metersPerUnit = 1",
        "startTimeCode = 1",
        "timeCodesPerSecond = 24",
        "upAxis = \"Y\"",
    ]);
    out.blank();
    let metadata = [BINDING, "kind = \"component\""];
    out.block("def SkelRoot \"Hatchling\"", &metadata, |out| {
        root(out, danced(rig, meshes, dance));
        out.blank();
        out.block("def Scope \"Rig\"", &[], |out| {
            skeleton(out, rig);
            out.blank();
            animation(out, rig, dance);
        });
        out.blank();
        out.block("def Scope \"Geo\"", &[], |out| {
            for (i, m) in meshes.iter().enumerate() {
                if i > 0 {
                    out.blank();
                }
                mesh_prim(out, "/Hatchling/Geo", m);
            }
        });
    });
    out.finish()
}

/// A box that holds the meshes during the whole dance. Blend shapes move little: a margin covers
/// them.
fn danced(rig: &Rig, meshes: &[Mesh], dance: &Dance) -> Bounds {
    let at = |sample: &Sample| {
        let skinning = dance::skinning(rig, &sample.poses);
        let corners = meshes.iter().flat_map(|m| {
            let b = Bounds::of(m.skinned(&skinning));
            [b.min, b.max]
        });
        Bounds::of(corners)
    };
    let corners = dance.samples.iter().map(at).flat_map(|b| [b.min, b.max]);
    Bounds::of(corners).grown(0.1)
}

/// Properties of the SkelRoot. Its transform is not the identity, so skinned points are in its
/// space and not in world space.
fn root(out: &mut Writer, bounds: Bounds) {
    out.property("float3[] extent", extent(bounds));
    out.property("rel skel:skeleton", "</Hatchling/Rig/Skel>");
    out.property("float3 xformOp:rotateXYZ", "(0, 20, 0)");
    out.property("float3 xformOp:scale", "(0.5, 0.5, 0.5)");
    out.property("double3 xformOp:translate", "(0.4, 0, -0.3)");
    let order = ["xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"];
    out.property("uniform token[] xformOpOrder", strings(order));
}

fn skeleton(out: &mut Writer, rig: &Rig) {
    out.block("def Skeleton \"Skel\"", &[BINDING], |out| {
        let translations = |at: &dyn Fn(usize) -> _| {
            list(0..rig.joints.len(), |i| {
                matrix(Mat4::from_translation(at(i)))
            })
        };
        out.property(
            "uniform token[] joints",
            strings(rig.joints.iter().map(|j| j.path.as_str())),
        );
        out.property(
            "uniform matrix4d[] bindTransforms",
            translations(&|i| rig.joints[i].at),
        );
        out.property(
            "uniform matrix4d[] restTransforms",
            translations(&|i| rig.local(i)),
        );
        out.property("rel skel:animationSource", "</Hatchling/Rig/Dance>");
    });
}

fn animation(out: &mut Writer, rig: &Rig, dance: &Dance) {
    out.block("def SkelAnimation \"Dance\"", &[], |out| {
        out.property(
            "uniform token[] joints",
            strings(dance.moving.iter().map(|i| rig.joints[*i].path.as_str())),
        );
        let mut samples = |declaration: &str, value: &dyn Fn(&Sample) -> String| {
            let samples = dance.samples.iter().map(|s| (s.frame, value(s)));
            out.time_samples(declaration, samples);
        };
        let poses = |sample: &Sample, value: fn(&Pose) -> String| {
            list(&dance.moving, |i| value(&sample.poses[*i]))
        };
        samples("float3[] translations", &|s| {
            poses(s, |p| vector(p.translation, 5))
        });
        samples("quatf[] rotations", &|s| poses(s, |p| rotation(p.rotation)));
        samples("half3[] scales", &|s| poses(s, |p| vector(p.scale, 4)));
        samples("float[] blendShapeWeights", &|s| {
            list(s.weights, |w| number(w, 4))
        });
        out.property("uniform token[] blendShapes", strings(dance::SHAPES));
    });
}

const VERTEX: &str = "interpolation = \"vertex\"";
const CONSTANT: &str = "interpolation = \"constant\"";

/// A Mesh prim with its skin and blend shapes. `geo` is the path of its parent.
fn mesh_prim(out: &mut Writer, geo: &str, mesh: &Mesh) {
    let header = format!("def Mesh \"{}\"", mesh.name);
    out.block(&header, &[BINDING], |out| {
        geometry(out, mesh);
        skin(out, mesh);
        out.property("uniform token subdivisionScheme", "\"none\"");
        if !mesh.shapes.is_empty() {
            shapes(out, &format!("{geo}/{}", mesh.name), &mesh.shapes);
        }
    });
}

fn geometry(out: &mut Writer, mesh: &Mesh) {
    let bounds = Bounds::of(mesh.points.iter().copied());
    out.property("uniform bool doubleSided", 1);
    out.property("float3[] extent", extent(bounds));
    out.property(
        "int[] faceVertexCounts",
        list(&mesh.faces, |face| face.len().to_string()),
    );
    out.property(
        "int[] faceVertexIndices",
        list(mesh.faces.as_flattened(), |i| i.to_string()),
    );
    out.property("point3f[] points", vectors(&mesh.points, 5));
    out.property_with("normal3f[] normals", vectors(&mesh.normals, 4), &[VERTEX]);
    out.property_with(
        "color3f[] primvars:displayColor",
        vectors(&mesh.colors, 2),
        &[VERTEX],
    );
}

fn skin(out: &mut Writer, mesh: &Mesh) {
    if mesh.bind != Mat4::IDENTITY {
        out.property(
            "matrix4d primvars:skel:geomBindTransform",
            matrix(mesh.bind),
        );
    }
    let size = mesh.skin.influences();
    let (interpolation, influences) = match &mesh.skin {
        Skin::Rigid(joint) => (CONSTANT, vec![(*joint, 1.0)]),
        Skin::Smooth(points) => {
            // Points with fewer influences are padded with weights of 0.
            let padded = |p: &Vec<_>| {
                let mut p = p.clone();
                p.resize(size, (0, 0.0));
                p
            };
            (VERTEX, points.iter().flat_map(padded).collect())
        }
    };
    let metadata = [&format!("elementSize = {size}"), interpolation];
    out.property_with(
        "int[] primvars:skel:jointIndices",
        list(&influences, |(joint, _)| joint.to_string()),
        &metadata,
    );
    out.property_with(
        "float[] primvars:skel:jointWeights",
        list(&influences, |(_, weight)| number(*weight, 4)),
        &metadata,
    );
}

fn shapes(out: &mut Writer, mesh: &str, shapes: &[Shape]) {
    out.property(
        "uniform token[] skel:blendShapes",
        strings(shapes.iter().map(|s| s.name)),
    );
    out.property(
        "rel skel:blendShapeTargets",
        list(shapes, |s| format!("<{mesh}/{}>", s.name)),
    );
    for shape in shapes {
        out.blank();
        out.block(&format!("def BlendShape \"{}\"", shape.name), &[], |out| {
            out.property_with(
                "uniform vector3f[] inbetweens:half",
                vectors(&shape.half.points, 5),
                &["weight = 0.5"],
            );
            out.property(
                "uniform vector3f[] inbetweens:half:normalOffsets",
                vectors(&shape.half.normals, 3),
            );
            out.property(
                "uniform vector3f[] normalOffsets",
                vectors(&shape.full.normals, 3),
            );
            out.property("uniform vector3f[] offsets", vectors(&shape.full.points, 5));
            out.property(
                "uniform int[] pointIndices",
                list(&shape.points, |i| i.to_string()),
            );
        });
    }
}

/// A number with at most `digits` decimals, without trailing zeros.
fn number(x: f32, digits: usize) -> String {
    let text = format!("{x:.digits$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    if text == "-0" { "0" } else { text }.into()
}

fn list<T>(items: impl IntoIterator<Item = T>, text: impl Fn(T) -> String) -> String {
    let items: Vec<String> = items.into_iter().map(text).collect();
    format!("[{}]", items.join(", "))
}

fn strings<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    list(items, |item| format!("\"{item}\""))
}

fn tuple(items: &[f32], digits: usize) -> String {
    let items: Vec<String> = items.iter().map(|x| number(*x, digits)).collect();
    format!("({})", items.join(", "))
}

fn vector(v: Vec3, digits: usize) -> String {
    tuple(&v.to_array(), digits)
}

fn vectors(items: &[Vec3], digits: usize) -> String {
    list(items, |v| vector(*v, digits))
}

/// A quaternion, real part first. Its sign is chosen so that the real part is not negative.
fn rotation(q: Quat) -> String {
    let q = q.normalize();
    let q = if q.w < 0.0 { -q } else { q };
    tuple(&[q.w, q.x, q.y, q.z], 5)
}

/// A matrix row by row. USD's rows are glam's columns.
fn matrix(m: Mat4) -> String {
    let rows = m.to_cols_array_2d().map(|row| tuple(&row, 6));
    format!("( {} )", rows.join(", "))
}

fn extent(b: Bounds) -> String {
    vectors(&[b.min, b.max], 4)
}

#[derive(Default)]
struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    fn line(&mut self, text: impl Display) {
        let indent = 4 * self.depth;
        writeln!(self.text, "{:indent$}{text}", "").expect("a String takes all");
    }

    fn blank(&mut self) {
        self.text.push('\n');
    }

    fn property(&mut self, declaration: &str, value: impl Display) {
        self.line(format_args!("{declaration} = {value}"));
    }

    /// A property with metadata, one entry per line.
    fn property_with(&mut self, declaration: &str, value: impl Display, metadata: &[&str]) {
        self.line_with(format_args!("{declaration} = {value}"), metadata);
    }

    /// A `def` line or the like, its metadata if any, and its body in braces.
    fn block(&mut self, header: &str, metadata: &[&str], body: impl FnOnce(&mut Self)) {
        self.line_with(header, metadata);
        self.line("{");
        self.indented(body);
        self.line("}");
    }

    /// Metadata in parentheses, one entry per line.
    fn metadata(&mut self, metadata: &[&str]) {
        self.line("(");
        self.entries(metadata);
    }

    /// Time samples, one per line.
    fn time_samples(&mut self, declaration: &str, samples: impl Iterator<Item = (u16, String)>) {
        self.line(format_args!("{declaration}.timeSamples = {{"));
        self.indented(|out| samples.for_each(|(t, x)| out.line(format_args!("{t}: {x},"))));
        self.line("}");
    }

    fn finish(self) -> String {
        self.text
    }

    /// A line, followed by its metadata in parentheses.
    fn line_with(&mut self, text: impl Display, metadata: &[&str]) {
        if metadata.is_empty() {
            return self.line(text);
        }
        self.line(format_args!("{text} ("));
        self.entries(metadata);
    }

    fn entries(&mut self, metadata: &[&str]) {
        self.indented(|out| metadata.iter().for_each(|m| out.line(m)));
        self.line(")");
    }

    fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.depth += 1;
        body(self);
        self.depth -= 1;
    }
}
