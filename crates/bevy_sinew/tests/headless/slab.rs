//! What the vertex slabs hold, against the CPU mirror of the kernels.

use bevy::prelude::*;
use bevy_sinew::{PREVIOUS_POSITION, SinewCharacter};

use crate::{FRAME, app, hatchling, load, slab};

/// Largest distance of a vertex from the CPU mirror's, in parts of the character's size: what
/// docs/playing.md promises for clips that the GPU plays.
pub const TOLERANCE: f32 = 1e-4;

/// The meshes below a character, in order.
pub fn meshes(app: &mut App, character: Entity) -> Vec<Handle<Mesh>> {
    let world = app.world_mut();
    let children = world.get::<Children>(character).unwrap().to_vec();
    let mesh = |entity: &Entity| world.get::<Mesh3d>(*entity).unwrap().0.clone();
    children.iter().map(mesh).collect()
}

/// The vertices of each mesh at a time of the clip, by the CPU mirror.
pub fn mirror(app: &App, character: Entity, seconds: f64) -> Vec<Vec<Vec3>> {
    let component = app.world().get::<SinewCharacter>(character).unwrap();
    let positions = component
        .character()
        .unwrap()
        .positions(Some("Dance"), seconds as f32)
        .unwrap();
    let of_mesh = |mesh: &Vec<glam::Vec3>| mesh.iter().map(|p| p.to_array().into()).collect();
    positions.iter().map(of_mesh).collect()
}

/// Largest distance of vertices, in parts of the size of all.
pub fn apart(found: &[Vec<Vec3>], expected: &[Vec<Vec3>]) -> f32 {
    assert_eq!(found.len(), expected.len());
    let (mut low, mut high, mut worst) = (Vec3::MAX, Vec3::MIN, 0.0f32);
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!(a.is_finite());
            (low, high) = (low.min(*b), high.max(*b));
            worst = worst.max(a.distance(*b));
        }
    }
    worst / (high - low).length()
}

/// The mean cosine between normals of vertices and those of their triangles: the placeholders that the
/// meshes are made with have one near 0.
fn agreement(app: &App, character: Entity, points: &[Vec<Vec3>], normals: &[Vec<Vec3>]) -> f32 {
    let component = app.world().get::<SinewCharacter>(character).unwrap();
    let arrays = component.character().unwrap().arrays();
    let (mut sum, mut count) = (0.0, 0);
    for ((arrays, points), normals) in arrays.zip(points).zip(normals) {
        for triangle in arrays.indices.chunks_exact(3) {
            let [a, b, c] = [0, 1, 2].map(|i| triangle[i] as usize);
            let face = (points[b] - points[a]).cross(points[c] - points[a]);
            for vertex in [a, b, c] {
                sum += face.normalize_or_zero().dot(normals[vertex].normalize());
                count += 1;
            }
        }
    }
    sum / count as f32
}

/// Plays a file for some frames and compares every vertex of every frame with the mirror, and the
/// previous ones with the slab of the frame before.
fn compare(file: std::path::PathBuf) {
    let mut app = app();
    let character = SinewCharacter::new(file)
        .playing("Dance")
        .with_motion_vectors();
    let entity = app.world_mut().spawn(character).id();
    load(&mut app, entity);
    let meshes = meshes(&mut app, entity);
    let read = |app: &App, what| -> Vec<Vec<Vec3>> {
        meshes.iter().map(|mesh| slab(app, mesh, what)).collect()
    };
    let rest = mirror(&app, entity, 0.0);
    let mut before = None;
    let mut moved = 0.0f32;
    for frame in 0..20 {
        let found = read(&app, Mesh::ATTRIBUTE_POSITION);
        let expected = mirror(&app, entity, f64::from(frame) * FRAME);
        let apart_now = apart(&found, &expected);
        assert!(apart_now <= TOLERANCE, "frame {frame}: {apart_now:.2e}");
        moved = moved.max(apart(&expected, &rest));
        let agreement = agreement(&app, entity, &found, &read(&app, Mesh::ATTRIBUTE_NORMAL));
        assert!(agreement > 0.9, "frame {frame}: {agreement}");
        if let Some(before) = &before {
            // The same floats: the kernel copies them.
            assert!(read(&app, PREVIOUS_POSITION) == *before, "frame {frame}");
        }
        before = Some(found);
        app.update();
    }
    // Otherwise a character at rest would pass.
    assert!(moved > 0.01, "{moved}");
}

/// The body has six influences per point and shapes with in-betweens.
#[test]
fn slabs_hold_what_the_mirror_computes() {
    compare(hatchling());
}

#[test]
fn dual_quaternions_are_those_of_the_mirror() {
    let text = std::fs::read_to_string(hatchling()).unwrap();
    let method = "uniform token primvars:skel:skinningMethod = \"dualQuaternion\"";
    let body = text.find("def Mesh \"Body\"").unwrap();
    let open = body + text[body..].find("\n        {\n").unwrap() + "\n        {\n".len();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dual.usda");
    std::fs::write(
        &file,
        format!("{}            {method}\n{}", &text[..open], &text[open..]),
    )
    .unwrap();
    compare(file);
}
