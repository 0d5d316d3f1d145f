//! Whole bakes against usd-core: its goldens, random stages, real files, and what is authored.

mod assets;
mod author;
mod differential;
mod goldens;

fn main() {
    common::trials::run([
        ("assets", assets::trials()),
        ("author", author::trials()),
        ("differential", differential::trials()),
        ("goldens", goldens::trials()),
    ])
}
