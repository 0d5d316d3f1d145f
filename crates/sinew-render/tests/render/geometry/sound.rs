//! Geometry that holds together, whatever the file.

use std::collections::BTreeMap;
use std::path::Path;

use glam::{DVec3, Vec3};
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::mesh::{RenderInputs, RenderMesh};
use sinew::sampled::Time;
use sinew::scene::{ColorSource, DrawnMesh, Geometry, Scene, SkinPart};
use sinew::skel::MeshTopology;
use sinew_io::usd::UsdFile;

use super::EVERY_FORMAT;
use super::made;
use crate::drawing::scene;
use common::files::{at_least, files_of};
use common::tolerance;

fn read(path: &Path) -> (Scene, Geometry) {
    let file = sinew_io::open(path).unwrap();
    let scene = file.scene(Default::default()).unwrap();
    let geometry = file.geometry(&scene).unwrap();
    (scene, geometry)
}

fn mesh<'a>(geometry: &'a Geometry, path: &str) -> &'a DrawnMesh {
    let found = geometry.meshes.iter().find(|m| m.path == path);
    found.unwrap_or_else(|| panic!("{path} is drawn"))
}

fn render_mesh(mesh: &DrawnMesh) -> RenderMesh {
    RenderMesh::new(&mesh.path, &mesh.topology, &mesh.render_inputs()).unwrap()
}

/// Every index means something, and triangles cover the faces.
pub fn holds_together(what: &str, scene: &Scene, geometry: &Geometry) {
    let materials = geometry.materials.len();
    for texture in geometry.materials.iter().flat_map(|m| m.textures()) {
        let picture = &geometry.textures[texture.texture];
        assert!(!picture.bytes.is_empty(), "{what}: {}", picture.asset);
    }
    for (index, mesh) in geometry.meshes.iter().enumerate() {
        let what = format!("{what}: {}", mesh.path);
        assert!(mesh.definition <= index, "{what}");
        let first = &geometry.meshes[mesh.definition];
        assert_eq!(first.topology, mesh.topology, "{what}");
        assert!(mesh.material.is_none_or(|m| m < materials), "{what}");
        if let Some(binding) = mesh.binding {
            assert_eq!(scene.bindings[binding].path, mesh.path, "{what}");
            let points = scene.bindings[binding].points.first();
            assert_eq!(points.map_or(0, |p| p.len()), mesh.point_count(), "{what}");
        }
        for subset in &mesh.subsets {
            assert!(subset.faces.is_sorted(), "{what}");
            let last = subset.faces.last();
            assert!(
                last.is_none_or(|f| (*f as usize) < mesh.topology.face_count()),
                "{what}"
            );
            assert!(subset.material.is_none_or(|m| m < materials), "{what}");
        }
        let render = render_mesh(mesh);
        let vertices = render.points.len() as u32;
        assert!(
            render.triangles.iter().flatten().all(|v| *v < vertices),
            "{what}"
        );
        let holes = mesh.topology.holes();
        let drawn =
            (0..mesh.topology.face_count()).filter(|f| holes.binary_search(&(*f as u32)).is_err());
        let corners: usize = drawn
            .map(|f| mesh.topology.corners(f).len().saturating_sub(2))
            .sum();
        assert_eq!(render.triangles.len(), corners, "{what}");
        if let Some(points) = mesh.points.first() {
            same_area(&what, &mesh.topology, points, &render);
        }
    }
}

