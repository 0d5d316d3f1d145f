//! Mesh prims with their skin and their blend shapes.

use glam::Mat4;

use super::stage::BINDING;
use super::values::{extent, list, matrix, number, strings, vectors};
use super::writer::Writer;
use crate::bounds::Bounds;
use crate::mesh::{Mesh, Skin};
use crate::shape::Shape;

const VERTEX: &str = "interpolation = \"vertex\"";
const CONSTANT: &str = "interpolation = \"constant\"";

/// `geo` is the path of the prim that `mesh` goes into.
pub fn write(out: &mut Writer, geo: &str, mesh: &Mesh) {
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
            // Points with fewer get weights of 0.
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
