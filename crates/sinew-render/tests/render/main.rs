//! Pictures, and the geometry that is drawn.

mod geometry;
mod materials;
mod pictures;
mod scenes;

fn main() {
    common::trials::run([
        ("render", pictures::trials()),
        ("materials", materials::trials()),
        ("real_geometry", geometry::trials()),
    ])
}
