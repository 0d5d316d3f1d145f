//! What several test binaries share.

pub mod bones;
pub mod bvh_maker;
pub mod character;
pub mod command;
pub mod compare;
pub mod document;
pub mod fbx;
pub mod files;
pub mod gpu;
pub mod humanoid;
pub mod node;
pub mod pictures;
pub mod pixar;
pub mod pose;
pub mod processor;
pub mod python;
pub mod rigs;
pub mod rows;
pub mod shown;
pub mod stages;
pub mod trials;
pub mod usd;
pub mod walk;
pub mod worker;

pub use sinew_verify::{cases, host, rng, tolerance};

/// The repository's folder.
pub fn repository() -> &'static std::path::Path {
    std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A fixture file of sinew-io's tests.
pub fn fixture(name: &str) -> std::path::PathBuf {
    repository().join("crates/sinew-io/tests/data").join(name)
}

/// Whether every test is asked for (`tests/run.sh --all`), or the usual ones.
pub fn all() -> bool {
    std::env::var_os("SINEW_ALL").is_some()
}

/// Seeds of a random test: so many where every test is asked for, or else a tenth.
pub fn seeds(all: u64) -> std::ops::Range<u64> {
    0..if self::all() { all } else { all / 10 }
}
