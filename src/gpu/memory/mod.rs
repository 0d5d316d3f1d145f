//! Buffers that grow, and the ways into and out of them.

pub mod arena;
pub mod dirty_ranges;
pub mod growable_buffer;
pub mod readback_ring;
pub mod upload;
