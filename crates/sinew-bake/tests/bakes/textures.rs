//! Vertex animation textures, decoded as a game engine does.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use glam::{DVec3, Vec3, Vec4};
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew_bake::{BakeOptions, OutSpace};

use crate::bench::*;
use crate::truth::{WorldBake, deformed, scene};
use crate::vat::Vat;
use common::compare::compare_within;
use common::tolerance;

/// From a stage's world to the space of the textures, in f64 and then rounded once.
pub fn in_metres(scene: &Scene, p: DVec3) -> Vec3 {
    let turned = match scene.up_axis {
        'Z' => DVec3::new(p.x, p.z, -p.y),
        _ => p,
    };
    (turned * scene.meters_per_unit).as_vec3()
}

fn bits(v: Vec3) -> [u32; 3] {
    // Both zeros are one.
    (v + Vec3::ZERO).to_array().map(f32::to_bits)
}

/// Decodes every vertex of every frame as an engine does, and finds the point whose way it is. `off` is how far results may
/// be away.
pub fn check_vat(
    input: &Path,
    output: &Path,
    options: &BakeOptions,
    off: impl Fn(&Vat, Vec3) -> Vec3,
) -> Vat {
    let report = run_with(input, output, options);
    let metadata = output.with_extension("json");
    assert!(report.files.contains(&metadata));
    let vat = Vat::read(&metadata);
    assert_eq!(vat.frames(), report.frames);
    assert!(!vat.primitives().is_empty());
    let scene = scene(input);
    let range = options.frames.expect("frames");
    let rate = vat.number("framesPerSecond") * range.step;
    let off_rate = (rate - scene.time_line.time_codes_per_second).abs();
    assert!(off_rate < tolerance::SAME_IN_F64);
    let world = WorldBake::new(input, options);
    let parts = vat.json["parts"].as_array().unwrap().iter();
    let prims: Vec<&str> = parts.map(|p| p["prim"].as_str().unwrap()).collect();
    let way = |time: &f64| -> Vec<Vec3> {
        let points = prims.iter().flat_map(|prim| world.points(prim, *time));
        points.map(|p| in_metres(&scene, p)).collect()
    };
    let ways: Vec<Vec<Vec3>> = range.times().iter().map(way).collect();
    let mut at_first: HashMap<[u32; 3], Vec<usize>> = HashMap::new();
    for (point, place) in ways[0].iter().enumerate() {
        at_first.entry(bits(*place)).or_default().push(point);
    }
    let normal_bits = vat.position.bits.min(20) as i32;
    let normal_off = vat.normal.step() * 0.5 + Vec3::splat(2f32.powi(-normal_bits));
    let mut vertices = 0;
    for primitive in vat.primitives() {
        for (vertex, first) in primitive.points.iter().enumerate() {
            let candidates = at_first.get(&bits(*first));
            let candidates = candidates.expect("the mesh is the first frame");
            let is_way_of = |point: &usize| {
                (0..vat.frames()).all(|f| {
                    let (got, want) = (vat.shade(f, primitive, vertex).0, ways[f][*point]);
                    (got - want).abs().cmple(off(&vat, want)).all()
                })
            };
            let (got, want) = (vat.shade(1, primitive, vertex), ways[1][candidates[0]]);
            let found = candidates.iter().any(is_way_of);
            assert!(found, "vertex {vertex}: {got:?} of {want:?}");
            let normal = vat.shade(0, primitive, vertex).1;
            let difference = (normal - primitive.normals[vertex]).abs();
            assert!(difference.cmple(normal_off).all(), "{normal}");
            vertices += 1;
        }
    }
    // Primitives of one part share their vertices.
    assert!(f64::from(vertices) >= vat.number("vertices"), "{vertices}");
    // Points of no face are in no texture.
    let low = ways.iter().flatten().copied().reduce(Vec3::min).unwrap();
    let high = ways.iter().flatten().copied().reduce(Vec3::max).unwrap();
    let [from, to] = vat.bounds();
    assert!(from.cmpge(low).all() && to.cmple(high).all());
    vat
}

fn inputs(bench: &Bench) -> Vec<std::path::PathBuf> {
    let own = own_stages(bench).into_iter();
    own.chain([hatchling()]).collect()
}

pub fn float_textures_hold_every_vertex_to_the_bit() {
    let bench = Bench::new();
    for input in &inputs(&bench) {
        for width in [8192, 50] {
            let with = |values: &str| {
                options(&format!(
                    "frames 1:5:2 vat-values {values} vat-width {width}"
                ))
            };
            let out = bench.path("p.exr");
            let vat = check_vat(input, &out, &with("position"), |_, _| Vec3::ZERO);
            let rows = (vat.number("vertices") / f64::from(width)).ceil();
            assert_eq!(vat.number("rowsPerFrame"), rows);
            assert_eq!(vat.number("height"), rows * 3.0);
            // An offset, and its sum with the mesh, are rounded to f32 each.
            let sum = |vat: &Vat, _| Vec3::splat(vat.largest() * tolerance::VAT_SUM_IN_F32);
            check_vat(input, &bench.path("o.exr"), &with("offset"), sum);
        }
    }
}

