//! Bone textures, read as a vertex shader reads them.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use glam::{DVec3, Quat, Vec3, Vec4};
use serde_json::Value;

use crate::formats::bench::project;
use common::command::{Bench, bake as command, stderr};
use common::{tolerance, usd};

/// A texture with its mesh.
struct Bones {
    json: Value,
    width: u32,
    texels: Vec<Vec4>,
    mesh: sinew_animate::asset::Asset,
}

impl Bones {
    fn read(texture: &Path) -> Self {
        let json = std::fs::read(texture.with_extension("json")).unwrap();
        let json: Value = serde_json::from_slice(&json).unwrap();
        let image::DynamicImage::ImageRgba32F(picture) = image::open(texture).unwrap() else {
            panic!("{}: no floats", texture.display());
        };
        let size = [picture.width(), picture.height()].map(f64::from);
        assert_eq!(size, [number(&json, "width"), number(&json, "height")]);
        let mesh = texture.with_file_name(json["mesh"].as_str().unwrap());
        Self {
            width: picture.width(),
            texels: picture.pixels().map(|p| Vec4::from_array(p.0)).collect(),
            mesh: sinew_io::gltf::read(&mesh).unwrap(),
            json,
        }
    }

    fn whole(&self, key: &str) -> u32 {
        number(&self.json, key) as u32
    }

    /// As the JSON file says where a texel is.
    fn fetch(&self, frame: u32, joint: u32, texel: u32) -> Vec4 {
        let column = frame / self.whole("framesPerColumn");
        let x = column * self.whole("columnWidth")
            + joint % self.whole("jointsPerRow") * self.whole("texelsPerJoint")
            + texel;
        let in_column = frame - column * self.whole("framesPerColumn");
        let y = in_column * self.whole("rowsPerFrame") + joint / self.whole("jointsPerRow");
        self.texels[(y * self.width + x) as usize]
    }

    /// The vertex shader.
    fn shade(&self, frame: u32, influences: &[(u32, f32)], vertex: Vec3) -> Vec3 {
        if self.json["texture"]["values"] == "matrix" {
            let p = vertex.extend(1.0);
            let row = |j: u32, k: u32| self.fetch(frame, j, k).dot(p);
            let moved = |&(j, w): &(u32, f32)| w * Vec3::new(row(j, 0), row(j, 1), row(j, 2));
            return influences.iter().map(moved).sum();
        }
        let heaviest = influences
            .iter()
            .fold((0, -1.0f32), |a, b| if b.1 > a.1 { *b } else { a });
        let pivot = self.fetch(frame, heaviest.0, 0);
        let (mut real, mut dual) = (Vec4::ZERO, Vec4::ZERO);
        for &(j, w) in influences {
            let sign = if self.fetch(frame, j, 0).dot(pivot) < 0.0 {
                -w
            } else {
                w
            };
            real += sign * self.fetch(frame, j, 0);
            dual += sign * self.fetch(frame, j, 1);
        }
        let (r, d) = (real / real.length(), dual / real.length());
        let shift =
            2.0 * (r.w * d.truncate() - d.w * r.truncate() + r.truncate().cross(d.truncate()));
        Quat::from_vec4(r) * vertex + shift
    }
}

fn number(json: &Value, key: &str) -> f64 {
    json[key].as_f64().unwrap_or_else(|| panic!("{key}"))
}

