//! Clips that move from one character to another: read, retargeted, written and read again.

mod formats;
mod pair;
mod recognition;
mod requests;
mod roots;
mod stages;
mod written;

fn main() {
    common::trials::run([
        ("formats", formats::trials()),
        ("recognition", recognition::trials()),
        ("requests", requests::trials()),
        ("roots", roots::trials()),
        ("written", written::trials()),
    ])
}
