//! A bow: a clip without a model, on human bones by name, relative to their bind pose (EXT_skeleton_humanoid).

use glam::Quat;
use serde_json::json;

use crate::glb::Buffer;

/// Bone, angle at the deepest, about the bone's own contracting axis.
const BENDS: &[(&str, f32)] = &[
    ("spine", 0.45),
    ("chest", 0.4),
    ("neck", 0.25),
    ("head", 0.2),
];

/// The .glb file.
pub fn bow() -> Vec<u8> {
    let mut buffer = Buffer::default();
    // Down, hold, up: cubic splines with level tangents at each key.
    let input = buffer.floats(&[[0.0], [0.8], [1.2], [2.0]]);
    let mut samplers = Vec::new();
    let mut channels = Vec::new();
    for (bone, angle) in BENDS {
        let level = [0.0; 4];
        let keys: Vec<[f32; 4]> = [0.0, *angle, *angle, 0.0]
            .into_iter()
            .flat_map(|a| [level, Quat::from_rotation_x(a).to_array(), level])
            .collect();
        let output = buffer.floats(&keys);
        channels.push(json!({
            "sampler": samplers.len(),
            "target": {
                "path": "rotation",
                "extensions": {"EXT_skeleton_humanoid": {"humanoidBoneName": bone}},
            },
        }));
        samplers.push(json!({"input": input, "output": output, "interpolation": "CUBICSPLINE"}));
    }
    buffer.file(json!({
        "extensionsUsed": ["EXT_skeleton_humanoid"],
        "animations": [{"name": "Bow", "samplers": samplers, "channels": channels}],
    }))
}
