//! Two strides of a walk as a motion capture suit records them: Mixamo's names, centimetres, Euler
//! angles.

use std::f32::consts::{PI, TAU};
use std::fmt::Write;

/// A joint with its offset from its parent.
struct Joint {
    name: &'static str,
    offset: [f32; 3],
    children: Vec<Joint>,
}

fn chain(rows: &[(&'static str, [f32; 3])], mirror: f32) -> Joint {
    let (name, offset) = rows[0];
    let children = if rows.len() > 1 {
        vec![chain(&rows[1..], mirror)]
    } else {
        Vec::new()
    };
    let offset = [offset[0] * mirror, offset[1], offset[2]];
    Joint {
        name,
        offset,
        children,
    }
}

fn skeleton() -> Joint {
    let arm = |mirror: f32, names: [&'static str; 4]| {
        let offsets = [
            [4.0, 22.0, 0.0],
            [15.0, 0.0, 0.0],
            [30.0, 0.0, 0.0],
            [27.0, 0.0, 0.0],
        ];
        let rows: Vec<_> = names.into_iter().zip(offsets).collect();
        chain(&rows, mirror)
    };
    let leg = |mirror: f32, names: [&'static str; 4]| {
        let offsets = [
            [9.0, -4.0, 0.0],
            [0.0, -47.0, 0.0],
            [0.0, -46.0, 0.0],
            [0.0, -7.0, 15.0],
        ];
        let rows: Vec<_> = names.into_iter().zip(offsets).collect();
        chain(&rows, mirror)
    };
    let mut spine = chain(
        &[
            ("Spine", [0.0, 10.0, 0.0]),
            ("Spine1", [0.0, 13.0, 0.0]),
            ("Spine2", [0.0, 13.0, 0.0]),
        ],
        1.0,
    );
    let chest = &mut spine.children[0].children[0];
    chest.children = vec![
        chain(
            &[("Neck", [0.0, 24.0, 0.0]), ("Head", [0.0, 10.0, 1.0])],
            1.0,
        ),
        arm(1.0, ["LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand"]),
        arm(
            -1.0,
            ["RightShoulder", "RightArm", "RightForeArm", "RightHand"],
        ),
    ];
    Joint {
        name: "Hips",
        offset: [0.0, 104.0, 0.0],
        children: vec![
            spine,
            leg(1.0, ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"]),
            leg(
                -1.0,
                ["RightUpLeg", "RightLeg", "RightFoot", "RightToeBase"],
            ),
        ],
    }
}

/// Degrees about z, x and y at a phase of the stride from 0 to 1. x swings legs, z lowers arms.
fn angles(name: &str, phase: f32) -> [f32; 3] {
    // The right side is half a stride behind.
    let (side, part, phase) = match name {
        n if n.starts_with("Left") => (1.0, &n[4..], phase),
        n if n.starts_with("Right") => (-1.0, &n[5..], phase + 0.5),
        n => (0.0, n, phase),
    };
    let swing = (TAU * phase).sin();
    let lift = (TAU * phase - PI / 3.0).cos().max(0.0);
    match part {
        "UpLeg" => [0.0, -28.0 * swing - 6.0, 0.0],
        "Leg" => [0.0, 8.0 + 48.0 * lift, 0.0],
        "Foot" => [0.0, 12.0 * swing - 4.0, 0.0],
        "Arm" => [-72.0 * side, 0.0, 24.0 * swing * side],
        "ForeArm" => [0.0, 0.0, -side * (18.0 - 14.0 * swing)],
        "Hips" => [2.0 * (TAU * phase).cos(), 0.0, 6.0 * swing],
        "Spine" | "Spine1" | "Spine2" => [-(TAU * phase).cos(), 1.5, -4.0 * swing],
        "Neck" => [0.0, -2.0, 3.0 * swing],
        _ => [0.0; 3],
    }
}

fn hierarchy(joint: &Joint, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let kind = if depth == 0 { "ROOT" } else { "JOINT" };
    let [x, y, z] = joint.offset;
    let channels = if depth == 0 {
        "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
    } else {
        "3 Zrotation Xrotation Yrotation"
    };
    let text = format!(
        "{indent}{kind} {}\n{indent}{{\n{indent}  OFFSET {x} {y} {z}\n{indent}  CHANNELS {channels}\n",
        joint.name
    );
    out.push_str(&text);
    for child in &joint.children {
        hierarchy(child, depth + 1, out);
    }
    if joint.children.is_empty() {
        let end = format!(
            "{indent}  End Site\n{indent}  {{\n{indent}    OFFSET {} {} {}\n{indent}  }}\n",
            x * 0.4,
            y * 0.4,
            z * 0.4
        );
        out.push_str(&end);
    }
    out.push_str(&indent);
    out.push_str("}\n");
}

fn motion(joint: &Joint, phase: f32, line: &mut Vec<String>) {
    line.extend(angles(joint.name, phase).iter().map(|a| format!("{a:.3}")));
    for child in &joint.children {
        motion(child, phase, line);
    }
}

/// Two strides of one second at 30 frames per second (`walk.bvh`).
pub fn bvh() -> String {
    let root = skeleton();
    let mut out = String::from("HIERARCHY\n");
    hierarchy(&root, 0, &mut out);
    let frames = 61;
    let _ = write!(out, "MOTION\nFrames: {frames}\nFrame Time: 0.0333333\n");
    for frame in 0..frames {
        let stride = frame as f32 / 30.0;
        let bob = 2.0 * (2.0 * TAU * stride).cos();
        let mut line = vec![
            format!("{:.3}", 1.5 * (TAU * stride).sin()),
            format!("{:.3}", 102.0 + bob),
            format!("{:.3}", 130.0 * stride),
        ];
        motion(&root, stride.fract(), &mut line);
        let _ = writeln!(out, "{}", line.join(" "));
    }
    out
}
