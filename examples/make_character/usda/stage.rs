//! The stage, and the prims around the meshes: SkelRoot, Skeleton and SkelAnimation.

use glam::Mat4;

use super::mesh;
use super::values::{extent, list, matrix, number, rotation, strings, vector};
use super::writer::Writer;
use crate::bounds::Bounds;
use crate::dance::{self, Dance, FRAMES, Pose, Sample};
use crate::mesh::Mesh;
use crate::rig::Rig;

pub const BINDING: &str = "prepend apiSchemas = [\"SkelBindingAPI\"]";

pub fn stage(rig: &Rig, meshes: &[Mesh], dance: &Dance) -> String {
    let mut out = Writer::default();
    out.line("#usda 1.0");
    out.metadata(&[
        "defaultPrim = \"Hatchling\"",
        "doc = \"A hatchling dragon, made by examples/make_character.\"",
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
                mesh::write(out, "/Hatchling/Geo", m);
            }
        });
    });
    out.finish()
}

/// What holds the meshes throughout the dance; blend shapes move little and get a margin.
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

/// Its transform is not the identity: what is skinned is in its space and not in the world's.
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
