//! OBJ sequences, point caches and vertex animation textures: read back by readers of the tests' own, and compared with the
//! f64 reference and with the same bake as USD.

#[path = "../common/mod.rs"]
mod common;

mod bench;
mod caches;
mod obj;
mod pc2;
mod real;
mod requests;
mod sequences;
mod stage;
mod textures;
mod truth;
mod vat;
