//! The animation: a loop of eight beats with a leap in its middle.

mod dancer;
mod face;
mod moment;
mod pose;
mod two_bone;

use crate::rig::Rig;
use dancer::Dancer;
use moment::Moment;
pub use pose::{Pose, skinning};

/// Frames in the loop; the first one is number 1.
pub const FRAMES: u16 = 96;

/// Blend shapes that are animated, in the order of a sample's weights.
pub const SHAPES: [&str; 3] = ["smile", "puff", "blink"];

pub struct Dance {
    /// Joints that are animated.
    pub moving: Vec<usize>,
    pub samples: Vec<Sample>,
}

pub struct Sample {
    pub frame: u16,
    /// Of all the joints.
    pub poses: Vec<Pose>,
    /// Of `SHAPES`.
    pub weights: [f32; 3],
}

impl Dance {
    pub fn new(rig: &Rig) -> Self {
        // What never moves on its own is left to the rest transforms.
        let still = ["root", "handL", "handR"].map(|name| rig.find(name));
        // Every second frame, and the first one once more behind the last so that the loop closes.
        let frames = (1..=FRAMES + 1).step_by(2);
        Self {
            moving: (0..rig.joints.len())
                .filter(|i| !still.contains(i))
                .collect(),
            samples: frames.map(|frame| Sample::new(rig, frame)).collect(),
        }
    }
}

impl Sample {
    fn new(rig: &Rig, frame: u16) -> Self {
        let now = Moment::new(f32::from(frame - 1) / f32::from(FRAMES));
        Self {
            frame,
            poses: Dancer::new(rig, now).dance(),
            weights: face::weights(now),
        }
    }
}
