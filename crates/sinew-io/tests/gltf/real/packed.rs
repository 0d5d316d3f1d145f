//! Clips of real files, packed for the GPU.

use std::path::Path;
use std::time::Instant;

use sinew::kernel::packed_clip::ClipOptions;
use sinew_io::{ClipChoice, OpenOptions, open_with, packed_clip, skeletons};

/// A file, its clips (none for the one that is bound), how many times smaller each gets at least,
/// the most bits of a rotation, and the height in metres, for what f32 rounds.
const FILES: &[(&str, &[&str], f64, u32, f64)] = &[
    (
        "kaykit_char/res/anim/Med_MovementBasic.glb",
        &[
            "Rig_Medium|Jump_Full_Long",
            "Rig_Medium|Jump_Full_Short",
            "Rig_Medium|Jump_Idle",
            "Rig_Medium|Jump_Land",
            "Rig_Medium|Jump_Start",
            "Rig_Medium|Running_A",
            "Rig_Medium|Running_B",
            "Rig_Medium|Walking_A",
            "Rig_Medium|Walking_B",
            "Rig_Medium|Walking_C",
        ],
        10.0,
        48,
        2.0,
    ),
    ("blender/rig_identity.usdc", &[], 10.0, 48, 2.0),
    ("vrm/hips_spine_twisting.vrma", &[], 100.0, 48, 2.0),
    ("gltf/RiggedSimple.glb", &[], 30.0, 48, 2.0),
    // Every joint moves at every sample of a short clip.
    ("gltf/CesiumMan.glb", &[], 9.0, 48, 2.0),
    ("usd-wg-assets/CesiumMan.usdz", &[], 9.0, 48, 2.0),
    // It is 100 metres tall, so the bound is a millionth of it, and some keys are f32.
    ("gltf/Fox.glb", &["Survey", "Walk", "Run"], 2.5, 128, 160.0),
];

pub fn packed_clips_keep_their_bound_and_get_small(folder: &Path) {
    for (file, clips, least, most_bits, size) in FILES {
        let mut chosen: Vec<ClipChoice> = clips
            .iter()
            .map(|name| ClipChoice::Named((*name).to_owned()))
            .collect();
        if chosen.is_empty() {
            chosen.push(ClipChoice::First);
        }
        for clips in chosen {
            let what = format!("{file} {clips:?}");
            let options = OpenOptions {
                clips,
                ..OpenOptions::default()
            };
            let opened = open_with(folder.join(file), &options).unwrap();
            let scene = opened.scene(Default::default()).unwrap();
            let skeleton = skeletons(&scene)[0];
            let start = Instant::now();
            let (clip, report) = packed_clip(&scene, skeleton, ClipOptions::default()).unwrap();
            // The table of docs/playing.md.
            println!(
                "{what}: {} joints, {} samples, {} bytes of {} as f32, {:.1} times smaller, {:.4} mm, rotations of {:.0} \
                 bits, at most {}, in {:.1} ms",
                clip.joint_count(),
                report.samples,
                report.bytes,
                report.f32_bytes,
                report.ratio(),
                report.worst.metres * 1e3,
                report.mean_rotation_bits,
                report.most_rotation_bits,
                start.elapsed().as_secs_f64() * 1e3,
            );
            let levels = skeleton.instance.skeleton().topology().depth() as f64;
            let rounding = 0.5 * f64::from(f32::EPSILON) * size * levels;
            assert!(report.worst.metres <= 1e-4 + rounding, "{what}: {report:?}");
            assert!(report.worst_weight <= 5e-4, "{what}: {report:?}");
            assert!(report.ratio() >= *least, "{what}: {} times", report.ratio());
            assert!(
                report.most_rotation_bits <= *most_bits,
                "{what}: {report:?}"
            );
        }
    }
}