/// Compares every vertex of every frame of a clip with the points of the ordinary bake. Returns the largest distance in
/// metres of meshes whose stated error is at most `most`, and the number of their vertices.
///
/// A vertex stands for the points that go its way. Every triangle has to lie in a face of such points, and every point of
/// the faces needs a vertex, so meshes with swapped or missing vertices fail.
fn check(bones: &Bones, input: &Path, clip: &Value, options: &[&str], most: f64) -> (f64, usize) {
    let bench = Bench::new();
    let out = bench.path("same.usdc");
    let first = number(clip, "firstTimeCode");
    let step = number(clip, "timeCodesPerFrame");
    let frames = number(clip, "frames") as u32;
    let range = format!("{first}:{}:{step}", first + step * f64::from(frames - 1));
    let mut all = vec!["--space", "world", "--frames", &range];
    all.extend(options);
    let output = command(input, &out, &all);
    assert!(output.status.code() == Some(0), "{}", stderr(&output));
    let baked = usd::open(&out);
    let scene = crate::formats::truth::scene(input);
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
                let time = first + step * f64::from(f);
                let points = usd::vectors(&baked, prim, "points", Some(time)).unwrap();
                let place = |p: &DVec3| crate::formats::textures::in_metres(&scene, *p);
                points.iter().map(place).collect()
            })
            .collect();
        let faces = Faces::of(&baked, prim);
        let mut seen = HashSet::new();
        for primitive in &bones.mesh.meshes[mesh].primitives {
            let mut stands_for: Vec<Vec<usize>> = Vec::new();
            for (v, place) in primitive.points.iter().enumerate() {
                let row = v * primitive.influences..(v + 1) * primitive.influences;
                let joints = primitive.joints[row.clone()].iter().copied();
                let influences: Vec<(u32, f32)> =
                    joints.zip(primitive.weights[row].iter().copied()).collect();
                let first_frame = number(clip, "firstFrame") as u32;
                let way: Vec<Vec3> = (0..frames)
                    .map(|f| bones.shade(first_frame + f, &influences, *place))
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
        let whole = |name: &str| -> Vec<usize> {
            let Some(sinew_layer::Value::IntArray(numbers)) = usd::value(stage, prim, name, None)
            else {
                panic!("{prim}: no {name}");
            };
            numbers.iter().map(|n| *n as usize).collect()
        };
        let indices = whole("faceVertexIndices");
        let mut of_point: HashMap<usize, HashSet<usize>> = HashMap::new();
        let mut first = 0;
        for (face, count) in whole("faceVertexCounts").into_iter().enumerate() {
            for point in &indices[first..first + count] {
                of_point.entry(*point).or_default().insert(face);
            }
            first += count;
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

fn bake(input: &Path, out: &Path, options: &[&str]) -> Bones {
    let output = command(input, out, options);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    Bones::read(out)
}

/// The example character: Z up or not, several meshes, rigid prims, blend shapes that are stated as errors.
pub fn a_shader_finds_the_points_of_the_ordinary_bake() {
    let bench = Bench::new();
    let input = project("examples/assets/hatchling.usda");
    let out = bench.path("h.bones.exr");
    for (options, most) in [
        (&["--frames", "1:24"][..], tolerance::BONE_TEXTURE_METRES),
        // Rows go on below.
        (
            &["--frames", "1:4", "--bone-width", "16"],
            tolerance::BONE_TEXTURE_METRES,
        ),
        (
            &["--frames", "1:4", "--bone-bits", "16"],
            tolerance::BONE_TEXTURE_HALF_METRES,
        ),
    ] {
        let bones = bake(&input, &out, options);
        let clip = &bones.json["clips"][0];
        let (worst, vertices) = check(&bones, &input, clip, &[], most);
        assert!(worst <= most, "{options:?}: {worst} m");
        assert!(vertices > 1000, "{options:?}: {vertices} vertices");
    }
}

/// A stage with two clips, five influences a point, a character that walks, other units and another up axis.
const TWO_CLIPS: &str = r#"#usda 1.0
(
    upAxis = "Z"
    metersPerUnit = 0.5
    startTimeCode = 1
    endTimeCode = 5
)
def SkelRoot "Hero" (prepend apiSchemas = ["SkelBindingAPI"])
{
    double3 xformOp:translate.timeSamples = { 1: (1, 2, 0), 5: (3, 2, 1) }
    float xformOp:rotateZ = 30
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]
    rel skel:skeleton = </Hero/Rig>
    def Skeleton "Rig" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        uniform token[] joints = ["A", "A/B"]
        uniform matrix4d[] bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((0,1,0,0),(-1,0,0,0),(0,0,1,0),(2,0,0,1))]
        uniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((0,1,0,0),(-1,0,0,0),(0,0,1,0),(2,0,0,1))]
        rel skel:animationSource = </Hero/Walk>
    }
    def SkelAnimation "Walk"
    {
        uniform token[] joints = ["A", "A/B"]
        quatf[] rotations.timeSamples = { 1: [(1,0,0,0), (1,0,0,0)], 5: [(0.8,0.6,0,0), (0.6,0,0.8,0)] }
        float3[] translations = [(0,0,0), (2,0,0)]
        half3[] scales = [(1,1,1), (1,1,1)]
    }
    def SkelAnimation "Wave"
    {
        uniform token[] joints = ["A", "A/B"]
        quatf[] rotations.timeSamples = { 11: [(1,0,0,0), (0.6,0,0,0.8)], 13: [(1,0,0,0), (0,1,0,0)] }
        float3[] translations = [(0,0,1), (2,0,0)]
        half3[] scales = [(1,1,1), (1,1,1)]
    }
    def Mesh "Body" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0,0,0), (1,0,0), (1,1,0), (0,1,0)]
        matrix4d primvars:skel:geomBindTransform = ((2,0,0,0),(0,2,0,0),(0,0,2,0),(0.5,0,0,1))
        int[] primvars:skel:jointIndices = [0,1,0,1,0, 0,1,0,1,0, 0,1,0,1,0, 0,1,0,1,0] (elementSize = 5; interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1,0,0,0,0, 0.5,0.2,0.1,0.1,0.1, 0,1,0,0,0, 0.2,0.2,0.2,0.2,0.2] (elementSize = 5; interpolation = "vertex")
    }
    def Mesh "Hat" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0,0,0), (1,0,0), (1,1,3)]
        int[] primvars:skel:jointIndices = [1] (elementSize = 1; interpolation = "constant")
        float[] primvars:skel:jointWeights = [1] (elementSize = 1; interpolation = "constant")
    }
}
def Mesh "Ground"
{
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0,0,0), (1,0,0), (1,1,0)]
}
"#;

