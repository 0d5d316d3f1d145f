//! Animation from one skeleton to another: pure maths over rigs, without files.

mod bone;

pub use bone::{Bone, UnknownBone};
