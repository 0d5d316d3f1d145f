//! What usd-core says of extents that are written, and of instances that are read.

use std::process::Command;

use libtest_mimic::Failed;

use crate::bench::{Folder, project};
use common::command::{stderr, stdout};
use common::usd;

/// What a script beside this file prints.
fn printed(python: &str, script: &str, prepare: impl FnOnce(&mut Command)) -> String {
    let mut command = Command::new(python);
    command.arg(project("crates/sinew-cli/tests/bake").join(script));
    prepare(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

/// The extent of a SkelRoot encloses the points that UsdSkel deforms, also where blend shapes move them or the joints are
/// much larger than the meshes; without meshes it is what UsdSkel computes.
pub fn convert_and_retarget_author_the_extents_of_skel_roots(python: &str) -> Result<(), Failed> {
    let folder = Folder::new();
    folder.0.write("map.json", r#"{"Hips": "root"}"#);
    for input in ["tiny.gltf", "assets/free.gltf", "assets/centimetres.gltf"] {
        let input = project("crates/sinew-io/tests/data").join(input);
        folder.0.write(
            input.file_name().unwrap().to_str().unwrap(),
            std::fs::read(&input)?,
        );
    }
    // An eye that geomBindTransform alone puts far away.
    let hatchling = std::fs::read_to_string(project("examples/assets/hatchling.usda"))?;
    let bind = |x| {
        format!(
            "geomBindTransform = ( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), ({x}, 1.755, 0.305, 1)"
        )
    };
    let aside = hatchling.replace(&bind("0.2"), &bind("5"));
    assert_ne!(aside, hatchling);
    folder.0.write("aside.usda", aside);
    let mut files = Vec::new();
    for (out, line) in [
        ("convert.usda", "convert puppet.glb"),
        ("walk.usdc", "convert walk.bvh"),
        ("shapes.usdc", "convert tiny.gltf"),
        ("free.usdc", "convert free.gltf"),
        ("units.usdc", "convert centimetres.gltf"),
        (
            "retarget.usda",
            "retarget walk.bvh hatchling.usda --map map.json",
        ),
        ("far.usdc", "retarget walk.bvh aside.usda --map map.json"),
        ("moved.usdc", "retarget walk.bvh puppet.glb"),
    ] {
        folder.run(0, &format!("{line} -o {out} --quiet"));
        let out = folder.path(out);
        let scene = sinew_io::open(&out)?.scene(Default::default())?;
        let root = &scene.skel_roots[0].path;
        let extent = usd::vectors(&usd::open(&out), root, "extent", None);
        assert_eq!(extent.unwrap().len(), 2, "{line}");
        files.push(out);
    }
    assert_eq!(
        printed(python, "extents.py", |command| _ = command.args(files)),
        ""
    );
    Ok(())
}

/// Two prototypes, one below the instancer and one elsewhere, orientations, scales, ids, and instances in a prototype.
pub fn instances_stand_where_usd_core_places_them(python: &str) -> Result<(), Failed> {
    let input = project("crates/sinew-cli/tests/bake/instances.usda");
    let file = sinew_io::open(&input)?;
    let scene = file.scene(Default::default())?;
    let geometry = file.geometry(&scene)?;
    assert!(geometry.errors.is_empty() && geometry.warnings.is_empty());
    let bare = geometry.meshes.iter().filter(|m| m.instances.is_empty());
    let bare: Vec<&str> = bare.map(|m| m.path.as_str()).collect();
    assert_eq!(bare, ["/Lib/B"], "a prototype that stands for itself too");
    let times = [1.0, 4.0, 6.5, 10.0];
    let counts = [5, 5, 4, 4];
    let text = printed(python, "instances.py", |command| {
        command.arg(&input).args(times.map(|t| t.to_string()));
    });
    let expected: Vec<Vec<(String, Vec<f64>)>> = serde_json::from_str(&text)?;
    for ((time, expected), count) in times.into_iter().zip(expected).zip(counts) {
        let at = sinew::sampled::Time::At(time);
        let shown = geometry.meshes.iter().filter(|m| m.visible(at));
        let mut found: Vec<_> = shown
            .map(|m| (&m.path, m.world_from_prim(at).to_cols_array()))
            .collect();
        assert_eq!((found.len(), expected.len()), (count, count), "at {time}");
        for (path, matrix) in expected {
            let near = |m: &[f64; 16]| m.iter().zip(&matrix).all(|(a, b)| (a - b).abs() < 1e-3);
            let place = found.iter().position(|(p, m)| **p == path && near(m));
            let place =
                place.unwrap_or_else(|| panic!("{path} at {time}: {matrix:?} in {found:?}"));
            found.remove(place);
        }
    }
    Ok(())
}
