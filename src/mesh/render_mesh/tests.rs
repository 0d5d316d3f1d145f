use super::*;

const CUBE_FACES: [i32; 24] = [
    0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7,
];

fn cube_points() -> Vec<Vec3> {
    let corner = |x, y, z| Vec3::new(x, y, z);
    let low = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    let at = |z: f32| low.map(|(x, y)| corner(x, y, z));
    [at(0.0), at(1.0)].concat()
}

fn cube(left_handed: bool) -> MeshTopology {
    let mut indices = CUBE_FACES;
    if left_handed {
        indices.chunks_mut(4).for_each(<[i32]>::reverse);
    }
    MeshTopology::new("/Cube", &[4; 6], &indices, left_handed, 8).unwrap()
}

fn face_normal(points: &[Vec3], [a, b, c]: [u32; 3], mesh: &RenderMesh) -> Vec3 {
    let at = |v: u32| points[mesh.points[v as usize] as usize];
    (at(b) - at(a)).cross(at(c) - at(a))
}

#[test]
fn a_cube_is_closed_and_faces_outward_either_way_round() {
    let points = cube_points();
    let inputs = RenderInputs {
        points: &points,
        ..Default::default()
    };
    for left_handed in [false, true] {
        let topology = cube(left_handed);
        let mesh = RenderMesh::new("/Cube", &topology, &inputs).unwrap();
        assert_eq!((mesh.points.len(), mesh.triangles.len()), (8, 12));
        assert_eq!(mesh.edges.len(), 12, "8 - 12 + 6 = 2");
        assert_eq!(mesh.face_of_triangle[..4], [0, 0, 1, 1]);
        let volume: f32 = mesh
            .triangles
            .iter()
            .map(|t| {
                let a = points[mesh.points[t[0] as usize] as usize];
                face_normal(&points, *t, &mesh).dot(a) / 6.0
            })
            .sum();
        assert!((volume - 1.0).abs() < 1e-6, "{volume}: outward is positive");
        // Closed: each directed side has its opposite.
        let sides: HashSet<[u32; 2]> = mesh
            .triangles
            .iter()
            .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
            .collect();
        assert_eq!(sides.len(), 36);
        assert!(sides.iter().all(|[a, b]| sides.contains(&[*b, *a])));
        // In order of first use.
        let mut seen = 0;
        for vertex in mesh.triangles.iter().flatten() {
            assert!(*vertex <= seen);
            seen = seen.max(vertex + 1);
        }
    }
}

#[test]
fn hard_normals_split_points_and_say_which_the_skin_has() {
    let points = cube_points();
    let topology = cube(false);
    let per_face: Vec<Vec3> = (0..6)
        .map(|f| {
            let c = topology.corners(f).start;
            let p = |i: usize| points[topology.corner_points()[c + i] as usize];
            (p(1) - p(0)).cross(p(2) - p(0)).normalize()
        })
        .collect();
    let per_corner: Vec<Vec3> = per_face.iter().flat_map(|n| [*n; 4]).collect();
    let with = |normals| RenderInputs {
        points: &points,
        normals: Some(normals),
        ..Default::default()
    };
    let slice = PrimvarSlice::new(PrimvarInterpolation::FaceVarying, &per_corner);
    let mesh = RenderMesh::new("/Cube", &topology, &with(slice)).unwrap();
    assert_eq!((mesh.points.len(), mesh.edges.len()), (24, 12));
    let normals = mesh.normals.as_ref().unwrap();
    for ((normal, corner), point) in normals
        .iter()
        .zip(mesh.skin_normals.as_ref().unwrap())
        .zip(&mesh.points)
    {
        assert_eq!(per_corner[*corner as usize], *normal);
        assert_eq!(topology.corner_points()[*corner as usize], *point);
    }
    for t in &mesh.triangles {
        let normal = face_normal(&points, *t, &mesh);
        assert!(normal.dot(normals[t[0] as usize]) > 0.0);
    }
    // The same as uniform and as indexed ones.
    let uniform = PrimvarSlice::new(PrimvarInterpolation::Uniform, &per_face);
    let same = RenderMesh::new("/Cube", &topology, &with(uniform)).unwrap();
    assert_eq!(same.skin_normals, None);
    assert_eq!(same.normals, mesh.normals);
    let indices: Vec<u32> = (0..24).map(|c| c / 4).collect();
    let indexed = PrimvarSlice {
        indices: Some(&indices),
        ..PrimvarSlice::new(PrimvarInterpolation::FaceVarying, &per_face)
    };
    assert_eq!(
        RenderMesh::new("/Cube", &topology, &with(indexed)).unwrap(),
        mesh
    );
    // Normals that agree at a point split nothing.
    let smooth: Vec<Vec3> = points.iter().map(|p| (*p - 0.5).normalize()).collect();
    let smooth = PrimvarSlice::new(PrimvarInterpolation::Vertex, &smooth);
    let mesh = RenderMesh::new("/Cube", &topology, &with(smooth)).unwrap();
    assert_eq!(mesh.points.len(), 8);
    assert_eq!(mesh.skin_normals.as_deref(), Some(&mesh.points[..]));
}

