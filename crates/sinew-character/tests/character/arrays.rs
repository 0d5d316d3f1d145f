//! Meshes for hosts with vertex buffers of their own.

use common::trials::Trial;
use glam::{Vec3, Vec4};
use sinew::gpu::Crowd;
use sinew_character::{Character, CharacterOptions};

use crate::made::changed;
use crate::{skinner, step, trials};

pub fn trials() -> Vec<Trial> {
    trials![
        parts_of_a_mesh_have_the_results_of_the_whole,
        tangents_follow_the_texture_coordinates,
    ]
}

/// Points and normals of each mesh in the first frame.
fn frame(hero: &mut Character, crowd: &mut Crowd) -> Vec<(Vec<Vec3>, Vec<Vec3>)> {
    hero.play("Walk").unwrap();
    step(hero, crowd, 0.25);
    crowd.submit().unwrap();
    let read = crowd.read(hero.instances().unwrap()).unwrap();
    read.into_iter()
        .map(|mesh| (mesh.points, mesh.normals.unwrap()))
        .collect()
}

/// The body has no normals and is bent, so that the smooth normal of a point between two materials
/// needs faces of both.
fn parts_of_a_mesh_have_the_results_of_the_whole() {
    let normals = "        normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)] (interpolation = \"vertex\")\n";
    let (_folder, file) = changed(&[
        (normals, ""),
        (
            "(0, 1, 0), (1, 1, 0), (0, 2, 0), (1, 2, 0)]",
            "(0, 1, 0.5), (1, 1, 0.25), (0, 2, 0), (1, 2, 0.75)]",
        ),
    ]);
    let skinner = skinner();
    let mut crowd = skinner.crowd();
    let mut whole = Character::load(&skinner, &file).unwrap();
    assert_eq!(whole.arrays().count(), 0);
    let options = CharacterOptions {
        arrays: true,
        ..CharacterOptions::default()
    };
    let mut parts = Character::load_with(&skinner, &file, &options).unwrap();
    let paths: Vec<&str> = parts.meshes().collect();
    assert_eq!(
        paths,
        ["/Hero/Body", "/Hero/Body", "/Hero/Face", "/Hero/Hat"]
    );
    let expected = frame(&mut whole, &mut crowd);
    let found = frame(&mut parts, &mut crowd);
    let names = |c: &Character| -> Vec<Option<String>> {
        let of = |m: usize| c.materials()[m].path.clone();
        c.arrays().map(|a| a.material.map(of)).collect()
    };
    let mut of_body = names(&parts)[..2].to_vec();
    of_body.sort();
    assert_eq!(
        of_body,
        [
            Some("/Hero/Cloth".to_owned()),
            Some("/Hero/Plain".to_owned())
        ]
    );
    let (points, normals) = &expected[0];
    let mut corners = 0;
    for (arrays, (part_points, part_normals)) in parts.arrays().zip(&found).take(2) {
        assert_eq!(arrays.vertex_count(), part_points.len());
        assert_eq!(arrays.colors, vec![Vec4::ONE; part_points.len()]);
        corners += arrays.indices.len();
        for vertex in &arrays.indices {
            let vertex = *vertex as usize;
            let same = points.iter().position(|p| *p == part_points[vertex]);
            let apart = normals[same.unwrap()].distance(part_normals[vertex]);
            assert!(apart < 1e-6, "vertex {vertex}: {apart}");
        }
    }
    assert_eq!(corners, 12);
    // A mesh that is not split has the results of the whole one.
    assert_eq!(found[2..], expected[1..]);
    assert!(parts.arrays().nth(3).unwrap().double_sided);
}

/// In the body u grows with x and v with y, also where the faces are mirrored.
fn tangents_follow_the_texture_coordinates() {
    let bumpy = (
        "            color3f inputs:diffuseColor = (0.25, 0.5, 0.75)\n",
        "            normal3f inputs:normal.connect = </Hero/Cloth/Image.outputs:rgb>\n",
    );
    let seen = |changes: &[(&str, &str)]| {
        let (_folder, file) = changed(changes);
        let skinner = skinner();
        let mut crowd = skinner.crowd();
        let options = CharacterOptions {
            arrays: true,
            ..CharacterOptions::default()
        };
        let mut hero = Character::load_with(&skinner, &file, &options).unwrap();
        hero.update(&mut crowd).unwrap();
        crowd.submit().unwrap();
        let has: Vec<bool> = hero.arrays().map(|a| a.tangents.is_some()).collect();
        // Only the part whose material has a normal map.
        assert_eq!(has.iter().filter(|has| **has).count(), 1, "{has:?}");
        let part = has.iter().position(|has| *has).unwrap();
        let rest = hero.arrays().nth(part).unwrap().tangents.clone().unwrap();
        let results = crowd.read(&hero.instances().unwrap()[part..=part]).unwrap();
        let results = results[0].tangents.clone().unwrap();
        assert_eq!(rest.len(), results.len());
        // The skeleton is turned by 90 degrees about Y: x goes to -z.
        for (rest, result) in rest.iter().zip(&results) {
            let turned = Vec4::new(rest.z, rest.y, -rest.x, rest.w);
            assert!(result.abs_diff_eq(turned, 1e-5), "{rest} {result}");
        }
        let drawn = hero.arrays().nth(part).unwrap().indices.clone();
        drawn.iter().map(|v| rest[*v as usize]).collect::<Vec<_>>()
    };
    let mirrored = (
        "[(0, 0), (1, 0), (0, 0.5), (1, 0.5), (0, 1), (1, 1)]",
        "[(1, 0), (0, 0), (1, 0.5), (0, 0.5), (1, 1), (0, 1)]",
    );
    for (changes, x) in [(&[bumpy][..], 1.0), (&[bumpy, mirrored], -1.0)] {
        for tangent in seen(changes) {
            let expected = Vec4::new(x, 0.0, 0.0, x);
            assert!(tangent.abs_diff_eq(expected, 1e-6), "{tangent}");
        }
    }
}