pub fn clips_share_a_texture() {
    let bench = Bench::new();
    let input = bench.write("in.usda", TWO_CLIPS);
    let out = bench.path("two.bones.exr");
    let output = command(&input, &out, &[]);
    let text = stderr(&output);
    assert!(
        text.contains("/Ground") && text.contains("[left-out]"),
        "{text}"
    );
    for options in [&[][..], &["--clip", "Walk", "--clip", "Wave"]] {
        let bones = bake(&input, &out, options);
        let clips = bones.json["clips"].as_array().unwrap();
        let named: Vec<_> = clips
            .iter()
            .map(|c| {
                (
                    c["name"].as_str().unwrap(),
                    number(c, "firstFrame"),
                    number(c, "frames"),
                )
            })
            .collect();
        assert_eq!(named, [("Walk", 0.0, 5.0), ("Wave", 5.0, 3.0)]);
        for clip in clips {
            let name = clip["name"].as_str().unwrap();
            let options = ["--clip", name, "--rigid", "points"];
            let most = tolerance::BONE_TEXTURE_METRES;
            let (worst, vertices) = check(&bones, &input, clip, &options, most);
            assert!(worst <= most, "{name}: {worst} m");
            assert_eq!(vertices, 7, "no mesh has a large stated error");
        }
    }
    // Dual quaternions turn what one joint moves as matrices do.
    let bones = bake(
        &input,
        &out,
        &["--bone-values", "dual-quaternion", "--prim", "/Hero/Hat"],
    );
    let options = ["--clip", "Wave", "--rigid", "points", "--prim", "/Hero/Hat"];
    let most = tolerance::BONE_TEXTURE_METRES;
    let (worst, vertices) = check(&bones, &input, &bones.json["clips"][1], &options, most);
    assert!(worst <= most && vertices == 3, "{worst} m, {vertices}");
}

