//! Point caches, and when clips are sampled.

use sinew::sampled::Time;
use sinew_bake::{OutSpace, Rigid};

use crate::formats::bench::*;
use crate::formats::truth::{deformed, prims, scene};
use crate::formats::{pc2, stage};
use common::command::Bench;
use common::compare::{compare, to_f64};
use common::{tolerance, usd};

/// Caches of a prim's own space, and of the world's.
pub fn point_caches_hold_the_points_to_the_bit() {
    let bench = Bench::new();
    for input in own_stages(&bench) {
        let scene = scene(&input);
        for space in [None, Some(OutSpace::World)] {
            let mut options = cpu();
            options.space = space;
            let report = run(&input, &bench.path("c.pc2"), &options);
            assert_eq!((report.files.len(), report.frames), (4, 5));
            // The sphere has no points.
            assert!(
                report
                    .warnings
                    .iter()
                    .any(|w| w.path == "/Hero/Ball" && w.code == "left-out")
            );
            let in_usd = bench.path("same.usdc");
            let mut same = options;
            same.frames = Some("1:5".parse().unwrap());
            same.rigid = Rigid::Points;
            run(&input, &in_usd, &same);
            let baked = usd::open(&in_usd);
            for prim in prims(&scene) {
                let name = prim.rsplit('/').next().unwrap();
                let cache = pc2::read(&bench.path(&format!("c_{name}.pc2")));
                assert_eq!(
                    (cache.first, cache.step, cache.samples.len()),
                    (1.0, 1.0, 5)
                );
                for (sample, time) in cache.samples.iter().zip(1..) {
                    let time = f64::from(time);
                    let got = to_f64(sample);
                    let what = format!("{prim} at {time}");
                    let want = usd::vectors(&baked, &prim, "points", Some(time)).unwrap();
                    compare(&what, &got, &want, 0.0).unwrap();
                    let want = deformed(&scene, &prim, Time::At(time), space.unwrap_or_default());
                    compare(&what, &got, &want.points, tolerance::FRAME_POINTS).unwrap();
                }
            }
        }
    }
}

pub fn one_prim_has_the_cache_of_the_name() {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage::usda(""));
    let mut options = frames(1.0, 2.0, 0.25);
    options.prims = vec!["/Hero/Box".into()];
    let report = run(&input, &bench.path("c.pc2"), &options);
    assert_eq!(report.files, [bench.path("c.pc2")]);
    let cache = pc2::read(&bench.path("c.pc2"));
    assert_eq!(
        (cache.first, cache.step, cache.samples.len()),
        (1.0, 0.25, 5)
    );
}

pub fn clips_are_sampled_at_the_stages_rate() {
    let bench = Bench::new();
    let text = stage::usda("");
    let slow = bench.write(
        "slow.usda",
        text.replace("framesPerSecond = 24", "framesPerSecond = 12"),
    );
    let report = run(&slow, &bench.path("slow.pc2"), &cpu());
    assert_eq!(report.frames, 3, "from 1 to 5 by 2");
    assert_eq!(pc2::read(&bench.path("slow_Box.pc2")).step, 2.0);
    // Without a range, what is authored counts.
    let open = text
        .replace("startTimeCode = 1", "")
        .replace("endTimeCode = 5", "");
    let open = bench.write("open.usda", open.replace("5: (0, 1, 3)", "3.5: (0, 1, 3)"));
    assert_eq!(run(&open, &bench.path("open.pc2"), &cpu()).frames, 5);
    let fast = run(&slow, &bench.path("fast.%d.obj"), &frames(1.0, 2.0, 0.25));
    assert_eq!(
        fast.files[4],
        bench.path("fast.5.obj"),
        "fractions are counted"
    );
    // What never moves is one frame, whatever the range.
    let still = text
        .replace(".timeSamples = {", ".off = {")
        .replace("rel skel:animationSource", "rel other");
    let still: String = still
        .lines()
        .filter(|l| !l.contains(".off"))
        .map(|l| format!("{l}\n"))
        .collect();
    let still = bench.write("still.usda", still);
    let report = run(&still, &bench.path("still.obj"), &cpu());
    assert_eq!((report.frames, report.files.len()), (1, 1));
}
