//! Real characters.

use std::path::Path;

use glam::Vec3;
use sinew_bake::bake;

use crate::bench::*;
use crate::readers::obj;
use crate::textures::check_vat;
use crate::truth::WorldBake;
use common::compare::{compare_within, size, to_f64};
use common::files::{at_least, files_of};
use common::{tolerance, usd};

/// Every real character, a few frames of it: sequences in world space, and textures as an engine decodes them.
pub fn real_files_come_out_as_in_usd(assets: &Path) {
    let (mut compared, mut files) = (0, 0);
    for file in files_of(assets, &["usda", "usdc", "usdz", "glb", "vrm"]) {
        let Ok(stage) = sinew_io::open(&file) else {
            continue;
        };
        let scene = stage.scene(Default::default()).unwrap();
        let Some(time) = middle(&scene) else {
            continue;
        };
        let bench = Bench::new();
        let options = options(&format!("frames {time}"));
        let Ok(report) = bake(&file, &bench.path("f.obj"), &options, &mut |_| {}) else {
            continue;
        };
        assert_eq!(report.frames, 1);
        files += 1;
        let mut in_file = 0;
        let world = WorldBake::new(&file, &options);
        let objects = obj(&bench.path("f.obj"));
        for binding in &scene.bindings {
            let last = |path: &str| path.rsplit('/').next().unwrap().to_owned();
            let name = last(&binding.path);
            let same = scene.bindings.iter().filter(|b| last(&b.path) == name);
            let name = match same.count() {
                1 => name,
                _ => binding.path.trim_start_matches('/').replace('/', "_"),
            };
            let Some(object) = objects.iter().find(|o| o.name == name) else {
                continue;
            };
            let Some(want) = usd::vectors(&world.0, &binding.path, "points", Some(time)) else {
                continue;
            };
            let what = format!("{} {}", file.display(), binding.path);
            let most = tolerance::FRAME_POINTS * size(&want);
            compare_within(&what, &to_f64(&object.points), &want, most).unwrap();
            let faces = object.point_faces();
            assert!(faces.iter().flatten().all(|p| *p < want.len()), "{what}");
            in_file += 1;
        }
        assert_eq!(in_file, report.prims, "{}", file.display());
        compared += in_file;
        let words = format!(
            "frames {time}:{} vat-values position vat-width 4096",
            time + 1.0
        );
        let textures = crate::bench::options(&words);
        check_vat(&file, &bench.path("v.exr"), &textures, |_, _| Vec3::ZERO);
    }
    let (prims, least) = at_least(assets, (40, 20), (20, 14));
    assert!(
        compared > prims && files > least,
        "{compared} prims of {files} files"
    );
}

/// A time in the middle of what moves.
fn middle(scene: &sinew::scene::Scene) -> Option<f64> {
    let times: Vec<f64> = scene
        .animations
        .iter()
        .flat_map(|a| a.joint_times())
        .collect();
    let low = times.iter().copied().reduce(f64::min)?;
    let high = times.iter().copied().reduce(f64::max)?;
    (low + high)
        .is_finite()
        .then_some(((low + high) / 2.0).round())
}