pub fn many_frames_go_on_to_the_right() {
    let bench = Bench::new();
    let input = bench.write("in.usda", TWO_CLIPS);
    let options = ["--clip", "Walk", "--frames", "1:5:0.0002"];
    let bones = bake(&input, &bench.path("w.bones.exr"), &options);
    assert_eq!(number(&bones.json, "frames"), 20_001.0);
    assert_eq!(bones.whole("columnWidth") * 2, bones.width);
    // The last frame is in the second column.
    let last = bones.fetch(20_000, 1, 0);
    let few = bake(
        &input,
        &bench.path("w.bones.exr"),
        &["--clip", "Walk", "--frames", "1:5:4"],
    );
    assert_eq!(last, few.fetch(1, 1, 0));
    assert_ne!(last, few.fetch(0, 1, 0));
}

/// What the texture lacks is told, and the exit code says so.
pub fn what_is_left_out_is_told() {
    let bench = Bench::new();
    let out = bench.path("l.bones.exr");
    let hat = "point3f[] points = [(0,0,0), (1,0,0), (1,1,3)]";
    let three = "int[] faceVertexIndices = [0, 1, 2]\n        point3f[] points = [(0,0,0), (1,0,0), (1,1,3)]";
    let broken = TWO_CLIPS.replace(three, &three.replace("[0, 1, 2]", "[0, 1, 9]"));
    let holes = TWO_CLIPS.replace(hat, &format!("int[] holeIndices = [0]\n        {hat}"));
    let wave =
        "float3[] translations = [(0,0,1), (2,0,0)]\n        half3[] scales = [(1,1,1), (1,1,1)]";
    let second = TWO_CLIPS.replace(wave, &wave.replace("[(1,1,1), (1,1,1)]", "[(1,1,1)]"));
    for (name, text, code, parts, words) in [
        (
            "a broken mesh",
            broken,
            3,
            1,
            &["/Hero/Hat", "mesh-topology"][..],
        ),
        (
            "no triangles",
            holes,
            0,
            1,
            &["/Hero/Hat", "left-out", "no triangles"],
        ),
        (
            "a broken second clip",
            second,
            3,
            2,
            &["clip Wave", "animation-component", "/Hero/Body"],
        ),
    ] {
        assert_ne!(text, TWO_CLIPS, "{name}");
        let output = command(&bench.write("in.usda", text), &out, &[]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{name}: {told}");
        for word in words {
            assert!(told.contains(word), "{name}: '{told}' should say '{word}'");
        }
        let bones = Bones::read(&out);
        assert_eq!(
            bones.json["parts"].as_array().unwrap().len(),
            parts,
            "{name}"
        );
    }
}

/// A mesh that one of the clips shows is in the texture, and told to be drawn at all frames.
pub fn meshes_that_any_clip_shows_are_there() {
    let bench = Bench::new();
    let out = bench.path("v.bones.exr");
    let hat = "point3f[] points = [(0,0,0), (1,0,0), (1,1,3)]";
    for (visibility, parts, words) in [
        (
            ".timeSamples = { 1: \"invisible\", 8: \"inherited\" }",
            2,
            ["bones-visibility", "invisible at 5 of 8 frames"],
        ),
        (
            ".timeSamples = { 1: \"inherited\", 12: \"invisible\" }",
            2,
            ["bones-visibility", "invisible at 2 of 8 frames"],
        ),
        (
            ".timeSamples = { 0: \"inherited\", 1: \"invisible\", 20: \"inherited\" }",
            1,
            ["left-out", "invisible at every frame"],
        ),
        (
            " = \"invisible\"",
            1,
            ["left-out", "invisible at every frame"],
        ),
    ] {
        let text = TWO_CLIPS.replace(hat, &format!("token visibility{visibility}\n        {hat}"));
        let output = command(&bench.write("in.usda", text), &out, &[]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{visibility}: {told}");
        for word in words {
            assert!(
                told.contains(word),
                "{visibility}: '{told}' should say '{word}'"
            );
        }
        let bones = Bones::read(&out);
        assert_eq!(
            bones.json["parts"].as_array().unwrap().len(),
            parts,
            "{visibility}"
        );
    }
}

pub fn requests_that_make_no_sense_are_refused() {
    let bench = Bench::new();
    let input = bench.write("in.usda", TWO_CLIPS);
    for (name, more, words) in [
        (
            "a.bones.exr",
            &["--bone-bits", "8"][..],
            &["32 or 16", "found 8"][..],
        ),
        (
            "a.bones.exr",
            &["--bone-width", "2"],
            &["from 3 to 16384", "found 2"],
        ),
        ("a.bones.exr", &["--vat-bits", "16"], &["--vat-bits"]),
        ("a.bones.exr", &["--space", "prim"], &["world space"]),
        (
            "a.bones.exr",
            &["--frames", "1:2"],
            &["2 clips", "one clip"],
        ),
        ("a.bones.exr", &["--layer"], &["layer"]),
        (
            "a.bones.exr",
            &["--clip", "Walk", "--clip", "No"],
            &["No", "Walk"],
        ),
        ("a.bones.png", &[], &[".bones.exr"]),
        (
            "a.exr",
            &["--bone-bits", "16"],
            &["--bone-bits", ".bones.exr"],
        ),
        (
            "a.usdc",
            &["--clip", "Walk", "--clip", "Wave"],
            &["several --clip", ".bones.exr"],
        ),
        (
            "a.bones.exr",
            &["--clip", "Walk", "--frames", "0:20000", "--bone-width", "6"],
            &["fit", "bake fewer"],
        ),
    ] {
        let output = command(&input, &bench.path(name), more);
        let text = stderr(&output);
        assert!(
            matches!(output.status.code(), Some(1 | 2)),
            "{name} {more:?}: {text}"
        );
        for word in words {
            assert!(
                text.contains(word),
                "{name} {more:?}: '{text}' should say '{word}'"
            );
        }
    }
    let left = std::fs::read_dir(bench.folder.path()).unwrap().count();
    assert_eq!(left, 1, "only the input is there");
}

/// Real files with several clips: sizes, and every vertex of the last clip.
pub fn real_files_come_out_as_in_usd() {
    let assets = std::env::var("SINEW_ASSETS").expect("ignored without");
    let bench = Bench::new();
    for (file, clips) in [
        ("gltf/Fox.glb", 3),
        ("gltf/CesiumMan.glb", 1),
        ("maya-usd/skelCube.usda", 1),
    ] {
        let input = Path::new(&assets).join(file);
        let bones = bake(&input, &bench.path("r.bones.exr"), &[]);
        let all = bones.json["clips"].as_array().unwrap();
        assert_eq!(all.len(), clips, "{file}");
        let clip = &all[clips - 1];
        let name = clip["name"].as_str().unwrap();
        let size = bones.mesh.meshes.iter().flat_map(|m| &m.primitives);
        let size = size
            .flat_map(|p| &p.points)
            .map(|p| p.length())
            .fold(1.0, f32::max);
        let most = tolerance::BONE_TEXTURE_METRES * f64::from(size);
        // A clip without a name in the file cannot be chosen.
        let options = if clips > 1 {
            &["--clip", name][..]
        } else {
            &[]
        };
        let (worst, vertices) = check(&bones, &input, clip, options, most);
        assert!(
            worst <= most && vertices > 7,
            "{file}: {worst} m, {vertices} vertices"
        );
    }
}
