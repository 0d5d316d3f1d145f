//! Vertex animation textures, decoded as a game engine does.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use glam::{DVec3, Vec3};
use sinew::sampled::Time;
use sinew_bake::{BakeOptions, OutSpace, VatOptions, VatValues};

use crate::formats::bench::*;
use crate::formats::stage;
use crate::formats::truth::{deformed, scene};
use crate::formats::vat::Vat;
use common::command::Bench;
use common::compare::compare_within;
use common::tolerance;

/// From a stage's world to the space of the textures, in f64 and then rounded once.
pub fn in_metres(scene: &sinew::scene::Scene, p: DVec3) -> Vec3 {
    let turned = match scene.up_axis {
        'Z' => DVec3::new(p.x, p.z, -p.y),
        _ => p,
    };
    (turned * scene.meters_per_unit).as_vec3()
}

pub fn bits(v: Vec3) -> [u32; 3] {
    // Both zeros are one.
    (v + Vec3::ZERO).to_array().map(f32::to_bits)
}

/// Decodes every vertex of every frame as an engine does, and finds the point whose way it is. `off` and `normal_off` are how
/// far results may be away.
pub fn check_vat(
    input: &Path,
    output: &Path,
    options: &BakeOptions,
    off: impl Fn(&Vat, Vec3) -> Vec3,
) -> Vat {
    let report = run(input, output, options);
    let metadata = output.with_extension("json");
    assert!(report.files.contains(&metadata));
    let vat = Vat::read(&metadata);
    assert_eq!(
        (vat.frames(), vat.mesh.primitives.is_empty()),
        (report.frames, false)
    );
    let scene = scene(input);
    let range = options.frames.expect("frames");
    let step = range.step;
    assert!(
        (vat.number("framesPerSecond") * step - scene.time_line.time_codes_per_second).abs()
            < tolerance::SAME_IN_F64
    );
    let world = WorldBake::new(input, options);
    let parts = vat.json["parts"].as_array().unwrap().iter();
    let prims: Vec<&str> = parts.map(|p| p["prim"].as_str().unwrap()).collect();
    let ways: Vec<Vec<Vec3>> = range
        .times()
        .iter()
        .map(|time| {
            let points = prims.iter().flat_map(|prim| world.points(prim, *time));
            points.map(|p| in_metres(&scene, p)).collect()
        })
        .collect();
    let mut at_first: HashMap<[u32; 3], Vec<usize>> = HashMap::new();
    for (point, place) in ways[0].iter().enumerate() {
        at_first.entry(bits(*place)).or_default().push(point);
    }
    let mut vertices = 0;
    for primitive in &vat.mesh.primitives {
        for vertex in 0..primitive.positions.len() {
            let first = primitive.positions[vertex];
            let candidates = at_first
                .get(&bits(first))
                .expect("the mesh is the first frame");
            let is_way_of = |point: &usize| {
                (0..vat.frames()).all(|f| {
                    let (got, want) = (vat.shade(f, primitive, vertex).0, ways[f][*point]);
                    (got - want).abs().cmple(off(&vat, want)).all()
                })
            };
            assert!(
                candidates.iter().any(is_way_of),
                "vertex {vertex}: {:?} of {:?}",
                vat.shade(1, primitive, vertex),
                ways[1][candidates[0]]
            );
            let normal = vat.shade(0, primitive, vertex).1;
            let allowed =
                vat.normal_step() * 0.5 + Vec3::splat(2f32.powi(-(vat.bits().min(20) as i32)));
            assert!(
                (normal - primitive.normals[vertex])
                    .abs()
                    .cmple(allowed)
                    .all(),
                "{normal}"
            );
            vertices += 1;
        }
    }
    // Primitives of one part share their vertices.
    assert!(vertices as f64 >= vat.number("vertices"), "{vertices}");
    // Points of no face are in no texture.
    let low = ways.iter().flatten().copied().reduce(Vec3::min).unwrap();
    let high = ways.iter().flatten().copied().reduce(Vec3::max).unwrap();
    assert!(bound(&vat, 0).cmpge(low).all() && bound(&vat, 1).cmple(high).all());
    vat
}

pub fn vat_options(values: VatValues, bits: Option<u8>, max_width: u32) -> VatOptions {
    let mut options = VatOptions::default();
    options.values = values;
    options.bits = bits;
    options.max_width = max_width;
    options
}

pub fn float_textures_hold_every_vertex_to_the_bit() {
    let bench = Bench::new();
    let mut inputs = own_stages(&bench);
    inputs.push(project("examples/assets/hatchling.usda"));
    for input in &inputs {
        for width in [8192, 50] {
            let mut positions = frames(1.0, 5.0, 2.0);
            positions.vat = vat_options(VatValues::Position, None, width);
            let vat = check_vat(input, &bench.path("p.exr"), &positions, |_, _| Vec3::ZERO);
            let rows = (vat.number("vertices") / f64::from(width)).ceil();
            assert_eq!(vat.number("rowsPerFrame"), rows);
            assert_eq!(vat.number("height"), rows * 3.0);
            // An offset, and its sum with the mesh, are rounded to f32 each.
            let mut offsets = positions;
            offsets.vat = vat_options(VatValues::Offset, None, width);
            check_vat(input, &bench.path("o.exr"), &offsets, |vat, _| {
                Vec3::splat(largest(vat) * tolerance::VAT_SUM_IN_F32)
            });
        }
    }
}

pub fn bound(vat: &Vat, corner: usize) -> Vec3 {
    let at = |i: usize| vat.json["bounds"][corner][i].as_f64().unwrap() as f32;
    Vec3::new(at(0), at(1), at(2))
}

