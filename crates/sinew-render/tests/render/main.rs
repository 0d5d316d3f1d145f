//! Pictures, and the geometry that is drawn.

mod geometry;
mod pictures;
mod scenes;

fn main() {
    common::trials::run([
        ("render", pictures::trials()),
        ("real_geometry", geometry::trials()),
    ])
}
