//! Pictures, and the geometry that is drawn.

mod geometry;
mod lights;
mod materials;
mod pictures;
mod scenes;

fn main() {
    common::trials::run([
        ("render", pictures::trials()),
        ("lights", lights::trials()),
        ("materials", materials::trials()),
        ("real_geometry", geometry::trials()),
    ])
}