#[test]
fn holes_slivers_and_unused_points_are_left_out() {
    let mut points = cube_points();
    points.push(Vec3::splat(9.0));
    let counts = [4, 2, 4, 0, 1, 3];
    let indices = [0, 3, 2, 1, 5, 6, 4, 5, 6, 7, 2, 0, 1, 5];
    let topology = MeshTopology::new("/M", &counts, &indices, false, 9).unwrap();
    let topology = topology.with_holes(&[2]);
    let colors: Vec<Vec3> = (0..6).map(|f| Vec3::splat(f as f32)).collect();
    let inputs = RenderInputs {
        points: &points,
        colors: Some(PrimvarSlice::new(PrimvarInterpolation::Uniform, &colors)),
        ..Default::default()
    };
    let mesh = RenderMesh::new("/M", &topology, &inputs).unwrap();
    assert_eq!(mesh.face_of_triangle, [0, 0, 5]);
    assert_eq!(
        mesh.points,
        [0, 3, 2, 1, 0, 1, 5],
        "0 and 1 are of two colours"
    );
    assert_eq!(mesh.colors.unwrap()[4], Vec3::splat(5.0));
    assert_eq!(mesh.edges.len(), 6, "one side is common");
}

#[test]
fn what_does_not_fit_is_refused() {
    let points = cube_points();
    let topology = cube(false);
    let uvs = [Vec2::ZERO; 24];
    let bad_points = [&points[..7], &[Vec3::NAN; 8]];
    for points in bad_points {
        let inputs = RenderInputs {
            points,
            ..Default::default()
        };
        let error = RenderMesh::new("/M", &topology, &inputs).unwrap_err();
        assert_eq!(error.property, "points", "{error}");
    }
    use PrimvarInterpolation::{Constant, FaceVarying, Uniform, Vertex};
    for (interpolation, values, indices) in [
        (FaceVarying, 23, None),
        (Vertex, 24, None),
        (Uniform, 24, None),
        (Constant, 0, None),
        (Vertex, 2, Some([0, 1, 0, 1, 0, 1, 0, 2])),
    ] {
        let slice = PrimvarSlice {
            interpolation,
            values: &uvs[..values],
            indices: indices.as_ref().map(<[u32; 8]>::as_slice),
        };
        let inputs = RenderInputs {
            points: &points,
            uvs: Some(slice),
            ..Default::default()
        };
        let error = RenderMesh::new("/M", &topology, &inputs).unwrap_err();
        assert_eq!(error.code, Some("primvar-count"), "{error}");
    }
}

#[test]
fn nothing_makes_nothing() {
    let mesh = RenderMesh::new("/M", &MeshTopology::default(), &RenderInputs::default());
    assert_eq!(mesh.unwrap(), RenderMesh::default());
}
