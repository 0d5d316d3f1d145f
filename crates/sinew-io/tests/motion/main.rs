//! Clips that move from one character to another: read, retargeted, written and read again.

mod choices;
mod formats;
mod landing;
mod pair;
mod recognition;
mod requests;
mod roots;
mod sequences;
mod stages;
mod usd_core;
mod written;

fn main() {
    common::trials::run([
        ("choices", choices::trials()),
        ("formats", formats::trials()),
        ("landing", landing::trials()),
        ("recognition", recognition::trials()),
        ("requests", requests::trials()),
        ("roots", roots::trials()),
        ("sequences", sequences::trials()),
        ("usd_core", usd_core::trials()),
        ("written", written::trials()),
    ])
}