/// Triangles' vector areas add up to those of the faces, whichever way they are cut; what is bent out of its plane too.
fn same_area(what: &str, topology: &MeshTopology, points: &[Vec3], mesh: &RenderMesh) {
    let side = if topology.is_left_handed() { -0.5 } else { 0.5 };
    let mut of_triangles = vec![DVec3::ZERO; topology.face_count()];
    for (triangle, face) in mesh.triangles.iter().zip(&mesh.face_of_triangle) {
        let [a, b, c] = triangle.map(|v| points[mesh.points[v as usize] as usize].as_dvec3());
        of_triangles[*face as usize] += (b - a).cross(c - a) * 0.5;
    }
    for (face, sum) in of_triangles.iter().enumerate() {
        let corners = &topology.corner_points()[topology.corners(face)];
        let at = |i: usize| points[corners[i % corners.len()] as usize].as_dvec3();
        let drawn = corners.len() > 2 && topology.holes().binary_search(&(face as u32)).is_err();
        let mut whole = DVec3::ZERO;
        for i in 0..if drawn { corners.len() } else { 0 } {
            whole += (at(i) - at(0)).cross(at(i + 1) - at(0)) * side;
        }
        let size = (0..corners.len())
            .map(|i| at(i).distance_squared(at(0)))
            .fold(0.0, f64::max);
        assert!(
            (*sum - whole).length() <= tolerance::SAME_IN_F64 * size,
            "{what}: face {face}: {sum} of {whole}"
        );
    }
}

/// Skinned render vertices are the skinned points and normals that they show.
fn vertices_follow_points(what: &str, scene: &Scene, mesh: &DrawnMesh) -> Option<()> {
    let bound = scene.resolve(&mesh.path).ok()?;
    let time = bound
        .binding()
        .points
        .times()
        .next()
        .map_or(Time::At(1.0), Time::At);
    let part = SkinPart {
        normals: mesh.skin_normals.unwrap_or(0),
        ..SkinPart::default()
    };
    let skin = PackedSkin::pack(what, &*bound.skin_part(time, part).ok()?).ok()?;
    let pose = PackedPose::pack(&skin, &bound.pose(time).ok()?).unwrap();
    let render = render_mesh(mesh);
    let shown = skin
        .clone()
        .with_vertices(skin.vertices_of(&render))
        .unwrap();
    let run = |skin: &PackedSkin| {
        let mut points = vec![Vec3::ZERO; skin.output_count()];
        let mut normals = vec![Vec3::ZERO; skin.output_normal_count()];
        let some = !normals.is_empty();
        skin_on_cpu(skin, &pose, &mut points, some.then_some(&mut normals)).unwrap();
        (points, normals)
    };
    let ((points, normals), (on_vertices, vertex_normals)) = (run(&skin), run(&shown));
    for (vertex, point) in render.points.iter().enumerate() {
        assert_eq!(
            on_vertices[vertex], points[*point as usize],
            "{what}: vertex {vertex}"
        );
        if !normals.is_empty() {
            let element = match skin.normal_points() {
                Some(_) => render.corners[vertex],
                None => *point,
            };
            assert_eq!(vertex_normals[vertex], normals[element as usize], "{what}");
        }
    }
    Some(())
}

/// Real files, with what skinning binds.
pub fn every_file(assets: &Path) {
    let (mut files, mut meshes, mut bound, mut skinned, mut textures) = (0, 0, 0, 0, 0);
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for path in files_of(assets, EVERY_FORMAT) {
        let what = path.display().to_string();
        let Ok(file) = sinew_io::open(&path) else {
            continue; // Broken on purpose; others test that.
        };
        let scene = file.scene(Default::default()).unwrap();
        let geometry = file.geometry(&scene).unwrap();
        holds_together(&what, &scene, &geometry);
        for binding in scene
            .bindings
            .iter()
            .filter(|b| b.type_name == "Mesh" && b.unsupported.is_none())
        {
            let drawn = geometry
                .meshes
                .iter()
                .any(|m| m.path == binding.path && m.binding.is_some());
            let broken = geometry.errors.iter().any(|e| e.prim == binding.path);
            let below_instancer = geometry
                .warnings
                .iter()
                .any(|w| w.code == "not-drawn" && binding.path.starts_with(&w.path));
            assert!(
                drawn || broken || below_instancer,
                "{what}: {} is drawn",
                binding.path
            );
        }
        for warning in &geometry.warnings {
            *codes.entry(warning.code).or_default() += 1;
        }
        for error in &geometry.errors {
            *codes.entry(error.code.unwrap()).or_default() += 1;
            assert!(error.file.is_some(), "{error}");
        }
        for mesh in geometry.meshes.iter().filter(|m| m.binding.is_some()) {
            skinned += usize::from(vertices_follow_points(&what, &scene, mesh).is_some());
        }
        files += 1;
        meshes += geometry.meshes.len();
        bound += geometry
            .meshes
            .iter()
            .filter(|m| m.binding.is_some())
            .count();
        textures += geometry.textures.len();
    }
    println!(
        "{files} files, {meshes} meshes, {bound} of them bound, {skinned} skinned, {textures} textures; {codes:?}"
    );
    let least = at_least(assets, [70, 150, 100, 90, 7], [70, 130, 80, 70, 7]);
    let found = [files, meshes, bound, skinned, textures];
    assert!(
        found
            .iter()
            .zip(least)
            .all(|(found, least)| *found >= least)
    );
}

