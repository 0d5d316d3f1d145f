//! What the command bakes and draws: formats, clips, interruptions, full disks, instances, how it starts, pictures, and
//! adapters.

mod clips;
mod completions;
mod formats;
#[cfg(target_os = "linux")]
mod full_disks;
mod instances;
// Signals are sent by the kill of Linux.
#[cfg(target_os = "linux")]
mod interrupt;
mod json;
mod motion;
mod render;
mod start;
mod verify;
mod written;

fn main() {
    #[cfg(target_os = "linux")]
    let (interrupt, full_disks) = (interrupt::trials(), full_disks::trials());
    #[cfg(not(target_os = "linux"))]
    let (interrupt, full_disks) = (Vec::new(), Vec::new());
    common::trials::run([
        ("bake_formats", formats::trials()),
        ("clips", clips::trials()),
        ("completions", completions::trials()),
        ("full_disks", full_disks),
        ("instances", instances::trials()),
        ("interrupt", interrupt),
        ("json", json::trials()),
        ("motion", motion::trials()),
        ("render", render::trials()),
        ("start", start::trials()),
        ("verify", verify::trials()),
        ("written", written::trials()),
    ])
}
