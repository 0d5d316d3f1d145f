//! Lights that turn and dim, the ground without lines, and the joint with the most weight.

use common::trials::Trial;
use image::RgbaImage;
use libtest_mimic::Failed;
use sinew_render::{JointId, Light, Look};

use super::pictures::{BEHIND, Drawing, bare};

const HATCHLING: &str = "../../examples/assets/hatchling.usda";

type Named = (&'static str, fn() -> Result<(), Failed>);

pub fn trials() -> Vec<Trial> {
    let ignored = common::gpu::ignored();
    let trials: [Named; 4] = [
        ("lights_turn_and_dim", lights),
        ("lights_of_the_world_stand_still", world),
        ("the_ground_may_have_no_lines", ground),
        ("the_strongest_joint_has_the_most_weight", strongest),
    ];
    let trial = |(name, run): Named| Trial::test(name, run).with_ignored_flag(ignored);
    trials.into_iter().map(trial).collect()
}

/// The mean brightness of what is drawn in the left and in the right half.
fn halves(picture: &RgbaImage) -> [f64; 2] {
    let middle = picture.width() / 2;
    [true, false].map(|left| {
        let drawn = picture
            .enumerate_pixels()
            .filter(|(x, _, p)| (*x < middle) == left && p.0 != BEHIND);
        let values: Vec<f64> = drawn
            .map(|(_, _, p)| p.0[..3].iter().map(|c| f64::from(*c)).sum::<f64>() / 3.0)
            .collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    })
}

fn lit(light: Light) -> Look {
    Look { light, ..bare() }
}

fn lights() -> Result<(), Failed> {
    let mut drawing = Drawing::open(HATCHLING)?;
    let camera = drawing.camera(0.0);
    let mut halves_with = |turn: f64, intensity: f64| -> Result<[f64; 2], Failed> {
        let light = Light {
            turn,
            intensity,
            ..Light::default()
        };
        Ok(halves(&drawing.draw(&camera, &lit(light))?))
    };
    let [left, right] = halves_with(0.0, 1.0)?;
    let turned = halves_with(std::f64::consts::FRAC_PI_2, 1.0)?;
    assert!(
        left - right > turned[0] - turned[1] + 5.0,
        "{left} {right} {turned:?}"
    );
    let bright = halves_with(0.0, 1.5)?;
    assert!(
        bright[0] > left + 5.0 && bright[1] > right + 5.0,
        "{bright:?}"
    );
    assert!(halves_with(0.0, 0.0)?.iter().sum::<f64>() < 0.2 * (left + right));
    Ok(())
}

fn world() -> Result<(), Failed> {
    let mut drawing = Drawing::open(HATCHLING)?;
    let look = |follows_camera| {
        lit(Light {
            follows_camera,
            ..Light::default()
        })
    };
    // In front of it, both are the same.
    let front = drawing.camera(0.0);
    let same = drawing.draw(&front, &look(true))? == drawing.draw(&front, &look(false))?;
    assert!(same);
    let behind = drawing.camera(std::f64::consts::PI);
    let with_camera = halves(&drawing.draw(&behind, &look(true))?);
    let in_world = halves(&drawing.draw(&behind, &look(false))?);
    assert!(
        with_camera.iter().sum::<f64>() > in_world.iter().sum::<f64>() + 5.0,
        "{with_camera:?} {in_world:?}"
    );
    Ok(())
}

fn ground() -> Result<(), Failed> {
    let mut drawing = Drawing::open(HATCHLING)?;
    let camera = drawing.camera(0.0);
    let mut changed = |grid, grid_lines| -> Result<usize, Failed> {
        let look = Look {
            grid,
            grid_lines,
            ..bare()
        };
        let picture = drawing.draw(&camera, &look)?;
        let bare = drawing.draw(&camera, &bare())?;
        Ok(picture
            .pixels()
            .zip(bare.pixels())
            .filter(|(a, b)| a != b)
            .count())
    };
    let (lines, shadow, none) = (
        changed(true, true)?,
        changed(true, false)?,
        changed(false, true)?,
    );
    assert!(
        none == 0 && shadow > 200 && lines > 2 * shadow,
        "{lines} {shadow} {none}"
    );
    Ok(())
}

fn strongest() -> Result<(), Failed> {
    let drawing = Drawing::open(HATCHLING)?;
    let id = drawing.stage.strongest_joint().ok_or("no joint")?;
    let joint = &drawing.stage.skeletons()[id.skeleton].joints[id.joint];
    // The head has the most points by far; the root has none.
    assert_eq!(joint.name, "head");
    assert_ne!(
        id,
        JointId {
            skeleton: 0,
            joint: 0
        }
    );
    // Without influences there is none.
    let square = "#usda 1.0\ndef Mesh \"M\"\n{\n    int[] faceVertexCounts = [3]\n    int[] faceVertexIndices = [0, 1, 2]\n    \
                  point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n}\n";
    assert_eq!(Drawing::of_text(square)?.stage.strongest_joint(), None);
    Ok(())
}
