//! What is drawn of a character, and what is refused.

use common::tolerance;
use common::trials::Trial;
use glam::Vec3;
use sinew::clip::LocalPose;
use sinew_character::{Character, CharacterOptions, Error, PlayClip};

use crate::made::{HERO, changed, scene};
use crate::{Stage, apart, asset, results, trials};

pub fn trials() -> Vec<Trial> {
    trials![cover_every_mesh, what_does_not_fit_is_an_error,]
}

/// Every triangle of every mesh is in one draw, with the material of its face and its image.
fn cover_every_mesh() {
    let Stage {
        skinner,
        mut crowd,
        mut hero,
    } = Stage::new();
    assert!(matches!(hero.draws(&crowd), Err(Error::NotInCrowd { .. })));
    hero.update(&mut crowd).unwrap();
    crowd.submit().unwrap();
    let draws = hero.draws(&crowd).unwrap();
    let of = |mesh: &'static str| draws.iter().filter(move |d| d.mesh == mesh);
    for (mesh, triangles) in [("/Hero/Body", 4), ("/Hero/Face", 2), ("/Hero/Hat", 2)] {
        let mut next = 0;
        for draw in of(mesh) {
            assert_eq!(draw.range.start, next);
            next = draw.range.end;
            assert_eq!(draw.points.count, draw.vertex_count as usize);
            assert_eq!(draw.normals.count, draw.vertex_count as usize);
            assert_eq!((draw.points.stride, draw.normals.stride), (12, 12));
            assert_eq!(draw.uvs.size(), u64::from(draw.vertex_count) * 8);
            assert_eq!(draw.colors.size(), u64::from(draw.vertex_count) * 16);
            assert_eq!(draw.indices.size(), triangles * 12);
            assert!(draw.previous.is_none());
        }
        assert_eq!(u64::from(next), triangles * 3, "{mesh}");
    }
    assert!(hero.meshes().eq(["/Hero/Body", "/Hero/Face", "/Hero/Hat"]));
    // The body has a material for two of its faces, with a texture, and another one.
    let mut body: Vec<_> = of("/Hero/Body").collect();
    body.sort_by_key(|draw| draw.material.map(|m| &m.path));
    let names: Vec<&str> = body
        .iter()
        .map(|d| d.material.unwrap().path.as_str())
        .collect();
    assert_eq!(names, ["/Hero/Cloth", "/Hero/Plain"]);
    let (used, texture) = body[0].base_color().unwrap();
    assert_eq!(
        (used.uv_primvar.as_str(), &texture.bytes[1..4]),
        ("st", &b"PNG"[..])
    );
    assert!(body[1].base_color().is_none());
    assert_eq!(
        body[1].material.unwrap().diffuse_color.value,
        Vec3::new(0.25, 0.5, 0.75)
    );
    assert!(of("/Hero/Hat").all(|d| d.material.is_none() && d.double_sided));
    // Previous positions where they are wanted.
    let options = CharacterOptions {
        previous: true,
        ..CharacterOptions::default()
    };
    let mut hero = Character::load_with(&skinner, scene(HERO), &options).unwrap();
    hero.update(&mut crowd).unwrap();
    assert!(
        hero.draws(&crowd)
            .unwrap()
            .iter()
            .all(|d| d.previous.is_some())
    );
}

fn what_does_not_fit_is_an_error() {
    let Stage {
        skinner,
        mut crowd,
        mut hero,
    } = Stage::new();
    let text = |error: Error| error.to_string();
    let missing = scene("none.usda");
    assert!(text(Character::load(&skinner, &missing).unwrap_err()).contains("none.usda"));
    let error = Character::load(&skinner, asset("walk.bvh")).unwrap_err();
    assert!(matches!(error, Error::NoCharacter { .. }), "{error}");
    let (_folder, broken) = changed(&[("[0, 0, 1, 1, 1, 1]", "[0, 7, 1, 1, 1, 1]")]);
    let partial = Character::load(&skinner, &broken).unwrap();
    let mut left_out = partial.left_out().iter();
    let body = left_out.find(|e| e.prim == "/Hero/Body").unwrap();
    let file = broken.to_string_lossy();
    assert!(body.to_string().contains(&*file), "{body}");
    assert!(partial.meshes().all(|m| m != "/Hero/Body"));

    let stands_still = |hero: &Character| {
        let mut warnings = hero.warnings().iter();
        warnings.any(|w| w.code == "character-rest-still")
    };
    assert!(!stands_still(&hero));
    let error = text(hero.play("Fly").unwrap_err());
    assert!(
        error.contains("hero.usda") && error.contains("Walk, Run"),
        "{error}"
    );
    assert!(hero.crossfade("Run", -1.0).is_err());
    assert!(
        hero.crossfade(PlayClip::new("Run").speed(f32::NAN), 0.0)
            .is_err()
    );
    assert!(hero.blend("Run", 1.5, 0.0).is_err());
    assert!(hero.add(Some("Run".into()), f32::NAN, 0.0).is_err());
    assert!(hero.instances().is_err() && hero.rigs().is_err());
    assert!(hero.set_pose(1, LocalPose::default()).is_err());
    assert!(hero.set_pose(0, LocalPose::default()).is_err());
    assert_eq!(crowd.instance_count(), 0);
    hero.update(&mut crowd).unwrap();
    let rest = hero.positions(None, 0.0).unwrap();
    assert!(apart(&results(&hero, &mut crowd), &rest) <= tolerance::CHARACTERS_MIRRORED);
    // Rest data that change over time.
    let rest = "[(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 2, 0), (1, 2, 0)]";
    let moving = format!(
        "points.timeSamples = {{ 0: {rest}, 9: {} }}",
        rest.replace("2, 0)]", "2, 1)]")
    );
    let (_folder, file) = changed(&[(&format!("points = {rest}"), &moving)]);
    assert!(stands_still(&Character::load(&skinner, file).unwrap()));
}
