//! A BVH figure that moves.

use std::fmt::Write;

use super::rng::Rng;

/// The text of a file whose figure, `bvh/figure.bvh`, moves all its joints, the hips also through space; no two frames
/// are alike, and the same seed gives the same. Centimetres, 30 frames per second, and a T-pose as Mixamo's figures
/// stand. `name` gives the name of a joint by its number in the file and by what Mixamo calls it.
pub fn figure(name: impl Fn(usize, &str) -> String, frames: u32, seed: u64) -> String {
    let hierarchy = std::fs::read_to_string(super::fixture("bvh/figure.bvh")).unwrap();
    let (mut out, mut joints, mut channels) = (String::new(), 0, 0);
    for line in hierarchy.lines() {
        let line = match line.trim().split(' ').collect::<Vec<_>>()[..] {
            ["ROOT" | "JOINT", old] => {
                joints += 1;
                &line.replace(old, &name(joints - 1, old))
            }
            ["CHANNELS", count, ..] => {
                channels += count.parse::<usize>().unwrap();
                line
            }
            _ => line,
        };
        writeln!(out, "{line}").unwrap();
    }
    writeln!(out, "MOTION\nFrames: {frames}\nFrame Time: 0.0333333").unwrap();
    let mut rng = Rng::new(seed);
    // Each channel swings by itself, slowly enough that no joint turns half round in a frame.
    let swings: Vec<[f64; 3]> = (0..channels)
        .map(|_| [(5.0, 40.0), (0.05, 0.3), (0.0, 6.0)].map(|(a, b)| f64::from(rng.range(a, b))))
        .collect();
    for frame in 0..frames {
        let at = |[size, speed, start]: &[f64; 3]| size * (start + speed * f64::from(frame)).sin();
        let mut values: Vec<f64> = swings.iter().map(at).collect();
        // The hips walk forward about their height.
        values[1] = 95.0 + values[1] * 0.1;
        values[2] += 3.0 * f64::from(frame);
        let values: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
        writeln!(out, "{}", values.join(" ")).unwrap();
    }
    out
}
