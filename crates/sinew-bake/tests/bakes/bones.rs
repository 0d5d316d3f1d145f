//! Bone textures, read as a vertex shader reads them.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use glam::Vec3;
use serde_json::Value;
use sinew_bake::{BakeOptions, FrameRange};
use sinew_io::ClipChoice;

use crate::bench::*;
use crate::readers::authored_faces;
use crate::textures::in_metres;
use crate::truth::{WorldBake, scene};
use common::bones::{Bones, number};
use common::tolerance;

/// Compares every vertex of every frame of a clip with the points of the ordinary bake. Returns the largest distance in
/// metres of meshes whose stated error is at most `most`, and the number of their vertices.
///
/// A vertex stands for the points that go its way. Every triangle has to lie in a face of such points, and every point of
/// the faces needs a vertex, so meshes with swapped or missing vertices fail.
fn check(
    bones: &Bones,
    input: &Path,
    clip: &Value,
    options: &BakeOptions,
    most: f64,
) -> (f64, usize) {
    let first = number(clip, "firstTimeCode");
    let step = number(clip, "timeCodesPerFrame");
    let frames = number(clip, "frames") as u32;
    let mut options = options.clone();
    let last = first + step * f64::from(frames - 1);
    options.frames = Some(FrameRange { first, last, step });
    let world = WorldBake::new(input, &options);
    let scene = scene(input);
    let parts = bones.json["parts"].as_array().unwrap();
    let nodes = bones.mesh.nodes.iter().filter_map(|n| n.mesh);
    let (mut worst, mut vertices) = (0.0f64, 0);
    for (part, mesh) in parts.iter().zip(nodes) {
        if number(part, "largestError") > most {
            continue;
        }
        let prim = part["prim"].as_str().unwrap();
        let ways: Vec<Vec<Vec3>> = (0..frames)
            .map(|f| {
                let points = world.points(prim, first + step * f64::from(f));
                points.iter().map(|p| in_metres(&scene, *p)).collect()
            })
            .collect();
        let faces = Faces::of(&world.0, prim);
        let mut seen = HashSet::new();
        for primitive in &bones.mesh.meshes[mesh].primitives {
            let mut stands_for: Vec<Vec<usize>> = Vec::new();
            for vertex in 0..primitive.points.len() {
                let first_frame = number(clip, "firstFrame") as u32;
                let way: Vec<Vec3> = (0..frames)
                    .map(|f| bones.placed(first_frame + f, primitive, vertex))
                    .collect();
                // The points whose way it goes.
                let mut same = Vec::new();
                let mut nearest = f32::INFINITY;
                for point in 0..ways[0].len() {
                    let mut far = 0.0f32;
                    for (at, want) in way.iter().zip(&ways) {
                        far = far.max(at.distance(want[point]));
                        if far > nearest && f64::from(far) > most {
                            break;
                        }
                    }
                    nearest = nearest.min(far);
                    if f64::from(far) <= most {
                        same.push(point);
                    }
                }
                worst = worst.max(f64::from(nearest));
                seen.extend(same.iter().copied());
                stands_for.push(same);
                vertices += 1;
            }
            for triangle in primitive.faces.indices.chunks_exact(3) {
                let corners = [0, 1, 2].map(|c| &stands_for[triangle[c] as usize][..]);
                assert!(
                    faces.has(corners),
                    "{prim}: a triangle {corners:?} of no face"
                );
            }
        }
        let mut needed = faces.of_point.keys();
        assert!(
            needed.all(|p| seen.contains(p)),
            "{prim}: points without a vertex"
        );
    }
    (worst, vertices)
}

/// The faces of a mesh, by point.
struct Faces {
    of_point: HashMap<usize, HashSet<usize>>,
}

impl Faces {
    fn of(stage: &sinew_stage::Stage, prim: &str) -> Self {
        let mut of_point: HashMap<usize, HashSet<usize>> = HashMap::new();
        for (face, points) in authored_faces(stage, prim, false).iter().enumerate() {
            for point in points {
                of_point.entry(*point).or_default().insert(face);
            }
        }
        Self { of_point }
    }

    /// Whether one face has a point of each of these corners.
    fn has(&self, corners: [&[usize]; 3]) -> bool {
        let faces = |corner: &[usize]| -> HashSet<usize> {
            let of_points = corner.iter().filter_map(|p| self.of_point.get(p));
            of_points.flatten().copied().collect()
        };
        let [a, b, c] = corners.map(faces);
        a.iter().any(|f| b.contains(f) && c.contains(f))
    }
}

fn bake(input: &Path, out: &Path, words: &str) -> Bones {
    run(input, out, words);
    Bones::read(out)
}

