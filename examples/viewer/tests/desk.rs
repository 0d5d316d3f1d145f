//! The viewer without a window: its panels, keys, messages and drops, and the pictures that it draws, which are where
//! the f64 reference says.

#[path = "desk/files.rs"]
mod files;
#[path = "desk/live.rs"]
mod live;
#[path = "desk/panels.rs"]
mod panels;
#[path = "desk/picture.rs"]
mod picture;
mod truth;
#[path = "desk/viewer.rs"]
mod viewer;

use libtest_mimic::{Arguments, Failed, Trial};

const HATCHLING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/hatchling.usda");
const PUPPET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/puppet.glb");

type Run = fn() -> Result<(), Failed>;

fn main() {
    let args = Arguments::from_args();
    let ignored = common::gpu::ignored();
    let trials = [files::TRIALS, live::TRIALS, panels::TRIALS, picture::TRIALS];
    let trials = trials
        .concat()
        .into_iter()
        .map(|(name, run)| Trial::test(name, run).with_ignored_flag(ignored));
    libtest_mimic::run(&args, trials.collect()).exit();
}

fn check(condition: bool, message: impl FnOnce() -> String) -> Result<(), Failed> {
    match condition {
        true => Ok(()),
        false => Err(message().into()),
    }
}
