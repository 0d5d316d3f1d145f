//! Stages as bone textures.

use libtest_mimic::Failed;
use serde_json::Value;
use sinew_bake::{Backend, BakeOptions, BoneValues, bake};

use super::truth::Stage;
use super::{Allowed, Moment, Report, Subject};
use crate::shown::{Shown, by_corner};
use common::bones::{Bones, number};
use common::tolerance;

/// Every frame of every clip. Textures hold no normals.
pub fn texture(subject: &Subject<'_>, report: &mut Report) -> Result<(), Failed> {
    let out = subject.file(".bones.exr");
    let mut options = BakeOptions::default();
    options.backend = Backend::Cpu;
    let mut near = tolerance::BONE_TEXTURE_METRES;
    match subject.seed % 4 {
        // Rows go on below.
        1 => options.bones.max_width = 16,
        2 => options.bones.values = BoneValues::DualQuaternion,
        3 => {
            options.bones.bits = Some(16);
            near = tolerance::BONE_TEXTURE_HALF_METRES;
        }
        _ => {}
    }
    let told = bake(&subject.file(".usda"), &out, &options, &mut |_| {})?;
    let bones = Bones::read(&out);
    let list = |key: &str| bones.json[key].as_array().ok_or("a list");
    for clip in list("clips")? {
        let name = clip["name"].as_str().ok_or("a name")?;
        let stage = Stage::open(&subject.file(".usda"), Some(name))?;
        let at = |key: &str| number(clip, key);
        let code = |frame: u32| at("firstTimeCode") + at("timeCodesPerFrame") * f64::from(frame);
        let frames = 0..at("frames") as u32;
        let moments: Vec<Moment> = frames
            .map(|f| Moment {
                code: code(f),
                is_key: true,
            })
            .collect();
        let codes: Vec<f64> = moments.iter().map(|m| m.code).collect();
        for mesh in stage.geometry.meshes.iter().filter(|m| m.binding.is_some()) {
            let want = stage.shown(mesh, &codes)?;
            let part = list("parts")?.iter().position(|p| p["prim"] == *mesh.path);
            let part = part.ok_or_else(|| format!("no part {}", mesh.path))?;
            let mut got = shown(&bones, part, clip);
            let mut warnings = told.warnings.iter().filter(|w| w.path == mesh.path);
            let is_stated = warnings.clone().any(|w| w.message.contains("off by up to"));
            if warnings.any(|w| w.code == "bones-mirrored") {
                turn(&mut got, &want);
            }
            let stated = number(&list("parts")?[part], "largestError");
            let allowed = Allowed {
                points: [near; 2],
                normals: None,
                stated: is_stated.then_some(stated),
            };
            report.check(&subject.name, &mesh.path, (&want, &got), &moments, &allowed);
        }
    }
    Ok(())
}

/// A part of the mesh in all frames of a clip, corner by corner.
fn shown(bones: &Bones, part: usize, clip: &Value) -> Shown {
    let mut nodes = bones.mesh.nodes.iter().filter_map(|n| n.mesh);
    let mesh = nodes.nth(part).expect("a node for each part");
    let first = number(clip, "firstFrame") as u32;
    let frames = first..first + number(clip, "frames") as u32;
    let mut out = Shown {
        points: frames.clone().map(|_| Vec::new()).collect(),
        ..Shown::default()
    };
    for primitive in &bones.mesh.meshes[mesh].primitives {
        let before = out.points.first().map_or(0, Vec::len);
        let corners = primitive.faces.indices.iter();
        out.corners.extend(corners.map(|c| before + *c as usize));
        for (frame, points) in frames.clone().zip(&mut out.points) {
            let vertices = 0..primitive.points.len();
            points.extend(vertices.map(|v| bones.placed(frame, primitive, v).as_dvec3()));
        }
    }
    by_corner(vec![out]).remove(0)
}

/// Turns triangles over if they are nearer to what is wanted so.
fn turn(got: &mut Shown, want: &Shown) {
    let mut turned = got.clone();
    let triangles = turned.points.iter_mut().flat_map(|p| p.chunks_exact_mut(3));
    triangles.for_each(|triangle| triangle.swap(1, 2));
    let off = |shown: &Shown| -> f64 {
        let pairs = shown.points[0].iter().zip(&want.points[0]);
        pairs.map(|(a, b)| a.distance(*b)).sum()
    };
    if off(&turned) < off(got) {
        *got = turned;
    }
}
