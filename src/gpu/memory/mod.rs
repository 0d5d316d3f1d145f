//! Growable buffers, uploads into them and readings from them.

pub mod arena;
pub mod dirty_ranges;
pub mod growable_buffer;
pub mod readback_ring;
pub mod upload;
