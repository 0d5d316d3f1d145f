//! The blend shapes' weights.

use super::moment::Moment;

/// Of `SHAPES`. `puff` goes above 1: weights are no fractions.
pub fn weights(now: Moment) -> [f32; 3] {
    let Moment { up, crouch, .. } = now;
    let smile = 0.35 + 0.25 * now.wave(2.0, 0.0) + 0.8 * now.bump(0.58, 0.16);
    let puff = 0.3 - 0.3 * now.beat(0.0) * (1.0 - up) + 0.7 * crouch;
    let blink = now.bump(0.12, 0.035)
        + now.bump(0.2, 0.03)
        + now.bump(0.465, 0.04)
        + 0.9 * now.bump(0.86, 0.035);
    [smile.clamp(0.0, 1.0), puff.clamp(0.0, 1.2), blink.min(1.0)]
}