/// The example character: Z up or not, several meshes, rigid prims, blend shapes that are stated as errors.
pub fn a_shader_finds_the_points_of_the_ordinary_bake() {
    let bench = Bench::new();
    let input = hatchling();
    let out = bench.path("h.bones.exr");
    let floats = tolerance::BONE_TEXTURE_METRES;
    for (words, most) in [
        ("frames 1:24", floats),
        // Rows go on below.
        ("frames 1:4 bone-width 16", floats),
        (
            "frames 1:4 bone-bits 16",
            tolerance::BONE_TEXTURE_HALF_METRES,
        ),
    ] {
        let bones = bake(&input, &out, words);
        let clip = &bones.json["clips"][0];
        let (worst, vertices) = check(&bones, &input, clip, &options(""), most);
        assert!(worst <= most, "{words}: {worst} m");
        assert!(vertices > 1000, "{words}: {vertices} vertices");
    }
}

pub fn clips_share_a_texture() {
    let bench = Bench::new();
    let input = bench.write("in.usda", &*TWO_CLIPS);
    let out = bench.path("two.bones.exr");
    let most = tolerance::BONE_TEXTURE_METRES;
    let report = run(&input, &out, "");
    let left_out = warnings(&report, "left-out");
    assert!(left_out.iter().any(|w| w.path == "/Ground"));
    for words in ["", "clip Walk clip Wave"] {
        let bones = bake(&input, &out, words);
        let clips = bones.json["clips"].as_array().unwrap();
        let of_clip = |c: &Value| {
            let name = c["name"].as_str().unwrap().to_owned();
            (name, number(c, "firstFrame"), number(c, "frames"))
        };
        let named: Vec<_> = clips.iter().map(of_clip).collect();
        assert_eq!(
            named,
            [("Walk".into(), 0.0, 5.0), ("Wave".into(), 5.0, 3.0)]
        );
        for clip in clips {
            let name = clip["name"].as_str().unwrap();
            let own = options(&format!("clip {name}"));
            let (worst, vertices) = check(&bones, &input, clip, &own, most);
            assert!(worst <= most, "{name}: {worst} m");
            assert_eq!(vertices, 7, "no mesh has a large stated error");
        }
    }
    // Dual quaternions turn what one joint moves as matrices do.
    let bones = bake(&input, &out, "dual-quaternions prim /Hero/Hat");
    let own = options("clip Wave prim /Hero/Hat");
    let (worst, vertices) = check(&bones, &input, &bones.json["clips"][1], &own, most);
    assert!(worst <= most && vertices == 3, "{worst} m, {vertices}");
}

pub fn many_frames_go_on_to_the_right() {
    let bench = Bench::new();
    let input = bench.write("in.usda", &*TWO_CLIPS);
    let out = bench.path("w.bones.exr");
    let bones = bake(&input, &out, "clip Walk frames 1:5:0.0002");
    assert_eq!(number(&bones.json, "frames"), 20_001.0);
    assert_eq!(bones.whole("columnWidth") * 2, bones.width);
    // The last frame is in the second column.
    let last = bones.fetch(20_000, 1, 0);
    let few = bake(&input, &out, "clip Walk frames 1:5:4");
    assert_eq!(last, few.fetch(1, 1, 0));
    assert_ne!(last, few.fetch(0, 1, 0));
}

/// Real files with several clips: sizes, and every vertex of the last clip.
pub fn real_files_come_out_as_in_usd(assets: &Path) {
    let bench = Bench::new();
    for (file, clips) in [
        ("gltf/Fox.glb", 3),
        ("gltf/CesiumMan.glb", 1),
        ("maya-usd/skelCube.usda", 1),
    ] {
        let input = assets.join(file);
        let bones = bake(&input, &bench.path("r.bones.exr"), "");
        let all = bones.json["clips"].as_array().unwrap();
        assert_eq!(all.len(), clips, "{file}");
        let clip = &all[clips - 1];
        let primitives = bones.mesh.meshes.iter().flat_map(|m| &m.primitives);
        let points = primitives.flat_map(|p| &p.points);
        let size = points.map(|p| p.length()).fold(1.0, f32::max);
        let most = tolerance::BONE_TEXTURE_METRES * f64::from(size);
        let mut own = options("");
        // A clip without a name in the file cannot be chosen.
        if clips > 1 {
            let name = clip["name"].as_str().unwrap();
            own.open.clips = ClipChoice::Named(name.to_owned());
        }
        let (worst, vertices) = check(&bones, &input, clip, &own, most);
        assert!(
            worst <= most && vertices > 7,
            "{file}: {worst} m, {vertices}"
        );
    }
}