/// The stage made for it.
pub fn made_stage() {
    let (scene, geometry) = read(&made());
    holds_together("made", &scene, &geometry);
    let mut paths: Vec<&str> = geometry.meshes.iter().map(|m| m.path.as_str()).collect();
    let shapes = paths.extract_if(.., |p| p.starts_with("/Rig/")).count();
    assert_eq!(shapes, 21);
    assert_eq!(
        paths,
        [
            "/World/Under",
            "/World/Own/Pieces",
            "/Hidden/Below",
            "/Rough/Drawn",
            "/TileA/Face",
            "/Moved/TileB/Face",
            "/Forest/Tree"
        ]
    );
    assert_eq!(geometry.errors.len(), 1);
    let broken = &geometry.errors[0];
    assert_eq!(
        (broken.prim.as_str(), broken.code),
        ("/Broken", Some("mesh-topology"))
    );
    let mut codes: Vec<_> = geometry
        .warnings
        .iter()
        .map(|w| (w.code, w.path.as_str()))
        .collect();
    codes.sort_unstable();
    assert_eq!(codes, [("material-unsupported", "/World/Looks/Circle")]);

    let material = |m: Option<usize>| &geometry.materials[m.unwrap()];
    let under = mesh(&geometry, "/World/Under");
    assert_eq!(
        material(under.material).path,
        "/World/Looks/Strong",
        "it is stronger than its descendants"
    );
    let strong = material(under.material);
    assert_eq!(strong.diffuse_color.value, Vec3::new(0.1, 0.2, 0.3));
    assert_eq!(
        (strong.roughness.value, strong.metallic.value),
        (0.25, 0.75)
    );
    assert_eq!(
        under
            .display_color
            .as_ref()
            .unwrap()
            .first()
            .unwrap()
            .values,
        [Vec3::new(0.25, 0.5, 0.75)],
        "from above"
    );
    let seen = [1.0, 4.9, 5.0, 9.0].map(|t| under.visible(Time::At(t)));
    assert_eq!(seen, [true, true, false, false]);
    let render = render_mesh(under);
    assert_eq!(render.triangles.len(), 2, "one face is a hole");
    assert_eq!(render.uvs.as_ref().unwrap().len(), render.points.len());

    let pieces = mesh(&geometry, "/World/Own/Pieces");
    assert_eq!(
        material(pieces.material).color_source,
        ColorSource::DisplayColor
    );
    assert_eq!(material(pieces.material).opacity.value, 0.5);
    assert_eq!(pieces.subsets.len(), 1);
    assert_eq!(
        (&*pieces.subsets[0].faces, pieces.subsets[0].material),
        (&vec![0, 2], None)
    );
    assert_eq!(
        render_mesh(pieces).points.len(),
        9,
        "each face has its colour"
    );
    assert!(!mesh(&geometry, "/Hidden/Below").visible(Time::Default));
    let tile = geometry.meshes.iter().position(|m| m.path == "/TileA/Face");
    let tile = tile.expect("it is drawn");
    assert_eq!(
        geometry.meshes[tile + 1].definition,
        tile,
        "instances share"
    );
}

