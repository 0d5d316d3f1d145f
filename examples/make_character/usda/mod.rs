//! The stage as USD's text.

mod mesh;
mod stage;
mod values;
mod writer;

pub use stage::stage;
