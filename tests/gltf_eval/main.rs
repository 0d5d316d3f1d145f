//! The glTF path against an evaluator of the tests' own, which shares no code with sinew, and against usd-core.

#[path = "../common/mod.rs"]
mod common;
mod hand;

use libtest_mimic::Arguments;

fn main() {
    let args = Arguments::from_args();
    let trials = hand::trials();
    libtest_mimic::run(&args, trials).exit();
}
