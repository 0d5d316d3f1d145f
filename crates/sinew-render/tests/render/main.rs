//! Pictures, and the geometry that is drawn.

mod drawing;
mod geometry;
mod measure;
mod pictures;
mod table;

fn main() {
    common::trials::run([
        ("table", table::trials()),
        ("render", pictures::trials()),
        ("real_geometry", geometry::trials()),
    ])
}