/// The picture comes along from a package, a .glb file and beside a layer.
pub fn pictures() {
    let folder = tempfile::tempdir().unwrap();
    let examples = common::repository().join("examples/assets");
    let own = examples.join("puppet.glb");
    let (_, of_glb) = read(&own);
    let pictures = |g: &Geometry| -> Vec<Vec<u8>> {
        let mut all: Vec<_> = g.textures.iter().map(|t| t.bytes.to_vec()).collect();
        all.sort_unstable();
        all
    };
    let expected = pictures(&of_glb);
    // A triangle with the smallest PNG there is.
    let textured = sinew_io::read_asset(scene("textured.gltf"))
        .unwrap()
        .unwrap();
    let made = UsdFile::from_asset(&textured, &Default::default()).unwrap();
    let scene = made.scene(Default::default()).unwrap();
    let in_memory = made.geometry(&scene).unwrap();
    assert_eq!(pictures(&in_memory).len(), 1);
    for name in ["out.usda", "out.usdc", "out.usdz"] {
        let out = folder.path().join(name);
        made.save_as(&out).unwrap();
        let (_, geometry) = read(&out);
        assert_eq!(pictures(&geometry), pictures(&in_memory), "{name}");
        let material = &geometry.materials[geometry.meshes[0].material.unwrap()];
        assert!(material.diffuse_color.texture.is_some(), "{name}");
        assert!(geometry.warnings.is_empty(), "{:?}", geometry.warnings);
    }
    let glb = folder.path().join("puppet.usdz");
    sinew_io::open(&own).unwrap().save_as(&glb).unwrap();
    assert_eq!(pictures(&read(&glb).1), expected);
}

/// Stages that want to be too much: none takes long, none panics.
pub fn hostile() {
    let ((), took) = common::processor::spent(hostile_stages);
    assert!(took.as_secs() < 20, "{took:?}");
}

fn hostile_stages() {
    for (name, code) in [
        ("a_device", Some("texture-left-out")),
        ("transforms_in_a_circle", None),
        ("counts_that_overflow", Some("mesh-topology")),
        ("points_that_are_none", Some("points-not-drawn")),
        ("a_camera_of_nothing", None),
    ] {
        let (scene, geometry) = read(&scene(&format!("hostile/{name}.usda")));
        holds_together(name, &scene, &geometry);
        let warned = geometry.warnings.iter().map(|w| w.code);
        let found: Vec<&str> = warned
            .chain(geometry.errors.iter().filter_map(|e| e.code))
            .collect();
        assert_eq!(found, Vec::from_iter(code), "{name}");
        for camera in &geometry.cameras {
            let _ = (
                camera.frustum(Time::Default),
                camera.world_from_camera(Time::At(1.0)),
            );
        }
    }
    // One outline of many corners, concave everywhere, and many vertices of one point.
    let points: Vec<Vec3> = (0..4096)
        .map(|i| {
            let (sin, cos) = (i as f32 * 0.0015).sin_cos();
            Vec3::new(cos, sin, 0.0) * if i % 2 == 0 { 1.0 } else { 0.9 }
        })
        .collect();
    let indices: Vec<i32> = (0..4096).collect();
    let topology = MeshTopology::new("/M", &[4096], &indices, false, 4096).unwrap();
    let inputs = RenderInputs {
        points: &points,
        ..Default::default()
    };
    let mesh = RenderMesh::new("/M", &topology, &inputs).unwrap();
    assert_eq!(mesh.triangles.len(), 4094);
    same_area("comb", &topology, &points, &mesh);
    let uvs: Vec<glam::Vec2> = (0..300_000).map(|i| glam::Vec2::splat(i as f32)).collect();
    let topology = MeshTopology::new("/M", &[3; 100_000], &[0; 300_000], false, 4096).unwrap();
    let slice =
        sinew::skel::PrimvarSlice::new(sinew::skel::PrimvarInterpolation::FaceVarying, &uvs);
    let inputs = RenderInputs {
        uvs: Some(slice),
        ..inputs
    };
    assert_eq!(
        RenderMesh::new("/M", &topology, &inputs)
            .unwrap()
            .points
            .len(),
        300_000
    );
}
