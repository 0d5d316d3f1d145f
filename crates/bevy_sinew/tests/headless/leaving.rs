//! Characters that leave and that are hidden: the crowd must not write to places in Bevy's slabs that
//! belong to other meshes by then.

use std::ops::Range;

use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy::render::mesh::RenderMesh;
use bevy::render::render_asset::RenderAssets;
use bevy_sinew::SinewCharacter;

use crate::slab::{TOLERANCE, apart, meshes, mirror};
use crate::{FRAME, app, hatchling, load, place, slab};

type Place = (wgpu::Buffer, Range<u32>);

fn dancer() -> SinewCharacter {
    SinewCharacter::new(hatchling()).playing("Dance")
}

fn component(app: &mut App, entity: Entity) -> Mut<'_, SinewCharacter> {
    app.world_mut().get_mut::<SinewCharacter>(entity).unwrap()
}

fn drawn_meshes(app: &mut App) -> usize {
    let world = app.world_mut();
    world.query::<&Mesh3d>().iter(world).count()
}

fn overlaps(a: &Place, b: &Place) -> bool {
    a.0 == b.0 && a.1.start < b.1.end && b.1.start < a.1.end
}

/// The place of each mesh, and whether its vertices have colours.
fn places(app: &App, meshes: &[Handle<Mesh>]) -> Vec<(Place, bool)> {
    let all = app.sub_app(RenderApp).world();
    let all = all.resource::<RenderAssets<RenderMesh>>();
    let of = |mesh: &Handle<Mesh>| {
        let ids = all.get(mesh).unwrap().layout.0.attribute_ids().to_vec();
        let is_colored = ids.contains(&Mesh::ATTRIBUTE_COLOR.id);
        (place(app, mesh), is_colored)
    };
    meshes.iter().map(of).collect()
}

/// A mesh of Bevy alone whose vertices are as large as a character's.
fn stranger(app: &mut App, count: usize, is_colored: bool) -> (Handle<Mesh>, Vec<Vec3>) {
    let points: Vec<Vec3> = (0..count).map(|v| Vec3::splat(1e4 + v as f32)).collect();
    let usages = bevy::asset::RenderAssetUsages::RENDER_WORLD;
    let mut mesh = Mesh::new(PrimitiveTopology::TriangleList, usages);
    mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, points.clone());
    mesh.insert_attribute(Mesh::ATTRIBUTE_NORMAL, vec![[0.0f32, 1.0, 0.0]; count]);
    mesh.insert_attribute(Mesh::ATTRIBUTE_UV_0, vec![[0.0f32; 2]; count]);
    if is_colored {
        mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, vec![[1.0f32; 4]; count]);
    }
    mesh.insert_indices(Indices::U32(vec![0, 1, 2]));
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    app.world_mut().spawn(Mesh3d(mesh.clone()));
    (mesh, points)
}

/// After a character has left, meshes in its places keep their vertices.
fn leaves(leave: impl FnOnce(&mut App, Entity)) {
    let mut app = app();
    let entity = app.world_mut().spawn(dancer()).id();
    // The crowd goes on with this one.
    let other = app.world_mut().spawn(dancer()).id();
    load(&mut app, entity);
    load(&mut app, other);
    for _ in 0..3 {
        app.update();
    }
    let own = meshes(&mut app, entity);
    let freed = places(&app, &own);
    let others = drawn_meshes(&mut app) - own.len();
    leave(&mut app, entity);
    drop(own);
    for _ in 0..3 {
        app.update();
    }
    assert_eq!(drawn_meshes(&mut app), others);
    let strangers: Vec<_> = freed
        .iter()
        .map(|((_, range), is_colored)| stranger(&mut app, range.len(), *is_colored))
        .collect();
    for _ in 0..3 {
        app.update();
    }
    let mut taken = 0;
    for (mesh, points) in &strangers {
        let now = place(&app, mesh);
        taken += usize::from(freed.iter().any(|(old, _)| overlaps(&now, old)));
        assert!(slab(&app, mesh, Mesh::ATTRIBUTE_POSITION) == *points);
    }
    // Otherwise nothing could have been overwritten.
    assert!(taken > 0);
}

#[test]
fn a_despawned_character_leaves() {
    leaves(|app, entity| assert!(app.world_mut().despawn(entity)));
}

#[test]
fn a_removed_component_leaves() {
    leaves(|app, entity| {
        app.world_mut()
            .entity_mut(entity)
            .remove::<SinewCharacter>();
    });
}

