//! The values that kernels read from an encoded skin equal those of the CPU mirror, to the bit.

use std::sync::Arc;

use glam::Vec3;

use super::decode::check_decoded;
use super::*;
use crate::kernel::testing::{Rng, shape};
use crate::mesh::RenderVertices;
use crate::skel::{InfluenceInterpolation, JointInfluences, MeshTopology, RestNormals, Skin};

/// The kind of skin that is encoded.
#[derive(Clone, Copy, Debug)]
struct Kind {
    points: usize,
    joints: usize,
    /// Number of influences per point; 0 for none.
    influences: usize,
    is_constant: bool,
    normals: Normals,
    shapes: usize,
    /// Whether results are render vertices, with tangents.
    vertices: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Normals {
    None,
    Points,
    Corners,
    Smooth,
}

const PLAIN: Kind = Kind {
    points: 200,
    joints: 40,
    influences: 4,
    is_constant: false,
    normals: Normals::Points,
    shapes: 0,
    vertices: false,
};

/// Triangles of neighbouring points.
fn corners(points: usize) -> Vec<i32> {
    let triangle = |i: usize| [i, i + 1, i * 7 % points].map(|p| p as i32);
    (0..points.saturating_sub(1)).flat_map(triangle).collect()
}

fn skin(rng: &mut Rng, kind: &Kind) -> PackedSkin {
    let points: Vec<Vec3> = (0..kind.points).map(|_| rng.vector() * 3.0).collect();
    let vectors = |rng: &mut Rng, count: usize| -> Vec<Vec3> {
        let unit = |_| rng.vector().normalize_or(Vec3::Z);
        (0..count).map(unit).collect()
    };
    let faces = corners(kind.points);
    let normals = match kind.normals {
        Normals::None | Normals::Smooth => None,
        Normals::Points => Some(RestNormals::per_point(Arc::new(vectors(rng, kind.points)))),
        Normals::Corners => {
            let values = Arc::new(vectors(rng, faces.len()));
            Some(RestNormals::face_varying("/P", values, &faces, kind.points).expect("valid"))
        }
    };
    let influences = (kind.influences > 0).then(|| {
        let (interpolation, rows) = match kind.is_constant {
            true => (InfluenceInterpolation::Constant, 1),
            false => (InfluenceInterpolation::Vertex, kind.points),
        };
        let count = kind.influences;
        let joints: Vec<i32> = (0..rows * count)
            .map(|_| rng.below(kind.joints) as i32)
            .collect();
        let mut weights: Vec<f32> = (0..rows * count).map(|_| rng.unit()).collect();
        for row in weights.chunks_mut(count) {
            let sum: f32 = row.iter().sum();
            row.iter_mut().for_each(|w| *w /= sum);
        }
        let (points, joint_count) = (kind.points, kind.joints);
        JointInfluences::new(
            "/P",
            interpolation,
            count,
            &joints,
            weights,
            points,
            joint_count,
        )
        .expect("valid")
    });
    let shapes = (0..kind.shapes).map(|i| {
        let count = rng.below(kind.points) + 2;
        (i % 5 != 4).then(|| shape(rng, kind.points, i, count, 1, true))
    });
    let shapes = shapes.collect();
    let skin = Skin::new(
        "/P",
        Arc::new(points),
        normals,
        influences,
        None,
        kind.joints,
        shapes,
    );
    let mut packed = PackedSkin::pack("/P", &skin.expect("valid")).expect("packs");
    if kind.normals == Normals::Smooth {
        let counts = vec![3; faces.len() / 3];
        let faces = MeshTopology::new("/P", &counts, &faces, false, kind.points).expect("valid");
        packed = packed.with_smooth_normals(&faces).expect("faces");
    }
    if kind.vertices {
        let count = kind.points * 3 / 2;
        let shown: Vec<u32> = (0..count).map(|_| rng.below(kind.points) as u32).collect();
        let tangents = (0..count).map(|_| rng.vector().extend(-1.0)).collect();
        let mut vertices = RenderVertices::new(shown).with_tangents(tangents);
        if let Some(of_normals) = packed.normal_points() {
            // A corner of each vertex's point.
            let corner = |point: &u32| of_normals.iter().position(|p| p == point);
            let picked: Option<Vec<usize>> = vertices.points().iter().map(corner).collect();
            let picked = picked.expect("every point has a corner");
            vertices = vertices.with_normals(picked.into_iter().map(|c| c as u32).collect());
        }
        packed = packed.with_vertices(vertices).expect("fit");
    }
    packed
}

/// Encodes and decodes a skin, compares the values, and returns the number of slices.
fn check(what: &str, skin: &PackedSkin, binding_bytes: u64) -> usize {
    check_decoded(what, skin, binding_bytes).expect(what)
}

#[test]
fn the_gpu_reads_what_the_mirror_computes_with() {
    use Normals::{Corners, Smooth};
    let rng = &mut Rng(7);
    let kinds: [fn(&mut Kind); 15] = [
        |_| {},
        |k| (k.joints, k.influences) = (255, 3),
        |k| (k.joints, k.influences) = (256, 3),
        |k| (k.influences, k.normals) = (9, Normals::None),
        |k| (k.is_constant, k.influences) = (true, 2),
        |k| (k.is_constant, k.influences, k.normals) = (true, 2, Corners),
        |k| (k.influences, k.shapes) = (0, 7),
        |k| (k.shapes, k.points) = (9, 1500),
        |k| (k.normals, k.shapes) = (Corners, 3),
        |k| (k.normals, k.shapes) = (Smooth, 2),
        |k| (k.vertices, k.shapes) = (true, 4),
        |k| (k.vertices, k.normals) = (true, Corners),
        |k| (k.vertices, k.normals, k.joints) = (true, Smooth, 300),
        |k| k.points = 1,
        |k| (k.points, k.influences, k.normals) = (0, 0, Normals::None),
    ];
    let mut sliced = 0;
    for change in kinds {
        let mut kind = PLAIN;
        change(&mut kind);
        let skin = skin(rng, &kind);
        let largest = encode(&skin, u64::MAX)
            .map(|slice| slice.expect("no limit").words.len() as u64 * 4)
            .max();
        let what = format!("{kind:?}");
        let whole = check(&what, &skin, u64::MAX);
        if let Some(largest) = largest.filter(|_| kind.points > 1) {
            sliced += usize::from(check(&what, &skin, largest / 2) > whole);
        }
    }
    assert!(sliced > 8, "{sliced} kinds in more slices than one");
}

#[test]
fn records_of_every_width_decode() {
    let rng = &mut Rng(11);
    for (influences, joints) in [(1, 255), (2, 40), (4, 255), (3, 300), (6, 40)] {
        let kind = Kind {
            points: 300,
            influences,
            joints,
            ..PLAIN
        };
        let (packed, what) = (skin(rng, &kind), format!("{kind:?}"));
        check(&what, &packed, u64::MAX);
        check(&what, &packed, 4096);
    }
}

#[test]
fn a_result_beyond_any_binding_is_named() {
    let rng = &mut Rng(13);
    let skin = skin(rng, &PLAIN);
    let mut slices = encode(&skin, 40);
    let Some(Err(error)) = slices.next() else {
        panic!("a point of 44 bytes fits 40");
    };
    assert!(slices.next().is_none(), "nothing after an error");
    let want = TooLarge {
        what: "/P: bytes of point 0".into(),
        asked: 44,
        limit: 40,
    };
    assert_eq!(error, want);
}

#[test]
fn shape_tables_hold_ranges_and_weights() {
    let rng = &mut Rng(17);
    let packed = skin(rng, &Kind { shapes: 6, ..PLAIN });
    let blend = packed.blend().expect("has shapes");
    let shapes = encode_shapes(&packed, u64::MAX)
        .expect("fit")
        .expect("has shapes");
    let (ranges, positions) = shapes.words.split_at(shapes.positions() as usize);
    assert_eq!(ranges, blend.sub_shape_ranges().as_flattened());
    let weights: Vec<f32> = positions.iter().map(|w| f32::from_bits(*w)).collect();
    assert_eq!(weights, blend.positions());
    assert_eq!(shapes.channel_count as usize, packed.channel_count());
    assert_eq!(shapes.sub_shape_count as usize, weights.len());
    let bytes = shapes.words.len() as u64 * 4;
    assert!(encode_shapes(&packed, bytes).is_ok());
    assert_eq!(encode_shapes(&packed, bytes - 4).unwrap_err().asked, bytes);
    let none = skin(rng, &PLAIN);
    assert!(encode_shapes(&none, 0).expect("nothing to fit").is_none());
}
