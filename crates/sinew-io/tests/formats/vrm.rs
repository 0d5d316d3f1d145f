//! VRM 1.0, VRM 0.x and VRM Animation: good files, broken and doubtful ones.

use common::{fixture, rows};
use sinew_io::gltf;

/// Good files, broken and doubtful ones, and what is warned of in good ones.
#[test]
fn the_table() {
    let table = fixture("vrm.txt");
    rows::check(&table, |row| gltf::read_bytes(&row.bytes, &row.name));
}