#[test]
fn a_component_that_is_overwritten_leaves() {
    leaves(|app, entity| {
        let none = SinewCharacter::new("no such file.usda");
        app.world_mut().entity_mut(entity).insert(none);
    });
}

#[test]
fn a_component_that_is_assigned_leaves() {
    leaves(|app, entity| {
        *component(app, entity) = SinewCharacter::new("no such file.usda");
    });
}

#[test]
fn a_character_that_fails_leaves() {
    leaves(|app, entity| {
        let mut component = component(app, entity);
        let character = component.character_mut().unwrap();
        let mut pose = character.clips()[0].on()[0].sample(0.0);
        pose.joints[0].translation = glam::Vec3::NAN.into();
        character.set_pose(0, pose).unwrap();
        app.update();
        let component = app.world().get::<SinewCharacter>(entity).unwrap();
        assert!(component.error().is_some() && component.character().is_none());
    });
}

/// The app may put a mesh of its own in the place of a character's.
#[test]
fn a_mesh_that_the_app_replaces_is_not_written() {
    let mut app = app();
    let entity = app.world_mut().spawn(dancer()).id();
    load(&mut app, entity);
    app.update();
    let own = meshes(&mut app, entity);
    let replaced: Vec<_> = places(&app, &own)
        .into_iter()
        .zip(&own)
        .map(|(((_, range), is_colored), mesh)| {
            let (new, points) = stranger(&mut app, range.len() - 3, is_colored);
            let mut all = app.world_mut().resource_mut::<Assets<Mesh>>();
            let new = all.remove(&new).unwrap();
            all.insert(mesh, new).unwrap();
            (mesh, points)
        })
        .collect();
    for _ in 0..3 {
        app.update();
    }
    for (mesh, points) in replaced {
        assert!(slab(&app, mesh, Mesh::ATTRIBUTE_POSITION) == points);
    }
}

/// A second character in the places of the first has its own vertices, and those of nobody else.
#[test]
fn a_second_character_takes_the_freed_places() {
    for overwritten in [false, true] {
        let mut app = app();
        let first = app.world_mut().spawn(dancer()).id();
        load(&mut app, first);
        for _ in 0..5 {
            app.update();
        }
        let own = meshes(&mut app, first);
        let freed = places(&app, &own);
        drop(own);
        let second = match overwritten {
            true => {
                app.world_mut().entity_mut(first).insert(dancer());
                first
            }
            false => {
                app.world_mut().despawn(first);
                for _ in 0..3 {
                    app.update();
                }
                app.world_mut().spawn(dancer()).id()
            }
        };
        load(&mut app, second);
        let new = meshes(&mut app, second);
        assert_eq!(new.len(), freed.len());
        for frame in 0..5 {
            let found: Vec<_> = new
                .iter()
                .map(|mesh| slab(&app, mesh, Mesh::ATTRIBUTE_POSITION))
                .collect();
            let expected = mirror(&app, second, f64::from(frame) * FRAME);
            let apart = apart(&found, &expected);
            assert!(apart <= TOLERANCE, "frame {frame}: {apart:.2e}");
            app.update();
        }
        let taken = |mesh| {
            let now = place(&app, mesh);
            freed.iter().any(|(old, _)| overlaps(&now, old))
        };
        assert!(overwritten || new.iter().any(taken));
    }
}

#[test]
fn hidden_characters_rest_and_come_back_at_the_time() {
    let mut app = app();
    let hidden = app.world_mut().spawn(dancer()).id();
    let seen = app.world_mut().spawn(dancer()).id();
    load(&mut app, hidden);
    load(&mut app, seen);
    let own = meshes(&mut app, hidden);
    let read = |app: &App| -> Vec<Vec<Vec3>> {
        let of = |mesh| slab(app, mesh, Mesh::ATTRIBUTE_POSITION);
        own.iter().map(of).collect()
    };
    app.update();
    app.world_mut()
        .entity_mut(hidden)
        .insert(Visibility::Hidden);
    app.update();
    let before = read(&app);
    for _ in 0..6 {
        app.update();
    }
    assert!(read(&app) == before);
    app.world_mut()
        .entity_mut(hidden)
        .insert(Visibility::Visible);
    app.update();
    let mut frames = 1..64;
    // Both characters may have been loaded in different frames.
    let shown = read(&app);
    let frame = frames.find(|frame| {
        let expected = mirror(&app, hidden, f64::from(*frame) * FRAME);
        apart(&shown, &expected) <= TOLERANCE
    });
    assert!(frame.is_some_and(|frame| frame >= 9), "{frame:?}");
}
