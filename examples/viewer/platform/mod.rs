//! What a desktop and a browser do differently, with the same functions in one module each: the start, threads, waiting for
//! the device, where files are, dialogs, drops, watching, and what is written where.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
mod web;

#[cfg(not(target_family = "wasm"))]
pub use native::*;
#[cfg(target_family = "wasm")]
pub use web::*;

// The standard library's clock, or the page's.
pub use web_time::Instant;