pub fn integer_textures_are_within_half_a_step() {
    let bench = Bench::new();
    for input in &inputs(&bench) {
        for (more, bits) in [("", 16), ("vat-bits 8", 8)] {
            for values in ["offset", "position"] {
                let words = format!("frames 1:5 vat-values {values} vat-width 100 {more}");
                let out = bench.path("i.png");
                let vat = check_vat(input, &out, &options(&words), |vat, _| {
                    let sum = vat.largest() * tolerance::VAT_SUM_IN_F32;
                    vat.position.step() * tolerance::VAT_HALF_A_STEP + sum
                });
                assert_eq!(vat.position.bits, bits);
            }
        }
    }
}

pub fn half_floats_keep_eleven_bits() {
    let bench = Bench::new();
    let options = options("frames 1:5 vat-values position vat-bits 16");
    let off = |_: &Vat, want: Vec3| {
        want.abs() * tolerance::VAT_HALF_FLOAT + tolerance::VAT_SMALLEST_HALF_FLOAT
    };
    let vat = check_vat(&hatchling(), &bench.path("h.exr"), &options, off);
    assert_eq!(vat.json["position"]["encoding"], "float16");
}

/// Normals of textures against the reference, turned into the textures' space.
pub fn normal_textures_follow_the_surface() {
    let bench = Bench::new();
    let left = "/Hero/Left";
    let key = |p: Vec3| p.to_array().map(|c| (c * 1e5).round() as i64);
    for input in own_stages(&bench) {
        let words = format!("frames 1:5 vat-values position prim {left}");
        run(&input, &bench.path("n.exr"), &words);
        let vat = Vat::read(&bench.path("n.json"));
        let scene = scene(&input);
        let [primitive] = vat.primitives() else {
            panic!("one primitive");
        };
        assert_eq!(primitive.points.len(), 8);
        for frame in 0..5 {
            let time = Time::At(frame as f64 + 1.0);
            let want = deformed(&scene, left, time, OutSpace::World);
            let normals = want.normals.unwrap();
            let turned = normals.iter().map(|n| DVec3::new(n.x, n.z, -n.y));
            let places = want.points.iter().map(|p| key(in_metres(&scene, *p)));
            let normals: BTreeMap<_, _> = places.zip(turned).collect();
            for vertex in 0..8 {
                let (position, normal) = vat.shade(frame, primitive, vertex);
                let want = normals.get(&key(position));
                let want = *want.unwrap_or_else(|| panic!("{position} is no point"));
                let most = tolerance::FRAME_NORMALS;
                compare_within("normal", &[normal.as_dvec3()], &[want], most).unwrap();
            }
        }
    }
}

pub fn the_mesh_of_textures_has_uvs_materials_and_parts() {
    let bench = Bench::new();
    let input = bench.write("in.usda", &*BOXES);
    let report = run(&input, &bench.path("v.exr"), "frames 1:5");
    let names = ["v.exr", "v_normal.exr", "v_mesh.glb", "v.json"].map(|n| bench.path(n));
    assert_eq!(report.files, names);
    let vat = Vat::read(&bench.path("v.json"));
    let primitives = vat.primitives();
    let materials: Vec<_> = primitives.iter().map(|p| vat.material(p)).collect();
    assert_eq!(materials, [Some("Red"), Some("Blue"), None, None, None]);
    let parts = vat.json["parts"].as_array().unwrap();
    let part = |i: usize| {
        let prim = parts[i]["prim"].as_str().unwrap();
        (prim, parts[i]["firstVertex"].as_u64().unwrap() as usize)
    };
    // The box's corners are split where uvs differ, and by that alone.
    let (_, left_at) = part(1);
    assert!((9..=24).contains(&left_at), "{left_at}");
    assert_eq!((part(0), part(1).0), (("/Hero/Box", 0), "/Hero/Left"));
    assert_eq!(vat.number("vertices") as usize, left_at + 24);
    // Each material has the vertices that it uses, and all have a texel.
    let texels = primitives[..2].iter().flat_map(|p| &p.uvs[1]);
    let texels: HashSet<_> = texels.map(|uv| uv.to_array().map(f32::to_bits)).collect();
    assert_eq!(texels.len(), left_at);
    let uvs = &primitives[0].uvs[0];
    assert!(uvs.len() >= 8, "{uvs:?}");
    // v downward in glTF: authored 0 and 0.75.
    assert!(uvs.iter().all(|uv| uv.y == 1.0 || uv.y == 0.25), "{uvs:?}");
    let colors: Vec<_> = primitives.iter().map(|p| &p.colors[..]).collect();
    let color = [Vec4::new(0.1, 0.2, 0.3, 1.0); 8];
    assert_eq!(colors, [&[][..], &[], &[], &color, &[]]);
    let triangles = |p: &sinew_animate::asset::Primitive| p.faces.indices.len() / 3;
    let all: usize = primitives.iter().map(triangles).sum();
    assert_eq!((all, triangles(&primitives[1])), (4 * 12, 2));
    for (key, want) in [("upAxis", "Y"), ("handedness", "right")] {
        assert_eq!(vat.json[key], want);
    }
    assert_eq!(vat.json["source"]["upAxis"], "Z");
    let first = vat.number("firstTimeCode");
    assert_eq!((first, vat.number("framesPerSecond")), (1.0, 24.0));
}
