//! Clips of real files, packed for the GPU.

use std::path::Path;
use std::time::Instant;

use sinew::kernel::packed_clip::{ClipOptions, PackedClip};
use sinew_io::{ClipChoice, OpenOptions, open_with, packed_clip, skeletons};

/// A file, its clips (none for the one that is bound), and how many times smaller each gets at least.
const FILES: &[(&str, &[&str], f64)] = &[
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
    ),
    ("blender/rig_identity.usdc", &[], 10.0),
    ("vrm/hips_spine_twisting.vrma", &[], 100.0),
    ("gltf/RiggedSimple.glb", &[], 30.0),
    // Every joint moves at every sample of a short clip.
    ("gltf/CesiumMan.glb", &[], 8.5),
    ("usd-wg-assets/CesiumMan.usdz", &[], 8.5),
];

/// Bits that a rotation has at most.
const ROTATION_BITS: u32 = 48;

pub fn packed_clips_keep_their_bound_and_get_small(folder: &Path) {
    for (file, clips, least) in FILES {
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
            assert!(report.worst.metres <= 1e-4, "{what}: {report:?}");
            assert!(report.worst_weight <= 5e-4, "{what}: {report:?}");
            assert!(report.ratio() >= *least, "{what}: {} times", report.ratio());
            assert!(
                report.most_rotation_bits <= ROTATION_BITS,
                "{what}: {report:?}"
            );
            assert_eq!(PackedClip::from_words(clip.words().to_vec()).unwrap(), clip);
        }
    }
}