/// The largest coordinate of a clip.
pub fn largest(vat: &Vat) -> f32 {
    let bounds = vat.json["bounds"].as_array().unwrap();
    let all = bounds.iter().flat_map(|b| b.as_array().unwrap());
    all.fold(0.0, |a, c| a.max(c.as_f64().unwrap().abs() as f32))
}

pub fn integer_textures_are_within_half_a_step() {
    let bench = Bench::new();
    let mut inputs = own_stages(&bench);
    inputs.push(project("examples/assets/hatchling.usda"));
    for input in &inputs {
        for (bits, values) in [
            (None, VatValues::Offset),
            (Some(8), VatValues::Offset),
            (None, VatValues::Position),
            (Some(8), VatValues::Position),
        ] {
            let mut options = frames(1.0, 5.0, 1.0);
            options.vat = vat_options(values, bits, 100);
            let vat = check_vat(input, &bench.path("i.png"), &options, |vat, _| {
                vat.step() * tolerance::VAT_HALF_A_STEP + largest(vat) * tolerance::VAT_SUM_IN_F32
            });
            assert_eq!(vat.bits(), u32::from(bits.unwrap_or(16)));
        }
    }
}

pub fn half_floats_keep_eleven_bits() {
    let bench = Bench::new();
    let input = project("examples/assets/hatchling.usda");
    let mut options = frames(1.0, 5.0, 1.0);
    options.vat = vat_options(VatValues::Position, Some(16), 8192);
    let vat = check_vat(&input, &bench.path("h.exr"), &options, |_, want| {
        want.abs() * tolerance::VAT_HALF_FLOAT + tolerance::VAT_SMALLEST_HALF_FLOAT
    });
    assert_eq!(vat.json["position"]["encoding"], "float16");
}

/// Normals of textures against the reference, turned into the textures' space.
pub fn normal_textures_follow_the_surface() {
    let bench = Bench::new();
    for input in own_stages(&bench) {
        let mut options = frames(1.0, 5.0, 1.0);
        options.vat = vat_options(VatValues::Position, None, 8192);
        options.prims = vec!["/Hero/Left".into()];
        run(&input, &bench.path("n.exr"), &options);
        let vat = Vat::read(&bench.path("n.json"));
        let scene = scene(&input);
        let turn = |v: DVec3| DVec3::new(v.x, v.z, -v.y);
        let [primitive] = &vat.mesh.primitives[..] else {
            panic!("one primitive");
        };
        assert_eq!(primitive.positions.len(), 8);
        for frame in 0..5 {
            let want = deformed(
                &scene,
                "/Hero/Left",
                Time::At(frame as f64 + 1.0),
                OutSpace::World,
            );
            let want: BTreeMap<_, _> = want
                .points
                .iter()
                .zip(want.normals.unwrap())
                .map(|(p, n)| {
                    (
                        in_metres(&scene, *p)
                            .to_array()
                            .map(|c| (c * 1e5).round() as i64),
                        turn(n),
                    )
                })
                .collect();
            for vertex in 0..8 {
                let (position, normal) = vat.shade(frame, primitive, vertex);
                let key = position.to_array().map(|c| (c * 1e5).round() as i64);
                let want = want
                    .get(&key)
                    .unwrap_or_else(|| panic!("{position} is no point"));
                compare_within(
                    "normal",
                    &[normal.as_dvec3()],
                    &[*want],
                    tolerance::FRAME_NORMALS,
                )
                .unwrap();
            }
        }
    }
}

pub fn the_mesh_of_textures_has_uvs_materials_and_parts() {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage::usda(""));
    let report = run(&input, &bench.path("v.exr"), &frames(1.0, 5.0, 1.0));
    let names = ["v.exr", "v_normal.exr", "v_mesh.glb", "v.json"].map(|n| bench.path(n));
    assert_eq!(report.files, names);
    let vat = Vat::read(&bench.path("v.json"));
    let materials: Vec<_> = vat
        .mesh
        .primitives
        .iter()
        .map(|p| p.material.as_deref())
        .collect();
    assert_eq!(materials, [Some("Red"), Some("Blue"), None, None, None]);
    let parts = vat.json["parts"].as_array().unwrap();
    let part = |i: usize| {
        (
            parts[i]["prim"].as_str().unwrap(),
            parts[i]["firstVertex"].as_u64().unwrap(),
        )
    };
    // The box's corners are split where uvs differ, and by that alone.
    let (_, left_at) = part(1);
    assert!((9..=24).contains(&left_at), "{left_at}");
    assert_eq!((part(0), part(1).0), (("/Hero/Box", 0), "/Hero/Left"));
    assert_eq!(vat.number("vertices") as u64, left_at + 24);
    let uvs = &vat.mesh.primitives[0].uvs;
    assert_eq!(uvs.len() as u64, left_at);
    // v downward in glTF: authored 0 and 0.75.
    assert!(uvs.iter().all(|uv| uv.y == 1.0 || uv.y == 0.25), "{uvs:?}");
    let colors: Vec<_> = vat
        .mesh
        .primitives
        .iter()
        .map(|p| p.colors.as_deref())
        .collect();
    let color = [Vec3::new(0.1, 0.2, 0.3); 8];
    assert_eq!(colors, [None, None, None, Some(&color[..]), None]);
    let triangles: usize = vat.mesh.primitives.iter().map(|p| p.triangles.len()).sum();
    assert_eq!(
        (triangles, vat.mesh.primitives[1].triangles.len()),
        (4 * 12, 2)
    );
    for (key, want) in [("upAxis", "Y"), ("handedness", "right")] {
        assert_eq!(vat.json[key], want);
    }
    assert_eq!(vat.json["source"]["upAxis"], "Z");
    assert_eq!(
        (vat.number("firstTimeCode"), vat.number("framesPerSecond")),
        (1.0, 24.0)
    );
}
