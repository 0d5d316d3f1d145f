//! What the command bakes and draws: formats, clips, interruptions, how it starts, pictures, and adapters.

mod clips;
mod completions;
mod formats;
// Signals are sent by the kill of Linux.
#[cfg(target_os = "linux")]
mod interrupt;
mod motion;
mod render;
mod start;
mod verify;

fn main() {
    #[cfg(target_os = "linux")]
    let interrupt = interrupt::trials();
    #[cfg(not(target_os = "linux"))]
    let interrupt = Vec::new();
    common::trials::run([
        ("bake_formats", formats::trials()),
        ("clips", clips::trials()),
        ("completions", completions::trials()),
        ("interrupt", interrupt),
        ("motion", motion::trials()),
        ("render", render::trials()),
        ("start", start::trials()),
        ("verify", verify::trials()),
    ])
}
